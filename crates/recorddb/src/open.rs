//! Opening: files, ways to the bytes, ways to lock.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use oscost_sys::CallError;
use oscost_sys::mapped_file::{MUTEX_WORDS, MappedFile};
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use crate::book::{self, Book};
use crate::database::{Access, Layout, Options, Records};
use crate::error::Error;
use crate::io::{EINTR, Io, Mapped, Positioned, SeekRead};
use crate::lock::{Granularity, Guard, LockWay, Places, Primitive, SystemLocks};
use crate::{fast, names};

pub(crate) fn open(path: &Path, options: &Options) -> Result<Box<dyn Records>, Error> {
    match options.layout {
        Layout::Book => open_book(path, options),
        Layout::Fast => fast::open::open(path, options),
    }
}

fn open_book(path: &Path, options: &Options) -> Result<Box<dyn Records>, Error> {
    let (index, data) = names::book(path);
    let index = Arc::new(file(&index, options)?);
    let data = Arc::new(file(&data, options)?);
    let locks = locks(path, &index, &data, options)?;
    let guard = Guard::new(options.lock.granularity(), locks, options.time_locks);
    match options.access {
        Access::SeekRead => begin(SeekRead::new(index), SeekRead::new(data), guard, options),
        Access::Positioned => begin(Positioned::new(index), Positioned::new(data), guard, options),
        Access::Mapped => {
            // The largest offset, and one record behind it.
            let limit = book::format::MAX_OFFSET as usize + 4096;
            let index = Mapped::new(index, limit, options.write)?;
            let data = Mapped::new(data, limit, options.write)?;
            begin(index, data, guard, options)
        }
    }
}

fn begin<I: Io + 'static>(
    index: I,
    data: I,
    guard: Guard<SystemLocks>,
    options: &Options,
) -> Result<Box<dyn Records>, Error> {
    let mut book = Book::new(index, data, guard, options.write);
    if options.create || options.truncate {
        book.create(options.truncate)?;
    }
    book.look()?;
    Ok(Box::new(book))
}

/// Opens one file; a set-group-id bit that open would drop is set again.
fn file(path: &Path, options: &Options) -> Result<File, Error> {
    let opened = OpenOptions::new()
        .read(true)
        .write(options.write)
        .create(options.create && options.write)
        .mode(options.mode)
        .open(path)
        .map_err(|error| call("open", &error))?;
    if options.create && options.mode & 0o2000 != 0 {
        opened
            .set_permissions(fs::Permissions::from_mode(options.mode))
            .map_err(|error| call("fchmod", &error))?;
    }
    Ok(opened)
}

pub(crate) fn call(name: &'static str, error: &io::Error) -> CallError {
    CallError::new(name, error.raw_os_error().unwrap_or_default())
}

fn locks(path: &Path, index: &Arc<File>, data: &Arc<File>, options: &Options) -> Result<SystemLocks, Error> {
    let LockWay::By(primitive, granularity) = options.lock else {
        return Ok(SystemLocks::None);
    };
    let fcntl = |owner| SystemLocks::Fcntl {
        owner,
        files: vec![Arc::clone(index), Arc::clone(data)],
        places: book::PLACES,
    };
    Ok(match primitive {
        Primitive::Fcntl => fcntl(Owner::Process),
        Primitive::Ofd => fcntl(Owner::Description),
        Primitive::Flock => flock_files(path, book::LOCKS, granularity, book::PLACES)?,
        Primitive::RobustMutex => mutex_file(path, book::LOCKS, book::PLACES)?,
    })
}

/// One lock file a lock, or one for all if locking is coarse: flock locks whole files.
pub(crate) fn flock_files(
    path: &Path,
    count: usize,
    granularity: Granularity,
    places: Places,
) -> Result<SystemLocks, Error> {
    let directory = names::lock_files(path);
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(call("mkdir", &error).into());
        }
        _ => {}
    }
    let open = |number: usize| {
        let name = directory.join(number.to_string());
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(name);
        file.map_err(|error| call("open", &error))
    };
    if granularity == Granularity::Coarse {
        let places = Places { number: |_| 0, ..places };
        return Ok(SystemLocks::Flock { files: vec![open(count)?], places });
    }
    let files = (0..count).map(open).collect::<Result<_, _>>()?;
    Ok(SystemLocks::Flock { files, places })
}

/// Mutexes in a file beside the database, made anew by the first who opens it.
fn mutex_file(path: &Path, count: usize, places: Places) -> Result<SystemLocks, Error> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(names::mutexes(path))
        .map_err(|error| call("open", &error))?;
    // A mutex on a cache line of its own.
    const STRIDE: usize = 8;
    let words = count * STRIDE;
    let file = Arc::new(file);
    let presence = Presence::announce(&file, PRESENCE)?;
    let map = if presence.first {
        file.set_len((words * 8) as u64).map_err(|error| call("ftruncate", &error))?;
        let map = MappedFile::new(file.as_fd(), words * 8, true)?;
        make_mutexes(&map, 0, STRIDE, count)?;
        map
    } else {
        MappedFile::new(file.as_fd(), words * 8, true)?
    };
    presence.settle(&file, PRESENCE)?;
    Ok(SystemLocks::Mutex { map: Arc::new(map), first: 0, stride: STRIDE, places, _file: file })
}

const _: () = assert!(MUTEX_WORDS <= 8, "a mutex fits its cache line");

/// Makes `count` mutexes that nobody uses yet.
pub(crate) fn make_mutexes(
    map: &MappedFile,
    first: usize,
    stride: usize,
    count: usize,
) -> Result<(), CallError> {
    (0..count).try_for_each(|number| map.make_mutex(first + number * stride))
}

/// A byte behind every file, which each who has a database open holds a read lock on. Its owner is the open file
/// description: the kernel drops it with the last descriptor, whatever ends the process.
pub(crate) const PRESENCE: Range = Range { start: 1 << 60, length: 1 };

/// Who else has it open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Presence {
    /// Nobody: whoever comes now waits until [`Presence::settle`].
    pub first: bool,
}

impl Presence {
    /// As [`Presence::announce`], of one who only reads: it may change nothing, so that it is the first means nothing more
    /// than that.
    pub fn watch(file: &File, byte: Range) -> Result<Self, CallError> {
        let others = record_lock::in_the_way(file.as_fd(), Owner::Description, LockKind::Write, byte)?;
        loop {
            match record_lock::lock(file.as_fd(), Owner::Description, LockKind::Read, byte) {
                Ok(()) => return Ok(Self { first: others.is_none() }),
                Err(error) if error.errno == EINTR => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Finds out whether anybody is there, and waits for one who is settling in.
    pub fn announce(file: &File, byte: Range) -> Result<Self, CallError> {
        loop {
            if record_lock::try_lock(file.as_fd(), Owner::Description, LockKind::Write, byte)? {
                return Ok(Self { first: true });
            }
            match record_lock::lock(file.as_fd(), Owner::Description, LockKind::Read, byte) {
                Ok(()) => return Ok(Self { first: false }),
                Err(error) if error.errno == EINTR => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Lets others in; the caller counts as present from now on.
    pub fn settle(self, file: &File, byte: Range) -> Result<(), CallError> {
        if self.first {
            record_lock::lock(file.as_fd(), Owner::Description, LockKind::Read, byte)?;
        }
        Ok(())
    }
}
