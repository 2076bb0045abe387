//! The book's test program on a store in memory that gives right or wrong answers.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// A map in memory, whose answers may be changed.
#[derive(Default)]
pub(crate) struct Memory {
    map: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What is said of a fetch in place of what is true.
    fetched: Option<bool>,
    stored: Option<Stored>,
    deleted: Option<bool>,
    /// Values are reported with their last letter changed.
    changed: bool,
}

impl Target for Memory {
    type Error = &'static str;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, &'static str> {
        let found = self.map.get(key);
        value.clear();
        value.extend(found.into_iter().flatten());
        if let Some(last) = value.last_mut().filter(|_| self.changed) {
            *last ^= 1;
        }
        Ok(self.fetched.unwrap_or(found.is_some()))
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, &'static str> {
        let before = self.map.get(key).map(Vec::len);
        let stored = match (before, how) {
            (Some(_), StoreMode::Insert) => Stored::Exists,
            (None, StoreMode::Replace) => Stored::NotFound,
            (None, _) => Stored::Inserted { reused: false },
            (Some(length), _) => Stored::Replaced { in_place: length == value.len() },
        };
        if !matches!(stored, Stored::Exists | Stored::NotFound) {
            self.map.insert(key.to_vec(), value.to_vec());
        }
        Ok(self.stored.unwrap_or(stored))
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, &'static str> {
        let found = self.map.remove(key).is_some();
        Ok(self.deleted.unwrap_or(found))
    }
}

fn plan(workload: Workload, records: u32) -> WorkPlan {
    WorkPlan { workload, records, seed: 7, child: 12 }
}

fn ran(workload: Workload, records: u32) -> Counts {
    let mut memory = Memory::default();
    let counts = run(&plan(workload, records), &mut memory, &mut Unobserved).expect("right");
    assert!(memory.map.is_empty(), "all is deleted at the end");
    counts
}

/// Of 500 passes every 37th deletes, every 11th inserts and fetches what it inserted, every 17th replaces.
#[test]
fn the_words_of_the_book_taken_literally_have_counts_of_their_own() {
    let counts = ran(Workload::Text, 100);
    let [inserted, replaced, replace_missing, found, missing, deleted, not_deleted] = counts.answers();
    assert_eq!(inserted, 100 + 45);
    assert_eq!(replaced + replace_missing, 29);
    assert_eq!(found + missing, 100 + 500 + 45 + 10 * 145);
    assert_eq!(deleted + not_deleted, 13 + 145);
    assert_eq!(deleted, inserted, "what was inserted is deleted once");
    assert_eq!(counts.total(), 145 + 29 + 2095 + 158);
    assert!(
        counts.of(OperationKind::ReplaceSame).abs_diff(counts.of(OperationKind::ReplaceOther)) <= 1,
        "in turn"
    );
}

/// The same plan makes the same operations everywhere and for ever: figures of two results rest on it.
#[test]
fn a_plan_is_one_sequence() {
    assert_eq!(ran(Workload::Figure, 100).0, FIGURE);
    assert_eq!(ran(Workload::Text, 100).0, TEXT);
    let other = WorkPlan { child: 13, ..plan(Workload::Figure, 100) };
    let counts = run(&other, &mut Memory::default(), &mut Unobserved).expect("right");
    assert_ne!(counts.0, FIGURE, "each child has its own");
    let letters = [Workload::Figure, Workload::Text].map(|workload| {
        let (mut sequence, mut all) = (Sequence::new(&plan(workload, 100)), 0);
        while sequence.next_action().is_some() {
            let letters = [sequence.key(), sequence.value()].concat();
            all = letters.iter().fold(all, |all, letter| crate::fast::format::fold(all, u64::from(*letter)));
        }
        all
    });
    assert_eq!(letters, [11_731_597_689_222_772_877, 14_785_523_697_245_530_203], "every key and value");
}

const FIGURE: [u64; 9] = [153, 0, 22, 23, 1, 1489, 90, 153, 16];
const TEXT: [u64; 9] = [145, 0, 14, 15, 0, 1298, 797, 145, 13];

#[test]
fn nothing_is_done_without_records() {
    assert_eq!(ran(Workload::Figure, 0).total(), 0);
    assert_eq!(ran(Workload::Text, 0).total(), 0);
}

#[test]
fn keys_and_values_follow_from_child_number_and_version() {
    let mut sequence = Sequence::new(&plan(Workload::Text, 12));
    for number in 0..12 {
        assert_eq!(sequence.next_action(), Some(Action::Insert));
        assert_eq!((sequence.key(), sequence.number()), (format!("c12-{number}").as_bytes(), number));
        assert!(sequence.value().iter().all(|letter| (b'A'..=b'P').contains(letter)));
    }
    for number in 0..12 {
        assert_eq!(sequence.next_action(), Some(Action::Fetch { exists: true }));
        assert_eq!(sequence.number(), number, "read back in the order of writing");
    }
}

#[test]
fn values_have_every_length_from_20_to_39() {
    let mut sequence = Sequence::new(&plan(Workload::Text, 400));
    let lengths: BTreeSet<usize> =
        (0..400).map(|_| sequence.next_action().map_or(0, |_| sequence.value().len())).collect();
    assert_eq!(lengths, (20..=39).collect());
}

