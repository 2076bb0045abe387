//! One launch of a cell: a fresh database, processes that run the book's workload on it together, and what they counted.
//!
//! A launch whose records are not what they must be, whose database is damaged afterwards, or whose calls of locking are not
//! those that the book's table gives for its operations, is void.

use std::path::{Path, PathBuf};

use oscost_harness::janitor::Object;
use oscost_harness::{
    Benchmark, Bound, CallError, Card, Claim, Need, Outcome, Placement, QuantityCard, Series, SeriesPlan,
    SetUp, Sink, Subject, Tier, Unable,
};
use oscost_recorddb::driver::{self, Done};
use oscost_recorddb::workload::{self, Failure, Kind, Plan, Target, Unobserved, Workload};
use oscost_recorddb::{
    Access, Database, Granularity, Layout, LockWay, Options, Primitive, Store, Stored, check,
};
use oscost_sys::affinity;
use oscost_sys::usage::Usage;

/// The parameters of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// Layout of the files.
    pub layout: Layout,
    /// Way to the bytes.
    pub access: Access,
    /// Way to lock.
    pub lock: LockWay,
    /// Processes that run the workload, each on keys of its own.
    pub processes: u32,
    /// Records that each writes first.
    pub records: u32,
}

/// Without fcntl, whoever locks.
pub const NEVER: [Claim; 1] = [Claim::CallsNamed(&["fcntl"], Bound::Exactly(0.0))];
/// One lock an operation.
pub const COARSE: [Claim; 1] = [Claim::CallsNamed(&["fcntl"], Bound::Exactly(2.0))];
/// As the book's table has it; the audit sees the first operations, which insert.
pub const FINE: [Claim; 1] = [Claim::CallsNamed(&["fcntl"], Bound::Between(2.0, 8.0))];

const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::new("time_per_operation", "ns").paired(),
    QuantityCard::new("cpu_per_operation", "ns").paired(),
    QuantityCard::new("user_per_operation", "ns"),
    QuantityCard::new("system_per_operation", "ns"),
    QuantityCard::new("lock_wait_per_operation", "ns"),
    QuantityCard::new("switches_per_operation", "count"),
    QuantityCard::new("io_calls_per_operation", "count"),
    QuantityCard::new("lock_calls_per_operation", "count"),
    QuantityCard::new("visits_per_operation", "count"),
];

/// Card of one process on a database.
pub const fn alone(
    id: &'static str,
    title: &'static str,
    baseline: Option<&'static str>,
    claims: &'static [Claim],
) -> Card {
    Card {
        id,
        title,
        operation: "one fetch, insertion, replacement or deletion of a record, as the book's program mixes them",
        group: "record_database/processes_1",
        claims,
        baseline,
        tier: Tier::Family,
        document: Some("001"),
        launches: Some(8),
        launch_ms: 300,
        quantities: QUANTITIES,
        remark: "user and system time are samples of the kernel's below 0.5 s; time of waiting for locks is of a run of its own",
        ..Card::SERIES
    }
}

/// Card of several processes on one database.
pub const fn together(
    id: &'static str,
    title: &'static str,
    baseline: Option<&'static str>,
    claims: &'static [Claim],
) -> Card {
    Card {
        group: "record_database/processes_4",
        blocks: true,
        placement: Placement::Spread,
        needs: &[Need::Cpus(2)],
        launch_ms: 2000,
        ..alone(id, title, baseline, claims)
    }
}

/// Processes that share a database.
pub struct Shared {
    card: &'static Card,
    cell: Cell,
}

impl Shared {
    /// The benchmark of `card`.
    pub const fn new(card: &'static Card, cell: Cell) -> Self {
        Self { card, cell }
    }
}

/// A directory of our own in memory, removed with the subject, or by the janitor, or with the private namespace.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        // It cannot be told to anybody here, and the janitor tries again.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Running {
    cell: Cell,
    directory: Directory,
    cpus: Vec<usize>,
}

