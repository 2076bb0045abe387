//! How far figures of one machine move from run to run beyond what the launches of a run show: learnt from past runs.

use crate::student;

/// Pairs of past runs that weigh as much as what is usual for a figure of its class.
const USUAL_WEIGHT: f64 = 8.0;
/// Degrees of freedom of what is usual: it was found by many pairs of many figures.
const USUAL_FREEDOM: f64 = 30.0;
/// What the quietest figures move from run to run: the least that is added to the errors of a class that has a null.
const WITH_A_NULL: f64 = 0.002;
/// Differences of successive runs share a run each: so many of them are worth one that is independent (von Neumann, 1941).
const PAIRS_FOR_ONE: f64 = 1.5;

/// What is usual for a figure of a placement ("one_cpu", "same_cpu", "cross_cpu", "spread", "unpinned"; "paired" for ratios and
/// differences) in a quantity, where the store knows no past runs: METHOD.md, Drift. `disturbed`: others had a part of the
/// measured CPU, or of its core.
#[must_use]
pub fn usual(placement: &str, quantity: &str, disturbed: bool) -> Drift {
    let share = match (placement, quantity, disturbed) {
        // A ratio of two times of one round, or the step of a clock.
        ("paired", ..) | ("one_cpu", "step", _) => 0.003,
        // Windows that were quiet are quiet, whatever went on before and after.
        ("one_cpu" | "same_cpu", "quiet", true) => 0.012,
        ("one_cpu" | "same_cpu", "cycles" | "quiet", _) => 0.01,
        ("one_cpu" | "same_cpu", "floor", false) => 0.01,
        ("one_cpu" | "same_cpu", _, false) => 0.02,
        ("one_cpu" | "same_cpu", _, true) => 0.03,
        // The other CPU is kept awake: the host has no part in waking it.
        ("awake", _, false) => 0.006,
        // Another CPU is woken, or placement is free.
        (_, _, false) => 0.03,
        (_, _, true) => 0.1,
    };
    Drift::usual(share)
}

/// The drift of one figure: a variance of the logarithm of its estimate in a run, and how well that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    variance: f64,
    freedom: f64,
}

/// What a past run found of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftFound {
    /// The estimate, positive.
    pub value: f64,
    /// Standard error of its logarithm, from the launches of the run.
    pub error: f64,
}

impl Drift {
    /// Runs that differ by no more than their launches say: what alternating launches of two sides are.
    pub const NONE: Self = Self { variance: 0.0, freedom: f64::INFINITY };

    /// What is left to add where the figures of both runs themselves say how far unchanged ones moved ([`crate::null`]).
    #[must_use]
    pub fn with_a_null() -> Self {
        Self { variance: WITH_A_NULL * WITH_A_NULL, freedom: f64::INFINITY }
    }

    /// What references told of two runs, of which there were so many.
    pub(crate) fn of_references(share: f64, freedom: f64) -> Self {
        Self { variance: share * share, freedom }
    }

    /// How far a change may be from the truth by drift alone, at the level of a single figure.
    pub(crate) fn reach(&self) -> f64 {
        const OUTSIDE: f64 = 0.0025;
        self.share() * student::exceeded_by(OUTSIDE, self.freedom)
    }

    /// What is usual: a standard deviation as a share of the figure.
    #[must_use]
    pub fn usual(share: f64) -> Self {
        Self { variance: share * share, freedom: USUAL_FREEDOM }
    }

