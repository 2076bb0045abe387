//! The process that counts one id: set up, warmed up, then operation by operation between two readings of the clock.
//!
//! The clock of the emulated machine is its count of instructions: x86_64's TSC, aarch64's virtual counter at 10^9 a second.

use std::io::Write;
use std::time::Duration;

use oscost_harness::{Batched, Card, Catalogue, Claim, Participant, Subject, Unable, apart, uncountable};
use oscost_sys::clock::{pause, tsc};
use oscost_sys::guest::{Marks, execute};
use oscost_sys::kernel_clock::KernelClock;
use oscost_sys::scheduling::{self, Policy};
use oscost_sys::usage::{self, Usage, Whose};
use oscost_sys::{CallError, memory};

use super::timer::{SETTLING, Timer};
use crate::message::{CountOutcome, CountPlan, InstructionCounts, PLAN, mark};

/// Iterations before the first count, at least.
const WARM: u64 = 64;
/// Instructions before the first count, at least; and at most where iterations are long.
const WARM_INSTRUCTIONS: std::ops::Range<u64> = 2_000_000..40_000_000;
/// Counts of batches of two and of four, by which the batch's own instructions are told from its iterations'; fewer of long ones.
const FEW: u64 = 8;
const LEAST_FEW: u64 = 2;
/// Instructions of all operations that are counted one by one, at most, and of the batches: long ones are counted less often, but
/// this often.
const MOST: u64 = 80_000_000;
const LEAST: u32 = 8;

/// Iterations in a row before those that are counted or followed, where processes take turns: the first one wakes who slept for
/// long, and finds the scheduler in another state than the others do.
const TOGETHER: u64 = 16;
/// Iterations that are not counted between two periods of the scheduler's clock, beside these: the first takes longer than those
/// behind it, and up to four are counted.
const AROUND: u64 = 8;
/// Each of these begins after a tick of its own, and so many are counted at most.
const MOST_TOGETHER_COUNTED: u32 = 32;
/// And so many are not counted before these.
const UNCOUNTED_TOGETHER: u32 = 16;
/// The scheduler keeps time of what everybody used in steps of this many ns: what it does depends on where in a step it is asked.
const STEP: u64 = 1 << 10;
/// So many places in a step are taken in turn. More would be closer to where it begins to do something else, and a few ns that
/// differ from boot to boot would be seen.
const PLACES: u64 = 8;
/// And in periods of so many ns, at whose end it does more.
const PERIOD: u64 = 1 << 20;
/// So long before an appointment the way there is decided, ns.
const AHEAD: u64 = 2 * STEP;
/// A tick that leaves too little of a period is passed by, so often at most: 3 in 4 leave 200 000 ns.
const MOST_TICKS: u32 = 8;
/// Long enough for everybody else to finish and to sleep, and far shorter than a tick.
const REST: Duration = Duration::from_micros(100);
/// What a rest takes at most, ns: the kernel may put a wake-up off by 50 us.
const LONGEST_REST: u64 = 200_000;
/// In the place of a count until it is taken.
const UNCOUNTED: u64 = u64::MAX;
/// Resolution of the kernel's idle time, ns.
const IDLE_STEP: f64 = 1e7;
/// Iterations of the batch in which switches are looked at there; fewer of long ones.
const MANY_TOGETHER: u64 = 64;
/// Iterations that are followed where they differ: enough to meet what comes every 16th time twice; and instructions of these
/// at most, fewer where all registers are logged.
const MANY: u64 = 40;
const MOST_ALONE: u64 = 600_000;
const MOST_FOLLOWED_TOGETHER: u64 = 250_000;

