//! Why a session ends without a result, or without storing it.

use oscost_results::LockError;
use oscost_sys::CallError;

/// Why there is no stored result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The list of CPUs makes no sense here.
    #[error("'{list}'{why}")]
    Cpus {
        /// As it was given.
        list: String,
        /// What is wrong with it, as the end of a sentence.
        why: String,
    },
    /// The system does not tell the CPUs of this process.
    #[error("the CPUs of this process cannot be found: {0}")]
    NoCpus(CallError),
    /// Another run is measuring.
    #[error("{0}; wait for it")]
    Busy(LockError),
    /// The system refuses what a worker needs.
    #[error("no worker can be started here: {}{}", .0, .0.remedy())]
    NoWorker(CallError),
    /// The clock that times does not advance at all.
    #[error(
        "CLOCK_MONOTONIC does not advance: every reading was the same. Nothing can be timed here. Does a library \
         (LD_PRELOAD), a debugger or an emulator stand in for the clock?"
    )]
    StandingClock,
    /// The clock that times runs at a wrong rate.
    #[error("{0}: no figure can be trusted, and none is kept")]
    WrongClock(String),
    /// The result was made, and could not be saved.
    #[error("the result was not stored: {0}; --json FILE also writes it to a file")]
    NotStored(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_worker_says_what_to_do() {
        for (call, errno, limit) in [("fork", 11, "ulimit -u"), ("memfd_create", 24, "ulimit -n")] {
            let said = Error::NoWorker(CallError::new(call, errno)).to_string();
            assert!(said.contains(call) && said.contains(limit), "{said}");
        }
        let said = Error::NoWorker(CallError::new("fork", 1)).to_string();
        assert!(said.ends_with("(EPERM)"), "nothing is known: {said}");
    }
}
