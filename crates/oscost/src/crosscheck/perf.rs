//! `perf bench` of linux-perf: system calls, pipes, futexes, memory. perf-bench(1).

use std::collections::BTreeMap;

use oscost_harness::ForeignOutput;
use oscost_report::Reason;

use super::{Peer, before};

pub static PERF: Peer = Peer {
    name: "perf",
    package: "linux-perf",
    environment: &[],
    folder_only: false,
    probes: &[
        probe!("bench_syscall_basic", &["perf", "bench", "syscall", "basic", "-l", "1000000"];
            "one getppid through libc, mean of a million", "usecs/op x 1000",
            "syscall/getppid",
            Reason::larger("a mean, which includes every disturbance, against a floor; through libc's function, which adds what syscall/getpid_libc takes beyond syscall/getpid");
            |output| before(output, "usecs/op", "usecs/op", 1e3)),
        probe!("bench_sched_pipe", &["perf", "bench", "sched", "pipe", "-l", "50000"];
            "one round trip of two processes by two pipes, mean of 50 000",
            "usecs/op x 1000 / 2: an operation is a round trip of two hops",
            "context_switch/pipe/same_cpu", Reason::larger("a mean, which includes every disturbance, against a floor");
            |output| before(output, "usecs/op", "usecs/op", 1e3 / 2.0)),
        probe!("bench_futex_hash", &["perf", "bench", "futex", "hash", "-r", "1", "-t", "1"];
            "one FUTEX_WAIT on a word of another value, of 1024 in turn, by one thread", "10^9 / operations a second",
            "futex/hash/threads_1/private", Reason::larger("a mean of a second, through the syscall function of libc");
            |output| rate(output, "Averaged", "operations/sec", 1e9)),
        probe!("bench_mem_memcpy", &["perf", "bench", "mem", "memcpy", "-f", "default", "-s", "64MB", "-l", "20"];
            "memcpy of 64 MiB, twenty times", "1024 / (GB/sec x 1.0737): ns for 1 KiB; its GB has 2^30 bytes",
            "memory/bandwidth/copy/block_64m",
            Reason::either("one memcpy of the whole block, which libc may make past the caches; ours copies piece by piece of 1 KiB");
            |output| rate(output, "GB/sec", "GB/sec", GIBIBYTE)),
        probe!("bench_mem_memset", &["perf", "bench", "mem", "memset", "-f", "default", "-s", "64MB", "-l", "20"];
            "memset of 64 MiB, twenty times", "1024 / (GB/sec x 1.0737): ns for 1 KiB; its GB has 2^30 bytes",
            "memory/bandwidth/memset/block_64m",
            Reason::either("one memset of the whole block, which libc may make past the caches; ours sets piece by piece of 1 KiB");
            |output| rate(output, "GB/sec", "GB/sec", GIBIBYTE)),
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
    }
}
