//! A document's table: rows and columns as in the document, and in each cell what was published beside what was found.

use crate::blocks::Place::{Left, Right};
use crate::blocks::{Column, Part, Place, Table};
use crate::words::{distinct, plain};

/// A place in a table, in harmless words.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct GridPlace {
    /// The row.
    pub row: String,
    /// The column by itself: no other column of the table is called so.
    pub column: String,
    /// What stands above several columns, and what the column is called below it; nothing above, and the column.
    pub heading: [String; 2],
}

impl GridPlace {
    pub(super) fn of(cell: &oscost_results::Cell, unicode: bool) -> Self {
        let [row, column] = [&cell.row, &cell.column].map(|words| plain(words, unicode));
        let heading = match &cell.heading {
            Some(both) => both.each_ref().map(|words| plain(words, unicode)),
            None => [String::new(), column.clone()],
        };
        Self { row, column, heading }
    }
}

/// A published value beside this machine's.
pub(super) struct Published {
    /// Row and column of the table that it stands in.
    pub cell: Option<GridPlace>,
    /// Unit of the document.
    pub unit: String,
    /// Where in the document.
    pub(super) place: String,
    /// As published, without and with the unit.
    pub(super) published: Option<[String; 2]>,
    /// The document's own method repeated here, single runs, without and with the unit.
    pub(super) literal: Option<[String; 2]>,
    /// The figure with its interval.
    pub(super) measured: Option<Own>,
    /// The figure alone in the unit of the document, where its unit can be converted.
    pub(super) bare: Option<String>,
    /// Id and quantity of the figure.
    pub(super) figure: String,
    /// What else is to be said.
    pub because: String,
}

/// What was measured here, in words.
pub(super) struct Own {
    pub(super) text: String,
    /// It is a number alone: no unit and no interval stand behind it.
    pub(super) is_bare: bool,
}

impl Published {
    /// Published (0), literal (1) or measured, all in the unit of the document and without intervals.
    pub fn short(&self, part: usize) -> Option<&str> {
        if part < 2 { self.part(part, true) } else { self.bare.as_deref().or(self.part(part, true)) }
    }

    /// Published (0), literal (1) or measured; published and literal ones `bare` of their unit where a heading has it.
    pub fn part(&self, part: usize, bare: bool) -> Option<&str> {
        match part {
            0 => self.published.as_ref().map(|texts| &*texts[usize::from(!bare)]),
            1 => self.literal.as_ref().map(|texts| &*texts[usize::from(!bare)]),
            _ => self.measured.as_ref().map(|own| &*own.text),
        }
    }
}

/// What a cell consists of, and where it stands: intervals go on at the right of a measured value.
const PARTS: [(&str, Place); 3] = [("published", Right), ("literal", Right), ("measured", Left)];
/// From so many columns on, parts stand below one another: a line of the document is read along a row.
const WIDE: usize = 6;

/// The table of `values`, which all name a cell of it, and remarks on them.
pub(super) fn parts(title: String, values: &[Published]) -> Vec<Part> {
    let rows = distinct(values.iter().map(|value| place(value).row));
    let names = distinct(values.iter().map(|value| place(value).column));
    let table = Table { title, columns: vec![Column::new("", Left)], ..Table::default() };
    let is_there = |value: &Published| value.part(0, false).is_some();
    let table = if names.len() >= WIDE && values.iter().any(is_there) {
        stacked(table, &rows, &names, values)
    } else {
        side_by_side(table, &rows, &names, values)
    };
    let remarks = remarks(values, &rows);
    let remarks = (!remarks.is_empty()).then_some(Part::Remarks(remarks));
    std::iter::once(Part::Table(table)).chain(remarks).collect()
}

/// Row and column of a value.
fn place(value: &Published) -> GridPlace {
    value.cell.clone().unwrap_or_default()
}

/// The unit of a column, where all its values share one.
fn shared<'a>(own: &[&'a Published]) -> Option<&'a str> {
    let unit = own.first().map_or("", |value| &value.unit);
    (!unit.is_empty() && own.iter().all(|value| value.unit == unit)).then_some(unit)
}

/// The unit of most values: it stands in the title, and others in their columns.
fn most_common<'a>(all: &[&'a Published]) -> Option<&'a str> {
    let unit = &all.first()?.unit;
    let count = all.iter().filter(|value| value.unit == *unit).count();
    (!unit.is_empty() && 2 * count > all.len()).then_some(unit)
}

/// The value of a row in a column: the last one that was told.
fn at<'a>(own: &[&'a Published], row: &str) -> Option<&'a Published> {
    own.iter().rev().find(|value| place(value).row == row).copied()
}

