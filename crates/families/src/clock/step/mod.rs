//! The true step of each clock, from readings taken back to back (documents 003 and 004).

pub mod gettimeofday;
pub mod monotonic;
pub mod monotonic_coarse;
pub mod monotonic_raw;
mod readings;
pub mod realtime;
pub mod tsc;
