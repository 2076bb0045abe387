//! The tests of this crate that run programs.
#![expect(clippy::print_stdout)] // what is skipped is said

mod counts;
mod running;
mod synthetic;
