//! What a way of counting has seen, before it gets its names.

use oscost_results::bill::{EndCount, FaultKinds, ForkCount};

use crate::{Counted, Ended, Usage, Way};

use crate::rules::Table;
use crate::tally::{self, Tally};

/// What was seen.
#[derive(Debug, Default)]
pub struct SeenCalls {
    /// Calls.
    pub tally: Tally,
    /// Signals that did something, but for SIGKILL.
    pub signals: u64,
    /// Threads that were started beside the first ones of their processes.
    pub threads: u64,
    /// Processes that were started.
    pub children: u64,
    /// Processes that ended, and that nobody waits for: their parents ignore SIGCHLD, or have set SA_NOCLDWAIT.
    pub unwaited: u64,
    /// Switches because a thread waited; of a tracer, those that the tracing made.
    pub voluntary: u64,
    /// Switches because it was preempted, where the way counts them.
    pub involuntary: u64,
    /// Faults outside of the kernel by their kinds, where the way tells them apart.
    pub faults: Option<FaultKinds>,
    /// Forks that copied their parent's memory.
    pub forks: Option<ForkCount>,
    /// Threads that another one woke on a CPU that was idle, where the way counts them.
    pub wakes: Option<u64>,
    /// Memory that ends gave back, where the way counts it.
    pub ends: Option<EndCount>,
}

impl SeenCalls {
    /// With names. There were `running` threads before anybody was started.
    #[must_use]
    pub fn counted(&self, table: &Table, way: Way, usage: Usage, ended: Ended, running: u64) -> Counted {
        Counted {
            way,
            complete: false,
            calls: tally::calls(&self.tally, table, way == Way::Ebpf),
            faults: usage.faults,
            fault_kinds: self.faults,
            forks: self.forks,
            wakes: self.wakes,
            ends: self.ends,
            signals: self.signals,
            switches: usage.switches,
            threads: running + self.threads + self.children,
            children: self.children,
            unwaited: Some(self.unwaited).filter(|&count| count > 0),
            usage,
            ended,
            ..Counted::default()
        }
    }
}
