//! `run --plain`: figures where the kernel has 25 system calls and no others, and what they lack.

use oscost_results::{RemarkCode, Status, Verdict};

use crate::filter::{below, kernel_with};
use crate::support::{Home, measured, skip};

/// All that a run needs on x86_64, the operation that it measures included: to start a program, for memory, for files that say
/// what machine this is, for children and the CPU that they run on. A run makes others too, and goes on without them.
const CALLS: &str = "execve arch_prctl mmap mprotect poll rt_sigaction exit_group openat newfstatat pread64 read write \
    close pipe2 ppoll clone wait4 kill prctl getpid getppid geteuid sched_getaffinity \
    sched_setaffinity getrusage";

#[test]
fn a_kernel_of_25_calls_has_figures() {
    let calls: Vec<&str> = CALLS.split(' ').collect();
    assert!(calls.len() <= 25, "{}", calls.len());
    if !cfg!(target_arch = "x86_64") {
        return skip("the list is that of x86_64");
    }
    let home = Home::new();
    let filter = kernel_with(&calls);
    let arguments = ["run", "--plain", "--quick", "--json", "-", "syscall/getppid"];
    let done = measured(&mut below(&home, &filter, &arguments));
    if done.stderr.contains("no filter") {
        return skip("no filter may be set");
    }
    done.well();
    let result = oscost_results::from_bytes(done.stdout.as_bytes()).expect("a result");
    let figure = result.figures.iter().find(|figure| figure.id == "syscall/getppid").expect("the figure");
    assert_eq!(figure.status, Status::Measured, "{figure:?}");
    assert!(figure.quantities["floor"].estimate.value > 0.0);
    // What is lost is told, and nothing passes for checked.
    assert_eq!(figure.evidence.verdict, Verdict::Unchecked);
    assert_eq!(figure.evidence.audit_missing.as_deref(), Some("--plain has no counter of system calls"));
    assert!(result.warnings.iter().any(|warning| RemarkCode::of(warning) == Some(RemarkCode::Plain)));
    assert_eq!(result.conditions.isolation.as_deref(), Some("none (--plain)"));
    assert!(done.stderr.contains("the result will not be kept"), "{}", done.stderr);
}

#[test]
fn what_is_plain_says_so_and_makes_nothing_that_outlives_it() {
    let home = Home::new();
    let kept = ["semaphore/system_v", "realtime_ipc/fifo/same_cpu/clients_1"];
    let ids = ["syscall/getppid", "semaphore/eventfd", "semaphore/posix_unnamed", kept[0], kept[1]];
    let done = home.measure(&[&["run", "--plain", "--quick"], &ids[..]].concat());
    assert_eq!(done.code, Some(3), "a figure that was named is missing: {done:?}");
    assert!(done.stdout.contains("system calls were not counted: --plain"), "{}", done.stdout);
    assert!(done.stdout.contains("measured by few system calls (--plain)"), "{}", done.stdout);
    let stored = home.stored();
    assert_eq!(stored.len(), 1, "it is kept where a store can be had");
    let of = |id: &str| stored[0].figures.iter().find(|figure| figure.id == id).expect("the figure");
    // What is refused to a member of a group is not held against the others.
    for id in ["syscall/getppid", "semaphore/eventfd", "semaphore/posix_unnamed"] {
        assert_eq!(of(id).status, Status::Measured, "{id}: {:?}", of(id).why);
    }
    for id in kept {
        assert_eq!(of(id).status, Status::Unsupported, "{id}: {:?}", of(id).why);
        assert_eq!(of(id).remedy.as_deref(), Some("measure it without --plain"), "{id}");
    }
    // What launches count themselves is still held against the claims.
    let claims = &of("syscall/getppid").evidence.claims;
    let switches = claims.iter().find(|claim| claim.claim == "voluntary_switches").expect("a claim");
    assert!(switches.observed.is_some(), "{claims:?}");
}

#[test]
fn what_plain_cannot_keep_is_said_even_quietly() {
    let home = Home::new();
    std::fs::write(home.path().join("state"), "no folder").expect("a file");
    home.measure(&["run", "--plain", "--quick", "--quiet", "syscall/getppid"])
        .well()
        .says("the result will not be kept")
        .shows("getppid");
}

#[test]
fn what_needs_more_than_plain_has_is_refused() {
    let home = Home::new();
    home.ask(&["run", "--plain", "record_database", "--set", "directory=."])
        .refused(2, "--plain measures no files in a folder");
    home.ask(&["run", "--plain", "--percentiles", "syscall/getppid"]).refused(2, "--percentiles");
}
