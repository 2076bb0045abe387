//! Results of many machines: files, and folders of files, read one after another by all CPUs, each run once.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{fs, vec};

use crate::at_once::by_all_cpus;
use crate::place::names_at;
use crate::store::{ENDING, read};
use crate::{LoadError, MAX_BYTES, PathError, ReferenceError, Refused, ResultId, Store};

/// Files that a CPU reads before what they hold is taken. Few, because that is what memory is needed for.
const AT_ONCE: usize = 4;
/// Bytes of files that are read before what they hold is taken: of the largest results one. What is made of a file may need
/// several times its size.
const BYTES_AT_ONCE: u64 = MAX_BYTES;

/// Results by reference (`@-1`, `@all`, the name of a run, a file), and folders whose results are meant. Folders are walked in the order of
/// names; symbolic links in them are not followed.
#[derive(Debug, Clone)]
pub struct Collection {
    roots: Vec<Root>,
}

/// What a collection held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gathered {
    /// Results that were taken.
    pub results: u64,
    /// Files with a run that another file had before.
    pub copies: u64,
    /// Files and folders that could not be used.
    pub unusable: u64,
    /// Entries of folders that are not looked into: links, pipes, and files whose name does not end with ".json".
    pub others: u64,
}

impl Collection {
    /// The collection of these references. Nothing is read yet.
    ///
    /// # Errors
    /// One starts with `@` and means nothing.
    pub fn of<S: AsRef<str>>(references: &[S]) -> Result<Self, ReferenceError> {
        let mut roots: Vec<Root> = Vec::new();
        for reference in references.iter().map(AsRef::as_ref) {
            if Store::holds(reference) {
                let stored = Store::of_user()?.resolve(reference)?;
                roots.extend(stored.into_iter().map(|path| Root { path, named: false }));
            } else {
                roots.push(Root { path: PathBuf::from(reference), named: true });
            }
        }
        Ok(Self { roots })
    }

    /// Reads every result, and takes what `read` makes of it: in the order of the files, and of copies the first one. What
    /// cannot be used is taken as its error. Memory does not grow with the number of results, but by their names and ids.
    ///
    /// # Errors
    /// The first one of `take`.
    pub fn each<T: Send, E>(
        &self,
        make: impl Fn(&Path, &[u8]) -> Result<(ResultId, T), Refused> + Sync,
        mut take: impl FnMut(Result<T, LoadError>) -> Result<(), E>,
    ) -> Result<Gathered, E> {
        let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let mut walk = FolderWalk::of(&self.roots);
        let mut known = BTreeSet::new();
        let mut tally = Gathered::default();
        loop {
            let files = walk.some(cpus * AT_ONCE);
            if files.is_empty() {
                tally.others = walk.others;
                return Ok(tally);
            }
            let made = by_all_cpus(&files, |entry: &WalkEntry| match entry {
                WalkEntry::Unreadable(..) => None,
                WalkEntry::File { path, named } => Some(read(path, *named).and_then(|bytes| {
                    make(path, &bytes).map_err(|reason| LoadError::Refused { path: path.clone(), reason })
                })),
            });
            for (entry, made) in files.into_iter().zip(made) {
                let found = match (entry, made) {
                    (WalkEntry::Unreadable(error), _) => Err(error.into()),
                    (WalkEntry::File { .. }, Some(Ok((id, found)))) => {
                        if !known.insert(id) {
                            tally.copies += 1;
                            continue;
                        }
                        Ok(found)
                    }
                    (WalkEntry::File { .. }, Some(Err(error))) => Err(error),
                    (WalkEntry::File { .. }, None) => continue,
                };
                *if found.is_ok() { &mut tally.results } else { &mut tally.unusable } += 1;
                take(found)?;
            }
        }
    }
}

/// Where a walk begins.
#[derive(Debug, Clone)]
struct Root {
    path: PathBuf,
    /// The user names it, so it may be a link or a pipe. Whatever lies in the store is a regular file or nothing.
    named: bool,
}

