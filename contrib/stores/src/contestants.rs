//! Who takes part, and how each is opened.

use std::path::Path;

use oscost_recorddb::driver::CountsCalls;
use oscost_recorddb::workload::Target;
use oscost_recorddb::{
    Access, Database, DatabaseOptions, Granularity, Layout, LockWay, Primitive, StoreMode, Stored,
};

use crate::lmdb::{Durability, Lmdb};
use crate::sqlite::Sqlite;

/// A store, opened by one process.
pub struct Opened(Box<dyn Target<Error = String>>);

impl Target for Opened {
    type Error = String;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, String> {
        self.0.fetch(key, value)
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, String> {
        self.0.store(key, value, how)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, String> {
        self.0.delete(key)
    }
}

impl CountsCalls for Opened {}

/// recorddb, with its errors as text.
struct Ours(Database);

impl Target for Ours {
    type Error = String;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, String> {
        self.0.fetch_into(key, value).map_err(|error| error.to_string())
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, String> {
        self.0.store(key, value, how).map_err(|error| error.to_string())
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, String> {
        self.0.delete(key).map_err(|error| error.to_string())
    }
}

/// Opens a store in a directory; the flag says whether one process works alone.
type Open = fn(&Path, bool) -> Result<Opened, String>;

/// One who takes part.
pub struct Contestant {
    /// Name and setting.
    pub name: &'static str,
    /// Whether what it answered for is on the disk.
    pub durable: bool,
    /// How it is opened.
    pub open: Open,
}

/// The one that ratios divide by.
pub const BASE: &str = "recorddb fast, mapped, robust mutexes";

fn ours(directory: &Path, layout: Layout, access: Access, lock: LockWay) -> Result<Opened, String> {
    let options = DatabaseOptions { layout, access, lock, create: true, ..DatabaseOptions::default() };
    let database = Database::open(&directory.join("db"), &options).map_err(|error| error.to_string())?;
    Ok(opened(Ours(database)))
}

fn opened(target: impl Target<Error = String> + 'static) -> Opened {
    Opened(Box::new(target))
}

const FCNTL: LockWay = LockWay::By(Primitive::Fcntl, Granularity::Fine);
const MUTEX: LockWay = LockWay::By(Primitive::RobustMutex, Granularity::Fine);
const COARSE_FCNTL: LockWay = LockWay::By(Primitive::Fcntl, Granularity::Coarse);
const COARSE: LockWay = LockWay::By(Primitive::RobustMutex, Granularity::Coarse);

/// All of them.
pub const ALL: &[Contestant] = &[
    Contestant { name: BASE, durable: false, open: |at, _| ours(at, Layout::Fast, Access::Mapped, MUTEX) },
    Contestant {
        name: "recorddb fast, mapped, coarse mutex",
        durable: false,
        open: |at, _| ours(at, Layout::Fast, Access::Mapped, COARSE),
    },
    Contestant {
        name: "recorddb fast, mapped, fcntl",
        durable: false,
        open: |at, _| ours(at, Layout::Fast, Access::Mapped, FCNTL),
    },
    Contestant {
        name: "recorddb book, seek and read, fcntl",
        durable: false,
        open: |at, _| ours(at, Layout::Book, Access::SeekRead, FCNTL),
    },
    Contestant {
        name: "recorddb book, seek and read, coarse",
        durable: false,
        open: |at, _| ours(at, Layout::Book, Access::SeekRead, COARSE_FCNTL),
    },
    #[cfg(feature = "tdb")]
    Contestant {
        name: "tdb, 8192 chains, mutexes",
        durable: false,
        open: |at, _| Ok(opened(crate::tdb::Tdb::open(at, 8192, crate::tdb::Way::Mutex)?)),
    },
    #[cfg(feature = "tdb")]
    Contestant {
        name: "tdb, 8192 chains, mutexes, volatile",
        durable: false,
        open: |at, _| Ok(opened(crate::tdb::Tdb::open(at, 8192, crate::tdb::Way::MutexVolatile)?)),
    },
    #[cfg(feature = "tdb")]
    Contestant {
        name: "tdb, 8192 chains, fcntl",
        durable: false,
        open: |at, _| Ok(opened(crate::tdb::Tdb::open(at, 8192, crate::tdb::Way::Fcntl)?)),
    },
    Contestant {
        name: "LMDB, NOSYNC and WRITEMAP",
        durable: false,
        open: |at, _| Ok(opened(Lmdb::open(at, Durability::NoneByMap)?)),
    },
    Contestant {
        name: "LMDB, NOSYNC",
        durable: false,
        open: |at, _| Ok(opened(Lmdb::open(at, Durability::None)?)),
    },
    #[cfg(feature = "gdbm")]
    Contestant {
        name: "gdbm",
        durable: false,
        open: |at, alone| Ok(opened(crate::gdbm::Gdbm::open(at, alone, false)?)),
    },
    Contestant {
        name: "SQLite, WAL, synchronous off",
        durable: false,
        open: |at, _| Ok(opened(Sqlite::open(at, "OFF")?)),
    },
    Contestant {
        name: "SQLite, WAL, synchronous normal",
        durable: true,
        open: |at, _| Ok(opened(Sqlite::open(at, "NORMAL")?)),
    },
    Contestant {
        name: "LMDB, synchronous",
        durable: true,
        open: |at, _| Ok(opened(Lmdb::open(at, Durability::Synchronous)?)),
    },
    #[cfg(feature = "tdb")]
    Contestant {
        name: "tdb, a transaction an operation",
        durable: true,
        open: |at, _| Ok(opened(crate::tdb::Tdb::open(at, 8192, crate::tdb::Way::Transactions)?)),
    },
    #[cfg(feature = "gdbm")]
    Contestant {
        name: "gdbm, synchronous",
        durable: true,
        open: |at, alone| Ok(opened(crate::gdbm::Gdbm::open(at, alone, true)?)),
    },
];
