//! `perf bench` of linux-perf: system calls, pipes, futexes, memory. perf-bench(1).

use std::collections::BTreeMap;

use oscost_harness::ForeignOutput;

use super::{Peer, Probe, before};

pub static PERF: Peer = Peer {
    name: "perf",
    package: "linux-perf",
    environment: &[],
    folder_only: false,
    probes: &[
        Probe {
            name: "bench_syscall_basic",
            command: &["perf", "bench", "syscall", "basic", "-l", "1000000"],
            measures: "one getppid through libc, mean of a million",
            conversion: "usecs/op x 1000",
            counterpart: Some("syscall/getpid_libc"),
            differs: "a mean, which includes every disturbance, against a floor; its loop calls through the PLT",
            reader: |output| before(output, "usecs/op", "usecs/op", 1e3),
            ..Probe::PLAIN
        },
        Probe {
            name: "bench_sched_pipe",
            command: &["perf", "bench", "sched", "pipe", "-l", "50000"],
            measures: "one round trip of two processes by two pipes, mean of 50 000",
            conversion: "usecs/op x 1000 / 2: an operation is a round trip of two hops",
            counterpart: Some("context_switch/pipe/same_cpu"),
            differs: "a mean, which includes every disturbance, against a floor",
            reader: |output| before(output, "usecs/op", "usecs/op", 1e3 / 2.0),
            ..Probe::PLAIN
        },
        Probe {
            name: "bench_futex_wake",
            command: &["perf", "bench", "futex", "wake", "-t", "1"],
            measures: "waking one thread that waits, mean of ten",
            conversion: "ms x 10^6",
            counterpart: None,
            differs: "the waker's side of one wake-up with a sleeper: lock/futex_wake wakes nobody, and a hand-over has both \
                      sides",
            reader: |output| before(output, "Wokeup", "ms", 1e6),
            ..Probe::PLAIN
        },
        Probe {
            name: "bench_futex_hash",
            command: &["perf", "bench", "futex", "hash", "-r", "1", "-t", "1"],
            measures: "one FUTEX_WAIT on a word of another value, of 1024 in turn, by one thread",
            conversion: "10^9 / operations a second",
            counterpart: Some("futex/hash/threads_1/private"),
            differs: "through the syscall function of libc",
            reader: |output| rate(output, "Averaged", "operations/sec", 1e9),
            ..Probe::PLAIN
        },
        Probe {
            name: "bench_mem_memcpy",
            command: &["perf", "bench", "mem", "memcpy", "-f", "default", "-s", "64MB", "-l", "20"],
            measures: "memcpy of 64 MiB, twenty times",
            conversion: "1024 / (GB/sec x 1.0737): ns for 1 KiB; its GB has 2^30 bytes",
            counterpart: Some("memory/bandwidth/copy/block_64m"),
            differs: "one memcpy of the whole block, which libc may make past the caches; ours copies piece by piece of 1 KiB",
            reader: |output| rate(output, "GB/sec", "GB/sec", GIBIBYTE),
            ..Probe::PLAIN
        },
        Probe {
            name: "bench_mem_memset",
            command: &["perf", "bench", "mem", "memset", "-f", "default", "-s", "64MB", "-l", "20"],
            measures: "memset of 64 MiB, twenty times",
            conversion: "1024 / (GB/sec x 1.0737): ns for 1 KiB; its GB has 2^30 bytes",
            counterpart: Some("memory/bandwidth/memset/block_64m"),
            differs: "one memset of the whole block, which libc may make past the caches; ours sets piece by piece of 1 KiB",
            reader: |output| rate(output, "GB/sec", "GB/sec", GIBIBYTE),
            ..Probe::PLAIN
        },
        Probe {
            name: "bench_epoll_wait",
            command: &["perf", "bench", "epoll", "wait", "-r", "1", "-t", "1"],
            measures: "epoll_wait on 64 eventfds that another thread writes to without a pause",
            conversion: "10^9 / operations a second",
            counterpart: None,
            differs: "the pace is that of the writer: no hop has a beginning and an end",
            reader: |output| rate(output, "Averaged", "operations/sec", 1e9),
            ..Probe::PLAIN
        },
    ],
};

/// ns that 1 KiB takes at one of its GB a second.
const GIBIBYTE: f64 = 1024.0 * 1e9 / 1073741824.0;

/// `ns_at_one` divided by the rate before `unit`.
fn rate(
    output: &ForeignOutput,
    mark: &str,
    unit: &str,
    ns_at_one: f64,
) -> Result<BTreeMap<String, f64>, String> {
    let rate = before(output, mark, unit, 1.0)?;
    Ok(rate.into_iter().map(|(name, rate)| (name, ns_at_one / rate)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    // Version 6.1.
    #[test]
    fn its_lines_are_read() {
        let syscall = "# Running 'syscall/basic' benchmark:\n# Executed 1000000 getppid() calls\n     Total time: 0.124 [sec]\n\n       0.124713 usecs/op\n        8018410 ops/sec\n";
        assert!((read(&PERF, "bench_syscall_basic", syscall) - 124.713).abs() < 1e-9);
        let pipe = "     Total time: 0.121 [sec]\n\n       2.433180 usecs/op\n         410984 ops/sec\n";
        assert!((read(&PERF, "bench_sched_pipe", pipe) - 1216.59).abs() < 1e-9);
        let hash = "Averaged 4000000 operations/sec (+- 0.00%), total secs = 1\n";
        assert_eq!(read(&PERF, "bench_futex_hash", hash), 250.0);
        let copied = "# Copying 64MB bytes ...\n\n       10.000000 GB/sec\n";
        assert!((read(&PERF, "bench_mem_memcpy", copied) - 95.367).abs() < 1e-3);
        let wake = "Wokeup 1 of 1 threads in 0.0042 ms (+-9.52%)\n";
        assert!((read(&PERF, "bench_futex_wake", wake) - 4200.0).abs() < 1e-9);
    }
}
