//! Passes of a scripted machine, whose gaps are known.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::worker::clock::scripted::{Scripted, Shared};

/// What happens in some passes: the number of the pass, how long, and what of.
type Script = Vec<(u64, u64, GapCause)>;

/// The counters of a machine that follows a script.
#[derive(Clone)]
struct Machine {
    clock: Shared,
    look: Rc<RefCell<Look>>,
}

impl Machine {
    fn new() -> Self {
        let look = Look {
            cpu: Some(0),
            ran_ns: Some(0),
            waited_ns: Some(7_000_000),
            partners_waited_ns: Some(0),
            faults: Some(1_000),
            stolen_ns: Some(0),
            interrupts: Some(vec![0, 0]),
            at_ns: 0,
        };
        Self { clock: Shared::new(1.0, 20.0), look: Rc::new(RefCell::new(look)) }
    }

    fn work(&self, ns: u64) {
        self.clock.pass(ns as f64);
        let mut look = self.look.borrow_mut();
        look.at_ns += ns;
        look.ran_ns = look.ran_ns.map(|ran| ran + ns);
    }

    fn gap(&self, ns: u64, cause: GapCause) {
        self.clock.pass(ns as f64);
        let mut look = self.look.borrow_mut();
        look.at_ns += ns;
        let runs = !matches!(cause, GapCause::Steal | GapCause::Preemption);
        look.ran_ns = look.ran_ns.map(|ran| ran + if runs { ns } else { 0 });
        match cause {
            GapCause::Preemption => look.waited_ns = look.waited_ns.map(|waited| waited + ns),
            GapCause::Migration => look.cpu = look.cpu.map(|cpu| 1 - cpu),
            GapCause::PageFault => look.faults = look.faults.map(|faults| faults + 1),
            GapCause::Interrupt => {
                if let Some(counts) = &mut look.interrupts {
                    counts[1] += 1;
                }
            }
            GapCause::Steal | GapCause::Unknown => {}
        }
    }
}

impl Observer for Machine {
    fn look(&mut self) -> Look {
        // Looking takes time, too.
        self.work(30_000);
        self.look.borrow().clone()
    }
    fn interrupt(&self, index: usize) -> String {
        ["disk", "timer"][index].to_owned()
    }
    fn who_ran(&mut self) -> Option<Vec<(String, u64)>> {
        self.work(1_000_000);
        Some(vec![("backup".to_owned(), 500_000)])
    }
}

/// An operation of a known cost to which things happen.
struct Op {
    machine: Machine,
    ns: u64,
    /// Page faults of every pass.
    faults: u64,
    script: Script,
    passes: u64,
}

impl Batched for Op {
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.passes += 1;
            self.machine.work(self.ns);
            if let Some(faults) = &mut self.machine.look.borrow_mut().faults {
                *faults += self.faults;
            }
            for &(_, ns, cause) in self.script.iter().filter(|event| event.0 == self.passes) {
                self.machine.gap(ns, cause);
            }
        }
        Ok(())
    }
}

fn plan(passes: u64) -> SinglesPlan {
    SinglesPlan { passes, time_ns: u64::MAX, warm_up_ns: 100_000, least_batch: 1, blocks: false }
}

fn timed(ns: u64, script: Script, passes: u64) -> Singles {
    timed_faulting(ns, 0, script, passes)
}

fn timed_faulting(ns: u64, faults: u64, script: Script, passes: u64) -> Singles {
    let mut machine = Machine::new();
    let mut op = Op { machine: machine.clone(), ns, faults, script, passes: 0 };
    let mut clock = machine.clock.clone();
    run(&mut clock, &mut machine, &mut op, &plan(passes)).expect("nothing fails")
}

fn off(account: &Account) -> f64 {
    let parts = account.passes_ns + account.counting_ns + account.looking_ns + account.gaps_ns();
    (parts as f64 / account.elapsed_ns as f64 - 1.0).abs()
}

