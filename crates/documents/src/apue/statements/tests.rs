//! Bounds of document 001's verdicts: a case on each side of each, and one on it.

use Judgement::{DoesNotHold, Holds, HoldsInPart, NotJudged, NotTestableHere, Unclear};
use oscost_results::{Figure, LaunchRecord};

use oscost_recorddb::Layout;

use super::super::cell::{Runs, id};
use super::ours::{a_call, by_model, ours, twice};
use super::*;
use crate::found::test::{between, figure, set_within, statement};

mod told;

/// 500 and 1000 records, one child and two.
fn plan() -> ApuePlan {
    ApuePlan { nrec: vec![500, 1000], children: vec![1, 2], ..ApuePlan::default() }
}

/// A cell of two launches with these quantities: their extremes are the interval, to the last bit.
fn ran(locking: Locking, children: u32, nrec: u32, quantities: &[(&str, [f64; 2])]) -> Figure {
    let mut figure =
        figure(&id(&plan().cell(locking, children, nrec), Runs::Repeated), "cpu_share", 1.0, None);
    for (name, [one, other]) in quantities {
        set_within(&mut figure, name, one.min(*other), one.max(*other));
    }
    let launch = |sequence: usize| LaunchRecord {
        sequence: sequence as u32,
        quantities: quantities.iter().map(|(name, ends)| ((*name).to_owned(), ends[sequence])).collect(),
        ..LaunchRecord::default()
    };
    figure.launches = vec![launch(0), launch(1)];
    figure
}

fn on_disk(figures: &[Figure]) -> Found<'_> {
    Found { file_system: Some("ext4"), ..Found::of(figures, &[], &[]) }
}

#[test]
fn a_ratio_is_told_in_per_cent_and_a_single_run_as_one() {
    let of = |low, high, extremes| Estimate { extremes, ..between(low, high) };
    for (ratio, once, words) in [
        (of(1.05, 1.11, false), false, "+8 % (+5 .. +11 %)"),
        (of(0.9, 1.1, true), false, "+0 % (-10 .. +10 %)"),
        (of(1.5, 1.5, false), false, "+50 % (+50 .. +50 %)"),
        (of(1.5, 1.5, true), true, "+50 % in a single run"),
    ] {
        assert_eq!((single(&ratio), added(&ratio).as_str()), (once, words));
    }
}

#[test]
fn only_what_was_repeated_decides() {
    let (once, often) = (Estimate { extremes: true, ..between(1.0, 1.0) }, between(1.0, 2.0));
    assert_eq!(every([]), None);
    assert_eq!(every([(once, Holds)]), Some(NotJudged));
    assert_eq!(every([(once, DoesNotHold), (often, Holds)]), Some(Holds));
    assert_eq!(every([(often, DoesNotHold), (often, Holds)]), Some(HoldsInPart));
}

#[test]
fn cpu_time_is_the_clock_from_90_to_110_per_cent() {
    for (share, waits, expected) in [
        ([0.9, 1.1], 1.0, Holds),
        ([0.95, 1.0], 0.0, Holds),
        ([0.89, 1.0], 1.0, Unclear),
        ([1.0, 1.2], 1.0, Unclear),
        ([0.5, 0.6], 0.012, DoesNotHold),
        ([0.5, 0.6], 0.01, DoesNotHold),
        ([0.5, 0.6], 0.009, NotTestableHere),
    ] {
        let mut one = ran(Locking::None, 1, 500, &[("cpu_share", share)]);
        one.evidence.voluntary_switches = Some(waits);
        // Children wait for one another, and are another matter.
        let mut two = ran(Locking::Coarse, 2, 500, &[("cpu_share", [0.1, 0.2])]);
        two.evidence.voluntary_switches = Some(9.0);
        let figures = [one, two];
        let found = on_disk(&figures);
        let (judgement, words) = cpu_is_clock(&found, &one_child(&found, &plan())).expect("a share");
        assert_eq!(judgement, expected, "{share:?} {waits}");
        let [low, high] = share.map(|end| end * 100.0);
        assert!(
            words.contains(&format!("CPU is {low:.1} to {high:.1} % of the clock in 1 cell,")),
            "{words}"
        );
        let limited = cpu_limited(&found, &one_child(&found, &plan())).expect("waits").0;
        assert_eq!(limited, if waits < 0.01 { Holds } else { DoesNotHold }, "{waits}");
    }
}

