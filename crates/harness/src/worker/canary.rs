//! The canaries: loops that run in every round, and what a run learns about the core from them.
//!
//! METHOD.md, Canaries. A chain and a throughput loop tell how fast the core is and whether a sibling shares it. A bare
//! kernel entry is the least that an operation costs which enters the kernel.

use oscost_stats::quantile::{quantile, sorted};
use oscost_sys::canary::{
    CHAIN_STEPS, CHECK_CYCLES, THROUGHPUT_INSTRUCTIONS, chain, check_chain, throughput,
};
use oscost_sys::process::Child;
use oscost_sys::watched::Watched;
use oscost_sys::{cycle_counter, system_call};

use crate::benchmark::{Batched, Outcome};
use crate::protocol::core::{Core, known_steps};
use crate::protocol::message::TaskFinding;
use crate::worker::calibrate::iterations;
use crate::worker::clock::{self, Clock, Monotonic};
use crate::worker::rounds::Runner;

/// A canary's batch is this part of a member's: three full ones would make the launches of a single id four times as long.
const PART: u64 = 4;
/// That of the kernel entry: the first entries after other code are dearer, and shall be few among the others.
const ENTRY_PART: u64 = 2;
/// Within this share the check chain agrees, and within the other the processor's own counter.
const CHECK_AGREES: f64 = 0.01;
const COUNTER_AGREES: f64 = 0.02;
/// Within this share the check chain agrees on a processor that is known, where neighbours never leave it alone: they made 0.98 to
/// 1.05 of it.
const DISTURBED: f64 = 0.1;
/// Turns in one look at the core, and how many looks its check is given: who is disturbed all the time never agrees.
const TURNS: usize = 100;
const LOOKS: usize = 10;
/// How long a child may take that enters the kernel once, ns.
const PATIENCE_NS: u64 = 1_000_000_000;

/// A loop without state that is told how often it runs.
pub(crate) struct Loop(fn(u64));

impl Batched for Loop {
    fn batch(&mut self, iterations: u64) -> Outcome {
        (self.0)(iterations);
        Ok(())
    }
}

#[inline(never)]
fn enter(times: u64) {
    for _ in 0..times {
        system_call::enter();
    }
}

/// The entry under a filter of system calls. The kernel asks the filter's program about an unknown call each time, but lets
/// a call pass at once that the filter always allows: an unknown one costs more than many others.
#[inline(never)]
fn enter_allowed(times: u64) {
    for _ in 0..times {
        let _ = system_call::getpid();
    }
}

/// Finds out about the core that the worker was placed on, by the processor's counter too if it `counts`.
pub(crate) fn core(batch_ns: u64, pair_ns: f64, counts: bool) -> TaskFinding {
    clock::warm_up();
    TaskFinding::Core(find(&mut Monotonic, batch_ns, pair_ns, counts))
}

/// The loops: in tests they are others, of known cost.
pub(crate) struct Canaries<B> {
    pub(crate) chain: B,
    pub(crate) throughput: B,
    /// None where the kernel does not let anybody come back from it.
    pub(crate) entry: Option<B>,
}

impl Canaries<Loop> {
    /// The real ones.
    pub(crate) fn new(entry: bool) -> Self {
        let filtered = Watched::at_first().seccomp_mode.is_some_and(|mode| mode > 0);
        let enters: fn(u64) = if filtered { enter_allowed } else { enter };
        Self { chain: Loop(chain), throughput: Loop(throughput), entry: entry.then_some(Loop(enters)) }
    }
}

impl<B: Batched> Canaries<B> {
    /// As they take part in rounds: chain, throughput loop, entry.
    pub(crate) fn runners(&mut self, core: &Core) -> Vec<Runner<'_>> {
        let entry = self.entry.as_mut().map(|entry| Runner::new(entry, core.entries, 1));
        let chain = Runner::new(&mut self.chain, core.chain_passes, CHAIN_STEPS);
        let throughput = Runner::new(&mut self.throughput, core.throughput_passes, THROUGHPUT_INSTRUCTIONS);
        [chain, throughput].into_iter().chain(entry).collect()
    }
}

