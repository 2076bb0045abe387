//! Scaling: what several processes or threads make at once, beside as many that hinder nobody, and the knee of the curve.

use oscost_results::{Estimate, Figure, Parameter, quantity};
use oscost_stats::knee::{SpeedUp, knee};
use oscost_stats::sorting::SmallSort;

use crate::blocks::{Axis, Curve, Curves, Names, Part, Plot, Point, Table, View};
use crate::numbers;
use crate::view::story::Story;
use crate::words::{grouped, left, right, width};

/// Columns of the longest bar.
const WIDEST: f64 = 32.0;

/// A measured figure of several workers.
struct Crowd<'a> {
    figure: &'a Figure,
    /// Id of the operation.
    inner: &'a str,
    /// "processes".
    of: &'static str,
    workers: u64,
    /// "private".
    objects: &'a str,
    efficiency: Estimate,
}

fn crowd(figure: &Figure) -> Option<Crowd<'_>> {
    let inner = figure.parameter("of").and_then(Parameter::text)?;
    let objects = figure.parameter("objects").and_then(Parameter::text)?;
    let number = |name| figure.parameter(name).and_then(Parameter::number);
    let (of, workers) =
        ["processes", "threads"].into_iter().find_map(|of| Some((of, number(of).filter(|&it| it > 0)?)))?;
    let efficiency = figure.quantities.get(quantity::EFFICIENCY)?.estimate;
    let is_drawn = efficiency.low > 0.0 && efficiency.high.is_finite() && efficiency.value.is_finite();
    is_drawn.then_some(Crowd { figure, inner, of, workers, objects, efficiency })
}

impl Crowd<'_> {
    fn value(&self, name: &str) -> Option<f64> {
        let value = self.figure.quantities.get(name)?.estimate.value;
        (value > 0.0 && value.is_finite()).then_some(value)
    }

    /// What they make, beside one alone.
    fn speed_up(&self) -> SpeedUp {
        let it = self.efficiency;
        SpeedUp::of_efficiency(self.workers as f64, [it.low, it.value, it.high])
    }

    /// Each has a CPU of its own.
    fn has_cpus(&self) -> bool {
        self.value(quantity::WORKERS_PER_CPU).is_none_or(|it| it <= 1.0)
    }

    fn words(&self) -> String {
        match (self.workers, self.of) {
            (1, "threads") => "1 thread".to_owned(),
            (1, _) => "1 process".to_owned(),
            (count, of) => format!("{count} {of}"),
        }
    }
}

/// The view of all operations of a result that several made at once.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let mut crowds: Vec<Crowd<'_>> = story.measured().filter_map(crowd).collect();
    crowds.small_sort_by_key(|crowd| crowd.workers);
    let kinds = grouped(&crowds, |crowd| (crowd.inner, crowd.of));
    let parts: Vec<Part> = kinds.iter().filter_map(|(_, here)| plot(story, here)).map(Part::from).collect();
    (!parts.is_empty()).then(|| View::new("SEVERAL AT ONCE", parts))
}

