//! What the program knows of the machine that it measures on, and what its tick server and clients say to each other.
#![forbid(unsafe_code)]

pub mod doctor;
pub mod machine;
pub mod tick_message;