/// What a walk comes to.
enum WalkEntry {
    /// A file, named by the user or found in a folder.
    File { path: PathBuf, named: bool },
    /// A folder, or an entry of one, that cannot be read.
    Unreadable(PathError),
}

impl WalkEntry {
    /// How much of it is read, at most: a pipe does not tell, and no result is longer.
    fn bytes(&self) -> u64 {
        let Self::File { path, .. } = self else { return 0 };
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map_or(MAX_BYTES, |it| it.len().min(MAX_BYTES))
    }
}

/// A walk through folders: what is left of each folder that it is in.
struct FolderWalk {
    roots: vec::IntoIter<Root>,
    levels: Vec<vec::IntoIter<PathBuf>>,
    others: u64,
    /// What the walk came to, and was too much for those that were taken before it.
    left: Option<WalkEntry>,
}

impl FolderWalk {
    fn of(roots: &[Root]) -> Self {
        let roots = roots.to_vec();
        Self { roots: roots.into_iter(), levels: Vec::new(), others: 0, left: None }
    }

    /// The next entries: at most so many, and of no more than [`BYTES_AT_ONCE`] unless the first one alone has more.
    fn some(&mut self, most: usize) -> Vec<WalkEntry> {
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while entries.len() < most {
            let Some(entry) = self.left.take().or_else(|| self.next()) else { break };
            bytes += entry.bytes();
            if bytes > BYTES_AT_ONCE && !entries.is_empty() {
                self.left = Some(entry);
                break;
            }
            entries.push(entry);
        }
        entries
    }

    /// Goes into a folder.
    fn enter(&mut self, folder: &Path) -> Option<WalkEntry> {
        let list = || -> std::io::Result<Vec<PathBuf>> {
            let mut entries: Vec<PathBuf> = names_at(folder)?.iter().map(|name| folder.join(name)).collect();
            entries.sort();
            Ok(entries)
        };
        match list() {
            Ok(entries) => {
                self.levels.push(entries.into_iter());
                None
            }
            Err(error) => Some(WalkEntry::Unreadable(PathError::of("read", folder)(error))),
        }
    }
}

impl Iterator for FolderWalk {
    type Item = WalkEntry;

