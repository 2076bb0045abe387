//! save: killed while it saves, with a full disk, with no place at all. Old results stay as they are, no new one is torn.

use std::path::{Path, PathBuf};
use std::process::Command;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::left::{self, Left};
use crate::program::{self, User};
use crate::{Amount, Outcome, Provocation, crowd, space};

/// One way to disturb the saving.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Save {
    how: How,
    what: What,
    user: User,
}

/// How it is disturbed.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum How {
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

/// What is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum What {
    /// A result, a file of it, and its samples.
    Run,
    /// A result, and every message as files in folders.
    Messages,
    /// A page that shows a stored result.
    Page,
}

impl What {
    fn arguments(self) -> Vec<&'static str> {
        let one = ["run", "--force", "--quiet", "--one-launch"];
        let session =
            ["realtime_ipc", "--set", "transport=pipe", "--set", "clients=1", "--set", "placement=same_cpu"];
        match self {
            Self::Run => [&one[..], &["syscall/getppid", "--json", "out.json", "--raw", "raw.csv"]].concat(),
            Self::Messages => [&one[..], &session, &["--set", "raw_dir=raw", "--json", "out.json"]].concat(),
            Self::Page => vec!["report", "@-1", "--format", "html", "-o", "page.html"],
        }
    }
}

pub fn run(amount: Amount) -> Outcome {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let save = |how, what, user| Provocation::Save(Save { how, what, user });
    let mut provocations = vec![save(How::FullOutput, What::Run, User::Own)];
    let mut skipped = Vec::new();
    let mut wanted = 0;
    if program::is_here("strace") {
        let times = if amount.full { IN_ONE_SPACE } else { 4 };
        for (what, user, full) in [
            (What::Run, User::Own, 10),
            (What::Run, User::Nobody, 3),
            (What::Run, User::Sudo, 3),
            (What::Messages, User::Own, 4),
            (What::Page, User::Own, 4),
        ] {
            if user != User::Own && !space::is_root() {
                continue;
            }
            for _ in 0..if amount.full { full } else { 1 } {
                provocations.push(save(How::Killed { times, seed: random.next_u64() }, what, user));
                wanted += u64::from(times);
            }
        }
        let (spaces, every) = if amount.full { (EVERY, EVERY) } else { (1, 3 * EVERY) };
        provocations.extend((0..spaces).map(|from| save(How::Each { from, every }, What::Run, User::Own)));
        for call in ["write", "pwrite64", "fsync", "fdatasync", "linkat", "ftruncate", "openat", "renameat2"]
        {
            let most = if amount.full { 200 } else { 2 };
            let no_room = How::NoRoom { call: call.to_owned(), most };
            provocations.push(save(no_room.clone(), What::Run, User::Own));
            if amount.full && matches!(call, "write" | "fsync" | "linkat") {
                let users = [User::Nobody, User::Sudo].into_iter().filter(|_| space::is_root());
                provocations.extend(users.map(|user| save(no_room.clone(), What::Run, user)));
                provocations
                    .extend([What::Messages, What::Page].map(|what| save(no_room.clone(), what, User::Own)));
            }
        }
    } else {
        skipped.push("kills and no room at calls of the saving: strace is not installed".to_owned());
    }
    let mut outcome = crowd::sum(crowd::all(&provocations));
    let kills = outcome.counts.get(KILLS).copied().unwrap_or(0);
    if kills < wanted {
        outcome.fail(format!("save: {kills} kills fell into the saving, and {wanted} should"));
    }
    outcome.skipped.extend(skipped);
    outcome
}

