//! refuse: one system call fails from main on, whenever it is made, in all processes or in one. No tracer lets it fail but a filter
//! whose listener counts each failure, so nothing is withheld for a tracer's sake: what is shown beside it is shown in earnest.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use oscost_results::RunResult;
use oscost_sys::system_call_names;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::program::{self, Done, User};
use crate::space::{self, Left, ground};
use crate::sweep::EXCEPT;
use crate::{Amount, Outcome, Provocation, crowd, judge, save};

/// What is run, to one launch: one at least of every family whose calls differ, and what reads results.
const PLANS: &[&[&str]] = &[
    &["run", "syscall/getppid", "semaphore/posix_named", "semaphore/system_v"],
    &["run", "context_switch/pipe/same_cpu", "lock/robust_mutex", "record_lock/fcntl"],
    &["run", "realtime_ipc/unix_datagram/same_cpu/clients_1"],
    &["run", "file/create_unlink", "socket/udp_round_trip", "event/epoll_wake/same_cpu"],
    &["run", "process/posix_spawn", "thread", "signal/deliver"],
    &["report", "@-1"],
    &["compare", "@-1", "@-1"],
    &[REPRODUCE, "ostep"],
];

/// It takes as long as ten of the others.
const REPRODUCE: &str = "reproduce";

/// Every later call fails, so none of these may be an interruption: whoever is interrupted tries again, and no kernel interrupts for
/// ever.
const ERRORS: [&str; 8] = ["ENOMEM", "EAGAIN", "EMFILE", "ENOSPC", "EIO", "EACCES", "EPERM", "ENOSYS"];

/// In one space so many: the listener is compiled once for them.
const IN_ONE_SPACE: usize = 12;

/// Calls of which nobody can end himself or wait for others if they fail: `kill` has a row among the lacks, and the standard
/// library waits for its children by the others without an end.
const HOPELESS: [&str; 2] = ["wait4", "waitid"];

/// Measured in loops of millions. A traced call costs as much as a hundred others, so these are taken as made, and a listener says
/// whether they were.
const LOOPS: [&str; 3] = ["getpid", "read", "write"];

/// What the C library says before it ends a process whose futex fails as no kernel lets it fail: nobody can be asked before.
const NO_FUTEX: &str = "The futex facility returned an unexpected error code";

/// What is done in one space.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Refuse {
    /// Asks which calls a plan makes.
    Names { plan: usize },
    /// Lets calls fail, one in each run.
    Calls(Vec<Call>),
}

/// One call of a plan fails.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Call {
    plan: usize,
    name: String,
    error: String,
    /// The how manieth process that makes it; `None`: in all of them.
    only: Option<u32>,
}

/// Runs in which a call was made and failed: the listener counted it.
const RUNS: &str = "calls refused";
/// Failures that the listener answered.
const ANSWERED: &str = "answers of a listener that refuses";
/// Runs that did not make the call behind main, or not in so many processes.
const NOT_MADE: &str = "refusals that nobody met";

pub fn run(amount: Amount) -> Outcome {
    let mut outcome = Outcome::default();
    if !program::is_here("strace") || !program::is_here("cc") {
        outcome.skipped.push("refused calls: strace or a C compiler is missing".to_owned());
        return outcome;
    }
    let plans = if amount.full { PLANS.len() } else { 1 };
    let names: Vec<Provocation> =
        (0..plans).map(|plan| Provocation::Refuse(Refuse::Names { plan })).collect();
    let found = crowd::all(&names);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let mut calls = Vec::new();
    for (plan, found) in found.iter().enumerate() {
        for name in &found.found {
            let from = random.next_u64() as usize;
            let who: &[Option<u32>] = match PLANS[plan][0] {
                REPRODUCE => &[None, Some(1)],
                _ => &[None, None, None, Some(1), Some(2), Some(3)],
            };
            for (index, &only) in who.iter().enumerate() {
                let error = ERRORS[(from + index) % ERRORS.len()].to_owned();
                calls.push(Call { plan, name: name.clone(), error, only });
            }
        }
    }
    let all = calls.len();
    let wanted = if amount.full { all } else { 12.min(all) };
    for index in 0..wanted {
        let other = index + random.next_u64() as usize % (all - index);
        calls.swap(index, other);
    }
    calls.truncate(wanted);
    // Its claims are always looked at: whoever cannot count must say so.
    let counting = Call { plan: 0, name: "getrusage".into(), error: "EIO".into(), only: None };
    calls.push(counting);
    let size = if amount.full { IN_ONE_SPACE } else { 4 };
    let provocations: Vec<Provocation> =
        calls.chunks(size).map(|calls| Provocation::Refuse(Refuse::Calls(calls.to_vec()))).collect();
    let mut outcome = crowd::sum(found.into_iter().chain(crowd::all(&provocations)));
    let counted = |name: &str| outcome.counts.get(name).copied().unwrap_or(0);
    if outcome.skipped.is_empty() && counted(RUNS) == 0 {
        outcome.fail("refuse: no call was refused");
    }
    outcome
}

