//! The verdict on two figures: changed by more than a threshold, changed by less, or unclear. METHOD.md, Verdicts on two runs.
//!
//! A report asks many such questions at once, so its figures are judged together: of reports of which nothing changed by
//! more than the threshold, at most one in twenty says that something did (Holm, 1979).

mod change;

pub use change::{Change, FEWEST_BOOTS};

/// Reports that call anything changed without reason, at most.
const A_REPORT: f64 = 0.05;
/// Figures that are called changed without reason, at most, however few a report holds.
const A_FIGURE: f64 = 0.005;
/// Probability left out at each end of the interval that must lie inside the threshold (two one-sided tests).
const INSIDE: f64 = 0.05;

/// What can be said of B against A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// B is larger by more than the threshold, with its whole interval.
    Slower,
    /// B is smaller by more than the threshold, with its whole interval.
    Faster,
    /// The whole interval is inside the threshold.
    Within,
    /// None of these.
    Unclear,
}

impl Verdict {
    /// Every verdict, the worst news first.
    pub const ALL: [Self; 4] = [Self::Slower, Self::Faster, Self::Unclear, Self::Within];

    /// In words, where B is the later of two costs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Within => "within",
            Self::Unclear => "unclear",
        }
    }
}

/// A judged change. All numbers are shares: 0.05 is + 5 %.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Judged {
    /// What can be said.
    pub verdict: Verdict,
    /// B / A - 1.
    pub change: f64,
    /// Lower bound of the interval by which this was judged.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
    /// Probability that it is made to hold the truth with: 0.9 and more where it is inside the threshold, else 0.99 and more.
    pub level: f64,
    /// It certainly changed, by however little.
    pub changed: bool,
}

/// Judges all figures of a report by one threshold, a share. What has no ratio keeps its place as `None`.
#[must_use]
pub fn judge(changes: &[Option<Change>], threshold: f64) -> Vec<Option<Judged>> {
    judge_at(changes, threshold, 1.0)
}

/// The same at one of several looks at a sample that grows, which may spend this share of every chance of an error
/// ([`looks`](crate::looks::looks)).
#[must_use]
pub fn judge_at(changes: &[Option<Change>], threshold: f64, share: f64) -> Vec<Option<Judged>> {
    let beyond = levels(changes, threshold, share);
    let at_all = levels(changes, 0.0, share);
    let outside = INSIDE * share;
    let judged = |((change, beyond), at_all): ((&Option<Change>, HolmStep), HolmStep)| {
        let change = (*change)?;
        let (low, high) = change.interval(outside);
        let inside = -threshold < low && high < threshold;
        let (verdict, low, high, level) = if !beyond.rejected && inside {
            (Verdict::Within, low, high, 1.0 - 2.0 * outside)
        } else {
            let (low, high) = change.interval(beyond.level / 2.0);
            let verdict = match (beyond.rejected, change.share() > 0.0) {
                (true, true) => Verdict::Slower,
                (true, false) => Verdict::Faster,
                _ => Verdict::Unclear,
            };
            (verdict, low, high, 1.0 - beyond.level)
        };
        Some(Judged { verdict, change: change.share(), low, high, level, changed: at_all.rejected })
    };
    changes.iter().zip(beyond).zip(at_all).map(judged).collect()
}

/// What became of a figure in Holm's procedure: called changed or not, and at which level.
#[derive(Debug, Clone, Copy)]
struct HolmStep {
    rejected: bool,
    level: f64,
}

