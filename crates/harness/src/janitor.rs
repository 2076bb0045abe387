//! The janitor: removes kernel objects that outlive a process, where workers cannot be given private namespaces.
//!
//! It is started before any object exists, in a session of its own, ignores the signals by which a user ends a program,
//! and reads what was made from a pipe. When every process that holds the other end is gone, whoever was killed how, it
//! removes what is left and ends. What it cannot survive is a kill of every process at once (a cgroup's): the result says
//! that it was the janitor who watched.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};

use oscost_sys::{CallError, process, semaphore, system_v_queue};

/// First argument by which the program is started as the janitor.
pub const JANITOR_ARGUMENT: &str = "__janitor";

/// Of which a worker in private namespaces has one of its own.
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

/// An object that the kernel keeps when its maker dies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    /// A System V semaphore set, by identifier.
    SystemVSemaphore(i32),
    /// A POSIX semaphore, by name.
    NamedSemaphore(String),
    /// A System V message queue, by identifier.
    SystemVQueue(i32),
    /// A Unix socket, by path.
    Socket(String),
    /// A directory of our own that holds plain files, and directories of plain files, alone, by path.
    Directory(String),
}

impl Object {
    fn to_line(&self) -> String {
        match self {
            Self::SystemVSemaphore(id) => format!("system_v_semaphore {id}\n"),
            Self::NamedSemaphore(name) => format!("named_semaphore {name}\n"),
            Self::SystemVQueue(id) => format!("system_v_queue {id}\n"),
            Self::Socket(path) => format!("socket {path}\n"),
            Self::Directory(path) => format!("directory {path}\n"),
        }
    }

    fn from_line(line: &str) -> Option<Self> {
        match line.split_once(' ')? {
            ("system_v_semaphore", id) => id.parse().ok().map(Self::SystemVSemaphore),
            ("system_v_queue", id) => id.parse().ok().map(Self::SystemVQueue),
            ("socket", path) => Some(Self::Socket(path.to_owned())),
            ("directory", path) => Some(Self::Directory(path.to_owned())),
            ("named_semaphore", name) => Some(Self::NamedSemaphore(name.to_owned())),
            _ => None,
        }
    }

    /// Whether it stays when the private namespaces of its maker are gone, /dev/shm among them. An identifier of such a
    /// namespace would be somebody else's outside.
    fn outlives_namespaces(&self) -> bool {
        matches!(self, Self::Directory(path) if !std::path::Path::new(path).starts_with(SHARED_MEMORY))
    }

    /// Removes the object; that it is gone already is the normal case.
    fn remove(&self) {
        let _ = match self {
            Self::SystemVSemaphore(id) => semaphore::remove_system_v(*id),
            Self::NamedSemaphore(name) => semaphore::remove_named(name),
            Self::SystemVQueue(id) => system_v_queue::remove(*id),
            Self::Socket(path) => {
                remove_socket(path);
                Ok(())
            }
            Self::Directory(path) => {
                remove_directory(path);
                Ok(())
            }
        };
    }
}

/// Removes what has this name if it is a socket.
fn remove_socket(path: &str) {
    use std::os::unix::fs::FileTypeExt;
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        let _ = std::fs::remove_file(path);
    }
}

/// Removes the plain files of a directory that has a name of ours and of the directories in it, and what is empty then.
/// What is behind a symbolic link is left alone.
fn remove_directory(path: &str) {
    let path = std::path::Path::new(path);
    let is_ours = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"oscost-"));
    if !is_ours || !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|found| found.is_dir()) {
            remove_files(&entry.path());
        }
    }
    remove_files(path);
}

/// Removes plain files, and the directory that held them if nothing else is in it.
fn remove_files(directory: &std::path::Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|found| found.is_file()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(directory);
}

/// Where a set-up declares what it has made. In private namespaces there is nothing to declare but files outside them.
#[derive(Debug, Default)]
pub struct Keeper {
    pipe: Option<File>,
    private: bool,
}

impl Keeper {
    /// A keeper in a process whose objects vanish with it.
    #[must_use]
    pub fn in_private_namespaces() -> Self {
        Self { pipe: None, private: true }
    }

    /// The same, of a janitor at the other end of `pipe` who removes directories that no namespace holds.
    #[must_use]
    pub fn of_files(pipe: OwnedFd) -> Self {
        Self { pipe: Some(pipe.into()), private: true }
    }

    /// A keeper that tells the janitor at the other end of `pipe`.
    #[must_use]
    pub fn of_janitor(pipe: OwnedFd) -> Self {
        Self { pipe: Some(pipe.into()), private: false }
    }

    /// Another keeper of the same janitor, for what makes its objects after its set-up.
    ///
    /// # Errors
    /// The error of fcntl.
    pub fn another(&self) -> Result<Self, CallError> {
        let pipe = self.pipe.as_ref().map(File::try_clone).transpose();
        let pipe = pipe.map_err(|error| CallError::new("fcntl", error.raw_os_error().unwrap_or(0)))?;
        Ok(Self { pipe, private: self.private })
    }

    /// Declares an object that was made just now.
    ///
    /// # Errors
    /// The error of write: the janitor is gone, and the object must be removed by its maker at once.
    pub fn keep(&mut self, object: &Object) -> Result<(), CallError> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        if self.private && !object.outlives_namespaces() {
            return Ok(());
        }
        pipe.write_all(object.to_line().as_bytes())
            .map_err(|error| CallError::new("write", error.raw_os_error().unwrap_or(0)))
    }
}

