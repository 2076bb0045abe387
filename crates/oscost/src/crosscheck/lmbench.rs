//! lmbench 3: `lat_*`. Debian does not package it as free software, so the user names the folder of its programs.

use std::collections::BTreeMap;

use oscost_harness::ForeignOutput;

use super::{Peer, Probe, before, figure, printed};

/// A program that prints "words: number microseconds".
macro_rules! microseconds {
    ($name:literal, $command:expr, $mark:literal, $factor:expr, $measures:literal, $conversion:literal, $counterpart:expr, $differs:literal) => {
        Probe {
            name: $name,
            command: $command,
            measures: $measures,
            conversion: $conversion,
            counterpart: $counterpart,
            differs: $differs,
            reader: |output| before(output, $mark, "microseconds", $factor),
            ..Probe::PLAIN
        }
    };
}

pub static LMBENCH: Peer = Peer {
    name: "lmbench",
    package: "",
    // What it needs of time for a measurement, us: its own choice is by a search that takes many seconds.
    environment: &[("ENOUGH", "20000")],
    probes: &[
        microseconds!(
            "lat_syscall_null",
            &["lat_syscall", "-N", "1", "null"],
            "Simple syscall",
            1e3,
            "one getppid through libc, the loop's own cost subtracted",
            "microseconds x 1000",
            Some("syscall/getpid_libc"),
            "another empty call by the same path: it calls getppid, ours getpid"
        ),
        microseconds!(
            "lat_syscall_read",
            &["lat_syscall", "-N", "1", "read"],
            "Simple read",
            1e3,
            "one read of one byte of /dev/zero through libc",
            "microseconds x 1000",
            Some("syscall/read1"),
            "through libc; ours by inline assembly"
        ),
        microseconds!(
            "lat_syscall_write",
            &["lat_syscall", "-N", "1", "write"],
            "Simple write",
            1e3,
            "one write of one byte to /dev/null through libc",
            "microseconds x 1000",
            Some("syscall/write1"),
            "through libc; ours by inline assembly"
        ),
        Probe {
            name: "lat_ctx",
            command: &["lat_ctx", "-N", "1", "-s", "0", "2"],
            measures: "one switch between two processes by pipes, the pipe's price in one process subtracted",
            conversion: "(microseconds + the overhead \"ovr\" that it subtracted) x 1000: the hop with its pipe",
            counterpart: Some("context_switch/pipe/same_cpu"),
            differs: "",
            reader: hop,
            ..Probe::PLAIN
        },
        microseconds!(
            "lat_pipe",
            &["lat_pipe", "-N", "1"],
            "Pipe latency",
            1e3 / 2.0,
            "one round trip of two processes by two pipes",
            "microseconds x 1000 / 2: a round trip has two hops",
            Some("context_switch/pipe/same_cpu"),
            ""
        ),
        microseconds!(
            "lat_unix",
            &["lat_unix", "-N", "1"],
            "AF_UNIX",
            1e3 / 2.0,
            "one round trip of two processes by a Unix stream socket",
            "microseconds x 1000 / 2",
            Some("context_switch/unix_stream/same_cpu"),
            "a hop takes one switch or two, because freeing a message wakes its sender: 1.4 in an endless loop, more in our short batches"
        ),
        microseconds!(
            "lat_sem",
            &["lat_sem", "-N", "1"],
            "Semaphore latency",
            1e3,
            "one hand-over by System V semaphores, both operations in one semop",
            "microseconds x 1000: it divides the round trip by two itself",
            Some("semaphore/system_v/handover/same_cpu"),
            "one call for the wait and the post; ours makes two"
        ),
        microseconds!(
            "lat_fcntl",
            &["lat_fcntl", "-N", "1"],
            "Fcntl lock latency",
            1e3,
            "one wait for and one release of record locks between two processes",
            "microseconds x 1000: it divides by two itself",
            Some("record_lock/fcntl/handover/same_cpu"),
            "four calls and two thirds of a switch; ours makes two calls and one switch: its processes need not alternate"
        ),
        microseconds!(
            "lat_sig",
            &["lat_sig", "-N", "1", "catch"],
            "Signal handler overhead",
            1e3,
            "one signal to itself and its handler",
            "microseconds x 1000",
            None,
            "no figure of the price list is a signal"
        ),
    ],
};

/// The hop: what it prints of two processes, and what it has subtracted.
fn hop(output: &ForeignOutput) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let subtracted =
        text.split("ovr=").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    let switch = text.lines().find_map(|line| line.strip_prefix("2 ")?.trim().parse::<f64>().ok());
    figure(subtracted.zip(switch).map(|(subtracted, switch)| (subtracted + switch) * 1e3), &text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    // Version 3 (intel/lmbench).
    #[test]
    fn its_lines_are_read() {
        assert_eq!(read(&LMBENCH, "lat_syscall_null", "Simple syscall: 0.1250 microseconds\n"), 125.0);
        assert!((read(&LMBENCH, "lat_ctx", "\n\"size=0k ovr=0.37\n2 0.84\n") - 1210.0).abs() < 1e-9);
        assert_eq!(read(&LMBENCH, "lat_pipe", "Pipe latency: 2.5000 microseconds\n"), 1250.0);
        assert_eq!(read(&LMBENCH, "lat_sem", "Semaphore latency: 0.5000 microseconds\n"), 500.0);
    }
}
