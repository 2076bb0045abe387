//! One launch of a figure: its quantities, the state of the machine, and how the process was run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    /// Share of rounds in which the canaries ran at full speed.
    pub fast_share: Option<f64>,
    /// Share of rounds that were fast and undisturbed.
    pub clean_share: Option<f64>,
    /// 1st percentile of one pass of an empty loop in this launch, ns: what version 1 knew the core's speed by.
    #[serde(default)]
    pub canary_ns: Option<f64>,
    /// Best time of one step of the latency chain in this launch, ns: one cycle of the core. Best is the 1st percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_ns: Option<f64>,
    /// Best time of one instruction of the throughput loop in this launch, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_ns: Option<f64>,
    /// Best time of a bare kernel entry in this launch, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_ns: Option<f64>,
    /// One hop of a cache line between the two CPUs of an operation that wakes another CPU, ns: how far apart they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_ns: Option<f64>,
    /// Windows of rounds that were looked at for a busy sibling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
    /// Of these the quiet ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_windows: Option<u64>,
    /// Share of the timed part in which the measuring CPU was neither idle nor worked for a participant, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_share: Option<f64>,
    /// How the process that measured was run.
    #[serde(default, skip_serializing_if = "Circumstances::is_unknown")]
    pub circumstances: Circumstances,
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
    /// Time stolen by the host on all CPUs that the launch could use, ns.
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

/// A hop of a cache line that is this many times as long is one between other cores of the host.
pub const FARTHER: f64 = 1.3;
/// Fewer launches with near CPUs are no sample.
const FEW_NEAR: usize = 4;

/// Whether each launch had its two CPUs at the nearest distance that some launches had: a host may move the CPUs of a guest
/// meanwhile. All count where that was not timed, or where hardly any were alike.
#[must_use]
pub fn near(hops_ns: &[Option<f64>]) -> Vec<bool> {
    let from = |least: f64| -> Vec<bool> {
        let range = least..=FARTHER * least;
        hops_ns.iter().map(|hop| hop.is_some_and(|hop| range.contains(&hop))).collect()
    };
    let mut levels: Vec<f64> = hops_ns.iter().flatten().copied().collect();
    levels.sort_by(f64::total_cmp);
    let enough = |near: &Vec<bool>| near.iter().filter(|near| **near).count() >= FEW_NEAR;
    levels.into_iter().map(from).find(enough).unwrap_or_else(|| vec![true; hops_ns.len()])
}

impl LaunchRecord {
    /// The speed that the core had, ns: a step of the chain, or what version 1 had in its place.
    #[must_use]
    pub fn speed_ns(&self) -> Option<f64> {
        self.chain_ns.or(self.canary_ns).filter(|&ns| ns > 0.0)
    }
}

/// How a measuring process was run. What could not be found out is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Circumstances {
    /// Its nice value, -20 to 19.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    /// Its scheduling policy: "other", "batch", "idle", "fifo", "rr", "deadline".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Who traces it (0: nobody).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer_pid: Option<u32>,
    /// Its seccomp mode (0: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seccomp_mode: Option<u32>,
    /// Libraries that interpose on it, by file name; empty: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preload: Option<Vec<String>>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Circumstances {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_of_a_launch_is_its_chain_or_what_version_1_had() {
        let speed =
            |chain_ns, canary_ns| LaunchRecord { chain_ns, canary_ns, ..LaunchRecord::default() }.speed_ns();
        assert_eq!(speed(Some(0.25), Some(7.0)), Some(0.25));
        assert_eq!(speed(None, Some(7.0)), Some(7.0));
        assert_eq!(speed(None, None), None);
        for none in [0.0, -1.0, f64::NAN] {
            assert_eq!(speed(Some(none), Some(7.0)), None, "{none} is no speed");
        }
    }

    #[test]
    fn launches_between_far_cpus_do_not_count_unless_hardly_any_were_near() {
        let far_first: Vec<Option<f64>> = [160.0, 33.0, 35.0, 34.0, 155.0, 33.0].map(Some).into();
        assert_eq!(near(&far_first), [false, true, true, true, false, true]);
        assert_eq!(near(&far_first[..4]), [true; 4], "three near ones are no sample");
        assert_eq!(near(&[None; 5]), [true; 5], "as in every launch on one CPU");
        let four_far = [[160.0, 155.0, 158.0, 161.0], [33.0, 35.0, 34.0, 33.0]].concat();
        let four_far: Vec<Option<f64>> = four_far.into_iter().map(Some).collect();
        assert_eq!(near(&four_far), [[false; 4], [true; 4]].concat(), "whichever came first");
        let farther = [33.0, 33.0, 33.0, 33.0, 33.0 * FARTHER + 0.1, 33.0 * FARTHER - 0.1].map(Some);
        assert_eq!(near(&farther), [true, true, true, true, false, true]);
        // One launch on the two threads of a core is no sample either.
        let one_nearer = [&[Some(14.0)], &far_first[..]].concat();
        assert_eq!(near(&one_nearer), [false, false, true, true, true, false, true]);
        let untimed = [&far_first[1..], &[None, Some(34.0)]].concat();
        assert_eq!(near(&untimed), [true, true, true, false, true, false, true]);
    }

    #[test]
    fn circumstances_of_which_anything_is_known_are_known() {
        assert!(Circumstances::default().is_unknown());
        assert!(!Circumstances { nice: Some(0), ..Circumstances::default() }.is_unknown());
        assert!(!Circumstances { preload: Some(Vec::new()), ..Circumstances::default() }.is_unknown());
    }
}
