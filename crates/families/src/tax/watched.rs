//! Which system call of an operation a layer is to watch.

use oscost_harness::{Benchmark, Bound, Claim, Unable};

/// What a layer has to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watches {
    /// Every system call.
    AllCalls,
    /// The system call of one name.
    OneCall,
    /// A function of its own, which makes its own call.
    OwnFunction,
}

/// The system call of which each operation makes a fixed number, and that number.
pub fn watched_call(own: &[Claim]) -> Option<(&'static str, u64)> {
    own.iter().find_map(|claim| match claim {
        Claim::CallsNamed([name], Bound::Exactly(calls)) if *calls >= 1.0 && calls.fract() == 0.0 => {
            Some((*name, *calls as u64))
        }
        _ => None,
    })
}

/// The system call that a layer is to watch under the operation, and how many of it an iteration makes.
///
/// # Errors
/// The layer has to do with calls of one name, and the operation makes no fixed number of such.
pub fn watched(on: &'static dyn Benchmark, watches: Watches) -> Result<(&'static str, u64), Unable> {
    let unsupported =
        |why: &str| Unable::Unsupported { why: why.to_owned(), remedy: "choose another layer".to_owned() };
    match (watches, watched_call(&on.claims())) {
        (Watches::AllCalls, _) => Ok(("", 0)),
        (Watches::OwnFunction, _) => {
            Err(unsupported("the probe is in a function of its own, which calls getppid"))
        }
        (Watches::OneCall, Some((name, calls))) => {
            Ok((name, calls * on.card().operations_per_iteration.max(1)))
        }
        (Watches::OneCall, None) => {
            Err(unsupported("the operation makes no fixed number of calls of one name, which it could watch"))
        }
    }
}
