//! Which quantity of a figure is judged, and how its launches are put together.

use oscost_results::quantity::TYPICAL;
use oscost_results::{Figure, near};
use oscost_stats::interval::{Centre, LOWER_QUARTILE, MEDIAN};

/// Quantities of a figure on one CPU that may be judged.
const ON_ONE_CPU: [&str; 3] = ["cycles", "quiet", "floor"];
/// Fewer launches that have a quantity than this show too little of its scatter.
pub(super) const FEW: usize = 4;
/// An interval is clearly narrower if it is at most this much of another one.
const CLEARLY: f64 = 0.8;

/// Whether a quantity is one of a figure on one CPU.
pub(super) fn is_on_one_cpu(quantity: &str) -> bool {
    ON_ONE_CPU.contains(&quantity)
}

/// How launches of a quantity are put together.
pub(super) fn quantile_of(quantity: &str) -> f64 {
    if is_on_one_cpu(quantity) || quantity == TYPICAL { LOWER_QUARTILE } else { MEDIAN }
}

/// The quantity that all of these figures have launches of: what their cards let judge, or what is quoted.
pub(super) fn common(figures: &[&Figure]) -> Option<String> {
    let has = |figure: &&Figure, name: &str| {
        figure.launches.iter().any(|launch| launch.quantities.contains_key(name))
    };
    let named = figures.iter().map(|figure| figure.judged());
    let quoted = figures.iter().map(|figure| figure.headline.as_str());
    let mut names = named.chain(quoted).filter(|name| !name.is_empty());
    names.find(|name| figures.iter().all(|figure| has(figure, name))).map(str::to_owned)
}

/// The quantity of any number of runs of which their launches scatter least, of those on one CPU.
pub(super) fn steadiest<'q>(figures: &[&Figure], named: &'q str) -> &'q str {
    clearly_best(named, |quantity| {
        let error = |launches: Vec<f64>| {
            let centre = Centre::of(&launches, quantile_of(quantity)).filter(|it| it.relative)?;
            (launches.len() >= FEW).then_some(centre.error * centre.error)
        };
        launches(figures, quantity).into_iter().map(error).sum::<Option<f64>>().map(f64::sqrt)
    })
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
