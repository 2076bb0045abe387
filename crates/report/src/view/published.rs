//! The published figures of record locking, drawn beside this machine's: document 001's tables by records and by children.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{CellSeries, Reproduction};

use crate::blocks::axis::Axis;
use crate::blocks::plot::{Bar, BarKind, Bars, Chart, Curve, Curves, Names, Plot, Point, Source};
use crate::blocks::{Part, Table, View};
use crate::numbers;
use crate::view::story::Story;

/// The way to lock that the others are held against.
const NONE: &str = "none";

/// Whose values a curve has, in the order of the legend.
const SOURCES: [(Source, &str); 3] =
    [(Source::Here, "here"), (Source::Literal, "here, one run"), (Source::Published, "published")];

/// Values of one table or column, by row.
#[derive(Default)]
struct Values {
    published: BTreeMap<u64, f64>,
    /// Single runs here, ns.
    literal: BTreeMap<u64, f64>,
    /// Low end, value, high end, ns.
    here: BTreeMap<u64, [f64; 3]>,
}

/// Tables that share their rows ("nrec", "children"): by what locks them.
type Tables = Vec<(String, Vec<(CellSeries, Values)>)>;

/// A published or a single duration in ns.
fn single(row: &Reproduction, seconds: Option<f64>) -> Option<f64> {
    let value = seconds.filter(|_| row.unit == "s")? * 1e9;
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
    for row in &story.result.reproductions {
        let Some(cell) = &row.cell else { continue };
        let (Some(axis), Some(series)) = (&cell.axis, &cell.series) else { continue };
        let table = match tables.iter().position(|(known, _)| *known == axis.counts) {
            Some(table) => &mut tables[table].1,
            None => {
                tables.push((axis.counts.clone(), Vec::new()));
                &mut tables.last_mut().expect("one was just added").1
            }
        };
        let values = match table.iter().position(|(known, _)| known == series) {
            Some(index) => &mut table[index].1,
            None => {
                table.push((series.clone(), Values::default()));
                &mut table.last_mut().expect("one was just added").1
            }
        };
        if let Some(value) = single(row, row.published) {
            values.published.insert(axis.at, value);
        }
        if let Some(value) = single(row, row.literal) {
            values.literal.insert(axis.at, value);
        }
        if let Some(value) = here(story, row) {
            values.here.insert(axis.at, value);
        }
    }
    tables
}

/// The view of document 001's tables, where the result has them.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let tables = tables(story);
    let plots = tables
        .iter()
        .flat_map(|(axis, table)| [bars(story, axis, table), plot(story, axis, table)].into_iter().flatten());
    let parts: Vec<Part> = plots.map(Part::from).collect();
    let title = "RECORD LOCKING, PUBLISHED AND HERE".to_owned();
    (!parts.is_empty()).then(|| View { title, parts, ..View::default() })
}

/// How many times as long one takes as the other, at each number for which both are known.
fn times(one: Option<&BTreeMap<u64, f64>>, other: Option<&BTreeMap<u64, f64>>) -> BTreeMap<u64, f64> {
    let (Some(one), Some(other)) = (one, other) else { return BTreeMap::new() };
    one.iter().filter_map(|(number, value)| Some((*number, value / other.get(number)?))).collect()
}

/// "2 000 nrec", "1 child".
fn counted(number: u64, axis: &str) -> String {
    match (number, axis) {
        (1, "children") => "1 child".to_owned(),
        _ => format!("{} {axis}", numbers::count(number as f64)),
    }
}

