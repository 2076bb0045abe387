//! The documents' own methods, repeated literally as hidden benchmarks: their clocks, their loop counts, single runs.
//!
//! Ids carry the parameter ("tlpi/literal/system_v/operations_1000"); a worker makes the benchmark from the id alone. The
//! audit runs them with 100 and 200 operations instead, and counts.

mod paired;

use std::hint::black_box;

use oscost_harness::Object;
use oscost_harness::{
    Benchmark, CallError, Card, Outcome, OverLaunches, Parameter, QuantityCard, Series, SeriesPlan, SetUp,
    Sink, Subject, Tier, Unable,
};
use oscost_results::quantity;
use oscost_sys::{clock, semaphore, system_call};

pub(crate) use paired::LEAST_PAIRED;
use paired::Paired;

use crate::context_switch::{Reads, Switches, Timestamps};

/// The benchmark of a literal id; `None` for any other.
#[must_use]
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    if id.starts_with(crate::grame::PREFIX) {
        return crate::grame::resolve(id);
    }
    let (method, parameter) = id.rsplit_once('/')?;
    let (parameter, count) = parameter.rsplit_once('_')?;
    let count: u64 = count.parse().ok().filter(|&count| count > 0)?;
    let (kind, parameter) = Method::of(method, parameter)?;
    let card = Card {
        // A program makes a handful of these in its life, and a card lives as long as the program.
        id: Box::leak(id.to_owned().into_boxed_str()),
        revision: kind.revision(),
        group: Box::leak(id.to_owned().into_boxed_str()),
        quantities: kind.quantities(),
        placement: kind.placement(),
        launch_ms: kind.launch_ms(count),
        parameters: vec![(parameter, Parameter::Number(count))].leak(),
        ..LITERAL
    };
    Some(Box::leak(Box::new(Literal { card: Box::leak(Box::new(card)), kind, count })))
}

const LITERAL: Card = Card {
    title: "a founding document's own method",
    operation: "what the document counts",
    tier: Tier::Hidden,
    ..Card::SERIES
};

/// Whose method it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    PosixNamed,
    SystemV,
    Paired,
    OneShot,
    Loop { optimised: bool },
    LoopMinusLoop { optimised: bool },
    Timestamps { touched: bool },
    Reads,
    Switches { same_cpu: bool, barrier: bool },
}

impl Method {
    /// The method of an id, and the name of its parameter.
    fn of(method: &str, parameter: &str) -> Option<(Self, &'static str)> {
        let switches = |same_cpu, barrier| (Self::Switches { same_cpu, barrier }, "in_a_row");
        let found = match method {
            "tlpi/literal/posix_named" => (Self::PosixNamed, "operations"),
            "tlpi/literal/system_v" => (Self::SystemV, "operations"),
            "tlpi/paired" => (Self::Paired, "operations"),
            "ostep/literal/one_shot" => (Self::OneShot, "iterations"),
            "ostep/literal/loop/o0" => (Self::Loop { optimised: false }, "iterations"),
            "ostep/literal/loop/o2" => (Self::Loop { optimised: true }, "iterations"),
            "ostep/literal/loop_minus_loop/o0" => (Self::LoopMinusLoop { optimised: false }, "iterations"),
            "ostep/literal/loop_minus_loop/o2" => (Self::LoopMinusLoop { optimised: true }, "iterations"),
            "context-switch/literal/gettimeofday/cold" => (Self::Timestamps { touched: false }, "samples"),
            "context-switch/literal/gettimeofday/touched" => (Self::Timestamps { touched: true }, "samples"),
            "context-switch/literal/read0" => (Self::Reads, "in_a_row"),
            "context-switch/literal/switches/unpinned/barrier" => switches(false, true),
            "context-switch/literal/switches/unpinned/no_barrier" => switches(false, false),
            "context-switch/literal/switches/same_cpu/barrier" => switches(true, true),
            "context-switch/literal/switches/same_cpu/no_barrier" => switches(true, false),
            _ => return None,
        };
        (found.1 == parameter).then_some(found)
    }

    /// Of its card. The pair was timed by elapsed time once, the loops took twice as long as the document's without the call,
    /// and the reads were not libc's.
    fn revision(self) -> u32 {
        match self {
            Self::Paired | Self::Loop { .. } | Self::LoopMinusLoop { .. } | Self::Reads => 2,
            _ => 1,
        }
    }

