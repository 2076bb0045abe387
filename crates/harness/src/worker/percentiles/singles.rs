//! Passes timed one by one, in the worker: every moment between the first reading of a stretch and its last is accounted for.

use oscost_results::{Account, GapCause};
use oscost_stats::fine_histogram::FineHistogram;
use oscost_stats::quantile::{median, sorted};
use oscost_sys::interruption::Look;

use super::gaps::{self, Observer, Usual};
use crate::benchmark::{Batched, Outcome};
use crate::protocol::timed::{SinglesPlan, Tally};
use crate::worker::clock::Clock;
use oscost_sys::CallError;

/// A stretch of passes takes about this, between two looks at the counters.
const BLOCK_NS: u64 = 5_000_000;
/// A stretch has no fewer passes.
const FEWEST: u64 = 32;
/// What is longer than usual by less is no gap.
const LEAST_GAP_NS: u64 = 2_000;
/// After a look caches are cold: passes of this time, at least two, are not counted.
const SETTLE_NS: u64 = 20_000;
/// Passes that the cost of the clock pair is found from.
const PAIRS: u64 = 20_000;

/// What one launch found.
#[derive(Debug)]
pub(crate) struct Singles {
    /// Times of counted passes, ns, with the clock pair.
    pub histogram: FineHistogram,
    /// Cost of the clock pair around a pass that does nothing.
    pub pair_ns: f64,
    /// A pass alone, in each stretch: mean of those without a gap, less the pair.
    pub alone_ns: Vec<f64>,
    /// A pass of the batch beside each stretch.
    pub batch_ns: Vec<f64>,
    /// Counted passes that took longer than a round time, less the pair: the time, how many, in how many stretches.
    pub longer: Vec<(u64, u64, u64)>,
    /// Where the time went.
    pub account: Account,
}

/// A loop that does nothing: what a pass of it costs, the pair of readings costs.
struct Nothing;

impl Batched for Nothing {
    #[inline(never)]
    fn batch(&mut self, _: u64) -> Outcome {
        Ok(())
    }
}

/// Times passes of `batched` one by one.
///
/// # Errors
/// The call that failed, with its phase.
pub(crate) fn run(
    clock: &mut impl Clock,
    observer: &mut impl Observer,
    batched: &mut dyn Batched,
    plan: &SinglesPlan,
) -> Result<Singles, (&'static str, CallError)> {
    let pair_ns = pair(clock).map_err(|error| ("clock", error))?;
    let usual = warm_up(clock, observer, batched, plan)?;
    let mut work = Work {
        clock,
        observer,
        usual,
        plan,
        tally: Tally::default(),
        stretch: 0,
        settling: 0,
        before: Look::default(),
        since_look: 0,
        counted: FineHistogram::new(),
        pair_ns,
        longer: round_times(usual.limit_ns)
            .map(|ns| Longer { ns, passes: 0, stretches: 0, last: 0 })
            .collect(),
        account: Account { limit_ns: usual.limit_ns, ..Account::default() },
    };
    let typical = usual.pass_ns.max(1);
    let passes = (BLOCK_NS / typical).max(FEWEST);
    // An eighth of the stretch beside it.
    let batch = (passes / 8).max(plan.least_batch);
    let (mut alone_ns, mut batch_ns) = (Vec::new(), Vec::new());
    while work.counted.total() < plan.passes && work.account.elapsed_ns < plan.time_ns {
        batched.arm().map_err(|error| ("arm", error))?;
        let alone = work.stretch(batched, passes);
        batched.park().map_err(|error| ("park", error))?;
        alone_ns.extend(alone.map_err(|error| ("pass", error))?.map(|ns| ns - pair_ns));
        batched.arm().map_err(|error| ("arm", error))?;
        let start = work.clock.now_ns();
        let outcome = batched.batch(batch);
        let end = work.clock.now_ns();
        batched.park().map_err(|error| ("park", error))?;
        outcome.map_err(|error| ("batch", error))?;
        batch_ns.push((end.saturating_sub(start) as f64 - pair_ns) / batch as f64);
    }
    work.account.gaps = work.tally.into_gaps();
    Ok(Singles {
        histogram: work.counted,
        pair_ns,
        alone_ns,
        batch_ns,
        longer: work.longer.iter().map(|it| (it.ns, it.passes, it.stretches)).collect(),
        account: work.account,
    })
}

