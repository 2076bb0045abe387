//! Shows the bill of a program in a format, and two of them compared.

use std::io::{self, Write};

use oscost_results::RunResult;

use super::{to_lines, to_text};
use crate::judge::BillChanges;
use crate::named::Named;

use crate::render::text::style::Style;
use crate::render::{html, markdown};
use crate::view;

/// Writes the bill that `result` holds; every row, and what its price rests on, where `whole` is asked for.
///
/// # Errors
/// Those of `out`.
pub fn bill(result: &RunResult, whole: bool, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(bill) = result.bill.as_deref() else { return Ok(()) };
    to_text(&view::bill::view(result, bill, whole, style.unicode), style, out)
}

/// Writes the bill that `result` holds with GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn bill_markdown(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let Some(bill) = result.bill.as_deref() else { return Ok(()) };
    markdown::view(&view::bill::view(result, bill, true, true), 2, out)
}

/// Writes one page about the bill of a result.
///
/// # Errors
/// Those of `out`.
pub fn bill_page(named: &Named<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(bill) = named.result.bill.as_deref() else { return Ok(()) };
    html::page::write(&view::bill::page(named, bill), out)
}

impl BillChanges {
    /// For a terminal: one line a row.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn text(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        to_lines(&view::bill_changes::view(self, style.unicode), style, out)
    }

    /// As tables of Markdown.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        markdown::view(&view::bill_changes::view(self, true), 3, out)
    }
}