impl Save {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        // Something to show, and then everything once, so that each file is replaced.
        for what in [What::Run, self.what] {
            let done = program::run(&mut program::oscost(self.user, &what.arguments()));
            if done.code() != Some(0) {
                return outcome.failed(format!("saving undisturbed: {}", done.words()));
            }
        }
        let stored = files(&program::runs(self.user));
        match &self.how {
            How::Killed { times, seed } => self.killed(*times, *seed, &mut outcome),
            How::Each { from, every } => self.each(*from, *every, &mut outcome),
            How::NoRoom { call, most } => {
                for when in 1..=*most {
                    let known = files(&program::runs(self.user));
                    if !self.no_room(call, when, &mut outcome) {
                        break;
                    }
                    unchanged(self.user, &known, &format!("no room at {call} {when}"), &mut outcome);
                }
            }
            How::FullOutput => {
                let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
                let mut command: Command =
                    program::oscost(self.user, &["run", "--force", "--one-launch", "syscall/getppid"]);
                let done = program::run(command.stdout(full));
                outcome.count("full outputs", 1);
                program::ended_well(&done, &[4], "standard output is full", &mut outcome);
            }
        }
        // What could not be saved is in the journal, and the next start finds it there.
        program::next_start(self.user, &mut outcome);
        unchanged(self.user, &stored, &format!("{self:?}"), &mut outcome);
        program::store_is_whole(self.user, &mut outcome);
        outcome
    }

    fn home(&self) -> PathBuf {
        program::home(self.user)
    }

    fn trace(&self) -> String {
        self.home().join("trace").display().to_string()
    }

    /// What strace is told, and what it follows: the supervisor alone (no -f), which is who saves.
    fn traced(&self, inject: Option<&str>) -> program::Done {
        let trace = self.trace();
        let inject: Vec<&str> = inject.into_iter().flat_map(|inject| ["-e", inject]).collect();
        let arguments: Vec<&str> = ["-qq", "-o", &trace]
            .into_iter()
            .chain(inject)
            .chain(["--", program::PATH])
            .chain(self.what.arguments())
            .collect();
        program::run(&mut program::command(self.user, "strace", &arguments))
    }

    /// The calls of an undisturbed saving; none if it cannot be seen.
    fn seen(&self, outcome: &mut Outcome) -> Vec<(String, u32)> {
        let done = self.traced(None);
        let calls = calls_of_saving(&read(&self.trace()));
        if done.code() == Some(0) && calls.iter().any(|(name, _)| name == "linkat") {
            return calls;
        }
        outcome.fail(format!("saving traced: {} calls of it are seen: {}", calls.len(), done.words()));
        Vec::new()
    }

    /// SIGKILL at calls of the saving, drawn by the seed: the call is not made, and nobody tidies up.
    fn killed(&self, times: u32, seed: u64, outcome: &mut Outcome) {
        let calls = self.seen(outcome);
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
            hits += u32::from(self.killed_at(call, *when, outcome));
        }
    }

    /// SIGKILL at each call of the saving, those of this space.
    fn each(&self, from: usize, every: usize, outcome: &mut Outcome) {
        let mut calls = self.seen(outcome);
        for index in (from..calls.len()).step_by(every) {
            let mut hit = false;
            for again in 0..TRIES * TRIES {
                // The process makes other calls than before: its measurements take as many as they need.
                if again > 0 && again % TRIES == 0 {
                    calls = self.seen(outcome);
                }
                let Some((call, when)) = calls.get(index).cloned() else { break };
                hit = self.killed_at(&call, when, outcome);
                if hit {
                    break;
                }
            }
            if hit {
                outcome.count("calls of the saving with a kill at each", 1);
            } else {
                outcome.fail(format!(
                    "save: no kill came to call {index} of the saving: {:?}",
                    calls.get(index)
                ));
            }
        }
    }

    /// One kill at a call. Whether it fell into the saving.
    fn killed_at(&self, call: &str, when: u32, outcome: &mut Outcome) -> bool {
        let stored = files(&program::runs(self.user));
        let (before, outputs) = (Left::now(), left::outputs(&self.home()));
        let what = format!("{:?}{} killed at {call} {when} of the saving", self.what, self.user.words());
        let _ = self.traced(Some(&format!("inject={call}:signal=KILL:when={when}")));
        let text = read(&self.trace());
        let in_saving = text.contains("killed by SIGKILL") && !calls_of_saving(&text).is_empty();
        outcome.count(if in_saving { KILLS } else { ELSEWHERE }, 1);
        let _ = space::quiet();
        left::outputs_are_whole(&self.home(), &outputs, outcome);
        let (names, others): (Vec<_>, Vec<_>) =
            before.since().into_iter().partition(|name| left::is_temporary(name));
        for stray in others {
            outcome.wrong("stray files", format!("{what}: stray {stray}"));
        }
        if !names.is_empty() {
            // Linux has no call that gives a file without a name the name of another. The next output removes what is left.
            outcome.count("temporary names that the next output removes", names.len() as u64);
            let done = program::run(&mut program::oscost(self.user, &self.what.arguments()));
            program::ended_well(&done, &[0], &format!("the output after {what}"), outcome);
            for stray in before.since() {
                outcome.wrong("stray files", format!("{what}: the next output leaves {stray}"));
            }
        }
        unchanged(self.user, &stored, &what, outcome);
        in_saving
    }

    /// Lets one call of the program find no room. Whether there was such a call.
    fn no_room(&self, call: &str, when: u32, outcome: &mut Outcome) -> bool {
        let name = if self.what == What::Page { "page.html" } else { "out.json" };
        let old = std::fs::read(self.home().join(name)).unwrap_or_default();
        let outputs = left::outputs(&self.home());
        let done = self.traced(Some(&format!("inject={call}:error=ENOSPC:when={when}")));
        if !read(&self.trace()).contains("(INJECTED)") {
            return false;
        }
        outcome.count("calls that found no room", 1);
        if done.code() == Some(4) {
            outcome.count("of them ended with 4", 1);
        }
        let what = format!("{:?}{}: no room at {call} {when}", self.what, self.user.words());
        program::ended_well(&done, &[0, 2, 3, 4, 5], &what, outcome);
        let now = std::fs::read(self.home().join(name)).unwrap_or_default();
        let is_new = now != old && left::is_whole(name, &now).is_ok();
        // It ends with 0 only if the file that was asked for is there, whole and new. The same page may be shown again.
        if done.code() == Some(0) && !is_new && self.what != What::Page {
            outcome.fail(format!("{what}: exit 0, and the result is not there"));
        }
        if now != old && !is_new {
            outcome.fail(format!("{what}: the old file was touched"));
        }
        left::outputs_are_whole(&self.home(), &outputs, outcome);
        true
    }
}

