//! sweep: one system call fails, at every place in the program that makes it: the first, the second and the last time. It
//! ends with a code of the list, without panic, hang or left-over, and old results stay as they are.
//!
//! The calls and their places are those of runs of one launch, seen by strace with its stack; strace lets them fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::left::Left;
use crate::program::{self, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, crowd, judge, save};

/// What is run: between them every kind of process and object of the program. The last is run by another user, and of its failures
/// so many are drawn.
const OF_NOBODY: usize = PLANS.len() - 1;
const MOST_OF_NOBODY: usize = 300;
const PLANS: [&str; 7] = [
    "run --force --quiet --one-launch syscall/read0_pipe semaphore/posix_named --json /mnt/out.json",
    "run --force --quiet --one-launch context_switch/pipe/same_cpu semaphore/system_v --json /mnt/out.json",
    "run --force --quiet --one-launch record_lock/fcntl lock/robust_mutex --json /mnt/out.json",
    "run --force --quiet --one-launch realtime_ipc/unix_datagram/same_cpu/clients_1 --json /mnt/out.json",
    "report @-1",
    "compare @-1 @-1",
    "run --force --quiet --one-launch syscall/getppid semaphore/posix_named --json out.json",
];

/// Who runs a plan.
const fn user_of(plan: usize) -> User {
    if plan == OF_NOBODY { User::Nobody } else { User::Own }
}

/// The file that a plan is asked for.
fn out(plan: usize) -> PathBuf {
    if plan == OF_NOBODY { program::home(User::Nobody).join("out.json") } else { ground("out.json") }
}

fn trace(plan: usize) -> String {
    program::home(user_of(plan)).join("trace").display().to_string()
}

const ERRORS: [&str; 8] = ["ENOMEM", "EAGAIN", "EMFILE", "ENOSPC", "EIO", "EINTR", "EPERM", "ENOSYS"];

/// Calls that end or begin a program, and calls that cannot fail. Of `execve` strace counts the first of each process by itself, so
/// `refuse` lets it fail.
pub const EXCEPT: &str = "getegid geteuid getgid getpid getppid gettid getuid execve \
    exit exit_group rt_sigreturn restart_syscall arch_prctl set_robust_list rseq";

/// The places of a plan: asked for first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sites {
    plan: usize,
}

/// So often a plan is traced until strace sees its end.
const TRACES: usize = 4;
/// A stack takes milliseconds, and a run makes some ten thousand calls. So many times a run's deadline, for each trace, stay within
/// that of a space.
const SLOWED: u32 = 4;

/// In one space so many: the result that they find there is made once.
const IN_ONE_SPACE: usize = 10;

/// Calls of places that fail, one in each run, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fails(Vec<Fail>);

/// One call of one place fails.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Fail {
    plan: usize,
    call: String,
    /// The how manieth of its name in its process.
    when: u32,
    error: String,
    /// The innermost function of the program.
    place: String,
}

