//! The price list for a spreadsheet: one line per figure and quantity (RFC 4180).

use std::io::{self, Write};

use oscost_results::{Figure, Judgement, Percentiles, RunResult, Status, Untrusted};

use crate::evidence::system_calls;

/// Names of the columns.
const HEADER: &str = "id,family,status,verdict,marks,quantity,headline,value,low,high,extremes,unit,operation,call_path,\
                      placement,system_calls,launches,why,remedy";

/// Writes each figure of `result`, a line for each of its quantities; a figure without numbers has one line. Values are
/// in the unit of the line, unrounded. Text of the result can be no formula.
///
/// # Errors
/// Those of `out`.
pub fn price_list_csv(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{HEADER}\r\n")?;
    for figure in &result.figures {
        if figure.quantities.is_empty() || figure.status != Status::Measured {
            line(figure, ["", "", "", "", "", "", ""], out)?;
            continue;
        }
        for (name, quantity) in &figure.quantities {
            let estimate = quantity.estimate;
            let headline = if *name == figure.headline { "yes" } else { "no" };
            let extremes = if estimate.extremes { "yes" } else { "no" };
            let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(number);
            line(figure, [&text(name), headline, &value, &low, &high, extremes, &text(&quantity.unit)], out)?;
        }
        for (name, estimate) in figure.percentiles.iter().flat_map(Percentiles::quantities) {
            let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(number);
            line(figure, [&name, "no", &value, &low, &high, "yes", "ns"], out)?;
        }
    }
    Ok(())
}

/// Writes the reproductions of `result`: one line a published value, literal value or statement.
///
/// # Errors
/// Those of `out`.
pub fn reproductions_csv(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "document,place,statement,published,unit,literal,figure_id,quantity,value,low,high,verdict,because\r\n"
    )?;
    for row in &result.reproductions {
        let optional = |value: Option<f64>| value.map_or(String::new(), number);
        let verdict = row.verdict.map_or("", Judgement::name);
        let cells = [
            text(&row.document),
            text(&row.place),
            text(row.statement.as_deref().unwrap_or_default()),
            optional(row.published),
            text(&row.unit),
            optional(row.literal),
            text(row.figure_id.as_deref().unwrap_or_default()),
            text(row.quantity.as_deref().unwrap_or_default()),
            optional(row.measured.map(|measured| measured.value)),
            optional(row.measured.map(|measured| measured.low)),
            optional(row.measured.map(|measured| measured.high)),
            verdict.to_owned(),
            text(&row.because),
        ];
        write!(out, "{}\r\n", cells.join(","))?;
    }
    Ok(())
}

/// One line; the cells of the quantity are ready for CSV.
fn line(figure: &Figure, quantity: [&str; 7], out: &mut dyn Write) -> io::Result<()> {
    let (status, verdict) = (figure.status.name(), figure.evidence.verdict.name());
    let marks: Vec<_> = figure.marks.iter().map(|mark| mark.name()).collect();
    let before = [&*text(&figure.id), &text(&figure.family), status, verdict, &marks.join(" ")];
    let after = [
        &*text(&figure.operation),
        &text(&figure.call_path),
        &text(&figure.placement),
        &system_calls(figure).map_or(String::new(), number),
        &figure.evidence.launches.to_string(),
        &text(figure.why.as_deref().unwrap_or_default()),
        &text(figure.remedy.as_deref().unwrap_or_default()),
    ];
    let cells: Vec<&str> = before.into_iter().chain(quantity).chain(after).collect();
    write!(out, "{}\r\n", cells.join(","))
}

/// A cell of text.
fn text(text: &str) -> String {
    Untrusted::new(text).csv().to_string()
}

/// A cell of a number, with all its digits.
fn number(value: f64) -> String {
    // The sum of no calls at all is -0.
    let value = value + 0.0;
    if value != 0.0 && !(1e-9..1e15).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}
