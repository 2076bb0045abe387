//! What containers are made of: namespaces, made and left behind for the kernel to take down.

use oscost_harness::Benchmark;

mod namespace;

pub const ALL: &[&dyn Benchmark] = &[
    &namespace::NONE,
    &namespace::USER,
    &namespace::MOUNT,
    &namespace::NET,
    &namespace::PID,
    &namespace::IPC,
    &namespace::UTS,
    &namespace::CGROUP,
    &namespace::TIME,
];
