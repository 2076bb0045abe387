//! The switch by two pipes to another thread of the same process: no change of address space.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{Builder, JoinHandle};

use oscost_harness::{
    Batched, CallError, Card, Outcome, Participant, Placement, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::{affinity, thread};

use super::two_pipes::{self, Side};
use crate::lack;
use crate::partner::{Counter, Turns};
use crate::row::{Row, row};

pub const SAME_CPU: Row = row(&CARD, round_trips).claims(two_pipes::claims);

const CARD: Card = Card {
    operation: "one switch to the other thread by 1 byte through a pipe, on one CPU",
    // The thread is its own.
    revision: 1,
    group: "context_switch/threads/same_cpu",
    changes_process: Some(
        "a thread shares the table of descriptors, so every call that looks up a descriptor costs more",
    ),
    // What it would be divided by is measured in a process without threads.
    baseline: None,
    subtract: None,
    ..two_pipes::card("context_switch/thread_pipe/same_cpu", "thread switch, one CPU", Placement::SameCpu)
};

fn round_trips(cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
    let (near, far) = two_pipes::sides()?;
    let shared = Arc::new(Shared::default());
    let turns = Turns::new()?;
    let (cpu, partner, count) = (cx.partner_cpu, Arc::clone(&shared), turns.of_partner());
    let thread = Builder::new()
        .spawn(move || serve(cpu, &far, &partner, count))
        .map_err(|error| CallError::new("clone", error.raw_os_error().unwrap_or(0)))
        .map_err(lack::of_processes)?;
    // Nothing is timed, and nothing forked, before the thread waits for its first byte.
    let subject = RoundTrips { near, shared, turns, thread: Some(thread) };
    subject.near.receive().map_err(|error| CallError::new("start of the partner thread", error.errno))?;
    Ok(Subject::batched(subject))
}

#[derive(Default)]
struct Shared {
    tid: AtomicI32,
    ends: AtomicBool,
}

/// The partner: says that it is ready, and answers until it is to end.
fn serve(cpu: usize, far: &Side, shared: &Shared, mut count: Counter) -> Outcome {
    affinity::pin_to(cpu)?;
    shared.tid.store(thread::id(), Ordering::Release);
    far.send()?;
    loop {
        far.receive()?;
        if shared.ends.load(Ordering::Relaxed) {
            return Ok(());
        }
        count.turn();
        far.send()?;
    }
}

struct RoundTrips {
    near: Side,
    shared: Arc<Shared>,
    turns: Turns,
    thread: Option<JoinHandle<Outcome>>,
}

/// Between batches the partner sleeps in its read: it needs no arming and no parking.
impl Batched for RoundTrips {
    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        self.near.round_trips(iterations)?;
        self.turns.add(iterations);
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.near.verify(&self.turns)
    }

    fn participants(&self) -> Vec<Participant> {
        vec![Participant::Thread(self.shared.tid.load(Ordering::Acquire))]
    }
}

impl Drop for RoundTrips {
    fn drop(&mut self) {
        // Closing the pipe is not enough: partners of other members, forked meanwhile, hold copies of its ends.
        self.shared.ends.store(true, Ordering::Relaxed);
        let told = self.near.send();
        if let (Ok(()), Some(thread)) = (told, self.thread.take()) {
            let _ = thread.join();
        }
    }
}
