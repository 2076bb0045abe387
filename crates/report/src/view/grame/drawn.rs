//! Document 002's figures over time as plots: what this machine did, and what is left of the published ones.

use oscost_results::Figure;
use oscost_results::document::GRAME;
use oscost_stats::quantile::{quantile, sorted};
use oscost_stats::sorting::SmallSort;

use super::letters::{self, COLUMNS, Edges, LABEL};
use super::{SITUATIONS, mean, session, tracks};
use crate::blocks::axis::Axis;
use crate::blocks::plot::{Chart, Curve, Curves, Form, Names, Plot, Point, Strip, Strips, Track, Trail};
use crate::blocks::{Part, Table};
use crate::numbers;
use crate::view::documents::published_answers;
use crate::view::story::Story;
use crate::words::left;

/// Columns of the histogram between two powers of two.
const FINE: f64 = 4.0;
/// Columns of a stack of clients.
const DRAWN: usize = 132;
/// Values of the first and the last client that are drawn.
const IN_A_ROW: usize = 60;

/// What the document printed of one client by sockets: us, and the station.
fn published(story: &Story<'_>, key: &str) -> Vec<(f64, String)> {
    let all = published_answers(story.result, GRAME.name, key).into_iter();
    all.filter(|it| it.value > 0.0).map(|it| (it.value, story.plain(&it.station))).collect()
}

/// "31.0 us (P350), 11.0 us (P700)".
fn told(values: &[(f64, String)]) -> String {
    let one = |(us, station): &(f64, String)| format!("{} ({station})", numbers::duration(us * 1e3));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A row of a table of data: name, number of values, least, median, 99 of 100, most, in us.
fn row(name: String, values: &[f64]) -> Vec<String> {
    let ordered = sorted(values.to_vec());
    let at = |q: f64| quantile(&ordered, q).map_or(String::new(), |us| numbers::duration(us * 1e3));
    vec![name, values.len().to_string(), at(0.0), at(0.5), at(0.99), at(1.0)]
}

const HEADS: [&str; 6] = ["", "values", "least", "median", "99 %", "most"];

/// From which of these values on the load of a session was on, and from which on it was off again.
fn marks(figure: &Figure, values: &[f64]) -> Option<(usize, usize)> {
    let marks = figure.launches.iter().find_map(|launch| launch.tracks.get("load"))?;
    let [start, end] = marks[..] else { return None };
    let at = |mark: f64| (mark as usize).min(values.len());
    Some((at(start), at(end)))
}

/// Those of these values that came while the load was on, where there are some.
fn under_load<'v>(figure: &Figure, values: &'v [f64]) -> Option<&'v [f64]> {
    let (start, end) = marks(figure, values)?;
    values.get(start..end).filter(|under| !under.is_empty())
}

/// One client over time, on an axis of powers of two.
pub(super) fn one_client(story: &Story<'_>, figure: &Figure, title: &str) -> Option<Part> {
    let (_, values) = tracks(figure).into_iter().next()?;
    let mut lines = letters::plot(&[('#', &values)], &Edges::logarithmic(&values), true);
    lines.insert(0, "us up, time to the right; . few values of a column, : some, # most".to_owned());
    let mut phases = Vec::new();
    if let Some((start, end)) = marks(figure, &values) {
        let column = |index: usize| (index as f64 / values.len() as f64 * COLUMNS as f64) as usize;
        let (from, to) = (column(start), column(end));
        lines.push(format!(
            "{} {}{}",
            left("load", LABEL),
            " ".repeat(from),
            "=".repeat(to.saturating_sub(from).max(1))
        ));
        phases.push((start + 1, end, "load".to_owned()));
    }
    // Idle, the document has a middle; under a load, the highest that it saw.
    let (rules, what) = if phases.is_empty() {
        (published(story, "mean"), "mean")
    } else {
        (published(story, "busy_peak"), "highest peak of any load")
    };
    let note =
        if rules.is_empty() { String::new() } else { format!("Published, dashed: {what} {}.", told(&rules)) };
    let (when, told_of) = match under_load(figure, &values) {
        Some(under) => ("under the load ", under),
        None => ("", &values[..]),
    };
    let highest = told_of.iter().copied().fold(0.0, f64::max);
    let middle = quantile(&sorted(told_of.to_vec()), 0.5)?;
    let y = Axis::doubling("latency", "us", values.iter().copied().chain(rules.iter().map(|(us, _)| *us)))?;
    let table = Table::new(HEADS, [row("client 1".to_owned(), &values)]);
    let rules = rules.into_iter().map(|(us, station)| (us, format!("{what}, {station}"))).collect();
    Some(Part::from(Plot {
        note,
        letters: lines,
        ..Plot::of(
            story.plain(&format!(
                "{title}: {when}{} in the middle, to {}",
                numbers::duration(middle * 1e3),
                numbers::duration(highest * 1e3)
            )),
            Chart::Trail(Trail {
                track: Track { name: String::new(), values, phases },
                position: "message",
                y,
                rules,
            }),
            table,
        )
    }))
}