impl Benchmark for Shared {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        let path = format!("/dev/shm{}", cx.unique_name()?);
        std::fs::create_dir(&path).map_err(|error| Unable::Unsupported {
            why: format!("no directory can be made in /dev/shm for the database: {error}"),
            remedy: "mount -t tmpfs -o mode=1777 tmpfs /dev/shm".into(),
        })?;
        let directory = Directory(PathBuf::from(&path));
        cx.keeper.keep(&Object::Directory(path))?;
        let cpus = if self.cell.processes == 1 { vec![cx.cpu] } else { cx.cpus.to_vec() };
        Ok(Subject::Series(Box::new(Running { cell: self.cell, directory, cpus })))
    }
}

/// A failure of the database in the words of a launch. A void launch is rare, and ends its worker.
fn void(what: impl std::fmt::Display) -> CallError {
    CallError::short(Box::leak(format!("record database: {what}").into_boxed_str()))
}

/// Longest time that children may take, ns.
const PATIENCE_NS: u64 = 60_000_000_000;

impl Running {
    fn options(&self, time_locks: bool) -> Options {
        let Cell { layout, access, lock, .. } = self.cell;
        Options { layout, access, lock, create: true, time_locks, ..Options::default() }
    }

    fn plan(&self, seed: u64, child: u32) -> Plan {
        Plan { workload: Workload::Figure, records: self.cell.records, seed, child }
    }

    /// Runs `body` with the path of a database that does not exist, and removes it.
    fn fresh<T>(&self, body: impl FnOnce(&Path) -> Result<T, CallError>) -> Result<T, CallError> {
        let result = body(&self.directory.0.join("db"));
        let removed = std::fs::read_dir(&self.directory.0)
            .and_then(|mut entries| entries.try_for_each(|entry| std::fs::remove_file(entry?.path())));
        let result = result?;
        removed.map_err(|error| CallError::new("unlink", error.raw_os_error().unwrap_or(0)))?;
        Ok(result)
    }

    /// All processes at once on a fresh database.
    fn together(&self, seed: u64, time_locks: bool) -> Result<Vec<Done>, CallError> {
        let options = self.options(time_locks);
        let plans: Vec<Plan> = (0..self.cell.processes).map(|child| self.plan(seed, child)).collect();
        self.fresh(|path| {
            drop(Database::open(path, &options).map_err(void)?);
            let open = |plan: &Plan| {
                let cpu = self.cpus[plan.child as usize % self.cpus.len()];
                affinity::pin_to(cpu).map_err(oscost_recorddb::Error::Call)?;
                Database::open(path, &options)
            };
            let done: Vec<Done> = driver::run(&plans, open, PATIENCE_NS)?
                .into_iter()
                .collect::<Result<_, String>>()
                .map_err(void)?;
            let found = check(path, self.cell.layout).map_err(void)?;
            if !found.is_clean() {
                return Err(void(format_args!(
                    "{} damages, {} records and {} bytes lost",
                    found.damages.len(),
                    found.lost,
                    found.lost_bytes
                )));
            }
            done.iter().try_for_each(|done| self.locks_are_the_rules(done))?;
            Ok(done)
        })
    }

    /// Whether the calls of locking are those of the operations, where a rule gives them.
    fn locks_are_the_rules(&self, done: &Done) -> Outcome {
        let rule: fn(Kind) -> u64 = match (self.cell.layout, self.cell.lock) {
            (_, LockWay::None) => |_| 0,
            (Layout::Book, LockWay::By(_, Granularity::Coarse)) => Kind::coarse_lock_calls,
            (Layout::Book, LockWay::By(Primitive::Fcntl | Primitive::Ofd, Granularity::Fine)) => {
                Kind::fine_lock_calls
            }
            _ => return Ok(()),
        };
        let expected: u64 = Kind::ALL.iter().map(|kind| done.counts.of(*kind) * rule(*kind)).sum();
        match done.work.lock_calls {
            made if made == expected => Ok(()),
            made => Err(void(format_args!("{made} calls of locking where the rules give {expected}"))),
        }
    }

