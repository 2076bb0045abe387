//! Who tells the workers when to work, waits for them, and reads what they left.

use std::sync::atomic::Ordering;

use oscost_harness::{CallError, Outcome};
use oscost_sys::clock;
use oscost_sys::system_call::marker;

use super::worker::{Shared, left, order, word};

/// Rounds of a launch: a window of one alone and one of all together in each.
const ROUNDS: usize = 4;
/// A window in which each worker has a CPU, ns; where several share one, as much longer.
const WINDOW_NS: u64 = 10_000_000;
/// A window has room for so many batches and what makes ready for each: half of one is lost at its end.
const FEWEST_BATCHES: u64 = 50;
/// One that left its batches less time than so many of them take tells no price.
const FEWEST_TIMED: u64 = 5;
/// No window is longer, ns.
const LONGEST_NS: u64 = 1_000_000_000;
/// A batch that is longer than a tenth of the longest window cannot be counted in it, ns.
const LONGEST_BATCH_NS: u64 = LONGEST_NS / 10;
/// All must be on their CPUs before a window begins, ns for each that shares one.
const LEAD_NS: u64 = 1_000_000;
/// A worker that does not answer for so long beyond what it was told to do has failed, ns.
pub const PATIENCE_NS: u64 = 5_000_000_000;
/// Between two looks at the workers, ns.
const LOOK_NS: u64 = 100_000;
/// Looks at counted workers between two at the clock, which may be a call.
const SPINS: u32 = 1 << 24;

/// One round: what one made alone and what all made together, iterations a ns.
pub struct Round {
    pub alone: f64,
    /// Of each worker, while all worked.
    pub rates: Vec<f64>,
    /// Iterations of each worker, while all worked.
    pub made: Vec<u64>,
}

impl Round {
    /// Of all workers, iterations a ns.
    pub fn together(&self) -> f64 {
        self.rates.iter().sum()
    }

    /// What all made, beside as many that hinder nobody.
    pub fn efficiency(&self) -> f64 {
        self.together() / (self.rates.len() as f64 * self.alone)
    }
}

/// What some workers made in a window.
struct Window {
    /// Of each worker, iterations a ns of its batches.
    rates: Vec<f64>,
    /// Iterations of each.
    made: Vec<u64>,
    /// What making ready left of the window for the batches of the one that had the least, ns.
    timed_ns: u64,
}

impl Window {
    /// Whether it tells what was made; an error where a longer one would not.
    fn tells(&self, window_ns: u64, batch_ns: u64) -> Result<bool, CallError> {
        let is_timed = self.timed_ns >= FEWEST_TIMED * batch_ns;
        if window_ns < LONGEST_NS {
            return Ok(is_timed && self.made.iter().any(|&made| made > 0));
        }
        // Where none ended in the longest one, the launch says so.
        if is_timed { Ok(true) } else { Err(CallError::told(NO_TIME_LEFT)) }
    }
}

const NO_TIME_LEFT: &str =
    "counting operations within a window, of which making ready for them leaves no time";
const NO_CALL_FAILED: &str = "one of several workers could not be set up beside the others, or broke a rule of its own: \
                              fewer workers, or higher limits";

/// The workers as their conductor sees them.
pub struct Conductor<'a> {
    pub shared: &'a Shared<'a>,
    pub workers: usize,
    pub cpus: usize,
    /// Iterations that a batch holds at least.
    pub least_iterations: u64,
    /// Whether all live.
    pub alive: &'a mut dyn FnMut() -> bool,
}

