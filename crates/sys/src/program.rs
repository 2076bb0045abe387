//! Other programs: where they lie, and what they say before their deadline.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::{clock, process, readiness};

/// Where programs lie if nobody says.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute folders of PATH. What lies in the folder that somebody happens to be in is not run because its name is known:
/// a PATH with an empty or relative part is a PATH without it.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    absolute(&std::env::var_os("PATH").unwrap_or_else(|| USUAL.into()))
}

fn absolute(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// The same as a PATH, for programs that start others.
#[must_use]
pub fn search_path() -> OsString {
    std::env::join_paths(folders()).unwrap_or_else(|_| USUAL.into())
}

/// Where the program of that name lies: in the first folder of [`folders`] that has one.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    find_in(&folders(), name)
}

fn find_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    folders.iter().map(|folder| folder.join(name)).find(runs)
}

/// Starts the program that is named: as [`find`] has it, or at that path if it is one.
///
/// # Errors
/// [`io::ErrorKind::NotFound`]: no absolute folder of PATH has it.
pub fn command(name: &str) -> io::Result<Command> {
    let path = if name.contains('/') { Some(name.into()) } else { find(name) };
    let missing = || io::Error::new(io::ErrorKind::NotFound, "no absolute folder of PATH has it");
    let mut command = Command::new(path.ok_or_else(missing)?);
    // Programs call themselves in their complaints by the name by which they were started.
    command.arg0(name);
    Ok(command)
}

/// What a program said.
#[derive(Debug)]
#[non_exhaustive]
pub struct Heard {
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
    /// How it ended; `None`: it was ended at its deadline.
    pub status: Option<ExitStatus>,
}

/// Runs a program to its end, and keeps at most `most` bytes of each of its two streams. It is a group of its own, which ends
/// with it, and at the latest after `patience`; it dies with the calling thread.
///
/// # Errors
/// The error of starting it, or of ppoll.
pub fn hear(command: &mut Command, most: usize, patience: Duration) -> io::Result<Heard> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    process::end_with_caller(command);
    attend(command.spawn()?, most, patience)
}

/// The same with a program that was started: as the first of its group, with pipes for what is to be heard.
///
/// # Errors
/// The error of ppoll, or of waiting for it.
pub fn attend(child: Child, most: usize, patience: Duration) -> io::Result<Heard> {
    let deadline = clock::now_ns().saturating_add(u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX));
    let mut running = Running { child, waited: false };
    let (mut stdout, mut stderr) = (running.child.stdout.take(), running.child.stderr.take());
    let mut heard = Heard { stdout: Vec::new(), stderr: Vec::new(), status: None };
    let pid = running.child.id().cast_signed();
    let end = process::pidfd(pid).ok();
    let mut ended = false;
    let mut buffer = vec![0; 1 << 16];
    while (stdout.is_some() || stderr.is_some() || end.is_some()) && !ended {
        let now = clock::now_ns();
        if now >= deadline {
            break;
        }
        let mut fds: Vec<&dyn AsRawFd> = Vec::new();
        fds.extend(stdout.as_ref().map(|it| it as &dyn AsRawFd));
        fds.extend(stderr.as_ref().map(|it| it as &dyn AsRawFd));
        fds.extend(end.as_ref().map(|it| it as &dyn AsRawFd));
        let ready = readiness::poll_readable(&fds, deadline - now)
            .map_err(|error| io::Error::from_raw_os_error(error.errno))?;
        let mut ready = ready.into_iter();
        let said = stdout.is_some() && ready.next() == Some(true);
        let complained = stderr.is_some() && ready.next() == Some(true);
        if said {
            stdout = take(stdout, &mut heard.stdout, most, &mut buffer);
        }
        if complained {
            stderr = take(stderr, &mut heard.stderr, most, &mut buffer);
        }
        let is_over = ready.next() == Some(true);
        if is_over {
            // A child that it leaves may hold its streams open, and talk on.
            running.end_group();
        }
        // What it said itself has been read by then.
        ended = is_over && !said && !complained;
    }
    // Before Linux 5.3 there is no pidfd: both streams have ended, and it has or will.
    while !ended && !process::has_ended(pid) && clock::now_ns() < deadline {
        clock::pause(Duration::from_micros(200));
    }
    // At the deadline it may have ended itself, while somebody outside its group talks on.
    if ended || process::has_ended(pid) {
        heard.status = Some(running.end()?);
        if !ended {
            rest(stdout, &mut heard.stdout, most, &mut buffer);
            rest(stderr, &mut heard.stderr, most, &mut buffer);
        }
    }
    Ok(heard)
}

/// Reads what its writer left in a pipe, which has 16 pages of 64 KiB at most: others may talk on.
fn rest<T: Read + AsRawFd>(mut from: Option<T>, into: &mut Vec<u8>, most: usize, buffer: &mut [u8]) {
    for _ in 0..16 {
        let is_there = |from: &T| readiness::poll_readable(&[from], 0).is_ok_and(|ready| ready == [true]);
        from = take(from.filter(is_there), into, most, buffer);
    }
}

