//! What the price of some calls is put together from: figures, and how often each of them is paid for.

use oscost_results::Estimate;
use oscost_results::bill::{Call, CountedRun as Counted};

use crate::prices::{Prices, plus};
use crate::tariff::{self, ENTRY, Rate, SLEEP, Term};

/// What a call costs, all of them together; `None` where it has no rate, or a figure is missing.
#[must_use]
pub fn of(call: &Call, prices: &Prices) -> Option<Estimate> {
    let rate = tariff::rate_of(call)?;
    parts(call, rate).iter().try_fold(Estimate::default(), |sum, part| Some(plus(sum, part.price(prices)?)))
}

/// The terms of a call's price, of this rate.
pub(crate) fn terms_of(call: &Call, rate: &Rate) -> Vec<Term> {
    parts(call, rate).iter().flat_map(|part| [part.terms, part.inside[0], part.inside[1]].concat()).collect()
}

/// In what a price may differ from the figures', with what its rate says.
pub(crate) fn circumstance(call: &Call, rate: &Rate) -> String {
    let failed = match call.failed {
        0 => String::new(),
        failed if failed == call.times => "all failed".to_owned(),
        failed => format!("{failed} failed"),
    };
    let class = of_class(call, rate);
    [rate.circumstance, &class, &failed]
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

/// How many of each call are in the price of a fork: of waits for a child as many as children were begun, those that slept first.
pub(crate) fn in_forks(counted: &Counted) -> Vec<u64> {
    let mut left = counted.children;
    let mut all = vec![0; counted.calls.len()];
    for slept in [true, false] {
        let calls = counted.calls.iter().zip(&mut all);
        for (call, within) in calls.filter(|(call, _)| call.slept == slept && is_wait(call)) {
            *within = call.times.saturating_sub(call.failed).min(left);
            left -= *within;
        }
    }
    all
}

fn is_wait(call: &Call) -> bool {
    tariff::WAITS.contains(&&*call.name)
}

/// Terms, and how often they are paid for: so often, which may lie between two ends.
struct Part {
    terms: &'static [Term],
    /// What they hold that has rows of its own, below nothing.
    inside: [&'static [Term]; 2],
    count: f64,
    between: [f64; 2],
    /// None costs less than an entry into the kernel.
    is_call: bool,
}

impl Part {
    fn new(terms: &'static [Term], count: u64, is_call: bool) -> Self {
        let count = count as f64;
        Self { terms, inside: [&[]; 2], count, between: [count; 2], is_call }
    }

    fn one(&self, prices: &Prices) -> Option<Estimate> {
        if !self.is_call {
            return prices.sum(self.terms);
        }
        let whole = prices.of_call(self.terms)?;
        let [all, some] = self.inside;
        let without = |inside: &[Term]| prices.of_call(&[self.terms, inside].concat());
        // Where what is inside has no price, nobody knows how much of it that is.
        let bare = without(all).unwrap_or(whole);
        let least = without(&[all, some].concat()).or_else(|| prices.sum(ENTRY))?;
        Some(Estimate { low: least.low, high: bare.high.max(whole.high), ..bare })
    }

    fn price(&self, prices: &Prices) -> Option<Estimate> {
        let one = self.one(prices)?;
        let [least, most] = self.between;
        Some(Estimate {
            value: one.value * self.count,
            low: (one.low * least).min(one.low * most),
            high: (one.high * least).max(one.high * most),
            extremes: false,
        })
    }
}

fn parts(call: &Call, rate: &Rate) -> Vec<Part> {
    // It is within another call's price.
    if rate.each.is_empty() {
        return Vec::new();
    }
    let made = call.times.saturating_sub(call.failed);
    // The smallest class is of no byte and of one.
    let empty = if call.size_class == Some(1) && !rate.nothing.is_empty() {
        made.saturating_sub(call.bytes)
    } else {
        0
    };
    let [least, middle, most] = beyond_the_first(call).map(|more| made as f64 * more as f64);
    let all = [
        Part { inside: rate.inside, ..Part::new(rate.each, made - empty, true) },
        Part::new(rate.nothing, empty, true),
        Part::new(rate.byte, call.bytes, false),
        Part { count: middle, between: [least, most], ..Part::new(rate.more, 0, false) },
        Part::new(tariff::failed(&call.name), call.failed, true),
        Part::new(SLEEP, if call.slept { call.times } else { 0 }, false),
    ];
    all.into_iter().filter(|part| part.between[1] > 0.0 && !part.terms.is_empty()).collect()
}

/// How many descriptors or parts a call has beyond the first: the least of its class, the middle, and the most. Their number was
/// not counted. Whoever is told the highest descriptor may watch that one alone, and few watch all below it.
fn beyond_the_first(call: &Call) -> [u64; 3] {
    // The largest class has no bound.
    let bound = call.count_argument.filter(|&bound| bound < u64::MAX).unwrap_or(1);
    let most = bound.saturating_sub(1);
    if is_by_highest(call) {
        return [0, 0, most];
    }
    [bound / 4, (bound / 4 + most) / 2, most]
}

fn is_by_highest(call: &Call) -> bool {
    tariff::BY_HIGHEST.contains(&&*call.name)
}

/// As how many descriptors a call is priced whose rate asks for them.
fn of_class(call: &Call, rate: &Rate) -> String {
    let [least, middle, most] = beyond_the_first(call).map(|more| more + 1);
    if rate.more.is_empty() || most == 1 || call.failed == call.times {
        return String::new();
    }
    if is_by_highest(call) {
        return format!("as one of up to {most} descriptors");
    }
    format!("as {middle} descriptors, the middle of {least} to {most}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::items;

    fn prices() -> Prices {
        let mut prices = Prices::default();
        for (id, value) in [
            ("syscall/getpid_libc", 100.0),
            ("event/poll/descriptors_1", 200.0),
            ("event/poll/descriptors_100", 200.0 + 99.0 * 50.0),
        ] {
            prices.add(id, Estimate { value, low: value, high: value, extremes: false });
        }
        prices
    }

    fn poll(count_argument: u64) -> Call {
        Call { name: "poll".to_owned(), times: 10, count_argument: Some(count_argument), ..Call::default() }
    }

    /// A poll of 65 descriptors was priced as one of 256.
    #[test]
    fn a_class_is_priced_by_its_middle_and_its_interval_holds_all_of_it() {
        for (bound, [least, middle, most]) in
            [(1, [1, 1, 1]), (4, [2, 3, 4]), (64, [17, 40, 64]), (256, [65, 160, 256])]
        {
            let of_count = |count: u64| 10.0 * (200.0 + 50.0 * (count - 1) as f64);
            let found = of(&poll(bound), &prices()).expect("a price");
            for (is, expected) in [(found.low, least), (found.value, middle), (found.high, most)] {
                assert!((is - of_count(expected)).abs() < 1e-6, "{bound}: {found:?}");
            }
        }
        assert_eq!(of(&poll(u64::MAX), &prices()).expect("a price").value, 2000.0, "it has no bound");
    }

    /// The argument of a select of one descriptor was taken for the number of them.
    #[test]
    fn a_select_may_watch_its_highest_descriptor_alone() {
        let select = Call { name: "pselect6".to_owned(), ..poll(256) };
        let found = of(&select, &prices()).expect("a price");
        let of_count = |count: f64| 10.0 * (200.0 + 50.0 * (count - 1.0));
        for (is, expected) in [(found.low, 1.0), (found.value, 1.0), (found.high, 256.0)] {
            assert!((is - of_count(expected)).abs() < 1e-6, "{found:?}");
        }
        let said = circumstance(&select, tariff::rate_of(&select).expect("a rate"));
        assert_eq!(said, "of eventfds; as one of up to 256 descriptors");
    }

    /// A program that asked a thousand times whether its child had ended paid nothing for it.
    #[test]
    fn only_waits_that_a_child_ended_are_in_the_price_of_its_fork() {
        let wait = |slept, times, failed| {
            let name = "wait4".to_owned();
            Call { name, slept, times, failed, ..Call::default() }
        };
        let together = |calls: &[Call], children| -> f64 {
            let counted = Counted { calls: calls.to_vec(), children, ..Counted::default() };
            items(&counted, None, &prices()).iter().map(|item| item.together.value).sum()
        };
        assert_eq!(together(&[wait(false, 1000, 0)], 1), 99_900.0);
        assert_eq!(together(&[wait(false, 10, 0), wait(true, 3, 0)], 3), 1000.0, "those that slept first");
        assert_eq!(together(&[wait(false, 10, 4)], 10), 400.0, "what failed found nobody");
        assert_eq!(together(&[wait(true, 3, 0)], 3), 0.0);
    }

    /// The calls of libc and the join's sleep were paid for in the price of the thread and in their own rows.
    #[test]
    fn a_thread_is_paid_for_once() {
        let mut prices = prices();
        for (id, value) in [
            ("thread/create_join/stack_cached", 10_000.0),
            ("memory/mmap_munmap", 800.0),
            ("lock/futex_mismatch", 100.0),
            ("context_switch/pipe/same_cpu", 2500.0),
            ("context_switch/pipe_alone/same_cpu", 500.0),
        ] {
            prices.add(id, Estimate { value, low: value, high: value, extremes: false });
        }
        let call = |name: &str, on: &str, times| {
            let [name, on] = [name, on].map(str::to_owned);
            Call { name, on, times, ..Call::default() }
        };
        let clone = call("clone3", "thread", 10);
        let found = super::of(&clone, &prices).expect("a price");
        assert_eq!((found.low, found.value, found.high), (69_000.0, 69_000.0, 100_000.0));
        let mut few = Prices::default();
        few.add(
            "thread/create_join/stack_cached",
            Estimate { value: 10_000.0, low: 10_000.0, high: 10_000.0, extremes: false },
        );
        few.add("syscall/getpid_libc", Estimate { value: 100.0, low: 100.0, high: 100.0, extremes: false });
        let found = super::of(&clone, &few).expect("a price without that of a switch");
        assert_eq!((found.low, found.value, found.high), (1000.0, 100_000.0, 100_000.0));
        // The loop of the figure costs what the figure does.
        let calls = vec![
            clone,
            call("rt_sigprocmask", "", 40),
            call("rseq", "", 10),
            call("set_robust_list", "", 10),
            call("madvise", "do not need", 10),
            call("exit", "", 10),
            Call { slept: true, ..call("futex", "wait", 10) },
        ];
        let counted = Counted { calls, ..Counted::default() };
        let sum: f64 = items(&counted, None, &prices).iter().map(|item| item.together.value).sum();
        assert!((sum - 100_000.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn a_price_says_as_how_many_descriptors_it_is_one() {
        let said = |call: &Call| circumstance(call, tariff::rate_of(call).expect("a rate"));
        assert_eq!(said(&poll(64)), "of eventfds; as 40 descriptors, the middle of 17 to 64");
        assert_eq!(said(&Call { failed: 10, ..poll(64) }), "of eventfds; all failed");
        let semop = Call { name: "semop".to_owned(), ..poll(4) };
        assert!(!said(&semop).contains("descriptors"), "its rate does not ask for them");
    }

    /// What failed, what carried nothing and what slept were priced by figures that nobody named.
    #[test]
    fn the_terms_are_those_that_the_price_was_added_up_from() {
        let terms = |call: &Call| terms_of(call, tariff::rate_of(call).expect("a rate"));
        let read = || Call { name: "read".to_owned(), on: "pipe".to_owned(), times: 10, ..Call::default() };
        let rate = tariff::rate_of(&read()).expect("a rate");
        assert_eq!(terms(&read()), rate.each);
        assert_eq!(terms(&Call { slept: true, ..read() }), [rate.each, SLEEP].concat());
        let mixed = Call { size_class: Some(1), bytes: 4, failed: 1, ..read() };
        assert_eq!(terms(&mixed), [rate.each, rate.nothing, rate.byte, tariff::failed("read")].concat());
        assert_eq!(terms(&Call { failed: 10, ..read() }), tariff::failed("read"));
        let ends = Call { name: "exit_group".to_owned(), ..read() };
        assert!(terms(&ends).is_empty(), "it is within another's price");
    }
}
