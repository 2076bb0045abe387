//! A program that is started, and held before its first instruction until its starter is ready for it. clone(2), execve(2).

use std::ffi::{CString, OsStr, OsString, c_char, c_void};
use std::fs::File;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::check;
use crate::pipe::Pipe;
use crate::usage::{self, Usage, Whose};
use crate::{CallError, clock, endings, pipe, process, system_call};

/// The program: its process is there, and will become the program when it is let go. Dropped before, it ends.
#[derive(Debug)]
pub struct HeldProgram {
    child: process::Child,
    go: OwnedFd,
    told: OwnedFd,
    /// Behind the child: it ends before this is gone.
    lent: Box<Lent>,
}

/// What the process uses of its starter's memory, which it shares until it is the program.
#[derive(Debug)]
struct Lent {
    path: CString,
    _arguments: Vec<CString>,
    pointers: Vec<*const c_char>,
    starter: u32,
    /// Ends of the two pipes: its own, and its starter's.
    ends: [[RawFd; 2]; 2],
    stack: Vec<u128>,
    /// The signals that its starter holds back, as the program is to have them.
    held_back: libc::sigset_t,
}

/// Bytes of a stack: execvp copies the list of arguments, of which the kernel allows 2 MiB. What is not touched is not there.
const STACK: usize = 4 << 20;

/// The process, until it is the program. It allocates nothing: its starter goes on meanwhile, in the same memory.
extern "C" fn becomes_it(lent: *mut c_void) -> libc::c_int {
    // SAFETY: the starter keeps it as long as this process shares its memory, and changes nothing of it.
    let lent = unsafe { &*lent.cast::<Lent>() };
    // The starter's handlers would tell the starter, in whose memory they are, of a second signal.
    endings::not_heard();
    // SAFETY: the set is lent.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const lent.held_back, std::ptr::null_mut()) };
    if process::die_with_parent(lent.starter).is_err() {
        return 1;
    }
    let [own, starters] = lent.ends;
    // SAFETY: nobody uses the starter's ends in this process, which sees the end of its starter by them.
    let _ = starters.map(|fd| unsafe { libc::close(fd) });
    // SAFETY: the numbers stand for the same pipes in this process's own table of descriptors, which nothing else closes.
    let [go, told] = own.map(|fd| ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(fd) }));
    let mut token = [0; 8];
    if pipe::read(&go, &mut token) != Ok(8) {
        return 127;
    }
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        // SAFETY: SIG_DFL is a valid disposition: Rust's programs ignore the one, and ours the other.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // The time first: what it uses from here on is the program's, and passes within the program's time.
    let at_ns = clock::now_ns();
    let spent = usage::own(Whose::Process).unwrap_or_default();
    let _ = pipe::write(&told, &to_bytes(&Before { at_ns, spent }));
    let token = u64::from_ne_bytes(token) as usize;
    if token != 0 {
        // SAFETY: no kernel has this call, so that none reads its arguments.
        let _ = unsafe { system_call::raw3(system_call::INVALID, token, token, 0) };
    }
    // SAFETY: the path and the arguments are C strings that are lent, and the list of arguments ends with null.
    unsafe { libc::execvp(lent.path.as_ptr(), lent.pointers.as_ptr()) };
    let _ = pipe::write(&told, &CallError::last("execve").errno.to_ne_bytes());
    127
}

impl HeldProgram {
    /// Makes the process. Environment, standard streams and folder are the caller's; it dies with the calling thread. Its exec gives no
    /// copy of the caller's memory back, which would be a part of the program's own time.
    ///
    /// # Errors
    /// The error of pipe2 or clone; EINVAL for a path or argument with a zero byte.
    pub fn start(path: &Path, arguments: &[OsString]) -> Result<Self, CallError> {
        let text =
            |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| CallError::new("execve", libc::EINVAL));
        let path = text(path.as_os_str())?;
        let arguments = arguments.iter().map(|it| text(it)).collect::<Result<Vec<_>, _>>()?;
        let mut pointers: Vec<_> = arguments.iter().map(|it| it.as_ptr()).collect();
        pointers.push(std::ptr::null());
        let (go, told) = (Pipe::new()?, Pipe::new()?);
        let mut lent = Box::new(Lent {
            path,
            _arguments: arguments,
            pointers,
            starter: std::process::id(),
            ends: [
                [go.reader.as_raw_fd(), told.writer.as_raw_fd()],
                [go.writer.as_raw_fd(), told.reader.as_raw_fd()],
            ],
            stack: vec![0; STACK / size_of::<u128>()],
            // SAFETY: an all-zero set is valid, and is written below.
            held_back: unsafe { std::mem::zeroed() },
        });
        let top = lent.stack.as_mut_ptr_range().end.cast();
        // SAFETY: an all-zero set is valid; both sets are local or lent. None is heard by the process before it has let go of handlers.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut lent.held_back);
        }
        let with: *mut Lent = &raw mut *lent;
        // SAFETY: the process has a stack of its own, aligned to 16 bytes, and what it is lent outlives its use of this memory: it ends,
        // or is the program, before that is dropped.
        let pid = check("clone", unsafe {
            libc::clone(becomes_it, top, libc::CLONE_VM | libc::SIGCHLD, with.cast())
        });
        // SAFETY: the set was read above.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const lent.held_back, std::ptr::null_mut()) };
        let pid = pid?;
        Ok(Self { child: process::Child::of(pid), go: go.writer, told: told.reader, lent })
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// Lets it become the program. From now on the caller waits for it. A token that is not 0 stands in the first two arguments
    /// of the last call before execve, [`system_call::INVALID`]: so a watcher in the kernel knows it.
    ///
    /// # Errors
    /// The error of write.
    pub fn let_go(self, token: u64) -> Result<Told, CallError> {
        let let_go_ns = clock::now_ns();
        pipe::write(&self.go, &token.to_ne_bytes())?;
        std::mem::forget(self.child);
        Ok(Told { pipe: File::from(self.told), lent: ManuallyDrop::new(self.lent), let_go_ns })
    }
}

