//! Which quantity of a figure is judged, and how its launches are put together.

use oscost_results::quantity::TYPICAL;
use oscost_results::{Figure, near};
use oscost_stats::interval::{Centre, LOWER_QUARTILE, MEDIAN};
use oscost_stats::sorting::SmallSort;

/// What a neighbour moves least.
pub(super) const FLOOR: &str = "floor";
/// Quantities of a figure on one CPU that may be judged.
const ON_ONE_CPU: [&str; 3] = ["cycles", "quiet", FLOOR];
/// Fewer launches that have a quantity than this show too little of its scatter.
pub(super) const FEW: usize = 4;
/// An interval is clearly narrower if it is at most this much of another one.
const CLEARLY: f64 = 0.8;
/// The interval of a median is far narrower if it is at most this much of a lower quartile's. With more, 99 % intervals of stored runs
/// hold the truth too seldom: where states last for many launches, a median moves between them, and its launches do not show it.
const FAR: f64 = 0.5;

/// Whether a quantity is one of a figure on one CPU.
pub(super) fn is_on_one_cpu(quantity: &str) -> bool {
    ON_ONE_CPU.contains(&quantity)
}

/// How launches of a quantity are put together. A typical price is so wherever the figure was placed: the price list has the median
/// where no other CPU is woken, by which fewer changes of stored runs are found.
pub(super) fn quantile_of(quantity: &str) -> f64 {
    if is_on_one_cpu(quantity) || quantity == TYPICAL { LOWER_QUARTILE } else { MEDIAN }
}

/// The quantity in ns that belongs to one in cycles.
pub(super) fn time_of(quantity: &str) -> &str {
    if quantity == "cycles" { "quiet" } else { quantity }
}

/// The quantity that all of these figures have launches of: what their cards let judge, or what is quoted.
pub(super) fn common(figures: &[&Figure]) -> Option<String> {
    first_common(figures, false)
}

/// The same, of time where their cards name cycles.
pub(super) fn common_in_time(figures: &[&Figure]) -> Option<String> {
    first_common(figures, true)
}

fn first_common(figures: &[&Figure], in_time: bool) -> Option<String> {
    let has = |figure: &&Figure, name: &str| {
        figure.launches.iter().any(|launch| launch.quantities.contains_key(name))
    };
    // A result names what was steadiest in it. Where two name different ones, no side decides.
    let sorted = |name: fn(&Figure) -> &str| -> Vec<&str> {
        let names = figures.iter().map(|figure| name(figure)).filter(|name| !name.is_empty());
        let mut names: Vec<&str> = names.map(|name| if in_time { time_of(name) } else { name }).collect();
        names.small_sort_by_key(|name| (ON_ONE_CPU.iter().position(|it| it == name), *name));
        names
    };
    let names = [sorted(Figure::judged), sorted(|figure| &figure.headline)].concat();
    names.into_iter().find(|name| figures.iter().all(|figure| has(figure, name))).map(str::to_owned)
}

/// The quantity of any number of runs, and the quantile of their launches, that scatters least, of those on one CPU.
pub(super) fn steadiest<'q>(figures: &[&Figure], named: &'q str) -> (&'q str, f64) {
    clearly_best_way(named, |quantity, q| {
        let error = |launches: Vec<f64>| {
            let centre = Centre::of(&launches, q).filter(|it| it.relative)?;
            (launches.len() >= FEW).then_some(centre.error * centre.error)
        };
        launches(figures, quantity).into_iter().map(error).sum::<Option<f64>>().map(f64::sqrt)
    })
}

/// The same with the quantile over launches: the usual one, unless a median is far narrower. The lower quartile lies on the state that
/// repeats, but jumps where about a quarter of the launches are of a faster one.
pub(super) fn clearly_best_way(named: &str, mut width: impl FnMut(&str, f64) -> Option<f64>) -> (&str, f64) {
    let mut of = |quantity: &str, q: f64| width(quantity, q).filter(|width| width.is_finite());
    let quantity = clearly_best(named, |quantity| of(quantity, quantile_of(quantity)));
    let usual = (quantity, quantile_of(quantity));
    if !is_on_one_cpu(named) {
        return usual;
    }
    let middle = clearly_best(named, |quantity| of(quantity, MEDIAN));
    let narrower = of(middle, MEDIAN).zip(of(usual.0, usual.1)).is_some_and(|(of, usual)| of < FAR * usual);
    if narrower { (middle, MEDIAN) } else { usual }
}

