//! Who gets the folder of the ticks, what is removed from it, and what stays.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A test is not the program, which is its own keeper.
const NOBODY: StartKeeper = |_, _| Err(CallError::told("nobody keeps a test"));

fn private() -> tempfile::TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().expect("a folder")
}

/// A socket of ours that nobody listens to any more.
fn socket(path: &Path) {
    let path = socket::Path::new(path.to_str().expect("a name")).expect("short");
    socket::marked_datagram_at(&path).expect("a socket");
}

fn server(path: &Path) -> Folder {
    let Ok(server) = Folder::of_server(Some(path), NOBODY) else { panic!("a folder") };
    server
}

fn place(path: &Path) -> Result<Place, CallError> {
    parent_of(path).and_then(|(parent, name)| Place::open(&parent, &name))
}

#[test]
fn one_server_has_the_folder_and_leaves_it_as_it_was() {
    let outer = private();
    let path = outer.path().join("meet");
    assert!(Folder::of_client(Some(&path)).is_err(), "there is none");
    let first = server(&path);
    assert!(Folder::of_server(Some(&path), NOBODY).is_err(), "there is a server");
    assert!(Folder::of_client(Some(&path)).is_ok());
    socket(&path.join("client-x"));
    drop(first);
    assert!(!path.exists(), "what it made it removes");
    fs::create_dir(&path).expect("a folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("private");
    socket(&path.join("client-x"));
    fs::write(path.join("other"), "").expect("a file");
    drop(server(&path));
    assert_eq!(fs::read_dir(&path).expect("a folder").count(), 1, "what others put there stays");
}

/// A folder of the user's own, with files in it that are called as our sockets are.
#[test]
fn files_that_are_called_like_sockets_of_ours_stay() {
    let outer = private();
    let path = outer.path();
    let names = ["server", "sender", "client-list"].map(|name| path.join(name));
    for name in &names {
        fs::write(name, "precious").expect("a file");
    }
    let own = server(path);
    own.forget("list");
    assert!(own.listen().is_err() && own.bind_sender().is_err(), "the names are taken");
    drop(own);
    for name in &names {
        assert_eq!(fs::read_to_string(name).ok().as_deref(), Some("precious"), "{}", name.display());
    }
}

/// A folder of the user's own, in which another program has sockets.
#[test]
fn sockets_of_other_programs_stay_whatever_their_names() {
    let outer = private();
    let path = outer.path();
    let names = [SERVER, SENDER, "client-x"].map(|name| path.join(name));
    let others: Vec<_> =
        names.iter().map(|name| std::os::unix::net::UnixDatagram::bind(name).expect("a socket")).collect();
    socket(&path.join("client-y"));
    let own = server(path);
    assert!(!path.join("client-y").exists(), "that one was ours");
    own.forget("x");
    drop(own);
    drop(others);
    for name in names {
        assert!(name.exists(), "{}", name.display());
    }
}

/// As after a kill of every process: sockets and all stay until the next server comes, and go with that one.
#[test]
fn what_a_dead_server_made_goes_with_the_next_one() {
    let outer = private();
    let path = outer.path().join("meet");
    let dead = server(&path);
    let listener = dead.listen();
    assert!(listener.is_ok() && path.join(SERVER).exists());
    // Its lock goes, and nothing else.
    oscost_sys::record_lock::funlock(dead.place.held.as_fd()).expect("its own");
    std::mem::forget(dead);
    let next = server(&path);
    assert!(!path.join(SERVER).exists(), "swept");
    assert!(next.listen().is_ok());
    drop(next);
    assert!(!path.exists());
}

/// The kernel closes the pipe of a killed server before it lets go of its lock.
#[test]
fn a_keeper_waits_for_the_lock_of_a_server_that_is_dying() {
    let outer = private();
    let path = outer.path().join("meet");
    let dying = server(&path);
    let Ok(keeper) = place(&path) else { panic!("the folder") };
    let keeper = std::thread::spawn(move || keeper.tidy_up_behind(Duration::from_secs(20)));
    std::thread::sleep(Duration::from_millis(50));
    assert!(path.exists(), "the server has it still");
    oscost_sys::record_lock::funlock(dying.place.held.as_fd()).expect("its own");
    keeper.join().expect("a keeper");
    assert!(!path.exists());
    std::mem::forget(dying);
}

#[test]
fn a_keeper_leaves_the_folder_to_the_next_server() {
    let outer = private();
    let path = outer.path().join("meet");
    let next = server(&path);
    let Ok(keeper) = place(&path) else { panic!("the folder") };
    keeper.tidy_up_behind(Duration::from_millis(20));
    assert!(path.exists());
    drop(next);
}

#[test]
fn a_folder_that_is_not_private_is_refused() {
    let outer = private();
    let path = outer.path().join("open");
    fs::create_dir(&path).expect("a folder");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("open");
    assert!(Folder::of_server(Some(&path), NOBODY).is_err());
    assert!(Folder::of_client(Some(&path)).is_err());
    let link = outer.path().join("link");
    std::os::unix::fs::symlink(outer.path(), &link).expect("a link");
    assert!(Folder::of_client(Some(&link)).is_err(), "a link may lead anywhere");
    assert!(Folder::of_server(Some(Path::new("/proc/1")), NOBODY).is_err());
}

/// A folder that is moved away: nothing is made or removed under its old name.
#[test]
fn what_is_made_and_removed_is_in_the_folder_that_is_held() {
    let outer = private();
    let (path, moved) = (outer.path().join("meet"), outer.path().join("moved"));
    let own = server(&path);
    fs::rename(&path, &moved).expect("moved");
    fs::create_dir(&path).expect("a folder of somebody else");
    fs::write(path.join("client-x"), "theirs").expect("a file");
    assert!(own.listen().is_ok());
    assert!(moved.join(SERVER).exists() && !path.join(SERVER).exists());
    drop(own);
    assert!(path.join("client-x").exists());
    assert_eq!(fs::read_dir(&moved).expect("a folder").count(), 0);
}
