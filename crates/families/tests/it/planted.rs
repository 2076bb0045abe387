//! Planted faults: the card and the set-up of a benchmark, and a loop that leaves out what the figure is the price of. The claims
//! contradict each.

use crate::support;

use oscost_harness::{
    Batched, Benchmark, CallError, Card, Claim, Outcome, Participant, PostCondition, Series, SeriesPlan,
    SetUp, Sink, Subject, Unable,
};
use oscost_sys::process::Child;
use support::{audited, holds, in_child, judged, used_by_a_batch, with_subject};

/// What is done in the place of the operations.
#[derive(Clone, Copy)]
enum Fault {
    /// Nothing at all.
    Nothing,
    /// The operations, on what an untimed batch before did already.
    DoneBefore,
    /// A child that nobody waits for.
    NeverReaped,
    /// Every second operation.
    Half,
}

const FAULTS: &[(&str, Fault)] = &[
    ("signal/deliver", Fault::Nothing),
    ("signal/deliver", Fault::Half),
    ("syscall/getrandom", Fault::Nothing),
    ("syscall/membarrier", Fault::Nothing),
    ("process/fork", Fault::Nothing),
    ("process/fork", Fault::NeverReaped),
    ("process/posix_spawn", Fault::Half),
    ("process/exec_static", Fault::Nothing),
    ("thread/create_join", Fault::Nothing),
    ("thread/create_join/stack_cached", Fault::Half),
    ("memory/mmap_munmap", Fault::Nothing),
    ("memory/mprotect", Fault::Half),
    ("memory/fault_anonymous", Fault::Nothing),
    ("memory/fault_anonymous", Fault::DoneBefore),
    ("memory/fault_anonymous", Fault::Half),
    ("memory/fault_file", Fault::Nothing),
    ("memory/fault_copy", Fault::Half),
    ("memory/shootdown/threads_1/cross_cpu", Fault::Nothing),
    ("event/epoll_wake/same_cpu", Fault::Nothing),
    ("event/poll/descriptors_10", Fault::Half),
    ("event/poll_may_wait/descriptors_10", Fault::Half),
    ("file/open_close", Fault::Half),
    ("file/create_unlink", Fault::Half),
    ("file/fstat", Fault::Half),
    ("file/list/entries_10", Fault::Nothing),
    ("file/read_4k", Fault::Nothing),
    ("file/write_4k", Fault::Half),
    ("file/fsync", Fault::Half),
    ("file/append_4k", Fault::Half),
    ("memory/give_back", Fault::Nothing),
    ("memory/give_back_file", Fault::Nothing),
    ("process/fork/mappings_1000", Fault::Nothing),
    ("socket/unix_alone", Fault::Half),
    ("io_uring/nop", Fault::Half),
    ("io_uring/nop/batch_32", Fault::Nothing),
    ("socket/tcp_round_trip/same_cpu", Fault::Nothing),
    ("socket/udp_round_trip/same_cpu", Fault::Nothing),
    ("socket/unix_round_trip/same_cpu", Fault::Nothing),
    ("socket/tcp_connect", Fault::Half),
    ("futex/wake_one/same_cpu", Fault::Nothing),
    ("futex/hash/threads_1/private", Fault::Nothing),
    ("futex/hash/threads_2/shared", Fault::Half),
    ("timer/nanosleep_overshoot", Fault::Nothing),
    ("container/namespace/uts", Fault::Nothing),
    ("container/namespace/net", Fault::Half),
];

struct Planted {
    honest: &'static dyn Benchmark,
    fault: Fault,
}

impl Benchmark for Planted {
    fn card(&self) -> &'static Card {
        self.honest.card()
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        match self.honest.set_up(cx)? {
            Subject::Batched(honest) => Ok(Subject::Batched(Box::new(Liar { honest, fault: self.fault }))),
            Subject::Series(honest) => {
                Ok(Subject::Series(Box::new(SeriesLiar { honest, card: self.card(), fault: self.fault })))
            }
        }
    }
}

