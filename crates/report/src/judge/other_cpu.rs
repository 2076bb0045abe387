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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Launches with these hops, in which others had this share of the time.
    fn figure(hops: &[Option<f64>], foreign_share: Option<f64>) -> Figure {
        let mut figure: Figure = serde_json::from_value(json!({
            "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
            "call_path": "libc", "group": "", "status": "measured", "placement": "cross_cpu",
        }))
        .expect("a figure");
        let launch = |hop_ns: &Option<f64>| oscost_results::LaunchRecord {
            hop_ns: *hop_ns,
            foreign_share,
            ..Default::default()
        };
        figure.launches = hops.iter().map(launch).collect();
        figure
    }

    fn asleep(mut figure: Figure) -> Figure {
        let quantity = json!({"value": 1.0, "low": 1.0, "high": 1.0, "unit": "ns"});
        figure.quantities.insert(ASLEEP.to_owned(), serde_json::from_value(quantity).expect("a quantity"));
        figure
    }

    fn refused(a: &Figure, b: &Figure) -> Option<String> {
        refusal(std::iter::empty::<&RunResult>(), [&[a], &[b]]).or_else(|| {
            let begun = std::time::UNIX_EPOCH;
            let result = RunResult::begun(begun, Default::default(), Default::default(), Default::default());
            refusal([&result, &result].into_iter(), [&[a], &[b]])
        })
    }

    #[test]
    fn cpus_are_equally_near_up_to_a_factor_either_way() {
        let of = |hop: f64| figure(&[Some(hop); 5], None);
        let near = 30.0 * FARTHER;
        for (a, b) in
            [(30.0, near - 0.1), (near - 0.1, 30.0), (30.0, 30.0), (FARTHER, 1.0), (0.0, 30.0), (30.0, 0.0)]
        {
            assert_eq!(refused(&of(a), &of(b)), None, "{a} {b}");
        }
        for (a, b) in [(30.0, near + 0.1), (near + 0.1, 30.0)] {
            let why = refused(&of(a), &of(b)).expect("farther");
            let took = format!(
                "its CPUs were not equally near: a cache line took {} before and {} now",
                numbers::quantity(a, "ns"),
                numbers::quantity(b, "ns")
            );
            assert_eq!(why, took);
        }
        assert_eq!(refused(&figure(&[None; 5], None), &of(90.0)), None, "what was not timed");
        // The launches that are judged tell it: those of the nearest CPUs that some had.
        let some = figure(&[Some(90.0), Some(30.0), Some(30.0), Some(90.0), Some(31.0), Some(32.0)], None);
        assert_eq!(refused(&some, &of(near - 0.1)), None);
        assert!(refused(&some, &of(90.0)).is_some());
    }

    #[test]
    fn others_have_a_cpu_from_a_quarter_of_the_time_on() {
        let of = |share: Option<f64>| figure(&[Some(30.0); 3], share);
        let busy =
            [None, Some(0.0), Some(OTHERS), Some(OTHERS + 0.01)].map(|share| is_beside_others(&of(share)));
        assert_eq!(busy, [false, false, false, true]);
        assert!(!is_beside_others(&figure(&[None; 3], Some(0.9))), "it woke no other CPU");
        for (a, b) in [(0.1, 0.2), (0.0, OTHERS), (OTHERS + 0.01, 0.9)] {
            assert_eq!(refused(&of(Some(a)), &of(Some(b))), None, "{a} {b}");
        }
        let why = refused(&of(Some(OTHERS)), &of(Some(0.26))).expect("one side is busy");
        assert!(why.starts_with("others had these CPUs for 25 % of the time before and 26 % now"), "{why}");
        // The median launch tells it.
        let mut mixed = of(Some(0.0));
        mixed.launches[0].foreign_share = Some(0.9);
        assert!(!is_beside_others(&mixed));
        mixed.launches[1].foreign_share = Some(0.9);
        assert!(is_beside_others(&mixed));
    }

    #[test]
    fn a_figure_wakes_nobody_where_it_hardly_sleeps_and_no_cpu_was_kept_awake() {
        let of = |sleeps: Option<f64>| {
            let mut figure = figure(&[None, Some(30.0)], None);
            figure.evidence.voluntary_switches = sleeps;
            figure
        };
        assert_eq!([Some(0.49), Some(0.5), None].map(|it| wakes_nobody(&of(it))), [true, false, false]);
        let still = of(Some(0.0));
        assert!(!wakes_nobody(&asleep(still.clone())));
        assert!(!wakes_nobody(&Figure { placement: "one_cpu".to_owned(), ..still.clone() }));
        assert!(!wakes_nobody(&Figure { launches: figure(&[None; 2], None).launches, ..still.clone() }));
        let awake = asleep(still.clone());
        assert!(is_awake(&[&awake, &awake]) && !is_awake(&[&awake, &still]) && !is_awake(&[&still]));
    }
}
