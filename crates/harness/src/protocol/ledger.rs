//! The ledger of a run whose objects outlive its processes: what it makes is written down before it is there. The ledger is
//! locked as long as any of its processes lives; when the lock is free and the ledger still there, everybody was killed at
//! once, and the next start removes what is left.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use oscost_sys::folder::{Folder, Making, Opening};
use oscost_sys::record_lock::{self, LockKind};
use oscost_sys::{CallError, file, identity, random};

use crate::protocol::object::{self, Object, Scene};

/// Of which a worker in private namespaces has one of its own.
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";
const PREFIX: &str = "oscost-ledger-";
/// The name of one that has none.
const NAMELESS: &str = "-";
/// First word of a ledger.
const FORMAT: &str = "oscost-ledger-2";
/// That of version 0.2.0, whose third word was the time by the wall clock.
const OLD_FORMAT: &str = "oscost-ledger-1";
/// More is no ledger of ours.
const MOST: u64 = 64 << 20;

/// An open ledger. Every process that opened or inherited it keeps its lock.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: File,
    /// The name that it is to get.
    unpublished: Option<String>,
}

impl Ledger {
    /// A new ledger. Where it is `durable`, [`Self::publish`] puts it into /dev/shm, where the next start finds it; where that
    /// cannot be written, it stays in memory alone.
    pub fn make(durable: bool) -> Result<Self, CallError> {
        if durable && let Ok(ledger) = Self::in_shared_memory() {
            return Ok(ledger);
        }
        Self { file: file::in_memory(0)?.into(), unpublished: None }.begin(NAMELESS)
    }

    /// Complete and locked before it has a name: whenever its maker is killed, what has a name is a ledger.
    fn in_shared_memory() -> Result<Self, CallError> {
        let file = memory()?.unnamed_file()?;
        if !record_lock::try_flock(file.as_fd(), LockKind::Write)? {
            return Err(CallError::told("somebody else has locked the new ledger"));
        }
        let name = format!("{PREFIX}{:032x}", random::bits()?);
        Self { file, unpublished: Some(name.clone()) }.begin(&name)
    }

    /// Gives it its name, if it is to have one. Whoever settles it lives by now: of a name nothing may be left where the maker
    /// alone is killed.
    pub fn publish(&mut self) {
        if let Some(name) = self.unpublished.take()
            && let Ok(folder) = memory()
        {
            // Without a name it is as good as in memory.
            let _ = folder.name_file(&self.file, OsStr::new(&name));
        }
    }

    fn begin(self, name: &str) -> Result<Self, CallError> {
        self.write(&format!("{FORMAT} {name} {}\n", ipc_namespace()))?;
        Ok(self)
    }

    /// Of a descriptor that was inherited.
    pub fn inherited(fd: OwnedFd) -> Self {
        Self { file: fd.into(), unpublished: None }
    }

    pub fn try_clone(&self) -> Result<Self, CallError> {
        let file = self.file.try_clone();
        file.map(|file| Self { file, unpublished: None })
            .map_err(|error| CallError::new("fcntl", error.raw_os_error().unwrap_or(0)))
    }

    /// Writes an object down, which does not exist yet.
    pub fn declare(&self, object: &Object) -> Result<(), CallError> {
        self.write(&object.to_line())
    }

    /// One line at the end, whole. All who write share one position.
    fn write(&self, line: &str) -> Result<(), CallError> {
        (&self.file)
            .write_all(line.as_bytes())
            .map_err(|error| CallError::new("write", error.raw_os_error().unwrap_or(0)))
    }

    /// Removes what is written down and still there, and then the ledger. Its makers are dead.
    pub fn settle(&self, folders: Option<&Folder>) {
        let Some(text) = self.text() else { return };
        let Some((name, same_ipc)) = text.lines().next().and_then(head) else { return };
        let memory = memory().ok();
        let scene = Scene { same_ipc, folders, memory: memory.as_ref() };
        // A line that a kill cut short is none; its object was not made.
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        object::remove(lines.filter_map(Object::from_line), &scene);
        // What is another namespace's is left to a start there.
        if same_ipc
            && name != NAMELESS
            && let Some(memory) = memory
        {
            let _ = memory.remove(OsStr::new(name));
        }
    }

