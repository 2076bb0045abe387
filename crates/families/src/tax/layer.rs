//! A call with a layer and without it: a process of its own has the layer, because some can never be taken off again, and the
//! measuring process makes the same calls without it, in turns on the same CPU.

use std::sync::atomic::Ordering;

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Claim, Outcome, PostCondition, QuantityCard,
    Series, SeriesPlan, SetUp, Sink, Subject, Unable, quantity,
};
use oscost_stats::quantile::{median, sorted};
use oscost_sys::clock;
use oscost_sys::memory::SharedWords;
use oscost_sys::pipe::{self, Pipe};
use oscost_sys::process::Child;
use oscost_sys::system_call::{MARKER, MARKERS, marker};

use super::watched::{Watches, watched};
use crate::lack;

/// What stands between a program and the kernel.
#[derive(Clone, Copy)]
pub struct Layer {
    /// Puts the calling process under it; what has an eye on one system call alone, on that of this name.
    pub install: fn(&'static str) -> Result<Active, CallError>,
    /// So many calls, where nothing else is put under it. Loop and call are one function: the kernel's entry may empty the
    /// predictor of returns, and a call of a function in each pass would cost a third more.
    pub calls: fn(u64),
    /// What it has to do with.
    pub watches: Watches,
    /// What a refused installation means.
    pub lack: fn(CallError) -> Unable,
    /// It listens to system calls itself.
    pub listens: bool,
    /// Every process pays for it while it is there: what it adds is measured against what was before.
    pub everywhere: bool,
}

/// How a layer proves that it is active.
pub enum Active {
    /// It counts how often it had to do with a call.
    Counter(Box<dyn Fn() -> Result<u64, CallError>>),
    /// It answers something.
    Answer(fn() -> bool),
}

/// What the cards of layers share.
pub const CARD: Card = Card {
    heading: "one getppid",
    call_path: CallPath::Inline,
    group: "tax",
    claims: &[Claim::CallsNamed(&["getppid"], Bound::Exactly(1.0)), Claim::OtherCalls(Bound::Exactly(0.0))],
    quantities: &[
        QuantityCard::of(quantity::WITH_LAYER),
        QuantityCard::of(quantity::WITHOUT_LAYER),
        QuantityCard::of(quantity::LAYER_ADDS),
        QuantityCard::of(quantity::LAYER_RATIO),
    ],
    // 1: the call was in a function of its own, and what a tracepoint adds was measured while it was there.
    revision: 2,
    ..Card::SERIES
};

/// One operation under one layer.
pub struct Tax {
    pub card: &'static Card,
    pub layer: Layer,
    /// The benchmark whose operation it is; `None`: the layer's own call.
    pub on: Option<&'static dyn Benchmark>,
}

/// Name of the layer's own call.
const OWN_CALL: &str = "getppid";

/// Words that both processes see.
mod word {
    /// What the other process is to do: so many calls, or one of the two orders below.
    pub const ORDER: usize = 0;
    /// Calls are bracketed for an audit, as this phase; 0: they are not.
    pub const PHASE: usize = 1;
    pub const ELAPSED_NS: usize = 2;
    /// The error number of what failed, and whose: 0 for none.
    pub const ERROR: usize = 3;
    /// What the layer must have seen, and what it saw.
    pub const DUE: usize = 4;
    pub const SEEN: usize = 5;
    /// What did not hold of the operation after it.
    pub const BROKEN: usize = 6;
    pub const COUNT: usize = 7;
}

/// The order to prove that the layer is active.
const PROVE: u64 = 0;
/// A batch of calls takes about so long, ns.
const BATCH_NS: u64 = 30_000;
/// A batch has no more calls: far more than fit into its time.
const MOST_CALLS: u64 = 1 << 20;
/// Rounds of a launch at least.
const FEWEST: u64 = 20;
/// Rounds before a layer that everybody pays for.
const BEFORE: usize = 300;

impl Benchmark for Tax {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn listens(&self) -> bool {
        self.layer.listens
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let per_iteration = self.on.map_or(1, |on| on.card().operations_per_iteration.max(1));
        let (call, calls) = match self.on {
            None => (OWN_CALL, 1),
            Some(on) => watched(on, self.layer.watches)?,
        };
        let words = SharedWords::new(word::COUNT)?;
        let (there, back) =
            (Pipe::new().map_err(lack::of_descriptors)?, Pipe::new().map_err(lack::of_descriptors)?);
        // Each process has objects of its own. What is made here is taken away here.
        let (mut own, mut twin) = (self.work(cx)?, self.work(cx)?);
        let most = if let Work::Batches(own) = &own { own.most().min(MOST_CALLS) } else { MOST_CALLS };
        let batch = fill(most, |iterations| own.timed(iterations, 0))?;
        let mut before = None;
        if self.layer.everywhere {
            let rounds = (0..BEFORE).map(|_| own.timed(batch, 0)).collect::<Result<Vec<_>, _>>()?;
            let each = rounds.iter().map(|&ns| ns as f64 / (batch * per_iteration) as f64).collect();
            before = median(&sorted(each));
        }
        let (orders, answers, shared, layer) = (there.reader, back.writer, &words, self.layer);
        let child = cx
            .fork_partner(true, || {
                let under = Under { layer: &layer, call, calls, work: &mut twin };
                let ended = serve(under, &orders, &answers, shared);
                i32::from(ended.inspect_err(|error| tell_error(shared, *error)).is_err())
            })
            .map_err(lack::of_processes)?;
        // Without our own copy, the other process's death is the end of the stream.
        drop(answers);
        let other = Other { words, orders: there.writer, answers: back.reader, _child: child, _twin: twin };
        let mut pair = Pair { other, own, before, per_iteration, batches: [batch, 1], phase: 0 };
        // Its first word is that the layer is installed, or why not.
        pair.other.heard().map_err(layer.lack)?;
        let filled = fill(most, |iterations| pair.others(iterations));
        pair.batches[1] = filled.map_err(|error| self.refused(error))?;
        Ok(Subject::Series(Box::new(pair)))
    }
}

impl Tax {
    /// What failed under the layer, and did not without it.
    fn refused(&self, error: CallError) -> Unable {
        let why = format!("{error}: this layer refuses a call of {}", self.on.unwrap_or(self).card().id);
        match error.symbol() {
            Some("EPERM") => Unable::Unsupported { why, remedy: "choose another layer".to_owned() },
            _ => Unable::Failed(error),
        }
    }

