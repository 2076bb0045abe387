//! One benchmark by itself, for instruments that hold no launches: set up, audited, and made a figure without numbers.

use oscost_results::{Evidence, Figure, Status, Verdict};
use oscost_sys::{affinity, semaphore};

use crate::benchmark::card::Card;
use crate::benchmark::claims;
use crate::benchmark::{Benchmark, SetUp, Subject, Unable};
use crate::figures;
use crate::protocol::keeper::Keeper;
use crate::protocol::message::{Audited, Failure, Job, Member, Task, TaskFinding};
use crate::supervisor::workers::{Lost, Supervisor};

/// Sets a benchmark up in the calling process, on the one CPU `cpu`. What outlives the process is not removed: for machines
/// that end with it.
///
/// # Errors
/// What the set-up says; the error of sched_setaffinity.
pub fn set_up(benchmark: &dyn Benchmark, cpu: usize) -> Result<Subject, Unable> {
    affinity::pin_to(cpu).map_err(Unable::Failed)?;
    let mut keeper = Keeper::in_private_namespaces();
    benchmark.set_up(&mut SetUp {
        cpu,
        partner_cpu: cpu,
        cpus: &[cpu],
        host_system_v_limits: semaphore::system_v_limits(),
        keeper: &mut keeper,
        directory: None,
    })
}

/// Has a worker audit one benchmark on `cpu` over so many operations and twice as many. What cannot be counted is told as
/// missing evidence; what the machine lacks or what fails, in words.
///
/// # Errors
/// Why the benchmark has no audit and no figure.
pub fn audit(supervisor: &Supervisor, id: &str, cpu: usize, operations: u64) -> Result<Audited, String> {
    const DEADLINE_NS: u64 = 30_000_000_000;
    let job = Job {
        ids: vec![id.to_owned()],
        task: Task::Audit { operations },
        cpus: vec![cpu],
        seed: 1,
        isolate: true,
        refused: None,
        directory: None,
    };
    let missing = |why: String| Ok(Audited { missing: Some(why), ..Audited::default() });
    match supervisor.run(job, DEADLINE_NS) {
        Ok(report) => match report.finding {
            TaskFinding::Audit(members) => match members.into_iter().next() {
                Some(Member::Done(audited)) => Ok(audited),
                Some(Member::Unsupported { why, .. }) => Err(why),
                Some(Member::Failed(failure)) => Err(failure.to_string()),
                None => missing("the worker reported nothing".to_owned()),
            },
            _ => missing("the worker reported something else".to_owned()),
        },
        Err(Lost::Worker { what, .. }) => missing(what),
        Err(Lost::Interrupted) => missing("interrupted".to_owned()),
    }
}

/// The figure of a card before anything is known of it: failed, without a reason.
#[must_use]
pub fn blank_figure(card: &Card) -> Figure {
    figures::blank(card)
}

/// The evidence of an audit beside what was counted meanwhile, an operation; and why the figure is withheld, if a claim does
/// not hold.
#[must_use]
pub fn evidence(
    audited: Audited,
    switches: Option<f64>,
    voluntary_switches: Option<f64>,
    faults: Option<f64>,
) -> (Evidence, Option<String>) {
    let mut evidence = Evidence {
        audit_method: audited.method,
        audit_missing: audited.missing,
        system_calls: audited.system_calls,
        switches,
        voluntary_switches,
        faults,
        ..Evidence::default()
    };
    let mut stated = audited.claims;
    claims::observe_launches(&mut stated, &evidence);
    evidence.verdict = claims::verdict(&stated);
    let why = (evidence.verdict == Verdict::Contradicted)
        .then(|| claims::contradiction(&stated, &evidence.system_calls));
    evidence.claims = stated;
    (evidence, why)
}

/// Puts the reason into a figure that shows no numbers.
pub fn withhold(figure: &mut Figure, status: Status, why: String, remedy: String) {
    figure.status = status;
    figure.why = Some(why);
    figure.remedy = Some(remedy).filter(|words| !words.is_empty());
}

/// A failure of a phase, in words.
#[must_use]
pub fn failure(phase: &str, what: impl std::fmt::Display) -> String {
    Failure::new(phase, what).to_string()
}