    /// The first `count` operations of one process, for the audit.
    fn counted(&self, seed: u64, count: u64) -> Outcome {
        self.fresh(|path| {
            let database = Database::open(path, &self.options(false)).map_err(void)?;
            let mut target = First { database, left: count };
            match workload::run(&self.plan(seed, 0), &mut target, &mut Unobserved) {
                Err(Failure::Store(Stop::Enough)) => Ok(()),
                Err(failure) => Err(void(failure)),
                Ok(_) => Err(void("the workload is shorter than was asked for")),
            }
        })
    }
}

impl Series for Running {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        if let Some(count) = plan.observations {
            self.counted(plan.seed, count)?;
            sink.operations(count);
            return Ok(());
        }
        let done = self.together(plan.seed, false)?;
        let waited = self.together(plan.seed, true)?;
        let sum = |of: fn(&Done) -> u64| done.iter().map(of).sum::<u64>();
        let operations = sum(|done| done.counts.total());
        let per_operation = |amount: u64| amount as f64 / operations.max(1) as f64;
        let from = done.iter().map(|done| done.from_to_ns.0).min().unwrap_or(0);
        let to = done.iter().map(|done| done.from_to_ns.1).max().unwrap_or(0);
        let (user, system) = (sum(|done| done.usage.user_ns), sum(|done| done.usage.system_ns));
        sink.operations(operations);
        sink.quantity("time_per_operation", per_operation(to.saturating_sub(from)));
        sink.quantity("cpu_per_operation", per_operation(user + system));
        sink.quantity("user_per_operation", per_operation(user));
        sink.quantity("system_per_operation", per_operation(system));
        let waited_operations: u64 = waited.iter().map(|done| done.counts.total()).sum();
        let waited: u64 = waited.iter().map(|done| done.work.lock_wait_ns).sum();
        sink.quantity("lock_wait_per_operation", waited as f64 / waited_operations.max(1) as f64);
        sink.quantity("switches_per_operation", per_operation(sum(|done| done.usage.switches())));
        sink.quantity("io_calls_per_operation", per_operation(sum(|done| done.work.io_calls)));
        sink.quantity("lock_calls_per_operation", per_operation(sum(|done| done.work.lock_calls)));
        sink.quantity("visits_per_operation", per_operation(sum(|done| done.work.visits)));
        for done in &done {
            sink.observation(done.clock_ns as f64 / done.counts.total().max(1) as f64);
        }
        // Each is pinned: none changes its CPU.
        let used = Usage {
            voluntary_switches: sum(|done| done.usage.voluntary_switches),
            involuntary_switches: sum(|done| done.usage.involuntary_switches),
            minor_faults: sum(|done| done.usage.minor_faults),
            major_faults: sum(|done| done.usage.major_faults),
            user_ns: user,
            system_ns: system,
        };
        sink.used(&used, 0);
        Ok(())
    }
}

/// The first operations on a database; then it refuses.
struct First {
    database: Database,
    left: u64,
}

/// Why it refused.
enum Stop {
    Enough,
    Database(oscost_recorddb::Error),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Enough => f.write_str("enough"),
            Self::Database(error) => error.fmt(f),
        }
    }
}

impl First {
    fn next(&mut self) -> Result<&mut Database, Stop> {
        self.left = self.left.checked_sub(1).ok_or(Stop::Enough)?;
        Ok(&mut self.database)
    }
}

impl Target for First {
    type Error = Stop;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Stop> {
        self.next()?.fetch_into(key, value).map_err(Stop::Database)
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: Store) -> Result<Stored, Stop> {
        self.next()?.store(key, value, how).map_err(Stop::Database)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, Stop> {
        self.next()?.delete(key).map_err(Stop::Database)
    }
}