/// Reads what is there; the stream, unless this was its end.
fn take<T: Read>(from: Option<T>, into: &mut Vec<u8>, most: usize, buffer: &mut [u8]) -> Option<T> {
    let mut from = from?;
    let Ok(count @ 1..) = from.read(buffer) else { return None };
    let room = most.saturating_sub(into.len());
    into.extend_from_slice(&buffer[..count.min(room)]);
    Some(from)
}

/// A program that may lead a group; dropping it ends both.
struct Running {
    child: Child,
    waited: bool,
}

impl Running {
    /// Ends whoever is in its group. It has not been waited for, so the number is still its own.
    fn end_group(&self) {
        let _ = process::signal_group(self.child.id().cast_signed(), process::Signal::Kill);
    }

    /// Ends both, where they have not ended, and waits for it. From then on its number may be somebody else's.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.end_group();
        let _ = self.child.kill();
        self.waited = true;
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.waited {
            let _ = self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shell(script: &str, most: usize, patience_ms: u64) -> Heard {
        let mut command = command("sh").expect("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        hear(&mut command, most, Duration::from_millis(patience_ms)).expect("heard")
    }

    #[test]
    fn only_absolute_folders_are_looked_into_and_only_programs_found() {
        assert_eq!(absolute(OsStr::new(":.:./bin:bin:/a::/b/c:")), [Path::new("/a"), Path::new("/b/c")]);
        let ground = tempfile::tempdir().expect("a folder");
        let folders = [ground.path().join("one"), ground.path().join("two")];
        for folder in &folders {
            std::fs::create_dir(folder).expect("a folder");
            std::fs::write(folder.join("tool"), "").expect("a file");
        }
        std::fs::create_dir(folders[0].join("folder")).expect("a folder");
        assert_eq!((find_in(&folders, "tool"), find_in(&folders, "folder")), (None, None));
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folders[1].join("tool"), runs).expect("its mode");
        assert_eq!(find_in(&folders, "tool"), Some(folders[1].join("tool")));
        let missing = command("no-such-program-of-oscost").expect_err("none");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let odd = hear(&mut command("/no/such/program").expect("a path"), 1, Duration::from_secs(1));
        assert!(odd.is_err());
    }

    #[test]
    fn what_a_program_says_is_heard_to_its_end_and_no_longer_than_its_deadline() {
        let heard = shell("echo out; echo err >&2; exit 3", 100, 60_000);
        assert_eq!((heard.stdout.as_slice(), heard.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(heard.status.and_then(|status| status.code()), Some(3));
        // What it says after its beginning is read all the same: else it would wait for room.
        let long = shell("head -c 300000 /dev/zero; echo x >&2", 10, 60_000);
        assert_eq!((long.stdout.len(), long.stderr.as_slice()), (10, &b"x\n"[..]));
        assert!(long.status.is_some_and(|status| status.success()));
        // It goes on without its streams, and is still waited for.
        let silent = shell("exec >&- 2>&-; sleep 0.05; exit 4", 10, 60_000);
        assert_eq!(silent.status.and_then(|status| status.code()), Some(4));
    }

    /// Nobody looked at it in time (Ctrl-Z): what it said was lost, and its end passed for that of one that was heard whole.
    #[test]
    fn who_ended_unheard_before_his_deadline_is_heard_whole() {
        let mut program = Command::new("sh");
        program
            .args(["-c", "echo out; echo err >&2"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let child = program.spawn().expect("a shell");
        while !process::has_ended(child.id().cast_signed()) {
            clock::pause(Duration::from_millis(1));
        }
        let heard = attend(child, 100, Duration::ZERO).expect("heard");
        assert_eq!((heard.stdout.as_slice(), heard.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert!(heard.status.is_some_and(|status| status.success()), "{heard:?}");
    }

    #[test]
    fn who_never_ends_is_ended_with_what_he_started() {
        let hangs = shell("echo $$; sleep 1000 & sleep 1000", 100, 3000);
        assert!(hangs.status.is_none(), "{hangs:?}");
        let group: i32 = String::from_utf8_lossy(&hangs.stdout).trim().parse().expect("a pid");
        assert!(goes(group), "somebody of its group is still there");
        // A child that holds its streams open is not waited for, and goes too.
        let leaves = shell("sleep 1000 & echo $$", 100, 60_000);
        assert!(leaves.status.is_some_and(|status| status.success()), "{leaves:?}");
    }

    /// Whether nobody is left of a group, a moment later.
    fn goes(group: i32) -> bool {
        let gone = || process::signal_group(group, process::Signal::Continue).is_err();
        let patience = std::time::Instant::now() + Duration::from_secs(60);
        while !gone() && std::time::Instant::now() < patience {
            clock::pause(Duration::from_millis(5));
        }
        gone()
    }

    #[test]
    fn a_child_that_talks_on_costs_no_time_and_goes_with_its_group() {
        let leaves = shell("echo $$; yes & sleep 1000 & exit 3", 100, 60_000);
        assert_eq!(leaves.status.and_then(|status| status.code()), Some(3), "{leaves:?}");
        let said = String::from_utf8_lossy(&leaves.stdout).into_owned();
        let group: i32 = said.lines().next().and_then(|line| line.parse().ok()).expect("a pid");
        assert!(goes(group), "somebody of its group is still there");
    }
}
