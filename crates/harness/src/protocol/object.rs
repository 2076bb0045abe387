//! Kernel objects that outlive their maker: how they are written down and removed.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use oscost_sys::folder::Folder;
use oscost_sys::system_v_queue::{self, Keyed};
use oscost_sys::{identity, posix_queue, semaphore};

/// An object that outlives its maker. Its name is random, and begins with `oscost-`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Object {
    /// A System V semaphore set.
    SystemVSemaphore(Key),
    /// A System V message queue.
    SystemVQueue(Key),
    /// A POSIX semaphore, by name (with its slash).
    NamedSemaphore(String),
    /// A POSIX message queue, by name (with its slash).
    PosixQueue(String),
    /// A Unix socket or a FIFO in /dev/shm, by its name there.
    Socket(String),
    /// A folder of plain files and folders, by its name where folders of the run go.
    Folder(String),
}

/// How a System V object is known: its random key, and the identifier that the kernel gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// Chosen before it is made.
    pub key: i32,
    /// `None`: it is about to be made.
    pub id: Option<i32>,
}

/// What removing needs to know besides the objects.
pub(crate) struct Scene<'a> {
    /// Whether the objects' IPC namespace is the caller's.
    pub same_ipc: bool,
    /// Where folders of the run are.
    pub folders: Option<&'a Folder>,
    /// /dev/shm.
    pub memory: Option<&'a Folder>,
}

/// Levels of folders in a folder of ours.
pub(crate) const DEPTH: u32 = 3;

impl Object {
    pub(crate) fn to_line(&self) -> String {
        let keyed = |kind: &str, Key { key, id }: &Key| match id {
            Some(id) => format!("{kind} {key} {id}\n"),
            None => format!("{kind} {key}\n"),
        };
        match self {
            Self::SystemVSemaphore(key) => keyed("system_v_semaphore", key),
            Self::SystemVQueue(key) => keyed("system_v_queue", key),
            Self::NamedSemaphore(name) => format!("named_semaphore {name}\n"),
            Self::PosixQueue(name) => format!("posix_queue {name}\n"),
            Self::Socket(name) => format!("socket {name}\n"),
            Self::Folder(name) => format!("folder {name}\n"),
        }
    }

    /// The object of a line without its end; `None` for what no run writes.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_once(' ')?;
        let key = || {
            let mut words = rest.split(' ');
            let key = words.next()?.parse().ok()?;
            let id = words.next().map(str::parse).transpose().ok()?;
            (key != 0 && words.next().is_none()).then_some(Key { key, id })
        };
        let name = |slash: &str| is_ours(rest.strip_prefix(slash)?).then(|| rest.to_owned());
        match kind {
            "system_v_semaphore" => key().map(Self::SystemVSemaphore),
            "system_v_queue" => key().map(Self::SystemVQueue),
            "named_semaphore" => name("/").map(Self::NamedSemaphore),
            "posix_queue" => name("/").map(Self::PosixQueue),
            "socket" => name("").map(Self::Socket),
            "folder" => name("").map(Self::Folder),
            _ => None,
        }
    }

    /// Whether it stays when the private namespaces of its maker are gone, /dev/shm among them.
    pub(crate) const fn outlives_namespaces(&self) -> bool {
        matches!(self, Self::Folder(_))
    }
}

