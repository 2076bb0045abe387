//! The process whose operations are traced: in private namespaces, between marks that it writes into the trace.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use oscost_harness::{Subject, Unable, apart};
use oscost_sys::{affinity, file, namespace, process, program};

use super::functions::{BEGIN, END};
use super::instance::Instance;
use crate::commands::catalogue;

/// First argument of the process that is traced.
pub const TRACED: &str = "__traced";

/// Operations that are traced, each after a pair of marks with nothing in between.
const OPERATIONS: u32 = 16;
/// Iterations before these.
const WARM: u64 = 64;
/// How long all of them may take, and what is kept of the words of the process, bytes.
const PATIENCE: Duration = Duration::from_secs(60);
const MOST_WORDS: usize = 4096;

/// Has a process of its own make operations of `id`; what ftrace wrote meanwhile.
pub fn run(id: &str, instance: &Instance) -> Result<String, String> {
    let mut command = Command::new("/proc/self/exe");
    command.args([TRACED, id]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.process_group(0);
    process::end_with_caller(&mut command);
    let mut child = command.spawn().map_err(|error| format!("its process could not be started: {error}"))?;
    let set = instance.set("set_ftrace_pid", &child.id().to_string());
    // Its partners are its children, and are traced by then.
    let told = child.stdin.take().map_or(Ok(()), |mut line| match set {
        Ok(()) => line
            .write_all(instance.folder.as_os_str().as_encoded_bytes())
            .map_err(|error| format!("its process ended early: {error}")),
        Err(why) => Err(why),
    });
    let heard = program::attend(child, MOST_WORDS, PATIENCE);
    let heard = heard.map_err(|error| format!("its process was lost: {error}"))?;
    told?;
    let Some(status) = heard.status else {
        return Err(format!("its process did not end within {} s", PATIENCE.as_secs()));
    };
    if !status.success() {
        let words = String::from_utf8_lossy(&heard.stdout);
        let words = words.trim();
        return Err(if words.is_empty() {
            format!("its process ended with {status}")
        } else {
            words.to_owned()
        });
    }
    let trace = instance.folder.join("trace");
    file::text(&trace).map_err(|error| format!("{} cannot be read: {error}", trace.display()))
}

/// The traced process's work; its exit code. Why it failed goes to standard output.
pub fn serve(id: Option<&str>) -> u8 {
    let Err(why) = work(id.unwrap_or_default()) else { return 0 };
    let _ = write!(std::io::stdout(), "{why}");
    1
}

fn work(id: &str) -> Result<(), String> {
    let mut folder = String::new();
    std::io::stdin().read_to_string(&mut folder).map_err(|error| error.to_string())?;
    let folder = Path::new(&folder);
    let open = |name: &str| {
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).open(&path);
        file.map_err(|error| format!("{} cannot be opened: {error}", path.display()))
    };
    let (mut switch, mut marks) = (open("tracing_on")?, open("trace_marker")?);
    let catalogue = catalogue();
    let benchmark = catalogue.find(id).ok_or("there is no such benchmark")?;
    // What it makes ends with it.
    namespace::isolate(false).map_err(|error| format!("no private namespaces: {error}"))?;
    let cpus = affinity::allowed().map_err(|error| error.to_string())?;
    let cpu = cpus.last().copied().ok_or("no CPU is allowed")?;
    let subject = match apart::set_up(benchmark, cpu) {
        Ok(subject) => subject,
        Err(Unable::Unsupported { why, remedy }) => return Err(format!("{why}; {remedy}")),
        Err(Unable::Failed(error)) => return Err(apart::failure("set-up", error)),
    };
    let Subject::Batched(mut batched) = subject else {
        return Err("it holds the clock itself: there is no single operation".to_owned());
    };
    let mut batch = |iterations: u64, marks: Option<&mut File>| -> Result<(), String> {
        let failed = |error| apart::failure("batch", error);
        batched.arm().map_err(failed)?;
        let outcome = match marks {
            Some(marks) => {
                mark(marks, BEGIN)?;
                let outcome = batched.batch(iterations);
                mark(marks, END)?;
                outcome
            }
            None => batched.batch(iterations),
        };
        batched.park().map_err(failed)?;
        outcome.map_err(failed)
    };
    batch(WARM, None)?;
    let mut switch = |on: &[u8]| switch.write_all(on).map_err(|error| format!("tracing_on: {error}"));
    for _ in 0..OPERATIONS {
        switch(b"1")?;
        mark(&mut marks, BEGIN)?;
        mark(&mut marks, END)?;
        batch(1, Some(&mut marks))?;
        switch(b"0")?;
    }
    Ok(())
}

fn mark(marks: &mut File, text: &str) -> Result<(), String> {
    marks.write_all(text.as_bytes()).map_err(|error| format!("trace_marker: {error}"))
}
