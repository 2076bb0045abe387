//! Tests of held folders: what leads out of them, who else may rename, and a second user who swaps names.

use super::*;
use crate::{memory::SharedWords, process::Child};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

const NOBODY: u32 = 65534;
const NEW: Opening = Opening { write: true, making: Making::Always, mode: 0o600 };
const OLD: Opening = Opening { write: false, making: Making::Never, mode: 0 };

/// A folder of a test, gone with it.
struct Ground(PathBuf);

impl Ground {
    fn new() -> Self {
        let name = format!("oscost-test-{:032x}", crate::random::bits().expect("bits"));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a folder");
        Self(path)
    }

    fn made(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir(&path).expect("a folder");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
        path
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn names(path: &Path) -> Vec<OsString> {
    let mut names = Folder::open(path).and_then(|folder| folder.names()).expect("readable");
    names.sort();
    names
}

#[test]
fn a_file_has_no_name_until_it_is_given_one() {
    let ground = Ground::new();
    let folder = Folder::open(&ground.0).expect("open");
    drop(folder.unnamed_file().expect("a file"));
    let file = folder.unnamed_file().expect("a file");
    assert!(names(&ground.0).is_empty());
    folder.name_file(&file, OsStr::new("name")).expect("named");
    assert_eq!(names(&ground.0), ["name"]);
    let other = folder.unnamed_file().expect("a file");
    let taken = folder.name_file(&other, OsStr::new("name"));
    assert_eq!(taken.map_err(|error| error.errno), Err(libc::EEXIST));
    assert!(folder.name_file(&other, OsStr::new("../name")).is_err());
}

#[test]
fn nothing_leads_out_of_a_folder() {
    let ground = Ground::new();
    let (inside, outside) = (ground.made("inside", 0o755), ground.made("outside", 0o755));
    std::fs::write(outside.join("file"), "theirs").expect("written");
    symlink(&outside, inside.join("folder")).expect("a link");
    symlink(outside.join("file"), inside.join("file")).expect("a link");
    symlink(outside.join("new"), inside.join("dangling")).expect("a link");
    let folder = Folder::open(&inside).expect("open");
    for name in ["", ".", "..", "../outside", "/", "a/b"] {
        let name = OsStr::new(name);
        assert!(folder.folder(name).is_err() && folder.file(name, OLD).is_err(), "{name:?}");
        assert!(folder.make_folder(name).is_err() && folder.remove(name).is_err(), "{name:?}");
    }
    assert!(folder.folder(OsStr::new("folder")).is_err());
    assert!(folder.file(OsStr::new("file"), OLD).is_err());
    assert!(folder.file(OsStr::new("folder"), OLD).is_err());
    let missing = Opening { making: Making::Missing, ..NEW };
    assert!(folder.file(OsStr::new("dangling"), missing).is_err());
    folder.empty(3).expect("links are removed");
    assert_eq!(names(&inside), Vec::<OsString>::new());
    assert_eq!(names(&outside), ["file"], "what they lead to stays");
}

#[test]
fn everything_goes_down_to_the_depth_and_the_rest_stays() {
    let ground = Ground::new();
    let folder = Folder::open(&ground.0).expect("open");
    let deep = folder.make_folder(OsStr::new("one")).and_then(|one| one.make_folder(OsStr::new("two")));
    drop(deep.expect("made").file(OsStr::new("file"), NEW).expect("made"));
    drop(folder.file(OsStr::new("file"), NEW).expect("made"));
    assert_eq!(folder.empty(1).map_err(|error| error.errno), Err(libc::EISDIR));
    assert_eq!(names(&ground.0), ["one"]);
    folder.empty(2).expect("all gone");
    assert_eq!(names(&ground.0), Vec::<OsString>::new());
    assert_eq!(folder.status().map(|status| status.is_removed), Ok(false));
    std::fs::remove_dir(&ground.0).expect("empty");
    assert_eq!(folder.status().map(|status| status.is_removed), Ok(true));
}

#[test]
fn a_lock_is_of_the_description_and_nothing_blocks() {
    let ground = Ground::new();
    let folder = Folder::open(&ground.0).expect("open");
    let other = folder.again().expect("open");
    assert_eq!((folder.try_lock(), other.try_lock()), (Ok(true), Ok(false)));
    drop(folder);
    assert_eq!(other.try_lock(), Ok(true));
    let fifo = CString::new(ground.0.join("fifo").as_os_str().as_bytes()).expect("no zero");
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    assert_eq!(other.file(OsStr::new("fifo"), OLD).map_err(|error| error.errno).err(), Some(libc::EINVAL));
}

#[test]
fn who_else_may_rename_is_told_by_owner_and_permissions() {
    let ground = Ground::new();
    let asked = |path: &Path| Folder::open(path).and_then(|folder| folder.renamed_by()).expect("open");
    for (mode, others) in
        [(0o700, None), (0o755, None), (0o1777, None), (0o777, Some("everybody")), (0o775, Some("its group"))]
    {
        let path = ground.made(&format!("{mode:o}"), mode);
        let found = asked(&path);
        assert_eq!(found.is_some(), others.is_some(), "{mode:o}: {found:?}");
        assert!(others.is_none_or(|who| found.is_some_and(|words| words.starts_with(who))), "{mode:o}");
    }
    if identity::effective_uid() != 0 {
        return println!("SKIP a folder of another user: these tests do not run as root");
    }
    for mode in [0o700, 0o1777] {
        let path = ground.made(&format!("theirs-{mode:o}"), mode);
        chown(&path, Some(NOBODY), None).expect("root");
        assert!(asked(&path).is_some_and(|words| words.contains("user 65534")));
    }
}

/// Somebody who owns the folder above puts links to a third one in the place of what is made, as fast as he can: what he
/// links to is never touched.
#[test]
fn hundreds_of_swapped_names_lead_nowhere() {
    const SWAPS: u64 = 300;
    if identity::effective_uid() != 0 {
        return println!("SKIP hundreds_of_swapped_names_lead_nowhere: a second user needs root");
    }
    let ground = Ground::new();
    std::fs::set_permissions(&ground.0, std::fs::Permissions::from_mode(0o755)).expect("ours");
    let (theirs, victim) = (ground.made("theirs", 0o755), ground.made("victim", 0o755));
    chown(&theirs, Some(NOBODY), Some(NOBODY)).expect("root");
    std::fs::create_dir(victim.join("sub")).expect("made");
    for name in ["db.idx", "db.dat", "other", "sub/deep"] {
        std::fs::write(victim.join(name), "precious").expect("written");
    }
    let swaps = SharedWords::new(1).expect("memory");
    let attacker = Child::fork(|| {
        // SAFETY: setresgid and setresuid touch no memory.
        let became = unsafe {
            libc::setresgid(NOBODY, NOBODY, NOBODY) == 0 && libc::setresuid(NOBODY, NOBODY, NOBODY) == 0
        };
        if !became {
            return 1;
        }
        loop {
            for entry in std::fs::read_dir(&theirs).into_iter().flatten().flatten() {
                let (from, number) = (entry.path(), swaps.word(0).load(Ordering::Relaxed));
                let is_new = entry.file_name().as_bytes().starts_with(b"oscost-");
                if is_new
                    && std::fs::rename(&from, theirs.join(format!("moved-{number}"))).is_ok()
                    && symlink(&victim, &from).is_ok()
                {
                    swaps.word(0).fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    })
    .expect("fork");
    let parent = Folder::open(&theirs).expect("open");
    let begun = std::time::Instant::now();
    let mut made = 0;
    while swaps.word(0).load(Ordering::Relaxed) < SWAPS {
        assert!(
            begun.elapsed().as_secs() < 60,
            "{} swaps in a minute",
            swaps.word(0).load(Ordering::Relaxed)
        );
        assert!(!attacker.has_ended());
        let name = OsString::from(format!("oscost-{:032x}", crate::random::bits().expect("bits")));
        // What is swapped before it is open is refused: a link, or nothing.
        if let Ok(folder) = parent.make_folder(&name) {
            made += 1;
            for name in ["db.idx", "db.dat"] {
                folder.file(OsStr::new(name), NEW).expect("in a folder of our own");
            }
            let sub = folder.make_folder(OsStr::new("sub")).expect("in a folder of our own");
            sub.file(OsStr::new("deep"), NEW).expect("in a folder of our own");
            folder.empty(2).expect("all ours");
            assert_eq!(folder.names(), Ok(Vec::new()));
        }
        // It may be a link by now, or gone.
        let _ = parent.remove_folder(&name);
        let _ = parent.remove(&name);
    }
    drop(attacker);
    assert!(made > 0);
    assert_eq!(names(&victim), ["db.dat", "db.idx", "other", "sub"], "{made} folders");
    for name in ["db.idx", "db.dat", "other", "sub/deep"] {
        assert_eq!(std::fs::read(victim.join(name)).expect("there"), b"precious");
    }
}

#[test]
fn a_folder_that_scatters_says_so() {
    let ground = Ground::new();
    let folder = Folder::open(&ground.0).expect("ours");
    let flags = || {
        let mut flags: libc::c_long = 0;
        // SAFETY: the kernel writes one number of 32 bits.
        let read = unsafe { libc::ioctl(folder.fd.as_raw_fd(), libc::FS_IOC_GETFLAGS, &raw mut flags) };
        (read == 0).then_some(flags)
    };
    let before = flags();
    if folder.scatter() {
        assert_eq!(flags(), before.map(|flags| flags | 0x2_0000), "chattr +T, and nothing else changes");
    } else {
        assert_eq!(flags(), before, "where it cannot be, nothing changes");
    }
    folder.make_folder(OsStr::new("apart")).expect("as in any other");
}
