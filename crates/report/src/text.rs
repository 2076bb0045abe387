//! The price list for people: families as sections, aligned columns, the verdict, and what is noteworthy in words.

use std::io::{self, Write};

use oscost_results::RunResult;

use crate::columns::{Columns, INDENT, TAIL};
use crate::layout::{left, width};
use crate::page::Page;
use crate::story::{Outcome, Row, Section, Story};
use crate::style::{Style, Tone};
use crate::view;

/// Columns before what belongs to the row above.
const DEEP: usize = 6;
/// A reason stands beside the id where it has so many columns, else below it.
const REASON: usize = 24;

/// Writes the whole price list of `result`. `saved` is the name under which it can be read again, if it was saved.
///
/// # Errors
/// Those of `out`.
pub fn price_list(
    result: &RunResult,
    saved: Option<&str>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let story = Story::new(result, style.unicode);
    let mut page = Page::new(style, out);
    head(&story, &mut page)?;
    let views = view::of(&story);
    let sections = story.sections(&views);
    let columns = Columns::fit(&sections, page.width());
    let mut titled = String::new();
    for section in &sections {
        heading(section, &columns, &mut titled, &mut page)?;
        for row in &section.rows {
            figure(row, &columns, &mut page)?;
        }
    }
    for view in &views {
        page.line("")?;
        view.text(&mut page)?;
    }
    page.line("")?;
    for note in story.footnotes() {
        page.paragraph("", &note, 0)?;
    }
    page.paragraph("", &story.closing(saved), 0)
}

/// Who measured, where, under which conditions, and whether the machine is fit to.
fn head(story: &Story<'_>, page: &mut Page<'_>) -> io::Result<()> {
    page.paragraph(&format!("{}   ", story.tool()), &story.conditions(), INDENT)?;
    let (findings, names) = story.doctor();
    page.paragraph("", if width(&findings) <= page.width() { &findings } else { &names }, INDENT)?;
    for warning in story.warnings() {
        page.paragraph("", &warning, INDENT)?;
    }
    page.line("")
}

/// Family and operation, with the titles of the columns where both fit into one line.
fn heading(section: &Section, columns: &Columns, titled: &mut String, page: &mut Page<'_>) -> io::Result<()> {
    let titles = columns.titles(section);
    let free = width(&titles) - width(titles.trim_start());
    let heading = match &section.operation {
        Some(operation) => format!("{}  {operation}", section.family),
        None => section.family.clone(),
    };
    if width(&heading) + 2 <= free {
        page.line(&format!("{}{}", left(&heading, free), titles.trim_start()))?;
    } else {
        page.paragraph(&format!("{}  ", section.family), section.operation.as_deref().unwrap_or(""), INDENT)?;
        if titles != *titled && !titles.is_empty() {
            page.line(&titles)?;
        }
    }
    if !titles.is_empty() {
        *titled = titles;
    }
    Ok(())
}

/// One figure: its columns or the reason for which there are none, and under it what is noteworthy.
fn figure(row: &Row, columns: &Columns, page: &mut Page<'_>) -> io::Result<()> {
    let fits = width(&row.name) <= columns.id;
    if !fits {
        page.paragraph(&" ".repeat(INDENT), &row.name, INDENT)?;
    }
    let start = columns.start(if fits { &row.name } else { "" }, &row.call_path);
    let mut below = row.notes.clone();
    match &row.outcome {
        Outcome::Withheld { state, why } => {
            let reason = format!(": {why}");
            let tone = if *state == "unsupported" { Tone::Doubt } else { Tone::Bad };
            if width(&start) + REASON <= page.width() {
                page.told(&start, state, tone, &reason, width(&start))?;
            } else {
                if fits {
                    page.paragraph(&" ".repeat(INDENT), &row.name, INDENT)?;
                }
                page.told(&" ".repeat(DEEP), state, tone, &reason, DEEP)?;
            }
        }
        Outcome::Measured(numbers) => {
            let before = format!("{start}{}", columns.cells(numbers));
            if columns.tells_below(numbers) {
                below.insert(0, format!("interval {}", numbers.interval));
            }
            let beside = beside(&mut below, page.width().saturating_sub(columns.total() + 2));
            let mut after = String::new();
            if !beside.is_empty() {
                after = format!("{}  {}", columns.fill_verdict(numbers.verdict), beside.join("; "));
            }
            page.verdict(&before, numbers.verdict, numbers.tone, &after)?;
        }
    }
    below.extend(row.remarks.iter().cloned());
    if below.is_empty() {
        return Ok(());
    }
    page.paragraph(&" ".repeat(DEEP), &below.join("; "), DEEP)
}

/// Takes the notes that have room beside the verdict.
fn beside(notes: &mut Vec<String>, room: usize) -> Vec<String> {
    let mut taken = 0;
    let mut columns = 0;
    for note in notes.iter().filter(|_| room >= TAIL) {
        columns += width(note) + if taken == 0 { 0 } else { 2 };
        if columns > room {
            break;
        }
        taken += 1;
    }
    notes.drain(..taken).collect()
}