/// 1, 2, 5, 10, ... us, up to 5 s; from `least` on.
fn round_times(least: u64) -> impl Iterator<Item = u64> {
    (3..10_u32).flat_map(|decade| [1, 2, 5].map(|it| it * 10_u64.pow(decade))).filter(move |&ns| ns >= least)
}

/// What the pair of readings costs around a pass, by passes of nothing: the mean of what was not interrupted.
fn pair(clock: &mut impl Clock) -> Result<f64, CallError> {
    let nothing: &mut dyn Batched = &mut Nothing;
    let nothing = std::hint::black_box(nothing);
    let mut costs = Vec::with_capacity(PAIRS as usize);
    for _ in 0..PAIRS {
        let (start, end) = pass(clock, nothing)?;
        costs.push(end.saturating_sub(start) as f64);
    }
    let costs = sorted(costs);
    let most = 2.0 * median(&costs).unwrap_or(0.0) + 10.0;
    let undisturbed: Vec<f64> = costs.into_iter().filter(|cost| *cost <= most).collect();
    Ok(undisturbed.iter().sum::<f64>() / undisturbed.len().max(1) as f64)
}

/// One pass with a reading on each side of it.
#[inline(always)]
pub(super) fn pass(clock: &mut impl Clock, batched: &mut dyn Batched) -> Result<(u64, u64), CallError> {
    let start = clock.now_ns();
    let outcome = batched.batch(1);
    let end = clock.now_ns();
    outcome.map(|()| (start, end))
}

/// What is usual of this operation here.
#[derive(Debug, Clone, Copy)]
struct Typical {
    /// A pass with its readings, ns.
    pass_ns: u64,
    /// The time between two passes, ns.
    between_ns: u64,
    /// From here on a pass holds a gap, ns.
    limit_ns: u64,
    waits: Usual,
}

fn warm_up(
    clock: &mut impl Clock,
    observer: &mut impl Observer,
    batched: &mut dyn Batched,
    plan: &SinglesPlan,
) -> Result<Typical, (&'static str, CallError)> {
    let (mut passes, mut between) = (FineHistogram::new(), FineHistogram::new());
    batched.arm().map_err(|error| ("arm", error))?;
    let before = observer.look();
    let first = clock.now_ns();
    let mut last = first;
    while last.saturating_sub(first) < plan.warm_up_ns || passes.total() < FEWEST {
        let (start, end) = pass(clock, batched).map_err(|error| ("pass", error))?;
        between.record(start.saturating_sub(last));
        passes.record(end.saturating_sub(start));
        last = end;
    }
    let after = observer.look();
    batched.park().map_err(|error| ("park", error))?;
    let at = |histogram: &FineHistogram, q: f64| histogram.quantile(q).unwrap_or(0.0) as u64;
    let pass_ns = at(&passes, 0.5);
    let waited = |look: &Look| Some(look.waited_ns? + look.partners_waited_ns.unwrap_or(0));
    let waited =
        waited(&after).zip(waited(&before)).map_or(0, |(after, before)| after.saturating_sub(before));
    let faults = after.faults.zip(before.faults).map_or(0, |(after, before)| after.saturating_sub(before));
    Ok(Typical {
        pass_ns,
        between_ns: at(&between, 0.5),
        // Not by the tail: a busy machine has gaps in the warm-up, too, and would hide its own.
        limit_ns: (pass_ns + LEAST_GAP_NS).max(3 * at(&passes, 0.9)),
        waits: Usual {
            blocks: plan.blocks,
            waited_ns: waited as f64 / passes.total() as f64,
            faults: faults as f64 / passes.total() as f64,
        },
    })
}

