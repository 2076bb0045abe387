//! Our own folders for measured files: in memory, or where the user wants them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use oscost_sys::folder::Folder;
use oscost_sys::{CallError, file_system, identity, random};

use crate::benchmark::{SetUp, Unable};
use crate::protocol::ledger::{SHARED_MEMORY, is_random};
use crate::protocol::object::{DEPTH, Object, remove_folder};

const PREFIX: &str = "oscost-";

/// The folder in which files go that are measured (`--set directory=`): held from now on, and one in which nobody else may
/// rename what is made in it.
#[derive(Debug)]
pub struct Place {
    folder: Folder,
    path: PathBuf,
}

impl Place {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// Why it is none to make files in, in words.
    pub fn open(path: &Path) -> Result<Self, String> {
        let folder = Folder::open(path).map_err(|error| error.to_string())?;
        match folder.renamed_by() {
            Ok(None) => {
                let path = std::path::absolute(path).map_err(|error| error.to_string())?;
                Ok(Self { folder, path })
            }
            Ok(Some(who)) => Err(format!(
                "{who}: they could move files away during the measurement. Name a folder of your own: mkdir -m 700"
            )),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The kind of its file system, in a word.
    ///
    /// # Errors
    /// The error of fstatfs.
    pub fn kind(&self) -> Result<String, CallError> {
        file_system::kind(&self.folder)
    }

    /// Its absolute name, as it was called when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The same place once more.
    ///
    /// # Errors
    /// The error of openat.
    pub(crate) fn again(&self) -> Result<Self, CallError> {
        Ok(Self { folder: self.folder.again()?, path: self.path.clone() })
    }
}

/// A folder with a name that nobody can predict, held by its descriptor, and removed with the value. Where its maker is
/// killed it goes with the private namespace, by the janitor, or at the next start in the same place: it is locked as long
/// as its maker lives.
#[derive(Debug)]
pub struct Directory {
    parent: Folder,
    name: OsString,
    folder: Folder,
}

impl Directory {
    /// Makes one in the folder of the user's, or in memory.
    ///
    /// # Errors
    /// [`Unable::Unsupported`] where none can be made, with what to do.
    pub fn make(cx: &mut SetUp<'_>) -> Result<Self, Unable> {
        let wanted = cx.directory;
        let unsupported = |error: CallError| Unable::Unsupported {
            why: match wanted {
                Some(_) => format!("no folder can be made in --set directory=: {error}"),
                None => format!("no folder can be made in {SHARED_MEMORY}: {error}"),
            },
            remedy: match wanted {
                Some(_) => "another --set directory=, in which this user may write".into(),
                None => "mount -t tmpfs -o mode=1777 tmpfs /dev/shm, or --set directory=DIR".into(),
            },
        };
        let parent = wanted.map_or_else(|| Folder::open(Path::new(SHARED_MEMORY)), Folder::again);
        let parent = parent.map_err(unsupported)?;
        if wanted.is_none()
            && let Some(who) = parent.renamed_by()?
        {
            return Err(Unable::Unsupported {
                why: format!("{SHARED_MEMORY} is no place for files: {who}"),
                remedy: "chmod +t /dev/shm, or --set directory=DIR".into(),
            });
        }
        Self::locked(parent, unsupported, |name| cx.keeper.keep(&Object::Folder(name.to_owned())))
    }

    /// Makes one at `place` for this process itself, after it removed what killed ones of this user left there. `keep` is told its
    /// name before it is made.
    ///
    /// # Errors
    /// Why none can be made there, in words.
    pub(crate) fn of_process(
        place: Place,
        keep: impl FnMut(&str) -> Result<(), CallError>,
    ) -> Result<Self, String> {
        sweep(&place.folder);
        Self::locked(place.folder, Unable::Failed, keep).map_err(|unable| match unable {
            Unable::Failed(error) => error.to_string(),
            Unable::Unsupported { why, .. } => why,
        })
    }

    fn locked(
        parent: Folder,
        unsupported: impl Fn(CallError) -> Unable,
        mut keep: impl FnMut(&str) -> Result<(), CallError>,
    ) -> Result<Self, Unable> {
        let mut infix = "";
        // Somebody who cleans up may come between the making and the lock, and once it may turn out that there are no locks.
        for _ in 0..8 {
            let name = format!("{PREFIX}{infix}{:032x}", random::bits()?);
            keep(&name)?;
            let name = OsString::from(name);
            let folder = parent.make_folder(&name).map_err(&unsupported)?;
            let locked = folder.try_lock();
            if locked == Ok(true) && !folder.status()?.is_removed || !infix.is_empty() {
                return Ok(Self { parent, name, folder });
            }
            if locked.is_err() {
                // Nobody takes a folder of such a name for a dead run's.
                infix = UNLOCKED;
            }
            let _ = parent.remove_folder(&name);
        }
        Err(unsupported(CallError::told("each was taken away at once")))
    }

    /// Its name in the folder in which it was made.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Removes everything in it.
    ///
    /// # Errors
    /// The error of unlink or rmdir.
    pub fn empty(&self) -> Result<(), CallError> {
        self.folder.empty(DEPTH)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // It cannot be told to anybody here, and the janitor tries again.
        let _ = self.folder.empty(DEPTH);
        let _ = self.parent.remove_folder(&self.name);
    }
}

/// In the name of a folder on a file system that has no locks on folders.
const UNLOCKED: &str = "unlocked-";

/// Removes folders of this user's in `parent` whose makers are dead: whose lock is free.
pub(crate) fn sweep(parent: &Folder) {
    let is_ours =
        |name: &&OsString| name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(is_random);
    for name in parent.names().unwrap_or_default().iter().filter(is_ours) {
        let _ = sweep_one(parent, name);
    }
}

fn sweep_one(parent: &Folder, name: &OsStr) -> Result<(), CallError> {
    let folder = parent.folder(name)?;
    // The lock is held until it is gone.
    if folder.status()?.uid == identity::effective_uid() && folder.try_lock()? {
        remove_folder(parent, name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::keeper::Keeper;
    use oscost_sys::process::Child;

    fn in_place<T>(place: &Place, body: impl FnOnce(&mut SetUp<'_>) -> T) -> T {
        let mut keeper = Keeper::in_private_namespaces();
        body(&mut SetUp {
            cpu: 0,
            partner_cpu: 0,
            cpus: &[0],
            host_system_v_limits: None,
            keeper: &mut keeper,
            directory: Some(place.folder()),
        })
    }

    #[test]
    fn a_folder_of_the_dead_is_swept_and_one_of_the_living_is_not() {
        let bits = random::bits().expect("bits");
        let base = std::env::temp_dir().join(format!("oscost-test-{bits:032x}"));
        std::fs::create_dir(&base).expect("a folder");
        let place = Place::open(&base).expect("our own");
        let names = || place.folder().names().expect("readable");
        let living = in_place(&place, Directory::make).map_err(|_| "refused").expect("made");
        let child = Child::fork(|| {
            let made = in_place(&place, Directory::make);
            // As if it had been killed.
            std::mem::forget(made);
            0
        });
        assert_eq!(child.expect("fork").wait().expect("wait").code, Some(0));
        std::fs::create_dir(base.join("oscost-of-somebody")).expect("made");
        assert_eq!(names().len(), 3);
        sweep(place.folder());
        let left = names();
        assert_eq!(left.len(), 2);
        assert!(left.contains(&living.name) && left.contains(&"oscost-of-somebody".into()));
        let folders = || std::fs::create_dir_all(base.join(&living.name).join("in/it")).expect("made");
        folders();
        living.empty().expect("ours");
        assert_eq!(living.folder().names().expect("readable").len(), 0);
        folders();
        drop(living);
        assert_eq!(names(), ["oscost-of-somebody"]);
        std::fs::remove_dir_all(&base).expect("removed");
    }

    #[test]
    fn a_folder_of_a_process_goes_with_it_or_at_the_next_start() {
        let bits = random::bits().expect("bits");
        let base = std::env::temp_dir().join(format!("oscost-test-{bits:032x}"));
        std::fs::create_dir(&base).expect("a folder");
        let names = || std::fs::read_dir(&base).expect("readable").count();
        let own = || Directory::of_process(Place::open(&base)?, |_| Ok(()));
        let child = Child::fork(|| {
            std::mem::forget(own());
            0
        });
        assert_eq!(child.expect("fork").wait().expect("wait").code, Some(0));
        assert_eq!(names(), 1);
        let made = own().expect("our own");
        assert_eq!(names(), 1, "the dead one's is gone");
        drop(made);
        assert_eq!(names(), 0);
        assert!(Place::open(&base.join("none")).is_err());
        std::fs::remove_dir_all(&base).expect("removed");
    }

    #[test]
    fn a_place_says_what_file_system_it_lies_on() {
        let place = Place::open(Path::new("/proc"));
        let Ok(place) = place else { return };
        assert!(place.kind().is_ok_and(|kind| !kind.is_empty()));
    }

    /// A folder in which others may rename is no place, but where somebody else took it for one it is used as it is.
    #[test]
    fn a_place_in_which_others_may_rename_is_refused_before_anything_is_made_there() {
        use std::os::unix::fs::PermissionsExt;
        let bits = random::bits().expect("bits");
        let base = std::env::temp_dir().join(format!("oscost-test-{bits:032x}"));
        std::fs::create_dir(&base).expect("a folder");
        let open_to =
            |mode| std::fs::set_permissions(&base, std::fs::Permissions::from_mode(mode)).expect("ours");
        open_to(0o777);
        let refused = Place::open(&base).map(drop).expect_err("anybody may rename there");
        assert!(refused.contains("they could move files away"), "{refused}");
        let folder = Folder::open(&base).expect("ours");
        let place = Place { folder, path: base.clone() };
        let made = in_place(&place, Directory::make).map_err(|_| "refused").expect("made");
        assert_eq!(place.folder().names().expect("readable"), [made.name().to_owned()]);
        drop(made);
        open_to(0o1777);
        assert_eq!(Place::open(&base).expect("nobody may rename there").path(), base);
        std::fs::remove_dir(&base).expect("removed");
    }

    /// Nothing tells a folder of another user's from one of ours but its owner.
    #[test]
    fn what_another_user_left_stays() {
        let bits = random::bits().expect("bits");
        let base = std::env::temp_dir().join(format!("oscost-test-{bits:032x}"));
        let theirs = base.join(format!("{PREFIX}{bits:032x}"));
        std::fs::create_dir_all(&theirs).expect("a folder");
        let place = Place::open(&base).expect("our own");
        if std::os::unix::fs::chown(&theirs, Some(1), None).is_ok() {
            sweep(place.folder());
            assert!(theirs.exists(), "it may be in use");
            std::os::unix::fs::chown(&theirs, Some(identity::effective_uid()), None).expect("back");
        }
        sweep(place.folder());
        assert!(!theirs.exists(), "ours, and nobody holds its lock");
        std::fs::remove_dir(&base).expect("removed");
    }

    /// In the memory of this machine, and told of before it is there.
    #[test]
    fn a_folder_in_memory_is_told_of_before_it_is_made() {
        let Ok(memory) = Folder::open(Path::new(SHARED_MEMORY)) else { return };
        if memory.renamed_by() != Ok(None) {
            return println!("SKIP a_folder_in_memory_is_told_of_before_it_is_made: no place here");
        }
        let told = std::cell::RefCell::new(String::new());
        let made = Directory::locked(memory, Unable::Failed, |name| {
            assert!(!Path::new(SHARED_MEMORY).join(name).exists());
            *told.borrow_mut() = name.to_owned();
            Ok(())
        });
        let Ok(made) = made else {
            return println!("SKIP a_folder_in_memory: {SHARED_MEMORY} cannot be written");
        };
        assert_eq!(made.name().to_str(), Some(told.borrow().as_str()));
        let path = Path::new(SHARED_MEMORY).join(made.name());
        assert!(path.is_dir() && made.folder().try_lock() == Ok(true));
        let again = Folder::open(&path).expect("ours").try_lock();
        assert_eq!(again, Ok(false), "it is locked as long as its maker lives");
        drop(made);
        assert!(!path.exists());
        let untold = |_: &str| Err(CallError::new("write", 28));
        let root = Folder::open(Path::new("/")).expect("a folder");
        let refused = Directory::locked(root, Unable::Failed, untold).map(drop);
        assert_eq!(
            refused,
            Err(Unable::Failed(CallError::new("write", 28))),
            "nothing that nobody was told of"
        );
    }
}
