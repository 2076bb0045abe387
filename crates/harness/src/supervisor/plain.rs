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
mod tests {
    use super::*;
    use crate::benchmark::card::Card;
    use crate::benchmark::{Benchmark, SetUp, Subject, Unable};
    use crate::figures::synthetic::choice;
    use crate::protocol::message::{Audited, IdleCpu, Member, Task, TaskFinding};

    /// One that ends its worker in its set-up.
    struct Dies(fn());

    impl Benchmark for Dies {
        fn card(&self) -> &'static Card {
            const { &Card { id: "dies", ..Card::BATCHED } }
        }

        fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
            (self.0)();
            Err(Unable::Unsupported { why: "it lived".to_owned(), remedy: String::new() })
        }
    }

    /// What becomes of a job of a benchmark that is never set up, and of one that ends its worker so.
    fn done(task: Task, dies: fn(), deadline_ns: u64, interrupted: bool) -> Result<Report, Lost> {
        let never = choice(Card { id: "never", ..Card::BATCHED }).benchmark;
        let catalogue = Catalogue::new(vec![never, Box::leak(Box::new(Dies(dies)))]);
        let plain = Plain::new(&catalogue, Arc::new(AtomicBool::new(interrupted))).expect("memory");
        let ids = vec!["never".to_owned(), "dies".to_owned()];
        let cpus = oscost_sys::affinity::allowed().expect("CPUs");
        let (isolate, refused, directory) = (true, None, None);
        plain.run(Job { ids, task, cpus, seed: 1, isolate, refused, directory }, deadline_ns)
    }

    const CALIBRATE: Task = Task::Calibrate { batch_ns: 20_000, idle_cpu: IdleCpu::Halt };
    const LONG_NS: u64 = 600_000_000_000;

    #[test]
    fn a_child_reports_what_its_job_found_and_audits_need_none() {
        let report = done(CALIBRATE, || (), LONG_NS, false).expect("a report");
        let TaskFinding::Calibration(members) = &report.finding else { panic!("{report:?}") };
        let lacks = members.iter().map(|member| matches!(member, Member::Unsupported { .. }));
        assert_eq!(lacks.collect::<Vec<_>>(), [true, true]);
        // Nobody is there for it: it would end the worker.
        let audited = done(Task::Audit { operations: 1, late: 1 }, || std::process::exit(7), LONG_NS, false);
        let Ok(Report { finding: TaskFinding::Audit(members), .. }) = audited else { panic!("{audited:?}") };
        let missing = |it: &Member<_>| matches!(it, Member::Done(Audited { missing: Some(_), .. }));
        assert!(members.len() == 2 && members.iter().all(missing));
    }

    #[test]
    fn how_a_child_died_and_who_was_set_up_is_told() {
        let lost = |what: &str| Err(Lost::worker(what, Some(1)));
        let died = |dies: fn()| done(CALIBRATE, dies, LONG_NS, false);
        assert_eq!(died(|| std::process::exit(7)), lost("the worker ended with exit code 7"));
        assert_eq!(died(|| std::process::exit(0)), lost("the worker sent rubbish instead of a report"));
        let killed = died(|| {
            let pid = i32::try_from(std::process::id()).unwrap_or(0);
            let _ = process::signal(pid, process::Signal::Kill);
        });
        assert_eq!(killed, lost("the worker was ended by signal 9"));
    }

    #[test]
    fn who_hangs_is_ended_at_the_deadline_and_an_interrupted_run_starts_nobody() {
        fn hangs() {
            loop {
                oscost_sys::clock::pause(std::time::Duration::from_secs(600));
            }
        }
        let late = done(CALIBRATE, hangs, 100_000_000, false);
        assert!(matches!(late, Err(Lost::Worker { late: true, .. })), "{late:?}");
        assert_eq!(done(CALIBRATE, hangs, LONG_NS, true), Err(Lost::Interrupted));
    }
}
