//! The runs of a store: when, where, under which conditions; and each figure over time as a strip with its intervals.

use std::collections::BTreeMap;
use std::io::{self, Write};

use oscost_results::{Estimate, Outline};

use crate::layout::{left, width};
use crate::numbers;
use crate::page::Page;
use crate::style::Style;
use crate::words::{counted, plain};

/// From low to high, in blocks and in ASCII.
const BLOCKS: [char; 8] =
    ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
const LETTERS: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];
/// Figures whose whole range is smaller have not moved: 2 %, as for a verdict.
const STILL: f64 = 0.02;

/// Writes the list of `runs`, named and oldest first, and what became of each figure over them.
///
/// # Errors
/// Those of `out`.
pub fn history(runs: &[(String, Outline)], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, out);
    let say = |text: &str| plain(text, style.unicode);
    page.paragraph("", &format!("{}, oldest first", counted(runs.len(), "run", "runs")), 2)?;
    let mut before = String::new();
    for (name, run) in runs {
        let place = [&run.machine.cpu_model, &run.conditions.kernel, &run.tool.version];
        let place = place.map(|text| say(text)).join(", ");
        // Said once for all the runs that share it.
        let told = if place == before { String::new() } else { format!("   {place}") };
        before = place;
        let figures = counted(run.figures.len(), "figure", "figures");
        let effort = say(&run.plan.effort);
        let partial = if run.partial { ", partial" } else { "" };
        let note = run.note.as_deref().map_or(String::new(), |note| format!("   {}", say(note)));
        page.paragraph("  ", &format!("{}  {figures}, {effort}{partial}{told}{note}", say(name)), 4)?;
    }
    // Each figure with its estimate in every run: the runs are gone through once, however many there are.
    let mut order: Vec<&str> = Vec::new();
    let mut known: BTreeMap<&str, Strip> = BTreeMap::new();
    for (index, (_, run)) in runs.iter().enumerate() {
        for figure in &run.figures {
            let strip = known.entry(&figure.id).or_insert_with(|| {
                order.push(&figure.id);
                Strip { unit: String::new(), estimates: vec![None; runs.len()] }
            });
            if let Some((estimate, unit)) = figure.quoted() {
                unit.clone_into(&mut strip.unit);
                strip.estimates[index] = Some(estimate);
            }
        }
    }
    // As many runs as a line has room for: the newest.
    let room = page.width().saturating_sub(6);
    let lines: Vec<Line> = order
        .iter()
        .filter_map(|id| known.get(id)?.line(id, runs.len().saturating_sub(room), style))
        .collect();
    if lines.is_empty() {
        return page.paragraph("", "No figure was measured in two runs.", 2);
    }
    page.line("")?;
    let which = if runs.len() > room { format!("the newest {room} runs") } else { "these runs".to_owned() };
    page.paragraph(
        "",
        &format!(
            "figures over {which}, one letter a run from the lowest to the highest value, blank where it was not \
             measured; then the range, and the last one with its interval; below, where one is over 1 %, how wide the \
             interval of each is either way, in percent (9: over 8; ?: fewer than 6 launches)"
        ),
        2,
    )?;
    let names = lines.iter().map(|line| width(&line.name)).max().unwrap_or(0);
    let strips = lines.iter().map(|line| width(&line.strip)).max().unwrap_or(0);
    for Line { name, strip, range, intervals } in &lines {
        if 2 + names + 2 + strips + 2 + width(range) <= page.width() {
            page.line(&format!("  {}  {}  {range}", left(name, names), left(strip, strips)))?;
            if let Some(intervals) = intervals {
                page.line(&format!("  {}  {intervals}", " ".repeat(names)))?;
            }
        } else {
            page.paragraph("  ", name, 4)?;
            page.line(&format!("      {strip}"))?;
            if let Some(intervals) = intervals {
                page.line(&format!("      {intervals}"))?;
            }
            page.paragraph("      ", range, 6)?;
        }
    }
    Ok(())
}

/// What is shown of a figure.
struct Line {
    name: String,
    strip: String,
    range: String,
    /// Half-widths, a digit a run, where one of them is worth it.
    intervals: Option<String>,
}

/// One figure over the runs.
struct Strip {
    unit: String,
    estimates: Vec<Option<Estimate>>,
}

impl Strip {
    /// The runs from number `first` on, if it was measured in at least two of them.
    fn line(&self, id: &str, first: usize, style: &Style) -> Option<Line> {
        let estimates = self.estimates.get(first..)?;
        let values: Vec<f64> = estimates.iter().flatten().map(|estimate| estimate.value).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if values.len() < 2 {
            return None;
        }
        let unit = plain(&self.unit, style.unicode);
        let letters = if style.unicode { BLOCKS } else { LETTERS };
        let still = low > 0.0 && high / low - 1.0 <= STILL;
        let mut strip = String::new();
        let mut before: Option<Estimate> = None;
        for estimate in estimates {
            match estimate {
                None => strip.push(' '),
                Some(estimate) => {
                    let height =
                        if still || high <= low { 0.0 } else { (estimate.value - low) / (high - low) };
                    // A float to integer cast saturates, and takes NaN for 0.
                    strip.push(letters[((height * 7.0).round() as usize).min(7)]);
                }
            }
            before = estimate.or(before);
        }
        let range = if still {
            format!("{} throughout", numbers::quantity(values[values.len() - 1], &unit))
        } else {
            let last = before.map_or(String::new(), |last| {
                format!(
                    "; last {} {}",
                    numbers::quantity(last.value, &unit),
                    numbers::interval(&last, &unit, style.unicode)
                )
            });
            format!("{}{last}", numbers::range(low, high, &unit))
        };
        let intervals: String = estimates.iter().map(digit).collect();
        let wide = intervals.chars().any(|digit| !matches!(digit, ' ' | '1'));
        Some(Line { name: plain(id, style.unicode), strip, range, intervals: wide.then_some(intervals) })
    }
}

/// The half-width of an interval in whole percent, rounded up.
fn digit(estimate: &Option<Estimate>) -> char {
    let Some(estimate) = estimate else { return ' ' };
    if estimate.extremes {
        return '?';
    }
    let percent = (estimate.high - estimate.low) / 2.0 / estimate.value.abs() * 100.0;
    // A share of zero is none: an interval without a width is as narrow as can be, any other one is wide.
    if percent.is_nan() { '1' } else { char::from(b'0' + percent.ceil().clamp(1.0, 9.0) as u8) }
}
