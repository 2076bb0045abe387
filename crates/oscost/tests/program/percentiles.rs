//! `run --percentiles` on this machine: every moment accounted for, a rival on the same CPU found by its name.

use std::process::{Command, Stdio};
use std::time::Instant;

use oscost_results::{Account, FirstCallAfter, GapCause, Percentiles, RunResult};
use oscost_sys::usage;

use crate::support::{Done, Home, finished, one_at_a_time, skip};

const RUN: [&str; 8] = [
    "run",
    "--quick",
    "--percentiles",
    "-q",
    "--json",
    "out.json",
    "syscall/getppid",
    "context_switch/pipe/same_cpu",
];

fn run(home: &Home) -> RunResult {
    home.measure(&RUN).well();
    oscost_results::load(&home.path().join("out.json")).expect("a result")
}

fn percentiles<'a>(result: &'a RunResult, id: &str) -> &'a Percentiles {
    let figure = result.figures.iter().find(|figure| figure.id == id).expect("a figure");
    figure.percentiles.as_ref().unwrap_or_else(|| panic!("{id} was not timed: {:?}", result.warnings))
}

/// Parts of the account over all of it.
fn accounted(account: &Account) -> f64 {
    let parts = account.passes_ns + account.counting_ns + account.looking_ns + account.gaps_ns();
    parts as f64 / account.elapsed_ns as f64
}

#[test]
fn single_operations_are_timed_and_every_moment_is_accounted_for() {
    let home = Home::new();
    let result = run(&home);
    for (id, operations) in [("syscall/getppid", 1), ("context_switch/pipe/same_cpu", 2)] {
        let it = percentiles(&result, id);
        assert_eq!((it.launches, it.operations_per_pass), (5, operations), "{id}");
        assert_eq!(it.counts.iter().sum::<u64>(), it.passes, "{id}: each pass is in one bucket");
        assert!((accounted(&it.account) - 1.0).abs() < 0.01, "{id}: {:?}", it.account);
        let values: Vec<f64> = it.quantiles.iter().map(|at| at.value).collect();
        assert!(values.len() >= 3 && values.is_sorted(), "{id}: {values:?}");
        assert!(it.quantiles.iter().all(|at| at.low <= at.high && at.value <= it.max_ns), "{id}");
        assert!(it.longer.iter().all(|longer| longer.events <= longer.passes), "{id}");
        let after: Vec<_> = it.first.iter().map(|first| first.after).collect();
        assert_eq!(after, [FirstCallAfter::Eviction, FirstCallAfter::Idleness], "{id}");
        assert!(it.first.iter().all(|first| first.passes > 0 && first.low_ns <= first.high_ns), "{id}");
        let (evicted, usual) = (&it.first[0], it.quantiles[0].value);
        assert!(!evicted.evicts() || evicted.median_ns > usual, "{id}: {evicted:?} costs more than {usual}");
        assert!(it.pair_ns > 0.0 && it.beside_batch.batch_ns > 0.0, "{id}");
    }
    let carrier = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/carriers/cyclictest");
    if home.other("python3").arg("--version").output().is_err() {
        return skip("no python3");
    }
    finished(home.other("python3").args([carrier, "out.json"]))
        .well()
        .shows("# Column 1: ")
        .shows("# Total: ")
        .shows("# Max Latencies: ");
}

#[test]
#[ignore = "longer: it deceives"]
fn a_rival_on_the_same_cpu_is_found_by_its_name() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let Some(&cpu) = oscost_sys::affinity::allowed().unwrap_or_default().last() else { return };
    let rival = Command::new("taskset")
        .args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut rival) = rival else {
        return skip("no taskset");
    };
    let mut arguments = RUN.to_vec();
    let cpu = cpu.to_string();
    arguments.extend(["--force", "--cpu", &cpu]);
    let begun = Instant::now();
    let done = home.command(&arguments).output();
    let pid = rival.id().cast_signed();
    let used = usage::of(pid, pid).expect("it lives").usage;
    let share = (used.user_ns + used.system_ns) as f64 / begun.elapsed().as_nanos() as f64;
    rival.kill().expect("it ran until now");
    rival.wait().expect("its end");
    Done::from(done.expect("the program starts")).well();
    let result = oscost_results::load(&home.path().join("out.json")).expect("a result");
    let it = percentiles(&result, "syscall/getppid");
    let of = |cause: GapCause| it.account.gaps.iter().filter(move |gaps| gaps.cause == cause);
    let preempted: u64 = of(GapCause::Preemption).map(|gaps| gaps.total_ns).sum();
    // Two that never sleep share the CPU: the rival's half is preemption, whatever else runs here.
    assert!(preempted as f64 >= 0.5 * it.account.gaps_ns() as f64, "{:?}", it.account.gaps);
    let is_named = of(GapCause::Preemption).any(|gaps| gaps.by.as_deref() == Some("sh"));
    if !is_named && share < 0.45 {
        // A gap is blamed on a task that had half of it. Beside one task the rival has half of the CPU, and among many of none.
        return skip("others had most of the CPU");
    }
    assert!(is_named, "{share}: {:?}", it.account.gaps);
    assert!((accounted(&it.account) - 1.0).abs() < 0.01, "{:?}", it.account);
}

#[test]
fn nobody_times_everything_by_accident() {
    let home = Home::new();
    home.ask(&["run", "--percentiles"]).refused(2, "PATTERN");
}
