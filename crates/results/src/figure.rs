//! A figure: estimates over launches, the launches themselves, and the evidence that they measured what they claim.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Evidence;

/// One row of the price list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure {
    /// Path of the benchmark, with every parameter that tells it from another figure of the run.
    pub id: String,
    /// First part of the id.
    pub family: String,
    /// The figure in a few words.
    pub title: String,
    /// What the quoted cost is the cost of, in words.
    pub operation: String,
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
    /// Quantity that is quoted and compared ("floor").
    #[serde(default)]
    pub headline: String,
    /// Estimates over launches, by quantity. Empty unless measured.
    #[serde(default)]
    pub quantities: BTreeMap<String, Quantity>,
    /// Modes of a bimodal figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// Values of the declared parameters that are part of the id.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// Every launch that counted. Empty unless measured.
    #[serde(default)]
    pub launches: Vec<LaunchRecord>,
    /// What was counted, and the claims it was held against.
    #[serde(default)]
    pub evidence: Evidence,
    /// Why it was not measured (unsupported, failed, contradicted), in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the user can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What is noteworthy about the figure, in plain words, one sentence an entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Members that this version does not know, kept as they were read.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The four states of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// A reservation about a measured figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Under 20 % clean rounds, or CPU quota throttled it: no verdict in `compare`.
    Noisy,
    /// Two modes in clean rounds; the floor is the lower one's.
    Bimodal,
    /// The interval of the headline is wider than 1 % either way.
    NotConverged,
    /// Real-time scheduling was claimed and not granted.
    NotRealTime,
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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

/// What one launch yielded: the table quantity → number, and what happened around it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchRecord {
    /// Position in the run: launches of all groups count on.
    pub sequence: u32,
    /// Start, ns after the start of the run (monotonic).
    pub start_ns: u64,
    /// CPU that the measuring thread was on at the end.
    pub cpu: u32,
    /// Iterations in a batch (0: a series).
    pub iterations: u64,
    /// Rounds, or observations of a series.
    pub rounds: u64,
    /// Share of rounds in which the canary ran at full speed.
    pub fast_share: Option<f64>,
    /// Share of rounds that were fast and undisturbed.
    pub clean_share: Option<f64>,
    /// 1st percentile of one pass of the empty loop in this launch, ns: the speed that the core had.
    #[serde(default)]
    pub canary_ns: Option<f64>,
    /// Quantity → number.
    pub quantities: BTreeMap<String, f64>,
    /// Voluntary + involuntary switches of all participants, per operation.
    pub switches: Option<f64>,
    /// Of these the voluntary ones.
    pub voluntary_switches: Option<f64>,
    /// Changes of CPU of pinned and unpinned participants, in the launch.
    pub migrations: Option<u64>,
    /// Page faults per operation.
    pub faults: Option<f64>,
    /// Time stolen by the host on the launch's CPUs, ns.
    pub steal_ns: Option<u64>,
    /// Distribution of the samples of all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// What single participants saw, value by value in ns ("client_1"), in the first launch of a series that tells it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tracks: BTreeMap<String, Vec<f64>>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A log histogram: bucket i holds values in [2^(i/32), 2^((i+1)/32)) ns; see `oscost_stats::histogram`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Histogram {
    /// Index of the first bucket.
    pub first: i32,
    /// Counts from there on.
    pub counts: Vec<u64>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}
