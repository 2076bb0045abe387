//! The bill of a program: what it asked of the operating system, counted, and what that costs on this machine.

mod counted;
mod priced;

pub use counted::{
    Call, CountedRun, CountingWay, EndCount, FaultCount, FaultKinds, ForkCount, Looks, RunEnd, RunUsage,
    SwitchCount,
};
pub use priced::{Bill, BillItem, Budget, Price, Saving};
