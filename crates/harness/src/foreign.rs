//! Foreign contestants: programs that are not ours (peers, other builds, other settings) in our rotation of launches.
//!
//! The worker gives the program private IPC, mount and PID namespaces, so that not even a child of it that calls setsid
//! survives, and ends it at its deadline.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

use oscost_results::Figure;
use oscost_sys::{affinity, clock, namespace, pipe::Pipe, process};

use crate::figure;
use crate::message::{Failure, Finding, ForeignOutput, ForeignPlan, Launched, Report};
use crate::supervise::Lost;

/// Most that is kept of each of the program's two streams; what comes after is read and thrown away.
const MOST_OUTPUT: usize = 1 << 20;

/// Reads the numbers of a launch out of what the program printed. An error is shown with the figure; nothing is guessed.
pub type Reader = fn(&ForeignOutput) -> Result<BTreeMap<String, f64>, String>;

/// A program in our rotation of launches.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// Id of its figure ("peer/perf_bench/syscall").
    pub id: String,
    /// The figure in a few words.
    pub title: String,
    /// What its number is the cost of.
    pub operation: String,
    /// Quantity that is quoted, and its unit.
    pub headline: (String, String),
    /// Program and arguments.
    pub command: Vec<String>,
    /// Added to an otherwise empty environment.
    pub environment: BTreeMap<String, String>,
    /// CPUs it may run on; empty: all.
    pub cpus: Vec<usize>,
    /// How long one launch may take, ns.
    pub deadline_ns: u64,
    /// What it writes to /tmp and /var/tmp vanishes with it, and it starts in /tmp. It reads there what lies there.
    pub contained: bool,
    /// How its output is read.
    pub reader: Reader,
}

impl Foreign {
    /// What a worker is told of it.
    pub(crate) fn plan(&self) -> ForeignPlan {
        ForeignPlan {
            command: self.command.clone(),
            environment: self.environment.clone(),
            cpus: self.cpus.clone(),
            deadline_ns: self.deadline_ns,
            contained: self.contained,
        }
    }
}

/// A foreign program and what became of its launches.
pub(crate) struct Contestant<'a> {
    pub foreign: &'a Foreign,
    launched: Vec<Launched>,
    failure: Option<Failure>,
    failed_launches: u32,
}

impl<'a> Contestant<'a> {
    pub fn new(foreign: &'a Foreign) -> Self {
        Self { foreign, launched: Vec::new(), failure: None, failed_launches: 0 }
    }

    /// One that has never worked will not begin to.
    pub fn has_given_up(&self) -> bool {
        self.failed_launches >= 3 && self.launched.is_empty()
    }

    /// Reads what a launch printed, or keeps why there is nothing to read.
    pub fn take(&mut self, report: Result<Report, Lost>, sequence: u32, start_ns: u64) {
        let read = match report {
            Ok(Report { finding: Finding::Foreign(output), .. }) if output.timed_out => {
                Err(format!("did not end within {} ms", self.foreign.deadline_ns / 1_000_000))
            }
            Ok(Report { finding: Finding::Foreign(output), .. }) => {
                (self.foreign.reader)(&output).map(|quantities| (quantities, output.duration_ns))
            }
            Ok(_) => Err("the worker reported something else".to_owned()),
            Err(Lost::Interrupted) => return,
            Err(Lost::Worker { what, .. }) => Err(what),
        };
        match read {
            Ok((quantities, duration_ns)) => {
                let mut launched = Launched::default();
                launched.record.sequence = sequence;
                launched.record.start_ns = start_ns;
                launched.record.quantities = quantities;
                launched.record.quantities.insert("duration".to_owned(), duration_ns as f64);
                self.launched.push(launched);
            }
            Err(what) => {
                self.failed_launches += 1;
                self.failure.get_or_insert(Failure::new("launch", what));
            }
        }
    }

    /// Its figure.
    pub fn figure(&self) -> Figure {
        figure::of_foreign(self.foreign, &self.launched, self.failure.as_ref())
    }
}

/// Runs the program in this worker's namespaces and waits for its end, or its deadline.
pub(crate) fn run_here(plan: &ForeignPlan) -> ForeignOutput {
    match run(plan) {
        Ok(output) => output,
        Err(error) => ForeignOutput { stderr: error.to_string(), ..ForeignOutput::default() },
    }
}