/// How often one client's messages took how long, idle and under each load, on the document's axis.
pub(super) fn histogram(story: &Story<'_>) -> Option<Part> {
    let (mut strips, mut rows, mut heights, mut all) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut middles = Vec::new();
    for (load, _, name) in SITUATIONS {
        let Some(figure) = session(story, |clients, under| clients == 1 && under == load) else { continue };
        let Some((_, values)) = tracks(figure).into_iter().next() else { continue };
        // A session with a load is idle before it and after it.
        let told = if load.is_empty() { Some(&values[..]) } else { under_load(figure, &values) };
        let Some(values) = told else { continue };
        let mut columns: Vec<[f64; 3]> = Vec::new();
        for us in sorted(values.to_vec()).into_iter().filter(|us| *us > 0.0) {
            let step = (us.log2() * FINE).floor();
            let [from, to] = [step, step + 1.0].map(|step| 2_f64.powf(step / FINE));
            match columns.last_mut() {
                Some(last) if last[0] == from => last[2] += 1.0,
                _ => columns.push([from, to, 1.0]),
            }
        }
        columns.iter_mut().for_each(|column| column[2] /= values.len().max(1) as f64);
        heights.extend(columns.iter().map(|column| column[2]));
        all.extend(columns.iter().flat_map(|column| [column[0], column[1]]));
        let most = values.iter().copied().fold(0.0, f64::max);
        middles.extend(quantile(&sorted(values.to_vec()), 0.5));
        rows.push(row(name.to_owned(), values));
        strips.push(Strip::of(
            name.to_owned(),
            format!("worst {}", numbers::duration(most * 1e3)),
            Form::Columns(columns),
        ));
    }
    let rules = published(story, "mean");
    let (least, most) = numbers::ends(middles);
    if strips.len() < 2 {
        return None;
    }
    Some(Part::from(Plot {
        about: "One client, idle and under each load".to_owned(),
        note: if rules.is_empty() {
            String::new()
        } else {
            format!("Published, dashed: means of an idle machine, {}.", told(&rules))
        },
        ..Plot::of(
            story.plain(&format!(
                "Half of the messages took less than {}, whatever ran beside them",
                numbers::range(least * 1e3, most * 1e3, "ns").replace(" .. ", " to ")
            )),
            Chart::Strips(Strips {
                x: Axis::doubling("latency", "us", all.into_iter().chain(rules.iter().map(|(us, _)| *us)))?,
                y: Axis::linear("share of messages", "share", heights.into_iter()),
                strips,
                rules: rules.into_iter().map(|(us, station)| (us, format!("mean, {station}"))).collect(),
                names: Names::One,
            }),
            Table::new(HEADS, rows),
        )
    }))
}

