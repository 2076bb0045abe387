//! save: killed while it saves, with a full disk, with no place at all. Old results stay as they are, no new one is torn.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, crowd};

/// One way to disturb the saving.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Save {
    /// SIGKILL around the moment of saving, so often.
    Killed { times: u32, seed: u64 },
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
    let mut provocations: Vec<Provocation> =
        (0..spaces).map(|_| Provocation::Save(Save::Killed { times: 10, seed: random.next_u64() })).collect();
    provocations.push(Provocation::Save(Save::FullOutput));
    let mut skipped = Vec::new();
    if program::is_here("strace") {
        for call in ["write", "pwrite64", "fsync", "fdatasync", "linkat", "ftruncate", "openat", "renameat2"]
        {
            let most = if amount.full { 200 } else { 2 };
            provocations.push(Provocation::Save(Save::NoRoom { call: call.to_owned(), most }));
        }
    } else {
        skipped.push("no room at the n-th write: strace is not installed".to_owned());
    }
    let mut outcome = crowd::sum(crowd::all(&provocations));
    outcome.skipped.extend(skipped);
    outcome
}

impl Save {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let out = ground("out.json").display().to_string();
        let saving: Vec<&str> = ONE.into_iter().chain(["--json", &out]).collect();
        let begun = Instant::now();
        let done = program::run(&mut program::oscost(User::Own, &saving));
        if done.code() != Some(0) {
            outcome.fail(format!("saving undisturbed: {}", done.words()));
            return outcome;
        }
        let took = begun.elapsed();
        let stored = files(&program::runs(User::Own));
        match self {
            Self::Killed { times, seed } => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
                for _ in 0..*times {
                    let share = 0.5 + 0.6 * ((random.next_u64() >> 11) as f64 / (1u64 << 53) as f64);
                    let mut child = program::oscost(User::Own, &saving).spawn().unwrap();
                    std::thread::sleep(took.mul_f64(share));
                    let _ = child.kill();
                    let _ = child.wait();
                    let _ = space::quiet();
                    outcome.count("kills while saving", 1);
                    if let Err(error) = oscost_results::load(Path::new(&out)) {
                        outcome.count("torn results", 1);
                        outcome.fail(format!("killed while saving: {out}: {error}"));
                    }
                    for name in space::names(Path::new(space::GROUND)) {
                        if !["out.json", "oscost", "home", "stdout", "stderr"].contains(&name.as_str()) {
                            outcome.count("stray files", 1);
                            outcome.fail(format!("killed while saving: stray {name}"));
                        }
                    }
                }
            }
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

/// Lets one call of the program find no room. Whether there was such a call.
fn no_room(call: &str, when: u32, saving: &[&str], out: &str, outcome: &mut Outcome) -> bool {
    let old = std::fs::read(out).unwrap_or_default();
    let inject = format!("inject={call}:error=ENOSPC:when={when}");
    let trace = ground("trace").display().to_string();
    let only = format!("trace={call}");
    let arguments: Vec<&str> = ["-qq", "-o", &trace, "-e", &only, "-e", &inject, "--", program::PATH]
        .into_iter()
        .chain(saving.iter().copied())
        .collect();
    // Without -f: the supervisor alone, which is who saves.
    let done = program::run(&mut program::command(User::Own, "strace", &arguments));
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
