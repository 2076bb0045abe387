//! The first lines of a program's bill: what they say of the two runs.

use crate::fixture;
use crate::written::{Says, paged, written};
use oscost_report::bill::BillChanges;
use oscost_report::{Named, Style, page, page_of_runs};
use oscost_results::Estimate;
use oscost_results::bill::{
    Bill, BillItem, Budget, Call, CountedRun, CountingWay, Price, RunUsage, Saving, SwitchCount,
};
use oscost_results::{Conditions, Machine, Outline, RunResult, Tool, outline_from_bytes, to_bytes};

const STYLE: Style = Style { width: 200, unicode: true, colour: false };

fn said(free: (u64, u64), counted: (u64, u64)) -> String {
    let usage = |(wall_ns, voluntary)| RunUsage {
        wall_ns,
        switches: SwitchCount { voluntary, involuntary: 9 },
        ..RunUsage::default()
    };
    let ended = oscost_results::bill::RunEnd::Exited(0);
    let one = CountedRun { usage: usage(counted), ended, ..CountedRun::default() };
    shown(Bill { free: Some(usage(free)), counted: vec![one], ..Bill::default() })
}

fn result(bill: Bill) -> RunResult {
    let at = std::time::SystemTime::UNIX_EPOCH;
    let empty = RunResult::begun(at, Tool::default(), Machine::default(), Conditions::default());
    RunResult { bill: Some(Box::new(bill)), partial: false, ..empty }
}

