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

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(
        id: &str,
        placement: &str,
        enters_kernel: bool,
        launches: &[(&str, f64, usize)],
    ) -> Reference {
        let value = |price: f64, at: usize| price * (1.0 + 1e-4 * (at % 3) as f64);
        let of = |&(name, price, count): &(&str, f64, usize)| {
            (name.to_owned(), (0..count).map(|at| value(price, at)).collect())
        };
        Reference {
            id: id.to_owned(),
            revision: 1,
            placement: placement.to_owned(),
            enters_kernel,
            launches: launches.iter().map(of).collect(),
            unknown: serde_json::Map::default(),
        }
    }

    #[test]
    fn a_reference_moved_in_the_quantity_that_scatters_least() {
        let of = |launches: &[(&str, f64, usize)]| reference("a", "one_cpu", true, launches);
        let change = |quantity: &str, a: &Reference, b: &Reference| {
            let (a, b) = (&a.launches[quantity], &b.launches[quantity]);
            Change::between(a, b, quantile_of(quantity), 0.0, Drift::NONE).expect("a ratio").moved()
        };
        let (mut a, mut b) =
            (of(&[("floor", 1.0, 6), ("quiet", 1.0, 6)]), of(&[("floor", 1.1, 6), ("quiet", 1.2, 6)]));
        let (apart, error) = change("quiet", &a, &b);
        a.launches.get_mut("floor").expect("there")[0] *= 1.5;
        let known = Moved { apart, error, enters: Some(true), price: 1.0, calls: 1.0 };
        assert_eq!(moved(&a, &b), Some(known));
        b.launches.get_mut("quiet").expect("there").truncate(FEW);
        assert!(moved(&a, &b).is_some_and(|it| (it.apart - 1.2_f64.ln()).abs() < 1e-3), "{FEW} are enough");
        b.launches.get_mut("quiet").expect("there").truncate(FEW - 1);
        let (apart, error) = change("floor", &a, &b);
        assert_eq!(moved(&a, &b), Some(Moved { apart, error, ..known }));
        assert_eq!(moved(&of(&[("floor", 1.0, 6)]), &of(&[("quiet", 1.0, 6)])), None);
        let outside = reference("a", "one_cpu", false, &[("floor", 1.0, 6)]);
        assert_eq!(moved(&outside, &outside).and_then(|it| it.enters), Some(false));
    }

    fn result(references: Vec<Reference>) -> RunResult {
        let begun = std::time::UNIX_EPOCH;
        let result = RunResult::begun(begun, Default::default(), Default::default(), Default::default());
        RunResult { references, ..result }
    }

    /// What stays out of the kernel speaks for every class.
    #[test]
    fn references_tell_of_each_class_by_its_own_and_by_those_that_stand_still() {
        let run = |factor: f64| {
            let of = |placement: &'static str, inside: bool, count: usize, factor: f64| {
                (0..count).map(move |at| {
                    let id = format!("{placement} {inside} {at}");
                    reference(&id, placement, inside, &[("floor", factor, 6)])
                })
            };
            let all = of("same_cpu", true, 5, factor).chain(of("one_cpu", false, 3, 1.0));
            result(all.chain(of("cross_cpu", true, 5, factor * factor)).collect())
        };
        let (a, b) = (run(1.0), run(1.1));
        let told = of(&a, &b);
        let shift = |placement: &str| told.get(&Class::of_placement(placement)).map(|it| it.shift.exp_m1());
        let near = |found: Option<f64>, share: f64| found.is_some_and(|it| (it - share).abs() < 1e-6);
        assert!(near(shift("one_cpu"), 0.1) && near(shift("cross_cpu"), 0.21), "{told:?}");
        assert_eq!(told.len(), 2);
        // Each of these leaves too few of one kind.
        let told = |change: &dyn Fn(&mut RunResult)| {
            let mut b = b.clone();
            change(&mut b);
            of(&a, &b).into_keys().map(|class| class.is_one_cpu()).collect::<Vec<bool>>()
        };
        assert_eq!(told(&|_| ()), [false, true]);
        assert_eq!(told(&|b| b.references[0].revision = 2), [false]);
        assert_eq!(told(&|b| b.references[12].id = "another".to_owned()), [true]);
        assert!(told(&|b| _ = b.references.remove(5)).is_empty(), "one that stands still is missing");
    }
}
