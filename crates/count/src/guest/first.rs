//! The guest's first process: mounts file systems, counts each id, and sends the result.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use oscost_harness::{AUDIT_OPERATIONS, Audited, LATE_OPERATIONS, Supervisor, apart};
use oscost_sys::guest::{self, Marks};
use oscost_sys::{memory, readiness};

use super::timer::Timer;
use super::{ARGUMENT, COUNTER};
use crate::frame;
use crate::message::{CountOutcome, CountPlan, CountRow, Hello, PLAN, Said, mark};

/// Operations of an audit, and twice as many: a call is told from none by far fewer than a run has. Claims that do not hold then
/// get as many as in a run, for the ends of a batch are a larger share of few operations.
const AUDITED: u64 = 40;
/// And from this operation on they are late: counting makes not many more. Each call on the way there is shown to the auditor.
const LATE: u64 = 1000;
/// Long ones are audited less often, for this many instructions at most, but this often.
const MOST_AUDITED: u64 = 40_000_000;
const LEAST_AUDITED: u64 = 8;
/// How long the guest rests before it counts, of its own time.
const SETTLED: Duration = Duration::from_secs(5);
/// How long a process that counts may take, of the guest's time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Namespaces of a kind that there may be, those included that the kernel has yet to take down.
const NAMESPACES: &str = "100000";
/// O_NOCTTY: the line becomes nobody's terminal.
const NO_TERMINAL: i32 = 0o400;

/// Never returns where the process is the first of its machine: what it would return to is a panic.
pub(crate) fn serve(facts: &dyn Fn() -> Hello) -> Option<u8> {
    if std::process::id() != 1 {
        let _ = writeln!(std::io::stderr(), "oscost: {ARGUMENT} is for the first process of a guest");
        return Some(2);
    }
    let done = work(facts);
    if let Err(why) = done {
        // The console is all that is left.
        let _ = writeln!(std::io::stderr(), "oscost guest: {why}");
    }
    loop {
        oscost_sys::clock::pause(Duration::from_secs(3600));
    }
}

fn work(facts: &dyn Fn() -> Hello) -> Result<(), String> {
    let mounted = mounts();
    let plan = std::fs::read(PLAN).map_err(|error| format!("no plan: {error}"))?;
    let plan: CountPlan = serde_json::from_slice(&plan).map_err(|error| format!("no plan: {error}"))?;
    let mut line = SerialLine::open(&plan.line)?;
    let outcome = mounted.and_then(|()| answer(&plan, facts, &mut line));
    if let Err(why) = outcome {
        return line.say(&Said::Broken(why));
    }
    line.say(&Said::End)
}

fn answer(plan: &CountPlan, facts: &dyn Fn() -> Hello, line: &mut SerialLine) -> Result<(), String> {
    line.say(&Said::Hello(Box::new(facts())))?;
    let supervisor = if plan.audit {
        Some(Supervisor::new(Arc::new(AtomicBool::new(false))).map_err(|error| error.to_string())?)
    } else {
        None
    };
    let marks = if plan.followed > 0 { Some(Marks::new().map_err(|error| error.to_string())?) } else { None };
    if let Some(marks) = &marks {
        let mut symbols = Vec::new();
        let read =
            oscost_sys::file::regular("/proc/kallsyms").and_then(|mut file| file.read_to_end(&mut symbols));
        read.map_err(|error| format!("/proc/kallsyms: {error} (CONFIG_KALLSYMS is needed for functions)"))?;
        marks.tell(mark::KERNEL, &symbols);
    }
    // What a boot leaves to do later, up to some seconds later, is done: the emulator passes over the time in which all sleep.
    oscost_sys::clock::pause(SETTLED);
    let timer = Timer::find();
    for (index, id) in plan.ids.iter().enumerate() {
        let outcome = count(index, &timer).unwrap_or_else(CountOutcome::Failed);
        // What has no count needs no evidence.
        let audits = supervisor.as_ref().zip(longest(&outcome));
        let row = match audits.map(|(supervisor, longest)| audit(supervisor, id, longest)).transpose() {
            Err(why) => CountRow { id: id.clone(), outcome: CountOutcome::Failed(why), audited: None },
            Ok(audited) => CountRow { id: id.clone(), outcome, audited },
        };
        line.say(&Said::Row(Box::new(row)))?;
    }
    if let Some(marks) = &marks {
        marks.pass(mark::LAST, 0, 0);
    }
    Ok(())
}

