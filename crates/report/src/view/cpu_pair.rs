//! Pairs of CPUs: how long each takes to tell the other something, as a matrix with a shade for each time.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Estimate, Figure, Parameter, quantity};
use oscost_stats::quantile::{median, sorted};

use crate::blocks::{Heat, Part, Plot, Table, View};
use crate::numbers;
use crate::view::story::Story;
use crate::words::{grouped, width};

/// Two directions that differ by no more are alike, whatever their intervals say: as much as `compare` asks about by default.
const ALIKE: f64 = 0.05;
/// Pairs that are named where their directions differ.
const MOST_NAMED: usize = 5;
/// What two CPUs share, as parameters name it, and in words.
const SHARED: [(&str, &str); 4] =
    [("core", "one core"), ("cache", "one cache"), ("node", "one node"), ("machine", "the machine alone")];

/// A measured pair.
struct Pair<'a> {
    figure: &'a Figure,
    /// "wake_up".
    what: &'a str,
    from: u64,
    to: u64,
    share: Option<&'a str>,
    time: Estimate,
}

fn pair(figure: &Figure) -> Option<Pair<'_>> {
    if figure.family != "cpu_pair" {
        return None;
    }
    let number = |name| figure.parameter(name).and_then(Parameter::number);
    let time = [quantity::LATENCY_P50, quantity::TYPICAL]
        .into_iter()
        .find_map(|name| figure.quantities.get(name))
        .map(|quantity| quantity.estimate)
        .filter(|time| time.value > 0.0 && time.value.is_finite())?;
    let share = figure.parameter("share").and_then(Parameter::text);
    let what = figure.id.split('/').nth(1)?;
    Some(Pair { figure, what, from: number("from")?, to: number("to")?, share, time })
}

/// The view of all pairs of a result whose CPUs are named.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let pairs: Vec<Pair<'_>> = story.measured().filter_map(pair).collect();
    if pairs.is_empty() {
        return None;
    }
    let whats = grouped(&pairs, |pair| pair.what);
    let parts = whats.into_iter().flat_map(|(what, here)| told(story, what, &here));
    let covers = pairs.iter().map(|pair| pair.figure.id.clone()).collect();
    Some(View { title: "PAIRS OF CPUS".to_owned(), covers, parts: parts.collect() })
}

/// A matrix of more CPUs has more cells than a file has figures, and no screen has their columns.
const MOST_CPUS: usize = 64;

/// One operation: the matrix, what distance does to it, and whether both directions agree.
fn told(story: &Story<'_>, what: &str, pairs: &[&Pair<'_>]) -> Vec<Part> {
    let times = sorted(pairs.iter().map(|pair| pair.time.value).collect());
    let (least, most) = (times[0], times[times.len() - 1]);
    let unit = common_unit(least, most);
    let operation = pairs.first().map_or("", |pair| &pair.figure.operation);
    let about = format!("{}: {}", story.words(what), story.plain(operation));
    let cpus: BTreeSet<u64> = pairs.iter().flat_map(|pair| [pair.from, pair.to]).collect();
    let rest = [Part::Table(by_distance(pairs)), agreed(story, pairs)];
    if cpus.len() > MOST_CPUS {
        let words = format!("{about}. A matrix of {} CPUs is too wide to read.", cpus.len());
        return std::iter::once(Part::Words(words)).chain(rest).collect();
    }
    let known: BTreeMap<(u64, u64), &Pair<'_>> =
        pairs.iter().rev().map(|pair| ((pair.from, pair.to), *pair)).collect();
    let cell = |from: u64, to: u64| {
        let time = known.get(&(from, to))?.time.value;
        let text = match unit {
            Some((_, scale)) => numbers::significant(time / scale),
            None => numbers::duration(time),
        };
        Some((darkness(time, least, most), text))
    };
    let cells: Vec<Vec<Option<(f64, String)>>> =
        cpus.iter().map(|&from| cpus.iter().map(|&to| cell(from, to)).collect()).collect();
    let names: Vec<String> = cpus.iter().map(u64::to_string).collect();
    let said = |row: &[Option<(f64, String)>]| -> Vec<String> {
        row.iter().map(|cell| cell.as_ref().map_or("-".to_owned(), |(_, text)| text.clone())).collect()
    };
    let heads = std::iter::once("CPU").chain(names.iter().map(String::as_str));
    let rows = names.iter().zip(&cells).map(|(name, row)| [vec![name.clone()], said(row)].concat());
    let table = Table::new(heads, rows);
    let shades =
        if story.unicode { ['\u{2591}', '\u{2592}', '\u{2593}', '\u{2588}'] } else { ['.', ':', '+', '#'] };
    let letters = letters(&names, &cells, shades);
    let finding = format!(
        "{}. Cells{}, from the CPU of the row to that of the column",
        numbers::range(least, most, "ns"),
        unit.map_or(String::new(), |(name, _)| format!(" in {name}")),
    );
    let matrix = Plot::of(finding, Heat { names, what: "CPU", cells }, table);
    std::iter::once(Part::from(Plot { about, letters, ..matrix })).chain(rest).collect()
}

