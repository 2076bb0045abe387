//! References of two results: how far figures that nobody changed moved between them, where the results have few. METHOD.md, Drift.

use std::collections::BTreeMap;

use oscost_results::{Reference, RunResult};
use oscost_stats::compare::Change;
use oscost_stats::drift::Drift;
use oscost_stats::null::Moved;
use oscost_stats::references::{ReferenceDrift, told};

use super::asked::Class;
use super::quantity::{FEW, quantile_of};

/// What the references of two results say of the figures of each class.
pub(super) fn of(a: &RunResult, b: &RunResult) -> BTreeMap<Class, ReferenceDrift> {
    let is_figure = |id: &str| a.figures.iter().chain(&b.figures).any(|figure| figure.id == id);
    let both = a.references.iter().filter(|of_a| !is_figure(&of_a.id)).filter_map(|of_a| {
        let same = |of_b: &&Reference| (&of_b.id, of_b.revision) == (&of_a.id, of_a.revision);
        Some((Class::of_placement(&of_a.placement), moved(of_a, b.references.iter().find(same)?)?))
    });
    let mut classes: BTreeMap<Class, Vec<Moved>> = BTreeMap::new();
    for (class, moved) in both {
        classes.entry(class).or_default().push(moved);
    }
    // What stays out of the kernel stays on one CPU.
    let outside: Vec<Moved> =
        classes.values().flatten().filter(|it| it.enters == Some(false)).copied().collect();
    for (class, moved) in &mut classes {
        if !class.is_one_cpu() {
            moved.extend(&outside);
        }
    }
    classes.into_iter().filter_map(|(class, moved)| Some((class, told(&moved)?))).collect()
}

/// By how much a reference moved, in the quantity of which its launches scatter least.
fn moved(a: &Reference, b: &Reference) -> Option<Moved> {
    let change = |(quantity, of_a): (&String, &Vec<f64>)| {
        let of_b = b.launches.get(quantity)?;
        (of_a.len().min(of_b.len()) >= FEW)
            .then(|| Change::between(of_a, of_b, quantile_of(quantity), 0.0, Drift::NONE))
            .flatten()
    };
    let all = a.launches.iter().filter_map(change).map(|change| change.moved());
    let (apart, error) = all.min_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Moved { apart, error, enters: Some(a.enters_kernel), price: 1.0, calls: 1.0 })
}