/// Holm's procedure: the least likely figure is held to the level of a report divided by all figures, the next by one fewer,
/// until the first that does not pass; none to less than a figure of its own.
fn levels(changes: &[Option<Change>], threshold: f64, share: f64) -> Vec<HolmStep> {
    let chances: Vec<f64> =
        changes.iter().map(|change| change.map_or(1.0, |change| change.chance(threshold))).collect();
    let mut order: Vec<usize> = (0..changes.len()).filter(|&index| changes[index].is_some()).collect();
    order.sort_by(|&one, &other| chances[one].total_cmp(&chances[other]));
    let level = |left: usize| (A_REPORT / left as f64).min(A_FIGURE) * share;
    let mut steps = vec![HolmStep { rejected: false, level: level(order.len()) }; changes.len()];
    let passed = order
        .iter()
        .enumerate()
        .take_while(|&(place, &index)| chances[index] <= level(order.len() - place))
        .count();
    for (place, &index) in order.iter().enumerate() {
        steps[index] = HolmStep { rejected: place < passed, level: level(order.len() - place.min(passed)) };
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift::Drift;
    use crate::interval::{Centre, LOWER_QUARTILE, MEDIAN};
    use crate::student;

    fn change(a: &[f64], b: &[f64]) -> Option<Change> {
        Change::between(a, b, LOWER_QUARTILE, 0.0, Drift::NONE)
    }

    fn alone(a: &[f64], b: &[f64], threshold: f64) -> Judged {
        judge(&[change(a, b)], threshold)[0].unwrap()
    }

    const STEADY: [f64; 10] = [100.0; 10];

    #[test]
    fn the_threshold_is_the_question() {
        let b = STEADY.map(|launch| launch * 1.1);
        for (threshold, expected) in
            [(0.05, Verdict::Slower), (0.099, Verdict::Slower), (0.101, Verdict::Within)]
        {
            let judged = alone(&STEADY, &b, threshold);
            assert_eq!(judged.verdict, expected, "{threshold}");
            assert!(judged.changed, "whatever the threshold");
            assert!([judged.change, judged.low, judged.high].iter().all(|share| (share - 0.1).abs() < 1e-12));
        }
        assert_eq!(alone(&b, &STEADY, 0.05).verdict, Verdict::Faster);
        // A share of 1.1 that is lost is 9.1 %.
        assert_eq!(alone(&b, &STEADY, 0.095).verdict, Verdict::Within);
        let little = STEADY.map(|launch| launch / 100.0);
        assert_eq!(
            alone(&STEADY, &little, 1.5).verdict,
            Verdict::Within,
            "nothing gets smaller by more than all of it"
        );
        let same = alone(&STEADY, &STEADY, 0.05);
        assert_eq!((same.verdict, same.changed), (Verdict::Within, false));
    }

    /// What 40 times as much costs is found however its launches scatter.
    #[test]
    fn no_width_vetoes_a_verdict() {
        let noisy: Vec<f64> = (0..10).map(|launch| 4000.0 * (1.0 + 0.3 * f64::from(launch % 4))).collect();
        assert!(crate::interval::over_launches(&noisy, LOWER_QUARTILE).unwrap().half_width_share() > 0.1);
        let judged = alone(&STEADY, &noisy, 0.05);
        assert_eq!(judged.verdict, Verdict::Slower, "{judged:?}");
        assert!(judged.low > 10.0 && judged.level >= 0.99);
    }

    #[test]
    fn what_no_launch_shows_is_added_at_both_ends() {
        let b = STEADY.map(|launch| launch * 1.1);
        let grained = |grain| {
            let change = Change::between(&STEADY, &b, LOWER_QUARTILE, grain, Drift::NONE);
            judge(&[change], 0.05)[0].unwrap()
        };
        assert_eq!(grained(0.04).verdict, Verdict::Slower);
        let coarse = grained(0.06);
        assert_eq!(coarse.verdict, Verdict::Unclear);
        assert!(
            (coarse.low - (1.1 / 1.06 - 1.0)).abs() < 1e-9 && (coarse.high - (1.1 * 1.06 - 1.0)).abs() < 1e-9
        );
        assert!(coarse.changed, "by more than the clocks cannot see");
        assert!(!grained(0.2).changed);
    }

    /// The numbers of a row say what its verdict says.
    #[test]
    fn a_verdict_is_what_its_interval_shows() {
        for spread in [0.0, 0.001, 0.01, 0.05, 0.3] {
            for factor in [0.5, 0.94, 0.96, 0.99, 1.0, 1.02, 1.05, 1.08, 1.3, 40.0] {
                for others in [0, 5, 60] {
                    let side = |factor: f64| -> Vec<f64> {
                        (0..10)
                            .map(|launch| factor * 100.0 * (1.0 + spread * f64::from(launch * 7 % 10) / 10.0))
                            .collect()
                    };
                    let mut changes = vec![change(&side(1.0), &side(factor))];
                    changes.extend((0..others).map(|_| change(&side(1.0), &side(1.0))));
                    let judged = judge(&changes, 0.05)[0].unwrap();
                    let Judged { verdict, low, high, .. } = judged;
                    let shown = if low >= 0.05 {
                        Verdict::Slower
                    } else if high <= -0.05 {
                        Verdict::Faster
                    } else if low > -0.05 && high < 0.05 {
                        Verdict::Within
                    } else {
                        Verdict::Unclear
                    };
                    assert_eq!(verdict, shown, "{spread} {factor} {others}: {judged:?}");
                    assert!(low <= judged.change && judged.change <= high, "{judged:?}");
                }
            }
        }
    }

    #[test]
    fn a_report_is_held_to_one_level() {
        // t with 18 degrees of freedom: 1.0 % that is found in a report of one figure, and not among 1000.
        let (a, b): (Vec<f64>, Vec<f64>) =
            (0..10).map(|launch| (100.0 + f64::from(launch % 3), 112.0 + f64::from(launch % 3))).unzip();
        let one = change(&a, &b);
        let sure = change(&STEADY, &STEADY.map(|launch| launch * 2.0));
        let verdict = |changes: &[Option<Change>]| judge(changes, 0.08)[0].unwrap();
        let (alone, among) = (verdict(&[one]), verdict(&vec![one; 1000]));
        assert!((alone.level - 0.995).abs() < 1e-12);
        assert!(
            (among.level - (1.0 - 0.05 / 1000.0)).abs() < 1e-12,
            "one report in twenty, over all its figures"
        );
        assert!(among.low < alone.low && alone.high < among.high);
        // Figures that certainly changed leave the level to the others: 12 of 13 leave all of a figure's own.
        let mut changes = vec![one];
        changes.extend([sure; 12]);
        assert!((verdict(&changes).level - 0.995).abs() < 1e-12);
        // What has no ratio is no question.
        let mut changes = vec![one];
        changes.extend([None; 500]);
        assert_eq!(verdict(&changes), alone);
        assert_eq!(judge(&changes, 0.08)[1], None);
    }

    /// Holm: each figure that passed leaves one fewer to share the level.
    #[test]
    fn a_figure_is_held_to_the_level_of_those_that_are_left() {
        let sure = change(&STEADY, &STEADY.map(|launch| launch * 2.0));
        // Its chance is 0.003: less than 0.05 / 16, and more than 0.05 / 18.
        let (error, freedom) = (0.01, 30.0);
        let logarithm = 0.05_f64.ln_1p() + error * student::exceeded_by(0.0015, freedom);
        let doubtful = Change::checked(logarithm, error, freedom, 0.0);
        let verdict = |of_sure: usize| {
            let mut changes = vec![doubtful];
            changes.extend(vec![sure; of_sure]);
            changes.extend(vec![change(&STEADY, &STEADY); 19 - of_sure]);
            judge(&changes, 0.05)[0].unwrap().verdict
        };
        assert_eq!((verdict(2), verdict(4)), (Verdict::Unclear, Verdict::Slower));
    }

    /// An error of 1 is one like any other; only without an error everything is certain.
    #[test]
    fn only_no_error_at_all_is_certain() {
        let of = |error| Change::checked(2.0, error, 10.0, 0.0).unwrap();
        assert!((of(1.0).chance(0.0) - 0.0734).abs() < 1e-4, "{}", of(1.0).chance(0.0));
        assert!((of(1.0).interval(0.025).0 - (2.0_f64 - 2.228_14).exp_m1()).abs() < 1e-4);
        assert_eq!((of(0.0).chance(0.0), of(0.0).interval(0.025).0), (0.0, 2.0_f64.exp_m1()));
    }

    #[test]
    fn what_has_no_ratio_is_not_judged() {
        for bad in [&[][..], &[0.0; 10], &[1.0, 1.0, 1.0, -1.0, 1.0], &[f64::NAN; 10], &[f64::INFINITY; 10]] {
            assert_eq!(change(&STEADY, bad), None);
            assert_eq!(change(bad, &STEADY), None);
            assert_eq!(Change::of_rounds(bad, 0.0), None);
            assert_eq!(Change::between_boots(&STEADY, bad, 0.0), None);
        }
        assert_eq!(Change::between_boots(&STEADY, &STEADY[..2], 0.0), None, "two boots are not enough");
    }

    #[test]
    fn one_launch_tells_nothing() {
        let judged = alone(&STEADY, &[500.0], 0.05);
        assert_eq!((judged.verdict, judged.changed), (Verdict::Unclear, false), "{judged:?}");
        assert!(judged.low < -0.99 && judged.high.is_infinite());
    }

    #[test]
    fn numbers_of_any_size_come_to_an_end() {
        // A stored result may hold anything.
        let (tiny, huge) = ([f64::from_bits(1); 10], [f64::MAX; 10]);
        let mixed: Vec<f64> = tiny.iter().chain(&huge).copied().collect();
        for a in [&tiny[..], &huge, &mixed] {
            for b in [&tiny[..], &huge, &mixed] {
                let verdict = judge(&[change(a, b)], 0.05)[0].map(|judged| judged.verdict);
                assert!(a == b || verdict != Some(Verdict::Within), "{a:?} {b:?}: {verdict:?}");
            }
        }
    }

    #[test]
    fn boots_scatter_by_what_they_share() {
        let judged = |a: &[f64], b: &[f64]| judge(&[Change::between_boots(a, b, 0.0)], 0.05)[0].unwrap();
        let steady = judged(&[100.0, 100.2, 99.9], &[130.0, 130.3, 129.8]);
        assert_eq!(steady.verdict, Verdict::Slower, "{steady:?}");
        // The mean of logarithms, and t with 4 degrees of freedom at 99.5 %.
        let change = Change::between_boots(&[1.0, 1.0, 1.0], &[1.0, 2.0, 4.0], 0.0).unwrap();
        assert!((change.share() - 1.0).abs() < 1e-12);
        let error = (2.0_f64.ln().powi(2) * 2.0 / 4.0 * 2.0 / 3.0).sqrt();
        assert!((change.error - error).abs() < 1e-12 && change.freedom == 4.0);
        assert_eq!(judged(&[100.0, 120.0, 90.0], &[130.0, 110.0, 150.0]).verdict, Verdict::Unclear);
    }

    /// Tables of t with 4 degrees of freedom: 5 % and 0.25 % beyond.
    #[test]
    fn levels_are_those_that_are_told() {
        let change = Change::between_boots(&[1.0, 1.0, 1.0], &[1.0, 1.1, 1.21], 0.0).unwrap();
        let within = judge(&[Some(change)], 5.0)[0].unwrap();
        let half = |t: f64| change.error * t;
        assert_eq!((within.verdict, within.level), (Verdict::Within, 0.9));
        let look = |threshold| judge_at(&[Some(change)], threshold, 0.5)[0].unwrap();
        assert_eq!((look(5.0).verdict, look(5.0).level), (Verdict::Within, 0.95), "half of each error");
        assert_eq!((look(0.05).verdict, look(0.05).level), (Verdict::Unclear, 0.9975));
        assert!((within.high.ln_1p() - 1.1_f64.ln() - half(2.131_846_79)).abs() < 1e-8, "{within:?}");
        assert!((1.1_f64.ln() - within.low.ln_1p() - half(2.131_846_79)).abs() < 1e-8, "{within:?}");
        let unclear = judge(&[Some(change)], 0.05)[0].unwrap();
        assert_eq!((unclear.verdict, unclear.level), (Verdict::Unclear, 0.995));
        assert!((unclear.high.ln_1p() - 1.1_f64.ln() - half(5.597_568)).abs() < 1e-5, "{unclear:?}");
    }

    #[test]
    fn nothing_is_within_a_threshold_of_nothing() {
        let judged = alone(&STEADY, &STEADY, 0.0);
        assert_eq!((judged.verdict, judged.low, judged.high), (Verdict::Unclear, 0.0, 0.0));
    }

    /// Two boots and five are three too few on one side.
    #[test]
    fn each_side_needs_its_boots() {
        let (two, five) = (&STEADY[..2], &STEADY[..5]);
        assert_eq!(Change::between_boots(two, five, 0.0), None);
        assert_eq!(Change::between_boots(five, two, 0.0), None);
        assert!(Change::between_boots(&STEADY[..3], five, 0.0).is_some());
    }

    #[test]
    fn what_is_just_the_threshold_is_neither_within_nor_beyond() {
        for (b, threshold) in [([0.5; 10], 0.5), ([2.0; 10], 1.0)] {
            let judged = alone(&[1.0; 10], &b, threshold);
            assert_eq!((judged.verdict, judged.low), (Verdict::Unclear, b[0] - 1.0), "{judged:?}");
        }
    }

    /// The ratios of rounds are the change itself; of their median the error is that of launches.
    #[test]
    fn rounds_tell_their_median_ratio() {
        let steady = judge(&[Change::of_rounds(&[1.1; 10], 0.0)], 0.05)[0].unwrap();
        assert_eq!(steady.verdict, Verdict::Slower);
        assert!((steady.change - 0.1).abs() < 1e-12 && (steady.high - 0.1).abs() < 1e-12);
        let ratios = [0.9, 1.0, 1.1, 1.2, 1.3, 1.05, 0.95];
        let (change, centre) =
            (Change::of_rounds(&ratios, 0.0).unwrap(), Centre::of(&ratios, MEDIAN).unwrap());
        assert!((change.share() - 0.05).abs() < 1e-12);
        assert!((change.error - centre.error).abs() < 1e-15 && (change.freedom - 6.0).abs() < 1e-9);
    }
}
