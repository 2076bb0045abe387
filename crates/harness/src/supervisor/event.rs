//! Events of the engine. It prints nothing itself, and emits no event while a launch runs.

use crate::protocol::record::Record;

/// One thing that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The plan stands.
    Planned {
        /// Figures that will be tried.
        figures: usize,
        /// Groups that they form.
        groups: usize,
        /// Launches planned for each group.
        launches: u32,
    },
    /// A phase begins: "clock", "calibration", "audit".
    Phase(&'a str),
    /// A launch is about to begin.
    Launching {
        /// Pass over all groups, from 1.
        pass: u32,
        /// Group.
        group: &'a str,
        /// Time left until the run ends by plan, ns.
        left_ns: u64,
        /// Time left at most, ns, however slow the machine is.
        most_ns: u64,
    },
    /// Something was found that must outlive a kill: what the journal keeps.
    Found(&'a Record),
    /// Something that the user should know now.
    Warning(String),
}