    fn work(&self, cx: &mut SetUp<'_>) -> Result<Work, Unable> {
        let Some(on) = self.on else { return Ok(Work::Calls(self.layer.calls)) };
        match on.set_up(cx)? {
            Subject::Batched(batched) => Ok(Work::Batches(batched)),
            Subject::Series(_) => Err(Unable::Failed(CallError::told("a series has no batches"))),
        }
    }
}

/// What is made again and again, with the layer or without it.
enum Work {
    Calls(fn(u64)),
    Batches(Box<dyn Batched>),
}

impl Work {
    /// So many iterations, bracketed as this phase of an audit unless it is 0: how long they took, ns.
    fn timed(&mut self, iterations: u64, phase: u64) -> Result<u64, CallError> {
        let mark = |phase: Option<u64>| phase.into_iter().for_each(|phase| marker(phase as usize));
        let phase = Some(phase).filter(|&phase| phase > 0);
        let (begin, end) = (|| mark(phase), || mark(phase.map(|_| 0)));
        match self {
            Self::Calls(calls) => {
                begin();
                let start = clock::now_ns();
                calls(iterations);
                let elapsed = clock::now_ns() - start;
                end();
                Ok(elapsed)
            }
            Self::Batches(batched) => {
                batched.arm()?;
                begin();
                let start = clock::now_ns();
                let outcome = batched.batch(iterations);
                let elapsed = clock::now_ns() - start;
                end();
                batched.park()?;
                outcome.map(|()| elapsed)
            }
        }
    }

    /// What was found after it.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        match self {
            Self::Calls(_) => Ok(Vec::new()),
            Self::Batches(batched) => batched.verify(),
        }
    }
}

/// What the process under the layer works with.
struct Under<'a> {
    layer: &'a Layer,
    /// The system call that the layer is to watch, and how many of it an iteration makes.
    call: &'static str,
    calls: u64,
    work: &'a mut Work,
}

fn tell_error(words: &SharedWords, error: CallError) {
    words.word(word::ERROR).store(error.errno.unsigned_abs().into(), Ordering::Release);
}

