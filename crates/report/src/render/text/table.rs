//! A table as lines of a terminal: columns that line up, in bands where there are too many, a paragraph a row where not
//! even one fits. Where a row is one line, its name is shortened, columns are dropped from the right, those last that
//! answer, and sentences stand behind the row as far as they fit.

use std::io;
use std::ops::Range;

use super::layout::{DEEP, GLUE, INDENT, apart, beginning, elided};
use super::lines::Lines;
use crate::blocks::{Column, Place, Table};
use crate::words::{left, right, width};

/// Blanks between columns, and between groups of columns.
const GAP: usize = 2;
const GROUP_GAP: usize = 3;
/// Where a row is one line, names have at least so many columns, and three eighths of the page.
const NAMES: usize = 16;
/// Where a row is one line, a sentence behind it with fewer columns than this says nothing.
const SENTENCE: usize = 8;

/// Widths of a table's columns, and which of them are written together.
struct Layout<'a> {
    table: &'a Table,
    /// Columns of the names of the rows; a longer one has a line of its own.
    names: usize,
    /// Columns of each column.
    rooms: Vec<usize>,
    /// Blanks before what is written together.
    gap: usize,
}

pub(super) fn write(table: &Table, page: &mut Lines<'_>) -> io::Result<()> {
    if !table.title.is_empty() {
        page.paragraph("", &table.title, INDENT)?;
    }
    let mut layout = Layout::new(table);
    // Words do not line up in bands: a long name has a line of its own instead.
    let has = |place| table.columns.iter().any(|column| column.place == place);
    let sentences = has(Place::Below) || !has(Place::Right);
    let mut units = layout.units();
    let total = |layout: &Layout<'_>, units: &[Range<usize>]| {
        INDENT + layout.names + units.iter().map(|unit| layout.wide(unit)).sum::<usize>()
    };
    let is_spare = |unit: &Range<usize>| table.columns[unit.start].place == Place::Spare;
    let is_empty =
        |unit: &Range<usize>| (0..table.rows.len()).all(|row| layout.cell(row, unit.start).is_empty());
    units.retain(|unit| !is_spare(unit) || !is_empty(unit));
    if page.cuts() {
        let all = layout.names;
        layout.names = all.min((page.width() * 3 / 8).max(NAMES));
        while units.len() > 1 && total(&layout, &units) > page.width() {
            let other = units.iter().rposition(|unit| !table.columns[unit.start].answers);
            units.remove(other.unwrap_or(units.len() - 1));
        }
        let room = page.width().saturating_sub(total(&layout, &units));
        layout.names = all.min(layout.names + room);
        return layout.band(&units, page);
    }
    let needed: Vec<Range<usize>> = units.iter().filter(|unit| !is_spare(unit)).cloned().collect();
    if sentences && total(&layout, &needed) > page.width() {
        let longest = page.width() / 3;
        let names = table.rows.iter().filter_map(|row| row.first()).map(|name| width(&name.text));
        layout.names = names.filter(|name| *name <= longest).max().unwrap_or(0);
    }
    if total(&layout, &units) > page.width() {
        units = needed;
    }
    let bands = match units.iter().map(|unit| layout.wide(unit)).max() {
        _ if total(&layout, &units) <= page.width() => vec![units],
        Some(widest) if !sentences && INDENT + layout.names + widest <= page.width() => {
            layout.bands(&units, page.width())
        }
        _ => return layout.rows(page),
    };
    bands.iter().try_for_each(|band| layout.band(band, page))
}

impl<'a> Layout<'a> {
    fn new(table: &'a Table) -> Self {
        let cells = |column: usize| table.rows.iter().filter_map(move |row| row.get(column));
        let mut rooms: Vec<usize> = (0..table.columns.len())
            .map(|column| {
                let head = width(&table.columns[column].head);
                cells(column).map(|cell| width(&cell.text)).max().unwrap_or(0).max(head)
            })
            .collect();
        let mut first = 1;
        for (name, columns) in &table.groups {
            // The last column grows under a long heading.
            let group = first..(first + columns).min(rooms.len());
            let total =
                group.clone().map(|column| rooms[column]).sum::<usize>() + GAP * columns.saturating_sub(1);
            if let Some(last) = rooms[..group.end].last_mut().filter(|_| !group.is_empty()) {
                *last += width(name).saturating_sub(total);
            }
            first += columns;
        }
        let gap = if table.groups.is_empty() { GAP } else { GROUP_GAP };
        Self { table, names: rooms.first().copied().unwrap_or(0), rooms, gap }
    }

