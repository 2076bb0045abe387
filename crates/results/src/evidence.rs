//! What was counted while a figure was made, and the claims of its card that it was held against.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Verdict of the evidence. All evidence holding of no evidence is [`Verdict::NoClaim`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every claim was counted and holds.
    Proved,
    /// A claim was counted and does not hold: the figure is withheld.
    Contradicted,
    /// Nothing was claimed, or it could not be counted.
    #[default]
    NoClaim,
}

/// The receipt of a figure. Counts are per operation, in the card's words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Whether the claims hold.
    #[serde(default)]
    pub verdict: Verdict,
    /// Claim by claim.
    #[serde(default)]
    pub claims: Vec<CheckedClaim>,
    /// How system calls were counted ("seccomp user notification", "ptrace"); absent where they could not be.
    #[serde(default)]
    pub audit_method: Option<String>,
    /// System calls per operation by name, all participants, from the audit.
    #[serde(default)]
    pub system_calls: BTreeMap<String, f64>,
    /// Why there is no audit, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_missing: Option<String>,
    /// Voluntary + involuntary switches per operation (median over launches).
    #[serde(default)]
    pub switches: Option<f64>,
    /// Of these the voluntary ones.
    #[serde(default)]
    pub voluntary_switches: Option<f64>,
    /// Changes of CPU in all launches.
    #[serde(default)]
    pub migrations: Option<u64>,
    /// Page faults per operation (median over launches).
    #[serde(default)]
    pub faults: Option<f64>,
    /// Share of rounds in which the canary ran at full speed.
    #[serde(default)]
    pub fast_share: Option<f64>,
    /// Share of rounds that were fast and undisturbed.
    #[serde(default)]
    pub clean_share: Option<f64>,
    /// Launches that counted.
    #[serde(default)]
    pub launches: u32,
    /// Launches thrown away because the environment changed under them.
    #[serde(default)]
    pub void_launches: u32,
    /// Batches thrown away because a call failed.
    #[serde(default)]
    pub void_batches: u64,
    /// Seccomp mode of the timed processes (0: none).
    #[serde(default)]
    pub seccomp_mode: Option<u32>,
    /// Tracer of the timed processes (0: none).
    #[serde(default)]
    pub tracer_pid: Option<u32>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// One claim beside what was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckedClaim {
    /// "system_calls", "system_calls:semop|semtimedop", "switches", "voluntary_switches", "migrations", "faults".
    pub claim: String,
    /// What the card says, per operation.
    pub expected: Expectation,
    /// What was counted; absent where it could not be.
    pub observed: Option<f64>,
    /// Whether it holds; absent where it could not be counted.
    pub holds: Option<bool>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// An exact number (ids that never block), or a bound (ids that do).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Expectation {
    /// Exactly so many.
    Exactly(f64),
    /// Between the two, ends included.
    Between {
        /// Lower end.
        at_least: f64,
        /// Upper end.
        at_most: f64,
    },
}

impl Expectation {
    /// Whether `observed` satisfies it. Exact counts are ratios of small integers, compared to 1e-9.
    #[must_use]
    pub fn holds(self, observed: f64) -> bool {
        match self {
            Self::Exactly(expected) => (observed - expected).abs() <= 1e-9,
            Self::Between { at_least, at_most } => at_least <= observed && observed <= at_most,
        }
    }
}

impl std::fmt::Display for Expectation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Exactly(expected) => write!(f, "{expected}"),
            Self::Between { at_least, at_most } if at_least <= 0.0 => write!(f, "at most {at_most}"),
            Self::Between { at_least, at_most } if at_most == f64::MAX => write!(f, "at least {at_least}"),
            Self::Between { at_least, at_most } => write!(f, "{at_least} to {at_most}"),
        }
    }
}
