//! Drift that small stores show, reckoned from what each run found.

use oscost_results::LaunchRecord;
use serde_json::json;

use super::*;

/// A run of the figures "a" and "b" under one roof, whose floors are these; known to nothing at all.
fn run(number: usize, a: f64, b: f64) -> RunResult {
    let begun = std::time::UNIX_EPOCH;
    let mut result = RunResult::begun(begun, Default::default(), Default::default(), Default::default());
    result.plan.seed = number as u64;
    result.figures = [("a", a), ("b", b)].map(|(id, floor)| figure(id, floor)).into();
    result
}

fn figure(id: &str, floor: f64) -> Figure {
    let mut figure: Figure = serde_json::from_value(json!({
        "id": id, "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
        "call_path": "libc", "group": "", "status": "measured", "headline": "floor", "placement": "one_cpu",
    }))
    .expect("a figure");
    let quantities = [("floor".to_owned(), floor)].into();
    figure.launches = vec![LaunchRecord { quantities, ..LaunchRecord::default() }; 5];
    figure
}

/// What is learnt of "a" from these runs, where two others are compared; and where they are of two machines.
fn learnt(past: &[RunResult], change: &dyn Fn(&mut Figure)) -> Drift {
    let (one, mut other) = (run(1001, 1.0, 1.0), run(1002, 1.0, 1.0));
    other.figures.iter_mut().for_each(change);
    let [a, b] = [&one, &other].map(|result| [Named { name: "", result }]);
    let mut learning = Learning::new(past, &a, &b, false);
    let figures = [&one.figures[0], &other.figures[0]];
    assert_eq!(learning.own(&figures, "floor"), Drift::NONE, "nothing is beside a null that is not there");
    let once = learning.drift(&figures, "floor");
    assert_eq!(learning.drift(&figures, "floor"), once, "asked again it says the same");
    once
}

/// As [`Drift::learnt`] has it of places that are known exactly.
fn of(usual: Drift, series: &[&[f64]]) -> Drift {
    let found = |value: &f64| DriftFound { value: *value, error: 0.0 };
    usual.learnt(&series.iter().map(|it| it.iter().map(found).collect()).collect::<Vec<_>>())
}

fn near(one: Drift, other: Drift) {
    assert!((one.share() / other.share() - 1.0).abs() < 1e-9, "{one:?} {other:?}");
}

#[test]
fn a_figure_drifts_as_it_did_and_as_those_of_its_class_do() {
    let table = usual("one_cpu", "floor", false);
    let unchanged = |_: &mut Figure| ();
    near(learnt(&[], &unchanged), table);
    let past: Vec<RunResult> =
        [(1.0, 1.0), (1.1, 1.0), (1.0, 1.02)].iter().zip(0..).map(|(&(a, b), at)| run(at, a, b)).collect();
    let (of_a, of_b): (&[f64], &[f64]) = (&[1.0, 1.1, 1.0], &[1.0, 1.0, 1.02]);
    let shares = vec![of(table, &[of_a]).share(), of(table, &[of_b]).share()];
    let class = Drift::usual(median(&sorted(shares)).expect("two"));
    let expected = of(class, &[of_a]);
    near(learnt(&past, &unchanged), expected);
    assert!(expected.share() > 2.0 * table.share(), "else this proves nothing");
    // Sets of surroundings are learnt from apart, and one run alone shows nothing, not even which figures there are.
    let mut elsewhere = past.clone();
    elsewhere[2].note = Some("another".to_owned());
    elsewhere[2].figures.push(figure("c", 1.0));
    let two = [&of_a[..2], &of_b[..2]].map(|it| of(table, &[it]).share());
    let class = Drift::usual(median(&sorted(two.into())).expect("two"));
    near(learnt(&elsewhere, &unchanged), of(class, &[&of_a[..2]]));
    let mut sets: Vec<RunResult> = past.iter().chain(&past).cloned().collect();
    sets.iter_mut().skip(3).for_each(|it| it.note = Some("another".to_owned()));
    let both = [of_a, of_b].map(|it| of(table, &[it, it]).share());
    let class = Drift::usual(median(&sorted(both.into())).expect("two"));
    near(learnt(&sets, &unchanged), of(class, &[of_a, of_a]));
    // Another method, another placement, a disturbed run and one that failed show nothing of "a"; of its class they do.
    let changes: [&dyn Fn(&mut Figure); 4] = [
        &|it| it.revision = 2,
        &|it| it.marks.push(oscost_results::Mark::Shared),
        &|it| it.status = Status::Failed,
        &|it| it.launches.truncate(1),
    ];
    for change in changes {
        let mut other = past.clone();
        other.iter_mut().for_each(|it| change(&mut it.figures[0]));
        assert!(learnt(&other, &unchanged).share() < 0.7 * expected.share());
    }
    // Beside a disturbed one only disturbed ones count.
    let disturb = |it: &mut Figure| it.marks.push(oscost_results::Mark::BusySibling);
    near(learnt(&past, &disturb), usual("one_cpu", "floor", true));
    let mut disturbed = past.clone();
    disturbed.iter_mut().flat_map(|it| &mut it.figures).for_each(disturb);
    assert!(learnt(&disturbed, &disturb).share() > usual("one_cpu", "floor", true).share());
    near(learnt(&disturbed, &unchanged), table);
}

