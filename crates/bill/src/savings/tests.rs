//! Tests of savings: what is replaced, by what, at which price.

use oscost_results::bill::{FaultCount as Faults, ForkCount};

use super::*;

/// All prices, of which those that make a process may be off by so much.
fn prices(scatter: f64) -> Prices {
    let mut prices = Prices::default();
    for (id, value) in KNOWN {
        let makes = id.starts_with("process/");
        let off = if makes { scatter } else { 0.0 };
        let price = Estimate { value: *value, low: value - off, high: value + off, extremes: false };
        prices.add(id, price);
        if makes {
            prices.add_made(id, price::MadeProcess { faults: 0.0, pages: 0.0, mappings: 0.0 });
        }
    }
    prices
}

const KNOWN: &[(&str, f64)] = &[
    ("syscall/getpid_libc", 100.0),
    ("syscall/read0_devzero_libc", 100.0),
    ("syscall/read0_devzero", 100.0),
    ("syscall/getpid", 100.0),
    ("semaphore/system_v", 1000.0),
    ("semaphore/posix_named", 20.0),
    ("lock/futex_wake", 200.0),
    ("record_lock/fcntl", 800.0),
    ("context_switch/pipe/same_cpu", 2500.0),
    ("context_switch/pipe/cross_cpu", 6500.0),
    ("context_switch/pipe_alone/same_cpu", 500.0),
    ("context_switch/yield/same_cpu", 900.0),
    ("memory/fault_anonymous", 500.0),
    ("memory/fault_copy", 0.0),
    ("memory/fault_file", 0.0),
    ("memory/give_back", 0.0),
    ("memory/bandwidth/write/block_64m", 100.0),
    ("memory/bandwidth/copy/block_16k", 0.0),
    ("process/fork", 60_000.0),
    ("process/fork/mappings_1000", 60_000.0),
    ("process/fork/resident_1m/small_pages", 60_000.0),
    ("process/fork/resident_16m/small_pages", 60_000.0 + 3840.0 * 10.0),
    ("process/exec_static", 150_000.0),
    ("process/posix_spawn", 110_000.0),
    ("syscall/stat", 300.0),
    ("syscall/read0_pipe", 100.0),
    ("event/poll/descriptors_1", 200.0),
    ("event/poll/descriptors_100", 200.0 + 99.0 * 50.0),
];

fn call(name: &str, on: &str, times: u64) -> Call {
    Call { name: name.to_owned(), on: on.to_owned(), times, ..Call::default() }
}

fn savings(counted: Counted, scatter: f64) -> Vec<Saving> {
    let prices = prices(scatter);
    let items = price::items(&counted, None, &prices);
    of(&Bill { counted: vec![counted], items, ..Bill::default() }, &prices).0
}

fn of_calls(calls: Vec<Call>) -> Vec<Saving> {
    savings(Counted { calls, threads: 1, ..Counted::default() }, 0.0)
}

#[test]
fn a_saving_is_what_it_costs_now_less_what_the_other_costs() {
    let found = of_calls(vec![call("semop", "", 1000), Call { slept: true, ..call("semop", "", 7) }]);
    let [saving] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&*saving.rule, saving.times), ("posix_semaphore", 1000), "what slept stays");
    assert!(
        (saving.now_ns - 500_000.0).abs() < 1e-6 && (saving.then_ns - 10_000.0).abs() < 1e-6,
        "{saving:?}"
    );
}

#[test]
fn a_rule_needs_what_it_asks_for() {
    assert!(of_calls(vec![call("semop", "", 99)]).is_empty(), "too few");
    let locks =
        |slept| vec![call("fcntl", "record lock", 1000), Call { slept, ..call("fcntl", "record lock", 1) }];
    assert_eq!(of_calls(locks(false)).len(), 1);
    assert!(of_calls(locks(true)).is_empty(), "somebody waited");
    let refused = Call { failed: 400, ..call("fcntl", "record lock", 1000) };
    assert!(of_calls(vec![refused]).is_empty(), "somebody held it, and who asked comes again");
    let forks = |execs| vec![call("clone", "process", 100), call("execve", "", execs)];
    let found = of_calls(forks(100));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].saved_ns() - 100.0 * 40_000.0).abs() < 1.0, "{found:?}");
    assert!(of_calls(forks(5)).is_empty(), "a server that forks");
    let of_many = ForkCount { times: 100, pages: 100_000, mappings: 0, faults: 0 };
    let found = savings(Counted { calls: forks(100), forks: Some(of_many), ..Counted::default() }, 0.0);
    assert!((found[0].saved_ns() - 100.0 * 50_000.0).abs() < 1.0, "its pages are not copied: {found:?}");
    let mapping = |size| Call { size_class: Some(size), ..call("mmap", "anonymous", 1) };
    let faulting = |calls| {
        savings(Counted { calls, faults: Faults { minor: 20_000, major: 0 }, ..Counted::default() }, 0.0)
    };
    assert_eq!(faulting(vec![mapping(64 << 20)]).len(), 1);
    assert!(faulting(vec![mapping(16 << 20)]).is_empty(), "a stack of 8 MiB is of this class");
    let arena = Call { size_class: Some(256 << 20), ..call("mmap", "reserved", 64) };
    assert!(faulting(vec![arena]).is_empty(), "addresses for the memory of a thread");
    assert!(faulting(vec![call("mmap", "anonymous", 1)]).is_empty(), "no mapping is large");
}

