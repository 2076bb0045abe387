//! Children that are made, end at once with a code of their own, and are reaped: by fork, with exec, by posix_spawn.

use std::ffi::{CStr, CString, c_char};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::{CallError, error::check};

/// What every child ends with: whoever was never made, or ended otherwise, has another status.
const CODE: i32 = 7;

/// Forks, lets the child end at once, and reaps it. fork(2), wait4(2).
///
/// # Errors
/// The error of fork or wait4; ECHILD where the child did not end as it was told to.
#[inline(always)]
pub fn fork_and_reap() -> Result<(), CallError> {
    // SAFETY: the child makes one call, which is async-signal-safe, and never returns.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: ends the child without running handlers of the parent's state.
        unsafe { libc::_exit(CODE) }
    }
    reap(check("fork", pid)?)
}

/// Waits for the end of `pid` and looks at its status.
#[inline(always)]
fn reap(pid: i32) -> Result<(), CallError> {
    let mut status = 0;
    // SAFETY: the kernel writes one status to a local variable.
    let reaped = check("wait4", unsafe { libc::waitpid(pid, &raw mut status, 0) })?;
    if reaped == pid && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == CODE {
        Ok(())
    } else {
        Err(CallError::new("wait4", libc::ECHILD))
    }
}

/// Whether a child of this process has ended and was not waited for. waitid(2).
///
/// # Errors
/// The error of waitid, but for ECHILD: who has no child has none that was forgotten.
pub fn is_one_unreaped() -> Result<bool, CallError> {
    // SAFETY: an all-zero siginfo_t is valid.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the kernel writes one siginfo to a local variable; WNOWAIT leaves the child as it is.
    match check("waitid", unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) }) {
        // SAFETY: waitid filled the pid field, or left the zero.
        Ok(_) => Ok(unsafe { info.si_pid() } != 0),
        Err(error) if error.errno == libc::ECHILD => Ok(false),
        Err(error) => Err(error),
    }
}

/// A static program without a line of C: it ends with a code, and that is all. It lives in memory alone (memfd_create(2)), and
/// is run by its path in /proc.
#[derive(Debug)]
pub struct StaticProgram {
    _file: OwnedFd,
    path: CString,
    arguments: [*mut c_char; 2],
}

const NAME: &CStr = c"oscost-static";

impl StaticProgram {
    /// Writes it.
    ///
    /// # Errors
    /// The error of memfd_create (EACCES where vm.memfd_noexec forbids programs in memory), write or open.
    pub fn new() -> Result<Self, CallError> {
        const EXECUTABLE: libc::c_uint = 0x10;
        let create = |flags: libc::c_uint| {
            // SAFETY: the name is a C string.
            check("memfd_create", unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC | flags) })
        };
        // Before Linux 6.3 the flag is unknown, and every such file may be run.
        let number = create(EXECUTABLE).or_else(|error| match error.errno {
            libc::EINVAL => create(0),
            _ => Err(error),
        })?;
        // SAFETY: the kernel has just handed out this descriptor to us alone.
        let writable = unsafe { OwnedFd::from_raw_fd(number) };
        let failed =
            |call| move |error: std::io::Error| CallError::new(call, error.raw_os_error().unwrap_or(0));
        let mut writer = std::fs::File::from(writable);
        writer.write_all(&image()).map_err(failed("write"))?;
        // What is open for writing cannot be run: only this reader stays.
        let reader =
            std::fs::File::open(format!("/proc/self/fd/{}", writer.as_raw_fd())).map_err(failed("open"))?;
        drop(writer);
        let file = OwnedFd::from(reader);
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
        Ok(Self { _file: file, path, arguments: [NAME.as_ptr().cast_mut(), std::ptr::null_mut()] })
    }

    /// Forks, runs the program in the child, and reaps it. fork(2), execve(2), wait4(2).
    ///
    /// # Errors
    /// The error of fork or wait4; ECHILD where the program did not run.
    #[inline(always)]
    pub fn fork_exec_and_reap(&self) -> Result<(), CallError> {
        // SAFETY: the child makes two calls, which are async-signal-safe, and never returns.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: path and arguments live in self; the environment is empty.
            unsafe {
                libc::execve(self.path.as_ptr(), self.arguments.as_ptr().cast(), [std::ptr::null()].as_ptr());
                libc::_exit(CODE + 1)
            }
        }
        reap(check("fork", pid)?)
    }

    /// Spawns the program by the C library, and reaps it. posix_spawn(3), wait4(2).
    ///
    /// # Errors
    /// The error of posix_spawn or wait4; ECHILD where the program did not run.
    #[inline(always)]
    pub fn spawn_and_reap(&self) -> Result<(), CallError> {
        let mut pid = 0;
        let environment = [std::ptr::null_mut()];
        // SAFETY: path and arguments live in self; no actions and no attributes are given; the environment is empty.
        let result = unsafe {
            libc::posix_spawn(
                &raw mut pid,
                self.path.as_ptr(),
                std::ptr::null(),
                std::ptr::null(),
                self.arguments.as_ptr(),
                environment.as_ptr(),
            )
        };
        if result != 0 {
            return Err(CallError::new("posix_spawn", result));
        }
        reap(pid)
    }
}

