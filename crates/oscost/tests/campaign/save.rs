//! save: killed while it saves, with a full disk, with no place at all. Old results stay as they are, no new one is torn.

use std::path::Path;
use std::process::Command;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, crowd};

/// One way to disturb the saving.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Save {
    /// SIGKILL at calls of the saving, so often.
    Killed { times: u32, seed: u64 },
    /// SIGKILL at each of its calls, every so many of them, from the how manieth on.
    Each { from: usize, every: usize },
    /// A call that writes, syncs, names or makes a file fails for want of room: the first time, the second, and so on, until a
    /// run has no more of them.
    NoRoom { call: String, most: u32 },
    /// Standard output is a full device.
    FullOutput,
}

const ONE: [&str; 5] = ["run", "--force", "--quiet", "--one-launch", "syscall/getppid"];

pub fn run(amount: Amount) -> Outcome {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let spaces = if amount.full { 20 } else { 3 };
    let mut provocations = vec![Provocation::Save(Save::FullOutput)];
    let mut skipped = Vec::new();
    let traces = program::is_here("strace");
    if traces {
        let killed = |_| Provocation::Save(Save::Killed { times: IN_ONE_SPACE, seed: random.next_u64() });
        provocations.extend((0..spaces).map(killed));
        let each = |from| Provocation::Save(Save::Each { from, every: EVERY });
        provocations.extend((0..if amount.full { EVERY } else { 0 }).map(each));
        for call in ["write", "pwrite64", "fsync", "fdatasync", "linkat", "ftruncate", "openat", "renameat2"]
        {
            let most = if amount.full { 200 } else { 2 };
            provocations.push(Provocation::Save(Save::NoRoom { call: call.to_owned(), most }));
        }
    } else {
        skipped.push("kills and no room at calls of the saving: strace is not installed".to_owned());
    }
    let mut outcome = crowd::sum(crowd::all(&provocations));
    let counted = |name: &str| outcome.counts.get(name).copied().unwrap_or(0);
    let (kills, wanted) = (counted(KILLS), spaces * u64::from(IN_ONE_SPACE));
    if traces && kills < wanted {
        outcome.fail(format!("save: {kills} kills fell into the saving, and {wanted} should"));
    }
    outcome.skipped.extend(skipped);
    outcome
}

impl Save {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let out = ground("out.json").display().to_string();
        let raw = ground("raw.csv").display().to_string();
        let saving: Vec<&str> = ONE.into_iter().chain(["--json", &out, "--raw", &raw]).collect();
        let done = program::run(&mut program::oscost(User::Own, &saving));
        if done.code() != Some(0) {
            outcome.fail(format!("saving undisturbed: {}", done.words()));
            return outcome;
        }
        let stored = files(&program::runs(User::Own));
        match self {
            Self::Killed { times, seed } => killed(*times, *seed, &saving, &out, &mut outcome),
            Self::Each { from, every } => each(*from, *every, &saving, &out, &mut outcome),
            Self::NoRoom { call, most } => {
                for when in 1..=*most {
                    let known = files(&program::runs(User::Own));
                    if !no_room(call, when, &saving, &out, &mut outcome) {
                        break;
                    }
                    unchanged(&known, &format!("no room at {call} {when}"), &mut outcome);
                }
            }
            Self::FullOutput => {
                let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
                let mut command: Command =
                    program::oscost(User::Own, &["run", "--force", "--one-launch", "syscall/getppid"]);
                let done = program::run(command.stdout(full));
                outcome.count("full outputs", 1);
                program::ended_well(&done, &[4], "standard output is full", &mut outcome);
            }
        }
        // What could not be saved is in the journal, and the next start finds it there.
        program::next_start(User::Own, &mut outcome);
        unchanged(&stored, &format!("{self:?}"), &mut outcome);
        program::store_is_whole(User::Own, &mut outcome);
        outcome
    }
}

