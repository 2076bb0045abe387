//! Plots as data: the finding in words, what is drawn, the numbers as a table, and letters for a terminal.

use crate::blocks::{Axis, Table};
use crate::numbers;

/// A plot of a view. Text is free of control characters, like all of a view.
pub(crate) struct Plot {
    /// What it is of, where the words before it say so; may be empty.
    pub about: String,
    /// What it shows, in words and numbers: its title.
    pub finding: String,
    /// What else is to be said of it; may be empty.
    pub note: String,
    /// What is drawn.
    pub chart: Chart,
    /// The numbers.
    pub table: Table,
    /// The same in letters that line up, where there is room for no more; may be empty.
    pub letters: Vec<String>,
}

impl Plot {
    /// What it shows, what is drawn, and the numbers; without words around them, and without letters.
    pub fn of(finding: String, chart: impl Into<Chart>, table: Table) -> Self {
        let chart = chart.into();
        Self { about: String::new(), finding, note: String::new(), chart, table, letters: Vec::new() }
    }

    /// The same with what it is of.
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }
}

/// What can be drawn is a chart.
macro_rules! charts {
    ($($chart:ident),*) => {
        $(impl From<$chart> for Chart {
            fn from(chart: $chart) -> Self {
                Self::$chart(chart)
            }
        })*
    };
}
charts!(Curves, Rows, Strips, Tracks, Samples, Launches, Boxes, Bars, Ranked, Trail, Heat);

/// What is drawn.
pub(crate) enum Chart {
    /// Curves over one axis.
    Curves(Curves),
    /// Named rows with dots on one or more axes.
    Rows(Rows),
    /// Small pictures below one another on one axis.
    Strips(Strips),
    /// One of several series of values, to be looked into.
    Tracks(Tracks),
    /// A distribution, small.
    Samples(Samples),
    /// A value a launch, small.
    Launches(Launches),
    /// Boxes below the box that holds them.
    Boxes(Boxes),
    /// Groups of bars.
    Bars(Bars),
    /// A bar a row.
    Ranked(Ranked),
    /// One series of values over time.
    Trail(Trail),
    /// A square of cells, each as dark as its value is large.
    Heat(Heat),
}

/// Where a number comes from. Dashed is what was published, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A document printed it.
    Published,
    /// A document's own method gave it here, in single runs.
    Literal,
    /// It was measured here.
    Here,
}

/// What the names in a plot are names of: each has one hue on the whole page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Locks, and ways to lock.
    Locks,
    /// Transports of messages.
    Transports,
    /// All are of one thing.
    One,
    /// They have a meaning in this plot alone.
    Own,
}

/// Counts of a logarithmic histogram.
pub(crate) struct Samples {
    /// Samples of each bucket.
    pub counts: Vec<u64>,
    /// Where the first bucket begins and the last one ends.
    pub ends: [String; 2],
}

/// One value of each launch, in their order.
pub(crate) struct Launches {
    /// The values.
    pub values: Vec<f64>,
    /// Bottom and top of the axis upwards, and their labels.
    pub ends: [(f64, String); 2],
}

/// Boxes as wide as what they hold.
pub(crate) struct Boxes {
    /// How many stand below one another at most.
    pub deep: u32,
    /// The boxes.
    pub boxes: Vec<Placed>,
}

/// A box, and where it stands.
pub(crate) struct Placed {
    /// How many it lies in.
    pub depth: u32,
    /// Where it begins, and how wide it is, as shares of the whole.
    pub from: f64,
    /// See `from`.
    pub wide: f64,
    /// It stands out.
    pub is_dark: bool,
    /// Its name.
    pub name: String,
    /// What is to be said of it.
    pub says: String,
}

/// Curves, with intervals where their points have some.
pub(crate) struct Curves {
    /// From left to right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The curves, the most telling first.
    pub curves: Vec<Curve>,
    /// Values of `y` that are worth a line across, and their names.
    pub rules: Vec<(f64, String)>,
    /// What the curves' names are.
    pub names: Names,
}

impl Curves {
    /// Curves without lines across.
    pub fn of(x: Axis, y: Axis, curves: Vec<Curve>, names: Names) -> Self {
        Self { x, y, curves, rules: Vec::new(), names }
    }
}

/// One curve.
pub(crate) struct Curve {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// Points are measured values with a dot each; without, it is a flight of steps.
    pub dots: bool,
    /// Where its values come from.
    pub source: Source,
    /// What has the hue, where its name says more than that ("coarse" of "here: coarse locks"); else empty.
    pub kind: String,
    /// Index of its hue: see [`Names`].
    pub hue: usize,
}

impl Curve {
    /// Values that were measured here, with a dot each.
    pub fn of_dots(name: String, points: Vec<Point>) -> Self {
        Self { name, points, dots: true, source: Source::Here, kind: String::new(), hue: 0 }
    }

    /// A flight of steps that were measured here.
    pub fn of_steps(name: String, points: Vec<Point>) -> Self {
        Self { dots: false, ..Self::of_dots(name, points) }
    }
}

/// A point with its interval.
pub(crate) struct Point {
    /// Place on the axis from left to right.
    pub x: f64,
    /// Low end, value, high end.
    pub y: [f64; 3],
}

/// Rows of dots.
pub(crate) struct Rows {
    /// The axes, side by side.
    pub panels: Vec<Axis>,
    /// What kinds of dots there are; one kind needs no name.
    pub kinds: Vec<String>,
    /// The rows from above.
    pub rows: Vec<DotRow>,
    /// What the rows' names are. Where they have hues, kinds differ by their marks alone.
    pub names: Names,
}

