//! Two results against each other: a row a figure with its change around zero, the margin behind it.

use std::io::{self, Write};

use super::table::{class, sign};
use super::{blocks, escaped, linked_name};
use crate::blocks::forest::{Against, Forest};
use crate::numbers;

/// Height of a row's strip.
const HEIGHT: f64 = 22.0;

/// Writes a comparison; among several of them a reader picks one.
pub(super) fn section(
    forest: &Forest,
    id: &str,
    is_one_of_many: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let picked = if is_one_of_many { " data-pick" } else { "" };
    writeln!(
        out,
        "<section class=\"compared\" id=\"{id}\" data-pair=\"{}\"{picked}>\n<h2>{}<small>{}</small></h2>",
        escaped(&forest.pair),
        escaped(&forest.finding),
        escaped(&forest.pair)
    )?;
    let place = |share: f64| 50.0 + 50.0 * (share / forest.limit).clamp(-1.0, 1.0);
    let (from, to) = (place(-forest.margin), place(forest.margin));
    let limit = numbers::percent((forest.limit * 100.0).round() / 100.0);
    writeln!(
        out,
        "<div class=\"against head\" aria-hidden=\"true\"><span>figure</span><span class=\"ends\"><span>faster \
         \u{2212}{limit}</span><span>grey: within {}</span><span>slower +{limit}</span></span><span>change, its \
         interval</span><span>before \u{2192} now</span><span>verdict</span></div>\n<ul class=\"forest\">",
        numbers::percent(forest.margin)
    )?;
    for row in &forest.rows {
        self::row(row, [from, to], place, out)?;
    }
    writeln!(
        out,
        "</ul>\n<details class=\"data\"><summary>The comparison as tables, and what was around it</summary>"
    )?;
    blocks::parts(&forest.whole, "", out)?;
    writeln!(out, "</details></section>")
}

fn row(
    row: &Against,
    [from, to]: [f64; 2],
    place: impl Fn(f64) -> f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = linked_name(&row.id, row.has_receipt);
    let y = HEIGHT / 2.0;
    write!(
        out,
        "<li class=\"against {}\"><span class=\"name\">{name}</span><svg class=\"strip\" aria-hidden=\"true\">\
         <title>{} ({})</title><rect class=\"margin\" x=\"{from:.2}%\" width=\"{:.2}%\" y=\"0\" \
         height=\"{HEIGHT}\"/><line class=\"zero\" x1=\"50%\" x2=\"50%\" y1=\"0\" y2=\"{HEIGHT}\"/>",
        class(row.tone),
        escaped(&row.says),
        escaped(&row.interval),
        to - from
    )?;
    if let Some(change) = row.change {
        let [low, x, high] = change.map(&place);
        write!(
            out,
            "<line class=\"interval\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{y}\" y2=\"{y}\"/><circle \
             class=\"dot\" cx=\"{x:.2}%\" cy=\"{y}\" r=\"4.5\"/>"
        )?;
    }
    let why = if row.why.is_empty() { String::new() } else { format!(" title=\"{}\"", escaped(&row.why)) };
    let because = || format!("<span class=\"because\">{}</span>", escaped(&row.why));
    let shown = if row.needs_why { because() } else { String::new() };
    let [says, interval, sides] = [&row.says, &row.interval, &row.sides].map(|text| escaped(text));
    let (class, sign, word) = (class(row.tone), sign(row.tone), row.word);
    writeln!(
        out,
        "</svg><span class=\"change\">{says} <small>{interval}</small></span><span class=\"sides\">{sides}</span>\
         <span class=\"verdict {class}\"{why}>{sign} {word}</span>{shown}</li>"
    )
}