/// What strace is told, and what it follows: the supervisor alone (no -f), which is who saves.
fn traced(trace: &str, inject: Option<&str>, saving: &[&str]) -> program::Done {
    let inject: Vec<&str> = inject.into_iter().flat_map(|inject| ["-e", inject]).collect();
    let arguments: Vec<&str> = ["-qq", "-o", trace]
        .into_iter()
        .chain(inject)
        .chain(["--", program::PATH])
        .chain(saving.iter().copied())
        .collect();
    program::run(&mut program::command(User::Own, "strace", &arguments))
}

/// The calls of the saving in a trace of the supervisor: from the first file that is begun after the last worker has ended. Each
/// with the how manieth of its name it is.
fn calls_of_saving(trace: &str) -> Vec<(String, u32)> {
    let lines: Vec<&str> = trace.lines().collect();
    let waited = lines.iter().rposition(|line| line.starts_with("wait4(") || line.starts_with("waitid("));
    let begins = waited.and_then(|waited| {
        lines[waited..].iter().position(|line| line.contains("O_TMPFILE")).map(|at| waited + at)
    });
    let mut ordinals: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
    let mut calls = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((name, _)) = line.split_once('(') else { continue };
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let ordinal = ordinals.entry(name).or_default();
        *ordinal += 1;
        if begins.is_some_and(|begins| at >= begins) && name != "exit_group" {
            calls.push((name.to_owned(), *ordinal));
        }
    }
    calls
}

/// The calls of an undisturbed saving; none if it cannot be seen.
fn seen(saving: &[&str], outcome: &mut Outcome) -> Vec<(String, u32)> {
    let done = traced(&trace(), None, saving);
    let calls = calls_of_saving(&read(&trace()));
    if done.code() == Some(0) && calls.iter().any(|(name, _)| name == "linkat") {
        return calls;
    }
    outcome.fail(format!("saving traced: {} calls of it are seen: {}", calls.len(), done.words()));
    Vec::new()
}

fn trace() -> String {
    ground("trace").display().to_string()
}

fn read(name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(name).unwrap_or_default()).into_owned()
}

/// SIGKILL at calls of the saving, drawn by the seed: the call is not made, and nobody tidies up.
fn killed(times: u32, seed: u64, saving: &[&str], out: &str, outcome: &mut Outcome) {
    let calls = seen(saving, outcome);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    // The one moment at which there is a temporary name, and then any.
    let renamed = calls.iter().rposition(|(name, _)| name == "renameat");
    let mut hits = 0;
    for _ in 0..TRIES * times {
        if hits == times || calls.is_empty() {
            break;
        }
        let any = random.next_u64() as usize % calls.len();
        let (call, when) = &calls[renamed.filter(|_| hits == 0).unwrap_or(any)];
        hits += u32::from(killed_at(call, *when, saving, out, outcome));
    }
}

/// SIGKILL at each call of the saving, those of this space.
fn each(from: usize, every: usize, saving: &[&str], out: &str, outcome: &mut Outcome) {
    for (call, when) in seen(saving, outcome).iter().skip(from).step_by(every) {
        let hit = (0..TRIES).any(|_| killed_at(call, *when, saving, out, outcome));
        outcome.count(if hit { "calls of the saving with a kill at each" } else { "calls of it without" }, 1);
    }
}

