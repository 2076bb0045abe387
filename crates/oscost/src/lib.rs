//! What the program knows of the machine that it measures on.
#![forbid(unsafe_code)]

pub mod doctor;
pub mod machine;
