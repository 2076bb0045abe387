//! Traced threads: seized, their stops told apart, and how they go on. ptrace(2).

use crate::{CallError, error::check, system_call_names};

/// What a tracer is told of: calls, and everybody whom the traced start. Who is seized with nothing else is let go when its
/// tracer dies.
const FOLLOW: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC;

/// A call that is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entered {
    /// Number of the call; of one of the 32-bit ABI, which has its own, the number here of what changes what a tracer has to know,
    /// and of all others one that no call has.
    pub number: i64,
    /// Whether it is made in the 32-bit ABI.
    pub is_32_bit: bool,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// Instruction and stack pointer: a call that the kernel restarts has both of the call that was interrupted.
    pub at: (u64, u64),
}

/// Why a traced thread has stopped, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// It enters a call.
    Entered(Entered),
    /// It leaves one, with this result (negative: -errno).
    Left(i64),
    /// It has started another thread or process, which is traced, too.
    Started(i32),
    /// It has become another program; before, it had this number.
    Executed(i32),
    /// A signal is about to be delivered.
    Signal(i32),
    /// It is stopped as everybody of its process, by this signal.
    Group(i32),
    /// The first stop of a new thread, or one that the tracer asked for.
    Tracer,
    /// It has ended with a code.
    Exited(i32),
    /// A signal has ended it.
    Killed(i32),
}

/// Makes the caller the tracee of its parent.
///
/// # Errors
/// The error of ptrace.
pub(crate) fn ask_for_tracer() -> Result<(), CallError> {
    // SAFETY: PTRACE_TRACEME takes no argument.
    if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } == -1 {
        return Err(CallError::last("ptrace"));
    }
    Ok(())
}

/// Follows who has asked for it and is stopped, and its descendants, which die with the tracer.
pub(crate) fn follow(tid: i32) -> Result<(), CallError> {
    request(libc::PTRACE_SETOPTIONS as Request, tid, FOLLOW | libc::PTRACE_O_EXITKILL)
}

/// Whether those who are seized die with their tracer, or are let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They die with it.
    Shared,
    /// They are let go.
    Own,
}

/// Traces a running thread, and whatever it starts from now on. It runs on until it is interrupted.
///
/// # Errors
/// The error of ptrace: EPERM where the thread belongs to somebody else, is traced already, or a security module forbids it;
/// ESRCH where there is none.
pub fn seize(tid: i32, fate: Fate) -> Result<(), CallError> {
    let kill = if fate == Fate::Shared { libc::PTRACE_O_EXITKILL } else { 0 };
    request(libc::PTRACE_SEIZE as Request, tid, FOLLOW | kill)
}

/// Asks a running thread to stop ([`Stop::Tracer`], unless it stops for another reason first).
///
/// # Errors
/// The error of ptrace; ESRCH where it has ended.
pub fn interrupt(tid: i32) -> Result<(), CallError> {
    request(libc::PTRACE_INTERRUPT as Request, tid, 0)
}

/// Lets a stopped thread go on to its next stop, with `signal` delivered (0: none). One that died meanwhile is no error.
pub fn go_on(tid: i32, signal: i32) {
    let _ = request(libc::PTRACE_SYSCALL as Request, tid, signal);
}

/// Leaves a thread stopped as its process is, until somebody continues the process.
pub fn stay(tid: i32) {
    let _ = request(libc::PTRACE_LISTEN as Request, tid, 0);
}

/// Lets a stopped thread go for good, with `signal` delivered (0: none).
///
/// # Errors
/// The error of ptrace; ESRCH where it has died, or is not stopped.
pub fn let_go(tid: i32, signal: i32) -> Result<(), CallError> {
    request(libc::PTRACE_DETACH as Request, tid, signal)
}

/// PTRACE_GET_SYSCALL_INFO of linux/ptrace.h, its answers, and struct ptrace_syscall_info: of musl, libc does not define them.
const GET_SYSCALL_INFO: Request = 0x420e;
const ENTRY: u8 = 1;
const EXIT: u8 = 2;
#[cfg(target_env = "gnu")]
type Request = libc::c_uint;
#[cfg(not(target_env = "gnu"))]
type Request = libc::c_int;

fn request(request: Request, tid: i32, data: i32) -> Result<(), CallError> {
    // SAFETY: the requests of this module take their data by value, and no address.
    let result = unsafe { libc::ptrace(request, tid, 0, libc::c_long::from(data)) };
    if result == -1 { Err(CallError::last("ptrace")) } else { Ok(()) }
}

#[repr(C)]
struct CallInfo {
    op: u8,
    _pad: [u8; 3],
    /// AUDIT_ARCH_ of linux/audit.h: that of the call, and not of the program.
    architecture: u32,
    instruction: u64,
    stack: u64,
    /// The number of an entered call; the result of one that is left.
    number: u64,
    arguments: [u64; 6],
    _rest: u64,
}

