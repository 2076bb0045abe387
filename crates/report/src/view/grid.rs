//! A document's table: rows and columns as in the document, and in each cell what was published beside what was found.

use super::documents::Published;
use crate::blocks::{Column, Part, Place, Table};
use crate::words::distinct;

/// What a cell consists of, and where it stands: intervals go on at the right of a measured value.
const PARTS: [(&str, Place); 3] =
    [("published", Place::Right), ("literal", Place::Right), ("measured", Place::Left)];

/// The table of `values`, which all name a cell of it, and remarks on them.
pub(super) fn parts(title: String, values: &[Published]) -> Vec<Part> {
    let place = |value: &Published| value.cell.clone().unwrap_or_default();
    let rows = distinct(values.iter().map(|value| place(value).0));
    let names = distinct(values.iter().map(|value| place(value).1));
    let mut table = Table { title, columns: vec![Column::new("", Place::Left)], ..Table::default() };
    let mut cells: Vec<Vec<String>> = rows.iter().map(|row| vec![row.clone()]).collect();
    for name in names {
        let own: Vec<&Published> = values.iter().filter(|value| place(value).1 == name).collect();
        // A unit that all values of a column share stands in its heading.
        let unit = own.first().map_or("", |value| &value.unit);
        let is_shared = !unit.is_empty() && own.iter().all(|value| value.unit == unit);
        let occurs = |part: &usize| own.iter().any(|value| value.part(*part, false).is_some());
        let parts: Vec<usize> = (0..PARTS.len()).filter(occurs).collect();
        for (row, cells) in rows.iter().zip(&mut cells) {
            let value = own.iter().rev().find(|value| place(value).0 == *row);
            let cell = |part: &usize| value.and_then(|value| value.part(*part, is_shared)).unwrap_or("-");
            cells.extend(parts.iter().map(|part| cell(part).to_owned()));
        }
        table.columns.extend(parts.iter().map(|&part| Column::new(PARTS[part].0, PARTS[part].1)));
        if parts.is_empty() {
            continue;
        }
        table.groups.push((if is_shared { format!("{name}, {unit}") } else { name }, parts.len()));
    }
    table.rows = cells.into_iter().map(|row| row.into_iter().map(Into::into).collect()).collect();
    let remarks = remarks(values, rows.len());
    let remarks = (!remarks.is_empty()).then_some(Part::Remarks(remarks));
    std::iter::once(Part::Table(table)).chain(remarks).collect()
}

/// What else is to be said, once each, with the rows that it is said of unless that is all of them.
fn remarks(values: &[Published], all: usize) -> Vec<String> {
    let mut remarks: Vec<(&str, Vec<&str>)> = Vec::new();
    for value in values.iter().filter(|value| !value.because.is_empty()) {
        let row = value.cell.as_ref().map_or("", |(row, _)| row);
        match remarks.iter_mut().find(|(text, _)| *text == value.because) {
            Some((_, rows)) if rows.contains(&row) => {}
            Some((_, rows)) => rows.push(row),
            None => remarks.push((&value.because, vec![row])),
        }
    }
    let said = |(text, rows): (&str, Vec<&str>)| match rows.len() {
        count if count == all && count > 1 => text.to_owned(),
        _ => format!("{}: {text}", rows.join(", ")),
    };
    remarks.into_iter().map(said).collect()
}
