//! One figure in one line: its cells, its ratio, its marks. A number that cannot be is not shown; the line says why.

use oscost_results::{Estimate, Figure, Mark, PairedValue, Quantity, Status, Verdict, quantity};

use super::RowChoice;
use crate::blocks::Tone;
use crate::blocks::prices::Outcome;
use crate::blocks::screen::{Cells, Judges, Line, Missing, Note};
use crate::evidence::system_calls;
use crate::numbers;
use crate::view::story::{Story, headline};

/// Ends of an interval that are this many times apart say nothing.
const SCATTERED: f64 = 100.0;
/// What stands beside a row that nobody asked for.
const BESIDE: &str = "baseline only";
/// Counts of calls below this are the audit's own.
const NO_CALLS: f64 = 0.0005;

/// The line of `figure`, which is called `name` below its heading.
pub(super) fn line(story: &Story<'_>, figure: &Figure, name: String, choice: RowChoice) -> Line {
    let (mut said, mut first) = (Vec::new(), None);
    let cells = cells(story, figure, &mut said);
    let warnings = if cells.is_ok() { warnings(story, figure) } else { String::new() };
    let mut notes: Vec<Note> =
        Some(warnings).into_iter().chain(said).filter(|it| !it.is_empty()).map(Note::from).collect();
    if cells.is_ok() {
        let mut say = |words: String| notes.push(words.into());
        if story.result.is_baseline_only(&figure.id) {
            say(BESIDE.to_owned());
        }
        for (note, ratio) in ratios(story, figure) {
            say(note);
            first = first.or(ratio);
        }
        notes.extend(additions(story, figure));
        notes.extend(differences(story, figure).into_iter().map(Note::from));
    }
    let below = if choice.verbose { below(story, figure) } else { Vec::new() };
    Line { name, cells, notes, ratio: first, below }
}

/// What the audit found, and the marks: one note, and the first, for what does not fit is cut from the right.
fn warnings(story: &Story<'_>, figure: &Figure) -> String {
    let verdict = Some(figure.evidence.verdict).filter(|it| *it != Verdict::Checked).map(Verdict::name);
    let marks = figure.marks.iter().filter(|mark| is_of_a_row(story, **mark)).map(|mark| mark.words());
    verdict.into_iter().chain(marks).collect::<Vec<_>>().join("; ")
}

/// Everything that is noteworthy, in one paragraph.
fn below(story: &Story<'_>, figure: &Figure) -> Vec<String> {
    let row = story.row(figure, None);
    let why = match row.outcome {
        Outcome::Withheld { why, .. } => Some(why),
        Outcome::Measured(_) => None,
    };
    let all: Vec<String> = why.into_iter().chain(row.notes).chain(row.remarks).collect();
    if all.is_empty() { Vec::new() } else { vec![all.join("; ")] }
}

fn cells(story: &Story<'_>, figure: &Figure, notes: &mut Vec<String>) -> Result<Cells, Missing> {
    if figure.status != Status::Measured {
        let Outcome::Withheld { state, why } = story.outcome(figure) else {
            return Err(missing("no value", "the result holds none"));
        };
        let tone = if state == "unsupported" { Tone::Doubt } else { Tone::Bad };
        return Err(Missing { state, tone, why });
    }
    let series = headline(figure) != "floor";
    let Some(quoted) = figure.quantities.get(headline(figure)) else {
        return Err(missing("no value", "the result holds none"));
    };
    if !quoted.estimate.value.is_finite() {
        return Err(missing("no value", "it is no finite number"));
    }
    // A duration below nothing is no price; a difference or a count may be any number.
    if !series && quoted.estimate.value <= 0.0 {
        let why = "it came out at nothing or below: too little to be told from the loop";
        return Err(missing("no price", why));
    }
    let unit = story.plain(&quoted.unit);
    let mut cells = Cells {
        floor: numbers::quantity(quoted.estimate.value, &unit),
        floor_width: width(story, quoted, notes),
        judged: judges(figure),
        ..Cells::default()
    };
    if let Some(typical) = figure.quantities.get(quantity::TYPICAL).filter(|it| !series && is_price(it)) {
        cells.typical = numbers::quantity(typical.estimate.value, &story.plain(&typical.unit));
        cells.typical_width = width(story, typical, notes);
    } else if !series {
        "-".clone_into(&mut cells.typical);
    }
    cells.cycles = match figure.quantities.get(quantity::CYCLES).filter(|it| is_price(it)) {
        Some(cycles) => whole(cycles.estimate.value),
        None if series => String::new(),
        None => "-".to_owned(),
    };
    cells.calls = match system_calls(&figure.evidence) {
        None => "?".to_owned(),
        Some(calls) if calls < -NO_CALLS => {
            notes.push("calls came out below 0: not known".to_owned());
            "-".to_owned()
        }
        Some(calls) => self::calls(calls),
    };
    Ok(cells)
}

