//! Reading a clock back to back and telling its step, as document 004 does it and as it should be done.

use oscost_harness::quantity;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use oscost_harness::{
    Benchmark, Bound, CallPath, Card, Claim, Outcome, OverLaunches, QuantityCard, Series, SeriesPlan, SetUp,
    Sink, Subject, Unable,
};
use oscost_stats::clock::clock_step;
use oscost_sys::{
    clock::now_ns,
    memory::ColdPages,
    system_call::marker,
    usage::{self, Whose},
};

/// A clock that is read back to back.
pub trait Reading: 'static {
    /// One unit of a reading in ns; `None` where the rate is to be measured.
    const UNIT_NS: Option<f64>;
    /// One reading.
    fn now() -> u64;
    /// System calls of one reading on this machine.
    fn calls() -> Bound;
}

/// Readings that are stored, 16 bytes each as a timeval takes: 781 pages of 4 KiB.
const READINGS: usize = 200_000;
const WORDS_A_READING: usize = 2;
/// Between two looks at the deadline.
const CHUNK: usize = 1024;
/// A clock that changed less often than this among the stored readings is watched for its changes instead.
const FEW_CHANGES: usize = 64;
/// Changes that are recorded of such a clock.
const MOST_CHANGES: usize = 1024;

const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::of(quantity::STEP).at_times(),
    QuantityCard::of(quantity::SMALLEST_DIFFERENCE).at_times(),
    QuantityCard::of(quantity::EQUAL_RUN_LENGTH).at_times(),
    QuantityCard::of(quantity::STEPS_OVER_1US),
    QuantityCard::of(quantity::LARGEST_STEP).over(OverLaunches::Max),
    QuantityCard::of(quantity::BACKWARD_STEPS).over(OverLaunches::Sum),
    QuantityCard::of(quantity::FAULTS).at_times(),
];

/// What the cards of the series share.
pub const CARD: Card = Card {
    operation: "one reading of the clock, right after the previous one",
    call_path: CallPath::Vdso,
    group: "clock/step",
    claims: &[Claim::SystemCalls(Bound::Exactly(0.0))],
    quantities: QUANTITIES,
    ..Card::SERIES
};
/// Of the series whose memory is new.
pub const COLD: &str =
    "readings are stored in new memory, as document 004 does: its page faults look like steps of the clock";

/// The series of one clock.
pub struct Steps<R> {
    card: &'static Card,
    cold: bool,
    clock: PhantomData<fn() -> R>,
}

impl<R> Steps<R> {
    /// Stores readings in memory that has been touched.
    pub const fn touched(card: &'static Card) -> Self {
        Self { card, cold: false, clock: PhantomData }
    }

    /// Stores readings in memory that is new in every launch.
    pub const fn cold(card: &'static Card) -> Self {
        Self { card, cold: true, clock: PhantomData }
    }
}

impl<R: Reading> Benchmark for Steps<R> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let mut memory = ColdPages::new(READINGS * WORDS_A_READING)?;
        if !self.cold {
            memory.words().fill(1);
        }
        Ok(Subject::Series(Box::new(Readings::<R> {
            memory: (!self.cold).then_some(memory),
            seen: Seen {
                differences: Vec::with_capacity(READINGS),
                runs: Vec::with_capacity(READINGS),
                ..Seen::default()
            },
            phase: None,
            clock: PhantomData,
        })))
    }

    fn claims(&self) -> Cow<'static, [Claim]> {
        Cow::Owned(vec![Claim::SystemCalls(R::calls())])
    }
}

struct Readings<R> {
    /// Touched memory, or none: then each launch takes new memory.
    memory: Option<ColdPages>,
    seen: Seen,
    /// The phase of an audit that the next launch is.
    phase: Option<usize>,
    clock: PhantomData<fn() -> R>,
}

