//! Opens the files of a database, with the chosen I/O and locks.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use oscost_sys::CallError;
use oscost_sys::folder::{Folder, Making, Opening};
use oscost_sys::mapped_file::{MUTEX_WORDS, MappedFile};
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use crate::book::{self, Book};
use crate::error::Error;
use crate::io::{EINTR, EINVAL, Io, Mapped, Positioned, SeekRead};
use crate::lock::{Granularity, Guard, LockWay, Places, Primitive, SystemLocks};
use crate::options::{Access, DatabaseOptions, Layout, Records};
use crate::{fast, names};

/// The folder that `path` lies in, held, and the name in it.
pub(crate) fn place(path: &Path) -> Result<(Folder, OsString), Error> {
    let name = path.file_name().ok_or(CallError::new("open", EINVAL))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok((Folder::open(parent.unwrap_or(Path::new(".")))?, name.to_owned()))
}

pub(crate) fn open(
    folder: &Folder,
    name: &OsStr,
    options: &DatabaseOptions,
) -> Result<Box<dyn Records>, Error> {
    match options.layout {
        Layout::Book => open_book(folder, name, options),
        Layout::Fast => fast::open::open(folder, name, options),
    }
}

fn open_book(folder: &Folder, name: &OsStr, options: &DatabaseOptions) -> Result<Box<dyn Records>, Error> {
    let (index, data) = names::book(name);
    let index = Arc::new(file(folder, &index, options)?);
    let data = Arc::new(file(folder, &data, options)?);
    let locks = locks((folder, name), &index, &data, options)?;
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
    options: &DatabaseOptions,
) -> Result<Box<dyn Records>, Error> {
    let mut book = Book::new(index, data, guard, options.write);
    if options.create || options.truncate {
        book.create(options.truncate)?;
    }
    book.look()?;
    Ok(Box::new(book))
}

/// Opens one file; a set-group-id bit that open would drop is set again.
pub(crate) fn file(folder: &Folder, name: &OsStr, options: &DatabaseOptions) -> Result<File, Error> {
    let making = if options.create && options.write { Making::Missing } else { Making::Never };
    let opened = folder.file(name, Opening { write: options.write, making, mode: options.mode })?;
    if options.create && options.mode & 0o2000 != 0 {
        opened
            .set_permissions(fs::Permissions::from_mode(options.mode))
            .map_err(|error| call("fchmod", &error))?;
    }
    Ok(opened)
}

/// A file beside the database that all who have it open share, made by the first.
const SHARED: Opening = Opening { write: true, making: Making::Missing, mode: 0o600 };

pub(crate) fn call(name: &'static str, error: &io::Error) -> CallError {
    CallError::new(name, error.raw_os_error().unwrap_or_default())
}

fn locks(
    (folder, name): (&Folder, &OsStr),
    index: &Arc<File>,
    data: &Arc<File>,
    options: &DatabaseOptions,
) -> Result<SystemLocks, Error> {
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
        Primitive::Flock => flock_files((folder, name), book::LOCKS, granularity, book::PLACES)?,
        Primitive::RobustMutex => mutex_file((folder, name), book::LOCKS, book::PLACES)?,
    })
}

/// One lock file a lock, or one for all if locking is coarse: flock locks whole files.
pub(crate) fn flock_files(
    (folder, name): (&Folder, &OsStr),
    count: usize,
    granularity: Granularity,
    places: Places,
) -> Result<SystemLocks, Error> {
    let name = names::lock_files(name);
    let folder = match folder.make_folder(&name) {
        Err(error) if error.symbol() == Some("EEXIST") => folder.folder(&name)?,
        made => made?,
    };
    let open = |number: usize| folder.file(OsStr::new(&number.to_string()), SHARED);
    if granularity == Granularity::Coarse {
        let places = Places { number: |_| 0, ..places };
        return Ok(SystemLocks::Flock { files: vec![open(count)?], places });
    }
    let files = (0..count).map(open).collect::<Result<_, _>>()?;
    Ok(SystemLocks::Flock { files, places })
}

