//! The price list: a row a figure with its place on one logarithmic axis, each opening to its receipt.

use std::io::{self, Write};

use oscost_results::{Figure, RunResult, Status};

use super::plot::LogAxis;
use super::{anchor, breakable, escaped, receipt};
use crate::numbers;
use crate::story::{Outcome, Row, Story, headline};
use crate::style::Tone;

/// Places on the axis are per cent of the room that the page has for it.
const WIDTH: f64 = 100.0;
/// Height of a row's strip, in pixels of the page.
const HEIGHT: f64 = 22.0;

/// A cost that everything else is measured against, where this run has it.
struct Mark {
    x: f64,
    name: &'static str,
    says: String,
}

/// Figures that stand for the physical floors, and what each is called.
const FLOORS: [(&str, &str); 3] = [
    ("instrument/empty_loop", "a pass of the empty loop"),
    ("lock/spin/handover/cross_cpu", "a cache line to another CPU and back"),
    ("syscall/invalid", "a kernel entry"),
];

/// Writes the price list of one result; `of` tells the results of a page apart in names.
pub(super) fn section(story: &Story<'_>, of: &str, out: &mut dyn Write) -> io::Result<()> {
    let result = story.result;
    let axis =
        LogAxis::over(result.figures.iter().filter_map(nanoseconds).flat_map(|it| [it.low, it.high]), WIDTH);
    let marks: Vec<Mark> = axis.iter().flat_map(|axis| floors(result, axis)).collect();
    writeln!(out, "<section class=\"prices\">\n<h2 id=\"prices{of}\">{}</h2>", escaped(&finding(story)))?;
    controls(story, of, out)?;
    if let Some(axis) = &axis {
        legend(axis, &marks, of, out)?;
    }
    writeln!(out, "<ol class=\"rows\" aria-labelledby=\"prices{of}\">")?;
    let mut position = 0;
    for section in story.sections(&[]) {
        for row in &section.rows {
            let Some(figure) = result.figures.iter().find(|figure| figure.id == row.id) else { continue };
            self::row(story, figure, row, position, axis.as_ref(), of, out)?;
            position += 1;
        }
    }
    writeln!(out, "</ol>\n<p class=\"none\" role=\"status\" aria-live=\"polite\"></p>")?;
    table(story, out)?;
    writeln!(out, "</section>")
}

/// The estimate that is quoted, if it is a duration.
fn nanoseconds(figure: &Figure) -> Option<oscost_results::Estimate> {
    if figure.status != Status::Measured {
        return None;
    }
    let quantity = figure.quantities.get(headline(figure))?;
    (quantity.unit == "ns" && quantity.estimate.value > 0.0).then_some(quantity.estimate)
}

/// What the list says in one sentence.
fn finding(story: &Story<'_>) -> String {
    let mut priced: Vec<(&Figure, f64)> =
        story.result.figures.iter().filter_map(|figure| Some((figure, nanoseconds(figure)?.value))).collect();
    priced.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(least), Some(most)) = (priced.first(), priced.last()) else {
        return "The price list: nothing was measured in nanoseconds".to_owned();
    };
    format!(
        "The price list: from {} for {} to {} for {}",
        numbers::duration(least.1),
        story.plain(&least.0.id),
        numbers::duration(most.1),
        story.plain(&most.0.id)
    )
}

fn floors(result: &RunResult, axis: &LogAxis) -> Vec<Mark> {
    let mark = |&(id, name): &(&str, &'static str)| {
        let figure = result.figures.iter().find(|figure| figure.id == id)?;
        let value = nanoseconds(figure)?.value;
        Some(Mark { x: axis.x(value), name, says: numbers::duration(value) })
    };
    FLOORS.iter().filter_map(mark).collect()
}

fn controls(story: &Story<'_>, of: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<form class=\"controls\"><label>Find <input type=\"search\" class=\"find\" size=\"16\"></label>\n\
         <label>Family <select class=\"family\"><option value=\"\">all</option>"
    )?;
    let mut families: Vec<&str> = Vec::new();
    for figure in &story.result.figures {
        if !families.contains(&&*figure.family) {
            families.push(&figure.family);
            writeln!(
                out,
                "<option value=\"{}\">{}</option>",
                escaped(&figure.family),
                escaped(&story.words(&figure.family))
            )?;
        }
    }
    writeln!(
        out,
        "</select></label>\n<label>Order <select class=\"order\"><option value=\"position\">of the list</option>\
         <option value=\"price\">price</option><option value=\"width\">width of interval</option>\
         <option value=\"name\">name</option></select></label>\n\
         <button type=\"button\" class=\"open\">Open all receipts</button>\n\
         <button type=\"button\" class=\"save-rows\" data-name=\"price-list{of}\">Save as SVG</button></form>"
    )
}