/// The curves of one operation: with objects of their own, and with one for all.
fn plot(story: &Story<'_>, crowds: &[&Crowd<'_>]) -> Option<Plot> {
    let first = crowds.first()?;
    let mut kinds = grouped(crowds.iter().copied(), |crowd| crowd.objects);
    kinds.small_sort_by_key(|kind| kind.0);
    let named = |(objects, here): (&str, _)| (story.plain(&format!("{objects} objects")), here);
    let curves: Vec<(String, Vec<&Crowd<'_>>)> = kinds.into_iter().map(named).collect();
    let mut counts: Vec<f64> = crowds.iter().map(|crowd| crowd.workers as f64).collect();
    counts.dedup();
    let ends = crowds.iter().flat_map(|crowd| crowd.speed_up().of);
    let drawn = curves.iter().map(|(name, crowds)| {
        let point = |crowd: &&Crowd<'_>| Point { x: crowd.workers as f64, y: crowd.speed_up().of };
        Curve::of_dots(name.clone(), crowds.iter().map(point).collect())
    });
    let y = Axis::fitting("operations, beside those of one alone", "ratio", 30.0, ends)?;
    let chart = Curves::of(Axis::even(first.of, "count", &counts), y, drawn.collect(), Names::Own);
    let found: Vec<String> = curves.iter().filter_map(|(name, crowds)| finding(name, crowds)).collect();
    let finding = format!("{}: {}", story.plain(first.inner), found.first()?);
    Some(Plot {
        note: found.iter().skip(1).chain(&crowded(crowds)).cloned().collect::<Vec<_>>().join(" "),
        letters: letters(&curves, story.unicode),
        ..Plot::of(finding, chart, table(first.of, &curves))
    })
}

/// What the most make, and where the knee lies.
fn finding(name: &str, crowds: &[&Crowd<'_>]) -> Option<String> {
    let with_cpus: Vec<&&Crowd<'_>> = crowds.iter().filter(|crowd| crowd.has_cpus()).collect();
    let most = with_cpus.last().or(crowds.last().as_ref()).copied()?;
    let [low, speed_up, high] = most.speed_up().of.map(|it| numbers::ratio(it, None));
    let efficiency = numbers::significant(most.efficiency.value);
    let told = format!(
        "{} with {name} make {speed_up} ({low} .. {high}) what one makes, efficiency {efficiency}",
        most.words()
    );
    // More workers than CPUs only wait for one another.
    let points: Vec<SpeedUp> = with_cpus.iter().map(|crowd| crowd.speed_up()).collect();
    let knee = match (knee(&points), points.as_slice()) {
        (_, [] | [_]) => String::new(),
        (None, _) => format!("; no knee up to {}", most.words()),
        (Some(found), _) => {
            let to = found.to.map_or_else(|| format!("beyond {}", most.workers), |to| to.to_string());
            match found.at {
                Some(at) => format!("; knee at {at} (from {} to {to})", found.from),
                None => format!("; no knee up to {} (from {} to {to})", most.words(), found.from),
            }
        }
    };
    Some(format!("{told}{knee}."))
}

/// What is said where there are more workers than CPUs.
fn crowded(crowds: &[&Crowd<'_>]) -> Option<String> {
    let first = crowds.iter().find(|crowd| !crowd.has_cpus())?;
    Some(format!("From {} on, several share a CPU.", first.words()))
}

fn table(of: &str, curves: &[(String, Vec<&Crowd<'_>>)]) -> Table {
    let rows = curves.iter().flat_map(|(name, crowds)| crowds.iter().map(move |crowd| (name, crowd)));
    let rows = rows.map(|(name, crowd)| {
        let duration = |name| crowd.value(name).map_or(String::new(), numbers::duration);
        let number = |name| crowd.value(name).map_or(String::new(), numbers::significant);
        let rate = crowd.value(quantity::TIME_PER_OPERATION).map_or(String::new(), per_second);
        let [low, _, high] = crowd.speed_up().of.map(|it| it / crowd.workers as f64);
        vec![
            crowd.workers.to_string(),
            name.clone(),
            rate,
            duration(quantity::TIME_PER_OPERATION),
            duration(quantity::ALONE),
            numbers::significant(crowd.efficiency.value),
            format!("{} .. {}", numbers::significant(low), numbers::significant(high)),
            number(quantity::FAIRNESS),
            number(quantity::WORKERS_PER_CPU),
        ]
    });
    let heads = [
        of,
        "",
        "operations/s",
        "all together",
        "one alone",
        "efficiency",
        "interval",
        "fairness",
        "per CPU",
    ];
    Table::new(heads, rows)
}

/// So many a second, where each takes so long.
fn per_second(ns: f64) -> String {
    let rate = 1e9 / ns;
    let (scale, unit) = [(1e9, " G"), (1e6, " M"), (1e3, " k")]
        .into_iter()
        .find(|(scale, _)| rate >= *scale)
        .unwrap_or((1.0, ""));
    format!("{}{unit}", numbers::significant(rate / scale))
}

/// A bar for each figure, on one scale from 0.
fn letters(curves: &[(String, Vec<&Crowd<'_>>)], unicode: bool) -> Vec<String> {
    let all = || curves.iter().flat_map(|(_, crowds)| crowds);
    let most = all().map(|crowd| crowd.speed_up().of[1]).fold(0.0, f64::max);
    let value = |crowd: &Crowd<'_>| numbers::ratio(crowd.speed_up().of[1], None);
    let wide = all().map(|crowd| width(&crowd.words())).max().unwrap_or(0);
    let room = all().map(|crowd| width(&value(crowd))).max().unwrap_or(0);
    let bar = if unicode { "\u{2588}" } else { "#" };
    let mut lines = Vec::new();
    for (name, crowds) in curves {
        lines.push(format!("{}  {}  {name}", left("", wide), right("", room)));
        for crowd in crowds {
            let length = 1 + (crowd.speed_up().of[1] / most * (WIDEST - 1.0)).round() as usize;
            let (words, value) = (left(&crowd.words(), wide), right(&value(crowd), room));
            lines.push(format!("{words}  {value}  {}", bar.repeat(length)));
        }
    }
    lines
}
