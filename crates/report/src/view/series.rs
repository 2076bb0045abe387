//! Series: one operation over a size that a parameter states, as a curve with its numbers, and as bars in letters.

use oscost_results::{Estimate, Figure, Parameter, quantity};
use oscost_stats::sorting::SmallSort;

use crate::blocks::{Axis, Curve, Curves, Names, Part, Plot, Point, Table, View};
use crate::numbers;
use crate::view::story::{Story, headline};
use crate::words::{grouped, left, right, width};

/// Columns of the longest bar.
const WIDEST: f64 = 32.0;
/// What the numbers beside the bars are; rows of the price list quote the floor.
const TYPICAL: &str = "typical";
/// Bytes of a piece of which bandwidth is told.
const PIECE: f64 = 1024.0;

/// What a series is drawn over.
struct Kind {
    family: &'static str,
    /// What its figures say of themselves above several of them; empty: whatever it is.
    heading: &'static str,
    /// The parameter that tells its figures apart.
    parameter: &'static str,
    /// The axis, in words, and its unit.
    axis: (&'static str, &'static str),
    /// What an operation is, as a finding says it.
    operation: &'static str,
    shown: Shown,
}

/// What is drawn upwards.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// Time an operation; each further step of so many units of the axis adds to it, where growth is even.
    Time(Option<(f64, &'static str)>),
    /// Bytes a time: an operation is a piece.
    Bandwidth,
}

const KINDS: [Kind; 5] = [
    Kind {
        family: "process",
        heading: "",
        parameter: "resident_bytes",
        axis: ("resident memory of the process", "bytes"),
        operation: "a fork",
        shown: Shown::Time(Some((1048576.0, "MiB"))),
    },
    Kind {
        family: "memory",
        heading: "one load that depends on the one before",
        parameter: "working_set_bytes",
        axis: ("working set", "bytes"),
        operation: "a load",
        shown: Shown::Time(None),
    },
    Kind {
        family: "memory",
        heading: "1 KiB of a block",
        parameter: "working_set_bytes",
        axis: ("block", "bytes"),
        operation: "a piece",
        shown: Shown::Bandwidth,
    },
    Kind {
        family: "memory",
        heading: "one page made read-only and writable again",
        parameter: "threads",
        axis: ("threads on other CPUs", "count"),
        operation: "a page made read-only and writable again",
        shown: Shown::Time(Some((1.0, "thread"))),
    },
    Kind {
        family: "event",
        heading: "one poll",
        parameter: "descriptors",
        axis: ("descriptors", "count"),
        operation: "a poll",
        shown: Shown::Time(Some((1.0, "descriptor"))),
    },
];

/// A measured figure of a series.
struct Sized<'a> {
    figure: &'a Figure,
    size: f64,
    /// Its other parameters, in words.
    curve: String,
    /// What is drawn.
    shown: Estimate,
}

/// The view of all series of a result.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let plots = KINDS.iter().filter_map(|kind| kind.plot(&kind.figures(story), story.unicode));
    let parts: Vec<Part> = plots.map(Part::from).collect();
    (!parts.is_empty()).then(|| View::new("COST BY SIZE", parts))
}

/// What is drawn of a figure: what is typical where that is known.
fn drawn(figure: &Figure) -> Option<Estimate> {
    let name =
        if figure.quantities.contains_key(quantity::TYPICAL) { quantity::TYPICAL } else { headline(figure) };
    let it = figure.quantities.get(name).filter(|it| it.unit == "ns")?.estimate;
    (it.low > 0.0 && it.value.is_finite() && it.high.is_finite()).then_some(it)
}

