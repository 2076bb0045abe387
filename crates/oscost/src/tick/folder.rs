//! The private folder in which server and clients meet: it belongs to the user, and nobody else may enter it. It is held by
//! its descriptor: what is made or removed in it is so there, whatever becomes of its name.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use oscost_sys::folder::Folder as Held;
use oscost_sys::{CallError, identity, registration, socket};

use super::keeper::Keeper;
use super::place::{CLIENT, Place, SENDER, SERVER, shown, unfit, unmade, unopened};
use crate::exit::Ended;

/// How long a server waits for the lock: the keeper of one that was killed just now tidies up under it.
const PATIENCE: Duration = Duration::from_millis(500);

/// How a server gets its keeper, by the folder that holds a name, and the name.
pub type StartKeeper = fn(&Held, &OsStr) -> Result<Keeper, CallError>;

/// The folder, as a server or a client has it.
pub struct Folder {
    path: PathBuf,
    place: Place,
    is_server: bool,
    /// Who tidies up where the server is killed, or why nobody does; a client has none. It goes last.
    keeper: Option<Result<Keeper, CallError>>,
}

impl Folder {
    /// The folder of a server, made where it does not exist. What a server that was killed has left in it is removed. `keeper`
    /// starts somebody who tidies up.
    pub fn of_server(given: Option<&Path>, keeper: StartKeeper) -> Result<Self, Ended> {
        let path = given.map_or_else(default, Path::to_owned);
        let (parent, name) = parent_of(&path).map_err(|error| unmade(&path, error))?;
        // He is there before the folder is.
        let keeper = keeper(&parent, &name);
        let place = Self::locked(&path, &parent, &name, &keeper)?;
        if let Ok(keeper) = &keeper {
            keeper.hold();
        }
        Ok(Self { path, place, is_server: true, keeper: Some(keeper) })
    }

    /// Makes or opens it, and locks it.
    fn locked(
        path: &Path,
        parent: &Held,
        name: &OsStr,
        keeper: &Result<Keeper, CallError>,
    ) -> Result<Place, Ended> {
        let begun = Instant::now();
        loop {
            let place = Place::make(path, parent, name)?;
            match place.held.try_lock() {
                // A clean-up has removed it meanwhile.
                Ok(true) if place.is_removed() => {}
                Ok(true) => {
                    place.sweep();
                    return Ok(place);
                }
                Ok(false) if begun.elapsed() < PATIENCE => {
                    oscost_sys::clock::pause(Duration::from_millis(10))
                }
                Ok(false) => {
                    if let Ok(keeper) = keeper {
                        keeper.dismiss();
                    }
                    let words = format!("a tick server is running in {} already", shown(path));
                    return Err(Ended::unfit(words));
                }
                Err(error) => {
                    place.unmake();
                    return Err(unfit(path, &format!("cannot be locked: {error}")));
                }
            }
        }
    }

    /// Why there is nobody who tidies up where this server is killed.
    pub fn lacks_keeper(&self) -> Option<CallError> {
        self.keeper.as_ref().and_then(|keeper| keeper.as_ref().err().copied())
    }

    /// The folder of a client.
    pub fn of_client(given: Option<&Path>) -> Result<Self, Ended> {
        let path = given.map_or_else(default, Path::to_owned);
        let opened = parent_of(&path).and_then(|(parent, name)| Place::open(&parent, &name));
        let place = match opened {
            Err(error) if error.symbol() == Some("ENOENT") => {
                let words =
                    format!("no tick server: there is no {}; start one: oscost tick server", shown(&path));
                return Err(Ended::unfit(words));
            }
            opened => opened.map_err(|error| unopened(&path, error))?,
        };
        place.check(&path)?;
        Ok(Self { path, place, is_server: false, keeper: None })
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

    /// The server's socket for those who register.
    pub fn listen(&self) -> Result<OwnedFd, Ended> {
        registration::listen(&self.here(SERVER)?).map_err(|error| self.no_socket(error))
    }

    /// The server's socket that ticks come from.
    pub fn bind_sender(&self) -> Result<OwnedFd, Ended> {
        socket::marked_datagram_at(&self.here(SENDER)?).map_err(|error| self.no_socket(error))
    }

    /// The socket of the client of that name.
    pub fn bind_client(&self, name: &str) -> Result<OwnedFd, Ended> {
        socket::marked_datagram_at(&self.here(&format!("{CLIENT}{name}"))?)
            .map_err(|error| self.no_socket(error))
    }

    /// Removes the socket that a client of that name left.
    pub fn forget(&self, name: &str) {
        // There may be nothing.
        let _ = self.place.held.remove_marked_socket(OsStr::new(&format!("{CLIENT}{name}")));
    }

    /// The name by which others find a socket.
    fn address(&self, name: &str) -> Result<socket::Path, Ended> {
        self.socket_path(&self.path.join(name))
    }

    /// The name under which a socket is made: in the folder that is held, wherever its path leads by now. Without /proc the
    /// path has to do.
    fn here(&self, name: &str) -> Result<socket::Path, Ended> {
        let held = PathBuf::from(format!("/proc/self/fd/{}", self.place.held.as_raw_fd()));
        // Others must be able to find it, too.
        self.address(name)?;
        if held.is_dir() { self.socket_path(&held.join(name)) } else { self.address(name) }
    }

    fn socket_path(&self, path: &Path) -> Result<socket::Path, Ended> {
        let text = path.to_str().ok_or_else(|| unfit(&self.path, "has a name that is not UTF-8"))?;
        socket::Path::new(text)
            .map_err(|_| unfit(&self.path, "has too long a name: a socket's path has at most 107 bytes"))
    }

    fn no_socket(&self, error: CallError) -> Ended {
        unfit(&self.path, &format!("cannot hold a socket: {error}"))
    }

    /// For people.
    pub fn shown(&self) -> String {
        shown(&self.path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_server {
            self.place.tidy_up();
        }
    }
}

/// What `path` leads to without its last word, and that word.
fn parent_of(path: &Path) -> Result<(Held, OsString), CallError> {
    let absolute = std::path::absolute(path)
        .map_err(|error| CallError::new("getcwd", error.raw_os_error().unwrap_or(0)))?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => Ok((Held::open(parent)?, name.to_owned())),
        _ => Err(CallError::told("the folder needs a name of its own")),
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

#[cfg(test)]
mod tests;