    /// The standard deviation, as a share of the figure.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.variance.sqrt()
    }

    /// What is known with past runs besides what is usual. `series` are runs of the same thing in the order in which they
    /// were made, one list for each set of surroundings: what two runs differ by beyond their errors is drift.
    #[must_use]
    pub fn learnt(self, series: &[Vec<DriftFound>]) -> Self {
        let pairs = || series.iter().flat_map(|runs| runs.windows(2));
        let beyond = |pair: &[DriftFound]| {
            let apart = (pair[1].value / pair[0].value).ln();
            // Each of the two runs has drifted.
            (apart * apart - pair[0].error * pair[0].error - pair[1].error * pair[1].error) / 2.0
        };
        let count = pairs().count() as f64;
        if count == 0.0 {
            return self;
        }
        let variance = (pairs().map(beyond).sum::<f64>() / count).max(0.0);
        let variance = (self.variance * USUAL_WEIGHT + variance * count) / (USUAL_WEIGHT + count);
        Self { variance, freedom: self.freedom + count / PAIRS_FOR_ONE }
    }

    /// The error, with its degrees of freedom, of a sum of which parts have these errors, and in which `runs` runs drift
    /// (Welch and Satterthwaite). Infinite where a part has no degree of freedom: one launch tells nothing of its error.
    pub(crate) fn beside(self, parts: &[(f64, f64)], runs: f64) -> (f64, f64) {
        if parts.iter().any(|(_, freedom)| *freedom <= 0.0) {
            return (f64::INFINITY, 0.0);
        }
        let drift = (runs * self.variance, self.freedom);
        let parts = || parts.iter().map(|(error, freedom)| (error * error, *freedom)).chain([drift]);
        let variance: f64 = parts().map(|(variance, _)| variance).sum();
        if variance == 0.0 || !variance.is_finite() {
            return (variance.sqrt(), parts().map(|(_, freedom)| freedom).fold(f64::INFINITY, f64::min));
        }
        // Shares of the whole, so that no square overflows.
        let unknown: f64 =
            parts().filter(|part| part.0 > 0.0).map(|part| (part.0 / variance).powi(2) / part.1).sum();
        (variance.sqrt(), 1.0 / unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(value: f64) -> DriftFound {
        DriftFound { value, error: 0.0 }
    }

    #[test]
    fn beside_a_null_a_little_is_left_that_is_known() {
        let left = Drift::with_a_null();
        assert_eq!((left.share(), left.freedom), (WITH_A_NULL, f64::INFINITY));
        assert!(left.share() > 0.0 && left.share() < Drift::usual(0.01).share());
    }

    #[test]
    fn without_a_past_the_usual_holds() {
        let usual = Drift::usual(0.01);
        assert_eq!(usual.learnt(&[]), usual);
        assert_eq!(
            usual.learnt(&[vec![found(5.0)], vec![found(9.0)]]),
            usual,
            "runs of other surroundings make no pair"
        );
        assert_eq!((usual.share(), usual.freedom), (0.01, 30.0));
        assert!((usual.reach() - 0.01 * 3.029_8).abs() < 1e-6, "{}", usual.reach());
    }

    #[test]
    fn pairs_of_past_runs_count_beside_the_usual() {
        // Twelve pairs, each one half a percent apart: a variance of 0.005^2 / 2 a run, beside eight of nothing.
        let runs: Vec<DriftFound> =
            (0..13).map(|run| found(100.0 * (0.005 * f64::from(run % 2)).exp())).collect();
        let drift = Drift::usual(0.0).learnt(&[runs]);
        assert!((drift.variance / (0.005 * 0.005 / 2.0 * 12.0 / 20.0) - 1.0).abs() < 1e-9, "{drift:?}");
        assert!((drift.freedom - 38.0).abs() < 1e-12);
        // What is usual weighs as eight pairs: beside one pair of equal runs, eight ninths of it are left.
        let drift = Drift::usual(0.03).learnt(&[vec![found(100.0), found(100.0)]]);
        assert!((drift.variance / (0.03 * 0.03 * 8.0 / 9.0) - 1.0).abs() < 1e-12, "{drift:?}");
    }

    #[test]
    fn what_the_launches_show_is_no_drift() {
        let shown = |value: f64| DriftFound { value, error: 0.01 };
        let drift = Drift::usual(0.004).learnt(&[vec![shown(100.0), shown(100.5), shown(100.0)]]);
        assert!(drift.share() < 0.004, "{drift:?}");
        let drift = Drift::usual(0.004).learnt(&[vec![shown(100.0), shown(110.0)]]);
        assert!(drift.share() > 0.015, "{drift:?}");
    }

    #[test]
    fn parts_add_up_and_so_do_their_degrees_of_freedom() {
        let (error, freedom) = Drift::NONE.beside(&[(0.03, 9.0), (0.04, 9.0)], 2.0);
        assert!((error - 0.05).abs() < 1e-12);
        // Welch and Satterthwaite: 0.05^4 / (0.03^4 / 9 + 0.04^4 / 9).
        assert!((freedom - 9.0 * 625.0 / (81.0 + 256.0)).abs() < 1e-9);
        let (error, freedom) = Drift::usual(0.03).beside(&[(0.0, 9.0), (0.0, 9.0)], 2.0);
        assert!((error - 0.03 * 2.0_f64.sqrt()).abs() < 1e-12 && (freedom - 30.0).abs() < 1e-9);
        assert_eq!(Drift::NONE.beside(&[(0.0, 9.0), (0.0, 5.0)], 2.0), (0.0, 5.0));
        assert_eq!(
            Drift::usual(0.01).beside(&[(0.0, 0.0)], 1.0),
            (f64::INFINITY, 0.0),
            "of one launch nothing is known"
        );
        assert_eq!(Drift::NONE.beside(&[(0.01, 1.0)], 1.0), (0.01, 1.0), "of two something is");
    }

    /// METHOD.md (Drift) tells people what is usual: of each row the shares in percent, undisturbed and disturbed.
    #[test]
    fn what_is_usual_is_what_the_method_says() {
        let method =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../METHOD.md")).unwrap();
        let row = |figures: &str| -> [f64; 2] {
            let line = method.lines().find(|line| line.starts_with(&format!("| {figures} |"))).unwrap();
            let shares: Vec<f64> =
                line.split('|').nth(2).unwrap().split(' ').filter_map(|word| word.parse().ok()).collect();
            [shares[0] / 100.0, shares[shares.len() - 1] / 100.0]
        };
        let paired = row("paired ratios and differences, the step of a clock");
        let cycles = row("one CPU, in cycles");
        let quiet = row("one CPU, quiet ns");
        let floor = row("one CPU, floor");
        let else_on_one = row("one CPU, everything else");
        let across = row("across CPUs otherwise, or wherever the scheduler puts it");
        let awake = row("across CPUs, the other one kept awake");
        assert!(floor[0] < floor[1] && across[0] < across[1], "{floor:?} {across:?}");
        let mut all = vec![("paired", "ratio", paired), ("one_cpu", "step", paired)];
        for one in ["one_cpu", "same_cpu"] {
            all.extend([(one, "cycles", cycles), (one, "quiet", quiet), (one, "floor", floor)]);
            all.push((one, "typical", else_on_one));
        }
        for other in ["cross_cpu", "spread", "unpinned"] {
            all.extend([(other, "floor", across), (other, "cycles", across)]);
        }
        all.push(("awake", "typical", awake));
        for (placement, quantity, shares) in all {
            for (disturbed, expected) in [(false, shares[0]), (true, shares[1])] {
                let share = usual(placement, quantity, disturbed).share();
                assert!((share - expected).abs() < 1e-12, "{placement}, {quantity}, {disturbed}: {share}");
            }
        }
    }

    /// Of two runs each has its own error: what is left of their distance beyond both is drift, half of it each one's.
    #[test]
    fn each_run_has_its_own_error() {
        let runs = [DriftFound { value: 100.0, error: 0.01 }, DriftFound { value: 110.0, error: 0.03 }];
        let beyond = (1.1_f64.ln().powi(2) - 0.01 * 0.01 - 0.03 * 0.03) / 2.0;
        let reversed: Vec<DriftFound> = runs.iter().rev().copied().collect();
        for runs in [runs.to_vec(), reversed] {
            let drift = Drift::usual(0.0).learnt(&[runs]);
            assert!((drift.variance / (beyond / 9.0) - 1.0).abs() < 1e-12, "{drift:?}");
        }
    }
}
