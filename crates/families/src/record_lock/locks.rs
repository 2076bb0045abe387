//! The locks on a file: its first byte by fcntl, for the process or the open file description, and all of it by flock.

use std::os::fd::{AsFd, OwnedFd};

use oscost_harness::{CallError, Outcome, SetUp, Unable};
use oscost_sys::file;
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use crate::lack;
use crate::lock::excluding::Lock;

/// A lock that can be taken on a file of our choice.
pub trait OnFile: Lock {
    /// The lock, by this open file description.
    fn of(file: OwnedFd) -> Self;
}

/// A file without a name, in memory, that leaves nothing behind. Each process that must not inherit its locks opens it anew.
pub fn make() -> Result<OwnedFd, Unable> {
    file::in_memory(4096).map_err(lack::of_descriptors)
}

/// The record: the first byte of the file.
const RECORD: Range = Range { start: 0, length: 1 };

/// The lock, by one open file description, which owns it or whose process does.
pub struct Bytes<const OF_DESCRIPTION: bool>(OwnedFd);

/// The lock of the process.
pub type OfProcess = Bytes<false>;
/// The lock of the open file description.
pub type OfDescription = Bytes<true>;

impl<const OF_DESCRIPTION: bool> Bytes<OF_DESCRIPTION> {
    const OWNER: Owner = if OF_DESCRIPTION { Owner::Description } else { Owner::Process };
}

impl<const OF_DESCRIPTION: bool> Lock for Bytes<OF_DESCRIPTION> {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        make().map(Self)
    }

    fn own(&self) -> Result<Option<Self>, CallError> {
        file::open_again(&self.0).map(|fd| Some(Self(fd)))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        record_lock::lock(self.0.as_fd(), Self::OWNER, LockKind::Write, RECORD)
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        record_lock::unlock(self.0.as_fd(), Self::OWNER, RECORD)
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        // To an owner of the other kind our own lock is somebody else's. No other descriptor will do: closing it would drop
        // the locks of the process.
        let other = if OF_DESCRIPTION { Owner::Process } else { Owner::Description };
        let in_the_way = record_lock::in_the_way(self.0.as_fd(), other, LockKind::Write, RECORD)?;
        Ok(Some(in_the_way.is_none()))
    }
}

impl<const OF_DESCRIPTION: bool> OnFile for Bytes<OF_DESCRIPTION> {
    fn of(file: OwnedFd) -> Self {
        Self(file)
    }
}

/// The lock of the whole file, by one open file description.
pub struct Whole(OwnedFd);

impl Lock for Whole {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        make().map(Self)
    }

    fn own(&self) -> Result<Option<Self>, CallError> {
        file::open_again(&self.0).map(|fd| Some(Self(fd)))
    }

    #[inline(always)]
    fn enter(&self) -> Outcome {
        record_lock::flock(self.0.as_fd(), LockKind::Write)
    }

    #[inline(always)]
    fn leave(&self) -> Outcome {
        record_lock::funlock(self.0.as_fd())
    }

    fn is_free(&self) -> Result<Option<bool>, CallError> {
        let other = file::open_again(&self.0)?;
        record_lock::try_flock(other.as_fd(), LockKind::Write).map(Some)
    }
}