/// A shell forks for what it does itself, too, and its spawned programs are execs as well.
#[test]
fn only_forks_that_an_exec_may_have_followed_are_replaced() {
    let beside = |name: &str, on: &str| {
        of_calls(vec![call("clone", "process", 100), call(name, on, 60), call("execve", "", 100)])
    };
    for found in [beside("vfork", ""), beside("clone3", "process, waited for")] {
        let [saving] = &found[..] else { panic!("{found:?}") };
        assert_eq!((saving.times, saving.at_most), (40, true));
        let [now, then] = [saving.now_ns, saving.then_ns].map(|ns| ns / 40.0);
        assert!((now - 60_000.0).abs() < 1e-3 && (then - 20_000.0).abs() < 1e-3, "{saving:?}");
    }
    let failed = Call { failed: 95, ..call("execve", "", 100) };
    assert!(of_calls(vec![call("clone", "process", 100), failed]).is_empty(), "no such program");
}

/// Whoever mapped 2000 files was promised one mapping in place of its calls of munmap.
#[test]
fn only_who_maps_memory_and_unmaps_it_may_keep_a_mapping() {
    let of = |kind: &str, maps, unmaps| {
        let call = |name: &str, on: &str, times| Call { inside_ns: Some(1000), ..call(name, on, times) };
        of_calls(vec![call("mmap", kind, maps), call("munmap", "", unmaps)]).len()
    };
    assert_eq!(["file", "anonymous", "reserved"].map(|kind| of(kind, 2000, 2000)), [0, 1, 1]);
    assert_eq!((of("anonymous", 2000, 300), of("anonymous", 300, 2000)), (0, 0));
}

/// The sleeps of a program that waits for many descriptors were promised to be saved.
#[test]
fn who_waits_for_many_sleeps_by_epoll_too() {
    let promised = |slept| {
        let found = of_calls(vec![Call { slept, count_argument: Some(64), ..call("poll", "", 1000) }]);
        let [saving] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*saving.rule, saving.times), ("epoll", 1000));
        [saving.saved_ns(), saving.then_ns]
    };
    let select = Call { count_argument: Some(256), ..call("pselect6", "", 1000) };
    assert!(of_calls(vec![select]).is_empty(), "it may watch one");
    for (slept, then) in [(false, 200e3), (true, 2200e3)] {
        let [saved, costs] = promised(slept);
        assert!((saved - 1000.0 * 39.0 * 50.0).abs() < 1e-3, "{slept}: {saved}");
        assert!((costs - then).abs() < 1e-3, "{slept}: {costs}");
    }
}

/// A fork and an exec, or a spawn: two figures apart, whose difference may be less than they scatter.
#[test]
fn what_is_lost_in_the_scatter_of_its_prices_is_not_promised() {
    let calls = vec![call("clone", "process", 100), call("execve", "", 100)];
    let counted = Counted { calls, threads: 1, ..Counted::default() };
    let promised = |scatter| savings(counted.clone(), scatter);
    let found = promised(5_000.0);
    assert!((found[0].saved_ns() - 100.0 * 40_000.0).abs() < 1.0, "{found:?}");
    assert!(promised(60_000.0).is_empty());
}

#[test]
fn small_calls_become_few_and_what_finds_nothing_stays() {
    let small = Call { size_class: Some(16), bytes: 40_960, ..call("read", "pipe", 4096) };
    let end = Call { size_class: Some(1), ..call("read", "pipe", 500) };
    let found = of_calls(vec![small, end]);
    let [saving] = &found[..] else { panic!("{found:?}") };
    assert_eq!((saving.times, saving.items.len()), (4096, 1));
    assert!((saving.now_ns - 4096.0 * 250.0).abs() < 1e-6 && (saving.then_ns - 10.0 * 250.0).abs() < 1e-6);
}

