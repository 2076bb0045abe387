//! Reads how the measuring process is run: tracers, filters, nice value, policy. docs/method/environment.md.

use oscost_results::Circumstances;
use oscost_sys::watched::Watched;
use oscost_sys::{affinity, interposition, scheduling};

use crate::protocol::message::DEFAULT_POLICY;

/// The circumstances of the calling thread now.
pub(crate) fn read() -> Circumstances {
    let watched = Watched::own();
    Circumstances {
        nice: scheduling::nice().ok(),
        policy: scheduling::policy_name().ok(),
        tracer_pid: watched.tracer_pid,
        seccomp_mode: watched.seccomp_mode,
        preload: interposition::libraries(),
        ..Circumstances::default()
    }
}

/// What a launch knows of its partners; the rest is the worker's, and known at its end.
pub(super) fn of_partners(tracer_pid: Option<u32>) -> Circumstances {
    Circumstances { tracer_pid, ..Circumstances::default() }
}

pub(super) fn current_cpu() -> u32 {
    affinity::current().and_then(|cpu| u32::try_from(cpu).ok()).unwrap_or(u32::MAX)
}

/// The circumstances between two moments: of each what is not usual, if it was so at one of them.
pub(crate) fn between(before: &Circumstances, after: &Circumstances) -> Circumstances {
    fn either<T: Clone>(a: &Option<T>, b: &Option<T>, unusual: impl Fn(&T) -> bool) -> Option<T> {
        let (a, b) = a.as_ref().zip(b.as_ref())?;
        Some(if unusual(b) { b } else { a }.clone())
    }
    Circumstances {
        nice: either(&before.nice, &after.nice, |&nice| nice != 0),
        policy: either(&before.policy, &after.policy, |policy| policy != DEFAULT_POLICY),
        tracer_pid: either(&before.tracer_pid, &after.tracer_pid, |&pid| pid > 0),
        seccomp_mode: either(&before.seccomp_mode, &after.seccomp_mode, |&mode| mode > 0),
        preload: either(&before.preload, &after.preload, |libraries| !libraries.is_empty()),
        ..Circumstances::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::synthetic::usual;

    #[test]
    fn what_was_unusual_at_one_moment_was_so_between_them() {
        let odd = Circumstances {
            nice: Some(3),
            policy: Some("fifo".to_owned()),
            tracer_pid: Some(9),
            seccomp_mode: Some(2),
            preload: Some(vec!["a.so".to_owned()]),
            ..Circumstances::default()
        };
        assert_eq!(between(&usual(), &odd), odd);
        assert_eq!(between(&odd, &usual()), odd);
        assert_eq!(between(&usual(), &usual()), usual());
        let unknown = between(&usual(), &Circumstances::default());
        assert_eq!(unknown, Circumstances::default(), "known once is not known throughout");
    }

    #[test]
    fn the_own_circumstances_are_found() {
        let own = read();
        assert!(own.nice.is_some() && own.policy.is_some(), "{own:?}");
        assert_eq!(own.tracer_pid.is_some(), std::path::Path::new("/proc/self/status").exists());
    }
}