impl Refuse {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let stored = program::run(&mut program::oscost(User::Own, &plan(0)));
        if stored.code() != Some(0) {
            outcome.fail(format!("refuse: undisturbed: {}", stored.words()));
            return outcome;
        }
        match self {
            Self::Names { plan } => names(*plan, &mut outcome),
            Self::Calls(calls) if compiled(&mut outcome) => {
                let mut loader = BTreeMap::new();
                for call in calls {
                    let skip = *loader.entry(&call.name).or_insert_with(|| before_main(&call.name));
                    match skip {
                        Some(skip) => call.carry_out(skip, &mut outcome),
                        None => outcome.skipped.push(format!("{}: no listener can be had here", call.name)),
                    }
                }
                program::next_start(User::Own, &mut outcome);
                program::store_is_whole(User::Own, &mut outcome);
            }
            Self::Calls(_) => {}
        }
        outcome
    }
}

/// The arguments of a plan.
fn plan(index: usize) -> Vec<&'static str> {
    let own = PLANS[index];
    let rest: &[&str] = match own[0] {
        "run" => &["--force", "--quiet", "--one-launch", "--json", "/mnt/out.json"],
        REPRODUCE => &["--force", "--quick", "--json", "/mnt/out.json"],
        _ => &[],
    };
    [own, rest].concat()
}

/// The calls that the processes of a plan make, but for those that cannot fail.
fn names(index: usize, outcome: &mut Outcome) {
    let trace = ground("trace").display().to_string();
    let but = format!("trace=!{}", LOOPS.join(","));
    let arguments: Vec<&str> = ["-f", "-qq", "--seccomp-bpf", "-e", &but, "-o", &trace, "--", program::PATH]
        .into_iter()
        .chain(plan(index))
        .collect();
    let done = program::run(&mut program::command(User::Own, "strace", &arguments));
    if !matches!(done.code(), Some(0 | 3)) {
        outcome.fail(format!("refuse: traced: {}", done.words()));
        return;
    }
    let text = String::from_utf8_lossy(&std::fs::read(&trace).unwrap_or_default()).into_owned();
    let called = |line: &str| {
        let (_, rest) = line.split_once(' ')?;
        let (name, _) = rest.trim_start().split_once('(')?;
        system_call_names::number(name).map(|_| name.to_owned())
    };
    let mut names: BTreeSet<String> = text.lines().filter_map(called).collect();
    names.extend(LOOPS.map(str::to_owned));
    let wanted = names.into_iter().filter(|name| !EXCEPT.contains(&name.as_str()));
    outcome.found = wanted.filter(|name| !HOPELESS.contains(&name.as_str())).collect();
    outcome.count("names of calls, by plan", outcome.found.len() as u64);
}

fn compiled(outcome: &mut Outcome) -> bool {
    let source = ground("refuse.c");
    std::fs::write(&source, include_str!("refuse.c")).unwrap();
    let made = Command::new("cc")
        .args(["-O1", "-o", REFUSE])
        .arg(&source)
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !made {
        outcome.fail("refuse: its listener cannot be compiled");
    }
    made
}

const REFUSE: &str = "/mnt/refuse";
const TOLD: &str = "/mnt/refused";

/// A run behind the listener; failed calls, processes that met one, and the most calls of a process.
fn behind(name: &str, error: i32, how: [&str; 3], arguments: &[&str]) -> (Done, Option<(u64, u64, u64)>) {
    let _ = std::fs::remove_file(TOLD);
    let number = system_call_names::number(name).unwrap_or(-1).to_string();
    let error = error.to_string();
    let [who, skip, which] = how;
    let all: Vec<&str> = [&*number, &error, who, skip, which, TOLD, program::PATH]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let done = program::run(&mut program::command(User::Own, REFUSE, &all));
    let text = std::fs::read_to_string(TOLD).unwrap_or_default();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let told = if let [failed, met, most] = numbers[..] { Some((failed, met, most)) } else { None };
    (done, told)
}

