//! Tables of a document over a number (operations, clients, reads in a row) as curves: published, literal and measured.

use oscost_results::{Reproduction, RunResult};
use oscost_stats::sorting::SmallSort;

use super::converted_interval;
use crate::blocks::axis::Axis;
use crate::blocks::plot::{Chart, Curve, Curves, Names, Plot, Point, Source};
use crate::blocks::{Part, Table};
use crate::numbers;
use crate::words::{distinct, plain};

/// Points that make a curve: fewer are read from the table.
const LEAST: usize = 5;
/// Values that are further apart than this stand on a logarithmic axis.
const APART: f64 = 8.0;
/// Rows of letters, and columns between two points.
const ROWS: usize = 7;
const STEP: usize = 7;
/// Columns of the labels at the left.
const LABEL: usize = 10;
/// The curves: their names, their letters, and what they are.
const KINDS: [(&str, char, Source); 3] = [
    ("published", 'p', Source::Published),
    ("literal (our copy)", 'l', Source::Literal),
    ("measured", 'm', Source::Here),
];

/// A column of a table as points.
struct Drawn {
    name: String,
    /// What the numbers of its rows count ("clients").
    counts: String,
    unit: String,
    /// The document had a curve, and its text has not.
    lost: bool,
    /// By number: value, low end, high end of each kind.
    kinds: [Vec<(f64, [f64; 3])>; 3],
}

/// A plot for each column of the table that has a published curve, one that the text has lost, or a ratio of ours.
pub(super) fn parts(title: &str, block: &[&Reproduction], result: &RunResult, unicode: bool) -> Vec<Part> {
    // What is drawn together with other tables has a plot of its own.
    if block.iter().any(|row| row.cell.as_ref().is_some_and(|cell| cell.series.is_some())) {
        return Vec::new();
    }
    let columns = distinct(block.iter().filter_map(|row| row.cell.as_ref()).map(|cell| cell.column.clone()));
    let mut drawn: Vec<Drawn> =
        columns.iter().filter_map(|column| drawn(column, block, result, unicode)).collect();
    // A ratio says more of two machines than a time does.
    drawn.small_sort_by_key(|column| column.unit != "ratio");
    // The table has the rest of its title, and the first says what is lost.
    let short = block.iter().find_map(|row| row.cell.as_ref()?.axis.as_ref()?.short_title.as_deref());
    let title = short.map_or_else(|| title.to_owned(), |short| plain(short, unicode));
    let mut plots: Vec<Plot> = drawn.iter().filter_map(|column| plot(&title, column)).collect();
    plots.iter_mut().skip(1).for_each(|plot| plot.note.clear());
    plots.into_iter().map(Part::from).collect()
}

fn drawn(column: &str, block: &[&Reproduction], result: &RunResult, unicode: bool) -> Option<Drawn> {
    let own = block.iter().filter(|row| row.cell.as_ref().is_some_and(|cell| cell.column == column));
    let mut kinds: [Vec<(f64, [f64; 3])>; 3] = Default::default();
    let (mut last, mut unit, mut axis) = (f64::NEG_INFINITY, None, None);
    for row in own {
        let own = row.cell.as_ref()?.axis.as_ref()?;
        let at = own.at as f64;
        axis = Some(own);
        // Rows that do not ascend are names, not an axis.
        if at <= last || unit.is_some_and(|unit: &str| unit != row.unit) {
            return None;
        }
        (last, unit) = (at, Some(&*row.unit));
        let single = |value: Option<f64>| value.map(|value| [value; 3]);
        let values = [single(row.published), single(row.literal), converted_interval(row, result)];
        for (kind, value) in kinds.iter_mut().zip(values) {
            if let Some(value) = value.filter(|value| value.iter().all(|it| it.is_finite()) && value[0] > 0.0)
            {
                kind.push((at, value));
            }
        }
    }
    let axis = axis?;
    let here = kinds[1].len() >= LEAST || kinds[2].len() >= LEAST;
    // What no document has is drawn where it is a ratio: when it falls to one is seen.
    let is_ours = kinds[0].is_empty() && unit == Some("ratio");
    let [name, unit, counts] = [column, unit?, &axis.counts].map(|words| plain(words, unicode));
    (kinds[0].len() >= LEAST || here && (axis.lost || is_ours)).then_some(Drawn {
        name,
        counts,
        unit,
        lost: axis.lost,
        kinds,
    })
}

