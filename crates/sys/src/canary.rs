//! Loops in assembly whose price is the core's own: how fast its clock is, and whether a sibling shares its width.
//!
//! The **chain** is a sequence of register additions of which each waits for the one before: one core cycle a step. The
//! addend is a register that is not zero: newer cores carry out additions of constants, moves, `inc` and `lea` while they
//! rename registers, for nothing. The **check chain** tells whether a step is a cycle: a multiplication takes three times
//! as long (x86-64; Agner Fog, "Instruction tables": latency 3 of `IMUL r,r` from Nehalem and Zen on), an exclusive or as
//! long as an addition (aarch64). The **throughput loop** offers more independent instructions than a core can begin in
//! a cycle: what a sibling thread takes is missing here, while the chain hardly notices.
//!
//! Each is unrolled: counting and jumping back cost the chain nothing, and under 2 % of the throughput loop.

use std::arch::asm;

/// Steps of the chain, and of the check chain, in a pass.
pub const CHAIN_STEPS: u64 = 64;
/// Instructions of the throughput loop in a pass.
pub const THROUGHPUT_INSTRUCTIONS: u64 = 128;
/// Cycles that a step of the check chain takes.
pub const CHECK_CYCLES: f64 = if cfg!(target_arch = "x86_64") { 3.0 } else { 1.0 };

/// An operation of a register and `{operand}`, into the register.
#[cfg(target_arch = "x86_64")]
macro_rules! operation {
    ($name:expr, $register:literal) => {
        concat!($name, " {", $register, "}, {operand}")
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! operation {
    ($name:expr, $register:literal) => {
        concat!($name, " {", $register, "}, {", $register, "}, {operand}")
    };
}

/// The operation of the check chain.
#[cfg(target_arch = "x86_64")]
macro_rules! check {
    () => {
        "imul"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! check {
    () => {
        "eor"
    };
}

/// The end of a pass: back to label 2 until `{passes}` is 0.
#[cfg(target_arch = "x86_64")]
macro_rules! again {
    () => {
        "dec {passes}\njnz 2b"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! again {
    () => {
        "subs {passes}, {passes}, #1\nb.ne 2b"
    };
}

/// Runs `passes` times [`CHAIN_STEPS`] dependent additions; at least one pass.
#[inline(never)]
pub fn chain(passes: u64) {
    // SAFETY: registers alone are changed, and all of them are declared; no memory is touched.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 64",
            operation!("add", "value"),
            ".endr",
            again!(),
            passes = inout(reg) passes.max(1) => _,
            operand = in(reg) 3_u64,
            value = inout(reg) 1_u64 => _,
            options(nomem, nostack),
        );
    }
}

/// Runs `passes` times [`CHAIN_STEPS`] dependent steps of [`CHECK_CYCLES`] each; at least one pass.
#[inline(never)]
pub fn check_chain(passes: u64) {
    // SAFETY: registers alone are changed, and all of them are declared; no memory is touched.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 64",
            operation!(check!(), "value"),
            ".endr",
            again!(),
            passes = inout(reg) passes.max(1) => _,
            operand = in(reg) 3_u64,
            value = inout(reg) 1_u64 => _,
            options(nomem, nostack),
        );
    }
}

/// Runs `passes` times [`THROUGHPUT_INSTRUCTIONS`]; at least one pass. Six chains of additions keep the arithmetic units
/// busy, and instructions that do nothing fill what a wider core has left.
#[inline(never)]
pub fn throughput(passes: u64) {
    // SAFETY: registers alone are changed, and all of them are declared; no memory is touched.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept 16",
            operation!("add", "a"),
            "nop",
            operation!("add", "b"),
            operation!("add", "c"),
            "nop",
            operation!("add", "d"),
            operation!("add", "e"),
            operation!("add", "f"),
            ".endr",
            again!(),
            passes = inout(reg) passes.max(1) => _,
            operand = in(reg) 3_u64,
            a = inout(reg) 1_u64 => _,
            b = inout(reg) 1_u64 => _,
            c = inout(reg) 1_u64 => _,
            d = inout(reg) 1_u64 => _,
            e = inout(reg) 1_u64 => _,
            f = inout(reg) 1_u64 => _,
            options(nomem, nostack),
        );
    }
}
