//! The supervisor's side of a worker: start it, give it its job, wait no longer than its deadline, leave nothing of it.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oscost_results::write_on_one_line;
use oscost_sys::memory::SharedWords;
use oscost_sys::process::{self, Signal};
use oscost_sys::{CallError, clock, identity, readiness};

use crate::benchmark::directory::{self, Place};
use crate::protocol::ledger;
use crate::protocol::message::{Job, Report};
use crate::protocol::start::{SETTING_UP, WORKER_ARGUMENT};
use crate::supervisor::janitor::Janitor;
use crate::supervisor::run_clock::{LOOK_NS, RunClock};
use crate::worker::environment;

/// A report is refused beyond this size: a worker that sends rubbish without end must not fill the memory.
pub(crate) const MOST_REPORT: usize = 64 << 20;
/// What is kept of a worker's standard error, to say why it died.
const MOST_WORDS: usize = 4096;
/// How long a worker may take to end after SIGTERM, ns.
const PATIENCE_NS: u64 = 200_000_000;

/// Who makes the launches of a run, and tells its time: the supervisor by the machine's clock, a script where a plan is tried.
pub(crate) trait Workers {
    /// The time now, ns, without what the program slept through.
    fn now_ns(&self) -> u64;
    /// Whether the user has ended the run.
    fn is_interrupted(&self) -> bool;
    /// Periods in which a CPU quota has stopped this machine's workers until now; `None` where that is not known.
    fn throttled_periods(&self) -> Option<u64>;
    /// What a fresh worker found, within `deadline_ns`.
    fn run(&self, job: Job, deadline_ns: u64) -> Result<Report, Lost>;
}

impl Workers for Supervisor {
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn is_interrupted(&self) -> bool {
        Self::is_interrupted(self)
    }

    fn throttled_periods(&self) -> Option<u64> {
        environment::throttled_periods()
    }

    fn run(&self, job: Job, deadline_ns: u64) -> Result<Report, Lost> {
        Self::run(self, job, deadline_ns)
    }
}

/// Starts workers of this program.
pub struct Supervisor {
    program: PathBuf,
    /// Why workers get no namespaces of their own; `None`: they do.
    refused: Option<String>,
    /// The janitor, and how workers are told of it.
    janitor: Option<(Janitor, String)>,
    place: Option<Place>,
    interrupted: Arc<AtomicBool>,
    clock: RunClock,
    words: SharedWords,
    words_fd: OwnedFd,
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// The user ended the run.
    Interrupted,
    /// The worker died, hung, or sent something else than a report.
    Worker {
        /// In words.
        what: String,
        /// Who was being set up or was running.
        member: Option<usize>,
        /// It was ended at its deadline, and had not ended by itself.
        late: bool,
    },
}

impl Lost {
    /// A worker that ended by itself, or that nothing was heard of.
    pub(crate) fn worker(what: impl Into<String>, member: Option<usize>) -> Self {
        Self::Worker { what: what.into(), member, late: false }
    }

    /// The same of a worker that was ended at its deadline.
    pub(crate) fn at_deadline(self) -> Self {
        match self {
            Self::Worker { what, member, .. } => Self::Worker { what, member, late: true },
            Self::Interrupted => Self::Interrupted,
        }
    }
}

impl Supervisor {
    /// Finds the program and looks what isolation is to be had; starts a janitor where none is.
    ///
    /// `interrupted` is looked at while a worker is waited for.
    ///
    /// # Errors
    /// The error of memfd_create, of finding the program, of starting the janitor, or of a sandbox that refuses kill(2).
    pub fn new(interrupted: Arc<AtomicBool>) -> Result<Self, CallError> {
        Self::start_up(interrupted, None)
    }

