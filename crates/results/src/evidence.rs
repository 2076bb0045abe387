//! Counts made while a figure was measured, and the claims of its card.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Verdict of the evidence. All evidence holding of no evidence is [`Verdict::Unchecked`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every claim was counted, in the audit or in the launches, and holds. Version 1 called it "proved".
    #[serde(alias = "proved")]
    Checked,
    /// A claim was counted and does not hold: the figure is withheld.
    Contradicted,
    /// Nothing was claimed, or it could not be counted. Version 1 called it "no_claim".
    #[default]
    #[serde(alias = "no_claim")]
    Unchecked,
    /// A verdict of a later version.
    #[serde(other)]
    Unknown,
}

impl Verdict {
    /// Name in results and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Checked => "checked",
            Self::Contradicted => "contradicted",
            Self::Unchecked => "unchecked",
            Self::Unknown => "unknown",
        }
    }
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
    /// Share of rounds in which the canaries ran at full speed.
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
    /// "system_calls", "system_calls:semop|semtimedop", "other_system_calls", "switches", "voluntary_switches",
    /// "migrations", "faults", "post_condition:NAME", "kernel_entry_cost".
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

/// The name of a claim in words: "system calls rt_sigreturn or wait4". Names of calls stay as the system has them.
#[must_use]
pub fn claim_words(claim: &str) -> String {
    if claim == "kernel_entry_cost" {
        return "price over bare kernel entries".to_owned();
    }
    let (what, names) = claim.split_once(':').unwrap_or((claim, ""));
    let names = names.replace('|', " or ");
    let names = if what.starts_with("system_calls") { names } else { names.replace('_', " ") };
    let (what, chance) = what.strip_suffix("_by_chance").map_or((what, ""), |what| (what, " by chance"));
    format!("{} {names}{chance}", what.replace('_', " ")).trim_end().to_owned()
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
            Self::Between { at_least, at_most } if at_least <= 0.0 && at_most == f64::MAX => {
                f.write_str("any number")
            }
            Self::Between { at_least, at_most } if at_least <= 0.0 => write!(f, "at most {at_most}"),
            Self::Between { at_least, at_most } if at_most == f64::MAX => write!(f, "at least {at_least}"),
            Self::Between { at_least, at_most } => write!(f, "{at_least} to {at_most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_has_one_name_in_files_and_in_tables() {
        for verdict in [Verdict::Checked, Verdict::Contradicted, Verdict::Unchecked] {
            assert_eq!(serde_json::to_value(verdict).ok(), Some(verdict.name().into()));
        }
    }

    #[test]
    fn an_exact_count_is_one_to_a_billionth_and_bounds_belong_to_what_they_bound() {
        for near in [0.0, 1e-9, -1e-9] {
            assert!(Expectation::Exactly(0.0).holds(near), "{near}");
        }
        for far in [1.1e-9, -1.1e-9, 1.0] {
            assert!(!Expectation::Exactly(0.0).holds(far), "{far}");
        }
        assert_eq!([-2.0, 0.0, 2.0].map(|it| Expectation::Exactly(2.0).holds(it)), [false, false, true]);
        let between = Expectation::Between { at_least: 1.0, at_most: 2.0 };
        assert_eq!([0.99, 1.0, 1.5, 2.0, 2.01].map(|it| between.holds(it)), [false, true, true, true, false]);
        assert!(!between.holds(f64::NAN) && !Expectation::Exactly(1.0).holds(f64::NAN));
    }

    #[test]
    fn an_expectation_is_told_by_the_bounds_that_it_has() {
        let told = |at_least, at_most| Expectation::Between { at_least, at_most }.to_string();
        assert_eq!(Expectation::Exactly(1.5).to_string(), "1.5");
        assert_eq!(told(0.0, 2.0), "at most 2");
        assert_eq!(told(-1.0, 2.0), "at most 2");
        assert_eq!(told(0.5, f64::MAX), "at least 0.5");
        assert_eq!(told(0.0, f64::MAX), "any number");
        assert_eq!(told(0.5, 2.0), "0.5 to 2");
    }

    #[test]
    fn a_claim_names_calls_as_the_system_does() {
        for (claim, words) in [
            ("system_calls", "system calls"),
            ("system_calls:rt_sigreturn|wait4", "system calls rt_sigreturn or wait4"),
            ("system_calls_by_chance:clock_gettime", "system calls clock_gettime by chance"),
            ("voluntary_switches", "voluntary switches"),
            ("post_condition:own_process_id", "post condition own process id"),
            ("kernel_entry_cost", "price over bare kernel entries"),
        ] {
            assert_eq!(claim_words(claim), words);
        }
    }
}