/// An ELF image of one segment: its code is `exit_group(CODE)`. elf(5).
fn image() -> Vec<u8> {
    const ADDRESS: u64 = 0x40_0000;
    const HEADERS: u64 = 64 + 2 * 56;
    #[cfg(target_arch = "x86_64")]
    let (machine, code): (u16, &[u8]) =
        // mov edi, CODE; mov eax, 231; syscall
        (62, &[0xbf, CODE as u8, 0, 0, 0, 0xb8, 231, 0, 0, 0, 0x0f, 0x05]);
    #[cfg(target_arch = "aarch64")]
    let (machine, code): (u16, &[u8]) =
        // mov x0, CODE; mov x8, 94; svc 0
        (183, &[(CODE as u8) << 5, 0, 0x80, 0xd2, 0xc8, 0x0b, 0x80, 0xd2, 1, 0, 0, 0xd4]);
    let bytes = HEADERS + code.len() as u64;
    let mut image = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |image: &mut Vec<u8>, values: &[u16]| {
        values.iter().for_each(|value| image.extend(value.to_le_bytes()));
    };
    let word = |image: &mut Vec<u8>, values: &[u32]| {
        values.iter().for_each(|value| image.extend(value.to_le_bytes()));
    };
    let long = |image: &mut Vec<u8>, values: &[u64]| {
        values.iter().for_each(|value| image.extend(value.to_le_bytes()));
    };
    half(&mut image, &[2, machine]);
    word(&mut image, &[1]);
    long(&mut image, &[ADDRESS + HEADERS, 64, 0]);
    word(&mut image, &[0]);
    half(&mut image, &[64, 56, 2, 64, 0, 0]);
    // Readable and executable code; a stack that is not executable.
    word(&mut image, &[1, 5]);
    long(&mut image, &[0, ADDRESS, ADDRESS, bytes, bytes, 0x1_0000]);
    word(&mut image, &[0x6474_e551, 6]);
    long(&mut image, &[0, 0, 0, 0, 0, 16]);
    image.extend(code);
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Child, code_of};

    // In a child: other tests of this process have children of their own.
    #[test]
    fn every_way_makes_a_child_that_ends_and_is_reaped() {
        let code = code_of(|| {
            let made = || -> Result<bool, CallError> {
                fork_and_reap()?;
                let program = StaticProgram::new()?;
                program.fork_exec_and_reap()?;
                program.spawn_and_reap()?;
                is_one_unreaped()
            };
            match made() {
                Ok(unreaped) => i32::from(unreaped),
                Err(error) => error.errno,
            }
        });
        assert_eq!(code, Some(0));
    }

    #[test]
    fn a_child_that_nobody_reaped_is_seen() {
        let code = code_of(|| {
            let Ok(child) = Child::fork(|| 0) else { return 2 };
            while !child.has_ended() {
                std::thread::yield_now();
            }
            i32::from(is_one_unreaped() != Ok(true))
        });
        assert_eq!(code, Some(0));
    }
}
