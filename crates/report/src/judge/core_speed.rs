//! Decides whether a figure follows the core's speed: if so, cycles are judged; if not, time; if unknown, both must change.

use oscost_results::{Figure, LaunchRecord, RunResult};
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN, over_launches};
use oscost_stats::quantile::{quantile, sorted};

use super::Verdict;
use super::quantity::{FEW, time_of};

/// Speeds that differ by less explain nothing that anybody asks about.
pub(super) const ONE_SPEED: f64 = 0.01;
/// A figure follows the core if its logarithm rises by one, give or take this, where that of a cycle does.
const FOLLOWS: f64 = 0.5;
/// Errors of that slope that it is told within.
const ERRORS: f64 = 2.0;
/// Launches of a side whose cycles differ by less say nothing of the slope.
const MOVED: f64 = 0.005;

/// One cycle of the core in a launch, ns.
fn cycle(launch: &LaunchRecord) -> Option<f64> {
    launch.chain_ns.filter(|ns| *ns > 0.0)
}

/// By how much a cycle took longer in B, from the launches in which the core was fastest; `None` where a side does not say.
pub(super) fn slowed(a: &[&RunResult], b: &[&RunResult]) -> Option<f64> {
    let of = |results: &[&RunResult]| {
        let figures = results.iter().flat_map(|result| &result.figures);
        let launches = figures.flat_map(|figure| &figure.launches);
        let speeds = launches.filter_map(LaunchRecord::speed_ns);
        quantile(&sorted(speeds.collect()), LOWER_QUARTILE)
    };
    Some(of(b)? / of(a)? - 1.0)
}

/// The same change in another unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Beside {
    /// The unit in words.
    pub unit: &'static str,
    /// B / A - 1 in it.
    pub share: f64,
}

impl Beside {
    /// Whether it is beyond the threshold in the same direction.
    pub(super) fn agrees(&self, verdict: Verdict, threshold: f64) -> bool {
        match verdict {
            Verdict::Slower => self.share > threshold,
            Verdict::Faster => self.share < -threshold,
            Verdict::Within | Verdict::Unclear => true,
        }
    }
}

/// What is to be judged of two sides of a figure, one or more results each, whose cards name `quantity`: it, or the time that it
/// was made of; with the change in the other, where the core ran at another speed and it is not known which of the two is the cost.
pub(super) fn choose<'q>(a: &[&Figure], b: &[&Figure], quantity: &'q str) -> (&'q str, Option<Beside>) {
    let in_time = time_of(quantity);
    let speeds = [a, b].map(|side| middle(side, cycle));
    let [Some(speed_a), Some(speed_b)] = speeds else { return (quantity, None) };
    let slowed = (speed_b / speed_a).ln();
    if slowed.abs() <= ONE_SPEED || !have_cycles(a, b, 1) {
        return (quantity, None);
    }
    let in_cycles = quantity == "cycles";
    match follows([a, b], in_time) {
        Some(true) if in_cycles || have_cycles(a, b, FEW) => ("cycles", None),
        Some(false) => (in_time, None),
        _ if in_cycles => (quantity, share(a, b, in_time).map(|share| Beside { unit: "ns", share })),
        _ => (quantity, share(a, b, "cycles").map(|share| Beside { unit: "cycles", share })),
    }
}

/// Whether each figure has so many launches with cycles: one holds a change in time up, and of fewer than four nothing is judged.
fn have_cycles(a: &[&Figure], b: &[&Figure], launches: usize) -> bool {
    let has = |launch: &&LaunchRecord| launch.quantities.contains_key("cycles");
    a.iter().chain(b).all(|figure| figure.launches.iter().filter(has).count() >= launches)
}

/// The median over the launches of all results of a side.
fn middle(side: &[&Figure], value: impl Fn(&LaunchRecord) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = side.iter().flat_map(|figure| &figure.launches).filter_map(value).collect();
    over_launches(&values, MEDIAN).map(|interval| interval.value)
}

fn share(a: &[&Figure], b: &[&Figure], quantity: &str) -> Option<f64> {
    let of = |side: &[&Figure]| {
        middle(side, |launch| launch.quantities.get(quantity).copied()).filter(|value| *value > 0.0)
    };
    Some(of(b)? / of(a)? - 1.0)
}

