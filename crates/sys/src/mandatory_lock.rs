//! Whether locks of fcntl are mandatory in a directory: found out by trying, since neither the version of the kernel, its
//! configuration nor the mount table tells. Removed in Linux 5.15; later kernels accept the mount option and ignore it.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};

use crate::folder::{Folder, Making, Opening};
use crate::process::Child;
use crate::record_lock::{self, LockKind, Owner, Range};
use crate::{CallError, file_system};

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mandatory {
    /// A read of a byte that another process has locked was refused.
    Enforced,
    /// It was not refused, although the mount has the option `mand`: the kernel ignores it.
    Ignored,
    /// It was not refused, and the mount has no option `mand`.
    NotMounted,
    /// It could not be tried; why.
    CannotTell(String),
}

/// Permissions that ask for mandatory locks: set-group-id without group-execute.
pub const MODE: u32 = 0o2600;

/// Name of the file that is tried.
const NAME: &str = "mandatory";
const SET_GROUP_ID: u32 = 0o2000;
const FIRST: Range = Range { start: 0, length: 1 };
/// What the child ends with when it could not lock.
const REFUSED: i32 = 3;

/// Makes a file in `folder`, has a child lock its first byte, and tries to read that. The file is removed again. The caller
/// has one thread.
#[must_use]
pub fn probe(folder: &Folder) -> Mandatory {
    let seen = tried(folder);
    // Where even that is refused, the folder goes as a whole.
    let _ = folder.remove(OsStr::new(NAME));
    match seen {
        Ok(Some(true)) => Mandatory::Enforced,
        Ok(Some(false)) => match file_system::is_mounted_mand(folder) {
            Ok(true) => Mandatory::Ignored,
            Ok(false) => Mandatory::NotMounted,
            Err(error) => Mandatory::CannotTell(error.to_string()),
        },
        Ok(None) => Mandatory::CannotTell(
            "the set-group-id bit that asks for it was taken off the file: its group is not this user's"
                .into(),
        ),
        Err(error) => Mandatory::CannotTell(error.to_string()),
    }
}

fn failed(call: &'static str) -> impl Fn(std::io::Error) -> CallError {
    move |error| CallError::new(call, error.raw_os_error().unwrap_or(0))
}

/// Whether the read was refused; `None` where the file did not keep its permissions.
fn tried(folder: &Folder) -> Result<Option<bool>, CallError> {
    let name = OsStr::new(NAME);
    let file = folder.file(name, Opening { write: true, making: Making::Always, mode: 0o600 })?;
    file.write_all_at(b"lock", 0).map_err(failed("write"))?;
    file.set_permissions(Permissions::from_mode(MODE)).map_err(failed("fchmod"))?;
    if file.metadata().map_err(failed("fstat"))?.mode() & SET_GROUP_ID == 0 {
        return Ok(None);
    }
    let (go_on, done) = (crate::pipe::Pipe::new()?, crate::pipe::Pipe::new()?);
    let child = Child::fork(|| {
        let locked = folder.file(name, Opening { write: true, making: Making::Never, mode: 0 });
        let locked = locked.and_then(|own| {
            record_lock::lock(own.as_fd(), Owner::Process, LockKind::Write, FIRST).map(|()| own)
        });
        let told = crate::pipe::write(&done.writer, b"x");
        let waited = crate::pipe::read(&go_on.reader, &mut [0]);
        if locked.is_ok() && told.is_ok() && waited.is_ok() { 0 } else { REFUSED }
    })?;
    // A child that dies says so by the end of the stream.
    drop(done.writer);
    crate::pipe::read(&done.reader, &mut [0])?;
    // It does not block: an enforced lock would be waited for.
    let reader = folder.file(name, Opening { write: false, making: Making::Never, mode: 0 })?;
    let read = reader.read_at(&mut [0], 0);
    crate::pipe::write(&go_on.writer, b"x")?;
    match child.wait()?.code {
        Some(0) => {}
        _ => return Err(CallError::new("fcntl", libc::ENOLCK)),
    }
    match read {
        Ok(_) => Ok(Some(false)),
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(Some(true)),
        Err(error) => Err(failed("read")(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::code_of;

    #[test]
    fn a_file_without_the_option_is_not_mounted_so_and_nothing_is_left() {
        let ground = tempfile::tempdir().expect("a directory");
        let folder = Folder::open(ground.path()).expect("open");
        let code = code_of(|| match probe(&folder) {
            Mandatory::NotMounted => 0,
            Mandatory::CannotTell(_) => 1,
            Mandatory::Enforced | Mandatory::Ignored => 2,
        });
        if code == Some(1) {
            println!("SKIP a_file_without_the_option_is_not_mounted_so: it cannot be told here");
        } else {
            assert_eq!(code, Some(0));
        }
        assert_eq!(std::fs::read_dir(ground.path()).expect("read").count(), 0, "the file is removed");
    }

    /// What only a kernel before 5.15 enforces; later ones take the option and ignore it. Which of both, the words must say.
    #[test]
    fn a_mount_with_the_option_is_tried_and_not_believed() {
        let ground = tempfile::tempdir().expect("a directory");
        let path = ground.path();
        let code = code_of(|| {
            if crate::namespace::isolate(false).is_err() || crate::namespace::mount_mand(path).is_err() {
                return 1;
            }
            let Ok(folder) = Folder::open(path) else { return 4 };
            if file_system::is_mounted_mand(&folder) != Ok(true) {
                return 1;
            }
            match probe(&folder) {
                Mandatory::Ignored => 0,
                // Then the same without the bit is not enforced either.
                Mandatory::Enforced => 0,
                Mandatory::NotMounted => 2,
                Mandatory::CannotTell(_) => 3,
            }
        });
        if code == Some(1) {
            println!("SKIP a_mount_with_the_option_is_tried: it cannot be mounted here");
        } else {
            assert_eq!(code, Some(0));
        }
    }

    #[test]
    fn where_no_file_can_be_made_it_cannot_be_told() {
        let code =
            code_of(|| match probe(&Folder::open(std::path::Path::new("/proc/self")).expect("open")) {
                Mandatory::CannotTell(_) => 0,
                _ => 1,
            });
        assert_eq!(code, Some(0));
    }
}
