//! Single operations: percentiles, how often one takes longer, the causes of gaps, and a curve of the tail.

use oscost_results::{AtQuantile, Figure, FirstCallAfter, FirstCalls, GapCause, Percentiles};

use crate::blocks::{Axis, Curve, Curves, Names, Part, Plot, Point, Table, View};
use crate::evidence::timed;
use crate::numbers;
use crate::view::story::Story;
use crate::words::counted;

/// From this time on a pass must cost the same alone and in a batch, to [`AGREES`]. docs/method/families.md.
const COMPARED_FROM_NS: f64 = 5_000.0;
const AGREES: f64 = 0.02;
/// Times that are told in words: the first that is rarer than this in a million, and the next ones.
const RARE: f64 = 1_000.0;
const MOST_TOLD: usize = 3;
/// Causes of gaps that are named one by one.
const MOST_CAUSES: usize = 4;

/// What is shown where something was timed one by one.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let timed: Vec<(&Figure, &Percentiles)> = timed(story.result).collect();
    if timed.is_empty() {
        return None;
    }
    let shares = numbers::ascending(timed.iter().flat_map(|(_, it)| &it.quantiles).map(|it| it.share));
    let mut heads = vec![String::new()];
    heads.extend(shares.iter().map(|&share| percentile(share)));
    heads.extend(["max", "passes"].map(str::to_owned));
    let rows = timed.iter().map(|(figure, it)| {
        let at = |share: &f64| it.quantiles.iter().find(|at| at.share == *share);
        let value = |at: Option<&AtQuantile>| at.map_or("-".to_owned(), |at| numbers::duration(at.value));
        let mut cells = vec![story.plain(&figure.id)];
        cells.extend(shares.iter().map(|share| value(at(share))));
        cells.push(numbers::duration(it.max_ns));
        cells.push(numbers::count(it.passes as f64));
        cells
    });
    let mut parts = vec![Part::Table(Table::new(heads, rows))];
    parts.extend(timed.iter().map(|(figure, it)| Part::Words(words(story, figure, it))));
    parts.extend(curves(story, &timed).map(Part::from));
    let title = "PERCENTILES  one pass of the loop timed alone, the clock pair's cost removed".to_owned();
    Some(View::new(title, parts))
}

/// "p99.9".
pub(crate) fn percentile(share: f64) -> String {
    format!("p{}", format!("{:.3}", share * 100.0).trim_end_matches('0').trim_end_matches('.'))
}

/// What the table does not say of one figure.
fn words(story: &Story<'_>, figure: &Figure, it: &Percentiles) -> String {
    let mut sentences = Vec::new();
    if it.operations_per_pass > 1 {
        sentences.push(format!("A pass holds {} operations", it.operations_per_pass));
    }
    let told = it.longer.iter().filter(|longer| longer.per_million_at_most <= RARE).take(MOST_TOLD);
    let told: Vec<String> = told
        .map(|longer| {
            let times = match longer.per_million_at_most {
                times if times < 10.0 => format!("{times:.1}"),
                times => format!("{times:.0}"),
            };
            format!("{} at most {times}", numbers::duration(longer.than_ns))
        })
        .collect();
    if !told.is_empty() {
        sentences.push(format!("In a million passes, 95 %: more than {} times", told.join(", ")));
    }
    sentences.push(gaps(story, it));
    let beside = it.beside_batch;
    if let Some(difference) = beside.difference() {
        let [alone, batch] = [beside.alone_ns, beside.batch_ns].map(numbers::duration);
        let both = format!("Alone {alone}, in a batch {batch} ({:+.1} %)", difference * 100.0);
        let agrees = beside.batch_ns < COMPARED_FROM_NS || difference.abs() <= AGREES;
        sentences.push(if agrees { both } else { format!("Beware: {}", both.to_lowercase()) });
    }
    sentences.extend(first_calls(&it.first));
    format!("{}: {}.", story.plain(&figure.id), sentences.join(". "))
}

