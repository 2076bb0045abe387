//! Counters of system calls by participant, number and phase, in memory that is there from the start.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::{CallCounts, Calls, PHASES};

/// One audit a process: the filter cannot be taken off again.
pub(super) static TABLE: Table = Table::new();

/// Call numbers below this have a counter of their own.
const NUMBERS: u64 = 512;
/// Pairs of participant and number that have counters of their own; what finds no place is counted as number -1 of nobody (0).
const PLACES: usize = 8192;

/// Counters of one pair of participant and number: one for each phase.
struct Place {
    /// 0: free; else [`key`].
    key: AtomicU64,
    phases: [AtomicU64; PHASES],
}

/// A pair of participant and number as one number, never 0.
fn key(participant: i32, number: i64) -> u64 {
    let slot = u64::try_from(number).unwrap_or(NUMBERS).min(NUMBERS);
    u64::from(participant.unsigned_abs()) << 16 | (slot + 1)
}

/// The pair of a key.
fn pair(key: u64) -> (i32, i64) {
    let slot = (key & 0xffff) - 1;
    let number = if slot == NUMBERS { -1 } else { i64::try_from(slot).unwrap_or(-1) };
    (i32::try_from(key >> 16).unwrap_or(0), number)
}

/// The counters: fixed memory, because a listener that allocated could wait for a lock that the audited thread holds. Only
/// the listener, or the tracer, writes.
pub(super) struct Table {
    places: [Place; PLACES],
    /// What found no place.
    rest: [AtomicU64; PHASES],
    phase: AtomicUsize,
    /// Whether a marker has been seen.
    is_marked: AtomicBool,
}

impl Table {
    const fn new() -> Self {
        Self {
            places: [const { Place { key: AtomicU64::new(0), phases: [const { AtomicU64::new(0) }; PHASES] } };
                PLACES],
            rest: [const { AtomicU64::new(0) }; PHASES],
            phase: AtomicUsize::new(0),
            is_marked: AtomicBool::new(false),
        }
    }

    /// The place of a key, taken when it is first asked for; `None` where all are taken.
    fn place(&self, key: u64) -> Option<&Place> {
        let start = usize::try_from(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).unwrap_or(0);
        let place = (start..start + PLACES).map(|index| &self.places[index % PLACES]).find(|place| {
            let taken = place.key.load(Ordering::Relaxed);
            taken == 0 || taken == key
        })?;
        place.key.store(key, Ordering::Relaxed);
        Some(place)
    }

    pub(super) fn count(&self, participant: i32, number: i64) {
        let Some(phase) = self.phase.load(Ordering::Relaxed).checked_sub(1) else { return };
        let counters = self.place(key(participant, number)).map_or(&self.rest, |place| &place.phases);
        if let Some(counter) = counters.get(phase) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn mark(&self, phase: u64) {
        self.is_marked.store(true, Ordering::Relaxed);
        self.phase.store(usize::try_from(phase).unwrap_or(0).min(PHASES), Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> CallCounts {
        let mut phases: Vec<BTreeMap<i32, Calls>> = vec![BTreeMap::new(); PHASES];
        for place in &self.places {
            let key = place.key.load(Ordering::Relaxed);
            for (phase, counter) in phases.iter_mut().zip(&place.phases) {
                let count = counter.load(Ordering::Relaxed);
                if key != 0 && count > 0 {
                    let (participant, number) = pair(key);
                    phase.entry(participant).or_insert_with(Calls::new).insert(number, count);
                }
            }
        }
        for (phase, counter) in phases.iter_mut().zip(&self.rest) {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                phase.entry(0).or_insert_with(Calls::new).insert(-1, count);
            }
        }
        CallCounts { phases, is_marked: self.is_marked.load(Ordering::Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_who_makes_them() {
        let table = Box::new(Table::new());
        table.count(7, 39);
        assert!(!table.counts().is_marked());
        table.mark(1);
        table.count(7, 39);
        table.count(7, 39);
        table.count(8, 39);
        table.count(8, -5);
        table.count(8, 100_000);
        table.mark(2);
        table.count(7, 0);
        table.mark(0);
        table.count(7, 39);
        let counts = table.counts();
        assert!(counts.is_marked());
        assert_eq!(counts.phase(1), Calls::from([(39, 3), (-1, 2)]));
        assert_eq!(
            counts.by_participant(1),
            BTreeMap::from([(7, Calls::from([(39, 2)])), (8, Calls::from([(39, 1), (-1, 2)]))])
        );
        assert_eq!(counts.by_participant(2), BTreeMap::from([(7, Calls::from([(0, 1)]))]));
        assert!(counts.phase(3).is_empty() && counts.phase(0).is_empty());
    }

    /// More participants than there are places: nothing is lost, and nobody gets the calls of others.
    #[test]
    fn a_full_table_counts_on_as_nobody() {
        let table = Box::new(Table::new());
        table.mark(1);
        let all = i32::try_from(PLACES).expect("a small number") + 10;
        (1..=all).for_each(|participant| table.count(participant, 39));
        table.count(1, 39);
        let counts = table.counts();
        assert_eq!(counts.by_participant(1)[&1], Calls::from([(39, 2)]));
        assert_eq!(counts.phase(1).values().sum::<u64>(), u64::from(all.unsigned_abs()) + 1);
    }
}
