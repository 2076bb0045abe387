//! One cell: how the database is laid out, reached and locked, how many processes, how many records.

use oscost_harness::quantity;
use oscost_harness::{Bound, Card, Claim, Need, Parameter, Placement, QuantityCard, Tier};
use oscost_recorddb::workload::{OperationKind, Workload};
use oscost_recorddb::{Access, DatabaseOptions, Granularity, Layout, LockWay, Primitive};
use oscost_sys::mandatory_lock;

use crate::made::{self, words};

/// The four ways of document 001's Figure 20.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locking {
    /// No locking.
    None,
    /// One lock.
    Coarse,
    /// A lock a chain.
    Fine,
    /// A lock a chain, and the files ask for mandatory locking.
    Mandatory,
}

impl Locking {
    /// All four, in the order of the figure.
    pub const ALL: [Self; 4] = [Self::None, Self::Coarse, Self::Fine, Self::Mandatory];
    /// Those that every kernel has.
    pub const ADVISORY: [Self; 3] = [Self::None, Self::Coarse, Self::Fine];

    /// Its name in options and ids.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Coarse => "coarse",
            Self::Fine => "fine",
            Self::Mandatory => "mandatory",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::None => "without locks",
            Self::Coarse => "one lock",
            Self::Fine => "many locks",
            Self::Mandatory => "many mandatory locks",
        }
    }
}

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Layout of the files.
    pub layout: Layout,
    /// Way to the bytes.
    pub access: Access,
    /// Reading of the test program.
    pub workload: Workload,
    /// Which of the four ways.
    pub locking: Locking,
    /// What locks.
    pub primitive: Primitive,
    /// Processes, each on keys of its own.
    pub processes: u32,
    /// Records that each writes first.
    pub records: u32,
}

/// Where a run with coarse locks takes no longer, all runs of its group are made twice, ms: so are those of all listed cells, of
/// which the longest takes 2448.
const LONGEST_TWICE_MS: u64 = 2500;
/// A launch of one way by windows takes about this, ms: its windows, and its part of preparing and checking them.
pub const WINDOWS_MS: u64 = 400;
/// Most processes, as in Figure 20.8.
pub const MOST_PROCESSES: u32 = 16;
/// Most records of a process.
pub const MOST_RECORDS: u32 = 1_000_000;
/// Most records of all processes in layout `book`, whose offsets have 7 digits.
const MOST_IN_BOOK: u32 = 100_000;

/// Layouts by name.
pub const LAYOUTS: [(Layout, &str); 2] = [(Layout::Book, "book"), (Layout::Fast, "fast")];
/// Ways to the bytes by name.
pub const ACCESSES: [(Access, &str); 3] =
    [(Access::SeekRead, "seek"), (Access::Positioned, "positioned"), (Access::Mapped, "mapped")];
/// Readings of the test program by name.
pub const WORKLOADS: [(Workload, &str); 2] = [(Workload::Figure, "figure"), (Workload::Text, "text")];
/// What locks, by name.
pub const PRIMITIVES: [(Primitive, &str); 4] = [
    (Primitive::Fcntl, "fcntl"),
    (Primitive::Ofd, "ofd"),
    (Primitive::Flock, "flock"),
    (Primitive::RobustMutex, "mutex"),
];