/// Arguments: index of the id in the plan, period and cost of the timer's tick.
pub(crate) fn serve(catalogue: &Catalogue, mut arguments: impl Iterator<Item = String>) -> u8 {
    let mut number = || arguments.next().and_then(|word| word.parse::<u64>().ok());
    let (Some(index), Some(period), Some(cost)) = (number(), number(), number()) else {
        let _ = writeln!(std::io::stderr(), "oscost counter: started by oscost alone");
        return 2;
    };
    let outcome = match plan() {
        Ok(plan) => one(catalogue, &plan, index, Timer::known(period, cost)),
        Err(why) => CountOutcome::Failed(why),
    };
    let text = serde_json::to_vec(&outcome).unwrap_or_default();
    u8::from(std::io::stdout().write_all(&text).is_err())
}

fn plan() -> Result<CountPlan, String> {
    let text = std::fs::read(PLAN).map_err(|error| format!("no plan: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("no plan: {error}"))
}

fn one(catalogue: &Catalogue, plan: &CountPlan, index: u64, timer: Timer) -> CountOutcome {
    let id = usize::try_from(index).ok().and_then(|index| plan.ids.get(index));
    let Some(benchmark) = id.and_then(|id| catalogue.find(id)) else {
        return CountOutcome::Failed("the program in the guest has no such benchmark".to_owned());
    };
    let card = benchmark.card();
    if let Some(why) = uncountable(card) {
        return CountOutcome::Unsupported { why: why.to_owned(), remedy: String::new() };
    }
    let subject = match apart::set_up(benchmark, 0) {
        Ok(subject) => subject,
        Err(Unable::Unsupported { why, remedy }) => return CountOutcome::Unsupported { why, remedy },
        Err(Unable::Failed(error)) => return CountOutcome::Failed(apart::failure("set-up", error)),
    };
    let Subject::Batched(mut batched) = subject else {
        return CountOutcome::Failed("its set-up made a series, and its card says none".to_owned());
    };
    let sleeps = sleeps(card);
    let mut counter =
        Counter { batched: &mut *batched, sleeps, timer, made: 0, first: 0, clock: None, rested: 0 };
    counter
        .counts(plan, index, card.operations_per_iteration.max(1))
        .unwrap_or_else(|error| CountOutcome::Failed(apart::failure("batch", error)))
}

/// Who waits by yielding does not sleep. In a higher class than its partner it would yield to nobody, for ever.
fn sleeps(card: &Card) -> bool {
    let yields =
        |claim: &Claim| matches!(claim, Claim::CallsNamed(names, _) if names.contains(&"sched_yield"));
    card.blocks && !card.claims.iter().any(yields)
}

struct Counter<'a> {
    batched: &'a mut dyn Batched,
    /// Whether an operation sleeps, and so lets others run.
    sleeps: bool,
    timer: Timer,
    /// Iterations so far, of all batches: what was used meanwhile is divided by them.
    made: u64,
    /// Iterations in a row before each batch that is counted; 0 where nobody takes turns.
    first: u64,
    /// By which the scheduler keeps time, where others take turns and the kernel tells it.
    clock: Option<KernelClock>,
    /// ns for which this process has slept of its own accord.
    rested: u64,
}

impl Counter<'_> {
    fn counts(
        &mut self,
        plan: &CountPlan,
        index: u64,
        operations_each: u64,
    ) -> Result<CountOutcome, CallError> {
        let marks = Marks::new()?;
        // A page that is touched for the first time in an operation would be a fault of our own making; where it is refused,
        // the warm-up touches what operations touch.
        let _ = memory::lock_current();
        // How many iterations come before the next tick, and so which of them are counted, is then the same in every boot.
        self.timer.next();
        let before = usage::own(Whose::Thread)?;
        let longest = self.warm_up(WARM)?;
        let slept = usage::own(Whose::Thread)?.since(&before).voluntary_switches;
        let participants = self.batched.participants();
        // Who waits for a process of its own making takes turns with it too.
        if !participants.is_empty() || 2 * slept >= self.made {
            self.first = TOGETHER.min((PERIOD / longest.max(1)).saturating_sub(AROUND)).max(1);
            self.clock = KernelClock::find().ok();
        }
        let most = u32::try_from(MOST / longest.max(1)).unwrap_or(u32::MAX).max(LEAST);
        let most = if self.first > 0 { most.min(MOST_TOGETHER_COUNTED) } else { most };
        let operations = plan.operations.min(most);
        // A batch of two and one of four are six.
        let few = (MOST / 6 / longest.max(1)).clamp(LEAST_FEW, FEW) as usize;
        // Written to once: memory that is zero for free is touched by the first count that is kept in it, and a fault of ours then.
        let mut counts = InstructionCounts {
            ones: vec![UNCOUNTED; operations as usize],
            twos: vec![UNCOUNTED; few],
            fours: vec![UNCOUNTED; few],
            tick: self.timer.period,
            tick_cost: self.timer.cost,
            met_timer: !self.timer.keeps_clear((self.first + 4) * longest),
            ..InstructionCounts::default()
        };
        // Twice, for the same reason: the first reading touches memory and code.
        let _ = idle();
        let idle = idle();
        // A round of each kind that nobody keeps: a page of our code that runs for the first time would be a fault of ours.
        for iterations in [1, 2, 4] {
            self.appointment(0, iterations, longest)?;
            self.timed(iterations, longest)?;
        }
        let begun = tsc();
        let mut watch = Watch::begin(&participants, self.made)?;
        // After other work the scheduler and the kernel's caches are in another state.
        self.uncounted(1)?;
        // The first few may take more, as on Linux 7.2: the scheduler's averages still hold the warm-up, perhaps.
        for _ in 0..if self.first > 0 { UNCOUNTED_TOGETHER } else { 0 } {
            self.appointment(0, 1, longest)?;
            self.timed(1, longest)?;
        }
        for (iterations, batches) in [(1, &mut counts.ones), (2, &mut counts.twos), (4, &mut counts.fours)] {
            for (index, batch) in (0..).zip(batches) {
                self.appointment(index % PLACES * (STEP / PLACES), iterations, longest)?;
                *batch = self.timed(iterations, longest)?;
            }
        }
        let elapsed = tsc() - begun;
        // The kernel tells its idle time in hundredths of a second: what was slept here may be reported as one more.
        let rested = if self.rested > 0 { self.rested as f64 + IDLE_STEP } else { 0.0 };
        let slept = (self::idle() - idle) * 1e9 - rested;
        counts.idle_share = slept.max(0.0) / elapsed.max(1) as f64;
        if self.first > 0 {
            // Partners are woken and put to rest at the ends of a batch: what an operation switches is seen in a long one. Without
            // partners, its beginning may wait for work that earlier operations left to the kernel: that is none of its own.
            if !participants.is_empty() {
                watch = Watch::begin(&participants, self.made)?;
            }
            self.batched.arm()?;
            if participants.is_empty() {
                watch = Watch::begin(&participants, self.made)?;
            }
            self.armed(MANY_TOGETHER.min(MOST / longest.max(1)).max(LEAST_FEW))?;
        }
        let made = ((self.made - watch.made) * operations_each) as f64;
        if let Some(used) = watch.used(&participants)? {
            counts.switches = Some(used.switches() as f64 / made);
            counts.voluntary_switches = Some(used.voluntary_switches as f64 / made);
            counts.faults = Some(used.faults() as f64 / made);
        }
        if plan.followed > 0 {
            self.follow(plan, index, longest, &marks, &mut counts)?;
        }
        Ok(CountOutcome::Counted(counts))
    }

    /// Where several take part, all of them are in the same state before each batch, in every boot: nobody is owed anything that
    /// depends on what was before, a tick has just passed, whom it woke has ended, the scheduler's clock is so many ns into a step,
    /// and no period ends before the batch does.
    fn appointment(&mut self, into_step: u64, iterations: u64, longest: u64) -> Result<(), CallError> {
        if self.first == 0 {
            return Ok(());
        }
        // The first iteration takes longer than those behind it.
        let length = (self.first + 4 + iterations) * longest;
        self.settle_accounts()?;
        self.timer.alone();
        for _ in 0..MOST_TICKS {
            if self.has_room(length + LONGEST_REST) {
                break;
            }
            self.timer.next();
        }
        self.rest();
        self.align(into_step, length);
        self.uncounted(self.first)
    }

    /// Has the scheduler owe nothing to the partners. Since Linux 6.6 it remembers for as long as somebody sleeps what it owes to
    /// him; but who runs and goes to sleep while nobody else of his class is there is owed nothing.
    fn settle_accounts(&mut self) -> Result<(), CallError> {
        // A kernel without real time (CONFIG_RT_GROUP_SCHED and no share) is left as it is.
        if !self.sleeps || self.batched.participants().is_empty() || scheduling::set(Policy::Fifo, 1).is_err()
        {
            return Ok(());
        }
        let woken = self.uncounted(1);
        self.rest();
        scheduling::set(Policy::Other, 0)?;
        woken
    }

    /// Sleeps until all others sleep.
    fn rest(&mut self) {
        let begun = tsc();
        pause(REST);
        self.rested += tsc() - begun;
    }

    /// Whether something of `length` ends in the period in which it begins now. What is longer than a period always does.
    fn has_room(&self, length: u64) -> bool {
        let Some(clock) = self.clock else { return true };
        let now = clock.now();
        length >= PERIOD || now / PERIOD == (now + length) / PERIOD
    }

    /// Returns so many ns into a step of the scheduler's clock, and not where a period ends within `length`.
    #[inline(never)]
    fn align(&self, into_step: u64, length: u64) {
        let Some(clock) = self.clock else { return };
        let mut begin = (clock.now() + AHEAD) / STEP * STEP;
        if begin / PERIOD != (begin + STEP + length) / PERIOD && length + STEP < PERIOD {
            begin = (begin / PERIOD + 1) * PERIOD;
        }
        // From this reading of the clock on, every instruction is known.
        execute((begin + into_step).saturating_sub(clock.now()));
    }

    /// Instructions of a batch. `longest` is what an iteration may take.
    fn timed(&mut self, iterations: u64, longest: u64) -> Result<u64, CallError> {
        if self.first == 0 && self.timer.clear(iterations * longest) {
            // The first operation behind a tick finds that time has passed (a file's time stamps), and pays for it.
            self.uncounted(1)?;
        }
        self.batched.arm()?;
        let before = tsc();
        let outcome = self.batched.batch(iterations);
        let after = tsc();
        self.batched.park()?;
        self.made += iterations;
        outcome?;
        Ok(after - before)
    }

    fn uncounted(&mut self, iterations: u64) -> Result<(), CallError> {
        self.batched.arm()?;
        self.armed(iterations)
    }

    /// A batch behind its `arm`.
    fn armed(&mut self, iterations: u64) -> Result<(), CallError> {
        let outcome = self.batched.batch(iterations);
        self.batched.park()?;
        self.made += iterations;
        outcome
    }

    /// The same between two marks, for a tracer outside that sees each instruction.
    fn follow(
        &mut self,
        plan: &CountPlan,
        index: u64,
        longest: u64,
        marks: &Marks,
        counts: &mut InstructionCounts,
    ) -> Result<(), CallError> {
        let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
        marks.tell(mark::MAPS, &maps);
        // Reading the mappings has touched what operations touch: warm again.
        self.warm_up(WARM)?;
        let (apart, together) = (self.first == 0, !self.batched.participants().is_empty());
        let begin = if together { mark::BEGIN_TOGETHER } else { mark::BEGIN };
        let first = if together { self.first } else { 1 };
        let mut iterations = u64::from(plan.followed);
        let constant = counts.ones.windows(2).all(|pair| pair[0] == pair[1]);
        let many = MANY.min(if together { MOST_FOLLOWED_TOGETHER } else { MOST_ALONE } / longest.max(1));
        if !constant && many > iterations && self.timer.keeps_clear((many + first) * longest + SETTLING) {
            iterations = many;
        }
        if apart {
            self.timer.clear((iterations + first) * longest + SETTLING);
        } else {
            self.settle_accounts()?;
            self.timer.alone();
        }
        marks.pass(begin, index, iterations);
        Timer::settle();
        // The way to the end of a period would be logged too.
        self.align(0, 0);
        self.uncounted(first)?;
        self.batched.arm()?;
        marks.pass_quietly();
        let before = tsc();
        let outcome = self.batched.batch(iterations);
        let after = tsc();
        marks.pass_quietly();
        marks.pass(mark::END, index, iterations);
        self.batched.park()?;
        outcome?;
        counts.followed = after - before;
        Ok(())
    }

    /// Runs iterations until they are as they will be; what one of the last took at most.
    fn warm_up(&mut self, iterations: u64) -> Result<u64, CallError> {
        let begun = tsc();
        let mut done = 0;
        let mut recent = [0; 8];
        loop {
            let took = self.timed(1, 0)?;
            recent[done as usize % recent.len()] = took;
            done += 1;
            let spent = tsc() - begun;
            let enough = done >= iterations && spent >= WARM_INSTRUCTIONS.start;
            if enough || (done >= recent.len() as u64 && spent >= WARM_INSTRUCTIONS.end) {
                return Ok(recent.into_iter().max().unwrap_or(took));
            }
        }
    }
}

