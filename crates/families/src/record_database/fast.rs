//! The database as it would be built today: a mapped file and robust mutexes.

use oscost_harness::Card;
use oscost_recorddb::{Access, Granularity, Layout, LockWay, Primitive};

use super::cell::{self, Cell, Shared};

/// What all have in common.
const CELL: Cell =
    Cell { layout: Layout::Fast, access: Access::Mapped, lock: LockWay::None, processes: 1, records: 500 };

/// `record_database/fast/mapped/none/processes_1/nrec_500`
pub static NONE_1: Shared = Shared::new(&CARD_NONE_1, Cell { lock: LockWay::None, processes: 1, ..CELL });
static CARD_NONE_1: Card = cell::alone(
    "record_database/fast/mapped/none/processes_1/nrec_500",
    "database fast, without locks",
    None,
    &cell::NEVER,
);

/// `record_database/fast/mapped/coarse_mutex/processes_1/nrec_500`
pub static COARSE_MUTEX_1: Shared = Shared::new(
    &CARD_COARSE_MUTEX_1,
    Cell { lock: LockWay::By(Primitive::RobustMutex, Granularity::Coarse), processes: 1, ..CELL },
);
static CARD_COARSE_MUTEX_1: Card = cell::alone(
    "record_database/fast/mapped/coarse_mutex/processes_1/nrec_500",
    "database fast, one lock, robust mutex",
    Some("record_database/fast/mapped/none/processes_1/nrec_500"),
    &cell::NEVER,
);

/// `record_database/fast/mapped/fine_mutex/processes_1/nrec_500`
pub static FINE_MUTEX_1: Shared = Shared::new(
    &CARD_FINE_MUTEX_1,
    Cell { lock: LockWay::By(Primitive::RobustMutex, Granularity::Fine), processes: 1, ..CELL },
);
static CARD_FINE_MUTEX_1: Card = cell::alone(
    "record_database/fast/mapped/fine_mutex/processes_1/nrec_500",
    "database fast, many locks, robust mutex",
    Some("record_database/fast/mapped/none/processes_1/nrec_500"),
    &cell::NEVER,
);

/// `record_database/fast/mapped/coarse_mutex/processes_4/nrec_500`
pub static COARSE_MUTEX_4: Shared = Shared::new(
    &CARD_COARSE_MUTEX_4,
    Cell { lock: LockWay::By(Primitive::RobustMutex, Granularity::Coarse), processes: 4, ..CELL },
);
static CARD_COARSE_MUTEX_4: Card = cell::together(
    "record_database/fast/mapped/coarse_mutex/processes_4/nrec_500",
    "database fast, one lock, robust mutex",
    None,
    &cell::NEVER,
);

/// `record_database/fast/mapped/fine_mutex/processes_4/nrec_500`
pub static FINE_MUTEX_4: Shared = Shared::new(
    &CARD_FINE_MUTEX_4,
    Cell { lock: LockWay::By(Primitive::RobustMutex, Granularity::Fine), processes: 4, ..CELL },
);
static CARD_FINE_MUTEX_4: Card = cell::together(
    "record_database/fast/mapped/fine_mutex/processes_4/nrec_500",
    "database fast, many locks, robust mutex",
    Some("record_database/fast/mapped/coarse_mutex/processes_4/nrec_500"),
    &cell::NEVER,
);