/// Either of the compared runs may be the one that a past run is like; how much was spent on it makes no difference.
#[test]
fn past_runs_like_either_side_count() {
    let mut past: Vec<RunResult> = [1.0, 1.1].iter().zip(0..).map(|(&a, at)| run(at, a, 1.0)).collect();
    past.iter_mut().for_each(|it| it.plan.effort = "thorough".to_owned());
    let (one, mut other) = (run(1001, 1.0, 1.0), run(1002, 1.0, 1.0));
    other.conditions.idle_cpu = Some("poll".to_owned());
    let [a, b] = [&one, &other].map(|result| [Named { name: "", result }]);
    fn cells(a: &[Named<'_>], b: &[Named<'_>], past: &[RunResult]) -> Vec<usize> {
        Learning::new(past, a, b, false).cells.iter().map(Vec::len).collect()
    }
    assert_eq!(
        (cells(&a, &b, &past), cells(&b, &a, &past), cells(&b, &b, &past)),
        (vec![2], vec![2], vec![])
    );
    past.push(one.clone());
    past.push(RunResult { estimators: 1, ..run(7, 1.0, 1.0) });
    assert_eq!(cells(&a, &b, &past), [2], "neither a compared run nor one of another method");
    past[3].estimators = one.estimators;
    assert_eq!(cells(&a, &b, &past), [3]);
    past[3].note = Some("something else".to_owned());
    assert_eq!(cells(&a, &b, &past), [2], "a run by itself has no other one");
}

/// Of a class only the newest method of each figure counts.
#[test]
fn a_class_drifts_as_the_newest_methods_do() {
    let mut past: Vec<RunResult> = [1.0, 1.5, 1.6].iter().zip(0..).map(|(&b, at)| run(at, 1.0, b)).collect();
    past[1..].iter_mut().for_each(|it| it.figures[1].revision = 2);
    past.iter_mut().for_each(|it| _ = it.figures.remove(0));
    let table = usual("one_cpu", "floor", false);
    near(learnt(&past, &|_| ()), Drift::usual(of(table, &[&[1.5, 1.6]]).share()));
}

#[test]
fn a_cpu_that_was_kept_awake_is_another_class_and_references_tell_of_all() {
    let mut awake = figure("a", 1.0);
    awake.placement = "cross_cpu".to_owned();
    let quantity = json!({"value": 1.0, "low": 1.0, "high": 1.0, "unit": "ns"});
    let asleep = serde_json::from_value(quantity).expect("a quantity");
    let moved = |apart: f64, enters: bool| oscost_stats::null::Moved {
        apart,
        error: 1e-4,
        enters: Some(enters),
        price: 1.0,
        calls: 1.0,
    };
    let all: Vec<_> = (0..8).map(|at| moved(if at < 5 { 0.2 } else { 0.0 }, at < 5)).collect();
    let told = oscost_stats::references::told(&all).expect("eight references");
    let mut learning = Learning {
        cells: Vec::new(),
        classes: BTreeSet::new(),
        told: BTreeMap::new(),
        usual: BTreeMap::new(),
    };
    near(learning.drift(&[&awake], "typical"), usual("cross_cpu", "typical", false));
    near(learning.drift(&[&awake, &figure("a", 1.0)], "floor"), usual("cross_cpu", "floor", false));
    near(learning.drift(&[&figure("a", 1.0), &awake], "floor"), usual("one_cpu", "floor", false));
    awake.quantities.insert(oscost_results::quantity::ASLEEP.to_owned(), asleep);
    near(learning.drift(&[&awake], "typical"), usual(AWAKE, "typical", false));
    learning.told.insert(Class::of(&awake), told);
    assert_eq!(learning.drift(&[&awake], "typical"), told.drift(usual(AWAKE, "typical", false)));
    assert_eq!(learning.shift(), None, "it is not of one CPU");
    let mut still = told;
    still.shift = 0.0;
    learning.told.insert(Class::one_cpu(), still);
    assert_eq!(learning.shift(), None);
    learning.told.insert(Class::one_cpu(), told);
    assert!(learning.shift().is_some_and(|it| (it - 0.2).abs() < 1e-6));
}

