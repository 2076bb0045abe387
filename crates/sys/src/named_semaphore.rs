//! POSIX semaphores by name. sem_open(3), sem_overview(7).

use std::ffi::CString;
#[cfg(target_env = "gnu")]
use std::ffi::OsStr;
#[cfg(target_env = "gnu")]
use std::io::Write;
use std::ptr::NonNull;

#[cfg(target_env = "gnu")]
use crate::folder::{Folder, Making, Opening};
use crate::{CallError, error::check};

/// A POSIX semaphore by name, unlinked when dropped. sem_open(3).
#[derive(Debug)]
pub struct NamedSemaphore {
    semaphore: NonNull<libc::sem_t>,
    name: CString,
}

// SAFETY: the pointer is to a POSIX semaphore, which any thread may use, and which lives as long as this.
unsafe impl Send for NamedSemaphore {}
// SAFETY: as above; sem_wait and sem_post are thread-safe (POSIX).
unsafe impl Sync for NamedSemaphore {}

impl NamedSemaphore {
    /// Creates a semaphore under `name` (one slash, then 64 random bits or more) that must not exist yet.
    ///
    /// # Errors
    /// The error of sem_open (ENOENT without /dev/shm, EROFS, EACCES, EMFILE); EINVAL for a name with a zero byte.
    pub fn create(name: &str, value: u32) -> Result<Self, CallError> {
        Self::make_file(name, value).map_err(|error| CallError::new("sem_open", error.errno))?;
        let c_name = CString::new(name).map_err(|_| CallError::new("sem_open", libc::EINVAL))?;
        // With glibc it is there by now.
        let flags = if cfg!(target_env = "gnu") { 0 } else { libc::O_CREAT | libc::O_EXCL };
        // SAFETY: the name is a C string; with O_CREAT a mode and a value follow.
        let pointer = unsafe { libc::sem_open(c_name.as_ptr(), flags, 0o600 as libc::mode_t, value) };
        if pointer == libc::SEM_FAILED {
            let error = CallError::last("sem_open");
            let _ = remove_named(name);
            return Err(error);
        }
        let semaphore = NonNull::new(pointer).ok_or(CallError::new("sem_open", libc::EFAULT))?;
        Ok(Self { semaphore, name: c_name })
    }

    /// The file of a semaphore, under its name from the beginning. glibc's sem_open makes one under a name of its own first,
    /// which nobody knows when the process is killed then. sem_overview(7) says where it is.
    #[cfg(target_env = "gnu")]
    fn make_file(name: &str, value: u32) -> Result<(), CallError> {
        let memory = Folder::open(std::path::Path::new("/dev/shm"))?;
        let how = Opening { write: true, making: Making::Always, mode: 0o600 };
        let file_name = format!("sem.{}", name.strip_prefix('/').unwrap_or(name));
        let mut file = memory.file(OsStr::new(&file_name), how)?;
        // SAFETY: an all-zero sem_t is valid memory for sem_init.
        let mut semaphore: libc::sem_t = unsafe { std::mem::zeroed() };
        // SAFETY: the semaphore is a local variable, initialised to be shared between processes.
        check("sem_init", unsafe { libc::sem_init(&raw mut semaphore, 1, value) })?;
        // SAFETY: all of its bytes are initialised: they were zero.
        let bytes = unsafe {
            std::slice::from_raw_parts((&raw const semaphore).cast::<u8>(), size_of::<libc::sem_t>())
        };
        let written = file.write_all(bytes);
        written.map_err(|error| {
            let _ = memory.remove(OsStr::new(&file_name));
            CallError::new("write", error.raw_os_error().unwrap_or(libc::EIO))
        })
    }

    /// Elsewhere sem_open makes it.
    #[cfg(not(target_env = "gnu"))]
    fn make_file(_: &str, _: u32) -> Result<(), CallError> {
        Ok(())
    }

    /// Takes the token, waiting for it. sem_wait(3).
    ///
    /// # Errors
    /// The error of sem_wait.
    #[inline(always)]
    pub fn wait(&self) -> Result<(), CallError> {
        // SAFETY: the semaphore is open as long as self.
        check("sem_wait", unsafe { libc::sem_wait(self.semaphore.as_ptr()) }).map(|_| ())
    }

    /// Gives the token back. sem_post(3).
    ///
    /// # Errors
    /// The error of sem_post (EOVERFLOW).
    #[inline(always)]
    pub fn post(&self) -> Result<(), CallError> {
        // SAFETY: the semaphore is open as long as self.
        check("sem_post", unsafe { libc::sem_post(self.semaphore.as_ptr()) }).map(|_| ())
    }
}

impl NamedSemaphore {
    /// Its value: how many could take it at once. sem_getvalue(3).
    ///
    /// # Errors
    /// The error of sem_getvalue.
    pub fn value(&self) -> Result<u32, CallError> {
        // SAFETY: the semaphore is open as long as self.
        unsafe { value_of(self.semaphore.as_ptr()) }
    }
}

/// # Safety
/// The semaphore must be initialised.
pub(crate) unsafe fn value_of(semaphore: *mut libc::sem_t) -> Result<u32, CallError> {
    let mut value = 0;
    // SAFETY: the caller vouches for the semaphore; the value is a local variable.
    check("sem_getvalue", unsafe { libc::sem_getvalue(semaphore, &raw mut value) })?;
    Ok(u32::try_from(value).unwrap_or(0))
}

impl Drop for NamedSemaphore {
    fn drop(&mut self) {
        // SAFETY: the semaphore is open and is not used after this.
        unsafe { libc::sem_close(self.semaphore.as_ptr()) };
        // SAFETY: the name is a C string. A forked partner never drops its copy: it ends by _exit.
        unsafe { libc::sem_unlink(self.name.as_ptr()) };
    }
}

/// Removes a POSIX semaphore by its name: what the janitor does.
///
/// # Errors
/// The error of sem_unlink (ENOENT: it is gone).
pub fn remove_named(name: &str) -> Result<(), CallError> {
    let name = CString::new(name).map_err(|_| CallError::new("sem_unlink", libc::EINVAL))?;
    // SAFETY: the name is a C string.
    check("sem_unlink", unsafe { libc::sem_unlink(name.as_ptr()) }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Child;

    #[test]
    fn a_named_semaphore_has_one_file_of_its_name_and_keeps_others_waiting() {
        let name = format!("/oscost-{:032x}", crate::random::bits().expect("bits"));
        let semaphore = match NamedSemaphore::create(&name, 1) {
            Ok(semaphore) => semaphore,
            Err(error) => return println!("SKIP a_named_semaphore_has_one_file: {error}"),
        };
        assert_eq!(
            NamedSemaphore::create(&name, 1).map(drop).map_err(|error| error.errno),
            Err(libc::EEXIST)
        );
        semaphore.wait().expect("the token");
        let child = Child::fork(|| i32::from(semaphore.wait().is_err())).expect("fork");
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!child.has_ended(), "it waits for the token");
        semaphore.post().expect("given back");
        assert_eq!(child.wait_at_most(60_000_000_000).expect("in time").code, Some(0));
        drop(semaphore);
        assert_eq!(remove_named(&name).map_err(|error| error.errno), Err(libc::ENOENT));
    }
}
