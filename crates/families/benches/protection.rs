//! What the protection costs: the same operations in a process with private namespaces and in one without, batch by batch in
//! turn on one CPU, as ratios of what the batches took.
//!
//! `cargo bench -p oscost-families --bench protection`, on a quiet machine. docs/method/peers.md.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout)] // a bench reports to standard output

#[path = "../tests/it/support/mod.rs"]
#[allow(dead_code)] // the tests use the rest
mod support;

use std::fs::File;
use std::io::{Read, Write};

use oscost_harness::Subject;
use oscost_stats::{interval, paired};
use oscost_sys::{clock, namespace, pipe::Pipe, process::Child};

const IDS: [&str; 5] = [
    "syscall/getppid",
    "semaphore/posix_named",
    "semaphore/system_v",
    "context_switch/pipe/same_cpu",
    "context_switch/posix_queue/same_cpu",
];
/// Pairs of processes; a pair's ratio is the median of its batches'.
const PAIRS: usize = 12;
const BATCHES: usize = 1000;
const BATCH_NS: u64 = 300_000;
/// The order to end: who is forked later holds the pipes of who was before, so that closing one ends nobody.
const END: u64 = 0;

/// A process that times a batch whenever it is told to.
struct Side {
    tell: File,
    hear: File,
    child: Option<Child>,
}

impl Drop for Side {
    /// It ends by itself, for what it has made outside of namespaces only it removes.
    fn drop(&mut self) {
        if self.tell.write_all(&END.to_le_bytes()).is_ok() {
            let _ = self.child.take().map(Child::wait);
        }
    }
}

impl Side {
    fn start(id: &'static str, protected: bool) -> Result<Self, String> {
        let (told, said) = (Pipe::new(), Pipe::new());
        let (told, said) =
            (told.map_err(|error| error.to_string())?, said.map_err(|error| error.to_string())?);
        let mut orders = File::from(told.reader);
        let mut answers = File::from(said.writer);
        let child = Child::fork(move || {
            if protected && namespace::isolate(false).is_err() {
                return 1;
            }
            let benchmark = oscost_families::all().into_iter().find(|it| it.card().id == id);
            let Some(benchmark) = benchmark else { return 1 };
            let done = support::with_subject(benchmark, |subject| serve(subject, &mut orders, &mut answers));
            i32::from(done.is_err())
        });
        let child = child.map_err(|error| error.to_string())?;
        Ok(Self { tell: File::from(told.writer), hear: File::from(said.reader), child: Some(child) })
    }

    /// How long a batch of so many iterations takes, ns.
    fn batch(&mut self, iterations: u64) -> Result<u64, String> {
        let mut answer = [0; 8];
        let done =
            self.tell.write_all(&iterations.to_le_bytes()).and_then(|()| self.hear.read_exact(&mut answer));
        done.map_err(|error| format!("a process has ended: {error}"))?;
        Ok(u64::from_le_bytes(answer))
    }
}

/// In the child: a batch for every number of iterations that comes, until the end.
fn serve(subject: &mut Subject, orders: &mut File, answers: &mut File) -> Result<(), String> {
    let Subject::Batched(batched) = subject else { return Err("not a benchmark of batches".into()) };
    let mut order = [0; 8];
    while orders.read_exact(&mut order).is_ok() {
        let iterations = u64::from_le_bytes(order);
        if iterations == END {
            break;
        }
        let timed = batched.arm().and_then(|()| {
            let start = clock::now_ns();
            batched.batch(iterations)?;
            Ok(clock::now_ns() - start)
        });
        let took = timed.and_then(|took| batched.park().map(|()| took)).map_err(|error| error.to_string())?;
        answers.write_all(&took.to_le_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The ratio of one pair of processes: protected over not protected.
fn of_pair(id: &'static str, protected_first: bool) -> Result<f64, String> {
    let mut sides = [Side::start(id, protected_first)?, Side::start(id, !protected_first)?];
    let mut iterations = 64;
    while sides[0].batch(iterations)? < BATCH_NS {
        iterations *= 2;
    }
    let mut times = [Vec::new(), Vec::new()];
    for batch in 0..BATCHES {
        // Who begins alternates: what went before is not the same for both.
        for side in if batch % 2 == 0 { [0, 1] } else { [1, 0] } {
            times[side].push(sides[side].batch(iterations)? as f64);
        }
    }
    let [first, second] = &times;
    let ratio = if protected_first {
        paired::paired_ratio(first, second, &[true; BATCHES])
    } else {
        paired::paired_ratio(second, first, &[true; BATCHES])
    };
    ratio.ok_or_else(|| "no batches".to_owned())
}

fn main() {
    println!("{:<36} protected / not, median of {PAIRS} pairs of processes", "operation");
    for id in IDS {
        let ratios: Result<Vec<f64>, String> = (0..PAIRS).map(|pair| of_pair(id, pair % 2 == 0)).collect();
        match ratios.map(|ratios| interval::over_launches(&ratios, 0.5)) {
            Ok(Some(ratio)) => println!("{id:<36} {:.4} ({:.4}..{:.4})", ratio.value, ratio.low, ratio.high),
            Ok(None) => println!("{id:<36} no ratio"),
            Err(why) => println!("SKIP {id}: {why}"),
        }
    }
}
