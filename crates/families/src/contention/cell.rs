//! One cell of the contention grid: workers, hold time, think time.

use oscost_harness::Parameter;

pub use crate::scaling::Workers;

/// The parameters of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// How many want the lock.
    pub workers: u32,
    /// What they are.
    pub of: Workers,
    /// How long it is held, us.
    pub hold_us: u32,
    /// Whether a worker works for twice the hold time before it wants the lock again.
    pub thinks: bool,
}

const MOST_WORKERS: u32 = 64;
const MOST_HOLD_US: u32 = 10_000;

impl Cell {
    /// The cell that ends an id.
    pub fn of_id(id: &str) -> Option<Self> {
        let (_, cell) = id.split_once("/contended/")?;
        let mut parts = cell.split('/');
        let (workers, hold, think) = (parts.next()?, parts.next()?, parts.next()?);
        let (of, workers) = match workers.split_once('_')? {
            ("processes", workers) => (Workers::Processes, workers),
            ("threads", workers) => (Workers::Threads, workers),
            _ => return None,
        };
        let workers = workers.parse().ok().filter(|workers| (1..=MOST_WORKERS).contains(workers))?;
        let hold_us = hold.strip_prefix("hold_us_")?.parse().ok().filter(|&hold| hold <= MOST_HOLD_US)?;
        let thinks = match think {
            "think_0" => false,
            "think_2_holds" => true,
            _ => return None,
        };
        Some(Self { workers, of, hold_us, thinks })
    }

    /// As the end of an id.
    pub fn words(self) -> String {
        let think = if self.thinks { "think_2_holds" } else { "think_0" };
        format!("contended/{}_{}/hold_us_{}/{think}", self.of.name(), self.workers, self.hold_us)
    }

    /// What a turn is.
    pub fn operation(self) -> String {
        let held = match self.hold_us {
            0 => "a count under it".to_owned(),
            us => format!("a hold of {us} us"),
        };
        let thinks =
            if self.thinks { format!(", and {} us without it", self.think_us()) } else { String::new() };
        format!("one lock, {held}, one unlock{thinks}, while {} {} want it", self.workers, self.of.name())
    }

    /// With the lock, what the id says.
    pub fn parameters(self, lock: &'static str) -> [(&'static str, Parameter<'static>); 4] {
        [
            ("lock", Parameter::Text(lock)),
            (self.of.name(), Parameter::Number(self.workers.into())),
            ("hold_us", Parameter::Number(self.hold_us.into())),
            ("think_holds", Parameter::Number(if self.thinks { 2 } else { 0 })),
        ]
    }

    /// Time between two wishes of a worker, us.
    pub fn think_us(self) -> u32 {
        if self.thinks { 2 * self.hold_us } else { 0 }
    }
}