impl<R: Reading> Series for Readings<R> {
    fn brackets(&mut self, phase: usize) -> bool {
        self.phase = Some(phase);
        true
    }

    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let mut new = None;
        let words = match &mut self.memory {
            Some(memory) => memory,
            None => new.insert(ColdPages::new(READINGS * WORDS_A_READING)?),
        }
        .words();
        let count = plan
            .observations
            .map_or(READINGS, |count| usize::try_from(count).unwrap_or(READINGS))
            .min(READINGS);
        let before = usage::own(Whose::Thread);
        let start = (R::now(), now_ns());
        let deadline = start.1.saturating_add(plan.duration_ns);
        // The readings alone are audited: what looks at them allocates memory, more of it where others disturb.
        let phase = self.phase.take();
        phase.into_iter().for_each(marker);
        let made = store::<R>(words, count, deadline);
        phase.into_iter().for_each(|_| marker(0));
        let used = before.and_then(|before| Ok(usage::own(Whose::Thread)?.since(&before)));
        self.seen.look_at(words.chunks_exact(WORDS_A_READING).take(made).map(|reading| reading[0]));
        let mut readings = made as u64;
        if self.seen.changes() < FEW_CHANGES && plan.observations.is_none() {
            readings = watch::<R>(&mut self.seen, deadline).unwrap_or(readings);
        }
        let end = (R::now(), now_ns());
        let unit_ns =
            R::UNIT_NS.unwrap_or_else(|| (end.1 - start.1) as f64 / (end.0.wrapping_sub(start.0)) as f64);
        sink.operations(readings);
        if let Ok(used) = used {
            sink.quantity(quantity::FAULTS, used.faults() as f64);
        }
        self.seen.tell(readings, unit_ns, sink);
        Ok(())
    }
}

/// Stores up to `count` readings, a word of every two, until the deadline; how many there are.
#[inline(never)]
fn store<R: Reading>(words: &mut [u64], count: usize, deadline: u64) -> usize {
    let mut made = 0;
    for chunk in words.chunks_mut(CHUNK * WORDS_A_READING) {
        if made == count || now_ns() >= deadline {
            break;
        }
        let wanted = count - made;
        for reading in chunk.chunks_exact_mut(WORDS_A_READING).take(wanted) {
            reading[0] = R::now();
            made += 1;
        }
    }
    made
}

/// Reads until the deadline and keeps the changes only, for a clock that stands still for milliseconds; how often it was
/// read. Where no time is left, what was seen stays.
#[inline(never)]
fn watch<R: Reading>(seen: &mut Seen, deadline: u64) -> Option<u64> {
    if now_ns() >= deadline {
        return None;
    }
    seen.clear();
    let (mut last, mut run, mut readings) = (R::now(), 1, 1);
    while seen.differences.len() < MOST_CHANGES && now_ns() < deadline {
        for _ in 0..CHUNK {
            let now = R::now();
            if now == last {
                run += 1;
            } else {
                seen.change(last, now, run);
                (last, run) = (now, 1);
            }
        }
        readings += CHUNK as u64;
    }
    Some(readings)
}

/// What consecutive readings show.
#[derive(Default)]
struct Seen {
    /// Differences of consecutive readings, forward, 0 included where they were stored.
    differences: Vec<u64>,
    /// Lengths of runs of equal readings, the first (whose start nobody saw) included.
    runs: Vec<u64>,
    backward: u64,
}

impl Seen {
    fn clear(&mut self) {
        self.differences.clear();
        self.runs.clear();
        self.backward = 0;
    }

    /// How often the clock changed.
    fn changes(&self) -> usize {
        self.runs.len()
    }

    /// The clock went from `last` to `now` after `run` equal readings.
    fn change(&mut self, last: u64, now: u64, run: u64) {
        match now.checked_sub(last) {
            Some(difference) => self.differences.push(difference),
            None => self.backward += 1,
        }
        self.runs.push(run);
    }

    fn look_at(&mut self, mut readings: impl Iterator<Item = u64>) {
        self.clear();
        let Some(mut last) = readings.next() else { return };
        let mut run = 1;
        for now in readings {
            if now == last {
                self.differences.push(0);
                run += 1;
            } else {
                self.change(last, now, run);
                run = 1;
            }
            last = now;
        }
    }

