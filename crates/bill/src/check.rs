//! The check: the sum of the bill against the system time of the run that nobody counted, and what is left.

use oscost_results::Estimate;
use oscost_results::bill::{
    Bill, CountedRun as Counted, CountingWay as Way, RunEnd as Ended, RunUsage as Usage,
};

use crate::price;

/// 95 % of a normal distribution lie within so many standard deviations.
const SIGMAS: f64 = 1.96;
/// Counts of two runs that differ by more are worth a sentence.
const DIFFERENT: f64 = 0.05;
/// A bill that explains less, or more, is worth one, too.
const POOR: f64 = 0.7;
const RICH: f64 = 1.3;
/// What counting a call, half of a switch, or a fault by eBPF takes at most, ns: 280 were measured of a call (docs/measured/bill.md).
const COUNTING_NS: f64 = 300.0;
/// Nothing is held against a system time of which more may be the counting.
const MOST_COUNTING: f64 = 1.0 / 8.0;

/// The system time and between what it lies: of so many looks at where a program is, or of the kernel's ticks, the share inside is
/// the share of the time. Wilson's interval of a proportion. Without looks, all time of `processes` that are shorter than a tick may
/// be system time.
#[must_use]
pub fn system_time(free: &Usage, tick_ns: u64, processes: u64) -> Estimate {
    let all = free.user_ns as f64 + free.system_ns as f64;
    let made = free.looks.map_or(all / tick_ns.max(1) as f64, |looks| (looks.inside + looks.outside) as f64);
    let ticks = made.max(1e-9);
    let share = if all > 0.0 { free.system_ns as f64 / all } else { 0.0 };
    let square = SIGMAS * SIGMAS / ticks;
    let middle = (share + square / 2.0) / (1.0 + square);
    let half = (SIGMAS / (1.0 + square)) * (share * (1.0 - share) / ticks + square / (4.0 * ticks)).sqrt();
    Estimate {
        value: free.system_ns as f64,
        low: (middle - half).max(0.0) * all,
        high: if is_unseen(free, tick_ns, processes) { all } else { (middle + half).min(1.0) * all },
        extremes: false,
    }
}

/// The time that the items are held against: that of the free run, or of a program that ran anyway.
fn time(bill: &Bill) -> Option<Usage> {
    let ran_anyway = bill.counted.first().filter(|one| bill.pid.is_some() && one.way == Way::Ebpf);
    bill.free.or_else(|| ran_anyway.map(|one| one.usage)).filter(|_| unwaited(bill) == 0)
}

/// Processes for which nobody waited, in the run that had most: that time is without theirs.
fn unwaited(bill: &Bill) -> u64 {
    bill.counted.iter().filter_map(|one| one.unwaited).max().unwrap_or(0)
}

/// What counting may have added to that time, ns: nothing to that of a free run.
fn counting_ns(bill: &Bill) -> f64 {
    let ran_anyway = bill.counted.first().filter(|_| bill.free.is_none());
    ran_anyway.map_or(0.0, |one| {
        let calls: u64 = one.calls.iter().map(|call| call.times).sum();
        let switches = one.switches.voluntary + one.switches.involuntary;
        (calls + 2 * switches + one.faults.minor + one.faults.major) as f64 * COUNTING_NS
    })
}

/// Whether too much of this system time may be the counting.
fn is_counting(bill: &Bill, system_ns: u64) -> bool {
    system_ns > 0 && counting_ns(bill) > system_ns as f64 * MOST_COUNTING
}

/// The share of the system time that the items explain; `None` where that is known too badly for any share to be called good or poor.
#[must_use]
pub fn explained(bill: &Bill, tick_ns: u64) -> Option<Estimate> {
    let time = time(bill)?;
    let system = system_time(&time, tick_ns, processes(bill));
    let system = Estimate { low: (system.low - counting_ns(bill)).max(0.0), ..system };
    let sum = price::together(bill);
    let is_known =
        system.value > 0.0 && !is_counting(bill, time.system_ns) && system.high * POOR <= system.low * RICH;
    is_known.then(|| Estimate {
        value: sum.value / system.value,
        low: sum.low / system.high,
        high: sum.high / system.low,
        extremes: false,
    })
}

fn processes(bill: &Bill) -> u64 {
    1 + bill.counted.first().map_or(0, |one| one.children)
}

