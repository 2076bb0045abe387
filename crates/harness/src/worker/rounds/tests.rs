//! Rounds by a scripted clock, whose costs are known.

use super::*;
use crate::benchmark::Outcome;
use crate::worker::clock::scripted::Shared;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

struct Nobody;
impl Progress for Nobody {
    fn running(&mut self, _: usize) {}
}

/// An operation of known cost, which writes down that it ran.
#[derive(Clone)]
struct Costs {
    clock: Shared,
    name: char,
    log: Rc<RefCell<String>>,
    ns: f64,
    /// What waking partners takes.
    arm_ns: f64,
    /// In its batch of this number everything takes this much longer.
    spike: Option<(u64, f64)>,
    /// Its batch of this number fails.
    fails: Option<u64>,
    batches: u64,
}

impl Batched for Costs {
    fn arm(&mut self) -> Outcome {
        self.clock.pass(self.arm_ns);
        Ok(())
    }
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.batches += 1;
        self.log.borrow_mut().push(self.name);
        self.clock.pass(self.ns * iterations as f64);
        if let Some((batch, ns)) = self.spike
            && batch == self.batches
        {
            self.clock.pass(ns);
        }
        if self.fails == Some(self.batches) { Err(CallError::new("test", 5)) } else { Ok(()) }
    }
}

fn costs(clock: &Shared, ns: f64) -> Costs {
    let log = Rc::default();
    let clock = clock.clone();
    Costs { clock, name: '?', log, ns, arm_ns: 0.0, spike: None, fails: None, batches: 0 }
}

const PLAN: RoundPlan =
    RoundPlan { warm_up_ns: 1_000_000, member_ns: 2_000_000, clock_pair_ns: 20.0, seed: 3 };

/// Batches of 200 iterations of two operations; the canary's are of 100.
fn measured(clock: &Shared, plan: &RoundPlan, members: &mut [Costs], canary: &mut Costs) -> Rounds {
    let mut runners: Vec<Runner<'_>> = members.iter_mut().map(|member| Runner::new(member, 200, 2)).collect();
    let mut canaries = [Runner::new(canary, 100, 1)];
    run(&mut clock.clone(), &mut runners, &mut canaries, plan, &mut Nobody)
}

fn near(sample: f64, ns: f64) -> bool {
    (sample - ns).abs() < 1e-9
}

#[test]
fn a_known_cost_is_found_exactly() {
    let clock = Shared::new(1.0, 20.0);
    let mut members = [costs(&clock, 100.0), costs(&clock, 300.0)];
    let rounds = measured(&clock, &PLAN, &mut members, &mut costs(&clock, 7.0));
    for (batches, ns) in rounds.members.iter().chain(&rounds.canaries).zip([50.0, 150.0, 7.0]) {
        assert!(batches.samples.len() > 10);
        assert!(batches.samples.iter().all(|&sample| near(sample, ns)), "{:?}", batches.samples);
        assert_eq!(batches.samples.len(), rounds.members[0].samples.len(), "one a round");
    }
}

#[test]
fn every_member_has_its_time_and_canaries_come_on_top() {
    // A batch takes 20 us and a reading of the clock, or 60 us: 4 ms are over in the 50th round.
    for canary_ns in [1.0, 1_000.0] {
        let clock = Shared::new(1.0, 20.0);
        let mut members = [costs(&clock, 100.0), costs(&clock, 300.0)];
        let rounds = measured(&clock, &PLAN, &mut members, &mut costs(&clock, canary_ns));
        let lengths: Vec<usize> = rounds.members.iter().map(|member| member.samples.len()).collect();
        assert_eq!(lengths, [50, 50]);
    }
}

#[test]
fn the_warm_up_is_forgotten_but_counted() {
    let clock = Shared::new(1.0, 20.0);
    // Slow in the warm-up alone: its first batch.
    let mut members = [Costs { spike: Some((1, 1e6)), ..costs(&clock, 100.0) }];
    let rounds = measured(&clock, &PLAN, &mut members, &mut costs(&clock, 7.0));
    let kept = &rounds.members[0];
    assert!(kept.samples.iter().all(|&sample| near(sample, 50.0)));
    assert_eq!(kept.made, members[0].batches);
    assert_eq!(kept.made, kept.samples.len() as u64 + 1, "the warm-up was over after one round");
}

#[test]
fn a_spike_hits_one_round_and_stays() {
    let clock = Shared::new(1.0, 20.0);
    let mut members = [Costs { spike: Some((60, 30_000.0)), ..costs(&clock, 100.0) }];
    let rounds = measured(&clock, &PLAN, &mut members, &mut costs(&clock, 7.0));
    let samples = &rounds.members[0].samples;
    let high: Vec<f64> = samples.iter().copied().filter(|&sample| !near(sample, 50.0)).collect();
    assert_eq!(high.len(), 1, "{samples:?}");
    assert!(near(high[0], 50.0 + 30_000.0 / 400.0), "{high:?}");
}

