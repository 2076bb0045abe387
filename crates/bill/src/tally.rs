//! The counters of a count, and how they become calls with names.

use std::collections::BTreeMap;

use oscost_sys::system_call;

use crate::Call;
use crate::key::{CallKey, bound};
use crate::rules::Table;

/// The counters of one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Calls.
    pub times: u64,
    /// Those that failed.
    pub failed: u64,
    /// Bytes of the others.
    pub bytes: u64,
    /// Time inside without sleep, ns.
    pub inside_ns: u64,
}

impl Sums {
    /// Adds others.
    pub fn add(&mut self, more: Self) {
        self.times += more.times;
        self.failed += more.failed;
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.inside_ns = self.inside_ns.saturating_add(more.inside_ns);
    }
}

/// All counters.
pub type Tally = BTreeMap<CallKey, Sums>;

/// The calls of a tally by name, those that were made most often first. Operations of one name are one call.
#[must_use]
pub fn calls(tally: &Tally, table: &Table, times_inside: bool) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut keys: Vec<_> = tally.iter().collect();
    keys.sort_unstable_by_key(|(key, _)| **key);
    for (key, sums) in keys {
        let rule = table.of(key.number).rule;
        let call = Call {
            name: name(key.number, rule.name),
            on: rule.words(key.on).to_owned(),
            size_class: bound(key.size),
            count_argument: bound(key.count),
            slept: key.slept != 0,
            times: sums.times,
            failed: sums.failed,
            bytes: sums.bytes,
            inside_ns: times_inside.then_some(sums.inside_ns),
            ..Call::default()
        };
        let same = |known: &&mut Call| {
            (&known.name, &known.on, known.size_class, known.count_argument, known.slept)
                == (&call.name, &call.on, call.size_class, call.count_argument, call.slept)
        };
        match calls.iter_mut().find(same) {
            Some(known) => {
                known.times += call.times;
                known.failed += call.failed;
                known.bytes = known.bytes.saturating_add(call.bytes);
                known.inside_ns = known.inside_ns.map(|ns| ns.saturating_add(call.inside_ns.unwrap_or(0)));
            }
            None => calls.push(call),
        }
    }
    calls.sort_by_key(|call| std::cmp::Reverse(call.times));
    calls
}

/// The number of all calls of the 32-bit ABI, whose own numbers are those of other calls here.
pub const OF_32_BITS: u16 = Table::NUMBERS + 1;
/// What they are called.
pub(crate) const A_32_BIT_CALL: &str = "call of a 32-bit program";

fn name(number: u16, name: &'static str) -> String {
    match i64::from(number) {
        _ if !name.is_empty() => name.to_owned(),
        _ if number == OF_32_BITS => A_32_BIT_CALL.to_owned(),
        // What is larger than all numbers is counted as the largest.
        number if number >= i64::from(Table::NUMBERS) || number == system_call::INVALID => {
            "invalid".to_owned()
        }
        number => format!("call {number}"),
    }
}
