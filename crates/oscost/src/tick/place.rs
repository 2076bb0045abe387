//! A folder to meet in: opened or made, examined, and tidied up behind a server.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::{Duration, Instant};

use oscost_results::Untrusted;
use oscost_sys::folder::Folder as Held;
use oscost_sys::{CallError, identity};

use crate::exit::Ended;

/// Names in the folder.
pub const SERVER: &str = "server";
pub const SENDER: &str = "sender";
pub const CLIENT: &str = "client-";
/// An empty file by which version 0.2.0 marked a folder that it had made.
const OLD_MARK: &str = "made-by-oscost";

/// A folder to meet in, and where it is.
pub struct Place {
    parent: Held,
    name: OsString,
    pub held: Held,
    /// Whether this process has made it.
    is_made: bool,
}

impl Place {
    /// Opens it in the folder that holds its name.
    pub fn open(parent: &Held, name: &OsStr) -> Result<Self, CallError> {
        let held = parent.folder(name)?;
        Ok(Self { parent: parent.again()?, name: name.to_owned(), held, is_made: false })
    }

    /// Opens it, and makes it where it does not exist, marked.
    pub fn make(path: &Path, parent: &Held, name: &OsStr) -> Result<Self, Ended> {
        // What can fail comes before there is a folder to leave behind.
        let again = parent.again().map_err(|error| unmade(path, error))?;
        match parent.make_marked_folder(name) {
            Ok(held) => Ok(Self { parent: again, name: name.to_owned(), held, is_made: true }),
            Err(error) if error.symbol() == Some("EEXIST") => {
                let place = Self::open(parent, name).map_err(|error| unopened(path, error))?;
                place.check(path)?;
                Ok(place)
            }
            Err(error) => Err(unmade(path, error)),
        }
    }

    /// A folder that others may enter, or that another user made under a name that can be guessed, is none to meet in.
    pub fn check(&self, path: &Path) -> Result<(), Ended> {
        let found =
            self.held.status().map_err(|error| unfit(path, &format!("cannot be examined: {error}")))?;
        let own = identity::effective_uid();
        if found.uid != own {
            return Err(unfit(path, &format!("belongs to user {}, not to {own}", found.uid)));
        }
        if found.mode & 0o077 != 0 {
            return Err(unfit(
                path,
                "may be entered by other users; name a folder of your own: mkdir -m 700 FOLDER",
            ));
        }
        Ok(())
    }

    pub fn is_removed(&self) -> bool {
        self.held.status().is_ok_and(|found| found.is_removed)
    }

    /// Tidies up behind a server that is gone, as soon as its lock is free. Where the next server has the lock, that server
    /// tidies up: this one gives up after a while. In a folder that is none to meet in no server was.
    pub fn tidy_up_behind(&self, patience: Duration) {
        if self.check(Path::new(&self.name)).is_err() {
            return;
        }
        let begun = Instant::now();
        while self.held.try_lock() != Ok(true) {
            if begun.elapsed() > patience {
                return;
            }
            oscost_sys::clock::pause(Duration::from_millis(5));
        }
        self.tidy_up();
    }

    /// Removes sockets of ours, by their mark. Whatever else has such a name was made by somebody else, and stays.
    pub fn sweep(&self) {
        // A sandbox may refuse to list the folder. What a server makes itself has names that are known.
        let known = || [SERVER, SENDER].map(OsString::from).to_vec();
        for name in self.held.names().unwrap_or_else(|_| known()) {
            let text = name.to_string_lossy();
            if text == SERVER || text == SENDER || text.starts_with(CLIENT) {
                let _ = self.held.remove_marked_socket(&name);
            }
        }
    }

    /// Removes sockets of ours, and the folder where a server made it and nobody has put anything there. The caller has the
    /// lock.
    pub fn tidy_up(&self) {
        self.sweep();
        let was_made = self.held.remove(OsStr::new(OLD_MARK)).is_ok();
        let is_marked = self.held.status().is_ok_and(|found| found.is_marked());
        if self.is_made || is_marked || was_made {
            self.remove();
        }
    }

    /// Removes the folder if this process has made it and it is empty, without a lock: nobody else had time to put anything there.
    pub fn unmake(&self) {
        if self.is_made {
            self.remove();
        }
    }

    fn remove(&self) {
        let same = |other: Held| {
            let (own, other) = (self.held.status(), other.status());
            matches!((own, other), (Ok(own), Ok(other)) if own.identity == other.identity)
        };
        if self.parent.folder(&self.name).is_ok_and(same) {
            let _ = self.parent.remove_folder(&self.name);
        }
    }
}

pub fn shown(path: &Path) -> String {
    Untrusted::new(&path.to_string_lossy()).terminal().to_string()
}

pub fn unfit(path: &Path, why: &str) -> Ended {
    Ended::unfit(format!("{} {why}", shown(path)))
}

pub fn unmade(path: &Path, error: CallError) -> Ended {
    unfit(path, &format!("cannot be made: {error}"))
}

pub fn unopened(path: &Path, error: CallError) -> Ended {
    unfit(path, &format!("cannot be opened as a folder: {error}"))
}
