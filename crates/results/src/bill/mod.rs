//! The bill of a program: what it asked of the operating system, counted, and what that costs on this machine.

mod counted;
mod priced;

pub use counted::{Call, Counted, Ended, Faults, Switches, Usage, Way};
pub use priced::{Bill, Budget, Free, Item, Price, Saving};
