//! Ways to lock: which primitive, and how much one lock covers.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;

use oscost_sys::CallError;
use oscost_sys::mapped_file::{Locked, MappedFile};
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use crate::between;
use crate::io::EINTR;

/// What keeps processes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// fcntl, F_SETLKW: locks of the process.
    Fcntl,
    /// fcntl, F_OFD_SETLKW: locks of the open file description.
    Ofd,
    /// flock, one lock file a lock, since it locks whole files.
    Flock,
    /// Process-shared robust mutexes in shared memory. Exclusive for readers too.
    RobustMutex,
}

/// How much one lock covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// One lock for the whole database.
    Coarse,
    /// One lock for each hash chain, and more for what chains share.
    Fine,
}

/// A way to lock. All programs that have one database open must use the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockWay {
    /// No locking: for one process, or to see what several do to each other.
    None,
    /// Locking.
    By(Primitive, Granularity),
}

impl LockWay {
    /// Every way.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::By(Primitive::Fcntl, Granularity::Coarse),
        Self::By(Primitive::Fcntl, Granularity::Fine),
        Self::By(Primitive::Ofd, Granularity::Coarse),
        Self::By(Primitive::Ofd, Granularity::Fine),
        Self::By(Primitive::Flock, Granularity::Coarse),
        Self::By(Primitive::Flock, Granularity::Fine),
        Self::By(Primitive::RobustMutex, Granularity::Coarse),
        Self::By(Primitive::RobustMutex, Granularity::Fine),
    ];

    /// Its name, as ids and files have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::By(Primitive::Fcntl, Granularity::Coarse) => "coarse_fcntl",
            Self::By(Primitive::Fcntl, Granularity::Fine) => "fine_fcntl",
            Self::By(Primitive::Ofd, Granularity::Coarse) => "coarse_ofd",
            Self::By(Primitive::Ofd, Granularity::Fine) => "fine_ofd",
            Self::By(Primitive::Flock, Granularity::Coarse) => "coarse_flock",
            Self::By(Primitive::Flock, Granularity::Fine) => "fine_flock",
            Self::By(Primitive::RobustMutex, Granularity::Coarse) => "coarse_mutex",
            Self::By(Primitive::RobustMutex, Granularity::Fine) => "fine_mutex",
        }
    }

    /// Its primitive, if it locks.
    #[must_use]
    pub const fn primitive(self) -> Option<Primitive> {
        match self {
            Self::None => None,
            Self::By(primitive, _) => Some(primitive),
        }
    }

    /// How much one lock covers, if it locks.
    #[must_use]
    pub const fn granularity(self) -> Option<Granularity> {
        match self {
            Self::None => None,
            Self::By(_, granularity) => Some(granularity),
        }
    }
}

/// What is locked. Taken in the order in which they stand here, so that nobody waits in a circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockId {
    /// The whole database: coarse locking.
    Whole,
    /// The making of a database.
    Creation,
    /// One hash chain.
    Chain(u32),
    /// The free list.
    FreeList,
    /// The end of the data file.
    DataAppend,
    /// The end of the index file, or of the only one.
    IndexAppend,
}

/// A primitive, for the locks of one database. Each method is one call, and may fail with EINTR. Faults are injected by
/// wrapping it.
pub trait Locks {
    /// Waits for a lock.
    ///
    /// # Errors
    /// The error of the call.
    fn lock(&mut self, id: LockId, kind: LockKind) -> Result<Locked, CallError>;

    /// Gives it back.
    ///
    /// # Errors
    /// The error of the call.
    fn unlock(&mut self, id: LockId) -> Result<(), CallError>;
}

/// Where the locks of a layout lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// File (0 is the index or only file, 1 the data) and bytes of a lock of fcntl.
    pub range: fn(LockId) -> (usize, Range),
    /// Number of a lock file or mutex.
    pub number: fn(LockId) -> usize,
}

/// The primitives of the system.
#[derive(Debug)]
pub(crate) enum SystemLocks {
    None,
    Fcntl {
        owner: Owner,
        files: Vec<Arc<File>>,
        places: Places,
    },
    Flock {
        files: Vec<File>,
        places: Places,
    },
    /// The file stays open: others see by its lock that somebody uses the mutexes.
    Mutex {
        map: Arc<MappedFile>,
        first: usize,
        stride: usize,
        places: Places,
        _file: Arc<File>,
    },
}