/// How often passes took longer than a round time.
struct Longer {
    ns: u64,
    passes: u64,
    stretches: u64,
    /// The last stretch with one.
    last: u64,
}

/// A launch in the middle of its work.
struct Work<'a, C, W> {
    clock: &'a mut C,
    observer: &'a mut W,
    usual: Typical,
    plan: &'a SinglesPlan,
    tally: Tally,
    stretch: u64,
    /// Passes that are not counted, because a look was before them.
    settling: u64,
    before: Look,
    /// Passes since then.
    since_look: u64,
    counted: FineHistogram,
    pair_ns: f64,
    longer: Vec<Longer>,
    account: Account,
}

impl<C: Clock, W: Observer> Work<'_, C, W> {
    /// A stretch of passes. The mean of those that were counted and had no gap.
    #[inline(never)]
    fn stretch(&mut self, batched: &mut dyn Batched, passes: u64) -> Result<Option<f64>, CallError> {
        self.stretch += 1;
        self.look_again();
        let (mut clean, mut clean_ns) = (0_u64, 0_u64);
        let first = self.clock.now_ns();
        let mut last = first;
        for _ in 0..passes {
            let (start, end) = pass(self.clock, batched)?;
            let (between, taken) = (start.saturating_sub(last), end.saturating_sub(start));
            last = end;
            self.since_look += 1;
            if taken < self.usual.limit_ns && between < self.usual.between_ns + LEAST_GAP_NS {
                self.account.counting_ns += between;
                if self.settling > 0 {
                    self.settling -= 1;
                    self.account.looking_ns += taken;
                    continue;
                }
                self.counted.record(taken);
                self.account.passes_ns += taken;
                clean += 1;
                clean_ns += taken;
                if self.counted.total() >= self.plan.passes {
                    break;
                }
                continue;
            }
            last = self.gap(between, taken, end);
        }
        self.account.elapsed_ns += last.saturating_sub(first);
        Ok((clean > 0).then(|| clean_ns as f64 / clean as f64))
    }

    /// A pass, or the time before it, was longer than usual: who did it. The time when that is known.
    #[cold]
    fn gap(&mut self, between: u64, taken: u64, end: u64) -> u64 {
        let counts = self.settling == 0;
        let of_pass = if taken < self.usual.limit_ns { 0 } else { taken - self.usual.pass_ns };
        let outside =
            if between < self.usual.between_ns + LEAST_GAP_NS { 0 } else { between - self.usual.between_ns };
        self.account.counting_ns += between - outside;
        if counts {
            self.counted.record(taken);
            self.account.passes_ns += taken - of_pass;
            let less_pair = (taken as f64 - self.pair_ns) as u64;
            for longer in self.longer.iter_mut().take_while(|longer| longer.ns < less_pair) {
                longer.passes += 1;
                longer.stretches += u64::from(longer.last != self.stretch);
                longer.last = self.stretch;
            }
        } else {
            self.account.looking_ns += taken - of_pass;
        }
        let before = self.look_again();
        let longest = of_pass.max(outside);
        let (cause, interrupt) = gaps::cause(longest, &before.0, &self.before, before.1, self.usual.waits);
        let by = match cause {
            GapCause::Interrupt => interrupt.map(|index| self.observer.interrupt(index)),
            GapCause::Preemption => self.observer.who_ran().and_then(|ran| gaps::preemptor(ran, longest)),
            _ => None,
        };
        for (ns, in_pass) in [(of_pass, counts), (outside, false)] {
            if ns > 0 {
                self.tally.add(cause, by.clone(), ns, in_pass);
            }
        }
        let now = self.clock.now_ns();
        self.account.looking_ns += now.saturating_sub(end);
        now
    }

    /// Looks at the counters. Those of the look before, and the passes since then.
    fn look_again(&mut self) -> (Look, u64) {
        let now = self.observer.look();
        let before = std::mem::replace(&mut self.before, now);
        self.settling = (SETTLE_NS / self.usual.pass_ns.max(1)).max(2);
        (before, std::mem::take(&mut self.since_look))
    }
}

#[cfg(test)]
mod tests;
