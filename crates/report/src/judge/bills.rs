//! Compares two bills: how often each call was made, exactly.

use std::collections::BTreeMap;

use oscost_results::RunResult;
use oscost_results::bill::{Bill, CountedRun as Counted};
use oscost_stats::sorting::SmallSort;
use serde_json::{Value, json};

use crate::numbers;

/// What was counted in two bills.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BillChanges {
    /// The programs.
    pub before: String,
    /// See `before`.
    pub now: String,
    /// Every kind of call, fault and switch that a side counted, the largest change first.
    pub rows: Vec<BillChange>,
    /// A side was not counted whole.
    pub is_partial: bool,
}

/// How often one of them came on each side.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BillChange {
    /// What was counted.
    pub key: String,
    /// How often before.
    pub before: u64,
    /// How often now.
    pub now: u64,
}

/// Whether a result is a bill.
#[must_use]
pub fn is_bill(result: &RunResult) -> bool {
    result.bill.is_some()
}

impl BillChange {
    /// The verdict.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.now.cmp(&self.before) {
            std::cmp::Ordering::Greater => "more",
            std::cmp::Ordering::Less => "fewer",
            std::cmp::Ordering::Equal => "equal",
        }
    }
}

impl BillChanges {
    /// Compares the first counted run of each.
    #[must_use]
    pub fn between(before: &Bill, now: &Bill) -> Self {
        let (a, b) = (counts(before), counts(now));
        let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
        let of = |side: &BTreeMap<String, u64>, key: &str| side.get(key).copied().unwrap_or(0);
        let mut rows: Vec<BillChange> =
            keys.map(|key| BillChange { key: key.clone(), before: of(&a, key), now: of(&b, key) }).collect();
        rows.small_sort_by(|one, other| {
            let moved = |row: &BillChange| row.now.abs_diff(row.before);
            moved(other).cmp(&moved(one)).then_with(|| one.key.cmp(&other.key))
        });
        let is_whole = |bill: &Bill| bill.counted.first().is_some_and(|counted| counted.complete);
        Self {
            before: before.program.join(" "),
            now: now.program.join(" "),
            rows,
            is_partial: !is_whole(before) || !is_whole(now),
        }
    }

    /// How many are more, fewer and equal.
    #[must_use]
    pub fn tally(&self) -> (usize, usize, usize) {
        let of = |word: &str| self.rows.iter().filter(|row| row.word() == word).count();
        (of("more"), of("fewer"), of("equal"))
    }

    /// Whether any count grew by more than `most`.
    #[must_use]
    pub fn exceeds(&self, most: u64) -> bool {
        self.rows.iter().any(|row| row.now.saturating_sub(row.before) > most)
    }

    /// As data.
    #[must_use]
    pub fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| json!({"key": row.key, "a": row.before, "b": row.now, "verdict": row.word()}))
            .collect();
        json!({
            "format": "oscost-comparison-of-bills", "version": 1,
            "a": self.before, "b": self.now, "partial": self.is_partial, "counts": rows,
        })
    }
}

/// A name, and the count that it stands for.
type Total = (&'static str, fn(&Counted) -> u64);

/// What was counted, by name.
fn counts(bill: &Bill) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    let Some(counted) = bill.counted.first() else { return all };
    for call in &counted.calls {
        // Bills before 0.3.6 have these mappings under the other name.
        let on = if call.on == "reserved" { "anonymous" } else { &call.on };
        let on = if on.is_empty() { String::new() } else { format!(", {on}") };
        // The largest class has no bound.
        let bound = |class: Option<u64>| class.filter(|&bound| bound < u64::MAX);
        let size = bound(call.size_class)
            .map_or(String::new(), |size| format!(" of up to {}", numbers::bytes(size as f64)));
        let count = bound(call.count_argument).map_or(String::new(), |count| format!(" with up to {count}"));
        let slept = if call.slept { ", slept" } else { "" };
        *all.entry(format!("{}{size}{count}{on}{slept}", call.name)).or_insert(0) += call.times;
    }
    let others: [Total; 5] = [
        ("page faults", |it| it.faults.minor + it.faults.major),
        ("switches", |it| it.switches.voluntary + it.switches.involuntary),
        ("signals", |it| it.signals),
        ("threads", |it| it.threads),
        ("children", |it| it.children),
    ];
    all.extend(others.map(|(name, count)| (name.to_owned(), count(counted))));
    all.retain(|_, count| *count > 0);
    all
}

#[cfg(test)]
mod tests {
    use oscost_results::bill::Call;

    use super::*;

