//! The null of two results: figures of a class say together how far unchanged ones moved. METHOD.md, Verdicts on two runs.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Figure, Mark, RunResult, Status};
use oscost_stats::null::{FEWEST_FIGURES, Moved, nulls};
use oscost_stats::quantile::{median, sorted};

use super::asked::{Asked, Class, Kin, Question};
use super::other_cpu;
use super::quantity::{common, launches, refusal};

/// Calls of an operation that are none: an audit counts a few around it.
const NO_CALL: f64 = 0.5;

/// Whether others had a part of the measured CPU, or of its core.
pub(super) fn is_disturbed(figure: &Figure) -> bool {
    [Mark::BusySibling, Mark::Shared].iter().any(|mark| figure.marks.contains(mark))
}

/// How often an operation enters the kernel, by the results in which its calls were counted.
pub(super) fn calls(figures: [&Figure; 2]) -> Option<f64> {
    let counted = figures.iter().filter(|figure| figure.evidence.audit_method.is_some());
    let calls: Vec<f64> = counted.map(|figure| figure.evidence.system_calls.values().sum()).collect();
    (!calls.is_empty()).then(|| calls.iter().sum::<f64>() / calls.len() as f64)
}

/// Classes of which both results have enough figures that tell how far they moved.
pub(super) fn with_a_null(a: &RunResult, b: &RunResult) -> BTreeSet<Class> {
    let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
    let measured = |figure: &&Figure| figure.status == Status::Measured;
    for figure in a.figures.iter().filter(measured) {
        let other = b.figures.iter().filter(measured).find(|other| other.id == figure.id);
        if other.is_some_and(|other| tells([a, b], [figure, other])) {
            *counts.entry(Class::of(figure)).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count >= FEWEST_FIGURES).map(|(class, _)| class).collect()
}

/// Whether the launches of a figure tell by how much it moved between two results, and how well that is known.
fn tells(results: [&RunResult; 2], figures: [&Figure; 2]) -> bool {
    let several = |quantity: &str| {
        launches(&figures, quantity).iter().all(|of| of.len() > 1 && of.iter().all(|value| *value > 0.0))
    };
    let [a, b] = figures;
    common(&figures).is_some_and(|named| refusal(&figures, &named).is_none() && several(&named))
        && other_cpu::refusal(results.into_iter(), [&[a], &[b]]).is_none()
}

/// Scales the error of every figure by its null. Returns by how much all that enters the kernel changed, as logarithms.
pub(super) fn scale(asked: &mut [Asked]) -> Vec<f64> {
    let mut classes: BTreeMap<Class, Vec<(usize, Moved)>> = BTreeMap::new();
    for (asked, index) in asked.iter().zip(0..) {
        if let (Question::Open { change, .. }, Some(Kin { class, calls, price, .. })) =
            (&asked.question, &asked.kin)
        {
            let (apart, error) = change.moved();
            // One launch tells nothing of its error: that it moved by none of it is no news.
            if !error.is_finite() {
                continue;
            }
            let enters = calls.map(|calls| calls >= NO_CALL);
            let moved = Moved { apart, error, enters, price: *price, calls: calls.unwrap_or_default() };
            classes.entry(class.clone()).or_default().push((index, moved));
        }
    }
    let mut shifts = Vec::new();
    for (indices, moved) in
        classes.into_values().map(|figures| figures.into_iter().unzip::<_, _, Vec<_>, Vec<_>>())
    {
        let Some(nulls) = nulls(&moved) else { continue };
        let of_class = nulls.iter().map(|null| null.shift).filter(|shift| *shift != 0.0).collect();
        shifts.extend(median(&sorted(of_class)));
        for (index, null) in indices.into_iter().zip(&nulls) {
            if let Question::Open { change, .. } = &mut asked[index].question {
                *change = change.scaled(null);
            }
        }
    }
    for asked in asked {
        if let (Question::Open { change, .. }, Some(kin)) = (&mut asked.question, &asked.kin) {
            *change = change.drifting(kin.own);
        }
    }
    shifts
}

#[cfg(test)]
mod tests {
    use oscost_results::LaunchRecord;
    use oscost_stats::compare::Change;
    use oscost_stats::drift::Drift;
    use oscost_stats::interval::MEDIAN;
    use serde_json::json;

    use super::super::Compared;
    use super::*;

    fn figure(id: &str, launches: &[f64]) -> Figure {
        let mut figure: Figure = serde_json::from_value(json!({
            "id": id, "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
            "call_path": "libc", "group": "", "status": "measured", "headline": "floor", "placement": "one_cpu",
        }))
        .expect("a figure");
        let launch = |floor: &f64| LaunchRecord {
            quantities: [("floor".to_owned(), *floor)].into(),
            ..LaunchRecord::default()
        };
        figure.launches = launches.iter().map(launch).collect();
        figure
    }

    fn result(figures: Vec<Figure>) -> RunResult {
        let begun = std::time::UNIX_EPOCH;
        let result = RunResult::begun(begun, Default::default(), Default::default(), Default::default());
        RunResult { figures, ..result }
    }

    #[test]
    fn a_class_has_a_null_where_both_results_have_enough_figures_that_tell() {
        let all = |count: usize| -> RunResult {
            result((0..count).map(|at| figure(&at.to_string(), &[1.0, 1.1])).collect())
        };
        let one_cpu = BTreeSet::from([Class::one_cpu()]);
        let (a, few) = (all(FEWEST_FIGURES), all(FEWEST_FIGURES - 1));
        assert_eq!(with_a_null(&a, &a), one_cpu);
        for (a, b) in [(&a, &few), (&few, &a), (&few, &few)] {
            assert!(with_a_null(a, b).is_empty());
        }
        let without_one = |change: &dyn Fn(&mut Figure)| {
            let mut other = a.clone();
            change(&mut other.figures[3]);
            [with_a_null(&a, &other), with_a_null(&other, &a)]
        };
        assert_eq!(without_one(&|_| ()), [one_cpu.clone(), one_cpu.clone()]);
        // A placement on one CPU of another name is of the class; what it is compared with decides nothing.
        assert!(with_a_null(&a, &result(a.figures.iter().rev().cloned().collect())) == one_cpu);
        let mut same = a.clone();
        same.figures.iter_mut().for_each(|it| it.placement = "same_cpu".to_owned());
        assert_eq!(with_a_null(&same, &a), one_cpu);
        let changes: [&dyn Fn(&mut Figure); 6] = [
            &|it| it.status = Status::Failed,
            &|it| it.launches.truncate(1),
            &|it| it.launches[1].quantities = [("floor".to_owned(), 0.0)].into(),
            &|it| it.revision = 2,
            &|it| it.launches.iter_mut().for_each(|launch| launch.quantities.clear()),
            &|it| it.id = "another".to_owned(),
        ];
        for change in changes {
            assert_eq!(without_one(change), [BTreeSet::new(), BTreeSet::new()]);
        }
    }

    #[test]
    fn calls_are_known_where_they_were_counted_and_others_where_they_are_marked() {
        let mut one = figure("a", &[]);
        one.evidence.system_calls = [("read".to_owned(), 1.0), ("write".to_owned(), 0.5)].into();
        let uncounted = one.clone();
        assert_eq!((calls([&one, &one]), is_disturbed(&one)), (None, false));
        one.evidence.audit_method = Some("ptrace".to_owned());
        let mut twice = one.clone();
        twice.evidence.system_calls.insert("read".to_owned(), 2.0);
        for (a, b, of_both) in [(&one, &one, 1.5), (&one, &uncounted, 1.5), (&one, &twice, 2.0)] {
            assert_eq!([calls([a, b]), calls([b, a])], [Some(of_both); 2], "whichever is the first");
        }
        for (mark, disturbed) in [(Mark::Shared, true), (Mark::BusySibling, true), (Mark::Noisy, false)] {
            one.marks = vec![mark];
            assert_eq!(is_disturbed(&one), disturbed, "{mark:?}");
        }
    }

    /// A figure that moved by this share, beside what past runs show of it.
    fn asked(share: f64, scatter: f64, launches: usize, kin: Option<(&str, Option<f64>)>) -> Asked {
        let a: Vec<f64> = (0..launches).map(|at| 100.0 * (1.0 + scatter * (at % 3) as f64)).collect();
        let b: Vec<f64> = a.iter().map(|it| it * (1.0 + share)).collect();
        let change = Change::between(&a, &b, MEDIAN, 0.0, Drift::NONE).expect("a ratio");
        let kin = kin.map(|(class, calls)| {
            let price = 100.0 * (1.0 + share);
            Kin { class: Class::of_placement(class), calls, price, own: Drift::usual(0.02) }
        });
        let question = Question::Open { change, beside: None, hold: None, neighbour: None };
        Asked { row: Compared::blank(String::new(), "floor", "ns".to_owned()), question, kin }
    }

    fn change_of(asked: &Asked) -> Option<Change> {
        if let Question::Open { change, .. } = &asked.question { Some(*change) } else { None }
    }

    /// Fourteen that enter the kernel moved by 8 % and a little, four that do not stood still.
    #[test]
    fn figures_of_a_class_tell_what_all_of_them_moved_by() {
        let share = |at: usize| 0.08 + 1e-4 * (at % 4) as f64;
        let inside = (0..14).map(|at| {
            let calls = if at % 2 == 0 { NO_CALL } else { 1.0 };
            asked(share(at), 1e-3, 5, Some(("same_cpu", Some(calls))))
        });
        let outside = (0..4).map(|at| {
            let calls = if at == 0 { 0.0 } else { NO_CALL - 0.01 };
            asked(1e-4 * at as f64, 1e-3, 5, Some(("one_cpu", Some(calls))))
        });
        let uncounted = asked(0.05, 1e-3, 5, Some(("one_cpu", None)));
        let mut all: Vec<Asked> = inside.chain(outside).chain([uncounted]).collect();
        let moved = |asked: &Asked| {
            let ((apart, error), kin) = (change_of(asked)?.moved(), asked.kin.as_ref()?);
            let enters = kin.calls.map(|calls| calls > 0.495);
            Some(Moved { apart, error, enters, price: kin.price, calls: kin.calls.unwrap_or(0.0) })
        };
        let of_class: Vec<Moved> = all.iter().filter_map(moved).collect();
        let expected = nulls(&of_class).expect("nineteen figures");
        // These are of no class: another placement, no kin, nothing open, one launch, of which no error is known.
        all.push(asked(0.3, 1e-3, 5, Some(("spread", Some(1.0)))));
        all.push(asked(0.3, 1e-3, 5, None));
        all.push(Asked { question: Question::Answered, ..asked(0.3, 1e-3, 5, Some(("one_cpu", Some(1.0)))) });
        all.push(asked(0.3, 0.0, 1, Some(("one_cpu", Some(1.0)))));
        let before: Vec<Option<Change>> = all.iter().map(change_of).collect();
        let shifts = scale(&mut all);
        let own = Drift::usual(0.02);
        for (at, (before, asked)) in before.iter().zip(&all).enumerate() {
            let now = match (expected.get(at), at) {
                (Some(null), _) => before.map(|it| it.scaled(null).drifting(own)),
                (None, 20) => *before,
                _ => before.map(|it| it.drifting(own)),
            };
            assert_eq!(change_of(asked), now, "{at}");
        }
        let of_inside: Vec<f64> = expected.iter().map(|it| it.shift).filter(|it| *it != 0.0).collect();
        assert_eq!(shifts, [median(&sorted(of_inside)).expect("fourteen shifts")]);
        assert!((shifts[0].exp_m1() - 0.08).abs() < 0.002, "{shifts:?}");
    }
}