/// Where the process ends, and the program begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Before {
    /// When, by [`clock::now_ns`]. Its starter cannot tell: it may be late itself.
    pub at_ns: u64,
    /// What the process had used by then, which the program has not.
    pub spent: Usage,
}

/// What the process tells before it becomes the program. Who does not listen leaves it what it was lent.
#[derive(Debug)]
pub struct Told {
    pipe: File,
    lent: ManuallyDrop<Box<Lent>>,
    let_go_ns: u64,
}

impl Told {
    /// What lies before the program. Waits until it is the program.
    ///
    /// # Errors
    /// The error of execve.
    pub fn before(mut self) -> Result<Before, CallError> {
        let mut bytes = Vec::new();
        let _ = self.pipe.read_to_end(&mut bytes);
        // The other end is closed: it is the program, or has ended.
        drop(ManuallyDrop::into_inner(self.lent));
        match bytes.split_at_checked(BEFORE) {
            Some((before, &[])) => Ok(from_bytes(before)),
            Some((_, error)) => {
                let errno = error.try_into().map_or(libc::EIO, i32::from_ne_bytes);
                Err(CallError::new("execve", errno))
            }
            // It was killed before.
            None => Ok(Before { at_ns: self.let_go_ns, spent: Usage::default() }),
        }
    }
}

/// Bytes of what it tells.
const BEFORE: usize = size_of::<[u64; 7]>();

fn to_bytes(Before { at_ns, spent: it }: &Before) -> [u8; BEFORE] {
    let words = [
        *at_ns,
        it.voluntary_switches,
        it.involuntary_switches,
        it.minor_faults,
        it.major_faults,
        it.user_ns,
        it.system_ns,
    ];
    let mut bytes = [0; BEFORE];
    for (into, word) in bytes.chunks_exact_mut(8).zip(words) {
        into.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

fn from_bytes(bytes: &[u8]) -> Before {
    let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_ne_bytes));
    let mut next = || words.next().unwrap_or(0);
    let at_ns = next();
    let spent = Usage {
        voluntary_switches: next(),
        involuntary_switches: next(),
        minor_faults: next(),
        major_faults: next(),
        user_ns: next(),
        system_ns: next(),
    };
    Before { at_ns, spent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_when_it_is_let_go_and_a_missing_one_is_told() {
        let run = |path: &str, arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let held = HeldProgram::start(Path::new(path), &arguments).expect("fork");
            let pid = held.pid();
            let told = held.let_go(7).expect("write");
            // A starter that is late does not move the time at which the program began.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let late_ns = clock::now_ns();
            let before = told.before();
            let mut status = 0;
            // SAFETY: the kernel writes a status to a local variable.
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
            assert!(before.is_err() || before.is_ok_and(|it| it.at_ns < late_ns), "{before:?}");
            (libc::WEXITSTATUS(status), before)
        };
        let (code, before) = run("/bin/sh", &["sh", "-c", "exit 5"]);
        assert!(code == 5 && before.is_ok(), "{before:?}");
        let missing = run("/no/such/program", &["x"]);
        assert_eq!(missing, (127, Err(CallError::new("execve", libc::ENOENT))));
    }

    /// One Ctrl-C reaches both, and counted as two: the second one ends its starter at once.
    #[test]
    fn a_signal_to_the_held_one_is_none_to_its_starter() {
        let code = process::code_of(|| {
            // A script in the background has it ignored, and so would both.
            process::default_endings();
            let listens = endings::listen().is_ok();
            let held = HeldProgram::start(Path::new("/bin/true"), &["true".into()]).expect("clone");
            let pid = held.pid();
            let mut status = 0;
            // SAFETY: a signal to a child; the kernel writes a status to a local variable.
            let ended = unsafe { (libc::kill(pid, libc::SIGINT), libc::waitpid(pid, &raw mut status, 0)) };
            let is_killed = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGINT;
            i32::from(!(listens && ended == (0, pid) && is_killed && endings::number().is_none()))
        });
        assert_eq!(code, Some(0));
    }

    #[test]
    fn who_is_not_let_go_never_runs() {
        let held = HeldProgram::start(Path::new("/bin/sh"), &["sh".into(), "-c".into(), "exit 5".into()]);
        let pid = held.as_ref().expect("fork").pid();
        drop(held);
        assert!(process::signal(pid, process::Signal::Continue).is_err());
    }
}
