//! Exit codes: one list, which the man page shows too.

use std::fmt;
use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done. Unsupported rows do not count against it, unless they were asked for by their full id.
    Done,
    /// A figure is slower: `compare --fail-on`, `compare --gate`.
    Slower,
    /// Misuse, or input that cannot be read.
    Misuse,
    /// A figure that was asked for was withheld.
    Withheld,
    /// A file that was asked for, or standard output, could not be written.
    Unwritable,
    /// Unfit to measure.
    Unfit,
    /// Nothing can be told: `compare --gate`, and `git bisect` skips the commit.
    CannotTell,
    /// A defect of oscost.
    Internal,
    /// Ended by a signal; what was measured is saved and marked partial.
    Signal(u8),
}

/// Codes and their meaning, for the man page.
pub const MEANINGS: &[(&str, &str)] = &[
    ("0", "done; unsupported rows do not count against it, unless they were asked for by their full id"),
    ("1", "a figure is slower: compare --fail-on, compare --gate"),
    ("2", "misuse, or input that cannot be read"),
    ("3", "a figure that was asked for was withheld: failed, contradicted, or named and unsupported"),
    (
        "4",
        "a file that was asked for, or standard output, could not be written (a reader that closes the pipe is no error)",
    ),
    (
        "5",
        "unfit: another run is measuring, --require-realtime was refused, or the program was started with more privilege than its caller has",
    ),
    ("125", "compare --gate cannot tell: git bisect run skips the commit"),
    ("70", "internal error: please report it"),
    ("129, 130, 143", "ended by SIGHUP, SIGINT or SIGTERM; what was measured is saved and marked partial"),
];

impl Exit {
    /// The code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Slower => 1,
            Self::Misuse => 2,
            Self::Withheld => 3,
            Self::Unwritable => 4,
            Self::Unfit => 5,
            Self::CannotTell => 125,
            Self::Internal => 70,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An ending that is an error: what to say, and the code.
#[derive(Debug)]
pub struct Ended {
    /// The code.
    pub exit: Exit,
    message: String,
}

impl Ended {
    /// An error of this kind.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// Misuse.
    pub fn misuse(message: impl fmt::Display) -> Self {
        Self::new(Exit::Misuse, message.to_string())
    }

    /// Something could not be written.
    pub fn unwritable(message: impl fmt::Display) -> Self {
        Self::new(Exit::Unwritable, message.to_string())
    }

    /// An ending without words: the reader has gone.
    pub fn silent(exit: Exit) -> Self {
        Self::new(exit, String::new())
    }

    /// Whether there is nothing to say.
    pub fn is_silent(&self) -> bool {
        self.message.is_empty()
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
