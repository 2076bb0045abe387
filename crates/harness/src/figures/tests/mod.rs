//! Figures of invented launches: quantities, marks, and figures that are withheld.

mod evidence;
mod pairs;
mod remarks;
mod windows;

use super::*;
use crate::benchmark::card::{Bound, Claim, QuantityCard};
use crate::figures::synthetic::{COST, choice, launched, member, series};
use crate::protocol::message::Audited;
const CONTEXT: Context<'static> = Context {
    planned: 0,
    void_launches: 0,
    void_reason: None,
    clock_step_ns: 1.0,
    interrupted: false,
    stopped_by_quota: false,
    cycles: true,
    best: Best::UNKNOWN,
};

fn batched(id: &'static str) -> Card {
    Card { id, group: "g", ..Card::BATCHED }
}

/// Launches of a batched member with these floors; everything else costs twice as much.
fn floors(floors: &[f64]) -> Vec<Launched> {
    floors.iter().map(|&floor| launched(&[("floor", floor), ("typical", 2.0 * floor)])).collect()
}

/// As many launches, all alike.
fn alike(count: usize) -> Vec<Launched> {
    floors(&vec![100.0; count])
}

fn with(mut launched: Vec<Launched>, change: impl Fn(usize, &mut Launched)) -> Vec<Launched> {
    launched.iter_mut().enumerate().for_each(|(index, launched)| change(index, launched));
    launched
}

fn figure(card: Card, launched: Vec<Launched>) -> Figure {
    of_member(&member(card, launched), &CONTEXT)
}

fn value(figure: &Figure, name: &str) -> (f64, f64, f64) {
    let estimate = figure.quantities[name].estimate;
    (estimate.value, estimate.low, estimate.high)
}

#[test]
fn a_floor_is_the_lower_quartile_of_launches_and_the_rest_their_median_or_largest() {
    let launches: Vec<Launched> = (0..8)
        .map(|index| {
            let names = ["floor", "p5", "typical", "batch_p99", "mean", "max", "same_cpu_share", "nonsense"];
            let of = |name: usize| if name == 6 { 0.1 } else { 100.0 * (name + 1) as f64 } * (1.0 + f64::from(index));
            let table: Vec<(&str, f64)> = names.into_iter().enumerate().map(|(name, text)| (text, of(name))).collect();
            launched(&table)
        })
        .collect();
    let figure = figure(batched("x"), launches);
    // Launches are 1 to 8 times something: the order statistic ceil(8/4) of the floors, and means of the middle two.
    assert_eq!(value(&figure, "floor").0, 200.0);
    for (name, expected) in [("p5", 900.0), ("typical", 1350.0), ("batch_p99", 1800.0), ("mean", 2250.0)] {
        assert!((value(&figure, name).0 - expected).abs() < 1e-9, "{name}: {:?}", value(&figure, name));
    }
    assert_eq!(value(&figure, "max"), (4800.0, 600.0, 4800.0));
    assert!(figure.quantities["max"].estimate.extremes && !figure.quantities["floor"].estimate.extremes);
    assert!((value(&figure, "same_cpu_share").0 - 0.45).abs() < 1e-9);
    assert!(value(&figure, "same_cpu_share").1 >= 0.0 && value(&figure, "same_cpu_share").2 <= 1.0);
    assert!(!figure.quantities.contains_key("nonsense"));
    let units = ["floor", "max", "same_cpu_share"].map(|name| figure.quantities[name].unit.as_str());
    assert_eq!(units, ["ns", "ns", "share"]);
}