/// The axis above the rows, with the floors; its lines are drawn once and used by every row.
fn legend(axis: &LogAxis, marks: &[Mark], of: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<p class=\"floors\">Dot: the figure; line: its interval; logarithmic axis.")?;
    for mark in marks {
        write!(out, " <span class=\"floor-key\">\u{254e}</span> {}: {}.", mark.name, escaped(&mark.says))?;
    }
    write!(
        out,
        "</p>\n<div class=\"row axis\" aria-hidden=\"true\"><span></span><svg class=\"strip\"><symbol id=\"lines{of}\">"
    )?;
    let line = |class: &str, x: f64, out: &mut dyn Write| {
        write!(out, "<line class=\"{class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"0\" y2=\"{HEIGHT}\"/>")
    };
    for (x, _) in axis.decades() {
        line("decade", x, out)?;
    }
    for mark in marks {
        line("floor", mark.x, out)?;
    }
    write!(out, "</symbol>")?;
    for (x, label) in axis.decades() {
        write!(out, "<text class=\"middle\" x=\"{x:.2}%\" y=\"15\">{label}</text>")?;
    }
    writeln!(out, "</svg></div>")
}

fn row(
    story: &Story<'_>,
    figure: &Figure,
    row: &Row,
    position: usize,
    axis: Option<&LogAxis>,
    of: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let estimate = nanoseconds(figure);
    let width = estimate.map_or(-1.0, |estimate| (estimate.high - estimate.low) / estimate.value);
    write!(
        out,
        "<li id=\"{}{of}\" data-family=\"{}\" data-name=\"{}\" data-position=\"{position}\" data-price=\"{}\" \
         data-width=\"{width:.6}\"><details><summary class=\"row\"><span class=\"name\">{}</span>",
        anchor(&figure.id),
        escaped(&figure.family),
        escaped(&story.plain(&figure.id)),
        estimate.map_or(-1.0, |estimate| estimate.value),
        breakable(&story.plain(&figure.id)),
    )?;
    match (axis, estimate) {
        (Some(axis), Some(estimate)) => {
            let (low, x, high) = (axis.x(estimate.low), axis.x(estimate.value), axis.x(estimate.high));
            let y = HEIGHT / 2.0;
            write!(
                out,
                "<svg class=\"strip\" aria-hidden=\"true\"><use href=\"#lines{of}\" width=\"100%\" height=\"{HEIGHT}\"/>\
                 <line class=\"interval\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{y}\" y2=\"{y}\"/>\
                 <circle class=\"dot\" cx=\"{x:.2}%\" cy=\"{y}\" r=\"4\"/></svg>"
            )?;
        }
        _ => write!(out, "<span class=\"strip\"></span>")?,
    }
    match &row.outcome {
        Outcome::Measured(numbers) => {
            let (tone, sign) = match numbers.tone {
                Tone::Good => ("good", "\u{2713}"),
                Tone::Doubt => ("doubt", "?"),
                Tone::Bad => ("bad", "\u{2717}"),
            };
            write!(
                out,
                "<span class=\"value\">{} <small>{}</small></span><span class=\"verdict {tone}\">{sign} {}</span>",
                escaped(&numbers.value),
                escaped(&numbers.interval),
                escaped(numbers.verdict)
            )?;
        }
        Outcome::Withheld { state, why } => {
            write!(
                out,
                "<span class=\"value why\">{}</span><span class=\"verdict bad\">\u{2717} {state}</span>",
                escaped(why)
            )?;
        }
    }
    writeln!(out, "</summary>")?;
    receipt::write(story, figure, row, out)?;
    writeln!(out, "</details></li>")
}

/// The same as a table, for readers without eyes or scripts.
fn table(story: &Story<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<details class=\"data\"><summary>The price list as a table</summary>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"The price list as a table\"><table><thead><tr><th scope=\"col\">figure</th>\
         <th scope=\"col\">quantity</th><th scope=\"col\">value</th><th scope=\"col\">low</th><th scope=\"col\">high</th>\
         <th scope=\"col\">unit</th><th scope=\"col\">system calls</th><th scope=\"col\">verdict</th></tr></thead><tbody>"
    )?;
    for figure in &story.result.figures {
        let quantity = figure.quantities.get(headline(figure)).filter(|_| figure.status == Status::Measured);
        write!(out, "<tr><th scope=\"row\">{}</th>", escaped(&story.plain(&figure.id)))?;
        match (quantity, story.outcome(figure)) {
            (Some(quantity), Outcome::Measured(numbers)) => {
                let number = |value: f64| numbers::significant(value);
                writeln!(
                    out,
                    "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                    escaped(&story.words(headline(figure))),
                    number(quantity.estimate.value),
                    number(quantity.estimate.low),
                    number(quantity.estimate.high),
                    escaped(&story.plain(&quantity.unit)),
                    escaped(&numbers.calls),
                    escaped(numbers.verdict)
                )?;
            }
            (_, Outcome::Withheld { state, why }) => {
                writeln!(out, "<td colspan=\"6\">{}</td><td>{state}</td></tr>", escaped(&why))?;
            }
            (None, Outcome::Measured(_)) => writeln!(out, "<td colspan=\"7\">no value</td></tr>")?,
        }
    }
    writeln!(out, "</tbody></table></div></details>")
}
