//! The book's test program as a sequence of operations: the same for every way to lock, every layout and every store.
//!
//! Each child works on keys of its own, so what every operation must answer is known beforehand, and is checked.

mod sequence;

use crate::database::Database;
use crate::error::Error;
use crate::options::{StoreMode, Stored};

pub use sequence::{Action, Sequence};

/// Which reading of the book's test program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Workload {
    /// The reading that fits the published counters (8 of 9; one is 16 % low): the loop runs as long as it has made fewer
    /// than 5 reads a live record, deletes, inserts and replaces with probability 1/37, 1/11 and 1/17, and the last step
    /// looks up only what it has not swept yet.
    Figure,
    /// The words of the book: 5 reads a record, every 37th, 11th and 17th, ten look-ups a deletion.
    Text,
}

/// What one child does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkPlan {
    /// Reading of the test program.
    pub workload: Workload,
    /// Records that are written first.
    pub records: u32,
    /// Seed of all children's sequences.
    pub seed: u64,
    /// Number of the child; part of its keys and of its sequence.
    pub child: u32,
}

/// Kinds of operations, as the book counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Inserted at the end of the files.
    InsertAppended,
    /// Inserted in the place of a deleted record.
    InsertReused,
    /// Replaced by a value of another length.
    ReplaceOther,
    /// Replaced by a value of the same length.
    ReplaceSame,
    /// To be replaced, and not there.
    ReplaceMissing,
    /// Fetched.
    FetchFound,
    /// To be fetched, and not there.
    FetchMissing,
    /// Deleted.
    DeleteFound,
    /// To be deleted, and not there.
    DeleteMissing,
}

impl OperationKind {
    /// All, in the order of the book.
    pub const ALL: [Self; 9] = [
        Self::InsertAppended,
        Self::InsertReused,
        Self::ReplaceOther,
        Self::ReplaceSame,
        Self::ReplaceMissing,
        Self::FetchFound,
        Self::FetchMissing,
        Self::DeleteFound,
        Self::DeleteMissing,
    ];

    /// Its name, as ids and tables have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InsertAppended => "insert_appended",
            Self::InsertReused => "insert_reused",
            Self::ReplaceOther => "replace_other_length",
            Self::ReplaceSame => "replace_same_length",
            Self::ReplaceMissing => "replace_missing",
            Self::FetchFound => "fetch_found",
            Self::FetchMissing => "fetch_missing",
            Self::DeleteFound => "delete_found",
            Self::DeleteMissing => "delete_missing",
        }
    }

    /// Calls that take or give back a lock, with coarse locking: one lock an operation.
    #[must_use]
    pub const fn coarse_lock_calls(self) -> u64 {
        let _ = self;
        2
    }

    /// Calls that take or give back a lock in layout `book` with fine locking: the table of the book.
    #[must_use]
    pub const fn fine_lock_calls(self) -> u64 {
        match self {
            Self::InsertAppended | Self::ReplaceOther => 8,
            Self::InsertReused | Self::DeleteFound => 4,
            Self::ReplaceSame | Self::ReplaceMissing => 2,
            Self::FetchFound | Self::FetchMissing | Self::DeleteMissing => 2,
        }
    }
}

/// How many operations of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts(pub [u64; OperationKind::ALL.len()]);

impl Counts {
    /// Of one kind.
    #[must_use]
    pub fn of(&self, kind: OperationKind) -> u64 {
        self.0[kind as usize]
    }

    /// Counts one more.
    #[inline]
    pub fn add(&mut self, kind: OperationKind) {
        self.0[kind as usize] += 1;
    }

    /// All operations.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The sum of two children's.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|kind| self.0[kind] + other.0[kind]))
    }

    /// What must be the same in every store: whether an insertion found a place to reuse, and whether a replacement
    /// could stay, is the store's own affair.
    #[must_use]
    pub fn answers(&self) -> [u64; 7] {
        let [appended, reused, other, same, rest @ ..] = self.0;
        let [missing, found, not_found, deleted, not_deleted] = rest;
        [appended + reused, other + same, missing, found, not_found, deleted, not_deleted]
    }
}

/// What a workload runs on: a database of this crate, or another store.
pub trait Target {
    /// Its errors.
    type Error: std::fmt::Display;

    /// Fetches into `value`; whether the key is there.
    ///
    /// # Errors
    /// Its own.
    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Self::Error>;

    /// Stores.
    ///
    /// # Errors
    /// Its own.
    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Self::Error>;

    /// Deletes; whether the key was there.
    ///
    /// # Errors
    /// Its own.
    fn delete(&mut self, key: &[u8]) -> Result<bool, Self::Error>;
}

impl Target for Database {
    type Error = Error;

