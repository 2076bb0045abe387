//! Savings: the rules, held against what was counted.

use std::collections::BTreeSet;

use oscost_results::Estimate;
use oscost_results::bill::{Bill, BillItem, Call, CountedRun as Counted, Saving};

use crate::price::{self, Prices, less, plus};
use crate::replacements::{Asks, FORKS, GIVES, RULES, SavingRule, TAKES, Then, What};
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

/// Whether somebody answers on this kind of descriptor, and waits for what others send. A file waits for a disk, and who reads a stream
/// to its end finds it empty now and then.
fn is_waited_for(kind: &str, counted: &Counted) -> bool {
    let made = |names: &[&str], slept: &[bool]| -> u64 {
        let of = |call: &&Call| is_of(call, names, &[kind]) && slept.contains(&call.slept);
        counted.calls.iter().filter(of).map(|call| call.times).sum()
    };
    kind != "file" && made(GIVES, &[true, false]) > 0 && made(TAKES, &[true]) * 4 > made(TAKES, &[false])
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
            Asks::AsOften(names, kinds) => {
                let made = succeeded(counted.calls.iter().filter(|call| is_of(call, names, kinds)));
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
mod tests;
