//! Verdicts of a run that was ended before its plan was: none rests on fewer launches than an interval needs.

use oscost_results::{Judgement, Reproduction};

use crate::found::{Found, is_counted};
use crate::parameters::DocumentParameters;
use crate::{Document, UNMEASURED, seldom};

/// The rows of `document` for a run that was cut short.
///
/// Counts of the audit are whole, and arithmetic needs no run: such verdicts stay. Any other one is taken back as after a whole
/// run, or says that it comes of one that was cut short.
#[must_use]
pub fn judge_cut_short(
    document: &Document,
    found: &Found<'_>,
    parameters: &DocumentParameters,
) -> Vec<Reproduction> {
    let without = (document.rows)(&Found::of(&[], &[], &[]), parameters);
    let mut rows = (document.rows)(found, parameters);
    seldom::take_back(document, found, parameters, &mut rows, "; the run was cut short");
    for row in rows.iter_mut().filter(|row| row.statement.is_some()) {
        let needs_no_run = without.iter().any(|bare| {
            (&bare.statement, &bare.place, bare.verdict) == (&row.statement, &row.place, row.verdict)
        });
        mark(row, needs_no_run);
    }
    rows
}

fn mark(row: &mut Reproduction, needs_no_run: bool) {
    match row.verdict {
        UNMEASURED if row.because.is_empty() => {
            "the run was cut short before a figure that it needs was measured".clone_into(&mut row.because);
        }
        Some(Judgement::Holds | Judgement::HoldsInPart | Judgement::DoesNotHold)
            if !is_counted(row) && !needs_no_run =>
        {
            row.because =
                format!("the run was cut short, and this is judged by what it had: {}", row.because);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use oscost_results::PairedValue;

    use super::*;
    use crate::ALL;
    use crate::found::test::{figure, repeat, result, statement};

    /// What a run had found of a call and a cycle, launched so often, when it was cut short.
    fn cut(launches: u32) -> Vec<Reproduction> {
        let mut figures = [
            figure("syscall/getpid_libc", "floor", 100.0, Some(1.0)),
            figure("instrument/empty_loop", "floor", 0.25, Some(0.0)),
        ];
        figures.iter_mut().for_each(|figure| repeat(figure, launches));
        let ostep = ALL.iter().find(|it| it.founding.name == "ostep").expect("document 003");
        judge_cut_short(ostep, &Found::of(&figures, &[], &[]), &DocumentParameters::default())
    }

    #[test]
    fn a_run_that_was_cut_short_gives_no_verdict_without_an_interval() {
        let rows = cut(5);
        let speed = statement(&rows, "clock speed");
        assert_eq!(speed.verdict, Some(Judgement::NotJudged));
        assert!(speed.because.starts_with("1 / 100 ns = 0.0100 GHz"), "the numbers stay: {}", speed.because);
        let why = "fewer launches count than the 6 that an interval needs; the run was cut short";
        assert!(speed.because.ends_with(why), "{}", speed.because);
    }

    /// Both sides had eight launches, of which four were clean.
    #[test]
    fn a_pair_of_few_clean_launches_gives_no_verdict() {
        let judged = |launches: usize| {
            let ratio = result::ratio("semaphore/system_v", "semaphore/posix_named", 47.0);
            let ratios = [PairedValue { launches: vec![47.0; launches], ..ratio }];
            let found = Found::of(&[], &ratios, &[]);
            let rows = judge_cut_short(&crate::tlpi::DOCUMENT, &found, &DocumentParameters::default());
            statement(&rows, "order of magnitude").verdict
        };
        assert_eq!([4, 8].map(judged), [Some(Judgement::NotJudged), Some(Judgement::Holds)]);
    }

    #[test]
    fn enough_launches_are_judged_and_the_row_says_that_the_run_was_cut_short() {
        let rows = cut(6);
        let speed = statement(&rows, "clock speed");
        assert_eq!(speed.verdict, Some(Judgement::DoesNotHold));
        assert!(speed.because.starts_with("the run was cut short, and this is judged by what it had: 1 / 1"));
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
        let rows = judge_cut_short(grame, &Found::of(&[], &[], &[]), &DocumentParameters::default());
        let definite = |row: &&Reproduction| row.verdict == Some(Judgement::Holds);
        assert!(rows.iter().filter(definite).count() >= 1, "1.45 ms is 64 frames at 44100 Hz");
        assert!(!rows.iter().any(|row| row.verdict == Some(Judgement::Unclear)));
    }
}
