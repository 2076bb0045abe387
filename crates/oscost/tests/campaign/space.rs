//! A space of its own for each provocation: this program again, as the first process of new IPC, mount, network and PID namespaces,
//! with empty /dev/shm and /dev/mqueue, and a /tmp whose changes vanish. What is left in it is counted by difference (`left.rs`).

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::{Outcome, Provocation};

/// First argument of the program inside.
pub const INSIDE: &str = "--inside";
/// Where a provocation may write: a file system in memory.
pub const GROUND: &str = "/mnt";
/// Where this program is in a space: any user can start it there.
pub const OWN: &str = "/mnt/campaign";
/// A provocation that takes longer hangs: ten kills at moments within a run of a minute, each with a next start, and that run.
const DEADLINE: Duration = Duration::from_secs(1500);

fn unshare(arguments: &[&str]) -> Command {
    // Who interrupts the campaign leaves nobody behind: unshare dies with the thread that waits for it.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", "unshare", "--ipc", "--mount", "--net", "--pid", "--fork"]);
    command.args(["--mount-proc", "--kill-child"]);
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.arg("--").args(arguments).stdin(Stdio::null());
    command
}

pub fn is_root() -> bool {
    oscost_sys::identity::effective_uid() == 0
}

/// Whether spaces can be had here.
pub fn is_possible() -> bool {
    unshare(&["true"]).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Carries `provocation` out in a space of its own.
pub fn within(provocation: &Provocation) -> Outcome {
    let text = serde_json::to_string(provocation).unwrap();
    let own = std::env::current_exe().unwrap().display().to_string();
    let mut child = unshare(&[&own, INSIDE, &text])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("unshare can be started");
    let pipes = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |pipe: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = String::new();
            let mut pipe = pipe;
            let _ = pipe.read_to_string(&mut text);
            text
        })
    };
    let (out, err) = (read(Box::new(pipes.0)), read(Box::new(pipes.1)));
    let begun = Instant::now();
    let hangs = loop {
        match child.try_wait() {
            Ok(Some(_)) => break false,
            Ok(None) if begun.elapsed() > DEADLINE => {
                // Its child, the first process of the namespaces, dies with it, and everybody with that one.
                let _ = child.kill();
                let _ = child.wait();
                break true;
            }
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    let mut outcome: Outcome =
        out.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_else(|| {
            let mut none = Outcome::default();
            none.fail(format!("no outcome of {text}: {err}"));
            none
        });
    if hangs {
        outcome.fail(format!("hangs: {text}"));
    }
    outcome
}

/// The first process of a space: makes the ground, carries the provocation out, and prints the outcome.
pub fn inside(provocation: &str) -> ExitCode {
    let provocation: Provocation = match serde_json::from_str(provocation) {
        Ok(provocation) => provocation,
        Err(error) => {
            eprintln!("{provocation}: {error}");
            return ExitCode::FAILURE;
        }
    };
    prepare();
    let outcome = provocation.carry_out();
    println!("{}", serde_json::to_string(&outcome).unwrap());
    ExitCode::SUCCESS
}

fn prepare() {
    let mount = |arguments: &[&str]| {
        let done = Command::new("mount").args(arguments).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    assert!(mount(&["-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm"]), "a /dev/shm of our own");
    let _ = std::fs::create_dir("/dev/mqueue");
    let _ = mount(&["-t", "mqueue", "mqueue", "/dev/mqueue"]);
    assert!(mount(&["-t", "tmpfs", "-o", "mode=1777", "tmpfs", GROUND]), "a ground of our own");
    // Here any user can reach the program, wherever it was built.
    let program = crate::program::PATH;
    std::fs::write(program, "").unwrap();
    assert!(mount(&["--bind", crate::program::BUILT, program]), "the program can be mounted");
    let own = std::env::current_exe().expect("this program has a path").display().to_string();
    std::fs::write(OWN, "").unwrap();
    assert!(mount(&["--bind", &own, OWN]), "this program can be mounted");
    // In a network of its own no socket of another space is seen. Without a loopback some families have nothing to measure.
    let loopback = Command::new("ip").args(["link", "set", "lo", "up"]).status();
    assert!(loopback.is_ok_and(|done| done.success()), "a loopback of our own: ip link set lo up");
    // It may lie below /tmp, so these come last.
    for folder in ["/tmp", "/var/tmp"] {
        assert!(mount(&["-t", "tmpfs", "-o", "mode=1777", "tmpfs", folder]), "a {folder} of our own");
    }
}

/// Names in a directory.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Every process of the space but this one.
pub fn ids() -> Vec<u32> {
    let ids = names(Path::new("/proc")).into_iter().filter_map(|name| name.parse().ok());
    ids.filter(|&id| id != std::process::id()).collect()
}

/// A process in words; one that has ended does not count.
pub fn living(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (name, rest) = stat.rsplit_once(") ")?;
    let mut words = rest.split(' ');
    let (state, parent) = (words.next()?, words.next()?);
    let command = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    // Where it sleeps says more than what it is.
    let sleeps = std::fs::read_to_string(format!("/proc/{id}/wchan")).unwrap_or_default();
    let pending = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let pending: Vec<&str> = pending.lines().filter(|line| line.contains("Pnd:")).collect();
    (!matches!(state, "Z" | "X")).then(|| {
        format!(
            "process {name}, {state}, parent {parent}, in {sleeps}, {}): {}",
            pending.join(" "),
            command.trim()
        )
    })
}

/// Whether a SIGKILL waits for a process, or it is ending: it does nothing of its own any more, and is gone as soon as it has a CPU.
pub fn is_killed(id: u32) -> bool {
    const KILL: u64 = 1 << (9 - 1);
    /// PF_EXITING among the flags, field 9 of proc_pid_stat(5).
    const EXITING: u32 = 4;
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let flags = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(6)?.parse::<u32>().ok());
    if flags.is_some_and(|flags| flags & EXITING != 0) {
        return true;
    }
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let masks = status.lines().filter_map(|line| line.split_once("Pnd:"));
    masks.into_iter().any(|(_, mask)| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & KILL != 0))
}

/// Whether a process handles a signal by now: before, it dies of it. None where it has ended.
pub fn handles(id: u32, signal: i32) -> Option<bool> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
    if status.contains("State:\tZ") {
        return None;
    }
    Some(u64::from_str_radix(caught.trim(), 16).ok()? & (1 << (signal - 1)) != 0)
}

/// Waits until nobody is there any more; who still is after a while. On a busy machine somebody who was killed may get no
/// CPU for seconds, and others wait for his end: for that they have longer.
pub fn quiet() -> Vec<String> {
    let begun = Instant::now();
    loop {
        // Asked in this order, one that dies meanwhile is not there, and not one who was never killed.
        let there = ids().into_iter().map(|id| (is_killed(id), living(id)));
        let there: Vec<(bool, String)> = there.filter_map(|(killed, words)| Some((killed, words?))).collect();
        let patience = if there.iter().any(|(killed, _)| *killed) { 60 } else { 20 };
        if there.is_empty() || begun.elapsed() > Duration::from_secs(patience) {
            return there.into_iter().map(|(_, words)| words).collect();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends everybody in the space but the caller.
pub fn end_everybody() {
    let _ = Command::new("kill").args(["-KILL", "-1"]).stderr(Stdio::null()).status();
    let _ = quiet();
}

/// A file of the ground.
pub fn ground(name: &str) -> PathBuf {
    Path::new(GROUND).join(name)
}
