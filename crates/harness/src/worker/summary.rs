//! A launch in numbers: flags of rounds, statistics of each member, paired comparisons. METHOD.md, Sample and Launch statistics.

use std::collections::BTreeMap;

use oscost_results::Histogram;
use oscost_stats::histogram::LogHistogram;
use oscost_stats::paired::{paired_difference, paired_ratio};
use oscost_stats::quantile::{median, quantile, sorted};

use oscost_stats::windows::medians;

use crate::protocol::core::Core;
use crate::protocol::message::Windows;
use crate::worker::rounds::{Batches, Rounds};

/// A round is fast if its chain and its throughput loop are within 2 % of full speed.
const FAST: f64 = 1.02;

/// Length of the sketch of clean rounds.
const SKETCH: usize = 101;

/// Samples of the canaries, round by round, and their best ones.
#[derive(Debug, Clone, Default)]
pub struct CanaryTimes {
    /// A step of the chain, ns.
    pub chain: Vec<f64>,
    /// An instruction of the throughput loop, ns.
    pub throughput: Vec<f64>,
    /// A bare kernel entry, ns; empty where none was made.
    pub entry: Vec<f64>,
}

impl CanaryTimes {
    /// Those of a launch.
    #[must_use]
    pub fn of(rounds: &Rounds) -> Self {
        let samples = |index: usize| rounds.canaries.get(index).map(|canary| canary.samples.clone());
        let [chain, throughput, entry] = [0, 1, 2].map(|index| samples(index).unwrap_or_default());
        Self { chain, throughput, entry }
    }

    /// Which rounds were fast: the chain and the throughput loop both within 2 % of the lower of their 1st percentiles here
    /// and at the start of the run.
    #[must_use]
    pub fn fast_rounds(&self, core: &Core) -> Vec<bool> {
        let limit = |samples: &[f64], found: Option<f64>| {
            let here = best(samples).unwrap_or(f64::INFINITY);
            FAST * found.filter(|&ns| ns > 0.0).map_or(here, |found| found.min(here))
        };
        let limits = (limit(&self.chain, core.chain_ns), limit(&self.throughput, core.throughput_ns));
        let both = self.chain.iter().zip(&self.throughput);
        both.map(|(&chain, &throughput)| chain <= limits.0 && throughput <= limits.1).collect()
    }

    /// Medians of windows of rounds of one member, and of the canaries beside it; its own in steps if it is told in cycles.
    #[must_use]
    pub fn windows(&self, samples: &[f64], in_cycles: bool) -> Windows {
        let steps = |costs: &[f64]| -> Vec<f32> {
            let both = costs.iter().zip(&self.chain).filter(|(_, step)| **step > 0.0);
            short(&medians(&both.map(|(cost, step)| cost / step).collect::<Vec<_>>()))
        };
        Windows {
            ns: short(&medians(samples)),
            steps: if in_cycles { steps(samples) } else { Vec::new() },
            throughput: steps(&self.throughput),
            entry: steps(&self.entry),
        }
    }
}

/// Seven digits are enough for a median, and half as long in a report.
fn short(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// The best of a launch: the 1st percentile, because a smallest value may be the clock's.
#[must_use]
pub fn best(samples: &[f64]) -> Option<f64> {
    quantile(&sorted(samples.to_vec()), 0.01)
}

/// What is told of one member.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Quantity → number.
    pub quantities: BTreeMap<String, f64>,
    /// Share of fast rounds.
    pub fast_share: f64,
    /// Share of clean rounds; `None` where it could not be read which ones were disturbed.
    pub clean_share: Option<f64>,
    /// Evenly spaced quantiles of the samples of clean rounds.
    pub clean_sketch: Vec<f64>,
    /// Distribution of all samples.
    pub histogram: Histogram,
}