/// Who reads 3 bytes of each of 5000 files was promised reads of 4 KiB, and who plays ping-pong by a pipe, writes of them.
#[test]
fn no_buffer_joins_what_several_files_hold_or_what_somebody_waits_for() {
    let small = |name: &str, kind: &str| Call { size_class: Some(4), bytes: 3000, ..call(name, kind, 1000) };
    let files = |opens| of_calls(vec![small("read", "pipe"), call("openat", "", opens)]);
    assert!(files(1000).is_empty() && files(251).is_empty(), "each has its own end");
    let [saving] = &files(250)[..] else { panic!("a few files") };
    assert!(saving.at_most, "it may read at places far apart");
    let answered = |slept| {
        let waits = Call { slept, ..call("read", "pipe", 1) };
        of_calls(vec![small("write", "pipe"), waits])
    };
    assert_eq!((answered(true).len(), answered(false).len()), (0, 1));
    // One that reads a stream to its end found it empty at times, and a file that was not in memory is no answer.
    let slept = |name: &str, kind: &str, times| Call { slept: true, ..call(name, kind, times) };
    assert_eq!(of_calls(vec![small("read", "pipe"), slept("read", "pipe", 900)]).len(), 1);
    assert_eq!(
        of_calls(vec![small("write", "pipe"), call("read", "pipe", 40), slept("read", "pipe", 9)]).len(),
        1
    );
}

/// 300 syncs of 14 ms were promised to save "at most 555 us", and without prices nothing was to be saved.
#[test]
fn at_most_holds_where_no_price_does_and_what_nobody_knows_is_not_none() {
    let sync = Call { slept: true, inside_ns: Some(11_000_000), ..call("fsync", "file", 300) };
    let [saving] = &of_calls(vec![sync.clone()])[..] else { panic!("no rule") };
    assert_eq!((&*saving.rule, saving.now_ns), ("group_commit", 11_000_000.0));
    let unknown = |calls: Vec<Call>, prices: &Prices| {
        let counted = Counted { calls, threads: 1, ..Counted::default() };
        let items = price::items(&counted, None, prices);
        of(&Bill { counted: vec![counted], items, ..Bill::default() }, prices).1
    };
    let untimed = Call { inside_ns: None, ..sync };
    assert_eq!(unknown(vec![untimed], &prices(0.0)), ["a sync for each record"]);
    let semops = || vec![call("semop", "", 1000)];
    assert_eq!(unknown(semops(), &Prices::default()), ["System V semaphore"]);
    assert!(unknown(semops(), &prices(0.0)).is_empty());
}

#[test]
fn a_sleep_is_cheaper_on_one_cpu_if_an_idle_cpu_was_woken_for_it() {
    let slept = Call { slept: true, ..call("read", "pipe", 3000) };
    let found = |wakes: Option<u64>| {
        savings(Counted { calls: vec![slept.clone()], threads: 2, wakes, ..Counted::default() }, 0.0)
    };
    for (wakes, times) in [(2000, 2000), (9000, 3000)] {
        let all = found(Some(wakes));
        let [saving] = &all[..] else { panic!("{all:?}") };
        assert_eq!((&*saving.rule, saving.times), ("same_cpu", times));
        assert!((saving.saved_ns() - times as f64 * 4000.0).abs() < 1e-6, "{saving:?}");
    }
    assert!(found(Some(900)).is_empty(), "timers ended the others");
    assert!(found(None).is_empty(), "nobody counted");
    let calls = vec![slept.clone(), call("semop", "", 1000)];
    let both = savings(Counted { calls, threads: 2, wakes: Some(9000), ..Counted::default() }, 0.0);
    let rules: Vec<&str> = both.iter().map(|saving| &*saving.rule).collect();
    assert_eq!(rules, ["posix_semaphore", "same_cpu"], "waiting stands behind, however long");
}

#[test]
fn what_has_no_price_promises_nothing() {
    let small = Call { size_class: Some(16), bytes: 40_960, ..call("write", "device", 4096) };
    assert!(of_calls(vec![small]).is_empty(), "its figure is not known");
}

/// Each rule can be told, prices what it names, and says what is lost and who says so.
#[test]
fn every_rule_is_whole() {
    let mut names = BTreeSet::new();
    for rule in RULES {
        assert!(names.insert(rule.name), "{} stands twice", rule.name);
        let told = Saving { rule: rule.name.to_owned(), ..Saving::default() };
        assert_eq!(told.is_of_waiting(), matches!(rule.what, What::Sleeps), "{}", rule.name);
        assert!(!rule.catch.is_empty() && !rule.source.is_empty() && rule.least >= 10, "{}", rule.name);
        if let What::Calls(calls, kinds) | What::All(calls, kinds) | What::Small(calls, kinds, _) = rule.what
        {
            let kinds = if kinds.is_empty() { &[""] } else { kinds };
            let priced = |call: &&str| kinds.iter().any(|kind| tariff::rate_for(call, kind).is_some());
            assert!(calls.iter().all(priced), "{}", rule.name);
        }
    }
    assert!(names.len() >= 13, "{}", names.len());
}