    fn quantities(self) -> &'static [QuantityCard] {
        match self {
            Self::PosixNamed | Self::SystemV => const { &[QuantityCard::of(quantity::ELAPSED)] },
            Self::Paired => const { &[QuantityCard::of(quantity::RATIO)] },
            Self::OneShot => {
                const { &[QuantityCard::of(quantity::DIFFERENCE), QuantityCard::of(quantity::OVER_SECOND)] }
            }
            Self::Loop { .. } => const { &[QuantityCard::of(quantity::AVERAGE)] },
            Self::LoopMinusLoop { .. } => {
                const {
                    &[
                        QuantityCard::of(quantity::AVERAGE),
                        QuantityCard::of(quantity::WITH_CALL),
                        QuantityCard::of(quantity::WITHOUT_CALL),
                    ]
                }
            }
            Self::Timestamps { .. } => {
                const {
                    &[
                        QuantityCard::of(quantity::EQUAL_RUN_LENGTH),
                        QuantityCard::new(quantity::STEPS_OVER_1US, "count"),
                        QuantityCard::of(quantity::STEPS_OVER_10US),
                        QuantityCard::of(quantity::LARGEST_STEP),
                        QuantityCard::of(quantity::SMALLEST_STEP),
                        QuantityCard::of(quantity::BACKWARD_STEPS).over(OverLaunches::Sum),
                        QuantityCard::of(quantity::MEAN),
                        QuantityCard::of(quantity::FAULTS),
                        QuantityCard::of(quantity::FIT_DISTANCE),
                    ]
                }
            }
            Self::Reads => {
                const { &[QuantityCard::of(quantity::MINIMUM), QuantityCard::of(quantity::NEAR_MINIMUM)] }
            }
            Self::Switches { .. } => {
                const {
                    &[
                        QuantityCard::of(quantity::MINIMUM),
                        QuantityCard::of(quantity::MEDIAN),
                        QuantityCard::of(quantity::SPREAD),
                        QuantityCard::of(quantity::SHARED_CPU),
                    ]
                }
            }
        }
    }

    /// About what a launch takes where calls are slow. What is said to take longer than it does is left out for want of time.
    fn launch_ms(self, count: u64) -> u64 {
        let ns_each = match self {
            // It waits for the turn of a second.
            Self::OneShot => return 1000,
            Self::Reads => 300 * 300,
            // So many pairs at most.
            Self::Switches { .. } => 6 * 10_000,
            Self::Loop { .. } | Self::LoopMinusLoop { .. } => 400,
            Self::Timestamps { .. } => 100,
            _ => 1000,
        };
        count.saturating_mul(ns_each) / 1_000_000
    }

    fn placement(self) -> oscost_harness::Placement {
        match self {
            Self::Switches { same_cpu: false, .. } => oscost_harness::Placement::Unpinned,
            _ => oscost_harness::Placement::OneCpu,
        }
    }
}

struct Literal {
    card: &'static Card,
    kind: Method,
    count: u64,
}

impl Benchmark for Literal {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let count = self.count;
        let series: Box<dyn Series> = match self.kind {
            Method::PosixNamed => Box::new(Posix { semaphore: named(cx)?, count }),
            Method::SystemV => Box::new(SystemV { semaphore: set(cx)?, count }),
            Method::Paired => Box::new(Paired { posix: named(cx)?, system_v: set(cx)?, count }),
            Method::OneShot => Box::new(OneShot),
            Method::Loop { optimised } => Box::new(Loop { optimised, count }),
            Method::LoopMinusLoop { optimised } => Box::new(LoopMinusLoop { optimised, count }),
            Method::Timestamps { touched } => Box::new(Timestamps { touched, count }),
            Method::Reads => Box::new(Reads::new(count)?),
            Method::Switches { same_cpu, barrier } => {
                Box::new(Switches { cpu: same_cpu.then_some(cx.cpu), barrier, count })
            }
        };
        Ok(Subject::Series(series))
    }
}

fn named(cx: &mut SetUp<'_>) -> Result<semaphore::NamedSemaphore, Unable> {
    let name = cx.unique_name()?;
    cx.keeper.keep(&Object::NamedSemaphore(name.clone()))?;
    Ok(semaphore::NamedSemaphore::create(&name, 1)?)
}

fn set(cx: &mut SetUp<'_>) -> Result<semaphore::SystemV, Unable> {
    let make = |key| semaphore::SystemV::with_key(key, 1);
    Ok(cx.keeper.make(Object::SystemVSemaphore, make, semaphore::SystemV::id)?)
}

/// How many operations: the audit's, or the document's.
fn operations(plan: &SeriesPlan, count: u64) -> u64 {
    plan.observations.unwrap_or(count)
}

/// Time of day around a loop, as the documents take it, in ns (the clock counts us).
fn time_of_day(work: impl FnOnce() -> Outcome) -> Result<f64, CallError> {
    let start = clock::gettimeofday_us();
    work()?;
    let end = clock::gettimeofday_us();
    // The clock can be set back meanwhile: the document would print a negative time, and so do we.
    Ok((i128::from(end) - i128::from(start)) as f64 * 1000.0)
}

/// Document 000's benchmark_posix_sem.
struct Posix {
    semaphore: semaphore::NamedSemaphore,
    count: u64,
}

impl Series for Posix {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let count = operations(plan, self.count);
        let elapsed = time_of_day(|| {
            for _ in 0..count {
                self.semaphore.wait()?;
                self.semaphore.post()?;
            }
            Ok(())
        })?;
        sink.operations(count);
        sink.quantity(quantity::ELAPSED, elapsed);
        Ok(())
    }
}