/// The calls of the saving in a trace of the supervisor: from the first file that is begun after the last worker has ended. Each
/// with the how manieth of its name it is.
fn calls_of_saving(trace: &str) -> Vec<(String, u32)> {
    let lines: Vec<&str> = trace.lines().collect();
    let waited = lines.iter().rposition(|line| line.starts_with("wait4(") || line.starts_with("waitid("));
    // Who only shows waits for nobody.
    let waited = waited.unwrap_or(0);
    let begins = lines[waited..].iter().position(|line| line.contains("O_TMPFILE")).map(|at| waited + at);
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

fn read(name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(name).unwrap_or_default()).into_owned()
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

/// Results that were stored are there, byte by byte. Journals become results at the next start.
pub fn unchanged(user: User, stored: &[(String, Vec<u8>)], what: &str, outcome: &mut Outcome) {
    for (name, bytes) in stored.iter().filter(|(name, _)| name.ends_with(".json")) {
        if std::fs::read(program::runs(user).join(name)).ok().as_ref() != Some(bytes) {
            outcome.fail(format!("{what}: the old result {name} is not what it was"));
        }
    }
}

/// Names and bytes of the files of a directory.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| Some((name.clone(), std::fs::read(folder.join(name)).ok()?));
    space::names(folder).into_iter().filter_map(read).collect()
}
