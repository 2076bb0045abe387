//! The runs of a store: when, where, under which conditions; and each figure over time as a strip with its intervals.

use std::collections::BTreeMap;

use oscost_results::{Estimate, Outline};

use super::picture;
use crate::blocks::Place::{Below, Left, Spare};
use crate::blocks::{Part, Table, View};
use crate::numbers;
use crate::words::{counted, left, plain, width};

/// Figures whose whole range is smaller have not moved: 2 %, as for a verdict.
pub(super) const STILL: f64 = 0.02;

/// Most runs that are listed where a figure is one line, the newest.
const LISTED: usize = 12;

/// The list of `runs`, named and oldest first, and what became of each figure over them, in lines of `columns` letters.
pub(crate) fn view(runs: &[(String, Outline)], columns: usize, unicode: bool) -> View {
    let words = |[name, told]: [String; 2]| Part::Words(format!("{name}  {told}"));
    let listed = listed(runs, unicode).into_iter().map(words);
    let parts = listed.chain(figures(runs, columns, unicode)).collect();
    View::new(title(runs), parts)
}

/// The newest of `runs`, and what became of each figure, a line each.
pub(crate) fn lines(runs: &[(String, Outline)], columns: usize, unicode: bool) -> View {
    let older = runs.len().saturating_sub(LISTED);
    let more = (older > 0).then(|| Part::Words(format!("{older} older ones: --verbose lists them")));
    let listed = listed(&runs[older..], unicode).into_iter().map(Vec::from);
    let mut parts: Vec<Part> = more.into_iter().collect();
    parts.push(Part::Table(Table::of([("", Left), ("", Below)], listed)));
    // The name and the range take the rest.
    let room = columns / 5;
    let (lines, hidden, is_cut) = of_figures(runs, room, unicode);
    if lines.is_empty() {
        parts.push(Part::Answer(none(room, hidden)));
    } else {
        let count = counted(lines.len(), "figure", "figures");
        let rows = lines.into_iter().map(|line| vec![line.name, line.strip, line.range, line.last]);
        let columns = [("figure", Left), ("runs", Left), ("range", Left), ("", Spare)];
        parts.push(Part::Table(Table::of(columns, rows)));
        let newest = if is_cut { format!(", the newest {room}") } else { String::new() };
        let answer = format!(
            "{count}; one sign a run that measured it{newest}, from low to high; --verbose: intervals"
        );
        parts.push(Part::Answer(std::iter::once(answer).chain(of_older(hidden)).collect()));
    }
    View::new(title(runs), parts)
}

/// What is said where nothing was measured twice in the runs that have room.
fn none(room: usize, hidden: usize) -> Vec<String> {
    let of = if hidden == 0 { "two runs".to_owned() } else { format!("two of the newest {room} runs") };
    std::iter::once(format!("No figure was measured in {of}.")).chain(of_older(hidden)).collect()
}

/// Figures that were measured twice in older runs alone or together with them, and how to see these.
fn of_older(hidden: usize) -> Option<String> {
    let figures = counted(hidden, "figure needs", "figures need");
    (hidden > 0).then(|| format!("{figures} older runs: --only ID shows one, --format html all"))
}

fn title(runs: &[(String, Outline)]) -> String {
    format!("{}, oldest first", counted(runs.len(), "run", "runs"))
}

/// Of each run its name, and what it is.
fn listed(runs: &[(String, Outline)], unicode: bool) -> Vec<[String; 2]> {
    let say = |text: &str| plain(text, unicode);
    let mut all = Vec::new();
    let mut before = String::new();
    for (name, run) in runs {
        let place = [&run.machine.cpu_model, &run.conditions.kernel, &run.tool.version];
        let place = place.map(|text| say(text)).join(", ");
        // Said once for all the runs that share it.
        let told = if place == before { String::new() } else { format!("   {place}") };
        before = place;
        let figures = counted(run.figures.len(), "figure", "figures");
        let effort = say(&run.plan.effort);
        let partial = if run.partial { ", partial" } else { "" };
        let note = run.note.as_deref().map_or(String::new(), |note| format!("   {}", say(note)));
        all.push([say(name), format!("{figures}, {effort}{partial}{told}{note}")]);
    }
    all
}

