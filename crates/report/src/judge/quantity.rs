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
}
