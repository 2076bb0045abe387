//! One cell of the contention grid: lock, workers, hold time, think time, and its card.

use oscost_harness::quantity;
use oscost_harness::{
    Benchmark, Bound, CallPath, Card, Claim, Need, OverLaunches, Parameter, Placement, QuantityCard, Tier,
    Trait,
};

use super::run::Contended;
use crate::lock::excluding::Lock;

/// What the workers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workers {
    /// Processes of one thread.
    Processes,
    /// Threads of one process.
    Threads,
}

impl Workers {
    /// Its name in ids.
    const fn name(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Threads => "threads",
        }
    }
}

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

/// What is under the lock besides the hold.
const WITHOUT_HOLD: &str =
    "a turn adds to a counter under the lock and notes its holder: in plain C that made it 36 to 61 % longer";

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
    fn words(self) -> String {
        let think = if self.thinks { "think_2_holds" } else { "think_0" };
        format!("contended/{}_{}/hold_us_{}/{think}", self.of.name(), self.workers, self.hold_us)
    }

    /// What a turn is.
    fn operation(self) -> String {
        let held = match self.hold_us {
            0 => "a count under it".to_owned(),
            us => format!("a hold of {us} us"),
        };
        let thinks =
            if self.thinks { format!(", and {} us without it", self.think_us()) } else { String::new() };
        format!("one lock, {held}, one unlock{thinks}, while {} {} want it", self.workers, self.of.name())
    }

    /// With the lock, what the id says.
    fn parameters(self, lock: &'static str) -> [(&'static str, Parameter<'static>); 4] {
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

/// A lock that can be contended for.
pub struct Kind {
    id: &'static str,
    calls: &'static [&'static str],
    baseline: &'static str,
    processes: bool,
    threads: bool,
    traits: &'static [Trait],
    make: fn(&'static Card, Cell) -> &'static dyn Benchmark,
}

impl Kind {
    /// The lock `L` with this id, whose operations make system calls of these names alone, compared to `baseline`.
    pub const fn new<L: Lock>(
        id: &'static str,
        calls: &'static [&'static str],
        baseline: &'static str,
    ) -> Self {
        Self {
            id,
            calls,
            baseline,
            processes: true,
            threads: true,
            traits: &[],
            // A benchmark lives as long as the program; each cell is made once.
            make: |card, cell| Box::leak(Box::new(Contended::<L>::new(card, cell))),
        }
    }

    /// The same, of which threads of one process make use alone.
    pub const fn for_threads(self) -> Self {
        Self { processes: false, ..self }
    }

    /// The same, which threads of one process do not keep apart.
    pub const fn for_processes(self) -> Self {
        Self { threads: false, ..self }
    }

    /// The same, which is this by its making.
    pub const fn with(self, traits: &'static [Trait]) -> Self {
        Self { traits, ..self }
    }

    /// First part of the ids of its cells.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// Whether such workers may contend for it.
    pub fn takes(&self, of: Workers) -> bool {
        match of {
            Workers::Processes => self.processes,
            Workers::Threads => self.threads,
        }
    }

    /// Id of a cell.
    pub fn id_of(&self, cell: Cell) -> String {
        format!("{}/{}", self.id, cell.words())
    }

    /// The benchmark of a cell, made once for each.
    pub fn benchmark(&self, cell: Cell, rare: bool) -> &'static dyn Benchmark {
        use std::collections::BTreeMap;
        use std::sync::{Mutex, PoisonError};
        static MADE: Mutex<BTreeMap<String, &'static dyn Benchmark>> = Mutex::new(BTreeMap::new());
        let id = self.id_of(cell);
        // A panic elsewhere leaves the map whole: it is only ever added to.
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        *made
            .entry(id)
            .or_insert_with_key(|id| (self.make)(Box::leak(Box::new(self.card(cell, id, rare))), cell))
    }

    fn card(&self, cell: Cell, id: &str, rare: bool) -> Card {
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        // Threads alone take a mutex of one process: its group is that of the threads.
        let baseline = format!("{}/{}", self.baseline, cell.words());
        let family = self.id.split('/').next().unwrap_or(self.id);
        let name = self.id.split('/').nth(1).unwrap_or(self.id).replace('_', " ");
        let claims: &'static [Claim] = Box::leak(Box::new([
            calls_of_a_turn(self.id, self.calls),
            Claim::OtherCalls(Bound::Exactly(0.0)),
        ]));
        // Groups have at most 12 members: the locks of the kernel are one of their own.
        let part = if self.calls == ["futex"] || family != "lock" { "" } else { "/kernel" };
        let grouped = part.is_empty() && baseline != id && self.takes_baseline(cell);
        Card {
            id: leak(id.to_owned()),
            title: leak(format!("{name}, contended")),
            operation: leak(cell.operation()),
            call_path: CallPath::Libc,
            blocks: true,
            placement: Placement::Spread,
            group: leak(format!("{family}{part}/{}", cell.words())),
            claims,
            needs: &[Need::Cpus(2)],
            baseline: grouped.then(|| leak(baseline)),
            subtract: None,
            tier: if rare { Tier::Thorough } else { Tier::Family },
            document: (family == "semaphore").then_some("000"),
            launches: Some(8),
            launch_ms: LAUNCH_MS,
            quantities: QUANTITIES,
            parameters: Box::leak(Box::new(cell.parameters(self.id))),
            traits: self.traits,
            remark: if cell.hold_us == 0 { WITHOUT_HOLD } else { "" },
            ..Card::SERIES
        }
    }

    /// Whether the baseline exists among the workers of the cell.
    fn takes_baseline(&self, cell: Cell) -> bool {
        self.baseline != "record_lock/fcntl" || cell.of == Workers::Processes
    }
}

/// System calls of these names in a turn. A lock of the kernel is entered for every lock and every unlock, whoever waits; the
/// control never; every other lock calls only to sleep and to wake, as often as it happens to.
fn calls_of_a_turn(id: &str, calls: &'static [&'static str]) -> Claim {
    match calls {
        ["futex"] if id == "lock/none" => Claim::CallsNamed(calls, Bound::Exactly(0.0)),
        ["futex" | "sched_yield"] => Claim::CallsByChance(calls),
        _ => Claim::CallsNamed(calls, Bound::Exactly(2.0)),
    }
}

/// What a launch takes besides the plan's time, ms.
const LAUNCH_MS: u64 = 60;

/// What a launch yields. docs/method/families.md.
const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::of(quantity::TIME_PER_OPERATION).paired(),
    QuantityCard::of(quantity::IDEAL_SHARE),
    QuantityCard::of(quantity::SWITCHES_PER_OPERATION),
    QuantityCard::of(quantity::BLOCKED_SHARE),
    QuantityCard::of(quantity::OWNER_CHANGE_SHARE).at_times(),
    QuantityCard::of(quantity::FAIRNESS),
    QuantityCard::of(quantity::LONGEST_WAIT).over(OverLaunches::Max).at_times(),
    QuantityCard::of(quantity::HANDOVER_P50).at_times(),
    QuantityCard::of(quantity::HANDOVER_P99).at_times(),
    QuantityCard::of(quantity::LOST_UPDATES).over(OverLaunches::Sum).at_times(),
    QuantityCard::of(quantity::HOLD),
    QuantityCard::of(quantity::WORKERS_PER_CPU),
];