#[test]
fn locks_that_nobody_else_wants_are_not_waited_for() {
    for (waits, file_system, expected) in [
        (0.0, None, Some(Holds)),
        (0.009, Some("ext4"), Some(Holds)),
        (0.02, None, Some(DoesNotHold)),
        (0.02, Some("ext4"), Some(NotTestableHere)),
    ] {
        let mut locked = ran(Locking::Fine, 1, 500, &[("cpu", [1.0, 1.0])]);
        locked.evidence.voluntary_switches = Some(waits);
        // Without locks nothing is said of them.
        let mut free = ran(Locking::None, 1, 500, &[("cpu", [1.0, 1.0])]);
        free.evidence.voluntary_switches = Some(9.0);
        let figures = [locked, free];
        let found = Found { file_system, ..on_disk(&figures) };
        let judged = never_waited_for(&found, &one_child(&found, &plan())).map(|it| it.0);
        assert_eq!(judged, expected, "{waits} {file_system:?}");
    }
}

#[test]
fn who_counted_no_waits_says_nothing_of_disks() {
    let figures = [ran(Locking::None, 1, 500, &[("cpu_share", [0.9, 1.0])])];
    let found = on_disk(&figures);
    assert_eq!(cpu_limited(&found, &one_child(&found, &plan())), None);
}

#[test]
fn columns_are_almost_equal_within_a_tenth() {
    for (ratio, expected) in [
        ([1.0 / 1.1, 1.1], Holds),
        ([0.92, 1.05], Holds),
        ([1.1, 1.2], Unclear),
        ([1.11, 1.2], DoesNotHold),
        ([0.8, 1.0 / 1.1], Unclear),
        ([0.8, 0.9], DoesNotHold),
    ] {
        let figures = [
            ran(Locking::Coarse, 1, 500, &[("cpu", [1.0, 1.0])]),
            ran(Locking::Fine, 1, 500, &[("cpu", ratio)]),
        ];
        let (judgement, words) = advisory(&on_disk(&figures), &plan()).expect("a ratio");
        assert_eq!(judgement, expected, "{ratio:?}");
        assert!(words.starts_with("fine over coarse at 500: CPU "), "{words}");
    }
    assert_eq!(advisory(&on_disk(&[]), &plan()), None);
}

#[test]
fn rows_of_the_document_decide_of_its_rows() {
    let plan = ApuePlan { nrec: vec![500, 2000], ..plan() };
    let judged = |at_2000: [f64; 2]| {
        let figures = [(500, [1.2, 1.3]), (2000, at_2000)].into_iter().flat_map(|(nrec, ratio)| {
            [
                ran(Locking::Coarse, 1, nrec, &[("cpu", [1.0, 1.0])]),
                ran(Locking::Fine, 1, nrec, &[("cpu", ratio)]),
            ]
        });
        advisory(&on_disk(&figures.collect::<Vec<_>>()), &plan).map(|(judgement, _)| judgement)
    };
    assert_eq!(judged([1.0, 1.01]), Some(Holds));
    assert_eq!(judged([1.2, 1.3]), Some(DoesNotHold));
    assert_eq!(judged([1.0, 1.0]), Some(DoesNotHold), "one run decides nothing, so ours does");
}

/// Cells with no locks and with fine ones, whose time of this name has these ratios, times `ns`.
fn fine_over_none(name: &str, ratio: [f64; 2]) -> [Figure; 2] {
    let ns = 1e9;
    [
        ran(Locking::None, 1, 500, &[(name, [ns; 2]), ("cpu", [ns; 2])]),
        ran(Locking::Fine, 1, 500, &[(name, ratio.map(|ratio| ratio * ns)), ("cpu", [1.5 * ns, 1.75 * ns])]),
    ]
}

