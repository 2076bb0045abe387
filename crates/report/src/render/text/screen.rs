//! The price list for a terminal: fixed columns, one line per figure. Columns that do not fit are dropped from the right.

use std::io;

use super::blocks;
use super::layout::{DEEP, apart, elided, shortened, wrap};
use super::lines::Lines;
use crate::blocks::screen::{Cells, Group, Judges, Line, Note, Said, Screen};
use crate::words::{left, right, width};

/// Columns before a name.
const INDENT: usize = 2;
/// Columns before the notes.
const GAP: usize = 2;
/// Columns of a label, with the blanks behind it.
const LABEL: usize = 11;
/// No name gives way to numbers beyond this.
const LEAST: usize = 6;
/// Of a reason, or of a number and its name, fewer columns than this say nothing.
const NOTE: usize = 8;
/// What stands for words that do not fit. Names give way to it.
const SIGN: &str = "...";
/// Columns further apart are worth it where notes keep so many.
const WIDE_NOTES: usize = 30;
/// What stands behind the quantity that `compare` judges.
const JUDGED: &str = "*";

/// Writes the screen.
pub(crate) fn write(screen: &Screen, page: &mut Lines<'_>) -> io::Result<()> {
    screen.first.iter().try_for_each(|one| said(one, screen.whole, page))?;
    let columns = Columns::fit(&screen.groups, page.width(), page.unicode());
    if screen.groups.iter().flat_map(|group| &group.rows).any(|row| row.cells.is_ok()) {
        page.cut(&columns.titles())?;
    }
    for group in &screen.groups {
        page.cut(&elided(&group.heading, page.width()))?;
        let names: Vec<&str> = group.rows.iter().map(|row| &*row.name).collect();
        let names = apart(&names, columns.name);
        group.rows.iter().zip(&names).try_for_each(|(row, name)| line(row, name, &columns, page))?;
    }
    for view in &screen.views {
        page.line("")?;
        blocks::view(view, page)?;
    }
    said(&screen.counted, screen.whole, page)?;
    if screen.is_parted {
        page.line("")?;
    }
    screen.last.iter().try_for_each(|one| said(one, screen.whole, page))
}

/// The longest way that fits, else the shortest in as many lines as it takes; the longest so, if it is `whole`.
fn said(said: &Said, whole: bool, page: &mut Lines<'_>) -> io::Result<()> {
    let indent = if said.label.is_empty() { 0 } else { LABEL };
    let room = page.width().saturating_sub(indent);
    let fits = said.ways.iter().find(|way| width(way) <= room);
    let words = if whole { said.ways.first() } else { fits.or(said.ways.last()) };
    let words = words.map_or("", String::as_str);
    let lines = if width(words) <= room { vec![words.to_owned()] } else { wrap(words, room) };
    let labels = std::iter::once(said.label).chain(std::iter::repeat(""));
    labels.zip(lines).try_for_each(|(label, line)| page.line(&format!("{}{line}", left(label, indent))))
}

