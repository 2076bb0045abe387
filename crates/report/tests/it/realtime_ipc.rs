//! The view of real-time messages: a line a transport, fits, slopes, the timeline, what is best, what limits the figures.

use crate::fixture;
use crate::written::{Says, flat, listed, paged, written};

use oscost_report::price_list_markdown;
use oscost_results::{Figure, Mark, PairedValue, RunResult};
use serde_json::json;

/// A session in which the last client has its message after `last` ns.
fn session(transport: &str, clients: u32, tick: &str, last: f64) -> Figure {
    let exact = |value: f64, unit| fixture::quantity([value; 3], unit);
    let ns = |value: f64| fixture::quantity([value * 0.99, value, value * 1.01], "ns");
    let mut values = vec![last; 99];
    values.push(last * 5.0);
    fixture::figure(
        &format!("realtime_ipc/{transport}/same_cpu/clients_{clients}{tick}"),
        json!({"placement": "same_cpu", "headline": "last_p50", "quantities": {
            "last_p50": ns(last), "last_p99": ns(last * 2.0), "last_max": ns(last * 4.0), "next_p50": ns(1000.0),
            "client_service": ns(last * 1.5), "dispatch_load": exact(last * 1.5 / 1e6, "share"),
            "server_cpu": ns(last / 2.0), "dropped": exact(3.0, "count"), "overruns": exact(41.0, "count"),
            "reversed_share": exact(if transport == "poll_broadcast" { 1.0 } else { 0.0 }, "share"),
        },
        "launches": [{"sequence": 1, "start_ns": 0, "cpu": 0, "iterations": 0, "rounds": 100, "quantities": {},
            "tracks": {"client_1": values, format!("client_{clients}"): values}}]}),
    )
}

fn ratio(of: &Figure, to: &Figure, value: f64, spread: f64) -> PairedValue {
    PairedValue {
        of: of.id.clone(),
        to: to.id.clone(),
        quantity: "last_p50".into(),
        unit: "ratio".into(),
        value: Some(value),
        low: Some(value - spread),
        high: Some(value + spread),
        ..PairedValue::default()
    }
}

fn result() -> RunResult {
    let mut result = fixture::of(Vec::new());
    for (clients, partner) in [(1, 15_000.0), (10, 60_000.0)] {
        let partner = session("unix_datagram", clients, "", partner);
        for (name, of_it, spread) in
            [("futex_broadcast", 0.5, 0.01), ("pipe", 0.7, 0.02), ("poll_broadcast", 0.6, 0.2)]
        {
            let last = partner.quantities["last_p50"].estimate.value * of_it;
            let figure = session(name, clients, "", last);
            result.ratios.push(ratio(&figure, &partner, of_it, spread));
            result.figures.push(figure);
        }
        result.figures.push(partner);
    }
    result
}

fn told(result: &RunResult) -> String {
    listed(result, 400, false)
}

#[test]
fn every_transport_has_a_line_with_its_ratio_and_its_bar() {
    let told = told(&result());
    let line =
        told.lines().find(|line| line.contains("futex broadcast") && line.contains("30.0 us")).unwrap();
    line.says("0.500x").says("#.........");
    let counts: Vec<&str> = line.split_whitespace().rev().take(2).collect();
    assert_eq!(counts, ["41", "3"], "what was lost, and what a late server skipped: {line}");
    told.says("10 clients on one CPU, tick 1.00 ms");
}

#[test]
fn the_best_are_named_and_what_overlaps_is_not_ranked() {
    let told = told(&result());
    told.says("best that queues a payload: pipe (0.700x (0.680 .. 0.720))");
    told.says("best that is pollable: poll broadcast (0.600x (0.400 .. 0.800); not told apart from pipe)");
}

#[test]
fn growth_and_fit_follow_from_the_line_through_the_ends() {
    let mut result = result();
    let told_of = told(&result);
    // From 15 to 60 us by nine clients: 5 us each; service is 1.5 times that, the server half.
    told_of.says("unix datagram 7.50 us + 2.50 us of the server");
    // p99 is twice: 30 us at one client and 10 us for each more, so 1 ms holds 98; the maximum is 60 and 20.
    told_of.says("unix datagram 98 (48)");
    // Two more points on the line, and one far from it: the slope is that of the document's ten.
    result.figures.push(session("unix_datagram", 4, "", 30_000.0));
    result.figures.push(session("unix_datagram", 50, "", 260_000.0));
    assert!(
        told(&result).contains("unix datagram 7.50 us + 2.50 us of the server, on the line"),
        "{}",
        told(&result)
    );
    result.figures.push(session("unix_datagram", 100, "", 2e6));
    assert!(told(&result).contains("off the line at 100"), "{}", told(&result));
}

