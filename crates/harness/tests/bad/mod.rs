//! Benchmarks of known cost, and benchmarks that misbehave in every way that a worker must survive.

use std::collections::BTreeMap;

use oscost_harness::{
    Batched, Benchmark, Bound, CallError, Card, Claim, Contained, Directory, Foreign, Outcome, OverLaunches,
    Placement, QuantityCard, Series, SeriesPlan, SetUp, Sink, Subject, Tier, Unable,
};
use oscost_sys::system_call;

/// What a benchmark of these tests does.
enum Does {
    Calls(u64),
    FailsAlways,
    FailsLater,
    Unsupported,
    FailsInSetUp,
    Aborts,
    ExitsInSetUp,
    Rubbish,
    Hangs,
    Sleeps,
    Ticks { middle: f64, counts: u64 },
    StartsAThread { ends: bool },
    MakesAFolder { leaves: bool },
}

pub struct Bad {
    card: Card,
    does: Does,
}

const ONE: Card = Card { title: "a test", operation: "one test", tier: Tier::Family, ..Card::BATCHED };

const fn exactly(calls: f64) -> [Claim; 1] {
    [Claim::SystemCalls(Bound::Exactly(calls))]
}

macro_rules! bad {
    ($($name:ident: $id:literal, $group:literal, $does:expr, $claims:expr $(, $field:ident: $value:expr)*;)*) => {
        $(static $name: Bad = Bad {
            card: Card { id: $id, group: $group, claims: $claims $(, $field: $value)*, ..ONE },
            does: $does,
        };)*
        pub static ALL: &[&dyn Benchmark] = &[$(&$name),*];
    };
}

const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::new("middle", "ns").paired(),
    QuantityCard::new("largest", "ns").over(OverLaunches::Max),
    QuantityCard::new("lost", "count").over(OverLaunches::Sum),
];

bad! {
    TEN: "known/calls_10", "known", Does::Calls(10), &exactly(10.0);
    FORTY: "known/calls_40", "known", Does::Calls(40), &exactly(40.0),
        baseline: Some("known/calls_10"), subtract: Some("known/calls_10");
    FALSE: "claims/false", "claims", Does::Calls(2), &exactly(1.0);
    NONE: "claims/none", "claims/none", Does::Calls(1), &[];
    ALWAYS: "fails/always", "fails", Does::FailsAlways, &exactly(0.0);
    LATER: "fails/later", "fails", Does::FailsLater, &exactly(1.0);
    UNSUPPORTED: "set_up/unsupported", "set_up", Does::Unsupported, &[];
    FAILS_SET_UP: "set_up/fails", "set_up", Does::FailsInSetUp, &[];
    ABORTS: "dies/in_batch", "dies", Does::Aborts, &[];
    EXITS: "dies/in_set_up", "dies", Does::ExitsInSetUp, &[];
    SURVIVES: "dies/not", "dies", Does::Calls(1), &exactly(1.0);
    RUBBISH: "rubbish/on_stdout", "rubbish", Does::Rubbish, &[];
    HANGS: "hangs/for_ever", "hangs", Does::Hangs, &[];
    HANGS_NOT: "hangs/not", "hangs", Does::Calls(1), &exactly(1.0);
    TICKS: "series/ticks", "series", Does::Ticks { middle: 5.0, counts: 1 }, &exactly(1.0), quantities: QUANTITIES;
    SLOWER: "series/slower", "series", Does::Ticks { middle: 15.0, counts: 1 }, &exactly(1.0), quantities: QUANTITIES,
        baseline: Some("series/ticks"), subtract: Some("series/ticks");
    AWAKE: "awake/ticks", "awake", Does::Ticks { middle: 5.0, counts: 1 }, &exactly(1.0), quantities: QUANTITIES,
        keeps_awake: true, placement: Placement::Spread;
    SLEEPS: "sleeps/briefly", "sleeps", Does::Sleeps, &[], placement: Placement::CrossCpu, blocks: true;
    THREAD: "poisons/thread", "poisons", Does::StartsAThread { ends: false }, &exactly(1.0);
    BRIEF: "poisons/briefly", "poisons", Does::StartsAThread { ends: true }, &[];
    POISONED: "poisons/not", "poisons", Does::Calls(1), &exactly(1.0);
    FILES: "files/tidy", "files", Does::MakesAFolder { leaves: false }, &[];
    LEFT: "files/left", "files", Does::MakesAFolder { leaves: true }, &[];
    UNNAMED: "unnamed/ticks", "unnamed", Does::Ticks { middle: 5.0, counts: 1 }, &exactly(1.0), quantities: QUANTITIES.split_at(2).0;
    MISCOUNTS: "miscounts/ticks", "miscounts", Does::Ticks { middle: 5.0, counts: 2 }, &exactly(1.0), quantities: QUANTITIES;
}