/// Published, literal and measured beside one another in each column.
fn side_by_side(mut table: Table, rows: &[String], names: &[String], values: &[Published]) -> Table {
    let mut cells: Vec<Vec<String>> = rows.iter().map(|row| vec![row.clone()]).collect();
    // What all cells are needs no line of its own.
    let is_measured_alone =
        values.iter().all(|value| value.part(0, false).is_none() && value.part(1, false).is_none());
    let all: Vec<&Published> = values.iter().collect();
    let unit_of_all = shared(&all);
    for name in names {
        let own: Vec<&Published> = values.iter().filter(|value| place(value).column == *name).collect();
        // A unit that all values of a column share stands in its heading.
        let unit = shared(&own);
        let occurs = |part: &usize| own.iter().any(|value| value.part(*part, false).is_some());
        let parts: Vec<usize> =
            if is_measured_alone { vec![2] } else { (0..PARTS.len()).filter(occurs).collect() };
        for (row, cells) in rows.iter().zip(&mut cells) {
            let value = at(&own, row);
            let cell =
                |part: &usize| value.and_then(|value| value.part(*part, unit.is_some())).unwrap_or("-");
            cells.extend(parts.iter().map(|part| cell(part).to_owned()));
        }
        let head = unit.map_or_else(|| name.clone(), |unit| format!("{name}, {unit}"));
        if is_measured_alone {
            let is_bare = own.iter().all(|value| value.measured.as_ref().is_none_or(|own| own.is_bare));
            let head = if is_bare && unit != unit_of_all { head } else { name.clone() };
            table.columns.push(Column::new(head, if is_bare { Right } else { Left }));
            continue;
        }
        table.columns.extend(parts.iter().map(|&part| Column::new(PARTS[part].0, PARTS[part].1)));
        if !parts.is_empty() {
            table.groups.push((head, parts.len()));
        }
    }
    table.rows = cells.into_iter().map(|row| row.into_iter().map(Into::into).collect()).collect();
    table
}

/// Published, literal and measured below one another, all in the unit of the document; a column may stand below a heading.
fn stacked(mut table: Table, rows: &[String], names: &[String], values: &[Published]) -> Table {
    let all: Vec<&Published> = values.iter().collect();
    let unit_of_all = most_common(&all);
    if let Some(unit) = unit_of_all {
        table.title = format!("{}, {unit}", table.title);
    }
    table.columns.push(Column::new("", Left));
    table.groups.push((String::new(), 1));
    for name in names {
        let own: Vec<&Published> = values.iter().filter(|value| place(value).column == *name).collect();
        let [group, name] = own.first().map(|value| place(value).heading).unwrap_or_default();
        let unit = shared(&own).filter(|unit| unit_of_all != Some(*unit));
        table
            .columns
            .push(Column::new(unit.map_or_else(|| name.clone(), |unit| format!("{name}, {unit}")), Right));
        match table.groups.last_mut() {
            Some((last, count)) if *last == group && table.columns.len() > 3 => *count += 1,
            _ => table.groups.push((group, 1)),
        }
    }
    if table.groups.iter().all(|(group, _)| group.is_empty()) {
        table.groups.clear();
    }
    for row in rows {
        let own: Vec<&Published> = values.iter().filter(|value| place(value).row == *row).collect();
        let mut label = row.as_str();
        for (part, (kind, _)) in PARTS.iter().enumerate() {
            if own.iter().all(|value| value.short(part).is_none()) {
                continue;
            }
            let cell = |name: &String| {
                let value = own.iter().rev().find(|value| place(value).column == *name);
                value.and_then(|value| value.short(part)).unwrap_or("-").to_owned()
            };
            let line = [std::mem::take(&mut label).to_owned(), (*kind).to_owned()];
            let cells = line.into_iter().chain(names.iter().map(cell));
            table.rows.push(cells.map(Into::into).collect());
        }
        if !label.is_empty() {
            table.rows.push(vec![label.into()]);
        }
    }
    table
}

/// What else is to be said, once each, with the rows that it is said of unless that is all of them.
fn remarks(values: &[Published], all: &[String]) -> Vec<String> {
    let mut remarks: Vec<(&str, Vec<&str>)> = Vec::new();
    for value in values.iter().filter(|value| !value.because.is_empty()) {
        let row = value.cell.as_ref().map_or("", |cell| &*cell.row);
        match remarks.iter_mut().find(|(text, _)| *text == value.because) {
            Some((_, rows)) if rows.contains(&row) => {}
            Some((_, rows)) => rows.push(row),
            None => remarks.push((&value.because, vec![row])),
        }
    }
    let said = |(text, rows): (&str, Vec<&str>)| match rows.len() {
        count if count == all.len() && count > 1 => text.to_owned(),
        _ => format!("{}: {text}", named(&rows, all)),
    };
    remarks.into_iter().map(said).collect()
}

/// Rows by their names; numbers that follow one another in the table by the first and the last.
fn named(rows: &[&str], all: &[String]) -> String {
    let is_number = |row: &&str| row.replace(' ', "").parse::<u64>().is_ok();
    let from = all.iter().position(|row| rows.first() == Some(&&**row)).unwrap_or_default();
    let follow = all.iter().skip(from).map(|row| &**row).take(rows.len()).eq(rows.iter().copied());
    match rows {
        [first, _, .., last] if follow && rows.iter().all(is_number) => format!("{first} to {last}"),
        _ => rows.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_one_another_are_told_by_their_ends() {
        let all = ["1", "2", "3", "4 000", "5", "one"].map(str::to_owned);
        assert_eq!(named(&["2", "3", "4 000"], &all), "2 to 4 000");
        assert_eq!(named(&["2", "3"], &all), "2, 3");
        assert_eq!(named(&["1", "3", "5"], &all), "1, 3, 5");
        assert_eq!(named(&["4 000", "5", "one"], &all), "4 000, 5, one");
    }
}
