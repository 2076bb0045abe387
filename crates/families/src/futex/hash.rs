//! Threads that ask the kernel for words of their own at once: what the table of futexes costs them all.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use oscost_harness::{
    Benchmark, Bound, CallError, CallPath, Card, Claim, Need, Outcome, Parameter, Placement, PostCondition,
    QuantityCard, Series, SeriesPlan, SetUp, Sink, Subject, Unable, quantity,
};
use oscost_sys::memory::SharedWords;
use oscost_sys::{affinity, clock, futex};

use crate::lack;
use crate::row::row;

/// A benchmark of so many threads, each with words of its own.
macro_rules! hash {
    ($id:literal, $title:literal, $threads:literal, $private:literal) => {
        &row(
            const {
                &Card {
                    id: $id,
                    title: $title,
                    needs: &[Need::Cpus($threads)],
                    parameters: &[("threads", Parameter::Number($threads))],
                    operation: if $private { PRIVATE } else { SHARED },
                    ..CARD
                }
            },
            |cx| asking(cx, $threads, $private),
        )
    };
}

const PRIVATE: &str =
    "one FUTEX_WAIT on one of 1024 private words of another value, by each of the threads at once";
const SHARED: &str =
    "one FUTEX_WAIT on one of 1024 shared words of another value, by each of the threads at once";

pub const ALL: &[&dyn Benchmark] = &[
    hash!("futex/hash/threads_1/private", "futex table, 1 thread, private", 1, true),
    hash!("futex/hash/threads_1/shared", "futex table, 1 thread, shared", 1, false),
    hash!("futex/hash/threads_2/private", "futex table, 2 threads, private", 2, true),
    hash!("futex/hash/threads_2/shared", "futex table, 2 threads, shared", 2, false),
    hash!("futex/hash/threads_4/private", "futex table, 4 threads, private", 4, true),
    hash!("futex/hash/threads_4/shared", "futex table, 4 threads, shared", 4, false),
];

/// Words of a thread, each on a line of its own.
const WORDS: usize = 1024;
const LINE: usize = 8;
/// Calls between two looks at the end. Starting and joining threads takes calls of futex as well: an audit sees less than one of
/// them in a hundred operations.
const AN_OBSERVATION: u64 = 16;

const CARD: Card = Card {
    heading: "one call of each thread",
    call_path: CallPath::Inline,
    placement: Placement::Spread,
    group: "futex/hash",
    claims: &[Claim::CallsNamed(&["futex"], Bound::Between(0.99, 1.01))],
    quantities: &[QuantityCard::of(quantity::TIME_PER_OPERATION), QuantityCard::of(quantity::OPERATIONS)],
    // The first called it through libc.
    revision: 2,
    ..Card::SERIES
};

fn asking(cx: &mut SetUp<'_>, threads: u32, private: bool) -> Result<Subject, Unable> {
    let words = (0..threads).map(|_| SharedWords::new(WORDS * LINE)).collect::<Result<_, _>>()?;
    let asking = Asking { words, cpus: cx.cpus.to_vec(), private };
    // Whoever may have no so many threads learns it here.
    asking.calls(Some(1), 0).map_err(lack::of_processes)?;
    Ok(Subject::series(asking))
}

struct Asking {
    /// Of each thread.
    words: Vec<SharedWords>,
    cpus: Vec<usize>,
    private: bool,
}

/// What the threads wait for and find.
#[derive(Default)]
struct Gate {
    ready: AtomicU32,
    opens: AtomicBool,
    ends: AtomicBool,
}

impl Asking {
    /// Calls of each thread and their time, ns: so many rounds, or as many as fit `duration_ns`.
    fn calls(&self, rounds: Option<u64>, duration_ns: u64) -> Result<Vec<(u64, u64)>, CallError> {
        let threads = self.words.len();
        let gate = Gate::default();
        let (private, gate) = (self.private, &gate);
        std::thread::scope(|scope| {
            let handles: Result<Vec<_>, CallError> = self
                .words
                .iter()
                .enumerate()
                .map(|(index, words)| {
                    let cpu = self.cpus[index % self.cpus.len()];
                    let made = std::thread::Builder::new()
                        .spawn_scoped(scope, move || ask(words, cpu, rounds, private, gate));
                    made.map_err(|error| CallError::new("clone", error.raw_os_error().unwrap_or(0)))
                })
                .collect();
            if handles.is_err() {
                // Those that were made wait for the others.
                gate.ends.store(true, Ordering::Release);
                gate.opens.store(true, Ordering::Release);
            }
            let handles = handles?;
            while (gate.ready.load(Ordering::Acquire) as usize) < threads {
                std::thread::yield_now();
            }
            gate.opens.store(true, Ordering::Release);
            let slept = match rounds {
                Some(_) => Ok(()),
                None => clock::sleep_until(clock::now_ns() + duration_ns),
            };
            gate.ends.store(true, Ordering::Release);
            slept?;
            let gone = CallError::gone("a thread of the measurement");
            handles.into_iter().map(|handle| handle.join().unwrap_or(Err(gone))).collect()
        })
    }
}

impl Series for Asking {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let threads = self.words.len();
        let rounds = plan.observations.map(|count| count.div_ceil(threads as u64));
        let done = self.calls(rounds, plan.duration_ns)?;
        let calls: u64 = done.iter().map(|(calls, _)| calls).sum();
        let each: Vec<f64> = done.iter().map(|(calls, ns)| *ns as f64 / *calls as f64).collect();
        let mean = each.iter().sum::<f64>() / threads as f64;
        each.iter().for_each(|&ns| sink.observation(ns));
        sink.operations(calls);
        sink.quantity(quantity::TIME_PER_OPERATION, mean);
        sink.quantity(quantity::OPERATIONS, calls as f64);
        let asked = done.iter().filter(|(calls, _)| *calls > 0).count();
        sink.post_condition(PostCondition::exactly("threads_that_asked", threads as f64, asked as f64));
        Ok(())
    }
}

/// A thread: its calls and its time for them, ns. Each call is answered at once, or it is an error.
fn ask(
    words: &SharedWords,
    cpu: usize,
    rounds: Option<u64>,
    private: bool,
    gate: &Gate,
) -> Result<(u64, u64), CallError> {
    let pinned = affinity::pin_to(cpu);
    gate.ready.fetch_add(1, Ordering::AcqRel);
    pinned?;
    while !gate.opens.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
    let mut word = 0;
    let (start, mut made) = (clock::now_ns(), 0);
    while rounds.map_or(!gate.ends.load(Ordering::Relaxed), |rounds| made < rounds * AN_OBSERVATION) {
        for _ in 0..AN_OBSERVATION {
            futex::wait_mismatch(words.word(word * LINE), 1, private)?;
            word = (word + 1) % WORDS;
        }
        made += AN_OBSERVATION;
    }
    Ok((made, clock::now_ns() - start))
}
