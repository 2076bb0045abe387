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
    row.not_slower = judged.high < threshold && beside.is_none_or(|beside| beside.share < threshold);
    let changed = matches!(row.verdict, Verdict::Slower | Verdict::Faster);
    if let Some(neighbour) = neighbour.filter(|neighbour| neighbour.stands != row.verdict) {
        // Without a neighbour of its own, B would be cheaper still.
        row.not_slower &= neighbour.stands == Verdict::Faster;
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

#[cfg(test)]
mod tests {
    use oscost_stats::drift::Drift;
    use oscost_stats::interval::MEDIAN;

    use super::super::asked::Neighbour;
    use super::super::core_speed::Beside;
    use super::*;

    fn change(share: f64) -> Change {
        Change::between(&[100.0; 10], &[100.0 * (1.0 + share); 10], MEDIAN, 0.01, Drift::NONE)
            .expect("a ratio")
    }

    fn blank() -> Compared {
        Compared::blank("a".to_owned(), "floor", "ns".to_owned())
    }

    /// What is pronounced on a change by this share, and why.
    fn told(share: f64, beside: Option<f64>, hold: bool, stands: Option<Verdict>) -> (Verdict, bool, String) {
        let question = Question::Open {
            change: change(share),
            beside: beside.map(|share| Beside { unit: "cycles", share }),
            hold: hold.then(|| "held".to_owned()),
            neighbour: stands.map(|stands| Neighbour { stands, why: "a neighbour".to_owned() }),
        };
        let row = pronounce(vec![Asked { row: blank(), question, kin: None }], 0.05, 1.0).remove(0);
        assert!(row.change.is_some_and(|it| it.low < share && share < it.high && it.level >= 0.9), "{row:?}");
        (row.verdict, row.changed, row.why)
    }

    #[test]
    fn a_neighbour_another_unit_and_a_hold_keep_a_change_from_being_one_in_this_order() {
        use Verdict::{Faster, Slower, Unclear, Within};
        let plainly = |verdict, changed| (verdict, changed, String::new());
        for (share, verdict, other) in [(0.5, Slower, Faster), (-0.4, Faster, Slower)] {
            assert_eq!(told(share, None, false, None), plainly(verdict, true));
            assert_eq!(told(share, Some(share), false, Some(verdict)), plainly(verdict, true), "all agree");
            assert_eq!(told(share, None, true, None), (Unclear, true, "held".to_owned()));
            let neighbour = (Unclear, false, "a neighbour".to_owned());
            assert_eq!(told(share, Some(0.0), true, Some(other)), neighbour);
            let (unclear, changed, why) = told(share, Some(0.04), true, Some(verdict));
            assert_eq!((unclear, changed), (Unclear, false));
            assert!(why.starts_with("in cycles it is +4.0 %: the core ran at another speed"), "{why}");
        }
        assert_eq!(told(0.0, Some(0.5), true, None), plainly(Within, false), "no change needs an excuse");
        assert_eq!(told(0.0, None, false, Some(Slower)), (Unclear, false, "a neighbour".to_owned()));
    }

    /// A neighbour of A, and two units that say two things, may hide that B is slower; a boot, and a neighbour of B, do not.
    #[test]
    fn what_is_certainly_not_slower_is_known_of_what_is_unclear_too() {
        let certain = |share: f64, beside: Option<f64>, hold: bool, stands: Option<Verdict>| {
            let question = Question::Open {
                change: change(share),
                beside: beside.map(|share| Beside { unit: "cycles", share }),
                hold: hold.then(|| "held".to_owned()),
                neighbour: stands.map(|stands| Neighbour { stands, why: String::new() }),
            };
            pronounce(vec![Asked { row: blank(), question, kin: None }], 0.05, 1.0).remove(0).not_slower
        };
        for share in [-0.4, 0.0] {
            assert!(certain(share, None, false, None) && certain(share, None, true, None), "{share}");
            assert!(certain(share, None, false, Some(Verdict::Faster)), "{share}");
            assert!(!certain(share, None, false, Some(Verdict::Slower)), "{share}");
            assert!(!certain(share, None, false, Some(Verdict::Unclear)), "{share}");
        }
        for share in [-0.4, 0.0] {
            assert!(
                certain(share, Some(0.04), false, None) && !certain(share, Some(0.15), false, None),
                "{share}"
            );
        }
        assert!(!certain(0.5, None, false, None) && !certain(0.05, None, false, None));
    }

    #[test]
    fn what_is_answered_stays_as_it_is_and_all_figures_share_the_chances_of_an_error() {
        let open =
            |share: f64| Question::Open { change: change(share), beside: None, hold: None, neighbour: None };
        let all = [open(0.5), Question::Answered, open(0.03)];
        let asked = |(question, id): (Question, &str)| {
            let row = Compared { verdict: Verdict::Within, id: id.to_owned(), ..blank() };
            Asked { row, question, kin: None }
        };
        let rows = pronounce(all.into_iter().zip(["a", "b", "c"]).map(asked).collect(), 0.05, 0.5);
        let judged = judge_at(&[Some(change(0.5)), None, Some(change(0.03))], 0.05, 0.5);
        for (row, judged) in rows.iter().zip(&judged) {
            let shift =
                |it: &Judged| Shift { change: it.change, low: it.low, high: it.high, level: it.level };
            assert_eq!(row.change, judged.as_ref().map(shift), "{}", row.id);
        }
        let told: Vec<(&str, Verdict, bool)> =
            rows.iter().map(|it| (&*it.id, it.verdict, it.changed)).collect();
        let expected =
            [("a", Verdict::Slower, true), ("b", Verdict::Within, false), ("c", Verdict::Within, true)];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_ratio_is_higher_or_lower() {
        assert_eq!(Verdict::ALL.map(name_of_pair), ["higher", "lower", "unclear", "within"]);
    }
}