    /// `None`: it cannot be read.
    fn text(&self) -> Option<String> {
        let length = self.file.metadata().ok()?.len().min(MOST);
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether a kill came before its first line was written: version 0.2.0 gave it its name first.
    fn is_stillborn(&self) -> bool {
        self.text().is_some_and(|text| !text.contains('\n'))
    }
}

impl AsFd for Ledger {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl AsRawFd for Ledger {
    fn as_raw_fd(&self) -> i32 {
        self.file.as_raw_fd()
    }
}

/// Name, and whether its IPC namespace is the caller's.
fn head(line: &str) -> Option<(&str, bool)> {
    let mut words = line.split(' ');
    let (format, name) = (words.next()?, words.next()?);
    match format {
        FORMAT => {}
        OLD_FORMAT => {
            words.next()?;
        }
        _ => return None,
    }
    let named = name == NAMELESS || is_ledger(OsStr::new(name));
    named.then_some((name, words.next()? == ipc_namespace()))
}

fn ipc_namespace() -> String {
    std::fs::read_link("/proc/self/ns/ipc")
        .map_or_else(|_| "unknown".to_owned(), |it| it.to_string_lossy().into_owned())
}

/// /dev/shm, where nobody else may rename what is ours.
pub(crate) fn memory() -> Result<Folder, CallError> {
    let folder = Folder::open(Path::new(SHARED_MEMORY))?;
    match folder.renamed_by()? {
        None => Ok(folder),
        Some(_) => Err(CallError::told("others may rename what is in /dev/shm")),
    }
}

fn is_ledger(name: &OsStr) -> bool {
    name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(is_random)
}

/// Whether a word is 128 random bits as names of ours have them.
pub(crate) fn is_random(word: &str) -> bool {
    word.len() == 32 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Removes what runs of this user have left that were killed with their janitor. What a living run has is locked.
pub(crate) fn sweep() {
    let Ok(memory) = memory() else { return };
    for name in memory.names().unwrap_or_default().iter().filter(|name| is_ledger(name)) {
        if let Some(ledger) = dead(&memory, name) {
            ledger.settle(None);
            if ledger.is_stillborn() {
                let _ = memory.remove(name);
            }
        }
    }
}

/// The ledger of that name, locked, if it is this user's and its run is dead.
fn dead(memory: &Folder, name: &OsString) -> Option<Ledger> {
    let file = memory.file(name, Opening { write: false, making: Making::Never, mode: 0 }).ok()?;
    let found = file.metadata().ok()?;
    // A link of somebody else's to a file of this user's is not what this program made.
    let ours = found.uid() == identity::effective_uid() && found.nlink() == 1;
    let free = ours && record_lock::try_flock(file.as_fd(), LockKind::Write) == Ok(true);
    // Its janitor may have settled it meanwhile.
    (free && file.metadata().is_ok_and(|it| it.nlink() == 1)).then_some(Ledger { file, unpublished: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::object::Key;
    use oscost_sys::process::Child;
    use oscost_sys::semaphore::{self, NamedSemaphore, SystemV};

    /// The ledgers that name something.
    fn naming(words: &str) -> Vec<File> {
        let names = memory().and_then(|memory| memory.names()).unwrap_or_default();
        let paths = names.iter().filter(|name| is_ledger(name)).map(|it| Path::new(SHARED_MEMORY).join(it));
        let named = paths.filter(|path| std::fs::read_to_string(path).is_ok_and(|it| it.contains(words)));
        named.filter_map(|path| File::open(path).ok()).collect()
    }

    /// Sweeps a ledger of the dead, and waits until that is done. Another start may be sweeping it, and a child that another
    /// test forks has a copy of what locks it: each holds the lock until it is over.
    fn swept(ledger: &File) {
        for then in [Some(sweep), None] {
            ledger.lock().unwrap();
            ledger.unlock().unwrap();
            then.iter().for_each(|sweep| sweep());
        }
    }

    /// Takes away what the test has made, however the test ends.
    struct Removed<'a>(i32, &'a str);

    impl Drop for Removed<'_> {
        fn drop(&mut self) {
            sweep();
            if let Some(set) = semaphore::find_system_v(self.0) {
                let _ = semaphore::remove_system_v(set.id);
            }
            let _ = std::fs::remove_file(Path::new(SHARED_MEMORY).join(format!("sem.{}", &self.1[1..])));
        }
    }

    /// What a run has made of which every process was killed at once is removed by the next start; what a living one has
    /// made is not.
    #[test]
    fn the_next_start_removes_what_the_dead_left_and_nothing_of_the_living() {
        let mut ledger = Ledger::make(true).unwrap();
        ledger.publish();
        let is_durable = ledger.file.metadata().unwrap().nlink() == 1;
        ledger.settle(None);
        assert_eq!(is_durable, memory().and_then(|memory| memory.unnamed_file()).is_ok());
        if !is_durable {
            return println!("SKIP the_next_start_removes_what_the_dead_left: /dev/shm cannot be written");
        }
        let bits = random::bits().unwrap();
        let (key, name) = (i32::try_from(bits & 0x3fff_ffff).unwrap() + 1, format!("/oscost-{bits:032x}"));
        let _removed = Removed(key, &name);
        let life = oscost_sys::pipe::Pipe::new().unwrap();
        let there = oscost_sys::pipe::Pipe::new().unwrap();
        let run = Child::fork(|| {
            let make = || -> Result<(), CallError> {
                let mut ledger = Ledger::make(true)?;
                ledger.publish();
                ledger.declare(&Object::SystemVSemaphore(Key { key, id: None }))?;
                let set = SystemV::with_key(key, 1)?;
                ledger.declare(&Object::SystemVSemaphore(Key { key, id: Some(set.id()) }))?;
                ledger.declare(&Object::NamedSemaphore(name.clone()))?;
                let named = NamedSemaphore::create(&name, 1)?;
                oscost_sys::pipe::write(&there.writer, b"x")?;
                // Until it is killed.
                oscost_sys::pipe::read_byte(&life.reader)?;
                drop((set, named));
                Ok(())
            };
            i32::from(make().is_err())
        })
        .unwrap();
        oscost_sys::pipe::read_byte(&there.reader).unwrap();
        let file = Path::new(SHARED_MEMORY).join(format!("sem.{}", &name[1..]));
        let are_there = || (semaphore::find_system_v(key).is_some(), file.exists());
        sweep();
        let ledgers = naming(&name);
        assert_eq!((are_there(), ledgers.len()), ((true, true), 1), "the living are left alone");
        oscost_sys::process::signal(run.pid(), oscost_sys::process::Signal::Kill).unwrap();
        assert_eq!(run.wait().unwrap().code, None);
        swept(&ledgers[0]);
        assert_eq!((are_there(), naming(&name).len()), ((false, false), 0));
    }

    /// As version 0.2.0 left it that was killed between the making of the file and its first line.
    #[test]
    fn a_ledger_without_a_whole_first_line_goes_at_the_next_start() {
        let Ok(memory) = memory() else {
            return println!("SKIP a_ledger_without_a_whole_first_line: /dev/shm cannot be written");
        };
        let others = format!("{FORMAT} {PREFIX}{:032x} ipc:[1]\n", 7);
        for (words, goes) in [("", true), (FORMAT, true), (&others, false)] {
            let name = OsString::from(format!("{PREFIX}{:032x}", random::bits().unwrap()));
            let there = || memory.names().unwrap().contains(&name);
            // Locked before it has a name: another start may be sweeping.
            let Ok(mut file) = memory.unnamed_file() else {
                return println!("SKIP a_ledger_without_a_whole_first_line: /dev/shm cannot be written");
            };
            file.write_all(words.as_bytes()).unwrap();
            assert!(record_lock::try_flock(file.as_fd(), LockKind::Write).unwrap());
            memory.name_file(&file, &name).unwrap();
            let again = File::open(Path::new(SHARED_MEMORY).join(&name)).unwrap();
            sweep();
            assert!(there(), "somebody has it still");
            drop(file);
            swept(&again);
            assert_eq!(there(), !goes, "{words}");
            let _ = memory.remove(&name);
        }
    }

    #[test]
    fn only_a_head_of_ours_begins_a_ledger() {
        let ipc = ipc_namespace();
        assert!(ipc.starts_with("ipc:["), "{ipc}");
        let no_hex = format!("{FORMAT} {PREFIX}{:>032} {ipc}", 'g');
        let name = format!("{PREFIX}{:032x}", 7);
        assert_eq!(head(&format!("{FORMAT} {name} {ipc}")), Some((&*name, true)));
        assert_eq!(head(&format!("{FORMAT} - ipc:[1]")), Some(("-", false)));
        assert_eq!(head(&format!("{OLD_FORMAT} {name} 17 {ipc}")), Some((&*name, true)));
        for line in [
            "",
            FORMAT,
            &no_hex,
            "oscost-ledger-2 ../x y",
            "oscost-ledger-2 oscost-ledger-2 y",
            "oscost-ledger-3 - y",
        ] {
            assert_eq!(head(line), None, "{line}");
        }
    }

    /// As root alone one can make what is another user's; a second name is somebody else's doing.
    #[test]
    fn a_ledger_of_another_users_or_with_two_names_stays() {
        let Ok(memory) = memory() else {
            return println!("SKIP a_ledger_of_another_users: /dev/shm cannot be written");
        };
        let name = |start: &str| OsString::from(format!("{start}{:032x}", random::bits().unwrap()));
        let (theirs, twice, other) = (name(PREFIX), name(PREFIX), name("oscost-test-"));
        let path = |name: &OsString| Path::new(SHARED_MEMORY).join(name);
        // It is theirs, or has its other name, before it can be taken for a ledger: another start may be sweeping.
        let as_theirs = memory.unnamed_file().is_ok_and(|file| {
            std::os::unix::fs::fchown(&file, Some(1), None).is_ok()
                && memory.name_file(&file, &theirs).is_ok()
        });
        let has_two = memory.unnamed_file().and_then(|file| memory.name_file(&file, &other)).is_ok()
            && std::fs::hard_link(path(&other), path(&twice)).is_ok();
        sweep();
        let stay = [&theirs, &twice].map(|name| path(name).exists());
        [&theirs, &twice, &other].into_iter().for_each(|name| drop(std::fs::remove_file(path(name))));
        assert_eq!(stay, [as_theirs, has_two]);
    }
}
