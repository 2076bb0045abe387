//! The futex system call itself: waking one sleeper, and the table that all words share.

use oscost_harness::Benchmark;

use crate::row::joined;

mod hash;
mod wake_one;

pub const ALL: &[&dyn Benchmark] = &joined::<8>(&[wake_one::ALL, hash::ALL]);