/// What everybody had used at one moment.
struct Watch {
    own: Usage,
    partners: Option<Vec<Usage>>,
    /// Iterations made by then.
    made: u64,
}

impl Watch {
    fn begin(participants: &[Participant], made: u64) -> Result<Self, CallError> {
        let partners = partners(participants);
        Ok(Self { own: usage::own(Whose::Thread)?, partners, made })
    }

    /// What everybody has used since; `None` where a partner could not be looked at.
    fn used(&self, participants: &[Participant]) -> Result<Option<Usage>, CallError> {
        let own = usage::own(Whose::Thread)?.since(&self.own);
        Ok(sum(&own, self.partners.as_deref(), partners(participants).as_deref()))
    }
}

fn partners(participants: &[Participant]) -> Option<Vec<Usage>> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let one = |participant: &Participant| match *participant {
        Participant::Process(pid) => usage::of(pid, pid),
        Participant::Thread(tid) => usage::of(own, tid),
    };
    participants.iter().map(|participant| one(participant).map(|seen| seen.usage)).collect()
}

/// What everybody used; `None` where a partner could not be looked at.
fn sum(own: &Usage, before: Option<&[Usage]>, after: Option<&[Usage]>) -> Option<Usage> {
    let mut sum = *own;
    for (before, after) in before?.iter().zip(after?) {
        sum.add(&after.since(before));
    }
    Some(sum)
}

/// Seconds for which the machine has been idle.
fn idle() -> f64 {
    let text = oscost_sys::file::text("/proc/uptime").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use oscost_harness::{Bound, Card, Claim};

    use super::sleeps;

    #[test]
    fn who_yields_until_it_is_his_turn_does_not_sleep() {
        let one = |claims| Card { blocks: true, claims, ..Card::BATCHED };
        let reads: &[Claim] = &[
            Claim::CallsNamed(&["read"], Bound::AtLeast(1.0)),
            Claim::CallsNamed(&["write"], Bound::AtLeast(1.0)),
        ];
        let yields: &[Claim] = &[Claim::CallsNamed(&["sched_yield"], Bound::AtLeast(1.0))];
        assert!(sleeps(&one(reads)));
        assert!(!sleeps(&one(yields)));
        assert!(!sleeps(&Card { blocks: false, ..one(reads) }));
    }
}