#[test]
fn user_time_is_about_the_same_within_a_quarter() {
    for (ratio, expected) in [
        ([0.8, 1.25], Holds),
        ([0.82, 1.2], Holds),
        ([1.2, 1.3], Unclear),
        ([1.26, 1.3], DoesNotHold),
        ([0.7, 0.79], DoesNotHold),
    ] {
        let figures = fine_over_none("user", ratio);
        let (judgement, words) = user_time(&on_disk(&figures), &plan()).expect("a ratio");
        assert_eq!(judgement, expected, "{ratio:?}");
        assert!(words.contains("0.10 and 0.17 s at 2 000, +70 %"), "{words}");
    }
}

#[test]
fn locks_add_system_time_where_the_ratio_is_over_one() {
    for (ratio, expected) in
        [([1.0, 1.3], Holds), ([1.02, 1.3], Holds), ([0.99, 1.3], Unclear), ([0.9, 0.99], DoesNotHold)]
    {
        let figures = fine_over_none("system", ratio);
        let (judgement, words) = added_system_time(&on_disk(&figures), &plan()).expect("a ratio");
        assert_eq!(judgement, expected, "{ratio:?}: {words}");
        assert!(words.starts_with("500, fine "), "{words}");
    }
    assert_eq!(added_system_time(&on_disk(&[]), &plan()), None);
}

#[test]
fn nothing_has_no_sign_of_its_own() {
    assert_eq!([0.996, 0.994, 1.0, 1.004, 1.08].map(signed), ["+0", "-1", "+0", "+0", "+8"]);
}

#[test]
fn mandatory_locks_are_held_against_fine_ones_of_as_many_records() {
    for (ratio, expected) in
        [([1.0, 1.3], Holds), ([1.02, 1.3], Holds), ([0.99, 1.3], Unclear), ([0.9, 0.99], DoesNotHold)]
    {
        let figures = [
            ran(Locking::Mandatory, 1, 500, &[("system", ratio.map(|it| it * 1e9)), ("cpu", [1.2e9, 1.3e9])]),
            ran(Locking::Fine, 1, 500, &[("system", [1e9; 2]), ("cpu", [1e9; 2])]),
            // One that has nothing to be held against.
            ran(Locking::Fine, 1, 1000, &[("system", [1e9; 2]), ("cpu", [1e9; 2])]),
        ];
        let (judgement, words) = mandatory((&on_disk(&figures), &on_disk(&figures)), &plan(), mandatory_adds);
        assert_eq!(judgement, expected, "{ratio:?}");
        assert!(words.starts_with("500: sys ") && words.ends_with(", CPU +25 % (+20 .. +30 %)"), "{words}");
    }
    let fine = [ran(Locking::Fine, 1, 500, &[("system", [1e6; 2]), ("cpu", [2e6; 2])])];
    let (judgement, words) = mandatory((&on_disk(&fine), &on_disk(&fine)), &plan(), mandatory_adds);
    assert!(judgement == NotTestableHere && words.contains("no mandatory locks in this run"), "{words}");
}

#[test]
fn mandatory_locks_add_to_reads_and_writes_if_calls_of_locking_are_as_many() {
    for (calls, ns, expected) in [
        ([0.0, 0.0], [0.5, 2.0], Holds),
        ([0.0, 0.0], [0.0, 2.0], Unclear),
        ([0.0, 0.0], [-1.0, 0.5], Unclear),
        ([0.0, 0.0], [-1.0, 0.0], Unclear),
        ([0.0, 0.0], [-2.0, -0.5], DoesNotHold),
        ([0.0, 1.0], [1.0, 2.0], DoesNotHold),
        ([-1.0, 0.0], [1.0, 2.0], DoesNotHold),
    ] {
        let (calls_of, ns_of) = (calls.map(|more| 10.0 + more), ns.map(|more| 100.0 + more));
        let of_fine = [("lock_calls", [10.0; 2]), ("cpu", [100.0; 2]), ("io_calls", [10.0; 2])];
        let figures = [
            ran(Locking::Mandatory, 1, 500, &[("lock_calls", calls_of), ("cpu", ns_of)]),
            ran(Locking::Fine, 1, 500, &of_fine),
        ];
        let (judgement, words) =
            mandatory((&on_disk(&figures), &on_disk(&figures)), &plan(), reads_and_writes);
        assert_eq!(judgement, expected, "{calls:?} {ns:?}: {words}");
    }
}

