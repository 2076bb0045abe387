//! Prices: what was counted, each item with its price and what all of it costs together.

use std::collections::BTreeSet;

use oscost_results::Estimate;
use oscost_results::bill::{Bill, BillItem as Item, Call, CountedRun as Counted, Price, RunUsage as Usage};

pub use crate::parts::of;
use crate::parts::{circumstance, in_forks, terms_of};
pub use crate::prices::{MadeProcess, Prices, less, plus, times};
use crate::tariff::{
    self, END, END_MAPPING, ENTRY, FAULT, FAULT_COPY, FAULT_READ, FILE_PAGE, FORK_MAPPING, FORK_PAGE,
    PREEMPTION, SIGNAL, SLEEP, Term, WAKE,
};
pub use crate::words::key;
use crate::words::words;

/// Every figure that pricing these counts needs.
#[must_use]
pub fn needed(counted: &[Counted]) -> BTreeSet<&'static str> {
    let calls = || counted.iter().flat_map(|one| &one.calls);
    let mut all: Vec<&[Term]> = vec![ENTRY, SLEEP, PREEMPTION, FAULT, END];
    if counted.iter().any(|one| one.fault_kinds.is_some()) {
        all.extend([FAULT_READ, FAULT_COPY]);
    }
    if counted.iter().any(|one| one.signals > 0) {
        all.push(SIGNAL);
    }
    if counted.iter().any(|one| one.wakes.is_some_and(|wakes| wakes > 0)) {
        all.push(WAKE);
    }
    if counted.iter().any(|one| one.ends.is_some()) {
        all.extend([END_MAPPING, FILE_PAGE]);
    }
    for rate in calls().filter_map(tariff::rate_of) {
        let [always, sometimes] = rate.inside;
        all.extend([rate.each, rate.byte, rate.nothing, rate.more, always, sometimes]);
    }
    all.extend(calls().filter(|call| call.failed > 0).map(|call| tariff::failed(&call.name)));
    all.into_iter().flat_map(tariff::figures).collect()
}

/// What was paid for, the dearest first. Faults and switches are the free run's where there is one: counting adds its own.
#[must_use]
pub fn items(counted: &Counted, free: Option<&Usage>, prices: &Prices) -> Vec<Item> {
    let faults = free.map_or(counted.faults, |free| free.faults);
    let switches = free.map_or(counted.switches, |free| free.switches);
    let slept: u64 = counted.calls.iter().filter(|call| call.slept).map(|call| call.times).sum();
    let calls = counted.calls.iter().zip(in_forks(counted));
    let mut all: Vec<Item> = calls.map(|(call, within)| of_call(call, within, prices)).collect();
    let (read, copied) = kinds(counted, faults.minor);
    let ends = counted.ends.unwrap_or_default();
    let forks = counted.forks.unwrap_or_default();
    let others = [
        ("fault", "page fault", faults.minor - read - copied, FAULT, "priced as that of anonymous memory"),
        (
            "fault: read",
            "page fault of a read",
            read,
            FAULT_READ,
            "priced as that of a file in the page cache",
        ),
        ("fault: copy", "page fault that copies", copied, FAULT_COPY, ""),
        (
            "fault: major",
            "page fault that read from a disk",
            faults.major,
            FAULT,
            "reading the disk comes on top",
        ),
        (
            "switch: voluntary",
            "sleep beyond the first of a call, or outside of calls",
            switches.voluntary.saturating_sub(slept),
            SLEEP,
            "",
        ),
        ("switch: involuntary", "switch to another that was to run", switches.involuntary, PREEMPTION, ""),
        ("signal", "signal delivered to a handler", counted.signals, SIGNAL, ""),
        (FORK_PAGES, "page shared by a fork", forks.pages, FORK_PAGE, ""),
        (FORK_MAPPINGS, "mapping copied by a fork", forks.mappings, FORK_MAPPING, "of a page of a file"),
        (
            "end: mapping",
            "mapping removed at exit or exec",
            ends.mappings,
            END_MAPPING,
            "half of its copy and its removal",
        ),
        ("end: page", "file page unmapped at exit or exec", ends.file_pages, FILE_PAGE, ""),
        (
            "wake",
            "wake of an idle CPU",
            counted.wakes.unwrap_or(0),
            WAKE,
            "of one that idled briefly; another sleep is deeper, or none",
        ),
        (
            "end",
            "end of the program itself",
            u64::from(free.is_some()),
            END,
            "half of a fork, whose child ends",
        ),
    ];
    for (key, words, count, terms, circumstance) in others {
        if count == 0 {
            continue;
        }
        // A difference of figures that is lost in their scatter is no price.
        let price = prices.sum(terms).filter(|one| one.value > 0.0);
        let price = price.map(|one| Estimate { low: one.low.max(0.0), ..one });
        let together = price.map_or(Estimate::default(), |one| times(one, count as f64));
        all.push(Item {
            key: key.to_owned(),
            words: if price.is_some() { words.to_owned() } else { format!("{words}: no price") },
            times: count,
            price: price.map(|ns| Price {
                ns,
                ids: ids(terms),
                least: key == "fault: major",
                circumstance: circumstance.to_owned(),
            }),
            together,
            ..Item::default()
        });
    }
    for price in all.iter_mut().filter_map(|item| item.price.as_mut()) {
        for circumstance in prices.circumstances(&price.ids) {
            let between = if price.circumstance.is_empty() { "" } else { "; " };
            price.circumstance.push_str(&format!("{between}{circumstance}"));
        }
    }
    all.sort_by(|one, other| {
        other.together.value.total_cmp(&one.together.value).then_with(|| one.key.cmp(&other.key))
    });
    all
}

