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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Read;
    use std::os::fd::AsFd;

    use oscost_sys::pipe::Pipe;

    use super::*;

    /// A keeper made of a tie, and the lines that it has written into the ledger.
    fn told(of: fn(Tie) -> Keeper, act: impl FnOnce(&mut Keeper)) -> Vec<Object> {
        let ledger = Ledger::make(false).expect("memory");
        let again = ledger.try_clone().expect("a descriptor");
        let pipe = Pipe::new().expect("a pipe");
        act(&mut of(Tie { pipe: pipe.writer, ledger }));
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&again.as_fd()));
        let mut text = String::new();
        std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)).expect("the ledger");
        text.lines().filter_map(Object::from_line).collect()
    }

    fn folder() -> Object {
        Object::Folder("oscost-x".to_owned())
    }

    fn semaphore() -> Object {
        Object::SystemVSemaphore(Key { key: 7, id: None })
    }

    #[test]
    fn what_outlives_a_kill_is_written_down_by_who_has_a_janitor() {
        let both = |keeper: &mut Keeper| {
            let mut other = keeper.another().expect("another");
            keeper.keep(&folder()).expect("written");
            other.keep(&semaphore()).expect("written");
            assert!(!keeper.has_refused());
        };
        assert_eq!(told(Keeper::of_janitor, both), [folder(), semaphore()]);
        assert_eq!(told(Keeper::of_files, both), [folder()], "a namespace holds the other one");
        let mut private = Keeper::in_private_namespaces();
        assert_eq!((private.keep(&semaphore()), private.has_refused()), (Ok(()), false));
    }

    #[test]
    fn where_nobody_removes_anything_each_object_is_refused_and_told_once() {
        let mut keeper = Keeper::of_nobody();
        assert!(!keeper.has_refused());
        let mut other = keeper.another().expect("another");
        assert_eq!(other.keep(&semaphore()), Err(CallError::told(NOBODY)));
        assert!(keeper.has_refused(), "of a copy, too");
        assert!(!keeper.has_refused() && !other.has_refused());
        assert!(keeper.make(Object::SystemVSemaphore, |_| Ok(()), |()| 1).is_err());
    }

    /// A key is declared before the object is made, and its identifier after; a key that somebody has is given up.
    #[test]
    fn a_key_is_declared_before_and_its_identifier_after() {
        let keys = RefCell::new(Vec::new());
        let objects = told(Keeper::of_janitor, |keeper| {
            let make = |key: i32| {
                keys.borrow_mut().push(key);
                // EEXIST.
                if keys.borrow().len() < 3 { Err(CallError::new("semget", 17)) } else { Ok(42) }
            };
            assert_eq!(keeper.make(Object::SystemVSemaphore, make, |&id| id), Ok(42));
            // EACCES ends it.
            let refused = keeper.make(
                Object::SystemVSemaphore,
                |_| Err::<i32, _>(CallError::new("semget", 13)),
                |&id| id,
            );
            assert_eq!(refused, Err(CallError::new("semget", 13)));
        });
        let keys = keys.into_inner();
        assert!(keys.iter().all(|&key| key > 1) && keys[0] != keys[1] && keys[1] != keys[2], "{keys:?}");
        let line = |key, id| Object::SystemVSemaphore(Key { key, id });
        let expected = [
            line(keys[0], None),
            line(keys[0], Some(-1)),
            line(keys[1], None),
            line(keys[1], Some(-1)),
            line(keys[2], None),
            line(keys[2], Some(42)),
        ];
        assert_eq!(objects[..6], expected);
        assert_eq!(objects.len(), 7);
    }

    #[test]
    fn a_tie_is_two_descriptors() {
        // One of its own: a number that another test has open would be taken from it, and closed.
        let own = std::os::fd::IntoRawFd::into_raw_fd(oscost_sys::pipe::Pipe::new().expect("a pipe").reader);
        for words in ["", "3", "x,y", "-1,-2", &format!("{own},")] {
            assert!(Tie::inherited(words).is_err(), "{words}");
        }
    }
}
