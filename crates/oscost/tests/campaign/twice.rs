//! twice: a second run at the same time is refused, or marked if the user insists, whoever starts it.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, crowd};

/// Who starts the second one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Twice {
    second: User,
}

pub fn run(_: Amount) -> Outcome {
    let mut provocations = vec![Provocation::Twice(Twice { second: User::Own })];
    if space::is_root() {
        provocations.push(Provocation::Twice(Twice { second: User::Nobody }));
    }
    // One after the other: the lock is the machine's.
    crowd::sum(provocations.iter().map(space::within))
}

impl Twice {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let patience = Instant::now() + Duration::from_secs(60);
        let first = loop {
            let mut child =
                program::oscost(User::Own, &["run", "-v", "--thorough", "syscall/getppid"]).spawn().unwrap();
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
                outcome
                    .skipped
                    .push("twice: somebody else is measuring on this machine all the time".to_owned());
                return outcome;
            }
            std::thread::sleep(Duration::from_millis(200));
        };
        let refused = program::run(&mut program::oscost(self.second, &["run", "--quick", "syscall/getppid"]));
        outcome.count("second runs", 1);
        program::ended_well(&refused, &[5], "a second run", &mut outcome);
        if !refused.said().contains("another run is measuring") {
            outcome.fail(format!("a second run: {}", refused.words()));
        }
        let forced = program::run(&mut program::oscost(
            self.second,
            &["run", "--force", "--quick", "syscall/getppid"],
        ));
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
}
