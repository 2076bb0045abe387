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
/// A window holds so many batches at least: half of one is lost at its end.
const FEWEST_BATCHES: u64 = 50;
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

/// The workers as their conductor sees them.
pub struct Conductor<'a> {
    pub shared: &'a Shared<'a>,
    pub workers: usize,
    pub cpus: usize,
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
            return Err(CallError::new(
                "a call of one of several workers",
                i32::try_from(errno).unwrap_or(0),
            ));
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
        for kind in [order::ARM, order::COUNT, order::PARK] {
            // What happens once happens before.
            self.order(kind, 0, all)?;
        }
        self.shared.set(word::ITERATIONS, iterations);
        self.order(order::ARM, 0, all)?;
        phase.into_iter().for_each(marker);
        self.shared.tell(order::COUNT, 0, all)?;
        let until = clock::now_ns() + PATIENCE_NS;
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
        self.shared.tell(order::FILL, 0, 1)?;
        self.wait(word::DONE, PATIENCE_NS + LONGEST_NS)?;
        let batch_ns = self.shared.get(word::BATCH_NS);
        if batch_ns > LONGEST_BATCH_NS {
            return Err(CallError::told("counting operations of more than 100 ms each"));
        }
        let each_has = self.workers.div_ceil(self.cpus) as u64;
        let window_ns = (WINDOW_NS.max(FEWEST_BATCHES * batch_ns) * each_has).min(LONGEST_NS);
        // Pages that a fork left to be copied, and caches: no part of a window.
        self.window(0, self.workers, window_ns / 4)?;
        let mut rounds = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            // Another one each time: CPUs may differ.
            let one = (seed as usize).wrapping_add(round) % self.workers;
            let (alone, _) = self.telling_window(one, one + 1, window_ns)?;
            let (rates, made) = self.telling_window(0, self.workers, window_ns)?;
            rounds.push(Round { alone: alone.iter().sum(), rates, made });
        }
        Ok(rounds)
    }

    /// A window in which an operation ends: one that tells nothing, since others had the CPU, is followed by one twice as long.
    fn telling_window(
        &mut self,
        from: usize,
        to: usize,
        mut window_ns: u64,
    ) -> Result<(Vec<f64>, Vec<u64>), CallError> {
        loop {
            let (rates, made) = self.window(from, to, window_ns)?;
            if window_ns >= LONGEST_NS || made.iter().any(|&made| made > 0) {
                return Ok((rates, made));
            }
            window_ns = (2 * window_ns).min(LONGEST_NS);
        }
    }

    /// One window of some workers: iterations a ns, and iterations, of each.
    fn window(&mut self, from: usize, to: usize, window_ns: u64) -> Result<(Vec<f64>, Vec<u64>), CallError> {
        let each_has = (to - from).div_ceil(self.cpus) as u64;
        let start = clock::now_ns() + LEAD_NS * each_has;
        self.shared.set(word::START, start);
        self.shared.set(word::END, start + window_ns);
        self.shared.tell(order::WINDOW, from, to)?;
        clock::sleep_until(start + window_ns)?;
        self.wait(word::DONE, PATIENCE_NS)?;
        let left = |worker, what| self.shared.left(worker, what).load(Ordering::Acquire);
        let made: Vec<u64> = (from..to).map(|worker| left(worker, left::MADE)).collect();
        let timed = |worker| window_ns.saturating_sub(left(worker, left::UNTIMED)).max(1);
        let rates = (from..to).zip(&made).map(|(worker, &made)| made as f64 / timed(worker) as f64);
        Ok((rates.collect(), made))
    }
}
