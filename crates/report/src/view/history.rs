//! The runs of a store: when, where, under which conditions; and each figure over time as a strip with its intervals.

use std::collections::BTreeMap;

use oscost_results::document::FOUNDING_DOCUMENTS;
use oscost_results::{Estimate, Outline};

use super::picture;
use crate::blocks::Place::{Below, Left, Spare};
use crate::blocks::{Part, Table, View};
use crate::numbers;
use crate::words::{counted, left, plain, width};

/// Figures whose whole range is smaller have not moved: 2 %, as for a verdict.
pub(super) const STILL: f64 = 0.02;

/// What is said of a figure that has not moved.
const THROUGHOUT: &str = "throughout";

/// Most runs that are listed where a figure is one line, the newest.
const LISTED: usize = 12;
/// Columns before a run, as before every paragraph.
const INDENT: usize = 2;
/// What is longer, as a program with its arguments may be, does not widen the column of all runs.
const NAMED: usize = 48;

/// The list of `runs`, named and oldest first, and what became of each figure over them, in lines of `columns` letters.
pub(crate) fn view(runs: &[(String, Outline)], columns: usize, unicode: bool) -> View {
    let parts = listed(runs, columns, unicode).into_iter().chain(figures(runs, columns, unicode)).collect();
    View::new(title(runs), parts)
}

/// The newest of `runs`, and what became of each figure, a line each.
pub(crate) fn lines(runs: &[(String, Outline)], columns: usize, unicode: bool) -> View {
    let older = runs.len().saturating_sub(LISTED);
    let more = (older > 0).then(|| Part::Words(format!("{older} older ones: --verbose lists them")));
    let mut parts: Vec<Part> = more.into_iter().collect();
    let rows = rows(&runs[older..], unicode);
    let whats = room(rows.iter().map(|row| &row.what));
    let listed = rows
        .iter()
        .map(|row| vec![row.name.clone(), format!("{}  {}", left(&row.what, whats), row.more.join("; "))]);
    parts.push(Part::Table(Table::of([("", Left), ("", Below)], listed)));
    // The name and the range take the rest.
    let room = columns / 5;
    let (lines, is_cut) = of_figures(runs, room, unicode);
    if lines.is_empty() {
        parts.push(none());
    } else {
        let count = counted(lines.len(), "figure", "figures");
        let rows = lines.into_iter().map(|line| vec![line.name, line.strip, line.range, line.last]);
        let columns = [("figure", Left), ("runs", Left), ("range", Left), ("", Spare)];
        parts.push(Part::Table(Table::of(columns, rows)));
        let newest = if is_cut { format!(", the newest {room}") } else { String::new() };
        parts.push(Part::Answer(vec![format!(
            "{count}: range of all runs; one sign a run that measured it{newest}, from low to high; --verbose: intervals"
        )]));
    }
    View::new(title(runs), parts)
}

/// What is said where nothing was measured twice.
fn none() -> Part {
    Part::Answer(vec!["No figure was measured in two runs.".to_owned()])
}

fn title(runs: &[(String, Outline)]) -> String {
    format!("{}, oldest first", counted(runs.len(), "run", "runs"))
}

/// A run in a list.
struct Listed {
    name: String,
    what: String,
    /// Its note, and where it was measured unless that is said of the run before.
    more: Vec<String>,
}

fn rows(runs: &[(String, Outline)], unicode: bool) -> Vec<Listed> {
    let say = |text: &str| plain(text, unicode);
    let mut before = String::new();
    let row = |(name, run): &(String, Outline)| {
        let place = [&run.machine.cpu_model, &run.conditions.kernel, &run.tool.version];
        let place = place.map(|text| say(text)).join(", ");
        let told = (place != before).then(|| place.clone());
        before = place;
        let note = run.note.as_deref().map(say).filter(|note| !note.is_empty());
        Listed { name: say(name), what: say(&what(run)), more: note.into_iter().chain(told).collect() }
    };
    runs.iter().map(row).collect()
}

/// Letters of the widest that does not widen the column of all.
fn room<'t>(texts: impl Iterator<Item = &'t String>) -> usize {
    texts.map(|text| width(text)).filter(|it| *it <= NAMED).max().unwrap_or(0)
}