/// Statistics of one member over the rounds of a launch; `None` if it has no samples. `blocks`: a blocking operation on
/// one CPU is preempted by its own wake-up in nearly every round, so preemption does not make its rounds unclean. Where the
/// usage of batches could not be read, the sketch is of the fast rounds.
#[must_use]
pub fn summarise(batches: &Batches, fast: &[bool], blocks: bool) -> Option<Summary> {
    if batches.samples.is_empty() {
        return None;
    }
    let chosen = |keep: &dyn Fn(usize) -> bool| -> Vec<f64> {
        let samples = batches.samples.iter().enumerate();
        sorted(samples.filter(|&(round, _)| keep(round)).map(|(_, &sample)| sample).collect())
    };
    let is_fast = |round: usize| fast.get(round).copied().unwrap_or(false);
    let known = blocks || batches.used.is_ok();
    let is_clean = |round: usize| is_fast(round) && (blocks || !batches.disturbed[round]);
    let all = chosen(&|_| true);
    let fast_samples = chosen(&is_fast);
    let clean = chosen(&is_clean);
    let count = all.len() as f64;
    let mut histogram = LogHistogram::new();
    all.iter().for_each(|&sample| histogram.record(sample));
    let (first, counts) = histogram.counts();
    let quantities = [
        ("floor", quantile(&all, 0.0)),
        ("p5", quantile(&all, 0.05)),
        ("typical", median(&fast_samples).or_else(|| median(&all))),
        ("batch_p99", quantile(&all, 0.99)),
        ("max", quantile(&all, 1.0)),
        ("mean", Some(all.iter().sum::<f64>() / count)),
    ];
    Some(Summary {
        quantities: quantities
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect(),
        fast_share: fast_samples.len() as f64 / count,
        clean_share: known.then(|| clean.len() as f64 / count),
        clean_sketch: (0..SKETCH)
            .filter_map(|index| quantile(&clean, index as f64 / (SKETCH - 1) as f64))
            .collect(),
        histogram: Histogram { first, counts: counts.to_vec(), ..Histogram::default() },
    })
}

