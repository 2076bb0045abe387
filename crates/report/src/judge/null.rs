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

/// How often an operation enters the kernel, where its calls were counted.
pub(super) fn calls(figure: &Figure) -> Option<f64> {
    figure.evidence.audit_method.as_ref()?;
    Some(figure.evidence.system_calls.values().sum())
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
