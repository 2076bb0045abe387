//! Blocks as lines of a terminal.

use std::io;

use super::layout::{DEEP, INDENT, wrap};
use super::lines::Lines;
use super::table;
use crate::blocks::{Fact, Judged, Part, View};
use crate::words::{left, width};

/// Names of what was judged have at most so many columns; a longer one has a line of its own.
const NAME: usize = 22;
/// What was judged stands beside its verdict where it has so many columns, else below it.
const TEXT: usize = 36;

/// Writes a view. Answers come last: the last lines of a terminal are those that are seen.
pub(crate) fn view(view: &View, page: &mut Lines<'_>) -> io::Result<()> {
    if !view.title.is_empty() {
        page.paragraph("", &view.title, INDENT)?;
    }
    for (index, part) in view.parts.iter().enumerate() {
        match part {
            Part::Words(words) => page.paragraph("  ", words, INDENT)?,
            Part::Warning(words) => page.paragraph("", words, INDENT)?,
            Part::Facts(all) => facts(all, page)?,
            Part::Judged(title, all) => judged(title, all, page)?,
            Part::Table(table) => table::write(table, page)?,
            Part::Remarks(all) => all.iter().try_for_each(|it| page.paragraph("      ", it, DEEP))?,
            Part::Picture(lines) => letters(lines, page)?,
            Part::Plot(plot) => {
                page.paragraph("  ", &plot.sentences(&view.parts[..index]), INDENT)?;
                letters(&plot.letters, page)?;
            }
            Part::View(inner) => self::view(inner, page)?,
            Part::Answer(_) | Part::Marks(_) | Part::Index(_) => {}
        }
    }
    let answers =
        view.parts.iter().filter_map(|part| if let Part::Answer(all) = part { Some(all) } else { None });
    for answer in answers.filter(|answer| !answer.is_empty()) {
        if !view.title.is_empty() {
            page.line("")?;
        }
        answer.iter().try_for_each(|words| page.wrapped(words, INDENT))?;
    }
    Ok(())
}

/// Lines of letters as they are: broken they would say something else.
fn letters(lines: &[String], page: &mut Lines<'_>) -> io::Result<()> {
    lines.iter().try_for_each(|line| page.cut(&format!("  {line}")))
}

/// Each fact beside its name.
fn facts(facts: &[Fact], page: &mut Lines<'_>) -> io::Result<()> {
    let room = facts.iter().map(|fact| width(fact.name)).max().unwrap_or(0) + 2;
    facts.iter().enumerate().try_for_each(|(at, fact)| {
        // Several facts of one name stand below one another.
        let name = if at > 0 && facts[at - 1].name == fact.name { "" } else { fact.name };
        let of: Vec<&str> = fact.of.iter().map(|cell| &*cell.text).collect();
        let of = if of.is_empty() { String::new() } else { format!(": {}", of.join(", ")) };
        page.paragraph(&left(name, room), &format!("{}{of}", fact.says), room)
    })
}

/// Verdict, name and text side by side; below one another where lines are short.
fn judged(title: &str, all: &[Judged], page: &mut Lines<'_>) -> io::Result<()> {
    if !title.is_empty() {
        page.paragraph("", title, INDENT)?;
    }
    let words = all.iter().map(|one| width(one.word)).max().unwrap_or(0);
    let names = all.iter().map(|one| width(&one.name)).filter(|name| *name <= NAME).max().unwrap_or(0);
    let gap = if names > 0 { 2 } else { 0 };
    let beside = INDENT + words + 2 + names + gap;
    let is_beside = beside + TEXT <= page.width();
    let indent = if is_beside { beside } else { DEEP };
    for one in all {
        let fill = " ".repeat(if is_beside || names > 0 { words - width(one.word) + 2 } else { 2 });
        let before =
            format!("{fill}{}", if is_beside { left(&one.name, names + gap) } else { one.name.clone() });
        // A name that is too long, or a line that is too short for both, leaves the text for the next line.
        let first = if is_beside && width(&one.name) <= names {
            indent
        } else if one.name.is_empty() {
            INDENT + width(one.word) + 2
        } else {
            page.width()
        };
        let mut lines = text(one, first, indent, page.width()).into_iter();
        let start = if first < page.width() { lines.next().unwrap_or_default() } else { String::new() };
        page.verdict("  ", one.word, one.tone, &format!("{before}{start}"))?;
        lines.try_for_each(|line| page.line(&format!("{}{line}", " ".repeat(indent))))?;
    }
    Ok(())
}

/// What was judged in lines that end at column `total`, the first from `first` on, the others from `indent` on; the reason
/// stands behind the last line where it fits, else below.
fn text(one: &Judged, first: usize, indent: usize, total: usize) -> Vec<String> {
    let room = total.saturating_sub(indent);
    let mut lines = wrap(&one.text, if first < total { total - first.max(indent) } else { room });
    if !one.because.is_empty() {
        match lines
            .last_mut()
            .filter(|last| first.max(indent) + width(last) + 3 + width(&one.because) <= total)
        {
            Some(last) => *last = format!("{last}   {}", one.because),
            None => lines.extend(wrap(&one.because, room)),
        }
    }
    lines
}
