//! Paired ratios and differences of both sides: made from the same rounds, they vary less than their figures.

use oscost_results::{Figure, PairedValue, Status};
use oscost_stats::interval::MEDIAN;

use super::asked::{Asked, Question};
use super::figure::{Sides, of};
use super::other_cpu::refusal;
use super::past::{Learning, find};
use super::{Compared, Rules, Shift, Verdict};
use crate::named::Named;
use crate::numbers;

/// The quantity of a ratio or difference that was made of rounds of batches.
const PAIRED: &str = "paired";

/// Everything that was paired in all results of both sides, was asked about, and is of figures that may be held against
/// each other.
pub(super) fn ask(sides: &Sides<'_>, learning: &mut Learning<'_>, rules: Rules<'_>) -> Vec<Asked> {
    let Some(first) = sides.a.first() else { return Vec::new() };
    if sides.mixed_methods().is_some() {
        return Vec::new();
    }
    let pairs = first.result.ratios.iter().chain(&first.result.differences);
    let pairs = pairs.filter(|pair| rules.asks(&pair.of));
    pairs.filter_map(|pair| one(pair, sides, learning)).collect()
}

fn one(pair: &PairedValue, sides: &Sides<'_>, learning: &mut Learning<'_>) -> Option<Asked> {
    let figure = |named: &Named<'_>, id: &str| -> Option<(u32, bool)> {
        let figure = named.result.figures.iter().find(|figure: &&Figure| figure.id == *id)?;
        Some((figure.revision, figure.status == Status::Measured))
    };
    let comparable = |id: &str| {
        let mut all = sides.a.iter().chain(sides.b).map(|named| figure(named, id));
        let first = all.next().flatten();
        first.is_some_and(|(_, measured)| measured) && all.all(|other| other == first)
    };
    if !comparable(&pair.of) || !comparable(&pair.to) {
        return None;
    }
    let launches = |side: &[Named<'_>]| -> Option<Vec<Vec<f64>>> {
        side.iter().map(|named| Some(find(named.result, pair)?.launches.clone())).collect()
    };
    let (a, b) = (launches(sides.a)?, launches(sides.b)?);
    // The launches of a pair do not say how near the CPUs were, but those of its figures do.
    let far = [&pair.of, &pair.to].into_iter().find_map(|id| other_cpu(sides, id));
    let drift = learning.drift_of_pair(pair);
    // What may be negative has no ratio, and a difference of nothing is no price.
    let change = sides.change(&a, &b, MEDIAN, 0.0, drift)?;
    let what = if pair.quantity == PAIRED { String::new() } else { format!(" ({})", pair.quantity) };
    let joined = if pair.unit == "ratio" { "to" } else { "less" };
    let mut row =
        Compared::blank(format!("{} {joined} {}{what}", pair.of, pair.to), &pair.quantity, pair.unit.clone());
    row.pair = Some((pair.of.clone(), pair.to.clone()));
    row.a = sides.estimate(sides.a, &a, MEDIAN, drift);
    row.b = sides.estimate(sides.b, &b, MEDIAN, drift);
    let question = match far {
        Some(why) => {
            row.why = why;
            Question::Answered
        }
        None => Question::Open { change, beside: None, hold: sides.hold(), neighbour: None },
    };
    Some(Asked { row, question, kin: None })
}

/// Why the other CPU of a figure keeps its sides from being held against each other.
fn other_cpu(sides: &Sides<'_>, id: &str) -> Option<String> {
    let figures = [sides.a, sides.b].map(|side| of(side, id).into_iter().flatten().collect::<Vec<&Figure>>());
    let results = sides.a.iter().chain(sides.b).map(|named| named.result);
    refusal(results, [&figures[0], &figures[1]])
}