#[test]
fn what_happens_around_a_batch_is_no_part_of_it_and_ends_a_launch_in_time() {
    let clock = Shared::new(1.0, 20.0);
    let mut members = [Costs { arm_ns: 500_000.0, ..costs(&clock, 100.0) }];
    let rounds = measured(&clock, &PLAN, &mut members, &mut costs(&clock, 7.0));
    let samples = &rounds.members[0].samples;
    assert!(samples.iter().all(|&sample| near(sample, 50.0)), "{samples:?}");
    // Six times 2 ms, of which a round takes 0.52.
    assert_eq!(samples.len(), 24);
}

#[test]
fn rounds_are_no_more_than_memory_holds() {
    let clock = Shared::new(1.0, 1.0);
    let plan = RoundPlan { member_ns: u64::MAX, ..PLAN };
    let rounds = measured(&clock, &plan, &mut [costs(&clock, 0.0)], &mut costs(&clock, 0.0));
    assert_eq!(rounds.members[0].samples.len(), MOST_ROUNDS);
}

#[test]
fn a_coarse_clock_errs_by_at_most_a_step_a_batch() {
    let clock = Shared::new(100.0, 20.0);
    let rounds = measured(&clock, &PLAN, &mut [costs(&clock, 100.0)], &mut costs(&clock, 7.0));
    let errors = rounds.members[0].samples.iter().map(|sample| (sample - 50.0).abs());
    let worst = errors.fold(0.0, f64::max);
    assert!(worst <= 100.0 / 400.0 + 1e-9, "{worst}");
}

#[test]
fn a_member_that_fails_has_no_samples_and_harms_nobody() {
    let clock = Shared::new(1.0, 20.0);
    let mut members = [Costs { fails: Some(60), ..costs(&clock, 100.0) }, costs(&clock, 100.0)];
    let rounds = measured(&clock, &PLAN, &mut members, &mut costs(&clock, 7.0));
    assert!(rounds.members[0].samples.is_empty());
    assert_eq!(members[0].batches, 60, "and is not run again");
    let kept = &rounds.members[1].samples;
    assert!(kept.iter().all(|&sample| near(sample, 50.0)) && kept.len() > 60);
    assert_eq!(kept.len(), rounds.canaries[0].samples.len());
}

#[test]
fn when_all_fail_rounds_end() {
    let clock = Shared::new(1.0, 20.0);
    let mut members = [Costs { fails: Some(1), ..costs(&clock, 1.0) }];
    let rounds = measured(&clock, &PLAN, &mut members, &mut costs(&clock, 7.0));
    assert!(rounds.members[0].samples.is_empty());
    assert_eq!(members[0].batches, 1);
}

#[test]
fn every_round_has_an_order_of_its_own() {
    let orders = |seed| {
        let clock = Shared::new(1.0, 20.0);
        let log: Rc<RefCell<String>> = Rc::default();
        let named = |name| Costs { name, log: Rc::clone(&log), ..costs(&clock, 100.0) };
        let plan = RoundPlan { seed, ..PLAN };
        measured(&clock, &plan, &mut [named('a'), named('b')], &mut named('c'));
        log.borrow().clone()
    };
    let log = orders(3);
    let rounds: Vec<&str> = (0..log.len() / 3).map(|round| &log[3 * round..3 * round + 3]).collect();
    let kinds: BTreeSet<&str> = rounds.iter().copied().collect();
    assert_eq!(kinds, BTreeSet::from(["abc", "acb", "bac", "bca", "cab", "cba"]));
    assert_eq!(orders(3), log, "the seed repeats it");
    assert_ne!(orders(4), log);
}

#[test]
fn a_batch_tells_what_happened_around_it() {
    let quiet = Sample { elapsed_ns: 420, used: Ok(Usage::default()), moved: Some(false) };
    let used = |used: Usage| Sample { used: Ok(used), ..quiet };
    let preempted = used(Usage { involuntary_switches: 1, ..Usage::default() });
    let waited = used(Usage { voluntary_switches: 2, ..Usage::default() });
    let faulted = used(Usage { minor_faults: 1, ..Usage::default() });
    let moved = Sample { moved: Some(true), ..quiet };
    let back = Sample { elapsed_ns: -380, ..quiet };
    let mut batches = Batches::default();
    for sample in [quiet, preempted, waited, faulted, moved, moved, back] {
        batches.take(&sample, 4, 20.0);
    }
    assert_eq!(batches.samples, [100.0, 100.0, 100.0, 100.0, 100.0, 100.0, -100.0]);
    assert_eq!(batches.disturbed, [false, true, false, true, false, false, false]);
    assert_eq!(batches.migrations, Some(2));
    let sum = Usage { involuntary_switches: 1, voluntary_switches: 2, minor_faults: 1, ..Usage::default() };
    assert_eq!(batches.used, Ok(sum));
    // One batch of which it is not known leaves all of them unknown, whatever comes after it.
    let refused = CallError::new("getrusage", 1);
    batches.take(&Sample { used: Err(refused), moved: None, ..quiet }, 4, 20.0);
    batches.take(&moved, 4, 20.0);
    assert_eq!((batches.used, batches.migrations), (Err(refused), None));
}

