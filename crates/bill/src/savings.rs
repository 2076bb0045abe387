//! Savings: the rules, held against what was counted.

use std::collections::BTreeSet;

use oscost_results::Estimate;
use oscost_results::bill::{Bill, BillItem, Call, CountedRun as Counted, Saving};

use crate::price::{self, Prices, less, plus};
use crate::replacements::{Asks, FORKS, RULES, SavingRule, TAKES, Then, What};
use crate::tariff::{self, FAULT_COPY, SLEEP, Term};

/// Every figure that savings need which these counts may permit.
#[must_use]
pub fn needed(counted: &[Counted]) -> BTreeSet<&'static str> {
    let rules = RULES.iter().filter(|rule| counted.iter().any(|one| is_permitted(rule, one)));
    rules.flat_map(|rule| tariff::figures(terms(rule))).collect()
}

/// What the other way of a rule is priced by.
#[must_use]
pub fn terms(rule: &SavingRule) -> &'static [Term] {
    match rule.then {
        Then::Each(terms)
        | Then::Once(terms)
        | Then::Every(_, terms)
        | Then::Less(terms)
        | Then::WithoutCopy(terms) => terms,
        Then::Nothing | Then::Blocks(_) | Then::Broadcast => &[],
    }
}

/// What would be less, the largest saving first, and those of waiting behind those of CPU time; then what is replaced by rules whose
/// prices are not known. What may save nothing is left out.
#[must_use]
pub fn of(bill: &Bill, prices: &Prices) -> (Vec<Saving>, Vec<String>) {
    let (mut all, mut unknown) = (Vec::new(), Vec::new());
    let Some(counted) = bill.counted.first() else { return (all, unknown) };
    for rule in RULES.iter().filter(|rule| is_permitted(rule, counted)) {
        match saving(rule, bill, counted, prices) {
            Ok(saving) => all.extend(saving),
            Err(NoPrice) => unknown.push(rule.replaced.to_owned()),
        }
    }
    all.sort_by(|one, other| {
        let of_waiting = one.is_of_waiting().cmp(&other.is_of_waiting());
        of_waiting.then_with(|| other.saved_ns().total_cmp(&one.saved_ns()))
    });
    (all, unknown)
}

/// A price that a rule needs is not known.
struct NoPrice;

fn is_of(call: &Call, names: &[&str], kinds: &[&str]) -> bool {
    names.contains(&&*call.name) && (kinds.is_empty() || kinds.contains(&&*call.on))
}

/// Whether somebody waited for what others send on this kind of descriptor.
fn is_waited_for(kind: &str, counted: &Counted) -> bool {
    counted.calls.iter().any(|call| call.slept && is_of(call, TAKES, &[kind]))
}

/// Whether a rule replaces a call.
fn replaces(rule: &SavingRule, call: &Call, counted: &Counted) -> bool {
    match rule.what {
        What::Calls(names, kinds) => is_of(call, names, kinds) && !call.slept,
        What::Small(names, kinds, most) => {
            // A read that finds the end carries nothing, and stays.
            is_of(call, names, kinds)
                && !call.slept
                && call.bytes > 0
                && call.size_class.is_some_and(|size| size <= most)
                && !is_waited_for(&call.on, counted)
        }
        What::Wide(names, least) => {
            is_of(call, names, &[]) && call.count_argument.is_some_and(|count| count > least)
        }
        What::All(names, kinds) => is_of(call, names, kinds),
        What::Sleeps => call.slept,
        What::Faults => false,
    }
}

fn replaced<'a>(rule: &'a SavingRule, counted: &'a Counted) -> impl Iterator<Item = &'a Call> {
    counted.calls.iter().filter(|call| replaces(rule, call, counted))
}

/// How many of these calls did not fail.
fn succeeded<'a>(calls: impl Iterator<Item = &'a Call>) -> u64 {
    calls.map(|call| call.times.saturating_sub(call.failed)).sum()
}

/// How many calls that a rule replaces did not fail.
fn made(rule: &SavingRule, counted: &Counted) -> u64 {
    succeeded(replaced(rule, counted))
}

