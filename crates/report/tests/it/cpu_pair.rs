//! The view of pairs of CPUs: a matrix that lines up, no time of 0, and both directions held against each other.

use crate::fixture;
use crate::written::{Says, flat, listed, paged, written};

use oscost_report::price_list_markdown;
use oscost_results::{Figure, RunResult};
use serde_json::json;

fn pair(from: u64, to: u64, share: &str, ns: f64) -> Figure {
    let quantity = |ns: f64| fixture::quantity([ns * 0.99, ns, ns * 1.01], "ns");
    fixture::figure(
        &format!("cpu_pair/wake_up/from_{from}_to_{to}"),
        json!({"placement": "cross_cpu", "headline": "latency_p50", "parameters": {"from": from, "to": to, "share": share},
            "quantities": {"latency_p50": quantity(ns), "latency_p99": quantity(3.0 * ns)}}),
    )
}

/// Four CPUs, of which two and two share a cache; `back`: what 3 to 0 takes.
fn result(back: f64) -> RunResult {
    let pairs = [
        (0, 1, "cache", 2000.0),
        (1, 0, "cache", 2010.0),
        (2, 3, "cache", 2100.0),
        (3, 2, "cache", 2050.0),
        (0, 3, "machine", 9000.0),
        (3, 0, "machine", back),
    ];
    fixture::of(pairs.map(|(from, to, share, ns)| pair(from, to, share, ns)).into())
}

fn text(result: &RunResult) -> String {
    listed(result, 100, true)
}

#[test]
fn the_matrix_lines_up() {
    let text = text(&result(9100.0));
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.trim_start().starts_with("CPU ")).take(5).collect();
    assert!(rows[1].contains("2.00 \u{2591}") && rows[1].contains("9.00 \u{2588}"), "{text}");
    let ends = |line: &str| line.trim_end().chars().count();
    assert!(rows[1..].iter().take(3).all(|row| ends(row) <= ends(rows[1]).max(ends(rows[2]))), "{text}");
    text.says("Both directions of all 3 pairs agree within noise.").says("the machine alone");
}

#[test]
fn a_pair_whose_directions_differ_is_named() {
    let text = flat(&text(&result(18_000.0)));
    let words = "The directions differ beyond noise in 1 of 3 pairs: CPU 0 to 3 9.00 us, back 18.0 us.";
    text.says(words);
}

#[test]
fn markdown_has_the_matrix_too() {
    written(|out| price_list_markdown(&result(9100.0), None, out)).says("PAIRS OF CPUS");
}

#[test]
fn the_page_draws_a_cell_a_pair() {
    let text = paged(&result(9100.0));
    assert_eq!(text.matches("class=\"heat\"").count(), 6, "a direction each, and none from a CPU to itself");
    assert!(text.contains("<title>CPU 0 to CPU 3: 9.00</title>"));
    let shade = |pair: &str| {
        let before = text.split(&format!("<title>CPU {pair}:")).next().unwrap();
        let shade = before.rsplit("fill-opacity=\"").next().unwrap().split('"').next().unwrap();
        shade.parse::<f64>().unwrap()
    };
    assert!(
        shade("0 to CPU 1") < shade("2 to CPU 3") && shade("2 to CPU 3") < shade("3 to CPU 0"),
        "darker is longer"
    );
}

/// A matrix has the square of its CPUs in cells: as many as a file can have figures would take all memory.
#[test]
fn many_cpus_have_no_matrix() {
    let mut result = result(9100.0);
    let share = ["cache", "machine"];
    result.figures =
        (0..3000_u64).map(|at| pair(2 * at, 2 * at + 1, share[at as usize % 2], 2000.0)).collect();
    flat(&text(&result)).says("A matrix of 6000 CPUs is too wide to read.").says("one cache 1500");
}
