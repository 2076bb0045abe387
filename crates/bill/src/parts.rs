//! What the price of some calls is put together from: figures, and how often each of them is paid for.

use oscost_results::Estimate;
use oscost_results::bill::Call;

use crate::prices::{Prices, plus};
use crate::tariff::{self, Rate, SLEEP, Term};

/// What a call costs, all of them together; `None` where it has no rate, or a figure is missing.
#[must_use]
pub fn of(call: &Call, prices: &Prices) -> Option<Estimate> {
    let rate = tariff::rate_of(call)?;
    parts(call, rate).iter().try_fold(Estimate::default(), |sum, part| Some(plus(sum, part.price(prices)?)))
}

/// The terms of a call's price, of this rate.
pub(crate) fn terms_of(call: &Call, rate: &Rate) -> Vec<Term> {
    parts(call, rate).iter().flat_map(|part| part.terms).copied().collect()
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

/// Terms, and how often they are paid for: so often, which may lie between two ends.
struct Part {
    terms: &'static [Term],
    count: f64,
    between: [f64; 2],
    /// None costs less than an entry into the kernel.
    is_call: bool,
}

impl Part {
    fn new(terms: &'static [Term], count: u64, is_call: bool) -> Self {
        let count = count as f64;
        Self { terms, count, between: [count; 2], is_call }
    }

    fn price(&self, prices: &Prices) -> Option<Estimate> {
        let one = if self.is_call { prices.of_call(self.terms)? } else { prices.sum(self.terms)? };
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
        Part::new(rate.each, made - empty, true),
        Part::new(rate.nothing, empty, true),
        Part::new(rate.byte, call.bytes, false),
        Part { terms: rate.more, count: middle, between: [least, most], is_call: false },
        Part::new(tariff::failed(&call.name), call.failed, true),
        Part::new(SLEEP, if call.slept { call.times } else { 0 }, false),
    ];
    all.into_iter().filter(|part| part.count > 0.0 && !part.terms.is_empty()).collect()
}

/// How many descriptors or parts a call has beyond the first: the least of its class, the middle, and the most. Their number was
/// not counted.
fn beyond_the_first(call: &Call) -> [u64; 3] {
    // The largest class has no bound.
    let bound = call.count_argument.filter(|&bound| bound < u64::MAX).unwrap_or(1);
    let [least, most] = [bound / 4, bound.saturating_sub(1)];
    [least, (least + most) / 2, most]
}

/// As how many descriptors a call is priced whose rate asks for them.
fn of_class(call: &Call, rate: &Rate) -> String {
    let [least, middle, most] = beyond_the_first(call).map(|more| more + 1);
    if rate.more.is_empty() || most == 1 || call.failed == call.times {
        return String::new();
    }
    format!("as {middle} descriptors, the middle of {least} to {most}")
}

#[cfg(test)]
mod tests {
    use super::*;

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
