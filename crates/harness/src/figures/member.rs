//! The state of one member during a run, until its figure is made.

use crate::benchmark::catalogue::Choice;
use crate::protocol::message::{Audited, Failure, Launched};

/// What became of a member before its launches are looked at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fate {
    Running,
    Unsupported { why: String, remedy: String },
    Failed(Failure),
}

/// One member of a group in the course of a run.
#[derive(Clone)]
pub(crate) struct MemberState {
    pub(crate) choice: Choice,
    pub(crate) outcome: Fate,
    pub(crate) iterations: u64,
    /// What a batch of them took when they were calibrated, ns.
    pub(crate) batch_ns: u64,
    /// Its participants work all the time: it is told in cycles.
    pub(crate) works: bool,
    pub(crate) audited: Option<Audited>,
    pub(crate) launched: Vec<Launched>,
    /// Launches in which a call of this member failed, with the first failure.
    pub(crate) failed_launches: u32,
    pub(crate) first_failure: Option<Failure>,
    pub(crate) throttled: bool,
}

impl MemberState {
    /// A member of which nothing is known yet.
    pub(crate) fn new(choice: Choice) -> Self {
        Self {
            choice,
            outcome: Fate::Running,
            iterations: 0,
            batch_ns: 0,
            works: false,
            audited: None,
            launched: Vec::new(),
            failed_launches: 0,
            first_failure: None,
            throttled: false,
        }
    }
}
