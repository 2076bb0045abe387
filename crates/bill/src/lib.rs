//! What a program pays the operating system: its calls counted, and priced.
//!
//! [`count`] runs a program twice: once free, so that its time is its own, and once counted. [`attach`] counts a program that
//! runs already, and leaves it as it was. [`price`] prices the counts by the [`tariff`], [`check`] holds the sum against the
//! program's system time, [`savings`] says what would be less by the [`replacements`], and [`budget`] bounds counts.
#![forbid(unsafe_code)]

mod attach;
pub mod budget;
#[cfg(all(feature = "bpf", target_arch = "x86_64"))]
mod by_ebpf;
#[cfg(not(all(feature = "bpf", target_arch = "x86_64")))]
#[path = "without_ebpf.rs"]
mod by_ebpf;
mod by_ptrace;
pub mod check;
mod descriptor;
mod error;
mod key;
mod parts;
pub mod price;
mod prices;
mod relatives;
pub mod replacements;
mod rules;
mod run;
pub mod savings;
mod seen;
mod tally;
pub mod tariff;
mod terms;
mod thread;
mod traced;
mod words;

pub use attach::attach;
pub use error::BillError;
pub use oscost_results::bill::{
    Call, CountedRun as Counted, CountingWay as Way, FaultCount as Faults, RunEnd as Ended,
    RunUsage as Usage, SwitchCount as Switches,
};
pub use run::{count, mean};