#[test]
fn a_known_cost_is_found_without_the_clock_and_every_moment_is_accounted_for() {
    for ns in [40, 300, 5_000, 250_000] {
        let found = timed(ns, Vec::new(), 20_000);
        assert_eq!((found.histogram.total(), found.pair_ns), (20_000, 20.0), "{ns}");
        let mean = found.histogram.mean().expect("passes") - found.pair_ns;
        assert!((mean - ns as f64).abs() < 1e-6, "{ns}: {mean}");
        assert!(found.account.gaps.is_empty() && off(&found.account) < 1e-9, "{:?}", found.account);
        // Of each stretch as many are not counted as 20 us hold, and two at least.
        let (pass, stretches) = (ns + 20, found.alone_ns.len() as u64);
        // Of a long one a stretch has 32 passes.
        assert!(ns < 250_000 || stretches == 20_000_u64.div_ceil(30), "{stretches}");
        assert_eq!(found.account.looking_ns, stretches * (20_000 / pass).max(2) * pass, "{ns}");
        let alone = median(&sorted(found.alone_ns)).expect("stretches");
        let batch = median(&sorted(found.batch_ns)).expect("batches");
        assert!((alone - ns as f64).abs() < 1e-6 && (batch - ns as f64).abs() < 1e-3, "{alone} {batch}");
    }
}

#[test]
fn readings_that_take_twice_as_long_and_more_are_no_pair() {
    let cost = |more: f64| {
        let mut clock = Scripted::new(1.0, 20.0);
        clock.spikes = vec![(2, more)];
        pair(&mut clock).expect("nothing fails")
    };
    assert_eq!((cost(30.0), cost(31.0)), (400_030.0 / 20_000.0, 20.0));
}

#[test]
fn what_took_longer_took_more_than_that() {
    // One pass in a hundred takes 20 us without the pair of readings, or a nanosecond more.
    let longer = |more: u64| {
        let slow = (100..5000).step_by(100).map(|pass| (pass, 15_000 + more, GapCause::Unknown));
        let found = timed(5_000, slow.collect(), 2000).longer;
        (found[0].0, found[0].1 > 0, found[0].2)
    };
    assert_eq!((longer(0), longer(1)), ((20_000, false, 0), (20_000, true, 3)), "in each of three stretches");
    assert_eq!(round_times(0).take(4).collect::<Vec<_>>(), [1_000, 2_000, 5_000, 10_000]);
    assert_eq!((round_times(2_000).next(), round_times(2_001).next()), (Some(2_000), Some(5_000)));
    assert_eq!(round_times(0).last(), Some(5_000_000_000));
}

/// 2 us beyond the median, or thrice what one pass in ten takes in the warm-up, whichever is more.
#[test]
fn a_gap_begins_where_no_usual_pass_ends() {
    let slow =
        |every| (every..2000).step_by(every).map(|pass| (pass as u64, 1_000, GapCause::Unknown)).collect();
    for (ns, script, limit) in [
        (40, Vec::new(), 2_060_u64),
        (5_000, Vec::new(), 15_060),
        (40, slow(5), 3_180),
        (40, slow(20), 2_060),
        // Every third pass is slower, and the median is none of these.
        (40, (3..2000).step_by(3).map(|pass| (pass, 500, GapCause::Unknown)).collect(), 2_060),
    ] {
        let found = timed(ns, script, 100).account.limit_ns;
        assert!(found.abs_diff(limit) <= limit / 100, "{ns}: {found} for {limit}");
    }
}

/// Sizes of the batches of an operation that takes `ns`, where a batch has at least so many iterations.
fn batches(ns: u64, least_batch: u64) -> Vec<u64> {
    struct Sizes(Op, Vec<u64>);
    impl Batched for Sizes {
        fn batch(&mut self, iterations: u64) -> Outcome {
            self.1.extend((iterations > 1).then_some(iterations));
            self.0.batch(iterations)
        }
    }
    let mut machine = Machine::new();
    let op = Op { machine: machine.clone(), ns, faults: 0, script: Vec::new(), passes: 0 };
    let (mut sizes, mut clock) = (Sizes(op, Vec::new()), machine.clock.clone());
    let plan = SinglesPlan { least_batch, ..plan(100) };
    run(&mut clock, &mut machine, &mut sizes, &plan).expect("nothing fails");
    sizes.1
}

