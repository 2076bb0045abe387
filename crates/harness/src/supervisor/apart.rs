//! A single benchmark without launches, for counting: set up, audited, and made a figure without numbers.

use oscost_results::{Evidence, Figure, Status, Verdict};
use oscost_sys::{affinity, semaphore};

use crate::benchmark::card::Card;
use crate::benchmark::claims;
use crate::benchmark::{Benchmark, SetUp, Subject, Unable};
use crate::figures;
use crate::protocol::keeper::Keeper;
use crate::protocol::message::{Audited, Failure, Job, Member, Task, TaskFinding};
use crate::supervisor::workers::{Lost, Supervisor, Workers};

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

/// Has a worker audit one benchmark on `cpu` over twice so many operations, and as many behind operation `late`. What cannot be counted is told as
/// missing evidence; what the machine lacks or what fails, in words.
///
/// # Errors
/// Why the benchmark has no audit and no figure.
pub fn audit(
    supervisor: &Supervisor,
    id: &str,
    cpu: usize,
    operations: u64,
    late: u64,
) -> Result<Audited, String> {
    audit_by(supervisor, id, cpu, (operations, late))
}

/// The same with whatever makes the launches.
fn audit_by(
    workers: &dyn Workers,
    id: &str,
    cpu: usize,
    (operations, late): (u64, u64),
) -> Result<Audited, String> {
    const DEADLINE_NS: u64 = 30_000_000_000;
    let job = Job {
        ids: vec![id.to_owned()],
        task: Task::Audit { operations, late },
        cpus: vec![cpu],
        seed: 1,
        isolate: true,
        refused: None,
        directory: None,
    };
    let missing = |why: String| Ok(Audited { missing: Some(why), ..Audited::default() });
    match workers.run(job, DEADLINE_NS) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::card::{Bound, Claim};
    use crate::protocol::message::Report;
    use crate::supervisor::rehearsal::{Script, all_well};

    /// What an audit of `a` on CPU 3 over 100 operations comes to, where the worker answers this.
    fn audited(answer: impl Fn(Report) -> Result<Report, Lost>) -> Result<Audited, String> {
        let answer = |job: &Job, _: u32| {
            assert_eq!((job.ids.as_slice(), job.cpus.as_slice()), (&["a".to_owned()][..], &[3][..]));
            assert!(
                job.isolate
                    && job.seed == 1
                    && matches!(job.task, Task::Audit { operations: 100, late: 1000 }),
                "{job:?}"
            );
            answer(all_well(job))
        };
        audit_by(&Script::new(&|_| 1, &answer), "a", 3, (100, 1000))
    }

    #[test]
    fn an_audit_is_what_its_worker_counted_or_why_there_is_none() {
        assert_eq!(audited(Ok), Ok(Audited::default()));
        let of = |members: Vec<Member<Audited>>| {
            audited(move |report| Ok(Report { finding: TaskFinding::Audit(members.clone()), ..report }))
        };
        let lacks =
            Member::Unsupported { why: "no such call".to_owned(), remedy: "another kernel".to_owned() };
        assert_eq!(of(vec![lacks]), Err("no such call".to_owned()));
        assert_eq!(
            of(vec![Member::Failed(Failure::new("audit", "it broke"))]),
            Err("audit: it broke".to_owned())
        );
        let missing = |answer: Result<Audited, String>| answer.expect("an audit").missing.expect("a reason");
        assert_eq!(missing(of(Vec::new())), "the worker reported nothing");
        let core = TaskFinding::Core(crate::protocol::core::Core::default());
        let other = audited(move |report| Ok(Report { finding: core.clone(), ..report }));
        assert_eq!(missing(other), "the worker reported something else");
        let lost = audited(|_| Err(Lost::worker("it fell", None)));
        assert_eq!(
            (missing(lost), missing(audited(|_| Err(Lost::Interrupted)))),
            ("it fell".into(), "interrupted".into())
        );
    }

    #[test]
    fn evidence_holds_what_was_counted_and_a_false_claim_withholds() {
        let of = |observed: f64| {
            let mut claim = claims::stated(&Claim::SystemCalls(Bound::Exactly(1.0)));
            (claim.observed, claim.holds) = (Some(observed), Some(observed == 1.0));
            let slept = claims::stated(&Claim::VoluntarySwitches(Bound::Exactly(1.5)));
            let system_calls = [("read".to_owned(), observed)].into();
            let method = Some("ptrace".to_owned());
            let audited = Audited { method, system_calls, claims: vec![claim, slept], ..Audited::default() };
            evidence(audited, Some(2.0), Some(1.5), Some(0.25))
        };
        let (holds, why) = of(1.0);
        assert_eq!((holds.verdict, why, holds.claims[1].holds), (Verdict::Checked, None, Some(true)));
        assert_eq!(
            (holds.switches, holds.voluntary_switches, holds.faults),
            (Some(2.0), Some(1.5), Some(0.25))
        );
        assert_eq!((holds.audit_method.as_deref(), holds.system_calls["read"]), (Some("ptrace"), 1.0));
        let (broken, why) = of(2.0);
        assert_eq!(broken.verdict, Verdict::Contradicted);
        assert!(why.is_some_and(|why| why.starts_with("claims 1 system calls an operation")));
        let silent = Audited { missing: Some("no ptrace".to_owned()), ..Audited::default() };
        let (unchecked, why) = evidence(silent, None, None, None);
        assert_eq!(
            (unchecked.verdict, why, unchecked.audit_missing.as_deref()),
            (Verdict::Unchecked, None, Some("no ptrace"))
        );
    }

    #[test]
    fn a_figure_without_numbers_says_why_and_what_to_do() {
        let mut figure = blank_figure(&Card { id: "a/b", ..Card::BATCHED });
        assert_eq!((figure.id.as_str(), figure.family.as_str(), figure.why.clone()), ("a/b", "a", None));
        withhold(&mut figure, Status::Unsupported, "it lacks".to_owned(), "another kernel".to_owned());
        assert_eq!((figure.status, figure.why.as_deref()), (Status::Unsupported, Some("it lacks")));
        assert_eq!(figure.remedy.as_deref(), Some("another kernel"));
        withhold(&mut figure, Status::Failed, "it broke".to_owned(), String::new());
        assert_eq!((figure.status, figure.remedy.as_deref()), (Status::Failed, None));
        assert_eq!(failure("audit", "it broke"), "audit: it broke");
    }
}