pub fn run(amount: Amount) -> Outcome {
    let outcome = Outcome::default();
    if !program::is_here("strace") {
        return outcome.skip("strace is not installed");
    }
    let plans = match (amount.full, space::is_root()) {
        (true, true) => PLANS.len(),
        (true, false) => OF_NOBODY,
        (false, _) => 1,
    };
    let sites: Vec<Provocation> = (0..plans).map(|plan| Provocation::Sites(Sites { plan })).collect();
    let found = crowd::all(&sites);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let mut failing = Vec::new();
    for (plan, found) in found.iter().enumerate() {
        for words in &found.found {
            let mut parts = words.split('\t');
            let (Some(call), Some(when), Some(place)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let first = random.next_u64() as usize % ERRORS.len();
            let second = (first + 1 + random.next_u64() as usize % (ERRORS.len() - 1)) % ERRORS.len();
            for error in [first, second] {
                failing.push(Fail {
                    plan,
                    call: call.to_owned(),
                    when: when.parse().unwrap_or(1),
                    error: ERRORS[error].to_owned(),
                    place: place.to_owned(),
                });
            }
        }
    }
    // What comes first is kept: the order within a plan says nothing of the failure.
    let mut of_nobody: Vec<Fail> = failing.extract_if(.., |fail| fail.plan == OF_NOBODY).collect();
    shuffle(&mut of_nobody, MOST_OF_NOBODY, &mut random);
    failing.extend(of_nobody);
    let all = failing.len();
    let wanted = if amount.full { all } else { 24 };
    shuffle(&mut failing, wanted, &mut random);
    let spaces = failing.chunks(if amount.full { IN_ONE_SPACE } else { 1 });
    let provocations: Vec<Provocation> =
        spaces.map(|fails| Provocation::Fail(Fails(fails.to_vec()))).collect();
    let mut outcome = crowd::sum(found.into_iter().chain(crowd::all(&provocations)));
    outcome.count("failures of a call by place, in all", all as u64);
    let counted = |name: &str| outcome.counts.get(name).copied().unwrap_or(0);
    let (made, not_made) = (counted(MADE), counted(NOT_MADE));
    if made < 3 * not_made || made == 0 {
        outcome.fail(format!("sweep: of {} calls that were to fail {made} were made", made + not_made));
    }
    outcome
}

/// So many of all, drawn by the seed, all alike.
fn shuffle(failing: &mut Vec<Fail>, wanted: usize, random: &mut Xoshiro256PlusPlus) {
    let all = failing.len();
    for index in 0..wanted.min(all) {
        let other = index + random.next_u64() as usize % (all - index);
        failing.swap(index, other);
    }
    failing.truncate(wanted);
}

/// Calls that were made and failed.
const MADE: &str = "calls that failed";
/// Calls that should have failed, and were not made as the how manieth they were before.
const NOT_MADE: &str = "calls that did not come about";

/// What a plan reads: a stored result, an old file.
fn prepare(plan: usize, outcome: &mut Outcome) -> bool {
    let out = out(plan).display().to_string();
    let arguments = ["run", "--force", "--quiet", "--one-launch", "syscall/getppid", "--json", &out];
    let done = program::run(&mut program::oscost(user_of(plan), &arguments));
    if done.code() != Some(0) {
        outcome.fail(format!("the run before: {}", done.words()));
    }
    done.code() == Some(0)
}

impl Sites {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        if !prepare(self.plan, &mut outcome) {
            return outcome;
        }
        let trace = trace(self.plan);
        // With the filter that makes a failing run quick: a run behind one makes other calls.
        let others = format!("trace=!?{}", EXCEPT.split(' ').collect::<Vec<_>>().join(",?"));
        let strace = ["-f", "--seccomp-bpf", "-k", "-qq", "-e", &others, "-o", &trace, "--", program::PATH];
        let arguments: Vec<&str> = strace.into_iter().chain(PLANS[self.plan].split(' ')).collect();
        let trace_it = || {
            program::run_within(
                &mut program::command(user_of(self.plan), "strace", &arguments),
                SLOWED * program::DEADLINE,
            )
        };
        // A process that is killed while strace looks at its stack ends strace. What it wrote until then was seen all the same.
        let mut sites = Places::new();
        for attempt in 1..=TRACES {
            let done = trace_it();
            let text = std::fs::read(&trace).unwrap_or_default();
            add_sites(&String::from_utf8_lossy(&text), &mut sites);
            if matches!(done.code(), Some(0 | 3)) {
                break;
            }
            if !done.stderr.contains("strace: walk: ") || sites.is_empty() {
                return outcome.failed(format!("traced: {}", done.words()));
            }
            outcome.count("traces that ended with strace", 1);
            space::end_everybody();
            if attempt == TRACES {
                outcome.count("plans without a whole trace", 1);
            }
        }
        outcome.count("places of calls", sites.len() as u64);
        let names: BTreeSet<&str> = sites.keys().map(|(call, _)| call.as_str()).collect();
        outcome.count("names of calls, by plan", names.len() as u64);
        for ((call, place), at) in &sites {
            // The first, the second and the last time that this place makes the call.
            let times: BTreeSet<&u32> = at.first().into_iter().chain(at.get(1)).chain(at.last()).collect();
            outcome.found.extend(times.iter().map(|when| format!("{call}\t{when}\t{place}")));
        }
        outcome
    }
}

/// By call and innermost function of the program that made it: the how manieth of its name in its process each was.
type Places = BTreeMap<(String, String), Vec<u32>>;

/// Adds every call of a trace.
fn add_sites(trace: &str, sites: &mut Places) {
    let mut ordinals: BTreeMap<(String, String), u32> = BTreeMap::new();
    // The call whose stack follows.
    let mut last: Option<(String, u32)> = None;
    for line in trace.lines() {
        if let Some(frame) = line.trim_start().strip_prefix("> ") {
            let of_program = frame.strip_prefix(program::PATH).or_else(|| frame.strip_prefix(program::BUILT));
            if let (Some(place), Some((call, when))) = (of_program, &last) {
                sites.entry((call.clone(), place.to_owned())).or_default().push(*when);
                last = None;
            }
            continue;
        }
        last = None;
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        let Some((call, _)) = rest.split_once('(') else { continue };
        let is_name =
            !call.is_empty() && call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || EXCEPT.split(' ').any(|it| it == call) || call.starts_with("syscall_0x") {
            continue;
        }
        let ordinal = ordinals.entry((process.to_owned(), call.to_owned())).or_default();
        *ordinal += 1;
        last = Some((call.to_owned(), *ordinal));
    }
}

