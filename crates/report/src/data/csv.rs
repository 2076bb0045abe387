//! Statements of documents for a spreadsheet: one line each (RFC 4180).

use std::io::{self, Write};

use oscost_results::{Judgement, RunResult, Untrusted};

use super::rows::number;

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

/// A cell of text.
fn text(text: &str) -> String {
    Untrusted::new(text).csv().to_string()
}
