//! Another program (a peer, another build, other settings) as a contestant, with facts like those of a card.

use std::collections::BTreeMap;

use crate::protocol::message::{Contained, ForeignOutput, ForeignPlan};

/// Most that is kept of each of a peer's two streams, bytes.
const MOST_OUTPUT: usize = 1 << 20;

/// Reads the numbers of a launch out of what the program printed. An error is shown with the figure; nothing is guessed.
pub type Reader = fn(&ForeignOutput) -> Result<BTreeMap<String, f64>, String>;

/// A program in our rotation of launches.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// Id of its figure ("peer/perf_bench/syscall").
    pub id: String,
    /// The figure in a few words.
    pub title: String,
    /// What its number is the cost of.
    pub operation: String,
    /// Quantity that is quoted, and its unit.
    pub headline: (String, String),
    /// Program and arguments.
    pub command: Vec<String>,
    /// Added to an otherwise empty environment.
    pub environment: BTreeMap<String, String>,
    /// CPUs it may run on; empty: all.
    pub cpus: Vec<usize>,
    /// How long one launch may take, ns.
    pub deadline_ns: u64,
    /// Where what it writes to /tmp and /var/tmp goes.
    pub contained: Contained,
    /// How its output is read.
    pub reader: Reader,
}

impl Foreign {
    /// What a worker is told of it.
    pub(crate) fn plan(&self) -> ForeignPlan {
        ForeignPlan {
            command: self.command.clone(),
            environment: self.environment.clone(),
            inherits: false,
            most_output: MOST_OUTPUT,
            cpus: self.cpus.clone(),
            deadline_ns: self.deadline_ns,
            contained: self.contained,
        }
    }
}