/// System calls per operation: whole where all operations make the same, else with what an audit of 100 resolves.
fn calls(calls: f64) -> String {
    match calls {
        _ if calls.abs() < NO_CALLS => "0".to_owned(),
        _ if calls.fract() == 0.0 => numbers::count(calls).replace(' ', ""),
        _ if calls < 0.005 => format!("{calls:.3}"),
        _ if calls < 0.995 => format!("{calls:.2}"),
        _ if calls < 1e6 => format!("{calls:.1}"),
        _ => numbers::significant(calls),
    }
}

pub(crate) fn missing(state: &'static str, why: &str) -> Missing {
    Missing { state, tone: Tone::Doubt, why: why.to_owned() }
}

fn is_price(quantity: &Quantity) -> bool {
    quantity.estimate.value.is_finite() && quantity.estimate.value > 0.0
}

/// The column that `compare` judges.
fn judges(figure: &Figure) -> Option<Judges> {
    match figure.judged() {
        quantity::CYCLES => Some(Judges::Cycles),
        quantity::TYPICAL => Some(Judges::Typical),
        judged => (judged == headline(figure)).then_some(Judges::Floor),
    }
}

/// A number of cycles: whole, from ten on.
fn whole(cycles: f64) -> String {
    if cycles < 10.0 { format!("{cycles:.1}") } else { numbers::count(cycles.round()).replace(' ', "") }
}

/// The larger half of an interval, as a share of its estimate: where there is an interval, and one that says something.
pub(super) fn half(estimate: &Estimate) -> Option<f64> {
    let value = estimate.value.abs();
    let half = ((estimate.value - estimate.low) / value).max((estimate.high - estimate.value) / value);
    (!estimate.extremes && estimate.low.is_finite() && half.is_finite() && (0.0..1.0).contains(&half))
        .then_some(half)
}

/// The half-width in whole per cent, rounded up; a note where there is none to show.
fn width(story: &Story<'_>, quantity: &Quantity, notes: &mut Vec<String>) -> String {
    let estimate = &quantity.estimate;
    if let Some(half) = half(estimate) {
        // What an exact 1 % is by rounding is 1 %; the larger of 0 and -0 may be either.
        return format!("{:.0} %", (half * 100.0 - 1e-9).ceil().max(0.0) + 0.0);
    }
    let says = !estimate.extremes && estimate.low > 0.0 && estimate.high < SCATTERED * estimate.low;
    if says {
        let unit = story.plain(&quantity.unit);
        notes.push(numbers::range(estimate.low, estimate.high, &unit));
    } else if !estimate.extremes {
        notes.push("too scattered for an interval".to_owned());
    }
    "-".to_owned()
}

/// The ratios to baselines in words, and where there is a number, it and to what: of what `compare` judges, so that they are what
/// the numbers of the two rows say.
fn ratios(story: &Story<'_>, figure: &Figure) -> Vec<(String, Option<(String, String)>)> {
    let of = |pair: &&PairedValue| pair.of == figure.id && pair.quantity == "paired";
    let note = |pair: &PairedValue| {
        let base = story.plain(short(figure, &pair.to));
        match ratio(story, figure, pair) {
            Some((value, of)) => {
                let (times, what) = (times(value), format!("{base}{of}"));
                (format!("{times} {what}"), Some((times, what)))
            }
            None => (format!("no ratio to {base}"), None),
        }
    };
    story.result.ratios.iter().filter(of).map(note).collect()
}

/// The ratio of a pair with the name of its quantity, where that is not the judged one.
pub(super) fn ratio(story: &Story<'_>, of: &Figure, pair: &PairedValue) -> Option<(f64, &'static str)> {
    pair.value?;
    let to = story.result.figures.iter().find(|figure| figure.id == pair.to)?;
    let both = |name: &str| {
        let [of, to] = [of, to].map(|it| it.quantities.get(name).filter(|it| is_price(it)));
        Some(of?.estimate.value / to?.estimate.value)
    };
    let judged = both(of.judged()).map(|value| (value, ""));
    let value = judged.or_else(|| both(headline(of)).map(|value| (value, " (floor)")));
    value.filter(|(value, _)| value.is_finite() && to.status == Status::Measured)
}