/// Each figure of two runs or more: one sign a run, of the newest `room` runs. Then how many of them have fewer than two of these,
/// and whether older runs have no room. Of one id alone the room is for runs that have a number of it: all that is left to ask for.
fn of_figures(runs: &[(String, Outline)], room: usize, unicode: bool) -> (Vec<HistoryLine>, usize, bool) {
    // Bills have no figures, and take no room. The runs are gone through once, however many there are.
    let runs: Vec<&Outline> = runs.iter().map(|(_, run)| run).filter(|run| !run.figures.is_empty()).collect();
    let mut newest: BTreeMap<&str, u32> = BTreeMap::new();
    for figure in runs.iter().flat_map(|run| &run.figures) {
        let revision = newest.entry(&figure.id).or_default();
        *revision = figure.revision.max(*revision);
    }
    // Instructions and times of one id are two figures.
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut known: BTreeMap<(&str, &str), HistoryStrip> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        // Another revision is another method: the newest is shown, and nothing beside it.
        for figure in run.figures.iter().filter(|it| newest.get(it.id.as_str()) == Some(&it.revision)) {
            let Some((estimate, unit)) = figure.quoted() else { continue };
            let key = (figure.id.as_str(), unit);
            let strip = known.entry(key).or_insert_with(|| {
                order.push(key);
                HistoryStrip { unit: unit.to_owned(), estimates: vec![None; runs.len()] }
            });
            strip.estimates[index] = Some(estimate);
        }
    }
    if newest.len() == 1 && runs.len() > room {
        known.values_mut().for_each(|strip| strip.estimates.retain(Option::is_some));
    }
    let is_cut = known.values().any(|strip| strip.estimates.len() > room);
    let line = |key: &(&str, &str)| {
        let strip = known.get(key)?;
        strip.line(key.0, strip.estimates.len().saturating_sub(room), unicode)
    };
    let lines: Vec<HistoryLine> = order.iter().filter_map(line).collect();
    let several = known.values().filter(|strip| strip.estimates.iter().flatten().count() > 1).count();
    let hidden = several - lines.len();
    (lines, hidden, is_cut)
}

/// Each figure over the runs, with its intervals.
fn figures(runs: &[(String, Outline)], columns: usize, unicode: bool) -> Vec<Part> {
    // As many runs as a line has room for: the newest.
    let room = columns.saturating_sub(6);
    let (lines, hidden, is_cut) = of_figures(runs, room, unicode);
    if lines.is_empty() {
        return vec![Part::Answer(none(room, hidden))];
    }
    let which = if is_cut { format!("the newest {room} runs") } else { "these runs".to_owned() };
    let mut parts = vec![Part::Words(format!(
        "figures over {which}, one sign a run that measured it, from the lowest to the highest value; \
         then the range, and the last one with its interval; below, where one is over 1 %, how wide the interval of each \
         is either way, in percent (9: over 8; ?: fewer than 6 launches)"
    ))];
    let names = lines.iter().map(|line| width(&line.name)).max().unwrap_or(0);
    let strips = lines.iter().map(|line| width(&line.strip)).max().unwrap_or(0);
    for line in lines {
        let range = line.whole();
        let HistoryLine { name, strip, intervals, .. } = line;
        let is_beside = 2 + names + 2 + strips + 2 + width(&range) <= columns;
        let indent = if is_beside { names + 2 } else { 4 };
        let intervals = intervals.map(|intervals| format!("{}{intervals}", " ".repeat(indent)));
        let first = if is_beside {
            format!("{}  {}  {range}", left(&name, names), left(&strip, strips))
        } else {
            format!("    {strip}")
        };
        let picture = Part::Picture(std::iter::once(first).chain(intervals).collect());
        if is_beside {
            parts.push(picture);
        } else {
            parts.extend([Part::Words(name), picture, Part::Remarks(vec![range])]);
        }
    }
    parts.extend(of_older(hidden).map(|words| Part::Answer(vec![words])));
    parts
}

/// What is shown of a figure.
struct HistoryLine {
    name: String,
    strip: String,
    range: String,
    /// The last value with its interval; empty where the range says it.
    last: String,
    /// Half-widths, a digit a run, where one of them is worth it.
    intervals: Option<String>,
}