impl Fails {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let mut plans: Vec<usize> = self.0.iter().map(|fail| fail.plan).collect();
        plans.sort_by_key(|&plan| user_of(plan) == User::Nobody);
        plans.dedup_by_key(|plan| user_of(*plan));
        if plans.iter().all(|&plan| prepare(plan, &mut outcome)) {
            self.0.iter().for_each(|fail| fail.carry_out(&mut outcome));
            for user in plans.into_iter().map(user_of) {
                program::next_start(user, &mut outcome);
                program::store_is_whole(user, &mut outcome);
            }
        }
        outcome
    }
}

impl Fail {
    fn carry_out(&self, outcome: &mut Outcome) {
        let old = std::fs::read(out(self.plan)).unwrap_or_default();
        let stored = save::files(&program::runs(user_of(self.plan)));
        let before = Left::now();
        // The kernel's brk knows no error: it answers with a break that is lower than was asked for.
        let failing =
            if self.call == "brk" { "retval=0".to_owned() } else { format!("error={}", self.error) };
        let inject = format!("inject={}:{failing}:when={}", self.call, self.when);
        let (trace, only) = (trace(self.plan), format!("trace={}", self.call));
        let first = program::first_cpus();
        let with_failure = |plan: &str| {
            let strace =
                ["-f", "--seccomp-bpf", "-qq", "-o", &trace, "-e", &only, "-e", &inject, "--", program::PATH];
            let mut arguments: Vec<&str> = strace.into_iter().chain(plan.split(' ')).collect();
            if plan.starts_with("run ") && self.error.len().is_multiple_of(2) {
                arguments.extend(["--cpu", &first]);
            }
            program::run(&mut program::command(user_of(self.plan), "strace", &arguments))
        };
        let came_about = || {
            let text = std::fs::read(&trace).unwrap_or_default();
            String::from_utf8_lossy(&text).contains("(INJECTED)")
        };
        // Which of its calls a process makes as the how manieth varies with the machine.
        let mut done = with_failure(PLANS[self.plan]);
        for _ in 0..2 {
            if came_about() {
                break;
            }
            space::end_everybody();
            done = with_failure(PLANS[self.plan]);
        }
        let Self { call, error, when, place, .. } = self;
        if !came_about() {
            outcome.count(NOT_MADE, 1);
            return;
        }
        let what = format!("{} with {error} at {call} {when} ({place})", PLANS[self.plan]);
        outcome.count(MADE, 1);
        // Before main the loader and the standard library's start give up in their own ways: no part of the program runs.
        let before_main = [
            "error while loading shared libraries",
            "fatal runtime error: initialization",
            "fatal runtime error: assertion failed: signal(libc::SIGPIPE",
        ];
        // The loader may crash without a word: then it does so whatever the program is to do.
        let silent_crash = done.status.is_some() && done.code().is_none() && done.stderr.is_empty();
        if before_main.iter().any(|words| done.stderr.contains(words))
            || silent_crash && with_failure("--version").code().is_none()
        {
            outcome.count("ended before main", 1);
        } else {
            program::ended_well(&done, &[0, 2, 3, 4, 5], &what, outcome);
        }
        outcome.count(
            &format!("ended with {}", done.code().map_or("a signal".to_owned(), |code| code.to_string())),
            1,
        );
        before.blame(&what, outcome);
        space::end_everybody();
        let now = std::fs::read(out(self.plan)).unwrap_or_default();
        match oscost_results::from_bytes(&now) {
            Ok(result) => {
                // An older file that was not replaced says nothing of this run.
                let code = done.code().filter(|_| now != old);
                for words in judge::wrong(&result, code) {
                    outcome.wrong("figures beside an error", format!("{what}: {words}"));
                }
            }
            Err(error) => outcome.fail(format!("{what}: the file that was asked for is torn: {error}")),
        }
        if done.code() == Some(4) && now != old && oscost_results::from_bytes(&now).is_err() {
            outcome.fail(format!("{what}: exit 4, and the old file was touched"));
        }
        save::unchanged(user_of(self.plan), &stored, &what, outcome);
    }
}
