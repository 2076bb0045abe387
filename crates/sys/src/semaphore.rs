//! Semaphores: POSIX named and unnamed, System V, eventfd. sem_overview(7), semop(2), eventfd(2).

use std::os::fd::{AsRawFd, OwnedFd};

pub use crate::named_semaphore::{NamedSemaphore, remove_named};
use crate::system_v_queue::{Keyed, NEW, is_marked};
use crate::{
    CallError,
    error::{check, own},
    memory::SharedWords,
};

/// A POSIX semaphore in memory that is shared with later children. sem_init(3).
#[derive(Debug)]
pub struct Unnamed {
    memory: SharedWords,
}

impl Unnamed {
    /// A semaphore of value `value`, shared between processes.
    ///
    /// # Errors
    /// The error of mmap or sem_init.
    pub fn new(value: u32) -> Result<Self, CallError> {
        const { assert!(size_of::<libc::sem_t>() <= 128, "a semaphore fits one word's stride") };
        let memory = SharedWords::new(1)?;
        let this = Self { memory };
        // SAFETY: the word's stride holds a sem_t, is aligned for it, zeroed and used for nothing else.
        check("sem_init", unsafe { libc::sem_init(this.pointer(), 1, value) })?;
        Ok(this)
    }

    #[inline(always)]
    fn pointer(&self) -> *mut libc::sem_t {
        self.memory.word(0).as_ptr().cast()
    }

    /// Takes the token, waiting for it. sem_wait(3).
    ///
    /// # Errors
    /// The error of sem_wait.
    #[inline(always)]
    pub fn wait(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        check("sem_wait", unsafe { libc::sem_wait(self.pointer()) }).map(|_| ())
    }

    /// Gives the token back. sem_post(3).
    ///
    /// # Errors
    /// The error of sem_post (EOVERFLOW).
    #[inline(always)]
    pub fn post(&self) -> Result<(), CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        check("sem_post", unsafe { libc::sem_post(self.pointer()) }).map(|_| ())
    }
}

impl Unnamed {
    /// Its value: how many could take it at once. sem_getvalue(3).
    ///
    /// # Errors
    /// The error of sem_getvalue.
    pub fn value(&self) -> Result<u32, CallError> {
        // SAFETY: initialised in `new`, mapped as long as self.
        unsafe { crate::named_semaphore::value_of(self.pointer()) }
    }
}

/// A System V semaphore set of one semaphore, removed when dropped. semget(2), semop(2).
#[derive(Debug)]
pub struct SystemV {
    id: i32,
}

impl SystemV {
    /// A set of one semaphore of value `value` without a key.
    ///
    /// # Errors
    /// As [`SystemV::with_key`].
    pub fn new(value: u32) -> Result<Self, CallError> {
        Self::with_key(libc::IPC_PRIVATE, value)
    }

    /// A new set of one semaphore of value `value`, which can be found by its key when its maker is dead.
    ///
    /// # Errors
    /// The error of semget (ENOSPC: kernel.sem; EEXIST: the key is taken) or semctl.
    pub fn with_key(key: i32, value: u32) -> Result<Self, CallError> {
        // SAFETY: semget touches no memory.
        let id = check("semget", unsafe { libc::semget(key, 1, NEW) })?;
        let this = Self { id };
        // SAFETY: SETVAL takes an integer.
        check("semctl", unsafe { libc::semctl(id, 0, libc::SETVAL, value as libc::c_int) })?;
        Ok(this)
    }

    /// Identifier of the set, for the ledger.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// Its value: how many could take it at once. semctl(2), GETVAL.
    ///
    /// # Errors
    /// The error of semctl.
    pub fn value(&self) -> Result<u32, CallError> {
        // SAFETY: GETVAL takes no argument.
        let value = check("semctl", unsafe { libc::semctl(self.id, 0, libc::GETVAL) })?;
        Ok(value.unsigned_abs())
    }