impl Conductor<'_> {
    /// Waits until all are set up.
    pub fn ready(&mut self) -> Outcome {
        // Each sets up in its turn.
        self.wait(word::READY, PATIENCE_NS + self.workers as u64 * LONGEST_NS)
    }

    /// Waits until `index` counts all workers, for at most `patience_ns`.
    fn wait(&mut self, index: usize, patience_ns: u64) -> Outcome {
        let until = clock::now_ns() + patience_ns;
        while self.shared.get(index) < self.workers as u64 {
            self.look()?;
            if clock::now_ns() > until {
                return Err(CallError::no_answer("one of several workers"));
            }
            clock::sleep_until(clock::now_ns() + LOOK_NS)?;
        }
        // Who failed after all others were counted.
        self.look()
    }

    /// Whether none has failed or died.
    fn look(&mut self) -> Outcome {
        let failed = |worker| self.shared.left(worker, left::FAILED).load(Ordering::Acquire);
        if let Some(errno) = (0..self.workers).map(failed).find(|&errno| errno > 0) {
            let of_call = |errno| CallError::new("a call of one of several workers", errno);
            return Err(i32::try_from(errno).map_or(CallError::told(NO_CALL_FAILED), of_call));
        }
        if (self.alive)() { Ok(()) } else { Err(CallError::gone("one of several workers")) }
    }

    fn order(&mut self, kind: u64, from: usize, to: usize) -> Outcome {
        self.shared.tell(kind, from, to)?;
        self.wait(word::DONE, PATIENCE_NS)
    }

    /// Each looks at its object in its turn, while the others rest.
    pub fn verify(&mut self) -> Outcome {
        (0..self.workers).try_for_each(|worker| self.order(order::VERIFY, worker, worker + 1))
    }

    /// An audit: about so many iterations of all workers together, bracketed as this phase. Iterations of each.
    ///
    /// All sleep before the bracket and after it. One wake-up by the conductor and one sleep of each worker are in each
    /// bracket, however long: they cancel.
    pub fn counted(&mut self, observations: u64, phase: Option<usize>) -> Result<u64, CallError> {
        let iterations = observations.div_ceil(self.workers as u64);
        self.shared.set(word::ITERATIONS, 1);
        let all = self.workers;
        let mut one_ns = 0;
        for kind in [order::ARM, order::COUNT, order::PARK] {
            // What happens once happens before.
            let begun_ns = clock::now_ns();
            self.order(kind, 0, all)?;
            if kind == order::COUNT {
                one_ns = clock::now_ns() - begun_ns;
            }
        }
        self.shared.set(word::ITERATIONS, iterations);
        self.order(order::ARM, 0, all)?;
        phase.into_iter().for_each(marker);
        self.shared.tell(order::COUNT, 0, all)?;
        // Each iteration may take what the first one took, and twice that where others have the CPUs.
        let until = clock::now_ns() + PATIENCE_NS + 2 * iterations * one_ns;
        let mut spins = 0_u32;
        // No look at the workers: it would be a call.
        while self.shared.get(word::DONE) < all as u64 {
            std::hint::spin_loop();
            spins = spins.wrapping_add(1);
            if spins.is_multiple_of(SPINS) && clock::now_ns() > until {
                self.look()?;
                return Err(CallError::no_answer("one of several workers"));
            }
        }
        phase.into_iter().for_each(|_| marker(0));
        self.order(order::PARK, 0, all)?;
        Ok(iterations)
    }

    /// All rounds.
    pub fn timed(&mut self, seed: u64) -> Result<Vec<Round>, CallError> {
        self.shared.set(word::ITERATIONS, self.least_iterations);
        self.shared.tell(order::FILL, 0, 1)?;
        self.wait(word::DONE, PATIENCE_NS + LONGEST_NS)?;
        let batch_ns = self.shared.get(word::BATCH_NS);
        let turn_ns = batch_ns + self.shared.get(word::ARM_NS);
        if batch_ns > LONGEST_BATCH_NS {
            return Err(CallError::told("counting operations of more than 100 ms each"));
        }
        let each_has = self.workers.div_ceil(self.cpus) as u64;
        let window_ns = (WINDOW_NS.max(FEWEST_BATCHES * turn_ns) * each_has).min(LONGEST_NS);
        // Pages that a fork left to be copied, and caches: no part of a window.
        self.window(0, self.workers, window_ns / 4)?;
        let mut rounds = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            // Another one each time: CPUs may differ.
            let one = (seed as usize).wrapping_add(round) % self.workers;
            let alone = self.telling_window(one, one + 1, window_ns)?;
            let all = self.telling_window(0, self.workers, window_ns)?;
            rounds.push(Round { alone: alone.rates.iter().sum(), rates: all.rates, made: all.made });
        }
        Ok(rounds)
    }

    /// A window in which an operation ends: one that tells nothing, since others had the CPU or making ready took it all, is
    /// followed by one twice as long.
    fn telling_window(&mut self, from: usize, to: usize, mut window_ns: u64) -> Result<Window, CallError> {
        loop {
            let window = self.window(from, to, window_ns)?;
            if window.tells(window_ns, self.shared.get(word::BATCH_NS))? {
                return Ok(window);
            }
            window_ns = (2 * window_ns).min(LONGEST_NS);
        }
    }

    /// One window of some workers.
    fn window(&mut self, from: usize, to: usize, window_ns: u64) -> Result<Window, CallError> {
        let each_has = (to - from).div_ceil(self.cpus) as u64;
        let start = clock::now_ns() + LEAD_NS * each_has;
        self.shared.set(word::START, start);
        self.shared.set(word::END, start + window_ns);
        self.shared.tell(order::WINDOW, from, to)?;
        clock::sleep_until(start + window_ns)?;
        self.wait(word::DONE, PATIENCE_NS)?;
        let left = |worker, what| self.shared.left(worker, what).load(Ordering::Acquire);
        let made: Vec<u64> = (from..to).map(|worker| left(worker, left::MADE)).collect();
        let timed = |worker| window_ns.saturating_sub(left(worker, left::UNTIMED));
        let rates = (from..to).zip(&made).map(|(worker, &made)| made as f64 / timed(worker).max(1) as f64);
        Ok(Window { rates: rates.collect(), made, timed_ns: (from..to).map(timed).min().unwrap_or(0) })
    }
}

