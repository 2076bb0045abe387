//! The conditions of a verdict: one method, one regime, boots, past runs, alternating launches.

use oscost_report::Named;
use oscost_report::compare::{Rules, Verdict, compare, compare_live, compare_sides};
use oscost_results::{Figure, Mark, RunResult};

use super::{MONOTONIC, against, figure_mut, named, on_one_cpu, row, scaled, stored, verdict};

/// Everything twice as slow in B, and why it is nevertheless no verdict.
fn refused(change: impl Fn(&mut RunResult)) -> (Verdict, String) {
    let (a, mut b) = (stored(), scaled(stored(), MONOTONIC, 2.0));
    change(&mut b);
    let comparison = against(&a, &b);
    let row = row(&comparison, MONOTONIC);
    (row.verdict, row.why.clone())
}

#[test]
fn what_was_measured_otherwise_is_not_judged() {
    assert_eq!(refused(|_| ()), (Verdict::Slower, String::new()));
    let unclear = |why: &str| (Verdict::Unclear, why.to_owned());
    assert_eq!(
        refused(|b| figure_mut(b).revision = 2),
        unclear("its method changed between revisions 1 and 2")
    );
    assert_eq!(
        refused(|b| b.estimators = 1),
        unclear("the method changed: results of version 1 are only compared with each other")
    );
}

/// A host that moves the CPUs of a guest apart changes all that passes between them.
#[test]
fn what_wakes_another_cpu_is_judged_where_that_cpu_was_as_near_and_as_awake() {
    let hops = |result: &mut RunResult, hops: [f64; 10]| {
        let launches = figure_mut(result).launches.iter_mut();
        launches.zip(hops).for_each(|(launch, hop)| launch.hop_ns = Some(hop));
    };
    let judged = |of_b: [f64; 10], how_b: Option<&str>| {
        let (mut a, mut b) = (stored(), scaled(stored(), MONOTONIC, 2.0));
        (a.conditions.kept_awake, b.conditions.kept_awake) =
            (Some("it polls".into()), how_b.map(str::to_owned));
        hops(&mut a, [33.0; 10]);
        hops(&mut b, of_b);
        let comparison = against(&a, &b);
        let row = row(&comparison, MONOTONIC);
        (row.verdict, row.why.clone())
    };
    let near = [33.0; 10];
    let some_far = [160.0, 33.0, 34.0, 160.0, 33.0, 160.0, 33.0, 160.0, 160.0, 160.0];
    assert_eq!(judged(near, Some("it polls")), (Verdict::Slower, String::new()));
    assert_eq!(judged(some_far, Some("it polls")).0, Verdict::Slower, "far launches do not count");
    let (verdict, why) = judged([160.0; 10], Some("it polls"));
    assert!(verdict == Verdict::Unclear && why.contains("33.0 ns before and 160 ns now"), "{why}");
    let (verdict, why) = judged(near, Some("it spins"));
    assert!(verdict == Verdict::Unclear && why.ends_with("it polls, it spins"), "{why}");
    let (verdict, why) = judged(near, None);
    assert!(verdict == Verdict::Unclear && why.ends_with("it polls, it slept"), "{why}");
}

/// Two runs of one machine, seconds apart: beside compilers a hand-over to the other CPU took 12.2 us, and 2.47 us without them.
#[test]
fn what_wakes_another_cpu_is_not_judged_where_others_had_that_cpu_on_one_side() {
    let told = |of_a: Option<f64>, of_b: Option<f64>, hop: Option<f64>| {
        let (mut a, mut b) = (stored(), scaled(stored(), MONOTONIC, 0.2));
        for (result, share) in [(&mut a, of_a), (&mut b, of_b)] {
            for launch in &mut figure_mut(result).launches {
                (launch.hop_ns, launch.foreign_share) = (hop, share);
            }
        }
        let comparison = against(&a, &b);
        let row = row(&comparison, MONOTONIC);
        (row.verdict, row.why.clone())
    };
    let judged = |of_a: f64, of_b: f64, hop| told(Some(of_a), Some(of_b), hop);
    let hop = Some(31.0);
    let (verdict, why) = judged(0.69, 0.0, hop);
    assert!(verdict == Verdict::Unclear && why.contains("69 % of the time before and 0 % now"), "{why}");
    assert_eq!(judged(0.0, 0.69, hop).0, Verdict::Unclear);
    assert_eq!(judged(0.69, 0.62, hop).0, Verdict::Faster, "both are prices of a busy CPU");
    assert_eq!(judged(0.1, 0.0, hop).0, Verdict::Faster, "most batches met nobody");
    assert_eq!(told(Some(0.1), None, hop).0, Verdict::Faster, "who does not say it was alone");
    assert_eq!(told(Some(0.69), None, hop).0, Verdict::Unclear);
    assert_eq!(judged(0.69, 0.0, None).0, Verdict::Faster, "what stays on its CPU wakes no other one");
}