/// CPUs up to which each cell shows its time; beyond, a cell is a shade alone.
const READABLE: usize = 8;

/// The matrix in lines of letters, and what its shades mean.
fn letters(names: &[String], cells: &[Vec<Option<(f64, String)>>], shades: [char; 4]) -> Vec<String> {
    let shade = |dark: f64| shades[((4.0 * dark) as usize).min(3)];
    let is_readable = names.len() <= READABLE;
    let texts = cells.iter().flatten().flatten().map(|(_, text)| width(text));
    let widest = texts.chain(names.iter().map(|name| width(name))).max().unwrap_or(0);
    let first = width("CPU").max(names.iter().map(|name| width(name)).max().unwrap_or(0));
    let row =
        |head: &str, cells: Vec<String>| format!("{head:>first$}  {}", cells.concat()).trim_end().to_owned();
    let line = |(name, row_cells): (&String, &Vec<Option<(f64, String)>>)| {
        let cell = |cell: &Option<(f64, String)>| match cell {
            Some((dark, text)) if is_readable => format!("{text:>widest$} {}  ", shade(*dark)),
            Some((dark, _)) => shade(*dark).to_string(),
            None if is_readable => format!("{:>widest$}    ", "-"),
            None => " ".to_owned(),
        };
        row(name, row_cells.iter().map(cell).collect())
    };
    let heads = if is_readable {
        names.iter().map(|name| format!("{name:>widest$}    ")).collect()
    } else {
        vec![format!("{} to {}, a column each", names[0], names[names.len() - 1])]
    };
    let told = format!("{}: the darker, the longer", shades.map(String::from).concat());
    std::iter::once(row("CPU", heads)).chain(names.iter().zip(cells).map(line)).chain([told]).collect()
}

/// The unit in which all times have few digits, and its ns; `None` where each needs its own.
fn common_unit(least: f64, most: f64) -> Option<(&'static str, f64)> {
    const DIGITS: f64 = 1e5;
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6)];
    units.into_iter().rev().find(|(_, scale)| least >= *scale).filter(|(_, scale)| most < DIGITS * scale)
}

/// The scale from the palest shade to the darkest is at least this ratio: times that differ by noise alone look alike.
const SCALE: f64 = 2.0;

/// How dark a time is, 0 to 1, on a scale of ratios.
fn darkness(time: f64, least: f64, most: f64) -> f64 {
    let place = (time / least).ln() / (most / least).max(SCALE).ln();
    if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
}

