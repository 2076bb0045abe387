//! Runs tests: each once while tracing which mutants it reaches, then those that reach a mutant with it switched on.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::compile::Program;

/// One test, or a program of tests that cannot list them.
#[derive(Debug, Clone)]
pub struct Test {
    /// The program.
    pub program: Program,
    /// Its name there; `None`: the whole program.
    pub name: Option<String>,
    /// How long it takes without a mutant.
    pub takes: Duration,
    /// Mutants that it reaches; `None`: any of them may be.
    reaches: Option<BTreeSet<u32>>,
}

impl Test {
    fn reaches(&self, mutant: u32) -> bool {
        self.reaches.as_ref().is_none_or(|reached| reached.contains(&mutant))
    }
}

/// How one mutant ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A test failed.
    Killed,
    /// A test did not end in time.
    Timeout,
    /// All tests that reach it pass.
    Survived,
    /// No test reaches it.
    NotReached,
}

/// Names of the tests of a program; `None` where it does not list them.
fn names(program: &Program) -> Option<Vec<String>> {
    let output = Command::new(&program.path)
        .current_dir(&program.folder)
        .args(["--list", "--format", "terse"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let names: Vec<String> =
        text.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect();
    (output.status.success() && !names.is_empty()).then_some(names)
}

/// Starts tests of one program; whether they passed, `None` where they did not end in time.
fn passes(program: &Program, names: &[&str], environment: &[(&str, &Path)], limit: Duration) -> Option<bool> {
    let mut command = Command::new(&program.path);
    command.current_dir(&program.folder).args(names);
    if !names.is_empty() {
        command.args(["--exact", "--include-ignored", "--test-threads", "1"]);
    }
    command.env("PROPTEST_FAILURE_PERSISTENCE", "off").envs(environment.iter().copied()).process_group(0);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return Some(false) };
    let end = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(3)),
            _ => {
                // The whole group: a mutant that hangs may hang in a child.
                let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// A test that takes longer than this without a mutant is left out.
const LONGEST: Duration = Duration::from_secs(15);
/// The same of a program whose tests have no names: it is all of them.
const LONGEST_PROGRAM: Duration = Duration::from_secs(120);

/// Runs every test of `programs` once, `jobs` at a time, and tells which mutants it reaches. Tests that fail without a mutant
/// are named.
pub fn trace(programs: &[Program], work: &Path, jobs: usize) -> io::Result<(Vec<Test>, Vec<String>)> {
    let all: Vec<(&Program, Option<String>)> = programs
        .iter()
        .flat_map(|program| {
            let names = names(program).map(|names| names.into_iter().map(Some).collect());
            names.unwrap_or_else(|| vec![None]).into_iter().map(move |name| (program, name))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let worker = &|job: usize| -> io::Result<(Vec<Test>, Vec<String>)> {
        let (mut tests, mut unfit) = (Vec::new(), Vec::new());
        // Tests start elsewhere than this program.
        let file = std::path::absolute(work)?.join(format!("reached-{job}"));
        while let Some((program, name)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            std::fs::write(&file, "")?;
            let chosen: Vec<&str> = name.as_deref().into_iter().collect();
            let longest = if name.is_some() { LONGEST } else { LONGEST_PROGRAM };
            let mut start = Instant::now();
            let mut passed = passes(program, &chosen, &[("OSCOST_MUTANT_TRACE", &file)], longest);
            let text = std::fs::read_to_string(&file)?;
            let mut reaches = Some(text.lines().filter_map(|line| line.parse().ok()).collect());
            if passed == Some(false) {
                // Who counts system calls counts those of the trace, too: without it he may be right.
                (start, reaches) = (Instant::now(), None);
                passed = passes(program, &chosen, &[], longest);
            }
            let takes = start.elapsed();
            if passed == Some(true) {
                tests.push(Test { program: (*program).clone(), name: name.clone(), takes, reaches });
            } else {
                let program = program.path.file_name().unwrap_or_default().to_string_lossy();
                unfit.push(format!("{program} {}", name.as_deref().unwrap_or_default()));
            }
        }
        Ok((tests, unfit))
    };
    let found: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|job| scope.spawn(move || worker(job))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let (mut tests, mut unfit) = (Vec::new(), Vec::new());
    for found in found {
        let (some, left_out) = found?;
        tests.extend(some);
        unfit.extend(left_out);
    }
    tests.sort_by_key(|test| test.takes);
    Ok((tests, unfit))
}

/// Tests of one program are started together as long as they take no longer than this.
const TOGETHER: Duration = Duration::from_secs(2);

/// Runs the tests that reach mutant `number`, the fast ones first, until one fails.
pub fn judge(number: u32, tests: &[Test]) -> End {
    let mut left: Vec<&Test> = tests.iter().filter(|test| test.reaches(number)).collect();
    if left.is_empty() {
        return End::NotReached;
    }
    let chosen = number.to_string();
    let environment = [("OSCOST_MUTANT", Path::new(&chosen))];
    while let Some(&first) = left.first() {
        let mut takes = Duration::ZERO;
        let (mut together, mut later) = (Vec::new(), Vec::new());
        for test in left {
            let same = test.program.path == first.program.path && test.name.is_some() == first.name.is_some();
            if together.is_empty() || (same && takes + test.takes <= TOGETHER) {
                takes += test.takes;
                together.push(test);
            } else {
                later.push(test);
            }
        }
        left = later;
        let names: Vec<&str> = together.iter().filter_map(|test| test.name.as_deref()).collect();
        match passes(&first.program, &names, &environment, 4 * takes + Duration::from_secs(10)) {
            Some(true) => {}
            Some(false) => return End::Killed,
            None => return End::Timeout,
        }
    }
    End::Survived
}
