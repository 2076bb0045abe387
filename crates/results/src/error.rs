//! Errors that name a file. Their texts are safe for a terminal, whatever the file is called.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Refused, Untrusted, Unwritable};

/// What is done to the store and to nothing else.
const STORING: [&str; 5] = ["list", "use", "tidy", "store results in", "save"];

/// A call of the system that failed, and on which path.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}{}", shown(path), self.remedy())]
#[non_exhaustive]
pub struct PathError {
    /// What was tried, as a verb ("read", "save").
    pub action: &'static str,
    /// On which file or directory.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl PathError {
    /// What to do about it, where that is plain.
    fn remedy(&self) -> String {
        /// EMFILE of every Unix.
        const TOO_MANY: i32 = 24;
        if cfg!(unix) && self.source.raw_os_error() == Some(TOO_MANY) {
            return "; allow more open files: ulimit -n 1024".to_owned();
        }
        if self.path.as_os_str().is_empty() {
            return "; give it a name".to_owned();
        }
        if STORING.contains(&self.action) {
            return "; XDG_STATE_HOME=FOLDER keeps results elsewhere".to_owned();
        }
        if self.action == "read" && self.source.kind() == io::ErrorKind::NotFound {
            return "; oscost report @all lists the stored runs".to_owned();
        }
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.filter(|_| self.action == "write" && self.source.kind() == io::ErrorKind::NotFound) {
            Some(folder) => format!("; make its folder first: mkdir -p {}", shown(folder)),
            None => String::new(),
        }
    }

    /// For `map_err`.
    pub(crate) fn of(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { action, path, source }
    }
}

/// Why there is no store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no place to keep results: neither XDG_STATE_HOME nor HOME names a directory. Set HOME, or XDG_STATE_HOME=/dev/null to keep none"
)]
pub struct NoHome;

/// Why a result was not saved. Whatever was stored before is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// It can be no file.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// The system refused: disk full, no permission.
    #[error(transparent)]
    Io(#[from] PathError),
}

/// Why a file was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] PathError),
    /// It was read, and is no usable result.
    #[error("{}: {reason}", shown(path))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: Refused,
    },
}

/// Why a reference to stored results (`@-1`, `@all`, a name, a path) yields none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// It starts with `@` and means nothing.
    #[error("{} means no stored run: @-1 is the newest, @-2 the one before, @all every one", Untrusted::new(reference).terminal())]
    Unknown {
        /// As given.
        reference: String,
    },
    /// Fewer runs are stored.
    #[error("{}: {stored} stored in {}; `oscost run` adds one", Untrusted::new(reference).terminal(), shown(directory))]
    TooFew {
        /// As given.
        reference: String,
        /// How many there are, in words.
        stored: Count,
        /// Where.
        directory: PathBuf,
    },
    /// The user wants nothing to be stored.
    #[error("{}: XDG_STATE_HOME is /dev/null, so nothing is stored; name the file of a result", Untrusted::new(reference).terminal())]
    Nowhere {
        /// As given.
        reference: String,
    },
    /// There is no store.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// The store or a named file could not be read, or is no result.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A stored run that was asked for by its place cannot be used.
    #[error("{error}; {before}")]
    Unusable {
        /// Why.
        error: LoadError,
        /// What can be shown instead.
        before: String,
    },
}

/// A number of runs, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub usize);

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("no run is"),
            1 => f.write_str("1 run is"),
            count => write!(f, "{count} runs are"),
        }
    }
}

/// Why nothing is kept for the case of a kill, or cannot be used after one. A warning: the run itself goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A record holds what JSON does not.
    #[error("a journal record is not written: {0}")]
    Unwritable(String),
    /// A killed run left a journal that no result can be made of.
    #[error(
        "the journal of a killed run cannot be used ({}), and its measurements are lost. It is now called {}: remove it, or send it with a defect report",
        Untrusted::new(why).terminal(), shown(path)
    )]
    Unusable {
        /// Where it is now.
        path: PathBuf,
        /// Why it cannot be used.
        why: String,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] PathError),
}

fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return "''".to_owned();
    }
    Untrusted::new(&path.to_string_lossy()).terminal().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_path_says_what_to_do() {
        let of = |action, path: &str, errno| {
            PathError::of(action, Path::new(path))(io::Error::from_raw_os_error(errno)).to_string()
        };
        assert!(
            of("read", "", 2).starts_with("cannot read '': ")
                && of("read", "", 2).ends_with("give it a name")
        );
        assert!(of("read", "r.json", 2).ends_with("oscost report @all lists the stored runs"));
        assert!(of("list", "/x/runs", 13).ends_with("XDG_STATE_HOME=FOLDER keeps results elsewhere"));
        assert!(of("write", "a/b", 2).ends_with("mkdir -p a"));
        if cfg!(unix) {
            assert!(of("read", "r.json", 24).ends_with("ulimit -n 1024"));
        }
    }
}