/// `named`, or the other quantity on one CPU that is clearly narrower.
pub(super) fn clearly_best(named: &str, mut width: impl FnMut(&str) -> Option<f64>) -> &str {
    if !is_on_one_cpu(named) {
        return named;
    }
    let mut width = |quantity: &str| width(quantity).filter(|width| width.is_finite());
    let mut best = (named, width(named).unwrap_or(f64::INFINITY));
    for other in ON_ONE_CPU.into_iter().filter(|other| *other != named) {
        if let Some(width) = width(other).filter(|width| *width < CLEARLY * best.1) {
            best = (other, width);
        }
    }
    best.0
}

/// Launches of a quantity, one list a result.
pub(super) fn launches(figures: &[&Figure], quantity: &str) -> Vec<Vec<f64>> {
    let values = |figure: &&Figure| {
        let hops: Vec<Option<f64>> = figure.launches.iter().map(|launch| launch.hop_ns).collect();
        let near = figure.launches.iter().zip(near(&hops)).filter(|(_, near)| *near);
        near.filter_map(|(launch, _)| launch.quantities.get(quantity).copied()).collect()
    };
    figures.iter().map(values).collect()
}

/// The unit of a quantity of a figure.
pub(super) fn unit(figure: &Figure, quantity: &str) -> String {
    figure.quantities.get(quantity).map_or_else(|| "ns".to_owned(), |quantity| quantity.unit.clone())
}