/// Whether nobody looked, and the kernel's ticks met few of its processes.
fn is_unseen(free: &Usage, tick_ns: u64, processes: u64) -> bool {
    free.looks.is_none() && free.user_ns + free.system_ns < processes * tick_ns
}

/// Why its system time is not known well enough to hold the items against it, and what helps: one that ran anyway has no runs.
fn unknown(bill: &Bill, free: &Usage, tick_ns: u64) -> String {
    let (ms, processes) = (|ns: u64| ns as f64 / 1e6, processes(bill));
    if is_counting(bill, free.system_ns) {
        let (system, counting) = (ms(free.system_ns), counting_ns(bill) / 1e6);
        return format!(
            "up to {:.0} ms of its system time of {system:.0} ms may be the counting: it is no measure \
             (oscost bill -- PROGRAM has a run that nobody counts)",
            counting.min(system)
        );
    }
    // Nothing was seen of it, which is no measure of it.
    let of = |digits: usize| match free.system_ns {
        0 => String::new(),
        ns => format!(" of {:.digits$} ms", ms(ns)),
    };
    if bill.pid.is_some() {
        return format!("its system time{} is too short to be known: count longer (--for 60s)", of(0));
    }
    if processes > 1 && is_unseen(free, tick_ns, processes) {
        let (all, tick) = (ms(free.user_ns + free.system_ns), ms(tick_ns));
        return format!(
            "how much of its {all:.1} ms of CPU time is system time is not known, as its processes are shorter than the kernel's \
             ticks of {tick} ms; eBPF would look more often (for root, and in a container with --pid=host)"
        );
    }
    format!(
        "its system time{} is too short to be known: let it do more, or look at more runs (--runs 20)",
        of(2)
    )
}

