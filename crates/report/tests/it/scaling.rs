//! The view of several at once: the speed-up, the knee with its interval, and who shares a CPU.

use crate::fixture;
use crate::written::{flat, listed, paged};

use oscost_results::{Figure, RunResult};
use serde_json::json;

fn crowd(workers: u64, objects: &str, efficiency: f64, cpus: f64) -> Figure {
    let quantity = |value: f64, unit| fixture::quantity([value * 0.99, value, value * 1.01], unit);
    fixture::figure(
        &format!("syscall/read1/processes_{workers}/{objects}"),
        json!({"heading": "one read, by several at once", "call_path": "inline", "placement": "spread",
        "headline": "time_per_operation", "parameters": {"of": "syscall/read1", "processes": workers, "objects": objects},
        "quantities": {
            "time_per_operation": quantity(100.0 / (workers as f64 * efficiency), "ns"), "alone": quantity(100.0, "ns"),
            "efficiency": quantity(efficiency, "ratio"), "fairness": quantity(1.0, "ratio"),
            "workers_per_cpu": quantity(workers as f64 / cpus, "ratio"),
        }}),
    )
}

fn text(result: &RunResult) -> String {
    listed(result, 120, false)
}

fn both() -> RunResult {
    let private = [(1, 1.0), (2, 0.99), (4, 0.98)].map(|(workers, it)| crowd(workers, "private", it, 4.0));
    let shared = [(4, 0.25), (2, 0.5), (1, 1.0)].map(|(workers, it)| crowd(workers, "shared", it, 4.0));
    fixture::of(private.into_iter().chain(shared).collect())
}

#[test]
fn private_objects_have_no_knee_and_a_shared_one_has_it_at_one() {
    let text = text(&both());
    let words = flat(&text);
    for part in [
        "SEVERAL AT ONCE",
        "syscall/read1: 4 processes with private objects make 3.92x (3.88x .. 3.96x) what one makes, efficiency 0.980; no knee up to 4 processes.",
        "4 processes with shared objects make 1.00x (0.990x .. 1.01x) what one makes, efficiency 0.250; knee at 1 (from 1 to 1).",
    ] {
        assert!(words.contains(part), "no '{part}' in {text}");
    }
    let longest = text.lines().map(|line| line.matches('#').count()).max();
    assert_eq!(longest, Some(32), "{text}");
}

#[test]
fn workers_that_share_a_cpu_are_no_knee() {
    let crowds = [(1, 1.0), (2, 0.99), (4, 0.5)].map(|(workers, it)| crowd(workers, "private", it, 2.0));
    let text = text(&fixture::of(crowds.into()));
    let words = flat(&text);
    assert!(words.contains("no knee up to 2 processes. From 4 processes on, several share a CPU."), "{text}");
}

#[test]
fn a_page_draws_both_curves() {
    let page = paged(&both());
    for part in ["private objects", "shared objects", "operations, beside those of one alone"] {
        assert!(page.contains(part), "{part}");
    }
}
