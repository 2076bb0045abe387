//! A comparison as Markdown, for a pull request.

use std::io::{self, Write};

use oscost_results::Untrusted;

use super::{Comparison, Verdict, percent};
use crate::evidence::per_operation;
use crate::markdown::line;
use crate::numbers;
use crate::words::counted;

/// Writes a comparison of two results with GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn comparison_markdown(comparison: &Comparison<'_>, out: &mut dyn Write) -> io::Result<()> {
    let escaped = |text: &str| Untrusted::new(text).markdown().to_string();
    writeln!(out, "**{}** against **{}**\n", escaped(comparison.b), escaped(comparison.a))?;
    if comparison.machine.is_empty() && comparison.conditions.is_empty() {
        writeln!(out, "Machine and conditions are the same.")?;
    } else {
        writeln!(out, "| differs | first | second |\n|---|---|---|")?;
        for differs in comparison.machine.iter().chain(&comparison.conditions) {
            line([differs.what, &differs.a, &differs.b].into_iter(), out)?;
        }
    }
    for warning in &comparison.warnings {
        writeln!(out, "\n> {}", escaped(warning))?;
    }
    if !comparison.evidence.is_empty() {
        writeln!(out, "\n| evidence that differs, an operation | | first | second |\n|---|---|---:|---:|")?;
        for evident in &comparison.evidence {
            let (a, b) = (per_operation(evident.a), per_operation(evident.b));
            line([&*evident.id, &*evident.what, &*a, &*b].into_iter(), out)?;
        }
    }
    let told = |verdict: Verdict| comparison.of(verdict).next().is_some();
    if told(Verdict::Slower) || told(Verdict::Faster) || told(Verdict::CannotTell) {
        writeln!(out, "\n| verdict | figure | first | second | change | interval | margin | |")?;
        writeln!(out, "|---|---|---:|---:|---:|---|---:|---|")?;
    }
    for verdict in [Verdict::Slower, Verdict::Faster, Verdict::CannotTell] {
        for row in comparison.of(verdict) {
            let value = |value: f64| numbers::quantity(value, &row.unit);
            let change = row.change.map_or([String::new(), String::new(), String::new()], |change| {
                [
                    percent(change.change),
                    format!("{} .. {}", percent(change.low), percent(change.high)),
                    format!("{:.1} %", change.margin * 100.0),
                ]
            });
            let cells = [
                verdict.name(),
                &row.id,
                &value(row.a.value),
                &value(row.b.value),
                &change[0],
                &change[1],
                &change[2],
                &row.why,
            ];
            line(cells.into_iter(), out)?;
        }
    }
    let same = comparison.of(Verdict::Same).count();
    writeln!(out, "\n{} the same.", counted(same, "figure is", "figures are"))?;
    if !comparison.one_sided.is_empty() {
        writeln!(out, "\n| on one side only | first | second |\n|---|---|---|")?;
        for (ids, a, b) in comparison.one_sided_alike() {
            line([&*ids.join(", "), a, b].into_iter(), out)?;
        }
    }
    Ok(())
}
