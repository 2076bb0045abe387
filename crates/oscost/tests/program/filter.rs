//! Starts a program under a filter of system calls, as containers and other kernels have them. seccomp(2).

use std::process::Command;

use oscost_sys::system_call_names;

use crate::support::Home;

/// What a filter answers in place of the kernel.
pub const EPERM: u32 = 1;
const EIO: u32 = 5;
const EINVAL: u32 = 22;
const ENOSYS: u32 = 38;

/// BPF: the number of the call, into the accumulator.
const NUMBER: &str = "pack('SCCL',0x20,0,0,0)";
const ALLOW: u32 = 0x7fff_0000;

fn number(name: &str) -> i64 {
    let x86 = cfg!(target_arch = "x86_64");
    match name {
        // No operation makes these two, so the table of names has neither. syscall_64.tbl, asm-generic/unistd.h.
        "ptrace" => {
            if x86 {
                101
            } else {
                117
            }
        }
        "seccomp" => {
            if x86 {
                317
            } else {
                277
            }
        }
        _ => system_call_names::number(name).unwrap_or_else(|| panic!("no call {name}")),
    }
}

/// Returns `answer` if the accumulator is `value`.
fn answer(value: i64, answer: u32) -> String {
    format!(".pack('SCCL',0x15,0,1,{value}).pack('SCCL',6,0,0,{answer})")
}

/// A program in Perl that installs these instructions and starts the rest of its arguments; it says "no filter" where it may not.
fn installing(instructions: &str) -> String {
    let prctl = number("prctl");
    format!(
        "my $f = {instructions}; my $p = pack('Sx6P', length($f) / 8, $f); syscall({prctl}, 38, 1, 0, 0, 0); \
         syscall({prctl}, 22, 2, $p) == 0 or die 'no filter'; exec @ARGV"
    )
}

/// A kernel that has these calls, and answers ENOSYS to all others.
pub fn kernel_with(calls: &[&str]) -> String {
    let rules: String = calls.iter().map(|name| answer(number(name), ALLOW)).collect();
    installing(&format!("{NUMBER}{rules}.pack('SCCL',6,0,0,{})", 0x50000 | ENOSYS))
}

/// A sandbox that answers these errors to these calls, and allows all others.
pub fn refusing(calls: &[(&str, u32)]) -> String {
    let rules: String = calls.iter().map(|(name, errno)| answer(number(name), 0x50000 | errno)).collect();
    installing(&format!("{NUMBER}{rules}.pack('SCCL',6,0,0,{ALLOW})"))
}

/// Linux 4.19: the calls that came later, and what older ones learnt. A number from `MISSING` on is one of them.
pub fn linux_4_19() -> String {
    // The call after rseq: syscall_64.tbl, and asm-generic/unistd.h.
    const MISSING: u32 = if cfg!(target_arch = "x86_64") { 335 } else { 294 };
    const ARE_SET: u32 = 0x45;
    const EQUALS: u32 = 0x15;
    // If it is the call: the low word of its argument, an error if that is so, and the number again.
    let learnt = |name: &str, argument: u32, is: u32, value: u32, errno: u32| {
        format!(
            ".pack('SCCL',0x15,0,4,{}).pack('SCCL',0x20,0,0,{}).pack('SCCL',{is},0,1,{value}).pack('SCCL',6,0,0,{}).{NUMBER}",
            number(name),
            16 + 8 * argument,
            0x50000 | errno
        )
    };
    let rules = [
        // SECCOMP_FILTER_FLAG_NEW_LISTENER, CLONE_NEWTIME, PTRACE_GET_SYSCALL_INFO.
        learnt("seccomp", 1, ARE_SET, 1 << 3, EINVAL),
        learnt("unshare", 0, ARE_SET, 0x80, EINVAL),
        learnt("ptrace", 0, EQUALS, 0x420e, EIO),
    ];
    let missing = format!(".pack('SCCL',0x35,0,1,{MISSING}).pack('SCCL',6,0,0,{})", 0x50000 | ENOSYS);
    installing(&format!("{NUMBER}{missing}{}.pack('SCCL',6,0,0,{ALLOW})", rules.concat()))
}

/// The program with these arguments, below `filter`.
pub fn below(home: &Home, filter: &str, arguments: &[&str]) -> Command {
    let mut command = home.other("perl");
    command.args(["-e", filter, crate::support::PROGRAM]).args(arguments);
    command
}
