//! CPUs: which ones this thread may use, which one it is on, and pinning it. sched_setaffinity(2), sched_getcpu(3).

use crate::{CallError, error::check};

/// A set of CPUs as the kernel has it, a bit for each: libc's holds 1024, and a kernel with more refuses it.
type Set = [u64; MOST / 64];
/// More CPUs than this no kernel is built for.
const MOST: usize = 8192;

/// CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// The error of sched_getaffinity.
pub fn allowed() -> Result<Vec<usize>, CallError> {
    of_process(0)
}

/// CPUs that process or thread `pid` may run on, ascending; 0 is the calling thread.
///
/// # Errors
/// The error of sched_getaffinity.
pub fn of_process(pid: i32) -> Result<Vec<usize>, CallError> {
    let mut set: Set = [0; MOST / 64];
    // SAFETY: the kernel writes at most the given size to the local set.
    check("sched_getaffinity", unsafe {
        libc::sched_getaffinity(pid, size_of::<Set>(), (&raw mut set).cast())
    })?;
    Ok(members(&set))
}

fn members(set: &Set) -> Vec<usize> {
    (0..MOST).filter(|cpu| set[cpu / 64] >> (cpu % 64) & 1 == 1).collect()
}

/// Those of them that can be.
fn set_of(cpus: &[usize]) -> Set {
    let mut set: Set = [0; MOST / 64];
    cpus.iter().filter(|&&cpu| cpu < MOST).for_each(|cpu| set[cpu / 64] |= 1 << (cpu % 64));
    set
}

/// Pins the calling thread to one CPU.
///
/// # Errors
/// EINVAL where the CPU does not exist or is not in the cpuset.
pub fn pin_to(cpu: usize) -> Result<(), CallError> {
    pin_to_all(&[cpu])
}

/// Lets the calling thread run on these CPUs only.
///
/// # Errors
/// EINVAL where none of them exists or is in the cpuset.
pub fn pin_to_all(cpus: &[usize]) -> Result<(), CallError> {
    let set = set_of(cpus);
    // SAFETY: the kernel reads the local set.
    check("sched_setaffinity", unsafe {
        libc::sched_setaffinity(0, size_of::<Set>(), (&raw const set).cast())
    })
    .map(|_| ())
}

/// CPU that the calling thread is on: about 2 ns by rseq, and a system call where libc has neither that nor the vDSO for it.
/// `None` where the kernel does not say.
#[inline(always)]
#[must_use]
pub fn current() -> Option<usize> {
    // SAFETY: takes no argument.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Says whether the calling thread is on `cpu`, where it was pinned.
///
/// # Errors
/// EXDEV where it is on another CPU, ENOSYS where the kernel does not say.
pub fn still_on(cpu: usize) -> Result<(), CallError> {
    match current() {
        Some(here) if here == cpu => Ok(()),
        Some(_) => Err(CallError::new("sched_getcpu", libc::EXDEV)),
        None => Err(CallError::new("sched_getcpu", libc::ENOSYS)),
    }
}

#[cfg(not(target_env = "musl"))]
unsafe extern "C" {
    /// glibc 2.29 and newer.
    fn getcpu(cpu: *mut libc::c_uint, node: *mut libc::c_uint) -> libc::c_int;
}

/// musl has none, and its sched_getcpu knows no node: the raw call.
///
/// # Safety
/// Both are valid for a write.
#[cfg(target_env = "musl")]
#[inline(always)]
unsafe fn getcpu(cpu: *mut libc::c_uint, node: *mut libc::c_uint) -> libc::c_int {
    // SAFETY: both are valid, as the caller says; the kernel does not look at the third.
    unsafe { libc::syscall(libc::SYS_getcpu, cpu, node, std::ptr::null_mut::<libc::c_void>()) as libc::c_int }
}

/// CPU and node of the caller by getcpu(2), as libc reaches it: through the vDSO where there is one, but not in musl.
///
/// # Errors
/// The error of getcpu.
#[inline(always)]
pub fn cpu_and_node() -> Result<(u32, u32), CallError> {
    let (mut cpu, mut node) = (0, 0);
    // SAFETY: writes two integers to local variables.
    check("getcpu", unsafe { getcpu(&raw mut cpu, &raw mut node) })?;
    Ok((cpu, node))
}

/// Gives the calling thread the lowest class: it runs only where the CPU would idle. sched(7), SCHED_IDLE.
///
/// The raw call, because the wrapper of another libc (musl) refuses it.
///
/// # Errors
/// The error of sched_setscheduler.
pub fn run_only_when_idle() -> Result<(), CallError> {
    let priority: libc::c_int = 0;
    // SAFETY: the kernel reads one sched_param, which is a priority alone.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const priority) };
    check("sched_setscheduler", i32::try_from(result).unwrap_or(-1)).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_the_cpus_of_the_largest_machine_and_the_kernel_takes_it() {
        let cpus = [0, 1, 63, 64, 1023, 1024, 1500, MOST - 1];
        assert_eq!(members(&set_of(&cpus)), cpus);
        assert_eq!(members(&set_of(&[MOST, usize::MAX])), [0usize; 0], "no kernel has these");
        let all = allowed().expect("CPUs");
        std::thread::spawn(move || {
            for cpu in all {
                pin_to(cpu).expect("it is allowed");
                assert_eq!(allowed().expect("one"), [cpu]);
            }
        })
        .join()
        .expect("it ends");
    }
}
