//! The first lines of a program's bill: what they say of the two runs.

use crate::written::Says;
use oscost_report::Style;
use oscost_report::bill::BillChanges;
use oscost_results::Estimate;
use oscost_results::bill::{Bill, BillItem, Call, CountedRun, Price, RunUsage, SwitchCount};
use oscost_results::{Conditions, Machine, RunResult, Tool};

const STYLE: Style = Style { width: 200, unicode: true, colour: false };

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
    oscost_report::bill::shown(&result, false, &STYLE, &mut out).unwrap();
    String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn why_the_second_run_was_faster_is_said_only_where_it_slept_less() {
    let (disk, quota) = (said((100_000, 40), (50_000, 3)), said((100_000, 3), (50_000, 3)));
    disk.says("50.0 % faster than free: the first run slept more");
    quota.says("50.0 % faster than free: its runs differ").lacks("in memory");
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
    text.says("no number %").lacks("inf");
}

#[test]
fn of_a_time_that_is_not_known_no_share_is_shown() {
    let ns = |value| Estimate { value, low: value, high: value, ..Estimate::default() };
    let item = BillItem {
        words: "openat".to_owned(),
        times: 5,
        price: Some(Price { ns: ns(2e6), ..Price::default() }),
        together: ns(1e7),
        ..BillItem::default()
    };
    let bill = |explained| Bill {
        free: Some(RunUsage { system_ns: 700_000, ..RunUsage::default() }),
        explained,
        items: vec![item.clone()],
        counted: vec![CountedRun::default()],
        ..Bill::default()
    };
    let unknown = shown(bill(None));
    unknown.says("priced 10.0 ms; too short to check (700 us)");
    unknown.lacks("1429 %");
    assert!(shown(bill(Some(ns(14.0)))).contains("1429 %"));
}

#[test]
fn two_bills_show_what_differs_and_count_what_does_not() {
    let bill = |times| {
        let calls = ["read", "getpid"].map(|name| Call {
            name: name.to_owned(),
            times: if name == "read" { times } else { 7 },
            size_class: (name == "read").then_some(65536),
            ..Call::default()
        });
        Bill {
            counted: vec![CountedRun { calls: calls.into(), complete: true, ..CountedRun::default() }],
            ..Bill::default()
        }
    };
    let text = |now| {
        let mut out = Vec::new();
        BillChanges::between(&bill(3), &bill(now)).text(&STYLE, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let (moved, same) = (text(5), text(3));
    moved.says("read of up to 64 KiB").lacks("getpid").says("1 more, 0 fewer, 1 equal");
    same.says("0 more, 0 fewer, 2 equal").lacks("verdict");
}
