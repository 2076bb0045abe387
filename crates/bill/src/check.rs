//! The check: the sum of the bill against the system time of the run that nobody counted, and what is left.

use oscost_results::Estimate;
use oscost_results::bill::{Bill, CountedRun as Counted, RunEnd as Ended, RunUsage as Usage};

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
/// Whoever has seen fewer runs is told to look at so many.
const MANY_RUNS: usize = 20;

/// The system time and between what it lies: of so many looks at where a program is, or of the kernel's ticks in all `runs`, whose mean
/// it is, the share inside is the share of the time. Wilson's interval of a proportion. Without looks, all time of `processes` that are shorter than a tick may
/// be system time.
#[must_use]
pub fn system_time(free: &Usage, tick_ns: u64, processes: u64, runs: usize) -> Estimate {
    let all = free.user_ns as f64 + free.system_ns as f64;
    // Looks are those of all runs together.
    let made = match free.looks {
        Some(looks) => (looks.inside + looks.outside) as f64,
        None => all / tick_ns.max(1) as f64 * runs.max(1) as f64,
    };
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
    let time = bill.time()?;
    // Before each run that was counted there was a free one.
    let system = system_time(&time, tick_ns, processes(bill), bill.counted.len());
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
    // Processes that no tick meets, more of their runs do not show.
    let helps = bill.counted.len() < MANY_RUNS && !is_unseen(free, tick_ns, processes);
    let runs = if helps { format!(", or look at more runs (--runs {MANY_RUNS})") } else { String::new() };
    format!("its system time{} is too short to be known: let it do more{runs}", of(2))
}

/// What the items do not explain, and in what the runs differed; `all_priced` where no figure of the tariff was missing.
#[must_use]
pub fn left(bill: &Bill, tick_ns: u64, all_priced: bool) -> Vec<String> {
    let mut all = Vec::new();
    let Some(first) = bill.counted.first() else { return all };
    if let count @ 1.. = unwaited(bill) {
        all.push(format!(
            "{count} of its processes ended and nobody waited for them (SIGCHLD ignored, or SA_NOCLDWAIT): their CPU time, faults and switches are \
             told to nobody, so there is no share"
        ));
    }
    if let Some(free) = bill.ended_otherwise() {
        let [free, counted] = [free, first.ended].map(how);
        all.push(format!(
            "the free run {free}, and the counted one {counted}: they did not do the same, so there is no share"
        ));
    }
    if let Some(free) = &bill.time() {
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

/// How a run ended.
fn how(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("ended with code {code}"),
        Ended::Killed(signal) => format!("was ended by signal {signal}"),
        Ended::Running | Ended::CutShort => "was cut short".to_owned(),
    }
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
mod tests;