/// Mutexes in a file beside the database, made anew by the first who opens it.
fn mutex_file((folder, name): (&Folder, &OsStr), count: usize, places: Places) -> Result<SystemLocks, Error> {
    let file = folder.file(&names::mutexes(name), SHARED)?;
    // A mutex on a cache line of its own.
    const STRIDE: usize = 8;
    let bytes = count * STRIDE * 8;
    let file = Arc::new(file);
    // Who is there has made them.
    let presence = Presence::announce(&file, || Ok(false))?;
    if presence.first {
        file.set_len(bytes as u64).map_err(|error| call("ftruncate", &error))?;
    }
    let map = MappedFile::new(file.as_fd(), bytes, true)?;
    if presence.first {
        make_mutexes(&map, 0, STRIDE, count)?;
    }
    presence.settle(&file)?;
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

/// The byte before it: whoever may write comes in through this door one at a time, and the first keeps it shut until
/// everything is made.
const DOOR: Range = Range { start: PRESENCE.start - 1, length: 1 };

/// Who else has it open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Presence {
    /// Nobody: whoever comes now waits until [`Presence::settle`].
    pub first: bool,
}

impl Presence {
    /// As [`Presence::announce`], of one who only reads: it may change nothing, so that it is the first means nothing more
    /// than that, and may be wrong already.
    pub fn watch(file: &File) -> Result<Self, CallError> {
        let others = record_lock::in_the_way(file.as_fd(), Owner::Description, LockKind::Write, PRESENCE)?;
        wait(file, LockKind::Read, PRESENCE)?;
        Ok(Self { first: others.is_none() })
    }

    /// Finds out whether anybody is there, and waits for one who is settling in. `wants_first` is asked where somebody is:
    /// whether the caller must be the first all the same, because there is nothing yet and it may make it.
    ///
    /// Who is present found something made, or is about to find that nothing is and to go: a visitor. So whoever must be
    /// the first waits for visitors alone, and shuts the door to more of those who write.
    pub fn announce(file: &File, wants_first: impl FnOnce() -> Result<bool, Error>) -> Result<Self, Error> {
        wait(file, LockKind::Write, DOOR)?;
        if record_lock::try_lock(file.as_fd(), Owner::Description, LockKind::Write, PRESENCE)? {
            return Ok(Self { first: true });
        }
        if wants_first()? {
            wait(file, LockKind::Write, PRESENCE)?;
            return Ok(Self { first: true });
        }
        wait(file, LockKind::Read, PRESENCE)?;
        record_lock::unlock(file.as_fd(), Owner::Description, DOOR)?;
        Ok(Self { first: false })
    }

    /// Lets others in; the caller counts as present from now on.
    pub fn settle(self, file: &File) -> Result<(), CallError> {
        if self.first {
            record_lock::lock(file.as_fd(), Owner::Description, LockKind::Read, PRESENCE)?;
            record_lock::unlock(file.as_fd(), Owner::Description, DOOR)?;
        }
        Ok(())
    }
}