impl Benchmark for Bad {
    fn card(&self) -> &'static Card {
        let own = ALL.iter().find(|other| std::ptr::addr_eq(**other, self));
        // Every benchmark of these tests is one of the list's statics.
        own.map_or_else(|| panic!("not in the list"), |_| static_card(self.card.id))
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(match self.does {
            Does::Calls(calls) => Box::new(Calls(calls)),
            Does::FailsAlways => Box::new(Fails { after: 0, length: 0 }),
            // An audit makes more batches of one length than a short launch on a busy machine does: there it never fails.
            Does::FailsLater => {
                Box::new(Fails { after: if is_audited() { u64::MAX } else { ALIKE }, length: 0 })
            }
            Does::Unsupported => {
                return Err(Unable::Unsupported { why: "no such thing".into(), remedy: "get one".into() });
            }
            Does::FailsInSetUp => return Err(CallError::new("semget", 28).into()),
            Does::Aborts => Box::new(Aborts),
            Does::Sleeps => Box::new(Sleeps),
            Does::ExitsInSetUp => std::process::exit(42),
            Does::Rubbish => {
                use std::io::Write;
                let _ = std::io::stdout().write_all(b"{\"hello\": [\x1b");
                std::process::exit(0)
            }
            Does::Hangs => {
                // Its partner must not survive it either.
                let partner = cx.fork_partner(true, || {
                    loop {
                        std::thread::sleep(std::time::Duration::from_secs(1));
                    }
                })?;
                Box::new(Hangs(partner))
            }
            Does::StartsAThread { ends } => {
                let wakes = std::time::Duration::from_millis(if ends { 50 } else { 1000 });
                std::thread::spawn(move || {
                    loop {
                        std::thread::sleep(wakes);
                        if ends {
                            return;
                        }
                    }
                });
                Box::new(Calls(1))
            }
            Does::MakesAFolder { leaves } => Box::new(Folder(Some(Directory::make(cx)?), leaves)),
            Does::Ticks { middle, counts } => return Ok(Subject::Series(Box::new(Ticks { middle, counts }))),
        }))
    }
}

/// Whether this process has a filter of system calls.
fn is_audited() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Seccomp:") && line.ends_with('2'))
}

fn static_card(id: &str) -> &'static Card {
    macro_rules! of {
        ($($name:ident)*) => { [$(&$name.card),*] };
    }
    of!(TEN FORTY FALSE NONE ALWAYS LATER UNSUPPORTED FAILS_SET_UP ABORTS EXITS SURVIVES RUBBISH HANGS HANGS_NOT TICKS SLOWER AWAKE SLEEPS THREAD BRIEF POISONED FILES LEFT UNNAMED MISCOUNTS)
        .into_iter()
        .find(|card| card.id == id)
        .unwrap_or(&TEN.card)
}

struct Calls(u64);
impl Batched for Calls {
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations * self.0 {
            system_call::getppid();
        }
        Ok(())
    }
}

/// More batches of one length in a row than a calibration makes.
const ALIKE: u64 = 12;

/// Fails after so many batches of one length in a row: with 0 in the audit already.
struct Fails {
    after: u64,
    length: u64,
}
impl Batched for Fails {
    fn batch(&mut self, iterations: u64) -> Outcome {
        if self.after == 0 {
            return Err(CallError::new("read", 5));
        }
        for _ in 0..iterations {
            system_call::getppid();
        }
        if self.after == u64::MAX {
            return Ok(());
        }
        self.after = if iterations == self.length { self.after - 1 } else { ALIKE };
        self.length = iterations;
        if self.after == 0 {
            self.after = 1;
            return Err(CallError::new("write", 28));
        }
        Ok(())
    }
}

struct Aborts;
impl Batched for Aborts {
    fn batch(&mut self, _: u64) -> Outcome {
        std::process::abort()
    }
}

struct Sleeps;
impl Batched for Sleeps {
    fn batch(&mut self, iterations: u64) -> Outcome {
        (0..iterations).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(1)));
        Ok(())
    }
}

struct Hangs(#[expect(dead_code, reason = "lives as long as the subject")] oscost_sys::process::Child);
impl Batched for Hangs {
    fn batch(&mut self, _: u64) -> Outcome {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
}

/// A folder of a run, and whether it is left as it is by who is killed.
struct Folder(Option<Directory>, bool);
impl Batched for Folder {
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            system_call::getppid();
        }
        Ok(())
    }

    /// Where its files lie.
    fn remarks(&self) -> Vec<String> {
        self.0.iter().map(|folder| folder.name().to_string_lossy().into_owned()).take(1).collect()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        if self.1 {
            self.0.take().into_iter().for_each(std::mem::forget);
        }
    }
}

struct Ticks {
    middle: f64,
    /// Calls that it says it made in a tick; it makes one.
    counts: u64,
}
impl Series for Ticks {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        let ticks = plan.observations.unwrap_or(50);
        for tick in 0..ticks {
            system_call::getppid();
            sink.observation(1.0 + (tick % 9) as f64);
        }
        sink.operations(ticks);
        sink.counted("getppid", ticks * self.counts);
        sink.quantity("middle", self.middle);
        sink.quantity("largest", 9.0);
        sink.quantity("lost", 1.0);
        Ok(())
    }
}

/// A program that is not ours, whose figure is the number that it prints.
pub fn foreign(name: &str, command: &[&str]) -> Foreign {
    Foreign {
        id: format!("foreign/{name}"),
        title: name.to_owned(),
        operation: "what it prints".to_owned(),
        headline: ("printed".to_owned(), "ns".to_owned()),
        command: command.iter().map(|&word| word.to_owned()).collect(),
        environment: BTreeMap::new(),
        cpus: Vec::new(),
        // Only who is to be ended at it meets it, however busy the machine is.
        deadline_ns: if name == "hangs" { 300_000_000 } else { 20_000_000_000 },
        contained: if name == "writes" { Contained::Always } else { Contained::No },
        reader: |output| {
            if output.code != Some(0) {
                return Err(format!("ended with {:?}: {}", output.code, output.stderr.trim()));
            }
            let number =
                output.stdout.trim().parse().map_err(|_| format!("printed '{}'", output.stdout.trim()))?;
            Ok(BTreeMap::from([("printed".to_owned(), number)]))
        },
    }
}