    fn bill(calls: &[(&str, u64)], complete: bool) -> Bill {
        let calls = calls
            .iter()
            .map(|(name, times)| Call { name: (*name).to_owned(), times: *times, ..Call::default() })
            .collect();
        Bill {
            counted: vec![Counted { calls, complete, threads: 1, ..Counted::default() }],
            ..Bill::default()
        }
    }

    #[test]
    fn counts_are_compared_exactly_and_the_largest_change_comes_first() {
        let changes = BillChanges::between(
            &bill(&[("read", 7), ("semop", 3)], true),
            &bill(&[("read", 8), ("futex", 9)], true),
        );
        let rows: Vec<(&str, u64, u64, &str)> =
            changes.rows.iter().map(|row| (&*row.key, row.before, row.now, row.word())).collect();
        assert_eq!(
            rows,
            [
                ("futex", 0, 9, "more"),
                ("semop", 3, 0, "fewer"),
                ("read", 7, 8, "more"),
                ("threads", 1, 1, "equal")
            ]
        );
        assert_eq!((changes.tally(), changes.is_partial), ((2, 1, 1), false));
        assert!(changes.exceeds(8) && !changes.exceeds(9));
        assert_eq!(changes.json()["counts"][0]["b"], 9);
    }

    #[test]
    fn sizes_are_in_the_units_of_the_bill_itself() {
        let sized = |class| {
            let mut one = bill(&[("read", 1)], true);
            one.counted[0].calls[0].size_class = Some(class);
            counts(&one).into_keys().next().expect("a row")
        };
        assert_eq!(sized(65536), "read of up to 64 KiB");
        assert_eq!(sized(16), "read of up to 16 B");
        assert_eq!(sized(u64::MAX), "read");
    }

    #[test]
    fn a_part_is_called_one() {
        assert!(BillChanges::between(&bill(&[], true), &bill(&[], false)).is_partial);
        let mut first = bill(&[], true);
        first.counted.push(Counted::default());
        assert!(!BillChanges::between(&first, &first).is_partial, "the first run of each is compared");
    }

    /// Each in words of its own: what decides the price of a call, and what is no call.
    #[test]
    fn everything_that_was_counted_has_a_name() {
        let call = |name: &str, on: &str, count_argument, slept, times| Call {
            name: name.to_owned(),
            on: on.to_owned(),
            count_argument,
            slept,
            times,
            ..Call::default()
        };
        let calls = vec![
            call("mmap", "reserved", None, false, 2),
            call("mmap", "anonymous", None, false, 3),
            call("poll", "", Some(4), true, 5),
            call("poll", "", Some(u64::MAX), false, 6),
            call("never", "pipe", None, false, 0),
        ];
        let mut counted = Counted { calls, signals: 1, threads: 2, children: 3, ..Counted::default() };
        (counted.faults.minor, counted.faults.major) = (40, 7);
        (counted.switches.voluntary, counted.switches.involuntary) = (30, 8);
        let found = counts(&Bill { counted: vec![counted, Counted::default()], ..Bill::default() });
        let expected = [
            ("children", 3),
            ("mmap, anonymous", 5),
            ("page faults", 47),
            ("poll", 6),
            ("poll with up to 4, slept", 5),
            ("signals", 1),
            ("switches", 38),
            ("threads", 2),
        ];
        assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)).into());
        assert!(counts(&Bill::default()).is_empty());
    }

    #[test]
    fn changes_are_told_of_two_programs() {
        let of = |name: &str, reads: u64| Bill {
            program: vec!["./x".to_owned(), name.to_owned()],
            ..bill(&[("read", reads), ("a", 1)], true)
        };
        let (before, now) = (of("before", 5), of("now", 2));
        let fewer = BillChanges::between(&before, &now);
        assert_eq!((&*fewer.before, &*fewer.now, fewer.is_partial), ("./x before", "./x now", false));
        assert_eq!((fewer.tally(), fewer.exceeds(0)), ((0, 1, 2), false));
        let keys: Vec<&str> = fewer.rows.iter().map(|row| &*row.key).collect();
        assert_eq!(keys, ["read", "a", "threads"], "those that moved alike by their names");
        let row = serde_json::json!({"key": "read", "a": 5, "b": 2, "verdict": "fewer"});
        let data = fewer.json();
        assert_eq!(
            (&data["counts"][0], &data["partial"], &data["version"]),
            (&row, &false.into(), &1.into())
        );
        assert!(BillChanges::between(&Bill::default(), &now).is_partial, "nothing was counted");
        let mut result = RunResult::begun(
            std::time::UNIX_EPOCH,
            Default::default(),
            Default::default(),
            Default::default(),
        );
        assert!(!is_bill(&result));
        result.bill = Some(Box::new(now));
        assert!(is_bill(&result));
    }
}
