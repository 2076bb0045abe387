//! The janitor: removes kernel objects that outlive a process, if workers cannot get private namespaces.
//!
//! It is started before any object exists, in a process group of its own, ignores the signals by which a user ends a program,
//! and waits at a pipe. When every process that holds the other end is gone, for whatever reason, it removes what the
//! ledger names and ends. If it alone is killed, the supervisor does its work at the end. What both cannot survive is a kill of
//! every process at once (a cgroup's): then the next start does. The result says that it was the janitor who watched.

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Stdio};

use oscost_sys::folder::Folder;
use oscost_sys::pipe::Pipe;
use oscost_sys::{CallError, process};

use crate::benchmark::directory::Place;
use crate::protocol::keeper::{JANITOR_ARGUMENT, Tie, descriptor};
use crate::protocol::ledger::{Ledger, SHARED_MEMORY};
use crate::protocol::object::Object;

/// A running janitor, seen from the supervisor.
#[derive(Debug)]
pub struct Janitor {
    process: Child,
    tie: Tie,
    folders: Option<Folder>,
}

impl Janitor {
    /// Starts a janitor from the program itself. It ends by itself when the last end of its pipe is closed. What it is told
    /// of is found by the next start too, where `durable` says so. `place` is where folders go; it is inherited.
    ///
    /// # Errors
    /// The error of recvfrom, of pipe2, of making the ledger, or of starting a program.
    pub fn start(program: &std::path::Path, durable: bool, place: Option<&Place>) -> Result<Self, CallError> {
        let failed = |error: std::io::Error| CallError::new("exec", error.raw_os_error().unwrap_or(0));
        // Whoever starts a worker hears by it whether it started.
        process::may_hear()?;
        let Pipe { reader, writer } = Pipe::new()?;
        let mut ledger = Ledger::make(durable)?;
        let mut command = Command::new(program);
        command.arg(JANITOR_ARGUMENT);
        if let Some(place) = place {
            command.arg(place.folder().as_raw_fd().to_string());
        }
        process::in_own_group(&mut command);
        let process = command
            .env_clear()
            .stdin(Stdio::from(reader))
            .stdout(Stdio::from(ledger.as_fd().try_clone_to_owned().map_err(failed)?))
            .stderr(process::sink()?)
            .spawn()
            .map_err(failed)?;
        ledger.publish();
        let folders = match place {
            Some(place) => place.folder().again().ok(),
            None => in_memory(),
        };
        Ok(Self { process, tie: Tie { pipe: writer, ledger }, folders })
    }

    /// Writes down what this process itself is about to make.
    ///
    /// # Errors
    /// The error of write.
    pub fn declare(&self, object: &Object) -> Result<(), CallError> {
        self.tie.ledger.declare(object)
    }

    /// Programs that this process starts from now on are waited for as well.
    ///
    /// # Errors
    /// The error of fcntl.
    pub fn wait_for_programs(&self) -> Result<(), CallError> {
        process::keep_over_exec(&self.tie.pipe)
    }

    /// Lets workers inherit pipe and ledger: the words by which a worker is told of them.
    ///
    /// # Errors
    /// The error of fcntl.
    pub fn share(&self) -> Result<String, CallError> {
        process::keep_over_exec(&self.tie.pipe)?;
        process::keep_over_exec(&self.tie.ledger)?;
        Ok(format!("{},{}", self.tie.pipe.as_raw_fd(), self.tie.ledger.as_raw_fd()))
    }
}

/// Its work is done here if it has ended before its time: somebody killed it. The workers have ended by now.
impl Drop for Janitor {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.process.try_wait() {
            self.tie.ledger.settle(self.folders.as_ref());
        }
    }
}

/// Where folders of a run are that has no place of its own.
fn in_memory() -> Option<Folder> {
    Folder::open(std::path::Path::new(SHARED_MEMORY)).ok()
}

