//! Looks at a sample that grows until it answers: when to look, and how much of the chance of an error a look may spend
//! (alpha spending: Lan and DeMets, 1983). METHOD.md, Comparing.

use crate::interval::FEWEST_LAUNCHES;

/// A look at the rounds made so far.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PlannedLook {
    /// After so many rounds.
    pub rounds: usize,
    /// Share of every chance of an error that may be spent at it. Those of all looks add up to 1: whatever the rounds have to
    /// do with each other, all looks together err no more often than a single one would.
    pub share: f64,
}

/// The looks at a sample of `most` rounds at most: the first as early as launches tell anything, each further one when there
/// is a third more to look at. By the time of a look the square of the share of rounds is spent, so that the last look, which
/// has the most rounds, keeps nearly half of it.
#[must_use]
pub fn looks(most: usize) -> Vec<PlannedLook> {
    let mut rounds = vec![FEWEST_LAUNCHES.min(most)];
    while let Some(&last) = rounds.last().filter(|&&last| last < most) {
        let next = (last * 4).div_ceil(3);
        // A last look that hardly follows another one would leave neither enough.
        rounds.push(if next + next / 6 >= most { most } else { next });
    }
    let spent = |rounds: usize| (rounds as f64 / most.max(1) as f64).powi(2);
    let mut before = 0.0;
    let look = |rounds: usize| {
        let share = spent(rounds) - before;
        before = spent(rounds);
        PlannedLook { rounds, share }
    };
    rounds.into_iter().map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_follow_each_other_and_spend_all_there_is() {
        for most in [6, 7, 8, 10, 20, 37, 60, 200] {
            let looks = looks(most);
            let rounds: Vec<usize> = looks.iter().map(|look| look.rounds).collect();
            assert_eq!((rounds[0], rounds.last()), (6, Some(&most)), "{rounds:?}");
            assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
            assert!((looks.iter().map(|look| look.share).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(looks.iter().all(|look| look.share > 0.0));
            assert!(looks[looks.len() - 1].share > 0.25, "{looks:?}");
        }
        assert_eq!(
            looks(6),
            [PlannedLook { rounds: 6, share: 1.0 }],
            "one look is as if there were no others"
        );
        assert_eq!(looks(1), [PlannedLook { rounds: 1, share: 1.0 }]);
        let rounds: Vec<usize> = looks(20).iter().map(|look| look.rounds).collect();
        assert_eq!(rounds, [6, 8, 11, 15, 20]);
        let rounds: Vec<usize> = looks(9).iter().map(|look| look.rounds).collect();
        assert_eq!(rounds, [6, 9], "a sixth more than 8 is hardly more");
        assert!((looks(20)[0].share - 0.3 * 0.3).abs() < 1e-12);
    }
}
