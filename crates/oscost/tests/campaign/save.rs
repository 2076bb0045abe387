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
    /// The n-th write, fsync or link of a file fails for want of room.
    NoRoom { call: String, when: u32 },
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
            let most = if amount.full { 12 } else { 2 };
            let no_room = |when| Provocation::Save(Save::NoRoom { call: call.to_owned(), when });
            provocations.extend((1..=most).map(no_room));
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
        let old = std::fs::read(&out).unwrap_or_default();
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
            Self::NoRoom { call, when } => {
                let inject = format!("inject={call}:error=ENOSPC:when={when}");
                let arguments: Vec<&str> = ["-qq", "-o", "/dev/null", "-e", &inject, "--", program::PATH]
                    .into_iter()
                    .chain(saving.iter().copied())
                    .collect();
                // Without -f: the supervisor alone, which is who saves.
                let done = program::run(&mut program::command(User::Own, "strace", &arguments));
                outcome.count("calls that found no room", 1);
                let what = format!("no room at {call} {when}");
                program::ended_well(&done, &[0, 2, 3, 4, 5], &what, &mut outcome);
                let now = std::fs::read(&out).unwrap_or_default();
                let is_new = oscost_results::from_bytes(&now).is_ok();
                // It ends with 0 only if the file that was asked for is there, whole and new.
                if done.code() == Some(0) && (!is_new || now == old) && call != "openat" {
                    outcome.fail(format!("{what}: exit 0, and the result is not there"));
                }
                if done.code() == Some(4) && now != old && !is_new {
                    outcome.fail(format!("{what}: exit 4, and the old file was touched"));
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
        for (name, bytes) in &stored {
            if std::fs::read(program::runs(User::Own).join(name)).ok().as_ref() != Some(bytes) {
                outcome.fail(format!("{self:?}: the old result {name} is not what it was"));
            }
        }
        program::store_is_whole(User::Own, &mut outcome);
        outcome
    }
}

/// Names and bytes of the files of a directory.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| Some((name.clone(), std::fs::read(folder.join(name)).ok()?));
    space::names(folder).into_iter().filter_map(read).collect()
}
