//! The price list and the reproductions as Markdown, for a pull request.

use std::io::{self, Write};

use oscost_results::{RunResult, Untrusted};

use crate::grid::{Grid, PARTS};
use crate::reproduction::{Block, Published, documents};
use crate::story::{Outcome, Row, Section, Story};
use crate::view;

/// Writes the whole price list of `result` as Markdown with GitHub's tables. `saved` is the name under which it can be
/// read again, if it was saved.
///
/// # Errors
/// Those of `out`.
pub fn price_list_markdown(result: &RunResult, saved: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let story = Story::new(result, true);
    writeln!(out, "**{}**: {}\n", escaped(&story.tool()), escaped(&story.conditions()))?;
    writeln!(out, "{}", escaped(&story.doctor().0))?;
    for warning in story.warnings() {
        writeln!(out, "\n> {}", escaped(&warning))?;
    }
    let views = view::of(&story);
    for section in story.sections(&views) {
        table(&section, out)?;
    }
    for view in &views {
        view.markdown(out)?;
    }
    writeln!(out)?;
    for note in story.footnotes() {
        writeln!(out, "{}\n", escaped(&note))?;
    }
    writeln!(out, "{}", escaped(&story.closing(saved)))
}

/// Writes what `result` says of each founding document as Markdown with GitHub's tables.
///
/// # Errors
/// Those of `out`.
pub fn reproductions_markdown(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let documents = documents(result, true);
    if documents.is_empty() {
        return writeln!(out, "No founding document was reproduced in this run.");
    }
    for (index, document) in documents.iter().enumerate() {
        writeln!(out, "{}## {}\n", if index > 0 { "\n" } else { "" }, escaped(&document.title))?;
        let mut between = "";
        for block in &document.blocks {
            write!(out, "{between}")?;
            between = "\n";
            match block {
                Block::List(values) => listed(values, out)?,
                Block::Grid(grid) => gridded(grid, out)?,
            }
        }
        if let Some(pictures) = &document.pictures {
            pictures.markdown(out)?;
        }
        if !document.answers.is_empty() {
            writeln!(out, "{between}| figure | | evidence |\n|---|---|---|")?;
            between = "\n";
            for answer in &document.answers {
                line([&*answer.id, &*answer.says, &*answer.evidence].into_iter(), out)?;
            }
        }
        if !document.statements.is_empty() {
            writeln!(out, "{between}| | statement | because |")?;
            writeln!(out, "|---|---|---|")?;
            for statement in &document.statements {
                line([statement.judgement, &statement.text, &statement.because].into_iter(), out)?;
            }
            writeln!(out, "\n{}", escaped(&document.tally()))?;
        }
    }
    Ok(())
}

/// Values on their own.
fn listed(values: &[Published], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| | published | literal here | measured | figure | |")?;
    writeln!(out, "|---|---:|---:|---|---|---|")?;
    for value in values {
        let [published, literal, measured] = value.parts();
        line(
            [&*value.place, published, literal, measured, &*value.figure, &*value.because].into_iter(),
            out,
        )?;
    }
    Ok(())
}

/// A table of the document: each part of its columns is a column here.
fn gridded(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", escaped(&grid.title))?;
    let heads = grid
        .columns
        .iter()
        .flat_map(|column| column.parts.iter().map(move |&part| format!("{}: {}", column.name, PARTS[part])));
    let heads: Vec<String> = std::iter::once(String::new()).chain(heads).collect();
    line(heads.iter().map(String::as_str), out)?;
    writeln!(out, "|---|{}", "---:|".repeat(heads.len() - 1))?;
    for (row, name) in grid.rows.iter().enumerate() {
        let cells = (0..grid.columns.len()).flat_map(|column| grid.cell(row, column));
        let cells: Vec<String> = std::iter::once(name.clone()).chain(cells).collect();
        line(cells.iter().map(String::as_str), out)?;
    }
    let remarks = grid.remarks();
    if !remarks.is_empty() {
        writeln!(out)?;
    }
    for remark in remarks {
        writeln!(out, "- {}", escaped(&remark))?;
    }
    Ok(())
}

/// One family: heading, table, and below it what no cell holds.
fn table(section: &Section, out: &mut dyn Write) -> io::Result<()> {
    let operation = section.operation.as_ref().map_or(String::new(), |operation| format!(": {operation}"));
    writeln!(out, "\n### {}\n", escaped(&format!("{}{operation}", section.family)))?;
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

fn figure(row: &Row, batched: bool, out: &mut dyn Write) -> io::Result<()> {
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

/// One line of a table.
pub(crate) fn line<'a>(cells: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> io::Result<()> {
    for cell in cells {
        // A cell is never the beginning of a line, and is escaped as what it is: 5.44 begins no list there.
        let inside = escaped(&format!(".{cell}"));
        write!(out, "| {} ", inside.strip_prefix('.').unwrap_or(&inside))?;
    }
    writeln!(out, "|")
}

/// Text that means nothing to Markdown.
fn escaped(text: &str) -> String {
    Untrusted::new(text).markdown().to_string()
}
