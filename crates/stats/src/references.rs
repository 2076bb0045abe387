//! Drift between two runs that have few figures, told by references that both measured beside them. METHOD.md, Drift.

use crate::drift::Drift;
use crate::null::Moved;
use crate::quantile::{median, sorted};

/// Fewer references that enter the kernel say nothing of figures.
pub const FEWEST_INSIDE: usize = 5;
/// So many that stay out of it show whether the machine stood still.
pub const FEWEST_OUTSIDE: usize = 3;
/// The median of a standard normal number's absolute value.
const MEDIAN: f64 = 0.674_490;
/// A median of 5 to 9 references is itself known to a third only, by simulation: a part of that is added.
const UNSURE: f64 = 1.2;
/// The centre that gathers the references is looked for, which makes the drift around it smaller than it is.
const LOOKED_FOR: f64 = 1.5;
/// The least drift that is told, as a share, and the most: single figures move by steps that no other one shows.
const LEAST: f64 = 0.005;
const MOST: f64 = 1.0;
/// A reference whose own launches leave its place open by more than this has not seen what is asked.
const VAGUE: f64 = 0.01;
/// Degrees of freedom of the least drift: it is more than was seen.
const LEAST_FREEDOM: f64 = 30.0;
/// A machine on which what stays out of the kernel moved by less than this stood still.
const STILL: f64 = 0.01;
/// All that enters the kernel moved by one share if the references are this many times nearer to it than to nothing.
const NEARER: f64 = 4.0;

/// What references say of two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceDrift {
    share: f64,
    freedom: f64,
    still: bool,
    /// Logarithm of what all that enters the kernel moved by, beside others that stood still; 0: nothing.
    pub shift: f64,
}

/// What these references say; `None` where they are too few. Their errors are those of launches alone.
#[must_use]
pub fn told(references: &[Moved]) -> Option<ReferenceDrift> {
    let of = |enters: bool| -> Vec<Moved> {
        let clear = |reference: &&Moved| reference.enters == Some(enters) && reference.error <= VAGUE;
        references.iter().filter(clear).copied().collect()
    };
    let (inside, outside) = (of(true), of(false));
    if inside.len() < FEWEST_INSIDE || outside.len() < FEWEST_OUTSIDE {
        return None;
    }
    let moved = median(&sorted(outside.iter().map(|reference| reference.apart.abs()).collect()))?;
    let (still, freedom) = (moved < STILL, inside.len() as f64);
    let around_nothing = drift(&inside, 0.0, UNSURE);
    let centres =
        inside.iter().map(|centre| (drift(&inside, centre.apart, UNSURE * LOOKED_FOR), centre.apart));
    let (around, shift) = centres.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(if still && around * NEARER < around_nothing {
        ReferenceDrift { share: around, freedom, still, shift }
    } else {
        ReferenceDrift { share: around_nothing, freedom, still, shift: 0.0 }
    })
}

impl ReferenceDrift {
    /// The drift of figures beside the references. What is known without them is the most that it can be while the machine stood
    /// still: then what moved the references is a change of the kernel, which moves each by a share of its own.
    #[must_use]
    pub fn drift(&self, known: Drift) -> Drift {
        let freedom = if self.share > LEAST { self.freedom } else { LEAST_FREEDOM };
        let told = Drift::of_references(self.share, freedom);
        if self.still && known.reach() < told.reach() { known } else { told }
    }
}