/// Coarse locks against fine ones, published and here.
fn finding(axis: &str, table: &[(CellSeries, Values)]) -> String {
    let middle = |values: &Values| values.here.iter().map(|(number, value)| (*number, value[1])).collect();
    let of = |key: &str, here: bool| -> Option<BTreeMap<u64, f64>> {
        let named = table.iter().filter(|(locks, _)| locks.key == key);
        let maps = named.map(|(_, values)| if here { middle(values) } else { values.published.clone() });
        maps.into_iter().find(|map: &BTreeMap<u64, f64>| !map.is_empty())
    };
    let [published, here] =
        [false, true].map(|here| times(of("coarse", here).as_ref(), of("fine", here).as_ref()));
    let at = |(number, ratio): (&u64, &f64)| {
        format!("{} at {}", numbers::ratio(*ratio, None), counted(*number, axis))
    };
    let both = published.iter().rev().find_map(|(number, there)| Some((number, there, here.get(number)?)));
    match (both, published.last_key_value(), here.last_key_value()) {
        // One number for both, or they would not compare.
        (Some((number, there, here)), ..) => format!(
            "Coarse locks take against fine ones {} as published, and {} here, at {}",
            numbers::ratio(*there, None),
            numbers::ratio(*here, None),
            counted(*number, axis)
        ),
        (None, _, Some(here)) => format!("Coarse locks take against fine ones {} here", at(here)),
        (None, Some(there), None) => {
            format!("Coarse locks take against fine ones {} as published", at(there))
        }
        (None, None, None) => format!("Time by {axis}, as published and here"),
    }
}

/// Each way to lock against no locking, side by side as published and here; `None` where nothing stands beside no locking.
fn bars(story: &Story<'_>, axis: &str, table: &[(CellSeries, Values)]) -> Option<Plot> {
    let bare = table.iter().find(|(locks, _)| locks.key == NONE).map(|(_, values)| values)?;
    let ways: Vec<&(CellSeries, Values)> =
        table.iter().filter(|(_, values)| !std::ptr::eq(values, bare)).collect();
    let counts: BTreeSet<u64> =
        bare.published.keys().chain(bare.literal.keys()).chain(bare.here.keys()).copied().collect();
    let (mut groups, mut rows, mut ends, mut told) = (Vec::new(), Vec::new(), vec![1.0], Vec::new());
    for number in counts {
        let mut group = Vec::new();
        for (kind, (locks, values)) in ways.iter().enumerate() {
            let of = |times: &BTreeMap<u64, f64>, bare: &BTreeMap<u64, f64>| {
                let (time, none) = (times.get(&number)?, bare.get(&number)?);
                Some((*time, time / none))
            };
            let here = values.here.get(&number).zip(bare.here.get(&number));
            // Where nothing was repeated a single run stands instead.
            let here = match here {
                Some((time, none)) => Some((Source::Here, "here", (time[1], time[1] / none[1]))),
                None => of(&values.literal, &bare.literal).map(|it| (Source::Literal, "here, one run", it)),
            };
            let there = of(&values.published, &bare.published).map(|it| (Source::Published, "published", it));
            for (source, whose, (time, y)) in [there, here].into_iter().flatten() {
                ends.push(y);
                let (at, name) = (numbers::count(number as f64), story.plain(&locks.title));
                let (times, time) = (numbers::ratio(y, None), numbers::duration(time));
                let says = format!("{name}, {}, {whose}: {times} no locking, {time}", counted(number, axis));
                rows.push(vec![at, name, whose.to_owned(), times, time]);
                group.push(Bar { kind, source, y, says });
            }
        }
        let of = |is: fn(Source) -> bool| {
            let bars = group.iter().filter(|bar| is(bar.source)).map(|bar| bar.y);
            bars.fold(None, |ends: Option<(f64, f64)>, y| {
                ends.map_or(Some((y, y)), |(low, high)| Some((low.min(y), high.max(y))))
            })
        };
        if let (Some(there), Some(here)) =
            (of(|it| it == Source::Published), of(|it| it != Source::Published))
        {
            let range = |(low, high)| numbers::range(low, high, "ratio");
            told.push((number, range(there), range(here)));
        }
        if !group.is_empty() {
            groups.push((format!("{} {axis}", numbers::count(number as f64)), group));
        }
    }
    let (number, there, here) = told.last()?;
    Some(Plot { about: "Document 001, clock time against no locking".to_owned(), ..Plot::of(story.plain(&format!(
            "At {} {axis}, locks made the published program take {there} of its time without; here {here}",
            numbers::count(*number as f64)
        )), Chart::Bars(Bars {
            y: Axis::linear("times the clock time without locking", "ratio", ends.into_iter())?,
            kinds: ways.iter().map(|(locks, _)| BarKind::of(&locks.key, story.plain(&locks.title))).collect(),
            groups,
        }), Table::new([axis, "locks", "", "against no locking", "clock time"], rows)) })
}