/// Whether a name can be one of ours: `oscost-` and a word.
fn is_ours(name: &str) -> bool {
    name.strip_prefix("oscost-").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// Removes what is left of `objects`, whose makers are dead; that one is gone already is the normal case.
pub(crate) fn remove(objects: impl IntoIterator<Item = Object>, scene: &Scene<'_>) {
    // The line with the identifier comes after the one without.
    let (mut sets, mut queues) = (BTreeMap::new(), BTreeMap::new());
    for object in objects {
        let _ = match object {
            Object::SystemVSemaphore(Key { key, id }) => {
                sets.insert(key, id);
                Ok(())
            }
            Object::SystemVQueue(Key { key, id }) => {
                queues.insert(key, id);
                Ok(())
            }
            Object::NamedSemaphore(name) => semaphore::remove_named(&name),
            Object::PosixQueue(name) if scene.same_ipc => posix_queue::remove(&name),
            Object::PosixQueue(_) => Ok(()),
            Object::Socket(name) => scene.memory.map_or(Ok(()), |memory| memory.remove(OsStr::new(&name))),
            Object::Folder(name) => {
                scene.folders.map_or(Ok(()), |folders| remove_folder(folders, OsStr::new(&name)))
            }
        };
    }
    if scene.same_ipc {
        for (key, id) in sets {
            if let Some(found) = semaphore::find_system_v(key).filter(|found| is_it(id, found)) {
                let _ = semaphore::remove_system_v(found.id);
            }
        }
        for (key, id) in queues {
            if let Some(found) = system_v_queue::find(key).filter(|found| is_it(id, found)) {
                let _ = system_v_queue::remove(found.id);
            }
        }
    }
}

/// Whether what has the key is the object that was written down. A key may be taken again when its object is gone; an
/// identifier is not, for a long time. Where a kill kept the identifier from being written, the mark tells that this program made
/// it, and the key, which is random, which run. No clock is asked: it can be set.
fn is_it(id: Option<i32>, found: &Keyed) -> bool {
    let same = id.map_or(found.is_marked, |id| id == found.id);
    same && found.creator == identity::effective_uid()
}

/// Removes a folder of ours with what is in it, where it is one and this user's.
pub(crate) fn remove_folder(parent: &Folder, name: &OsStr) -> Result<(), oscost_sys::CallError> {
    let folder = parent.folder(name)?;
    if folder.status()?.uid == identity::effective_uid() {
        folder.empty(DEPTH)?;
        parent.remove_folder(name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oscost_sys::semaphore::SystemV;
    use oscost_sys::system_v_queue::SystemVQueue;

    fn key() -> i32 {
        i32::try_from(oscost_sys::random::bits().unwrap() & 0x7fff_ffff).unwrap()
    }

    const HERE: Scene<'_> = Scene { same_ipc: true, folders: None, memory: None };

    #[test]
    fn what_is_written_is_what_is_read() {
        for object in [
            Object::SystemVSemaphore(Key { key: 17, id: None }),
            Object::SystemVQueue(Key { key: 17, id: Some(0) }),
            Object::NamedSemaphore("/oscost-1f".into()),
            Object::PosixQueue("/oscost-1f-there".into()),
            Object::Socket("oscost-1f-0".into()),
            Object::Folder("oscost-1f".into()),
        ] {
            assert_eq!(Object::from_line(object.to_line().trim_end()), Some(object));
        }
    }

    #[test]
    fn a_line_that_names_what_cannot_be_ours_is_none() {
        for line in [
            "rubbish",
            "system_v_semaphore x",
            "system_v_semaphore 0 1",
            "system_v_semaphore 1 2 3",
            "system_v_queue 5000000000",
            "named_semaphore oscost-1",
            "named_semaphore /sshd",
            "posix_queue /oscost-../x",
            "socket /run/oscost-1",
            "socket oscost-1/../../etc",
            "folder ..",
            "folder oscost-",
        ] {
            assert_eq!(Object::from_line(line), None, "{line}");
        }
    }

    #[test]
    fn a_system_v_object_goes_if_key_and_identifier_are_its_own() {
        let (one, other) = (key(), key());
        let set = SystemV::with_key(one, 1).expect("semget");
        let queue = SystemVQueue::with_key(other, false).expect("msgget");
        let named = |set_id, queue_id| {
            [
                Object::SystemVSemaphore(Key { key: one, id: None }),
                Object::SystemVQueue(Key { key: other, id: None }),
                Object::SystemVSemaphore(Key { key: one, id: set_id }),
                Object::SystemVQueue(Key { key: other, id: queue_id }),
            ]
        };
        let are_there = || (semaphore::find_system_v(one).is_some(), system_v_queue::find(other).is_some());
        // The key was taken again by somebody else, or in another namespace.
        remove(named(Some(set.id() ^ 1), Some(queue.id() ^ 1)), &HERE);
        remove(named(Some(set.id()), Some(queue.id())), &Scene { same_ipc: false, ..HERE });
        assert_eq!(are_there(), (true, true));
        remove(named(Some(set.id()), None), &HERE);
        assert_eq!(are_there(), (false, false));
    }

    /// A kill came before its identifier was written down: whatever the clock says, and was set to meanwhile, what this program
    /// made goes, and what another made under the same key stays.
    #[test]
    fn without_an_identifier_the_mark_decides_and_no_clock() {
        let (ours, theirs) = (key(), key());
        let set = SystemV::with_key(ours, 1).expect("semget");
        let made = std::process::Command::new("perl")
            .args(["-e", "semget($ARGV[0], 1, 0001600) // die $!", &theirs.to_string()])
            .status();
        if !made.is_ok_and(|status| status.success()) {
            return println!("SKIP without_an_identifier_the_mark_decides: no perl");
        }
        let lines = [ours, theirs].map(|key| Object::SystemVSemaphore(Key { key, id: None }));
        remove(lines, &HERE);
        let left = [ours, theirs].map(|key| semaphore::find_system_v(key).is_some());
        if let Some(found) = semaphore::find_system_v(theirs) {
            semaphore::remove_system_v(found.id).expect("the test's own");
        }
        assert_eq!(left, [false, true]);
        drop(set);
    }

    #[test]
    fn a_folder_goes_with_what_is_in_it_and_nothing_behind_a_link() {
        let base = std::env::temp_dir().join(format!("oscost-test-{}", key()));
        std::fs::create_dir_all(base.join("oscost-1/db.locks")).unwrap();
        std::fs::create_dir_all(base.join("foreign")).unwrap();
        for file in ["oscost-1/db.idx", "oscost-1/db.locks/0", "foreign/file"] {
            std::fs::write(base.join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(base.join("foreign"), base.join("oscost-2")).unwrap();
        std::os::unix::fs::symlink(base.join("foreign"), base.join("oscost-1/link")).unwrap();
        let folder = Folder::open(&base).unwrap();
        let objects = ["oscost-1", "oscost-2", "oscost-3"].map(|name| Object::Folder(name.into()));
        remove(objects, &Scene { folders: Some(&folder), ..HERE });
        assert!(!base.join("oscost-1").exists());
        assert!(base.join("foreign/file").exists());
        std::fs::remove_dir_all(&base).unwrap();
    }

    /// Three levels below it are ours; what lies deeper no run has made.
    #[test]
    fn a_folder_goes_with_three_levels_of_folders_and_no_more() {
        let base = std::env::temp_dir().join(format!("oscost-test-{}", key()));
        for (name, levels) in [("oscost-1", "a/b/c"), ("oscost-2", "a/b/c/d")] {
            std::fs::create_dir_all(base.join(name).join(levels)).unwrap();
        }
        let folder = Folder::open(&base).unwrap();
        let objects = ["oscost-1", "oscost-2"].map(|name| Object::Folder(name.into()));
        remove(objects.clone(), &HERE);
        assert!(base.join("oscost-1").exists(), "nobody knows where it is");
        remove(objects, &Scene { folders: Some(&folder), ..HERE });
        let left = ["oscost-1", "oscost-2"].map(|name| base.join(name).exists());
        std::fs::remove_dir_all(&base).unwrap();
        assert_eq!(left, [false, true]);
    }

    /// As root alone one can make what is another user's.
    #[test]
    fn a_folder_of_another_users_stays() {
        let base = std::env::temp_dir().join(format!("oscost-test-{}", key()));
        std::fs::create_dir_all(base.join("oscost-1")).unwrap();
        let is_theirs = std::os::unix::fs::chown(base.join("oscost-1"), Some(1), None).is_ok();
        let folder = Folder::open(&base).unwrap();
        remove([Object::Folder("oscost-1".into())], &Scene { folders: Some(&folder), ..HERE });
        let stays = base.join("oscost-1").exists();
        std::fs::remove_dir_all(&base).unwrap();
        assert_eq!(stays, is_theirs);
    }

    /// A named semaphore, a queue and a socket, each where a namespace has it.
    #[test]
    fn what_has_a_name_goes_where_it_is_the_callers() {
        use oscost_sys::semaphore::NamedSemaphore;
        let name = format!("oscost-{:032x}", oscost_sys::random::bits().unwrap());
        let slashed = format!("/{name}");
        let path = |start: &str| std::path::Path::new("/dev/shm").join(format!("{start}{name}"));
        let Ok(memory) = Folder::open(std::path::Path::new("/dev/shm")) else { return };
        let Ok(semaphore) = NamedSemaphore::create(&slashed, 1) else {
            return println!("SKIP what_has_a_name_goes: no named semaphores here");
        };
        std::mem::forget(semaphore);
        std::os::unix::net::UnixListener::bind(path("")).unwrap();
        let objects = || [Object::NamedSemaphore(slashed.clone()), Object::Socket(name.clone())];
        remove(objects(), &HERE);
        assert_eq!(
            (path("sem.").exists(), path("").exists()),
            (false, true),
            "nobody said where sockets are"
        );
        remove(objects(), &Scene { memory: Some(&memory), ..HERE });
        assert!(!path("").exists());
        assert!(objects().iter().all(|it| !it.outlives_namespaces()));
    }
}
