//! The founding documents beside this machine: published values, the literal repeat, the figure; then the statements.

use std::io::{self, Write};

use oscost_results::{Figure, Judgement, Reproduction, RunResult};

use crate::evidence::{per_operation, system_calls};
use crate::grid::Grid;
use crate::layout::{left, right, width};
use crate::numbers;
use crate::page::Page;
use crate::story::{Outcome, Story};
use crate::style::{Style, Tone};
use crate::view::View;
use crate::words::{counted, plain, tally};

/// Columns of a judgement, the longest of which is "not testable here".
const JUDGEMENT: usize = 17;
/// Blanks between columns.
const GAP: usize = 2;

/// What one document said, in the order of the result.
pub(crate) struct Document {
    /// Number and subject.
    pub title: String,
    /// Published values, and literal repeats of what was not published, in tables and one by one.
    pub blocks: Vec<Block>,
    /// Its curves, drawn.
    pub pictures: Option<View>,
    /// The figures of the price list that answer it.
    pub answers: Vec<Answer>,
    /// Its statements.
    pub statements: Vec<Statement>,
}

/// Values of a document that belong together.
pub(crate) enum Block {
    /// Each on its own.
    List(Vec<Published>),
    /// A table.
    Grid(Grid),
}

/// A figure that answers, with its evidence.
pub(crate) struct Answer {
    /// Its id.
    pub id: String,
    /// Quantity, value and interval, or the state and why there is none.
    pub says: String,
    /// System calls an operation, and the verdict of the evidence; empty where it was not measured.
    pub evidence: String,
}

/// What a value consists of.
const PARTS: [&str; 3] = ["published", "literal here", "measured"];

/// A published value beside this machine's.
pub(crate) struct Published {
    /// Row and column of the table that it stands in.
    pub cell: Option<(String, String)>,
    /// Unit of the document.
    pub unit: String,
    /// Where in the document.
    pub place: String,
    /// As published, without and with the unit.
    pub published: Option<[String; 2]>,
    /// The document's own method repeated here, single runs, without and with the unit.
    pub literal: Option<[String; 2]>,
    /// The figure with its interval.
    pub measured: Option<String>,
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

impl Published {
    /// Published (0), literal (1) or measured; published and literal ones `bare` of their unit where a heading has it.
    pub fn part(&self, part: usize, bare: bool) -> Option<&str> {
        match part {
            0 => self.published.as_ref().map(|texts| &*texts[usize::from(!bare)]),
            1 => self.literal.as_ref().map(|texts| &*texts[usize::from(!bare)]),
            _ => self.measured.as_deref(),
        }
    }

    /// All parts with their units, "-" where there is none.
    pub fn parts(&self) -> [&str; 3] {
        [0, 1, 2].map(|part| self.part(part, false).unwrap_or("-"))
    }

