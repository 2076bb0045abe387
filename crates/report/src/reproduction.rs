//! The founding documents beside this machine: published values, the literal repeat, the figure; then the statements.

use std::io::{self, Write};

use oscost_results::{Judgement, Reproduction, RunResult};

use crate::layout::{left, right, width};
use crate::numbers;
use crate::page::Page;
use crate::style::{Style, Tone};
use crate::words::{counted, plain, tally};

/// Columns of a judgement, the longest of which is "not testable here".
const JUDGEMENT: usize = 17;
/// Blanks between columns.
const GAP: usize = 2;

/// What one document said, in the order of the result.
pub(crate) struct Document {
    /// Number and subject.
    pub title: String,
    /// Published values, and literal repeats of what was not published.
    pub values: Vec<Published>,
    /// Its statements.
    pub statements: Vec<Statement>,
}

/// A published value beside this machine's.
pub(crate) struct Published {
    /// Where in the document.
    pub place: String,
    /// As published, or "-".
    pub published: String,
    /// The document's own method repeated here, single runs, or "-".
    pub literal: String,
    /// The figure with its interval, or "-".
    pub measured: String,
    /// Id and quantity of the figure.
    pub figure: String,
    /// What else is to be said.
    pub because: String,
}

/// A statement and its judgement.
pub(crate) struct Statement {
    /// "holds", "does not hold", "not testable here", "not judged".
    pub judgement: &'static str,
    /// What that means to the reader.
    pub tone: Tone,
    /// The statement in quotes, and where it stands.
    pub text: String,
    /// The numbers that decide.
    pub because: String,
}

impl Document {
    /// How many statements hold, do not hold, or cannot be judged; empty where there are none.
    pub fn tally(&self) -> String {
        let names = ["holds", "does not hold", "not testable here", "not judged"].map(|name| (name, name));
        let found = tally(&names, |name| self.statements.iter().filter(|one| one.judgement == *name).count());
        if found.is_empty() {
            return found;
        }
        format!("{}: {found}", counted(self.statements.len(), "statement", "statements"))
    }
}

/// Writes what `result` says of each founding document that it was held against.
///
/// # Errors
/// Those of `out`.
pub fn reproductions(result: &RunResult, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style, out);
    let documents = documents(result, style.unicode);
    if documents.is_empty() {
        return page.paragraph("", "No founding document was reproduced in this run.", 2);
    }
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            page.line("")?;
        }
        page.paragraph("", &document.title, 2)?;
        if !document.values.is_empty() {
            values(&document.values, &mut page)?;
        }
        if !document.statements.is_empty() {
            page.line("Statements")?;
            for statement in &document.statements {
                judged(statement, &mut page)?;
            }
            page.paragraph("", &document.tally(), 2)?;
        }
    }
    Ok(())
}

/// The table of published values; below one another where it does not fit.
fn values(values: &[Published], page: &mut Page<'_>) -> io::Result<()> {
    let widest = |cell: fn(&Published) -> &str, title: &str| {
        values.iter().map(|value| width(cell(value))).max().unwrap_or(0).max(width(title))
    };
    let titles = ["published", "literal here", "measured"];
    let rooms = [
        widest(|value| &value.published, titles[0]),
        widest(|value| &value.literal, titles[1]),
        widest(|value| &value.measured, titles[2]),
    ];
    // A place that is longer has a line of its own.
    let longest = page.width() / 3;
    let place =
        values.iter().map(|value| width(&value.place)).filter(|place| *place <= longest).max().unwrap_or(0);
    let total = 2 + place + rooms.iter().map(|room| GAP + room).sum::<usize>();
    let figure = widest(|value| &value.figure, "");
    let figures = figure > 0 && total + GAP + figure <= page.width();
    let row = |name: &str, cells: [&str; 3], figure: &str| {
        let mut line = format!("  {}", left(name, place));
        for (index, (cell, room)) in cells.into_iter().zip(rooms).enumerate() {
            line.push_str(&" ".repeat(GAP));
            // The figure's interval goes on at the right of its value: such cells line up at the left.
            line.push_str(&if index == 2 { left(cell, room) } else { right(cell, room) });
        }
        if figures {
            line.push_str(&format!("{}{figure}", " ".repeat(GAP)));
        }
        line
    };
    if total <= page.width() {
        page.line(&row("", titles, if figures { "figure" } else { "" }))?;
    }
    for value in values {
        let cells = [&*value.published, &*value.literal, &*value.measured];
        if total > page.width() {
            page.paragraph("  ", &value.place, 2)?;
            let parts: Vec<_> =
                titles.iter().zip(cells).map(|(title, cell)| format!("{title} {cell}")).collect();
            page.paragraph("      ", &parts.join("; "), 6)?;
        } else if width(&value.place) > place {
            page.paragraph("  ", &value.place, 2)?;
            page.line(&row("", cells, &value.figure))?;
        } else {
            page.line(&row(&value.place, cells, &value.figure))?;
        }
        if !value.because.is_empty() {
            page.paragraph("      ", &value.because, 6)?;
        }
    }
    Ok(())
}

