//! One cell of the document's tables: how the database is laid out, reached and locked, how many children, how many records.

use oscost_harness::{Bound, Card, Claim, Placement, QuantityCard, Tier};
use oscost_recorddb::workload::{Kind, Workload};
use oscost_recorddb::{Access, Granularity, Layout, LockWay, Options, Primitive};

/// The four ways of Figure 20.7.
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

    /// Its heading in the figure.
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::None => "no locking",
            Self::Coarse => "advisory locking, coarse-grained",
            Self::Fine => "advisory locking, fine-grained",
            Self::Mandatory => "mandatory locking, fine-grained",
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
    pub children: u32,
    /// Records that each writes first.
    pub nrec: u32,
}

/// Most children, as in Figure 20.8.
pub(super) const MOST_CHILDREN: u32 = 16;
/// Most records of a child.
pub(super) const MOST_NREC: u32 = 1_000_000;
/// Most records of all children in layout `book`, whose offsets have 7 digits.
pub(super) const MOST_IN_BOOK: u32 = 100_000;

pub(super) const LAYOUTS: [(Layout, &str); 2] = [(Layout::Book, "book"), (Layout::Fast, "fast")];
pub(super) const ACCESSES: [(Access, &str); 3] =
    [(Access::SeekRead, "seek"), (Access::Positioned, "positioned"), (Access::Mapped, "mapped")];
pub(super) const WORKLOADS: [(Workload, &str); 2] = [(Workload::Figure, "figure"), (Workload::Text, "text")];
pub(super) const PRIMITIVES: [(Primitive, &str); 4] = [
    (Primitive::Fcntl, "fcntl"),
    (Primitive::Ofd, "ofd"),
    (Primitive::Flock, "flock"),
    (Primitive::RobustMutex, "mutex"),
];