/// Finds out about the core that the calling thread runs on.
pub(crate) fn find(clock: &mut impl Clock, batch_ns: u64, pair_ns: f64, counts: bool) -> Core {
    let no_entry = refused_entry();
    let mut canaries = Canaries::new(no_entry.is_none());
    let known = known_steps(oscost_sys::processor::model().as_deref()).is_some();
    let mut core = look(clock, &mut canaries, &mut Loop(check_chain), batch_ns, pair_ns, known);
    core.no_entry = no_entry;
    if counts && core.no_cycles.is_none() {
        let passes = core.chain_passes * PART;
        let counted = cycle_counter::least(|| chain(passes), TURNS).ok();
        core.counted = counted.map(|cycles| cycles as f64 / (passes * CHAIN_STEPS) as f64);
        core.no_cycles = core.counted.and_then(miscounted);
    }
    core
}

/// Why there are no cycles, if the processor's counter counts so many in a step.
fn miscounted(cycles: f64) -> Option<String> {
    ((cycles - 1.0).abs() > COUNTER_AGREES)
        .then(|| format!("the processor counts {cycles:.2} cycles in an addition that should take one"))
}

/// Why no entry is made here: a filter may end a process that makes a call that it does not know.
fn refused_entry() -> Option<String> {
    let ended = Child::fork(|| {
        system_call::enter();
        0
    })
    .and_then(|child| child.wait_at_most(PATIENCE_NS));
    match ended {
        Ok(ended) if ended.code == Some(0) => None,
        Ok(ended) => Some(match ended.signal {
            Some(signal) => format!("signal {signal} ends a process that makes an unknown system call"),
            None => "a child that made an unknown system call did not return".to_owned(),
        }),
        Err(error) => Some(format!("a bare kernel entry could not be tried: {error}")),
    }
}

/// Lengths of the canaries' batches, their best cost, and whether the check chain agrees with the chain.
fn look<B: Batched>(
    clock: &mut impl Clock,
    canaries: &mut Canaries<B>,
    check: &mut B,
    batch_ns: u64,
    pair_ns: f64,
    known: bool,
) -> Core {
    // What these loops run cannot fail.
    let mut passes = |canary: &mut B, part: u64| {
        iterations(clock, canary, batch_ns / part).map_or(1, |calibration| calibration.iterations)
    };
    let checked = [passes(&mut canaries.chain, 1), passes(check, 1)];
    let mut core = Core {
        chain_passes: passes(&mut canaries.chain, PART),
        throughput_passes: passes(&mut canaries.throughput, PART),
        entries: canaries.entry.as_mut().map_or(0, |entry| passes(entry, ENTRY_PART)),
        ..Core::default()
    };
    let mut least = [f64::INFINITY; 2];
    let mut costs: [Vec<f64>; 3] = Default::default();
    for _ in 0..LOOKS {
        for _ in 0..TURNS {
            let mut timed = |runner: &mut Runner<'_>| {
                let before = clock.now_ns();
                let _ = runner.batched.batch(runner.iterations);
                let elapsed = clock.now_ns().saturating_sub(before) as f64;
                (elapsed - pair_ns) / runner.batch_operations() as f64
            };
            for (runner, costs) in canaries.runners(&core).iter_mut().zip(&mut costs) {
                costs.push(timed(runner));
            }
            let [long, checking] = checked;
            let chain = timed(&mut Runner::new(&mut canaries.chain, long, CHAIN_STEPS));
            let check = timed(&mut Runner::new(check, checking, CHAIN_STEPS));
            least = [least[0].min(chain), least[1].min(check)];
        }
        core.no_cycles = disagreement(least, CHECK_AGREES);
        if core.no_cycles.is_none() {
            break;
        }
    }
    if known {
        core.no_cycles = disagreement(least, DISTURBED);
    }
    let best = |costs: &mut Vec<f64>| quantile(&sorted(std::mem::take(costs)), 0.01);
    let [chain, throughput, entry] = &mut costs;
    (core.chain_ns, core.throughput_ns, core.entry_ns) = (best(chain), best(throughput), best(entry));
    core
}

