//! The store: one immutable file per run, in `$XDG_STATE_HOME/oscost/runs`.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::at_once::by_all_cpus;
use crate::error::Count;
use crate::place::{self, Directory, NewFile, Owner, PRIVATE, names_at};
use crate::{
    LoadError, MAX_BYTES, NoHome, PathError, ReferenceError, Refused, RunName, RunResult, SaveError,
    from_bytes, to_bytes,
};

/// How the name of a stored result ends.
pub(crate) const ENDING: &str = ".json";
/// Value of XDG_STATE_HOME by which a user says that nothing is to be kept.
const NOWHERE: &str = "/dev/null";
/// Where the runs are below the directory of the user's state.
const RUNS: &str = "oscost/runs";

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
        let directory = state_home(|name| std::env::var_os(name), owner.as_ref())?.join(RUNS);
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

    /// Whether the user wants nothing to be kept: XDG_STATE_HOME is /dev/null.
    #[must_use]
    pub fn is_nowhere(&self) -> bool {
        self.directory == Path::new(NOWHERE).join(RUNS)
    }

    /// Makes the directory (0700) if it is missing, and removes what a killed writer left in it. To be called before
    /// measuring: an error is a warning then, that the result will not be kept.
    ///
    /// # Errors
    /// The directory cannot be made, or not be written.
    pub fn prepare(&self) -> Result<(), PathError> {
        let directory = self.open()?;
        directory.sweep().map_err(PathError::of("tidy", &self.directory))?;
        NewFile::begin(&directory, PRIVATE).map_err(PathError::of("store results in", &self.directory))?;
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

    /// Paths of the stored runs, the newest last. A store that was never written to has none, and neither has one that keeps nothing.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn runs(&self) -> Result<Vec<PathBuf>, PathError> {
        if self.is_nowhere() {
            return Ok(Vec::new());
        }
        let entries = match names_at(&self.directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(PathError::of("list", &self.directory))?,
        };
        let named = |name: &OsString| RunName::of_file(name.to_str()?, ENDING);
        let mut names: Vec<RunName> = entries.iter().filter_map(named).collect();
        names.sort();
        Ok(names.iter().map(|name| self.directory.join(name.file(ENDING))).collect())
    }

    /// The directory, made if it is missing.
    pub(crate) fn open(&self) -> Result<Directory, PathError> {
        Directory::make_private(&self.directory, self.owner.clone())
            .map_err(PathError::of("use", &self.directory))
    }

    /// Whether a reference means something in a store: it starts with `@`, or is the name of a run as `Saved as` prints it,
    /// and no file here is called so.
    #[must_use]
    pub fn holds(reference: &str) -> bool {
        reference.starts_with('@') || named(reference).is_some_and(|_| !Path::new(reference).exists())
    }

    /// What a reference that the store [holds](Self::holds) stands for.
    pub(crate) fn resolve(&self, reference: &str) -> Result<Vec<PathBuf>, ReferenceError> {
        if let Some(name) = named(reference) {
            return Ok(vec![self.directory.join(name.file(ENDING))]);
        }
        if self.is_nowhere() {
            return Err(ReferenceError::Nowhere { reference: reference.to_owned() });
        }
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

/// The run that a reference names.
fn named(reference: &str) -> Option<RunName> {
    RunName::of_file(&format!("{reference}{ENDING}"), ENDING)
}

/// Reads one result.
///
/// # Errors
/// The file cannot be read, or is no result of this or an older version.
pub fn load(path: &Path) -> Result<RunResult, LoadError> {
    load_from_any(path, true)
}

fn load_from_any(path: &Path, pipes: bool) -> Result<RunResult, LoadError> {
    from_bytes(&read(path, pipes)?).map_err(|reason| LoadError::Refused { path: path.to_owned(), reason })
}

/// Reads these files of a store, in their order, by all CPUs.
#[must_use]
pub fn load_all(paths: &[PathBuf]) -> Vec<Result<RunResult, LoadError>> {
    by_all_cpus(paths, |path: &PathBuf| load_from_any(path, false))
}

/// The bytes of one result, unless they are more than any result has. Of the store's own entries only files are read; whoever
/// names a pipe wants it read, and whoever names `-` standard input.
pub(crate) fn read(path: &Path, named: bool) -> Result<Vec<u8>, LoadError> {
    let read = if named && is_stdin(path) {
        place::read_standard_input(MAX_BYTES)
    } else {
        place::read(path, MAX_BYTES, named)
    };
    let bytes = read.map_err(PathError::of("read", path))?;
    bytes.ok_or_else(|| LoadError::Refused { path: path.to_owned(), reason: Refused::TooLarge })
}

/// Whether a reference means standard input, which can be read once.
#[must_use]
pub fn is_stdin(reference: impl AsRef<Path>) -> bool {
    reference.as_ref() == Path::new("-")
}

/// Results by reference, in the order asked for, and the files of `@all` that could not be used.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// Path and result.
    pub results: Vec<(PathBuf, RunResult)>,
    /// Damaged files in the store: to be reported, and no reason to show nothing.
    pub unusable: Vec<LoadError>,
}