fn plot(story: &Story<'_>, axis: &str, table: &[(CellSeries, Values)]) -> Option<Plot> {
    let mut counts: Vec<f64> = Vec::new();
    let (mut curves, mut rows, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (source, whose) in SOURCES {
        for (locks, values) in table {
            let single = |all: &BTreeMap<u64, f64>| -> Vec<Point> {
                all.iter().map(|(number, y)| Point { x: *number as f64, y: [*y; 3] }).collect()
            };
            let points: Vec<Point> = match source {
                Source::Here => {
                    values.here.iter().map(|(number, y)| Point { x: *number as f64, y: *y }).collect()
                }
                Source::Literal => single(&values.literal),
                Source::Published => single(&values.published),
            };
            if points.is_empty() {
                continue;
            }
            let name = story.plain(&format!("{whose}: {}", locks.title));
            for point in &points {
                counts.push(point.x);
                ends.extend(point.y);
                let interval = numbers::range(point.y[0], point.y[2], "ns");
                rows.push(vec![
                    name.clone(),
                    numbers::count(point.x),
                    numbers::duration(point.y[1]),
                    if source == Source::Here { interval } else { String::new() },
                ]);
            }
            curves.push(Curve { source, kind: locks.key.clone(), ..Curve::of_dots(name, points) });
        }
    }
    let axis = story.plain(axis);
    let worst = ends.iter().copied().fold(0.0, f64::max);
    Some(Plot {
        about: "Document 001".to_owned(),
        note: format!(
            "The longest time of all is {}. The machines are not alike: what compares is the shape of the curves.",
            numbers::duration(worst)
        ),
        ..Plot::of(
            finding(&axis, table),
            Chart::Curves(Curves {
                x: Axis::even(&axis, "count", &numbers::ascending(counts)),
                y: Axis::logarithmic("clock time of the whole workload", "ns", ends.into_iter())?,
                curves,
                rules: Vec::new(),
                names: Names::Locks,
            }),
            Table::new(["", &*axis, "time", "interval"], rows),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(published: &[(u64, f64)], here: &[(u64, f64)]) -> Values {
        Values {
            published: published.iter().copied().collect(),
            literal: BTreeMap::new(),
            here: here.iter().map(|(number, value)| (*number, [value * 0.9, *value, value * 1.1])).collect(),
        }
    }

    #[test]
    fn both_ratios_are_of_one_number() {
        let table = |coarse: Values, fine: Values| {
            let series = |key: &str| CellSeries { key: key.to_owned(), title: format!("{key} locks") };
            [(series("coarse"), coarse), (series("fine"), fine)]
        };
        let published = [(1, 5.0), (16, 13.2)];
        let both = table(values(&published, &[(1, 4.0)]), values(&[(1, 5.0), (16, 10.0)], &[(1, 5.0)]));
        assert_eq!(
            finding("children", &both),
            "Coarse locks take against fine ones 1.00x as published, and 0.800x here, at 1 child"
        );
        let apart = table(values(&published, &[(4, 4.0)]), values(&[(16, 10.0)], &[(4, 5.0)]));
        assert_eq!(
            finding("children", &apart),
            "Coarse locks take against fine ones 0.800x at 4 children here"
        );
        let alone = table(values(&published, &[]), values(&[(16, 10.0)], &[]));
        assert_eq!(
            finding("children", &alone),
            "Coarse locks take against fine ones 1.32x at 16 children as published"
        );
    }
}