pub(super) fn word<T: Copy + PartialEq>(list: &[(T, &'static str)], value: T) -> &'static str {
    list.iter().find(|(known, _)| *known == value).map_or("", |(_, name)| name)
}

pub(super) fn named<T: Copy>(list: &[(T, &'static str)], name: &str) -> Option<T> {
    list.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
}

/// How often a cell is run: the document's way, once, or in several launches beside the other ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    Single,
    Repeated,
}

const SINGLE: &str = "apue/literal/";
const REPEATED: &str = "apue/";

impl Cell {
    /// Everything but the way to lock.
    fn group_of(&self, runs: Runs, lock: &str) -> String {
        let before = if runs == Runs::Single { SINGLE } else { REPEATED };
        let (layout, access) = (word(&LAYOUTS, self.layout), word(&ACCESSES, self.access));
        let workload = word(&WORKLOADS, self.workload);
        let Self { children, nrec, .. } = self;
        format!("{before}{layout}/{access}/{workload}{lock}/children_{children}/nrec_{nrec}")
    }

    /// Its id.
    pub(super) fn id(&self, runs: Runs) -> String {
        let lock = match self.locking {
            Locking::None => "/none".to_owned(),
            locking => format!("/{}_{}", locking.name(), word(&PRIMITIVES, self.primitive)),
        };
        self.group_of(runs, &lock)
    }

    /// The cell of an id.
    pub(super) fn of_id(id: &str) -> Option<(Self, Runs)> {
        let (rest, runs) = match id.strip_prefix(SINGLE) {
            Some(rest) => (rest, Runs::Single),
            None => (id.strip_prefix(REPEATED)?, Runs::Repeated),
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let [layout, access, workload, lock, children, nrec] = parts[..] else { return None };
        let (locking, primitive) = match lock.split_once('_') {
            None => (lock, Primitive::Fcntl),
            Some((locking, primitive)) => (locking, named(&PRIMITIVES, primitive)?),
        };
        let cell = Self {
            layout: named(&LAYOUTS, layout)?,
            access: named(&ACCESSES, access)?,
            workload: named(&WORKLOADS, workload)?,
            locking: Locking::ALL.into_iter().find(|known| known.name() == locking)?,
            primitive,
            children: children.strip_prefix("children_")?.parse().ok()?,
            nrec: nrec.strip_prefix("nrec_")?.parse().ok()?,
        };
        let fits = (1..=MOST_CHILDREN).contains(&cell.children) && (1..=MOST_NREC).contains(&cell.nrec);
        // One cell has one id.
        (fits && cell.misfit().is_none() && cell.id(runs) == id).then_some((cell, runs))
    }

    /// Why there can be no such cell, if there can be none.
    pub(super) fn misfit(&self) -> Option<String> {
        let records = u64::from(self.children) * u64::from(self.nrec);
        if self.layout == Layout::Book && records > u64::from(MOST_IN_BOOK) {
            return Some(format!("layout book holds {MOST_IN_BOOK} records of all children, not {records}"));
        }
        let reads = self.layout == Layout::Book && self.access != Access::Mapped;
        let locks = matches!(self.primitive, Primitive::Fcntl | Primitive::Ofd);
        if self.locking == Locking::Mandatory && !(reads && locks) {
            return Some(
                "mandatory locking is of fcntl's locks (--primitive fcntl or ofd) on reads and writes of layout book (--io \
                 seek or positioned)"
                    .to_owned(),
            );
        }
        None
    }

    /// The same with another way to lock.
    pub(super) fn with(self, locking: Locking) -> Self {
        Self { locking, ..self }
    }

    pub(super) fn lock_way(&self) -> LockWay {
        match self.locking {
            Locking::None => LockWay::None,
            Locking::Coarse => LockWay::By(self.primitive, Granularity::Coarse),
            Locking::Fine | Locking::Mandatory => LockWay::By(self.primitive, Granularity::Fine),
        }
    }

    pub(super) fn options(&self) -> Options {
        Options {
            layout: self.layout,
            access: self.access,
            lock: self.lock_way(),
            create: true,
            mode: if self.locking == Locking::Mandatory { oscost_sys::mandatory_lock::MODE } else { 0o600 },
            ..Options::default()
        }
    }

    /// The book's rule of how many calls of locking an operation of a kind makes, where there is one.
    pub(super) fn lock_rule(&self) -> Option<fn(Kind) -> u64> {
        match (self.layout, self.lock_way()) {
            (_, LockWay::None) => Some(|_| 0),
            (Layout::Book, LockWay::By(_, Granularity::Coarse)) => Some(Kind::coarse_lock_calls),
            (Layout::Book, LockWay::By(_, Granularity::Fine)) => Some(Kind::fine_lock_calls),
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
    /// (two lists are walked), and with the children, who share both.
    pub(super) fn about_ms(&self) -> u64 {
        let (nrec, children) = (u64::from(self.nrec), u64::from(self.children));
        let operations = 22 * nrec;
        let ns = match self.layout {
            Layout::Fast => operations * children * 4000,
            Layout::Book => {
                let visits = nrec * nrec * 17 / 100;
                let alone = visits * 1500 + operations * 8000;
                // As many CPUs as the document's machine had, and coarse locking that uses no more than one or two.
                let width = if self.locking == Locking::Coarse { 1 } else { children.min(4) };
                alone * children * children / width
            }
        };
        ns / 1_000_000 + 20
    }

    /// The card; a program makes a handful of them in its life.
    pub(super) fn card(&self, runs: Runs) -> Card {
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let id = |locking| leak(self.with(locking).id(runs));
        let alone = self.children == 1;
        let baseline = match self.locking {
            Locking::None => None,
            Locking::Coarse => alone.then(|| id(Locking::None)),
            Locking::Fine if alone => Some(id(Locking::None)),
            Locking::Fine => Some(id(Locking::Coarse)),
            Locking::Mandatory => Some(id(Locking::Fine)),
        };
        let claims: &'static [Claim] = match (self.layout, self.lock_call(), self.locking) {
            (Layout::Book, Some("fcntl"), Locking::Coarse) => {
                const { &[Claim::CallsNamed(&["fcntl"], Bound::Exactly(2.0))] }
            }
            (Layout::Book, Some("fcntl"), _) => {
                const { &[Claim::CallsNamed(&["fcntl"], Bound::Between(2.0, 8.0))] }
            }
            (_, None, _) => const { &[Claim::CallsNamed(&["fcntl", "flock"], Bound::Exactly(0.0))] },
            _ => &[],
        };
        Card {
            id: id(self.locking),
            title: "the book's test program",
            operation: "one fetch, insertion, replacement or deletion of a record, as the book's program mixes them",
            group: leak(self.group_of(runs, "")),
            placement: if alone { Placement::OneCpu } else { Placement::Spread },
            blocks: !alone,
            claims,
            baseline: baseline.filter(|_| runs == Runs::Repeated),
            tier: Tier::Hidden,
            document: Some("001"),
            launches: Some(if alone { LAUNCHES_ALONE } else { LAUNCHES }),
            // The planned launches, and no more: a minute is for all of them.
            budget_ms: Some(1),
            launch_ms: self.about_ms(),
            quantities: QUANTITIES,
            remark: "user and system time are samples of the timer's where CPU time is below 0.5 s",
            ..Card::SERIES
        }
    }
}

/// Launches of a cell that is repeated: the fewest that give an interval.
const LAUNCHES: u32 = 6;
/// The same of one child, whose user and system time are samples that only more launches make finer.
const LAUNCHES_ALONE: u32 = 10;

/// What a launch yields; of several children the sum, but for the time of the clock.
const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::new("cpu", "ns").paired(),
    QuantityCard::new("clock", "ns").paired(),
    QuantityCard::new("user", "ns").paired(),
    QuantityCard::new("system", "ns").paired(),
    QuantityCard::new("cpu_share", "share"),
    QuantityCard::new("operations", "count"),
    QuantityCard::new("io_calls", "count"),
    QuantityCard::new("lock_calls", "count"),
    QuantityCard::new("visits", "count"),
    QuantityCard::new("switches", "count"),
    QuantityCard::new("io_calls_per_operation", "count"),
    QuantityCard::new("lock_calls_per_operation", "count"),
    QuantityCard::new("visits_per_operation", "count"),
    QuantityCard::new("switches_per_operation", "count"),
    QuantityCard::new("insert_appended", "count"),
    QuantityCard::new("insert_reused", "count"),
    QuantityCard::new("replace_other_length", "count"),
    QuantityCard::new("replace_same_length", "count"),
    QuantityCard::new("replace_missing", "count"),
    QuantityCard::new("fetch_found", "count"),
    QuantityCard::new("fetch_missing", "count"),
    QuantityCard::new("delete_found", "count"),
    QuantityCard::new("delete_missing", "count"),
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
        children: 1,
        nrec: 2000,
    };

    #[test]
    fn a_cell_and_its_id_are_each_others() {
        assert_eq!(CELL.id(Runs::Repeated), "apue/book/seek/figure/fine_fcntl/children_1/nrec_2000");
        for runs in [Runs::Single, Runs::Repeated] {
            for (layout, _) in LAYOUTS {
                for (access, _) in ACCESSES {
                    for (primitive, _) in PRIMITIVES {
                        let cell = Cell { layout, access, primitive, children: 16, ..CELL };
                        assert_eq!(Cell::of_id(&cell.id(runs)), Some((cell, runs)));
                    }
                }
            }
            assert_eq!(Cell::of_id(&CELL.with(Locking::None).id(runs)).map(|found| found.1), Some(runs));
        }
        for none in [
            "apue/book/seek/figure/fine_fcntl/children_17/nrec_2000",
            "apue/book/seek/figure/fine_fcntl/children_0/nrec_2000",
            "apue/book/seek/figure/fine_fcntl/children_1/nrec_0",
            "apue/book/seek/figure/fine_fcntl/children_1/nrec_02000",
            "apue/book/seek/figure/fine/children_1/nrec_2000",
            "apue/book/seek/figure/none_ofd/children_1/nrec_2000",
            "apue/book/seek/figure/fine_fcntl/children_1",
            "record_database/book/seek/none/processes_1/nrec_500",
        ] {
            assert_eq!(Cell::of_id(none), None, "{none}");
        }
    }

    #[test]
    fn every_kind_of_operation_is_a_quantity() {
        for kind in Kind::ALL {
            assert!(QUANTITIES.iter().any(|quantity| quantity.name == kind.name()), "{}", kind.name());
        }
    }

    #[test]
    fn ways_of_one_cell_share_a_group_and_are_divided_within_it() {
        let cards = Locking::ALL.map(|locking| CELL.with(locking).card(Runs::Repeated));
        assert!(cards.iter().all(|card| card.group == cards[0].group));
        let baselines = cards.each_ref().map(|card| card.baseline);
        assert_eq!(baselines, [None, Some(cards[0].id), Some(cards[0].id), Some(cards[2].id)]);
    }
}