impl Locks for SystemLocks {
    #[inline]
    fn lock(&mut self, id: LockId, kind: LockKind) -> Result<Locked, CallError> {
        match self {
            Self::None => {}
            Self::Mutex { map, first, stride, places, .. } => {
                return between::mutex(|| map.lock_mutex(*first + (places.number)(id) * *stride));
            }
            Self::Fcntl { owner, files, places } => {
                let (file, range) = (places.range)(id);
                between::other(|| record_lock::lock(files[file].as_fd(), *owner, kind, range))?;
            }
            Self::Flock { files, places } => {
                between::other(|| record_lock::flock(files[(places.number)(id)].as_fd(), kind))?;
            }
        }
        Ok(Locked::Clean)
    }

    #[inline]
    fn unlock(&mut self, id: LockId) -> Result<(), CallError> {
        match self {
            Self::None => Ok(()),
            Self::Mutex { map, first, stride, places, .. } => {
                between::mutex(|| map.unlock_mutex(*first + (places.number)(id) * *stride))
            }
            Self::Fcntl { owner, files, places } => {
                let (file, range) = (places.range)(id);
                between::other(|| record_lock::unlock(files[file].as_fd(), *owner, range))
            }
            Self::Flock { files, places } => {
                between::other(|| record_lock::funlock(files[(places.number)(id)].as_fd()))
            }
        }
    }
}

/// Calls of locking that were made: of fcntl, flock, or the mutex, whichever the way uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockCalls {
    /// Calls that take a lock.
    pub lock: u64,
    /// Calls that give one back.
    pub unlock: u64,
    /// Locks whose last owner died holding them; only robust mutexes tell.
    pub owner_died: u64,
    /// Time spent in calls that take a lock, ns; 0 unless it was asked for.
    pub wait_ns: u64,
}

impl LockCalls {
    /// All calls.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lock + self.unlock
    }
}

/// Granularity over a primitive: turns the fine locks of a layout into those that the way has.
#[derive(Debug)]
pub(crate) struct Guard<L> {
    granularity: Option<Granularity>,
    locks: L,
    timed: bool,
    pub calls: LockCalls,
}

impl<L: Locks> Guard<L> {
    pub fn new(granularity: Option<Granularity>, locks: L, timed: bool) -> Self {
        Self { granularity, locks, timed, calls: LockCalls::default() }
    }

    /// The lock of a whole operation.
    #[inline]
    pub fn enter(&mut self, id: LockId, kind: LockKind) -> Result<(), CallError> {
        match self.granularity {
            None => Ok(()),
            Some(Granularity::Coarse) => self.lock(LockId::Whole, kind),
            Some(Granularity::Fine) => self.lock(id, kind),
        }
    }

    /// The end of it.
    #[inline]
    pub fn leave(&mut self, id: LockId) -> Result<(), CallError> {
        match self.granularity {
            None => Ok(()),
            Some(Granularity::Coarse) => self.unlock(LockId::Whole),
            Some(Granularity::Fine) => self.unlock(id),
        }
    }

    /// A lock within an operation, for what chains share: the coarse lock covers it.
    #[inline]
    pub fn enter_inner(&mut self, id: LockId) -> Result<(), CallError> {
        if self.granularity == Some(Granularity::Fine) { self.lock(id, LockKind::Write) } else { Ok(()) }
    }

    /// The end of it.
    #[inline]
    pub fn leave_inner(&mut self, id: LockId) -> Result<(), CallError> {
        if self.granularity == Some(Granularity::Fine) { self.unlock(id) } else { Ok(()) }
    }

    #[inline]
    fn lock(&mut self, id: LockId, kind: LockKind) -> Result<(), CallError> {
        let before = if self.timed { oscost_sys::clock::now_ns() } else { 0 };
        loop {
            self.calls.lock += 1;
            match self.locks.lock(id, kind) {
                Ok(Locked::Clean) => break,
                Ok(Locked::OwnerDied) => {
                    self.calls.owner_died += 1;
                    break;
                }
                Err(error) if error.errno == EINTR => {}
                Err(error) => return Err(error),
            }
        }
        if self.timed {
            self.calls.wait_ns += oscost_sys::clock::now_ns().saturating_sub(before);
        }
        Ok(())
    }

