//! Runs another program, in the worker.
//!
//! The worker ends the program at its deadline, and whatever it started, even in sessions of its own: by private IPC, mount
//! and PID namespaces, or by a guard where namespaces are refused, and for commands of the caller's, which are to see the
//! machine as he does.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use oscost_sys::process::Signal;
use oscost_sys::{CallError, affinity, clock, namespace, pipe::Pipe, process, program, readiness, reaper};

use crate::protocol::message::{Contained, ForeignOutput, ForeignPlan};

/// How long a program may take to end after SIGTERM, ns.
const PATIENCE_NS: u64 = 200_000_000;

/// Runs the program in this worker's namespaces and waits for its end, or its deadline.
pub(crate) fn run_here(plan: &ForeignPlan) -> ForeignOutput {
    match run(plan) {
        Ok(output) => output,
        Err(error) => ForeignOutput { stderr: error.to_string(), ..ForeignOutput::default() },
    }
}

/// Gives the program a /tmp and a /var/tmp whose changes vanish with it, and starts it in /tmp. Only in a PID namespace is it
/// sure that mounts are seen nowhere else. Why a program is not run that must have them.
fn contain(plan: &ForeignPlan, is_first: bool) -> Result<(), String> {
    if plan.contained == Contained::No {
        return Ok(());
    }
    let mut refused = None;
    for folder in [c"/tmp", c"/var/tmp"] {
        // In a folder that is not there nothing can be written.
        let is_there = Path::new(OsStr::from_bytes(folder.to_bytes())).is_dir();
        let apart = match is_first {
            true => namespace::write_apart(folder),
            false => Err(CallError::told("there is no PID namespace")),
        };
        if let (true, Err(error)) = (is_there, apart) {
            refused.get_or_insert((folder, error));
        }
    }
    if is_first {
        let _ = std::env::set_current_dir("/tmp");
    }
    match refused {
        Some((folder, error)) if plan.contained == Contained::Always => Err(format!(
            "the overlay on {} was refused ({error}): this program writes there, and is not run; allow namespaces",
            folder.to_string_lossy()
        )),
        _ => Ok(()),
    }
}

/// In the first process of a PID namespace, which has its own mounts, too: there its processes see only each other, and what is
/// mounted is seen nowhere else. The program is not that process but its child: one whose parent has the number 1 takes itself
/// for an orphan, and ends (lmbench's children do).
fn alone(command: &mut Command) -> std::io::Result<i32> {
    process::default_endings();
    let status = command.status()?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// Where no namespace holds the program: in a session of its own, which no signal to a group of ours reaches. Takes over whom
/// the program leaves, and ends everybody when the program has ended, or the worker, whoever was killed how, or at the deadline.
fn guarded(command: &mut Command, deadline: u64) -> std::io::Result<i32> {
    let failed = |error: CallError| std::io::Error::from_raw_os_error(error.errno);
    let worker = process::parent_id();
    process::outlive_parent().map_err(failed)?;
    process::new_session().map_err(failed)?;
    reaper::adopt_orphans().map_err(failed)?;
    process::default_endings();
    process::end_with_caller(command);
    let mut program = command.process_group(0).spawn()?;
    process::ignore_endings();
    let group = i32::try_from(program.id()).unwrap_or(0);
    let watched = [Ok(group), i32::try_from(worker)].into_iter().flatten();
    let watched: Vec<OwnedFd> = watched.filter_map(|pid| process::pidfd(pid).ok()).collect();
    let watched: Vec<&dyn AsRawFd> = watched.iter().map(|fd| fd as &dyn AsRawFd).collect();
    let mut told_ns = None;
    let status = loop {
        if let Some(status) = program.try_wait()? {
            break Some(status);
        }
        let now = clock::now_ns();
        match told_ns {
            None if now >= deadline || process::parent_id() != worker => {
                told_ns = Some(now);
                let _ = process::signal_group(group, Signal::Terminate);
            }
            None if readiness::poll_readable(&watched, (deadline - now).min(100_000_000)).is_ok() => {}
            Some(told) if now > told + PATIENCE_NS => break None,
            _ => clock::pause(Duration::from_millis(1)),
        }
    };
    reaper::end_all().map_err(failed)?;
    Ok(status.map_or(128, |status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))))
}

