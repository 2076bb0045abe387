//! Context switches between processes or threads (document 004), with and without the price of the pipe.

use oscost_harness::Benchmark;

mod pipe;
mod pipe_alone;
mod posix_queue;
mod thread_pipe;
mod two_pipes;
mod unix_stream;
mod r#yield;

/// What stands above the rows of all switches.
const SWITCH: &str = "one switch, half a round trip";

pub const ALL: &[&dyn Benchmark] = &[
    &pipe::SAME_CPU,
    &thread_pipe::SAME_CPU,
    &unix_stream::SAME_CPU,
    &posix_queue::SAME_CPU,
    &r#yield::SAME_CPU,
    pipe_alone::SAME_CPU,
    &pipe::CROSS_CPU,
    pipe_alone::CROSS_CPU,
    &pipe::UNPINNED,
    pipe_alone::UNPINNED,
];
