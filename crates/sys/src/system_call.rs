//! System calls by inline assembly, without libc: what remains in a loop is `mov; syscall; dec; jne`.
//!
//! On some processors a call costs 24 to 115 ns more where a function returns behind it: through a libc wrapper always, and in a
//! loop from its second run on, by where the code behind the loop lies. Returns that are foreseen beyond a kernel entry seem to
//! make the kernel's own mispredict. So an operation that is to be the price of a kernel entry must not be behind a function call.
//! Source: syscall(2), the psABI of the architecture.

use crate::CallError;

/// The number that no kernel has: the price of entering the kernel and being refused.
pub const INVALID: i64 = 0x7fff;

/// Makes a system call without arguments and returns what the kernel returned (negative: -errno).
///
/// Only calls without arguments, which can neither read nor write memory of the process, are reachable from here.
#[inline(always)]
#[must_use]
fn raw0(number: i64) -> i64 {
    let result: i64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the callers below pass numbers of calls that take no argument and touch no memory of the process; rcx and
    // r11 are clobbered by `syscall` and declared so. No argument register is loaded: the loop has nothing but the call.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; the kernel preserves every register but x0.
    unsafe {
        std::arch::asm!("svc 0", in("x8") number, lateout("x0") result, options(nostack));
    }
    result
}

/// Makes a system call with three arguments.
///
/// # Safety
/// The call must not violate memory safety with these arguments: pointers must be valid for what the call does.
#[inline(always)]
#[must_use]
pub(crate) unsafe fn raw3(number: i64, a: usize, b: usize, c: usize) -> i64 {
    let result: i64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller vouches for the call; rcx and r11 are clobbered by `syscall` and declared so.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller vouches for the call; the kernel preserves every register but x0.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b,
            in("x2") c,
            options(nostack)
        );
    }
    result
}

/// Makes a system call with four arguments.
///
/// # Safety
/// The call must not violate memory safety with these arguments: pointers must be valid for what the call does.
#[inline(always)]
#[must_use]
pub(crate) unsafe fn raw4(number: i64, a: usize, b: usize, c: usize, d: usize) -> i64 {
    let result: i64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller vouches for the call; rcx and r11 are clobbered by `syscall` and declared so.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller vouches for the call; the kernel preserves every register but x0.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            options(nostack)
        );
    }
    result
}

/// getppid(2): the cheapest call that does something. It cannot fail.
#[inline(always)]
pub fn getppid() -> i64 {
    raw0(libc::SYS_getppid)
}

/// getpid(2), never answered from a cache of libc. It cannot fail.
#[inline(always)]
pub fn getpid() -> i64 {
    raw0(libc::SYS_getpid)
}

/// getpid(2) through the wrapper of libc.
#[inline(always)]
pub fn getpid_libc() -> i32 {
    // SAFETY: getpid takes no argument and cannot fail.
    unsafe { libc::getpid() }
}

/// A call number that no kernel has; the kernel answers ENOSYS.
///
/// # Errors
/// Where the kernel answers anything else.
#[inline(always)]
pub fn invalid() -> Result<(), CallError> {
    let result = raw0(INVALID);
    if result == -i64::from(libc::ENOSYS) {
        Ok(())
    } else {
        Err(CallError::new("invalid system call", i32::try_from(-result).unwrap_or(0)))
    }
}

/// Enters the kernel by [`INVALID`] and comes back, whatever it answers: the bare price of an entry. Where a filter ends
/// the process for it, there is no return.
#[inline(always)]
pub fn enter() {
    let _ = raw0(INVALID);
}

/// sched_yield(2).
///
/// # Errors
/// What the kernel answers, if anything but 0.
#[inline(always)]
pub fn sched_yield() -> Result<(), CallError> {
    status("sched_yield", raw0(libc::SYS_sched_yield)).map(|_| ())
}

/// sched_yield(2) through the wrapper of libc.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub fn sched_yield_libc() -> Result<(), CallError> {
    // SAFETY: sched_yield takes no argument.
    match unsafe { libc::sched_yield() } {
        0 => Ok(()),
        _ => Err(CallError::last("sched_yield")),
    }
}

/// read(2) of up to `buffer.len()` bytes; the number of bytes read.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub fn read(fd: i32, buffer: &mut [u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes to a buffer that is borrowed mutably.
    status("read", unsafe { raw3(libc::SYS_read, fd as usize, buffer.as_mut_ptr() as usize, buffer.len()) })
}

/// read(2) through the wrapper of libc.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub fn read_libc(fd: i32, buffer: &mut [u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes to a buffer that is borrowed mutably.
    let got = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(got).map_err(|_| CallError::last("read"))
}

/// write(2) of `buffer`; the number of bytes written.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub fn write(fd: i32, buffer: &[u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel reads at most `buffer.len()` bytes of a borrowed buffer.
    status("write", unsafe { raw3(libc::SYS_write, fd as usize, buffer.as_ptr() as usize, buffer.len()) })
}

