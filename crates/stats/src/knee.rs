//! The knee of a scaling curve: up to how many workers each further one is worth having.

/// What a further worker must add to be worth having, as a share of what one makes alone.
pub const WORTH: f64 = 0.5;

/// The speed-up of so many workers over one: low end of its interval, value, high end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedUp {
    /// How many.
    pub workers: f64,
    /// Low end, value, high end.
    pub of: [f64; 3],
}

impl SpeedUp {
    /// Of `workers`, from an interval of their efficiency.
    #[must_use]
    pub fn of_efficiency(workers: f64, efficiency: [f64; 3]) -> Self {
        Self { workers, of: efficiency.map(|it| it * workers) }
    }
}

/// Where the knee lies among the numbers that were measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// It lies here at the least.
    pub from: f64,
    /// By the values alone; `None`: further than was measured.
    pub at: Option<f64>,
    /// It lies here at the most; `None`: perhaps further than was measured.
    pub to: Option<f64>,
}

/// The number of workers beyond which a further one adds less than [`WORTH`] of what one alone makes, with its interval. `None`
/// where even the low ends add more: up to the largest number there is no knee. Points are ordered by their number.
#[must_use]
pub fn knee(points: &[SpeedUp]) -> Option<Knee> {
    // What each further worker adds between two points, at the least, by the values, and at the most.
    let added = |[one, next]: &[SpeedUp; 2]| {
        let more = next.workers - one.workers;
        [next.of[0] - one.of[2], next.of[1] - one.of[1], next.of[2] - one.of[0]].map(|it| it / more)
    };
    let steps: Vec<(f64, [f64; 3])> = points
        .windows(2)
        .filter_map(|pair| <&[SpeedUp; 2]>::try_from(pair).ok())
        .filter(|pair| pair[1].workers > pair[0].workers)
        .map(|pair| (pair[0].workers, added(pair)))
        .collect();
    let first = |end: usize| steps.iter().find(|(_, added)| added[end] < WORTH).map(|(workers, _)| *workers);
    first(0).map(|from| Knee { from, at: first(1), to: first(2) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(efficiencies: &[(f64, f64)], width: f64) -> Vec<SpeedUp> {
        let point = |&(workers, it): &(f64, f64)| {
            SpeedUp::of_efficiency(workers, [it * (1.0 - width), it, it * (1.0 + width)])
        };
        efficiencies.iter().map(point).collect()
    }

    #[test]
    fn who_hinders_nobody_has_no_knee_and_who_takes_turns_has_it_at_one() {
        let free = points(&[(1.0, 1.0), (2.0, 0.99), (4.0, 0.98), (8.0, 0.97)], 0.005);
        assert_eq!(knee(&free), None);
        let turns = points(&[(1.0, 1.0), (2.0, 0.5), (4.0, 0.25)], 0.01);
        assert_eq!(knee(&turns), Some(Knee { from: 1.0, at: Some(1.0), to: Some(1.0) }));
        assert_eq!(knee(&[]), None);
        assert_eq!(knee(&free[..1]), None, "one number has no curve");
    }

    #[test]
    fn the_knee_of_a_full_server_is_where_it_is_full() {
        // Four servers behind one queue: 1, 2, 4, then no more.
        let full = points(&[(1.0, 1.0), (2.0, 1.0), (4.0, 1.0), (8.0, 0.5), (16.0, 0.25)], 0.01);
        assert_eq!(knee(&full), Some(Knee { from: 4.0, at: Some(4.0), to: Some(4.0) }));
    }

    /// By its value alone, whatever the ends of the intervals are.
    #[test]
    fn the_middle_of_a_knee_is_that_of_the_values() {
        let found = |one: [f64; 3], next: [f64; 3]| {
            knee(&[SpeedUp { workers: 1.0, of: one }, SpeedUp { workers: 2.0, of: next }])
        };
        let expected = |at| Some(Knee { from: 1.0, at, to: None });
        assert_eq!(found([1.0, 1.0, 1.0], [1.2, 1.4, 1.9]), expected(Some(1.0)));
        assert_eq!(found([0.9, 1.0, 1.2], [1.5, 1.6, 2.0]), expected(None));
        assert_eq!(found([1.0; 3], [1.0 + WORTH; 3]), None, "who adds just that is worth it");
    }

    #[test]
    fn noise_widens_the_interval_of_the_knee() {
        let noisy = points(&[(1.0, 1.0), (2.0, 0.9), (4.0, 0.6), (8.0, 0.3)], 0.1);
        let found = knee(&noisy).expect("a knee");
        assert_eq!((found.from, found.at), (2.0, Some(2.0)));
        assert_eq!(found.to, Some(4.0), "{found:?}");
        let unknown = knee(&noisy[..3]).expect("perhaps a knee");
        assert_eq!(unknown, Knee { from: 2.0, at: Some(2.0), to: None });
    }

    proptest! {
        /// Amdahl's law with a serial share s: the speed-up is n / (1 + s (n - 1)), and each further worker adds less than the one
        /// before. Where the derivative falls below one half, at n = 1 + (sqrt(2 (1 - s)) - 1) / s, the knee lies.
        #[test]
        fn amdahls_knee_is_found(share in 0.01..0.4f64) {
            let efficiency = |n: f64| 1.0 / (1.0 + share * (n - 1.0));
            let points = points(&(1..=128).map(|n| (f64::from(n), efficiency(f64::from(n)))).collect::<Vec<_>>(), 0.0);
            let place = 1.0 + ((2.0 * (1.0 - share)).sqrt() - 1.0) / share;
            let at = knee(&points).and_then(|knee| knee.at).expect("there is one");
            prop_assert!((at - place).abs() <= 1.0, "{at} for {place}");
        }

        #[test]
        fn an_interval_holds_its_value(efficiencies in prop::collection::vec(0.05..1.0f64, 2..8), width in 0.0..0.3f64) {
            let efficiencies: Vec<_> = (1..).map(f64::from).zip(efficiencies).collect();
            if let Some(found) = knee(&points(&efficiencies, width)) {
                prop_assert!(found.at.is_none_or(|at| found.from <= at));
                prop_assert!(found.to.is_none_or(|to| found.at.is_some_and(|at| at <= to)));
            }
        }
    }
}