/// Execs that may have followed a fork: that of a posix_spawn or after a vfork has a child of its own.
fn execs(counted: &Counted) -> u64 {
    let of = |names: &[&str], kinds: &[&str]| {
        succeeded(counted.calls.iter().filter(|call| is_of(call, names, kinds)))
    };
    let others = of(&["vfork"], &[]) + of(FORKS, &["process, waited for"]);
    of(&["execve", "execveat"], &[]).saturating_sub(others)
}

/// How many calls, or faults, a rule replaces. Of sleeps, those that a wake of an idle CPU ended: theirs is the price, and a sleep that a
/// timer ended costs the same on one CPU. Where nobody counts such wakes (ptrace), nothing is promised.
fn count(rule: &SavingRule, counted: &Counted) -> u64 {
    match rule.what {
        What::Faults => counted.fault_kinds.map_or(counted.faults.minor, |kinds| kinds.first),
        What::Sleeps => made(rule, counted).min(counted.wakes.unwrap_or(0)),
        // A child that stays what its parent is needs the copy.
        _ if matches!(rule.then, Then::WithoutCopy(_)) => made(rule, counted).min(execs(counted)),
        _ => made(rule, counted),
    }
}

fn is_permitted(rule: &SavingRule, counted: &Counted) -> bool {
    let times = count(rule, counted);
    times >= rule.least
        && rule.asks.iter().all(|asks| match asks {
            Asks::NeverWaited(names, kinds) => {
                let waited = |call: &Call| call.slept || call.failed > 0;
                !counted.calls.iter().any(|call| waited(call) && is_of(call, names, kinds))
            }
            Asks::Threads(least) => counted.threads >= *least,
            Asks::AsOften(names) => {
                let made = succeeded(counted.calls.iter().filter(|call| is_of(call, names, &[])));
                made >= times / 2 || made >= rule.least && made >= times / 4
            }
            Asks::Longer(names, least) => {
                times >= least * succeeded(counted.calls.iter().filter(|call| is_of(call, names, &[])))
            }
            Asks::Mapping(least) => counted.calls.iter().any(|call| {
                // glibc reserves the addresses of an arena for each thread: 128 MiB, of which it uses little.
                let is_arena = call.on == "reserved" && call.size_class == Some(256 << 20);
                call.name == "mmap"
                    && ["anonymous", "reserved"].contains(&&*call.on)
                    && !is_arena
                    && call.size_class.is_some_and(|size| size > *least)
            }),
        })
}