/// The way of one key through its replacements: by as many letters, and by one to ten more, in turn; never over 1000.
#[test]
fn replacements_keep_the_length_and_lengthen_in_turn() {
    let mut sequence = Sequence::new(&plan(Workload::Text, 60));
    let (mut known, mut more) = (BTreeMap::new(), Vec::new());
    while let Some(action) = sequence.next_action() {
        let (key, value) = (sequence.key().to_vec(), sequence.value().to_vec());
        match action {
            Action::Insert => drop(known.insert(key, value)),
            Action::Replace { exists: true } => {
                let before: Vec<u8> = known.insert(key, value.clone()).expect("it is there");
                assert_ne!(before, value, "another version is another value");
                more.push(value.len() - before.len());
            }
            Action::Delete { exists } => assert_eq!(known.remove(&key).is_some(), exists),
            Action::Fetch { exists } => {
                assert_eq!(known.get(&key), exists.then_some(&value));
            }
            Action::Replace { exists: false } => {
                assert!(!known.contains_key(&key) && value.len() == 20);
            }
        }
    }
    assert!(known.is_empty(), "{known:?}");
    assert!(more.len() > 10, "{more:?}");
    for (turn, more) in more.into_iter().enumerate() {
        assert!(if turn % 2 == 0 { more == 0 } else { (1..=10).contains(&more) }, "turn {turn}: {more}");
    }
}

/// Ten look-ups of any key beside each deletion; in the reading that fits the published counts of later keys alone.
#[test]
fn a_sweep_deletes_each_key_and_looks_others_up() {
    for workload in [Workload::Figure, Workload::Text] {
        let mut sequence = Sequence::new(&plan(workload, 50));
        let mut all = Vec::new();
        while let Some(action) = sequence.next_action() {
            all.push((action, sequence.number()));
        }
        let last = all.iter().map(|(_, number)| *number).max().expect("operations");
        let from = all.iter().rposition(|it| matches!(it, (Action::Delete { .. }, 0))).expect("a sweep");
        let (mut swept, mut looked_up) = (0, 0);
        for (action, number) in &all[from..] {
            match action {
                Action::Delete { .. } => {
                    assert!(workload == Workload::Figure || swept == 0 || looked_up == 10, "{looked_up}");
                    assert_eq!(*number, swept);
                    (swept, looked_up) = (swept + 1, 0);
                }
                Action::Fetch { .. } => {
                    assert!(workload == Workload::Text || *number >= swept, "{number} was swept");
                    looked_up += 1;
                    assert!(looked_up <= 10);
                }
                other => panic!("{other:?} in a sweep"),
            }
        }
        assert_eq!(swept, last + 1);
        assert_eq!([sequence.next_action(), sequence.next_action()], [None, None], "the end stays the end");
    }
}

/// The first wrong answer of a store that says this: which operation, which key, and what is wrong.
fn wrong(memory: Memory) -> (u64, u32, &'static str) {
    let mut memory = memory;
    match run(&plan(Workload::Text, 3), &mut memory, &mut Unobserved) {
        Err(WorkFailure::Wrong { operation, key, what }) => (operation, key, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_answers_are_told_with_operation_and_key() {
    let lost = "a record that was written is not there";
    let there = "a record is there that was never written, or was deleted";
    assert_eq!(wrong(Memory { fetched: Some(false), ..Memory::default() }), (3, 0, lost));
    assert_eq!(
        wrong(Memory { changed: true, ..Memory::default() }),
        (3, 0, "another value than was written")
    );
    assert_eq!(wrong(Memory { stored: Some(Stored::Exists), ..Memory::default() }), (0, 0, there));
    assert_eq!(wrong(Memory { stored: Some(Stored::NotFound), ..Memory::default() }), (0, 0, there));
    // Three are written and read back; five reads for each, of which the first 11th inserts and reads one more.
    let (operation, _, what) = wrong(Memory { deleted: Some(false), ..Memory::default() });
    assert_eq!((operation, what), (3 + 3 + 15 + 2, lost), "the sweep begins");
    let failing = run(&plan(Workload::Text, 1), &mut Failing, &mut Unobserved);
    assert_eq!(failing, Err(WorkFailure::Store("it broke")));
}

/// A store that fails.
struct Failing;

impl Target for Failing {
    type Error = &'static str;
    fn fetch(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<bool, &'static str> {
        Err("it broke")
    }
    fn store(&mut self, _: &[u8], _: &[u8], _: StoreMode) -> Result<Stored, &'static str> {
        Err("it broke")
    }
    fn delete(&mut self, _: &[u8]) -> Result<bool, &'static str> {
        Err("it broke")
    }
}

#[test]
fn answers_are_the_same_whatever_the_store_does_with_its_space() {
    let counts = Counts([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(counts.answers(), [3, 7, 5, 6, 7, 8, 9]);
    assert_eq!(
        (counts.total(), counts.of(OperationKind::ReplaceOther), counts.of(OperationKind::DeleteMissing)),
        (45, 3, 9)
    );
    assert_eq!(counts.plus(&counts).0, [2, 4, 6, 8, 10, 12, 14, 16, 18]);
    let mut more = counts;
    more.add(OperationKind::InsertReused);
    assert_eq!(more.0, [1, 3, 3, 4, 5, 6, 7, 8, 9]);
}
