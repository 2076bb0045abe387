//! A file in memory and locks whose calls fail by plan.

use std::cell::RefCell;
use std::io::{IoSlice, IoSliceMut};
use std::rc::Rc;

use oscost_sys::CallError;
use oscost_sys::mapped_file::Locked;
use oscost_sys::record_lock::LockKind;

use crate::io::{Io, IoCalls};
use crate::lock::{LockId, Locks};

const ENOSPC: i32 = 28;
const EINTR: i32 = 4;
pub(super) const EOPNOTSUPP: i32 = 95;

/// What happens at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Error(i32),
    /// Half of the bytes, or none of one.
    Short,
}

/// Calls so far, and at which one what happens; a disk that is full stays full.
#[derive(Debug, Default)]
pub(super) struct FaultPlan {
    pub(super) made: u64,
    pub(super) at: Option<(u64, Fault)>,
    pub(super) for_good: bool,
    pub(super) happened: bool,
}

impl FaultPlan {
    pub(super) fn next(&mut self) -> Option<Fault> {
        self.made += 1;
        let (at, fault) = self.at?;
        let now = self.made == at || self.for_good && self.made > at;
        self.happened |= now;
        now.then_some(fault)
    }
}

/// A file in memory whose calls fail by plan: those that read, those that write, or both.
#[derive(Clone)]
pub(super) struct Memory {
    bytes: Rc<RefCell<Vec<u8>>>,
    position: usize,
    reads: Rc<RefCell<FaultPlan>>,
    writes: Rc<RefCell<FaultPlan>>,
}

impl Memory {
    pub(super) fn new(
        bytes: &Rc<RefCell<Vec<u8>>>,
        reads: &Rc<RefCell<FaultPlan>>,
        writes: &Rc<RefCell<FaultPlan>>,
    ) -> Self {
        let (bytes, reads, writes) = (Rc::clone(bytes), Rc::clone(reads), Rc::clone(writes));
        Self { bytes, position: 0, reads, writes }
    }
}

fn short(length: usize) -> usize {
    length / 2
}

impl Io for Memory {
    fn read(&mut self, at: u64, parts: &mut [IoSliceMut<'_>]) -> Result<usize, CallError> {
        self.position = usize::try_from(at).unwrap();
        let wanted: usize = parts.iter().map(|part| part.len()).sum();
        let mut all = vec![0; wanted];
        let read = self.read_on(&mut all)?;
        let mut rest = &all[..read];
        for part in parts {
            let take = part.len().min(rest.len());
            part[..take].copy_from_slice(&rest[..take]);
            rest = &rest[take..];
        }
        Ok(read)
    }

    fn read_on(&mut self, part: &mut [u8]) -> Result<usize, CallError> {
        let bytes = self.bytes.borrow();
        let there = bytes.get(self.position..).unwrap_or_default();
        let mut take = there.len().min(part.len());
        match self.reads.borrow_mut().next() {
            Some(Fault::Error(errno)) => return Err(CallError::new("read", errno)),
            // Of one byte half is all of it: nothing read would be the end of the file.
            Some(Fault::Short) if take > 1 => take = short(take),
            _ => {}
        }
        part[..take].copy_from_slice(&there[..take]);
        self.position += take;
        Ok(take)
    }

    fn write(&mut self, at: u64, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        self.position = usize::try_from(at).unwrap();
        self.write_on(parts)
    }

    fn end(&mut self) -> Result<u64, CallError> {
        if let Some(Fault::Error(errno)) = self.reads.borrow_mut().next() {
            return Err(CallError::new("lseek", errno));
        }
        self.position = self.bytes.borrow().len();
        Ok(self.position as u64)
    }

    fn write_on(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, CallError> {
        let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let mut take = all.len();
        let fault = self.writes.borrow_mut().next();
        match fault {
            // A full disk has room for what is there already, and for a part of what is not.
            Some(Fault::Error(ENOSPC)) => {
                let room = self.bytes.borrow().len().saturating_sub(self.position);
                take = take.min(room.max(if self.writes.borrow().for_good { 0 } else { short(take) }));
                if take == 0 {
                    return Err(CallError::new("write", ENOSPC));
                }
            }
            // Only room cannot be made.
            None | Some(Fault::Error(EOPNOTSUPP)) => {}
            Some(Fault::Error(errno)) => return Err(CallError::new("write", errno)),
            Some(Fault::Short) => take = short(take).max(1),
        }
        let mut bytes = self.bytes.borrow_mut();
        let end = self.position + take;
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[self.position..end].copy_from_slice(&all[..take]);
        self.position = end;
        Ok(take)
    }

    fn cut(&mut self, length: u64) -> Result<(), CallError> {
        self.bytes.borrow_mut().resize(usize::try_from(length).unwrap(), 0);
        Ok(())
    }

    fn make_room(&mut self, at: u64, length: u64) -> Result<(), CallError> {
        if let Some(Fault::Error(errno)) = self.writes.borrow_mut().next() {
            return Err(CallError::new("fallocate", errno));
        }
        let end = usize::try_from(at + length).unwrap();
        let mut bytes = self.bytes.borrow_mut();
        let longer = bytes.len().max(end);
        bytes.resize(longer, 0);
        Ok(())
    }

    fn calls(&self) -> IoCalls {
        IoCalls::default()
    }
}

/// Locks that fail by plan, and know what is held.
#[derive(Clone, Default)]
pub(super) struct FaultyLocks {
    pub(super) plan: Rc<RefCell<FaultPlan>>,
    pub(super) unlocks: Rc<RefCell<FaultPlan>>,
    pub(super) held: Rc<RefCell<Vec<LockId>>>,
}

impl Locks for FaultyLocks {
    fn lock(&mut self, id: LockId, _: LockKind) -> Result<Locked, CallError> {
        if let Some(Fault::Error(errno)) = self.plan.borrow_mut().next() {
            return Err(CallError::new("fcntl", errno));
        }
        assert!(!self.held.borrow().contains(&id), "{id:?} is taken twice");
        let order = |id: &LockId| match id {
            LockId::Whole => 0,
            LockId::Creation => 1,
            LockId::Chain(_) => 2,
            LockId::FreeList => 3,
            LockId::DataAppend => 4,
            LockId::IndexAppend => 5,
        };
        assert!(self.held.borrow().iter().all(|held| order(held) < order(&id)), "out of order: {id:?}");
        self.held.borrow_mut().push(id);
        Ok(Locked::Clean)
    }

    fn unlock(&mut self, id: LockId) -> Result<(), CallError> {
        match self.unlocks.borrow_mut().next() {
            Some(Fault::Error(EINTR)) => return Err(CallError::new("fcntl", EINTR)),
            Some(Fault::Error(errno)) => {
                // The process that gets this error ends, and its locks with it.
                self.held.borrow_mut().clear();
                return Err(CallError::new("fcntl", errno));
            }
            _ => {}
        }
        self.held.borrow_mut().retain(|held| *held != id);
        Ok(())
    }
}
