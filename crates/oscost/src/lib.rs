//! Messages between the program's tick server and its clients.
#![forbid(unsafe_code)]

pub mod tick_message;