/// What cannot be held against each other tells nothing of the others: a class that it leaves too small has no null, and its figures
/// move as usual across CPUs, by 3 %.
#[test]
fn a_null_is_told_by_the_figures_that_are_judged() {
    let class = |factor: f64| {
        let mut result = stored();
        let mut template = figure_mut(&mut result).clone();
        template.placement = "cross_cpu".into();
        template.judged = "typical".into();
        template.evidence.voluntary_switches = Some(1.0);
        for launch in &mut template.launches {
            let floor = launch.quantities["floor"];
            launch.quantities = [("typical".to_owned(), floor * factor)].into();
            launch.hop_ns = Some(33.0);
        }
        result.figures = (0..14).map(|at| Figure { id: format!("x/{at}"), ..template.clone() }).collect();
        result
    };
    let verdict_on_first = |change: &dyn Fn(&mut Figure)| {
        let (a, mut b) = (class(1.0), class(1.0));
        b.figures[..3].iter_mut().for_each(change);
        for launch in &mut b.figures[13].launches {
            launch.quantities.values_mut().for_each(|value| *value *= 1.08);
        }
        verdict(&against(&a, &b), "x/13")
    };
    assert_eq!(verdict_on_first(&|_| ()), Verdict::Slower, "14 figures that stood still, but for one");
    let far = |figure: &mut Figure| figure.launches.iter_mut().for_each(|it| it.hop_ns = Some(160.0));
    assert_eq!(verdict_on_first(&far), Verdict::Unclear);
    assert_eq!(verdict_on_first(&|figure| figure.launches.truncate(1)), Verdict::Unclear);
    assert_eq!(verdict_on_first(&|figure| figure.revision = 2), Verdict::Unclear);
}

/// A neighbour on one side alone may have made that side slower, and made no side faster.
#[test]
fn a_neighbour_explains_what_is_slower_beside_it_and_nothing_else() {
    let judged = |factor: f64, busy_a: bool, busy_b: bool| {
        let (mut a, mut b) = (stored(), scaled(stored(), MONOTONIC, factor));
        for (result, busy) in [(&mut a, busy_a), (&mut b, busy_b)] {
            if busy {
                figure_mut(result).marks.push(Mark::BusySibling);
            }
        }
        let comparison = against(&a, &b);
        let row = row(&comparison, MONOTONIC);
        // What a bisection asks: a neighbour of the first side may have hidden that the second is slower.
        assert_eq!(
            row.not_slower,
            factor < 1.02 && (busy_a == busy_b || busy_b),
            "{factor} {busy_a} {busy_b}"
        );
        (row.verdict, row.why.contains("busy sibling"))
    };
    assert_eq!(judged(2.0, true, true), (Verdict::Slower, false), "both are of one regime");
    assert_eq!(judged(2.0, true, false), (Verdict::Slower, false), "slower although the neighbour left");
    assert_eq!(judged(0.5, false, true), (Verdict::Faster, false), "faster although a neighbour came");
    assert_eq!(judged(2.0, false, true), (Verdict::Unclear, true), "the neighbour may be the reason");
    assert_eq!(judged(0.5, true, false), (Verdict::Unclear, true), "the neighbour may be the reason");
    for (busy_a, busy_b) in [(true, false), (false, true)] {
        assert_eq!(
            judged(1.0, busy_a, busy_b),
            (Verdict::Unclear, true),
            "within only by a neighbour, perhaps"
        );
    }
}

/// Of two boots nothing is slower: placement of code differs from boot to boot. What is within is.
#[test]
fn two_boots_show_no_change() {
    for other in [Some("the second boot"), None, Some("")] {
        let boot = |b: &mut RunResult| b.conditions.boot_id = other.map(str::to_owned);
        let (verdict, why) = refused(boot);
        assert_eq!(verdict, Verdict::Unclear, "{other:?}");
        let says_which = other.is_some_and(|boot| !boot.is_empty());
        assert_eq!(why.contains("these two boots"), says_which, "what nobody knows is not told: {why}");
        assert!(why.starts_with("differs") && why.contains("placement alone can cause"), "{why}");
    }
    let (a, mut b) = (stored(), stored());
    b.conditions.boot_id = Some("the second boot".into());
    let comparison = against(&a, &b);
    assert!(on_one_cpu(&comparison).all(|row| row.verdict == Verdict::Within));
    assert_eq!(comparison.conditions[0].what, "boot");
    let row = row(&comparison, MONOTONIC);
    assert!(row.change.is_some() && row.a.value > 0.0, "figures are shown");
}

/// So many boots of one result each, every one placed a little differently.
fn boots(name: &str, factor: f64, count: u32) -> Vec<RunResult> {
    let of = |boot: u32| {
        let mut result = scaled(stored(), MONOTONIC, factor * (1.0 + 0.01 * f64::from(boot % 3)));
        result.conditions.boot_id = Some(format!("{name} {boot}"));
        result
    };
    (0..count).map(of).collect()
}

