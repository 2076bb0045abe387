//! Waiting for descriptors: being woken by one of them, and asking many.

use oscost_harness::Benchmark;

use crate::row::joined;

mod epoll_wake;
mod poll;

pub const ALL: &[&dyn Benchmark] = &joined::<10>(&[epoll_wake::ALL, poll::ALL]);
