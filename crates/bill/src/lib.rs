//! What a program pays the operating system, counted: calls by what decides their price, sleeps, faults, signals, switches.
//!
//! [`count`] runs a program twice: once free, so that its time is its own, and once counted. [`attach`] counts a program that
//! runs already, and leaves it as it was.
#![forbid(unsafe_code)]

mod attach;
#[cfg(all(feature = "bpf", target_arch = "x86_64"))]
mod by_ebpf;
#[cfg(not(all(feature = "bpf", target_arch = "x86_64")))]
#[path = "without_ebpf.rs"]
mod by_ebpf;
mod by_ptrace;
mod descriptor;
mod error;
mod key;
mod rules;
mod run;
mod seen;
mod tally;
mod thread;

pub use attach::attach;
pub use error::BillError;
pub use oscost_results::bill::{
    Call, CountedRun as Counted, CountingWay as Way, FaultCount as Faults, RunEnd as Ended,
    RunUsage as Usage, SwitchCount as Switches,
};
pub use run::count;
