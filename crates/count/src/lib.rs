//! Counts how many instructions an operation takes on a kernel, and in which functions, from outside an emulated machine.
//!
//! The kernel is booted in qemu without hardware help, on one CPU, with one ns of the guest's time an instruction. The
//! program is the guest's first process ([`guest`]); the host ([`boot`], [`trace`]) starts the machine, reads frames from a
//! serial line, and follows single instructions through qemu's gdbstub and its log. docs/method/counts.md.
#![forbid(unsafe_code)]

pub mod archive;
pub mod boot;
mod console;
mod elf;
pub mod emulator;
mod error;
pub mod figure;
pub mod frame;
pub mod gdb;
pub mod guest;
pub mod image;
mod instruction;
mod load;
mod log;
pub mod message;
pub mod program;
pub mod symbols;
pub mod trace;
pub mod tree;
pub mod unpack;
pub mod unusual;

pub use error::Error;

/// How a figure's remark begins that its tree is missing.
pub const NO_TREE: &str = "there is no tree";