    /// One semop of `operations`, each (change, flags).
    #[inline(always)]
    fn operate<const N: usize>(&self, operations: [(i16, i16); N]) -> Result<(), CallError> {
        let mut operations = operations.map(|(sem_op, sem_flg)| libc::sembuf { sem_num: 0, sem_op, sem_flg });
        // SAFETY: the kernel reads N operations from a local array.
        check("semop", unsafe { libc::semop(self.id, operations.as_mut_ptr(), N) }).map(|_| ())
    }

    /// Takes the token, waiting for it.
    ///
    /// # Errors
    /// The error of semop.
    #[inline(always)]
    pub fn wait(&self) -> Result<(), CallError> {
        self.operate([(-1, 0)])
    }

    /// Gives the token back.
    ///
    /// # Errors
    /// The error of semop.
    #[inline(always)]
    pub fn post(&self) -> Result<(), CallError> {
        self.operate([(1, 0)])
    }

    /// Takes the token; the kernel gives it back if the process dies.
    ///
    /// # Errors
    /// The error of semop.
    #[inline(always)]
    pub fn wait_undo(&self) -> Result<(), CallError> {
        self.operate([(-1, UNDO)])
    }

    /// Gives the token back, and forgets the undo.
    ///
    /// # Errors
    /// The error of semop.
    #[inline(always)]
    pub fn post_undo(&self) -> Result<(), CallError> {
        self.operate([(1, UNDO)])
    }

    /// Takes the token and gives it back, in one call.
    ///
    /// # Errors
    /// The error of semop.
    #[inline(always)]
    pub fn wait_and_post(&self) -> Result<(), CallError> {
        self.operate([(-1, 0), (1, 0)])
    }
}

/// A System V semaphore set with a semaphore for each of several waiters, removed when dropped. semget(2), semop(2).
#[derive(Debug)]
pub struct SystemVSet {
    id: i32,
    posts: Vec<libc::sembuf>,
}

impl SystemVSet {
    /// A new set of `count` semaphores of value 0, which can be found by its key when its maker is dead.
    ///
    /// # Errors
    /// The error of semget (ENOSPC: kernel.sem, EINVAL: more than a set may have, EEXIST: the key is taken).
    pub fn with_key(key: i32, count: u16) -> Result<Self, CallError> {
        // SAFETY: semget touches no memory.
        let id = check("semget", unsafe { libc::semget(key, i32::from(count), NEW) })?;
        let posts = (0..count).map(|sem_num| libc::sembuf { sem_num, sem_op: 1, sem_flg: 0 }).collect();
        Ok(Self { id, posts })
    }

    /// Identifier of the set, for the ledger.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// Gives every waiter a token, in one call.
    ///
    /// # Errors
    /// The error of semop (E2BIG: more than semopm of kernel.sem).
    #[inline(always)]
    pub fn post_all(&self) -> Result<(), CallError> {
        // SAFETY: the kernel reads the operations, which it does not change.
        check("semop", unsafe { libc::semop(self.id, self.posts.as_ptr().cast_mut(), self.posts.len()) })
            .map(|_| ())
    }

    /// Takes the token of waiter `index`, waiting for it.
    ///
    /// # Errors
    /// The error of semop (EFBIG: there is no such waiter).
    #[inline(always)]
    pub fn wait(&self, index: u16) -> Result<(), CallError> {
        let mut operation = libc::sembuf { sem_num: index, sem_op: -1, sem_flg: 0 };
        // SAFETY: the kernel reads one operation.
        check("semop", unsafe { libc::semop(self.id, &raw mut operation, 1) }).map(|_| ())
    }
}

impl Drop for SystemVSet {
    fn drop(&mut self) {
        // That it is gone already is no harm. A forked partner never drops its copy: it ends by _exit.
        let _ = remove_system_v(self.id);
    }
}

// 0x1000
const UNDO: i16 = libc::SEM_UNDO as i16;

