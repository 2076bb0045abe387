//! refuse: one system call fails from main on, whenever it is made, in all processes or in one. No tracer lets it fail but a filter
//! whose listener counts each failure, so nothing is withheld for a tracer's sake: what is shown beside it is shown in earnest.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use oscost_results::{RunResult, Status};
use oscost_sys::system_call_names;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::left::Left;
use crate::plans::{PLANS, Plan, REPRODUCE, TICK, Who, undisturbed};
use crate::program::{self, Done, User};
use crate::space::{self, ground};
use crate::sweep::EXCEPT;
use crate::{Amount, Outcome, Provocation, crowd, judge, save};

/// The program itself is started by this call. Each later start fails, or that of one: a worker's, a janitor's, a guard's.
const START: &str = "execve";
const STARTS: [Who; 6] = [Who::Later(1), Who::Later(2), Who::Later(3), Who::One(2), Who::One(3), Who::One(4)];

/// Every later call fails, so none of these may be an interruption: whoever is interrupted tries again, and no kernel interrupts for
/// ever.
const ERRORS: [&str; 8] = ["ENOMEM", "EAGAIN", "EMFILE", "ENOSPC", "EIO", "EACCES", "EPERM", "ENOSYS"];

/// In one space so many: the listener is compiled once for them.
const IN_ONE_SPACE: usize = 12;

/// Calls of which nobody can end himself or wait for others if they fail: `kill` has a row among the lacks, and the standard
/// library waits for its children by the others without an end.
const HOPELESS: [&str; 2] = ["wait4", "waitid"];
/// Calls without which the shell that plays both sides of the ticks, or its timeout(1), leaves them or waits for ever.
const OF_THE_SHELL: [&str; 4] = ["vfork", "rt_sigaction", "rt_sigprocmask", "rt_sigsuspend"];
/// Who may remove no name leaves it: the next start removes it.
const REMOVALS: [&str; 3] = ["unlink", "unlinkat", "rmdir"];

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
    who: Who,
}

/// Runs in which a call was made and failed: the listener counted it.
const RUNS: &str = "calls refused";
/// Failures that the listener answered.
const ANSWERED: &str = "answers of a listener that refuses";
/// Runs that did not make the call behind main, or not in so many processes.
const NOT_MADE: &str = "refusals that nobody met";
/// Of the results of runs in which a call was refused.
const SHOWN: &str = "figures shown in spite of a refused call";
const WITHHELD: &str = "figures that refused calls withheld";

