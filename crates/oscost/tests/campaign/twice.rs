//! twice: a second run at the same time is refused, or marked if the user insists, whoever starts it; and many start at once.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, crowd, state};

/// Who starts another one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Twice {
    /// A user, while a first one measures.
    Second(User),
    /// So many at the same moment.
    Many(usize),
}

pub fn run(_: Amount) -> Outcome {
    let mut provocations = vec![Provocation::Twice(Twice::Second(User::Own))];
    if space::is_root() {
        provocations.push(Provocation::Twice(Twice::Second(User::Nobody)));
    }
    provocations.push(Provocation::Twice(Twice::Many(20)));
    // One after the other: the lock is the machine's.
    let keys = state::keys(&provocations);
    crowd::sum(provocations.iter().zip(&keys).map(|(it, key)| state::once(key, || space::within(it))))
}

impl Twice {
    pub fn carry_out(&self) -> Outcome {
        match *self {
            Self::Second(user) => second(user),
            Self::Many(count) => many(count),
        }
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
            outcome.count("left", 1);
            outcome.fail(format!("{what}: {left}"));
        }
    }
    outcome
}

fn second(user: User) -> Outcome {
    let mut outcome = Outcome::default();
    let patience = Instant::now() + Duration::from_secs(60);
    let first = loop {
        // A whole family: it goes on beside two others even where everybody waits for a CPU.
        let mut child = program::oscost(User::Own, &["run", "-v", "--thorough", "syscall"]).spawn().unwrap();
        let begun = loop {
            let said = std::fs::read_to_string(ground("stderr")).unwrap_or_default();
            if said.contains("launch 1 of") {
                break true;
            }
            // Somebody else on this machine is measuring.
            if child.try_wait().unwrap().is_some() {
                break false;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        if begun {
            break child;
        }
        if Instant::now() > patience {
            outcome.skipped.push("twice: somebody else is measuring on this machine all the time".to_owned());
            return outcome;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let refused = program::run(&mut program::oscost(user, &["run", "--quick", "syscall/getppid"]));
    outcome.count("second runs", 1);
    program::ended_well(&refused, &[5], "a second run", &mut outcome);
    if !refused.said().contains("another run is measuring") {
        outcome.fail(format!("a second run: {}", refused.words()));
    }
    let forced = program::run(&mut program::oscost(user, &["run", "--force", "--quick", "syscall/getppid"]));
    program::ended_well(&forced, &[0], "a second run by force", &mut outcome);
    if !forced.said().contains("while another run was measuring") {
        outcome.fail(format!("a second run by force is not marked: {}", forced.said()));
    }
    let _ = std::process::Command::new("kill").args(["-INT", &first.id().to_string()]).status();
    let first = program::finish(first);
    program::ended_well(&first, &[130], "the first run", &mut outcome);
    program::store_is_whole(User::Own, &mut outcome);
    outcome
}
