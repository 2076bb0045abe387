//! Opens layout `fast`: creates it, finds other users, recovers, and takes an arena.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::AsFd;
use std::sync::Arc;

use oscost_sys::CallError;
use oscost_sys::folder::Folder;
use oscost_sys::mapped_file::MappedFile;
use oscost_sys::record_lock::{self, LockKind, Owner, Range};

use super::format::{self, ARENAS, EMPTY, FIRST_CHUNK, MAGIC, ROOTS, ROOTS_AT, STRIPES, VERSION, header};
use super::next::Cursor;
use super::places::{LOCK_FILE_COUNT, LOCK_FILES, PLACES};
use super::space::Space;
use super::words::{FileWords, MappedWords, Words};
use super::{Fast, LEVELS, recover};
use crate::error::{Error, Refusal};
use crate::io::{Positioned, SeekRead};
use crate::lock::{Guard, LockWay, Locks, Primitive, SystemLocks};
use crate::names;
use crate::open::{self, PRESENCE, Presence, call, flock_files, make_mutexes};
use crate::options::{Access, DatabaseOptions, Records};

/// Bytes that a mapping tries for: the file may grow to as much while it is open. Address space, not memory.
const MAPPED: [usize; 3] = [1 << 36, 1 << 32, 1 << 28];

/// Opens, or makes, the database of that name.
pub(crate) fn open(
    folder: &Folder,
    name: &OsStr,
    options: &DatabaseOptions,
) -> Result<Box<dyn Records>, Error> {
    let file = Arc::new(open::file(folder, &names::fast(name), options)?);
    let place = (folder, name);
    let presence = if options.write {
        Presence::announce(&file, || Ok(options.create && !is_made(&file)?))?
    } else {
        Presence::watch(&file)?
    };
    if presence.first && options.write {
        make(&file, options)?;
    }
    let map = match options.access {
        Access::Mapped => Some(Arc::new(mapping(&file, options.write)?)),
        Access::SeekRead | Access::Positioned => None,
    };
    let length = length(&file)?;
    match (&map, options.access) {
        (Some(map), _) => {
            // The length is looked at before anything is touched: behind the end of the file is a SIGBUS.
            if length < FIRST_CHUNK * 8 {
                return Err(Refusal::OtherFile.into());
            }
            let words = MappedWords::new(Arc::clone(map), Arc::clone(&file), length);
            begin(place, words, file, presence, options, length)
        }
        (None, Access::SeekRead) => {
            let words = FileWords::new(SeekRead::new(Arc::clone(&file)), length);
            begin(place, words, file, presence, options, length)
        }
        (None, _) => {
            let words = FileWords::new(Positioned::new(Arc::clone(&file)), length);
            begin(place, words, file, presence, options, length)
        }
    }
}

fn length(file: &File) -> Result<u64, Error> {
    Ok((&*file).seek(SeekFrom::End(0)).map_err(|error| call("lseek", &error))?)
}