#[test]
fn what_is_forgotten_is_as_new() {
    let used = Usage { minor_faults: 3, ..Usage::default() };
    let mut batches = Batches {
        samples: vec![1.0],
        disturbed: vec![true],
        sleeps: vec![2],
        used: Ok(used),
        migrations: None,
        made: 4,
    };
    batches.forget();
    assert!(batches.samples.is_empty() && batches.disturbed.is_empty() && batches.sleeps.is_empty());
    assert_eq!((batches.used, batches.migrations, batches.made), (Ok(Usage::default()), Some(0), 4));
}

#[test]
fn a_batch_has_an_operation_at_least() {
    let clock = Shared::new(1.0, 20.0);
    let operations = |iterations, operations| {
        Runner::new(&mut costs(&clock, 1.0), iterations, operations).batch_operations()
    };
    assert_eq!([operations(0, 0), operations(1, 1), operations(3, 2)], [1, 1, 6]);
}

#[test]
fn a_batch_of_many_iterations_is_rehearsed_and_costs_the_same() {
    let clock = Shared::new(1.0, 20.0);
    let batches_of = |iterations, rehearsed: bool| {
        let mut member = costs(&clock, 100.0);
        let log = Rc::clone(&member.log);
        let runner = Runner::new(&mut member, iterations, 2);
        let mut runners = [if rehearsed { runner.rehearsed() } else { runner }];
        let rounds = run(&mut clock.clone(), &mut runners, &mut [], &PLAN, &mut Nobody);
        let kept = &rounds.members[0];
        assert!(kept.samples.iter().all(|&sample| near(sample, 50.0)), "{:?}", kept.samples);
        assert_eq!(log.borrow().len() as u64 % kept.made, 0);
        log.borrow().len() as u64 / kept.made
    };
    assert_eq!([batches_of(512, true), batches_of(511, true), batches_of(512, false)], [9, 1, 1]);
}

#[test]
fn a_rehearsal_is_come_to_by_a_reading_of_the_clock_and_left_by_one() {
    let readings = |rehearsed: bool| {
        let clock = Shared::new(1.0, 20.0);
        let mut member = costs(&clock, 1.0);
        let runner = Runner::new(&mut member, 512, 1);
        one_batch(&mut clock.clone(), &mut if rehearsed { runner.rehearsed() } else { runner })
            .expect("nothing fails");
        clock.0.borrow().reading
    };
    assert_eq!((readings(false), readings(true)), (2, 2 + 2 * 8));
}

/// What a clock that goes backwards says is shown, and is no time that a member had.
#[test]
fn batches_of_less_than_no_time_do_not_use_up_that_of_a_member() {
    let clock = Shared::new(1.0, 0.0);
    let mut member = costs(&clock, -1.0);
    let mut runners = [Runner::new(&mut member, 1, 1)];
    let plan = RoundPlan { warm_up_ns: 0, member_ns: 50, clock_pair_ns: 0.0, seed: 3 };
    let rounds = run(&mut clock.clone(), &mut runners, &mut [], &plan, &mut Nobody);
    assert_eq!(rounds.members[0].samples.len(), MOST_ROUNDS);
    assert!(rounds.members[0].samples.iter().all(|&sample| sample == -1.0));
}

/// A member that fails takes no time, and no word says that it runs; who comes after it does.
#[test]
fn who_runs_is_told_of_members_and_of_no_canary() {
    struct Told(Vec<usize>);
    impl Progress for Told {
        fn running(&mut self, index: usize) {
            self.0.push(index);
        }
    }
    let clock = Shared::new(1.0, 20.0);
    let (mut fails, mut works) = (Costs { fails: Some(3), ..costs(&clock, 100.0) }, costs(&clock, 100.0));
    let mut canary = costs(&clock, 1.0);
    let mut members = [Runner::new(&mut fails, 200, 1), Runner::new(&mut works, 200, 1)];
    let (mut canaries, mut told) = ([Runner::new(&mut canary, 100, 1)], Told(Vec::new()));
    let plan = RoundPlan { warm_up_ns: 0, ..PLAN };
    let rounds = run(&mut clock.clone(), &mut members, &mut canaries, &plan, &mut told);
    assert_eq!(members[0].failed, Some(("batch", CallError::new("test", 5))));
    let of = |index: usize| told.0.iter().filter(|it| **it == index).count() as u64;
    // Two ms of a batch of 20 us and a reading: the time of one member, which is left.
    assert_eq!((of(0), of(1), of(2)), (3, rounds.members[1].made, 0));
    assert_eq!(rounds.members[1].samples.len(), 98);
    assert_eq!(rounds.members[0].made, 0);
}
