//! The null of two results: figures of a class say together how far unchanged ones moved. METHOD.md, Verdicts on two runs.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Figure, Mark, RunResult, Status};
use oscost_stats::null::{FEWEST_FIGURES, Moved, nulls};
use oscost_stats::quantile::{median, sorted};

use super::asked::{Asked, Class, Kin, Question};

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

/// Classes of which both results measured enough figures by one method.
pub(super) fn with_a_null(a: &RunResult, b: &RunResult) -> BTreeSet<Class> {
    let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
    let measured = |figure: &&Figure| figure.status == Status::Measured;
    for figure in a.figures.iter().filter(measured) {
        let same = |other: &&Figure| other.id == figure.id && other.revision == figure.revision;
        if b.figures.iter().filter(measured).any(|other| same(&other)) {
            *counts.entry(Class::of(figure)).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count >= FEWEST_FIGURES).map(|(class, _)| class).collect()
}

/// Scales the error of every figure by its null. Returns by how much all that enters the kernel changed, as logarithms.
pub(super) fn scale(asked: &mut [Asked]) -> Vec<f64> {
    let mut classes: BTreeMap<Class, Vec<(usize, Moved)>> = BTreeMap::new();
    for (asked, index) in asked.iter().zip(0..) {
        if let (Question::Open { change, .. }, Some(Kin { class, calls, price, .. })) =
            (&asked.question, &asked.kin)
        {
            let (apart, error) = change.moved();
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
