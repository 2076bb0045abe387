//! lmbench 3: `lat_*`. Debian does not package it as free software, so the user names the folder of its programs.

use std::collections::BTreeMap;

use oscost_harness::ForeignOutput;
use oscost_report::Reason;

use super::{Peer, before, figure, printed};

/// A program that prints "words: number microseconds".
macro_rules! microseconds {
    ($name:literal by $command:expr, $mark:literal, $factor:expr; $($words:expr),*) => {
        probe!($name, $command; $($words),*; |output| before(output, $mark, "microseconds", $factor))
    };
}

/// Loads of a chain through a working set, of which each line "MiB ns" is one.
macro_rules! loads {
    ($name:literal, $most:literal, $size:literal, $counterpart:literal) => {
        probe!($name, &["lat_mem_rd", "-N", "1", "-t", $most, "64"];
            "one load whose address the load before it found, in random order, one a cache line",
            concat!("nanoseconds, as printed for ", $size, " MiB"), $counterpart,
            Reason::smaller("it walks page by page, and within a page at random; ours is at random over all of it, with more misses of the TLB");
            |output| second(output, $size, |ns| ns))
    };
}

/// Bytes that are read, written or copied, as "MB MB/s".
macro_rules! moved {
    ($name:literal, $size:literal, $what:literal, $doing:literal, $counterpart:literal) => {
        probe!($name, &["bw_mem", "-N", "1", $size, $what];
            concat!($doing, " a block of memory again and again"), "1024000 / (MB/s): ns for 1 KiB", $counterpart,
            Reason::either("a block for each pass, from its beginning to its end; ours goes on piece by piece of 1 KiB");
            |output| second(output, "", |rate| 1024e3 / rate))
    };
}