pub fn run(amount: Amount) -> Outcome {
    let outcome = Outcome::default();
    if !program::is_here("strace") || !program::is_here("cc") {
        return outcome.skip("refused calls: strace or a C compiler is missing");
    }
    let root = space::is_root();
    let plans = PLANS.iter().enumerate().filter(|(at, plan)| {
        // In the short one also the first of another user.
        (amount.full || *at == 0 || plan.user == User::Nobody) && (root || plan.user == User::Own)
    });
    let plans: Vec<usize> = plans.map(|(at, _)| at).collect();
    let names: Vec<Provocation> =
        plans.iter().map(|&plan| Provocation::Refuse(Refuse::Names { plan })).collect();
    let found = crowd::all(&names);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let mut calls = Vec::new();
    let mut seen = BTreeSet::new();
    for (&plan, found) in plans.iter().zip(&found) {
        let starts = Some(START.to_owned()).filter(|_| PLANS[plan].is_run());
        for name in found.found.iter().chain(&starts) {
            let is_new = seen.insert(name.clone());
            if PLANS[plan].arguments.starts_with(REPRODUCE) && !is_new {
                continue;
            }
            let from = random.next_u64() as usize;
            let who = if name == START { &STARTS } else { PLANS[plan].who };
            for (index, &who) in who.iter().enumerate() {
                let error = ERRORS[(from + index) % ERRORS.len()].to_owned();
                calls.push(Call { plan, name: name.clone(), error, who });
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
    let counting = Call { plan: 0, name: "getrusage".into(), error: "EIO".into(), who: Who::All };
    calls.push(counting);
    calls.push(Call { plan: 0, name: START.into(), error: "ENOMEM".into(), who: Who::Later(1) });
    let size = if amount.full { IN_ONE_SPACE } else { 4 };
    let provocations: Vec<Provocation> =
        calls.chunks(size).map(|calls| Provocation::Refuse(Refuse::Calls(calls.to_vec()))).collect();
    let mut outcome = crowd::sum(found.into_iter().chain(crowd::all(&provocations)));
    if outcome.skipped.is_empty() && outcome.counted(RUNS) == 0 {
        outcome.fail("refuse: no call was refused");
    }
    // Else nobody could be wrong: whoever shows nothing shows no figure beside an error.
    for name in [SHOWN, WITHHELD] {
        if outcome.skipped.is_empty() && outcome.counted(name) == 0 {
            outcome.fail(format!("refuse: no {name}"));
        }
    }
    outcome
}

impl Refuse {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let plans: BTreeSet<usize> = match self {
            Self::Names { plan } => [*plan].into(),
            Self::Calls(calls) => calls.iter().map(|call| call.plan).collect(),
        };
        let users: Vec<User> = plans.iter().map(|&plan| PLANS[plan].user).collect();
        let users = [User::Own, User::Nobody, User::Sudo].into_iter().filter(|user| users.contains(user));
        for user in users.clone() {
            let first = undisturbed(user).command();
            let stored = program::run(&mut program::command(user, first[0], &first[1..]));
            if stored.code() != Some(0) {
                return outcome.failed(format!("refuse: undisturbed: {}", stored.words()));
            }
        }
        if !compiled(&mut outcome) {
            return outcome;
        }
        match self {
            Self::Names { plan } => {
                names(&PLANS[*plan], &mut outcome);
                control(&PLANS[*plan], &mut outcome);
            }
            Self::Calls(calls) => {
                let mut loader = BTreeMap::new();
                for call in calls {
                    let skip = *loader.entry(&call.name).or_insert_with(|| before_main(&call.name));
                    match skip {
                        Some(skip) => call.carry_out(skip, &mut outcome),
                        None => outcome.skipped.push(format!("{}: no listener can be had here", call.name)),
                    }
                }
                for user in users {
                    program::next_start(user, &mut outcome);
                    program::store_is_whole(user, &mut outcome);
                }
            }
        }
        outcome
    }
}

/// Behind a listener that refuses nothing each figure is there that is there without one: so it is the refusal that withholds it.
/// Only where a filter may answer by itself there is a reason.
fn control(plan: &Plan, outcome: &mut Outcome) {
    let arguments = plan.command();
    let figures = |done: &Done| -> BTreeMap<String, Status> {
        let result = oscost_results::from_bytes(&std::fs::read(plan.out()).unwrap_or_default());
        let figures = result.into_iter().filter(|_| done.status.is_some()).flat_map(|result| result.figures);
        figures.map(|figure| (figure.id, figure.status)).collect()
    };
    let without = program::run(&mut program::command(plan.user, arguments[0], &arguments[1..]));
    let mut wanted = figures(&without);
    wanted.retain(|_, status| *status == Status::Measured);
    // Made where the result is written, and where it is read again.
    let behind_it = || behind(plan.user, "fsync", 1, ["none", "0", "0"], &arguments);
    let (done, told) = behind_it();
    let what = format!("refuse: {} behind a listener that refuses nothing", plan.words());
    if !plan.is_run() {
        if done.code() != without.code() || !matches!(done.code(), Some(0 | 3 | 143)) {
            outcome.fail(format!("{what}: {}, and without it {}", done.words(), without.words()));
        }
        return;
    }
    // A busy machine withholds a figure now and then, listener or not.
    let mut found = figures(&done);
    for _ in 0..2 {
        if wanted.keys().all(|id| found.get(id).is_some_and(|it| *it == Status::Measured)) {
            break;
        }
        let _ = behind_it();
        found.extend(figures(&done).into_iter().filter(|(_, status)| *status == Status::Measured));
    }
    let same = wanted.keys().filter(|id| found.get(*id) == Some(&Status::Measured)).count();
    let lost = wanted.keys().any(|id| match found.get(id) {
        Some(Status::Unsupported) => plan.arguments.split(' ').any(|it| it == id),
        status => status != Some(&Status::Measured),
    });
    outcome.count("figures measured behind a listener that refuses nothing", same as u64);
    if told.is_none() || same == 0 || lost {
        outcome.fail(format!("{what}: {wanted:?} became {found:?}: {}", done.words()));
    }
}

/// The calls that the processes of a plan make, but for those that cannot fail.
fn names(plan: &Plan, outcome: &mut Outcome) {
    let trace = program::home(plan.user).join("trace").display().to_string();
    let but = format!("trace=!{}", LOOPS.join(","));
    let arguments: Vec<&str> = ["-f", "-qq", "--seccomp-bpf", "-e", &but, "-o", &trace, "--"]
        .into_iter()
        .chain(plan.command())
        .collect();
    let done = program::run(&mut program::command(plan.user, "strace", &arguments));
    if !matches!(done.code(), Some(0 | 3 | 143)) {
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
    let wanted = names.into_iter().filter(|name| !EXCEPT.split(' ').any(|it| it == name));
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
fn behind(
    user: User,
    name: &str,
    error: i32,
    how: [&str; 3],
    arguments: &[&str],
) -> (Done, Option<(u64, u64, u64)>) {
    let _ = std::fs::remove_file(TOLD);
    let number = system_call_names::number(name).unwrap_or(-1).to_string();
    let error = error.to_string();
    let [who, skip, which] = how;
    let all: Vec<&str> =
        [&*number, &error, who, skip, which, TOLD].into_iter().chain(arguments.iter().copied()).collect();
    let done = program::run(&mut program::command(user, REFUSE, &all));
    let text = std::fs::read_to_string(TOLD).unwrap_or_default();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let told = if let [failed, met, most] = numbers[..] { Some((failed, met, most)) } else { None };
    (done, told)
}

/// How often the loader and the start of the program make a call: these go on, or nothing of the program ever runs.
fn before_main(name: &str) -> Option<u64> {
    behind(User::Own, name, 1, ["none", "0", "0"], &[program::PATH, "--version"]).1.map(|(_, _, most)| most)
}

impl Call {
    fn carry_out(&self, skip: u64, outcome: &mut Outcome) {
        let Self { plan, name, error, who } = self;
        let plan = &PLANS[*plan];
        if plan.arguments == TICK && OF_THE_SHELL.contains(&name.as_str()) {
            outcome.count("refusals that the shell of the ticks cannot bear, not tried", 1);
            return;
        }
        let old = std::fs::read(plan.out()).unwrap_or_default();
        let stored = save::files(&program::runs(plan.user));
        let before = Left::now();
        let (mode, skip, which) = match *who {
            Who::Later(from) => ("later", u64::from(from), 0),
            Who::All => ("all", skip, 0),
            // The first process that makes this one is the program.
            Who::One(which) if name == START => ("one", 0, which),
            Who::One(which) => ("one", skip, which),
        };
        let how = [mode, &skip.to_string(), &which.to_string()];
        let (mut arguments, first) = (plan.command(), program::first_cpus());
        if plan.is_run() && number_of(error) % 2 == 0 {
            arguments.extend(["--cpu", &first]);
        }
        let (done, told) = behind(plan.user, name, number_of(error), how, &arguments);
        let what = format!("{} with {error} at {name}, {who:?}", plan.words());
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
        } else if plan.arguments == TICK {
            // How it ends is the shell's business, which meets the same failure.
            if done.status.is_none() || done.said().contains("panicked at") {
                outcome.count(if done.status.is_none() { "hangs" } else { "panics" }, 1);
                outcome.fail(format!("{what}: {}", done.words()));
            }
        } else {
            program::ended_well(&done, &[0, 2, 3, 4, 5], &what, outcome);
        }
        let processes = space::quiet();
        let names = before.since().into_iter().filter(|_| !REMOVALS.contains(&name.as_str()));
        for left in processes.into_iter().chain(names) {
            outcome.wrong("left", format!("{what}: {left}"));
        }
        space::end_everybody();
        self.judge(&done, &old, failed, &what, outcome);
        save::unchanged(plan.user, &stored, &what, outcome);
    }

    fn judge(&self, done: &Done, old: &[u8], failed: u64, what: &str, outcome: &mut Outcome) {
        let now = std::fs::read(PLANS[self.plan].out()).unwrap_or_default();
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
            outcome.wrong("figures beside an error", format!("{what}: {words}"));
        }
        let own = result.figures.iter().filter(|figure| failed > 0 && figure.status != Status::Unsupported);
        let (shown, withheld): (Vec<_>, Vec<_>) = own.partition(|figure| figure.status == Status::Measured);
        outcome.count(SHOWN, shown.len() as u64);
        outcome.count(WITHHELD, withheld.len() as u64);
        if self.name == "getrusage" && self.who == Who::All {
            let claims = claims_of_counters(&result);
            outcome.count("claims that need a counter that failed", claims.len() as u64);
            if claims.is_empty() && self.plan == 0 {
                outcome.fail(format!("{what}: no claim was looked at"));
            }
            for claim in claims.into_iter().flatten() {
                outcome.wrong("figures beside an error", format!("{what}: {claim}"));
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