    #[inline]
    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        self.fetch_into(key, value)
    }

    #[inline]
    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Error> {
        Database::store(self, key, value, how)
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<bool, Error> {
        Database::delete(self, key)
    }
}

/// What is reported of every operation, for latencies. The default of both is nothing.
pub trait Observer {
    /// An operation begins.
    #[inline]
    fn begin(&mut self) {}

    /// It has ended, and was of this kind.
    #[inline]
    fn end(&mut self, kind: OperationKind) {
        let _ = kind;
    }
}

/// Observes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Why a run ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WorkFailure<E> {
    /// The store failed.
    #[error("{0}")]
    Store(E),
    /// The store answered otherwise than it must: records were lost, found after deletion, or changed.
    #[error("operation {operation} on key {key}: {what}")]
    Wrong {
        /// Number of the operation, from 0.
        operation: u64,
        /// Number of the child's key.
        key: u32,
        /// What was wrong.
        what: &'static str,
    },
}

/// Runs a plan; each answer is compared with what it must be, each value byte by byte.
///
/// ```
/// use oscost_recorddb::workload::{self, OperationKind, Unobserved, WorkPlan, Workload};
/// use oscost_recorddb::{Database, DatabaseOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = std::env::temp_dir().join(format!("workload-doc-{}", std::process::id()));
/// # std::fs::create_dir(&directory)?;
/// let options = DatabaseOptions { create: true, ..DatabaseOptions::default() };
/// let mut database = Database::open(&directory.join("db"), &options)?;
/// let before = database.counters().locks.total();
/// let plan = WorkPlan { workload: Workload::Text, records: 100, seed: 1, child: 0 };
/// let counts = workload::run(&plan, &mut database, &mut Unobserved)?;
/// // The calls of fcntl are those that the book's table gives for each kind of operation.
/// let calls = database.counters().locks.total() - before;
/// assert_eq!(calls, OperationKind::ALL.iter().map(|kind| counts.of(*kind) * kind.fine_lock_calls()).sum::<u64>());
/// # drop(database);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The first error of the store, and the first wrong answer.
pub fn run<T: Target>(
    plan: &WorkPlan,
    target: &mut T,
    observer: &mut impl Observer,
) -> Result<Counts, WorkFailure<T::Error>> {
    run_some(&mut Sequence::new(plan), u64::MAX, target, observer)
}

/// Runs the next operations of a sequence, `most` of them unless it ends; otherwise as [`run`].
///
/// # Errors
/// As those of [`run`]. The operations are numbered from the first of these.
pub fn run_some<T: Target>(
    sequence: &mut Sequence,
    most: u64,
    target: &mut T,
    observer: &mut impl Observer,
) -> Result<Counts, WorkFailure<T::Error>> {
    let mut counts = Counts::default();
    let mut value = Vec::with_capacity(1024);
    let mut operation = 0;
    while operation < most
        && let Some(action) = sequence.next_action()
    {
        let key = sequence.key();
        observer.begin();
        let result = match action {
            Action::Fetch { .. } => target.fetch(key, &mut value).map(|found| match found {
                true => OperationKind::FetchFound,
                false => OperationKind::FetchMissing,
            }),
            Action::Insert => {
                target.store(key, sequence.value(), StoreMode::Insert).map(|stored| match stored {
                    Stored::Inserted { reused: true } => OperationKind::InsertReused,
                    Stored::Inserted { reused: false } => OperationKind::InsertAppended,
                    // Neither can be: reported as what no insertion is.
                    Stored::Replaced { .. } | Stored::Exists | Stored::NotFound => {
                        OperationKind::ReplaceMissing
                    }
                })
            }
            Action::Replace { .. } => {
                target.store(key, sequence.value(), StoreMode::Replace).map(|stored| match stored {
                    Stored::Replaced { in_place: true } => OperationKind::ReplaceSame,
                    Stored::Replaced { in_place: false } => OperationKind::ReplaceOther,
                    Stored::NotFound => OperationKind::ReplaceMissing,
                    Stored::Inserted { .. } | Stored::Exists => OperationKind::InsertAppended,
                })
            }
            Action::Delete { .. } => target.delete(key).map(|found| match found {
                true => OperationKind::DeleteFound,
                false => OperationKind::DeleteMissing,
            }),
        };
        let kind = result.map_err(WorkFailure::Store)?;
        observer.end(kind);
        counts.add(kind);
        if let Some(what) = action.wrong(kind, &value, sequence) {
            return Err(WorkFailure::Wrong { operation, key: sequence.number(), what });
        }
        operation += 1;
    }
    Ok(counts)
}

#[cfg(test)]
pub(crate) mod tests;
