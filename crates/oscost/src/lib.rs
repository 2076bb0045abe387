//! What the program's tick server and clients say to each other.
#![forbid(unsafe_code)]

pub mod tick_message;