/// Readings of the clock come in turn before and after a pass: of two that follow each other one gap is in a pass, the other is not.
#[test]
fn a_gap_between_two_passes_is_found_and_is_in_none() {
    for (reading, ns, in_passes) in [(1000, 100_000, 1), (1001, 100_000, 0), (1001, 2_000, 0)] {
        let mut machine = Machine::new();
        let mut op = Op { machine: machine.clone(), ns: 5_000, faults: 0, script: Vec::new(), passes: 0 };
        let mut clock = machine.clock.clone();
        clock.0.borrow_mut().spikes.push((2 * PAIRS + reading, ns as f64));
        let found = run(&mut clock, &mut machine, &mut op, &plan(2000)).expect("nothing fails");
        let [gaps] = &found.account.gaps[..] else { panic!("{:?}", found.account) };
        assert_eq!((gaps.count, gaps.total_ns, gaps.longest_ns, gaps.in_passes), (1, ns, ns, in_passes));
        assert!(off(&found.account) < 1e-9, "{:?}", found.account);
        assert_eq!(found.histogram.total(), 2000);
        let longest = found.histogram.extremes().expect("passes").1;
        assert_eq!(longest > 100_000, in_passes == 1);
    }
}

#[test]
fn a_batch_is_an_eighth_of_the_stretch_beside_it_or_as_long_as_it_has_to_be() {
    // Stretches of 5 ms, with 20 ns of readings a pass, or of 32 passes.
    assert_eq!(batches(980, 1), [5_000 / 8]);
    assert_eq!(batches(980, 10_000), [10_000]);
    assert_eq!(batches(999_980, 1)[0], 32 / 8);
}

#[test]
fn planted_gaps_are_found_with_their_cause_and_their_length() {
    use GapCause::{Interrupt, Migration, PageFault, Preemption, Steal, Unknown};
    // In stretches of 4901 passes, not in the batches of 612 between them.
    let planted = [
        (30_000, 1_000_000, Preemption),
        (31_000, 7_000, Interrupt),
        (32_000, 500_000, Steal),
        (33_500, 40_000, Migration),
        (34_000, 25_000, PageFault),
        (35_000, 3_000, Unknown),
        (36_000, 4_000_000, Preemption),
    ];
    let found = timed(1_000, planted.to_vec(), 200_000);
    let told: Vec<_> = found
        .account
        .gaps
        .iter()
        .map(|gaps| (gaps.cause, gaps.by.as_deref(), gaps.count, gaps.in_passes))
        .collect();
    assert_eq!(
        told,
        [
            (Preemption, None, 1, 1),
            (Preemption, Some("backup"), 1, 1),
            (Steal, None, 1, 1),
            (Migration, None, 1, 1),
            (PageFault, None, 1, 1),
            (Interrupt, Some("timer"), 1, 1),
            (Unknown, None, 1, 1),
        ]
    );
    let all: u64 = planted.iter().map(|gap| gap.1).sum();
    assert!((found.account.gaps_ns() as f64 / all as f64 - 1.0).abs() < 0.01, "{:?}", found.account);
    assert!(off(&found.account) < 0.01, "{:?}", found.account);
    assert_eq!(found.account.gaps[0].longest_ns / 10_000, 400);
    // They are in the passes that they hit: a percentile that left them out would be wrong.
    let (_, largest) = found.histogram.extremes().expect("passes");
    assert_eq!(largest, 4_000_000 + 1_000 + 20);
    let longer = |ns: u64| found.longer.iter().find(|it| it.0 == ns).map(|it| (it.1, it.2));
    assert_eq!(longer(2_000_000), Some((1, 1)));
    assert_eq!(longer(500_000), Some((3, 2)), "two of them in one stretch");
    assert_eq!(longer(5_000_000), Some((0, 0)));
}

/// A fork has two page faults in every pass: what happens to it beside them has its own name.
#[test]
fn gaps_of_an_operation_that_faults_have_their_own_causes() {
    use GapCause::{Interrupt, PageFault, Preemption};
    let planted = [
        (3_010, 400_000, Interrupt),
        (4_020, 1_000_000, Preemption),
        (5_030, 400_000, Interrupt),
        (6_040, 400_000, PageFault),
    ];
    let found = timed_faulting(150_000, 2, planted.to_vec(), 10_000);
    let told: Vec<_> = found.account.gaps.iter().map(|gaps| (gaps.cause, gaps.count)).collect();
    assert_eq!(told, [(Preemption, 1), (Interrupt, 2), (PageFault, 1)]);
}

