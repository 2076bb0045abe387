//! UnixBench: its programs count loops for a second. Debian does not package it, so the user names the folder of its programs.

use std::collections::BTreeMap;

use oscost_harness::ForeignOutput;
use oscost_report::Reason;

use super::{Peer, figure, printed};

/// A program that runs for one second and prints "COUNT|loops|1|lps".
macro_rules! loops {
    ($name:literal by $command:expr, $share:expr; $($words:expr),*) => {
        probe!($name, $command; $($words),*; |output| a_loop(output, $share))
    };
}

pub static UNIXBENCH: Peer = Peer {
    name: "unixbench",
    package: "",
    environment: &[],
    folder_only: true,
    probes: &[
        loops!("unixbench_syscall" by &["syscall", "1", "getpid"], 1.0;
            "one getpid through the syscall function of libc", "10^9 / loops a second",
            "syscall/getpid_libc", Reason::larger("a mean, and by the syscall function; ours calls getpid of libc")),
        loops!("unixbench_pipe" by &["pipe", "1"], 1.0;
            "one write of 512 bytes to a pipe and one read of them, by one process", "10^9 / loops a second",
            "context_switch/pipe_alone/same_cpu", Reason::larger("a mean, and 512 bytes; ours writes and reads one byte")),
        loops!("unixbench_context1" by &["context1", "1"], 0.5;
            "one round trip of two processes by two pipes, 4 or 8 bytes each way", "10^9 / loops a second / 2: a round trip has two hops",
            "context_switch/pipe/same_cpu", Reason::larger("a mean, which includes every disturbance, against a floor")),
        loops!("unixbench_spawn" by &["spawn", "1"], 1.0;
            "one fork, the exit of the child and the wait", "10^9 / loops a second",
            "process/fork", Reason::either("a mean; the two programs hold different amounts of memory, which a fork copies the page tables of")),
    ],
};

/// ns of a share of a loop.
fn a_loop(output: &ForeignOutput, share: f64) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let loops = text.lines().find_map(|line| {
        let (_, rest) = line.split_once("COUNT|")?;
        rest.split('|').next()?.parse::<f64>().ok()
    });
    figure(loops.filter(|loops| *loops > 0.0).map(|loops| share * 1e9 / loops), &text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    // Version 6.0.0.
    #[test]
    fn its_lines_are_read() {
        assert_eq!(read(&UNIXBENCH, "unixbench_spawn", "COUNT|10000|1|lps\n"), 100_000.0);
        assert_eq!(read(&UNIXBENCH, "unixbench_context1", "COUNT|200000|1|lps\n"), 2500.0);
    }
}