    /// Columns that stay together, without those whose cells stand below.
    fn units(&self) -> Vec<Range<usize>> {
        if self.table.groups.is_empty() {
            return self.beside().map(|column| column..column + 1).collect();
        }
        let mut first = 1;
        let unit = |(_, columns): &(String, usize)| {
            first += columns;
            (first - columns).min(self.rooms.len())..first.min(self.rooms.len())
        };
        self.table.groups.iter().map(unit).filter(|unit| !unit.is_empty()).collect()
    }

    /// Columns that a unit takes with the gap before it.
    fn wide(&self, unit: &Range<usize>) -> usize {
        self.gap + self.rooms[unit.clone()].iter().sum::<usize>() + GAP * (unit.len() - 1)
    }

    /// As many units side by side as a page has room for; beside the first column, others may say what a row is of, and stand in
    /// each band.
    fn bands(&self, units: &[Range<usize>], page: usize) -> Vec<Vec<Range<usize>>> {
        let is_label = |column: usize| {
            let Column { head, place, .. } = &self.table.columns[column];
            *place == Place::Left || head.is_empty()
        };
        let labels = units.iter().take_while(|unit| (*unit).clone().all(is_label)).count();
        let (mut labels, mut others) = units.split_at(labels);
        let start = |labels: &[Range<usize>]| {
            INDENT + self.names + labels.iter().map(|unit| self.wide(unit)).sum::<usize>()
        };
        let widest = others.iter().map(|unit| self.wide(unit)).max();
        if widest.is_none_or(|widest| start(labels) + widest > page) {
            (labels, others) = (&[], units);
        }
        let mut bands: Vec<Vec<Range<usize>>> = Vec::new();
        let mut total = usize::MAX;
        for unit in others {
            total = total.saturating_add(self.wide(unit));
            if total > page {
                bands.push(labels.to_vec());
                total = start(labels) + self.wide(unit);
            }
            if let Some(band) = bands.last_mut() {
                band.push(unit.clone());
            }
        }
        bands
    }

    /// Headings and rows of some columns.
    fn band(&self, band: &[Range<usize>], page: &mut Lines<'_>) -> io::Result<()> {
        let table = self.table;
        let line = |unit: &dyn Fn(&Range<usize>) -> String| -> String {
            band.iter().map(|columns| format!("{}{}", " ".repeat(self.gap), unit(columns))).collect()
        };
        let cells = |text: &dyn Fn(usize) -> String| {
            line(&|columns| {
                let cell = |column: usize| match table.columns[column].place {
                    Place::Right => right(&text(column), self.rooms[column]),
                    _ => left(&text(column), self.rooms[column]),
                };
                columns.clone().map(cell).collect::<Vec<_>>().join(&" ".repeat(GAP))
            })
        };
        if !table.groups.is_empty() {
            let mut first = 1;
            let groups = table.groups.iter().map(|(name, columns)| {
                first += columns;
                (first - columns, name)
            });
            let groups: Vec<(usize, &String)> = groups.collect();
            let name = |unit: &Range<usize>| {
                let name = groups.iter().find(|(first, _)| *first == unit.start).map_or("", |(_, name)| name);
                left(name, self.wide(unit) - self.gap)
            };
            page.row(&format!("  {}{}", " ".repeat(self.names), line(&name)))?;
        }
        if table.columns.iter().any(|column| !column.head.is_empty()) && !self.is_empty() {
            let heads = cells(&|column| table.columns[column].head.clone());
            let first = &table.columns[0];
            match first.tone {
                // A verdict on all of the table stands apart from what is above, and where the names of rows begin.
                Some(tone) => {
                    let room = INDENT + self.names;
                    let head = if page.cuts() { elided(&first.head, room) } else { first.head.clone() };
                    let rest = format!("{}{heads}", " ".repeat(room.saturating_sub(width(&head))));
                    let left = page.width().saturating_sub(width(&head));
                    page.line("")?;
                    page.verdict("", &head, tone, if page.cuts() { beginning(&rest, left) } else { &rest })?;
                }
                None => page.row(&format!("  {}{heads}", left(&first.head, self.names)))?,
            }
        }
        let names: Vec<&str> = (0..table.rows.len()).map(|row| self.cell(row, 0)).collect();
        let short = if page.cuts() { apart(&names, self.names) } else { Vec::new() };
        for (row, &name) in names.iter().enumerate() {
            if self.says_nothing(row) && !page.cuts() {
                let below: Vec<&str> = std::iter::once(name).chain(self.below(row)).collect();
                page.paragraph("  ", &below.join(": "), DEEP)?;
                continue;
            }
            let mut beside = short.get(row).map_or(name, String::as_str).to_owned();
            if width(&beside) > self.names {
                page.paragraph("  ", name, INDENT)?;
                beside.clear();
            }
            let row_cells = cells(&|column| self.cell(row, column).to_owned());
            let mut line = format!("  {}{row_cells}", left(&beside, self.names));
            if page.cuts() {
                let sentences = self.below(row).collect::<Vec<_>>().join("; ");
                let room = page.width().saturating_sub(width(&line) + GAP);
                if room >= SENTENCE.min(width(&sentences)) {
                    line.push_str(&format!("{}{}", " ".repeat(GAP), elided(&sentences, room)));
                }
                page.row(&line)?;
                continue;
            }
            page.line(&line)?;
            self.below(row).try_for_each(|text| page.paragraph("      ", text, DEEP))?;
        }
        Ok(())
    }