fn run(plan: &ForeignPlan) -> Result<ForeignOutput, CallError> {
    let (out, err) = (Pipe::new()?, Pipe::new()?);
    let Pipe { reader: out_reader, writer: out_writer } = out;
    let Pipe { reader: err_reader, writer: err_writer } = err;
    let start = clock::now_ns();
    let deadline = start.saturating_add(plan.deadline_ns);
    let child = process::Child::fork(move || {
        if !plan.cpus.is_empty() && affinity::pin_to_all(&plan.cpus).is_err() {
            return 125;
        }
        let Some((name, arguments)) = plan.command.split_first() else { return 127 };
        let complaint = err_writer.try_clone().map(std::fs::File::from);
        let complain = |words: String| {
            // Where nobody can be told, the code tells it.
            let _ = complaint.as_ref().map(|mut complaint| writeln!(complaint, "{words}"));
        };
        let is_first = std::process::id() == 1;
        if is_first {
            let _ = namespace::mount_proc();
        }
        if let Err(why) = contain(plan, is_first) {
            complain(why);
            return 125;
        }
        let mut command = match program::command(name) {
            Ok(command) => command,
            Err(error) => {
                complain(format!("{name}: {error}"));
                return 127;
            }
        };
        if !plan.inherits {
            command.env_clear().env("PATH", program::search_path()).env("LC_ALL", "C");
        }
        command
            .args(arguments)
            .envs(&plan.environment)
            .stdin(Stdio::null())
            .stdout(out_writer)
            .stderr(err_writer);
        let ended = if is_first { alone(&mut command) } else { guarded(&mut command, deadline) };
        ended.unwrap_or_else(|error| {
            complain(format!("{name}: {error}"));
            127
        })
    })?;
    let (stdout, stderr) = collect(out_reader, err_reader, plan.most_output, deadline);
    // Both streams may be closed by a program that goes on: the deadline holds for its end, too. A guard keeps to it.
    while !child.has_ended() {
        if clock::now_ns() > deadline.saturating_add(5 * PATIENCE_NS) {
            process::signal(child.pid(), Signal::Kill)?;
            break;
        }
        clock::pause(Duration::from_millis(1));
    }
    let ended = child.wait()?;
    let now = clock::now_ns();
    Ok(ForeignOutput {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        code: ended.code,
        signal: ended.signal,
        // A guard ends the program at the deadline, and may do so before we see that it has passed.
        timed_out: now >= deadline,
        duration_ns: now - start,
    })
}