struct Liar {
    honest: Box<dyn Batched>,
    fault: Fault,
}

impl Batched for Liar {
    fn batch(&mut self, iterations: u64) -> Outcome {
        match self.fault {
            Fault::Nothing => Ok(()),
            Fault::Half => self.honest.batch(iterations / 2),
            Fault::DoneBefore => self.honest.batch(iterations),
            Fault::NeverReaped => {
                for _ in 0..iterations.min(50) {
                    std::mem::forget(Child::fork(|| 7)?);
                }
                Ok(())
            }
        }
    }

    fn arm(&mut self) -> Outcome {
        self.honest.arm()?;
        if matches!(self.fault, Fault::DoneBefore) { self.honest.batch(10_000) } else { Ok(()) }
    }

    fn park(&mut self) -> Outcome {
        self.honest.park()
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.honest.verify()
    }

    fn participants(&self) -> Vec<Participant> {
        self.honest.participants()
    }
}

/// A series that says of more operations than it made.
struct SeriesLiar {
    honest: Box<dyn Series>,
    card: &'static Card,
    fault: Fault,
}

impl Series for SeriesLiar {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        if matches!(self.fault, Fault::Half) {
            return self.honest.launch(plan, &mut Doubling(sink));
        }
        sink.operations(plan.observations.unwrap_or(1000));
        self.card.quantities.iter().for_each(|quantity| sink.quantity(quantity.name, 1.0));
        Ok(())
    }
}

/// Tells twice as many operations as there were.
struct Doubling<'a>(&'a mut dyn Sink);

impl Sink for Doubling<'_> {
    fn quantity(&mut self, name: &'static str, value: f64) {
        self.0.quantity(name, value);
    }

    fn observation(&mut self, value: f64) {
        self.0.observation(value);
    }

    fn operations(&mut self, count: u64) {
        self.0.operations(2 * count);
    }
}

/// Why a benchmark is contradicted, by its audit or by the faults of its batches; `None` where it is not.
fn contradiction(benchmark: &'static dyn Benchmark) -> Result<Option<String>, String> {
    let found = in_child(|_| {
        let audited = audited(benchmark)?;
        let broken = audited.claims.iter().find(|claim| claim.holds == Some(false));
        broken.map_or(Ok(()), |claim| Err(format!("CONTRADICTED {claim:?}")))
    });
    let found =
        found.and_then(|()| in_child(|_| with_subject(benchmark, |subject| faults(benchmark, subject))));
    match found {
        Ok(()) => Ok(None),
        Err(why) => why.strip_prefix("CONTRADICTED ").map(|why| Some(why.to_owned())).ok_or(why),
    }
}

fn faults(benchmark: &dyn Benchmark, subject: &mut Subject) -> Result<(), String> {
    const ITERATIONS: u64 = 1000;
    let Some(bound) = benchmark.claims().iter().find_map(|claim| match claim {
        Claim::Faults(bound) => Some(*bound),
        _ => None,
    }) else {
        return Ok(());
    };
    let used = used_by_a_batch(subject, ITERATIONS)?;
    let operations = (ITERATIONS * benchmark.card().operations_per_iteration) as f64;
    let observed = used.faults() as f64 / operations;
    if holds(bound, observed) { Ok(()) } else { Err(format!("CONTRADICTED {bound:?} faults: {observed}")) }
}

#[test]
#[ignore = "longer: it deceives"]
fn an_operation_without_its_essential_part_is_contradicted() {
    let all = oscost_families::all();
    for &(id, fault) in FAULTS {
        let honest = *all.iter().find(|it| it.card().id == id).expect("an id");
        let planted: &'static Planted = Box::leak(Box::new(Planted { honest, fault }));
        let believed = || "a fault was believed".to_owned();
        judged(id, contradiction(planted).and_then(|why| why.map(drop).ok_or_else(believed)));
    }
}