    /// It has no number at all: what the document has lost, or left out.
    pub fn is_empty(&self) -> bool {
        self.published.is_none() && self.literal.is_none() && self.measured.is_none()
    }
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
        for block in &document.blocks {
            match block {
                Block::List(list) => values(list, &mut page)?,
                Block::Grid(grid) => {
                    if !grid.text(&mut page)? {
                        page.paragraph("", &grid.title, 2)?;
                        values(&grid.values, &mut page)?;
                    }
                }
            }
        }
        if let Some(pictures) = &document.pictures {
            pictures.text(&mut page)?;
        }
        answers(&document.answers, &mut page)?;
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

/// The figures that answer, with their evidence.
fn answers(answers: &[Answer], page: &mut Page<'_>) -> io::Result<()> {
    if answers.is_empty() {
        return Ok(());
    }
    page.paragraph("", "Figures of the price list, with their evidence", 2)?;
    let ids = answers.iter().map(|answer| width(&answer.id)).max().unwrap_or(0);
    let says = answers.iter().filter(|answer| !answer.evidence.is_empty());
    let says = says.map(|answer| width(&answer.says)).max().unwrap_or(0);
    for answer in answers {
        let text = format!("{}  {}", left(&answer.says, says), answer.evidence);
        let before = format!("  {}  ", left(&answer.id, ids));
        let whole = format!("{before}{text}");
        if width(whole.trim_end()) <= page.width() {
            page.line(&whole)?;
        } else {
            let text = if answer.evidence.is_empty() {
                answer.says.clone()
            } else {
                format!("{}  {}", answer.says, answer.evidence)
            };
            page.paragraph("  ", &format!("{}: {text}", answer.id), 6)?;
        }
    }
    Ok(())
}

/// The table of published values; below one another where it does not fit.
fn values(values: &[Published], page: &mut Page<'_>) -> io::Result<()> {
    let widest = |cell: fn(&Published) -> &str, title: &str| {
        values.iter().map(|value| width(cell(value))).max().unwrap_or(0).max(width(title))
    };
    let titles = PARTS;
    let rooms = [
        widest(|value| value.parts()[0], titles[0]),
        widest(|value| value.parts()[1], titles[1]),
        widest(|value| value.parts()[2], titles[2]),
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
    if total <= page.width() && !values.iter().all(Published::is_empty) {
        page.line(&row("", titles, if figures { "figure" } else { "" }))?;
    }
    for value in values {
        let cells = value.parts();
        if value.is_empty() {
            // What the document lost or left out is said, not shown as a row of dashes.
            page.paragraph("  ", &[&*value.place, &*value.because].join(": "), 6)?;
            continue;
        }
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
            documents.push(Document {
                title,
                blocks: Vec::new(),
                pictures: None,
                answers: Vec::new(),
                statements: Vec::new(),
            });
            names.len() - 1
        });
        let Some(document) = documents.get_mut(index) else { continue };
        if let Some(text) = &reproduction.statement {
            document.statements.push(statement(reproduction, text, result, unicode));
        }
    }
    for (name, document) in names.into_iter().zip(&mut documents) {
        let values: Vec<&Reproduction> = result
            .reproductions
            .iter()
            .filter(|row| row.document == name && row.statement.is_none())
            .collect();
        let table = |row: &Reproduction| row.cell.as_ref().map(|cell| cell.table.clone());
        for block in values.chunk_by(|one, next| table(one) == table(next)) {
            let shown = block.iter().map(|row| published(row, result, unicode)).collect();
            document.blocks.push(match block.first().and_then(|row| table(row)) {
                Some(title) => Block::Grid(Grid::new(plain(&title, unicode), shown)),
                None => Block::List(shown),
            });
        }
        document.pictures = Some(Story::new(result, unicode))
            .filter(|_| name == "grame")
            .and_then(|story| crate::grame::view(&story));
        document.answers = figures_of(name, &values, result, unicode);
    }
    documents
}

/// The figures that `values` name, each once, in the order of the price list; a document's own methods are no part of it.
fn figures_of(document: &str, values: &[&Reproduction], result: &RunResult, unicode: bool) -> Vec<Answer> {
    let named = |figure: &&Figure| {
        let rest = figure.id.strip_prefix(document);
        let own = rest.is_some_and(|rest| rest.starts_with("/literal/") || rest.starts_with("/paired/"));
        !own && values.iter().any(|row| row.figure_id.as_ref() == Some(&figure.id))
    };
    let story = Story::new(result, unicode);
    let answer = |figure: &Figure| {
        let (says, evidence) = match story.outcome(figure) {
            Outcome::Withheld { state, why } => (format!("{state}: {why}"), String::new()),
            Outcome::Measured(numbers) => {
                let says = [&*plain(&figure.headline, unicode), &*numbers.value, &*numbers.interval];
                let calls = match system_calls(figure) {
                    Some(calls) => format!("system calls: {}, ", per_operation(calls)),
                    None => String::new(),
                };
                let parts: Vec<&str> = says.into_iter().filter(|part| !part.is_empty()).collect();
                (parts.join("  "), format!("{calls}{}", numbers.verdict))
            }
        };
        Answer { id: plain(&figure.id, unicode), says, evidence }
    };
    result.figures.iter().filter(named).map(answer).collect()
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
    let both = |number: String| {
        let with_unit = with_unit(&number, &unit);
        // A multiple keeps its x under any heading.
        [if unit == "ratio" { with_unit.clone() } else { number }, with_unit]
    };
    let figure = reproduction.figure_id.as_deref().unwrap_or_default();
    let quantity = reproduction.quantity.as_deref().unwrap_or_default();
    let judgement = reproduction.verdict.map(|verdict| judgement(Some(verdict)).0);
    let because = plain(&reproduction.because, unicode);
    Published {
        place: plain(&reproduction.place, unicode),
        cell: reproduction
            .cell
            .as_ref()
            .map(|cell| (plain(&cell.row, unicode), plain(&cell.column, unicode))),
        published: reproduction.published.map(|value| both(numbers::published(value))),
        literal: reproduction.literal.map(|value| both(beside_published(value, &unit))),
        measured: measured(reproduction, result, unicode),
        // Named in headings where it says something.
        unit: if matches!(&*unit, "ratio" | "count" | "share") { String::new() } else { unit.clone() },
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

/// A literal number: counts are whole, all others have three significant digits.
fn beside_published(value: f64, unit: &str) -> String {
    if unit == "count" && value.fract() == 0.0 {
        numbers::count(value)
    } else {
        numbers::beside_published(value)
    }
}

/// A number with the unit of the document; a ratio is a multiple, a share and a count go without.
fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "ratio" => format!("{number}x"),
        "count" | "share" | "" => number.to_owned(),
        unit => format!("{number} {unit}"),
    }
}
