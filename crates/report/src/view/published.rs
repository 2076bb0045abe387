//! The published figures of record locking, drawn beside this machine's: document 001's tables by records and by children.

use std::collections::BTreeMap;

use oscost_results::Reproduction;
use oscost_results::document::APUE;

use crate::blocks::axis::Axis;
use crate::blocks::plot::{Chart, Curve, Curves, Plot, Point};
use crate::blocks::{Part, Table, View};
use crate::numbers;
use crate::view::story::Story;

/// The time that is drawn: the tables have user and system time beside it.
const TIME: &str = "clock";

/// Values of one table or column, by row.
#[derive(Default)]
struct Values {
    published: BTreeMap<u64, f64>,
    /// Low end, value, high end, ns.
    here: BTreeMap<u64, [f64; 3]>,
}

/// Tables that share their rows ("nrec", "children"): by what locks them.
type Tables = Vec<(String, Vec<(String, Values)>)>;

/// A published duration in ns.
fn published(row: &Reproduction) -> Option<f64> {
    let value = row.published.filter(|_| row.unit == "s")? * 1e9;
    (value.is_finite() && value > 0.0).then_some(value)
}

/// What was measured here instead, in ns.
fn here(story: &Story<'_>, row: &Reproduction) -> Option<[f64; 3]> {
    let estimate = row.measured?;
    let figure = story.result.figures.iter().find(|figure| Some(&figure.id) == row.figure_id.as_ref())?;
    let unit = &figure.quantities.get(row.quantity.as_deref()?)?.unit;
    let values = [estimate.low, estimate.value, estimate.high];
    (unit == "ns" && values.iter().all(|value| value.is_finite() && *value > 0.0)).then_some(values)
}

/// The tables of the document that have a time by a number, by that number's name.
fn tables(story: &Story<'_>) -> Tables {
    let mut tables: Tables = Vec::new();
    for row in story.result.reproductions.iter().filter(|row| row.document == APUE.name) {
        let Some(cell) = &row.cell else { continue };
        let Some(kind) = cell.column.strip_suffix(TIME) else { continue };
        let Some((title, rest)) = cell.table.rsplit_once(", by ") else { continue };
        let axis = rest.split(' ').next().unwrap_or(rest);
        let digits: String = cell.row.chars().filter(|letter| !letter.is_whitespace()).collect();
        let Ok(number) = digits.parse::<u64>() else { continue };
        // "Figure 20.8, nrec 2000, advisory locking" names the way to lock itself, "Figure 20.8's shape at nrec 500" and
        // Figure 20.7 in their columns.
        let locks = if let Some(way) = kind.strip_suffix(": ") {
            way.to_owned()
        } else if kind.trim().is_empty() {
            title.split_once(", ").map_or(title, |(_, locks)| locks).to_owned()
        } else {
            format!("{}, {}", kind.trim(), title.rsplit_once(" at ").map_or(title, |(_, at)| at))
        };
        let table = match tables.iter().position(|(known, _)| known == axis) {
            Some(table) => &mut tables[table].1,
            None => {
                tables.push((axis.to_owned(), Vec::new()));
                &mut tables.last_mut().expect("one was just added").1
            }
        };
        let values = match table.iter().position(|(known, _)| *known == locks) {
            Some(index) => &mut table[index].1,
            None => {
                table.push((locks, Values::default()));
                &mut table.last_mut().expect("one was just added").1
            }
        };
        if let Some(value) = published(row) {
            values.published.insert(number, value);
        }
        if let Some(value) = here(story, row) {
            values.here.insert(number, value);
        }
    }
    tables
}

/// The view of document 001's tables, where the result has them.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let plots = tables(story).into_iter().filter_map(|(axis, table)| plot(story, &axis, &table));
    let parts: Vec<Part> = plots.map(Part::from).collect();
    let title = "RECORD LOCKING, PUBLISHED AND HERE".to_owned();
    (!parts.is_empty()).then(|| View { title, parts, ..View::default() })
}

/// How many times as long one takes as the other, at the largest number for which both are known.
fn times(one: Option<&BTreeMap<u64, f64>>, other: Option<&BTreeMap<u64, f64>>) -> Option<(u64, f64)> {
    let (one, other) = (one?, other?);
    one.iter().rev().find_map(|(number, value)| Some((*number, value / other.get(number)?)))
}

/// Coarse locks against fine ones, published and here.
fn finding(axis: &str, table: &[(String, Values)]) -> String {
    let middle = |values: &Values| values.here.iter().map(|(number, value)| (*number, value[1])).collect();
    let of = |word: &str, here: bool| -> Option<BTreeMap<u64, f64>> {
        let named = table.iter().filter(|(locks, _)| locks.contains(word) && !locks.contains("mandatory"));
        let maps = named.map(|(_, values)| if here { middle(values) } else { values.published.clone() });
        maps.into_iter().find(|map: &BTreeMap<u64, f64>| !map.is_empty())
    };
    let told = |here: bool| {
        let (number, ratio) = times(of("coarse", here).as_ref(), of("fine", here).as_ref())?;
        Some(format!("{} at {} {axis}", numbers::ratio(ratio, None), numbers::count(number as f64)))
    };
    match (told(false), told(true)) {
        (Some(published), Some(here)) => {
            format!("Coarse locks take against fine ones {published} as published, and {here} here")
        }
        (Some(published), None) => format!("Coarse locks take against fine ones {published} as published"),
        (None, Some(here)) => format!("Coarse locks take against fine ones {here} here"),
        (None, None) => format!("Time by {axis}, as published and here"),
    }
}

fn plot(story: &Story<'_>, axis: &str, table: &[(String, Values)]) -> Option<Plot> {
    let mut counts: Vec<f64> = Vec::new();
    let (mut curves, mut rows, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for here in [true, false] {
        for (locks, values) in table {
            let points: Vec<Point> = if here {
                values.here.iter().map(|(number, y)| Point { x: *number as f64, y: *y }).collect()
            } else {
                values.published.iter().map(|(number, y)| Point { x: *number as f64, y: [*y; 3] }).collect()
            };
            if points.is_empty() {
                continue;
            }
            let name = story.plain(&format!("{}: {locks}", if here { "here" } else { "published" }));
            for point in &points {
                counts.push(point.x);
                ends.extend(point.y);
                let interval = numbers::range(point.y[0], point.y[2], "ns");
                rows.push(vec![
                    name.clone(),
                    numbers::count(point.x),
                    numbers::duration(point.y[1]),
                    if here { interval } else { String::new() },
                ]);
            }
            curves.push(Curve { name, points, dots: true });
        }
    }
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    let axis = story.plain(axis);
    let worst = ends.iter().copied().fold(0.0, f64::max);
    Some(Plot {
        about: "Document 001".to_owned(),
        finding: finding(&axis, table),
        note: format!(
            "The longest time of all is {}. The machines are not alike: what compares is the shape of the curves.",
            numbers::duration(worst)
        ),
        chart: Chart::Curves(Curves {
            x: Axis::even(&axis, "count", &counts),
            y: Axis::logarithmic("clock time of the whole workload", "ns", ends.into_iter())?,
            curves,
            rules: Vec::new(),
        }),
        table: Table::new(["", &*axis, "time", "interval"], rows),
        letters: Vec::new(),
    })
}
