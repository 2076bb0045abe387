//! Signals that end the program: measurements are kept, and nobody waits for a reader that does not read.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use oscost_sys::{clock, endings};

use crate::exit::Ended;

/// After a signal, what was measured may take so long to be shown.
const PATIENCE: Duration = Duration::from_secs(2);

/// SIGINT, SIGTERM and SIGHUP, heard.
pub struct Signals {
    ends: Arc<AtomicBool>,
}

impl Signals {
    /// From now on the first one ends the measuring, and a second one ends the program at once. One that the caller had
    /// ignored (nohup, the job of a script in the background) stays ignored.
    pub fn listen() -> Result<Self, Ended> {
        let listen = endings::listen();
        let ends = listen.map_err(|error| Ended::unfit(format!("signals cannot be handled: {error}")))?;
        Ok(Self { ends })
    }

    /// Whether one has come; to be looked at while something is waited for.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.ends)
    }

    /// Whether one has come.
    pub fn came(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// The one that came.
    pub fn number(&self) -> Option<u8> {
        endings::number()
    }

    /// Nothing is measured any more, and what was is in every file that was asked for: from now on the first signal ends the
    /// program at once; after one that has come it ends soon, whoever does not read what it says. The signal that ended the
    /// measuring.
    pub fn deliver(&self) -> Option<u8> {
        self.ends.store(true, Ordering::SeqCst);
        let number = self.number();
        if let Some(number) = number {
            // Where no thread is to be had the second signal ends it.
            let _ = std::thread::Builder::new().spawn(move || {
                clock::pause(PATIENCE);
                endings::end_now(128 + i32::from(number));
            });
        }
        number
    }

    /// The same before the last that is shown, unless that goes into this file, which has to be written.
    pub fn deliver_unless(&self, file: Option<&Path>) -> Option<u8> {
        if file.is_some() { self.number() } else { self.deliver() }
    }
}
