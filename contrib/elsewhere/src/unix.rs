//! What the programs ask of a Unix: clocks, priorities, two processes and their pipes.

use std::io;

/// Microseconds since 1970, as documents 002 and 004 read them.
#[inline(always)]
pub fn gettimeofday_us() -> u64 {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: the time is ours; no time zone is asked for.
    unsafe { libc::gettimeofday(&raw mut time, std::ptr::null_mut()) };
    time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
}

/// CLOCK_MONOTONIC as document 003 reads it: seconds and nanoseconds.
#[inline(always)]
pub fn monotonic() -> (i64, i64) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    (time.tv_sec, time.tv_nsec)
}

/// getpid of the C library.
#[inline(always)]
pub fn getpid() -> i32 {
    // SAFETY: takes nothing.
    unsafe { libc::getpid() }
}

/// Reads 0 bytes.
#[inline(always)]
pub fn read_nothing(fd: i32) -> io::Result<()> {
    // SAFETY: nothing is written for a length of 0.
    if unsafe { libc::read(fd, std::ptr::null_mut(), 0) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The highest SCHED_RR priority of this system, or so much below it: what became of the wish, in words.
pub fn real_time(below: i32) -> String {
    // SAFETY: asks for a number.
    let priority = unsafe { libc::sched_get_priority_max(libc::SCHED_RR) } - below;
    // SAFETY: a plain structure of numbers, for which zeros are values.
    let mut wish: libc::sched_param = unsafe { std::mem::zeroed() };
    wish.sched_priority = priority;
    // SAFETY: this thread's own handle, and a structure of ours.
    let refused =
        unsafe { libc::pthread_setschedparam(libc::pthread_self(), libc::SCHED_RR, &raw const wish) };
    if refused == 0 { format!("SCHED_RR {priority}") } else { "refused".to_owned() }
}

/// The system's name and release.
pub fn system() -> String {
    // SAFETY: a structure of characters, for which zeros are values.
    let mut name: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours.
    unsafe { libc::uname(&raw mut name) };
    format!("{} {} {}", text(&name.sysname), text(&name.release), text(&name.machine))
}

fn text(field: &[libc::c_char]) -> String {
    // SAFETY: uname ends each field by a zero, and so do zeros.
    unsafe { std::ffi::CStr::from_ptr(field.as_ptr()) }.to_string_lossy().into_owned()
}

/// A child that does this and ends: its process id.
pub fn fork(body: impl FnOnce() -> io::Result<()>) -> io::Result<libc::pid_t> {
    // SAFETY: this program has one thread wherever it forks, and the child leaves by _exit.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the alarm ends a child whose partner died, and _exit ends this one at once; what is buffered is the parent's.
        0 => unsafe {
            libc::alarm(60);
            libc::_exit(i32::from(body().is_err()))
        },
        child => Ok(child),
    }
}

/// Waits for a child, which must have done its work.
pub fn wait(child: libc::pid_t) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: the status is ours.
    match unsafe { libc::waitpid(child, &raw mut status, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ if status == 0 => Ok(()),
        _ => Err(io::Error::other("a child failed")),
    }
}

/// Asks that processes of this tag share a processor: what became of the wish.
#[cfg(target_vendor = "apple")]
pub fn tag(tag: i32) -> Result<(), String> {
    const THREAD_AFFINITY_POLICY: u32 = 4;
    unsafe extern "C" {
        fn mach_thread_self() -> u32;
        fn thread_policy_set(thread: u32, flavor: u32, policy: *mut i32, count: u32) -> i32;
    }
    let mut tag = tag;
    // SAFETY: the policy is one number, as its flavour has it; the right to this thread ends with the process.
    let told = unsafe { thread_policy_set(mach_thread_self(), THREAD_AFFINITY_POLICY, &raw mut tag, 1) };
    if told == 0 { Ok(()) } else { Err(format!("thread_policy_set: kern_return_t {told}")) }
}

/// Linux has no tags; one CPU is what they would ask for.
#[cfg(not(target_vendor = "apple"))]
pub fn tag(_: i32) -> Result<(), String> {
    // SAFETY: a structure of bits, for which zeros are values.
    let mut cpus: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the CPU that we are on is below the size of the set, which is ours.
    let refused = unsafe {
        let cpu = libc::sched_getcpu();
        libc::CPU_SET(usize::try_from(cpu).unwrap_or(0), &mut cpus);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const cpus)
    };
    if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error().to_string()) }
}
