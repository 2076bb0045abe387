//! A table of the page, with headings for rows and columns.

use std::io::{self, Write};

use super::{anchor, breakable, escaped};
use crate::blocks::{Cell, Hue, Place, Table, Tone};

/// Writes a table in a region that can be scrolled, by the mouse and by the keyboard; no other has the same `name`. Without a
/// title the table is called `about`.
pub(super) fn scrolling(
    table: &Table,
    name: &str,
    about: &str,
    of: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{}", begin(name))?;
    write(table, about, of, out)?;
    writeln!(out, "</div>")
}

/// Begins a region that can be scrolled.
pub(super) fn begin(name: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">", escaped(name))
}

/// Writes a table, which without a title is called `about`; receipts that it leads to have names that end in `of`.
pub(super) fn write(table: &Table, about: &str, of: &str, out: &mut dyn Write) -> io::Result<()> {
    // End tags of cells and rows may be left out, and are: a page has thousands of them.
    match &*table.title {
        // Seen, it stands below words that say what it is of; heard, it is one of many.
        "" => write!(out, "<table aria-label=\"{}\">", escaped(about))?,
        title => write!(out, "<table><caption>{}</caption>", escaped(title))?,
    }
    write!(out, "<thead><tr>")?;
    if !table.groups.is_empty() {
        write!(out, "<td>")?;
        for (name, columns) in &table.groups {
            write!(out, "<th scope=\"colgroup\" colspan=\"{columns}\">{}", escaped(name))?;
        }
        write!(out, "<tr>")?;
    }
    for (index, column) in table.columns.iter().enumerate() {
        let head = Cell { tone: column.tone, ..Cell::from(&*column.head) };
        cell(&head, Some("col"), is_words(table, index), of, out)?;
    }
    writeln!(out, "<tbody>")?;
    for row in &table.rows {
        write!(out, "<tr>")?;
        for (index, one) in row.iter().enumerate() {
            cell(one, (index == 0).then_some("row"), is_words(table, index), of, out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "</table>")
}

fn is_words(table: &Table, column: usize) -> bool {
    column > 0 && table.columns.get(column).is_some_and(|column| column.place != Place::Right)
}

/// A cell, or a heading of a `scope`; one without words is no heading.
fn cell(cell: &Cell, scope: Option<&str>, words: bool, of: &str, out: &mut dyn Write) -> io::Result<()> {
    let (name, scope) = match scope.filter(|_| !cell.text.is_empty()) {
        // The first cell of a row heads it without being told to: the others hold data.
        Some("row") => ("th", String::new()),
        Some(scope) => ("th", format!(" scope=\"{scope}\"")),
        None => ("td", String::new()),
    };
    let classes: Vec<&str> = words.then_some("words").into_iter().chain(cell.tone.map(class)).collect();
    let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    match (name, &cell.link) {
        ("th", None) => write!(out, "<th{scope}{class}>{}", unbroken(&escaped(&cell.text))),
        _ => write!(out, "<{name}{scope}{class}>{}", linked(cell, of)),
    }
}

/// A text whose numbers are not broken where their digits are parted, nor before a unit.
fn unbroken(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for word in text.split(' ') {
        let goes_on = word.starts_with(|first: char| first.is_ascii_digit())
            || matches!(word, "ns" | "\u{b5}s" | "us" | "ms" | "s" | "%");
        let is_number = whole.ends_with(|last: char| last.is_ascii_digit());
        if !whole.is_empty() {
            whole.push(if is_number && goes_on { '\u{a0}' } else { ' ' });
        }
        whole.push_str(word);
    }
    whole
}

/// What stands in a cell, leading to the receipt of its figure.
pub(super) fn linked(cell: &Cell, of: &str) -> String {
    match &cell.link {
        Some(id) => format!("<a href=\"#{}{of}\">{}</a>", anchor(id), breakable(&cell.text)),
        None => escaped(&cell.text),
    }
}

/// How a verdict looks.
pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Doubt => "doubt",
        Tone::Bad => "bad",
        Tone::Neutral => "plain",
    }
}

/// The sign that says the same as its colour.
pub(super) fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "\u{2713}",
        Tone::Doubt => "?",
        Tone::Bad => "\u{2717}",
        Tone::Neutral => "\u{2013}",
    }
}

/// The class of a hue.
pub(super) fn hue(hue: Hue) -> &'static str {
    match hue {
        Hue::User => "user",
        Hue::Kernel => "kernel",
        Hue::Switch => "switch",
        Hue::Uncounted => "uncounted",
        Hue::Judged(tone) => class(tone),
        Hue::Plain => "plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A telephone shows "1 000 000" on one line.
    #[test]
    fn a_number_that_heads_a_row_is_not_broken() {
        assert_eq!(unbroken("1 000 000 (ours)"), "1\u{a0}000\u{a0}000 (ours)");
        assert_eq!(unbroken("2 CPUs, 4 of a 1"), "2 CPUs, 4 of a 1");
        assert_eq!(unbroken("hold 10 \u{b5}s"), "hold 10\u{a0}\u{b5}s");
        let mut out = Vec::new();
        write(&Table::new(["cycles", "ns"], [vec!["10 000", "1 234"], vec!["3 us", "4"]]), "", "", &mut out)
            .expect("memory");
        let page = String::from_utf8(out).expect("text");
        assert!(page.contains("<th>10\u{a0}000<td>1 234"), "{page}");
        assert!(page.contains("<th>3\u{a0}\u{b5}s<td>4"), "{page}");
    }
}
