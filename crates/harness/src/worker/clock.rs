//! The clock that times batches, and the two facts about it that decide how long a batch must be.
//!
//! METHOD.md, Clock. `clock_getres` and "the smallest difference seen" are both wrong (1 ns and less, where the step is 10 ns).

use crate::protocol::message::ClockFacts;

/// A monotonic clock in ns. The real one reads CLOCK_MONOTONIC; tests script theirs.
pub(crate) trait Clock {
    /// The time now.
    fn now_ns(&mut self) -> u64;
}

/// CLOCK_MONOTONIC through the vDSO.
#[derive(Debug, Clone, Copy)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline(always)]
    fn now_ns(&mut self) -> u64 {
        oscost_sys::clock::now_ns()
    }
}

/// Discarded time before a calibration, ns.
const WARM_UP_NS: u64 = 20_000_000;

/// Works until the core has its speed.
pub(crate) fn warm_up() {
    let until = Monotonic.now_ns() + WARM_UP_NS;
    while Monotonic.now_ns() < until {}
}

/// Differences from which the step is found.
const DIFFERENCES: usize = 200_000;

/// Reads the clock back to back and finds its true step, and what a pair of readings costs. `None` if it never advanced
/// in a regular way.
pub fn facts(clock: &mut impl Clock) -> Option<ClockFacts> {
    let mut differences = vec![0u64; DIFFERENCES];
    let mut before = clock.now_ns();
    for difference in &mut differences {
        let now = clock.now_ns();
        *difference = now.saturating_sub(before);
        before = now;
    }
    let step = oscost_stats::clock::clock_step(&differences)?;
    let costs = oscost_stats::quantile::sorted(differences.iter().map(|&ns| ns as f64).collect());
    // The mean of what was not interrupted: finer than the step.
    let most = 2.0 * oscost_stats::quantile::median(&costs)? + step.step;
    let undisturbed: Vec<f64> = costs.into_iter().filter(|&cost| cost <= most).collect();
    let pair_ns = undisturbed.iter().sum::<f64>() / undisturbed.len() as f64;
    Some(ClockFacts { step_ns: step.step, pair_ns })
}

#[cfg(test)]
pub(crate) mod scripted {
    //! A clock that says what its script says.
    use super::Clock;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Advances by `step_ns` quanta: the true time moves by `cost_ns` a reading and by what the script adds.
    pub struct Scripted {
        pub true_ns: f64,
        pub step_ns: f64,
        pub cost_ns: f64,
        pub reading: u64,
        /// (reading number, ns): the machine was away just before that reading.
        pub spikes: Vec<(u64, f64)>,
    }

    impl Scripted {
        pub fn new(step_ns: f64, cost_ns: f64) -> Self {
            Self { true_ns: 1e9, step_ns, cost_ns, reading: 0, spikes: Vec::new() }
        }
    }

    /// One that operations of a test advance.
    #[derive(Clone)]
    pub struct Shared(pub Rc<RefCell<Scripted>>);

    impl Shared {
        pub fn new(step_ns: f64, cost_ns: f64) -> Self {
            Self(Rc::new(RefCell::new(Scripted::new(step_ns, cost_ns))))
        }

        /// Lets so much time pass.
        pub fn pass(&self, ns: f64) {
            self.0.borrow_mut().true_ns += ns;
        }
    }

    impl Clock for Shared {
        fn now_ns(&mut self) -> u64 {
            self.0.borrow_mut().now_ns()
        }
    }

    impl Clock for Scripted {
        fn now_ns(&mut self) -> u64 {
            self.reading += 1;
            self.true_ns += self.cost_ns;
            self.true_ns +=
                self.spikes.iter().filter(|spike| spike.0 == self.reading).map(|spike| spike.1).sum::<f64>();
            ((self.true_ns / self.step_ns).floor() * self.step_ns) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::scripted::Scripted;
    use super::*;

    #[test]
    fn the_true_step_is_found_under_spikes_and_a_coarse_quantum() {
        for (step, cost) in [(1.0, 22.3), (10.0, 22.3), (10.0, 3.1), (100.0, 22.3), (1000.0, 25.0)] {
            let mut clock = Scripted::new(step, cost);
            clock.spikes = vec![(500, 30_000.0), (100_000, 2_000_000.0), (150_001, 777.0)];
            let facts = facts(&mut clock).expect("a regular clock");
            assert!((facts.step_ns - step).abs() < 1e-9, "step {step}: found {}", facts.step_ns);
        }
    }

    #[test]
    fn the_pair_cost_is_finer_than_the_step() {
        let facts = facts(&mut Scripted::new(10.0, 22.5)).expect("a regular clock");
        assert!((facts.pair_ns - 22.5).abs() < 0.1, "{}", facts.pair_ns);
    }

    #[test]
    fn interruptions_are_no_part_of_the_pair_cost() {
        let mut clock = Scripted::new(10.0, 22.5);
        // Every 2000th reading is interrupted for 1 us: the plain mean would be 23.
        clock.spikes = (1..100).map(|spike| (2000 * spike, 1000.0)).collect();
        let facts = facts(&mut clock).expect("a regular clock");
        assert!((facts.pair_ns - 22.5).abs() < 0.01, "{}", facts.pair_ns);
    }

    #[test]
    fn a_clock_that_stands_still_has_no_step() {
        assert!(facts(&mut Scripted::new(10.0, 0.0)).is_none());
    }

    /// Of a clock that hardly ever moves between two readings, the steps are what the readings cost.
    #[test]
    fn steps_of_a_coarse_clock_are_no_interruptions() {
        let facts = facts(&mut Scripted::new(1000.0, 25.0)).expect("a regular clock");
        assert!((facts.pair_ns - 25.0).abs() < 0.1, "{}", facts.pair_ns);
    }

    /// Twice the median and a step is what an undisturbed pair takes at most.
    #[test]
    fn a_pair_that_takes_longer_than_twice_the_usual_is_disturbed() {
        let cost = |more: f64| {
            let mut clock = Scripted::new(1.0, 20.0);
            clock.spikes = vec![(500, more)];
            facts(&mut clock).expect("a regular clock").pair_ns
        };
        let all = DIFFERENCES as f64;
        assert_eq!((cost(21.0), cost(22.0)), ((20.0 * all + 21.0) / all, 20.0));
    }
}