/// The next stop of a traced thread, or end of a child; `None` with `look_only` where there is none yet.
///
/// # Errors
/// ECHILD: nobody is left. EIO: the kernel does not know which call a thread is at (before Linux 5.3); none may pass for no calls.
pub fn next(look_only: bool) -> Result<Option<(i32, Stop)>, CallError> {
    let mut status = 0;
    let flags = libc::__WALL | if look_only { libc::WNOHANG } else { 0 };
    let tid = loop {
        // SAFETY: the kernel writes a status to a local variable.
        match check("wait4", unsafe { libc::waitpid(-1, &raw mut status, flags) }) {
            Err(error) if error.errno == libc::EINTR => {}
            other => break other?,
        }
    };
    if tid == 0 {
        return Ok(None);
    }
    if libc::WIFEXITED(status) {
        return Ok(Some((tid, Stop::Exited(libc::WEXITSTATUS(status)))));
    }
    if libc::WIFSIGNALED(status) {
        return Ok(Some((tid, Stop::Killed(libc::WTERMSIG(status)))));
    }
    let signal = libc::WSTOPSIG(status);
    let stop = match status >> 16 {
        0 if signal == libc::SIGTRAP | 0x80 => at_call(tid)?,
        0 => Stop::Signal(signal),
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
            Stop::Started(message(tid))
        }
        libc::PTRACE_EVENT_EXEC => Stop::Executed(message(tid)),
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Stop::Group(signal),
        _ => Stop::Tracer,
    };
    Ok(Some((tid, stop)))
}

/// What the kernel tells beside an event: the number of a thread. 0 where the thread has died.
fn message(tid: i32) -> i32 {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one number to a local variable.
    unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, 0, &raw mut message) };
    i32::try_from(message).unwrap_or(0)
}

/// The call that a stopped thread is entering or leaving. Who died meanwhile is told of by its end.
fn at_call(tid: i32) -> Result<Stop, CallError> {
    // SAFETY: an all-zero structure is valid.
    let mut info: CallInfo = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most the given size to a local variable.
    let written = unsafe { libc::ptrace(GET_SYSCALL_INFO, tid, size_of::<CallInfo>(), &raw mut info) };
    if written == -1 {
        let error = CallError::last("PTRACE_GET_SYSCALL_INFO (Linux 5.3)");
        return if error.errno == libc::EIO { Err(error) } else { Ok(Stop::Tracer) };
    }
    Ok(match info.op {
        ENTRY => Stop::Entered(entered(&info)),
        EXIT => Stop::Left(info.number.cast_signed()),
        _ => Stop::Tracer,
    })
}

fn entered(info: &CallInfo) -> Entered {
    /// __AUDIT_ARCH_64BIT.
    const HAS_64_BITS: u32 = 0x8000_0000;
    let is_32_bit = info.architecture & HAS_64_BITS == 0;
    let number = i64::try_from(info.number).unwrap_or(-1);
    Entered {
        number: if is_32_bit { of_32_bits(number) } else { number },
        is_32_bit,
        arguments: info.arguments,
        at: (info.instruction, info.stack),
    }
}

/// The number here of a call of the 32-bit ABI, by those that x86 and Arm have in common.
fn of_32_bits(number: i64) -> i64 {
    /// In no number of this ABI.
    const NONE: i64 = 1 << 16;
    let name = match number {
        0 => "restart_syscall",
        2 => "fork",
        26 => "ptrace",
        119 | 173 => "rt_sigreturn",
        120 => "clone",
        190 => "vfork",
        435 => "clone3",
        _ => "",
    };
    system_call_names::number(name).unwrap_or(NONE | number)
}

/// Eight bytes of a stopped thread's memory. process_vm_readv(2).
#[must_use]
pub fn word(tid: i32, address: u64) -> Option<u64> {
    let mut word = 0u64;
    let into = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<u64>() };
    let from = libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(usize::try_from(address).ok()?),
        iov_len: size_of::<u64>(),
    };
    // SAFETY: the kernel writes at most eight bytes to a local variable, and reads memory of another process.
    let read = unsafe { libc::process_vm_readv(tid, &raw const into, 1, &raw const from, 1, 0) };
    (read == 8).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_of_the_32_bit_abi_has_another_number() {
        let info = |architecture, number| CallInfo {
            op: ENTRY,
            _pad: [0; 3],
            architecture,
            instruction: 1,
            stack: 2,
            number,
            arguments: [3; 6],
            _rest: 0,
        };
        // AUDIT_ARCH_X86_64 and AUDIT_ARCH_I386: 3 is read there, and close here.
        let [here, there] = [0xc000_003e, 0x4000_0003].map(|architecture| entered(&info(architecture, 3)));
        assert_eq!((here.number, here.is_32_bit), (3, false));
        assert_eq!((there.is_32_bit, there.arguments, there.at), (true, [3; 6], (1, 2)));
        assert_eq!(system_call_names::name(there.number), None);
        let clone = entered(&info(0x4000_0003, 120));
        assert_eq!(Some(clone.number), system_call_names::number("clone"));
        assert_eq!(entered(&info(0xc000_003e, u64::MAX)).number, -1);
    }
}
