//! Tests of the check: the share, what it is not held against, and what is said of the rest.

use oscost_results::bill::{
    BillItem as Item, Call, CountingWay as Way, Looks, Price, SwitchCount as Switches,
};

use super::*;

fn free(user_ns: u64, system_ns: u64) -> Usage {
    Usage { wall_ns: 1, user_ns, system_ns, ..Usage::default() }
}

#[test]
fn more_ticks_make_the_interval_narrower() {
    let tick = 4_000_000;
    let long = system_time(&free(5_000_000_000, 5_000_000_000), tick, 1, 1);
    let short = system_time(&free(50_000_000, 50_000_000), tick, 1, 1);
    let width = |it: Estimate| (it.high - it.low) / it.value;
    assert!(width(long) < 0.08 && width(short) > 0.5, "{long:?} {short:?}");
    assert!(long.low < long.value && long.value < long.high);
    // Nobody saw it in the kernel: that may still have been.
    let none = system_time(&free(8_000_000, 0), tick, 1, 1);
    assert!(none.low < 1.0 && none.high > 4_000_000.0, "{none:?}");
    assert_eq!(system_time(&free(0, 0), tick, 1, 1).high, 0.0);
}

/// 20 runs were advised to whoever had looked at 20.
#[test]
fn more_runs_make_a_time_known_or_are_not_advised() {
    let of = |usage, runs| Bill {
        free: Some(usage),
        counted: vec![Counted::default(); runs],
        items: vec![Item::default()],
        ..Bill::default()
    };
    let tick = 4_000_000;
    let [one, many] = [1, 20].map(|runs| of(free(6_000_000, 6_000_000), runs));
    assert!(explained(&one, tick).is_none() && explained(&many, tick).is_some());
    let said = |bill: &Bill| left(bill, tick, true)[0].clone();
    assert!(said(&one).ends_with("too short to be known: let it do more, or look at more runs (--runs 20)"));
    for bill in [of(free(100_000_000, 1_000_000), 20), of(free(1_000_000, 1_000_000), 1)] {
        assert_eq!(explained(&bill, tick), None);
        assert!(said(&bill).ends_with("too short to be known: let it do more"), "{}", said(&bill));
    }
}

/// What the kernel says of processes that no tick met is nothing: looks say more, and without them all may be system time.
#[test]
fn of_many_short_processes_looks_decide() {
    let tick = 4_000_000;
    let told = free(200_000_000, 100_000_000);
    assert_eq!(system_time(&told, tick, 1000, 1).high, 3e8);
    assert!(system_time(&told, tick, 10, 1).high < 2e8);
    let looks = Some(Looks { inside: 1000, outside: 2000 });
    let seen = system_time(&Usage { looks, ..told }, tick, 1000, 1);
    assert!(seen.low > 0.9e8 && seen.high < 1.1e8, "{seen:?}");
}

#[test]
fn the_share_is_the_sum_over_the_time() {
    let item = |value| Item {
        together: Estimate { value, low: value, high: value, extremes: false },
        ..Item::default()
    };
    let mut bill =
        Bill { free: Some(free(0, 1_000_000_000)), items: vec![item(4e8), item(5e8)], ..Bill::default() };
    let share = explained(&bill, 4_000_000).expect("time");
    assert!((share.value - 0.9).abs() < 1e-9 && share.low < 0.9001 && share.high < 0.93, "{share:?}");
    bill.free = Some(free(0, 0));
    assert_eq!(explained(&bill, 4_000_000), None);
    bill.counted.push(Counted::default());
    assert!(left(&bill, 4_000_000, true)[0].contains("its system time is too short"), "none was seen");
}