/// What a call of locking costs at 500 and at 1000 records, ns; a run has ten of them.
fn prices(at_500: [f64; 2], at_1000: [f64; 2], calls: f64) -> Option<Judged> {
    let figures: Vec<Figure> = [(500, at_500), (1000, at_1000)]
        .into_iter()
        .flat_map(|(nrec, price)| {
            let cpu = price.map(|ns| 50.0 + ns * 10.0);
            [
                ran(Locking::None, 1, nrec, &[("cpu", [50.0; 2])]),
                ran(Locking::Fine, 1, nrec, &[("cpu", cpu), ("lock_calls", [calls; 2])]),
            ]
        })
        .collect();
    a_call(&on_disk(&figures), &plan())
}

#[test]
fn a_call_of_locking_has_one_price_where_its_intervals_lie_within_a_tenth() {
    for (one, other, expected) in [
        ([9.5, 10.0], [9.5, 10.2], Holds),
        ([10.9, 10.9], [10.0, 10.0], Holds),
        ([10.9, 12.0], [9.0, 10.0], Unclear),
        ([11.2, 12.0], [9.0, 10.0], DoesNotHold),
        ([9.0, 10.0], [9.5, 12.0], Unclear),
        ([5.0, 5.0], [9.0, 10.0], DoesNotHold),
        // Prices of which nothing is known are not equal.
        ([6.0, 8.0], [5.0, 60.0], Unclear),
        ([-1.0, 2.0], [1.0, 2.0], Unclear),
        ([-1.0, 2.0], [9.0, 10.0], DoesNotHold),
    ] {
        for (one, other) in [(one, other), (other, one)] {
            let (judgement, words) = prices(one, other, 10.0).expect("prices");
            assert_eq!(judgement, expected, "{one:?} {other:?}: {words}");
            assert!(!words.contains("needs two numbers of records"), "{words}");
        }
    }
    assert_eq!(
        prices([9.0, 10.0], [-3.0, -1.0], 10.0).expect("prices").0,
        Unclear,
        "no call gives time back"
    );
    assert_eq!(prices([1.0, 2.0], [1.0, 2.0], 0.0), None, "no call has no price");
    let (judgement, words) = prices([1.0, 3.0], [1.0, 3.0], 1.0).expect("a call");
    assert_eq!(judgement, Unclear);
    let told = "fine: 0.02 us (0.01 .. 0.03) at 500, 0.02 us (0.01 .. 0.03) at 1 000; the document";
    assert!(words.starts_with(told), "{words}");
}

#[test]
fn a_difference_of_two_single_runs_is_no_price() {
    let ran =
        |locking, nrec, cpu: f64| ran(locking, 1, nrec, &[("cpu", [cpu; 2]), ("lock_calls", [10.0; 2])]);
    let mut figures = [(500, 150.0), (1000, 150.0)]
        .map(|(nrec, cpu)| [ran(Locking::None, nrec, 50.0), ran(Locking::Fine, nrec, cpu)])
        .concat();
    assert_eq!(a_call(&on_disk(&figures), &plan()).expect("prices").0, Holds);
    figures[3].launches.truncate(1);
    let (judgement, words) = a_call(&on_disk(&figures), &plan()).expect("a cell");
    assert_eq!(judgement, NotJudged);
    assert!(words.starts_with("fine: 0.01 us at 500; the document"), "{words}");
    assert!(words.ends_with("needs two numbers of records with repeated runs"), "{words}");
}