#[test]
fn three_boots_a_side_show_a_change() {
    let sides = |before: &[RunResult], after: &[RunResult]| {
        compare_sides(&named(before.to_vec()), &named(after.to_vec()), Rules::default()).unwrap()
    };
    let slower = sides(&boots("old", 1.0, 3), &boots("new", 1.5, 3));
    assert_eq!(verdict(&slower, MONOTONIC), Verdict::Slower, "{:?}", row(&slower, MONOTONIC));
    assert!((row(&slower, MONOTONIC).change.unwrap().change - 0.5).abs() < 1e-6);
    assert!(slower.rows.iter().filter(|row| row.id != MONOTONIC).all(|row| row.verdict == Verdict::Within));
    let two = sides(&boots("old", 1.0, 3), &boots("new", 1.5, 2));
    assert_eq!(verdict(&two, MONOTONIC), Verdict::Unclear);
    assert!(two.warnings.iter().any(|warning| warning.contains("3 and 2 boots")), "{:?}", two.warnings);
    // Three runs of one boot are one boot.
    let mut again = boots("new", 1.5, 3);
    again.iter_mut().for_each(|result| result.conditions.boot_id = Some("new 0".into()));
    assert_eq!(verdict(&sides(&boots("old", 1.0, 3), &again), MONOTONIC), Verdict::Unclear);
    // Six runs of one boot differ by what differs from run to run.
    let mut one = boots("old", 1.0, 3);
    one.iter_mut().for_each(|result| result.conditions.boot_id = Some("new 0".into()));
    assert_eq!(verdict(&sides(&one, &again), MONOTONIC), Verdict::Slower);
    assert!(compare_sides(&[], &[], Rules::default()).is_none());
}

/// Past runs of the same thing say how far figures move here: what moved by a tenth before is not called slower for that.
#[test]
fn drift_is_learnt_from_the_past() {
    let at = |hour: u32, factor: f64| {
        let mut result = scaled(stored(), MONOTONIC, factor);
        result.started = format!("2026-11-20T{hour:02}:00:00Z");
        result
    };
    let (a, b) = (at(20, 1.0), at(21, 1.12));
    let judged = |past: &[RunResult]| {
        let named = |result| Named { name: "x", result };
        let comparison = compare(&named(&a), &named(&b), Rules { past, ..Rules::default() });
        verdict(&comparison, MONOTONIC)
    };
    let moving: Vec<RunResult> =
        (0..10).map(|hour| at(hour, if hour % 2 == 0 { 1.0 } else { 1.1 })).collect();
    assert_eq!(judged(&[]), Verdict::Slower);
    assert_eq!(judged(&moving), Verdict::Unclear);
    let steady: Vec<RunResult> = (0..10).map(|hour| at(hour, 1.0)).collect();
    assert_eq!(judged(&steady), Verdict::Slower);
    // The compared runs are in the store, too: they are no past of themselves.
    assert_eq!(judged(&[a.clone(), b.clone()]), Verdict::Slower);
    // Other settings, another machine, and what the user marked as something else, show nothing.
    for change in [
        |result: &mut RunResult| result.conditions.idle_cpu = Some("poll".into()),
        |result: &mut RunResult| result.machine.cpu_model = "another".into(),
        |result: &mut RunResult| result.note = Some(result.started.clone()),
        |result: &mut RunResult| result.conditions.boot_id = Some(result.started.clone()),
        |result: &mut RunResult| result.estimators = 1,
        |result: &mut RunResult| figure_mut(result).revision = 7,
    ] {
        let mut others = moving.clone();
        others.iter_mut().for_each(change);
        assert_eq!(judged(&others), Verdict::Slower, "{:?}", others[1].conditions);
    }
}

/// Rounds of A B B A in which B costs 3 % more, on a machine that drifts by far more than that.
#[test]
fn alternating_launches_see_through_a_drift() {
    let launch = |drift: f64, factor: f64| {
        let mut result = scaled(stored(), "clock/monotonic", factor);
        for figure in &mut result.figures {
            figure.launches.truncate(1);
            for launch in &mut figure.launches {
                launch.quantities.values_mut().for_each(|value| *value *= drift);
            }
        }
        result
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for round in 0..10_u32 {
        let at = |step: u32| 1.0 + f64::from(4 * round + step) * 0.02 + f64::from(round % 3) * 0.001;
        a.extend([launch(at(0), 1.0), launch(at(3), 1.0)]);
        b.extend([launch(at(1), 1.03), launch(at(2), 1.03)]);
    }
    let comparison = compare_live(&named(a), &named(b), Rules { threshold: 0.02, ..Rules::default() });
    let row = row(&comparison, MONOTONIC);
    assert_eq!(row.verdict, Verdict::Slower, "{row:?}");
    assert!((row.change.unwrap().change - 0.03).abs() < 0.002, "{row:?}");
    let others = on_one_cpu(&comparison).filter(|row| row.id != "clock/monotonic");
    assert!(others.clone().count() > 3);
    assert!(others.clone().all(|row| row.verdict == Verdict::Within), "{:?}", comparison.rows);
}
