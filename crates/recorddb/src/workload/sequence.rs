//! The operations of one child, in order, and the expected answers.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{OperationKind, WorkPlan, Workload};

/// One operation on the key that [`Sequence::key`] holds. `exists` is what the store must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Fetch it and compare the value with [`Sequence::value`].
    Fetch {
        /// Whether it is there.
        exists: bool,
    },
    /// Insert [`Sequence::value`]; it is not there.
    Insert,
    /// Replace it by [`Sequence::value`].
    Replace {
        /// Whether it is there.
        exists: bool,
    },
    /// Delete it.
    Delete {
        /// Whether it is there.
        exists: bool,
    },
}

impl Action {
    /// What is wrong with the answer `kind`, and with `value` if one was fetched.
    #[inline]
    pub(super) fn wrong(
        self,
        kind: OperationKind,
        value: &[u8],
        sequence: &Sequence,
    ) -> Option<&'static str> {
        match (self, kind) {
            (Self::Fetch { exists: true }, OperationKind::FetchFound) => {
                (value != sequence.value()).then_some("another value than was written")
            }
            (Self::Fetch { exists: false }, OperationKind::FetchMissing)
            | (Self::Insert, OperationKind::InsertAppended | OperationKind::InsertReused)
            | (Self::Replace { exists: true }, OperationKind::ReplaceSame | OperationKind::ReplaceOther)
            | (Self::Replace { exists: false }, OperationKind::ReplaceMissing)
            | (Self::Delete { exists: true }, OperationKind::DeleteFound)
            | (Self::Delete { exists: false }, OperationKind::DeleteMissing) => None,
            (
                Self::Fetch { exists: true } | Self::Delete { exists: true } | Self::Replace { exists: true },
                _,
            ) => Some("a record that was written is not there"),
            _ => Some("a record is there that was never written, or was deleted"),
        }
    }
}

/// What the sequence knows of a key: length and version of its value. Length 0 is deleted.
#[derive(Debug, Clone, Copy)]
struct Known {
    length: u16,
    version: u16,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Write,
    ReadBack { key: u32 },
    Loop { made: u64, then: Then },
    Sweep { key: u32, looked_up: u32 },
}

/// What comes next in a pass of the loop.
#[derive(Debug, Clone, Copy)]
enum Then {
    Fetch,
    Delete,
    Insert,
    FetchInserted,
    Replace,
}

/// The operations of one child. No clock, no store: the same plan gives the same sequence everywhere.
#[derive(Debug, Clone)]
pub struct Sequence {
    plan: WorkPlan,
    random: Xoshiro256PlusPlus,
    known: Vec<Known>,
    live: u64,
    longer: bool,
    step: Step,
    number: u32,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// Longest value that replacements lead to: what every store holds, layout `book` among them.
const LONGEST: u16 = 1000;

impl Sequence {
    /// The sequence of a plan.
    #[must_use]
    pub fn new(plan: &WorkPlan) -> Self {
        let seed = plan.seed ^ u64::from(plan.child).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self {
            plan: *plan,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            known: Vec::with_capacity(plan.records as usize * 2),
            live: 0,
            longer: false,
            step: Step::Write,
            number: 0,
            key: Vec::with_capacity(32),
            value: Vec::with_capacity(usize::from(LONGEST)),
        }
    }

    /// The key of the current operation: `c<child>-<number>`.
    #[inline]
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The value to be stored, or to be found.
    #[inline]
    #[must_use]
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// Prepares the next operation; `None` after the last.
    #[inline]
    pub fn next_action(&mut self) -> Option<Action> {
        loop {
            match self.step {
                Step::Write => {
                    if self.known.len() < self.plan.records as usize {
                        return Some(self.insert());
                    }
                    self.step = Step::ReadBack { key: 0 };
                }
                Step::ReadBack { key } => {
                    if key < self.plan.records {
                        self.step = Step::ReadBack { key: key + 1 };
                        return Some(self.fetch(key));
                    }
                    self.step = Step::Loop { made: 0, then: Then::Fetch };
                }
                Step::Loop { made, then } => {
                    if let Some(action) = self.pass(made, then) {
                        return Some(action);
                    }
                }
                Step::Sweep { key, looked_up } => return self.sweep(key, looked_up),
            }
        }
    }

    /// One part of one pass of the loop. `None` where this pass does not have it.
    fn pass(&mut self, made: u64, then: Then) -> Option<Action> {
        let go_on = |then| Step::Loop { made, then };
        match then {
            Then::Fetch => {
                let bound = match self.plan.workload {
                    Workload::Figure => 5 * self.live,
                    Workload::Text => 5 * u64::from(self.plan.records),
                };
                if made >= bound || self.known.is_empty() {
                    self.step = Step::Sweep { key: 0, looked_up: 0 };
                    return None;
                }
                self.step = Step::Loop { made: made + 1, then: Then::Delete };
                let key = self.any();
                Some(self.fetch(key))
            }
            Then::Delete => {
                self.step = go_on(Then::Insert);
                self.happens(made, 37).then(|| {
                    let key = self.any();
                    self.delete(key)
                })
            }
            Then::Insert => {
                let happens = self.happens(made, 11);
                self.step = go_on(if happens { Then::FetchInserted } else { Then::Replace });
                happens.then(|| self.insert())
            }
            Then::FetchInserted => {
                self.step = go_on(Then::Replace);
                Some(self.fetch(self.number))
            }
            Then::Replace => {
                self.step = go_on(Then::Fetch);
                self.happens(made, 17).then(|| self.replace())
            }
        }
    }

