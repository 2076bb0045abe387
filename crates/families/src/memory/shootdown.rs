//! A page that becomes read-only while threads run on other CPUs: each of them is interrupted and must forget it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, CallPath, Card, Claim, Need, Outcome, Parameter, Participant,
    Placement, PostCondition, SetUp, Subject, Unable,
};
use oscost_sys::memory::SharedWords;
use oscost_sys::region::{self, Pages, Region};
use oscost_sys::{affinity, clock, futex, interruption, thread};

use crate::lack;
use crate::row::row;

/// Operations of the look afterwards.
const LOOK: u64 = 100;
/// Others do not run for so long, and something is wrong: no busy machine keeps them from a CPU as long.
const PATIENCE_NS: u64 = 5_000_000_000;
/// What the word of all says.
const REST: u64 = 0;
const RUN: u64 = 1;
const END: u64 = 2;

macro_rules! threads {
    ($id:literal, $threads:literal, $placement:ident, $words:literal) => {
        &row(
            &Card {
                id: $id,
                title: concat!("TLB shootdown, ", $words),
                operation: concat!(
                    "one page made read-only and writable again while ",
                    $words,
                    " on other CPUs"
                ),
                heading: "one page made read-only and writable again",
                call_path: CallPath::Inline,
                placement: Placement::$placement,
                group: $id,
                changes_process: Some("threads run in it while batches run"),
                claims: &[
                    Claim::CallsNamed(&["mprotect"], Bound::Exactly(2.0)),
                    // Whoever is put to rest says so once a batch.
                    Claim::OtherCalls(Bound::AtMost(0.01 * $threads as f64)),
                ],
                needs: &[Need::Cpus($threads + 1)],
                parameters: &[("threads", Parameter::Number($threads))],
                ..Card::BATCHED
            },
            |cx| shot(cx, $threads),
        )
    };
}

pub const ALL: &[&dyn Benchmark] = &[
    threads!("memory/shootdown/threads_1/cross_cpu", 1, CrossCpu, "one thread runs"),
    threads!("memory/shootdown/threads_3/spread", 3, Spread, "three threads run"),
    threads!("memory/shootdown/threads_7/spread", 7, Spread, "seven threads run"),
];

fn shot(cx: &mut SetUp<'_>, threads: usize) -> Result<Subject, Unable> {
    let mut others: Vec<usize> = cx.cpus.iter().copied().filter(|&cpu| cpu != cx.cpu).collect();
    if threads == 1 {
        others = vec![cx.partner_cpu];
    }
    if others.len() < threads {
        return Err(lack::of_cpus(threads + 1, others.len() + 1));
    }
    let mut region = Region::new(region::page_bytes(), Pages::Small).map_err(lack::of_memory)?;
    region.touch(Pages::Small)?;
    // The word of all, then a counter and a thread id of each.
    let words = Arc::new(SharedWords::new(1 + 2 * threads)?);
    let shootdowns = interruption::tlb_shootdowns();
    let mut subject = Shot { region, words, threads: Vec::new(), made: 0, shootdowns };
    for (index, &cpu) in others.iter().take(threads).enumerate() {
        let shared = Arc::clone(&subject.words);
        let made = Builder::new().spawn(move || run(cpu, &shared, index));
        let made = made.map_err(|error| CallError::new("clone", error.raw_os_error().unwrap_or(0)));
        subject.threads.push(made.map_err(lack::of_processes)?);
    }
    subject.arm()?;
    subject.park()?;
    Ok(Subject::batched(subject))
}

/// One of the others: counts while it is to run, sleeps while it is to rest.
fn run(cpu: usize, words: &SharedWords, index: usize) -> Outcome {
    affinity::pin_to(cpu)?;
    words.word(2 + 2 * index).store(thread::id().unsigned_abs().into(), Ordering::Release);
    let counter = words.word(1 + 2 * index);
    loop {
        match words.word(0).load(Ordering::Relaxed) {
            RUN => counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
            REST => drop(futex::wait(words.word(0), 0)?),
            _ => return Ok(()),
        }
    }
}

struct Shot {
    region: Region,
    words: Arc<SharedWords>,
    threads: Vec<JoinHandle<Outcome>>,
    made: u64,
    /// Interrupts to forget, on all CPUs, before the first operation.
    shootdowns: Option<u64>,
}

impl Shot {
    fn counters(&self) -> Vec<u64> {
        (0..self.threads.len()).map(|index| self.words.word(1 + 2 * index).load(Ordering::Relaxed)).collect()
    }

    fn tell(&self, what: u64) -> Outcome {
        self.words.word(0).store(what, Ordering::Release);
        if what == REST { Ok(()) } else { futex::wake(self.words.word(0), i32::MAX).map(|_| ()) }
    }
}

impl Batched for Shot {
    /// Returns when all others run.
    fn arm(&mut self) -> Outcome {
        self.region.unlock()?;
        let before = self.counters();
        self.tell(RUN)?;
        let until = clock::now_ns() + PATIENCE_NS;
        while self.counters().iter().zip(&before).any(|(now, before)| now == before) {
            if clock::now_ns() > until {
                return Err(CallError::no_answer("start of threads on other CPUs"));
            }
            std::hint::spin_loop();
        }
        Ok(())
    }

    #[inline(never)]
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            self.region.protect(false)?;
            self.region.protect(true)?;
        }
        self.made += iterations;
        Ok(())
    }

    fn park(&mut self) -> Outcome {
        self.tell(REST)
    }

    /// All others ran meanwhile, and were interrupted as often as pages became read-only, over all batches.
    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.arm()?;
        let before = self.counters();
        self.batch(LOOK)?;
        let after = self.counters();
        self.park()?;
        let ran = after.iter().zip(&before).filter(|(after, before)| after > before).count();
        let threads = self.threads.len() as f64;
        let mut found = vec![PostCondition::exactly("threads_that_ran", threads, ran as f64)];
        // Where the processor or the hypervisor tells the others, nobody is interrupted, and the kernel counts none.
        let interrupts = self.shootdowns.zip(interruption::tlb_shootdowns());
        found.extend(interrupts.map(|(before, now)| {
            PostCondition::new(
                "shootdowns_of_each_thread",
                Bound::AtLeast(0.9),
                (now - before) as f64 / (self.made as f64 * threads),
            )
        }));
        Ok(found)
    }

    fn participants(&self) -> Vec<Participant> {
        let tid = |index| self.words.word(2 + 2 * index).load(Ordering::Acquire);
        (0..self.threads.len())
            .filter_map(|index| i32::try_from(tid(index)).ok().map(Participant::Thread))
            .collect()
    }
}

impl Drop for Shot {
    fn drop(&mut self) {
        let told = self.tell(END);
        for thread in self.threads.drain(..).filter(|_| told.is_ok()) {
            let _ = thread.join();
        }
    }
}
