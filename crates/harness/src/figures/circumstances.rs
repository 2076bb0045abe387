//! How the circumstances of launches change a figure: withheld, marked or unchecked. docs/method/environment.md.

use crate::protocol::message::{DEFAULT_POLICY, Launched};
use oscost_results::{Circumstances, Figure, Mark, RemarkCode, Verdict};

/// A launch is shared where somebody else had more than this of a CPU.
pub(crate) const SHARED: f64 = 0.01;

/// The worker's circumstances with the tracer of its partners (0: none; `None`: it is not known of one of them).
pub(crate) fn with_partners(worker: &Circumstances, tracer_pid: Option<u32>) -> Circumstances {
    let tracer_pid = worker.tracer_pid.zip(tracer_pid).map(|(own, partners)| own.max(partners));
    Circumstances { tracer_pid, ..worker.clone() }
}

/// Holds the launches' circumstances and changes of CPU against a figure's verdict: says why it is withheld, and takes back
/// a *checked* that rests on what nobody could see, with a remark.
pub(crate) fn judge(figure: &mut Figure, launched: &[Launched], pinned: bool) -> Option<String> {
    let tracers = || launched.iter().map(|launched| launched.record.circumstances.tracer_pid);
    let moved = figure.evidence.migrations.filter(|_| pinned);
    let mut withheld: Vec<String> = Vec::new();
    if moved.is_some_and(|moved| moved > 0) {
        withheld.push("a pinned participant changed its CPU".to_owned());
    }
    if let Some(pid) = tracers().flatten().find(|&pid| pid > 0) {
        withheld.push(format!(
            "process {pid} traced what was measured (strace, a debugger): each system call includes the tracer's stops"
        ));
    }
    if !withheld.is_empty() {
        figure.evidence.verdict = Verdict::Contradicted;
        return Some(withheld.join("; "));
    }
    let mut unseen: Vec<&str> = Vec::new();
    if pinned && moved.is_none() {
        unseen.push("on which CPU everybody ran");
    }
    if tracers().any(|tracer| tracer.is_none()) {
        unseen.push("whether anybody traced what was measured");
    }
    if launched.iter().any(|launched| launched.record.foreign_share.is_none()) {
        unseen.push("whether others used a measured CPU");
    }
    if !unseen.is_empty() {
        if figure.evidence.verdict == Verdict::Checked {
            figure.evidence.verdict = Verdict::Unchecked;
        }
        figure.remarks.push(RemarkCode::Unread.with(&[&unseen.join(", and ")]));
    }
    None
}

/// Whether a launch was run in some unusual way.
type Unusual = fn(&Circumstances) -> bool;