    /// Deletes what is there, key after key, with ten look-ups each.
    fn sweep(&mut self, key: u32, looked_up: u32) -> Option<Action> {
        if key as usize == self.known.len() {
            return None;
        }
        if looked_up == 0 {
            self.step = Step::Sweep { key, looked_up: 1 };
            return Some(self.delete(key));
        }
        for looked_up in looked_up..=10 {
            let other = self.any();
            // The published counts fit only if keys that were swept are not looked up again.
            if self.plan.workload == Workload::Text || other > key {
                self.step = Step::Sweep { key, looked_up: looked_up + 1 };
                return Some(self.fetch(other));
            }
        }
        self.sweep_next(key)
    }

    fn sweep_next(&mut self, key: u32) -> Option<Action> {
        self.step = Step::Sweep { key: key + 1, looked_up: 0 };
        self.sweep(key + 1, 0)
    }

    /// Whether an action with this period happens in pass `made` (counted from 1).
    fn happens(&mut self, made: u64, period: u32) -> bool {
        match self.plan.workload {
            Workload::Figure => self.below(period) == 0,
            Workload::Text => made.is_multiple_of(u64::from(period)),
        }
    }

    /// A key that was inserted at some time.
    fn any(&mut self) -> u32 {
        self.below(u32::try_from(self.known.len()).unwrap_or(u32::MAX))
    }

    #[inline]
    fn below(&mut self, bound: u32) -> u32 {
        // the upper half of a product of two 32-bit numbers
        ((u64::from(self.random.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    fn fetch(&mut self, number: u32) -> Action {
        let known = self.select(number);
        self.fill(known);
        Action::Fetch { exists: known.length > 0 }
    }

    fn insert(&mut self) -> Action {
        let number = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        // 20..=39
        let length = 20 + self.below(20) as u16;
        self.known.push(Known { length, version: 0 });
        self.live += 1;
        let known = self.select(number);
        self.fill(known);
        Action::Insert
    }

    fn delete(&mut self, number: u32) -> Action {
        let exists = self.select(number).length > 0;
        if exists {
            self.known[number as usize].length = 0;
            self.live -= 1;
        }
        Action::Delete { exists }
    }

    /// Replaces a record, alternately by a value of the same length and by a longer one.
    fn replace(&mut self) -> Action {
        let number = self.any();
        let mut known = self.select(number);
        let exists = known.length > 0;
        if exists {
            // 1..=10
            let more = if self.longer { 1 + self.below(10) as u16 } else { 0 };
            self.longer = !self.longer;
            known =
                Known { length: (known.length + more).min(LONGEST), version: known.version.wrapping_add(1) };
            self.known[number as usize] = known;
            self.fill(known);
        } else {
            self.fill(Known { length: 20, version: 0 });
        }
        Action::Replace { exists }
    }

    /// Makes `number` the current key.
    #[inline]
    fn select(&mut self, number: u32) -> Known {
        self.number = number;
        self.key.clear();
        self.key.push(b'c');
        put_decimal(&mut self.key, self.plan.child);
        self.key.push(b'-');
        put_decimal(&mut self.key, number);
        self.known[number as usize]
    }

    /// The value of the current key: letters that follow from child, number and version, so that a value of another key,
    /// or an older one of this, is seen.
    #[inline]
    fn fill(&mut self, known: Known) {
        let seed =
            (u64::from(self.plan.child) << 48) ^ (u64::from(self.number) << 16) ^ u64::from(known.version);
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a09_e667_f3bc_c908;
        let length = usize::from(known.length);
        self.value.clear();
        for _ in 0..length.div_ceil(8) {
            state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            // Eight letters: 'A' to 'P', by four bits each.
            let word = (state & 0x0f0f_0f0f_0f0f_0f0f) + 0x4141_4141_4141_4141;
            self.value.extend_from_slice(&word.to_le_bytes());
        }
        self.value.truncate(length);
    }
}

fn put_decimal(text: &mut Vec<u8>, mut value: u32) {
    let mut digits = [0u8; 10];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lengthened_up_to_1000_letters() {
        let plan = WorkPlan { workload: Workload::Text, records: 1, seed: 1, child: 0 };
        let mut sequence = Sequence::new(&plan);
        assert_eq!((sequence.number(), sequence.key(), sequence.value()), (0, &b""[..], &b""[..]));
        assert_eq!(sequence.next_action(), Some(Action::Insert));
        sequence.known[0].length = 975;
        let mut lengths = Vec::new();
        for _ in 0..60 {
            assert_eq!(sequence.replace(), Action::Replace { exists: true });
            assert_eq!(sequence.value().len(), usize::from(sequence.known[0].length));
            lengths.push(sequence.value().len());
        }
        assert!(lengths.is_sorted() && (lengths[0], lengths[59]) == (975, 1000), "{lengths:?}");
    }
}