    /// Each row in a paragraph. The value of a column stands on the line of its heading.
    fn rows(&self, page: &mut Lines<'_>) -> io::Result<()> {
        for row in 0..self.table.rows.len() {
            let named = |column: usize| {
                let head = self.table.head(column);
                Some(format!("{head} {}", self.cell(row, column)).trim().replace(' ', &GLUE.to_string()))
                    .filter(|text| text.chars().count() > head.chars().count())
            };
            let cells: Vec<String> = self.beside().filter_map(named).collect();
            let is_empty = cells.is_empty() || self.says_nothing(row);
            let text = if is_empty { String::new() } else { format!(": {}", cells.join("; ")) };
            page.paragraph("  ", &format!("{}{text}", self.cell(row, 0)), 2 * INDENT)?;
            self.below(row).try_for_each(|text| page.paragraph("      ", text, DEEP))?;
        }
        Ok(())
    }

    fn cell(&self, row: usize, column: usize) -> &'a str {
        self.table.rows[row].get(column).map_or("", |cell| &cell.text)
    }

    /// Columns that stand beside the name of their row.
    fn beside(&self) -> impl Iterator<Item = usize> + '_ {
        (1..self.rooms.len()).filter(|column| self.table.columns[*column].place != Place::Below)
    }

    /// Cells of a row that stand below it.
    fn below(&self, row: usize) -> impl Iterator<Item = &'a str> + '_ {
        let below = (1..self.rooms.len()).filter(|column| self.table.columns[*column].place == Place::Below);
        below.map(move |column| self.cell(row, column)).filter(|text| !text.is_empty())
    }

    /// A row without a value is said in a sentence where there is one, not shown as dashes.
    fn says_nothing(&self, row: usize) -> bool {
        let is_nothing = |column: usize| matches!(self.cell(row, column), "" | "-");
        self.below(row).next().is_some() && self.beside().all(is_nothing)
    }

    /// Every row is without a value.
    fn is_empty(&self) -> bool {
        (0..self.table.rows.len()).all(|row| self.says_nothing(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text::style::Style;

    fn text(table: &Table, width: usize) -> String {
        let mut out = Vec::new();
        write(table, &mut Lines::new(&Style { width, unicode: false, colour: false }, &mut out))
            .expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn locks() -> Table {
        Table::new(
            ["lock", "cycle", "calls"],
            [vec!["fcntl", "1.2 us", "3"], vec!["robust mutex", "13 ns", "4"]],
        )
    }

    #[test]
    fn columns_line_up() {
        let expected =
            "  lock           cycle  calls\n  fcntl         1.2 us      3\n  robust mutex   13 ns      4\n";
        assert_eq!(text(&locks(), 80), expected);
    }

    #[test]
    fn a_narrow_page_gets_bands_and_the_narrowest_rows() {
        let shown = text(&locks(), 24);
        assert!(shown.contains("  robust mutex   13 ns\n"), "{shown}");
        assert!(shown.contains("  robust mutex      4\n"), "{shown}");
        // A heading and its value are not parted.
        assert!(text(&locks(), 20).contains("  fcntl:\n    cycle 1.2 us;\n"), "{}", text(&locks(), 20));
    }

    #[test]
    fn a_row_is_one_line_where_lines_are_cut() {
        let columns =
            [("figure", Place::Left), ("before", Place::Right), ("change", Place::Left), ("", Place::Spare)];
        let table = Table::of(columns, [vec!["semaphore/system_v/handover", "1.00 us", "+12.3 %", "quiet"]]);
        let at = |width| {
            let style = Style { width, unicode: false, colour: false };
            let mut out = Vec::new();
            write(&table, &mut Lines::of_lines(&style, &mut out)).expect("memory");
            String::from_utf8(out).expect("text")
        };
        let row = |width| at(width).lines().nth(1).map(str::to_owned).expect("a row");
        assert_eq!(row(60), "  semaphore/system_v/handover  1.00 us  +12.3 %  quiet");
        assert_eq!(row(50), "  semaphore/sy../handover  1.00 us  +12.3 %  quiet");
        assert_eq!(row(40), "  semaphore/..handover  1.00 us  +12.3 %");
        assert_eq!(row(30), "  semaphore/..andover  1.00 us");
        for width in 20..90 {
            assert_eq!(at(width).lines().count(), 2, "{width}");
            assert!(at(width).lines().all(|line| line.chars().count() <= width), "{width}");
        }
    }

    /// Which line is of what must not be lost with the columns that are.
    #[test]
    fn columns_that_name_a_row_stand_in_each_part() {
        let columns = [("", Place::Left), ("", Place::Left), ("user", Place::Right), ("clock", Place::Right)];
        let table = Table::of(
            columns,
            [vec!["500", "literal", "0.01 s", "0.06 s"], vec!["", "measured", "0.02 s", "0.07 s"]],
        );
        for width in [30, 26, 24] {
            let shown = text(&table, width);
            let rows: Vec<&str> = shown.lines().filter(|line| line.ends_with(" s")).collect();
            assert!(
                rows.iter().all(|row| row.contains("literal") || row.contains("measured")),
                "{width}: {shown}"
            );
        }
    }

    /// A table without its answer says nothing.
    #[test]
    fn what_a_table_answers_gives_way_last() {
        let columns = [
            ("figure", Place::Left),
            ("before", Place::Right),
            ("now", Place::Right),
            ("change", Place::Left),
        ];
        let table =
            Table::of(columns, [vec!["semaphore/system_v/handover", "1.00 us", "1.12 us", "+12.3 %"]]);
        let table = table.answering(&["change"]);
        for width in 27..70 {
            let mut out = Vec::new();
            let style = Style { width, unicode: false, colour: false };
            write(&table, &mut Lines::of_lines(&style, &mut out)).expect("memory");
            let shown = String::from_utf8(out).expect("text");
            assert!(shown.contains("+12.3 %"), "{width}: {shown}");
        }
    }

    #[test]
    fn sentences_stand_behind_a_row_that_is_one_line() {
        let columns = [("", Place::Left), ("now", Place::Right), ("", Place::Below)];
        let table = Table::of(columns, [vec!["one", "13", "because of it"], vec!["two", "-", "is lost"]]);
        let at = |width| {
            let style = Style { width, unicode: false, colour: false };
            let mut out = Vec::new();
            write(&table, &mut Lines::of_lines(&style, &mut out)).expect("memory");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(at(40), "       now\n  one   13  because of it\n  two    -  is lost\n");
        assert_eq!(at(22), "       now\n  one   13  because...\n  two    -  is lost\n");
        assert_eq!(at(20), "       now\n  one   13  becau...\n  two    -  is lost\n");
    }

    #[test]
    fn sentences_stand_below_their_row_and_spare_columns_where_there_is_room() {
        let columns =
            [("", Place::Left), ("here", Place::Right), ("figure", Place::Spare), ("", Place::Below)];
        let rows = [vec!["one", "1 ns", "a/b/c/d/e", "because"], vec!["two", "-", "", "is lost"]];
        let table = Table::of(columns, rows);
        let wide = "       here  figure\n  one  1 ns  a/b/c/d/e\n      because\n  two: is lost\n";
        assert_eq!(text(&table, 40), wide);
        assert_eq!(text(&table, 20), "       here\n  one  1 ns\n      because\n  two: is lost\n");
    }

    #[test]
    fn groups_of_columns_stay_together() {
        let mut table =
            Table::new(["", "published", "here", "published", "here"], [vec!["1", "2", "3", "4", "5"]]);
        table.groups = vec![("POSIX".into(), 2), ("System V, in seconds".into(), 2)];
        let wide = text(&table, 60);
        assert!(
            wide.starts_with(
                "      POSIX             System V, in seconds\n      published  here   published"
            ),
            "{wide}"
        );
        assert_eq!(text(&table, 40).lines().count(), 6, "two bands of three lines");
    }
}