#[test]
fn a_share_ends_at_nothing_and_at_everything() {
    let shares = |shares: &[f64]| {
        let launches = shares.iter().map(|&share| launched(&[("same_cpu_share", share)])).collect();
        value(&figure(batched("x"), launches), "same_cpu_share")
    };
    assert_eq!(shares(&[1.2; 6]), (1.2, 1.2, 1.2), "what is no share stays what it is");
    let (most, low, high) = shares(&[0.5, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert!(most == 1.0 && low < 1.0 && high == 1.0, "{low} {high}");
    let (least, low, high) = shares(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
    assert!(least == 0.0 && low == 0.0 && high > 0.0, "{low} {high}");
    // Beyond its ends it is no share, and stays as it was seen.
    let (odd, low, high) = shares(&[1.5, 2.5, 1.5, 2.5, 1.5, 2.5]);
    assert!(odd == 2.0 && low < 2.0 && high > 2.0, "{low} {high}");
}

#[test]
fn a_series_is_put_together_as_its_card_says() {
    const QUANTITIES: &[QuantityCard] = &[
        QuantityCard::new("cost", "ns"),
        QuantityCard::new("worst", "ns").over(OverLaunches::Max),
        QuantityCard::new("lost", "count").over(OverLaunches::Sum),
    ];
    let launches: Vec<Launched> = [1.0, 3.0, 2.0, 5.0, 4.0, 9.0, 7.0]
        .into_iter()
        .map(|cost| launched(&[("cost", cost), ("worst", cost), ("lost", cost), ("floor", cost)]))
        .collect();
    let figure = figure(Card { quantities: QUANTITIES, ..series("s") }, launches);
    assert_eq!(value(&figure, "cost").0, 4.0);
    assert_eq!(value(&figure, "worst"), (9.0, 1.0, 9.0));
    assert_eq!(value(&figure, "lost"), (31.0, 31.0, 31.0));
    assert_eq!(figure.quantities["lost"].unit, "count");
    assert!(!figure.quantities.contains_key("floor"), "the card does not have it");
    assert_eq!((figure.headline.as_str(), figure.judged.as_str()), ("cost", "cost"));
}

#[test]
fn what_was_never_below_zero_has_no_bound_there() {
    const QUANTITIES: &[QuantityCard] = &[QuantityCard::new("rate", "count")];
    let bounds = |values: [f64; 6]| {
        let launches = values.map(|rate| launched(&[("rate", rate)])).to_vec();
        value(&figure(Card { quantities: QUANTITIES, ..series("s") }, launches), "rate")
    };
    let (rate, low, high) = bounds([0.0, 0.0, 0.0, 0.0, 20.0, 20.0]);
    assert!(rate == 0.0 && low == 0.0 && high > 0.0, "{low} {high}");
    let (_, low, _) = bounds([-1.0, 0.0, 0.0, 0.0, 20.0, 20.0]);
    assert!(low < 0.0, "a difference may be: {low}");
}

#[test]
fn what_has_converged_is_told_by_the_interval_of_the_headline() {
    let mut seen = [false; 2];
    for spread in [0.0, 0.001, 0.005, 0.01, 0.02, 0.04, 0.1] {
        let values: Vec<f64> = (0..8).map(|launch| 100.0 * (1.0 + spread * f64::from(launch % 4))).collect();
        let of = member(batched("x"), floors(&values));
        let figure = of_member(&of, &CONTEXT);
        let (floor, low, high) = value(&figure, "floor");
        let converged = (high - low) / 2.0 / floor <= 0.01;
        assert_eq!(has_converged(&of), converged, "{spread}");
        assert_eq!(figure.marks.contains(&Mark::NotConverged), !converged, "{spread}");
        seen[usize::from(converged)] = true;
    }
    assert_eq!(seen, [true; 2]);
    // Fewer than six launches have no interval.
    assert!(!has_converged(&member(batched("x"), alike(5))));
    assert!(has_converged(&member(batched("x"), alike(6))));
    assert!(!has_converged(&member(batched("x"), Vec::new())));
}

/// Launches that agree at last do not undo what the planned ones showed.
#[test]
fn a_lucky_end_is_no_agreement() {
    let values: Vec<f64> = [100.0, 108.0, 101.0, 107.0, 102.0, 106.0].into_iter().chain([101.0; 6]).collect();
    let of = |planned: usize| {
        let launches = with(floors(&values), |index, launched| launched.extra = index >= planned);
        member(batched("x"), launches)
    };
    assert!(!has_converged(&of(6)) && has_converged(&of(12)));
    let width = |planned| {
        let (_, low, high) = value(&of_member(&of(planned), &CONTEXT), "floor");
        high - low
    };
    assert!(width(6) > 1.2 * width(12), "{} {}", width(6), width(12));
}

#[test]
fn a_headline_of_zero_has_converged_where_all_launches_say_so() {
    let of = |costs: &[f64]| {
        let launches = costs.iter().map(|&cost| launched(&[("cost", cost)])).collect();
        has_converged(&member(series("s"), launches))
    };
    assert!(of(&[0.0; 6]));
    assert!(!of(&[-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]), "zero on the average");
    assert!(of(&[-100.0; 6]), "a difference may be negative");
    assert!(!of(&[-100.0, -90.0, -110.0, -100.0, -90.0, -110.0]));
    // The largest of launches has no interval, but ends.
    const WORST: &[QuantityCard] = &[QuantityCard::new("cost", "ns").over(OverLaunches::Max)];
    let worst = |costs: &[f64]| {
        let launches = costs.iter().map(|&cost| launched(&[("cost", cost)])).collect();
        has_converged(&member(Card { quantities: WORST, ..series("s") }, launches))
    };
    assert!(worst(&[100.0, 99.0]) && !worst(&[100.0, 97.0]));
}

#[test]
fn fewer_launches_than_planned_are_marked() {
    for (planned, marked) in [(0, false), (6, false), (7, true)] {
        let context = Context { planned, ..CONTEXT };
        let figure = of_member(&member(batched("x"), alike(6)), &context);
        assert_eq!(figure.marks.contains(&Mark::FewerLaunches), marked, "{planned}");
    }
}

#[test]
fn under_a_fifth_of_clean_rounds_a_figure_is_noisy() {
    let noisy = |share: Option<f64>| {
        let launches = with(alike(6), |_, launched| launched.record.clean_share = share);
        figure(batched("x"), launches).marks.contains(&Mark::Noisy)
    };
    assert_eq!([Some(0.19), Some(0.2), Some(1.0), None].map(noisy), [true, false, false, false]);
    // The launch in the middle tells; one that could not tell makes all of them silent.
    let of = |shares: [Option<f64>; 3]| {
        let launches = with(alike(3), |index, launched| launched.record.clean_share = shares[index]);
        let figure = figure(batched("x"), launches);
        (figure.evidence.clean_share, figure.marks.contains(&Mark::Noisy))
    };
    assert_eq!(of([Some(0.1), Some(0.9), Some(0.3)]), (Some(0.3), false));
    assert_eq!(of([Some(0.1), Some(0.9), Some(0.15)]), (Some(0.15), true));
    assert_eq!(of([Some(0.1), None, Some(0.15)]), (None, false));
    let mut throttled = member(batched("x"), alike(6));
    throttled.throttled = true;
    let figure = of_member(&throttled, &CONTEXT);
    assert!(figure.marks.contains(&Mark::Noisy));
    assert_eq!(figure.remarks, ["a CPU quota stopped launches"]);
}

#[test]
fn evidence_is_the_middle_of_launches_and_the_sum_of_moves() {
    let launches = with(alike(3), |index, launched| {
        let value = [3.0, 1.0, 2.0][index];
        let record = &mut launched.record;
        (record.switches, record.voluntary_switches) = (Some(value), Some(value / 2.0));
        (record.faults, record.fast_share, record.migrations) =
            (Some(value * 10.0), Some(value / 10.0), Some(index as u64));
        record.circumstances.seccomp_mode = [None, Some(2), Some(0)][index];
        record.circumstances.tracer_pid = Some([0, 7, 3][index]);
    });
    let free = Card { placement: Placement::Unpinned, ..batched("x") };
    let evidence = figure(free.clone(), launches.clone()).evidence;
    assert_eq!((evidence.switches, evidence.voluntary_switches), (Some(2.0), Some(1.0)));
    assert_eq!((evidence.faults, evidence.fast_share, evidence.migrations), (Some(20.0), Some(0.2), Some(3)));
    assert_eq!((evidence.launches, evidence.seccomp_mode, evidence.tracer_pid), (3, Some(2), Some(7)));
    let unknown = with(launches, |index, launched| {
        if index == 1 {
            launched.record.switches = None;
            launched.record.migrations = None;
        }
    });
    let evidence = figure(free, unknown).evidence;
    assert_eq!((evidence.switches, evidence.migrations), (None, None), "unknown of one is unknown");
    assert_eq!(evidence.voluntary_switches, Some(1.0));
    let nothing = figure(batched("x"), Vec::new()).evidence;
    assert_eq!(
        (nothing.switches, nothing.migrations, nothing.faults),
        (None, None, None),
        "no launch is no zero"
    );
    assert_eq!((nothing.voluntary_switches, nothing.fast_share, nothing.clean_share), (None, None, None));
}

#[test]
fn a_participant_that_moved_withholds_a_pinned_figure_alone() {
    let moved = |placement| {
        let launches =
            with(alike(6), |index, launched| launched.record.migrations = Some(u64::from(index == 2)));
        figure(Card { placement, ..batched("x") }, launches)
    };
    let pinned = moved(Placement::OneCpu);
    assert_eq!((pinned.status, pinned.quantities.len(), pinned.launches.len()), (Status::Contradicted, 0, 0));
    assert_eq!(pinned.why.as_deref(), Some("a pinned participant changed its CPU"));
    assert_eq!(moved(Placement::Unpinned).status, Status::Measured);
}

#[test]
fn a_false_claim_withholds_with_its_count() {
    let mut of = member(batched("x"), alike(6));
    let mut claim = claims::stated(&Claim::SystemCalls(Bound::Exactly(1.0)));
    (claim.observed, claim.holds) = (Some(0.0), Some(false));
    of.audited = Some(Audited { claims: vec![claim.clone()], ..Audited::default() });
    let figure = of_member(&of, &CONTEXT);
    assert_eq!((figure.status, figure.quantities.len()), (Status::Contradicted, 0));
    assert!(
        figure.why.as_deref().is_some_and(|why| why.starts_with("claims 1 system calls an operation")),
        "{figure:?}"
    );
    (claim.observed, claim.holds) = (Some(1.0), Some(true));
    of.audited = Some(Audited { claims: vec![claim], ..Audited::default() });
    let figure = of_member(&of, &CONTEXT);
    assert_eq!((figure.status, figure.evidence.verdict), (Status::Measured, Verdict::Checked));
}

#[test]
fn an_operation_is_held_to_the_price_of_its_own_calls_but_the_bare_entry_is_not() {
    let verdict_of = |name: &str, claim: Claim, observed: f64, calls: Option<f64>, entry_ns: Option<f64>| {
        let launches = with(alike(6), |_, launched| launched.record.entry_ns = entry_ns);
        let mut of = member(batched("x"), launches);
        let mut claim = claims::stated(&claim);
        (claim.observed, claim.holds) = (Some(observed), Some(true));
        let system_calls = [(name.to_owned(), observed)].into();
        of.audited =
            Some(Audited { system_calls, calls_in_turn: calls, claims: vec![claim], ..Audited::default() });
        of_member(&of, &CONTEXT).evidence.verdict
    };
    let any = Claim::SystemCalls(Bound::AtLeast(0.0));
    let verdict = |name: &str, calls, entry_ns| verdict_of(name, any, 1.0, calls, entry_ns);
    assert_eq!(verdict("semop", Some(1.0), Some(100.0)), Verdict::Checked);
    assert_eq!(verdict("semop", Some(1.0), Some(110.0)), Verdict::Contradicted);
    assert_eq!(verdict("invalid", Some(1.0), Some(110.0)), Verdict::Checked);
    assert_eq!(verdict("semop", Some(0.0), Some(110.0)), Verdict::Checked, "it makes none");
    assert_eq!(verdict("semop", None, Some(110.0)), Verdict::Checked, "a series has no rounds");
    assert_eq!(verdict("semop", Some(1.0), None), Verdict::Unchecked, "the entry is not known");
    // A hand-over that finds its token there makes no call, and in an audit more of them wait.
    let by_chance = |least: f64, observed: f64| {
        let claim = Claim::CallsNamed(&["futex"], Bound::Between(least, 2.0));
        verdict_of("futex", claim, observed, Some(observed), Some(110.0))
    };
    assert_eq!(by_chance(0.0, 1.37), Verdict::Checked);
    assert_eq!(by_chance(1.0, 1.37), Verdict::Contradicted, "one call it makes always");
    assert_eq!(by_chance(0.0, 2.0), Verdict::Contradicted, "each makes both");
}

#[test]
fn under_a_filter_the_bare_entry_is_another_call() {
    let verdict = |name: &str, mode: u32| {
        let launches = with(alike(6), |_, launched| {
            launched.record.entry_ns = Some(110.0);
            launched.record.circumstances.seccomp_mode = Some(mode);
        });
        let mut of = member(batched("x"), launches);
        let mut claim = claims::stated(&Claim::SystemCalls(Bound::AtLeast(0.0)));
        (claim.observed, claim.holds) = (Some(1.0), Some(true));
        let system_calls = [(name.to_owned(), 1.0)].into();
        of.audited = Some(Audited {
            system_calls,
            calls_in_turn: Some(1.0),
            claims: vec![claim],
            ..Audited::default()
        });
        of_member(&of, &CONTEXT).evidence.verdict
    };
    assert_eq!((verdict("invalid", 0), verdict("getpid", 0)), (Verdict::Checked, Verdict::Contradicted));
    for mode in [1, 2] {
        let told = (verdict("invalid", mode), verdict("getpid", mode));
        assert_eq!(told, (Verdict::Contradicted, Verdict::Checked));
    }
}

#[test]
fn a_figure_without_launches_says_why() {
    let why = |of: &MemberState, context: &Context<'_>| {
        let figure = of_member(of, context);
        assert_eq!((figure.status, figure.quantities.len()), (Status::Failed, 0));
        figure.why.expect("a reason")
    };
    let nothing = member(batched("x"), Vec::new());
    assert_eq!(why(&nothing, &CONTEXT), "the run's time was over before its first launch");
    let ended = Context { interrupted: true, ..CONTEXT };
    assert_eq!(why(&nothing, &ended), "the run ended before its first launch");
    let void = Context { void_launches: 10, void_reason: Some("it slept"), ..ended };
    assert_eq!(why(&nothing, &void), "environment: every launch (10) is void: it slept");
    let failed = MemberState { first_failure: Some(Failure::new("batch", "it broke")), ..nothing.clone() };
    assert_eq!(why(&failed, &void), "batch: it broke");
    let lost = MemberState { outcome: Fate::Failed(Failure::new("worker", "it fell")), ..nothing.clone() };
    assert_eq!(why(&lost, &CONTEXT), "worker: it fell");
    for (remedy, told) in [("more memory", Some("more memory")), ("", None)] {
        let outcome = Fate::Unsupported { why: "it lacks".into(), remedy: remedy.into() };
        let figure = of_member(&MemberState { outcome, ..nothing.clone() }, &CONTEXT);
        assert_eq!((figure.status, figure.why.as_deref()), (Status::Unsupported, Some("it lacks")));
        assert_eq!(figure.remedy.as_deref(), told);
    }
}

#[test]
fn two_modes_of_the_clean_rounds_are_told() {
    let sketch = |slow: bool| -> Vec<f64> {
        (0..101).map(|index| f64::from(index % 10) / 10.0 + if slow { 200.0 } else { 100.0 }).collect()
    };
    let two = with(alike(10), |index, launched| launched.clean_sketch = sketch(index < 3));
    let figure = figure(batched("x"), two);
    assert_eq!(figure.marks, [Mark::Bimodal]);
    let modes: Vec<(f64, f64)> = figure.modes.iter().map(|mode| (mode.value.round(), mode.share)).collect();
    assert_eq!(modes.len(), 2);
    assert_eq!((modes[0].0, modes[1].0), (100.0, 200.0));
    assert!((modes[0].1 - 0.7).abs() < 0.01 && (modes[1].1 - 0.3).abs() < 0.01, "{modes:?}");
    let one = with(alike(10), |_, launched| launched.clean_sketch = sketch(false));
    assert_eq!(super::tests::figure(batched("x"), one).marks, []);
}

#[test]
fn a_series_that_was_refused_real_time_says_so() {
    const QUANTITIES: &[QuantityCard] =
        &[QuantityCard::new("cost", "ns"), QuantityCard::new("real_time", "share")];
    let marked = |granted: [f64; 6]| {
        let launches = granted.map(|granted| launched(&[("cost", 1.0), ("real_time", granted)])).to_vec();
        figure(Card { quantities: QUANTITIES, ..series("s") }, launches).marks.contains(&Mark::NotRealTime)
    };
    assert!(!marked([1.0; 6]));
    assert!(marked([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]), "one launch is enough");
}

#[test]
fn a_core_that_slowed_is_told_from_two_per_cent_on() {
    let slowed = |speeds: &[f64]| {
        slowdown(&with(alike(speeds.len()), |index, launched| launched.record.chain_ns = Some(speeds[index])))
    };
    assert_eq!(slowed(&[1.0, 1.0, 1.0, 1.0]), None);
    assert_eq!(slowed(&[1.0199, 1.0, 1.0199, 1.0199, 1.0199]), None);
    assert!(slowed(&[1.05, 1.0, 1.05, 1.0, 1.05]).is_some_and(|slower| (slower - 0.05).abs() < 1e-9));
    assert_eq!(slowed(&[1.0, 1.0, 1.0, 1.0, 1.5]), None, "one launch is an outlier");
    assert_eq!(slowdown(&[]), None);
}

#[test]
fn a_figure_says_what_its_card_says() {
    let card = Card {
        revision: 4,
        title: "a title",
        operation: "one call",
        operations_per_iteration: 3,
        document: Some("003"),
        placement: Placement::CrossCpu,
        ..batched("family/x")
    };
    let figure = figure(card, alike(6));
    assert_eq!(
        (figure.id.as_str(), figure.family.as_str(), figure.group.as_str()),
        ("family/x", "family", "g")
    );
    assert_eq!(
        (figure.revision, figure.title.as_str(), figure.operation.as_str()),
        (4, "a title", "one call")
    );
    assert_eq!((figure.operations_per_iteration, figure.document.as_deref()), (3, Some("003")));
    assert_eq!((figure.placement.as_str(), figure.headline.as_str()), ("cross_cpu", "floor"));
    assert_eq!(choice(series("s")).card().quantities.len(), COST.len());
}

#[test]
fn a_foreign_figure_is_what_was_printed() {
    let foreign = |cpus: Vec<usize>| Foreign { cpus, ..crate::figures::synthetic::foreign() };
    let launches: Vec<Launched> = [3.0, 1.0, 2.0]
        .into_iter()
        .map(|cost| launched(&[("cost", cost), ("duration", 1e6 * cost)]))
        .collect();
    let failure = Failure::new("launch", "it ended with code 1");
    let figure = of_foreign(&foreign(vec![1]), &launches, Some(&failure));
    assert_eq!(
        (figure.status, figure.family.as_str(), figure.judged.as_str()),
        (Status::Measured, "peer", "cost")
    );
    assert_eq!(figure.headline, "cost");
    assert_eq!((value(&figure, "cost").0, value(&figure, "duration").0), (2.0, 2e6));
    assert_eq!(["cost", "duration"].map(|name| figure.quantities[name].unit.clone()), ["us", "ns"]);
    assert_eq!(
        (figure.placement.as_str(), figure.launches.len(), figure.evidence.launches),
        ("one_cpu", 3, 3)
    );
    assert_eq!(figure.remarks, ["launches failed: launch: it ended with code 1"]);
    let none = of_foreign(&foreign(vec![0, 1]), &[], Some(&failure));
    assert_eq!((none.status, none.placement.as_str()), (Status::Failed, "unpinned"));
    assert_eq!(none.why.as_deref(), Some("launch: it ended with code 1"));
    assert_eq!(of_foreign(&foreign(Vec::new()), &[], None).why.as_deref(), Some("no launch was made"));
}
