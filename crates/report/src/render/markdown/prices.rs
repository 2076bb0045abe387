//! The price list with GitHub's tables.

use std::io::{self, Write};

use super::{escaped, line, view};
use crate::blocks::prices::{Outcome, PriceFamily, PriceRow, Prices};

/// Writes a price list.
pub(crate) fn write(prices: &Prices, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**{}**: {}\n", escaped(&prices.tool), escaped(&prices.conditions))?;
    writeln!(out, "{}", escaped(&prices.doctor))?;
    for warning in &prices.warnings {
        writeln!(out, "\n> {}", escaped(warning))?;
    }
    prices.families.iter().try_for_each(|one| family(one, out))?;
    for one in &prices.views {
        writeln!(out)?;
        view(one, 3, out)?;
    }
    writeln!(out)?;
    for note in &prices.footnotes {
        writeln!(out, "{}\n", escaped(note))?;
    }
    writeln!(out, "{}", escaped(&prices.closing))
}

/// One family: heading, table, and below it what no cell holds.
fn family(section: &PriceFamily, out: &mut dyn Write) -> io::Result<()> {
    let operation = section.operation.as_ref().map_or(String::new(), |operation| format!(": {operation}"));
    writeln!(out, "\n### {}\n", escaped(&format!("{}{operation}", section.name)))?;
    let quoted = escaped(&section.headline);
    if section.batched {
        writeln!(
            out,
            "| figure | path | {quoted} | interval | typical | batch p99 | shape | calls | verdict | |"
        )?;
        writeln!(out, "|---|---|---:|---|---:|---:|---|---:|---|---|")?;
    } else {
        writeln!(out, "| figure | path | {quoted} | interval | calls | verdict | |")?;
        writeln!(out, "|---|---|---:|---|---:|---|---|")?;
    }
    for row in &section.rows {
        figure(row, section.batched, out)?;
    }
    let remarks = || section.rows.iter().flat_map(|row| row.remarks.iter().map(|remark| (&row.name, remark)));
    if remarks().next().is_some() {
        writeln!(out)?;
    }
    for (name, remark) in remarks() {
        writeln!(out, "- {}: {}", escaped(name), escaped(remark))?;
    }
    Ok(())
}

fn figure(row: &PriceRow, batched: bool, out: &mut dyn Write) -> io::Result<()> {
    let notes = row.notes.join("; ");
    let mut cells = vec![&*row.name, &*row.call_path];
    match &row.outcome {
        Outcome::Measured(numbers) => {
            cells.extend([&*numbers.value, &*numbers.interval]);
            if batched {
                cells.extend([&*numbers.typical, &*numbers.tail, &*numbers.picture]);
            }
            cells.extend([&*numbers.calls, numbers.verdict, &*notes]);
        }
        Outcome::Withheld { state, why } => {
            cells.extend(std::iter::repeat_n("", if batched { 6 } else { 3 }));
            cells.extend([*state, why]);
        }
    }
    line(cells.into_iter(), out)
}
