//! A folder for this process itself, outside of every run: it goes with the process, whoever is killed alone.

use std::ffi::OsStr;
use std::path::Path;

use oscost_sys::{CallError, identity, process};

use crate::benchmark::directory::{Directory, Place};
use crate::protocol::object::Object;
use crate::supervisor::janitor::Janitor;

/// A folder with a name that nobody can predict, removed with the value. A janitor, who was there before it, removes it where
/// this process is killed, as soon as the programs have ended that the process started meanwhile. Where the janitor is killed with
/// it, the next [`Self::make`] in the same place does.
#[derive(Debug)]
pub struct OwnFolder {
    // It goes first: a janitor who was killed is seen to at his drop.
    directory: Directory,
    _janitor: Janitor,
}

impl OwnFolder {
    /// Makes one at `parent`, after it removed what killed processes of this user left there.
    ///
    /// # Errors
    /// Why none can be made there, in words.
    pub fn make(parent: &Path) -> Result<Self, String> {
        let place = Place::open(parent)?;
        let janitor = janitor(&place).map_err(|error| format!("nobody would remove it: {error}"))?;
        let directory =
            Directory::of_process(place, |name| janitor.declare(&Object::Folder(name.to_owned())))?;
        Ok(Self { directory, _janitor: janitor })
    }

    /// Its name in the folder in which it was made.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        self.directory.name()
    }
}

fn janitor(place: &Place) -> Result<Janitor, CallError> {
    let program = identity::own_program().ok_or(CallError::new("readlink", 2))?;
    // The janitor alone inherits it: it is closed when he has started.
    let inherited = place.again()?;
    process::keep_over_exec(inherited.folder())?;
    let janitor = Janitor::start(&program, false, Some(&inherited))?;
    // A compiler that is still at work would write into what is being removed.
    janitor.wait_for_programs()?;
    Ok(janitor)
}
