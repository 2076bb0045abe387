//! The database as the book describes it, by seek and read: document 001 as it was measured.

use oscost_harness::Card;
use oscost_recorddb::{Access, Granularity, Layout, LockWay, Primitive};

use super::cell::{self, Cell, Shared};

/// What all have in common.
const CELL: Cell =
    Cell { layout: Layout::Book, access: Access::SeekRead, lock: LockWay::None, processes: 1, records: 500 };

/// `record_database/book/seek/none/processes_1/nrec_500`
pub static NONE_1: Shared = Shared::new(&CARD_NONE_1, Cell { lock: LockWay::None, processes: 1, ..CELL });
static CARD_NONE_1: Card = cell::alone(
    "record_database/book/seek/none/processes_1/nrec_500",
    "database book, without locks",
    None,
    &cell::NEVER,
);

/// `record_database/book/seek/coarse_fcntl/processes_1/nrec_500`
pub static COARSE_FCNTL_1: Shared = Shared::new(
    &CARD_COARSE_FCNTL_1,
    Cell { lock: LockWay::By(Primitive::Fcntl, Granularity::Coarse), processes: 1, ..CELL },
);
static CARD_COARSE_FCNTL_1: Card = cell::alone(
    "record_database/book/seek/coarse_fcntl/processes_1/nrec_500",
    "database book, one lock of fcntl",
    Some("record_database/book/seek/none/processes_1/nrec_500"),
    &cell::COARSE,
);

/// `record_database/book/seek/fine_fcntl/processes_1/nrec_500`
pub static FINE_FCNTL_1: Shared = Shared::new(
    &CARD_FINE_FCNTL_1,
    Cell { lock: LockWay::By(Primitive::Fcntl, Granularity::Fine), processes: 1, ..CELL },
);
static CARD_FINE_FCNTL_1: Card = cell::alone(
    "record_database/book/seek/fine_fcntl/processes_1/nrec_500",
    "database book, many locks of fcntl",
    Some("record_database/book/seek/none/processes_1/nrec_500"),
    &cell::FINE,
);

/// `record_database/book/seek/coarse_fcntl/processes_4/nrec_500`
pub static COARSE_FCNTL_4: Shared = Shared::new(
    &CARD_COARSE_FCNTL_4,
    Cell { lock: LockWay::By(Primitive::Fcntl, Granularity::Coarse), processes: 4, ..CELL },
);
static CARD_COARSE_FCNTL_4: Card = cell::together(
    "record_database/book/seek/coarse_fcntl/processes_4/nrec_500",
    "database book, one lock of fcntl",
    None,
    &cell::COARSE,
);

/// `record_database/book/seek/fine_fcntl/processes_4/nrec_500`
pub static FINE_FCNTL_4: Shared = Shared::new(
    &CARD_FINE_FCNTL_4,
    Cell { lock: LockWay::By(Primitive::Fcntl, Granularity::Fine), processes: 4, ..CELL },
);
static CARD_FINE_FCNTL_4: Card = cell::together(
    "record_database/book/seek/fine_fcntl/processes_4/nrec_500",
    "database book, many locks of fcntl",
    Some("record_database/book/seek/coarse_fcntl/processes_4/nrec_500"),
    &cell::FINE,
);