/// The key of the pages that forks copied.
pub const FORK_PAGES: &str = "fork: page";
/// The key of the mappings that forks copied.
pub const FORK_MAPPINGS: &str = "fork: mapping";

/// How many of the faults of a run are reads, and how many copy: the shares of those that were told apart.
fn kinds(counted: &Counted, minor: u64) -> (u64, u64) {
    let Some(kinds) = counted.fault_kinds else { return (0, 0) };
    let all = (kinds.read + kinds.first + kinds.copied).max(1) as f64;
    let read = (minor as f64 * (kinds.read as f64 / all)).round() as u64;
    let copied = (minor as f64 * (kinds.copied as f64 / all)).round() as u64;
    (read.min(minor), copied.min(minor.saturating_sub(read)))
}

/// The row of a call, of which so many are within the price of a fork.
fn of_call(call: &Call, within: u64, prices: &Prices) -> Item {
    let rate = tariff::rate_of(call);
    let paid = Call { times: call.times.saturating_sub(within), ..call.clone() };
    let count = call.times as f64;
    let mut item = Item {
        key: key(call),
        words: words(call),
        times: call.times,
        inside_ns: call.inside_ns,
        ..Item::default()
    };
    match (rate, of(&paid, prices)) {
        // It is within another item's price.
        (Some(rate), Some(_)) if rate.each.is_empty() => {
            item.words = format!("{}: {}", item.words, rate.circumstance)
        }
        (Some(_), Some(_)) if within > 0 && paid.times == 0 => {
            item.words = format!("{}: in the price of the fork", item.words)
        }
        (Some(rate), Some(together)) if call.times > 0 => {
            let others = circumstance(&paid, rate);
            item.together = together;
            item.price = Some(Price {
                ns: times(together, 1.0 / count),
                ids: ids(&terms_of(&paid, rate)),
                least: false,
                circumstance: match within {
                    0 => others,
                    _ => format!("{within} in the price of a fork, of the others: {others}"),
                },
            });
        }
        _ => {
            let sleep = if call.slept && prices.sum(SLEEP).is_some() { SLEEP } else { &[] };
            let terms = [ENTRY, sleep].concat();
            if let Some(one) = prices.sum(&terms) {
                item.together = times(one, paid.times as f64);
                item.price =
                    Some(Price { ns: one, ids: ids(&terms), least: true, circumstance: String::new() });
            }
        }
    }
    item
}

