//! A finished session: its result, to be stored or discarded.

use oscost_results::{Journal, RunLock, RunName, RunResult, Store};

use crate::{Error, Keep};

/// A finished session. Dropped without [`Session::save`] or [`Session::discard`], it leaves its journal, of which the next
/// session makes a partial result.
pub struct Session {
    /// The result; not yet saved.
    pub result: RunResult,
    pub(crate) name: Option<RunName>,
    pub(crate) journal: Option<Journal>,
    pub(crate) store: Keeping,
    pub(crate) lock: Option<RunLock>,
}

/// The place of the result, once it is known.
pub(crate) enum Keeping {
    /// The store can be written.
    In(Store),
    /// The result is not to be stored.
    Nothing,
    /// The result cannot be stored, and why.
    Refused(String),
}

impl Keeping {
    /// The store, where there is one.
    pub(crate) fn store(&self) -> Option<&Store> {
        match self {
            Self::In(store) => Some(store),
            Self::Nothing | Self::Refused(_) => None,
        }
    }

    pub(crate) fn of(keep: &Keep) -> Self {
        let store = match keep {
            Keep::Nothing => return Self::Nothing,
            Keep::In(store) => Ok(store.clone()),
            Keep::User => Store::of_user(),
        };
        match store {
            Ok(store) if store.is_nowhere() => Self::Nothing,
            Ok(store) => match store.prepare() {
                Ok(()) => Self::In(store),
                Err(error) => Self::Refused(error.to_string()),
            },
            Err(error) => Self::Refused(error.to_string()),
        }
    }
}

impl Session {
    /// Saves the result. Its name; `None` where nothing is to be kept. Others may measure from now on.
    ///
    /// # Errors
    /// It was not saved, for whatever reason: a full disk and a folder that is none give the same error.
    pub fn save(&mut self) -> Result<Option<String>, Error> {
        let saved = self.store_it();
        self.lock = None;
        saved.map_err(Error::NotStored)
    }

    fn store_it(&mut self) -> Result<Option<String>, String> {
        let store = match &self.store {
            Keeping::In(store) => store,
            Keeping::Nothing => return Ok(None),
            Keeping::Refused(why) => return Err(why.clone()),
        };
        let name = self.name.as_ref().ok_or("there are no random bits for its name")?;
        let path = store.save(name, &self.result).map_err(|error| error.to_string())?;
        if let Some(journal) = self.journal.take() {
            // A journal that stays is removed by the next run: its result is saved.
            let _ = journal.finish();
        }
        Ok(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
    }

    /// Leaves nothing of it in the store. Others may measure from now on.
    pub fn discard(&mut self) {
        if let Some(journal) = self.journal.take() {
            // A journal that stays is recovered by the next run: nothing is lost, and nothing is wrong.
            let _ = journal.finish();
        }
        self.lock = None;
    }
}
