//! Input of the checks: files below a root, which only this file reads, and measurements made before the checks.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use oscost_sys::folder::Folder;

use super::measured::MachineFacts;

/// Longest file that is read: a longer one is refused, because a check of its head would be a check of half the facts.
const MOST_BYTES: u64 = 1 << 20;
/// Most entries of a directory that are looked at.
const MOST_ENTRIES: usize = 65_536;

/// The system that is examined. Tests examine a directory of recorded files, and measurements that they made up.
#[derive(Debug)]
pub struct System {
    root: PathBuf,
    /// What no file says.
    pub measured: MachineFacts,
}

/// Why there is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoText {
    /// No such file.
    NotThere,
    /// The file is there, and may not be read.
    Refused,
    /// Longer than anything that belongs there.
    TooLong,
    /// Reading failed.
    Failed(std::io::ErrorKind),
}

impl fmt::Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere => f.write_str("not there"),
            Self::Refused => f.write_str("permission denied"),
            Self::TooLong => f.write_str("longer than 1 MiB"),
            Self::Failed(kind) => write!(f, "{kind}"),
        }
    }
}

impl From<std::io::Error> for NoText {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Self::NotThere,
            std::io::ErrorKind::PermissionDenied => Self::Refused,
            kind => Self::Failed(kind),
        }
    }
}

impl System {
    /// The system whose files lie below `root` ("/" for the one that runs).
    #[must_use]
    pub fn new(root: &Path, measured: MachineFacts) -> Self {
        Self { root: root.to_owned(), measured }
    }

    /// The running system, with nothing measured.
    #[must_use]
    pub fn unmeasured() -> Self {
        Self::new(Path::new("/"), MachineFacts::default())
    }

    /// A whole file. Bytes that are no UTF-8 are replaced; everything else is kept as it is, and escaped when it is shown.
    ///
    /// # Errors
    /// Why there is no text.
    pub fn text(&self, path: &str) -> Result<String, NoText> {
        let text = self.head(path, MOST_BYTES + 1)?;
        if text.len() as u64 > MOST_BYTES { Err(NoText::TooLong) } else { Ok(text) }
    }

    /// The first bytes of a file, at most `most`.
    ///
    /// # Errors
    /// Why there is no text.
    pub fn head(&self, path: &str, most: u64) -> Result<String, NoText> {
        let mut bytes = Vec::new();
        oscost_sys::file::regular(self.path(path))?.take(most).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file of one line, without the line's end.
    ///
    /// # Errors
    /// Why there is no text.
    pub fn line(&self, path: &str) -> Result<String, NoText> {
        let mut text = self.text(path)?;
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    /// Names in a directory, ascending; a directory with absurdly many is cut.
    ///
    /// # Errors
    /// Why it cannot be listed.
    pub fn names(&self, path: &str) -> Result<Vec<String>, NoText> {
        let mut names: Vec<String> = Folder::names_at(self.path(path))
            .map_err(|error| std::io::Error::from_raw_os_error(error.errno))?
            .into_iter()
            .take(MOST_ENTRIES)
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Where a symbolic link points to; `None` where there is none, or it may not be seen.
    #[must_use]
    pub fn link(&self, path: &str) -> Option<String> {
        Some(std::fs::read_link(self.path(path)).ok()?.to_string_lossy().into_owned())
    }

    /// Whether there is such a file or directory.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Value of a "Key: value" line of /proc/self/status; `None` where it does not say.
    #[must_use]
    pub fn own_status(&self, key: &str) -> Option<String> {
        let status = self.text("/proc/self/status").ok()?;
        status.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned()))
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

#[cfg(test)]
pub(crate) mod recorded {
    //! A directory of recorded files for the tests of the checks.

    use super::super::Finding;
    use super::{MachineFacts, System};
    pub(crate) use oscost_results::CheckState::{self, Disturbs, Fine, Unknown};

    impl Finding {
        /// Fails unless it is in this state and says this; "..." at an end stands for anything.
        #[track_caller]
        pub(crate) fn is(&self, state: CheckState, says: &str) -> &Self {
            assert_eq!(self.state, state, "{}", self.says);
            self.says(says)
        }

        #[track_caller]
        pub(crate) fn says(&self, says: &str) -> &Self {
            let words = says.trim_start_matches("...");
            let (open, words) = (words.len() < says.len(), words.trim_end_matches("..."));
            let found = match (open, says.ends_with("...")) {
                (false, false) => self.says == words,
                (true, false) => self.says.ends_with(words),
                (false, true) => self.says.starts_with(words),
                (true, true) => self.says.contains(words),
            };
            assert!(found, "{says:?}: {}", self.says);
            self
        }
    }

    /// A system of these files (path, text), gone when it is dropped.
    pub(crate) struct Recorded {
        pub(crate) system: System,
        directory: tempfile::TempDir,
    }

    impl Recorded {
        pub(crate) fn new(files: &[(&str, &str)]) -> Self {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let system = System::new(directory.path(), MachineFacts::default());
            let recorded = Self { system, directory };
            for (path, text) in files {
                recorded.write(path, text);
            }
            recorded
        }

        pub(crate) fn with(mut self, change: impl FnOnce(&mut MachineFacts)) -> Self {
            change(&mut self.system.measured);
            self
        }

        pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
            let path = self.parent(path);
            std::fs::write(path, text).expect("write");
        }

        pub(crate) fn link(&self, path: &str, target: &str) {
            std::os::unix::fs::symlink(target, self.parent(path)).expect("link");
        }

        fn parent(&self, path: &str) -> std::path::PathBuf {
            let path = self.directory.path().join(path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            path
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NoText;
    use super::recorded::Recorded;

    #[test]
    fn hostile_text_comes_through_as_it_is() {
        let hostile = "tsc\u{1b}[31m\u{202e}\r<script>\n\n";
        let recorded = Recorded::new(&[("a", hostile)]);
        assert_eq!(recorded.system.text("/a"), Ok(hostile.to_owned()));
        assert_eq!(recorded.system.line("/a"), Ok("tsc\u{1b}[31m\u{202e}\r<script>".to_owned()));
        recorded.write("b", b"x\xff\xfey");
        assert_eq!(recorded.system.text("b"), Ok("x\u{fffd}\u{fffd}y".to_owned()));
    }

    #[test]
    fn what_is_not_there_and_what_is_too_long_is_said() {
        let recorded = Recorded::new(&[("a", ""), ("d/x", "")]);
        assert_eq!(recorded.system.text("none"), Err(NoText::NotThere));
        assert_eq!(recorded.system.text("a/b"), Err(NoText::NotThere));
        assert!(matches!(recorded.system.text("d"), Err(NoText::Failed(_))));
        recorded.write("long", vec![b'x'; (1 << 20) + 1]);
        assert_eq!(recorded.system.text("long"), Err(NoText::TooLong));
        recorded.write("long", vec![b'x'; 1 << 20]);
        assert!(recorded.system.text("long").is_ok());
        assert_eq!(recorded.system.names("d"), Ok(vec!["x".to_owned()]));
    }
}
