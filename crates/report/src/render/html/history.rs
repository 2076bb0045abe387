//! Figures over runs: small pictures of one kind, those that moved farthest beyond their intervals first.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{escaped, linked_name};
use crate::blocks::history::{Course, History};
use crate::numbers;
use crate::words::counted;

const WIDE: f64 = 200.0;
const HIGH: f64 = 44.0;
/// Points that a picture has room for: of more runs the last of each share stands there.
const POINTS: usize = 120;
/// Runs up to which each has a dot.
const DOTS: usize = 24;
/// Figures that are seen at once.
const SEEN: usize = 60;
/// Runs that are listed by name.
const NAMED: usize = 200;

/// Writes a history.
pub(super) fn section(history: &History, id: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<section class=\"over\" id=\"{id}\">\n<h2>{}</h2>\n<p class=\"note\">Oldest left, newest right; band: the \
         intervals; each picture has an axis of its own, from its lowest to its highest end, and of a tenth of its value at \
         least.</p>\n\
         <ul class=\"multiples\">",
        escaped(&history.finding)
    )?;
    let (seen, more) = history.figures.split_at(history.figures.len().min(SEEN));
    seen.iter().try_for_each(|it| course(it, out))?;
    writeln!(out, "</ul>")?;
    if !more.is_empty() {
        writeln!(
            out,
            "<details class=\"more\"><summary>{} that moved less</summary><ul class=\"multiples\">",
            counted(more.len(), "figure", "figures")
        )?;
        more.iter().try_for_each(|it| course(it, out))?;
        writeln!(out, "</ul></details>")?;
    }
    writeln!(
        out,
        "<details class=\"more\"><summary>The {} runs, oldest first</summary>",
        history.runs.len()
    )?;
    // Steps name a run by its number among all.
    let skipped = history.runs.len().saturating_sub(NAMED);
    if skipped > 0 {
        writeln!(out, "<p>{skipped} older runs</p>")?;
    }
    writeln!(out, "<ol start=\"{}\">", skipped + 1)?;
    for (name, says) in history.runs.iter().skip(skipped) {
        writeln!(out, "<li>{} <small>{}</small></li>", escaped(name), escaped(says))?;
    }
    writeln!(out, "</ol></details></section>")
}

fn course(course: &Course, out: &mut dyn Write) -> io::Result<()> {
    let name = linked_name(&course.id, course.has_receipt);
    let [id, range, last] = [&course.id, &course.range, &course.last].map(|text| escaped(text));
    let picture = picture(&course.values);
    writeln!(
        out,
        "<li><span class=\"name\">{name}</span><svg class=\"course\" viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" \
         aria-label=\"{id} over the runs: {range}, last {last}\">{picture}</svg><span>last <b>{last}</b> \
         <small>all runs: {range}</small></span></li>"
    )
}

/// Band, line and dots; gaps are runs without the figure.
fn picture(values: &[Option<[f64; 3]>]) -> String {
    let stride = values.len().div_ceil(POINTS).max(1);
    let last = |(index, chunk): (usize, &[Option<[f64; 3]>])| Some((index, *chunk.iter().flatten().last()?));
    let points: Vec<(usize, [f64; 3])> = values.chunks(stride).enumerate().filter_map(last).collect();
    let (low, high) = numbers::ends(points.iter().flat_map(|(_, ends)| *ends));
    // What is steady looks steady: a tenth of the value is the least that fills the height.
    let middle = f64::midpoint(low, high);
    let range = (high - low).max(middle.abs() / 10.0);
    if !range.is_finite() || range <= 0.0 {
        return String::new();
    }
    let last = values.len().div_ceil(stride).saturating_sub(1).max(1) as f64;
    let x = |index: usize| 6.0 + (WIDE - 12.0) * index as f64 / last;
    let y = |value: f64| 4.0 + (HIGH - 8.0) * (0.5 - (value - middle) / range);
    let (mut line, mut band, mut dots) = (String::new(), String::new(), String::new());
    // Writing to a string cannot fail.
    for (place, (index, [_, value, high])) in points.iter().enumerate() {
        let letter = if place == 0 { 'M' } else { 'L' };
        let _ = write!(line, "{letter}{:.1} {:.1}", x(*index), y(*value));
        let _ = write!(band, "{letter}{:.1} {:.1}", x(*index), y(*high));
        if values.len() <= DOTS {
            let _ = write!(dots, "M{:.1} {:.1}h.01", x(*index), y(*value));
        }
    }
    for (index, [low, ..]) in points.iter().rev() {
        let _ = write!(band, "L{:.1} {:.1}", x(*index), y(*low));
    }
    format!(
        "<path class=\"band s0\" d=\"{band}Z\"/><path class=\"curve s0\" d=\"{line}\"/><path class=\"dot\" d=\"{dots}\"/>"
    )
}