#[cfg(test)]
mod tests {
    use oscost_sys::memory::SharedWords;

    use super::*;
    use crate::scaling::worker::failed;

    #[test]
    fn a_window_whose_batches_had_no_time_tells_nothing_and_the_longest_says_why() {
        let tells = |timed_ns: u64, made: u64, window_ns: u64| {
            Window { rates: vec![1.0], made: vec![made], timed_ns }.tells(window_ns, 1000)
        };
        assert_eq!(tells(5000, 1, WINDOW_NS), Ok(true));
        // One ns: what was made in it would cost next to nothing.
        assert_eq!((tells(1, 7, WINDOW_NS), tells(4999, 7, WINDOW_NS)), (Ok(false), Ok(false)));
        assert_eq!(tells(WINDOW_NS, 0, WINDOW_NS), Ok(false), "none ended");
        assert_eq!(tells(4999, 7, LONGEST_NS), Err(CallError::told(NO_TIME_LEFT)));
        assert_eq!(tells(LONGEST_NS, 0, LONGEST_NS), Ok(true), "the launch says that none ended");
    }

    #[test]
    fn what_failed_without_a_call_is_told_in_words() {
        let told = |error: CallError| {
            let words = SharedWords::new(word::WORKERS + 2 * left::WORDS).expect("mmap");
            let shared = Shared { words: &words };
            assert_eq!(failed(&shared, 1, error), 1);
            let mut alive = || true;
            let mut conductor =
                Conductor { shared: &shared, workers: 2, cpus: 1, least_iterations: 1, alive: &mut alive };
            conductor.look().expect_err("a worker failed").to_string()
        };
        let of_call = told(CallError::new("read", 5));
        assert!(of_call.contains("a call of one of several workers") && of_call.contains("EIO"), "{of_call}");
        assert_eq!(told(CallError::told("a batch has more pages than are mapped")), NO_CALL_FAILED);
        assert_eq!(told(CallError::new("no error number", 0)), NO_CALL_FAILED);
    }
}