/// A row of dots.
pub(crate) struct DotRow {
    /// Its name.
    pub name: String,
    /// Its dots.
    pub dots: Vec<Dot>,
    /// Index of its hue: see [`Names`].
    pub hue: usize,
}

/// A dot with its interval.
pub(crate) struct Dot {
    /// Index of the panel.
    pub panel: usize,
    /// Index of the kind.
    pub kind: usize,
    /// Low end, value, high end.
    pub x: [f64; 3],
}

/// Small pictures that share an axis.
pub(crate) struct Strips {
    /// From left to right.
    pub x: Axis,
    /// Upwards, the same in each; `None` where height means nothing.
    pub y: Option<Axis>,
    /// The strips from above.
    pub strips: Vec<Strip>,
    /// Values of `x` that are worth a line down, and their names: published ones.
    pub rules: Vec<(f64, String)>,
    /// What the strips are of.
    pub names: Names,
}

impl Strips {
    /// Strips without lines down.
    pub fn of(x: Axis, y: Option<Axis>, strips: Vec<Strip>, names: Names) -> Self {
        Self { x, y, strips, rules: Vec::new(), names }
    }
}

/// A small picture.
pub(crate) struct Strip {
    /// Its name.
    pub name: String,
    /// What is to be read off it, the worst case above all.
    pub says: String,
    /// What is drawn.
    pub form: Form,
    /// What has the hue, where its name says more than that ("pipe" of "pipe, client 10"); else empty.
    pub kind: String,
    /// Index of its hue: see [`Names`].
    pub hue: usize,
}

impl Strip {
    /// Its name, which has its hue; what is to be read off it; and what is drawn.
    pub fn of(name: String, says: String, form: Form) -> Self {
        Self { name, says, form, kind: String::new(), hue: 0 }
    }
}

/// What a strip shows.
pub(crate) enum Form {
    /// Columns: from, to, height.
    Columns(Vec<[f64; 3]>),
    /// Values one by one.
    Values(Vec<f64>),
    /// Which of the positions, 1 and on, are marked.
    Marked(Vec<bool>),
}

/// Groups of bars that stand on nothing.
pub(crate) struct Bars {
    /// Upwards.
    pub y: Axis,
    /// What the bars of every group are.
    pub kinds: Vec<BarKind>,
    /// Groups from left to right: name, and bars.
    pub groups: Vec<(String, Vec<Bar>)>,
}

/// What a bar is of.
pub(crate) struct BarKind {
    /// What has the hue.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Index of its hue: see [`Names`].
    pub hue: usize,
}

impl BarKind {
    /// What has the hue, and its name.
    pub fn of(key: &str, name: String) -> Self {
        Self { key: key.to_owned(), name, hue: 0 }
    }
}

/// A bar.
pub(crate) struct Bar {
    /// Index of the kind.
    pub kind: usize,
    /// Where its value comes from.
    pub source: Source,
    /// Its height.
    pub y: f64,
    /// What is to be said of it.
    pub says: String,
}

/// Bars below one another, the longest first.
pub(crate) struct Ranked {
    /// From left to right, from 0.
    pub axis: Axis,
    /// The bars from above.
    pub bars: Vec<RankedBar>,
}

/// A bar with a row of its own.
pub(crate) struct RankedBar {
    /// Its name.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Its value is a bound.
    pub is_grey: bool,
    /// What is to be said of it.
    pub says: String,
}

/// A square of cells.
pub(crate) struct Heat {
    /// Names of the rows and of the columns, which are the same, and what they are names of ("CPU").
    pub names: Vec<String>,
    /// See `names`.
    pub what: &'static str,
    /// Row by row: how dark a cell is, 0 to 1, and its value.
    pub cells: Vec<Vec<Option<(f64, String)>>>,
}

/// One series of values from left to right.
pub(crate) struct Trail {
    /// The series; its name stands above it.
    pub track: Track,
    /// What a position is ("tick").
    pub position: &'static str,
    /// Upwards.
    pub y: Axis,
    /// Published values of `y`, and their names.
    pub rules: Vec<(f64, String)>,
}

/// Series of values of which one is seen at a time.
pub(crate) struct Tracks {
    /// What a position is ("tick").
    pub position: &'static str,
    /// What a value is ("latency").
    pub value: &'static str,
    /// The series, the most telling first.
    pub tracks: Vec<Track>,
}

/// A series of values, in ns where it is to be looked into.
pub(crate) struct Track {
    /// Its name.
    pub name: String,
    /// The values one by one.
    pub values: Vec<f64>,
    /// What was going on: first and last position, and its name.
    pub phases: Vec<(usize, usize, String)>,
}

/// Lowest and highest value of each of at most `columns` columns: no peak is lost, whatever the width.
pub(crate) fn envelope(values: &[f64], columns: usize) -> Vec<(f64, f64)> {
    let wide = values.len().div_ceil(columns.max(1)).max(1);
    let ends = |chunk: &[f64]| numbers::ends(chunk.iter().copied().filter(|value| value.is_finite()));
    values.chunks(wide).map(ends).filter(|(low, high)| low <= high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_peak_is_lost_in_an_envelope() {
        let mut values = vec![10.0; 10_000];
        values[7777] = 500.0;
        values[3] = 2.0;
        let columns = envelope(&values, 240);
        assert!(columns.len() <= 240);
        assert_eq!(columns.iter().filter(|(_, high)| *high == 500.0).count(), 1);
        assert_eq!(columns[0], (2.0, 10.0));
        assert_eq!(envelope(&[1.0, f64::NAN, 3.0], 100), [(1.0, 1.0), (3.0, 3.0)]);
        assert!(envelope(&[], 100).is_empty());
    }
}