/// Document 000's benchmark_sysv_sem.
struct SystemV {
    semaphore: semaphore::SystemV,
    count: u64,
}

impl Series for SystemV {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let count = operations(plan, self.count);
        let elapsed = time_of_day(|| {
            for _ in 0..count {
                self.semaphore.wait()?;
                self.semaphore.post()?;
            }
            Ok(())
        })?;
        sink.operations(count);
        sink.quantity(quantity::ELAPSED, elapsed);
        Ok(())
    }
}

/// Document 003's first program: one call between two readings, and only their ns parts subtracted.
struct OneShot;

impl Series for OneShot {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let mut difference = 0;
        let shots = plan.observations.unwrap_or(1);
        for _ in 0..shots {
            let start = clock::read(clock::Clock::Monotonic);
            black_box(system_call::getpid_libc());
            let end = clock::read(clock::Clock::Monotonic);
            difference = end.tv_nsec - start.tv_nsec;
        }
        sink.operations(shots);
        sink.quantity(quantity::DIFFERENCE, difference as f64);
        sink.quantity(quantity::OVER_SECOND, if plan.observations.is_some() { 0.0 } else { over_second() });
        Ok(())
    }
}

/// The flaw of the first program: what it would print for two readings between which a second turns.
fn over_second() -> f64 {
    let mut start = clock::read(clock::Clock::Monotonic);
    loop {
        let end = clock::read(clock::Clock::Monotonic);
        if end.tv_sec != start.tv_sec {
            return (end.tv_nsec - start.tv_nsec) as f64;
        }
        start = end;
    }
}

/// The loop as `-O0` leaves it: counter and result live in memory, their addresses in registers.
#[inline(never)]
fn unoptimised(count: u64, call: bool) -> i32 {
    let mut pid = 0;
    let mut pass = 0;
    while pass < count {
        pid = black_box(if black_box(call) { system_call::getpid_libc() } else { 0 });
        pass = black_box(pass + 1);
    }
    pid
}

/// The loop as `-O2` leaves it: counter in a register, and one jump a pass where nothing is called. It must not be deleted.
#[inline(never)]
fn optimised(count: u64, call: bool) -> i32 {
    let mut pid = 0;
    if call {
        for pass in 0..count {
            clock::keep(pass);
            pid = system_call::getpid_libc();
        }
    } else {
        for pass in 0..count {
            clock::keep(pass);
        }
    }
    pid
}

/// The time as the document computes it: in a double, whose grain is coarse far from zero.
fn in_double() -> f64 {
    let time = clock::read(clock::Clock::Monotonic);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn timed(count: u64, call: bool, optimise: bool) -> f64 {
    let start = in_double();
    let pid = if optimise { optimised(count, call) } else { unoptimised(count, call) };
    let end = in_double();
    black_box(pid);
    end - start
}

/// Document 003's second program.
struct Loop {
    optimised: bool,
    count: u64,
}

impl Series for Loop {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let count = operations(plan, self.count);
        let ns = timed(count, true, self.optimised);
        sink.operations(count);
        sink.quantity(quantity::AVERAGE, ns / count as f64);
        Ok(())
    }
}

/// Document 003's third program: the loop with the call minus the loop without.
struct LoopMinusLoop {
    optimised: bool,
    count: u64,
}

impl Series for LoopMinusLoop {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let count = operations(plan, self.count);
        let with_call = timed(count, true, self.optimised);
        let without_call = timed(count, false, self.optimised);
        sink.operations(count);
        sink.quantity(quantity::AVERAGE, (with_call - without_call) / count as f64);
        sink.quantity(quantity::WITH_CALL, with_call / count as f64);
        sink.quantity(quantity::WITHOUT_CALL, without_call / count as f64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_makes_its_benchmark_and_nothing_else_does() {
        let id = "tlpi/literal/system_v/operations_1000";
        let benchmark = resolve(id).expect("a literal id");
        assert_eq!((benchmark.card().id, benchmark.card().tier), (id, Tier::Hidden));
        for none in [
            "tlpi/literal/system_v",
            "tlpi/literal/x/operations_5",
            "syscall/getpid",
            "tlpi/literal/system_v/operations_0",
            "tlpi/literal/system_v/samples_5",
            "",
        ] {
            assert!(resolve(none).is_none(), "{none}");
        }
    }

    #[test]
    fn the_ns_parts_alone_are_negative_over_the_turn_of_a_second() {
        let difference = over_second();
        assert!((-1e9..0.0).contains(&difference), "{difference}");
    }

    #[test]
    fn both_forms_of_the_loop_make_every_call() {
        assert_eq!(unoptimised(3, true), system_call::getpid_libc());
        assert_eq!(optimised(3, true), system_call::getpid_libc());
        assert_eq!((unoptimised(3, false), optimised(3, false), unoptimised(0, true)), (0, 0, 0));
    }
}