/// A cell with one operation's counts, whose launches took these times.
fn counted(locking: Locking, nrec: u32, cpu: [f64; 2]) -> Figure {
    let nrec = f64::from(nrec);
    let calls = [0.0, 0.2, 0.4][locking as usize] * nrec;
    let counts = [("visits", [nrec * nrec; 2]), ("operations", [nrec; 2])];
    let quantities = [&counts[..], &[("lock_calls", [calls; 2]), ("cpu", cpu)][..]].concat();
    ran(locking, 1, nrec as u32, &quantities)
}

#[test]
fn a_model_that_is_a_tenth_off_does_not_hold() {
    for (coarse, expected, off) in [(2.3e6, Holds, "-8.8"), (2.5e6, HoldsInPart, "-14.")] {
        let figures = [(Locking::None, 1e6), (Locking::Coarse, coarse), (Locking::Fine, 3e6)]
            .map(|(locking, cpu)| counted(locking, 500, [cpu, cpu + f64::from(locking as u8)]));
        let (judgement, words) = by_model(&on_disk(&figures), &plan()).expect("a model");
        assert_eq!(judgement, expected, "{words}");
        assert!(words.contains(&format!("farthest off: 500, coarse, {off}")), "{words}");
    }
}

#[test]
fn a_model_with_as_many_prices_as_rows_is_not_judged() {
    let rows = [
        counted(Locking::None, 500, [1e6, 1.1e6]),
        counted(Locking::Fine, 500, [9e6, 2e6]),
        counted(Locking::Coarse, 500, [4e6, 5e6]),
        counted(Locking::None, 1000, [4.1e6, 4e6]),
        counted(Locking::Fine, 1000, [5e6, 6e6]),
    ];
    for (figures, testable) in
        [(&rows[..2], false), (&rows[..3], true), (&[rows[0].clone(), rows[3].clone()][..], false)]
    {
        let judged = by_model(&on_disk(figures), &plan());
        let can = judged.as_ref().is_some_and(|(judgement, _)| *judgement != NotTestableHere);
        assert_eq!(can, testable, "{judged:?}");
        let mut told = Rows::of("apue");
        super::super::values::values(&on_disk(figures), &plan(), &mut told);
        let off = crate::found::test::cell(&told.rows, "The cost model", "500, none", "off");
        assert_eq!(off.is_some(), testable, "what cannot be off has no column of it");
    }
}

#[test]
fn the_row_that_is_farthest_off_is_told_as_in_the_table() {
    for scale in [[1.0, 1.1, 0.95, 1.0], [1.05, 1.0, 1.0, 0.8], [0.7, 1.0, 1.2, 1.0]] {
        let ways = [(Locking::None, 500), (Locking::Fine, 500), (Locking::None, 1000), (Locking::Fine, 1000)];
        let figures: Vec<Figure> = ways
            .into_iter()
            .zip(scale)
            .map(|((locking, nrec), scale)| {
                let ns = f64::from(nrec).powi(2) + f64::from(nrec) * 100.0 * f64::from(locking as u8);
                counted(locking, nrec, [ns * scale, ns * (1.3 + scale / 5.0)])
            })
            .collect();
        let mut told = Rows::of("apue");
        super::super::values::values(&on_disk(&figures), &plan(), &mut told);
        let off = ways.map(|(locking, nrec)| {
            let row = name_of(&plan().cell(locking, 1, nrec));
            let cell = crate::found::test::cell(&told.rows, "The cost model", &row, "off");
            (row, cell.and_then(|cell| cell.measured).expect("measured"))
        });
        let (row, share) =
            off.into_iter().max_by(|a, b| a.1.value.abs().total_cmp(&b.1.value.abs())).expect("rows");
        let (_, words) = by_model(&on_disk(&figures), &plan()).expect("a model");
        let [value, low, high] = [share.value, share.low, share.high].map(|it| it * 100.0);
        let told = format!("farthest off: {row}, {value:.2} % ({low:.2} .. {high:.2})");
        assert!(words.contains(&told), "{words}: {told}");
    }
}