impl Drop for SystemV {
    fn drop(&mut self) {
        // SAFETY: IPC_RMID takes no argument. A forked partner never drops its copy: it ends by _exit.
        unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) };
    }
}

/// The beginning of a semid_ds, with room for the rest: of musl's, libc has no definition.
#[repr(C)]
struct Found {
    permissions: libc::ipc_perm,
    _rest: [u64; 16],
}

/// The System V set with this key, if there is one that the caller may look at.
#[must_use]
pub fn find_system_v(key: i32) -> Option<Keyed> {
    // SAFETY: semget touches no memory.
    let id = check("semget", unsafe { libc::semget(key, 0, 0) }).ok()?;
    // SAFETY: an all-zero structure is valid.
    let mut found: Found = unsafe { std::mem::zeroed() };
    // SAFETY: a semid_ds, of at most 128 bytes, is written to a local variable that is larger.
    check("semctl", unsafe { libc::semctl(id, 0, libc::IPC_STAT, &raw mut found) }).ok()?;
    Some(Keyed { id, creator: found.permissions.cuid, is_marked: is_marked(found.permissions.mode) })
}

/// Removes a System V set by its identifier: what the janitor does.
///
/// # Errors
/// The error of semctl (EINVAL, EIDRM: it is gone).
pub fn remove_system_v(id: i32) -> Result<(), CallError> {
    // SAFETY: IPC_RMID takes no argument.
    check("semctl", unsafe { libc::semctl(id, 0, libc::IPC_RMID) }).map(|_| ())
}

/// An eventfd used as a semaphore: a read takes 1. eventfd(2), EFD_SEMAPHORE.
#[derive(Debug)]
pub struct EventFd {
    fd: OwnedFd,
}

impl EventFd {
    /// An eventfd of value `value`.
    ///
    /// # Errors
    /// The error of eventfd.
    pub fn new(value: u32) -> Result<Self, CallError> {
        // SAFETY: eventfd touches no memory; the descriptor is new.
        let fd = unsafe { own("eventfd", libc::eventfd(value, libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE)) }?;
        Ok(Self { fd })
    }

    /// Its value: how many could take it at once, as /proc/self/fdinfo says; `None` where it does not (before Linux 3.8).
    #[must_use]
    pub fn value(&self) -> Option<u32> {
        let told = crate::file::text(format!("/proc/self/fdinfo/{}", self.fd.as_raw_fd())).ok()?;
        let count = told.lines().find_map(|line| line.strip_prefix("eventfd-count:"))?;
        u32::from_str_radix(count.trim(), 16).ok()
    }

    /// Takes the token, waiting for it.
    ///
    /// # Errors
    /// The error of read.
    #[inline(always)]
    pub fn wait(&self) -> Result<(), CallError> {
        let mut value = 0u64;
        // SAFETY: the kernel writes 8 bytes to a local variable.
        match unsafe { libc::read(self.fd.as_raw_fd(), (&raw mut value).cast(), 8) } {
            8 => Ok(()),
            _ => Err(CallError::last("read")),
        }
    }

    /// Gives the token back.
    ///
    /// # Errors
    /// The error of write.
    #[inline(always)]
    pub fn post(&self) -> Result<(), CallError> {
        let value = 1u64;
        // SAFETY: the kernel reads 8 bytes of a local variable.
        match unsafe { libc::write(self.fd.as_raw_fd(), (&raw const value).cast(), 8) } {
            8 => Ok(()),
            _ => Err(CallError::last("write")),
        }
    }
}

/// System V limits of the caller's IPC namespace, as /proc/sys/kernel says: (semmsl, semmns, semopm, semmni). A new
/// namespace resets them, so the host's are read before one is entered.
#[must_use]
pub fn system_v_limits() -> Option<[u64; 4]> {
    let text = crate::file::text("/proc/sys/kernel/sem").ok()?;
    let values: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    values.try_into().ok()
}