/// A sweep of ticks, or of sizes, had several numbers under one name.
#[test]
fn growth_and_fit_name_the_tick_and_the_rest_where_several_were_measured() {
    let with = |rest: &str| {
        let mut result = result();
        for (clients, last) in [(1, 15_000.0), (10, 60_000.0)] {
            result.figures.push(session("unix_datagram", clients, rest, last));
        }
        flat(&told(&result))
    };
    let ticks = with("/tick_10ms");
    ticks.says("unix datagram (tick 1.00 ms) 98 (48)").says("unix datagram (tick 10.0 ms) 998 (498)");
    ticks.says("unix datagram (tick 10.0 ms) 7.50 us + 2.50 us of the server");
    let sizes = with("/size_1024");
    sizes.says("unix datagram 98 (48)").says("unix datagram (size 1024) 98 (48)");
    sizes.says("unix datagram (size 1024) 7.50 us + 2.50 us of the server");
}

#[test]
fn the_timeline_tells_its_peak() {
    let told = told(&result());
    told.says("peaks of 300 us, medium (10.0 in a thousand ticks)");
    let strip = told.lines().find(|line| line.trim_end().ends_with('@')).unwrap();
    assert_eq!(strip.trim().len(), 50, "{strip}");
}

#[test]
fn a_sweep_of_ticks_is_told_in_their_order() {
    let mut result = result();
    result.figures.push(session("unix_datagram", 1, "/tick_10ms", 40_000.0));
    told(&result).says("unix datagram/same cpu/clients 1: last 15.0 us every 1.00 ms, 40.0 us every 10.0 ms");
}

#[test]
fn reservations_are_said() {
    let mut result = result();
    assert!(told(&result).contains("served in reversed order from tick to tick: poll broadcast"));
    assert!(!told(&result).contains("NOT REAL-TIME"));
    result.figures[0].marks.push(Mark::NotRealTime);
    assert!(told(&result).contains("NOT REAL-TIME: the priority was refused in 1 of 8 sessions"));
    result.figures[0].remarks.push("not real-time: a filter; run outside of it".into());
    assert!(
        told(&result).contains("refused in 1 of 8 sessions: a filter; run outside of it"),
        "{}",
        told(&result)
    );
}

/// The session with a load that is twice as slow as without one.
fn loaded() -> Figure {
    let mut figure = session("futex_broadcast", 1, "/load_command_rm%20-rf", 10_000.0);
    for (part, factor) in [("idle", 1.0), ("busy", 2.0)] {
        for (index, name) in
            ["mean", "width", "p50", "p99", "range_low", "range_high", "peak"].iter().enumerate()
        {
            let mut quantity = figure.quantities["last_p50"].clone();
            quantity.estimate.value = factor * (index + 1) as f64 * 1000.0;
            figure.quantities.insert(format!("{part}_{name}"), quantity);
        }
    }
    let mut window = figure.quantities["last_p50"].clone();
    window.estimate.value = 1e9;
    figure.quantities.insert("range_window".into(), window);
    figure.remarks = vec!["load: sh -c 'rm \u{1b}[31m-rf'".into()];
    figure.launches[0].tracks.insert("load".into(), vec![50.0, 75.0]);
    figure
}

#[test]
fn idle_and_busy_stand_beside_each_other_and_the_load_is_marked() {
    let mut result = result();
    let sessions = told(&result).matches("futex broadcast").count();
    result.figures.push(loaded());
    let told = told(&result);
    assert!(!told.contains('\u{1b}'), "{told}");
    let lines: Vec<&str> = told.lines().collect();
    let idle = lines.iter().position(|line| line.contains("  idle  ")).expect("a line");
    assert!(
        lines[idle].contains("futex broadcast, 1 client on one CPU")
            && lines[idle].contains("5.00 us .. 6.00 us")
    );
    assert!(lines[idle + 1].contains("busy") && lines[idle + 1].contains("10.0 us .. 12.0 us"), "{told}");
    assert!(lines[idle + 1].contains("14.0 us"), "{told}");
    // 100 ticks in columns of two: the load is on from the middle of column 25 to that of 37.
    let under = lines.iter().find(|line| line.contains("=====")).expect("marks");
    assert_eq!(under.matches('=').count(), 12, "{under}");
    told.says("worst 1.00 s").says("lost in all");
    // It is told in its own view alone.
    let (others, under) = told.split_once("REALTIME IPC UNDER LOAD").unwrap();
    assert_eq!(others.matches("futex broadcast").count(), sessions, "{told}");
    assert!(
        under.contains("the worst message before the load took 10.0 us, under it 10.0 us, after it 50.0 us"),
        "{told}"
    );
}

