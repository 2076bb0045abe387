//! A figure: estimates over launches, the launches themselves, and the evidence that they measured what they claim.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Evidence, InstructionCount, LaunchRecord, Percentiles, Trait};

/// One row of the price list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure {
    /// Path of the benchmark, with every parameter that tells it from another figure of the run.
    pub id: String,
    /// Revision of the card: figures of two revisions were made by different methods and are never held against each
    /// other. Absent: 1.
    #[serde(default = "first_revision")]
    pub revision: u32,
    /// First part of the id.
    pub family: String,
    /// The figure in a few words.
    pub title: String,
    /// What the quoted cost is the cost of, in words.
    pub operation: String,
    /// The same for a heading above several figures of a family ("one reading"); absent: the operation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// Operations in one pass of the loop; costs are already divided by it.
    pub operations_per_iteration: u64,
    /// How the operation is reached: "vdso", "libc", "inline", "instruction", "user space".
    pub call_path: String,
    /// What was interleaved with it.
    pub group: String,
    /// "one_cpu", "same_cpu", "cross_cpu", "spread" or "unpinned".
    #[serde(default)]
    pub placement: String,
    /// The document that founded it ("003"), if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// State of the figure; only a measured one shows numbers.
    pub status: Status,
    /// Reservations about a measured figure.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Quantity that is quoted ("floor").
    #[serde(default)]
    pub headline: String,
    /// Quantity that `compare` judges; absent: the headline. See [`Figure::judged`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub judged: String,
    /// Estimates over launches, by quantity. Empty unless measured or withdrawn.
    #[serde(default)]
    pub quantities: BTreeMap<String, Quantity>,
    /// Modes of a bimodal figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// Values of the parameters that the id names, by name: numbers and texts. See [`Figure::parameter`].
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// What its benchmark is by its making; absent in older results. See [`Figure::has`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traits: Option<Vec<Trait>>,
    /// Every launch that counted. Empty unless measured or withdrawn.
    #[serde(default)]
    pub launches: Vec<LaunchRecord>,
    /// Instructions of one iteration, where they were counted on an emulated machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<InstructionCount>,
    /// What single operations took, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<Percentiles>,
    /// What was counted, and the claims it was held against.
    #[serde(default)]
    pub evidence: Evidence,
    /// Why it shows no number (unsupported, failed, contradicted, withdrawn), in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the user can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What is noteworthy about the figure, in plain words, one sentence an entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Codes of the remarks in their order ("W101"); empty text where one has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remark_codes: Vec<String>,
    /// Members that this version does not know, kept as they were read.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Figure {
    /// The quantity that `compare` judges, by its name: the headline where nothing else was chosen.
    #[must_use]
    pub fn judged(&self) -> &str {
        if self.judged.is_empty() { &self.headline } else { &self.judged }
    }
}

/// What a figure has that was written before there were revisions.
pub(crate) fn first_revision() -> u32 {
    1
}

/// The states of a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Numbers are shown.
    Measured,
    /// This machine lacks what it needs; `why` and `remedy` say what.
    Unsupported,
    /// A call failed; `why` names the call, the error and the phase.
    Failed,
    /// The audit counted something else than was claimed.
    Contradicted,
    /// It was measured by a method that was wrong; `why` says how. No number is shown, and none is compared.
    Withdrawn,
    /// A state of a later version: no number is shown.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Status {
    /// Name in results and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
            Self::Contradicted => "contradicted",
            Self::Withdrawn => "withdrawn",
            Self::Unknown => "unknown",
        }
    }
}

/// A reservation about a measured figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mark {
    /// Under 20 % clean rounds, or CPU quota throttled it.
    Noisy,
    /// Two modes in clean rounds; the floor is the lower one's.
    Bimodal,
    /// The interval of the headline is wider than 1 % either way.
    NotConverged,
    /// Fewer launches count than were planned: the run's time was over, or launches were void.
    FewerLaunches,
    /// Real-time scheduling was claimed and not granted.
    NotRealTime,
    /// Somebody else ran on the measuring CPU for more than 1 % of the time.
    Shared,
    /// No window of rounds was quiet: the core's other thread worked for somebody else.
    BusySibling,
    /// Libraries interpose on the path (LD_PRELOAD, /etc/ld.so.preload).
    Interposed,
    /// A seccomp filter that is not ours is passed by every system call.
    Filtered,
    /// The nice value or the scheduling policy is not the default.
    Reniced,
    /// A mark of a later version.
    #[serde(other)]
    Unknown,
}

impl Mark {
    /// Every mark that this version knows.
    pub const ALL: [Self; 10] = [
        Self::Noisy,
        Self::Bimodal,
        Self::NotConverged,
        Self::FewerLaunches,
        Self::NotRealTime,
        Self::Shared,
        Self::BusySibling,
        Self::Interposed,
        Self::Filtered,
        Self::Reniced,
    ];

    /// Name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Noisy => "noisy",
            Self::Bimodal => "bimodal",
            Self::NotConverged => "not_converged",
            Self::FewerLaunches => "fewer_launches",
            Self::NotRealTime => "not_real_time",
            Self::Shared => "shared",
            Self::BusySibling => "busy_sibling",
            Self::Interposed => "interposed",
            Self::Filtered => "filtered",
            Self::Reniced => "reniced",
            Self::Unknown => "unknown",
        }
    }

    /// The mark as a person reads it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotConverged => "not converged",
            Self::FewerLaunches => "fewer launches",
            Self::NotRealTime => "not real-time",
            Self::BusySibling => "busy sibling",
            other => other.name(),
        }
    }
}

/// One quantity over launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Quantity {
    /// Estimate and interval.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Unit: "ns", "count", "share", "ratio".
    pub unit: String,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// An estimate with its interval over launches (95 %, or min..max below 6 launches).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// `low` and `high` are the extremes of fewer than 6 launches (or a sum's), no interval.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extremes: bool,
}

/// One mode of a bimodal figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mode {
    /// Median of the mode, in the unit of the headline.
    pub value: f64,
    /// Its share of the clean rounds, 0 to 1.
    pub share: f64,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_marks_have_one_name_in_files_and_in_tables() {
        use Status::{Contradicted, Failed, Measured, Unsupported, Withdrawn};
        for status in [Measured, Unsupported, Failed, Contradicted, Withdrawn] {
            assert_eq!(serde_json::to_value(status).ok(), Some(status.name().into()));
        }
        for mark in Mark::ALL {
            assert_eq!(serde_json::to_value(mark).ok(), Some(mark.name().into()));
            let words = mark.words().replace([' ', '-'], "_");
            assert_eq!(words, mark.name(), "its words are its name as a person writes it");
        }
    }
}
