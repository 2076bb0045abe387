//! Workers by few system calls, for kernels with Linux's interface that are not Linux: forked, not isolated, not audited.

use std::io::{PipeReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oscost_results::write_on_one_line;
use oscost_sys::memory::SharedWords;
use oscost_sys::process::{self, Child};
use oscost_sys::{CallError, readiness};

use crate::benchmark::catalogue::{Catalogue, Choice};
use crate::protocol::message::{Job, Report};
use crate::supervisor::engine::{Measured, measure_by};
use crate::supervisor::event::Event;
use crate::supervisor::plan::Options;
use crate::supervisor::run_clock::{LOOK_NS, RunClock};
use crate::supervisor::workers::{Lost, MOST_REPORT, Workers, lost};
use crate::worker;

/// Starts workers as children that do one job each, and nothing else: no exec, no namespace, no janitor, no counter. What would
/// outlive a killed worker is not made.
pub struct Plain<'a> {
    catalogue: &'a Catalogue,
    interrupted: Arc<AtomicBool>,
    clock: RunClock,
    words: SharedWords,
}

impl<'a> Plain<'a> {
    /// `interrupted` is looked at while a worker is waited for. The caller must have one thread only.
    ///
    /// # Errors
    /// The error of mmap, or of a sandbox that refuses kill(2).
    pub fn new(catalogue: &'a Catalogue, interrupted: Arc<AtomicBool>) -> Result<Self, CallError> {
        process::may_signal()?;
        Ok(Self { catalogue, interrupted, clock: RunClock::default(), words: SharedWords::new(1)? })
    }

    /// Measures `choices`. There are no contestants: they are started by more calls than there may be.
    pub fn measure(
        &self,
        choices: &[Choice],
        options: &Options,
        emit: &mut dyn FnMut(&Event<'_>),
    ) -> Measured {
        measure_by(self, choices, &[], options, emit)
    }

    /// What this program slept through, ns: it was stopped, or its machine suspended.
    #[must_use]
    pub fn slept_ns(&self) -> u64 {
        self.clock.slept_ns()
    }

    fn lost(&self, what: String) -> Lost {
        lost(what, self.words.word(0))
    }

    /// What the child says until it has said everything.
    fn hear(&self, mut pipe: PipeReader, deadline_ns: u64) -> Result<Vec<u8>, Lost> {
        let deadline = self.clock.now_ns() + deadline_ns;
        let (mut said, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            let now = self.clock.now_ns();
            if self.is_interrupted() {
                return Err(Lost::Interrupted);
            }
            if now >= deadline {
                let late = "the worker did not end in time, and was ended";
                return Err(self.lost(late.to_owned()).at_deadline());
            }
            let ready = readiness::poll_readable(&[&pipe], (deadline - now).min(LOOK_NS));
            if !ready.map_err(|error| self.lost(error.to_string()))?[0] {
                continue;
            }
            match pipe.read(&mut buffer) {
                Ok(0) => return Ok(said),
                Ok(count) => said.extend_from_slice(&buffer[..count]),
                Err(error) => return Err(self.lost(format!("the worker could not be heard: {error}"))),
            }
            if said.len() > MOST_REPORT {
                return Err(self.lost("the worker sent more than a report can hold".to_owned()));
            }
        }
    }
}

impl Workers for Plain<'_> {
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// A sandbox that refuses calls may refuse the files that say it.
    fn throttled_periods(&self) -> Option<u64> {
        None
    }

    fn run(&self, mut job: Job, deadline_ns: u64) -> Result<Report, Lost> {
        if self.is_interrupted() {
            return Err(Lost::Interrupted);
        }
        job.isolate = false;
        if let Some(report) = worker::uncounted(self.catalogue, &job) {
            return Ok(report);
        }
        self.words.word(0).store(0, Ordering::Relaxed);
        let (pipe, mut end) = std::io::pipe().map_err(|error| self.lost(format!("no pipe: {error}")))?;
        let child = Child::fork(|| {
            let said = worker::plainly(self.catalogue, job, &self.words);
            let mut bytes = Vec::new();
            let written = said.is_ok_and(|report| {
                write_on_one_line(&report, &mut bytes).is_ok() && end.write_all(&bytes).is_ok()
            });
            i32::from(!written)
        });
        drop(end);
        let child = child
            .map_err(|error| self.lost(format!("no worker could be started: {error}{}", error.remedy())))?;
        // Dropped, the child is ended and waited for.
        let said = self.hear(pipe, deadline_ns)?;
        let ended = child.wait().map_err(|error| self.lost(error.to_string()))?;
        match (ended.code, ended.signal) {
            (Some(0), _) => serde_json::from_slice(&said)
                .map_err(|_| self.lost("the worker sent rubbish instead of a report".to_owned())),
            (_, Some(signal)) => Err(self.lost(format!("the worker was ended by signal {signal}"))),
            (code, None) => Err(self.lost(format!("the worker ended with exit code {}", code.unwrap_or(-1)))),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
