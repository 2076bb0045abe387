//! A launch in numbers: flags of rounds, statistics of each member, paired comparisons. METHOD.md, Sample and Launch statistics.

use std::collections::BTreeMap;

use oscost_results::Histogram;
use oscost_stats::histogram::LogHistogram;
use oscost_stats::paired::{paired_difference, paired_ratio};
use oscost_stats::quantile::{median, quantile, sorted};

use crate::rounds::{Batches, Rounds};

/// A round is fast if its canary is within 2 % of full speed.
const FAST: f64 = 1.02;

/// Length of the sketch of clean rounds.
const SKETCH: usize = 101;

/// Speed of the core in a launch: the 1st percentile of the canary, ns a pass.
#[must_use]
pub fn canary_speed(rounds: &Rounds) -> Option<f64> {
    quantile(&sorted(rounds.canary.clone()), 0.01)
}

/// Which rounds were fast: the canary within 2 % of the lower of its 1st percentiles here and in the calibration.
#[must_use]
pub fn fast_rounds(rounds: &Rounds, calibrated_ns: f64) -> Vec<bool> {
    let here = canary_speed(rounds).unwrap_or(calibrated_ns);
    let full_speed = if calibrated_ns > 0.0 { here.min(calibrated_ns) } else { here };
    rounds.canary.iter().map(|&canary| canary <= FAST * full_speed).collect()
}

/// What is told of one member.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Quantity → number.
    pub quantities: BTreeMap<String, f64>,
    /// Share of fast rounds.
    pub fast_share: f64,
    /// Share of clean rounds.
    pub clean_share: f64,
    /// Evenly spaced quantiles of the samples of clean rounds.
    pub clean_sketch: Vec<f64>,
    /// Distribution of all samples.
    pub histogram: Histogram,
}

/// Statistics of one member over the rounds of a launch; `None` if it has no samples. `blocks`: a blocking operation on
/// one CPU is preempted by its own wake-up in nearly every round, so preemption does not make its rounds unclean.
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
        clean_share: clean.len() as f64 / count,
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
    if of.samples.len() != to.samples.len() || of.samples.is_empty() {
        return (None, None);
    }
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

    #[test]
    fn slow_phases_flag_rounds_and_delete_nothing() {
        let rounds = Rounds {
            canary: vec![1.0, 1.0, 1.0, 1.5, 1.01],
            members: vec![batches(&[10.0, 11.0, 10.0, 20.0, 12.0], &[1])],
            ..Rounds::default()
        };
        let fast = fast_rounds(&rounds, 1.0);
        assert_eq!(fast, [true, true, true, false, true]);
        let summary = summarise(&rounds.members[0], &fast, false).expect("samples");
        assert_eq!(summary.quantities["floor"], 10.0);
        assert_eq!(summary.quantities["typical"], 10.5);
        assert_eq!(summary.quantities["max"], 20.0);
        assert_eq!(summary.fast_share, 0.8);
        assert_eq!(summary.clean_share, 0.6);
        let blocking = summarise(&rounds.members[0], &fast, true).expect("samples");
        assert_eq!(blocking.clean_share, 0.8);
    }

    #[test]
    fn a_launch_in_a_slow_phase_is_told_by_the_calibration() {
        let members = vec![batches(&[14.0; 10], &[])];
        let rounds = Rounds { canary: vec![1.4; 10], members, ..Rounds::default() };
        let fast = fast_rounds(&rounds, 1.0);
        assert!(fast.iter().all(|&fast| !fast));
        let summary = summarise(&rounds.members[0], &fast, false).expect("samples");
        assert_eq!(summary.quantities["typical"], 14.0);
        assert_eq!(summary.clean_share, 0.0);
        assert!(summary.clean_sketch.is_empty());
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
        assert_eq!(compare(&a, &batches(&[1.0], &[]), &[true; 4]), (None, None));
    }

    #[test]
    fn no_samples_no_summary() {
        assert!(summarise(&Batches::default(), &[], false).is_none());
    }
}