fn saving(
    rule: &SavingRule,
    bill: &Bill,
    counted: &Counted,
    prices: &Prices,
) -> Result<Option<Saving>, NoPrice> {
    let calls: Vec<&Call> = replaced(rule, counted).collect();
    let times = count(rule, counted);
    let mut keys: Vec<String> = match rule.what {
        What::Faults => vec!["fault".to_owned()],
        _ => calls.iter().map(|call| price::key(call)).collect(),
    };
    if matches!(rule.then, Then::WithoutCopy(_)) {
        keys.extend([price::FORK_PAGES, price::FORK_MAPPINGS].map(str::to_owned));
    }
    let rows = || bill.items.iter().filter(|item| keys.contains(&item.key));
    // Every replaced call is a row of the bill. Without a price it costs at most what was counted inside; what a sleep's call costs
    // besides does not matter.
    let paid = |item: &BillItem| match item.price.as_ref().is_none_or(|price| price.least) {
        false => Ok(item.together),
        true if matches!(rule.what, What::Sleeps) => Ok(item.together),
        true => {
            let ns = item.inside_ns.filter(|_| rule.at_most).ok_or(NoPrice)? as f64;
            Ok(Estimate { value: ns, low: ns, high: ns, extremes: false })
        }
    };
    let mut now = rows().try_fold(Estimate::default(), |sum, item| Ok(plus(sum, paid(item)?)))?;
    if matches!(rule.then, Then::WithoutCopy(_)) {
        let faults = counted.forks.map_or(0, |forks| forks.faults) as f64;
        now = plus(now, price::times(prices.sum(FAULT_COPY).ok_or(NoPrice)?, faults));
    }
    // What is not replaced stays as it is.
    let share = match rule.what {
        What::Faults => 1.0,
        _ => times as f64 / made(rule, counted).max(1) as f64,
    };
    let now = price::times(now, share);
    let sum = |terms: &[Term], count: f64| {
        let one = prices.sum(terms).ok_or(NoPrice)?;
        Ok(price::times(Estimate { value: one.value.max(0.0), ..one }, count))
    };
    let saved = match rule.then {
        Then::Nothing => now,
        Then::Each(terms) | Then::WithoutCopy(terms) => less(now, sum(terms, times as f64)?),
        Then::Once(terms) => less(now, sum(terms, 1.0)?),
        Then::Every(each, terms) => less(now, sum(terms, times as f64 / each)?),
        Then::Less(terms) => sum(terms, times as f64)?,
        Then::Broadcast => price::times(now, 1.0 - 1.0 / counted.threads.saturating_sub(1).max(1) as f64),
        Then::Blocks(size) => {
            let than = |saved, call: &&Call| Some(less(saved, blocks(call, size, prices)?));
            calls.iter().try_fold(now, than).ok_or(NoPrice)?
        }
    };
    // Who waits for one of many sleeps by the other way, too. It is the same sleep: its error is none of the difference.
    let slept: u64 = match rule.what {
        What::Wide(..) => calls.iter().filter(|call| call.slept).map(|call| call.times).sum(),
        _ => 0,
    };
    let saved = match slept {
        0 => saved,
        slept => plus(saved, price::times(prices.sum(SLEEP).ok_or(NoPrice)?, -(slept as f64))),
    };
    // What is lost in the scatter of its prices is no promise.
    if saved.low <= 0.0 {
        return Ok(None);
    }
    // What is saved of a sleep is waiting, which the row's price, CPU time, does not hold.
    let waits = if matches!(rule.what, What::Sleeps) { saved.value } else { 0.0 };
    let now_ns = now.value + waits;
    Ok(Some(Saving {
        rule: rule.name.to_owned(),
        replaced: rule.replaced.to_owned(),
        instead: rule.instead.to_owned(),
        times,
        now_ns,
        then_ns: (now_ns - saved.value).max(0.0),
        at_most: rule.at_most,
        id: rule.id.to_owned(),
        catch: rule.catch.to_owned(),
        source: rule.source.to_owned(),
        items: keys,
    }))
}

/// The same bytes in blocks, and the calls that failed as before.
fn blocks(call: &Call, size: u64, prices: &Prices) -> Option<Estimate> {
    let times = call.bytes.div_ceil(size);
    let large = Call { times, failed: 0, size_class: Some(size), ..call.clone() };
    let failures = price::times(prices.of_call(tariff::failed(&call.name))?, call.failed as f64);
    Some(plus(price::of(&large, prices)?, failures))
}

#[cfg(test)]
mod tests {
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
        let locks = |slept| {
            vec![call("fcntl", "record lock", 1000), Call { slept, ..call("fcntl", "record lock", 1) }]
        };
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
        assert!(
            (saving.now_ns - 4096.0 * 250.0).abs() < 1e-6 && (saving.then_ns - 10.0 * 250.0).abs() < 1e-6
        );
    }

    /// Who reads 3 bytes of each of 5000 files was promised reads of 4 KiB, and who plays ping-pong by a pipe, writes of them.
    #[test]
    fn no_buffer_joins_what_several_files_hold_or_what_somebody_waits_for() {
        let small =
            |name: &str, kind: &str| Call { size_class: Some(4), bytes: 3000, ..call(name, kind, 1000) };
        let files = |opens| of_calls(vec![small("read", "device"), call("openat", "", opens)]);
        assert!(files(1000).is_empty() && files(251).is_empty(), "each has its own end");
        let [saving] = &files(250)[..] else { panic!("a few files") };
        assert!(saving.at_most, "it may read at places far apart");
        let answered = |slept| {
            let waits = Call { slept, ..call("read", "pipe", 1) };
            of_calls(vec![small("write", "pipe"), waits])
        };
        assert_eq!((answered(true).len(), answered(false).len()), (0, 1));
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
            if let What::Calls(calls, kinds) | What::All(calls, kinds) | What::Small(calls, kinds, _) =
                rule.what
            {
                let kinds = if kinds.is_empty() { &[""] } else { kinds };
                let priced = |call: &&str| kinds.iter().any(|kind| tariff::rate_for(call, kind).is_some());
                assert!(calls.iter().all(priced), "{}", rule.name);
            }
        }
        assert!(names.len() >= 13, "{}", names.len());
    }
}
