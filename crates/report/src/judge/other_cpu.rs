//! Figures that wake another CPU: in one way on both sides, with that CPU equally near and equally free, or they are not held
//! against each other.

use oscost_results::quantity::ASLEEP;
use oscost_results::{FARTHER, Figure, RunResult, near};
use oscost_stats::quantile::{median, sorted};

use crate::numbers;

/// From so large a share of the time on, a CPU is one that others use. Who wakes it must wait for them, and it does not sleep. What
/// others do for less than this leaves most batches of a launch as they are.
const OTHERS: f64 = 0.25;

/// Whether these are prices of a CPU that was kept awake, with what a sleeping one costs beside them.
pub(super) fn is_awake(figures: &[&Figure]) -> bool {
    figures.iter().all(|figure| figure.quantities.contains_key(ASLEEP))
}

/// Whether a figure that belongs to others across CPUs stays on its own one: it hardly sleeps, and no CPU was kept awake for it.
pub(super) fn wakes_nobody(figure: &Figure) -> bool {
    figure.placement == "cross_cpu"
        && figure.launches.iter().any(|launch| launch.hop_ns.is_some())
        && !figure.quantities.contains_key(ASLEEP)
        && figure.evidence.voluntary_switches.is_some_and(|sleeps| sleeps < 0.5)
}

/// Whether a figure woke a CPU that others used: what that costs is theirs.
pub(crate) fn is_beside_others(figure: &Figure) -> bool {
    hop(&[figure]).is_some() && foreign(&[figure]) > OTHERS
}

/// Why figures of two sides are not held against each other, in words.
pub(super) fn refusal<'r>(
    results: impl Iterator<Item = &'r RunResult>,
    [of_a, of_b]: [&[&Figure]; 2],
) -> Option<String> {
    let (hop_a, hop_b) = (hop(of_a)?, hop(of_b)?);
    let mut all = results.map(how);
    let first = all.next()?;
    if let Some(other) = all.find(|other| *other != first) {
        let [a, b] = [first, other].map(|how| how.unwrap_or("it slept"));
        return Some(format!("the other CPU was kept awake in another way: {a}, {b}"));
    }
    let (foreign_a, foreign_b) = (foreign(of_a), foreign(of_b));
    if (foreign_a > OTHERS) != (foreign_b > OTHERS) {
        let (a, b) = (numbers::whole_percent(foreign_a), numbers::whole_percent(foreign_b));
        return Some(format!(
            "others had these CPUs for {a} of the time before and {b} now: to wake a busy CPU has another price"
        ));
    }
    let farther = (hop_a / hop_b).max(hop_b / hop_a);
    (farther > FARTHER).then(|| {
        let ns = |hop| numbers::quantity(hop, "ns");
        format!(
            "its CPUs were not equally near: a cache line took {} before and {} now",
            ns(hop_a),
            ns(hop_b)
        )
    })
}

/// The share of the time that others had on the CPUs of these figures in the median launch.
fn foreign(figures: &[&Figure]) -> f64 {
    let launches = figures.iter().flat_map(|figure| &figure.launches);
    median(&sorted(launches.filter_map(|launch| launch.foreign_share).collect())).unwrap_or(0.0)
}

fn how(result: &RunResult) -> Option<&str> {
    result.conditions.kept_awake.as_deref()
}

/// The hop between the CPUs of these figures in the launches that are judged; `None` where it was not timed.
fn hop(figures: &[&Figure]) -> Option<f64> {
    let all: Vec<Option<f64>> =
        figures.iter().flat_map(|figure| &figure.launches).map(|launch| launch.hop_ns).collect();
    let near = all.iter().zip(near(&all)).filter(|(_, near)| *near).filter_map(|(hop, _)| *hop);
    median(&sorted(near.filter(|ns| *ns > 0.0).collect()))
}