/// A line a run; what has no room in `columns` stands below it.
fn listed(runs: &[(String, Outline)], columns: usize, unicode: bool) -> Vec<Part> {
    let rows = rows(runs, unicode);
    let (names, whats) = (room(rows.iter().map(|row| &row.name)), room(rows.iter().map(|row| &row.what)));
    let mut parts = Vec::new();
    for Listed { name, what, more } in rows {
        let line = format!("{}  {}", left(&name, names), left(&what, whats));
        let whole = format!("{line}  {}", more.join("; "));
        if INDENT + width(whole.trim_end()) <= columns {
            parts.push(Part::words(whole.trim_end()));
        } else if INDENT + width(line.trim_end()) <= columns {
            parts.extend([Part::words(line.trim_end()), Part::Remarks(more)]);
        } else {
            let below = std::iter::once(what).chain(more).collect();
            parts.extend([Part::words(name), Part::Remarks(below)]);
        }
    }
    parts
}

/// What a run is: a bill of a program, or so many figures, and of which document.
fn what(run: &Outline) -> String {
    if let Some(bill) = &run.bill {
        return format!("bill of {}", bill.program.join(" "));
    }
    let figures = counted(run.figures.len(), "figure", "figures");
    let number = |name: &String| FOUNDING_DOCUMENTS.iter().find(|it| it.name == name).map(|it| it.number);
    let mut documents: Vec<&str> = run.documents.iter().map(|name| number(name).unwrap_or(name)).collect();
    documents.sort_unstable();
    let documents = documents.join(", ");
    let documents = if documents.is_empty() { documents } else { format!(", document {documents}") };
    let partial = if run.partial { ", partial" } else { "" };
    format!("{figures}, {}{}{partial}", run.plan.effort, documents)
}

/// Each figure of two runs or more, and whether not every run has room for a sign: the newest `room` have. Of one id alone the room
/// is for runs that have a number of it: all that is left to ask for.
fn of_figures(runs: &[(String, Outline)], room: usize, unicode: bool) -> (Vec<HistoryLine>, bool) {
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
                HistoryStrip { unit: unit.to_owned(), runs: runs.len(), estimates: Vec::new() }
            });
            strip.estimates.push((index, estimate));
        }
    }
    if newest.len() == 1 && runs.len() > room {
        for strip in known.values_mut() {
            strip.runs = strip.estimates.len();
            strip.estimates.iter_mut().enumerate().for_each(|(at, (index, _))| *index = at);
        }
    }
    let is_cut = known.values().any(|strip| strip.runs > room);
    let line = |key: &(&str, &str)| known.get(key)?.line(key.0, room, unicode);
    (order.iter().filter_map(line).collect(), is_cut)
}

