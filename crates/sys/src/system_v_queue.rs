//! A System V message queue with one short message as a token. msgget(2), msgsnd(2), msgrcv(2).

use crate::{CallError, error::check};

/// A private queue, removed when dropped.
#[derive(Debug)]
pub struct SystemVQueue {
    id: i32,
}

/// A message without text: its type is all there is.
#[repr(C)]
struct Message {
    kind: libc::c_long,
}

impl SystemVQueue {
    /// A queue with the token in it or not, and without a key.
    ///
    /// # Errors
    /// As [`SystemVQueue::with_key`].
    pub fn new(token: bool) -> Result<Self, CallError> {
        Self::with_key(libc::IPC_PRIVATE, token)
    }

    /// A new queue with the token in it or not, which can be found by its key when its maker is dead.
    ///
    /// # Errors
    /// The error of msgget (ENOSPC: kernel.msgmni, EEXIST: the key is taken) or msgsnd.
    pub fn with_key(key: i32, token: bool) -> Result<Self, CallError> {
        // SAFETY: msgget touches no memory.
        let id = check("msgget", unsafe { libc::msgget(key, NEW) })?;
        let this = Self { id };
        if token {
            this.send()?;
        }
        Ok(this)
    }

    /// Identifier of the queue, for the ledger.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// Messages in the queue. msgctl(2), IPC_STAT.
    ///
    /// # Errors
    /// The error of msgctl.
    pub fn messages(&self) -> Result<u64, CallError> {
        // SAFETY: an all-zero msqid_ds is valid.
        let mut state: libc::msqid_ds = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one msqid_ds to a local variable.
        check("msgctl", unsafe { libc::msgctl(self.id, libc::IPC_STAT, &raw mut state) })?;
        Ok(state.msg_qnum)
    }

    /// Puts the token into the queue.
    ///
    /// # Errors
    /// The error of msgsnd.
    #[inline(always)]
    pub fn send(&self) -> Result<(), CallError> {
        let message = Message { kind: 1 };
        // SAFETY: the kernel reads the type of a local message, which has no text.
        check("msgsnd", unsafe { libc::msgsnd(self.id, (&raw const message).cast(), 0, 0) }).map(|_| ())
    }

    /// Takes the token out of the queue, waiting for it.
    ///
    /// # Errors
    /// The error of msgrcv.
    #[inline(always)]
    pub fn receive(&self) -> Result<(), CallError> {
        let mut message = Message { kind: 0 };
        // SAFETY: the kernel writes the type of a local message, which has no text.
        let got = unsafe { libc::msgrcv(self.id, (&raw mut message).cast(), 0, 0, 0) };
        check("msgrcv", i32::try_from(got).unwrap_or(-1)).map(|_| ())
    }
}

impl SystemVQueue {
    /// Puts `words`, of which the first is kept for the kernel and must not be 0, into the queue without waiting for room.
    /// msgsnd(2).
    ///
    /// # Errors
    /// EAGAIN where the queue is full (kernel.msgmnb), EINVAL for more than kernel.msgmax or less than a word.
    #[inline(always)]
    pub fn send_words(&self, words: &[u64]) -> Result<(), CallError> {
        let Some(text) = words.len().checked_sub(1) else {
            return Err(CallError::new("msgsnd", libc::EINVAL));
        };
        // SAFETY: the kernel reads the type, which is one word, and the words after it.
        check("msgsnd", unsafe { libc::msgsnd(self.id, words.as_ptr().cast(), text * 8, libc::IPC_NOWAIT) })
            .map(|_| ())
    }

    /// Takes a message out of the queue, waiting for it; its first word is the kernel's. msgrcv(2).
    ///
    /// # Errors
    /// The error of msgrcv; E2BIG for a message that is longer than the buffer.
    #[inline(always)]
    pub fn receive_words(&self, words: &mut [u64]) -> Result<(), CallError> {
        let Some(text) = words.len().checked_sub(1) else {
            return Err(CallError::new("msgrcv", libc::EINVAL));
        };
        // SAFETY: the kernel writes the type, which is one word, and at most the words after it.
        let got = unsafe { libc::msgrcv(self.id, words.as_mut_ptr().cast(), text * 8, 0, 0) };
        check("msgrcv", i32::try_from(got).unwrap_or(-1)).map(|_| ())
    }
}

/// A System V object for its maker's user alone, which must not exist yet. It is marked from its first moment on, whenever its
/// maker is killed: the kernel keeps the permissions to execute, and nothing uses them (semget(2), msgget(2)).
pub(crate) const NEW: libc::c_int = libc::IPC_CREAT | libc::IPC_EXCL | MARKED;
const MARKED: libc::c_int = 0o711;

/// What the kernel says of a System V object that was looked for by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keyed {
    /// Identifier.
    pub id: i32,
    /// User who made it.
    pub creator: u32,
    /// Whether it was made with the mark that this program gives.
    pub is_marked: bool,
}

/// Whether these permissions have the mark.
pub(crate) fn is_marked(mode: impl Into<u32>) -> bool {
    mode.into() & 0o777 == MARKED.unsigned_abs()
}

/// The queue with this key, if there is one that the caller may look at.
#[must_use]
pub fn find(key: i32) -> Option<Keyed> {
    // SAFETY: msgget touches no memory.
    let id = check("msgget", unsafe { libc::msgget(key, 0) }).ok()?;
    // SAFETY: an all-zero msqid_ds is valid.
    let mut found: libc::msqid_ds = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one msqid_ds to a local variable.
    check("msgctl", unsafe { libc::msgctl(id, libc::IPC_STAT, &raw mut found) }).ok()?;
    Some(Keyed { id, creator: found.msg_perm.cuid, is_marked: is_marked(found.msg_perm.mode) })
}

/// Removes a queue.
///
/// # Errors
/// The error of msgctl (EINVAL: it is gone).
pub fn remove(id: i32) -> Result<(), CallError> {
    // SAFETY: IPC_RMID reads no memory.
    check("msgctl", unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) }).map(|_| ())
}

impl Drop for SystemVQueue {
    fn drop(&mut self) {
        // That it is gone already is no harm. A forked partner never drops its copy: it ends by _exit.
        let _ = remove(self.id);
    }
}