/// The figures of terms, each once.
fn ids(terms: &[Term]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (id, _) in terms {
        let id = tariff::figure(id);
        if all.iter().all(|known| known != id) {
            all.push(id.to_owned());
        }
    }
    all
}

/// What all items cost together.
#[must_use]
pub fn together(bill: &Bill) -> Estimate {
    bill.items.iter().fold(Estimate::default(), |sum, item| plus(sum, item.together))
}

#[cfg(test)]
mod tests {
    use oscost_results::bill::{
        EndCount, FaultCount as Faults, FaultKinds, ForkCount, SwitchCount as Switches,
    };

    use super::*;

    fn price(value: f64) -> Estimate {
        Estimate { value, low: value * 0.9, high: value * 1.2, extremes: false }
    }

    fn prices(known: &[(&str, f64)]) -> Prices {
        let mut prices = Prices::default();
        known.iter().for_each(|(id, value)| prices.add(id, price(*value)));
        prices
    }

    const FEW: &[(&str, f64)] = &[
        ("syscall/getpid_libc", 100.0),
        ("syscall/read0_devzero_libc", 160.0),
        ("syscall/read0_devzero", 150.0),
        ("syscall/getpid", 90.0),
        ("syscall/read0_pipe", 110.0),
        ("context_switch/pipe_alone/same_cpu", 600.0),
        ("context_switch/pipe/same_cpu", 2600.0),
        ("context_switch/yield/same_cpu", 900.0),
        ("memory/bandwidth/copy/block_16k", 1024.0),
        ("memory/fault_anonymous", 500.0),
        ("memory/give_back", 100.0),
        ("semaphore/system_v", 1000.0),
    ];

    fn call(name: &str, on: &str, times: u64) -> Call {
        Call { name: name.to_owned(), on: on.to_owned(), times, ..Call::default() }
    }

    #[test]
    fn a_pair_is_halved_bytes_are_added_and_a_sleep_is_a_switch() {
        let prices = prices(FEW);
        let value = |call: &Call| of(call, &prices).expect("a price").value;
        assert!((value(&call("semop", "", 10)) - 5000.0).abs() < 1e-6);
        let write = Call { bytes: 640, size_class: Some(64), ..call("write", "pipe", 10) };
        assert!((value(&write) - (10.0 * 300.0 + 640.0)).abs() < 1e-6);
        let slept = Call { slept: true, ..write.clone() };
        assert!((value(&slept) - value(&write) - 10.0 * 2000.0).abs() < 1e-6);
        // Of the smallest class, calls that carry nothing have a price of their own: an inline call's, and libc's function.
        let mixed = Call { bytes: 4, size_class: Some(1), ..call("read", "pipe", 10) };
        assert!((value(&mixed) - (4.0 * 300.0 + 4.0 + 6.0 * (110.0 + 10.0))).abs() < 1e-6);
        let failed = Call { failed: 10, ..call("semop", "", 10) };
        assert!((value(&failed) - 1000.0).abs() < 1e-6);
    }

    /// A price names figures that can be looked up, and says what is to be said of them.
    #[test]
    fn a_price_names_its_figures_without_how_they_are_taken() {
        let mut prices = prices(&FEW[..3]);
        prices.add_measured("syscall/write1", price(110.0), Some("beside others"));
        let counted = Counted { calls: vec![call("write", "device", 10)], ..Counted::default() };
        let priced = items(&counted, None, &prices).into_iter().find_map(|item| item.price).expect("a price");
        assert_eq!(priced.ids, ["syscall/write1"]);
        assert!(priced.circumstance.contains("beside others"), "{priced:?}");
    }