/// Widths of the columns; 0 is a column that is not shown.
#[derive(Clone, Copy)]
struct Columns {
    page: usize,
    name: usize,
    /// Blanks before a cell.
    gap: usize,
    /// Width, title, and whether it may be the judged one.
    cells: [(usize, &'static str, Option<Judges>); 6],
}

/// The cells of a row in their order.
fn texts(cells: &Cells) -> [&str; 6] {
    [&cells.floor, &cells.floor_width, &cells.typical, &cells.typical_width, &cells.cycles, &cells.calls]
}

impl Columns {
    /// As many columns from the left as fit beside the longest name; a name gives way only to the first.
    fn fit(groups: &[Group], page: usize, unicode: bool) -> Self {
        let half = if unicode { "\u{b1}" } else { "+/-" };
        let rows = || groups.iter().flat_map(|group| &group.rows);
        let titles = [
            ("floor", Some(Judges::Floor)),
            (half, None),
            ("typical", Some(Judges::Typical)),
            (half, None),
            ("~cycles", Some(Judges::Cycles)),
            ("calls", None),
        ];
        let measured = || rows().filter_map(|row| row.cells.as_ref().ok());
        let mut index = 0;
        let mut cells = titles.map(|(title, judged)| {
            let widest = measured().map(|cells| width(texts(cells)[index])).max().unwrap_or(0);
            index += 1;
            (if widest == 0 { 0 } else { widest.max(width(title)) }, title, judged)
        });
        let names = || rows().map(|row| width(&row.name));
        let most = (page * 2 / 5).max(16);
        let mut columns = Self { page, name: names().max().unwrap_or(0).min(most), gap: 1, cells };
        for last in (1..cells.len()).rev() {
            if columns.total() > page {
                cells[last].0 = 0;
                columns.cells = cells;
            }
        }
        let sign = if rows().any(|row| !row.notes.is_empty()) { GAP + SIGN.len() } else { 0 };
        let over = (columns.total() + sign).saturating_sub(page);
        columns.name = columns.name.saturating_sub(over).max(columns.name.min(LEAST));
        // A unit may be of any length.
        let over = columns.total().saturating_sub(page);
        columns.cells[0].0 = columns.cells[0].0.saturating_sub(over);
        let wide = Self { gap: 2, ..columns };
        if wide.total() + WIDE_NOTES <= page {
            return wide;
        }
        columns
    }

    /// Blanks before a cell, and behind a number that may be judged.
    fn around(&self, judged: Option<Judges>) -> usize {
        self.gap + usize::from(judged.is_some())
    }

    /// Columns of a row without notes.
    fn total(&self) -> usize {
        let shown = self.cells.iter().filter(|(room, ..)| *room > 0);
        INDENT + self.name + shown.map(|(room, _, judged)| room + self.around(*judged)).sum::<usize>()
    }

    fn titles(&self) -> String {
        let mut line = " ".repeat(INDENT + self.name);
        for (room, title, judged) in self.cells.iter().filter(|(room, ..)| *room > 0) {
            line.push_str(&right(title, room + self.gap));
            if judged.is_some() {
                line.push(' ');
            }
        }
        line
    }

    fn start(&self, name: &str) -> String {
        format!("{}{}", " ".repeat(INDENT), left(name, self.name))
    }
}

/// One figure, called `name`: its columns, or why it has none. A name that is too long for them has a line of its own.
fn line(row: &Line, name: &str, columns: &Columns, page: &mut Lines<'_>) -> io::Result<()> {
    let is_beside = width(name) <= columns.name;
    if !is_beside {
        page.paragraph(&" ".repeat(INDENT), name, INDENT)?;
    }
    let name = if is_beside { name } else { "" };
    let start = columns.start(name);
    match &row.cells {
        Err(missing) => {
            let room = columns.page.saturating_sub(INDENT + 3 + width(missing.state));
            let columns = Columns { name: columns.name.min(room), ..*columns };
            let before = format!("{}   ", columns.start(&shortened(name, columns.name)));
            let room = columns.page.saturating_sub(width(&before) + width(missing.state) + 2);
            let why = if room < NOTE { String::new() } else { format!(": {}", elided(&missing.why, room)) };
            page.verdict(&before, missing.state, missing.tone, &why)?;
        }
        Ok(cells) => {
            let mut parts = vec![(start, false)];
            for ((room, _, judges), text) in columns.cells.iter().zip(texts(cells)) {
                if *room == 0 {
                    continue;
                }
                let text = elided(text, *room);
                let is_judged = judges.is_some() && *judges == cells.judged;
                parts.push((" ".repeat(room + columns.gap - width(&text)), false));
                parts.push((text, is_judged));
                if judges.is_some() {
                    parts.push(((if is_judged { JUDGED } else { " " }).to_owned(), false));
                }
            }
            let room = columns.page.saturating_sub(columns.total() + GAP);
            let notes = notes(&row.notes, room);
            if !notes.is_empty() {
                parts.push((format!("  {notes}"), false));
            }
            page.emphasised(&parts)?;
        }
    }
    row.below.iter().try_for_each(|text| page.paragraph(&" ".repeat(DEEP), text, DEEP))
}

/// The notes that fit, from the first on; the last of them may be cut.
fn notes(all: &[Note], room: usize) -> String {
    let mut line = String::new();
    for Note { words, short } in all {
        let gap = if line.is_empty() { "" } else { "; " };
        let left = room.saturating_sub(width(&line) + gap.len());
        let Some(fits) = [Some(words), short.as_ref()].into_iter().flatten().find(|it| width(it) <= left)
        else {
            if line.is_empty() && short.is_none() {
                line = cut(words, left);
            }
            break;
        };
        line.push_str(gap);
        line.push_str(fits);
    }
    line
}

/// The beginning of a note; of a number with a name all of the number and whole words of the name. Empty where too little is
/// left.
fn cut(note: &str, room: usize) -> String {
    let is_number = note.starts_with(|letter: char| letter.is_ascii_digit());
    let cut = match note.rsplit_once(' ') {
        Some((number, name)) if is_number && width(name) > LEAST => {
            let left = room.saturating_sub(width(number) + 1);
            whole_words(name, left).map_or(String::new(), |name| format!("{number} {name}"))
        }
        _ if is_number => String::new(),
        // A warning is never left out without a sign.
        _ if room < NOTE => return if room < SIGN.len() { String::new() } else { SIGN.to_owned() },
        _ => elided(note, room),
    };
    if width(&cut) < NOTE { String::new() } else { cut }
}

/// The first words of an id and two dots; of one long word, its beginning. `None` if too little of it fits.
fn whole_words(name: &str, room: usize) -> Option<String> {
    const DOTS: &str = "..";
    let room = room.checked_sub(DOTS.len())?;
    let words = name.match_indices(['_', '/']).map(|(at, _)| &name[..at]).rev().find(|it| width(it) <= room);
    let kept = match words {
        Some(words) => words,
        None if name.contains(['_', '/']) => return None,
        None => name.get(..room)?,
    };
    (width(kept) + DOTS.len() >= LEAST).then(|| format!("{kept}{DOTS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[&str], room: usize) -> String {
        notes(&all.iter().map(|words| Note::from((*words).to_owned())).collect::<Vec<_>>(), room)
    }

    #[test]
    fn notes_are_dropped_from_the_right() {
        let all = ["16x posix_named", "bimodal"];
        assert_eq!(of(&all, 24), "16x posix_named; bimodal");
        assert_eq!(of(&all, 23), "16x posix_named");
        assert_eq!(of(&all, 14), "16x posix..", "no word of an id is cut");
        assert_eq!(of(&all, 11), "16x posix..");
        assert_eq!(of(&all, 10), "", "a ratio to nothing says nothing");
        let word = ["8.8x monotonic"];
        assert_eq!(of(&word, 13), "8.8x monoto..", "of one word its beginning");
        assert_eq!(of(&word, 10), "", "three letters say nothing");
        assert_eq!(of(&all, 9), "");
        assert_eq!(of(&["12.3 .. 41.0 us"], 14), "", "half an interval is none");
        let long = ["too scattered for an interval"];
        assert_eq!(of(&long, 20), "too scattered for...");
        assert_eq!(of(&long, 7), "...", "what is cut says so");
        assert_eq!(of(&long, 2), "");
    }

    #[test]
    fn a_note_with_short_words_is_never_cut() {
        let all = |room| {
            let words = "+19.3 us asleep (17.9 .. 20.8 us)".to_owned();
            let asleep = Note { words, short: Some("+19.3 us asleep".to_owned()) };
            notes(&[asleep, "bimodal".to_owned().into()], room)
        };
        assert_eq!(all(42), "+19.3 us asleep (17.9 .. 20.8 us); bimodal");
        assert_eq!(all(32), "+19.3 us asleep; bimodal");
        assert_eq!(all(15), "+19.3 us asleep");
        assert_eq!(all(14), "");
    }
}
