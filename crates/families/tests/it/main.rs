//! Tests of the benchmarks, from outside.
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod catalogue;
mod killed_holder;
mod lacks;
mod layers;
mod planted;
mod realtime_ipc;
mod scaling;
mod support;
