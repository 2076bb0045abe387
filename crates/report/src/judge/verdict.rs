//! The verdicts of a report: all figures are judged together, and a change that the machine explains is none.

use oscost_stats::compare::{Change, Judged, Verdict, judge_at};

use super::asked::{Asked, Question};
use super::{Compared, Shift, percent};

/// The verdict on a ratio to a baseline: a ratio is higher or lower, nothing of it is slower.
#[must_use]
pub fn name_of_pair(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "higher",
        Verdict::Faster => "lower",
        other => other.name(),
    }
}

/// Answers what was asked, in its order. `share`: of every chance of an error, what this look may spend.
pub(super) fn pronounce(asked: Vec<Asked>, threshold: f64, share: f64) -> Vec<Compared> {
    let changes: Vec<Option<Change>> = asked
        .iter()
        .map(|asked| match &asked.question {
            Question::Open { change, .. } => Some(*change),
            Question::Answered => None,
        })
        .collect();
    let judged = judge_at(&changes, threshold, share);
    asked.into_iter().zip(judged).map(|(asked, judged)| answer(asked, judged, threshold)).collect()
}

fn answer(asked: Asked, judged: Option<Judged>, threshold: f64) -> Compared {
    let mut row = asked.row;
    let (Question::Open { beside, hold, neighbour, .. }, Some(judged)) = (asked.question, judged) else {
        return row;
    };
    row.change =
        Some(Shift { change: judged.change, low: judged.low, high: judged.high, level: judged.level });
    row.changed = judged.changed;
    row.verdict = judged.verdict;
    let changed = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
    if let Some(neighbour) = neighbour.filter(|neighbour| neighbour.stands != row.verdict) {
        row.verdict = Verdict::Unclear;
        row.changed = false;
        row.why = neighbour.why;
    } else if let Some(beside) = beside.filter(|beside| changed && !beside.agrees(row.verdict, threshold)) {
        row.verdict = Verdict::Unclear;
        row.changed = false;
        row.why = format!(
            "in {} it is {}: the core ran at another speed, and which of the two is the cost is not known",
            beside.unit,
            percent(beside.share)
        );
    } else if let Some(why) = hold.filter(|_| changed) {
        row.verdict = Verdict::Unclear;
        row.why = why;
    }
    row
}