impl Kind {
    fn figures<'a>(&self, story: &Story<'a>) -> Vec<Sized<'a>> {
        let of = |figure: &'a Figure| {
            let others: Vec<Parameter<'_>> = figure
                .parameters
                .keys()
                .filter(|name| *name != self.parameter)
                .filter_map(|name| figure.parameter(name))
                .collect();
            // Another number is another situation.
            if others.iter().any(|other| other.number().is_some()) {
                return None;
            }
            let word = |name: &String| {
                let text = story.words(figure.parameter(name)?.text()?);
                // "small" and "0" alone say little.
                Some(match name.as_str() {
                    "pages" => format!("{text} pages"),
                    "timeout" => format!("timeout {text}"),
                    _ => text,
                })
            };
            let curve: Vec<String> = figure.parameters.keys().filter_map(word).collect();
            let size = figure.parameter(self.parameter)?.number()? as f64;
            Some(Sized { figure, size, curve: curve.join(", "), shown: self.shown.of(drawn(figure)?) })
        };
        let mine = |figure: &&Figure| {
            figure.family == self.family && (self.heading.is_empty() || figure.heading == self.heading)
        };
        let mut figures: Vec<Sized<'a>> = story.measured().filter(mine).filter_map(of).collect();
        figures.small_sort_by(|one, other| one.size.total_cmp(&other.size));
        figures
    }

    /// The plot, where a curve has two sizes.
    fn plot(&self, figures: &[Sized<'_>], unicode: bool) -> Option<Plot> {
        let mut curves = grouped(figures, |it| it.curve.clone());
        curves.small_sort_by_key(|(_, points): &(String, Vec<_>)| std::cmp::Reverse(points.len()));
        if curves.first()?.1.len() < 2 {
            return None;
        }
        let mut sizes: Vec<f64> = figures.iter().map(|it| it.size).collect();
        sizes.dedup();
        let ends = figures.iter().flat_map(|it| [it.shown.low, it.shown.high]);
        let drawn = curves.iter().map(|(name, points)| {
            let name = if name.is_empty() { self.axis.0.to_owned() } else { name.clone() };
            let point =
                |it: &&Sized<'_>| Point { x: it.size, y: [it.shown.low, it.shown.value, it.shown.high] };
            Curve::of_dots(name, points.iter().map(point).collect())
        });
        let x = Axis::even(self.axis.0, self.axis.1, &sizes);
        let y = Axis::fitting(self.shown.axis(), self.shown.unit(), 30.0, ends)?;
        let chart = Curves::of(x, y, drawn.collect(), Names::Own);
        let plot = Plot::of(self.finding(&curves)?, chart, self.table(figures));
        Some(Plot { note: self.note(&curves), letters: self.letters(&curves, unicode), ..plot })
    }

    fn size(&self, size: f64) -> String {
        let number = numbers::quantity(size, self.axis.1);
        match self.shown {
            Shown::Time(Some((_, one))) if size == 1.0 => format!("{number} {one}"),
            _ if self.axis.1 == "count" => format!("{number} {}", self.axis.0),
            _ => number,
        }
    }

    fn value(&self, value: f64) -> String {
        numbers::quantity(value, self.shown.unit())
    }

    /// Both ends of the curve with the most points.
    fn finding(&self, curves: &[(String, Vec<&Sized<'_>>)]) -> Option<String> {
        let (name, points) = curves.first()?;
        let (first, last) = (points.first()?, points.last()?);
        let of = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let (few, many) = (self.value(first.shown.value), self.value(last.shown.value));
        let (from, to) = (self.size(first.size), self.size(last.size));
        Some(match self.shown {
            Shown::Time(_) => {
                let ratio = numbers::ratio(last.shown.value / first.shown.value, None);
                format!(
                    "{} typically takes {few} with {from} and {many} with {to}{of}: {ratio}.",
                    self.operation
                )
            }
            Shown::Bandwidth => {
                format!("A block of {from} typically moves at {few}, one of {to} at {many}{of}.")
            }
        })
    }

    /// What a further unit adds, and the other curves at the largest size.
    fn note(&self, curves: &[(String, Vec<&Sized<'_>>)]) -> String {
        let mut told = Vec::new();
        let Some((_, points)) = curves.first() else { return String::new() };
        if let (Shown::Time(Some((step, unit))), Some(first), Some(last)) =
            (self.shown, points.first(), points.last())
        {
            let slope = (last.shown.value - first.shown.value) / (last.size - first.size) * step;
            if slope > 0.0 {
                told.push(format!(
                    "On the line between both, a further {unit} adds {}.",
                    numbers::duration(slope)
                ));
            }
        }
        for (name, others) in curves.iter().skip(1) {
            if let Some(last) = others.last() {
                told.push(format!("{name}: {} with {}.", self.value(last.shown.value), self.size(last.size)));
            }
        }
        told.join(" ")
    }

    fn table(&self, figures: &[Sized<'_>]) -> Table {
        let rows = figures.iter().map(|it| {
            let floor = it.figure.quantities.get(quantity::FLOOR);
            let floor = floor.map_or(String::new(), |floor| numbers::duration(floor.estimate.value));
            let shown = self.value(it.shown.value);
            let interval = numbers::range(it.shown.low, it.shown.high, self.shown.unit());
            vec![self.size(it.size), it.curve.clone(), shown, interval, floor]
        });
        Table::new([self.axis.0, "", self.shown.axis(), "interval", "floor"], rows)
    }

    /// A bar for each figure, on one logarithmic scale.
    fn letters(&self, curves: &[(String, Vec<&Sized<'_>>)], unicode: bool) -> Vec<String> {
        let all = || curves.iter().flat_map(|(_, points)| points);
        let least = all().map(|it| it.shown.value).fold(f64::INFINITY, f64::min);
        let most = all().map(|it| it.shown.value).fold(0.0, f64::max);
        let room = |of: &dyn Fn(&Sized<'_>) -> String| all().map(|it| width(&of(it))).max().unwrap_or(0);
        let wide = [
            room(&|it| numbers::quantity(it.size, self.axis.1)).max(width(self.axis.0)),
            room(&|it| self.value(it.shown.value)).max(width(TYPICAL)),
        ];
        let bar = if unicode { "\u{2588}" } else { "#" };
        let mut lines = Vec::new();
        for (name, points) in curves {
            let key = if name.is_empty() { String::new() } else { format!("  {name}") };
            lines.push(format!("{}  {}{key}", left(self.axis.0, wide[0]), right(TYPICAL, wide[1])));
            for it in points {
                let share =
                    if most > least { (it.shown.value / least).ln() / (most / least).ln() } else { 1.0 };
                let length = 1 + (share * (WIDEST - 1.0)).round() as usize;
                let size = right(&numbers::quantity(it.size, self.axis.1), wide[0]);
                lines.push(format!(
                    "{size}  {}  {}",
                    right(&self.value(it.shown.value), wide[1]),
                    bar.repeat(length)
                ));
            }
        }
        lines
    }
}

impl Shown {
    /// A time an operation as what is drawn.
    fn of(self, time: Estimate) -> Estimate {
        let rate = |ns: f64| PIECE / ns;
        match self {
            Self::Time(_) => time,
            Self::Bandwidth => {
                Estimate { value: rate(time.value), low: rate(time.high), high: rate(time.low), ..time }
            }
        }
    }

    fn axis(self) -> &'static str {
        match self {
            Self::Time(_) => "typical time an operation",
            Self::Bandwidth => "typical bandwidth",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Time(_) => "ns",
            Self::Bandwidth => "GB/s",
        }
    }
}