/// A ratio in two digits, or whole: "16x", "0.22x".
pub(crate) fn times(ratio: f64) -> String {
    if (9.95..1e6).contains(&ratio) {
        return format!("{ratio:.0}x");
    }
    let digits = format!("{ratio:.1e}");
    let exponent: i32 = digits.rsplit_once('e').and_then(|(_, it)| it.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(1 - exponent).unwrap_or(0);
    if !(1e-3..1e6).contains(&ratio) {
        format!("{}x", numbers::significant(ratio))
    } else {
        format!("{ratio:.decimals$}x")
    }
}

/// What is left without a part of the price that was measured beside it.
fn differences(story: &Story<'_>, figure: &Figure) -> Vec<String> {
    let of = story.result.differences.iter().filter(|difference| difference.of == figure.id);
    let note = |pair: &PairedValue| {
        let name = short(figure, &pair.to);
        match pair.value.filter(|value| value.is_finite()) {
            Some(value) if value > 0.0 => {
                let unit = story.plain(&pair.unit);
                format!("{} without {name}", numbers::quantity(value, &unit))
            }
            Some(_) => format!("nothing left without {name}"),
            None => format!("no difference to {name}"),
        }
    };
    of.map(|pair| story.plain(&note(pair))).collect()
}

/// What the other CPU's sleep adds to the price, or what a layer has added to it.
fn additions(story: &Story<'_>, figure: &Figure) -> impl Iterator<Item = Note> {
    let named = [(quantity::ASLEEP_ADDS, "asleep"), (quantity::LAYER_ADDS, "by the layer")];
    named.into_iter().filter_map(|(name, what)| {
        // What may be nothing was not found.
        let adds = figure.quantities.get(name).filter(|adds| is_price(adds) && adds.estimate.low > 0.0)?;
        let (unit, Estimate { value, low, high, .. }) = (story.plain(&adds.unit), adds.estimate);
        let range = if low < high { numbers::range(low, high, &unit) } else { "no interval".to_owned() };
        let short = format!("+{} {what}", numbers::quantity(value, &unit));
        Some(Note { words: format!("{short} ({range})"), short: Some(short) })
    })
}

/// An id as it is called beside `figure`: without what both begin and end with.
pub(super) fn short<'a>(figure: &Figure, id: &'a str) -> &'a str {
    let rest = id.strip_prefix(&*figure.family).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id);
    let mut kept = rest;
    let own: Vec<&str> = figure.id.rsplit('/').collect();
    for part in own {
        match kept.strip_suffix(part).and_then(|rest| rest.strip_suffix('/')) {
            Some(shorter) if !shorter.is_empty() => kept = shorter,
            _ => break,
        }
    }
    kept
}

/// The marks that most rows have, so that the rows leave them out.
pub(super) fn marks_of_most(story: &Story<'_>) -> impl Iterator<Item = Mark> {
    let told_by_interval = |mark: &Mark| *mark == Mark::NotConverged;
    Mark::ALL.into_iter().filter(move |mark| !told_by_interval(mark) && !is_of_a_row(story, *mark))
}

/// Whether a mark is told in the row: how wide the interval is stands there, and what most rows have is told below them.
pub(super) fn is_of_a_row(story: &Story<'_>, mark: Mark) -> bool {
    let (mut marked, mut all) = (0, 0);
    for figure in story.measured() {
        all += 1;
        marked += usize::from(figure.marks.contains(&mark));
    }
    mark != Mark::NotConverged && (all < 4 || marked * 2 <= all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_two_digits_or_are_whole() {
        let cases = [
            (7.715, "7.7x"),
            (0.2196, "0.22x"),
            (154.4, "154x"),
            (9.96, "10x"),
            (1.0, "1.0x"),
            (0.0951, "0.095x"),
        ];
        for (ratio, text) in cases {
            assert_eq!(times(ratio), text);
        }
    }

    /// "1" is said of operations that all make one call, and of no others.
    #[test]
    fn calls_are_whole_or_say_that_they_are_not() {
        let cases = [(0.0, "0"), (1.0, "1"), (12.0, "12"), (1.02, "1.0"), (1.23, "1.2"), (2.96, "3.0")];
        for (count, text) in cases.into_iter().chain([(0.02, "0.02"), (0.996, "1.0"), (0.001, "0.001")]) {
            assert_eq!(calls(count), text);
        }
    }

    #[test]
    fn an_interval_wider_than_its_estimate_has_no_half_width() {
        let estimate = |low, value, high| Estimate { value, low, high, extremes: false };
        assert_eq!(half(&estimate(90.0, 100.0, 105.0)), Some(0.1));
        assert_eq!(half(&estimate(50.0, 100.0, 1199.0)), None, "1099 % is none");
        assert_eq!(half(&Estimate { extremes: true, ..estimate(90.0, 100.0, 105.0) }), None);
        assert_eq!(half(&estimate(f64::NAN, 100.0, 105.0)), None);
        assert_eq!(half(&estimate(1.0, 0.0, 1.0)), None);
    }
}
