//! What document 001's verdicts say of themselves, and what decides where only some cells were repeated.

use oscost_results::Status;

use super::*;

/// Made one of a single run.
fn once(mut figure: Figure) -> Figure {
    figure.launches.truncate(1);
    figure
}

fn with_waits(mut figure: Figure, waits: f64) -> Figure {
    figure.evidence.voluntary_switches = Some(waits);
    figure
}

/// How the statement with these words is judged by these cells.
fn judged_by(figures: &[Figure], words: &str) -> Judged {
    let mut rows = Rows::of("apue");
    statements(&on_disk(figures), &on_disk(figures), &plan(), &mut rows);
    crate::found::test::verdict(&rows.rows, words)
}

#[test]
fn a_wait_in_a_hundred_operations_is_one() {
    for (waits, expected) in [(0.009, Holds), (0.01, DoesNotHold), (0.012, DoesNotHold)] {
        let figures = [with_waits(ran(Locking::Fine, 1, 500, &[("cpu", [1.0; 2])]), waits)];
        let found = Found { file_system: None, ..on_disk(&figures) };
        let (judgement, words) = never_waited_for(&found, &one_child(&found, &plan())).expect("counted");
        assert_eq!(judgement, expected, "{words}");
        let told = format!("{waits:.4} waits an operation at most, of whatever kind, in 1 cell with locks");
        assert_eq!(words, told);
        let (judgement, limited) = cpu_limited(&found, &one_child(&found, &plan())).expect("counted");
        assert_eq!(judgement, NotTestableHere, "in memory");
        assert!(
            limited
                .ends_with(&format!("{waits:.4} waits an operation at most; fewer than 0.01 count as none"))
        );
    }
    let figures = [500, 1000].map(|nrec| with_waits(ran(Locking::Fine, 1, nrec, &[("cpu", [1.0; 2])]), 0.0));
    let told = judged_by(&figures, "Even though the locks").1;
    assert!(told.ends_with("in 2 cells with locks"), "{told}");
    let limited = judged_by(&figures, "CPU limited").1;
    assert!(limited.ends_with("; the files are on ext4"), "{limited}");
    let uncounted = [ran(Locking::Fine, 1, 500, &[("cpu", [1.0; 2])])];
    assert_eq!(judged_by(&uncounted, "Even though the locks").0, NotTestableHere, "nobody counted");
}

#[test]
fn a_single_run_is_not_judged_whatever_it_waited_for() {
    let of = |waits, share: f64| with_waits(ran(Locking::None, 1, 500, &[("cpu_share", [share; 2])]), waits);
    for (share, waits) in [(0.5, 0.0), (1.0, 0.0), (0.5, 1.0)] {
        let mut figure = once(of(waits, share));
        figure.quantities.get_mut("cpu_share").expect("a share").estimate.extremes = true;
        let (judgement, words) = judged_by(&[figure], "approximately equals");
        assert_eq!(judgement, NotJudged, "{share} {waits}");
        assert!(!words.contains("the program did not wait"), "{words}");
    }
    let (judgement, words) = judged_by(&[of(0.0, 0.5)], "approximately equals");
    assert_eq!(judgement, NotTestableHere);
    assert!(words.ends_with("the program did not wait: other processes had its CPU"), "{words}");
}

#[test]
fn what_locks_add_is_told_of_each_cell_that_was_repeated() {
    let none = |nrec| ran(Locking::None, 1, nrec, &[("system", [1.0; 2]), ("cpu", [1.0; 2])]);
    let fine = |nrec, ratio| ran(Locking::Fine, 1, nrec, &[("system", ratio), ("cpu", ratio)]);
    let (often, seldom) = (fine(500, [1.25, 1.5]), once(fine(1000, [1.75, 9.0])));
    let told = judged_by(&[none(500), often, none(1000), seldom.clone()], "by 32% to 73%");
    let expected = "there +32 to +73 %, here 500, fine +38 % (+25 .. +50 %)";
    assert_eq!((told.0, told.1.as_str()), (Judgement::ItsMachine, expected));
    let told = judged_by(&[none(1000), seldom.clone()], "by 32% to 73%").1;
    assert_eq!(told, "there +32 to +73 %, here 1 000, fine +75 % in a single run");
    assert_eq!(
        judged_by(&[none(500), seldom], "by 32% to 73%").0,
        NotTestableHere,
        "nothing to hold it against"
    );
}

#[test]
fn fine_over_coarse_is_told_by_both_clocks() {
    let of = |locking, cpu, clock| ran(locking, 1, 500, &[("cpu", cpu), ("clock", clock)]);
    let figures = [of(Locking::Coarse, [1.0; 2], [1.0; 2]), of(Locking::Fine, [1.0, 1.5], [1.5, 2.0])];
    let told = judged_by(&figures, "almost equal for each row").1;
    assert!(
        told.starts_with(
            "fine over coarse at 500: CPU +25 % (+0 .. +50 %), clock +75 % (+50 .. +100 %); the"
        ),
        "{told}"
    );
    let mut seldom = figures;
    seldom[1] = once(seldom[1].clone());
    let (judgement, told) = judged_by(&seldom, "almost equal for each row");
    assert_eq!(judgement, NotJudged);
    assert!(
        told.starts_with("fine over coarse at 500: CPU +0 % in a single run, clock +50 % in a single run;"),
        "{told}"
    );
}

#[test]
fn a_kernel_without_mandatory_locks_says_so_once() {
    let lacking = |locking, why: &str| {
        let mut figure = ran(locking, 1, 500, &[]);
        (figure.status, figure.why) = (Status::Unsupported, Some(why.to_owned()));
        figure
    };
    let figures = [lacking(Locking::Fine, "no fine locks"), lacking(Locking::Mandatory, "Linux 6 has none")];
    let told = |words| judged_by(&figures, words);
    assert_eq!(told("mandatory locking increases"), (NotTestableHere, "Linux 6 has none".to_owned()));
    let before = (NotTestableHere, "there are no mandatory locks here, as said before".to_owned());
    assert_eq!([told("by 13% to 19%"), told("must be from the reads and writes")], [before.clone(), before]);
}

#[test]
fn what_mandatory_locks_add_is_told_in_per_cent_and_by_call() {
    let of = |locking, cpu: [f64; 2], calls: [f64; 2]| {
        let system = cpu.map(|ns| ns * 0.5);
        ran(
            locking,
            1,
            500,
            &[("system", system), ("cpu", cpu), ("lock_calls", calls), ("io_calls", [20.0; 2])],
        )
    };
    let figures =
        [of(Locking::Mandatory, [1100.0, 1200.0], [10.0, 14.0]), of(Locking::Fine, [1000.0; 2], [10.0; 2])];
    let added = "500: sys +15 % (+10 .. +20 %), CPU +15 % (+10 .. +20 %)";
    assert_eq!(judged_by(&figures, "mandatory locking increases"), (Holds, added.to_owned()));
    let beside = (Judgement::ItsMachine, format!("there +13 to +19 %, here {added}"));
    assert_eq!(judged_by(&figures, "by 13% to 19%"), beside);
    let calls = (DoesNotHold, "500: 2 more calls of locking, 8 ns more a call of I/O".to_owned());
    assert_eq!(judged_by(&figures, "must be from the reads and writes"), calls);
}
