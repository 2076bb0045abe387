//! Verdicts of a run that was ended before its plan was: none rests on fewer launches than an interval needs.

use oscost_results::{Judgement, Reproduction};

use crate::found::{Found, LEAST_RUNS, is_counted};
use crate::parameters::DocumentParameters;
use crate::{Document, UNMEASURED};

/// The rows of `document` for a run that was cut short. `fewest` is the number of launches of the figure that has the fewest.
///
/// Counts of the audit are whole, and arithmetic needs no run: such verdicts stay. Any other one stays, and says that it comes of
/// a run that was cut short, where each figure has the launches of an interval of 95 %. With fewer it is unclear.
#[must_use]
pub fn judge_cut_short(
    document: &Document,
    found: &Found<'_>,
    parameters: &DocumentParameters,
    fewest: usize,
) -> Vec<Reproduction> {
    let without = (document.rows)(&Found::of(&[], &[], &[]), parameters);
    let mut rows = (document.rows)(found, parameters);
    for row in rows.iter_mut().filter(|row| row.statement.is_some()) {
        let needs_no_run = without.iter().any(|bare| {
            (&bare.statement, &bare.place, bare.verdict) == (&row.statement, &row.place, row.verdict)
        });
        mark(row, needs_no_run, fewest);
    }
    rows
}

fn mark(row: &mut Reproduction, needs_no_run: bool, fewest: usize) {
    match row.verdict {
        UNMEASURED if row.because.is_empty() => {
            "the run was cut short before a figure that it needs was measured".clone_into(&mut row.because);
        }
        Some(verdict @ (Judgement::Holds | Judgement::HoldsInPart | Judgement::DoesNotHold))
            if !is_counted(row) && !needs_no_run =>
        {
            let because = if fewest < LEAST_RUNS {
                row.verdict = Some(Judgement::Unclear);
                format!(
                    "the run was cut short, and a figure has {fewest} of the {LEAST_RUNS} launches that an interval needs; so far it {}: {}",
                    verdict.name().replace('_', " "),
                    row.because
                )
            } else {
                format!("the run was cut short, and this is judged by its {fewest} launches: {}", row.because)
            };
            row.because = because;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALL;
    use crate::found::test::{figure, statement};

    /// What a run had found of a call and a cycle when it was cut short.
    fn cut(fewest: usize) -> Vec<Reproduction> {
        let figures = [
            figure("syscall/getpid_libc", "floor", 100.0, Some(1.0)),
            figure("instrument/empty_loop", "floor", 0.25, Some(0.0)),
        ];
        let ostep = ALL.iter().find(|it| it.founding.name == "ostep").expect("document 003");
        judge_cut_short(ostep, &Found::of(&figures, &[], &[]), &DocumentParameters::default(), fewest)
    }

    #[test]
    fn a_run_that_was_cut_short_gives_no_verdict_without_an_interval() {
        let rows = cut(LEAST_RUNS - 1);
        let speed = statement(&rows, "clock speed");
        assert_eq!(speed.verdict, Some(Judgement::Unclear));
        assert!(
            speed.because.starts_with("the run was cut short, and a figure has 5 of the 6"),
            "{}",
            speed.because
        );
        assert!(
            speed.because.contains("so far it does not hold: 1 / 100 ns = 0.0100 GHz"),
            "{}",
            speed.because
        );
    }

    #[test]
    fn enough_launches_are_judged_and_the_row_says_that_the_run_was_cut_short() {
        let rows = cut(LEAST_RUNS);
        let speed = statement(&rows, "clock speed");
        assert_eq!(speed.verdict, Some(Judgement::DoesNotHold));
        assert!(
            speed.because.starts_with("the run was cut short, and this is judged by its 6 launches: 1 / 1")
        );
    }

    #[test]
    fn counts_stay_and_what_was_not_reached_says_why() {
        let rows = cut(1);
        assert_eq!(statement(&rows, "// system call").verdict, Some(Judgement::Holds), "counted, not timed");
        let absent = statement(&rows, "just be the system call time");
        assert_eq!(absent.verdict, Some(Judgement::NotTestableHere));
        assert!(absent.because.starts_with("the run was cut short before"), "{}", absent.because);
    }

    #[test]
    fn arithmetic_needs_no_run() {
        let of = |document: &&&Document| document.founding.name == "grame";
        let grame = ALL.iter().find(of).expect("document 002");
        let rows = judge_cut_short(grame, &Found::of(&[], &[], &[]), &DocumentParameters::default(), 0);
        let definite = |row: &&Reproduction| row.verdict == Some(Judgement::Holds);
        assert!(rows.iter().filter(definite).count() >= 1, "1.45 ms is 64 frames at 44100 Hz");
        assert!(!rows.iter().any(|row| row.verdict == Some(Judgement::Unclear)));
    }
}
