//! Verdicts that rest on fewer launches than an interval needs: they are taken back, and the numbers stay.

use oscost_results::{Figure, Judgement, PairedValue, Reproduction, near};

use crate::Document;
use crate::found::{Found, LEAST_RUNS};
use crate::parameters::DocumentParameters;

/// Judges the statements among `rows` by what enough launches count of: those of the estimates. What was counted and arithmetic need
/// none. `why` follows where a verdict is taken back.
pub(crate) fn take_back(
    document: &Document,
    found: &Found<'_>,
    parameters: &DocumentParameters,
    rows: &mut [Reproduction],
    why: &str,
) {
    let figures: Vec<Figure> = found.figures.iter().map(often).collect();
    let [ratios, differences] = [found.ratios, found.differences].map(|pairs| -> Vec<PairedValue> {
        pairs.iter().filter(|pair| pair.launches.len() >= LEAST_RUNS).cloned().collect()
    });
    let enough = Found { figures: &figures, ratios: &ratios, differences: &differences, ..*found };
    // A document states the same whatever was found.
    let stated = (document.rows)(&enough, parameters).into_iter().filter(|row| row.statement.is_some());
    for (row, by_enough) in rows.iter_mut().filter(|row| row.statement.is_some()).zip(stated) {
        match (is_verdict(row), is_verdict(&by_enough)) {
            (true, true) => *row = by_enough,
            (true, false) => {
                row.verdict = Some(Judgement::NotJudged);
                row.because = format!(
                    "{}; of what it needs, fewer launches count than the {LEAST_RUNS} that an interval needs{why}",
                    row.because
                );
            }
            (false, _) => {}
        }
    }
}

/// What became of a run in which [`had_no_time`], and what helps.
pub(crate) const NO_TIME: &str =
    "; this machine had no time for as many of every figure: --thorough takes it";

/// Whether some figure was launched less often than an interval needs.
pub(crate) fn had_no_time(found: &Found<'_>) -> bool {
    let mut own = found.figures.iter().filter(|figure| !is_literal(figure));
    own.any(|figure| (1..LEAST_RUNS).contains(&figure.launches.len()))
}

/// How often a figure was measured that has no interval of 95 %, and what helps.
pub(crate) fn seldom() -> String {
    format!(
        "less often than the {LEAST_RUNS} times that an interval needs: this machine had no time; --thorough \
         takes it"
    )
}

/// Whether a figure is a document's own program. That runs once, and says so where it is judged.
pub(crate) fn is_literal(figure: &Figure) -> bool {
    figure.id.split('/').any(|part| part == "literal")
}

/// A figure with the launches that count, and with the quantities that enough of these have.
fn often(figure: &Figure) -> Figure {
    let mut kept = figure.clone();
    if !is_literal(figure) {
        let hops: Vec<Option<f64>> = figure.launches.iter().map(|launch| launch.hop_ns).collect();
        let near = near(&hops);
        let has = |name: &str| {
            let launches = figure.launches.iter().zip(&near);
            let with = launches.filter(|(launch, near)| **near && launch.quantities.contains_key(name));
            with.count() >= LEAST_RUNS
        };
        kept.quantities.retain(|name, _| has(name));
        kept.launches.iter_mut().for_each(|launch| launch.quantities.retain(|name, _| has(name)));
        let mut counts = near.iter();
        kept.launches.retain(|_| counts.next() == Some(&true));
    }
    kept
}

fn is_verdict(row: &Reproduction) -> bool {
    use Judgement::{DoesNotHold, Holds, HoldsInPart, Unclear};
    matches!(row.verdict, Some(Holds | HoldsInPart | DoesNotHold | Unclear))
}

#[cfg(test)]
mod tests {
    use Judgement::{DoesNotHold, Holds, ItsMachine, NotJudged};

    use super::*;
    use crate::found::test::{figure, judged_by, of, repeat, result, verdict};
    use crate::{grame, ostep, tlpi};

    const CALL: &str = "syscall/getpid_libc";
    const PASS: &str = "instrument/empty_loop";

    /// A call of 100 ns, and a pass of a loop that was launched so often.
    fn figures(launches: u32) -> Vec<Figure> {
        let call = figure(CALL, "floor", 100.0, Some(1.0));
        let mut pass = figure(PASS, "floor", 0.25, Some(0.0));
        repeat(&mut pass, launches);
        vec![call, pass]
    }

    /// Two launches decided, where the text says that six do.
    #[test]
    fn fewer_launches_than_an_interval_needs_decide_nothing() {
        let speed = |figures: &[Figure]| judged_by(&ostep::DOCUMENT, figures, "clock speed");
        assert_eq!(speed(&figures(6)).0, DoesNotHold);
        for launches in [2, 5] {
            let (judgement, because) = speed(&figures(launches));
            assert_eq!(judgement, NotJudged, "{launches}");
            assert!(because.starts_with("1 / 100 ns = 0.0100 GHz"), "the numbers stay: {because}");
            assert!(because.contains("fewer launches count than the 6"), "{because}");
            assert!(because.ends_with("--thorough takes it"), "{because}");
        }
        let mut lacking = figures(6);
        of(&mut lacking, PASS).launches[2].quantities.clear();
        assert_eq!(speed(&lacking).0, NotJudged, "five of six launches have a floor");
    }

    #[test]
    fn what_was_counted_and_arithmetic_are_judged_by_however_few() {
        let mut few = figures(2);
        repeat(of(&mut few, CALL), 2);
        assert_eq!(judged_by(&ostep::DOCUMENT, &few, "// system call").0, Holds);
        assert_eq!(judged_by(&grame::DOCUMENT, &few, "44100").0, Holds);
        // A number of the document's machine has no verdict that could be taken back.
        let mut cycle = figure("semaphore/posix_named", "floor", 10.0, Some(0.0));
        repeat(&mut cycle, 2);
        assert_eq!(judged_by(&tlpi::DOCUMENT, &[cycle], "220M").0, ItsMachine);
    }

    /// Ten launches, of which the estimate has the four between near CPUs: these decided, and time was blamed for the others.
    #[test]
    fn launches_between_far_cpus_decide_nothing() {
        let judged = |near: usize| {
            let mut figures = figures(10);
            for figure in &mut figures {
                repeat(figure, 10);
                for (at, launch) in figure.launches.iter_mut().enumerate() {
                    launch.hop_ns = Some(if at < near { 50.0 } else { 120.0 });
                }
            }
            judged_by(&ostep::DOCUMENT, &figures, "clock speed")
        };
        assert_eq!(judged(6).0, DoesNotHold);
        let (judgement, because) = judged(4);
        assert_eq!(judgement, NotJudged);
        assert!(because.ends_with("fewer launches count than the 6 that an interval needs"), "{because}");
    }

    #[test]
    fn a_pair_of_few_launches_decides_nothing() {
        let judged = |launches: usize| {
            let ratio = result::ratio("semaphore/system_v", "semaphore/posix_named", 47.0);
            let ratios = [PairedValue { launches: vec![47.0; launches], ..ratio }];
            let found = Found::of(&[], &ratios, &[]);
            verdict(&tlpi::DOCUMENT.judge(&found, &DocumentParameters::default()), "order of magnitude").0
        };
        assert_eq!([2, 5, 6].map(judged), [NotJudged, NotJudged, Holds]);
    }
}
