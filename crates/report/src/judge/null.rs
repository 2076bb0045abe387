//! The null of two results: figures of a class say together how far unchanged ones moved. METHOD.md, Verdicts on two runs.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::{Figure, Mark, RunResult, Status};
use oscost_stats::null::{FEWEST_FIGURES, Moved, Null, null};

use super::asked::{Asked, Class, Question};

/// Calls of an operation that are none: an audit counts a few around it.
const NO_CALL: f64 = 0.5;

/// Whether others had a part of the measured CPU, or of its core.
pub(super) fn is_disturbed(figure: &Figure) -> bool {
    [Mark::BusySibling, Mark::Shared].iter().any(|mark| figure.marks.contains(mark))
}

/// Whether an operation enters the kernel, where its calls were counted.
pub(super) fn enters(figure: &Figure) -> Option<bool> {
    figure.evidence.audit_method.as_ref()?;
    Some(figure.evidence.system_calls.values().sum::<f64>() >= NO_CALL)
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

/// Scales the errors of every class by its null. Returns by how much all that enters the kernel changed, as logarithms.
pub(super) fn scale(asked: &mut [Asked]) -> Vec<f64> {
    let mut classes: BTreeMap<Class, Vec<Moved>> = BTreeMap::new();
    for asked in asked.iter() {
        if let (Question::Open { change, .. }, Some((class, enters))) = (&asked.question, &asked.class) {
            let (apart, error) = change.moved();
            classes.entry(class.clone()).or_default().push(Moved { apart, error, enters: *enters });
        }
    }
    let nulls: BTreeMap<Class, Null> =
        classes.into_iter().filter_map(|(class, moved)| Some((class, null(&moved)?))).collect();
    for asked in asked {
        let Some((class, _)) = &asked.class else { continue };
        if let (Question::Open { change, .. }, Some(null)) = (&mut asked.question, nulls.get(class)) {
            *change = change.scaled(null);
        }
    }
    nulls.values().map(|null| null.shift).filter(|shift| *shift != 0.0).collect()
}