fn run(plan: &ForeignPlan) -> Result<ForeignOutput, oscost_sys::CallError> {
    let (out, err) = (Pipe::new()?, Pipe::new()?);
    let Pipe { reader: out_reader, writer: out_writer } = out;
    let Pipe { reader: err_reader, writer: err_writer } = err;
    let start = clock::now_ns();
    let child = process::Child::fork(move || {
        // The first process of a PID namespace has its own mounts, too: there its processes see only each other, and what is
        // mounted is seen nowhere else.
        let alone = std::process::id() == 1;
        if alone {
            let _ = namespace::mount_proc();
        }
        if alone && plan.contained {
            for folder in [c"/tmp", c"/var/tmp"] {
                let _ = namespace::write_apart(folder);
            }
            let _ = std::env::set_current_dir("/tmp");
        }
        if !plan.cpus.is_empty() && affinity::pin_to_all(&plan.cpus).is_err() {
            return 125;
        }
        process::default_endings();
        let Some((program, arguments)) = plan.command.split_first() else { return 127 };
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let complaint = err_writer.try_clone();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", path)
            .env("LC_ALL", "C")
            .envs(&plan.environment)
            .stdin(Stdio::null())
            .stdout(out_writer)
            .stderr(err_writer);
        // The first process of a PID namespace is not the program but who waits for it: a program whose parent has the
        // number 1 takes itself for an orphan, and ends (lmbench's children do).
        let error = if alone {
            match command.status() {
                Ok(status) => return status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
                Err(error) => error,
            }
        } else {
            command.exec()
        };
        // Only reached where the program could not be started.
        use std::io::Write;
        if let Ok(complaint) = complaint {
            let _ = writeln!(std::fs::File::from(complaint), "{program}: {error}");
        }
        127
    })?;
    let (stdout, stderr, timed_out) = collect(out_reader, err_reader, start + plan.deadline_ns);
    if timed_out {
        let _ = process::signal(child.pid(), process::Signal::Terminate);
        let patience = clock::now_ns() + 200_000_000;
        while !child.has_ended() && clock::now_ns() < patience {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        if !child.has_ended() {
            process::signal(child.pid(), process::Signal::Kill)?;
        }
    }
    // Both streams may be closed by a program that goes on: the deadline holds for its end, too.
    while !child.has_ended() {
        if clock::now_ns() > start + plan.deadline_ns {
            process::signal(child.pid(), process::Signal::Kill)?;
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let ended = child.wait()?;
    Ok(ForeignOutput {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        code: ended.code,
        signal: ended.signal,
        timed_out,
        duration_ns: clock::now_ns() - start,
    })
}

/// Reads both streams until both end or `deadline` passes; whether it passed.
fn collect(out: OwnedFd, err: OwnedFd, deadline: u64) -> (Vec<u8>, Vec<u8>, bool) {
    let mut streams =
        [(std::fs::File::from(out), Vec::new(), true), (std::fs::File::from(err), Vec::new(), true)];
    while streams.iter().any(|stream| stream.2) {
        let now = clock::now_ns();
        if now >= deadline {
            return finish(streams, true);
        }
        let open: Vec<usize> = (0..2).filter(|&index| streams[index].2).collect();
        let fds: Vec<&dyn std::os::fd::AsRawFd> =
            open.iter().map(|&index| &streams[index].0 as &dyn std::os::fd::AsRawFd).collect();
        let Ok(readable) = process::poll_readable(&fds, (deadline - now).min(100_000_000)) else {
            return finish(streams, false);
        };
        for (&index, readable) in open.iter().zip(readable) {
            if !readable {
                continue;
            }
            let (file, bytes, is_open) = &mut streams[index];
            let mut buffer = [0; 4096];
            match file.read(&mut buffer) {
                Ok(0) | Err(_) => *is_open = false,
                Ok(count) => {
                    let room = MOST_OUTPUT.saturating_sub(bytes.len());
                    bytes.extend_from_slice(&buffer[..count.min(room)]);
                }
            }
        }
    }
    finish(streams, false)
}

fn finish(streams: [(std::fs::File, Vec<u8>, bool); 2], timed_out: bool) -> (Vec<u8>, Vec<u8>, bool) {
    let [(_, out, _), (_, err, _)] = streams;
    (out, err, timed_out)
}
