//! The store: one immutable file a run, in `$XDG_STATE_HOME/oscost/runs`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::error::Count;
use crate::place::{Directory, NewFile, Owner, PRIVATE};
use crate::{
    LoadError, MAX_BYTES, NoHome, PathError, ReferenceError, Refused, RunName, RunResult, SaveError,
    from_bytes, to_bytes,
};

const ENDING: &str = ".json";

/// Where runs are kept. Making one touches nothing; the directory is made when something is stored.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
    owner: Option<Owner>,
}

impl Store {
    /// The user's store. Under sudo it is the invoking user's, and so is what is put into it.
    ///
    /// # Errors
    /// The environment names no directory.
    pub fn of_user() -> Result<Self, NoHome> {
        let owner = Owner::invoking_sudo();
        let directory = state_home(|name| std::env::var_os(name), owner.as_ref())?.join("oscost/runs");
        Ok(Self { directory, owner })
    }

    /// A store in a given directory.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), owner: Owner::invoking_sudo() }
    }

    /// Its directory, which need not exist yet.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory (0700) if it is missing, and removes what a killed writer left in it. To be called before
    /// measuring: an error is a warning then, that the result will not be kept.
    ///
    /// # Errors
    /// The directory cannot be made, or not be written.
    pub fn prepare(&self) -> Result<(), PathError> {
        let directory = self.open()?;
        directory.sweep().map_err(PathError::of("tidy", &self.directory))?;
        NewFile::begin(&directory, PRIVATE).map_err(PathError::of("write to", &self.directory))?;
        Ok(())
    }

    /// Saves a run for good, and returns its path. The file is on the disk, whole, or there is none.
    ///
    /// # Errors
    /// Nothing was stored, and nothing that was stored before has changed. A run is stored once: its name is taken then.
    pub fn save(&self, name: &RunName, result: &RunResult) -> Result<PathBuf, SaveError> {
        let bytes = to_bytes(result)?;
        let file_name = name.file(ENDING);
        let path = self.directory.join(&file_name);
        let directory = self.open()?;
        let save = || {
            let mut new = NewFile::begin(&directory, PRIVATE)?;
            new.file().write_all(&bytes)?;
            new.publish(&file_name)
        };
        save().map_err(PathError::of("save", &path))?;
        Ok(path)
    }

    /// Paths of the stored runs, the newest last. A store that was never written to has none.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn runs(&self) -> Result<Vec<PathBuf>, PathError> {
        let entries = match std::fs::read_dir(&self.directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(PathError::of("read", &self.directory))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(PathError::of("read", &self.directory))?.file_name();
            names.extend(name.to_str().and_then(|name| RunName::of_file(name, ENDING)));
        }
        names.sort();
        Ok(names.iter().map(|name| self.directory.join(name.file(ENDING))).collect())
    }

    /// The directory, made if it is missing.
    pub(crate) fn open(&self) -> Result<Directory, PathError> {
        Directory::make(&self.directory, self.owner.clone()).map_err(PathError::of("use", &self.directory))
    }

    /// Whether this run has been saved.
    pub(crate) fn has(&self, name: &RunName) -> bool {
        self.directory.join(name.file(ENDING)).exists()
    }

    /// What a reference that starts with `@` stands for.
    fn resolve(&self, reference: &str) -> Result<Vec<PathBuf>, ReferenceError> {
        let mut runs = self.runs().map_err(LoadError::from)?;
        let stored = runs.len();
        let too_few = || ReferenceError::TooFew {
            reference: reference.to_owned(),
            stored: Count(stored),
            directory: self.directory.clone(),
        };
        if reference == "@all" {
            return if runs.is_empty() { Err(too_few()) } else { Ok(runs) };
        }
        let back =
            reference.strip_prefix("@-").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let back = back.and_then(|digits| digits.parse::<usize>().ok()).filter(|&back| back > 0);
        let back = back.ok_or_else(|| ReferenceError::Unknown { reference: reference.to_owned() })?;
        let index = stored.checked_sub(back).ok_or_else(too_few)?;
        Ok(vec![runs.swap_remove(index)])
    }
}

/// Reads one result.
///
/// # Errors
/// The file cannot be read, or is no result of this or an older version.
pub fn load(path: &Path) -> Result<RunResult, LoadError> {
    let refused = |reason| LoadError::Refused { path: path.to_owned(), reason };
    let file = File::open(path).map_err(PathError::of("read", path))?;
    if file.metadata().map_err(PathError::of("read", path))?.len() > MAX_BYTES {
        return Err(refused(Refused::TooLarge));
    }
    // Not every file tells its size, and one may grow: one byte too many is enough to know.
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(PathError::of("read", path))?;
    from_bytes(&bytes).map_err(refused)
}

/// Results by reference, in the order asked for, and the files of `@all` that could not be used.
#[derive(Debug)]
pub struct Loaded {
    /// Path and result.
    pub results: Vec<(PathBuf, RunResult)>,
    /// Damaged files in the store: to be reported, and no reason to show nothing.
    pub unusable: Vec<LoadError>,
}

/// Loads results: `@-1` is the newest run of the user's store, `@-2` the one before, `@all` every one (newest last),
/// anything else a path.
///
/// # Errors
/// A reference means nothing, or a file that was asked for by itself cannot be used.
pub fn load_references<S: AsRef<str>>(references: &[S]) -> Result<Loaded, ReferenceError> {
    load_from(Store::of_user, references)
}

fn load_from<S: AsRef<str>>(
    store: impl Fn() -> Result<Store, NoHome>,
    references: &[S],
) -> Result<Loaded, ReferenceError> {
    let mut loaded = Loaded { results: Vec::new(), unusable: Vec::new() };
    for reference in references.iter().map(AsRef::as_ref) {
        let paths = if reference.starts_with('@') {
            store()?.resolve(reference)?
        } else {
            vec![PathBuf::from(reference)]
        };
        for path in paths {
            match load(&path) {
                Ok(result) => loaded.results.push((path, result)),
                Err(error) if reference == "@all" => loaded.unusable.push(error),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(loaded)
}

/// Directory of the user's state (XDG Base Directory Specification 0.8: relative paths are ignored).
fn state_home(variable: impl Fn(&str) -> Option<OsString>, owner: Option<&Owner>) -> Result<PathBuf, NoHome> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| {
            let home = owner.and_then(|owner| owner.home.clone()).or_else(|| absolute("HOME"));
            home.map(|home| home.join(".local/state"))
        })
        .ok_or(NoHome)
}