/// The least drift of a run that explains so many times how far the median reference is from a centre.
fn drift(references: &[Moved], centre: f64, times: f64) -> f64 {
    let unexplained = |share: f64| {
        let apart = references.iter().map(|reference| {
            (reference.apart - centre).abs()
                / (reference.error * reference.error + 2.0 * share * share).sqrt()
        });
        median(&sorted(apart.collect())).is_none_or(|median| median * times > MEDIAN)
    };
    let (mut low, mut high) = (LEAST, MOST);
    if !unexplained(low) {
        return low;
    }
    // Each step halves what is left: 30 of them are finer than anybody's figure.
    for _ in 0..30 {
        let middle = (low + high) / 2.0;
        if unexplained(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{below, seeded};

    /// Eight references inside the kernel and three outside, whose runs drift by such shares; of both runs together, with errors.
    fn references(seed: u64, inside: f64, outside: f64, error: f64) -> Vec<Moved> {
        let mut source = seeded(seed, 0);
        let mut normal = || {
            let uniform = |_| below(1 << 30, &mut source) as f64 / (1_u64 << 30) as f64;
            (0..12).map(uniform).sum::<f64>() - 6.0
        };
        (0..11)
            .map(|index| {
                let enters = index < 8;
                let drift = if enters { inside } else { outside } * 2.0_f64.sqrt();
                let apart = normal() * drift + normal() * error;
                Moved { apart, error, enters: Some(enters), price: 1.0, calls: 1.0 }
            })
            .collect()
    }

    fn middle(of: impl Fn(u64) -> f64) -> f64 {
        median(&sorted((0..300).map(of).collect())).unwrap()
    }

    #[test]
    fn drift_is_found_and_never_less_than_the_quietest_machine_has() {
        for (planted, low, high) in [(0.0, LEAST, LEAST), (0.01, 0.009, 0.016), (0.03, 0.027, 0.045)] {
            let found = middle(|seed| told(&references(seed, planted, 0.02, 0.003)).unwrap().share);
            assert!((low..=high).contains(&found), "{planted}: {found}");
        }
    }

    #[test]
    fn a_drift_is_all_of_a_price_at_most() {
        let far = |index: u8| {
            let apart = if index.is_multiple_of(2) { 50.0 } else { -50.0 };
            Moved { apart, error: 0.001, enters: Some(index < 8), price: 1.0, calls: 1.0 }
        };
        let found = told(&(0..11).map(far).collect::<Vec<_>>()).unwrap();
        assert!((found.share / MOST - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn too_few_say_nothing() {
        let all = references(1, 0.001, 0.001, 0.001);
        assert!(told(&all[3..]).is_some() && told(&all[..10]).is_none() && told(&all[4..]).is_none());
        let vague =
            |error| told(&all.iter().map(|one| Moved { error, ..*one }).collect::<Vec<_>>()).is_none();
        assert!(!vague(VAGUE) && vague(VAGUE * 1.01));
        let uncounted: Vec<Moved> = all.iter().map(|one| Moved { enters: None, ..*one }).collect();
        assert_eq!(told(&uncounted), None);
    }

    /// Five that moved by so much, some of them by a width or three less or more; others moved by a share of their own.
    #[test]
    fn the_drift_is_what_explains_the_median_distance() {
        const ERROR: f64 = 0.003;
        let of = |inside: f64, width: f64, outside: f64| {
            let one =
                |apart, enters| Moved { apart, error: ERROR, enters: Some(enters), price: 1.0, calls: 1.0 };
            let mut all: Vec<Moved> =
                [-3.0, -1.0, 0.0, 1.0, 3.0].map(|it| one(inside + width * it, true)).to_vec();
            all.extend([one(outside, false); 3]);
            told(&all).unwrap()
        };
        let share =
            |apart: f64, times: f64| (((apart * times / MEDIAN).powi(2) - ERROR * ERROR) / 2.0).sqrt();
        for (found, expected, shift) in [
            (of(-0.1, 0.01, 0.01), share(0.1, UNSURE), 0.0),
            (of(-0.1, 0.01, 0.0099), share(0.01, UNSURE * LOOKED_FOR), -0.1),
            // Four times the least drift is 0.02, which these are near.
            (of(0.0159, 0.0, 0.0), share(0.0159, UNSURE), 0.0),
            (of(0.0162, 0.0, 0.0), LEAST, 0.0162),
        ] {
            assert!((found.share - expected).abs() < 1e-8 && found.shift == shift, "{found:?} {expected}");
            assert_eq!(found.freedom, 5.0);
        }
    }

    /// Everything that enters the kernel costs more by one share: nobody takes that for drift.
    #[test]
    fn a_change_of_all_that_enters_the_kernel_is_no_drift() {
        // The drift around what they moved by is told as it is around nothing.
        for (planted, drift, most) in
            [(0.08_f64, 0.002, 0.007), (0.2, 0.002, 0.007), (-0.08, 0.002, 0.007), (0.4, 0.01, 0.014)]
        {
            let of = |seed| {
                let mut all = references(seed, drift, 0.001, 0.002);
                all.iter_mut().filter(|one| one.enters == Some(true)).for_each(|one| one.apart += planted);
                told(&all).unwrap()
            };
            let share = middle(|seed| of(seed).share);
            assert!((drift..most).contains(&share), "{planted}, {drift}: {share}");
            assert!((middle(|seed| of(seed).shift) - planted).abs() < 0.003);
        }
    }

    /// A dearer entry is a share of its own in each figure: while the machine stood still, no more than the usual drift is taken.
    #[test]
    fn what_moved_inside_the_kernel_alone_is_no_more_than_usual() {
        let mut all = references(1, 0.002, 0.001, 0.002);
        for (reference, by) in all.iter_mut().zip([0.4, 0.3, 0.02, 0.1, 0.2, 0.05, 0.07, 0.15]) {
            reference.apart += by;
        }
        let usual = Drift::usual(0.01);
        let dearer = told(&all).unwrap();
        assert_eq!((dearer.drift(usual), dearer.shift), (usual, 0.0));
        // Where all moved, nobody knows what did.
        for reference in &mut all {
            reference.apart += 0.1;
        }
        assert!(told(&all).unwrap().drift(usual).share() > 0.05);
    }

    #[test]
    fn a_quiet_pair_has_less_than_the_usual_drift() {
        let usual = Drift::usual(0.01);
        let share = middle(|seed| told(&references(seed, 0.0, 0.0, 0.002)).unwrap().drift(usual).share());
        assert_eq!(share, LEAST);
        let none = told(&references(1, 0.1, 0.0, 0.002)).unwrap();
        assert_eq!(none.drift(Drift::NONE), Drift::NONE);
    }

    /// What is more than was seen is known well, what was seen by as many degrees as there were references.
    #[test]
    fn the_least_drift_is_known_better_than_one_that_was_seen() {
        let of = |share| ReferenceDrift { share, freedom: 8.0, still: false, shift: 0.0 }.drift(Drift::NONE);
        assert_eq!(of(LEAST), Drift::of_references(LEAST, LEAST_FREEDOM));
        assert_eq!(of(2.0 * LEAST), Drift::of_references(2.0 * LEAST, 8.0));
    }

    /// One reference in four changed by itself: the others are the most.
    #[test]
    fn a_few_references_may_have_changed() {
        let of = |seed| {
            let mut all = references(seed, 0.002, 0.0, 0.002);
            all[0].apart += 0.3;
            all[1].apart += 0.1;
            told(&all).unwrap().share
        };
        assert!(middle(of) < 0.007, "{}", middle(of));
    }
}
