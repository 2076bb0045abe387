//! Waiting for descriptors: being woken by one of them, and asking many.

use oscost_harness::Benchmark;

mod epoll_wake;
mod poll;

pub const ALL: &[&dyn Benchmark] = &[
    &epoll_wake::SAME_CPU,
    &epoll_wake::CROSS_CPU,
    &poll::AT_ONCE_1,
    &poll::AT_ONCE_10,
    &poll::AT_ONCE_100,
    &poll::AT_ONCE_1000,
    &poll::MAY_WAIT_1,
    &poll::MAY_WAIT_10,
    &poll::MAY_WAIT_100,
    &poll::MAY_WAIT_1000,
];
