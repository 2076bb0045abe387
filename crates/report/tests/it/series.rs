//! The view of series: curves over a size, with the finding, the bars of a terminal and the picture of a page.

use crate::fixture;
use crate::written::{Says, flat, listed, paged};

use oscost_results::{Figure, RunResult};
use serde_json::json;

/// A figure of a family with a size, and what else its parameters say.
fn sized(family: &str, heading: &str, parameters: serde_json::Value, ns: f64) -> Figure {
    let quantity = |value: f64| fixture::quantity([value * 0.99, value, value * 1.01], "ns");
    fixture::figure(
        &format!("{family}/it/{ns}"),
        json!({"heading": heading, "call_path": "inline", "parameters": parameters,
            "quantities": {"floor": quantity(ns * 0.9), "typical": quantity(ns)}}),
    )
}

fn result() -> RunResult {
    let fork = |bytes: u64, pages: &str, ns: f64| {
        sized("process", "one child, made and reaped", json!({"resident_bytes": bytes, "pages": pages}), ns)
    };
    let block = |bytes: u64, ns: f64| {
        sized("memory", "1 KiB of a block", json!({"working_set_bytes": bytes, "way": "copying"}), ns)
    };
    let poll = |count: u64, ns: f64| sized("event", "one poll", json!({"descriptors": count}), ns);
    // Two numbers are two situations: no curve goes through it.
    let odd = sized("event", "one poll", json!({"descriptors": 10, "clients": 3}), 7e6);
    fixture::of(vec![
        sized("process", "one child, made and reaped", json!({}), 60_000.0),
        fork(1 << 30, "small", 1_060_000.0),
        fork(1 << 20, "small", 61_000.0),
        fork(1 << 30, "huge", 150_000.0),
        block(1 << 14, 10.24),
        block(1 << 26, 102.4),
        poll(1, 300.0),
        poll(101, 1300.0),
        odd,
    ])
}

fn text(result: &RunResult) -> String {
    listed(result, 100, false)
}

#[test]
fn a_series_says_both_ends_and_what_a_step_adds() {
    let text = text(&result());
    let words = flat(&text);
    for part in [
        "COST BY SIZE",
        "a fork typically takes 61.0 us with 1 MiB and 1.06 ms with 1 GiB (small pages): 17.4x.",
        // (1 060 000 - 61 000) / 1023.
        "a further MiB adds 977 ns. huge pages: 150 us with 1 GiB.",
        "A block of 16 KiB typically moves at 100 GB/s, one of 64 MiB at 10.0 GB/s (copying).",
        "a poll typically takes 300 ns with 1 descriptor and 1.30 us with 101 descriptors: 4.33x.",
        "a further descriptor adds 10.0 ns.",
    ] {
        assert!(words.contains(part), "no '{part}' in {text}");
    }
    let bars: Vec<usize> = text
        .lines()
        .filter(|line| line.contains("##") || line.ends_with(" #"))
        .map(|line| line.matches('#').count())
        .collect();
    // One scale in each plot: the least has one letter, the most as many as there is room for.
    assert_eq!(bars.iter().filter(|&&bar| bar == 32).count(), 3, "{text}");
    assert_eq!(bars.iter().filter(|&&bar| bar == 1).count(), 3, "{text}");
    text.lacks("7.00 ms with");
    // The rows of the price list quote the floor.
    assert_eq!(text.lines().filter(|line| line.contains("  typical") && !line.contains("floor")).count(), 4);
}

#[test]
fn one_size_is_no_series() {
    let mut result = result();
    result.figures.truncate(2);
    assert!(!text(&result).contains("COST BY SIZE"));
}

#[test]
fn a_page_draws_it_over_its_axis() {
    let page = paged(&result());
    for part in ["resident memory of the process", "1 GiB", "typical bandwidth", "GB/s", "descriptors"] {
        assert!(page.contains(part), "{part}");
    }
}