/// Waits for a lock of the open file description, whatever signals come.
fn wait(file: &File, kind: LockKind, byte: Range) -> Result<(), CallError> {
    loop {
        match record_lock::lock(file.as_fd(), Owner::Description, kind, byte) {
            Err(error) if error.errno == EINTR => {}
            result => return result,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::options::StoreMode;
    use crate::{Database, check_in};

    /// Held by a test that forks, or that opens what knows who else is there: a child of another test would inherit its descriptors.
    pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
        static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A folder of a test, and its path, gone when the test is.
    pub(crate) struct Place(pub Folder, pub std::path::PathBuf);

    impl Place {
        pub fn new() -> Self {
            let bits = oscost_sys::random::bits().expect("bits");
            let path = std::env::temp_dir().join(format!("recorddb-open-{bits:032x}"));
            fs::create_dir(&path).expect("a folder");
            Self(Folder::open(&path).expect("a folder"), path)
        }

        pub fn open(&self, options: &DatabaseOptions) -> Result<Database, Error> {
            Database::open_in(&self.0, OsStr::new("db"), options)
        }

        fn names(&self) -> Vec<OsString> {
            self.0.names().expect("a folder")
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.1);
        }
    }

    /// Files are made by who may make them and may write; who may not finds none.
    #[test]
    fn files_are_made_for_who_creates_and_writes() {
        let _alone = alone();
        for layout in [Layout::Book, Layout::Fast] {
            for (create, write) in [(false, true), (true, false), (false, false)] {
                let place = Place::new();
                let options = DatabaseOptions { layout, create, write, ..DatabaseOptions::default() };
                let opened = place.open(&options).map(drop);
                assert!(matches!(opened, Err(Error::Call(call)) if call.errno == 2), "{opened:?}");
                assert_eq!(place.names(), [""; 0]);
            }
        }
    }

    /// Permissions are asked for as they are; the bit that open drops is set again where the file is made.
    #[test]
    fn a_set_group_id_bit_is_set_by_who_makes_the_file() {
        let place = Place::new();
        let name = OsStr::new("file");
        let mode = || fs::metadata(place.1.join(name)).expect("made").permissions().mode() & 0o7777;
        let made = |mode, create| {
            let options = DatabaseOptions { create, mode, ..DatabaseOptions::default() };
            file(&place.0, name, &options).map(drop)
        };
        assert_eq!((made(0o600, true), mode()), (Ok(()), 0o600));
        assert_eq!((made(0o4640, true), mode()), (Ok(()), 0o600), "it is there already");
        assert_eq!((made(0o2640, false), mode()), (Ok(()), 0o600), "it was not to be made");
        assert_eq!((made(0o2640, true), mode()), (Ok(()), 0o2640));
    }

    /// A mutex begins where its cache line does, as one that is made alone, and there is one a lock.
    #[test]
    fn mutexes_of_the_book_lie_on_lines_of_their_own() {
        let _alone = alone();
        let alone = Arc::new(File::from(oscost_sys::file::in_memory(64).expect("memory")));
        MappedFile::new(alone.as_fd(), 64, true).and_then(|map| map.make_mutex(0)).expect("a mutex");
        let mut line = [0; 64];
        alone.read_exact_at(&mut line, 0).expect("read");
        assert_ne!(line, [0; 64]);
        let place = Place::new();
        let lock = LockWay::By(Primitive::RobustMutex, Granularity::Fine);
        let _open = place.open(&DatabaseOptions { lock, create: true, ..DatabaseOptions::default() });
        let made = fs::read(place.1.join("db.mutexes")).expect("made");
        let lines = &made.as_chunks::<64>().0[..book::LOCKS];
        let others: Vec<usize> = (0..book::LOCKS).filter(|number| lines[*number] != line).collect();
        assert_eq!(others, [140], "that of creation was used");
    }

    #[test]
    fn a_database_is_emptied_where_that_was_asked_for() {
        let _alone = alone();
        for layout in [Layout::Book, Layout::Fast] {
            for access in [Access::SeekRead, Access::Positioned, Access::Mapped] {
                let place = Place::new();
                let options = DatabaseOptions { layout, access, create: true, ..DatabaseOptions::default() };
                let key = |options: &DatabaseOptions| place.open(options).expect("open").fetch(b"key");
                let stored = place.open(&options).expect("open").store(b"key", b"value", StoreMode::Insert);
                assert!(stored.is_ok());
                assert_eq!(key(&options), Ok(Some(b"value".to_vec())), "{layout:?}, {access:?}");
                let reading = DatabaseOptions { create: false, write: false, ..options };
                assert_eq!(key(&reading), Ok(Some(b"value".to_vec())));
                let emptying = DatabaseOptions { truncate: true, create: false, ..options };
                assert_eq!(key(&emptying), Ok(None));
                let found = check_in(&place.0, OsStr::new("db"), layout).expect("read");
                assert!(found.is_clean() && (found.records, found.free) == (0, 0), "{found:?}");
            }
        }
    }

    /// A path without a folder is one of the folder where the program is.
    #[test]
    fn a_path_is_a_folder_and_a_name_in_it() {
        let name = |path: &str| place(Path::new(path)).map(|(_, name)| name);
        for path in ["db", "./db", "/db", "src/db", "src/../db"] {
            assert_eq!(name(path), Ok(OsString::from("db")), "{path}");
        }
        let errno = |path| match name(path) {
            Err(Error::Call(call)) => call.errno,
            other => panic!("{other:?}"),
        };
        assert_eq!(["/", "..", "there is none/db"].map(errno), [EINVAL, EINVAL, 2]);
    }

    /// Only a signal is waited through: another error is told.
    #[test]
    fn who_cannot_lock_does_not_wait() {
        let reading = File::open("/dev/null").expect("there");
        assert_eq!(wait(&reading, LockKind::Write, PRESENCE).map_err(|error| error.errno), Err(9));
        assert_eq!(wait(&reading, LockKind::Read, PRESENCE), Ok(()));
    }
}
