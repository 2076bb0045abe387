//! A lock that can be contended for, and the cards of its cells.

use oscost_harness::quantity;
use oscost_harness::{
    Benchmark, Bound, CallPath, Card, Claim, Need, OverLaunches, Placement, QuantityCard, Tier, Trait,
};

use super::cell::{Cell, Workers};
use super::run::Contended;
use crate::lock::excluding::Lock;
use crate::made::{self, words};

/// A lock that can be contended for.
pub struct Kind {
    id: &'static str,
    calls: &'static [&'static str],
    baseline: &'static str,
    processes: bool,
    threads: bool,
    /// See [`Lock::EXCLUDES`].
    excludes: bool,
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
            excludes: L::EXCLUDES,
            traits: &[],
            make: |card, cell| made::benchmark(Contended::<L>::new(card, cell)),
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
        let id = self.id_of(cell);
        made::once(&id, || (self.make)(made::card(self.card(cell, &id, rare)), cell))
    }

    fn card(&self, cell: Cell, id: &str, rare: bool) -> Card {
        // Threads alone take a mutex of one process: its group is that of the threads.
        let baseline = format!("{}/{}", self.baseline, cell.words());
        let family = self.id.split('/').next().unwrap_or(self.id);
        let name = self.id.split('/').nth(1).unwrap_or(self.id).replace('_', " ");
        let claims =
            made::list(vec![calls_of_a_turn(self.id, self.calls), Claim::OtherCalls(Bound::Exactly(0.0))]);
        // Groups have at most 12 members: the locks of the kernel are one of their own.
        let part = if self.calls == ["futex"] || family != "lock" { "" } else { "/kernel" };
        let grouped = part.is_empty() && baseline != id && self.takes_baseline(cell);
        Card {
            id: words(id.to_owned()),
            title: words(format!("{name}, contended")),
            operation: words(cell.operation()),
            // The first one took as many CPUs as workers for its ideal, where it does not take one turn after the other.
            revision: if cell.thinks || !self.excludes { 2 } else { 1 },
            call_path: CallPath::Libc,
            blocks: true,
            placement: Placement::Spread,
            group: words(format!("{family}{part}/{}", cell.words())),
            claims,
            needs: &[Need::Cpus(2)],
            baseline: grouped.then(|| words(baseline)),
            subtract: None,
            tier: if rare { Tier::Thorough } else { Tier::Family },
            document: (family == "semaphore").then_some("000"),
            launches: Some(8),
            launch_ms: LAUNCH_MS,
            quantities: QUANTITIES,
            parameters: made::list(cell.parameters(self.id).into()),
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

/// What is under the lock besides the hold.
const WITHOUT_HOLD: &str =
    "a turn adds to a counter under the lock and notes its holder: in plain C that made it 36 to 61 % longer";

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
