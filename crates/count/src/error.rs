//! Errors of counting: what failed, where, and what to do.

use std::path::PathBuf;

use oscost_sys::CallError;

/// Why there is no count.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// qemu is not installed.
    #[error("{program} is not installed: counting needs it (Debian: apt install {package})")]
    NoEmulator {
        /// Name of the program.
        program: String,
        /// Debian's package that holds it.
        package: &'static str,
    },
    /// A file that was named cannot be used.
    #[error("{}: {why}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A call of this machine failed.
    #[error("{what}: {error}")]
    Call {
        /// What was tried.
        what: &'static str,
        /// How it failed.
        error: CallError,
    },
    /// qemu ended before the kernel said a word: it refuses what it was given, or this machine lacks something.
    #[error("qemu could not start the machine: {0} (is it --cpu-model or --memory?)")]
    Refused(String),
    /// The guest gave no result.
    #[error("{why}{}", last_lines(.console))]
    Guest {
        /// In words.
        why: String,
        /// The last lines of its console.
        console: Vec<String>,
    },
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
}

fn last_lines(console: &[String]) -> String {
    if console.is_empty() {
        return "; its console is empty".to_owned();
    }
    let lines: Vec<String> = console.iter().map(|line| format!("\n  | {line}")).collect();
    format!("; the last lines of its console:{}", lines.concat())
}

impl Error {
    /// A guest without a result.
    pub(crate) fn guest(why: impl Into<String>) -> Self {
        Self::Guest { why: why.into(), console: Vec::new() }
    }

    /// The same error with the last lines of the guest's console.
    pub(crate) fn with_console(self, console: Vec<String>) -> Self {
        match self {
            Self::Guest { why, .. } => Self::Guest { why, console },
            other => other,
        }
    }
}

/// An error of std as one of this crate.
pub(crate) fn call(what: &'static str, call: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    move |error| Error::Call { what, error: CallError::new(call, error.raw_os_error().unwrap_or(0)) }
}
