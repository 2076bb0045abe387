//! The tests of this crate that run programs.

mod counts;
mod synthetic;
