//! Exit codes: one list, which the man page shows too.

use std::ffi::OsString;
use std::fmt;
use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done. Unsupported rows do not count against it, unless they were asked for by their full id.
    Done,
    /// A figure is slower, or something was counted more often: `compare --fail-on`, `compare --bisect`, `bill --budget`.
    Slower,
    /// Misuse, or input that cannot be read.
    Misuse,
    /// A figure that was asked for was withheld.
    Withheld,
    /// The result could not be stored, or a file that was asked for, or standard output, not be written.
    Unwritable,
    /// Unfit to measure.
    Unfit,
    /// A figure could not be judged: `compare --fail-on unclear`.
    Unclear,
    /// Nothing can be told of this commit: `compare --bisect`, and git skips it.
    Skipped,
    /// Nothing can be told of any commit: `compare --bisect`, and git ends the bisection.
    Stopped,
    /// A defect of oscost.
    Internal,
    /// Ended by a signal; what a run has measured is saved and marked partial.
    Signal(u8),
}

/// Codes and their meaning, for the man page.
pub const MEANINGS: &[(&str, &str)] = &[
    (
        "0",
        "done, even with unsupported rows, unless you asked for them by their full id; also run --watch after Ctrl-C",
    ),
    (
        "1",
        "a figure is slower, or takes more instructions: compare --fail-on slower, --fail-on more:N, compare --bisect; a budget of bill --budget is broken",
    ),
    ("2", "misuse, or input that cannot be read, even one file of a folder whose others are shown"),
    (
        "3",
        "a figure that you asked for was withheld: failed, contradicted, or named and unsupported; with compare --fail-on unclear or bill --budget: it could not be judged; also a program that bill cannot count",
    ),
    (
        "4",
        "the result, a file that you named, or standard output could not be written (a reader that closes the pipe is no error)",
    ),
    (
        "5",
        "unfit: doctor found the machine or the instrument so, another run is measuring, --require-realtime was refused, the clock runs at a wrong rate, memory is short, the program has more privilege than its caller, this system is not Linux, or what the command needs is missing or refused (a tick server, a compiler, qemu, a program of a peer, root for bill --pid, tracefs)",
    ),
    ("70", "internal error: please report it"),
    (
        "125",
        "compare --bisect: it may be slower or not, was withheld, or the kernel does not boot; git skips the commit",
    ),
    (
        "129, 130, 143",
        "ended by SIGHUP, SIGINT or SIGTERM; what run, reproduce and bill have measured is saved and marked partial, and count saves each kernel that it has finished",
    ),
    (
        "255",
        "compare --bisect cannot answer for any commit (replaces 2, 4, 5 and 70); git ends the bisection",
    ),
];

impl Exit {
    /// The code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Slower => 1,
            Self::Misuse => 2,
            Self::Withheld | Self::Unclear => 3,
            Self::Unwritable => 4,
            Self::Unfit => 5,
            Self::Internal => 70,
            Self::Skipped => 125,
            Self::Stopped => 255,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

impl Exit {
    /// The same for `git bisect run`, which takes all but 0, 125 and what is above 127 for a bad commit.
    pub fn of_bisection(self) -> Self {
        match self {
            Self::Done | Self::Slower | Self::Skipped | Self::Stopped | Self::Signal(_) => self,
            // What was withheld now may be measured at another commit.
            Self::Withheld | Self::Unclear => Self::Skipped,
            Self::Misuse | Self::Unwritable | Self::Unfit | Self::Internal => Self::Stopped,
        }
    }
}

/// The exit code as `git bisect run` must get it, however early the program ends: arguments that cannot be understood are no
/// bad commit.
pub fn in_bisection(exit: Exit) -> Exit {
    if bisects(std::env::args_os()) { exit.of_bisection() } else { exit }
}

/// Whether the command is `compare` and has the option: a program that `bill` starts may have one of that name.
fn bisects(arguments: impl Iterator<Item = OsString>) -> bool {
    let mut own = arguments.skip(1).take_while(|argument| argument != "--");
    // Of the options before a command this one has a value.
    let mut is_value = false;
    let command = own.find(|argument| {
        let is_command = !is_value && !argument.as_encoded_bytes().starts_with(b"-");
        is_value = argument == "--color";
        is_command
    });
    command.is_some_and(|command| command == "compare")
        && own.any(|argument| argument == "--bisect" || argument.as_encoded_bytes().starts_with(b"--bisect="))
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

    /// This machine, or something of it, is unfit for what was asked.
    pub fn unfit(message: impl fmt::Display) -> Self {
        Self::new(Exit::Unfit, message.to_string())
    }

    /// Something could not be written.
    pub fn unwritable(message: impl fmt::Display) -> Self {
        Self::new(Exit::Unwritable, message.to_string())
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// git takes 2 for a bad commit, whichever way the option was typed; other commands keep their codes.
    #[test]
    fn codes_of_a_bisection_are_those_of_compare_alone() {
        let told = |call: &str| bisects(call.split(' ').map(OsString::from));
        for call in [
            "oscost compare --bisect base.json syscall/getpid",
            "oscost compare --bisect=base.json syscall/getpid",
            "oscost compare --bisect",
            "oscost -q --color always compare -v --threshold 9% --bisect base.json syscall/getpid",
            "oscost --color=always compare --bisect base.json syscall/getpid",
        ] {
            assert!(told(call), "{call}");
        }
        for call in [
            "oscost",
            "oscost bill -- ./tool --bisect x",
            "oscost bill -- compare --bisect x",
            "oscost run compare --bisect",
            "oscost compare a.json -- --bisect",
            "oscost compare --bisected a.json",
            "oscost --color compare run --bisect",
        ] {
            assert!(!told(call), "{call}");
        }
    }
}