    /// The same, with a janitor in any case: files in a folder of the user's outlive every namespace.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_files(interrupted: Arc<AtomicBool>, place: Place) -> Result<Self, CallError> {
        Self::start_up(interrupted, Some(place))
    }

    fn start_up(interrupted: Arc<AtomicBool>, place: Option<Place>) -> Result<Self, CallError> {
        // Whoever cannot end a worker starts none.
        process::may_signal()?;
        let program = identity::own_program().ok_or(CallError::new("readlink", 2))?;
        ledger::sweep();
        if let Ok(memory) = ledger::memory() {
            directory::sweep(&memory);
        }
        if let Some(place) = &place {
            directory::sweep(place.folder());
            process::keep_over_exec(place.folder())?;
        }
        // The maps of a user namespace are written through /proc; root needs none.
        let has_proc = program.starts_with("/proc");
        let refused = if has_proc || identity::effective_uid() == 0 {
            oscost_sys::namespace::probe()?.map(|error| error.to_string())
        } else {
            Some("there is no /proc".to_owned())
        };
        let janitor = if refused.is_none() && place.is_none() {
            None
        } else {
            let janitor = Janitor::start(&program, refused.is_some(), place.as_ref())?;
            let words = janitor.share()?;
            Some((janitor, words))
        };
        let (words, words_fd) = SharedWords::in_file(1)?;
        process::keep_over_exec(&words_fd)?;
        Ok(Self {
            program,
            refused,
            janitor,
            place,
            interrupted,
            clock: RunClock::default(),
            words,
            words_fd,
        })
    }

    /// Whether kernel objects of workers vanish by themselves.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.refused.is_none()
    }

    /// Whether the user has ended the run.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// What this program slept through, ns: it was stopped, or its machine suspended.
    #[must_use]
    pub fn slept_ns(&self) -> u64 {
        self.clock.slept_ns()
    }

    /// Has a fresh worker do `job` within `deadline_ns`.
    ///
    /// # Errors
    /// [`Lost`]: every process of the worker's group is gone by then.
    pub fn run(&self, mut job: Job, deadline_ns: u64) -> Result<Report, Lost> {
        if self.is_interrupted() {
            return Err(Lost::Interrupted);
        }
        job.isolate &= self.is_private();
        job.refused.clone_from(&self.refused);
        job.directory = self.place.as_ref().map(|place| place.folder().as_raw_fd());
        self.words.word(0).store(0, Ordering::Relaxed);
        let mut running = self.start(&job).map_err(|what| Lost::worker(what, None))?;
        let heard = running.listen(deadline_ns, &self.clock, &self.interrupted);
        let ended = running.end(matches!(heard.why, Why::Ended));
        match heard.why {
            Why::Interrupted => Err(Lost::Interrupted),
            Why::Deadline => {
                let within =
                    format!("the worker did not end within {} ms, and was ended", deadline_ns / 1_000_000);
                Err(self.lost(within).at_deadline())
            }
            Why::TooMuch => Err(self.lost("the worker sent more than a report can hold".into())),
            Why::Ended => {
                let report = serde_json::from_slice(&heard.report);
                match (report, ended) {
                    (Ok(report), Some(0)) => Ok(report),
                    (_, Some(0)) => Err(self.lost("the worker sent rubbish instead of a report".into())),
                    (_, code) => Err(self.lost(death(code, &running.status, &heard.words))),
                }
            }
        }
    }

    fn start(&self, job: &Job) -> Result<Running, String> {
        let mut text = Vec::new();
        write_on_one_line(job, &mut text).map_err(|error| format!("no job: {error}"))?;
        use std::os::unix::process::CommandExt;
        let janitor = self.janitor.as_ref().map_or("-", |(_, words)| words);
        let mut child = Command::new(&self.program)
            .arg(WORKER_ARGUMENT)
            .arg(std::process::id().to_string())
            .arg(self.words_fd.as_raw_fd().to_string())
            .arg(janitor)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                let remedy = CallError::new("fork", error.raw_os_error().unwrap_or(0)).remedy();
                format!("no worker could be started: {error}{remedy}")
            })?;
        // A worker that dies before it has read its job is told from its end, not from this.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(&text);
        }
        Ok(Running { child, status: None })
    }

    fn lost(&self, what: String) -> Lost {
        lost(what, self.words.word(0))
    }
}

/// A worker is lost, and the progress word tells who was being set up or was running.
pub(crate) fn lost(what: String, progress: &AtomicU64) -> Lost {
    let member = match progress.load(Ordering::Relaxed) {
        0 => None,
        word if word >= SETTING_UP => usize::try_from(word - SETTING_UP).ok(),
        word => usize::try_from(word - 1).ok(),
    };
    Lost::worker(what, member)
}

