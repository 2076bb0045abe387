//! A directory in which files appear complete or not at all, and vanish if their writer is killed.
//!
//! On Linux a file has no name until it is complete (O_TMPFILE, then linkat). Where the file system has no such thing
//! the file has a temporary name meanwhile, and is locked: a temporary file whose lock is free is a stray, its writer is
//! dead, and [`Directory::sweep`] removes it.

use std::fs::{File, TryLockError};
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
mod owner;
#[cfg(target_os = "linux")]
mod target;
#[cfg(target_os = "linux")]
mod walk;

#[cfg(target_os = "linux")]
pub(crate) use linux::{Directory, names_at};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Directory, Stream, Target, Writer, names_at, read};
pub(crate) use owner::Owner;
#[cfg(target_os = "linux")]
pub(crate) use target::{Stream, Target, Writer, read};

/// Permissions of what oscost stores of its own accord: the owner's alone.
pub(crate) const PRIVATE: u32 = 0o600;

/// The bytes of standard input; `None` if there are more than `most`. Whoever pipes a run waits as long as it measures.
pub(crate) fn read_standard_input(most: u64) -> io::Result<Option<Vec<u8>>> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let why = "standard input is a terminal; pipe a result into it, or name a file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    // Who reads it a second time finds nothing, and would blame what was piped.
    static READ: AtomicBool = AtomicBool::new(false);
    if READ.swap(true, Ordering::Relaxed) {
        let why =
            "standard input can be read once, and it was; write it to a file first, and name that twice";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    read_at_most(stdin.lock(), most)
}

/// A file that is being written: nobody else sees it yet. Dropping it leaves nothing.
pub(crate) struct NewFile {
    directory: Directory,
    file: File,
    /// Its name meanwhile, where a file cannot be without.
    temporary: Option<String>,
}

impl NewFile {
    /// Begins a file with permissions `mode` (less the umask).
    pub(crate) fn begin(directory: &Directory, mode: u32) -> io::Result<Self> {
        match directory.unnamed(mode)? {
            Some(file) => Ok(Self { directory: directory.again()?, file, temporary: None }),
            None => Self::begin_named(directory, mode),
        }
    }

    /// The same under a temporary name, locked for this process.
    pub(crate) fn begin_named(directory: &Directory, mode: u32) -> io::Result<Self> {
        loop {
            let name = temporary_name()?;
            let file = directory.create(&name, mode)?;
            // Between its creation and its lock a sweep may take it for a stray: then it is begun anew. Where there are
            // no locks (some network file systems) no sweep gets one either, and takes nothing.
            let swept =
                matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !directory.has_name(&file)?;
            if !swept {
                return Ok(Self { directory: directory.again()?, file, temporary: Some(name) });
            }
        }
    }

    /// Locks the file for as long as this process has it open.
    pub(crate) fn lock(&self) -> io::Result<()> {
        Ok(self.file.try_lock()?)
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name, once and for all: an existing file of that name is an error and stays as it is.
    /// What was written is on the disk when this returns. The file stays open, and locked if it was, until it is dropped.
    pub(crate) fn publish(mut self, name: &str) -> io::Result<File> {
        self.file.sync_all()?;
        match &self.temporary {
            Some(temporary) => self.directory.name_once(temporary, name)?,
            None => match self.directory.link(&self.file, name) {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    return self.named_copy()?.publish(name);
                }
                linked => linked?,
            },
        }
        self.temporary = None;
        self.directory.sync()?;
        self.file.try_clone()
    }

    /// Gives the file its name; an existing file of that name is replaced in one step, and stays as it is on failure.
    pub(crate) fn replace(mut self, name: &str) -> io::Result<()> {
        self.file.sync_all()?;
        if self.temporary.is_none() {
            match self.directory.link(&self.file, name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let temporary = temporary_name()?;
                    // Else a sweep takes it for the file of a dead writer. Where nothing can be locked, nothing is swept.
                    let _ = self.file.try_lock();
                    self.directory.link(&self.file, &temporary)?;
                    self.temporary = Some(temporary);
                }
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    return self.named_copy()?.replace(name);
                }
                linked => {
                    linked?;
                    return self.directory.sync();
                }
            }
        }
        if let Some(temporary) = &self.temporary {
            self.directory.rename(temporary, name)?;
        }
        self.temporary = None;
        self.directory.sync()
    }

    /// A file without a name cannot always get one (no /proc and no privilege): its bytes move to one that has.
    pub(crate) fn named_copy(mut self) -> io::Result<Self> {
        let mut copy = Self::begin_named(&self.directory, PRIVATE)?;
        copy.file.set_permissions(self.file.metadata()?.permissions())?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut copy.file)?;
        copy.file.flush()?;
        copy.file.sync_all()?;
        Ok(copy)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // What cannot be removed now is a stray for the next sweep.
            let _ = self.directory.remove(temporary);
        }
    }
}

/// A name for a file that is not complete.
fn temporary_name() -> io::Result<String> {
    Ok(format!("{HIDDEN}{}{TEMPORARY}", random_hex()?))
}

const HIDDEN: &str = ".oscost-";
const TEMPORARY: &str = ".tmp";

impl Directory {
    /// Removes temporary files whose writer is dead.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        for name in self.names()? {
            let stray = name
                .strip_prefix(HIDDEN)
                .and_then(|rest| rest.strip_suffix(TEMPORARY))
                .is_some_and(is_random_hex);
            if stray && self.open(&name).is_ok_and(|file| file.try_lock().is_ok()) {
                match self.remove(&name) {
                    // Another sweep was sooner.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    removed => removed?,
                }
            }
        }
        Ok(())
    }
}

/// What `file` holds; `None` if that is more than `most` bytes.
fn read_at_most(file: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    // Not every file tells its size, and one may grow: one byte too many is enough to know.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// 64 random bits: a name that nobody can plant beforehand.
pub(crate) fn random_hex() -> io::Result<String> {
    #[cfg(target_os = "linux")]
    {
        let mut bytes = [0; 8];
        // Eight bytes come in one piece or not at all (getrandom(2)).
        if rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).is_err() {
            io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
        }
        Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::hash::{BuildHasher, Hasher};
        // std seeds it from the system's randomness.
        Ok(format!("{:016x}", std::hash::RandomState::new().build_hasher().finish()))
    }
}

fn is_random_hex(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_whole_or_too_much() {
        let read = |length: usize| read_at_most(&vec![7; length][..], 5).expect("bytes").map(|it| it.len());
        assert_eq!([read(0), read(5), read(6), read(99)], [Some(0), Some(5), None, None]);
    }
}