/// Why a step of the chain is not taken for a cycle, if the least costs of a step of the chain and of the check chain are these.
fn disagreement([chain_ns, check_ns]: [f64; 2], within: f64) -> Option<String> {
    let ratio = check_ns / chain_ns;
    let agrees = (ratio / CHECK_CYCLES - 1.0).abs() <= within;
    let steps = if CHECK_CYCLES > 1.0 { "a multiplication" } else { "an exclusive or" };
    (!agrees).then(|| {
        format!(
            "{steps} takes {ratio:.2} times as long as an addition here, and not {CHECK_CYCLES:.0}: \
             an emulator, a core that this version does not know, or one that others disturbed all the time"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::clock::scripted::Shared;

    /// Loops whose passes cost so many ns, and one that is slower while the core is disturbed.
    struct Costs {
        clock: Shared,
        pass_ns: f64,
        slow_until: u64,
        batches: u64,
        /// Iterations of the last one.
        last: u64,
    }

    impl Batched for Costs {
        fn batch(&mut self, iterations: u64) -> Outcome {
            (self.batches, self.last) = (self.batches + 1, iterations);
            let slower = if self.batches < self.slow_until { 1.5 } else { 1.0 };
            self.clock.pass(self.pass_ns * slower * iterations as f64);
            Ok(())
        }
    }

    /// What is found where a step costs half a ns, and a step of the check chain `check_ns`.
    fn found(check_ns: f64, slow_until: u64, entry: bool) -> Core {
        found_on(false, check_ns, slow_until, entry)
    }

    /// The same on a processor that is known, or not.
    fn found_on(known: bool, check_ns: f64, slow_until: u64, entry: bool) -> Core {
        let clock = Shared::new(1.0, 20.0);
        let costs =
            |pass_ns, slow_until| Costs { clock: clock.clone(), pass_ns, slow_until, batches: 0, last: 0 };
        let mut canaries = Canaries {
            chain: costs(0.5 * CHAIN_STEPS as f64, slow_until),
            throughput: costs(0.1 * THROUGHPUT_INSTRUCTIONS as f64, 0),
            entry: entry.then(|| costs(60.0, 0)),
        };
        let mut check = costs(check_ns * CHAIN_STEPS as f64, 0);
        let core = look(&mut clock.clone(), &mut canaries, &mut check, 20_000, 20.0, known);
        // What is held against each other is as long as a batch of a member.
        for long in [&canaries.chain, &check].into_iter().filter(|_| slow_until == 0) {
            let length = long.pass_ns * long.last as f64 / 20_000.0;
            assert!((0.95..1.05).contains(&length), "{length}");
        }
        core
    }

    #[test]
    fn costs_and_lengths_are_found() {
        let core = found(0.5 * CHECK_CYCLES, 0, true);
        assert_eq!(core.no_cycles, None);
        for (found, ns) in [(core.chain_ns, 0.5), (core.throughput_ns, 0.1), (core.entry_ns, 60.0)] {
            let found = found.expect("found");
            assert!((found / ns - 1.0).abs() < 1e-3, "{found} for {ns}");
        }
        let lengths = [
            core.chain_passes as f64 * 32.0,
            core.throughput_passes as f64 * 12.8,
            core.entries as f64 * 60.0,
        ];
        for (length, expected) in lengths.into_iter().zip([5_000.0, 5_000.0, 10_000.0]) {
            assert!((length / expected - 1.0).abs() < 0.02, "{length} ns for {expected}");
        }
    }

    #[test]
    fn a_step_is_a_cycle_only_where_the_check_chain_agrees() {
        for agreeing in [0.991, 1.0, 1.009] {
            assert_eq!(found(0.5 * CHECK_CYCLES * agreeing, 0, true).no_cycles, None, "{agreeing}");
        }
        for other in [0.988, 1.012, 1.0 / 3.0, 4.0 / 3.0] {
            let why = found(0.5 * CHECK_CYCLES * other, 0, true).no_cycles.expect("no agreement");
            let steps = if CHECK_CYCLES > 1.0 { "a multiplication" } else { "an exclusive or" };
            assert!(why.starts_with(steps) && why.contains("as long as an addition"), "{why}");
        }
    }

    #[test]
    fn who_is_disturbed_at_first_is_looked_at_again() {
        // In each of ten looks it runs 200 times, after 58 runs that find lengths, and is half as long again until the tenth.
        assert_eq!(found(0.5 * CHECK_CYCLES, 1900, true).no_cycles, None);
        let never = found(0.5 * CHECK_CYCLES, 2100, true);
        let seen = format!("{:.2} times", CHECK_CYCLES / 1.5);
        assert!(never.no_cycles.expect("no agreement").contains(&seen), "{seen}");
        // Two undisturbed ones of a hundred are its cost.
        let chain_ns = found(0.5 * CHECK_CYCLES, 255, true).chain_ns.expect("found");
        assert!((chain_ns - 0.5).abs() < 1e-3, "{chain_ns}");
    }

    #[test]
    fn a_known_processor_that_is_disturbed_all_the_time_keeps_its_cycles() {
        for disturbed in [0.95, 1.05] {
            let check_ns = 0.5 * CHECK_CYCLES * disturbed;
            assert_eq!(found_on(true, check_ns, 0, true).no_cycles, None);
            assert!(found_on(false, check_ns, 0, true).no_cycles.is_some());
        }
        // Nothing that runs beside it does this: it is another machine that says it is this processor.
        for other in [1.0 / 3.0, 0.88, 1.12, 2.0] {
            assert!(found_on(true, 0.5 * CHECK_CYCLES * other, 0, true).no_cycles.is_some(), "{other}");
        }
    }

    #[test]
    fn without_an_entry_there_are_two_canaries() {
        let core = found(0.5 * CHECK_CYCLES, 0, false);
        assert_eq!((core.entries, core.entry_ns), (0, None));
        assert_eq!(Canaries::new(false).runners(&core).len(), 2);
        assert_eq!(Canaries::new(true).runners(&core).len(), 3);
    }

    #[test]
    fn the_processors_counter_has_the_last_word() {
        assert_eq!(miscounted(1.019), None);
        assert_eq!(miscounted(0.981), None);
        assert!(miscounted(1.021).expect("no cycles").contains("1.02 cycles"));
        assert!(miscounted(0.5).is_some());
    }

    #[test]
    fn the_real_ones_run_here() {
        assert_eq!(refused_entry(), None);
        let core = find(&mut Monotonic, 20_000, 20.0, true);
        let ns = [core.chain_ns, core.throughput_ns, core.entry_ns].map(|ns| ns.expect("found"));
        assert!(ns[1] < ns[0] && ns[0] < ns[2], "an instruction, a cycle, an entry: {ns:?}");
    }

    /// What this loop of entries makes, by number, where it can be counted.
    fn entered(enters: fn(u64)) -> Option<(i64, u64)> {
        use oscost_sys::audit::by_notification;
        use oscost_sys::memory::SharedWords;
        use std::sync::atomic::Ordering;
        let words = SharedWords::new(3).expect("memory");
        let child = Child::fork(|| {
            let counted = by_notification(|| {
                system_call::marker(1);
                enters(5);
                system_call::marker(0);
            });
            let Ok(((), counts)) = counted else { return 1 };
            let calls: Vec<(i64, u64)> = counts.phase(1).into_iter().collect();
            let [(number, count)] = calls[..] else { return 2 };
            words.word(0).store(number.cast_unsigned(), Ordering::Release);
            words.word(1).store(count, Ordering::Release);
            0
        });
        let code = child.expect("fork").wait().expect("it ends").code;
        assert_ne!(code, Some(2), "one kind of call");
        let word = |index| words.word(index).load(Ordering::Acquire);
        (code == Some(0)).then(|| (word(0).cast_signed(), word(1)))
    }

    #[test]
    fn a_loop_of_entries_enters_as_often_as_it_is_told() {
        let (Some(unknown), Some(allowed)) = (entered(enter), entered(enter_allowed)) else {
            return println!("SKIP a_loop_of_entries_enters_as_often_as_it_is_told: nobody can count here");
        };
        let (number, count) = unknown;
        assert!((number < 0 || number == system_call::INVALID) && count == 5, "{number} {count}");
        assert_eq!((oscost_sys::system_call_names::name(allowed.0), allowed.1), (Some("getpid"), 5));
    }

    /// Under a filter an unknown call costs more than others.
    #[test]
    fn the_entry_is_that_of_an_unknown_call_where_there_is_no_filter() {
        let mode = Watched::at_first().seccomp_mode.unwrap_or(0);
        let expected: fn(u64) = if mode > 0 { enter_allowed } else { enter };
        let entry = Canaries::new(true).entry.expect("asked for");
        assert_eq!(entry.0 as usize, expected as usize);
    }
}