/// The process under the layer: it installs it, makes calls as it is told, and times them.
fn serve(
    under: Under<'_>,
    orders: &std::os::fd::OwnedFd,
    answers: &std::os::fd::OwnedFd,
    words: &SharedWords,
) -> Outcome {
    let tell = |word: usize, value: u64| words.word(word).store(value, Ordering::Release);
    let active = match (under.layer.install)(under.call) {
        Ok(active) => active,
        Err(error) => {
            tell_error(words, error);
            return pipe::write_byte(answers);
        }
    };
    pipe::write_byte(answers)?;
    let (mut made, mut saw) = (0, 0);
    let counted = || if active.counts() { active.seen() } else { Ok(0) };
    loop {
        pipe::read_byte(orders)?;
        match words.word(word::ORDER).load(Ordering::Acquire) {
            PROVE => {
                tell(word::DUE, if active.counts() { made } else { 1 });
                tell(word::SEEN, if active.counts() { saw } else { active.seen()? });
                let broken = under.work.verify()?.iter().filter(|found| !found.holds()).count();
                tell(word::BROKEN, broken as u64);
            }
            iterations => {
                let phase = words.word(word::PHASE).load(Ordering::Acquire);
                // The orders are read and the answers written under the layer too: those calls are nobody's operations.
                let before = counted()?;
                tell(word::ELAPSED_NS, under.work.timed(iterations, phase)?);
                // The audit's markers are calls, too.
                let marks = if phase > 0 && under.call == MARKER { MARKERS } else { 0 };
                saw += (counted()? - before).saturating_sub(marks);
                made += iterations * under.calls;
            }
        }
        pipe::write_byte(answers)?;
    }
}

impl Active {
    fn counts(&self) -> bool {
        matches!(self, Self::Counter(_))
    }

    /// How often it had to do with a call; of what only answers, whether it does.
    fn seen(&self) -> Result<u64, CallError> {
        match self {
            Self::Counter(count) => count(),
            Self::Answer(answers) => Ok(answers().into()),
        }
    }
}

/// How many iterations fill a batch, however long the clock stands.
fn fill(most: u64, mut batch: impl FnMut(u64) -> Result<u64, CallError>) -> Result<u64, CallError> {
    let mut calls = 1;
    while calls < most && batch(calls)? < BATCH_NS {
        calls = (2 * calls).min(most);
    }
    Ok(calls)
}

/// The process under the layer, as the measuring one sees it.
struct Other {
    words: SharedWords,
    orders: std::os::fd::OwnedFd,
    answers: std::os::fd::OwnedFd,
    _child: Child,
    /// The objects of the other process, for as long as that lives.
    _twin: Work,
}

impl Other {
    fn word(&self, word: usize) -> u64 {
        self.words.word(word).load(Ordering::Acquire)
    }

    /// Waits for its answer.
    fn heard(&self) -> Outcome {
        let answer = pipe::read_byte(&self.answers);
        match (self.word(word::ERROR), answer) {
            (0, Ok(())) => Ok(()),
            (0, Err(error)) => Err(CallError::new("the process under the layer", error.errno)),
            (error, Ok(())) => Err(CallError::new("installing the layer", error as i32)),
            // It ended with what failed.
            (error, Err(_)) => Err(CallError::new("the operation under the layer", error as i32)),
        }
    }

    fn order(&self, order: u64) -> Outcome {
        self.words.word(word::ORDER).store(order, Ordering::Release);
        pipe::write_byte(&self.orders)?;
        self.heard()
    }
}

struct Pair {
    other: Other,
    own: Work,
    /// An operation before the layer was there, ns, if the layer is everywhere.
    before: Option<f64>,
    /// Operations in an iteration.
    per_iteration: u64,
    /// Iterations of a batch, own and the other process's.
    batches: [u64; 2],
    /// The phase of an audit that counts.
    phase: usize,
}

impl Pair {
    /// So many iterations with the layer: how long they took, ns.
    fn others(&mut self, iterations: u64) -> Result<u64, CallError> {
        self.other.order(iterations)?;
        Ok(self.other.word(word::ELAPSED_NS))
    }

    /// Whether the layer was active, by its own count, and whether the operation was what it is under it.
    fn prove(&mut self, sink: &mut dyn Sink) -> Outcome {
        self.other.order(PROVE)?;
        let [due, seen, broken] =
            [word::DUE, word::SEEN, word::BROKEN].map(|word| self.other.word(word) as f64);
        sink.post_condition(PostCondition::exactly("calls_that_the_layer_saw", due, seen));
        sink.post_condition(PostCondition::exactly("conditions_broken_under_the_layer", 0.0, broken));
        Ok(())
    }
}