/// A ratio to a baseline that stood still is evidence of its figure. Where that figure is not clear by itself, the ratio
/// decides, and the row has the ratio's change and says so.
pub(super) fn decide(rows: &mut [Compared], pairs: &[Compared], threshold: f64) {
    let stood_still = |rows: &[Compared], id: &str| {
        let row = rows.iter().find(|row| row.id == id && row.verdict == Verdict::Within);
        row.and_then(|row| row.change).is_some_and(|change| change.low <= 0.0 && change.high >= 0.0)
    };
    for pair in pairs.iter().filter(|pair| pair.unit == "ratio" && pair.change.is_some()) {
        let Some((of, to)) = &pair.pair else { continue };
        // The pair of a batched figure has a name of its own; that of a series is of one of its quantities.
        let is_of_it = |row: &Compared| [PAIRED, &row.quantity].contains(&pair.quantity.as_str());
        let open = |row: &Compared| {
            row.id == *of && is_of_it(row) && row.verdict == Verdict::Unclear && row.why.is_empty()
        };
        let Some(index) = rows.iter().position(open) else { continue };
        if pair.verdict == Verdict::Unclear || !stood_still(rows, to) {
            continue;
        }
        let row = &mut rows[index];
        // What the figure itself rules out, its ratio does not bring back.
        let both = |of: fn(&Shift) -> (f64, f64)| {
            let ranges = [&row.change, &pair.change].map(|change| change.as_ref().map(of));
            matches!(ranges, [Some(one), Some(other)] if one.0 <= other.1 && other.0 <= one.1)
        };
        if !both(|change| (change.low, change.high)) {
            continue;
        }
        row.verdict = pair.verdict;
        row.changed = pair.changed;
        row.change = pair.change;
        row.why =
            format!("judged by its ratio to {to}, which stood still within {}", numbers::percent(threshold));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, verdict: Verdict, low: f64, high: f64) -> Compared {
        let change = Some(Shift { change: (low + high) / 2.0, low, high, level: 0.99 });
        Compared { verdict, change, ..Compared::blank(id.to_owned(), "floor", "ns".to_owned()) }
    }

    fn ratio(verdict: Verdict, low: f64, high: f64) -> Compared {
        let pair = Some(("of".to_owned(), "to".to_owned()));
        let (quantity, unit) = (PAIRED.to_owned(), "ratio".to_owned());
        Compared { pair, quantity, unit, ..row("of to to", verdict, low, high) }
    }

    fn decided(figure: Compared, baseline: Compared, pair: Compared) -> (Verdict, f64) {
        let mut rows = [figure, baseline];
        decide(&mut rows, &[pair], 0.05);
        (rows[0].verdict, rows[0].change.map_or(f64::NAN, |change| change.low))
    }

    #[test]
    fn a_ratio_to_what_stood_still_decides_what_is_unclear() {
        let unclear = || row("of", Verdict::Unclear, 0.03, 0.13);
        let still = || row("to", Verdict::Within, -0.01, 0.02);
        let higher = || ratio(Verdict::Slower, 0.064, 0.092);
        assert_eq!(decided(unclear(), still(), higher()), (Verdict::Slower, 0.064));
        assert_eq!(decided(unclear(), still(), ratio(Verdict::Within, 0.0, 0.04)), (Verdict::Within, 0.0));
        let moved = row("to", Verdict::Within, 0.01, 0.03);
        assert_eq!(decided(unclear(), moved, higher()), (Verdict::Unclear, 0.03), "the baseline moved");
        let open = row("to", Verdict::Unclear, -0.1, 0.1);
        assert_eq!(decided(unclear(), open, higher()), (Verdict::Unclear, 0.03), "nobody knows if it moved");
        assert_eq!(decided(unclear(), still(), ratio(Verdict::Slower, 0.2, 0.3)).0, Verdict::Unclear);
        let why = "a neighbour".to_owned();
        let held = Compared { why, ..unclear() };
        assert_eq!(decided(held, still(), higher()).0, Verdict::Unclear);
        let of_quantity = |quantity: &str| Compared { quantity: quantity.to_owned(), ..higher() };
        assert_eq!(decided(unclear(), still(), of_quantity("floor")).0, Verdict::Slower);
        let other = decided(unclear(), still(), of_quantity("server_cpu"));
        assert_eq!(other, (Verdict::Unclear, 0.03), "the ratio of another quantity is no evidence of it");
        let within = row("of", Verdict::Within, 0.0, 0.04);
        assert_eq!(decided(within, still(), higher()).0, Verdict::Within, "a clear figure is its own judge");
        let less = Compared { unit: "ns".to_owned(), ..higher() };
        assert_eq!(
            decided(unclear(), still(), less).0,
            Verdict::Unclear,
            "a difference is no share of the figure"
        );
    }

    #[test]
    fn ranges_that_touch_agree_and_a_baseline_stands_still_where_nothing_is_in_its_range() {
        let decides = |figure: (f64, f64), to: (f64, f64), of_pair: Verdict, pair: (f64, f64)| {
            let mut rows =
                [row("of", Verdict::Unclear, figure.0, figure.1), row("to", Verdict::Within, to.0, to.1)];
            let pair = Compared { changed: true, ..ratio(of_pair, pair.0, pair.1) };
            decide(&mut rows, std::slice::from_ref(&pair), 0.05);
            let is_decided = !rows[0].why.is_empty();
            let why = "judged by its ratio to to, which stood still within 5 %";
            assert!(!is_decided || (rows[0].why == why && rows[0].changed && rows[0].change == pair.change));
            assert!(is_decided == (rows[0].verdict == of_pair) || of_pair == Verdict::Unclear);
            is_decided
        };
        let (wide, still, higher) = ((0.03, 0.13), (-0.01, 0.01), Verdict::Slower);
        assert!(decides(wide, still, higher, (0.13, 0.2)) && decides(wide, still, higher, (0.0, 0.03)));
        assert!(!decides(wide, still, higher, (0.14, 0.2)) && !decides(wide, still, higher, (0.0, 0.02)));
        for to in [(0.0, 0.01), (-0.01, 0.0)] {
            assert!(decides(wide, to, higher, (0.06, 0.1)), "{to:?}");
        }
        for to in [(0.001, 0.01), (-0.01, -0.001)] {
            assert!(!decides(wide, to, higher, (0.06, 0.1)), "{to:?}");
        }
        assert!(!decides(wide, still, Verdict::Unclear, (0.04, 0.1)));
    }
}
