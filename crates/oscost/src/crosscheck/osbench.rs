//! osbench: processes, threads, programs and files by the hundred. Debian does not package it, so the user names the folder of
//! its programs.

use oscost_report::Reason;

use super::{Peer, before};

/// A program that runs for five seconds and prints the least time of one of many as "number us / what".
macro_rules! least {
    ($name:literal, $command:expr, $unit:literal; $measures:literal, $counterpart:literal, $way:ident $differs:literal) => {
        probe!($name, $command; $measures, "us x 1000", $counterpart, Reason::$way($differs);
            |output| before(output, $unit, $unit, 1e3))
    };
}

pub static OSBENCH: Peer = Peer {
    name: "osbench",
    package: "",
    environment: &[],
    folder_only: false,
    probes: &[
        least!("create_processes", &["create_processes"], "us / process";
            "a hundred forks, then a hundred waits, for each process", "process/fork",
            either "a hundred children are there at once, and the least of all passes is told; ours reaps each before the next"),
        least!("create_threads", &["create_threads"], "us / thread";
            "a hundred threads made, then joined, for each thread", "thread/create_join/stack_cached",
            either "a hundred threads are there at once; ours joins each before the next, and its stack is used again"),
        least!("launch_programs", &["launch_programs"], "us / program";
            "a hundred forks and execs of itself, then a hundred waits, for each program", "process/exec_static",
            either "its program is linked with a C library; ours is one page that exits, and reaped before the next"),
        least!("create_files", &["create_files", "/dev/shm"], "us / file";
            "thousands of files of 32 bytes made, then removed, for each file", "file/create_unlink",
            either "32 bytes are written by the C library's streams, and all files are there at once; ours is empty and removed at once"),
    ],
};

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    #[test]
    fn its_lines_are_read() {
        let text = "Benchmark: Create/teardown of 100 processes...\n52.5 us / process\n";
        assert_eq!(read(&OSBENCH, "create_processes", text), 52_500.0);
    }
}
