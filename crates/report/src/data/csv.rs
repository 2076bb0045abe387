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
        // A number where there is one, else the word of the document.
        let or_words = |value: Option<f64>, words: &Option<String>| match value {
            Some(value) => number(value),
            None => text(words.as_deref().unwrap_or_default()),
        };
        let verdict = row.verdict.map_or("", Judgement::name);
        let cells = [
            text(&row.document),
            text(&row.place),
            text(row.statement.as_deref().unwrap_or_default()),
            or_words(row.published, &row.published_words),
            text(&row.unit),
            or_words(row.literal, &row.literal_words),
            text(row.figure_id.as_deref().unwrap_or_default()),
            text(row.quantity.as_deref().unwrap_or_default()),
            or_words(row.measured.map(|measured| measured.value), &row.measured_words),
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