/// A running janitor, seen from the supervisor.
#[derive(Debug)]
pub struct Janitor {
    pipe: OwnedFd,
}

impl Janitor {
    /// Starts a janitor from the program itself. It ends by itself when the last end of its pipe is closed.
    ///
    /// # Errors
    /// The error of pipe2 or of starting a program.
    pub fn start(program: &std::path::Path) -> Result<Self, CallError> {
        let pipe = oscost_sys::pipe::Pipe::new()?;
        Command::new(program)
            .arg(JANITOR_ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(pipe.reader))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| CallError::new("exec", error.raw_os_error().unwrap_or(0)))?;
        Ok(Self { pipe: pipe.writer })
    }

    /// Number of the descriptor that workers inherit, to write to.
    #[must_use]
    pub fn descriptor(&self) -> i32 {
        self.pipe.as_raw_fd()
    }

    /// Lets workers inherit the pipe.
    ///
    /// # Errors
    /// The error of fcntl.
    pub fn share(&self) -> Result<(), CallError> {
        process::keep_over_exec(&self.pipe)
    }
}

/// What the program does when it is started as the janitor.
pub fn serve(input: impl std::io::Read) {
    process::ignore_endings();
    // Fails only for a leader of a group, and a fresh child is none unless a shell made it one: then it is a session away
    // from nothing that matters.
    let _ = process::new_session();
    let mut objects = Vec::new();
    for line in BufReader::new(input).lines() {
        match line {
            Ok(line) => objects.extend(Object::from_line(&line)),
            Err(_) => break,
        }
    }
    objects.iter().for_each(Object::remove);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        for object in [
            Object::SystemVSemaphore(17),
            Object::NamedSemaphore("/oscost-1f".into()),
            Object::Socket("/dev/shm/oscost-1f-0".into()),
            Object::Directory("/dev/shm/oscost-1f".into()),
        ] {
            assert_eq!(Object::from_line(object.to_line().trim_end()), Some(object));
        }
        assert_eq!(Object::from_line("system_v_semaphore x"), None);
        assert_eq!(Object::from_line("rubbish"), None);
    }

    #[test]
    fn nothing_but_a_socket_is_removed_as_one() {
        let directory = std::env::temp_dir().join(format!("oscost-janitor-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a folder");
        let (file, socket) = (directory.join("file"), directory.join("socket"));
        std::fs::write(&file, "x").expect("written");
        let listener = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
        for path in [&file, &socket] {
            Object::Socket(path.to_string_lossy().into_owned()).remove();
        }
        assert!(file.exists() && !socket.exists());
        drop(listener);
        std::fs::remove_dir_all(&directory).expect("removed");
    }

    #[test]
    fn what_was_declared_is_removed_at_the_end_of_the_pipe() {
        let set = semaphore::SystemV::new(1).expect("semget");
        let id = set.id();
        std::mem::forget(set); // as if its maker had been killed
        let child = process::Child::fork(|| {
            serve(Object::SystemVSemaphore(id).to_line().as_bytes());
            0
        })
        .expect("fork");
        assert_eq!(child.wait().expect("wait").code, Some(0));
        assert!(semaphore::remove_system_v(id).is_err(), "the janitor has removed it");
    }

    /// Identifiers and names of a private namespace would be somebody else's outside; files are outside.
    #[test]
    fn of_private_namespaces_only_files_outside_them_are_declared() {
        let told = |keeper: fn(OwnedFd) -> Keeper| {
            let pipe = oscost_sys::pipe::Pipe::new().unwrap();
            let mut keeper = keeper(pipe.writer);
            for object in [
                Object::SystemVSemaphore(17),
                Object::Directory("/dev/shm/oscost-1".into()),
                Object::Directory("/mnt/oscost-2".into()),
            ] {
                keeper.another().unwrap().keep(&object).unwrap();
            }
            drop(keeper.pipe.take());
            std::io::read_to_string(File::from(pipe.reader)).unwrap().lines().count()
        };
        assert_eq!(told(Keeper::of_files), 1);
        assert_eq!(told(Keeper::of_janitor), 3);
        assert!(Keeper::in_private_namespaces().keep(&Object::SystemVQueue(1)).is_ok());
    }

    #[test]
    fn a_directory_goes_with_its_plain_files_if_its_name_is_ours_and_nothing_else_is_in_it() {
        let base = std::env::temp_dir().join(format!("janitor-{}", std::process::id()));
        let make = |name: &str| {
            let path = base.join(name);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("db.idx"), b"x").unwrap();
            path
        };
        let (ours, foreign, nested) = (make("oscost-1"), make("other"), make("oscost-2"));
        std::fs::create_dir_all(nested.join("deep/deeper")).unwrap();
        std::fs::create_dir(ours.join("db.locks")).unwrap();
        std::fs::write(ours.join("db.locks/0"), b"x").unwrap();
        let link = base.join("oscost-3");
        std::os::unix::fs::symlink(&foreign, &link).unwrap();
        for path in [&ours, &foreign, &nested, &link] {
            Object::Directory(path.to_str().unwrap().to_owned()).remove();
        }
        assert!(!ours.exists());
        assert!(foreign.join("db.idx").exists());
        assert!(nested.join("deep").exists() && !nested.join("db.idx").exists());
        std::fs::remove_dir_all(&base).unwrap();
    }
}