/// A bill beside compilers was "priced 1709 %" of 0.7 ms, of which two looks had met one.
#[test]
fn a_time_that_few_looks_met_is_no_measure() {
    let items = vec![Item {
        together: Estimate { value: 12e6, low: 10e6, high: 14e6, extremes: false },
        ..Item::default()
    }];
    let seen = |inside, outside, children| Bill {
        free: Some(Usage { looks: Some(Looks { inside, outside }), ..free(700_000, 700_000) }),
        counted: vec![Counted { children, ..Counted::default() }],
        items: items.clone(),
        ..Bill::default()
    };
    let few = seen(2, 2, 0);
    assert_eq!(explained(&few, 4_000_000), None);
    assert!(left(&few, 4_000_000, true)[0].contains("0.70 ms is too short to be known"));
    let running = Bill {
        free: None,
        pid: Some(7),
        counted: vec![Counted { way: Way::Ebpf, usage: free(0, 20_000_000), ..Counted::default() }],
        ..few.clone()
    };
    assert!(left(&running, 4_000_000, true)[0].ends_with("count longer (--for 60s)"), "it has no runs");
    // As many looks as a share between the bounds of a good bill needs.
    assert!(explained(&seen(40, 40, 0), 4_000_000).is_some());
    let mut unseen = seen(0, 0, 1000);
    unseen.free = Some(free(200_000_000, 100_000_000));
    assert_eq!(explained(&unseen, 4_000_000), None);
    let said = left(&unseen, 4_000_000, true);
    assert!(said[0].contains("300.0 ms of CPU time is system time is not known"), "{said:?}");
    // Whoever is root in a container was told to be root.
    assert!(said[0].ends_with("(for root, and in a container with --pid=host)"), "{said:?}");
}

/// The counting was taken for work of the program: it was "priced 26 %", and the rest was said to be the kernel's.
#[test]
fn a_system_time_that_may_be_the_counting_is_no_measure() {
    let together = Estimate { value: 1e9, low: 1e9, high: 1e9, extremes: false };
    let counted = |times| Counted {
        way: Way::Ebpf,
        usage: free(0, 3_800_000_000),
        calls: vec![Call { times, ..Call::default() }],
        ..Counted::default()
    };
    let of = |times| Bill {
        pid: Some(7),
        counted: vec![counted(times)],
        items: vec![Item { together, ..Item::default() }],
        ..Bill::default()
    };
    let share = |bill: &Bill| explained(bill, 4_000_000);
    let busy = of(10_000_000);
    assert_eq!(share(&busy), None);
    let said = left(&busy, 4_000_000, true);
    let words = "up to 3000 ms of its system time of 3800 ms may be the counting";
    assert!(said[0].starts_with(words) && said.len() == 1, "{said:?}");
    // Less of it widens the interval to one side.
    let [few, none] = [1_000_000, 0].map(|times| share(&of(times)).expect("a share"));
    assert!((few.low, few.value) == (none.low, none.value) && few.high > none.high * 1.05, "{few:?}");
    // A free run has nothing of it.
    let with_free = Bill { free: Some(free(0, 3_800_000_000)), ..busy };
    assert_eq!(share(&with_free), Some(none));
}

/// A server that ignores SIGCHLD was "priced 2000 %" of the time of its parent.
#[test]
fn a_time_without_that_of_some_processes_is_no_measure() {
    let together = Estimate { value: 1e9, low: 1e9, high: 1e9, extremes: false };
    let of = |unwaited| Bill {
        free: Some(free(0, 50_000_000)),
        counted: vec![Counted { unwaited, ..Counted::default() }],
        items: vec![Item { together, ..Item::default() }],
        ..Bill::default()
    };
    let [some, none] = [Some(500), None].map(of);
    assert_eq!(explained(&some, 4_000_000), None);
    let said = left(&some, 4_000_000, true);
    assert!(said.len() == 1 && said[0].starts_with("500 of its processes ended"), "{said:?}");
    assert!(!left(&none, 4_000_000, true).iter().any(|it| it.contains("SIGCHLD")));
}

