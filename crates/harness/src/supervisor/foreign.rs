//! Other programs (peers, other builds, other settings) in our rotation of launches, and commands of the caller.

use std::collections::BTreeMap;

use oscost_results::Figure;

use crate::benchmark::foreign::Foreign;
use crate::figures;
use crate::protocol::message::{
    Contained, Failure, ForeignOutput, ForeignPlan, Job, Launched, Report, Task, TaskFinding,
};
use crate::supervisor::workers::{Lost, Supervisor};

/// A foreign program and what became of its launches.
pub(crate) struct Contestant<'a> {
    pub foreign: &'a Foreign,
    launched: Vec<Launched>,
    failure: Option<Failure>,
    failed_launches: u32,
}

impl<'a> Contestant<'a> {
    pub fn new(foreign: &'a Foreign) -> Self {
        Self { foreign, launched: Vec::new(), failure: None, failed_launches: 0 }
    }

    /// One that has never worked will not begin to.
    pub fn has_given_up(&self) -> bool {
        self.failed_launches >= 3 && self.launched.is_empty()
    }

    /// Reads what a launch printed, or keeps why there is nothing to read.
    pub fn take(&mut self, report: Result<Report, Lost>, sequence: u32, start_ns: u64) {
        let read = match report {
            Ok(Report { finding: TaskFinding::Foreign(output), .. }) if output.timed_out => {
                Err(format!("did not end within {} ms", self.foreign.deadline_ns / 1_000_000))
            }
            Ok(Report { finding: TaskFinding::Foreign(output), .. }) => {
                (self.foreign.reader)(&output).map(|quantities| (quantities, output.duration_ns))
            }
            Ok(_) => Err("the worker reported something else".to_owned()),
            Err(Lost::Interrupted) => return,
            Err(Lost::Worker { what, .. }) => Err(what),
        };
        match read {
            Ok((quantities, duration_ns)) => {
                let mut launched = Launched::default();
                launched.record.sequence = sequence;
                launched.record.start_ns = start_ns;
                launched.record.quantities = quantities;
                launched.record.quantities.insert("duration".to_owned(), duration_ns as f64);
                self.launched.push(launched);
            }
            Err(what) => {
                self.failed_launches += 1;
                self.failure.get_or_insert(Failure::new("launch", what));
            }
        }
    }

    /// Its figure.
    pub fn figure(&self) -> Figure {
        figures::of_foreign(self.foreign, &self.launched, self.failure.as_ref())
    }
}

/// Runs a command of the caller's in a worker: with his environment, where he is, and ended with everything that it started
/// at its deadline, when the user interrupts, and when this program ends, however.
///
/// # Errors
/// See [`Lost`].
pub fn run_command(
    supervisor: &Supervisor,
    command: Vec<String>,
    environment: BTreeMap<String, String>,
    most_output: usize,
    deadline_ns: u64,
) -> Result<ForeignOutput, Lost> {
    let plan = ForeignPlan {
        command,
        environment,
        inherits: true,
        most_output,
        cpus: Vec::new(),
        deadline_ns,
        contained: Contained::No,
    };
    let job = Job {
        ids: Vec::new(),
        task: Task::Foreign(plan),
        cpus: Vec::new(),
        seed: 0,
        isolate: false,
        refused: None,
        directory: None,
    };
    match supervisor.run(job, deadline_ns.saturating_add(3_000_000_000))?.finding {
        TaskFinding::Foreign(output) => Ok(output),
        _ => Err(Lost::worker("the worker reported something else", None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::synthetic::foreign;
    use crate::supervisor::rehearsal::all_well;

    /// What a worker reports of a program that printed this.
    fn printed(stdout: &str, timed_out: bool) -> Result<Report, Lost> {
        let plan = foreign().plan();
        assert!(!plan.inherits, "its environment is its own");
        let job = Job {
            ids: Vec::new(),
            task: Task::Foreign(plan),
            cpus: Vec::new(),
            seed: 0,
            isolate: true,
            refused: None,
            directory: None,
        };
        let output = ForeignOutput {
            stdout: stdout.to_owned(),
            timed_out,
            duration_ns: 7,
            ..ForeignOutput::default()
        };
        Ok(Report { finding: TaskFinding::Foreign(output), ..all_well(&job) })
    }

    #[test]
    fn what_never_worked_is_given_up_after_three_launches() {
        let foreign = foreign();
        let after = |launches: &[&str]| {
            let mut contestant = Contestant::new(&foreign);
            launches.iter().for_each(|stdout| contestant.take(printed(stdout, false), 1, 0));
            contestant.has_given_up()
        };
        assert!(!after(&["x", "x"]) && after(&["x", "x", "x"]));
        assert!(!after(&["1", "x", "x", "x"]) && !after(&["x", "x", "1", "x"]), "it has worked once");
    }

    #[test]
    fn a_launch_is_what_was_printed_or_a_failure_in_words() {
        let foreign = foreign();
        let of = |report: Result<Report, Lost>| {
            let mut contestant = Contestant::new(&foreign);
            contestant.take(report, 5, 9);
            let figure = contestant.figure();
            (figure.launches.first().cloned(), figure.why)
        };
        let (launch, why) = of(printed("2.5", false));
        let launch = launch.expect("a launch");
        assert_eq!((launch.sequence, launch.start_ns, why), (5, 9, None));
        assert_eq!((launch.quantities["cost"], launch.quantities["duration"]), (2.5, 7.0));
        for (report, words) in [
            (printed("x", false), Some("launch: it printed no number")),
            (printed("2.5", true), Some("launch: did not end within 2000 ms")),
            (Err(Lost::worker("it fell", None)), Some("launch: it fell")),
            (Err(Lost::Interrupted), Some("no launch was made")),
        ] {
            let (launch, why) = of(report);
            assert_eq!((launch, why.as_deref()), (None, words));
        }
    }
}