fn shown(bill: Bill) -> String {
    let result = result(bill);
    let mut out = Vec::new();
    oscost_report::bill::shown(&result, false, &STYLE, &mut out).unwrap();
    String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn why_the_second_run_was_faster_is_said_only_where_it_slept_less() {
    let (disk, quota) = (said((100_000, 40), (50_000, 3)), said((100_000, 3), (50_000, 3)));
    disk.says("50.0 % faster than free: it slept less often");
    quota.says("50.0 % faster than free: its runs differ").lacks("in memory");
}

/// One that failed at once was "90 % faster than free", and its savings were shares of a time in which it did something else.
#[test]
fn a_run_that_ended_otherwise_than_the_free_one_is_not_faster_and_has_no_share() {
    let said = |code| {
        let usage = |wall_ns| RunUsage { wall_ns, system_ns: wall_ns, ..RunUsage::default() };
        let [ended, free] = [0, code].map(oscost_results::bill::RunEnd::Exited);
        let one = CountedRun { usage: usage(10_000), ended, free_ended: Some(free), ..CountedRun::default() };
        let budgets = vec![Budget { asked: "calls<=9".to_owned(), ..Budget::default() }];
        shown(Bill { free: Some(usage(100_000)), counted: vec![one], budgets, ..Bill::default() })
    };
    said(0).says("faster than free").says("its system time, about").says("not everything was counted");
    said(1).lacks("faster than free").says("there is no system time to hold it against");
    said(1).says("unclear").says("the two runs ended differently").lacks("not everything was counted");
}

/// One that Ctrl-C ended in the middle was "90 % faster than free".
#[test]
fn a_bill_that_was_cut_short_says_so_and_is_not_faster() {
    let usage = |wall_ns| RunUsage { wall_ns, ..RunUsage::default() };
    let ended = oscost_results::bill::RunEnd::Exited(0);
    let one = CountedRun { usage: usage(10_000), ended, ..CountedRun::default() };
    let mut result = result(Bill { free: Some(usage(100_000)), counted: vec![one], ..Bill::default() });
    let said = |result: &RunResult| {
        let mut out = Vec::new();
        oscost_report::bill::shown(result, false, &STYLE, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    said(&result).says("faster than free").lacks("cut short");
    result.partial = true;
    said(&result).says("it was cut short: the bill so far").lacks("faster than free");
    // Ctrl-C came while prices were measured.
    result.bill.as_mut().unwrap().counted[0].complete = true;
    said(&result).says("faster than free").lacks("cut short");
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
    unknown.says("priced 10.0 ms; its system time, about 700 us, is not known well enough to check this");
    unknown.lacks("1429 %").lacks("share");
    assert!(shown(bill(Some(ns(14.0)))).contains("1429 %"));
}

/// A program of 0.8 ms was "0 ns in the kernel", and in the text the same was said twice.
#[test]
fn a_system_time_that_nobody_saw_is_not_said_to_be_none() {
    let bill = |left: &[&str]| Bill {
        free: Some(RunUsage::default()),
        counted: vec![CountedRun::default()],
        left: left.iter().map(|&it| it.to_owned()).collect(),
        ..Bill::default()
    };
    let page = paged(&result(bill(&[])));
    page.says("its system time is too short to be known</h1>").lacks("0 ns in the kernel");
    shown(bill(&[])).says("priced 0 ns; its system time is too short to be known");
    let told = shown(bill(&["its system time is too short to be known: let it do more"]));
    assert_eq!(told.matches("too short to be known").count(), 1, "{told}");
}

#[test]
fn the_time_of_a_program_that_ran_anyway_is_not_said_to_be_none() {
    let usage = RunUsage { system_ns: 20_000_000, ..RunUsage::default() };
    let one = CountedRun { way: CountingWay::Ebpf, usage, ..CountedRun::default() };
    let text = shown(Bill { pid: Some(7), counted: vec![one], ..Bill::default() });
    text.says("its system time, about 20.0 ms, is not known well enough to check this");
    text.says("0 new children");
}

/// What is saved of sleeps was told as CPU time, and could be more than all of it.
#[test]
fn saved_waiting_is_told_apart_from_cpu_time() {
    let saving = |rule: &str, replaced: &str, saved_ns| Saving {
        rule: rule.to_owned(),
        replaced: replaced.to_owned(),
        now_ns: saved_ns,
        at_most: true,
        ..Saving::default()
    };
    let free = RunUsage {
        wall_ns: 20_000_000_000,
        user_ns: 1_000_000_000,
        system_ns: 1_000_000_000,
        ..RunUsage::default()
    };
    // As an older version stored them.
    let savings = vec![saving("same_cpu", "sleeps", 17.5e9), saving("block_writes", "small writes", 0.5e9)];
    let bill = Bill { free: Some(free), savings, counted: vec![CountedRun::default()], ..Bill::default() };
    let text = shown(bill.clone());
    text.says("17.5 s waiting").says("largest saving of waiting: sleeps").says("at most 17.5 s; oscost");
    text.says("largest saving: small writes").says("at most 500 ms of 2.00 s CPU").lacks("17.5 s of 2.00 s");
    let alone = Bill { savings: vec![bill.savings[0].clone()], ..bill };
    shown(alone).says("largest saving: none");
}

/// A call without a price had taken more time than the one that was said to cost the most.
#[test]
fn what_has_no_price_may_cost_more_than_what_costs_the_most() {
    let item = |words: &str, together, least| BillItem {
        words: words.to_owned(),
        times: 100,
        price: Some(Price { least, ..Price::default() }),
        together: Estimate { value: together, low: together, high: together, ..Estimate::default() },
        inside_ns: Some(20_000_000),
        ..BillItem::default()
    };
    let page_of =
        |items| paged(&result(Bill { items, counted: vec![CountedRun::default()], ..Bill::default() }));
    let (read, sent) = (item("read", 200e3, false), item("sendfile", 10e3, true));
    page_of(vec![read.clone(), sent.clone()]).says("ead costs the most of what has a price: ");
    page_of(vec![read]).says("ead costs the most: ");
    page_of(vec![sent]).says("Nothing has a price yet").lacks("costs the most");
}

/// A sum of which a part is at least so much is no exact one, nor is its share.
#[test]
fn rows_that_are_not_shown_are_told_with_the_sign_of_their_sum() {
    let ns = |value| Estimate { value, low: value, high: value, ..Estimate::default() };
    let line = |last: Option<Price>| {
        let item = |price| BillItem {
            words: "call".to_owned(),
            times: 10,
            price,
            together: ns(1e6),
            ..BillItem::default()
        };
        let mut items = vec![item(Some(Price::default())); 15];
        items.push(item(last));
        let free = RunUsage { system_ns: 100_000_000, ..RunUsage::default() };
        let counted = vec![CountedRun::default()];
        shown(Bill { free: Some(free), explained: Some(ns(1.0)), items, counted, ..Bill::default() })
    };
    line(Some(Price::default())).says("2 more (--verbose shows them) 20 2.00 ms 2 %");
    for last in [Some(Price { least: true, ..Price::default() }), None] {
        line(last).says("2 more (--verbose shows them) 20 \u{2265} 2.00 ms \u{2265} 2 %");
    }
}

/// A program that reads so often.
fn bill(times: u64) -> Bill {
    let calls = ["read", "getpid"].map(|name| Call {
        name: name.to_owned(),
        times: if name == "read" { times } else { 7 },
        size_class: (name == "read").then_some(65536),
        ..Call::default()
    });
    let item = BillItem { words: "read of up to 64 KiB".to_owned(), times, ..BillItem::default() };
    Bill {
        counted: vec![CountedRun { calls: calls.into(), complete: true, ..CountedRun::default() }],
        items: vec![item],
        ..Bill::default()
    }
}

#[test]
fn two_bills_show_what_differs_and_count_what_does_not() {
    let text = |now| {
        let mut out = Vec::new();
        BillChanges::between(&bill(3), &bill(now)).text(&STYLE, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let (moved, same) = (text(5), text(3));
    moved.says("read of up to 64 KiB").lacks("getpid").says("1 more, 0 fewer, 1 equal");
    same.says("0 more, 0 fewer, 2 equal").lacks("verdict");
}

/// The page was that of a price list without figures, and every price list was compared with it.
#[test]
fn a_bill_has_its_page_whatever_stands_beside_it() {
    let (prices, first, second) = (fixture::result(), result(bill(3)), result(bill(5)));
    let named = |all: &[&'static str], results: &[&RunResult]| {
        let named = all.iter().zip(results).map(|(&name, &result)| Named { name, result });
        written(|out| page(&named.collect::<Vec<_>>(), None, out))
    };
    let alone = named(&["prices", "bill"], &[&prices, &second]);
    alone.says("oscost / bill").says("prices is not compared: a bill is no price list");
    alone.says("read of up to 64 KiB").lacks("No figure was measured");
    let two = named(&["one", "two"], &[&first, &second]);
    // What became of the counts is the answer, and which of the bills is whole.
    two.says("<h1>Counts of two bills: 1 more, 0 fewer, 1 equal</h1>").says("one \u{2192} two");
    two.says("The bill: two").lacks("The bill: one");
    let after = named(&["bill", "prices"], &[&second, &prices]);
    after.says("bill is not compared: a bill is no price list").lacks("No figure was measured");
}

/// What became of the figures until then is told, and the nearest run that holds some stands beside the newest.
#[test]
fn a_history_with_bills_in_it_is_one_of_the_price_lists() {
    let (prices, paid) = (fixture::result(), result(bill(3)));
    let over = |results: [&RunResult; 3]| {
        let names = ["run-0", "run-1", "run-2"];
        let outline = |result: &RunResult| outline_from_bytes(&to_bytes(result).unwrap()).unwrap();
        let runs = names.iter().zip(results).map(|(name, result)| ((*name).to_owned(), outline(result)));
        let runs: Vec<(String, Outline)> = runs.collect();
        let named = names.iter().zip(results).map(|(&name, result)| Named { name, result });
        written(|out| page_of_runs(&runs, &named.collect::<Vec<_>>(), None, out))
    };
    let newest = over([&prices, &prices, &paid]);
    newest.says("oscost / history").says("read of up to 64 KiB").says("clock/monotonic over the runs: ");
    newest.says("; the newest: ").lacks("No figure was measured").lacks("#figure-clock-monotonic");
    let between = over([&prices, &paid, &prices]);
    between.says("; the newest beside an older one: ").says("run-1 is not compared: ");
    over([&paid, &prices, &prices]).says("; the newest beside the one before: ");
}