fn mapping(file: &File, writable: bool) -> Result<MappedFile, CallError> {
    let mut failed = CallError::new("mmap", 0);
    for bytes in MAPPED {
        match MappedFile::new(file.as_fd(), bytes, writable) {
            Ok(map) => return Ok(map),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Whether the file holds something: a database, or what is none. A file whose making was cut short holds nothing.
fn is_made(file: &Arc<File>) -> Result<bool, Error> {
    let length = length(file)?;
    let mut words = FileWords::new(Positioned::new(Arc::clone(file)), length);
    Ok(length >= 8 && words.load(header::MAGIC)? != 0)
}

/// Makes an empty database of a file that is empty, or whose making was cut short: its first word comes last. The caller
/// is the only one who has it open, for writing.
fn make(file: &Arc<File>, options: &DatabaseOptions) -> Result<(), Error> {
    let made = is_made(file)?;
    if made && !options.truncate {
        return Ok(());
    }
    if !made && !options.create {
        return Err(Refusal::OtherFile.into());
    }
    file.set_len(0).map_err(|error| call("ftruncate", &error))?;
    let mut words = FileWords::new(Positioned::new(Arc::clone(file)), 0);
    words.make_room(FIRST_CHUNK)?;
    fill(&mut words)
}

/// Writes an empty database over zeros; its first word last.
pub(super) fn fill(words: &mut impl Words) -> Result<(), Error> {
    let roots = [EMPTY; ROOTS as usize];
    for stripe in 0..STRIPES {
        words.write(format::stripe(stripe) + ROOTS_AT, &roots)?;
    }
    // half of the bits are random too
    let seed = oscost_sys::random::bits()? as u64;
    words.store(header::VERSION, VERSION)?;
    words.store(header::SEED, seed)?;
    words.store(header::CHECK, format::header_check(VERSION, seed))?;
    words.store(header::END, FIRST_CHUNK)?;
    words.store(header::MAGIC, MAGIC)
}

fn begin<W: Words + 'static>(
    place: (&Folder, &OsStr),
    mut words: W,
    file: Arc<File>,
    presence: Presence,
    options: &DatabaseOptions,
    length: u64,
) -> Result<Box<dyn Records>, Error> {
    refuse(&mut words, length, presence, options)?;
    let alone = presence.first && options.write;
    let locks = locks(place, &file, alone, options)?;
    if alone {
        if recover::is_needed(&mut words)? {
            recover::recover(&mut words)?;
        }
        words.store(header::LOCK_WAY, number(options.lock))?;
        presence.settle(&file)?;
    }
    let space = if options.write { Some(arena(&file, &mut words)?) } else { None };
    let seed = words.load(header::SEED)?;
    let guard = Guard::new(options.lock.granularity(), locks, options.time_locks);
    Ok(Box::new(opened(words, guard, space, seed, file)))
}

/// The database behind these words, with nothing done in it yet.
pub(super) fn opened<W: Words, L: Locks>(
    words: W,
    guard: Guard<L>,
    space: Option<Space>,
    seed: u64,
    presence: Arc<File>,
) -> Fast<W, L> {
    Fast {
        words,
        guard,
        space,
        seed,
        visits: 0,
        cursor: Cursor::default(),
        buffer: Vec::new(),
        passed: [0; LEVELS],
        lost: false,
        _presence: presence,
    }
}

/// Refuses what this program cannot use, or not now.
fn refuse(
    words: &mut impl Words,
    length: u64,
    presence: Presence,
    options: &DatabaseOptions,
) -> Result<(), Error> {
    let magic = if length < 8 { 0 } else { words.load(header::MAGIC)? };
    if magic == MAGIC.swap_bytes() {
        return Err(Refusal::OtherByteOrder.into());
    }
    if magic != MAGIC || length < FIRST_CHUNK * 8 {
        return Err(Refusal::OtherFile.into());
    }
    let found = words.load(header::VERSION)?;
    if found > VERSION {
        return Err(Refusal::NewerVersion { found, newest: VERSION }.into());
    }
    if words.load(header::CHECK)? != format::header_check(found, words.load(header::SEED)?) {
        return Err(format::damage("a header whose checksum is wrong", header::CHECK).into());
    }
    let end = words.load(header::END)?;
    if !format::is_end(end) {
        return Err(format::damage(format::NO_END, header::END).into());
    }
    if end.checked_mul(8).is_none_or(|end| end > length) {
        return Err(format::damage("the file was cut", length / 8).into());
    }
    // The first that writes stores its own way.
    if presence.first && options.write {
        return Ok(());
    }
    if options.truncate && !presence.first {
        return Err(Refusal::InUse.into());
    }
    // Who reads stores nothing, and whoever writes after it looks at what is stored: the way must be that one, first or not.
    let way = words.load(header::LOCK_WAY)?;
    // Its making was ended before a way was stored: there is nothing in it.
    if way == number(options.lock) || (presence.first && way == 0) {
        return Ok(());
    }
    let found =
        LockWay::ALL.iter().find(|other| number(**other) == way).map_or("unknown", |other| other.name());
    Err(Refusal::OtherLockWay { found }.into())
}

/// The number of a way to lock, from 1.
fn number(way: LockWay) -> u64 {
    LockWay::ALL.iter().zip(1..).find_map(|(other, number)| (*other == way).then_some(number)).unwrap_or(0)
}

/// An arena that nobody uses; its byte stays locked as long as the file is open.
fn arena(file: &File, words: &mut impl Words) -> Result<Space, Error> {
    for number in 0..ARENAS {
        let byte = Range { start: PRESENCE.start + 1 + number as u64, length: 1 };
        if record_lock::try_lock(file.as_fd(), Owner::Description, LockKind::Write, byte)? {
            return Ok(Space::take_over(words, number)?.0);
        }
    }
    Err(Refusal::TooManyOpeners { most: ARENAS }.into())
}

fn locks(
    place: (&Folder, &OsStr),
    file: &Arc<File>,
    alone: bool,
    options: &DatabaseOptions,
) -> Result<SystemLocks, Error> {
    let LockWay::By(primitive, granularity) = options.lock else {
        return Ok(SystemLocks::None);
    };
    let fcntl = |owner| SystemLocks::Fcntl { owner, files: vec![Arc::clone(file)], places: PLACES };
    Ok(match primitive {
        Primitive::Fcntl => fcntl(Owner::Process),
        Primitive::Ofd => fcntl(Owner::Description),
        Primitive::Flock => flock_files(place, LOCK_FILE_COUNT, granularity, LOCK_FILES)?,
        Primitive::RobustMutex => {
            let bytes = usize::try_from(FIRST_CHUNK * 8).unwrap_or(usize::MAX);
            let map = MappedFile::new(file.as_fd(), bytes, true)?;
            let first = usize::try_from(format::stripe(0)).unwrap_or(usize::MAX);
            let (stride, count) = (format::STRIPE_WORDS as usize, (STRIPES + format::OTHER_LOCKS) as usize);
            if alone {
                make_mutexes(&map, first, stride, count)?;
            }
            let (map, places, _file) = (Arc::new(map), PLACES, Arc::clone(file));
            SystemLocks::Mutex { map, first, stride, places, _file }
        }
    })
}

/// A database in memory, made if it is empty, recovered if it has to be.
#[cfg(test)]
pub(crate) fn in_memory<I: crate::io::Io + 'static, L: Locks + 'static>(
    mut io: I,
    guard: Guard<L>,
) -> Box<dyn Records> {
    let known = io.end().expect("memory");
    let mut words = FileWords::new(io, known);
    if known == 0 {
        words.make_room(FIRST_CHUNK).expect("memory");
        fill(&mut words).expect("memory");
    }
    if recover::is_needed(&mut words).expect("memory") {
        recover::recover(&mut words).expect("nothing is damaged");
    }
    let (space, _) = Space::take_over(&mut words, 0).expect("memory");
    let seed = words.load(header::SEED).expect("memory");
    let null = Arc::new(File::open("/dev/null").expect("there"));
    Box::new(opened(words, guard, Some(space), seed, null))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::error::Damage;
    use crate::lock::Granularity;
    use crate::open::tests::{Place, alone};
    use crate::options::{Layout, StoreMode};

    const FCNTL: LockWay = LockWay::By(Primitive::Fcntl, Granularity::Fine);

    fn options(access: Access) -> DatabaseOptions {
        DatabaseOptions {
            layout: Layout::Fast,
            access,
            lock: FCNTL,
            create: true,
            ..DatabaseOptions::default()
        }
    }

    /// A database with one record, or none, and its file.
    fn made(records: usize) -> (Place, File) {
        let place = Place::new();
        let mut database = place.open(&options(Access::Positioned)).expect("open");
        for number in 0..records {
            database.store(&[b'k', number as u8], b"value", StoreMode::Insert).expect("stored");
        }
        let file = File::options().read(true).write(true).open(place.1.join("db.fast")).expect("made");
        (place, file)
    }

    fn put(file: &File, at: u64, word: u64) {
        file.write_all_at(&word.to_ne_bytes(), at * 8).expect("written");
    }

    fn word(file: &File, at: u64) -> u64 {
        let mut bytes = [0; 8];
        file.read_exact_at(&mut bytes, at * 8).expect("there");
        u64::from_ne_bytes(bytes)
    }

    fn opened(place: &Place, options: &DatabaseOptions) -> Result<(), Error> {
        place.open(options).map(drop)
    }

    const OTHER: Result<(), Error> = Err(Error::Refused(Refusal::OtherFile));

    #[test]
    fn a_file_is_whole_to_the_end_of_its_chunks() {
        let _alone = alone();
        for access in [Access::SeekRead, Access::Positioned, Access::Mapped] {
            let (place, file) = made(0);
            file.set_len(FIRST_CHUNK * 8).expect("cut");
            let both = [true, false].map(|write| DatabaseOptions { write, create: false, ..options(access) });
            for options in &both {
                assert_eq!(opened(&place, options), Ok(()), "{access:?}");
            }
            for less in [1, 8] {
                file.set_len(FIRST_CHUNK * 8 - less).expect("cut");
                assert_eq!(both.map(|options| opened(&place, &options)), [OTHER; 2], "{access:?}");
            }
            let (place, file) = made(1);
            let end = word(&file, header::END);
            assert_eq!(end, FIRST_CHUNK + format::CHUNK);
            file.set_len(end * 8).expect("cut");
            assert_eq!(opened(&place, &both[0]), Ok(()), "{access:?}");
            file.set_len(end * 8 - 16).expect("cut");
            let cut = Damage { what: "the file was cut", file: "database", at: end * 8 - 16 };
            assert_eq!(opened(&place, &both[0]), Err(cut.into()), "{access:?}");
        }
    }

    #[test]
    fn a_header_is_that_of_this_layout() {
        let _alone = alone();
        let (place, file) = made(1);
        let options = options(Access::Positioned);
        let seed = word(&file, header::SEED);
        put(&file, header::SEED, seed ^ 1);
        let wrong = format::damage("a header whose checksum is wrong", header::CHECK);
        assert_eq!(opened(&place, &options), Err(wrong.into()));
        put(&file, header::SEED, seed);
        let end = word(&file, header::END);
        put(&file, header::END, end - 1);
        assert_eq!(opened(&place, &options), Err(format::damage(format::NO_END, header::END).into()));
        put(&file, header::END, end);
        assert_eq!(opened(&place, &options), Ok(()));
        file.set_len(8).expect("cut");
        assert_eq!(opened(&place, &options), OTHER);
        put(&file, header::MAGIC, MAGIC.swap_bytes());
        assert_eq!(opened(&place, &options), Err(Refusal::OtherByteOrder.into()), "it is told by one word");
        file.set_len(7).expect("cut");
        let not_made = DatabaseOptions { create: false, ..options };
        assert_eq!(opened(&place, &not_made), OTHER);
    }

    /// The number of a way is its place among all, from 1: other builds read it.
    #[test]
    fn the_way_to_lock_is_stored_by_its_number() {
        let _alone = alone();
        for (lock, expected) in LockWay::ALL.into_iter().zip([1, 2, 3, 4, 5, 6, 7, 8, 9]) {
            let (place, file) = made(0);
            assert_eq!(opened(&place, &DatabaseOptions { lock, ..options(Access::Positioned) }), Ok(()));
            assert_eq!((word(&file, header::LOCK_WAY), number(lock)), (expected, expected));
        }
    }

    /// Where no way was stored yet a reader who is alone needs none; where another reads already, it is refused.
    #[test]
    fn a_reader_uses_the_way_that_is_stored_if_there_is_one() {
        let _alone = alone();
        let (place, file) = made(1);
        let reading = DatabaseOptions { write: false, create: false, ..options(Access::Positioned) };
        let unlike = |found| Err(Refusal::OtherLockWay { found }.into());
        put(&file, header::LOCK_WAY, 1);
        assert_eq!(opened(&place, &reading), unlike("none"));
        put(&file, header::LOCK_WAY, 0);
        let first = place.open(&reading).expect("alone");
        assert_eq!(opened(&place, &reading), unlike("unknown"));
        drop(first);
        // What it cannot do it is not refused for.
        for options in
            [DatabaseOptions { truncate: true, ..reading }, DatabaseOptions { create: true, ..reading }]
        {
            assert_eq!(place.open(&options).expect("alone").fetch(&[b'k', 0]), Ok(Some(b"value".to_vec())));
        }
        put(&file, header::MAGIC, 0);
        assert_eq!(opened(&place, &DatabaseOptions { create: true, ..reading }), OTHER, "it makes nothing");
    }
}
