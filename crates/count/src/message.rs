//! Messages between host and guest: one file in the guest's archive, and frames on a serial line.

use oscost_harness::{Audited, apart};
use oscost_results::{Conditions, Evidence, Machine, Tool};
use serde::{Deserialize, Serialize};

/// What the guest is to do: a file of its archive. Nothing is said to it after its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountPlan {
    /// Ids in the order in which they are counted.
    pub ids: Vec<String>,
    /// Operations counted one by one.
    pub operations: u32,
    /// Whether system calls are counted too, by the audit.
    pub audit: bool,
    /// Iterations between the two marks by which single instructions are followed; 0: none.
    pub followed: u32,
    /// The serial line for the frames.
    pub line: String,
}

/// Path of the plan in the guest.
pub const PLAN: &str = "/plan";

/// One frame of the guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Said {
    /// Who runs where: the first frame.
    Hello(Box<Hello>),
    /// What became of one id.
    Row(Box<CountRow>),
    /// Everything was said: the host ends the machine.
    End,
    /// The guest cannot go on, in words.
    Broken(String),
}

/// Facts of the guest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The program in the guest.
    pub tool: Tool,
    /// The emulated machine.
    pub machine: Machine,
    /// Its kernel and settings.
    pub conditions: Conditions,
}

/// What became of one id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountRow {
    /// The id.
    pub id: String,
    /// The counts, or why there are none.
    pub outcome: CountOutcome,
    /// What the audit counted; absent where it was not asked for.
    pub audited: Option<Audited>,
}

/// Counts of one id, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CountOutcome {
    /// It was counted.
    Counted(InstructionCounts),
    /// The guest lacks something, or the benchmark is none that can be counted.
    Unsupported {
        /// In words.
        why: String,
        /// What the user can do about it; empty where there is nothing.
        remedy: String,
    },
    /// Something failed, in words.
    Failed(String),
}

impl CountRow {
    /// What was audited, beside these counts of it; and why the figure is withheld, if a claim does not hold.
    #[must_use]
    pub fn evidence(&self, counts: &InstructionCounts) -> (Evidence, Option<String>) {
        let audited = self.audited.clone().unwrap_or_else(|| Audited {
            missing: Some("the audit was not asked for".to_owned()),
            ..Audited::default()
        });
        apart::evidence(audited, counts.switches, counts.voluntary_switches, counts.faults)
    }
}

/// Instructions of one id, as the guest's clock counted them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InstructionCounts {
    /// Of batches of one iteration, in their order.
    pub ones: Vec<u64>,
    /// Of batches of two.
    pub twos: Vec<u64>,
    /// Of batches of four.
    pub fours: Vec<u64>,
    /// Of the batch between the two marks.
    pub followed: u64,
    /// Between two ticks of the timer; 0 where none was seen.
    pub tick: u64,
    /// The cost of a tick for the running process; 0 if none was seen.
    pub tick_cost: u64,
    /// Operations that were long enough to meet the timer.
    pub met_timer: bool,
    /// Switches of all participants an operation.
    pub switches: Option<f64>,
    /// Of these the voluntary ones.
    pub voluntary_switches: Option<f64>,
    /// Page faults an operation.
    pub faults: Option<f64>,
    /// Share of the time in which the machine was idle: its clock went on, and nothing was executed.
    pub idle_share: f64,
}

/// Marks that the guest passes, by the first argument ([`oscost_sys::guest::Marks`]).
pub mod mark {
    /// A text: the kernel's symbols, /proc/kallsyms.
    pub const KERNEL: u64 = 1;
    /// A text: the mappings of the process that counts, /proc/self/maps.
    pub const MAPS: u64 = 2;
    /// The operations begin: index of the id, iterations.
    pub const BEGIN: u64 = 3;
    /// The operations have ended.
    pub const END: u64 = 4;
    /// As [`BEGIN`], where several processes take part: the stack pointer tells whose instruction each is.
    pub const BEGIN_TOGETHER: u64 = 5;
    /// No mark comes any more.
    pub const LAST: u64 = 6;
}
