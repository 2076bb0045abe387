//! A run of the book's test program: a fresh database, processes that share it, and what they counted.
//!
//! A launch whose records are not what they must be, whose database is damaged afterwards, or whose calls of locking are
//! not those that the book's table gives for its operations, is void.

use oscost_harness::quantity;
use std::ffi::OsStr;

use oscost_harness::{
    Benchmark, CallError, Card, Directory, Outcome, Series, SeriesPlan, SetUp, Sink, Subject, Unable,
};
use oscost_recorddb::driver::{self, Done};
use oscost_recorddb::workload::{self, OperationKind, Unobserved, WorkPlan};
use oscost_recorddb::{Database, DatabaseOptions, check_in};
use oscost_sys::folder::Folder;
use oscost_sys::mandatory_lock::{self, Mandatory};
use oscost_sys::usage::Usage;
use oscost_sys::{affinity, file_system};

use super::cell::{Cell, Locking};
use super::in_turn::InTurn;
use super::latencies::Latencies;

/// The book's test program on one cell.
pub struct Program {
    card: &'static Card,
    cell: Cell,
    latencies: bool,
    windows: bool,
    stamps: bool,
}

impl Program {
    /// On `cell`, as `card` tells of it.
    #[must_use]
    pub const fn new(cell: Cell, card: &'static Card) -> Self {
        Self { card, cell, latencies: true, windows: false, stamps: true }
    }

    /// The same without a clock around anything: no latencies, and no waiting.
    #[must_use]
    pub const fn bare(cell: Cell, card: &'static Card) -> Self {
        Self { card, cell, latencies: false, windows: false, stamps: true }
    }

    /// The same with user and system time as the kernel samples them, and as the book's program was timed.
    #[must_use]
    pub const fn literal(cell: Cell, card: &'static Card) -> Self {
        Self { card, cell, latencies: false, windows: false, stamps: false }
    }

    /// The same, by windows of the run: for one process and layout `book`, however many records there are.
    #[must_use]
    pub const fn by_windows(cell: Cell, card: &'static Card) -> Self {
        Self { card, cell, latencies: false, windows: true, stamps: true }
    }
}

impl Benchmark for Program {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let directory = Directory::make(cx)?;
        if self.cell.locking == Locking::Mandatory {
            enforced(directory.folder())?;
        }
        let cpus = if self.cell.processes == 1 { vec![cx.cpu] } else { cx.cpus.to_vec() };
        let Self { cell, latencies, stamps, .. } = *self;
        let in_turn = self.windows.then(|| InTurn::with(cell));
        Ok(Subject::Series(Box::new(Running { cell, latencies, in_turn, stamps, directory, cpus })))
    }
}

/// Nothing where locks are seen to be mandatory in a directory; else why not, in the words of what was seen.
fn enforced(directory: &Folder) -> Result<(), Unable> {
    const LABORATORY: &str = "to see it on Linux 5.10: contrib/laboratory/run mandatory";
    let kind = file_system::kind(directory).unwrap_or_else(|error| error.to_string());
    let (why, remedy) = match mandatory_lock::probe(directory) {
        Mandatory::Enforced => return Ok(()),
        Mandatory::Ignored => (
            format!(
                "mandatory locks are accepted and ignored: the {kind} of the files is mounted with mand, and a read of a \
                 locked byte went through (Linux has none since 5.15)"
            ),
            LABORATORY.to_owned(),
        ),
        Mandatory::NotMounted => (
            format!(
                "mandatory locks are not asked for: the {kind} of the files is mounted without mand, and a read of a \
                 locked byte went through"
            ),
            format!("mount -o remount,mand where --set directory= is, on Linux before 5.15; {LABORATORY}"),
        ),
        Mandatory::CannotTell(why) => (
            format!("cannot find out whether locks are mandatory: {why}"),
            format!("a --set directory= whose files belong to a group of this user's; {LABORATORY}"),
        ),
    };
    Err(Unable::Unsupported { why, remedy })
}

pub(super) struct Running {
    pub(super) cell: Cell,
    latencies: bool,
    /// By windows of the run, in turn with the other ways to lock.
    in_turn: Option<InTurn>,
    stamps: bool,
    pub(super) directory: Directory,
    pub(super) cpus: Vec<usize>,
}