impl Series for Pair {
    fn brackets(&mut self, phase: usize) -> bool {
        self.phase = phase;
        true
    }

    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let [own, others] = self.batches;
        if let Some(calls) = plan.observations {
            // An audit: one batch of so many calls under the layer.
            self.other.words.word(word::PHASE).store(self.phase as u64, Ordering::Release);
            self.others(calls)?;
            sink.operations(calls * self.per_iteration);
            return self.prove(sink);
        }
        let until = clock::now_ns() + plan.duration_ns;
        let (mut with, mut without) = (Vec::new(), Vec::new());
        while clock::now_ns() < until || (with.len() as u64) < FEWEST {
            without.push(match self.before {
                Some(ns) => ns,
                None => self.own.timed(own, 0)? as f64 / (own * self.per_iteration) as f64,
            });
            with.push(self.others(others)? as f64 / (others * self.per_iteration) as f64);
        }
        sink.operations(with.len() as u64 * others * self.per_iteration);
        with.iter().for_each(|&ns| sink.observation(ns));
        let middle = |values: Vec<f64>| median(&sorted(values)).unwrap_or(0.0);
        let each = || with.iter().zip(&without);
        sink.quantity(quantity::LAYER_ADDS, middle(each().map(|(with, without)| with - without).collect()));
        sink.quantity(quantity::LAYER_RATIO, middle(each().map(|(with, without)| with / without).collect()));
        sink.quantity(quantity::WITH_LAYER, middle(with));
        sink.quantity(quantity::WITHOUT_LAYER, middle(without));
        self.own.verify()?.into_iter().for_each(|found| sink.post_condition(found));
        self.prove(sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::{Seen, with_set_up};

    /// What a launch finds of a layer.
    fn launched(layer: Layer) -> Seen {
        let cpu = oscost_sys::affinity::allowed().expect("CPUs")[0];
        let set_up = with_set_up(&[cpu], |cx| Tax { card: &CARD, layer, on: None }.set_up(cx));
        let Ok(Subject::Series(mut series)) = set_up else {
            panic!("nothing is installed that could be refused")
        };
        let mut found = Seen::default();
        let plan = SeriesPlan { observations: None, duration_ns: 1_000_000, seed: 1 };
        series.launch(&plan, &mut found).expect("nothing fails");
        found
    }

    /// What is found first of a layer that is never installed, in each way of proving that one is.
    fn without(install: fn(&'static str) -> Result<Active, CallError>) -> PostCondition {
        let calls = |calls| (0..calls).for_each(|_| _ = oscost_sys::system_call::getppid());
        let lack = Unable::Failed;
        let layer =
            Layer { install, calls, watches: Watches::OneCall, lack, listens: false, everywhere: false };
        *launched(layer).conditions.first().expect("it is looked at")
    }

    /// What slows both processes as soon as it is there adds all that it takes, and not the difference of the two.
    #[test]
    fn what_everybody_pays_is_measured_against_before() {
        static SLOW: std::sync::OnceLock<SharedWords> = std::sync::OnceLock::new();
        fn slow() -> &'static std::sync::atomic::AtomicU64 {
            SLOW.get_or_init(|| SharedWords::new(1).expect("memory")).word(0)
        }
        // Before the processes part.
        slow().store(0, Ordering::Release);
        let install = |_: &'static str| {
            slow().store(1, Ordering::Release);
            Ok(Active::Answer(|| true))
        };
        let calls = |calls| {
            for _ in 0..calls {
                let until = clock::now_ns() + 2000 * slow().load(Ordering::Acquire);
                while clock::now_ns() < until {}
            }
        };
        let (watches, lack) = (Watches::AllCalls, Unable::Failed);
        let found = launched(Layer { install, calls, watches, lack, listens: false, everywhere: true });
        let adds = found.quantities[quantity::LAYER_ADDS];
        assert!(adds > 1000.0, "{adds} ns of 2000");
    }

    #[test]
    fn a_layer_that_is_never_installed_is_contradicted() {
        assert!(!without(|_| Ok(Active::Counter(Box::new(|| Ok(0))))).holds());
        assert!(!without(|_| Ok(Active::Answer(oscost_sys::seccomp::answers))).holds());
    }
}