/// The marks of a measured figure for how its launches were run.
pub(crate) fn marks(launched: &[Launched]) -> Vec<Mark> {
    let any = |unusual: Unusual| launched.iter().any(|launched| unusual(&launched.record.circumstances));
    let foreign_share = |launched: &Launched| launched.record.foreign_share;
    let shared = launched.iter().filter_map(foreign_share).any(|share| share > SHARED);
    let rules: [(Mark, Unusual); 3] = [
        (Mark::Interposed, |it| it.preload.as_ref().is_some_and(|libraries| !libraries.is_empty())),
        (Mark::Filtered, |it| it.seccomp_mode.is_some_and(|mode| mode > 0)),
        (Mark::Reniced, |it| {
            it.nice.is_some_and(|nice| nice != 0) || it.policy.as_ref().is_some_and(|it| it != DEFAULT_POLICY)
        }),
    ];
    let unusual = rules.into_iter().filter(|(_, unusual)| any(*unusual)).map(|(mark, _)| mark);
    shared.then_some(Mark::Shared).into_iter().chain(unusual).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::card::Card;
    use crate::figures::synthetic::usual;

    fn launch(circumstances: Circumstances) -> Launched {
        let mut launched = Launched::default();
        launched.record.circumstances = circumstances;
        launched.record.foreign_share = Some(0.0);
        launched
    }

    /// The figure after judging, and why it is withheld.
    fn judged(launched: &[Launched], migrations: Option<u64>, pinned: bool) -> (Figure, Option<String>) {
        let mut figure = crate::figures::blank(&Card::BATCHED);
        figure.evidence.verdict = Verdict::Checked;
        figure.evidence.migrations = migrations;
        let why = judge(&mut figure, launched, pinned);
        (figure, why)
    }

    #[test]
    fn the_usual_is_no_reason_for_anything() {
        let launches = [launch(usual()), launch(usual())];
        let (figure, why) = judged(&launches, Some(0), true);
        assert_eq!((figure.evidence.verdict, figure.remarks.len(), why), (Verdict::Checked, 0, None));
        assert_eq!(marks(&launches), []);
    }

    #[test]
    fn one_traced_launch_withholds_the_figure() {
        let traced = launch(Circumstances { tracer_pid: Some(41), ..usual() });
        let (figure, why) = judged(&[launch(usual()), traced], Some(0), true);
        assert_eq!(figure.evidence.verdict, Verdict::Contradicted);
        assert!(why.expect("withheld").starts_with("process 41 traced"));
        let by_init = launch(Circumstances { tracer_pid: Some(1), ..usual() });
        assert!(judged(&[by_init], Some(0), true).1.is_some());
    }

    #[test]
    fn a_move_withholds_pinned_figures_alone() {
        let launches = [launch(usual())];
        let (figure, why) = judged(&launches, Some(1), true);
        assert_eq!((figure.evidence.verdict, why.is_some()), (Verdict::Contradicted, true));
        assert_eq!(judged(&launches, Some(1), false).0.evidence.verdict, Verdict::Checked);
    }

    #[test]
    fn what_nobody_could_read_leaves_a_figure_unchecked() {
        let unknown = launch(Circumstances { tracer_pid: None, ..usual() });
        let (figure, why) = judged(&[launch(usual()), unknown], Some(0), true);
        assert_eq!((figure.evidence.verdict, why), (Verdict::Unchecked, None));
        assert!(figure.remarks[0].contains("traced"), "{:?}", figure.remarks);
        let (figure, _) = judged(&[launch(usual())], None, true);
        assert_eq!(figure.evidence.verdict, Verdict::Unchecked);
        assert!(figure.remarks[0].contains("on which CPU"), "{:?}", figure.remarks);
        assert_eq!(judged(&[launch(usual())], None, false).0.evidence.verdict, Verdict::Checked);
        let mut unwatched = launch(usual());
        unwatched.record.foreign_share = None;
        let (figure, _) = judged(&[launch(usual()), unwatched], Some(0), true);
        assert_eq!(figure.evidence.verdict, Verdict::Unchecked);
        assert!(figure.remarks[0].contains("whether others used"), "{:?}", figure.remarks);
    }

    #[test]
    fn one_launch_that_others_shared_marks_the_figure() {
        let of = |share| {
            let mut shared = launch(usual());
            shared.record.foreign_share = Some(share);
            marks(&[launch(usual()), shared])
        };
        assert_eq!((of(0.01), of(0.011)), (vec![], vec![Mark::Shared]));
    }

    #[test]
    fn each_unusual_circumstance_has_its_mark() {
        let of = |circumstances| marks(&[launch(usual()), launch(circumstances)]);
        let preload = Some(vec!["libfake.so".to_owned()]);
        assert_eq!(of(Circumstances { preload, ..usual() }), [Mark::Interposed]);
        for mode in [1, 2] {
            assert_eq!(of(Circumstances { seccomp_mode: Some(mode), ..usual() }), [Mark::Filtered]);
        }
        assert_eq!(of(Circumstances { nice: Some(-5), ..usual() }), [Mark::Reniced]);
        assert_eq!(of(Circumstances { policy: Some("batch".to_owned()), ..usual() }), [Mark::Reniced]);
    }

    #[test]
    fn a_tracer_of_partners_counts() {
        assert_eq!(with_partners(&usual(), Some(7)).tracer_pid, Some(7));
        assert_eq!(with_partners(&usual(), None).tracer_pid, None);
    }
}