/// The window of the first session was told of all of them.
#[test]
fn sessions_with_other_windows_are_told_apart() {
    let mut result = result();
    result.figures.push(loaded());
    told(&result).says("of the worst 1.00 s, as in document 002");
    let mut longer = loaded();
    longer.id = longer.id.replace("futex_broadcast", "pipe");
    longer.quantities.get_mut("range_window").unwrap().estimate.value = 1e10;
    result.figures.push(longer);
    told(&result).says("of the worst window, of 1.00 s to 10.0 s by session, as in document 002");
}

/// The table of a launch counted each part from one, and the list of all messages from the beginning of the session.
#[test]
fn a_message_has_one_number_before_and_after_the_load() {
    let mut result = fixture::of(vec![loaded()]);
    result.reproductions.clear();
    let page = paged(&result);
    // The last of 100 ticks, 25 of them after the load.
    page.says("50.0 \u{b5}s at tick 100").says(", after it<td>");
    let row = page.split(", after it<td>").nth(1).unwrap().lines().next().unwrap();
    assert!(row.starts_with("25<td>") && row.ends_with("<td>100"), "{row}");
}

/// The heading names what clients saw under the load, and not a number over the whole session.
#[test]
fn a_page_of_loaded_sessions_says_what_the_load_did() {
    let heading = |result: &RunResult| {
        let page = paged(result);
        let begin = page.find("<h1").unwrap();
        page[begin..page[begin..].find("</h1>").unwrap() + begin].replace('\u{a0}', " ")
    };
    let mut result = result();
    result.reproductions.clear();
    result.figures = vec![loaded()];
    let one = heading(&result);
    one.says("Under load a message reaches its client after 6.00 \u{b5}s by futex broadcast");
    one.says("3 messages were lost over the whole session");
    let card = {
        let page = paged(&result);
        let begin = page.find("class=\"card").unwrap();
        page[begin..].split("<h2").next().unwrap().replace('\u{a0}', " ")
    };
    card.says("6.00").says("idle 3.00 \u{b5}s").says("lost over the whole session: 3");
    let mut slower = loaded();
    slower.id = "realtime_ipc/pipe/same_cpu/clients_1/load_command_x".into();
    slower.quantities.get_mut("busy_p50").unwrap().estimate.value = 9000.0;
    result.figures.push(slower);
    heading(&result).says("by futex broadcast to 9.00 \u{b5}s by pipe");
    heading(&result).says("6 messages were lost over whole sessions");
    // Beside a session without a load it is no answer.
    result.figures.push(session("pipe", 1, "", 1000.0));
    assert!(!heading(&result).contains("Under load"), "{}", heading(&result));
}

#[test]
fn hostile_ids_stay_harmless() {
    let mut result = result();
    result.figures[0].id = "realtime_ipc/\u{1b}[31mx|y/same_cpu/clients_1".into();
    result.figures[1].id = "realtime_ipc/pipe/same_cpu/clients_0".into();
    result.figures[2].id = "realtime_ipc/pipe/same_cpu/clients_4294967295/tick_99999999999999999999ms".into();
    assert!(!told(&result).contains('\u{1b}'));
    assert!(!written(|out| price_list_markdown(&result, None, out)).contains('\u{1b}'));
}

#[test]
fn a_server_in_the_kernel_is_compared_from_the_due_time() {
    let mut result = result();
    let due = |figure: &mut Figure, p50: f64| {
        for (name, value) in [("response_p50", p50), ("response_p99", p50 * 2.0)] {
            let mut quantity = figure.quantities["last_p50"].clone();
            quantity.estimate.value = value;
            figure.quantities.insert(name.into(), quantity);
        }
    };
    for figure in &mut result.figures {
        due(figure, 20_000.0);
    }
    let line = |result: &RunResult| {
        told(result).lines().find(|line| line.contains("from the instant")).map(|line| line.trim().to_owned())
    };
    assert_eq!(line(&result), None, "servers of one kind are compared from their stamps");
    let mut bpf = session("bpf", 1, "", 9_000.0);
    due(&mut bpf, 12_000.0);
    result.figures.push(bpf);
    let line = line(&result).expect("a line");
    line.says("(99th percentile): bpf 12.0 us (24.0 us), ").says("unix datagram 20.0 us (40.0 us)");
}

#[test]
fn a_transport_by_itself_has_pictures_only_where_none_are_compared() {
    let pictures = |result: &RunResult| {
        let shown = paged(result);
        let captions =
            shown.split("<figcaption>").skip(1).map(|rest| rest.split("</figcaption>").next().unwrap());
        captions.filter(|caption| caption.contains("In one launch of each")).count()
    };
    let compared = result();
    assert_eq!(pictures(&compared), 2);
    let mut more = compared.clone();
    more.figures.push(session("unix_datagram", 3, "", 20_000.0));
    assert_eq!(pictures(&more), 2, "three clients of one transport compare nothing");
    more.figures.drain(..compared.figures.len());
    assert_eq!(pictures(&more), 1, "by itself it is all there is");
}