/// A few clients, each by its number.
pub(super) fn stack(story: &Story<'_>, figure: &Figure) -> Option<Part> {
    let tracks = tracks(figure);
    if tracks.len() < 2 {
        return None;
    }
    let by_digit: Vec<(char, &[f64])> = tracks
        .iter()
        .filter_map(|(number, values)| Some((char::from_digit(*number, 36)?, values.as_slice())))
        .collect();
    // Peaks would press the stack together: they stand at the upper edge.
    let all: Vec<f64> = tracks.iter().flat_map(|(_, values)| values.iter().copied()).collect();
    let mut lines = letters::plot(&by_digit, &Edges::linear(&all), false);
    lines.insert(0, "each client by its number, *: several".to_owned());
    let longest = tracks.iter().map(|(_, values)| values.len()).max()?;
    let wide = longest.div_ceil(DRAWN).max(1);
    let named: Vec<(String, Vec<f64>)> = tracks
        .iter()
        .map(|(number, values)| {
            let middles = values.chunks(wide).filter_map(|part| quantile(&sorted(part.to_vec()), 0.5));
            (format!("client {number}"), middles.collect())
        })
        .collect();
    let last = |values: &[f64]| quantile(&sorted(values.to_vec()), 0.5).unwrap_or(0.0);
    let (low, high) = numbers::ends(tracks.iter().map(|(_, values)| last(values)));
    let heading = format!(
        "Figure 23: {} clients by sockets, a stack from {} to {}, medians of columns",
        tracks.len(),
        numbers::duration(low * 1e3),
        numbers::duration(high * 1e3)
    );
    let rows = tracks.iter().map(|(number, values)| row(format!("client {number}"), values));
    let table = Table::new(HEADS, rows);
    side_by_side(story, heading, &named, wide, table, lines)
}

/// The clients that are served first and last, value by value.
pub(super) fn first_and_last(story: &Story<'_>, figure: &Figure, title: &str) -> Option<Part> {
    let mut tracks = tracks(figure);
    tracks.small_sort_by(|one, other| mean(&one.1).total_cmp(&mean(&other.1)));
    ends(story, ("first", &tracks.first()?.1), ("last", &tracks.last()?.1), title)
}

/// The clients with the lowest and the highest number, value by value.
pub(super) fn by_name(story: &Story<'_>, figure: &Figure, title: &str) -> Option<Part> {
    let tracks = tracks(figure);
    let ((one, first), (other, last)) = (tracks.first()?, tracks.last()?);
    ends(story, (&format!("client {one}"), first), (&format!("client {other}"), last), title)
}

fn ends(story: &Story<'_>, first: (&str, &[f64]), last: (&str, &[f64]), title: &str) -> Option<Part> {
    let cut = |values: &[f64]| values.iter().copied().take(IN_A_ROW).collect::<Vec<f64>>();
    let named = [(first.0.to_owned(), cut(first.1)), (last.0.to_owned(), cut(last.1))];
    let all = [&named[0].1[..], &named[1].1].concat();
    let mut lines = letters::plot(&[('f', &named[0].1), ('l', &named[1].1)], &Edges::linear(&all), false);
    lines.insert(0, format!("f: {}, l: {}, *: both", first.0, last.0));
    let table = Table::new(HEADS, named.iter().map(|(name, values)| row(name.clone(), values)));
    let [one, other] = [&named[0].1, &named[1].1].map(|values| quantile(&sorted(values.clone()), 0.5));
    let finding = format!(
        "{title}, {} values in a row: {} in the middle {}, {} {}",
        // As many as there are: a session may be shorter.
        named[0].1.len().max(named[1].1.len()),
        first.0,
        numbers::duration(one? * 1e3),
        last.0,
        numbers::duration(other? * 1e3)
    );
    side_by_side(story, finding, &named, 1, table, lines)
}

/// Series of us as steps over time, each value for `wide` messages.
fn side_by_side(
    story: &Story<'_>,
    finding: String,
    series: &[(String, Vec<f64>)],
    wide: usize,
    table: Table,
    letters: Vec<String>,
) -> Option<Part> {
    let longest = series.iter().map(|(_, values)| values.len()).max()?;
    let all: Vec<f64> = series.iter().flat_map(|(_, values)| values.iter().copied()).collect();
    let curves = series.iter().map(|(name, values)| {
        let point = |(at, us): (usize, &f64)| Point { x: (at * wide + 1) as f64, y: [*us; 3] };
        Curve::of_steps(name.clone(), values.iter().enumerate().map(point).collect())
    });
    Some(Part::from(Plot {
        letters,
        ..Plot::of(
            story.plain(&finding),
            Chart::Curves(Curves {
                x: Axis::between("message", "count", 1.0, (longest * wide) as f64),
                y: Axis::fitting("latency", "us", 20.0, all.into_iter())?,
                curves: curves.collect(),
                rules: Vec::new(),
                names: Names::Own,
            }),
            table,
        )
    }))
}
