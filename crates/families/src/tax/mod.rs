//! What a layer between a program and the kernel adds to one call: the call with it and without it, in the same rounds.

use oscost_harness::Benchmark;

mod bpf;
mod layer;
mod seccomp;

pub const ALL: &[&dyn Benchmark] =
    &[&seccomp::ALLOW_1, &seccomp::DOCKER_DEFAULT, &seccomp::NOTIFY, &bpf::TRACEPOINT, &bpf::UPROBE];
