//! tdb, by its C interface.

use std::ffi::{CString, c_char, c_int, c_uchar, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use oscost_recorddb::workload::Target;
use oscost_recorddb::{StoreMode, Stored};

#[repr(C)]
struct Data {
    start: *const c_uchar,
    size: usize,
}

#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

type Parser = unsafe extern "C" fn(Data, Data, *mut c_void) -> c_int;

#[link(name = "tdb")]
unsafe extern "C" {
    fn tdb_open(name: *const c_char, chains: c_int, flags: c_int, open: c_int, mode: u32) -> *mut Context;
    fn tdb_close(tdb: *mut Context) -> c_int;
    fn tdb_parse_record(tdb: *mut Context, key: Data, parser: Parser, to: *mut c_void) -> c_int;
    fn tdb_store(tdb: *mut Context, key: Data, value: Data, flag: c_int) -> c_int;
    fn tdb_delete(tdb: *mut Context, key: Data) -> c_int;
    fn tdb_error(tdb: *mut Context) -> c_int;
    fn tdb_transaction_start(tdb: *mut Context) -> c_int;
    fn tdb_transaction_commit(tdb: *mut Context) -> c_int;
    fn tdb_transaction_cancel(tdb: *mut Context) -> c_int;
}

// <tdb.h>
const CLEAR_IF_FIRST: c_int = 1;
const NOSYNC: c_int = 64;
const VOLATILE: c_int = 256;
const INCOMPATIBLE_HASH: c_int = 2048;
const MUTEX_LOCKING: c_int = 4096;
const INSERT: c_int = 2;
const MODIFY: c_int = 3;
const EXISTS: c_int = 5;
const NOT_THERE: c_int = 8;
// <fcntl.h>, Linux
const O_RDWR: c_int = 2;
const O_CREAT: c_int = 0o100;

/// How it locks, and how far it goes to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A byte of fcntl a chain.
    Fcntl,
    /// Robust mutexes.
    Mutex,
    /// Robust mutexes, and a free list a chain.
    MutexVolatile,
    /// A transaction an operation, synchronised to the disk.
    Transactions,
}

/// An open file.
pub struct Tdb {
    tdb: *mut Context,
    transactions: bool,
}

impl Tdb {
    /// Opens or makes the file, with so many hash chains.
    pub fn open(directory: &Path, chains: i32, way: Way) -> Result<Self, String> {
        let name =
            CString::new(directory.join("tdb").as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        let flags = INCOMPATIBLE_HASH
            | match way {
                Way::Fcntl => NOSYNC,
                Way::Mutex => NOSYNC | CLEAR_IF_FIRST | MUTEX_LOCKING,
                Way::MutexVolatile => NOSYNC | CLEAR_IF_FIRST | MUTEX_LOCKING | VOLATILE,
                Way::Transactions => 0,
            };
        // SAFETY: the name is a C string.
        let tdb = unsafe { tdb_open(name.as_ptr(), chains, flags, O_RDWR | O_CREAT, 0o600) };
        if tdb.is_null() {
            return Err(format!("tdb_open: {}", std::io::Error::last_os_error()));
        }
        Ok(Self { tdb, transactions: way == Way::Transactions })
    }

    fn error(&self, call: &str) -> String {
        // SAFETY: the context is open.
        format!("{call}: error {}", unsafe { tdb_error(self.tdb) })
    }

    /// The result of a change: 0, or the error if it is `none`.
    fn change(
        &mut self,
        call: &str,
        none: c_int,
        body: impl FnOnce(*mut Context) -> c_int,
    ) -> Result<bool, String> {
        // SAFETY: the context is open.
        if self.transactions && unsafe { tdb_transaction_start(self.tdb) } != 0 {
            return Err(self.error("tdb_transaction_start"));
        }
        let done = body(self.tdb) == 0;
        // SAFETY: the context is open.
        let error = unsafe { tdb_error(self.tdb) };
        if self.transactions {
            // SAFETY: the context is open, and a transaction was started.
            let ended = unsafe {
                if done { tdb_transaction_commit(self.tdb) } else { tdb_transaction_cancel(self.tdb) }
            };
            if ended != 0 {
                return Err(self.error("tdb_transaction_commit"));
            }
        }
        if done || error == none { Ok(done) } else { Err(format!("{call}: error {error}")) }
    }
}

fn data(bytes: &[u8]) -> Data {
    Data { start: bytes.as_ptr(), size: bytes.len() }
}

/// Copies a value to the `Vec` behind `to`.
unsafe extern "C" fn copy(_: Data, value: Data, to: *mut c_void) -> c_int {
    // SAFETY: `fetch` passes a Vec that lives through the call; tdb passes the bytes of a record.
    unsafe {
        let to = &mut *to.cast::<Vec<u8>>();
        to.clear();
        if value.size > 0 {
            to.extend_from_slice(std::slice::from_raw_parts(value.start, value.size));
        }
    }
    0
}

impl Target for Tdb {
    type Error = String;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, String> {
        // SAFETY: the context is open; key and value live through the call.
        let found = unsafe { tdb_parse_record(self.tdb, data(key), copy, std::ptr::from_mut(value).cast()) };
        // SAFETY: the context is open.
        match (found, unsafe { tdb_error(self.tdb) }) {
            (0, _) => Ok(true),
            (_, NOT_THERE) => Ok(false),
            _ => Err(self.error("tdb_parse_record")),
        }
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, String> {
        let (flag, none, done, not_done) = match how {
            StoreMode::Insert => (INSERT, EXISTS, Stored::Inserted { reused: false }, Stored::Exists),
            StoreMode::Replace => (MODIFY, NOT_THERE, Stored::Replaced { in_place: false }, Stored::NotFound),
            StoreMode::Either => return Err("the workload does not store either way".to_owned()),
        };
        // SAFETY: the context is open; key and value live through the call.
        let stored =
            self.change("tdb_store", none, |tdb| unsafe { tdb_store(tdb, data(key), data(value), flag) })?;
        Ok(if stored { done } else { not_done })
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, String> {
        // SAFETY: the context is open; the key lives through the call.
        self.change("tdb_delete", NOT_THERE, |tdb| unsafe { tdb_delete(tdb, data(key)) })
    }
}

impl Drop for Tdb {
    fn drop(&mut self) {
        // SAFETY: the context is open, and nobody uses it afterwards.
        unsafe { tdb_close(self.tdb) };
    }
}