/// Loads results: `@-1` is the newest run of the user's store, `@-2` the one before, `@all` every one (newest last), the name
/// of a run that run (a file here that is called so comes first), anything else a path.
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
        let is_stored = Store::holds(reference);
        let paths = if is_stored { store()?.resolve(reference)? } else { vec![PathBuf::from(reference)] };
        for path in paths {
            match load_from_any(&path, !is_stored) {
                Ok(result) if is_stdin(&path) => {
                    loaded.results.push((PathBuf::from("standard input"), result));
                }
                Ok(result) => loaded.results.push((path, result)),
                Err(error) if reference == "@all" => loaded.unusable.push(error),
                Err(error) if reference.starts_with("@-") => {
                    let older = reference[2..].parse::<usize>().map_or(0, |back| back + 1);
                    let before = match store()?.runs().map_err(LoadError::from)?.len() {
                        stored if stored < older => "no older run is stored: oscost run adds one".to_owned(),
                        _ => format!("@-{older} is the run before it"),
                    };
                    return Err(ReferenceError::Unusable { error, before });
                }
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SAMPLE: &[u8] = include_bytes!("../tests/samples/v1.json");

    fn sample(note: &str) -> RunResult {
        RunResult { note: Some(note.to_owned()), ..from_bytes(SAMPLE).unwrap() }
    }

    #[test]
    fn files_are_read_in_their_order_by_all_cpus() {
        let home = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..9).map(|at| home.path().join(format!("{at}.json"))).collect();
        for (at, path) in paths.iter().enumerate().skip(1) {
            fs::write(path, crate::to_bytes(&sample(&at.to_string())).unwrap()).unwrap();
        }
        let read = load_all(&paths);
        assert!(matches!(&read[0], Err(LoadError::Io(_))), "there is none: {:?}", read[0]);
        let notes: Vec<_> = read.into_iter().skip(1).map(|it| it.unwrap().note.unwrap()).collect();
        assert_eq!(notes, (1..9).map(|at: u32| at.to_string()).collect::<Vec<_>>());
    }

    fn notes(loaded: &Loaded) -> Vec<&str> {
        loaded.results.iter().filter_map(|(_, result)| result.note.as_deref()).collect()
    }

    fn name(second: u32) -> RunName {
        RunName::of_file(&format!("2026-11-20T23-14-{second:02}Z-9f2c41d0.json"), ENDING).unwrap()
    }

    #[test]
    fn a_saved_run_is_read_again_and_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path().join("state/oscost/runs"));
        assert_eq!(store.runs().unwrap(), Vec::<PathBuf>::new(), "a store that is not there is empty");
        let path = store.save(&name(5), &sample("first")).unwrap();
        assert_eq!(path, store.directory().join("2026-11-20T23-14-05Z-9f2c41d0.json"));
        let bytes = fs::read(&path).unwrap();
        let again = store.save(&name(5), &sample("second")).unwrap_err();
        assert!(
            matches!(again, SaveError::Io(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists)
        );
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(load(&path).unwrap(), sample("first"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(store.directory()), 0o700);
            assert_eq!(mode(&home.path().join("state")), 0o700);
        }
    }

    #[test]
    fn what_cannot_be_written_stores_nothing() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path().join("runs"));
        let mut result = sample("");
        result.duration_ns = 1;
        result.conditions.clock_pair_ns = Some(f64::NAN);
        let error = store.save(&name(1), &result).unwrap_err();
        assert!(error.to_string().contains("conditions.clock_pair_ns"), "{error}");
        assert_eq!(store.runs().unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn references_name_runs_by_age() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        let load = |references: &[&str]| load_from(|| Ok(store.clone()), references);
        let nothing = load(&["@-1"]).unwrap_err().to_string();
        assert!(nothing.contains("no run is stored") && nothing.contains("oscost run"), "{nothing}");
        load(&["@all"]).unwrap_err();
        // Stored in another order than that of their age.
        for second in [30, 10, 20] {
            store.save(&name(second), &sample(&second.to_string())).unwrap();
        }
        fs::write(home.path().join("notes.txt"), "not a run").unwrap();
        assert_eq!(notes(&load(&["@-1"]).unwrap()), ["30"]);
        assert_eq!(notes(&load(&["@-3", "@-2"]).unwrap()), ["10", "20"]);
        assert_eq!(notes(&load(&["@all"]).unwrap()), ["10", "20", "30"]);
        let path = store.runs().unwrap()[1].to_str().unwrap().to_owned();
        assert_eq!(notes(&load(&["@-1", &path]).unwrap()), ["30", "20"]);
        // As it is printed when it is saved; a file here that is called so is another one, and no name.
        let printed = name(20).to_string();
        assert!(Store::holds(&printed) && !Store::holds(&path) && !Store::holds("run.json"));
        assert_eq!(notes(&load(&[&printed, "@-1"]).unwrap()), ["20", "30"]);
        let gone = load(&["2026-11-20T23-14-59Z-9f2c41d0"]).unwrap_err().to_string();
        assert!(gone.contains("2026-11-20T23-14-59Z-9f2c41d0.json"), "{gone}");
        assert!(load(&["@-4"]).unwrap_err().to_string().contains("3 runs are stored"));
        for unknown in ["@", "@-", "@-0", "@1", "@-+1", "@-x", "@-99999999999999999999", "@newest", "@ALL"] {
            assert!(matches!(load(&[unknown]), Err(ReferenceError::Unknown { .. })), "{unknown}");
        }
    }

    #[test]
    fn a_damaged_file_is_reported_and_hides_no_other() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        for second in [10, 20, 30] {
            store.save(&name(second), &sample(&second.to_string())).unwrap();
        }
        let damaged = store.runs().unwrap().remove(1);
        fs::write(&damaged, &SAMPLE[..1000]).unwrap();
        let load = |references: &[&str]| load_from(|| Ok(store.clone()), references);
        let all = load(&["@all"]).unwrap();
        assert_eq!(notes(&all), ["10", "30"]);
        assert_eq!(all.unusable.len(), 1);
        assert!(all.unusable[0].to_string().contains("damaged"), "{}", all.unusable[0]);
        let said = load(&["@-2"]).unwrap_err().to_string();
        assert!(
            said.starts_with(damaged.to_str().unwrap()) && said.ends_with("@-3 is the run before it"),
            "{said}"
        );
        // As a loss of power leaves it: nobody is sent to the run that was asked for.
        let paths = store.runs().unwrap();
        fs::write(&paths[2], vec![0; 1000]).unwrap();
        let said = load(&["@-1"]).unwrap_err().to_string();
        assert!(said.contains("damaged") && said.contains("@-2 is") && !said.contains("@-1"), "{said}");
        fs::write(&paths[0], "of another program").unwrap();
        let said = load(&["@-3"]).unwrap_err().to_string();
        assert!(said.contains("no older run is stored") && !said.contains("@-1"), "{said}");
    }

    #[test]
    fn errors_name_the_file_and_are_safe_to_show() {
        let home = tempfile::tempdir().unwrap();
        let missing = load(&home.path().join("\u{1b}[31m.json")).unwrap_err().to_string();
        assert!(missing.contains(r"\u{1b}[31m.json") && missing.starts_with("cannot read"), "{missing}");
        let directory = load(home.path()).unwrap_err();
        assert!(matches!(directory, LoadError::Io(_)), "{directory}");
        // A path needs no store.
        let path = home.path().join("no.json");
        let error = load_from(|| Err(NoHome), &[path.to_str().unwrap()]).unwrap_err();
        assert!(matches!(error, ReferenceError::Load(_)));
        assert!(matches!(load_from(|| Err(NoHome), &["@-1"]), Err(ReferenceError::NoHome(NoHome))));
    }

    #[test]
    fn a_store_that_keeps_nothing_has_no_runs_and_says_so() {
        let store = Store::at("/dev/null/oscost/runs");
        assert!(store.is_nowhere());
        for kept in ["/dev/null/oscost", "/dev/null", "/home/anna/.local/state/oscost/runs"] {
            assert!(!Store::at(kept).is_nowhere(), "{kept}");
        }
        assert_eq!(store.runs().unwrap(), Vec::<PathBuf>::new());
        for reference in ["@-1", "@all"] {
            assert!(matches!(store.resolve(reference), Err(ReferenceError::Nowhere { .. })), "{reference}");
        }
    }

    #[test]
    fn the_state_directory_follows_the_environment() {
        let of = |variables: &[(&str, &str)], owner: Option<&Owner>| {
            let find = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            state_home(find, owner)
        };
        let is = |path: &str| Ok(PathBuf::from(path));
        assert_eq!(of(&[("HOME", "/home/anna")], None), is("/home/anna/.local/state"));
        assert_eq!(of(&[("HOME", "/home/anna"), ("XDG_STATE_HOME", "/state")], None), is("/state"));
        for unusable in ["state", ""] {
            let told = of(&[("HOME", "/home/anna"), ("XDG_STATE_HOME", unusable)], None);
            assert_eq!(told, is("/home/anna/.local/state"));
        }
        assert_eq!(of(&[], None), Err(NoHome));
        assert_eq!(of(&[("HOME", "relative")], None), Err(NoHome));
        let anna = Owner { uid: 1000, gid: 1000, home: Some("/home/anna".into()) };
        assert_eq!(of(&[("HOME", "/root")], Some(&anna)), is("/home/anna/.local/state"));
        assert_eq!(of(&[("HOME", "/root"), ("XDG_STATE_HOME", "/state")], Some(&anna)), is("/state"));
        let homeless = Owner { home: None, ..anna };
        assert_eq!(of(&[("HOME", "/root")], Some(&homeless)), is("/root/.local/state"));
    }

    #[test]
    fn an_unusable_state_directory_is_an_error_with_its_path() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("file"), "").unwrap();
        let store = Store::at(home.path().join("file/runs"));
        let error = store.prepare().unwrap_err().to_string();
        assert!(error.contains("file/runs"), "{error}");
        store.save(&name(1), &sample("")).unwrap_err();
    }

    /// Who names a pipe wants it read; of the store's own entries only files are.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_among_the_stored_runs_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::at(home.path());
        let path = home.path().join(name(10).file(ENDING));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = load_from(|| Ok(store.clone()), &["@-1"]).unwrap_err().to_string();
        assert!(error.contains("not a file"), "{error}");
    }
}