/// A `mkdir` that failed the second time was "priced 0 %" of the system time of the `find` behind it.
#[test]
fn the_time_of_a_run_that_ended_otherwise_is_no_measure() {
    let together = Estimate { value: 1e9, low: 1e9, high: 1e9, extremes: false };
    let run = |free, ended| Counted { free_ended: Some(Ended::Exited(free)), ended, ..Counted::default() };
    let of = |counted: &[Counted]| Bill {
        free: Some(free(0, 1_000_000_000)),
        counted: counted.to_vec(),
        items: vec![Item { together, ..Item::default() }],
        ..Bill::default()
    };
    let [failed, killed] = [Ended::Exited(1), Ended::Killed(9)];
    for (counted, words) in [
        (vec![run(0, failed)], "code 0, and the counted one ended with code 1: they"),
        (vec![run(0, killed)], "code 0, and the counted one was ended by signal 9: they"),
        (vec![run(0, Ended::CutShort)], "code 0, and the counted one was cut short: they"),
        // The time is the mean of all free runs.
        (vec![run(1, failed), run(2, failed)], "code 2, and the counted one ended with code 1: they"),
    ] {
        let bill = of(&counted);
        assert_eq!(explained(&bill, 4_000_000), None);
        let said = left(&bill, 4_000_000, true);
        assert!(said[0].starts_with("the free run ended with ") && said[0].contains(words), "{said:?}");
        assert!(!said.iter().any(|it| it.contains("too short") || it.contains("no price")), "{said:?}");
    }
    // One that always fails, and one whose later run was counted in part.
    for counted in [vec![run(1, failed)], vec![run(1, failed), run(1, Ended::CutShort)]] {
        assert!(explained(&of(&counted), 4_000_000).is_some());
    }
}

/// Five rows were named with the times of all, and the dearest was not among them.
#[test]
fn what_is_said_of_rows_without_a_price_is_of_all_of_them() {
    let row = |name: &str, inside_ns| Item {
        words: name.to_owned(),
        price: Some(Price { least: true, ..Price::default() }),
        together: Estimate { value: 1000.0, ..Estimate::default() },
        inside_ns: Some(inside_ns),
        ..Item::default()
    };
    let mut items: Vec<Item> = ["a", "b", "c", "d", "e", "f"].map(|name| row(name, 1000)).to_vec();
    items.push(row("execve", 994_000));
    let said = left(&Bill { items, counted: vec![Counted::default()], ..Bill::default() }, 1, true);
    let words = "without a price: execve; a; b; c; d; 2 more: at least 7.0 us; in the counted run they took 1.00 ms \
                 without their sleeps";
    assert_eq!(said, [words]);
}

#[test]
fn what_differs_between_runs_is_said() {
    let call = |times| Call { name: "futex".to_owned(), times, ..Call::default() };
    let one = |times, voluntary| Counted {
        calls: vec![call(times)],
        switches: Switches { voluntary, involuntary: 0 },
        ended: Ended::Exited(0),
        ..Counted::default()
    };
    let bill = Bill {
        free: Some(Usage { switches: Switches { voluntary: 400, involuntary: 0 }, ..free(0, 1_000_000_000) }),
        counted: vec![one(10, 200), one(14, 300)],
        explained: Some(Estimate { value: 1.0, low: 0.9, high: 1.1, extremes: false }),
        ..Bill::default()
    };
    let said = left(&bill, 4_000_000, true);
    assert!(said.iter().any(|it| it.contains("sleeps: 400 in the free run, 200")), "{said:?}");
    assert!(said.iter().any(|it| it.contains("10 to 14 calls: futex 10 to 14")), "{said:?}");
    // A sum without its prices says nothing of the kernel's own work.
    let poor =
        Bill { explained: Some(Estimate { value: 0.1, low: 0.1, high: 0.1, extremes: false }), ..bill };
    let says =
        |all_priced, words: &str| left(&poor, 4_000_000, all_priced).iter().any(|it| it.contains(words));
    assert!(says(false, "prices are missing") && !says(false, "no price covers"));
    assert!(says(true, "no price covers") && !says(true, "prices are missing"));
}