/// Paired ratio and difference of two members over the fast rounds of one launch; over all of them where none was fast
/// (a whole launch in a slow phase slows both sides alike).
#[must_use]
pub fn compare(of: &Batches, to: &Batches, fast: &[bool]) -> (Option<f64>, Option<f64>) {
    let all = vec![true; of.samples.len()];
    let keep = if fast.contains(&true) { fast } else { &all };
    (paired_ratio(&of.samples, &to.samples, keep), paired_difference(&of.samples, &to.samples, keep))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(samples: &[f64], disturbed: &[usize]) -> Batches {
        Batches {
            samples: samples.to_vec(),
            disturbed: (0..samples.len()).map(|round| disturbed.contains(&round)).collect(),
            ..Batches::default()
        }
    }

    fn canary_times(chain: &[f64], throughput: &[f64]) -> CanaryTimes {
        CanaryTimes { chain: chain.to_vec(), throughput: throughput.to_vec(), entry: Vec::new() }
    }

    fn core(chain_ns: Option<f64>, throughput_ns: Option<f64>) -> Core {
        Core { chain_ns, throughput_ns, ..Core::default() }
    }

    #[test]
    fn slow_phases_flag_rounds_and_delete_nothing() {
        let canaries = canary_times(&[1.0, 1.0, 1.0, 1.5, 1.01], &[0.2; 5]);
        let fast = canaries.fast_rounds(&core(Some(1.0), Some(0.2)));
        assert_eq!(fast, [true, true, true, false, true]);
        let member = batches(&[10.0, 11.0, 10.0, 20.0, 12.0], &[1]);
        let summary = summarise(&member, &fast, false).expect("samples");
        assert_eq!(summary.quantities["floor"], 10.0);
        assert_eq!(summary.quantities["typical"], 10.5);
        assert_eq!(summary.quantities["max"], 20.0);
        assert_eq!(summary.quantities["mean"], 12.6);
        assert_eq!(summary.fast_share, 0.8);
        assert_eq!(summary.clean_share, Some(0.6));
        assert_eq!(summary.histogram.counts.iter().sum::<u64>(), 5, "the histogram leaves none out");
        let sketch = summary.clean_sketch;
        assert_eq!(
            (sketch[0], sketch[SKETCH / 2], sketch[SKETCH - 1], sketch.len()),
            (10.0, 10.0, 12.0, SKETCH)
        );
        let blocking = summarise(&member, &fast, true).expect("samples");
        assert_eq!(blocking.clean_share, Some(0.8));
    }

    #[test]
    fn the_best_of_a_launch_is_its_first_percentile() {
        let samples: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!((best(&samples), best(&[])), (Some(1.0), None));
    }

    #[test]
    fn a_round_is_fast_if_both_canaries_are_within_two_percent() {
        let canaries =
            canary_times(&[1.0, 1.02, 1.021, 1.0, 1.0, 1.021], &[0.2, 0.2, 0.2, 0.204, 0.2042, 0.2042]);
        let expected = [true, true, false, true, false, false];
        assert_eq!(canaries.fast_rounds(&core(Some(1.0), Some(0.2))), expected);
        let none = [false; 6];
        assert_eq!(canaries.fast_rounds(&core(Some(0.9), Some(0.2))), none, "the core was faster before");
        assert_eq!(canaries.fast_rounds(&core(Some(1.0), Some(0.18))), none, "and wider");
        // What was found at the start may be the slower one, or nothing: the 1st percentile here counts.
        assert_eq!(canaries.fast_rounds(&core(Some(1.5), Some(0.3))), expected);
        assert_eq!(canaries.fast_rounds(&core(None, None)), expected);
    }

    #[test]
    fn only_rounds_of_both_are_compared() {
        let of = |samples: &[f64]| batches(samples, &[]);
        assert_eq!(compare(&of(&[]), &of(&[]), &[]), (None, None));
        assert_eq!(compare(&of(&[2.0; 2]), &of(&[1.0; 3]), &[true; 3]), (None, None));
        assert_eq!(compare(&of(&[2.0; 3]), &of(&[1.0; 3]), &[true; 3]), (Some(2.0), Some(1.0)));
    }

    #[test]
    fn a_launch_in_a_slow_phase_is_told_by_the_start_of_the_run() {
        let fast = canary_times(&[1.4; 10], &[0.2; 10]).fast_rounds(&core(Some(1.0), Some(0.2)));
        assert_eq!(fast, [false; 10]);
        let summary = summarise(&batches(&[14.0; 10], &[]), &fast, false).expect("samples");
        assert_eq!(summary.quantities["typical"], 14.0);
        assert_eq!(summary.clean_share, Some(0.0));
        assert!(summary.clean_sketch.is_empty());
    }

    #[test]
    fn windows_are_medians_in_steps_of_the_chain_of_their_round() {
        // The core slows down by half in the second window: what follows it costs as many steps as before.
        let chain: Vec<f64> = (0..50).map(|round| if round < 25 { 0.25 } else { 0.375 }).collect();
        let steps = |steps: f64| chain.iter().map(|step| step * steps).collect::<Vec<f64>>();
        let canaries = CanaryTimes { throughput: steps(0.125), entry: steps(200.0), chain: chain.clone() };
        let mut samples = steps(400.0);
        samples[3] = 1e6;
        let windows = canaries.windows(&samples, true);
        assert_eq!(windows.ns, [100.0, 150.0]);
        assert_eq!(windows.steps, [400.0, 400.0]);
        assert_eq!(windows.throughput, [0.125, 0.125]);
        assert_eq!(windows.entry, [200.0, 200.0]);
        let without = CanaryTimes { entry: Vec::new(), ..canaries }.windows(&samples, false);
        assert_eq!((without.entry.len(), without.steps.len(), without.ns.len()), (0, 0, 2));
    }

    #[test]
    fn pairs_are_of_the_same_round() {
        // Both double in the second half: paired, the ratio never moves.
        let a = batches(&[30.0, 30.0, 60.0, 60.0], &[]);
        let b = batches(&[10.0, 10.0, 20.0, 20.0], &[]);
        let (ratio, difference) = compare(&a, &b, &[true; 4]);
        assert_eq!(ratio, Some(3.0));
        assert_eq!(difference, Some(30.0));
        assert_eq!(compare(&a, &b, &[false; 4]), (ratio, difference), "a slow launch still has pairs");
    }

    #[test]
    fn no_samples_no_summary() {
        assert!(summarise(&Batches::default(), &[], false).is_none());
    }

    #[test]
    fn quantities_are_quantiles_of_all_samples() {
        let samples: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let told = summarise(&batches(&samples, &[]), &[true; 101], false).expect("samples").quantities;
        let of = ["floor", "p5", "typical", "batch_p99", "max", "mean"].map(|name| told[name]);
        assert_eq!(of, [0.0, 5.0, 50.0, 99.0, 100.0, 50.0]);
    }

    #[test]
    fn a_round_without_a_step_of_the_chain_is_in_no_window_of_steps() {
        let chain = vec![0.5, 0.0, 0.5, -0.1, 0.5, 0.5, 0.5];
        let canaries = CanaryTimes { throughput: vec![0.25; 7], entry: Vec::new(), chain };
        let windows = canaries.windows(&[3.0; 7], true);
        assert_eq!((windows.steps, windows.throughput), (vec![6.0], vec![0.5]));
        let stopped = CanaryTimes { chain: vec![0.0; 7], ..canaries }.windows(&[3.0; 7], true);
        assert_eq!((stopped.steps.len(), stopped.ns.len()), (0, 1));
    }
}