/// The name of a value in such a list.
pub fn word<T: Copy + PartialEq>(list: &[(T, &'static str)], value: T) -> &'static str {
    list.iter().find(|(known, _)| *known == value).map_or("", |(_, name)| name)
}

/// The value of a name in such a list.
pub fn named<T: Copy>(list: &[(T, &'static str)], name: &str) -> Option<T> {
    list.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
}

const FAMILY: &str = "record_database/";
const TEXT: &str = "/workload_text";

impl Cell {
    /// Everything but the way to lock.
    fn with_lock(&self, lock: &str) -> String {
        let (layout, access) = (word(&LAYOUTS, self.layout), word(&ACCESSES, self.access));
        let workload = if self.workload == Workload::Text { TEXT } else { "" };
        let Self { processes, records, .. } = self;
        format!("{FAMILY}{layout}/{access}{lock}/processes_{processes}/nrec_{records}{workload}")
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> String {
        self.with_lock(&match self.locking {
            Locking::None => "/none".to_owned(),
            locking => format!("/{}_{}", locking.name(), word(&PRIMITIVES, self.primitive)),
        })
    }

    /// What the id says.
    fn parameters(&self) -> Vec<(&'static str, Parameter<'static>)> {
        let mut parameters = vec![
            ("layout", Parameter::Text(word(&LAYOUTS, self.layout))),
            ("access", Parameter::Text(word(&ACCESSES, self.access))),
            ("locking", Parameter::Text(self.locking.name())),
            ("processes", Parameter::Number(self.processes.into())),
            ("nrec", Parameter::Number(self.records.into())),
        ];
        if self.locking != Locking::None {
            parameters.push(("primitive", Parameter::Text(word(&PRIMITIVES, self.primitive))));
        }
        if self.workload == Workload::Text {
            parameters.push(("workload", Parameter::Text(word(&WORKLOADS, self.workload))));
        }
        parameters
    }

    /// The cell of an id.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        let rest = id.strip_prefix(FAMILY)?;
        let (rest, workload) = match rest.strip_suffix(TEXT) {
            Some(rest) => (rest, Workload::Text),
            None => (rest, Workload::Figure),
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let [layout, access, lock, processes, records] = parts[..] else { return None };
        let (locking, primitive) = match lock.split_once('_') {
            None => (lock, Primitive::Fcntl),
            Some((locking, primitive)) => (locking, named(&PRIMITIVES, primitive)?),
        };
        let cell = Self {
            layout: named(&LAYOUTS, layout)?,
            access: named(&ACCESSES, access)?,
            workload,
            locking: Locking::ALL.into_iter().find(|known| known.name() == locking)?,
            primitive,
            processes: processes.strip_prefix("processes_")?.parse().ok()?,
            records: records.strip_prefix("nrec_")?.parse().ok()?,
        };
        let fits =
            (1..=MOST_PROCESSES).contains(&cell.processes) && (1..=MOST_RECORDS).contains(&cell.records);
        // One cell has one id.
        (fits && cell.misfit().is_none() && cell.id() == id).then_some(cell)
    }

    /// Why there can be no such cell, if there can be none.
    #[must_use]
    pub fn misfit(&self) -> Option<String> {
        let records = u64::from(self.processes) * u64::from(self.records);
        if self.layout == Layout::Book && records > u64::from(MOST_IN_BOOK) {
            return Some(format!("layout book holds {MOST_IN_BOOK} records of all children, not {records}"));
        }
        if self.locking == Locking::None && self.processes > 1 {
            return Some("without locking, several children destroy the database: use one child".to_owned());
        }
        let reads = self.layout == Layout::Book && self.access != Access::Mapped;
        let locks = matches!(self.primitive, Primitive::Fcntl | Primitive::Ofd);
        if self.locking == Locking::Mandatory && !(reads && locks) {
            return Some(
                "mandatory locking needs fcntl's locks (primitive=fcntl or ofd), and reads and writes of layout book (io=seek or positioned)"
                    .to_owned(),
            );
        }
        None
    }

    /// The same with another way to lock.
    #[must_use]
    pub fn with(self, locking: Locking) -> Self {
        Self { locking, ..self }
    }

    pub(super) fn lock_way(&self) -> LockWay {
        match self.locking {
            Locking::None => LockWay::None,
            Locking::Coarse => LockWay::By(self.primitive, Granularity::Coarse),
            Locking::Fine | Locking::Mandatory => LockWay::By(self.primitive, Granularity::Fine),
        }
    }

    pub(super) fn options(&self) -> DatabaseOptions {
        DatabaseOptions {
            layout: self.layout,
            access: self.access,
            lock: self.lock_way(),
            create: true,
            mode: if self.locking == Locking::Mandatory { mandatory_lock::MODE } else { 0o600 },
            ..DatabaseOptions::default()
        }
    }

    /// The book's rule of how many calls of locking an operation of a kind makes, where there is one.
    #[must_use]
    pub fn lock_rule(&self) -> Option<fn(OperationKind) -> u64> {
        match (self.layout, self.lock_way()) {
            (_, LockWay::None) => Some(|_| 0),
            (Layout::Book, LockWay::By(_, Granularity::Coarse)) => Some(OperationKind::coarse_lock_calls),
            (Layout::Book, LockWay::By(_, Granularity::Fine)) => Some(OperationKind::fine_lock_calls),
            (Layout::Fast, _) => None,
        }
    }

    /// The system call that locks, if one does.
    pub(super) fn lock_call(&self) -> Option<&'static str> {
        match self.lock_way().primitive()? {
            Primitive::Fcntl | Primitive::Ofd => Some("fcntl"),
            Primitive::Flock => Some("flock"),
            Primitive::RobustMutex => None,
        }
    }

    /// About how long a run takes, ms: for estimates and deadlines. Records visited grow with the square of the records
    /// (two lists are walked), and with the processes, who share both.
    #[must_use]
    pub fn about_ms(&self) -> u64 {
        let (records, processes) = (u64::from(self.records), u64::from(self.processes));
        let operations = 22 * records;
        let ns = match self.layout {
            Layout::Fast => operations * processes * 4000,
            Layout::Book => {
                let visits = records * records * 17 / 100;
                let alone = visits * 1500 + operations * 8000;
                // As many CPUs as the document's machine had, and coarse locking that uses no more than one or two.
                let width = if self.locking == Locking::Coarse { 1 } else { processes.min(4) };
                alone * processes * processes / width
            }
        };
        ns / 1_000_000 + 20
    }

    /// Whether a launch runs the workload twice: once as it is, and once with a clock around each operation. Where a run takes long,
    /// so do its operations, and the clock is no matter to them: the only run has it. Cells that are divided by one another do alike.
    pub(super) fn runs_twice(&self) -> bool {
        self.with(Locking::Coarse).about_ms() <= LONGEST_TWICE_MS
    }

    /// Whether its processes wait for one another in a mutex while the time between calls is watched.
    #[must_use]
    pub fn waits_in_mutex(&self) -> bool {
        let is_watched = (self.layout, self.access) != (Layout::Fast, Access::Mapped);
        is_watched && self.processes > 1 && self.lock_way().primitive() == Some(Primitive::RobustMutex)
    }

    /// How its CPU time is divided, and where its latencies come from: see `between.rs` of the database.
    fn remark(&self) -> &'static str {
        match (self.runs_twice(), self.layout, self.access) {
            (false, ..) => {
                "user time is sampled by the kernel's timer; latencies and waiting come from the same run"
            }
            (true, Layout::Fast, Access::Mapped) => {
                "user time is sampled by the kernel's timer; latencies and waiting come from a separate run"
            }
            (true, Layout::Book, Access::Mapped) => {
                "where page faults are few, user time is what lies between calls; latencies and waiting come \
                 from a separate run"
            }
            (true, ..) => {
                "user time is what lies between calls; latencies and waiting come from a separate run"
            }
        }
    }

    /// The card; a program makes a handful of them in its life.
    #[must_use]
    pub fn card(&self, tier: Tier) -> Card {
        let id = |locking| words(self.with(locking).id());
        let alone = self.processes == 1;
        let baseline = match self.locking {
            Locking::None => None,
            Locking::Coarse => alone.then(|| id(Locking::None)),
            Locking::Fine if alone => Some(id(Locking::None)),
            Locking::Fine => Some(id(Locking::Coarse)),
            Locking::Mandatory => Some(id(Locking::Fine)),
        };
        let claims: &'static [Claim] = match self.lock_call() {
            None => const { &[Claim::CallsNamed(&["fcntl", "flock"], Bound::Exactly(0.0))] },
            Some(name) => {
                let names: &'static [&'static str] =
                    if name == "fcntl" { const { &["fcntl"] } } else { const { &["flock"] } };
                // As the book's table has it; layout fast locks a chain, and space where it needs some.
                let bound = match (self.layout, self.locking) {
                    (Layout::Book, Locking::Coarse) => Bound::Exactly(2.0),
                    (Layout::Book, _) => Bound::Between(2.0, 8.0),
                    (Layout::Fast, _) => Bound::Between(1.0, 16.0),
                };
                made::list(vec![Claim::CallsNamed(names, bound)])
            }
        };
        let primitive = match self.locking {
            Locking::None => String::new(),
            _ => format!(", {}", word(&PRIMITIVES, self.primitive)),
        };
        let twice = self.runs_twice();
        Card {
            id: id(self.locking),
            // Each cell was judged by its own length, and ran once from 2 s on. Then a wait in a mutex was user time.
            revision: 1
                + u32::from(twice != (self.about_ms() <= 2000))
                + u32::from(twice && self.waits_in_mutex()),
            title: words(format!(
                "database {}, {}{primitive}",
                word(&LAYOUTS, self.layout),
                self.locking.words()
            )),
            operation: "one fetch, insertion, replacement or deletion of a record, in the mix of the book's program",
            group: words(self.with_lock("")),
            placement: if alone { Placement::OneCpu } else { Placement::Spread },
            needs: if alone { &[] } else { &[Need::Cpus(2)] },
            blocks: !alone,
            claims,
            baseline,
            tier,
            document: Some("001"),
            launches: Some(8),
            // A launch runs the workload twice: once as it is, once with a clock around each operation.
            launch_ms: 2 * self.about_ms(),
            quantities: QUANTITIES,
            parameters: made::list(self.parameters()),
            remark: self.remark(),
            ..Card::SERIES
        }
    }
}

/// What a launch yields; of several processes the sum, but for the time of the clock.
pub(super) const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::of(quantity::TIME_PER_OPERATION).paired(),
    QuantityCard::of(quantity::CPU_PER_OPERATION).paired(),
    QuantityCard::of(quantity::USER_PER_OPERATION),
    QuantityCard::of(quantity::SYSTEM_PER_OPERATION).paired(),
    QuantityCard::of(quantity::LOCK_WAIT_PER_OPERATION).at_times(),
    QuantityCard::of(quantity::FETCH_P50).at_times(),
    QuantityCard::of(quantity::FETCH_P99).at_times(),
    QuantityCard::of(quantity::INSERT_P50).at_times(),
    QuantityCard::of(quantity::INSERT_P99).at_times(),
    QuantityCard::of(quantity::REPLACE_P50).at_times(),
    QuantityCard::of(quantity::REPLACE_P99).at_times(),
    QuantityCard::of(quantity::DELETE_P50).at_times(),
    QuantityCard::of(quantity::DELETE_P99).at_times(),
    QuantityCard::of(quantity::IO_CALLS_PER_OPERATION),
    QuantityCard::of(quantity::LOCK_CALLS_PER_OPERATION),
    QuantityCard::of(quantity::VISITS_PER_OPERATION),
    QuantityCard::of(quantity::SWITCHES_PER_OPERATION),
    QuantityCard::of(quantity::CPU),
    QuantityCard::of(quantity::CLOCK),
    QuantityCard::of(quantity::USER),
    QuantityCard::of(quantity::SYSTEM),
    QuantityCard::of(quantity::CPU_SHARE),
    QuantityCard::of(quantity::OPERATIONS),
    QuantityCard::of(quantity::IO_CALLS),
    QuantityCard::of(quantity::LOCK_CALLS),
    QuantityCard::of(quantity::VISITS),
    QuantityCard::of(quantity::SWITCHES),
    QuantityCard::of(quantity::INSERT_APPENDED),
    QuantityCard::of(quantity::INSERT_REUSED),
    QuantityCard::of(quantity::REPLACE_OTHER_LENGTH),
    QuantityCard::of(quantity::REPLACE_SAME_LENGTH),
    QuantityCard::of(quantity::REPLACE_MISSING),
    QuantityCard::of(quantity::FETCH_FOUND),
    QuantityCard::of(quantity::FETCH_MISSING),
    QuantityCard::of(quantity::DELETE_FOUND),
    QuantityCard::of(quantity::DELETE_MISSING),
];

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Cell = Cell {
        layout: Layout::Book,
        access: Access::SeekRead,
        workload: Workload::Figure,
        locking: Locking::Fine,
        primitive: Primitive::Fcntl,
        processes: 1,
        records: 2000,
    };

    #[test]
    fn a_cell_and_its_id_are_each_others() {
        assert_eq!(CELL.id(), "record_database/book/seek/fine_fcntl/processes_1/nrec_2000");
        for (workload, _) in WORKLOADS {
            for (layout, _) in LAYOUTS {
                for (access, _) in ACCESSES {
                    for (primitive, _) in PRIMITIVES {
                        let cell = Cell { layout, access, primitive, workload, processes: 16, ..CELL };
                        assert_eq!(Cell::of_id(&cell.id()), Some(cell));
                    }
                }
            }
        }
        for none in [
            "record_database/book/seek/fine_fcntl/processes_17/nrec_2000",
            "record_database/book/seek/fine_fcntl/processes_0/nrec_2000",
            "record_database/book/seek/fine_fcntl/processes_1/nrec_0",
            "record_database/book/seek/fine_fcntl/processes_1/nrec_02000",
            "record_database/book/seek/fine/processes_1/nrec_2000",
            "record_database/book/seek/none_ofd/processes_1/nrec_2000",
            "record_database/book/seek/none/processes_2/nrec_2000",
            "record_database/book/seek/fine_fcntl/processes_1",
            "record_database/book/seek/fine_fcntl/processes_1/nrec_2000/workload_figure",
        ] {
            assert_eq!(Cell::of_id(none), None, "{none}");
        }
    }

    #[test]
    fn every_kind_of_operation_is_a_quantity() {
        for kind in OperationKind::ALL {
            assert!(QUANTITIES.iter().any(|quantity| quantity.name == kind.name()), "{}", kind.name());
        }
    }

    #[test]
    fn ways_of_one_cell_share_a_group_and_are_divided_within_it() {
        let cards = Locking::ALL.map(|locking| CELL.with(locking).card(Tier::Family));
        assert!(cards.iter().all(|card| card.group == cards[0].group));
        let baselines = cards.each_ref().map(|card| card.baseline);
        assert_eq!(baselines, [None, Some(cards[0].id), Some(cards[0].id), Some(cards[2].id)]);
    }
}
