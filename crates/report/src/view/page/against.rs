//! Two results against each other for a page: the answer, its cards, and the rows around zero.

use oscost_results::RunResult;
use oscost_stats::sorting::SmallSort;

use crate::blocks::forest::{Against, Forest};
use crate::blocks::page::{Card, Chip};
use crate::blocks::{Hue, Tone};
use crate::judge::{Compared, Comparison, Verdict, percent};
use crate::numbers;
use crate::view::comparison;
use crate::words::{counted, plain, tally, words};

/// Groups in the order of the page, and what each means.
const GROUPS: [(Verdict, Tone); 4] = [
    (Verdict::Slower, Tone::Bad),
    (Verdict::Faster, Tone::Good),
    (Verdict::Unclear, Tone::Doubt),
    (Verdict::Within, Tone::Good),
];
/// Changes beyond this share are drawn at the edge.
const FARTHEST: f64 = 0.5;

/// What came out, and how many figures have which verdict.
pub(super) fn answer(comparison: &Comparison<'_>) -> (String, Vec<Card>) {
    let heading = if comparison.rows.is_empty() {
        "No figure was measured in both".to_owned()
    } else {
        changed(comparison).or_else(|| comparison::tallied(comparison).into_iter().next()).unwrap_or_default()
    };
    let threshold = numbers::percent(comparison.threshold);
    let cards = GROUPS.iter().map(|(verdict, tone)| {
        let rows: Vec<&Compared> = comparison.of(*verdict).collect();
        let first = rows.first().map_or("none".to_owned(), |row| plain(&row.id, true));
        let more = if rows.len() > 1 { format!(" and {} more", rows.len() - 1) } else { String::new() };
        let (name, says) = match verdict {
            Verdict::Within => (format!("within {threshold}"), String::new()),
            other => (other.name().to_owned(), format!("{first}{more}")),
        };
        let hue = if rows.is_empty() { Hue::Plain } else { Hue::Judged(*tone) };
        Card::of(hue, &format!("{} of {}", rows.len(), comparison.rows.len()), name, says)
    });
    (heading, cards.collect())
}

/// What became slower or faster, and by how much; then how many figures did not.
fn changed(comparison: &Comparison<'_>) -> Option<String> {
    let all = comparison.rows.len();
    let said = |(verdict, word): (Verdict, &str)| {
        let share = |row: &Compared| row.change.map_or(0.0, |change| change.change);
        let mut rows: Vec<&Compared> = comparison.of(verdict).collect();
        rows.small_sort_by(|one, other| share(other).abs().total_cmp(&share(one).abs()));
        let first = rows.first()?;
        let by = percent(share(first));
        let by = by.trim_start_matches(['+', '-']);
        let id = plain(&first.id, true);
        Some(match rows.len() {
            1 => format!("{id} is {word} by {by}"),
            count => format!("{count} of {all} figures are {word}, most of all {id} by {by}"),
        })
    };
    let told: Vec<String> =
        [(Verdict::Slower, "slower"), (Verdict::Faster, "faster")].into_iter().filter_map(said).collect();
    let within = numbers::percent(comparison.threshold);
    let rest = [(Verdict::Within, format!("within {within}")), (Verdict::Unclear, "unclear".to_owned())];
    let rest = rest.each_ref().map(|(verdict, name)| (*verdict, name.as_str()));
    let rest = tally(&rest, |verdict| comparison.of(*verdict).count());
    let rest = if rest.is_empty() { rest } else { format!("; {rest}") };
    (!told.is_empty()).then(|| format!("{}{rest}", told.join(", and ")))
}

/// The names of two results, the older one first.
pub(super) fn pair(before: &str, now: &str) -> String {
    format!("{} \u{2192} {}", plain(before, true), plain(now, true))
}

/// The names of two results as a chip.
pub(super) fn pair_chip(before: &str, now: &str) -> Chip {
    Chip { text: pair(before, now), tone: None, whole: "before \u{2192} now".to_owned() }
}

/// The two, and whether their surroundings are the same.
pub(super) fn chips(comparison: &Comparison<'_>) -> Vec<Chip> {
    let differs = comparison.machine.iter().chain(&comparison.conditions);
    let differs: Vec<String> = differs
        .map(|it| format!("{} {} \u{2192} {}", it.what, plain(&it.a, true), plain(&it.b, true)))
        .collect();
    let (text, tone) = match differs.len() {
        0 => ("same machine, same conditions".to_owned(), Tone::Good),
        count => (counted(count, "fact around them differs", "facts around them differ"), Tone::Doubt),
    };
    vec![pair_chip(comparison.a, comparison.b), Chip { text, tone: Some(tone), whole: differs.join("; ") }]
}

