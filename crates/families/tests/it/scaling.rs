//! Operations by several at once: calls are exact, what takes turns is seen to take turns, and what hinders nobody is not blamed.

use crate::support;

use std::borrow::Cow;

use oscost_families::scaling::{self, Crowd, Objects, Workers};
use oscost_harness::{
    Batched, Benchmark, CallPath, Card, Claim, Outcome, SetUp, Sharing, Subject, Unable, claims, quantity,
};
use oscost_sys::{clock, futex, system_call};
use support::{Counted, audited, in_child, judged, series, with_subject};

/// Planted operations of a known scaling.
struct Planted {
    takes_turns: bool,
    hold_ns: u64,
}

/// The hold of an operation, ns: long beside what a busy machine adds to a sleep.
const HOLD_NS: u64 = 20_000_000;

/// Until the holder wants it again, ns.
const GAP_NS: u64 = 20_000;

static PLANTED: Card =
    Card { id: "planted/it", title: "it", operation: "one", group: "planted", ..Card::BATCHED };

impl Benchmark for Planted {
    fn card(&self) -> &'static Card {
        &PLANTED
    }
    fn sharing(&self) -> Sharing {
        Sharing::Inherited("the lock")
    }
    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let lock = futex::Lock::new()?;
        Ok(Subject::Batched(Box::new(Sleeps { lock, takes_turns: self.takes_turns, hold_ns: self.hold_ns })))
    }
}

struct Sleeps {
    lock: futex::Lock,
    takes_turns: bool,
    hold_ns: u64,
}

impl Batched for Sleeps {
    fn batch(&mut self, iterations: u64) -> Outcome {
        for _ in 0..iterations {
            if self.takes_turns {
                self.lock.lock()?;
            }
            clock::sleep_until(clock::now_ns() + self.hold_ns)?;
            if self.takes_turns {
                self.lock.unlock()?;
                // Or who holds it takes it again before the next one is awake.
                clock::sleep_until(clock::now_ns() + GAP_NS)?;
            }
        }
        Ok(())
    }
}

fn launched(benchmark: &'static dyn Benchmark) -> Result<Counted, String> {
    with_subject(benchmark, |subject| support::launched(series(subject)?, None, 20))
}

/// The efficiency of three workers, who sleep: no CPU is fought for.
fn efficiency(takes_turns: bool) -> Result<(), String> {
    let inner: &'static Planted = Box::leak(Box::new(Planted { takes_turns, hold_ns: HOLD_NS }));
    let crowd = Crowd { workers: 3, of: Workers::Processes, objects: Objects::Shared };
    let told = launched(scaling::by(inner, crowd))?;
    let of = |name: &str| told.quantities.iter().find(|(known, _)| *known == name).map_or(0.0, |it| it.1);
    let efficiency = of(quantity::EFFICIENCY);
    // Turns: all three make no more than one. Sleeps that nobody hinders: each makes as much as one alone.
    let expected = if takes_turns { 0.2..=0.42 } else { 0.75..=1.25 };
    if !expected.contains(&efficiency) {
        return Err(format!("efficiency {efficiency}, {:?}", told.quantities));
    }
    told.holds()
}

#[test]
#[ignore = "longer: the time of sleeps decides, which a busy machine makes longer"]
fn what_takes_turns_loses_and_what_hinders_nobody_does_not() {
    in_child(|_| efficiency(true)).expect("turns");
    in_child(|_| efficiency(false)).expect("free");
}

/// posix_spawn on an emulated ARM processor beside compilers took longer than a worker's patience, which knew of no work.
#[test]
#[ignore = "longer: it sleeps"]
fn what_is_slow_under_an_audit_is_waited_for() {
    // 200 turns in a row: 6 s.
    let inner: &'static Planted = Box::leak(Box::new(Planted { takes_turns: true, hold_ns: 30_000_000 }));
    let crowd = Crowd { workers: 3, of: Workers::Processes, objects: Objects::Shared };
    let benchmark = scaling::by(inner, crowd);
    in_child(|_| audited(benchmark).map(drop)).expect("an audit");
}

#[test]
fn every_kind_of_crowd_makes_exactly_its_calls() {
    for id in [
        "syscall/getppid/processes_1/private",
        "syscall/getppid/processes_3/private",
        "syscall/getppid/threads_3/private",
        "syscall/read1/processes_2/shared",
        "syscall/open_close/threads_2/shared",
        "memory/mmap_munmap/threads_2/private",
        // Of a fork it is asked that its parent is small, and this program, whose other tests take memory, need not be.
        "process/posix_spawn/processes_2/private",
    ] {
        let benchmark = oscost_families::resolve(id).expect(id);
        let outcome = in_child(|_| {
            let audited = audited(benchmark)?;
            match audited.claims.iter().find(|claim| claim.holds != Some(true)) {
                Some(claim) => Err(format!("{claim:?} of {:?}", audited.system_calls)),
                None => Ok(()),
            }
        });
        judged(id, outcome);
        judged(id, in_child(|_| launched(benchmark)?.holds()));
    }
}

/// Half of what it says.
struct Half;

static HALF: Card = Card {
    id: "planted/half",
    title: "half",
    operation: "one getppid",
    call_path: CallPath::Inline,
    group: "planted/half",
    claims: &claims::named(&["getppid"], 1.0),
    ..Card::BATCHED
};

impl Benchmark for Half {
    fn card(&self) -> &'static Card {
        &HALF
    }
    fn claims(&self) -> Cow<'static, [Claim]> {
        Cow::Borrowed(HALF.claims)
    }
    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(Subject::Batched(Box::new(Half)))
    }
}

impl Batched for Half {
    fn batch(&mut self, iterations: u64) -> Outcome {
        (0..iterations / 2).for_each(|_| _ = system_call::getppid());
        Ok(())
    }
}

#[test]
#[ignore = "longer: it deceives"]
fn an_operation_without_its_call_is_contradicted_in_a_crowd() {
    let crowd = Crowd { workers: 2, of: Workers::Processes, objects: Objects::Private };
    let benchmark = scaling::by(&Half, crowd);
    let outcome = in_child(|_| {
        let audited = audited(benchmark)?;
        match audited.claims.iter().any(|claim| claim.holds == Some(false)) {
            true => Ok(()),
            false => Err(format!("a planted fault was believed: {:?}", audited.claims)),
        }
    });
    judged("planted/half", outcome);
}

#[test]
fn what_cannot_be_made_by_several_is_unsupported_with_its_reason() {
    for (id, why) in [
        ("context_switch/pipe/same_cpu/processes_2/private", "partners"),
        ("syscall/getppid/threads_2/shared", "no object to share"),
    ] {
        let benchmark = oscost_families::resolve(id).expect(id);
        let said = in_child(|_| with_subject(benchmark, |_| Ok(()))).expect_err(id);
        assert!(said.contains("SKIP unsupported") && said.contains(why), "{id}: {said}");
    }
}