/// What the processes of a launch may take that takes `about_ms` on an idle machine, ns: as many times as much as a launch is
/// granted. A tenth of a CPU is no failure, and who hangs is told before the launch is ended.
pub(super) const fn patience_ns(about_ms: u64) -> u64 {
    2_000_000_000 + 100 * about_ms * 1_000_000
}

/// A failure in the words of a launch. A void launch is rare, and ends its worker.
pub(super) fn void(what: impl std::fmt::Display) -> CallError {
    CallError::told(Box::leak(format!("record database: {what}").into_boxed_str()))
}

/// Nothing if a run of this cell locked as often as the book's table has it for its operations.
pub(super) fn locks_are_the_rules(cell: &Cell, done: &Done) -> Outcome {
    let Some(rule) = cell.lock_rule() else { return Ok(()) };
    let expected: u64 = OperationKind::ALL.iter().map(|kind| done.counts.of(*kind) * rule(*kind)).sum();
    match done.work.lock_calls {
        made if made == expected => Ok(()),
        made => Err(void(format_args!("{made} locking calls, but the rules give {expected}"))),
    }
}

impl Running {
    pub(super) fn plan(&self, seed: u64, child: u32, records: u32) -> WorkPlan {
        WorkPlan { workload: self.cell.workload, records, seed, child }
    }

    /// Runs `body` with the folder and the name of a database that does not exist, and removes it.
    fn fresh<T>(&self, body: impl FnOnce(&Folder, &OsStr) -> Result<T, CallError>) -> Result<T, CallError> {
        let result = body(self.directory.folder(), OsStr::new("db"));
        let emptied = self.directory.empty();
        let result = result?;
        emptied?;
        Ok(result)
    }

    /// All processes at once on a fresh database, with a clock around each operation and each lock, or without.
    fn together(&self, seed: u64, latencies: Option<&Latencies>) -> Result<Vec<Done>, CallError> {
        let options = DatabaseOptions { time_locks: latencies.is_some(), ..self.cell.options() };
        let plans: Vec<WorkPlan> =
            (0..self.cell.processes).map(|child| self.plan(seed, child, self.cell.records)).collect();
        self.fresh(|folder, name| {
            drop(Database::open_in(folder, name, &options).map_err(void)?);
            let open = |plan: &WorkPlan| {
                let cpu = self.cpus[plan.child as usize % self.cpus.len()];
                affinity::pin_to(cpu).map_err(oscost_recorddb::Error::Call)?;
                Database::open_in(folder, name, &options)
            };
            let patience_ns = patience_ns(self.cell.about_ms());
            let ran = match latencies {
                None if self.stamps => driver::run(&plans, open, patience_ns),
                None => driver::run_observed(&plans, open, |_| Unobserved, patience_ns),
                Some(seen) => driver::run_observed(&plans, open, |plan| seen.of(plan.child), patience_ns),
            };
            let done: Vec<Done> = ran?.into_iter().collect::<Result<_, String>>().map_err(void)?;
            self.is_clean(name)?;
            done.iter().try_for_each(|done| locks_are_the_rules(&self.cell, done))?;
            Ok(done)
        })
    }

    /// Nothing if a database of ours is what it must be.
    pub(super) fn is_clean(&self, name: &OsStr) -> Outcome {
        let found = check_in(self.directory.folder(), name, self.cell.layout).map_err(void)?;
        if !found.is_clean() {
            let (damages, lost) = (found.damages.len(), found.lost);
            return Err(void(format_args!("{damages} damages, {lost} records lost")));
        }
        Ok(())
    }

    /// The whole program of one child with few records, for the audit, and the calls that the database counted.
    fn counted(&self, seed: u64, records: u32, sink: &mut dyn Sink) -> Outcome {
        self.fresh(|folder, name| {
            let mut database = Database::open_in(folder, name, &self.cell.options()).map_err(void)?;
            let before = database.counters();
            let plan = self.plan(seed, 0, records);
            let counts = workload::run(&plan, &mut database, &mut Unobserved).map_err(void)?;
            let after = database.counters();
            sink.operations(counts.total());
            for ((name, before), (_, after)) in before.io.by_name().into_iter().zip(after.io.by_name()) {
                if after > 0 {
                    sink.counted(name, after - before);
                }
            }
            if let Some(name) = self.cell.lock_call() {
                sink.counted(name, after.locks.total() - before.locks.total());
            }
            Ok(())
        })
    }
}

