//! Operations timed one by one: percentiles, how often one takes longer, and where the time went.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Estimate;

/// What single operations of a figure took (`run --percentiles`). A pass is one iteration of the loop; the clock pair's cost
/// is removed from its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Percentiles {
    /// Operations in a pass. Where there are several, all times are of them together.
    pub operations_per_pass: u64,
    /// Passes that were timed one by one, in all launches.
    pub passes: u64,
    /// Launches that they were made in.
    pub launches: u32,
    /// Cost of the pair of clock readings around a pass, ns: removed.
    pub pair_ns: f64,
    /// Mean of all passes, ns.
    pub mean_ns: f64,
    /// The longest pass, ns.
    pub max_ns: f64,
    /// Percentiles. One that fewer than ten passes lie beyond is left out.
    pub quantiles: Vec<AtQuantile>,
    /// How often a pass takes longer than round times.
    pub longer: Vec<Longer>,
    /// Passes timed alone, beside batches of them.
    pub beside_batch: BesideBatch,
    /// Where the time went.
    pub account: Account,
    /// Passes after the caches were evicted, and after idleness.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<FirstCalls>,
    /// Smallest time of each bucket that holds something, ns, with the clock pair.
    pub from_ns: Vec<u64>,
    /// Passes in each of these buckets.
    pub counts: Vec<u64>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Percentiles {
    /// Its percentiles, mean and maximum as quantities of the figure, for formats that have a line a quantity: names and
    /// estimates in ns. Bounds are those of single launches.
    #[must_use]
    pub fn quantities(&self) -> Vec<(String, Estimate)> {
        let of = |value: f64| Estimate { value, low: value, high: value, extremes: true };
        let mut all: Vec<(String, Estimate)> = self
            .quantiles
            .iter()
            .map(|&AtQuantile { share, value, low, high }| {
                let percent = format!("{:.3}", share * 100.0);
                let percent = percent.trim_end_matches('0').trim_end_matches('.').replace('.', "_");
                (format!("alone_p{percent}"), Estimate { value, low, high, extremes: true })
            })
            .collect();
        all.push(("alone_mean".to_owned(), of(self.mean_ns)));
        all.push(("alone_max".to_owned(), of(self.max_ns)));
        for first in self.first.iter().filter(|first| first.evicts()) {
            let &FirstCalls { median_ns: value, low_ns: low, high_ns: high, .. } = first;
            all.push((first.after.quantity().to_owned(), Estimate { value, low, high, extremes: true }));
        }
        all
    }
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AtQuantile {
    /// Share of the passes that took no longer, 0 to 1.
    pub share: f64,
    /// That time, ns, of all launches together.
    pub value: f64,
    /// The smallest of a single launch.
    pub low: f64,
    /// The largest of a single launch.
    pub high: f64,
}

/// How often a pass takes longer than a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Longer {
    /// The time, ns.
    pub than_ns: f64,
    /// Passes that took longer.
    pub passes: u64,
    /// Stretches of some milliseconds with such passes: what comes in bursts is one event.
    pub events: u64,
    /// So many in a million passes at most, with a confidence of 95 %.
    pub per_million_at_most: f64,
}

/// Single passes, each of them the first one after something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FirstCalls {
    /// What came before each pass.
    pub after: FirstCallAfter,
    /// Passes of all launches.
    pub passes: u64,
    /// Median of all of them, ns, without the clock pair.
    pub median_ns: f64,
    /// The smallest median of a launch, ns.
    pub low_ns: f64,
    /// The largest median of a launch, ns.
    pub high_ns: f64,
    /// Ninetieth percentile, ns.
    pub p90_ns: f64,
    /// The longest, ns.
    pub max_ns: f64,
    /// Reading a line of memory after the eviction, ns: the evidence that the caches lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_ns: Option<f64>,
    /// Reading it right after it was read, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_hot_ns: Option<f64>,
}

/// A line that is evicted takes so many times as long.
const EVICTED: f64 = 5.0;

impl FirstCalls {
    /// Whether what should come before each pass did come: a line that the caches should have lost was slow to read.
    #[must_use]
    pub fn evicts(&self) -> bool {
        match self.after {
            FirstCallAfter::Eviction => {
                self.line_ns.zip(self.line_hot_ns).is_some_and(|(line, hot)| line >= EVICTED * hot)
            }
            FirstCallAfter::Idleness => true,
            FirstCallAfter::Unknown => false,
        }
    }
}

/// What comes before a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FirstCallAfter {
    /// More memory than the caches hold was read.
    Eviction,
    /// 5 ms of sleep.
    Idleness,
    /// Something that this version does not know.
    #[serde(other)]
    Unknown,
}

impl FirstCallAfter {
    /// Name of the quantity, for formats that have a line a quantity.
    #[must_use]
    pub fn quantity(self) -> &'static str {
        match self {
            Self::Eviction => "cold_evicted",
            Self::Idleness => "cold_idle",
            Self::Unknown => "cold",
        }
    }
}

/// Passes timed alone beside batches in the same process, turn by turn. Both are medians over blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BesideBatch {
    /// A pass timed alone, ns.
    pub alone_ns: f64,
    /// A pass of a batch, ns.
    pub batch_ns: f64,
}

impl BesideBatch {
    /// By how much a pass is longer alone, as a share; `None` where a batch took no time.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        (self.batch_ns > 0.0).then(|| self.alone_ns / self.batch_ns - 1.0)
    }
}