/// The rows, the worst first.
pub(super) fn forest(comparison: &Comparison<'_>, newest: &RunResult) -> Forest {
    let of = |(verdict, tone)| {
        comparison.of(verdict).map(move |row| against(row, tone, newest, comparison.threshold))
    };
    let rows: Vec<Against> = GROUPS.into_iter().flat_map(of).collect();
    let ends = rows.iter().filter_map(|row| row.change).flat_map(|[low, _, high]| [low.abs(), high.abs()]);
    let farthest = ends.filter(|it| it.is_finite()).fold(3.0 * comparison.threshold, f64::max);
    Forest {
        pair: pair(comparison.a, comparison.b),
        finding: answer(comparison).0,
        margin: comparison.threshold,
        limit: farthest.clamp(0.01, FARTHEST),
        rows,
        whole: comparison::linked(comparison, newest),
    }
}

fn against(row: &Compared, tone: Tone, newest: &RunResult, threshold: f64) -> Against {
    let unit = plain(&row.unit, true);
    // Ends that are far apart say nothing, however many digits they have.
    let is_told = |change: &&crate::judge::Shift| change.low.is_finite() && !comparison::is_unknown(change);
    let (says, interval) = match row.change.as_ref() {
        None => <(String, String)>::default(),
        Some(change) if is_told(&change) => (percent(change.change), interval(change.low, change.high)),
        Some(_) => ("unknown".to_owned(), "too scattered for an interval".to_owned()),
    };
    let shown = |value: f64| numbers::quantity(value, &unit);
    let sides = if row.contradicts_its_sides() || !row.a.value.is_finite() || !row.b.value.is_finite() {
        format!("judged round by round, {}", words(&row.quantity, true))
    } else {
        // "cycles" is unit and quantity.
        let quantity =
            if row.quantity == row.unit { String::new() } else { format!(" {}", words(&row.quantity, true)) };
        format!("{} \u{2192} {}{quantity}", shown(row.a.value), shown(row.b.value))
    };
    let ends = row.change.as_ref().filter(is_told).map(|it| [it.low, it.change, it.high]);
    Against {
        needs_why: !row.why.is_empty() && contradicts_its_verdict(row.verdict, ends, threshold),
        id: row.id.clone(),
        has_receipt: newest.figures.iter().any(|figure| figure.id == row.id),
        word: row.verdict.name(),
        tone,
        change: ends.filter(|ends| ends.iter().all(|end| end.is_finite())),
        says,
        interval,
        sides,
        why: plain(&row.why, true),
    }
}

/// Whether the interval alone would be an answer, and the verdict is none.
fn contradicts_its_verdict(verdict: Verdict, ends: Option<[f64; 3]>, threshold: f64) -> bool {
    let is_beyond = |[low, _, high]: [f64; 3]| low > threshold || high < -threshold;
    verdict == Verdict::Unclear && ends.is_some_and(is_beyond)
}

/// From this change on an end is told in words: its digits say nothing more.
const TENFOLD: f64 = 9.0;

/// Both ends of a change.
fn interval(low: f64, high: f64) -> String {
    match (low >= TENFOLD, high >= TENFOLD) {
        (true, _) => "more than 10 times".to_owned(),
        (false, true) => format!("{:+.1} % .. more than 10 times", low * 100.0),
        (false, false) => format!("{:+.1} .. {:+.1} %", low * 100.0, high * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, contradicts_its_verdict, interval};

    #[test]
    fn an_interval_beyond_the_threshold_needs_a_reason_to_be_unclear() {
        let needs = |verdict, ends| contradicts_its_verdict(verdict, Some(ends), 0.05);
        assert!(needs(Verdict::Unclear, [0.27, 0.31, 0.35]) && needs(Verdict::Unclear, [-0.3, -0.2, -0.06]));
        assert!(!needs(Verdict::Unclear, [0.04, 0.31, 0.35]) && !needs(Verdict::Slower, [0.27, 0.31, 0.35]));
        assert!(!contradicts_its_verdict(Verdict::Unclear, None, 0.05));
    }

    #[test]
    fn an_end_beyond_ten_times_is_told_in_words() {
        assert_eq!(interval(-0.041, 0.082), "-4.1 .. +8.2 %");
        assert_eq!(interval(-0.99, 1_941_636.169), "-99.0 % .. more than 10 times");
        assert_eq!(interval(9.0, 12.0), "more than 10 times");
        assert_eq!(interval(0.0, 8.99), "+0.0 .. +899.0 %");
    }
}