    fn next(&mut self) -> Option<WalkEntry> {
        loop {
            let found = if let Some(level) = self.levels.last_mut() {
                let Some(path) = level.next() else {
                    self.levels.pop();
                    continue;
                };
                match fs::symlink_metadata(&path).map(|it| it.file_type()) {
                    Ok(kind) if kind.is_dir() => self.enter(&path),
                    Ok(kind) if kind.is_file() && path.to_string_lossy().ends_with(ENDING) => {
                        Some(WalkEntry::File { path, named: false })
                    }
                    Ok(_) => {
                        self.others += 1;
                        None
                    }
                    Err(error) => Some(WalkEntry::Unreadable(PathError::of("read", &path)(error))),
                }
            } else {
                // Reading says what is wrong with it, or that it is no more there.
                let Root { path, named } = self.roots.next()?;
                let folder = named && fs::metadata(&path).is_ok_and(|it| it.is_dir());
                if folder { self.enter(&path) } else { Some(WalkEntry::File { path, named }) }
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::{RunResult, from_bytes, outline_from_bytes, to_bytes};

    const SAMPLE: &[u8] = include_bytes!("../tests/samples/v1.json");

    /// What was taken, in order: names of files, and errors.
    fn taken(roots: &[&Path]) -> (Vec<String>, Gathered) {
        let roots: Vec<&str> = roots.iter().map(|root| root.to_str().unwrap()).collect();
        let mut all = Vec::new();
        let tally = Collection::of(&roots).unwrap().each(
            |path, bytes| {
                let outline = outline_from_bytes(bytes)?;
                Ok((outline.result_id(), path.file_name().unwrap().to_string_lossy().into_owned()))
            },
            |found| {
                all.push(found.unwrap_or_else(|error| error.to_string()));
                Ok::<(), Infallible>(())
            },
        );
        (all, tally.unwrap())
    }

    fn put(path: &Path, seed: u64) {
        let sample = from_bytes(SAMPLE).unwrap();
        let plan = crate::Plan { seed, ..sample.plan.clone() };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, to_bytes(&RunResult { plan, ..sample }).unwrap()).unwrap();
    }

    #[test]
    fn folders_are_walked_in_order_and_nothing_is_lost_uncounted() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for seed in 0..40 {
            put(&at(&format!("b/{seed:02}.json")), seed);
        }
        put(&at("a/deep/er/host.json"), 100);
        put(&at("c.json"), 101);
        fs::copy(at("b/03.json"), at("z copy.json")).unwrap();
        fs::write(at("b/07.json"), &SAMPLE[..900]).unwrap();
        fs::write(at("notes.txt"), "no result").unwrap();
        let huge = fs::File::create(at("b/huge.json")).unwrap();
        huge.set_len(crate::MAX_BYTES + 1).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("..", at("a/round.json")).unwrap();
        let (all, tally) = taken(&[home.path()]);
        let names: Vec<&String> = all.iter().filter(|name| !name.contains(' ')).collect();
        assert_eq!(names.first().map(|it| it.as_str()), Some("host.json"));
        assert_eq!(names.last().map(|it| it.as_str()), Some("c.json"));
        let of_b: Vec<String> =
            (0..40).filter(|seed| *seed != 7).map(|seed| format!("{seed:02}.json")).collect();
        assert_eq!(names[1..40].iter().map(|it| (*it).clone()).collect::<Vec<_>>(), of_b);
        let others = if cfg!(unix) { 2 } else { 1 };
        assert_eq!(tally, Gathered { results: 41, copies: 1, unusable: 2, others });
        assert!(
            all.iter().any(|it| it.contains("larger than")) && all.iter().any(|it| it.contains("damaged"))
        );
    }

    #[test]
    fn a_file_is_a_collection_and_what_is_missing_is_said() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("one.any name");
        put(&file, 1);
        let (all, tally) = taken(&[&file, &home.path().join("none"), &file]);
        assert_eq!(tally, Gathered { results: 1, copies: 1, unusable: 1, others: 0 });
        assert!(all[0].starts_with("one.") && all[1].contains("cannot read"), "{all:?}");
        assert!(matches!(
            Collection::of(&["@x"]),
            Err(ReferenceError::Unknown { .. } | ReferenceError::NoHome(_))
        ));
    }

    #[test]
    fn few_large_files_or_many_small_ones_are_read_at_once() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: u64| {
            fs::File::create(home.path().join(name)).unwrap().set_len(bytes).unwrap();
        };
        (0..5).for_each(|at| file(&format!("a{at}.json"), 100));
        file("b.json", MAX_BYTES - 100);
        file("c.json", MAX_BYTES + 1);
        file("d.json", 1);
        let root = Root { path: home.path().to_owned(), named: true };
        let mut walk = FolderWalk::of(&[root]);
        let counts: Vec<usize> =
            std::iter::from_fn(|| Some(walk.some(4).len()).filter(|&it| it > 0)).collect();
        // Four; the fifth and the large one, which fill the room; then each alone.
        assert_eq!(counts, [4, 2, 1, 1]);
    }

    #[test]
    fn a_taker_may_stop() {
        let home = tempfile::tempdir().unwrap();
        (0..20).for_each(|seed| put(&home.path().join(format!("{seed}.json")), seed));
        let collection = Collection::of(&[home.path().to_str().unwrap()]).unwrap();
        let mut left = 3;
        let ended = collection.each(
            |_, bytes| outline_from_bytes(bytes).map(|outline| (outline.result_id(), ())),
            |_| {
                left -= 1;
                if left == 0 { Err("full") } else { Ok(()) }
            },
        );
        assert_eq!(ended, Err("full"));
    }
}
