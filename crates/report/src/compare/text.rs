//! A comparison for people: surroundings, evidence that differs, changes by size, then what stayed the same.

use std::io::{self, Write};

use super::{Comparison, Row, Verdict, percent};
use crate::evidence::per_operation;
use crate::layout::{left, right, width};
use crate::numbers;
use crate::page::Page;
use crate::style::{Style, Tone};
use crate::words::{counted, plain};

const INDENT: usize = 2;
/// Columns of a verdict.
const VERDICT: usize = 13;

/// Writes a comparison of two results.
///
/// # Errors
/// Those of `out`.
pub fn comparison(comparison: &Comparison<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, out);
    let say = |text: &str| plain(text, style.unicode);
    let arrow = if style.unicode { "\u{2192}" } else { "->" };
    page.paragraph("", &format!("{}, then {}", say(comparison.a), say(comparison.b)), INDENT)?;
    let differing = |differs: &[super::Differs]| {
        let each = differs.iter().map(|it| format!("{} {} {arrow} {}", it.what, say(&it.a), say(&it.b)));
        if differs.is_empty() { "the same".to_owned() } else { each.collect::<Vec<_>>().join("; ") }
    };
    page.paragraph("machine     ", &differing(&comparison.machine), 12)?;
    page.paragraph("conditions  ", &differing(&comparison.conditions), 12)?;
    for warning in &comparison.warnings {
        page.paragraph("", &format!("warning: {}", say(warning)), INDENT)?;
    }
    for evident in &comparison.evidence {
        let (a, b) = (per_operation(evident.a), per_operation(evident.b));
        let text = format!("{}: {} {a} {arrow} {b} an operation", say(&evident.id), say(&evident.what));
        page.told("  ", "evidence", Tone::Doubt, &format!("     {text}"), INDENT + VERDICT)?;
    }
    let lines: Vec<(&Row, [String; 4])> =
        comparison.rows.iter().map(|row| (row, cells(row, style, arrow))).collect();
    let shown = |row: &Row| row.verdict != Verdict::Same;
    let room = |column: usize| {
        let cells = lines.iter().filter(|(row, _)| shown(row)).map(|(_, cells)| width(&cells[column]));
        cells.max().unwrap_or(0)
    };
    let rooms = [room(0), room(1), room(2)];
    for verdict in [Verdict::Slower, Verdict::Faster, Verdict::CannotTell] {
        for (_, cells) in lines.iter().filter(|(row, _)| row.verdict == verdict) {
            let tone = match verdict {
                Verdict::Slower => Tone::Bad,
                Verdict::Faster | Verdict::Same => Tone::Good,
                Verdict::CannotTell => Tone::Doubt,
            };
            let gap = " ".repeat(VERDICT.saturating_sub(width(verdict.name())));
            let line = format!(
                "{gap}{}  {}  {}",
                left(&cells[0], rooms[0]),
                right(&cells[1], rooms[1]),
                left(&cells[2], rooms[2])
            );
            let line = line.trim_end();
            let whole = if cells[3].is_empty() { line.to_owned() } else { format!("{line}   {}", cells[3]) };
            if INDENT + VERDICT + width(&whole) <= page.width() + VERDICT {
                page.verdict("  ", verdict.name(), tone, &whole)?;
            } else {
                page.verdict("  ", verdict.name(), tone, line)?;
                if !cells[3].is_empty() {
                    page.paragraph("      ", &cells[3], 6)?;
                }
            }
        }
    }
    let same = comparison.of(Verdict::Same).count();
    if same > 0 {
        page.verdict("  ", "same", Tone::Good, &format!("         {}", counted(same, "figure", "figures")))?;
    }
    for (ids, a, b) in comparison.one_sided_alike() {
        let text = format!("{} {arrow} {}: {}", say(a), say(b), say(&ids.join(", ")));
        page.paragraph("  one side     ", &text, INDENT + VERDICT)?;
    }
    if comparison.rows.is_empty() {
        page.paragraph("", "No figure was measured in both.", INDENT)?;
    }
    Ok(())
}

/// Id, both values, the change with its interval, and what else is to be said.
fn cells(row: &Row, style: &Style, arrow: &str) -> [String; 4] {
    let unit = plain(&row.unit, style.unicode);
    let value = |value: f64| numbers::quantity(value, &unit);
    let values = format!("{} {arrow} {}", value(row.a.value), value(row.b.value));
    let change = row.change.map_or(String::new(), |change| {
        format!(
            "{} ({:.1} .. {:.1}), margin {:.1} %",
            percent(change.change),
            change.low * 100.0,
            change.high * 100.0,
            change.margin * 100.0
        )
    });
    let mut notes = vec![plain(&row.why, style.unicode)];
    if let Some(typical) = row.typical.filter(|_| row.verdict != Verdict::Same) {
        notes.push(format!("typical {}", percent(typical)));
    }
    notes.retain(|note| !note.is_empty());
    [plain(&row.id, style.unicode), values, change, notes.join("; ")]
}
