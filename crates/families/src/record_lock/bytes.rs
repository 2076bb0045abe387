//! The first byte of a file as a lock of fcntl: of the process or of the open file description.

use std::os::fd::{AsFd, OwnedFd};

use oscost_harness::{CallError, Outcome, SetUp, Unable};
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use super::file;
use super::others::OnFile;
use crate::lock::excluding::Lock;

/// The record: the first byte of the file.
const RECORD: Range = Range { start: 0, length: 1 };

/// The lock, by one open file description, which owns it or whose process does.
pub struct Bytes<const OF_DESCRIPTION: bool>(OwnedFd);

impl<const OF_DESCRIPTION: bool> Bytes<OF_DESCRIPTION> {
    const OWNER: Owner = if OF_DESCRIPTION { Owner::Description } else { Owner::Process };
}

impl<const OF_DESCRIPTION: bool> Lock for Bytes<OF_DESCRIPTION> {
    fn make(_: &mut SetUp<'_>) -> Result<Self, Unable> {
        file::make().map(Self)
    }

    fn own(&self) -> Result<Option<Self>, CallError> {
        file::again(&self.0).map(|fd| Some(Self(fd)))
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
