//! A document's table: rows and columns as in the document, and in each cell what was published beside what was found.

use std::io;

use crate::layout::{left, right, width};
use crate::page::Page;
use crate::reproduction::Published;

/// Blanks between parts of a cell, and between columns.
const GAP: usize = 2;
const COLUMN_GAP: usize = 3;

/// What a cell consists of, in the few letters that a table has room for.
pub(crate) const PARTS: [&str; 3] = ["published", "literal", "measured"];
/// A table of values.
pub(crate) struct Grid {
    /// Its title.
    pub title: String,
    /// The columns, each with the parts that occur in it.
    pub columns: Vec<Column>,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// The values in the order of the result, for a page too narrow for a table.
    pub values: Vec<Published>,
    /// Position of the value of each row and column among the values.
    places: Vec<Vec<Option<usize>>>,
}

/// A column: its name with the unit that its values share, and which of published, literal and measured it has.
pub(crate) struct Column {
    /// Heading.
    pub name: String,
    /// Indices into [`PARTS`].
    pub parts: Vec<usize>,
    /// The values share a unit, which stands in the heading.
    unit: bool,
}

impl Grid {
    /// The table of `values`, which all name a cell of it.
    pub fn new(title: String, values: Vec<Published>) -> Self {
        let (mut rows, mut names): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let place = |names: &mut Vec<String>, name: &str| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        };
        let mut found: Vec<(usize, usize)> = Vec::with_capacity(values.len());
        for value in &values {
            let (row, column) = value.cell.as_ref().map_or(("", ""), |(row, column)| (&**row, &**column));
            found.push((place(&mut rows, row), place(&mut names, column)));
        }
        let mut places = vec![vec![None; names.len()]; rows.len()];
        for (index, &(row, column)) in found.iter().enumerate() {
            places[row][column] = Some(index);
        }
        let columns = names.into_iter().enumerate().map(|(column, name)| {
            let cells =
                || found.iter().zip(&values).filter(|(place, _)| place.1 == column).map(|(_, value)| value);
            let unit = cells().next().map_or("", |value| &value.unit);
            let shared = !unit.is_empty() && cells().all(|value| value.unit == unit);
            Column {
                name: if shared { format!("{name}, {unit}") } else { name },
                parts: (0..PARTS.len())
                    .filter(|&part| cells().any(|value| value.part(part, false).is_some()))
                    .collect(),
                unit: shared,
            }
        });
        Self { title, columns: columns.collect(), places, rows, values }
    }

    /// The parts of a cell in text, "-" where the document or this run has none.
    pub fn cell(&self, row: usize, column: usize) -> Vec<String> {
        let Some(heading) = self.columns.get(column) else { return Vec::new() };
        let value = self
            .places
            .get(row)
            .and_then(|places| *places.get(column)?)
            .and_then(|index| self.values.get(index));
        let part = |&part: &usize| value.and_then(|value| value.part(part, heading.unit));
        heading.parts.iter().map(|index| part(index).unwrap_or("-").to_owned()).collect()
    }

    /// What else is to be said, once each, with the rows that it is said of unless that is all of them.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<(&str, Vec<&str>)> = Vec::new();
        for value in self.values.iter().filter(|value| !value.because.is_empty()) {
            let row = value.cell.as_ref().map_or("", |(row, _)| row);
            match remarks.iter_mut().find(|(text, _)| *text == value.because) {
                Some((_, rows)) if rows.contains(&row) => {}
                Some((_, rows)) => rows.push(row),
                None => remarks.push((&value.because, vec![row])),
            }
        }
        let all = self.rows.len();
        let said = |(text, rows): (&str, Vec<&str>)| match rows.len() {
            count if count == all && count > 1 => text.to_owned(),
            _ => format!("{}: {text}", rows.join(", ")),
        };
        remarks.into_iter().map(said).collect()
    }

    /// Columns that each part of a column takes: the last one grows under a long heading.
    fn rooms(&self, column: usize) -> Vec<usize> {
        let Some(heading) = self.columns.get(column) else { return Vec::new() };
        let mut rooms: Vec<usize> = heading.parts.iter().map(|&part| width(PARTS[part])).collect();
        for row in 0..self.rows.len() {
            for (room, cell) in rooms.iter_mut().zip(self.cell(row, column)) {
                *room = (*room).max(width(&cell));
            }
        }
        let total = rooms.iter().sum::<usize>() + GAP * rooms.len().saturating_sub(1);
        if let Some(last) = rooms.last_mut() {
            *last += width(&heading.name).saturating_sub(total);
        }
        rooms
    }

    /// Writes the table in as many bands of columns as the page needs; `false`, and nothing written, where not even one
    /// column fits.
    pub fn text(&self, page: &mut Page<'_>) -> io::Result<bool> {
        let names = self.rows.iter().map(|row| width(row)).max().unwrap_or(0);
        let rooms: Vec<Vec<usize>> = (0..self.columns.len()).map(|column| self.rooms(column)).collect();
        let wide = |column: usize| {
            COLUMN_GAP + rooms[column].iter().sum::<usize>() + GAP * rooms[column].len().saturating_sub(1)
        };
        let start = 2 + names;
        if (0..rooms.len()).any(|column| start + wide(column) > page.width()) {
            return Ok(false);
        }
        page.paragraph("", &self.title, 2)?;
        let mut first = 0;
        while first < rooms.len() {
            let mut total = start;
            let band: Vec<usize> = (first..rooms.len())
                .take_while(|&column| {
                    total += wide(column);
                    total <= page.width()
                })
                .collect();
            self.band(&band, &rooms, names, page)?;
            first += band.len();
        }
        for remark in self.remarks() {
            page.paragraph("      ", &remark, 6)?;
        }
        Ok(true)
    }

    /// Headings, parts and rows of some columns.
    fn band(
        &self,
        band: &[usize],
        rooms: &[Vec<usize>],
        names: usize,
        page: &mut Page<'_>,
    ) -> io::Result<()> {
        let line = |name: &str, cells: &dyn Fn(usize) -> String| {
            let mut line = format!("  {}", left(name, names));
            for &column in band {
                line.push_str(&" ".repeat(COLUMN_GAP));
                line.push_str(&cells(column));
            }
            line
        };
        // Intervals go on at the right of a measured value: such cells line up at the left.
        let parts = |column: usize, texts: &[String]| -> String {
            let cells = self.columns[column].parts.iter().zip(texts).zip(&rooms[column]);
            let cells: Vec<String> = cells
                .map(
                    |((&part, text), &room)| {
                        if part == MEASURED { left(text, room) } else { right(text, room) }
                    },
                )
                .collect();
            cells.join(&" ".repeat(GAP))
        };
        let total =
            |column: usize| rooms[column].iter().sum::<usize>() + GAP * rooms[column].len().saturating_sub(1);
        page.line(&line("", &|column| left(&self.columns[column].name, total(column))))?;
        let titles = |column: usize| -> Vec<String> {
            self.columns[column].parts.iter().map(|&part| PARTS[part].to_owned()).collect()
        };
        page.line(&line("", &|column| parts(column, &titles(column))))?;
        for (row, name) in self.rows.iter().enumerate() {
            page.line(&line(name, &|column| parts(column, &self.cell(row, column))))?;
        }
        Ok(())
    }
}

/// Index of the measured part.
const MEASURED: usize = 2;