    /// Every quantity but the faults. Of a clock that never changed no step can be told, and none is.
    fn tell(&self, readings: u64, unit_ns: f64, sink: &mut dyn Sink) {
        if let Some(step) = clock_step(&self.differences) {
            sink.quantity(quantity::STEP, step.step * unit_ns);
            sink.quantity(quantity::SMALLEST_DIFFERENCE, step.smallest as f64 * unit_ns);
        }
        if let Some(length) = modal(self.runs.get(1..).unwrap_or_default()) {
            sink.quantity(quantity::EQUAL_RUN_LENGTH, length as f64);
        }
        let steps = || self.differences.iter().map(|&difference| difference as f64 * unit_ns);
        let over_1us = steps().filter(|&ns| ns > 1000.0).count();
        sink.quantity(quantity::STEPS_OVER_1US, over_1us as f64 / readings.max(1) as f64);
        sink.quantity(quantity::LARGEST_STEP, steps().fold(0.0, f64::max));
        sink.quantity(quantity::BACKWARD_STEPS, self.backward as f64);
        steps().filter(|&ns| ns > 0.0).for_each(|ns| sink.observation(ns));
    }
}

/// The most frequent value; of several that are equally frequent the middle one.
fn modal(values: &[u64]) -> Option<u64> {
    let mut counts = BTreeMap::new();
    for &value in values {
        *counts.entry(value).or_insert(0u64) += 1;
    }
    let most = counts.values().copied().max()?;
    let tied: Vec<u64> =
        counts.into_iter().filter(|&(_, count)| count == most).map(|(value, _)| value).collect();
    tied.get(tied.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Table(BTreeMap<&'static str, f64>, usize);

    impl Sink for Table {
        fn quantity(&mut self, name: &'static str, value: f64) {
            assert!(self.0.insert(name, value).is_none(), "{name} is told once");
        }
        fn observation(&mut self, _: f64) {
            self.1 += 1;
        }
        fn operations(&mut self, _: u64) {}
    }

    fn told(readings: &[u64], unit_ns: f64) -> Table {
        let mut seen = Seen::default();
        seen.look_at(readings.iter().copied());
        let mut table = Table::default();
        seen.tell(readings.len() as u64, unit_ns, &mut table);
        table
    }

    #[test]
    fn a_scripted_microsecond_clock_is_told_exactly() {
        // 25 equal readings, then 1 us on; once a gap of 50 us, and once 3 us back.
        let mut readings: Vec<u64> = (1000..1100).flat_map(|us| [us; 25]).collect();
        readings.extend([1149; 25]);
        readings.extend([1146; 25]);
        let Table(told, observations) = told(&readings, 1000.0);
        assert_eq!(told["step"], 1000.0);
        assert_eq!(told["smallest_difference"], 1000.0);
        assert_eq!(told["equal_run_length"], 25.0);
        assert_eq!(told["steps_over_1us"], 1.0 / 2550.0);
        assert_eq!(told["largest_step"], 50_000.0);
        assert_eq!(told["backward_steps"], 1.0);
        assert_eq!(observations, 100);
    }

    #[test]
    fn of_a_clock_that_stands_still_no_step_is_told() {
        let Table(told, observations) = told(&[5; 100], 1.0);
        assert!(!told.contains_key("step") && !told.contains_key("equal_run_length"));
        assert_eq!((told["largest_step"], observations), (0.0, 0));
    }

    struct Still;

    impl Reading for Still {
        const UNIT_NS: Option<f64> = Some(1.0);
        fn now() -> u64 {
            5
        }
        fn calls() -> Bound {
            Bound::Exactly(0.0)
        }
    }

    /// A slow machine had stored few readings at its deadline, and forgot them for one.
    #[test]
    fn what_was_seen_stays_where_no_time_is_left() {
        let mut seen = Seen::default();
        seen.look_at([1, 1, 2, 4].into_iter());
        assert_eq!(watch::<Still>(&mut seen, 0), None);
        assert_eq!((seen.changes(), seen.differences), (2, vec![0, 1, 2]));
    }

    #[test]
    fn the_middle_one_of_equally_frequent_lengths_is_modal() {
        assert_eq!(modal(&[9, 7, 8]), Some(8));
        assert_eq!(modal(&[9, 7, 7, 8]), Some(7));
        assert_eq!(modal(&[]), None);
    }
}
