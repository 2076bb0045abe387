//! A run where the kernel lacks all that came after Linux 4.19 at once: figures, or the call that is missing.

use oscost_results::{Status, Verdict};

use crate::filter::{below, linux_4_19};
use crate::support::{Home, finished, measured, skip};

/// Of each family that makes processes, objects or newer calls.
const IDS: &str = "clock/monotonic context_switch/pipe/same_cpu event/epoll_wake/same_cpu futex/wake_one/same_cpu \
    io_uring/nop lock/shared_mutex/handover/same_cpu process/fork record_lock/ofd \
    semaphore/posix_named semaphore/system_v syscall/getppid thread/create_join \
    timer/nanosleep_overshoot";

#[test]
#[ignore = "longer: it withholds"]
fn a_kernel_of_2018_has_figures_and_names_what_it_lacks() {
    let home = Home::new();
    let filter = linux_4_19();
    let ids: Vec<&str> = IDS.split(' ').collect();
    let arguments = [&["run", "--force", "--quick", "--json", "out.json"], &ids[..]].concat();
    let done = measured(&mut below(&home, &filter, &arguments));
    if done.stderr.contains("no filter") {
        return skip("no filter may be set");
    }
    assert_eq!(done.code, Some(3), "a figure that was named is missing: {done:?}");
    done.omits("panicked").omits("internal error");
    let result = oscost_results::load(&home.path().join("out.json")).expect("a result");
    for id in ids {
        let figure = result.figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("{id}"));
        let why = figure.why.as_deref().unwrap_or_default();
        if id == "io_uring/nop" {
            assert_eq!(figure.status, Status::Unsupported, "{id}: {why}");
            assert!(why.contains("io_uring_setup failed: Function not implemented (ENOSYS)"), "{why}");
            assert!(figure.remedy.as_deref().is_some_and(|remedy| remedy.contains("Linux 5.4")));
            continue;
        }
        assert_eq!(figure.status, Status::Measured, "{id}: {why}");
        // Neither counter of system calls was there: nothing passes for checked, and both are named.
        let missing = figure.evidence.audit_missing.as_deref().unwrap_or_default();
        assert_eq!(figure.evidence.verdict, Verdict::Unchecked, "{id}");
        assert!(missing.contains("seccomp failed"), "{id}: {missing}");
        assert!(missing.contains("PTRACE_GET_SYSCALL_INFO (Linux 5.3) failed"), "{id}: {missing}");
    }
    assert!(home.leftovers().is_empty(), "{:?}", home.leftovers());
    assert_eq!(processes_of(&home), Vec::<String>::new());
}

/// Processes that were started in `home`.
fn processes_of(home: &Home) -> Vec<String> {
    let home = format!("HOME={}\0", home.path().display());
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let environment =
        |entry: &std::fs::DirEntry| std::fs::read(entry.path().join("environ")).unwrap_or_default();
    entries
        .filter(|entry| environment(entry).windows(home.len()).any(|part| part == home.as_bytes()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn doctor_says_what_counts_nothing_on_such_a_kernel() {
    let home = Home::new();
    let done = finished(&mut below(&home, &linux_4_19(), &["doctor", "--json"]));
    if done.stderr.contains("no filter") {
        return skip("no filter may be set");
    }
    let checks: Vec<serde_json::Value> = serde_json::from_str(&done.well().stdout).expect("JSON");
    let privileges = checks.iter().find(|check| check["check"] == "privileges").expect("the check");
    let text = |key: &str| privileges[key].as_str().unwrap_or_default();
    assert!(text("says").contains("no audit: seccomp notification and ptrace are refused"), "{privileges}");
    assert!(text("remedy").contains("Linux 5.3 or later"), "{privileges}");
}