/// Each pass waits, and so does its partner: a gap is somebody else's where they waited longer.
#[test]
fn gaps_of_an_operation_that_waits_have_their_own_causes() {
    struct Waits(Op);
    impl Batched for Waits {
        fn batch(&mut self, iterations: u64) -> Outcome {
            let mut look = self.0.machine.look.borrow_mut();
            look.waited_ns = look.waited_ns.map(|ns| ns + 400 * iterations);
            look.partners_waited_ns = look.partners_waited_ns.map(|ns| ns + 600 * iterations);
            drop(look);
            self.0.batch(iterations)
        }
    }
    let mut machine = Machine::new();
    let script = vec![(3_010, 4_000_000, GapCause::Unknown), (4_020, 3_000_000, GapCause::Preemption)];
    let op = Op { machine: machine.clone(), ns: 1_000, faults: 0, script, passes: 0 };
    let (plan, mut clock) = (SinglesPlan { blocks: true, ..plan(20_000) }, machine.clock.clone());
    let found = run(&mut clock, &mut machine, &mut Waits(op), &plan).expect("nothing fails");
    let told: Vec<_> = found.account.gaps.iter().map(|gaps| (gaps.cause, gaps.count)).collect();
    assert_eq!(told, [(GapCause::Unknown, 1), (GapCause::Preemption, 1)]);
}

/// A machine that is busy from the start: every twentieth pass, of the warm-up, too, loses 4 ms.
#[test]
fn a_busy_machine_does_not_raise_the_limit_until_gaps_are_none() {
    let busy: Script = (1..4_000).map(|index| (20 * index, 4_000_000, GapCause::Preemption)).collect();
    let found = timed(40_000, busy, 20_000);
    assert!(found.account.limit_ns < 1_000_000, "{}", found.account.limit_ns);
    let alone = median(&sorted(found.alone_ns)).expect("stretches");
    assert!((alone / 40_000.0 - 1.0).abs() < 0.02, "gaps are no part of a pass alone: {alone}");
    assert!(found.account.gaps.iter().all(|gaps| gaps.cause == GapCause::Preemption));
    assert!(off(&found.account) < 0.01, "{:?}", found.account);
}

#[test]
fn a_burst_in_one_stretch_is_one_event() {
    let burst: Script = (0..20).map(|index| (30_000 + 100 * index, 60_000, GapCause::Interrupt)).collect();
    let found = timed(1_000, burst, 200_000);
    let of_50_us = found.longer.iter().find(|it| it.0 == 50_000).expect("a row");
    assert_eq!(of_50_us.1, 20);
    assert!(of_50_us.2 <= 2, "{of_50_us:?}");
}

#[test]
fn passes_after_a_look_are_not_counted_and_their_time_is() {
    // Every first pass after a look is slow: caches were cold.
    struct Cold(Op, u64);
    impl Batched for Cold {
        fn batch(&mut self, iterations: u64) -> Outcome {
            let now = self.0.machine.look.borrow().at_ns;
            if iterations == 1 && now.saturating_sub(self.1) >= 30_000 {
                self.0.machine.work(1_500);
            }
            self.0.batch(iterations)?;
            self.1 = self.0.machine.look.borrow().at_ns;
            Ok(())
        }
    }
    let mut machine = Machine::new();
    let op = Op { machine: machine.clone(), ns: 1_000, faults: 0, script: Vec::new(), passes: 0 };
    let mut clock = machine.clock.clone();
    let found = run(&mut clock, &mut machine, &mut Cold(op, 0), &plan(100_000)).expect("nothing fails");
    assert_eq!(found.histogram.extremes(), Some((1_020, 1_020)));
    assert!(off(&found.account) < 1e-9 && found.account.looking_ns > 1_500);
}

#[test]
fn a_call_that_fails_is_named() {
    struct Fails(u64);
    impl Batched for Fails {
        fn batch(&mut self, _: u64) -> Outcome {
            self.0 += 1;
            if self.0 == 50 { Err(CallError::new("semop", 11)) } else { Ok(()) }
        }
    }
    let mut machine = Machine::new();
    let failed = run(&mut Shared::new(1.0, 20.0), &mut machine, &mut Fails(0), &plan(1_000));
    assert_eq!(failed.map(|_| ()).map_err(|(phase, error)| (phase, error.call)), Err(("pass", "semop")));
}

/// Gaps that follow one another are all found, though only the first one is in a pass that is counted.
#[test]
fn every_moment_of_a_burst_is_accounted_for() {
    let burst: Script = (0..5).map(|index| (30_000 + index, 60_000, GapCause::Interrupt)).collect();
    let found = timed(1_000, burst, 100_000);
    let [gaps] = &found.account.gaps[..] else { panic!("{:?}", found.account) };
    assert_eq!((gaps.count, gaps.in_passes), (5, 1));
    assert!(off(&found.account) < 1e-9, "{:?}", found.account);
}