#[test]
fn fine_locks_are_twice_as_fast_from_a_ratio_of_two_on_four_cpus() {
    for (ratio, cpus, expected) in [
        ([2.0, 3.0], Some(4), Holds),
        ([2.0, 3.0], None, Holds),
        ([2.0, 3.0], Some(3), NotTestableHere),
        ([1.9, 3.0], Some(5), Unclear),
        ([1.5, 1.9], Some(4), DoesNotHold),
        ([3.0, 3.0], Some(4), NotJudged),
    ] {
        let switches = ("switches_per_operation", [0.5; 2]);
        let figures = [
            ran(Locking::Coarse, 2, 500, &[("clock", ratio), switches]),
            ran(Locking::Fine, 2, 500, &[("clock", [1.0; 2]), switches]),
        ];
        let found = Found { cpus, ..on_disk(&figures) };
        let (judgement, words) = twice(&found, &plan(), 500, 2).expect("a ratio");
        assert_eq!(judgement, expected, "{ratio:?} {cpus:?}: {words}");
    }
}

#[test]
fn what_is_said_beside_the_document_depends_on_layout_and_children() {
    let said = |plan: &ApuePlan| -> Vec<String> {
        let mut rows = Rows::of("apue");
        ours(&on_disk(&[]), plan, &mut rows);
        rows.rows.into_iter().filter_map(|row| row.statement).collect()
    };
    let [call, model, children] = &said(&ApuePlan::default())[..] else { panic!("three rows") };
    assert!(call.contains("adds the same time") && model.contains("a model of records"), "{call} {model}");
    assert!(children.ends_with("with 4 children"), "{children}");
    assert_eq!(said(&ApuePlan { layout: Layout::Fast, ..ApuePlan::default() }).len(), 2);
    assert_eq!(said(&ApuePlan { children: vec![1], ..ApuePlan::default() }).len(), 2);
    let two = said(&plan());
    assert!(two.len() == 4 && two[2].ends_with("with 2 children"), "{two:?}");
}

#[test]
fn the_share_of_cpu_time_is_what_decides_the_first_statement() {
    let figures = [ran(Locking::None, 1, 500, &[("cpu_share", [0.9, 1.0])])];
    let mut rows = Rows::of("apue");
    statements(&on_disk(&figures), &on_disk(&figures), &plan(), &mut rows);
    let id = figures[0].id.as_str();
    crate::found::test::assert_named(&rows.rows, &[("approximately equals", id, "cpu_share")]);
    assert_eq!(statement(&rows.rows, "approximately equals").measured, Some(between(0.9, 1.0)));
}

#[test]
fn the_most_waits_for_locks_decide_of_them() {
    let waited = |nrec, waits| {
        let mut figure = ran(Locking::Fine, 1, nrec, &[("cpu", [1.0, 1.0])]);
        figure.evidence.voluntary_switches = Some(waits);
        figure
    };
    let figures = [waited(500, 0.001), waited(1000, 0.002)];
    let mut rows = Rows::of("apue");
    statements(&on_disk(&figures), &on_disk(&figures), &plan(), &mut rows);
    let by = |statement| (statement, figures[1].id.as_str(), WAITS_COUNTED);
    let named = ["CPU limited and not disk limited", "Even though the locks"].map(by);
    crate::found::test::assert_named(&rows.rows, &named);
}

#[test]
fn what_the_plan_did_not_run_is_not_spoken_of() {
    let figures = [
        ran(Locking::Coarse, 1, 2000, &[("cpu", [1.0, 1.0])]),
        ran(Locking::Fine, 1, 2000, &[("cpu", [1.0, 1.1])]),
    ];
    assert_eq!(advisory(&on_disk(&figures), &plan()), None);
    let of_two = ApuePlan { nrec: vec![2000], children: vec![2], ..ApuePlan::default() };
    assert_eq!(advisory(&on_disk(&figures), &of_two), None, "its run has two children");
}