/// What the program does when it is started as the janitor: the pipe is its standard input, the ledger its output, and the
/// argument the descriptor of the folder in which folders are.
pub fn serve(mut arguments: impl Iterator<Item = String>) {
    process::ignore_endings();
    let folders = match arguments.next() {
        Some(number) => descriptor(&number).ok().map(Folder::from),
        None => in_memory(),
    };
    let Ok(ledger) = std::io::stdout().as_fd().try_clone_to_owned() else { return };
    // Nobody says anything: what ends is the last end of the pipe.
    let _ = std::io::stdin().read(&mut [0]);
    Ledger::inherited(ledger).settle(folders.as_ref());
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use oscost_sys::semaphore::NamedSemaphore;

    use super::*;

    /// Whether a declared semaphore is there after the janitor was dropped, who is played by `program`.
    fn stays(program: &[&str], has_ended: bool) -> bool {
        let name = format!("/oscost-{:032x}", oscost_sys::random::bits().expect("bits"));
        let mut process = Command::new(program[0]).args(&program[1..]).spawn().expect("it starts");
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while has_ended && process.try_wait().expect("ours").is_none() {
            assert!(std::time::Instant::now() < patience, "it does not end");
            oscost_sys::clock::pause(std::time::Duration::from_millis(1));
        }
        let pid = i32::try_from(process.id()).expect("a pid");
        let ledger = Ledger::make(false).expect("a ledger");
        let pipe = Pipe::new().expect("a pipe").writer;
        let janitor = Janitor { process, tie: Tie { pipe, ledger }, folders: None };
        janitor.declare(&Object::NamedSemaphore(name.clone())).expect("declared");
        let semaphore = NamedSemaphore::create(&name, 1).expect("a semaphore");
        // As a worker that is killed: it removes nothing itself.
        std::mem::forget(semaphore);
        drop(janitor);
        if !has_ended {
            process::signal(pid, process::Signal::Kill).expect("ours");
        }
        let file = Path::new(SHARED_MEMORY).join(format!("sem.{}", &name[1..]));
        let is_there = file.exists();
        let _ = std::fs::remove_file(file);
        is_there
    }

    #[test]
    fn the_supervisor_does_the_work_of_a_janitor_who_was_killed() {
        assert!(!stays(&["true"], true), "nobody removed it");
        assert!(stays(&["sleep", "1000"], false), "a janitor who lives does it himself, when all have ended");
    }

    /// Tells this test that it is run in a process of its own, as a janitor.
    const AS_JANITOR: &str = "OSCOST_TEST_AS_JANITOR";

    /// Who waits at the end of a pipe, hears no signal that ends programs, and then removes what the ledger names.
    #[test]
    fn a_janitor_outlives_a_signal_and_removes_what_is_left_when_all_have_ended() {
        if std::env::var_os(AS_JANITOR).is_some() {
            return serve(std::iter::empty());
        }
        let name = format!("/oscost-{:032x}", oscost_sys::random::bits().expect("bits"));
        let (ledger, life) = (Ledger::make(false).expect("a ledger"), Pipe::new().expect("a pipe"));
        ledger.declare(&Object::NamedSemaphore(name.clone())).expect("declared");
        std::mem::forget(NamedSemaphore::create(&name, 1).expect("a semaphore"));
        let folder = Path::new(SHARED_MEMORY).join(&name[1..]);
        ledger.declare(&Object::Folder(name[1..].to_owned())).expect("declared");
        std::fs::create_dir(&folder).expect("a folder");
        let test = "supervisor::janitor::tests::a_janitor_outlives_a_signal_and_removes_what_is_left_when_all_have_ended";
        let mut janitor = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "--nocapture", test])
            .env(AS_JANITOR, "1")
            .stdin(Stdio::from(life.reader))
            .stdout(Stdio::from(ledger.as_fd().try_clone_to_owned().expect("a descriptor")))
            .spawn()
            .expect("it starts");
        let pid = i32::try_from(janitor.id()).expect("a pid");
        // Bit 14 of what it ignores is SIGTERM.
        let is_deaf = || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
            mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
                .is_some_and(|mask| mask >> 14 & 1 == 1)
        };
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !is_deaf()
            && janitor.try_wait().expect("ours").is_none()
            && std::time::Instant::now() < patience
        {
            std::thread::yield_now();
        }
        process::signal(pid, process::Signal::Terminate).expect("ours");
        drop(life.writer);
        assert!(janitor.wait().expect("ours").success(), "it ends by itself");
        let file = Path::new(SHARED_MEMORY).join(format!("sem.{}", &name[1..]));
        let are_left = (file.exists(), folder.exists());
        let _ = (std::fs::remove_file(file), std::fs::remove_dir(folder));
        assert_eq!(are_left, (false, false));
    }
}