/// In words, how a worker died.
fn death(code: Option<i32>, status: &Option<std::process::ExitStatus>, words: &[u8]) -> String {
    use std::os::unix::process::ExitStatusExt;
    let words = String::from_utf8_lossy(words);
    let words = words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let how = match (code, status.and_then(|status| status.signal())) {
        (Some(code), _) => format!("the worker ended with exit code {code}"),
        (None, Some(signal)) => format!("the worker was ended by signal {signal}"),
        (None, None) => "the worker vanished".to_owned(),
    };
    if words.is_empty() { how } else { format!("{how}: {words}") }
}

enum Why {
    Ended,
    Deadline,
    Interrupted,
    TooMuch,
}

struct Heard {
    report: Vec<u8>,
    words: Vec<u8>,
    why: Why,
}

struct Running {
    child: Child,
    status: Option<std::process::ExitStatus>,
}

impl Running {
    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(0)
    }

    /// Reads both streams until the worker has closed them or is dead.
    fn listen(&mut self, deadline_ns: u64, clock: &RunClock, interrupted: &AtomicBool) -> Heard {
        let deadline = clock.now_ns() + deadline_ns;
        let mut heard = Heard { report: Vec::new(), words: Vec::new(), why: Why::Ended };
        // Before Linux 5.3 there is no pidfd: then the end of the streams is the end of the worker.
        let pidfd = process::pidfd(self.pid()).ok();
        let (Some(mut stdout), Some(mut stderr)) = (self.child.stdout.take(), self.child.stderr.take())
        else {
            return heard;
        };
        let (mut out_open, mut err_open, mut dead) = (true, true, false);
        let mut buffer = vec![0; 1 << 16];
        while out_open || (err_open && !dead) {
            let now = clock.now_ns();
            if interrupted.load(Ordering::Relaxed) {
                heard.why = Why::Interrupted;
                return heard;
            }
            if now >= deadline {
                heard.why = Why::Deadline;
                return heard;
            }
            let mut fds: Vec<&dyn AsRawFd> = Vec::new();
            let mut roles = Vec::new();
            for (role, open, fd) in [(0, out_open, &stdout as &dyn AsRawFd), (1, err_open, &stderr)] {
                if open {
                    fds.push(fd);
                    roles.push(role);
                }
            }
            if let (Some(pidfd), false) = (&pidfd, dead) {
                fds.push(pidfd);
                roles.push(2);
            }
            let Ok(readable) = readiness::poll_readable(&fds, (deadline - now).min(LOOK_NS)) else {
                return heard;
            };
            if dead && !readable.iter().any(|&readable| readable) {
                // A partner that the worker leaves holds the stream open: what the worker said has been read.
                return heard;
            }
            for (role, readable) in roles.into_iter().zip(readable) {
                match (role, readable) {
                    (0, true) => match stdout.read(&mut buffer) {
                        Ok(0) | Err(_) => out_open = false,
                        Ok(count) => heard.report.extend_from_slice(&buffer[..count]),
                    },
                    (1, true) => match stderr.read(&mut buffer) {
                        Ok(0) | Err(_) => err_open = false,
                        Ok(count) => {
                            let room = MOST_WORDS.saturating_sub(heard.words.len());
                            heard.words.extend_from_slice(&buffer[..count.min(room)]);
                        }
                    },
                    (2, true) => dead = true,
                    _ => {}
                }
            }
            if heard.report.len() > MOST_REPORT {
                heard.why = Why::TooMuch;
                return heard;
            }
        }
        heard
    }

    /// Ends whatever is left of the worker's group: gently first, unless it has ended by itself. Its exit code.
    fn end(&mut self, by_itself: bool) -> Option<i32> {
        self.end_within(by_itself, PATIENCE_NS)
    }

    /// The same with another patience.
    fn end_within(&mut self, by_itself: bool, patience_ns: u64) -> Option<i32> {
        let group = self.pid();
        if !by_itself {
            let _ = process::signal_group(group, Signal::Terminate);
            // A stopped group takes the signal only when it goes on.
            let _ = process::signal_group(group, Signal::Continue);
        }
        let patience = clock::now_ns() + patience_ns;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.status = Some(status);
                    break;
                }
                Ok(None) if clock::now_ns() < patience => {
                    oscost_sys::clock::pause(std::time::Duration::from_micros(200));
                }
                _ => break,
            }
        }
        let _ = process::signal_group(group, Signal::Kill);
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
        self.status.and_then(|status| status.code())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.end(false);
        }
    }
}

#[cfg(test)]
mod tests;
