//! gdbm, by its C interface. It locks the whole file from open to close: several processes open it for each operation,
//! again and again until nobody is in the way.

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use oscost_recorddb::workload::Target;
use oscost_recorddb::{StoreMode, Stored};

#[repr(C)]
struct Datum {
    start: *mut c_char,
    size: c_int,
}

#[repr(C)]
struct File {
    _opaque: [u8; 0],
}

#[link(name = "gdbm")]
unsafe extern "C" {
    fn gdbm_open(
        name: *const c_char,
        block: c_int,
        flags: c_int,
        mode: c_int,
        fatal: *const c_void,
    ) -> *mut File;
    fn gdbm_close(file: *mut File) -> c_int;
    fn gdbm_store(file: *mut File, key: Datum, value: Datum, flag: c_int) -> c_int;
    fn gdbm_fetch(file: *mut File, key: Datum) -> Datum;
    fn gdbm_exists(file: *mut File, key: Datum) -> c_int;
    fn gdbm_delete(file: *mut File, key: Datum) -> c_int;
    fn gdbm_errno_location() -> *mut c_int;
    fn free(memory: *mut c_void);
}

// <gdbm.h>
const READER: c_int = 0;
const WRITER_OR_MAKER: c_int = 2;
const SYNC: c_int = 0x20;
const INSERT: c_int = 0;
const REPLACE: c_int = 1;
const CANNOT_BE_READER: c_int = 9;
const CANNOT_BE_WRITER: c_int = 10;
const NOT_THERE: c_int = 15;

/// A file, open now or opened for each operation.
pub struct Gdbm {
    name: CString,
    flags: c_int,
    open: Option<*mut File>,
}

impl Gdbm {
    /// Makes the file if there is none. `alone` keeps it open; `synchronous` writes through to the disk.
    pub fn open(directory: &Path, alone: bool, synchronous: bool) -> Result<Self, String> {
        let name =
            CString::new(directory.join("gdbm").as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        let mut gdbm = Self { name, flags: if synchronous { SYNC } else { 0 }, open: None };
        let file = gdbm.begin(WRITER_OR_MAKER)?;
        if alone {
            gdbm.open = Some(file);
        } else {
            gdbm.end(file);
        }
        Ok(gdbm)
    }

    fn begin(&self, how: c_int) -> Result<*mut File, String> {
        if let Some(file) = self.open {
            return Ok(file);
        }
        loop {
            // SAFETY: the name is a C string; without a function for fatal errors gdbm returns them.
            let file = unsafe { gdbm_open(self.name.as_ptr(), 0, how | self.flags, 0o600, std::ptr::null()) };
            if !file.is_null() {
                return Ok(file);
            }
            match errno() {
                CANNOT_BE_READER | CANNOT_BE_WRITER => std::thread::yield_now(),
                error => return Err(format!("gdbm_open: error {error}")),
            }
        }
    }

    fn end(&self, file: *mut File) {
        if self.open.is_none() {
            // SAFETY: `begin` opened it, and nobody uses it afterwards.
            unsafe { gdbm_close(file) };
        }
    }
}

fn errno() -> c_int {
    // SAFETY: gdbm gives a place of this thread.
    unsafe { *gdbm_errno_location() }
}

fn datum(bytes: &[u8]) -> Datum {
    Datum {
        start: bytes.as_ptr().cast_mut().cast(),
        size: c_int::try_from(bytes.len()).unwrap_or(c_int::MAX),
    }
}

impl Target for Gdbm {
    type Error = String;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, String> {
        let file = self.begin(READER)?;
        // SAFETY: the file is open; gdbm only reads the key.
        let found = unsafe { gdbm_fetch(file, datum(key)) };
        let error = errno();
        if !found.start.is_null() {
            value.clear();
            // SAFETY: gdbm gives memory of that size, which is ours to free.
            unsafe {
                let size = usize::try_from(found.size).unwrap_or(0);
                value.extend_from_slice(std::slice::from_raw_parts(found.start.cast(), size));
                free(found.start.cast());
            }
        }
        self.end(file);
        match error {
            _ if !found.start.is_null() => Ok(true),
            NOT_THERE => Ok(false),
            error => Err(format!("gdbm_fetch: error {error}")),
        }
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, String> {
        let file = self.begin(WRITER_OR_MAKER)?;
        // SAFETY: the file is open; gdbm only reads key and value.
        let result = unsafe {
            if how == StoreMode::Replace && gdbm_exists(file, datum(key)) == 0 {
                2
            } else {
                gdbm_store(
                    file,
                    datum(key),
                    datum(value),
                    if how == StoreMode::Insert { INSERT } else { REPLACE },
                )
            }
        };
        let error = errno();
        self.end(file);
        match (result, how) {
            (0, StoreMode::Insert) => Ok(Stored::Inserted { reused: false }),
            (0, _) => Ok(Stored::Replaced { in_place: false }),
            (1, _) => Ok(Stored::Exists),
            (2, _) => Ok(Stored::NotFound),
            _ => Err(format!("gdbm_store: error {error}")),
        }
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, String> {
        let file = self.begin(WRITER_OR_MAKER)?;
        // SAFETY: the file is open; gdbm only reads the key.
        let deleted = unsafe { gdbm_delete(file, datum(key)) };
        let error = errno();
        self.end(file);
        match (deleted, error) {
            (0, _) => Ok(true),
            (_, NOT_THERE) => Ok(false),
            (_, error) => Err(format!("gdbm_delete: error {error}")),
        }
    }
}

impl Drop for Gdbm {
    fn drop(&mut self) {
        if let Some(file) = self.open.take() {
            self.end(file);
        }
    }
}