/// getrandom(2) by a kernel entry, where libc may answer from the vDSO; the number of bytes filled.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub fn getrandom(bytes: &mut [u8]) -> Result<usize, CallError> {
    // SAFETY: the kernel writes at most `bytes.len()` bytes to a buffer that is borrowed mutably.
    status("getrandom", unsafe { raw3(libc::SYS_getrandom, bytes.as_mut_ptr() as usize, bytes.len(), 0) })
}

/// Commands of membarrier(2) that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Membarrier {
    /// Which commands there are: a bit each.
    Query = 0,
    /// A barrier on every CPU that runs a thread of this process.
    Private = 1 << 3,
    /// This process will ask for [`Membarrier::Private`].
    RegisterPrivate = 1 << 4,
}

/// membarrier(2).
///
/// # Errors
/// The error of the kernel: EPERM for an unregistered process, ENOSYS where it has no such call.
#[inline(always)]
pub fn membarrier(command: Membarrier) -> Result<usize, CallError> {
    // SAFETY: the call touches no memory of the process.
    status("membarrier", unsafe { raw3(libc::SYS_membarrier, command as usize, 0, 0) })
}

/// mprotect(2) of the caller's own memory.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub(crate) fn mprotect(start: std::ptr::NonNull<u8>, bytes: usize, protection: i32) -> Result<(), CallError> {
    // SAFETY: the call changes no byte; the caller owns the range, and uses it as the protection allows.
    let result = unsafe {
        raw3(
            libc::SYS_mprotect,
            start.as_ptr().expose_provenance(),
            bytes,
            protection.cast_unsigned() as usize,
        )
    };
    status("mprotect", result).map(|_| ())
}

/// kill(2) of the calling process, which is `own`.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub(crate) fn kill(own: i32, signal: i32) -> Result<usize, CallError> {
    // SAFETY: the call touches no memory of the process; a handler that runs then is its installer's affair.
    status("kill", unsafe {
        raw3(libc::SYS_kill, own.cast_unsigned() as usize, signal.cast_unsigned() as usize, 0)
    })
}

/// clock_gettime(2) by a kernel entry, where libc would answer from the vDSO. Seconds and ns of CLOCK_MONOTONIC.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub fn clock_gettime_monotonic() -> Result<libc::timespec, CallError> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec to a local variable.
    let result =
        unsafe { raw3(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC as usize, &raw mut time as usize, 0) };
    status("clock_gettime", result).map(|_| time)
}

/// clock_gettime(2) of any clock by a kernel entry, ns: what interposes on libc's is not asked.
///
/// # Errors
/// The error of the kernel: EINVAL for a clock that there is not.
pub(crate) fn clock_ns(id: libc::clockid_t) -> Result<u64, CallError> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec to a local variable; of the number it reads 32 bits.
    let result = unsafe { raw3(libc::SYS_clock_gettime, id as usize, &raw mut time as usize, 0) };
    status("clock_gettime", result).map(|_| crate::clock::nanoseconds(&time))
}

/// gettimeofday(2) by a kernel entry, where libc would answer from the vDSO.
///
/// # Errors
/// The error of the kernel.
#[inline(always)]
pub fn gettimeofday() -> Result<libc::timeval, CallError> {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: the kernel writes one timeval to a local variable; the time zone pointer is null.
    let result = unsafe { raw3(libc::SYS_gettimeofday, &raw mut time as usize, 0, 0) };
    status("gettimeofday", result).map(|_| time)
}

/// A marker closes a descriptor that no process can have (fs.nr_open ends at 2^30), with the phase in its low bits.
///
/// It is close(2) because every filter under which a program runs allows that. A number that no kernel has would be answered by
/// the filter of a container (Docker's default profile: EPERM) before whoever counts system calls is asked.
const MARKED: u64 = 0x6f73_0000;

/// Name of the call that [`marker`] makes.
pub const MARKER: &str = "close";
/// Markers around what an audit counts.
pub const MARKERS: u64 = 2;

/// Brackets what the audit counts: whoever counts system calls sees the call and `phase`. The kernel answers EBADF.
pub fn marker(phase: usize) {
    // SAFETY: there is no such descriptor, so nothing is closed.
    let _ = unsafe { raw3(libc::SYS_close, MARKED as usize | phase, 0, 0) };
}

/// The phase of a marker; `None` if the call of this number and first argument is none.
pub(crate) fn marked(number: i64, argument: u64) -> Option<u64> {
    (number == libc::SYS_close && argument & !0xffff == MARKED).then_some(argument & 0xffff)
}

#[inline(always)]
fn status(call: &'static str, result: i64) -> Result<usize, CallError> {
    if result < 0 {
        Err(failure(call, result))
    } else {
        // not negative, and a usize is 64 bits here
        Ok(result as usize)
    }
}

#[cold]
fn failure(call: &'static str, result: i64) -> CallError {
    CallError::new(call, i32::try_from(-result).unwrap_or(0))
}
