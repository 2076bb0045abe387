//! The first lines of a program's bill: what they say of the two runs.

use oscost_report::Style;
use oscost_results::Estimate;
use oscost_results::bill::{Bill, CountedRun, RunUsage, SwitchCount};
use oscost_results::{Conditions, Machine, RunResult, Tool};

fn said(free: (u64, u64), counted: (u64, u64)) -> String {
    let usage = |(wall_ns, voluntary)| RunUsage {
        wall_ns,
        switches: SwitchCount { voluntary, involuntary: 9 },
        ..RunUsage::default()
    };
    let one = CountedRun { usage: usage(counted), ..CountedRun::default() };
    shown(Bill { free: Some(usage(free)), counted: vec![one], ..Bill::default() })
}

fn shown(bill: Bill) -> String {
    let at = std::time::SystemTime::UNIX_EPOCH;
    let empty = RunResult::begun(at, Tool::default(), Machine::default(), Conditions::default());
    let result = RunResult { bill: Some(Box::new(bill)), ..empty };
    let mut out = Vec::new();
    oscost_report::bill::shown(&result, false, &Style { width: 200, unicode: true, colour: false }, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn why_the_second_run_was_faster_is_said_only_where_it_slept_less() {
    let (disk, quota) = (said((100_000, 40), (50_000, 3)), said((100_000, 3), (50_000, 3)));
    assert!(disk.contains("50.0 % faster than free: the first run slept more"), "{disk}");
    assert!(quota.contains("50.0 % faster than free") && !quota.contains("in memory"), "{quota}");
}

#[test]
fn a_share_of_a_hostile_bill_is_a_number_or_said_to_be_none() {
    let explained = Estimate { low: 0.1, value: f64::MAX, high: f64::MAX, ..Estimate::default() };
    let free = Some(RunUsage { system_ns: 1, ..RunUsage::default() });
    let text = shown(Bill {
        free,
        explained: Some(explained),
        counted: vec![CountedRun::default()],
        ..Bill::default()
    });
    assert!(text.contains("no number %") && !text.contains("inf"), "{text}");
}