fn plot(title: &str, column: &Drawn) -> Option<Plot> {
    let at = numbers::ascending(column.kinds.iter().flatten().map(|(at, _)| *at));
    // Times have units of their own size; of the rest the heading tells the unit.
    let scale = numbers::nanoseconds(&column.unit);
    let unit = match &*column.unit {
        "ratio" | "count" | "share" => String::new(),
        _ if scale.is_some() => String::new(),
        unit => format!(", {unit}"),
    };
    let shown = |value: f64| match scale {
        Some(scale) => numbers::duration(value * scale),
        None if column.unit == "ratio" => numbers::ratio(value, None),
        None => numbers::beside_published(value),
    };
    let drawn = |value: &[f64; 3]| value.map(|value| value * scale.unwrap_or(1.0));
    let ends = column.kinds.iter().flatten().flat_map(|(_, value)| drawn(value));
    let curves = KINDS.iter().zip(&column.kinds).filter(|(_, points)| !points.is_empty());
    let told: Vec<String> = curves
        .clone()
        .filter_map(|((kind, ..), points)| {
            let (first, last) = (points.first()?, points.last()?);
            let (from, to) = (shown(first.1[0]), shown(last.1[0]));
            Some(if from == to { format!("{kind} {to}") } else { format!("{kind} {from} to {to}") })
        })
        .collect();
    let rows = curves.clone().flat_map(|((kind, ..), points)| {
        points.iter().map(move |(at, [value, low, high])| {
            let ends = [low, high].map(|end| shown(*end));
            let range = if low < high { ends.join(" .. ") } else { String::new() };
            vec![numbers::count(*at), (*kind).to_owned(), shown(*value), range]
        })
    });
    let lost = if column.lost { "The text has lost the document's curve." } else { "" };
    let axis = match (&*column.unit, scale) {
        (_, Some(_)) => "ns",
        ("ratio", _) => "ratio",
        _ => "",
    };
    Some(Plot {
        about: title.to_owned(),
        note: lost.to_owned(),
        letters: letters(&at, column),
        ..Plot::of(
            format!("{}{unit}: {}", column.name, told.join(", ")),
            Chart::Curves(Curves {
                x: Axis::even(&column.counts, "count", &at),
                y: Axis::fitting(&format!("{}{unit}", column.name), axis, APART, ends)?,
                curves: curves
                    .map(|((kind, _, source), points)| Curve {
                        name: (*kind).to_owned(),
                        points: points
                            .iter()
                            .map(|(at, value)| {
                                let [value, low, high] = drawn(value);
                                Point { x: *at, y: [low, value, high] }
                            })
                            .collect(),
                        dots: true,
                        source: *source,
                        kind: String::new(),
                        hue: 0,
                    })
                    .collect(),
                rules: Vec::new(),
                names: Names::One,
            }),
            Table::new(["at", "", "value", "interval"], rows),
        )
    })
}

/// The same in a few lines of letters: a logarithmic axis upwards where the values are far apart.
fn letters(at: &[f64], column: &Drawn) -> Vec<String> {
    let values: Vec<f64> = column.kinds.iter().flatten().map(|(_, value)| value[0]).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let is_logarithmic = high / low > APART;
    let (from, to) = if is_logarithmic { (low.ln(), high.ln()) } else { (0.0, high) };
    let row = |value: f64| {
        let place = if is_logarithmic { value.ln() } else { value };
        (((place - from) / (to - from).max(f64::MIN_POSITIVE)) * (ROWS - 1) as f64).round() as usize
    };
    let mut lines = vec![vec![' '; at.len() * STEP]; ROWS];
    for ((_, letter, _), points) in KINDS.iter().zip(&column.kinds) {
        for (x, value) in points {
            let Some(place) = at.iter().position(|known| known == x) else { continue };
            let line = &mut lines[ROWS - 1 - row(value[0]).min(ROWS - 1)];
            // Values of two kinds at one place stand side by side.
            if let Some(free) = line[place * STEP..(place + 1) * STEP].iter_mut().find(|cell| **cell == ' ') {
                *free = *letter;
            }
        }
    }
    let bottom = if is_logarithmic { numbers::beside_published(low) } else { "0".to_owned() };
    let mut drawn: Vec<String> = lines
        .into_iter()
        .enumerate()
        .map(|(index, line)| {
            let label = match index {
                0 => numbers::beside_published(high),
                index if index == ROWS - 1 => bottom.clone(),
                _ => String::new(),
            };
            format!("{label:>LABEL$} |{}", line.into_iter().collect::<String>().trim_end())
        })
        .collect();
    let foot: String = at.iter().map(|at| format!("{:<STEP$}", short(*at))).collect();
    drawn.push(format!("{:>LABEL$}  {}", "", foot.trim_end()));
    drawn
}

/// A number in few letters: 10k, 1M.
fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{}M", value / 1e6),
        value if value >= 1e4 => format!("{}k", value / 1e3),
        value => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_stands_at_its_height_and_place() {
        let of = |values: [f64; 3]| {
            values.into_iter().zip([1.0, 2.0, 4.0]).map(|(value, at)| (at, [value; 3])).collect()
        };
        let column = Drawn {
            name: "time".to_owned(),
            counts: String::new(),
            unit: "us".to_owned(),
            lost: false,
            kinds: [of([1.0, 10.0, 100.0]), Vec::new(), of([100.0, 10.0, 1.0])],
        };
        let lines = letters(&[1.0, 2.0, 4.0], &column);
        assert_eq!(lines.len(), ROWS + 1);
        assert_eq!(lines[0], "       100 |m             p");
        assert_eq!(lines[ROWS / 2], "           |       pm", "both at one place");
        assert_eq!(lines[ROWS - 1], "      1.00 |p             m");
        assert_eq!(lines[ROWS], "            1      2      4");
        assert_eq!(short(20_000.0), "20k");
    }
}