/// The times of those that share the same.
fn by_distance(pairs: &[&Pair<'_>]) -> Table {
    let row = |(share, words): (Option<&str>, &str)| {
        let times =
            sorted(pairs.iter().filter(|pair| pair.share == share).map(|pair| pair.time.value).collect());
        let (first, last) = (*times.first()?, *times.last()?);
        let middle = numbers::duration(median(&times)?);
        let count = times.len().to_string();
        Some(vec![words.to_owned(), count, numbers::duration(first), middle, numbers::duration(last)])
    };
    let kinds = SHARED.into_iter().map(|(share, words)| (Some(share), words));
    let rows = kinds.chain([(None, "unknown")]).filter_map(row);
    Table::new(["both share", "directions", "shortest", "median", "longest"], rows)
}

/// Whether a pair takes as long in one direction as in the other.
fn agreed(story: &Story<'_>, pairs: &[&Pair<'_>]) -> Part {
    let known: BTreeMap<(u64, u64), &Pair<'_>> =
        pairs.iter().rev().map(|pair| ((pair.from, pair.to), *pair)).collect();
    let back = |pair: &Pair<'_>| known.get(&(pair.to, pair.from)).copied();
    let there = pairs.iter().filter(|pair| pair.from < pair.to);
    let both: Vec<(&Pair<'_>, &Pair<'_>)> = there.filter_map(|pair| Some((*pair, back(pair)?))).collect();
    let differ: Vec<&(&Pair<'_>, &Pair<'_>)> =
        both.iter().filter(|(there, back)| !alike(there.time, back.time)).collect();
    if differ.is_empty() {
        let words = match both.len() {
            0 => "No pair was measured in both directions.".to_owned(),
            1 => "Both directions of the pair agree within noise.".to_owned(),
            count => format!("Both directions of all {count} pairs agree within noise."),
        };
        return Part::Words(words);
    }
    let named = differ.iter().take(MOST_NAMED).map(|(there, back)| {
        let [time, other] = [there, back].map(|pair| numbers::duration(pair.time.value));
        format!("CPU {} to {} {time}, back {other}", there.from, there.to)
    });
    let named = named.collect::<Vec<_>>().join("; ");
    let of = format!("{} of {}", differ.len(), both.len());
    Part::Warning(story.plain(&format!("The directions differ beyond noise in {of} pairs: {named}.")))
}

/// Their intervals meet, or they differ by no more than a threshold.
fn alike(one: Estimate, other: Estimate) -> bool {
    let meet = one.low <= other.high && other.low <= one.high;
    meet || (one.value / other.value - 1.0).abs() <= ALIKE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_follow_ratios() {
        assert_eq!([50.0, 200.0, 800.0].map(|time| darkness(time, 50.0, 800.0)), [0.0, 0.5, 1.0]);
        assert_eq!(darkness(50.0, 50.0, 50.0), 0.0, "one time alone");
        assert!(
            darkness(51.0, 50.0, 51.0) < 0.05,
            "2 % are no difference between the palest and the darkest"
        );
        let shades = |count: usize| {
            let names: Vec<String> = (0..count).map(|it| it.to_string()).collect();
            let cell = |at: usize| Some((at as f64 / count as f64, "12".to_owned()));
            letters(&names, &vec![(0..count).map(cell).collect(); count], ['.', ':', '+', '#'])
        };
        assert_eq!(shades(4)[1], "  0  12 .  12 :  12 +  12 #");
        assert_eq!(shades(16)[1], "  0  ....::::++++####", "a cell of many is its shade alone");
    }

    #[test]
    fn times_have_one_unit_unless_they_are_worlds_apart() {
        assert_eq!(common_unit(26.0, 120.0).map(|it| it.0), Some("ns"));
        assert_eq!(common_unit(2000.0, 18_000.0).map(|it| it.0), Some("us"));
        assert_eq!(common_unit(2.6e6, 9.0e6).map(|it| it.0), Some("ms"));
        assert_eq!(common_unit(236.0, 1.6e7), None);
        assert_eq!(common_unit(0.4, 0.5), None);
    }

    #[test]
    fn directions_are_alike_within_noise() {
        let of = |value: f64, share: f64| Estimate {
            value,
            low: value * (1.0 - share),
            high: value * (1.0 + share),
            extremes: false,
        };
        assert!(alike(of(100.0, 0.01), of(104.0, 0.01)), "within the threshold");
        assert!(alike(of(100.0, 0.1), of(115.0, 0.1)), "the intervals meet");
        assert!(!alike(of(100.0, 0.01), of(110.0, 0.01)));
        assert!(!alike(of(110.0, 0.01), of(100.0, 0.01)));
    }
}
