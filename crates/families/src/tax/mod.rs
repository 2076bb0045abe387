//! What a layer between a program and the kernel adds to one operation: with it and without it, in the same rounds.

use oscost_harness::Benchmark;

mod bpf;
mod layer;
mod on;
mod seccomp;
mod watched;

pub(crate) use on::resolve;
pub use on::{ON, id_of};

/// The layers, in the order of the price list.
const LAYERS: [&layer::Tax; 5] =
    [&seccomp::ALLOW_1, &seccomp::DOCKER_DEFAULT, &seccomp::NOTIFY, &bpf::TRACEPOINT, &bpf::UPROBE];

/// In the order of the price list.
pub const ALL: &[&dyn Benchmark] = &[LAYERS[0], LAYERS[1], LAYERS[2], LAYERS[3], LAYERS[4]];