#[test]
fn a_place_is_known_by_launches_that_have_a_logarithm() {
    assert!(located(&[1.0], MEDIAN).is_none() && located(&[0.0, 1.0], MEDIAN).is_none());
    assert!(located(&[1.0, 3.0], MEDIAN).is_some_and(|it| it.value > 1.0 && it.error > 0.0));
}

#[test]
fn a_pair_is_found_by_all_that_names_it() {
    let pair = |of: &str, to: &str, quantity: &str, unit: &str, launches: &[f64]| -> PairedValue {
        serde_json::from_value(json!({
            "of": of, "to": to, "quantity": quantity, "unit": unit, "value": 2.0, "low": 1.0, "high": 3.0,
            "launches": launches,
        }))
        .expect("a pair")
    };
    let mut result = run(0, 1.0, 1.0);
    result.ratios =
        vec![pair("a", "b", "paired", "ratio", &[2.0, 2.1]), pair("b", "a", "paired", "ratio", &[])];
    result.differences = vec![pair("a", "b", "paired", "ns", &[7.0, 7.1])];
    let launches = |of: &str, to: &str, quantity: &str, unit: &str| {
        find(&result, &pair(of, to, quantity, unit, &[])).map(|it| it.launches[0])
    };
    assert_eq!(launches("a", "b", "paired", "ratio"), Some(2.0));
    assert_eq!(launches("a", "b", "paired", "ns"), Some(7.0));
    for (of, to, quantity, unit) in [
        ("b", "a", "paired", "ratio"),
        ("a", "c", "paired", "ratio"),
        ("c", "b", "paired", "ratio"),
        ("a", "b", "floor", "ratio"),
        ("a", "b", "paired", "count"),
    ] {
        assert_eq!(launches(of, to, quantity, unit), None, "{of} {to} {quantity} {unit}");
    }
    let past: Vec<RunResult> = [2.0, 2.4, 2.0]
        .into_iter()
        .zip(0..)
        .map(|(ratio, at)| RunResult {
            ratios: vec![pair("a", "b", "paired", "ratio", &[ratio; 5])],
            ..run(at, 1.0, 1.0)
        })
        .collect();
    let compared = run(1001, 1.0, 1.0);
    let side = [Named { name: "", result: &compared }];
    let mut learning = Learning::new(&past, &side, &side, false);
    let usual = usual(PAIR, "ratio", false);
    near(learning.drift_of_pair(&result.ratios[0]), of(usual, &[&[2.0, 2.4, 2.0]]));
    near(learning.drift_of_pair(&result.differences[0]), usual);
}

#[test]
fn what_wakes_nobody_beside_few_others_is_of_one_cpu() {
    let mut woken = figure("a", 1.0);
    woken.placement = "cross_cpu".to_owned();
    woken.launches[0].hop_ns = Some(30.0);
    woken.evidence.voluntary_switches = Some(0.0);
    let own = Class::of(&woken);
    let learning = |classes: BTreeSet<Class>| Learning {
        cells: Vec::new(),
        classes,
        told: BTreeMap::new(),
        usual: BTreeMap::new(),
    };
    assert_eq!(learning(BTreeSet::new()).class(&woken), Class::one_cpu());
    assert_eq!(learning(BTreeSet::from([own.clone()])).class(&woken), own);
    woken.evidence.voluntary_switches = Some(1.0);
    assert_eq!(learning(BTreeSet::new()).class(&woken), own);
    // Beside a null a figure drifts by little, and by what it did by itself.
    let mut beside = learning(BTreeSet::from([own]));
    assert_eq!(beside.drift(&[&woken], "floor"), Drift::with_a_null());
    assert_eq!(beside.own(&[&woken], "floor"), Drift::NONE);
    assert_eq!((beside.shift(), beside.drift(&[], "floor")), (None, Drift::NONE));
}