/// How often the loader and the start of the program make a call: these go on, or nothing of the program ever runs.
fn before_main(name: &str) -> Option<u64> {
    behind(name, 1, ["none", "0", "0"], &["--version"]).1.map(|(_, _, most)| most)
}

impl Call {
    fn carry_out(&self, skip: u64, outcome: &mut Outcome) {
        let old = std::fs::read(ground("out.json")).unwrap_or_default();
        let stored = save::files(&program::runs(User::Own));
        let before = Left::now();
        let Self { plan: index, name, error, only } = self;
        let (who, which) = only.map_or(("all", 0), |which| ("one", which));
        let how = [who, &skip.to_string(), &which.to_string()];
        let (done, told) = behind(name, number_of(error), how, &plan(*index));
        let what = format!("{} with {error} at {name}, {who} {which}", PLANS[*index].join(" "));
        let Some((failed, _, _)) = told else {
            outcome.fail(format!("{what}: the listener says nothing: {}", done.words()));
            space::end_everybody();
            return;
        };
        outcome.count(if failed > 0 { RUNS } else { NOT_MADE }, 1);
        outcome.count(ANSWERED, failed);
        // Before main the start of the standard library gives up in its own way.
        if done.stderr.contains("fatal runtime error: initialization") {
            outcome.count("ended before main", 1);
        } else if name == "futex" && done.stderr.contains(NO_FUTEX) {
            outcome.count("ended by the C library, whose futex failed", 1);
        } else {
            program::ended_well(&done, &[0, 2, 3, 4, 5], &what, outcome);
        }
        for left in space::quiet().into_iter().chain(before.since()) {
            outcome.count("left", 1);
            outcome.fail(format!("{what}: {left}"));
        }
        space::end_everybody();
        self.judge(&done, &old, &what, outcome);
        save::unchanged(&stored, &what, outcome);
    }

    fn judge(&self, done: &Done, old: &[u8], what: &str, outcome: &mut Outcome) {
        let now = std::fs::read(ground("out.json")).unwrap_or_default();
        let result = match oscost_results::from_bytes(&now) {
            Ok(result) => result,
            Err(error) => {
                return outcome.fail(format!("{what}: the file that was asked for is torn: {error}"));
            }
        };
        if now == old {
            return;
        }
        for words in judge::wrong(&result, done.code()) {
            outcome.count("figures beside an error", 1);
            outcome.fail(format!("{what}: {words}"));
        }
        if self.name == "getrusage" && self.only.is_none() {
            let claims = claims_of_counters(&result);
            outcome.count("claims that need a counter that failed", claims.len() as u64);
            if claims.is_empty() && self.plan == 0 {
                outcome.fail(format!("{what}: no claim was looked at"));
            }
            for claim in claims.into_iter().flatten() {
                outcome.count("figures beside an error", 1);
                outcome.fail(format!("{what}: {claim}"));
            }
        }
    }
}

/// The claims that getrusage decides, of figures without partners, whose counters are read elsewhere; in words where one is said
/// to hold.
fn claims_of_counters(result: &RunResult) -> Vec<Option<String>> {
    let own = result.figures.iter().filter(|figure| figure.placement == "one_cpu");
    own.flat_map(|figure| figure.evidence.claims.iter().map(move |claim| (figure, claim)))
        .filter(|(_, claim)| matches!(&*claim.claim, "switches" | "voluntary_switches" | "faults"))
        .map(|(figure, claim)| {
            let said = claim.holds == Some(true) || claim.observed.is_some();
            said.then(|| {
                format!("{}: {} is {:?} by a failed counter", figure.id, claim.claim, claim.observed)
            })
        })
        .collect()
}

/// The number of one of [`ERRORS`]. errno(3); the same on x86_64 and aarch64.
fn number_of(error: &str) -> i32 {
    match error {
        "EPERM" => 1,
        "EIO" => 5,
        "EAGAIN" => 11,
        "ENOMEM" => 12,
        "EACCES" => 13,
        "EMFILE" => 24,
        "ENOSPC" => 28,
        _ => 38,
    }
}