impl Series for Running {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        if let Some(observations) = plan.observations {
            let records = u32::try_from(observations / 2).unwrap_or(u32::MAX).max(1);
            return self.counted(plan.seed, records, sink);
        }
        let latencies = self.latencies.then(|| Latencies::new(self.cell.processes)).transpose()?;
        let apart = self.cell.runs_twice();
        let done = match self.in_turn {
            Some(_) => vec![self.by_windows(plan.seed)?],
            None => self.together(plan.seed, latencies.as_ref().filter(|_| !apart))?,
        };
        if let Some(latencies) = &latencies {
            let timed = if apart { &self.together(plan.seed, Some(latencies))? } else { &done };
            let timed_operations: u64 = timed.iter().map(|done| done.counts.total()).sum();
            let waited: u64 = timed.iter().map(|done| done.work.lock_wait_ns).sum();
            sink.quantity(quantity::LOCK_WAIT_PER_OPERATION, waited as f64 / timed_operations.max(1) as f64);
            latencies.tell(sink);
        }
        let sum = |of: fn(&Done) -> u64| done.iter().map(of).sum::<u64>();
        let operations = sum(|done| done.counts.total());
        let from = done.iter().map(|done| done.from_to_ns.0).min().unwrap_or(0);
        let to = done.iter().map(|done| done.from_to_ns.1).max().unwrap_or(0);
        let clock = to.saturating_sub(from);
        let (user, system) = (sum(|done| done.usage.user_ns), sum(|done| done.usage.system_ns));
        let (io_calls, lock_calls) = (sum(|done| done.work.io_calls), sum(|done| done.work.lock_calls));
        let (visits, switches) = (sum(|done| done.work.visits), sum(|done| done.usage.switches()));
        let per_operation = |amount: u64| amount as f64 / operations.max(1) as f64;
        sink.operations(operations);
        for (name, value) in [
            (quantity::CPU, user + system),
            (quantity::CLOCK, clock),
            (quantity::USER, user),
            (quantity::SYSTEM, system),
            (quantity::OPERATIONS, operations),
            (quantity::IO_CALLS, io_calls),
            (quantity::LOCK_CALLS, lock_calls),
            (quantity::VISITS, visits),
            (quantity::SWITCHES, switches),
        ] {
            sink.quantity(name, value as f64);
        }
        for (name, amount) in [
            (quantity::TIME_PER_OPERATION, clock),
            (quantity::CPU_PER_OPERATION, user + system),
            (quantity::USER_PER_OPERATION, user),
            (quantity::SYSTEM_PER_OPERATION, system),
        ] {
            sink.quantity(name, per_operation(amount));
        }
        sink.quantity(quantity::CPU_SHARE, (user + system) as f64 / clock.max(1) as f64);
        sink.quantity(quantity::IO_CALLS_PER_OPERATION, per_operation(io_calls));
        sink.quantity(quantity::LOCK_CALLS_PER_OPERATION, per_operation(lock_calls));
        sink.quantity(quantity::VISITS_PER_OPERATION, per_operation(visits));
        sink.quantity(quantity::SWITCHES_PER_OPERATION, per_operation(switches));
        for kind in OperationKind::ALL {
            let made: u64 = done.iter().map(|done| done.counts.of(kind)).sum();
            sink.quantity(kind.name(), made as f64);
        }
        for done in &done {
            sink.observation(done.clock_ns as f64 / done.counts.total().max(1) as f64);
        }
        let moved: Option<Vec<bool>> = done.iter().map(|done| done.moved).collect();
        let migrations = moved.map(|moved| moved.into_iter().map(u64::from).sum());
        sink.used(
            &Usage {
                voluntary_switches: sum(|done| done.usage.voluntary_switches),
                involuntary_switches: sum(|done| done.usage.involuntary_switches),
                minor_faults: sum(|done| done.usage.minor_faults),
                major_faults: sum(|done| done.usage.major_faults),
                user_ns: user,
                system_ns: system,
            },
            migrations,
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{patience_ns, void};

    /// Seen under a quota of 40 % beside compilers: a run of 1.4 s by its card took more than 16.
    #[test]
    fn who_has_a_small_part_of_a_cpu_is_not_taken_for_one_who_hangs() {
        assert!(patience_ns(1400) >= 100 * 1_400_000_000);
    }

    #[test]
    fn a_void_launch_says_why_and_names_no_call_that_did_not_fail() {
        assert_eq!(void("it went on for too long").to_string(), "record database: it went on for too long");
    }
}
