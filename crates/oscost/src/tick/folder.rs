//! The private folder in which server and clients meet: it belongs to the user, and nobody else may enter it.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use oscost_results::Untrusted;
use oscost_sys::{identity, socket};

use crate::exit::{Ended, Exit};

/// Names in the folder.
const SERVER: &str = "server";
const SENDER: &str = "sender";
const CLIENT: &str = "client-";

/// The folder.
pub struct Folder {
    path: PathBuf,
    /// Held by the server: there is one.
    lock: Option<File>,
    made: bool,
}

impl Folder {
    /// The folder of a server, made where it does not exist. What a server that was killed has left in it is removed.
    pub fn of_server(given: Option<&Path>) -> Result<Self, Ended> {
        let path = given.map_or_else(default, Path::to_owned);
        let made = match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(unfit(&path, &format!("cannot be made: {error}"))),
        };
        check(&path)?;
        let lock = File::open(&path).map_err(|error| unfit(&path, &format!("cannot be opened: {error}")))?;
        if lock.try_lock().is_err() {
            return Err(Ended::new(
                Exit::Unfit,
                format!("a tick server is running in {} already", shown(&path)),
            ));
        }
        let this = Self { path, lock: Some(lock), made };
        this.sweep();
        Ok(this)
    }

    /// The folder of a client.
    pub fn of_client(given: Option<&Path>) -> Result<Self, Ended> {
        let path = given.map_or_else(default, Path::to_owned);
        if !path.exists() {
            return Err(Ended::new(
                Exit::Unfit,
                format!("no tick server: there is no {}; start one: oscost tick server", shown(&path)),
            ));
        }
        check(&path)?;
        Ok(Self { path, lock: None, made: false })
    }

    /// Where clients register.
    pub fn server(&self) -> Result<socket::Path, Ended> {
        self.address(SERVER)
    }

    /// Where ticks come from.
    pub fn sender(&self) -> Result<socket::Path, Ended> {
        self.address(SENDER)
    }

    /// Where the client of that name hears ticks.
    pub fn client(&self, name: &str) -> Result<socket::Path, Ended> {
        self.address(&format!("{CLIENT}{name}"))
    }

    /// Removes what a client of that name left.
    pub fn forget(&self, name: &str) {
        // There may be nothing.
        let _ = fs::remove_file(self.path.join(format!("{CLIENT}{name}")));
    }

    fn address(&self, name: &str) -> Result<socket::Path, Ended> {
        let path = self.path.join(name);
        let text = path.to_str().ok_or_else(|| unfit(&self.path, "has a name that is no UTF-8"))?;
        socket::Path::new(text)
            .map_err(|_| unfit(&self.path, "has too long a name: a socket's path has at most 107 bytes"))
    }

    /// For people.
    pub fn shown(&self) -> String {
        shown(&self.path)
    }

    /// Removes our sockets.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == SERVER || name == SENDER || name.starts_with(CLIENT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.lock.is_some() {
            self.sweep();
            if self.made {
                // Somebody may have put something there: then it stays.
                let _ = fs::remove_dir(&self.path);
            }
        }
    }
}

fn default() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_dir());
    own.map_or_else(
        || PathBuf::from(format!("/tmp/oscost-tick-{}", identity::effective_uid())),
        |own| own.join("oscost-tick"),
    )
}

/// A folder that others may enter, or that another user made under a name that can be guessed, is none to meet in.
fn check(path: &Path) -> Result<(), Ended> {
    let found =
        fs::symlink_metadata(path).map_err(|error| unfit(path, &format!("cannot be looked at: {error}")))?;
    let own = identity::effective_uid();
    match () {
        () if !found.is_dir() => Err(unfit(path, "is no folder")),
        () if found.uid() != own => {
            Err(unfit(path, &format!("belongs to user {}, not to {own}", found.uid())))
        }
        () if found.permissions().mode() & 0o077 != 0 => {
            Err(unfit(path, "may be entered by other users: chmod 700 makes it private"))
        }
        () => Ok(()),
    }
}

fn shown(path: &Path) -> String {
    Untrusted::new(&path.to_string_lossy()).terminal().to_string()
}

fn unfit(path: &Path, why: &str) -> Ended {
    Ended::new(Exit::Unfit, format!("{} {why}", shown(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn private() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().expect("a folder")
    }

    #[test]
    fn one_server_has_the_folder_and_leaves_it_as_it_was() {
        let outer = private();
        let path = outer.path().join("meet");
        assert!(Folder::of_client(Some(&path)).is_err(), "there is none");
        let Ok(server) = Folder::of_server(Some(&path)) else { panic!("a folder") };
        assert!(Folder::of_server(Some(&path)).is_err(), "there is a server");
        assert!(Folder::of_client(Some(&path)).is_ok());
        fs::write(path.join("client-x"), "").expect("a file");
        drop(server);
        assert!(!path.exists(), "what it made it removes");
        fs::create_dir(&path).expect("a folder");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("private");
        fs::write(path.join("client-x"), "").expect("a file");
        fs::write(path.join("other"), "").expect("a file");
        drop(Folder::of_server(Some(&path)));
        assert_eq!(fs::read_dir(&path).expect("a folder").count(), 1, "what others put there stays");
    }

    #[test]
    fn a_folder_that_is_not_private_is_refused() {
        let outer = private();
        let path = outer.path().join("open");
        fs::create_dir(&path).expect("a folder");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("open");
        assert!(Folder::of_server(Some(&path)).is_err());
        assert!(Folder::of_client(Some(&path)).is_err());
        let link = outer.path().join("link");
        std::os::unix::fs::symlink(outer.path(), &link).expect("a link");
        assert!(Folder::of_client(Some(&link)).is_err(), "a link may lead anywhere");
        assert!(Folder::of_server(Some(Path::new("/proc/1"))).is_err());
    }
}
