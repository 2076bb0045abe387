//! The price list of the page: a row a figure with its place on one logarithmic axis, each opening to its receipt.

use std::io::{self, Write};

use super::log_axis::LogAxis;
use super::table::{class, sign};
use super::{anchor, blocks, breakable, escaped, table};
use crate::blocks::Tone;
use crate::blocks::prices::{Outcome, PriceChart, Priced};
use crate::numbers;

/// Places on the axis are per cent of the room that the page has for it.
const WIDTH: f64 = 100.0;
/// Height of a row's strip, in pixels of the page.
const HEIGHT: f64 = 22.0;

/// Writes the price list of one result; `of` tells the results of a page apart in names.
pub(super) fn section(chart: &PriceChart, of: &str, out: &mut dyn Write) -> io::Result<()> {
    let ends = chart.rows.iter().filter_map(|row| row.ns).flat_map(|[low, _, high]| [low, high]);
    let axis = LogAxis::over(ends, WIDTH);
    writeln!(out, "<section class=\"prices\">\n<h2 id=\"prices{of}\">{}</h2>", escaped(&chart.finding))?;
    controls(chart, of, out)?;
    if let Some(axis) = &axis {
        legend(axis, &chart.floors, of, out)?;
    }
    writeln!(out, "<ol class=\"rows\" aria-labelledby=\"prices{of}\">")?;
    for (position, one) in chart.rows.iter().enumerate() {
        row(one, position, axis.as_ref(), of, out)?;
    }
    writeln!(
        out,
        "</ol>\n<p class=\"none\" role=\"status\" aria-live=\"polite\"></p>\n\
         <details class=\"data\"><summary>The price list as a table</summary>"
    )?;
    table::scrolling(&chart.table, &format!("The price list as a table{of}"), of, out)?;
    writeln!(out, "</details></section>")
}

fn controls(chart: &PriceChart, of: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<form class=\"controls\"><label>Find <input type=\"search\" class=\"find\" size=\"16\"></label>\n\
         <label>Family <select class=\"family\"><option value=\"\">all</option>"
    )?;
    for (family, words) in &chart.families {
        writeln!(out, "<option value=\"{}\">{}</option>", escaped(family), escaped(words))?;
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
fn legend(axis: &LogAxis, floors: &[(&str, f64)], of: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<p class=\"floors\">Dot: the figure; line: its interval; logarithmic axis.")?;
    for (name, ns) in floors {
        let cost = numbers::duration(*ns);
        write!(out, " <span class=\"floor-key\">\u{254e}</span> {name}: {cost}.")?;
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
    for (_, ns) in floors {
        line("floor", axis.x(*ns), out)?;
    }
    write!(out, "</symbol>")?;
    for (x, label) in axis.decades() {
        write!(out, "<text class=\"middle\" x=\"{x:.2}%\" y=\"15\">{label}</text>")?;
    }
    writeln!(out, "</svg></div>")
}

fn row(
    one: &Priced,
    position: usize,
    axis: Option<&LogAxis>,
    of: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Priced { row, family, ns, receipt } = one;
    let width = ns.map_or(-1.0, |[low, value, high]| (high - low) / value);
    write!(
        out,
        "<li id=\"{}{of}\" data-family=\"{}\" data-name=\"{}\" data-position=\"{position}\" data-price=\"{}\" \
         data-width=\"{width:.6}\"><details><summary class=\"row\"><span class=\"name\">{}</span>",
        anchor(&row.id),
        escaped(family),
        escaped(&receipt.title),
        ns.map_or(-1.0, |[_, value, _]| value),
        breakable(&receipt.title),
    )?;
    match (axis, ns) {
        (Some(axis), Some(ns)) => {
            let [low, x, high] = ns.map(|ns| axis.x(ns));
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
            write!(
                out,
                "<span class=\"value\">{} <small>{}</small></span><span class=\"verdict {}\">{} {}</span>",
                escaped(&numbers.value),
                escaped(&numbers.interval),
                class(numbers.tone),
                sign(numbers.tone),
                escaped(numbers.verdict)
            )?;
        }
        Outcome::Withheld { state, why } => {
            write!(
                out,
                "<span class=\"value why\">{}</span><span class=\"verdict {}\">{} {state}</span>",
                escaped(why),
                class(Tone::Bad),
                sign(Tone::Bad)
            )?;
        }
    }
    writeln!(out, "</summary><div class=\"receipt\">")?;
    blocks::parts(receipt, of, out)?;
    writeln!(out, "</div></details></li>")
}