/// What an operation took at most.
fn longest(outcome: &CountOutcome) -> Option<u64> {
    match outcome {
        CountOutcome::Counted(counts) => counts.ones.iter().copied().max(),
        _ => None,
    }
}

fn audit(supervisor: &Supervisor, id: &str, longest: u64) -> Result<Audited, String> {
    let operations = (MOST_AUDITED / longest.max(1)).clamp(LEAST_AUDITED, AUDITED);
    let audited = apart::audit(supervisor, id, 0, operations, LATE)?;
    if audited.claims.iter().any(|claim| claim.holds == Some(false)) {
        return apart::audit(supervisor, id, 0, AUDIT_OPERATIONS, LATE_OPERATIONS);
    }
    Ok(audited)
}

/// Has a process of its own count one id: what one id does to its process is nobody else's.
fn count(index: usize, timer: &Timer) -> Result<CountOutcome, String> {
    let mut child = Command::new("/proc/self/exe")
        .args([COUNTER, &index.to_string(), &timer.period.to_string(), &timer.cost.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("no process to count could be started: {error}"))?;
    let mut stdout = child.stdout.take().ok_or("no pipe")?;
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let outcome = loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break Err(format!("it did not end within {} s of the guest's time", PATIENCE.as_secs()));
        }
        let wait = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
        let ready = readiness::poll_readable(&[&stdout], wait).map_err(|error| error.to_string())?;
        if ready[0] {
            let mut buffer = [0; 4096];
            let length = stdout.read(&mut buffer).map_err(|error| format!("no counts: {error}"))?;
            if length == 0 {
                break Ok(());
            }
            bytes.extend_from_slice(&buffer[..length]);
        }
    };
    if outcome.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| format!("no counts: {error}"))?;
    outcome?;
    if !status.success() {
        return Err(format!("the process that counts ended with {status}"));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("no counts: {error}"))
}

/// Mounts what the program needs. What the kernel lacks is named by its option.
fn mounts() -> Result<(), String> {
    let mount = |kind: &str, target: &str, options: &str, option: &str| {
        let _ = std::fs::create_dir_all(target);
        guest::mount(kind, target, options)
            .map_err(|error| format!("{target} cannot be mounted: {error} ({option} is needed)"))
    };
    mount("proc", "/proc", "", "CONFIG_PROC_FS")?;
    // Without these some rows say what they lack; the archive has the devices that the program itself needs.
    let _ = mount("devtmpfs", "/dev", "", "CONFIG_DEVTMPFS");
    let _ = mount("sysfs", "/sys", "", "CONFIG_SYSFS");
    let _ = mount("tmpfs", "/dev/shm", "mode=1777", "CONFIG_TMPFS");
    let _ = mount("tmpfs", "/tmp", "mode=1777", "CONFIG_TMPFS");
    let _ = mount("mqueue", "/dev/mqueue", "", "CONFIG_POSIX_MQUEUE");
    let _ = guest::bring_up_loopback();
    allow_namespaces();
    Ok(())
}

/// A kernel allows half as many namespaces of a kind as processes, and takes those that have ended down in its own time. A small
/// machine that makes them without a pause would soon be refused more.
fn allow_namespaces() {
    for kind in ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"] {
        let _ = std::fs::write(format!("/proc/sys/user/max_{kind}_namespaces"), NAMESPACES);
    }
}

/// The serial line to the host.
struct SerialLine(File);

impl SerialLine {
    fn open(path: &str) -> Result<Self, String> {
        let option = "CONFIG_SERIAL_8250, on aarch64 CONFIG_SERIAL_8250_PCI, is needed";
        let wrong =
            |error: &dyn std::fmt::Display| format!("{path} cannot carry the result: {error} ({option})");
        let file = OpenOptions::new().read(true).write(true).custom_flags(NO_TERMINAL).open(path);
        let file = file.map_err(|error| wrong(&error))?;
        guest::carry_bytes(&file).map_err(|error| wrong(&error))?;
        // Pages that are touched later would be faults in the middle of counting.
        let _ = memory::lock_current();
        Ok(Self(file))
    }

    fn say(&mut self, said: &Said) -> Result<(), String> {
        let content = serde_json::to_vec(said).map_err(|error| error.to_string())?;
        self.0.write_all(&frame::wrap(&content)).map_err(|error| format!("the line to the host: {error}"))?;
        guest::sent(&self.0).map_err(|error| format!("the line to the host: {error}"))
    }
}
