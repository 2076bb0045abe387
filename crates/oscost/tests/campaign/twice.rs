//! twice: of many runs that start at once one measures, or all, if the user insists.

use std::process::Stdio;

use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::{Amount, Outcome, Provocation, space, state};

/// So many runs at the same moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Twice(usize);

pub fn run(_: Amount) -> Outcome {
    let provocation = Provocation::Twice(Twice(20));
    let keys = state::keys(std::slice::from_ref(&provocation));
    state::once(&keys[0], || space::within(&provocation))
}

impl Twice {
    pub fn carry_out(&self) -> Outcome {
        many(self.0)
    }
}

/// At most one of them measures, unless they insist; then all do, and each stores a result of its own.
fn many(count: usize) -> Outcome {
    let mut outcome = Outcome::default();
    for (force, allowed) in [(false, &[0, 3, 5][..]), (true, &[0, 3][..])] {
        let results = || {
            let names = space::names(&program::runs(User::Own));
            names.iter().filter(|name| name.ends_with(".json")).count()
        };
        let before = results();
        let mut arguments =
            vec!["run", "--quiet", "--one-launch", "syscall/getppid", "lock/system_v_message"];
        arguments.extend(force.then_some("--force"));
        let start = |_| {
            let mut command = program::oscost(User::Own, &arguments);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program can be started")
        };
        let children: Vec<_> = (0..count).map(start).collect();
        let codes: Vec<Option<i32>> =
            children.into_iter().map(|child| program::finish(child).code()).collect();
        outcome.count("starts at once", count as u64);
        let what = format!("{count} starts at once{}", if force { " by force" } else { "" });
        if !codes.iter().all(|code| code.is_some_and(|code| allowed.contains(&code))) {
            outcome.fail(format!("{what}: codes {codes:?}"));
        }
        let measured = codes.iter().filter(|code| matches!(code, Some(0 | 3))).count();
        outcome.count("starts at once that measured", measured as u64);
        if results() != before + measured {
            outcome.fail(format!("{what}: {measured} measured, {before} results became {}", results()));
        }
        program::store_is_whole(User::Own, &mut outcome);
        for left in space::quiet() {
            outcome.wrong("left", format!("{what}: {left}"));
        }
    }
    outcome
}
