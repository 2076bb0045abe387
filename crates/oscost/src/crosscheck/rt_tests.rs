//! rt-tests: hand-overs between two real-time threads, and the lateness of timers. ptsematest(8), svsematest(8),
//! pmqtest(8), cyclictest(8).

use oscost_results::quantity;
use std::collections::BTreeMap;

use oscost_harness::ForeignOutput;
use oscost_report::Reason;

use super::{Peer, Probe, figure, printed};

/// Averages are printed in whole microseconds, rounded down.
const WHOLE_US: f64 = 1e3;
const COLD: Reason = Reason::larger(
    "one hand-over every 500 us, after others have used the caches; ours follow each other without a pause",
);

/// A program of which the average is read, in whole microseconds.
macro_rules! averages {
    ($name:literal, $command:expr; $($words:expr),*) => {
        Probe { step_ns: WHOLE_US, ..probe!($name, $command; $($words),*; average) }
    };
}

pub static RT_TESTS: Peer = Peer {
    name: "rt-tests",
    package: "rt-tests",
    environment: &[],
    folder_only: false,
    probes: &[
        averages!("ptsematest", &["ptsematest", "-q", "-t1", "-p50", "-i500", "-l200"];
            "from one thread unlocking a mutex until the other has it (pthread mutexes, despite the name)", "Avg, us x 1000",
            "lock/shared_mutex/handover/same_cpu", COLD),
        averages!("svsematest", &["svsematest", "-f", "-q", "-t1", "-p50", "-i500", "-l200"];
            "from one process posting a System V semaphore until the other has it", "Avg, us x 1000",
            "semaphore/system_v/handover/same_cpu", COLD),
        averages!("pmqtest", &["pmqtest", "-q", "-t1", "-p50", "-i500", "-l200"];
            "from one thread sending a POSIX message until the other has it", "Avg, us x 1000",
            "context_switch/posix_queue/same_cpu", COLD),
        Probe {
            quantity: quantity::LATENCY_MEAN,
            // Every wake-up is rounded down before its average is: what prints 7 may be 8.99.
            step_ns: 2.0 * WHOLE_US,
            ..averages!("cyclictest", &["cyclictest", "-q", "--laptop", "-p50", "-i1000", "-l200", "-t1"];
                "how late a sleeper wakes after its timer, in real time", "Avg, us x 1000",
                "realtime_ipc/nanosleep_each/same_cpu/clients_1", Reason::NONE)
        },
    ],
};

/// The average of the line that has all four of Min, Cur or Act, Avg and Max.
fn average(output: &ForeignOutput) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let line = text.lines().rev().find(|line| ["Min", "Avg", "Max"].iter().all(|word| line.contains(word)));
    let number = line.and_then(|line| {
        let (_, rest) = line.split_once("Avg")?;
        rest.trim_start_matches(':').trim_start().split([',', ' ']).next()?.parse::<f64>().ok()
    });
    figure(number.map(|us| us * 1e3), &text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    // Version 2.4.
    #[test]
    fn its_lines_are_read() {
        let pair = "#0: ID3218, P80, CPU2, I500; #1: ID3219, P80, CPU2, Cycles 150\n#1 -> #0, Min    1, Cur   25, Avg    2, Max   25\n";
        assert_eq!(read(&RT_TESTS, "ptsematest", pair), 2000.0);
        assert_eq!(read(&RT_TESTS, "svsematest", pair), 2000.0);
        let cyclic = "# /dev/cpu_dma_latency set to 0us\nT: 0 ( 3277) P:80 I:1000 C:    200 Min:      3 Act:    8 Avg:    6 Max:      11\n";
        assert_eq!(read(&RT_TESTS, "cyclictest", cyclic), 6000.0);
    }
}