/// Where the time of the stretches in which passes were timed alone went. Its parts are all of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Account {
    /// All of it, ns, by two readings of the clock a stretch.
    pub elapsed_ns: u64,
    /// Passes without what gaps added to them.
    pub passes_ns: u64,
    /// Reading the clock and counting, between passes.
    pub counting_ns: u64,
    /// Looking for causes of gaps, and the passes after that, which are not counted.
    pub looking_ns: u64,
    /// A pass that takes longer than this is a gap of what is beyond the typical pass, ns.
    pub limit_ns: u64,
    /// Gaps by cause.
    pub gaps: Vec<Gaps>,
}

impl Account {
    /// Time of all gaps, ns.
    #[must_use]
    pub fn gaps_ns(&self) -> u64 {
        self.gaps.iter().fold(0, |sum, gaps| sum.saturating_add(gaps.total_ns))
    }
}

/// The gaps of one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gaps {
    /// What took the CPU.
    pub cause: GapCause,
    /// Who: the name of a task or an interrupt, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How many.
    pub count: u64,
    /// Of these the ones within a pass that was counted.
    pub in_passes: u64,
    /// Their time together, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
}

/// What a gap comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GapCause {
    /// Another task ran on the CPU.
    Preemption,
    /// The thread was moved to another CPU.
    Migration,
    /// A page was not there.
    PageFault,
    /// An interrupt.
    Interrupt,
    /// The host of the virtual machine ran something else.
    Steal,
    /// No counter of this kernel moved.
    #[serde(other)]
    Unknown,
}

impl GapCause {
    /// The cause in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Preemption => "preemption",
            Self::Migration => "migration",
            Self::PageFault => "page fault",
            Self::Interrupt => "interrupt",
            Self::Steal => "steal",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(after: FirstCallAfter) -> FirstCalls {
        FirstCalls {
            after,
            passes: 9,
            median_ns: 7.0,
            low_ns: 6.0,
            high_ns: 8.0,
            p90_ns: 9.0,
            max_ns: 10.0,
            line_ns: None,
            line_hot_ns: Some(1.0),
        }
    }

    #[test]
    fn quantities_are_named_by_their_percent() {
        let at = |share| AtQuantile { share, value: 2.0, low: 1.0, high: 3.0 };
        let percentiles = Percentiles {
            operations_per_pass: 1,
            passes: 1000,
            launches: 2,
            pair_ns: 20.0,
            mean_ns: 2.5,
            max_ns: 90.0,
            quantiles: vec![at(0.5), at(0.9), at(0.99), at(0.999), at(0.9999), at(1.0)],
            longer: Vec::new(),
            beside_batch: BesideBatch::default(),
            account: Account::default(),
            first: vec![
                FirstCalls { line_ns: Some(4.9), ..first(FirstCallAfter::Eviction) },
                FirstCalls { line_ns: Some(5.0), ..first(FirstCallAfter::Eviction) },
                first(FirstCallAfter::Idleness),
                first(FirstCallAfter::Unknown),
            ],
            from_ns: Vec::new(),
            counts: Vec::new(),
            unknown: Map::new(),
        };
        let quantities = percentiles.quantities();
        let names: Vec<&str> = quantities.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "alone_p50",
                "alone_p90",
                "alone_p99",
                "alone_p99_9",
                "alone_p99_99",
                "alone_p100",
                "alone_mean",
                "alone_max",
                "cold_evicted",
                "cold_idle"
            ],
            "an eviction that no line shows is none"
        );
        let of = |value, low, high| Estimate { value, low, high, extremes: true };
        assert_eq!(quantities[0].1, of(2.0, 1.0, 3.0));
        assert_eq!((quantities[6].1, quantities[7].1), (of(2.5, 2.5, 2.5), of(90.0, 90.0, 90.0)));
    }

    #[test]
    fn an_eviction_is_one_that_made_a_line_slow_to_read() {
        let evicts = |line_ns, after| FirstCalls { line_ns, ..first(after) }.evicts();
        let lines = [None, Some(4.9), Some(5.0), Some(90.0)];
        assert_eq!(lines.map(|line| evicts(line, FirstCallAfter::Eviction)), [false, false, true, true]);
        assert!(evicts(None, FirstCallAfter::Idleness) && !evicts(Some(90.0), FirstCallAfter::Unknown));
    }

    #[test]
    fn a_pass_alone_is_held_against_one_of_a_batch() {
        let difference = |alone_ns, batch_ns| BesideBatch { alone_ns, batch_ns }.difference();
        assert_eq!(difference(30.0, 20.0), Some(0.5));
        assert_eq!(difference(10.0, 20.0), Some(-0.5));
        assert_eq!(difference(10.0, 0.0), None);
    }

    #[test]
    fn gaps_of_all_causes_are_one_time() {
        let gap = |total_ns| Gaps {
            cause: GapCause::Steal,
            by: None,
            count: 1,
            in_passes: 1,
            total_ns,
            longest_ns: total_ns,
        };
        let account = |gaps| Account { gaps, ..Account::default() };
        assert_eq!(account(Vec::new()).gaps_ns(), 0);
        assert_eq!(account(vec![gap(3), gap(4)]).gaps_ns(), 7);
        assert_eq!(account(vec![gap(u64::MAX), gap(4)]).gaps_ns(), u64::MAX, "a file may hold anything");
    }
}
