//! `perf bench` of linux-perf: system calls, pipes, futexes. perf-bench(1).

use super::{Peer, Probe, before};

pub static PERF: Peer = Peer {
    name: "perf",
    package: "linux-perf",
    environment: &[],
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
    ],
};

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
        let wake = "Wokeup 1 of 1 threads in 0.0042 ms (+-9.52%)\n";
        assert!((read(&PERF, "bench_futex_wake", wake) - 4200.0).abs() < 1e-9);
    }
}