/// What the items do not explain, and in what the runs differed; `all_priced` where no figure of the tariff was missing.
#[must_use]
pub fn left(bill: &Bill, tick_ns: u64, all_priced: bool) -> Vec<String> {
    let mut all = Vec::new();
    let Some(first) = bill.counted.first() else { return all };
    if let count @ 1.. = unwaited(bill) {
        all.push(format!(
            "{count} of its processes ended and nobody waited for them (SIGCHLD is ignored): their CPU time, faults and switches are \
             told to nobody, so there is no share"
        ));
    }
    if let Some(free) = &time(bill) {
        if bill.explained.is_none() {
            all.push(unknown(bill, free, tick_ns));
        }
        // One that was ended in its middle slept less, whatever it read.
        if !matches!(first.ended, Ended::CutShort | Ended::Killed(_)) {
            all.extend(against(free, first, bill.counted.len()));
        }
    }
    let bounds: f64 = bill.items.iter().filter(|item| least(item)).map(|item| item.together.value).sum();
    let inside: u64 = bill.items.iter().filter(|item| least(item)).filter_map(|item| item.inside_ns).sum();
    let mut named: Vec<_> = bill.items.iter().filter(|item| least(item)).collect();
    // Where nobody counted what they took, the dearest stays the first.
    named.sort_by_key(|item| std::cmp::Reverse(item.inside_ns));
    let names: Vec<&str> = named.iter().take(5).map(|item| &*item.words).collect();
    if !names.is_empty() {
        let inside = if inside > 0 {
            format!("; in the counted run they took {} without their sleeps", time_of(inside as f64))
        } else {
            String::new()
        };
        let more = match named.len() - names.len() {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        all.push(format!(
            "without a price: {}{more}: at least {}{inside}",
            names.join("; "),
            time_of(bounds)
        ));
    }
    match bill.explained {
        Some(share) if share.high < POOR && !all_priced => {
            all.push("prices are missing, so the sum is too low".to_owned());
        }
        Some(share) if share.high < POOR => all.push(
            "the rest is work of the kernel that no price covers: what was cold, large or contended, giving memory back, \
             interrupts"
                .to_owned(),
        ),
        Some(share) if share.low > RICH => all.push(
            "the prices are too high for this program: of what it asked most was cheaper than where the figures were measured"
                .to_owned(),
        ),
        _ => {}
    }
    all.extend(ranges(&bill.counted));
    all
}

/// A time with its unit.
fn time_of(ns: f64) -> String {
    if ns < 1e6 { format!("{:.1} us", ns / 1e3) } else { format!("{:.2} ms", ns / 1e6) }
}

fn least(item: &oscost_results::bill::BillItem) -> bool {
    item.price.as_ref().is_some_and(|price| price.least)
}

/// In what the counted run differed from the free one.
fn against(free: &Usage, counted: &Counted, runs: usize) -> Vec<String> {
    let mut all = Vec::new();
    let apart = |one: u64, other: u64| {
        let most = one.max(other) as f64;
        most >= 100.0 && (one as f64 - other as f64).abs() / most > DIFFERENT
    };
    if apart(free.faults.minor, counted.faults.minor) {
        all.push(format!(
            "faults: {} in the free run, {} in the counted one",
            free.faults.minor, counted.faults.minor
        ));
    }
    if apart(free.switches.voluntary, counted.switches.voluntary) {
        let [one, other] = [free.switches.voluntary, counted.switches.voluntary];
        let why = match one > other {
            true => "the first run reads what the second has in memory, or its calls depend on timing",
            false => "its calls depend on timing, and counting slows them",
        };
        let more = if runs == 1 { " (--runs 3 shows by how much)" } else { "" };
        all.push(format!("sleeps: {one} in the free run, {other} in the counted one: {why}{more}"));
    }
    all
}

/// Calls whose number differs between runs that were counted, with the range.
fn ranges(counted: &[Counted]) -> Vec<String> {
    if counted.len() < 2 {
        return Vec::new();
    }
    let calls = |one: &Counted| one.calls.iter().map(|call| call.times).sum::<u64>();
    let all: Vec<u64> = counted.iter().map(calls).collect();
    let (least, most) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
    if least == most {
        return vec![format!("each of {} counted runs made {most} calls", counted.len())];
    }
    let mut names: Vec<&str> = counted.iter().flat_map(|one| &one.calls).map(|call| &*call.name).collect();
    names.sort_unstable();
    names.dedup();
    let of = |one: &Counted, name: &str| -> u64 {
        one.calls.iter().filter(|call| call.name == name).map(|call| call.times).sum()
    };
    let mut moved: Vec<(u64, String)> = names
        .iter()
        .filter_map(|name| {
            let each: Vec<u64> = counted.iter().map(|one| of(one, name)).collect();
            let (least, most) = (each.iter().min()?, each.iter().max()?);
            (least != most).then(|| (most - least, format!("{name} {least} to {most}")))
        })
        .collect();
    moved.sort_by_key(|(apart, _)| std::cmp::Reverse(*apart));
    let named: Vec<String> = moved.into_iter().take(5).map(|(_, words)| words).collect();
    vec![format!("{} counted runs made {least} to {most} calls: {}", counted.len(), named.join(", "))]
}

#[cfg(test)]
mod tests {
    use oscost_results::bill::{BillItem as Item, Call, Looks, Price, SwitchCount as Switches};

    use super::*;

    fn free(user_ns: u64, system_ns: u64) -> Usage {
        Usage { wall_ns: 1, user_ns, system_ns, ..Usage::default() }
    }

    #[test]
    fn more_ticks_make_the_interval_narrower() {
        let tick = 4_000_000;
        let long = system_time(&free(5_000_000_000, 5_000_000_000), tick, 1);
        let short = system_time(&free(50_000_000, 50_000_000), tick, 1);
        let width = |it: Estimate| (it.high - it.low) / it.value;
        assert!(width(long) < 0.08 && width(short) > 0.5, "{long:?} {short:?}");
        assert!(long.low < long.value && long.value < long.high);
        // Nobody saw it in the kernel: that may still have been.
        let none = system_time(&free(8_000_000, 0), tick, 1);
        assert!(none.low < 1.0 && none.high > 4_000_000.0, "{none:?}");
        assert_eq!(system_time(&free(0, 0), tick, 1).high, 0.0);
    }

    /// What the kernel says of processes that no tick met is nothing: looks say more, and without them all may be system time.
    #[test]
    fn of_many_short_processes_looks_decide() {
        let tick = 4_000_000;
        let told = free(200_000_000, 100_000_000);
        assert_eq!(system_time(&told, tick, 1000).high, 3e8);
        assert!(system_time(&told, tick, 10).high < 2e8);
        let looks = Some(Looks { inside: 1000, outside: 2000 });
        let seen = system_time(&Usage { looks, ..told }, tick, 1000);
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
            free: Some(Usage {
                switches: Switches { voluntary: 400, involuntary: 0 },
                ..free(0, 1_000_000_000)
            }),
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
}