    /// Failed reads and sleeps were priced by figures that the row did not name, and neither did it say what is to be said of them.
    #[test]
    fn a_price_names_every_figure_that_it_was_made_of() {
        let mut prices = prices(&FEW[..5]);
        prices.add("context_switch/pipe_alone/same_cpu", price(600.0));
        prices.add_measured("context_switch/pipe/same_cpu", price(2600.0), Some("beside others"));
        let priced = |call: Call| {
            let counted = Counted { calls: vec![call], ..Counted::default() };
            items(&counted, None, &prices).into_iter().find_map(|item| item.price).expect("a price")
        };
        let pair = ["context_switch/pipe_alone/same_cpu", "context_switch/pipe/same_cpu"];
        let slept = priced(Call { slept: true, ..call("read", "pipe", 10) });
        assert_eq!(slept.ids, pair, "each once");
        assert!(slept.circumstance.contains("beside others"), "{slept:?}");
        assert_eq!(priced(Call { failed: 10, ..call("read", "pipe", 10) }).ids, ["syscall/getpid_libc"]);
        let ended = priced(Call { size_class: Some(1), ..call("read", "pipe", 10) });
        assert_eq!(ended.ids, ["syscall/read0_pipe"]);
        let bound = priced(Call { slept: true, ..call("keyctl", "", 10) });
        assert_eq!((bound.least, bound.ids.len()), (true, 3), "{bound:?}");
    }

    #[test]
    fn what_has_no_price_costs_at_least_an_entry() {
        let prices = prices(FEW);
        let item = of_call(&call("keyctl", "", 5), 0, &prices);
        let price = item.price.clone().expect("a bound");
        assert!(price.least && (item.together.value - 500.0).abs() < 1e-9, "{item:?}");
        assert!(tariff::rate_for("keyctl", "").is_none());
        // A figure that is missing is no price either.
        let item = of_call(&call("flock", "", 5), 0, &prices);
        assert!(item.price.expect("a bound").least);
    }

    #[test]
    fn a_difference_is_no_less_than_an_entry_and_its_interval_holds_both_errors() {
        let prices = prices(&[("syscall/getpid_libc", 100.0), ("a", 200.0), ("b", 190.0)]);
        let found = prices.of_call(&[("a", 1.0), ("b", -1.0)]).expect("known");
        assert!((found.value - 100.0).abs() < 1e-9 && found.high >= 240.0 - 171.0, "{found:?}");
        assert_eq!(prices.sum(&[("c", 1.0)]), None);
    }

    #[test]
    fn a_switch_is_paid_for_once() {
        let prices = prices(FEW);
        let counted = Counted {
            calls: vec![Call { slept: true, size_class: Some(1), bytes: 7, ..call("read", "pipe", 7) }],
            switches: Switches { voluntary: 10, involuntary: 2 },
            faults: Faults { minor: 3, major: 0 },
            ..Counted::default()
        };
        let items = items(&counted, None, &prices);
        let of = |key: &str| items.iter().find(|item| item.key == key).map(|item| item.times);
        assert_eq!(
            (of("switch: voluntary"), of("switch: involuntary"), of("fault")),
            (Some(3), Some(2), Some(3))
        );
        assert_eq!((of("end"), of("signal")), (None, None), "what ran already runs on");
        assert!(items.iter().all(|item| !item.words.starts_with("sleep outside")), "a call may sleep again");
        assert!(items.is_sorted_by(|one, other| one.together.value >= other.together.value));
        assert!(needed(std::slice::from_ref(&counted)).contains("syscall/read0_pipe"));
    }