pub static LMBENCH: Peer = Peer {
    name: "lmbench",
    package: "",
    // What it needs of time for a measurement, us: its own choice is by a search that takes many seconds.
    environment: &[("ENOUGH", "20000")],
    folder_only: false,
    probes: &[
        microseconds!("lat_syscall_null" by &["lat_syscall", "-N", "1", "null"], "Simple syscall", 1e3;
            "one getppid through libc, the loop's own cost subtracted", "microseconds x 1000",
            "syscall/getppid", Reason::larger("through libc's function, which adds what syscall/getpid_libc takes beyond syscall/getpid")),
        microseconds!("lat_syscall_read" by &["lat_syscall", "-N", "1", "read"], "Simple read", 1e3;
            "one read of one byte of /dev/zero through libc", "microseconds x 1000",
            "syscall/read1", Reason::larger("through libc; ours by inline assembly")),
        microseconds!("lat_syscall_write" by &["lat_syscall", "-N", "1", "write"], "Simple write", 1e3;
            "one write of one byte to /dev/null through libc", "microseconds x 1000",
            "syscall/write1", Reason::larger("through libc; ours by inline assembly")),
        probe!("lat_ctx", &["lat_ctx", "-N", "1", "-s", "0", "2"];
            "one switch between two processes by pipes, the pipe's price in one process subtracted",
            "(microseconds + the overhead \"ovr\" that it subtracted) x 1000: the hop with its pipe",
            "context_switch/pipe/same_cpu", Reason::NONE;
            hop),
        microseconds!("lat_pipe" by &["lat_pipe", "-N", "1"], "Pipe latency", 1e3 / 2.0;
            "one round trip of two processes by two pipes", "microseconds x 1000 / 2: a round trip has two hops",
            "context_switch/pipe/same_cpu", Reason::NONE),
        microseconds!("lat_unix" by &["lat_unix", "-N", "1"], "AF_UNIX", 1e3 / 2.0;
            "one round trip of two processes by a Unix stream socket", "microseconds x 1000 / 2",
            "context_switch/unix_stream/same_cpu", Reason::smaller("a hop takes one switch or two, because freeing a message wakes its sender: 1.4 in an endless loop, more in our short batches")),
        microseconds!("lat_sem" by &["lat_sem", "-N", "1"], "Semaphore latency", 1e3;
            "one hand-over by System V semaphores, both operations in one semop", "microseconds x 1000: it divides the round trip by two itself",
            "semaphore/system_v/handover/same_cpu", Reason::smaller("one call for the wait and the post; ours makes two")),
        microseconds!("lat_fcntl" by &["lat_fcntl", "-N", "1"], "Fcntl lock latency", 1e3;
            "one wait for and one release of record locks between two processes", "microseconds x 1000: it divides by two itself",
            "record_lock/fcntl/handover/same_cpu", Reason::either("four calls and two thirds of a switch; ours makes two calls and one switch: its processes need not alternate")),
        microseconds!("lat_syscall_stat" by &["lat_syscall", "-N", "1", "stat", "/dev/null"], "Simple stat", 1e3;
            "one stat of /dev/null through libc", "microseconds x 1000",
            "syscall/stat", Reason::larger("through libc, which may call newfstatat; ours by inline assembly")),
        microseconds!("lat_syscall_open" by &["lat_syscall", "-N", "1", "open", "/dev/null"], "Simple open/close", 1e3;
            "one open and close of /dev/null through libc", "microseconds x 1000",
            "syscall/open_close", Reason::larger("through libc; ours by inline assembly")),
        microseconds!("lat_sig" by &["lat_sig", "-N", "1", "catch"], "Signal handler overhead", 1e3;
            "one signal to itself and its handler, the empty kill subtracted", "microseconds x 1000",
            "signal/deliver", Reason::smaller("it subtracts the price of a kill that delivers nothing; ours is the whole of kill, handler and return")),
        microseconds!("lat_proc_fork" by &["lat_proc", "-N", "1", "fork"], "Process fork+exit", 1e3;
            "one fork, the exit of the child and the wait", "microseconds x 1000",
            "process/fork", Reason::either("the two programs hold different amounts of memory, which a fork copies the page tables of")),
        microseconds!("lat_proc_exec" by &["lat_proc", "-N", "1", "exec"], "Process fork+execve", 1e3;
            "one fork and exec of /tmp/hello, a program of lmbench that must lie there", "microseconds x 1000",
            "process/exec_static", Reason::larger("its program is linked with a C library and prints a line; ours is one page that exits")),
        microseconds!("lat_select" by &["lat_select", "-N", "1", "-n", "10", "file"], "Select on 10 fd's", 1e3;
            "one select of ten copies of one descriptor", "microseconds x 1000",
            "event/poll/descriptors_10", Reason::either("select, not poll, and ten copies of one descriptor of a device; ours polls ten eventfds, with timeout 0 too")),
        microseconds!("lat_fifo" by &["lat_fifo", "-N", "1"], "Fifo latency", 1e3 / 2.0;
            "one round trip of two processes by two FIFOs", "microseconds x 1000 / 2: a round trip has two hops",
            "context_switch/pipe/same_cpu", Reason::larger("FIFOs, which are pipes with a name")),
        probe!("lat_usleep", &["lat_usleep", "-N", "1", "-u", "nanosleep", "200"];
            "one nanosleep of 200 us", "(microseconds - 200) x 1000: how late it returns",
            "timer/nanosleep_overshoot",
            Reason::larger("a mean, and the sleep is relative: the way into the kernel counts too; ours is a median against a due time");
            late),
        probe!("lat_fs", &["lat_fs", "-N", "1", "/dev/shm"];
            "making empty files in directories of a hundred, and removing them afterwards",
            "10^9 / creations a second + 10^9 / removals a second, of files of 0 KiB",
            "file/create_unlink",
            Reason::either("many files are there at once, in another directory of memory; ours removes each before it makes the next");
            files),
        loads!("lat_mem_rd_16k", "1", "0.01562", "memory/latency/size_16k/small_pages"),
        loads!("lat_mem_rd_128k", "1", "0.12500", "memory/latency/size_128k/small_pages"),
        loads!("lat_mem_rd_1m", "1", "1.00000", "memory/latency/size_1m/small_pages"),
        loads!("lat_mem_rd_8m", "8", "8.00000", "memory/latency/size_8m/small_pages"),
        loads!("lat_mem_rd_64m", "64", "64.00000", "memory/latency/size_64m/small_pages"),
        moved!("bw_mem_frd_16k", "16k", "frd", "reading", "memory/bandwidth/read/block_16k"),
        moved!("bw_mem_frd_1m", "1m", "frd", "reading", "memory/bandwidth/read/block_1m"),
        moved!("bw_mem_frd_64m", "64m", "frd", "reading", "memory/bandwidth/read/block_64m"),
        moved!("bw_mem_bzero_16k", "16k", "bzero", "clearing", "memory/bandwidth/memset/block_16k"),
        moved!("bw_mem_bzero_1m", "1m", "bzero", "clearing", "memory/bandwidth/memset/block_1m"),
        moved!("bw_mem_bzero_64m", "64m", "bzero", "clearing", "memory/bandwidth/memset/block_64m"),
        moved!("bw_mem_bcopy_16k", "16k", "bcopy", "copying", "memory/bandwidth/copy/block_16k"),
        moved!("bw_mem_bcopy_1m", "1m", "bcopy", "copying", "memory/bandwidth/copy/block_1m"),
        moved!("bw_mem_bcopy_64m", "64m", "bcopy", "copying", "memory/bandwidth/copy/block_64m"),
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

/// The second of two numbers, on the line whose first is `first`, or on the first such line.
fn second(output: &ForeignOutput, first: &str, ns: fn(f64) -> f64) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let number = text.lines().find_map(|line| {
        let (one, other) = line.trim().split_once(' ')?;
        let (_, number) = (one.parse::<f64>().ok()?, other.trim().parse::<f64>().ok()?);
        (first.is_empty() || one == first).then_some(number)
    });
    figure(number.filter(|number| *number > 0.0).map(ns), &text)
}

/// What a sleep of 200 us took beyond them.
fn late(output: &ForeignOutput) -> Result<BTreeMap<String, f64>, String> {
    const ASKED_US: f64 = 200.0;
    let text = printed(output)?;
    let slept = text.lines().find_map(|line| {
        let (_, told) = line.split_once("nanosleep 200 microseconds:")?;
        told.split_whitespace().next()?.parse::<f64>().ok()
    });
    figure(slept.map(|us| (us - ASKED_US) * 1e3), &text)
}

/// Files of nothing, made and removed: the rates of both on the line of "0k".
fn files(output: &ForeignOutput) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let rates = text.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "0k").skip(2);
        Some((words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?))
    });
    let rates = rates.filter(|(made, removed)| *made > 0.0 && *removed > 0.0);
    figure(rates.map(|(made, removed)| 1e9 / made + 1e9 / removed), &text)
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
        assert_eq!(read(&LMBENCH, "lat_select", "Select on 10 fd's: 0.5000 microseconds\n"), 500.0);
        assert_eq!(read(&LMBENCH, "lat_proc_fork", "Process fork+exit: 60.0000 microseconds\n"), 60_000.0);
        let late = read(&LMBENCH, "lat_usleep", "nanosleep 200 microseconds: 253.5000 microseconds\n");
        assert!((late - 53_500.0).abs() < 1e-6);
        let files = "0k\t300\t100000\t200000\n1k\t300\t50000\t100000\n";
        assert_eq!(read(&LMBENCH, "lat_fs", files), 15_000.0);
        let loads = "\"stride=64\n0.00049 1.100\n0.01562 1.200\n0.12500 3.900\n1.00000 20.5\n\n";
        assert_eq!(read(&LMBENCH, "lat_mem_rd_128k", loads), 3.9);
        assert_eq!(read(&LMBENCH, "bw_mem_bcopy_16k", "0.016384 102400.00\n"), 10.0);
    }
}
