//! stress-ng: bogus operations per second. It says itself that it is no benchmark, but people use it as one.

use std::collections::BTreeMap;

use oscost_harness::ForeignOutput;
use oscost_report::Reason;

use super::{Peer, before, figure, printed};

/// A stressor for one second, by its bogus operations.
macro_rules! stressor {
    ($name:literal by $option:literal; $measures:literal, $($words:expr),*) => {
        probe!($name, &["stress-ng", $option, "1", "-t", "1", "--metrics"];
            $measures, "10^9 / bogo ops/s (real time)", $($words),*; |output| per_operation(output, $name))
    };
}

pub static STRESS_NG: Peer = Peer {
    name: "stress-ng",
    package: "stress-ng",
    environment: &[],
    folder_only: false,
    probes: &[
        stressor!("sem" by "--sem"; "a wait and a post of a POSIX semaphore that several threads want", "semaphore/posix_unnamed",
            Reason::larger("it sleeps and yields between operations, so that it is idle most of the time; ours is not contended")),
        stressor!("sem-sysv" by "--sem-sysv"; "a System V semaphore among processes", "semaphore/system_v",
            Reason::larger("each operation is two semtimedop with a timeout, and a thousand semctl a second come on top; ours has no timeout")),
        stressor!("msg" by "--msg"; "a System V message from one process to another", "lock/system_v_message",
            Reason::either("sender and receiver run ahead of one another by a whole queue; ours sends and receives one message")),
        probe!("switch", &["stress-ng", "--switch", "1", "-t", "1", "--metrics"];
            "a context switch by a pipe, from one process to the other",
            "nanosecs per context switch / 2: for each switch that it counts, the kernel counts two",
            "context_switch/pipe/same_cpu",
            Reason::smaller("one write and one read for two switches; ours has one of each for every switch");
            |output| before(output, "nanosecs per context switch", "nanosecs per context switch", 1.0 / 2.0)),
        probe!("flock", &["stress-ng", "--flock", "1", "-t", "1", "--metrics"];
            "one locking of a whole file that several processes want, with the clock around each call",
            "nanosecs per flock lock call, as printed",
            "record_lock/flock",
            Reason::either("contended, only the locking call, and it includes two clock readings; ours is a lock and an unlock, not contended");
            |output| before(output, "nanosecs per flock lock call", "nanosecs per flock lock call", 1.0)),
        stressor!("lockf" by "--lockf"; "locking and unlocking random parts of a file by lockf", "record_lock/fcntl",
            Reason::larger("two lseek and two fcntl, on a file with many other locks that the kernel must search; ours is the only one")),
    ],
};

/// ns of a bogus operation: the line of the stressor has its name, operations, three times, and operations a second.
fn per_operation(output: &ForeignOutput, name: &str) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let rate = text.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != name);
        words.next()?;
        let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        numbers.get(4).copied().filter(|rate| *rate > 0.0)
    });
    figure(rate.map(|rate| 1e9 / rate), &text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    // Version 0.15.06.
    #[test]
    fn its_lines_are_read() {
        let text = "stress-ng: info:  [3373] dispatching hogs: 1 sem-sysv\n\
                    stress-ng: metrc: [3373] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s CPU used per       RSS Max\n\
                    stress-ng: metrc: [3373]                           (secs)    (secs)    (secs)   (real time) (usr+sys time) instance (%)          (KB)\n\
                    stress-ng: metrc: [3373] sem-sysv        2211661      1.01      0.24      0.77   2000000.00     2201720.23        99.77          2532\n";
        assert_eq!(read(&STRESS_NG, "sem-sysv", text), 500.0);
        let switch = "stress-ng: metrc: [3589] switch              1982.13 nanosecs per context switch (pipe method) (geometic mean of 1 instances)\n";
        assert_eq!(read(&STRESS_NG, "switch", switch), 1982.13 / 2.0);
        let flock = "stress-ng: metrc: [3615] flock                781.07 nanosecs per flock lock call (geometic mean of 1 instances)\n";
        assert_eq!(read(&STRESS_NG, "flock", flock), 781.07);
    }
}