/// Whether the launches of both sides show that time follows the core: the slope of its logarithm over that of a cycle,
/// within each result, is near 1 or near 0; `None` where the core hardly moved, or the slope is neither. What differs between
/// two results of a side, such as the placement of a boot, is no slope.
fn follows(sides: [&[&Figure]; 2], quantity: &str) -> Option<bool> {
    let (mut square, mut product, mut rest, mut count) = (0.0, 0.0, 0.0, 0.0);
    for figure in sides.into_iter().flatten() {
        let points: Vec<(f64, f64)> = figure
            .launches
            .iter()
            .filter_map(|launch| Some((cycle(launch)?.ln(), launch.quantities.get(quantity)?.ln())))
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        if points.len() > 1 {
            square += points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
            product += points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>();
            rest += points.iter().map(|point| (point.1 - y).powi(2)).sum::<f64>();
            count += points.len() as f64 - 1.0;
        }
    }
    // The slope takes one more.
    let freedom = count - 1.0;
    if freedom < 4.0 || square < MOVED * MOVED * count {
        return None;
    }
    let slope = product / square;
    let error = ((rest - slope * product).max(0.0) / freedom / square).sqrt();
    if (slope - 1.0).abs() + ERRORS * error < FOLLOWS {
        Some(true)
    } else if slope.abs() + ERRORS * error < FOLLOWS {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Launches of these cycles and these times, ns.
    fn figure(points: &[(f64, f64)]) -> Figure {
        let launch = |&(chain_ns, ns): &(f64, f64)| {
            let mut launch = LaunchRecord { chain_ns: Some(chain_ns), ..LaunchRecord::default() };
            launch.quantities.insert("quiet".to_owned(), ns);
            launch.quantities.insert("cycles".to_owned(), ns / chain_ns);
            launch
        };
        let mut figure: Figure = serde_json::from_value(json!({
            "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
            "call_path": "libc", "group": "", "status": "measured", "headline": "quiet",
        }))
        .expect("a figure");
        figure.launches = points.iter().map(launch).collect();
        figure
    }

    /// So many launches on a core whose cycle rises by `step` from launch to launch; a time with this power of the cycle.
    fn moving(count: u32, step: f64, power: f64) -> Figure {
        let cycle = |launch: u32| 0.25 * (1.0 + step * f64::from(launch));
        figure(
            &(0..count).map(|launch| (cycle(launch), 100.0 * cycle(launch).powf(power))).collect::<Vec<_>>(),
        )
    }

    /// Of sides of one result each.
    fn slope_of(a: &Figure, b: &Figure) -> Option<bool> {
        follows([&[a], &[b]], "quiet")
    }

    #[test]
    fn what_follows_the_core_has_a_slope_of_one_and_what_does_not_none() {
        let slope = |power: f64| slope_of(&moving(6, 0.01, power), &moving(6, 0.01, power));
        assert_eq!([1.0, 0.6, 1.4].map(slope), [Some(true); 3]);
        assert_eq!([0.0, 0.4, -0.4].map(slope), [Some(false); 3]);
        assert_eq!([1.6, -0.6, 3.0].map(slope), [None; 3]);
        // Square roots of powers of two, which have exact logarithms: a slope of one half is neither.
        assert_eq!(slope_of(&figure(&[(1.0, 1.0), (4.0, 2.0)].repeat(4)), &figure(&[])), None);
    }

    #[test]
    fn a_slope_is_told_from_six_launches_on_whoever_has_them() {
        let none = figure(&[]);
        assert_eq!(slope_of(&moving(6, 0.01, 1.0), &none), Some(true));
        assert_eq!(slope_of(&none, &moving(6, 0.01, 1.0)), Some(true));
        assert_eq!(slope_of(&moving(5, 0.01, 1.0), &none), None);
        // Each result has its own mean: seven launches in two groups are as many as six in one.
        assert_eq!(slope_of(&moving(3, 0.01, 1.0), &moving(3, 0.01, 1.0)), None);
        assert_eq!(slope_of(&moving(4, 0.01, 1.0), &moving(3, 0.01, 1.0)), Some(true));
    }

    /// Whichever of its results has the launches.
    #[test]
    fn a_side_is_judged_by_all_of_its_results() {
        let (none, still, moved) = (figure(&[]), figure(&[(0.25, 100.0); 8]), moving(6, 0.01, 1.0));
        assert_eq!(follows([&[&none, &moved], &[&none]], "quiet"), Some(true));
        assert_eq!(follows([&[&none], &[&none, &still]], "quiet"), None);
        // Two boots of other speeds and other costs: no launch of either followed the core.
        let slow = figure(&[(0.5, 200.0); 8]);
        assert_eq!(follows([&[&still, &slow], &[&still, &slow]], "quiet"), None);
        let faster = figure(&[(0.2, 100.0); 8]);
        let of = |b: &[&Figure]| choose(&[&still, &still, &still], b, "quiet").1.map(|beside| beside.unit);
        assert_eq!(of(&[&still, &faster, &faster]), Some("cycles"), "the first result is not the side");
        assert_eq!(of(&[&faster, &still, &still]), None, "nor is it where it alone was faster");
        assert!(
            !have_cycles(&[&still, &none], &[&still], 1),
            "a result without cycles cannot be judged by them"
        );
    }

    #[test]
    fn a_core_that_hardly_moved_tells_nothing() {
        // Two cycles that differ by d scatter by d / 2 around their mean.
        let between = |apart: f64| {
            let points: Vec<(f64, f64)> = (0..40)
                .map(|launch| 0.25 * (1.0 + apart * f64::from(launch % 2)))
                .map(|it| (it, it))
                .collect();
            slope_of(&figure(&points), &figure(&[]))
        };
        assert_eq!((between(0.009), between(0.011)), (None, Some(true)));
    }

    /// Sides of two speeds and two costs: only what happens within a side is a slope.
    #[test]
    fn a_difference_between_the_sides_is_no_slope() {
        let slow = figure(
            &moving(6, 0.01, 0.0)
                .launches
                .iter()
                .map(|launch| (launch.chain_ns.unwrap_or(0.0) * 2.0, 200.0))
                .collect::<Vec<_>>(),
        );
        assert_eq!(slope_of(&moving(6, 0.01, 0.0), &slow), Some(false));
    }

    /// Errors of the slope count: a time that scatters by itself shows no slope.
    #[test]
    fn a_slope_among_scatter_is_not_told() {
        let points: Vec<(f64, f64)> = (0..8)
            .map(|launch| {
                (0.25 * (1.0 + 0.01 * f64::from(launch)), 100.0 * (1.0 + 0.2 * f64::from(launch * 5 % 8)))
            })
            .collect();
        assert_eq!(slope_of(&figure(&points), &figure(&[])), None);
    }

    /// Scatter across the slope, which moves no slope: its error alone decides.
    #[test]
    fn a_slope_is_told_where_its_error_leaves_no_other() {
        let found = |power: f64, share: f64| {
            let logs: Vec<f64> = (0..8).map(|launch| 0.01 * f64::from(launch)).collect();
            let square: f64 = logs.iter().map(|log| (log - 0.035).powi(2)).sum();
            // With a scatter of 1 each way the error is that of eight squares over six degrees of freedom.
            let scatter = share * FOLLOWS / ERRORS / (8.0 / 6.0 / square).sqrt();
            let sides = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0];
            let points =
                logs.iter().zip(sides).map(|(log, side)| (log.exp(), (power * log + side * scatter).exp()));
            slope_of(&figure(&points.collect::<Vec<_>>()), &figure(&[]))
        };
        assert_eq!([found(1.0, 0.9), found(0.0, 0.9)], [Some(true), Some(false)]);
        assert_eq!([found(1.0, 1.1), found(0.0, 1.1)], [None; 2]);
    }

    #[test]
    fn a_change_in_another_unit_agrees_beyond_the_threshold_alone() {
        let agrees = |share, verdict| Beside { unit: "ns", share }.agrees(verdict, 0.05);
        assert!(
            agrees(0.06, Verdict::Slower)
                && !agrees(0.05, Verdict::Slower)
                && !agrees(-0.06, Verdict::Slower)
        );
        assert!(
            agrees(-0.06, Verdict::Faster)
                && !agrees(-0.05, Verdict::Faster)
                && !agrees(0.06, Verdict::Faster)
        );
        assert!(agrees(0.5, Verdict::Within) && agrees(-0.5, Verdict::Unclear));
    }

    #[test]
    fn of_one_speed_nothing_is_chosen_anew() {
        let flat = |cycle: f64, ns: f64| figure(&[(cycle, ns); 8]);
        let of_one = |b: Figure, quantity| choose(&[&flat(0.25, 100.0)], &[&b], quantity);
        assert_eq!(of_one(flat(0.2524, 110.0), "quiet"), ("quiet", None));
        assert!(
            of_one(flat(0.2534, 110.0), "quiet").1.is_some()
                && of_one(flat(0.2466, 110.0), "quiet").1.is_some()
        );
        let (quantity, beside) = of_one(flat(0.26, 110.0), "quiet");
        assert_eq!((quantity, beside.map(|beside| beside.unit)), ("quiet", Some("cycles")));
        assert!(beside.is_some_and(|beside| (beside.share - (1.1 / 1.04 - 1.0)).abs() < 1e-12), "{beside:?}");
        let (quantity, beside) = of_one(flat(0.26, 110.0), "cycles");
        assert_eq!((quantity, beside.map(|beside| beside.unit)), ("cycles", Some("ns")));
        assert!(beside.is_some_and(|beside| (beside.share - 0.1).abs() < 1e-12), "{beside:?}");
    }

    #[test]
    fn a_change_has_a_share_in_what_both_sides_have() {
        let flat = |cycle: f64| figure(&[(cycle, 100.0); 8]);
        let share = |a: Figure, b: Figure, quantity: &str| share(&[&a], &[&b], quantity);
        assert_eq!(share(flat(0.25), flat(0.5), "cycles"), Some(-0.5));
        assert_eq!(share(flat(0.25), flat(0.5), "nothing"), None);
        let of = |ns: f64| figure(&[(0.25, ns); 8]);
        assert_eq!(share(of(0.5), of(0.25), "quiet"), Some(-0.5), "below a nanosecond, too");
        assert_eq!([share(of(0.0), of(0.5), "quiet"), share(of(0.5), of(0.0), "quiet")], [None; 2]);
        let have_cycles = |a: Figure, b: Figure| [1, FEW].map(|least| have_cycles(&[&a], &[&b], least));
        assert_eq!(have_cycles(flat(0.25), flat(0.5)), [true; 2]);
        assert_eq!(have_cycles(flat(0.25), figure(&[])), [false; 2]);
        // Launches without a quiet window lack them, and of fewer than four nothing is judged.
        let with = |count: usize| {
            let mut some = flat(0.25);
            some.launches[count..].iter_mut().for_each(|launch| _ = launch.quantities.remove("cycles"));
            some
        };
        for (count, expected) in [(FEW, [true, true]), (FEW - 1, [true, false]), (0, [false; 2])] {
            assert_eq!(have_cycles(flat(0.25), with(count)), expected);
            assert_eq!(have_cycles(with(count), flat(0.25)), expected);
        }
        // What follows the core is judged in cycles; of three launches with cycles they only hold a change in time up.
        let (a, b) = (moving(6, 0.01, 1.0), moving(6, 0.01, 1.0));
        let slower = |mut figure: Figure, count: usize| {
            for launch in &mut figure.launches {
                launch.chain_ns = launch.chain_ns.map(|ns| 1.2 * ns);
                launch
                    .quantities
                    .iter_mut()
                    .filter(|(name, _)| *name != "cycles")
                    .for_each(|(_, ns)| *ns *= 1.2);
            }
            figure.launches[count..].iter_mut().for_each(|launch| _ = launch.quantities.remove("cycles"));
            figure
        };
        assert_eq!(choose(&[&a], &[&slower(b.clone(), FEW)], "quiet"), ("cycles", None));
        let (quantity, beside) = choose(&[&a], &[&slower(b, FEW - 1)], "quiet");
        assert_eq!((quantity, beside.map(|it| it.unit)), ("quiet", Some("cycles")));
        assert!(beside.is_some_and(|it| it.share.abs() < 0.02), "{beside:?}");
        assert_eq!((time_of("cycles"), time_of("floor")), ("quiet", "floor"));
    }

    #[test]
    fn a_launch_without_a_logarithm_has_no_part_in_the_slope() {
        let mut with_nothing = moving(6, 0.01, 1.0);
        with_nothing.launches.extend(figure(&[(0.25, 0.0), (0.25, f64::INFINITY)]).launches);
        assert_eq!(slope_of(&with_nothing, &figure(&[])), Some(true));
    }
}