/// A statement, and behind or below it what decides.
fn judged(statement: &Statement, page: &mut Page<'_>) -> io::Result<()> {
    let beside = 2 + JUDGEMENT + GAP;
    let (fill, indent) = if beside + 40 <= page.width() {
        (JUDGEMENT + GAP - statement.judgement.len(), beside)
    } else {
        (2, 6)
    };
    let text = format!("{}{}", " ".repeat(fill), statement.text);
    let one_line = 2 + statement.judgement.len() + width(&text) + 3 + width(&statement.because);
    if one_line <= page.width() {
        let because =
            if statement.because.is_empty() { String::new() } else { format!("   {}", statement.because) };
        return page.verdict("  ", statement.judgement, statement.tone, &format!("{text}{because}"));
    }
    let before = format!("  {}{}", statement.judgement, " ".repeat(fill));
    let mut lines = crate::layout::paragraph(&before, &statement.text, indent, page.width()).into_iter();
    let first = lines.next().unwrap_or_default();
    let rest = first.get(2 + statement.judgement.len()..).unwrap_or_default();
    page.verdict("  ", statement.judgement, statement.tone, rest)?;
    for line in lines {
        page.line(&line)?;
    }
    if statement.because.is_empty() {
        return Ok(());
    }
    page.paragraph(&" ".repeat(indent + 2), &statement.because, indent + 2)
}

/// The reproductions of a result by document, in the order of the result.
pub(crate) fn documents(result: &RunResult, unicode: bool) -> Vec<Document> {
    let mut names: Vec<&str> = Vec::new();
    let mut documents: Vec<Document> = Vec::new();
    for reproduction in &result.reproductions {
        let index = names.iter().position(|name| *name == reproduction.document).unwrap_or_else(|| {
            names.push(&reproduction.document);
            let title = title(&reproduction.document, unicode);
            documents.push(Document { title, values: Vec::new(), statements: Vec::new() });
            names.len() - 1
        });
        let Some(document) = documents.get_mut(index) else { continue };
        match &reproduction.statement {
            Some(text) => document.statements.push(statement(reproduction, text, result, unicode)),
            None => document.values.push(published(reproduction, result, unicode)),
        }
    }
    documents
}

/// Number and subject of a founding document.
fn title(document: &str, unicode: bool) -> String {
    match document {
        "tlpi" => "Document 000, TLPI 53.5: POSIX against System V semaphores, uncontended".to_owned(),
        "apue" => "Document 001, APUE 20.9: the cost of record locking in a small database".to_owned(),
        "grame" => {
            "Document 002, GRAME 2001: real-time message latency, one server and its clients".to_owned()
        }
        "ostep" => {
            "Document 003, OSTEP chapter 6: the cost of a system call, the resolution of clocks".to_owned()
        }
        "context-switch" => "Document 004: gettimeofday, a read of 0 bytes, the context switch".to_owned(),
        other => format!("Document {}", plain(other, unicode)),
    }
}

fn published(reproduction: &Reproduction, result: &RunResult, unicode: bool) -> Published {
    let unit = plain(&reproduction.unit, unicode);
    let dash = || "-".to_owned();
    let figure = reproduction.figure_id.as_deref().unwrap_or_default();
    let quantity = reproduction.quantity.as_deref().unwrap_or_default();
    let judgement = reproduction.verdict.map(|verdict| judgement(Some(verdict)).0);
    let because = plain(&reproduction.because, unicode);
    Published {
        place: plain(&reproduction.place, unicode),
        published: reproduction
            .published
            .map_or_else(dash, |value| with_unit(&numbers::published(value), &unit)),
        literal: reproduction
            .literal
            .map_or_else(dash, |value| with_unit(&numbers::beside_published(value), &unit)),
        measured: measured(reproduction, result, unicode).unwrap_or_else(dash),
        figure: plain([figure, quantity].join(" ").trim(), unicode),
        because: match judgement {
            Some(judgement) if because.is_empty() => judgement.to_owned(),
            Some(judgement) => format!("{judgement}: {because}"),
            None => because,
        },
    }
}

fn statement(reproduction: &Reproduction, text: &str, result: &RunResult, unicode: bool) -> Statement {
    let (judgement, tone) = judgement(reproduction.verdict);
    let place = plain(&reproduction.place, unicode);
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let because = plain(&reproduction.because, unicode);
    Statement {
        judgement,
        tone,
        text: format!("\"{}\"{place}", plain(text, unicode)),
        because: if because.is_empty() {
            measured(reproduction, result, unicode).unwrap_or_default()
        } else {
            because
        },
    }
}

fn judgement(verdict: Option<Judgement>) -> (&'static str, Tone) {
    match verdict {
        Some(Judgement::Holds) => ("holds", Tone::Good),
        Some(Judgement::DoesNotHold) => ("does not hold", Tone::Bad),
        Some(Judgement::NotTestableHere) => ("not testable here", Tone::Doubt),
        None => ("not judged", Tone::Doubt),
    }
}

/// Value and interval of the figure that answers, in the figure's own unit where the result has it.
fn measured(reproduction: &Reproduction, result: &RunResult, unicode: bool) -> Option<String> {
    let estimate = reproduction.measured.as_ref()?;
    let figure = result.figures.iter().find(|figure| Some(&figure.id) == reproduction.figure_id.as_ref());
    let quantity = figure
        .zip(reproduction.quantity.as_ref())
        .and_then(|(figure, quantity)| figure.quantities.get(quantity));
    let unit = plain(quantity.map_or(&reproduction.unit, |quantity| &quantity.unit), unicode);
    if unit == "ratio" {
        return Some(numbers::ratio(estimate.value, Some((estimate.low, estimate.high))));
    }
    let interval = numbers::interval(estimate, &unit, unicode);
    Some(format!("{} {interval}", numbers::quantity(estimate.value, &unit)).trim_end().to_owned())
}

/// A number with the unit of the document; a ratio is a multiple, a share and a count go without.
fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "ratio" => format!("{number}x"),
        "count" | "share" | "" => number.to_owned(),
        unit => format!("{number} {unit}"),
    }
}