/// Reads both streams until both end or `deadline` passes.
fn collect(out: OwnedFd, err: OwnedFd, most: usize, deadline: u64) -> (Vec<u8>, Vec<u8>) {
    let mut streams =
        [(std::fs::File::from(out), Vec::new(), true), (std::fs::File::from(err), Vec::new(), true)];
    while streams.iter().any(|stream| stream.2) {
        let now = clock::now_ns();
        if now >= deadline {
            break;
        }
        let open: Vec<usize> = (0..2).filter(|&index| streams[index].2).collect();
        let fds: Vec<&dyn std::os::fd::AsRawFd> =
            open.iter().map(|&index| &streams[index].0 as &dyn std::os::fd::AsRawFd).collect();
        let Ok(readable) = readiness::poll_readable(&fds, (deadline - now).min(100_000_000)) else {
            break;
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
                    let room = most.saturating_sub(bytes.len());
                    bytes.extend_from_slice(&buffer[..count.min(room)]);
                }
            }
        }
    }
    streams.map(|(_, bytes, _)| bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn plan(command: &[&str]) -> ForeignPlan {
        ForeignPlan {
            command: command.iter().map(|&word| word.to_owned()).collect(),
            environment: [("GREETING".to_owned(), "hello".to_owned())].into(),
            inherits: false,
            most_output: 1000,
            cpus: Vec::new(),
            deadline_ns: 60 * SECOND,
            contained: Contained::No,
        }
    }

    fn shell(script: &str) -> ForeignPlan {
        plan(&["sh", "-c", script])
    }

    /// Output, complaints, exit code.
    fn ran(plan: &ForeignPlan) -> (String, String, Option<i32>) {
        let output = run_here(plan);
        assert!(!output.timed_out && output.duration_ns > 0 && output.signal.is_none(), "{output:?}");
        (output.stdout, output.stderr, output.code)
    }

    #[test]
    fn a_program_has_the_environment_that_it_is_given() {
        let told = ran(&shell("echo $GREETING $LC_ALL; echo oops >&2; exit 3"));
        assert_eq!(told, ("hello C\n".to_owned(), "oops\n".to_owned(), Some(3)));
        let own = |name: &String| name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        let shells = ["PATH", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_"];
        let mut names = std::env::vars().map(|(name, _)| name).filter(own);
        let Some(name) = names.find(|name| !shells.contains(&name.as_str())) else { return };
        let mut of_ours = shell(&format!("echo $GREETING ${{{name}+there}}"));
        assert_eq!(ran(&of_ours).0, "hello\n", "none but the path is the caller's");
        of_ours.inherits = true;
        assert_eq!(ran(&of_ours).0, "hello there\n");
    }

    #[test]
    fn output_is_cut_where_it_is_too_long() {
        let cut = ForeignPlan { most_output: 4, ..shell("printf 1234567890; printf abc >&2") };
        assert_eq!(ran(&cut), ("1234".to_owned(), "abc".to_owned(), Some(0)));
        let half = shell("exec >&-; sleep 0.05; echo late >&2");
        assert_eq!(ran(&half).1, "late\n", "who has closed one stream is heard on the other");
        let long = ForeignPlan { most_output: 9000, ..shell("yes | head -c 20000") };
        assert_eq!(ran(&long).0.len(), 9000);
    }

    #[test]
    fn what_cannot_be_run_says_why() {
        let (_, complaint, code) = ran(&plan(&["no-such-program-of-oscost"]));
        assert!(complaint.starts_with("no-such-program-of-oscost: ") && code == Some(127), "{complaint}");
        assert_eq!(ran(&plan(&[])).2, Some(127));
        let nowhere = ForeignPlan { cpus: vec![1023], ..shell("echo 1") };
        assert_eq!(ran(&nowhere), (String::new(), String::new(), Some(125)));
        let cpu = affinity::allowed().expect("CPUs")[0];
        let there = ForeignPlan { cpus: vec![cpu], ..shell("nproc") };
        assert_eq!(ran(&there).0, "1\n");
    }

    /// A worker without namespaces, as here, has no /tmp that goes with it.
    #[test]
    fn who_must_be_contained_and_cannot_be_is_not_run() {
        let bits = oscost_sys::random::bits().expect("bits");
        let name = format!("/tmp/oscost-test-contained-{bits:032x}");
        let writes = |contained| ForeignPlan { contained, ..shell(&format!("pwd; echo 1 >{name}")) };
        let (said, why, code) = ran(&writes(Contained::Always));
        let stays = Path::new(&name).exists();
        assert!(!stays && said.is_empty() && code == Some(125), "{said}{why}");
        assert!(why.starts_with("the overlay on /tmp was refused"), "{why}");
        assert!(why.contains("is not run"), "{why}");
        let (said, why, code) = ran(&writes(Contained::WherePossible));
        std::fs::remove_file(&name).expect("what it wrote");
        let here = std::env::current_dir().expect("a folder");
        assert_eq!((said.trim_end(), why.as_str(), code), (&*here.to_string_lossy(), "", Some(0)));
    }

    #[test]
    fn at_its_deadline_a_program_is_ended_gently_and_then_at_once() {
        // Long enough for a shell of an emulated machine to set its trap.
        let cases = [("exec sleep 60", 128 + 15, 1), ("trap '' TERM; while :; do sleep 60; done", 128, 6)];
        for (script, code, halves) in cases {
            let output = run_here(&ForeignPlan { deadline_ns: halves * SECOND / 2, ..shell(script) });
            assert!(output.timed_out && output.duration_ns < 30 * SECOND, "{script}: {output:?}");
            assert_eq!((output.code, output.signal), (Some(code), None), "{script}");
        }
        // Who closed its streams goes on until its own end.
        let silent = ran(&shell("exec >&- 2>&-; sleep 0.05; exit 4"));
        assert_eq!(silent, (String::new(), String::new(), Some(4)));
    }

    /// A worker that hears no signal does not hand that on.
    #[test]
    fn a_program_hears_the_signals_that_end_it() {
        let child = process::Child::fork(|| {
            process::ignore_endings();
            let output = run_here(&ForeignPlan { deadline_ns: SECOND / 2, ..shell("exec sleep 60") });
            if output.timed_out { output.code.unwrap_or(1) } else { 2 }
        });
        assert_eq!(child.expect("fork").wait().expect("it ends").code, Some(128 + 15));
    }

    /// Its guard is there until the program has ended, and hears none: a signal to its group may come at any time.
    #[test]
    fn a_guard_is_ended_by_no_signal_and_a_program_goes_with_its_guard() {
        // Bit 14 of what the guard ignores.
        let deaf = "until grep -q '^SigIgn:.*[4-7c-f]...$' /proc/$PPID/status; do :; done";
        let ended = ran(&shell(&format!("{deaf}; kill $PPID; exit 5")));
        assert_eq!(ended, (String::new(), String::new(), Some(5)));
        let output = run_here(&shell("kill -KILL $PPID; exec sleep 60"));
        assert!(
            !output.timed_out && output.signal == Some(9) && output.duration_ns < 30 * SECOND,
            "{output:?}"
        );
    }

    /// However it ends, its code is that of a shell.
    #[test]
    fn a_program_that_a_signal_ends_has_the_code_of_a_shell() {
        for signal in [2, 9, 15] {
            assert_eq!(ran(&shell(&format!("kill -{signal} $$"))).2, Some(128 + signal));
        }
    }

    #[test]
    fn a_script_whose_interpreter_is_missing_says_why_it_is_not_run() {
        use std::os::unix::fs::PermissionsExt;
        let bits = oscost_sys::random::bits().expect("bits");
        let path = std::env::temp_dir().join(format!("oscost-test-{bits:032x}"));
        std::fs::write(&path, "#!/no-such-interpreter-of-oscost\n").expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("ours");
        let name = path.to_string_lossy().into_owned();
        let (_, why, code) = ran(&plan(&[&name]));
        std::fs::remove_file(&path).expect("removed");
        assert!(why.starts_with(&format!("{name}: ")) && code == Some(127), "{why} {code:?}");
    }
}