    #[inline]
    fn unlock(&mut self, id: LockId) -> Result<(), CallError> {
        loop {
            self.calls.unlock += 1;
            match self.locks.unlock(id) {
                Err(error) if error.errno == EINTR => {}
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what it is asked for, and answers by plan.
    #[derive(Default)]
    struct Script {
        asked: Vec<(LockId, Option<LockKind>)>,
        answers: Vec<Result<Locked, i32>>,
    }

    impl Script {
        fn answer(&mut self) -> Result<Locked, CallError> {
            let answer = self.answers.pop().unwrap_or(Ok(Locked::Clean));
            answer.map_err(|errno| CallError::new("fcntl", errno))
        }
    }

    impl Locks for Script {
        fn lock(&mut self, id: LockId, kind: LockKind) -> Result<Locked, CallError> {
            self.asked.push((id, Some(kind)));
            let start = oscost_sys::clock::now_ns();
            while oscost_sys::clock::now_ns() <= start {}
            self.answer()
        }

        fn unlock(&mut self, id: LockId) -> Result<(), CallError> {
            self.asked.push((id, None));
            self.answer().map(drop)
        }
    }

    /// What an operation with one inner lock asks for.
    fn asked(granularity: Option<Granularity>) -> Vec<(LockId, Option<LockKind>)> {
        let mut guard = Guard::new(granularity, Script::default(), false);
        guard.enter(LockId::Chain(3), LockKind::Read).expect("locked");
        guard.enter_inner(LockId::FreeList).expect("locked");
        guard.leave_inner(LockId::FreeList).expect("unlocked");
        guard.leave(LockId::Chain(3)).expect("unlocked");
        assert_eq!(guard.calls.total(), guard.locks.asked.len() as u64);
        guard.locks.asked
    }

    #[test]
    fn a_coarse_lock_covers_what_fine_ones_lock_one_by_one() {
        assert_eq!(asked(None), []);
        assert_eq!(
            asked(Some(Granularity::Coarse)),
            [(LockId::Whole, Some(LockKind::Read)), (LockId::Whole, None)]
        );
        assert_eq!(
            asked(Some(Granularity::Fine)),
            [
                (LockId::Chain(3), Some(LockKind::Read)),
                (LockId::FreeList, Some(LockKind::Write)),
                (LockId::FreeList, None),
                (LockId::Chain(3), None),
            ]
        );
    }

    #[test]
    fn signals_are_waited_through_and_other_errors_told() {
        let of = |answers: &[Result<Locked, i32>]| {
            let script = Script { answers: answers.iter().rev().copied().collect(), ..Script::default() };
            Guard::new(Some(Granularity::Fine), script, false)
        };
        let mut guard =
            of(&[Err(EINTR), Err(EINTR), Ok(Locked::OwnerDied), Err(EINTR), Ok(Locked::Clean), Err(35)]);
        assert_eq!(guard.enter(LockId::Creation, LockKind::Write), Ok(()));
        assert_eq!((guard.calls.lock, guard.calls.unlock, guard.calls.owner_died), (3, 0, 1));
        assert_eq!(guard.leave(LockId::Creation), Ok(()));
        assert_eq!((guard.calls.lock, guard.calls.unlock, guard.calls.total()), (3, 2, 5));
        assert_eq!(guard.enter(LockId::Creation, LockKind::Write).map_err(|error| error.errno), Err(35));
        assert_eq!(of(&[Err(9)]).leave(LockId::Creation).map_err(|error| error.errno), Err(9));
        assert_eq!(guard.calls.wait_ns, 0, "nobody asked for the time");
    }

    #[test]
    fn the_time_in_calls_that_lock_is_measured_where_it_was_asked_for() {
        let mut guard = Guard::new(Some(Granularity::Fine), Script::default(), true);
        guard.enter(LockId::Creation, LockKind::Write).expect("locked");
        let one = guard.calls.wait_ns;
        guard.enter(LockId::Creation, LockKind::Write).expect("locked");
        assert!(one > 0 && one < 60_000_000_000 && guard.calls.wait_ns > one, "{one}");
        let before = guard.calls.wait_ns;
        guard.leave(LockId::Creation).expect("unlocked");
        assert_eq!(guard.calls.wait_ns, before);
    }
}