impl HistoryLine {
    /// The range and the last value.
    fn whole(&self) -> String {
        let parts = [&*self.range, &*self.last];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

/// One figure over the runs.
struct HistoryStrip {
    unit: String,
    estimates: Vec<Option<Estimate>>,
}

impl HistoryStrip {
    /// The runs from number `first` on, if it was measured in at least two of them.
    fn line(&self, id: &str, first: usize, unicode: bool) -> Option<HistoryLine> {
        let estimates = self.estimates.get(first..)?;
        let values: Vec<f64> = estimates.iter().flatten().map(|estimate| estimate.value).collect();
        let (low, high) = numbers::ends(values.iter().copied());
        if values.len() < 2 {
            return None;
        }
        let unit = plain(&self.unit, unicode);
        let still = low > 0.0 && high / low - 1.0 <= STILL;
        let span = if still { 0.0 } else { high - low };
        let strip = picture::course(estimates.iter().map(|it| Some(it.as_ref()?.value)), low, span, unicode);
        let last = estimates.iter().flatten().last().filter(|_| !still).map_or(String::new(), |last| {
            let interval = numbers::in_brackets(last, &unit, unicode);
            format!("last {} {interval}", numbers::quantity(last.value, &unit))
        });
        let range = if still {
            format!("{} throughout", numbers::quantity(values[values.len() - 1], &unit))
        } else {
            numbers::range(low, high, &unit)
        };
        let intervals: String = estimates.iter().map(digit).collect();
        let wide = intervals.chars().any(|digit| !matches!(digit, ' ' | '1'));
        let name = plain(id, unicode);
        Some(HistoryLine { name, strip, range, last, intervals: wide.then_some(intervals) })
    }
}

/// The half-width of an interval in whole percent, rounded up.
fn digit(estimate: &Option<Estimate>) -> char {
    let Some(estimate) = estimate else { return ' ' };
    if estimate.extremes {
        return '?';
    }
    let percent = (estimate.high - estimate.low) / 2.0 / estimate.value.abs() * 100.0;
    // A share of zero is none: an interval without a width is as narrow as can be, any other one is wide.
    if percent.is_nan() { '1' } else { char::from(b'0' + percent.ceil().clamp(1.0, 9.0) as u8) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(value: f64, percent: f64) -> Estimate {
        let half = value.abs() * percent / 100.0;
        Estimate { value, low: value - half, high: value + half, extremes: false }
    }

    #[test]
    fn a_half_width_is_a_digit_rounded_up() {
        let of = |percent: f64| digit(&Some(within(100.0, percent)));
        assert_eq!(
            [0.0, 0.5, 1.0, 1.5, 2.0, 7.5, 8.0, 8.5, 90.0].map(of),
            ['1', '1', '1', '2', '2', '8', '8', '9', '9']
        );
        assert_eq!(digit(&Some(within(-100.0, 3.5))), '4');
        assert_eq!((digit(&None), digit(&Some(within(0.0, 0.0)))), (' ', '1'));
        assert_eq!(
            digit(&Some(Estimate { low: -1.0, high: 1.0, ..within(0.0, 0.0) })),
            '9',
            "any width of nothing"
        );
        assert_eq!(digit(&Some(Estimate { extremes: true, ..within(1.0, 9.0) })), '?');
    }

    /// The line of a figure that had these values, known to so many per cent.
    fn line(values: &[Option<f64>], percent: f64, first: usize) -> Option<HistoryLine> {
        let estimates = values.iter().map(|value| value.map(|value| within(value, percent))).collect();
        HistoryStrip { unit: "ns".to_owned(), estimates }.line("a", first, true)
    }

    #[test]
    fn letters_rise_from_the_lowest_value_to_the_highest() {
        let letters = picture::letters(true);
        let values: Vec<Option<f64>> = (0..8).map(|step| Some(100.0 + f64::from(step))).collect();
        let all = line(&values, 0.5, 0).expect("eight runs");
        assert_eq!(all.strip.chars().collect::<Vec<_>>(), letters);
        assert_eq!((&*all.whole(), all.intervals), ("100 .. 107 ns; last 107 ns ± 0.5 %", None));
        let some = line(&[Some(100.0), None, Some(107.0), Some(103.0), None], 1.9, 0).expect("three runs");
        let expected = [letters[0], ' ', letters[7], letters[3], ' '];
        assert_eq!(some.strip.chars().collect::<Vec<_>>(), expected);
        assert_eq!(some.intervals.as_deref(), Some("2 22 "));
        assert_eq!(some.last, "last 103 ns ± 1.9 %");
    }

    #[test]
    fn what_moved_by_less_than_two_per_cent_is_still() {
        let range = |values: [f64; 2]| line(&values.map(Some), 0.5, 0).expect("two runs").whole();
        assert_eq!(range([100.0, 101.9]), "102 ns throughout");
        assert_eq!(range([0.5, 0.505]), "0.505 ns throughout");
        assert!(range([100.0, 102.1]).starts_with("100 .. 102 ns; last"));
        assert!(range([100.0, 102.9]).starts_with("100 .. 103 ns; last"));
        let still = line(&[Some(100.0), Some(101.9)], 0.5, 0).expect("two runs").strip;
        assert!(still.chars().all(|letter| letter == picture::letters(true)[0]), "{still}");
    }

    #[test]
    fn a_figure_of_fewer_than_two_runs_that_are_shown_has_no_line() {
        let values = [Some(1.0), Some(1.0), None, Some(1.0)];
        assert!(line(&values, 0.5, 0).is_some() && line(&values, 0.5, 1).is_some());
        assert!(line(&values, 0.5, 2).is_none() && line(&values, 0.5, 4).is_none());
        assert_eq!(line(&values, 0.5, 1).expect("two").strip.chars().count(), 3);
        assert!(line(&values, 0.5, 9).is_none());
    }
}