    /// Faults and pages of a fork have rows of their own: the fork is priced without those of the figure.
    #[test]
    fn a_fork_is_paid_for_by_what_its_parent_has() {
        let known = [
            ("syscall/getpid_libc", 100.0),
            ("process/fork", 100_000.0),
            ("process/fork/mappings_1000", 100_000.0 + 1000.0 * 500.0),
            ("process/fork/resident_1m/small_pages", 120_000.0),
            ("process/fork/resident_16m/small_pages", 120_000.0 + 3840.0 * 100.0),
            ("memory/fault_copy", 900.0),
            ("memory/give_back", 100.0),
        ];
        let mut prices = prices(&known);
        let forked = |pages, faults| Counted {
            calls: vec![call("clone", "process", 10)],
            faults: Faults { minor: faults, major: 0 },
            fault_kinds: Some(FaultKinds { read: 0, first: 0, copied: faults }),
            forks: Some(ForkCount { times: 10, pages, mappings: pages / 10, faults }),
            ..Counted::default()
        };
        let sum = |prices: &Prices, counted: &Counted| -> f64 {
            items(counted, None, prices).iter().map(|item| item.together.value).sum()
        };
        assert!(sum(&prices, &forked(0, 0)) < 1001.0, "how many faults the figure has is not known");
        prices.add_made("process/fork", MadeProcess { faults: 20.0, pages: 200.0, mappings: 20.0 });
        let bare = 100_000.0 - 20.0 * 1000.0 - 200.0 * 100.0 - 20.0 * 500.0;
        assert!((sum(&prices, &forked(0, 0)) - 10.0 * bare).abs() < 1.0);
        // One like the figure costs what the figure does.
        assert!((sum(&prices, &forked(2000, 200)) - 10.0 * 100_000.0).abs() < 1.0);
        let wanted = needed(&[forked(1, 1)]);
        assert!(
            wanted.contains("process/fork/resident_16m/small_pages")
                && !wanted.contains("process/fork (bare)")
        );
    }

    #[test]
    fn faults_are_told_apart_where_they_were_counted_so() {
        let prices = prices(&[
            ("memory/fault_anonymous", 400.0),
            ("memory/fault_file", 800.0),
            ("memory/fault_copy", 600.0),
            ("memory/give_back", 100.0),
        ]);
        let counted = Counted {
            faults: Faults { minor: 1000, major: 0 },
            fault_kinds: Some(FaultKinds { read: 30, first: 50, copied: 20 }),
            ..Counted::default()
        };
        let items = items(&counted, None, &prices);
        let of =
            |key: &str| items.iter().find(|item| item.key == key).map(|it| (it.times, it.together.value));
        let found = ["fault: read", "fault", "fault: copy"].map(of);
        assert_eq!(found, [Some((300, 240e3)), Some((500, 250e3)), Some((200, 140e3))]);
        assert!(needed(&[counted]).contains("memory/fault_copy"));
        assert_eq!(kinds(&Counted::default(), 7), (0, 0), "a tracer does not tell");
    }

    /// What ends give back is paid for by what was counted.
    #[test]
    fn an_end_is_paid_for_by_what_it_gives_back() {
        let known = [
            ("syscall/getpid_libc", 100.0),
            ("process/fork", 100_000.0),
            ("process/fork/mappings_1000", 600_000.0),
            ("memory/give_back_file", 60.0),
        ];
        let ended = Counted { ends: Some(EndCount { mappings: 40, file_pages: 500 }), ..Counted::default() };
        let items = items(&ended, None, &prices(&known));
        let of =
            |key: &str| items.iter().find(|item| item.key == key).map_or(0.0, |item| item.together.value);
        assert!((of("end: mapping") - 40.0 * 250.0).abs() < 1e-6);
        assert!((of("end: page") - 500.0 * 60.0).abs() < 1e-6);
        assert!(needed(&[ended]).contains("memory/give_back_file"));
        assert!(!needed(&[Counted::default()]).contains("memory/give_back_file"));
    }

    #[test]
    fn a_price_with_a_circumstance_is_one_and_says_so() {
        let mut prices = prices(&[("syscall/getpid_libc", 100.0)]);
        prices.add_measured("syscall/getpid_libc", price(400.0), Some("beside others' work"));
        prices.add_measured("syscall/stat", price(400.0), Some("beside others' work"));
        let calls = vec![call("getuid", "", 2), call("stat", "", 2)];
        let items = items(&Counted { calls, ..Counted::default() }, None, &prices);
        let of = |key: &str| items.iter().find(|item| item.key == key).and_then(|item| item.price.clone());
        let (entry, stat) = (of("getuid").expect("a price"), of("stat").expect("a price"));
        assert!((entry.ns.value, stat.ns.value) == (100.0, 400.0), "the first one stays");
        assert!(stat.circumstance.ends_with("beside others' work"), "{stat:?}");
        assert!(!entry.circumstance.contains("others"), "{entry:?}");
    }
}