/// Each figure over the runs, with its intervals.
fn figures(runs: &[(String, Outline)], columns: usize, unicode: bool) -> Vec<Part> {
    // As many runs as a line has room for: the newest.
    let room = columns.saturating_sub(6);
    let (lines, is_cut) = of_figures(runs, room, unicode);
    if lines.is_empty() {
        return vec![none()];
    }
    let newest = if is_cut { format!(", the newest {room} runs") } else { String::new() };
    let mut parts = vec![Part::Words(format!(
        "figures over these runs, one sign a run that measured it{newest}, from the lowest to the highest value; \
         then the range of all runs, and the last one with its interval; below, where one is over 1 %, how wide the interval of each \
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
    parts
}

/// What is shown of a figure.
struct HistoryLine {
    name: String,
    strip: String,
    range: String,
    /// The last value with its interval, or that the range is one value.
    last: String,
    /// Half-widths, a digit a run, where one of them is worth it.
    intervals: Option<String>,
}

impl HistoryLine {
    /// The range and the last value.
    fn whole(&self) -> String {
        let stop = if self.last == THROUGHOUT { "" } else { ";" };
        format!("{}{stop} {}", self.range, self.last)
    }
}

/// One figure over the runs.
struct HistoryStrip {
    unit: String,
    /// How many runs there are.
    runs: usize,
    /// Place of a run, and its estimate: those that have one.
    estimates: Vec<(usize, Estimate)>,
}

impl HistoryStrip {
    /// All runs, and a sign for each of the newest `room`, if it was measured in at least two.
    fn line(&self, id: &str, room: usize, unicode: bool) -> Option<HistoryLine> {
        let values: Vec<f64> = self.estimates.iter().map(|(_, estimate)| estimate.value).collect();
        let (low, high) = numbers::ends(values.iter().copied());
        if values.len() < 2 {
            return None;
        }
        let first = self.runs.saturating_sub(room);
        let mut signs: Vec<Option<Estimate>> = vec![None; self.runs - first];
        for (place, estimate) in &self.estimates {
            if let Some(sign) = place.checked_sub(first).and_then(|at| signs.get_mut(at)) {
                *sign = Some(*estimate);
            }
        }
        let unit = plain(&self.unit, unicode);
        let still = low > 0.0 && high / low - 1.0 <= STILL;
        let span = if still { 0.0 } else { high - low };
        let strip = picture::course(signs.iter().map(|it| Some(it.as_ref()?.value)), low, span, unicode);
        let last = self.estimates.last().filter(|_| !still).map_or(THROUGHOUT.to_owned(), |(_, last)| {
            let interval = numbers::in_brackets(last, &unit, unicode);
            format!("last {} {interval}", numbers::quantity(last.value, &unit))
        });
        let range = if still {
            numbers::quantity(values[values.len() - 1], &unit)
        } else {
            numbers::range(low, high, &unit)
        };
        let intervals: String = signs.iter().map(digit).collect();
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
    fn line(values: &[Option<f64>], percent: f64, room: usize) -> Option<HistoryLine> {
        let measured = values.iter().enumerate();
        let estimates = measured.filter_map(|(at, value)| Some((at, within((*value)?, percent)))).collect();
        HistoryStrip { unit: "ns".to_owned(), runs: values.len(), estimates }.line("a", room, true)
    }

    #[test]
    fn letters_rise_from_the_lowest_value_to_the_highest() {
        let letters = picture::letters(true);
        let values: Vec<Option<f64>> = (0..8).map(|step| Some(100.0 + f64::from(step))).collect();
        let all = line(&values, 0.5, 9).expect("eight runs");
        assert_eq!(all.strip.chars().collect::<Vec<_>>(), letters);
        assert_eq!((&*all.whole(), all.intervals), ("100 .. 107 ns; last 107 ns ± 0.5 %", None));
        let some = line(&[Some(100.0), None, Some(107.0), Some(103.0), None], 1.9, 9).expect("three runs");
        let expected = [letters[0], ' ', letters[7], letters[3], ' '];
        assert_eq!(some.strip.chars().collect::<Vec<_>>(), expected);
        assert_eq!(some.intervals.as_deref(), Some("2 22 "));
        assert_eq!(some.last, "last 103 ns ± 1.9 %");
    }

    #[test]
    fn what_moved_by_less_than_two_per_cent_is_still() {
        let range = |values: [f64; 2]| line(&values.map(Some), 0.5, 9).expect("two runs").whole();
        assert_eq!(range([100.0, 101.9]), "102 ns throughout");
        assert_eq!(range([0.5, 0.505]), "0.505 ns throughout");
        assert!(range([100.0, 102.1]).starts_with("100 .. 102 ns; last"));
        assert!(range([100.0, 102.9]).starts_with("100 .. 103 ns; last"));
        let still = line(&[Some(100.0), Some(101.9)], 0.5, 9).expect("two runs").strip;
        assert!(still.chars().all(|letter| letter == picture::letters(true)[0]), "{still}");
    }

    /// The range was that of the runs that had room for a sign: "throughout" of two of twenty-six.
    #[test]
    fn a_range_is_of_all_runs_however_few_have_room_for_a_sign() {
        let values = [Some(90.0), None, Some(120.0), Some(100.0), Some(100.0), None];
        for room in 0..9 {
            let line = line(&values, 0.5, room).expect("four runs");
            assert_eq!(line.whole(), "90.0 .. 120 ns; last 100 ns \u{b1} 0.5 %", "{room}");
            assert_eq!(line.strip.chars().count(), room.min(6));
        }
        let letters = picture::letters(true);
        let some = line(&values, 0.5, 3).expect("four runs").strip;
        assert_eq!(
            some.chars().collect::<Vec<_>>(),
            [letters[2], letters[2], ' '],
            "a sign stands in the range"
        );
    }

    #[test]
    fn a_figure_of_fewer_than_two_runs_has_no_line() {
        assert!(line(&[Some(1.0), None, Some(1.0)], 0.5, 1).is_some());
        assert!(line(&[None, Some(1.0)], 0.5, 9).is_none() && line(&[], 0.5, 9).is_none());
    }
}