/// One kill at a call. Whether it fell into the saving.
fn killed_at(call: &str, when: u32, saving: &[&str], out: &str, outcome: &mut Outcome) -> bool {
    let stored = files(&program::runs(User::Own));
    let what = format!("killed at {call} {when} of the saving");
    let _ = traced(&trace(), Some(&format!("inject={call}:signal=KILL:when={when}")), saving);
    let text = read(&trace());
    let in_saving = text.contains("killed by SIGKILL") && !calls_of_saving(&text).is_empty();
    outcome.count(if in_saving { KILLS } else { ELSEWHERE }, 1);
    let _ = space::quiet();
    if let Err(error) = oscost_results::load(Path::new(out)) {
        outcome.count("torn results", 1);
        outcome.fail(format!("{what}: {out}: {error}"));
    }
    if let Err(why) = samples_are_whole(&read(&ground("raw.csv").display().to_string())) {
        outcome.count("torn results", 1);
        outcome.fail(format!("{what}: the samples: {why}"));
    }
    for name in space::names(Path::new(space::GROUND)) {
        if ["out.json", "raw.csv", "oscost", "home", "stdout", "stderr", "trace"].contains(&name.as_str()) {
            continue;
        }
        // Linux has no call that gives a file without a name the name of another. The next output removes what is left.
        if call == "renameat" && name.starts_with(".oscost-") && name.ends_with(".tmp") {
            outcome.count("temporary names that the next output removes", 1);
            let done = program::run(&mut program::oscost(User::Own, saving));
            if done.code() == Some(0) && !space::names(Path::new(space::GROUND)).contains(&name) {
                continue;
            }
        }
        outcome.count("stray files", 1);
        outcome.fail(format!("{what}: stray {name}"));
    }
    unchanged(&stored, &what, outcome);
    in_saving
}

/// Whether a file of samples has a heading, rows as wide as that, and a last line's end.
fn samples_are_whole(text: &str) -> Result<(), String> {
    let width = |line: &str| line.matches(',').count();
    let Some(heading) = text.lines().next().filter(|_| text.ends_with('\n')) else {
        return Err(format!("{} bytes without a last line's end", text.len()));
    };
    let narrow = text.lines().find(|line| width(line) != width(heading));
    if text.lines().count() < 2 {
        return Err("no sample".into());
    }
    narrow.map_or(Ok(()), |line| Err(format!("{line:?} under {heading:?}")))
}

/// Spaces among which the calls of the saving are spread.
const EVERY: usize = 10;
/// A run may make other calls than the one before, so that a kill misses the saving: so many are tried for each that must hit.
const TRIES: u32 = 3;
/// Kills in one space that must hit.
const IN_ONE_SPACE: u32 = 10;
/// Kills between the first and the last call of the saving.
const KILLS: &str = "kills while saving";
/// Kills that missed it: the process made other calls than before.
const ELSEWHERE: &str = "kills that missed the saving";

/// Lets one call of the program find no room. Whether there was such a call.
fn no_room(call: &str, when: u32, saving: &[&str], out: &str, outcome: &mut Outcome) -> bool {
    let old = std::fs::read(out).unwrap_or_default();
    let trace = ground("trace").display().to_string();
    let done = traced(&trace, Some(&format!("inject={call}:error=ENOSPC:when={when}")), saving);
    if !std::fs::read_to_string(&trace).unwrap_or_default().contains("(INJECTED)") {
        return false;
    }
    outcome.count("calls that found no room", 1);
    if done.code() == Some(4) {
        outcome.count("of them ended with 4", 1);
    }
    let what = format!("no room at {call} {when}");
    program::ended_well(&done, &[0, 2, 3, 4, 5], &what, outcome);
    let now = std::fs::read(out).unwrap_or_default();
    let is_new = now != old && oscost_results::from_bytes(&now).is_ok();
    // It ends with 0 only if the file that was asked for is there, whole and new.
    if done.code() == Some(0) && !is_new {
        outcome.fail(format!("{what}: exit 0, and the result is not there"));
    }
    if now != old && !is_new {
        outcome.fail(format!("{what}: the old file was touched"));
    }
    true
}

/// Results that were stored are there, byte by byte. Journals become results at the next start.
pub fn unchanged(stored: &[(String, Vec<u8>)], what: &str, outcome: &mut Outcome) {
    for (name, bytes) in stored.iter().filter(|(name, _)| name.ends_with(".json")) {
        if std::fs::read(program::runs(User::Own).join(name)).ok().as_ref() != Some(bytes) {
            outcome.fail(format!("{what}: the old result {name} is not what it was"));
        }
    }
}

/// Names and bytes of the files of a directory.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| Some((name.clone(), std::fs::read(folder.join(name)).ok()?));
    space::names(folder).into_iter().filter_map(read).collect()
}
