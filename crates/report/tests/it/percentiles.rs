//! Operations timed one by one, in every format: the same numbers, the bound in words, and causes of gaps by name.

use crate::fixture;
use crate::written::{Says, flat, listed, paged, written};

use oscost_report::{Named, RowFormat, open_metrics, price_list_markdown, rows_of};
use oscost_results::{RunResult, from_bytes, to_bytes};
use serde_json::json;

const ID: &str = "syscall/getppid";

/// The fixture with percentiles of one figure, whose pass alone and in a batch take so long.
fn result(alone_ns: f64, batch_ns: f64) -> RunResult {
    let percentiles = json!({
        "operations_per_pass": 1, "passes": 1_000_000, "launches": 5, "pair_ns": 25.0, "mean_ns": 103.5, "max_ns": 41_200.0,
        "quantiles": [
            {"share": 0.5, "value": 98.0, "low": 97.0, "high": 99.0},
            {"share": 0.999, "value": 152.0, "low": 150.0, "high": 170.0},
            {"share": 0.99999, "value": 5125.0, "low": 4800.0, "high": 6000.0}
        ],
        "longer": [
            {"than_ns": 5000.0, "passes": 12, "events": 12, "per_million_at_most": 19.44},
            {"than_ns": 50_000.0, "passes": 0, "events": 0, "per_million_at_most": 2.996}
        ],
        "beside_batch": {"alone_ns": alone_ns, "batch_ns": batch_ns},
        "account": {
            "elapsed_ns": 200_000_000, "passes_ns": 128_000_000, "counting_ns": 60_000_000, "looking_ns": 10_000_000,
            "limit_ns": 2123,
            "gaps": [
                {"cause": "preemption", "by": "cargo <b>", "count": 3, "in_passes": 2, "total_ns": 1_500_000, "longest_ns": 900_000},
                {"cause": "interrupt", "by": "Local timer interrupts", "count": 50, "in_passes": 40, "total_ns": 400_000, "longest_ns": 9000},
                {"cause": "unknown", "count": 1, "in_passes": 1, "total_ns": 100_000, "longest_ns": 100_000}
            ]
        },
        "from_ns": [120, 123, 41_216], "counts": [10, 999_989, 1]
    });
    let mut result = fixture::result();
    let figure = result.figures.iter_mut().find(|figure| figure.id == ID).unwrap();
    figure.percentiles = Some(serde_json::from_value(percentiles).unwrap());
    from_bytes(&to_bytes(&result).unwrap()).unwrap()
}

/// The text as one line, whatever its width was.
#[test]
fn percentiles_bounds_and_causes_stand_in_text_markdown_and_page() {
    let result = result(98.0, 91.0);
    let reports = [
        flat(&listed(&result, 60, true)),
        flat(&listed(&result, 160, true)),
        flat(&written(|out| price_list_markdown(&result, None, out))),
        flat(&paged(&result)).replace(" \u{b5}s", " us"),
    ];
    for report in &reports {
        for words in [
            "p99.999",
            "5.12 us",
            "41.2 us",
            "In a million passes, 95 %: more than 5.00 us at most 19, 50.0 us at most 3.0 times",
            "1 % of 200 ms, 5 % of that of unknown cause",
            "interrupt by Local timer interrupts 50 (400 us)",
            "Alone 98.0 ns, in a batch 91.0 ns (+7.7 %)",
        ] {
            report.says(words);
        }
        assert!(!report.contains("Beware: alone"), "so short an operation overlaps with its readings");
    }
    assert!(
        reports[3].contains("cargo &lt;b&gt;") && !reports[3].contains("cargo <b>"),
        "names are anybody's"
    );
    assert!(reports[3].contains("one pass in so many takes longer"), "the curve has its axis");
    assert!(listed(&result, 60, true).lines().all(|line| line.chars().count() <= 60));
}

#[test]
fn a_longer_pass_that_costs_more_alone_is_said_to() {
    for (alone, batch, beware) in
        [(5_600.0, 5_000.0, true), (5_090.0, 5_000.0, false), (4_400.0, 4_900.0, false)]
    {
        assert_eq!(
            flat(&listed(&result(alone, batch), 100, true)).contains("Beware: alone"),
            beware,
            "{alone} {batch}"
        );
    }
}

#[test]
fn formats_for_machines_have_a_line_a_percentile() {
    let result = result(98.0, 91.0);
    let csv = written(|out| rows_of(&result, RowFormat::Csv, out));
    let line = csv.lines().find(|line| line.contains(",alone_p99_999,")).unwrap();
    assert!(line.starts_with("syscall/getppid,") && line.contains(",no,5125,4800,6000,yes,ns,"), "{line}");
    assert_eq!(csv.matches(",alone_").count(), 5, "three percentiles, mean and maximum");
    let metrics = written(|out| open_metrics(&[Named { name: "run", result: &result }], out));
    let sample =
        metrics.lines().find(|line| line.contains("alone_p50") && line.starts_with("oscost_figure_seconds{"));
    assert!(sample.unwrap().ends_with(" 9.8e-8") || sample.unwrap().ends_with(" 0.000000098"), "{sample:?}");
}
