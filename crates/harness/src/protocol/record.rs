//! Records of a run, piece by piece: the journal keeps them, and figures are made of them.

use serde::{Deserialize, Serialize};

use super::message::{Audited, Launched, Pair};

/// What a run finds, piece by piece. The figures follow from these alone ([`crate::rebuild`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The audit of one benchmark.
    Audited {
        /// Its id.
        id: String,
        /// What was counted.
        audited: Audited,
    },
    /// One launch of one group.
    Launched {
        /// Position in the run.
        sequence: u32,
        /// Ids and what each yielded.
        members: Vec<(String, Launched)>,
        /// Paired comparisons.
        pairs: Vec<Pair>,
    },
}