/// What single passes cost after the caches were evicted, with the evidence that they were, and after idleness.
fn first_calls(all: &[FirstCalls]) -> Vec<String> {
    let line = |ns: Option<f64>| ns.map_or("an unknown time".to_owned(), numbers::duration);
    let said = all.iter().filter(|it| it.after != FirstCallAfter::Unknown).map(|it| {
        let told = || {
            let [median, p90, max] = [it.median_ns, it.p90_ns, it.max_ns].map(numbers::duration);
            format!("{median} (p90 {p90}, max {max})")
        };
        let lines =
            format!("a line of memory took {}, {} just before", line(it.line_ns), line(it.line_hot_ns));
        match (it.after, it.evicts()) {
            (FirstCallAfter::Eviction, true) => format!("With evicted caches {}; {lines}", told()),
            (FirstCallAfter::Eviction, false) => {
                format!("Whether the caches were evicted is unknown: {lines}")
            }
            _ => format!("After 5 ms of sleep {}", told()),
        }
    });
    said.collect()
}

/// What took the CPU, the most time first.
fn gaps(story: &Story<'_>, it: &Percentiles) -> String {
    let account = &it.account;
    let limit = numbers::duration(account.limit_ns as f64);
    if account.gaps.is_empty() {
        return format!("No gap over {limit}");
    }
    let one = |gaps: &oscost_results::Gaps| {
        let by = gaps.by.as_deref().filter(|by| !by.is_empty());
        let by = by.map_or(String::new(), |by| format!(" by {}", story.plain(by)));
        format!("{}{by} {} ({})", gaps.cause.words(), gaps.count, numbers::duration(gaps.total_ns as f64))
    };
    let mut causes: Vec<String> = account.gaps.iter().take(MOST_CAUSES).map(one).collect();
    let rest = &account.gaps[account.gaps.len().min(MOST_CAUSES)..];
    if !rest.is_empty() {
        let count = rest.iter().fold(0_u64, |sum, gaps| sum.saturating_add(gaps.count));
        causes.push(counted(usize::try_from(count).unwrap_or(usize::MAX), "other", "others"));
    }
    let share = account.gaps_ns() as f64 / account.elapsed_ns.max(1) as f64;
    let unknown = account.gaps.iter().filter(|gaps| gaps.cause == GapCause::Unknown);
    let unknown = unknown.fold(0_u64, |sum, gaps| sum.saturating_add(gaps.total_ns));
    let unknown = match unknown as f64 / account.gaps_ns().max(1) as f64 {
        0.0 => String::new(),
        share => format!(", {} of that of unknown cause", numbers::percent(share)),
    };
    format!(
        "Gaps over {limit}, {} of {}{unknown}: {}",
        numbers::percent(share),
        numbers::duration(account.elapsed_ns as f64),
        causes.join(", ")
    )
}

/// The tails, as HdrHistogram draws them: to the right, of how many passes one takes longer.
fn curves(story: &Story<'_>, timed: &[(&Figure, &Percentiles)]) -> Option<Plot> {
    let made: Vec<Curve> =
        timed.iter().map(|(figure, it)| Curve::of_steps(story.plain(&figure.id), tail(it))).collect();
    let all = || made.iter().flat_map(|curve| &curve.points);
    let x = Axis::logarithmic("one pass in so many takes longer", "count", all().map(|point| point.x))?;
    let y = Axis::logarithmic("time of a pass", "ns", all().map(|point| point.y[1]))?;
    let (figure, worst) = timed.iter().max_by(|one, other| one.1.max_ns.total_cmp(&other.1.max_ns))?;
    let heads = ["figure", "percentile", "all launches", "lowest launch", "highest launch"];
    let rows = timed.iter().flat_map(|(figure, it)| {
        it.quantiles.iter().map(|at| {
            let mut cells = vec![story.plain(&figure.id), percentile(at.share)];
            cells.extend([at.value, at.low, at.high].map(numbers::duration));
            cells
        })
    });
    let longest = numbers::duration(worst.max_ns);
    let finding = format!("The longest pass of all took {longest} ({})", story.plain(&figure.id));
    Some(Plot::of(finding, Curves::of(x, y, made, Names::Own), Table::new(heads, rows)))
}

/// The points of a tail: the time that one pass in x exceeds.
fn tail(it: &Percentiles) -> Vec<Point> {
    let total: u64 = it.counts.iter().fold(0, |sum, count| sum.saturating_add(*count));
    let mut beyond = total;
    let mut points = Vec::new();
    for (&from, &count) in it.from_ns.iter().zip(&it.counts) {
        let y = from as f64 - it.pair_ns;
        // A log axis has no room for what is not longer than its readings.
        if beyond > 0 && y > 0.0 {
            points.push(Point { x: total as f64 / beyond as f64, y: [y, y, y] });
        }
        beyond = beyond.saturating_sub(count);
    }
    points
}