/// Why figures that were all measured are not held against each other.
pub(super) fn refusal(figures: &[&Figure], quantity: &str) -> Option<String> {
    let first = figures.first()?;
    if figures.iter().any(|figure| figure.revision != first.revision) {
        let mut revisions: Vec<u32> = figures.iter().map(|figure| figure.revision).collect();
        revisions.dedup();
        let revisions: Vec<String> = revisions.iter().map(ToString::to_string).collect();
        Some(format!("its method changed between revisions {}", revisions.join(" and ")))
    } else if figures.iter().any(|figure| unit(figure, quantity) != unit(first, quantity)) {
        Some("the units differ".to_owned())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each result names what was steadiest in it, and which of two files was typed first decided the verdict.
    #[test]
    fn no_side_decides_what_is_judged() {
        let figure = |judged: &str| {
            let mut figure: Figure = serde_json::from_value(json!({
                "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
                "call_path": "libc", "group": "", "status": "measured", "headline": "floor", "judged": judged,
            }))
            .expect("a figure");
            let mut launch = oscost_results::LaunchRecord::default();
            launch.quantities.extend(["floor", "cycles"].map(|name| (name.to_owned(), 1.0)));
            figure.launches.push(launch);
            figure
        };
        let (floor, cycles) = (figure("floor"), figure("cycles"));
        let named = [common(&[&floor, &cycles]), common(&[&cycles, &floor])];
        assert_eq!(named, [Some("cycles".to_owned()), Some("cycles".to_owned())]);
        assert_eq!(common(&[&floor, &floor]).as_deref(), Some("floor"));
    }

    /// A width of each quantity on one CPU, in the order of [`ON_ONE_CPU`].
    fn of<T: Copy>(widths: [T; 3], quantity: &str) -> Option<T> {
        ON_ONE_CPU.iter().position(|it| *it == quantity).map(|at| widths[at])
    }

    #[test]
    fn another_quantity_is_taken_where_its_interval_is_clearly_narrower() {
        let best = |named: &'static str, widths: [f64; 3]| {
            clearly_best(named, |quantity| of(widths, quantity).filter(|width| *width > 0.0))
        };
        for (widths, expected) in [
            ([0.79, 0.79, 1.0], "cycles"),
            ([0.79, 0.62, 1.0], "quiet"),
            ([CLEARLY, 0.9, 1.0], "floor"),
            ([0.0, 0.79, 1.0], "quiet"),
            ([9.0, 0.0, 0.0], "cycles"),
            ([f64::INFINITY, 0.0, 0.0], "floor"),
            ([0.0; 3], "floor"),
        ] {
            assert_eq!(best("floor", widths), expected, "{widths:?}");
        }
        assert_eq!((best("quiet", [0.9, 1.0, 0.7]), best("typical", [0.1; 3])), ("floor", "typical"));
    }

    #[test]
    fn a_median_is_taken_where_it_is_far_narrower() {
        let best = |named: &'static str, quartiles: [f64; 3], medians: [f64; 3]| {
            clearly_best_way(named, |quantity, q| {
                let widths = if q == MEDIAN { medians } else { quartiles };
                of(widths, quantity).or(Some(1.0)).filter(|width| *width > 0.0)
            })
        };
        for (quartiles, medians, expected) in [
            ([1.0; 3], [1.0, 1.0, 0.51], ("floor", LOWER_QUARTILE)),
            ([1.0; 3], [1.0, 1.0, FAR], ("floor", LOWER_QUARTILE)),
            ([1.0; 3], [1.0, 1.0, 0.49], ("floor", MEDIAN)),
            ([1.0; 3], [0.3, 1.0, 0.4], ("cycles", MEDIAN)),
            ([0.5, 1.0, 1.0], [1.0, 1.0, 0.3], ("cycles", LOWER_QUARTILE)),
            ([0.0; 3], [1.0, 1.0, 0.3], ("floor", LOWER_QUARTILE)),
            ([1.0; 3], [0.0; 3], ("floor", LOWER_QUARTILE)),
        ] {
            assert_eq!(best("floor", quartiles, medians), expected, "{quartiles:?} {medians:?}");
        }
        assert_eq!(best("typical", [1.0; 3], [0.1; 3]), ("typical", LOWER_QUARTILE));
        assert_eq!(best("last_p50", [0.1; 3], [0.1; 3]), ("last_p50", MEDIAN));
        assert_eq!(ON_ONE_CPU.map(quantile_of), [LOWER_QUARTILE; 3]);
        assert_eq!((time_of("cycles"), time_of("quiet"), time_of("typical")), ("quiet", "quiet", "typical"));
    }

    /// A figure with these launches in cycles and these floors.
    fn launched(cycles: &[f64], floors: &[f64]) -> Figure {
        let launches: Vec<_> = cycles
            .iter()
            .zip(floors)
            .map(|(cycles, floor)| {
                let quantities = [("cycles".to_owned(), *cycles), ("floor".to_owned(), *floor)].into();
                oscost_results::LaunchRecord { quantities, ..Default::default() }
            })
            .collect();
        let mut figure: Figure = serde_json::from_value(json!({
            "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
            "call_path": "libc", "group": "", "status": "measured", "headline": "floor",
            "quantities": {"cycles": {"value": 1.0, "low": 1.0, "high": 1.0, "unit": "cycles"}},
        }))
        .expect("a figure");
        figure.launches = launches;
        figure
    }

    #[test]
    fn what_scatters_least_over_all_runs_is_steadiest() {
        const STEADY: [f64; 4] = [100.0, 100.1, 100.2, 100.3];
        const WIDE: [f64; 4] = [100.0, 110.0, 120.0, 130.0];
        let of = |figures: &[Figure]| steadiest(&figures.iter().collect::<Vec<_>>(), "floor").0.to_owned();
        let good = launched(&STEADY, &WIDE);
        assert_eq!(of(&[good.clone(), good.clone()]), "cycles");
        assert_eq!(of(&[good.clone(), launched(&STEADY[..3], &WIDE[..3])]), "floor", "too few in one run");
        assert_eq!(of(&[good.clone(), launched(&[0.0, 1.0, 1.0, 1.0], &WIDE)]), "floor", "no logarithm");
        assert_eq!(of(&[good.clone(), launched(&WIDE, &STEADY)]), "floor", "either scatters in one run");
        let narrow = [10.0, 10.001, 10.002, 10.003].map(|it| it * 0.01);
        assert_eq!(of(&[good, launched(&narrow, &WIDE)]), "cycles", "in shares of each");
    }

    #[test]
    fn other_methods_and_other_units_are_not_held_against_each_other() {
        let figure = launched(&[1.0], &[1.0]);
        let changed = |change: &dyn Fn(&mut Figure)| {
            let mut last = figure.clone();
            change(&mut last);
            refusal(&[&figure, &figure, &last], "cycles")
        };
        assert_eq!(changed(&|_| ()), None);
        let revisions = "its method changed between revisions 1 and 3";
        assert_eq!(changed(&|last| last.revision = 3).as_deref(), Some(revisions));
        let other = changed(&|last| last.quantities.values_mut().for_each(|it| it.unit = "ns".to_owned()));
        assert_eq!(other.as_deref(), Some("the units differ"));
        assert_eq!((unit(&figure, "cycles"), unit(&figure, "floor")), ("cycles".to_owned(), "ns".to_owned()));
        assert_eq!(
            common_in_time(&[&Figure { judged: "cycles".to_owned(), ..figure.clone() }]).as_deref(),
            Some("floor")
        );
    }
}
