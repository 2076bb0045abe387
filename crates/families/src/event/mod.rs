//! Waiting for descriptors: being woken by one of them, and asking many.

use oscost_harness::Benchmark;

mod epoll_wake;
mod poll;

pub const ALL: &[&dyn Benchmark] = &[
    &epoll_wake::SAME_CPU,
    &epoll_wake::CROSS_CPU,
    &poll::DESCRIPTORS_1,
    &poll::DESCRIPTORS_10,
    &poll::DESCRIPTORS_100,
    &poll::DESCRIPTORS_1000,
];
