//! Starts the program in a space, as a given user with a given home, and records how it ended.

use std::fs::File;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::space::{self, ground};

/// Where it was built.
pub const BUILT: &str = env!("CARGO_BIN_EXE_oscost");
/// Where it is in a space.
pub const PATH: &str = "/mnt/oscost";
/// A run of it that takes longer hangs.
pub const DEADLINE: Duration = Duration::from_secs(90);

/// Who runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum User {
    /// Who runs the campaign.
    Own,
    /// An unprivileged one. Only root can become it.
    Nobody,
    /// Root by the unprivileged one's sudo: what is written belongs to that one.
    Sudo,
}

impl User {
    /// For a failure's words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Own => "",
            Self::Nobody => ", unprivileged",
            Self::Sudo => ", under sudo",
        }
    }
}

pub const NOBODY: u32 = 65534;
/// What sudo(8) says to a program.
const SUDO: [(&str, &str); 3] = [("SUDO_UID", "65534"), ("SUDO_GID", "65534"), ("SUDO_USER", "nobody")];

/// The home of a user, made with the first command.
pub fn home(user: User) -> PathBuf {
    ground(match user {
        User::Own => "home",
        User::Nobody => "nobody",
        User::Sudo => "sudo",
    })
}

fn make_home(user: User) -> PathBuf {
    let home = home(user);
    if std::fs::create_dir(&home).is_ok() && user != User::Own {
        chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    home
}

/// Where its results are.
pub fn runs(user: User) -> PathBuf {
    home(user).join("state/oscost/runs")
}

/// `program` with the environment of a user's home and no other, in a process group of its own.
pub fn command(user: User, program: &str, arguments: &[&str]) -> Command {
    let home = make_home(user);
    let mut command = match user {
        User::Own | User::Sudo => Command::new(program),
        User::Nobody => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", program]);
            command
        }
    };
    command
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("LC_ALL", "C.UTF-8")
        .envs(SUDO.into_iter().filter(|_| user == User::Sudo))
        .envs(std::env::var_os("OSCOST_KERNEL").map(|kernel| ("OSCOST_KERNEL", kernel)))
        .current_dir(&home)
        .stdin(Stdio::null())
        .stdout(File::create(ground("stdout")).unwrap())
        .stderr(File::create(ground("stderr")).unwrap())
        .process_group(0);
    command
}

/// The program of a user.
pub fn oscost(user: User, arguments: &[&str]) -> Command {
    command(user, PATH, arguments)
}

/// The same with these words of a shell after `prepare` in it; the shell becomes the program.
pub fn after(user: User, prepare: &str, words: &str) -> Command {
    let script = format!("set -- {words}\n{prepare}\nexec \"$0\" \"$@\"");
    command(user, "sh", &["-c", &script, PATH])
}

/// The CPUs that may be used, the first one first. A run prefers the last one: where every other has it the other way round, those that
/// go on at once do not wait for each other.
pub fn first_cpus() -> String {
    let cpus: Vec<String> =
        oscost_sys::affinity::allowed().unwrap_or_default().iter().map(ToString::to_string).collect();
    cpus.join(",")
}

/// How a run ended.
#[derive(Debug)]
pub struct Done {
    pub status: Option<ExitStatus>,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Both streams.
    pub fn said(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }

    /// A line for a failure.
    pub fn words(&self) -> String {
        let last: Vec<&str> = self.stderr.lines().rev().take(3).collect();
        match self.status {
            None => format!("hangs: {}", last.join(" | ")),
            Some(status) => format!(
                "ended with {:?}{}: {}",
                status.code(),
                status.signal().map_or(String::new(), |signal| format!(", signal {signal}")),
                last.join(" | ")
            ),
        }
    }
}

/// Waits for the end of a run, and kills it at the deadline.
pub fn finish(child: Child) -> Done {
    finish_within(child, DEADLINE)
}

fn finish_within(mut child: Child, deadline: Duration) -> Done {
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begun.elapsed() > deadline => {
                space::end_everybody();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(3)),
        }
    };
    let read =
        |name: &str| String::from_utf8_lossy(&std::fs::read(ground(name)).unwrap_or_default()).into_owned();
    Done { status, stdout: read("stdout"), stderr: read("stderr") }
}

/// Runs to the end.
pub fn run(command: &mut Command) -> Done {
    run_within(command, DEADLINE)
}

/// Runs to the end, which may be so far away.
pub fn run_within(command: &mut Command, deadline: Duration) -> Done {
    finish_within(command.spawn().expect("the program can be started"), deadline)
}

/// Every stored result of a user can be read and is theirs, and nothing else lies in the store but what is remembered of the machine.
pub fn store_is_whole(user: User, outcome: &mut Outcome) {
    let is_theirs = |path: &Path| std::fs::metadata(path).is_ok_and(|it| it.uid() == NOBODY);
    if user == User::Sudo {
        let names = space::names(&runs(user)).into_iter().map(|name| runs(user).join(name));
        for path in names.chain([runs(user)]).filter(|path| path.exists() && !is_theirs(path)) {
            outcome.fail(format!("under sudo: {} belongs to another user", path.display()));
        }
    }
    for name in space::names(&runs(user)) {
        let path = runs(user).join(&name);
        if name == "core.constants" {
            let bytes = std::fs::read(&path).unwrap_or_default();
            if let Err(error) = serde_json::from_slice::<serde_json::Value>(&bytes) {
                outcome.fail(format!("torn constants: {error}"));
            }
        } else if !name.ends_with(".json") {
            let bytes = std::fs::read(&path).unwrap_or_default();
            let said = std::fs::read_to_string(ground("stderr")).unwrap_or_default();
            let begins = String::from_utf8_lossy(&bytes).chars().take(120).collect::<String>();
            outcome.fail(format!(
                "stray file in the store: {name}, {} bytes: {begins}; said {said}",
                bytes.len()
            ));
        } else if let Err(error) = oscost_results::load(&path) {
            outcome.fail(format!("torn result {name}: {error}"));
        }
    }
}

/// The next start works, and cleans up: one launch, a result.
pub fn next_start(user: User, outcome: &mut Outcome) {
    let done = run(&mut oscost(
        user,
        &["run", "--force", "--quiet", "--one-launch", "syscall/getppid", "--json", "-"],
    ));
    outcome.count("next starts", 1);
    let result = oscost_results::from_bytes(done.stdout.as_bytes());
    if done.code() != Some(0) || result.is_err() {
        let figures = result.into_iter().flat_map(|result| result.figures);
        let why: Vec<String> = figures.filter_map(|figure| figure.why).collect();
        outcome.fail(format!("the next start: {} {}", done.words(), why.join(" | ")));
    }
}

/// No panic, no signal, an exit code of the list.
pub fn ended_well(done: &Done, allowed: &[i32], what: &str, outcome: &mut Outcome) {
    if done.said().contains("panicked at") {
        outcome.wrong("panics", format!("panic: {what}: {}", done.words()));
    }
    if done.status.is_none() {
        outcome.count("hangs", 1);
    }
    if !done.code().is_some_and(|code| allowed.contains(&code)) {
        outcome.fail(format!("{what}: {}", done.words()));
    }
}

/// Whether a program is here.
pub fn is_here(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: PathBuf| Path::new(&folder).join(program).is_file())
}
