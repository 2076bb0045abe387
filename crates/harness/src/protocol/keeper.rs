//! Tells the janitor about objects that outlive a process: their maker writes into its ledger first.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oscost_sys::{CallError, process, random};

use super::ledger::Ledger;
use super::object::{Key, Object};

/// First argument by which the program is started as the janitor.
pub const JANITOR_ARGUMENT: &str = "__janitor";

/// What a process inherits that makes objects: an end of the janitor's pipe, which it holds as long as it lives, and the
/// ledger.
#[derive(Debug)]
pub(crate) struct Tie {
    pub(crate) pipe: OwnedFd,
    pub(crate) ledger: Ledger,
}

impl Tie {
    /// Takes over what the supervisor names.
    pub fn inherited(words: &str) -> Result<Self, String> {
        let (pipe, ledger) = words.split_once(',').ok_or_else(|| format!("'{words}' is no tie"))?;
        Ok(Self { pipe: descriptor(pipe)?, ledger: Ledger::inherited(descriptor(ledger)?) })
    }

    fn try_clone(&self) -> Result<Self, CallError> {
        let pipe = self.pipe.try_clone();
        let pipe = pipe.map_err(|error| CallError::new("fcntl", error.raw_os_error().unwrap_or(0)))?;
        Ok(Self { pipe, ledger: self.ledger.try_clone()? })
    }
}

/// Takes over the descriptor of that number, which was left open for this process.
pub(crate) fn descriptor(number: &str) -> Result<OwnedFd, String> {
    let number = number.parse().map_err(|_| format!("'{number}' is no descriptor"))?;
    process::inherited(number).map_err(|error| error.to_string())
}

/// Where a set-up declares what it is about to make. In private namespaces there is nothing to declare but files outside
/// them.
#[derive(Debug, Default)]
pub struct Keeper {
    tie: Option<Tie>,
    private: bool,
    /// Nobody removes what is left: such an object was asked for, of this keeper or of a copy, and must not be made.
    nobody: Option<Arc<AtomicBool>>,
}

/// Why an object is not made that would outlive a killed worker.
pub(crate) const NOBODY: &str =
    "it makes an object that would outlive a kill, and --plain has nobody who would remove it";

impl Keeper {
    /// A keeper in a process whose objects vanish with it.
    #[must_use]
    pub fn in_private_namespaces() -> Self {
        Self { private: true, ..Self::default() }
    }

    /// The same, of a janitor who removes folders that no namespace holds.
    pub(crate) fn of_files(tie: Tie) -> Self {
        Self { tie: Some(tie), private: true, nobody: None }
    }

    /// A keeper of a janitor who removes everything.
    pub(crate) fn of_janitor(tie: Tie) -> Self {
        Self { tie: Some(tie), private: false, nobody: None }
    }

    /// A keeper where nobody removes anything: it refuses every object.
    pub(crate) fn of_nobody() -> Self {
        Self { nobody: Some(Arc::default()), ..Self::default() }
    }

    /// Whether an object was refused since this was asked last, because nobody would remove it.
    pub(crate) fn has_refused(&self) -> bool {
        self.nobody.as_ref().is_some_and(|refused| refused.swap(false, Ordering::Relaxed))
    }

    /// Another keeper of the same janitor, for what makes its objects after its set-up.
    ///
    /// # Errors
    /// The error of fcntl.
    pub fn another(&self) -> Result<Self, CallError> {
        let tie = self.tie.as_ref().map(Tie::try_clone).transpose()?;
        Ok(Self { tie, private: self.private, nobody: self.nobody.clone() })
    }

    /// Declares an object that is about to be made: a kill may come between its making and any word of it.
    ///
    /// # Errors
    /// The error of write, or that nobody would remove it: it must not be made.
    pub fn keep(&mut self, object: &Object) -> Result<(), CallError> {
        if let Some(refused) = &self.nobody {
            refused.store(true, Ordering::Relaxed);
            return Err(CallError::told(NOBODY));
        }
        match &self.tie {
            Some(tie) if !self.private || object.outlives_namespaces() => tie.ledger.declare(object),
            _ => Ok(()),
        }
    }

    /// Makes a System V object under a random key, which is declared before and its identifier after.
    ///
    /// # Errors
    /// The error of `make`, of getrandom, or of write: then the object is dropped, and so removed.
    pub fn make<T>(
        &mut self,
        kind: fn(Key) -> Object,
        make: impl Fn(i32) -> Result<T, CallError>,
        id: impl Fn(&T) -> i32,
    ) -> Result<T, CallError> {
        loop {
            let key = i32::try_from(random::bits()? & 0x7fff_ffff).unwrap_or(0).max(1);
            self.keep(&kind(Key { key, id: None }))?;
            match make(key) {
                // One in 2^31: somebody else's, and no object has this identifier.
                Err(error) if error.symbol() == Some("EEXIST") => {
                    self.keep(&kind(Key { key, id: Some(-1) }))?;
                }
                made => {
                    let made = made?;
                    self.keep(&kind(Key { key, id: Some(id(&made)) }))?;
                    return Ok(made);
                }
            }
        }
    }
}
