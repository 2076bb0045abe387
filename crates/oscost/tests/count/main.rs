//! Counts on a real kernel: five figures whose trees add up. With a simulated guest: everything that can go wrong.
//!
//! The kernel is the file that OSCOST_KERNEL names; without it, or without qemu, the tests that boot say SKIP.
#![forbid(unsafe_code)]

mod aarch64;
mod bad;
mod compared;
mod handovers;
mod planted;
mod played;
mod sums;

use std::process::{Command, Output};

use oscost_results::{Repeats, RunResult, from_bytes};

const FIVE: [&str; 5] =
    ["syscall/invalid", "syscall/getppid", "syscall/read1", "semaphore/posix_named", "semaphore/system_v"];

/// The program, which keeps nothing.
fn command(arguments: &[&str]) -> Command {
    // Whoever started the tests may ignore what ends their children (nohup, a shell's background).
    oscost_sys::process::default_endings();
    let mut command = Command::new(env!("CARGO_BIN_EXE_oscost"));
    command.args(arguments).env("XDG_STATE_HOME", "/dev/null");
    command
}

fn oscost(arguments: &[&str]) -> Output {
    command(arguments).output().expect("it was built")
}

#[expect(clippy::print_stdout)] // what is skipped is said
fn skip(test: &str, why: &str) {
    println!("SKIP {test}: {why}");
}

/// The kernel to be booted, or why there is none.
fn kernel(test: &str) -> Option<String> {
    let lacking = match std::env::var("OSCOST_KERNEL") {
        Err(_) => "OSCOST_KERNEL names no kernel image",
        Ok(_) if Command::new("qemu-system-x86_64").arg("--version").output().is_err() => {
            "qemu is not installed"
        }
        Ok(path) => return Some(path),
    };
    skip(test, lacking);
    None
}

fn counted(arguments: &[&str]) -> RunResult {
    counted_by(command(arguments))
}

fn counted_by(mut command: Command) -> RunResult {
    let output = command.output().expect("it was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    from_bytes(&output.stdout).expect("a result")
}

/// Each figure is the same in every iteration, and its tree adds up to it.
fn are_constant_and_add_up(result: &RunResult) {
    for figure in &result.figures {
        let count = figure.count.as_ref().unwrap_or_else(|| panic!("{}: {:?}", figure.id, figure.why));
        assert_eq!(count.repeats, Repeats::Constant, "{}: {:?}", figure.id, count.why);
        let value = figure.quantities["instructions"].estimate.value;
        assert_eq!(count.sum() as f64, value * figure.operations_per_iteration as f64, "{}", figure.id);
        assert!(figure.remarks.is_empty(), "{}: {:?}", figure.id, figure.remarks);
    }
}

#[test]
fn five_figures_are_constant_and_their_trees_add_up() {
    let Some(kernel) = kernel("five_figures_are_constant_and_their_trees_add_up") else { return };
    let mut arguments = vec!["count"];
    arguments.extend(FIVE);
    arguments.extend(["--kernel", &kernel, "--by-function", "--format", "json"]);
    let result = counted(&arguments);
    assert_eq!(result.figures.len(), FIVE.len());
    are_constant_and_add_up(&result);
    let names = |id: &str| -> Vec<&str> {
        let figure = result.figures.iter().find(|figure| figure.id == id).expect("it was asked for");
        figure.count.iter().flat_map(|count| &count.functions).map(|node| node.name.as_str()).collect()
    };
    let tree = names("syscall/getppid");
    assert!(tree.iter().any(|name| name.contains("sys_getppid")), "{tree:?}");
    let own = |name: &&str| name.contains("oscost_families") && name.contains("::batch");
    assert!(tree.iter().any(own), "our own part is named: {tree:?}");
    let tree = names("semaphore/posix_named");
    assert!(tree.iter().any(|name| name.contains("sem_wait")), "libc's part is named: {tree:?}");
    assert!(!tree.iter().any(|name| name.contains("syscall")), "it does not enter the kernel: {tree:?}");
}

#[test]
fn who_waits_by_yielding_is_counted() {
    let Some(kernel) = kernel("who_waits_by_yielding_is_counted") else { return };
    let result =
        counted(&["count", "context_switch/yield/same_cpu", "--kernel", &kernel, "--format", "json"]);
    let [figure] = &result.figures[..] else { panic!("{:?}", result.figures) };
    let count = figure.count.as_ref().unwrap_or_else(|| panic!("{:?}", figure.why));
    assert_ne!(count.repeats, Repeats::Varies, "{:?}", count.why);
}

#[test]
fn a_kernel_that_panics_is_told_with_its_last_lines() {
    let Some(kernel) = kernel("a_kernel_that_panics_is_told_with_its_last_lines") else { return };
    let nothing = ["--append", "rdinit=/nothing root=/dev/none"];
    let output = oscost(&[&["count", "syscall/getppid", "--kernel", &kernel], &nothing[..]].concat());
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert!(words.contains("the kernel panicked: "), "{words}");
    assert!(words.lines().any(|line| line.starts_with("  | ")), "{words}");
}
