//! The worker's side: one fresh process that does one job and reports, once, after the timed part.
//!
//! Whatever changes a process for good (namespaces, affinity, locked memory, a seccomp filter) happens here, never in the
//! supervisor.

pub(crate) mod audit;
mod awake;
mod calibrate;
mod canary;
mod circumstances;
pub(crate) mod clock;
pub(crate) mod clock_rate;
mod counts;
pub(crate) mod environment;
mod foreign;
mod launch;
mod occupancy;
mod paired;
mod percentiles;
mod place;
mod rounds;
mod series;
mod summary;
mod waits;

use std::io::{Read, Write};
use std::sync::atomic::Ordering;

use oscost_results::{Circumstances, write_on_one_line};
use oscost_sys::folder::Folder;
use oscost_sys::{
    memory, memory::SharedWords, namespace, process, semaphore, standing::Standing, time_source, usage,
};
use serde::Deserialize;

use crate::benchmark::card::Placement;
use crate::benchmark::catalogue::Catalogue;
use crate::benchmark::{Benchmark, SetUp, Subject, Unable};
use crate::protocol::keeper::{Keeper, NOBODY, Tie, descriptor};
use crate::protocol::message::{
    Failure, ForeignOutput, Job, Member, ReferencePlan, Report, Task, TaskFinding,
};
use crate::protocol::start::SETTING_UP;
use awake::Awake;
use environment::Environment;

/// Arguments: pid of the supervisor, descriptor of the progress words, descriptors of the janitor's pipe and ledger or "-".
pub(crate) fn serve(
    catalogue: &Catalogue,
    mut arguments: impl Iterator<Item = String>,
) -> Result<(), String> {
    let mut next = |what: &str| {
        arguments.next().ok_or_else(|| format!("no {what} given: workers are started by oscost"))
    };
    let parent: u32 = next("supervisor")?.parse().map_err(|_| "the supervisor is no number".to_owned())?;
    process::die_with_parent(parent).map_err(|error| error.to_string())?;
    let progress = next("progress descriptor")?;
    let progress = descriptor(&progress)?;
    let words = SharedWords::of_file(1, &progress).map_err(|error| error.to_string())?;
    let janitor = match next("janitor")?.as_str() {
        "-" => None,
        words => Some(Tie::inherited(words)?),
    };
    let job = job_of(std::io::stdin().lock())?;
    // No core file of a worker that a signal ends: it would hold nothing but loops. A program that is not ours may have its own.
    if !matches!(job.task, Task::Foreign(_)) {
        usage::limit(usage::Limit::Core, 0, 0).map_err(|error| error.to_string())?;
    }
    let report = Worker::new(catalogue, job, janitor, &words)?.work();
    let mut stdout = std::io::stdout().lock();
    write_on_one_line(&report, &mut stdout).map_err(|error| format!("no report: {error}"))?;
    stdout.flush().map_err(|error| format!("no report: {error}"))
}

/// The job that a supervisor sends. It ends with its last brace: a supervisor whose `close` fails never ends the stream.
fn job_of(stream: impl Read) -> Result<Job, String> {
    // Its members first, and the job from their bytes: what is read from bytes has its code already.
    serde_json::Value::deserialize(&mut serde_json::Deserializer::from_reader(stream))
        .and_then(|members| serde_json::from_slice(&serde_json::to_vec(&members)?))
        .map_err(|error| format!("no job: {error}"))
}

/// The report of a job that `--plain` has: without isolation, and without a counter of the processor's.
pub(crate) fn plainly(catalogue: &Catalogue, job: Job, words: &SharedWords) -> Result<Report, String> {
    // No core file; where the limit cannot be set there is hardly one.
    let _ = usage::limit(usage::Limit::Core, 0, 0);
    let worker = Worker::new(catalogue, job, None, words)?;
    let (keeper, isolation) = (Keeper::of_nobody(), NOT_ISOLATED.to_owned());
    Ok(Worker { keeper, isolation, plain: true, ..worker }.work())
}

/// How workers of `--plain` are isolated.
const NOT_ISOLATED: &str = "none (--plain)";

/// The report of an audit that nobody makes: claims, and why nothing was counted. `None`: the job is another one.
pub(crate) fn uncounted(catalogue: &Catalogue, job: &Job) -> Option<Report> {
    matches!(job.task, Task::Audit { .. }).then(|| Report {
        isolation: NOT_ISOLATED.to_owned(),
        circumstances: Circumstances::default(),
        void: None,
        wrong_clock: None,
        throttled: None,
        steal_ns: None,
        awake: None,
        finding: TaskFinding::Audit(
            job.ids.iter().map(|id| Member::Done(audit::uncounted(catalogue.find(id)))).collect(),
        ),
    })
}

/// A worker in the middle of its job.
pub(crate) struct Worker<'a> {
    catalogue: &'a Catalogue,
    pub(crate) job: Job,
    keeper: Keeper,
    directory: Option<Folder>,
    progress: &'a SharedWords,
    isolation: String,
    /// Whether it may use few system calls only.
    plain: bool,
    /// How idle CPUs were kept awake, or why they were not.
    awake: Option<Result<String, String>>,
    host_system_v_limits: Option<[u64; 4]>,
    /// How this process stands for those that are measured in it, once the first of several is set up.
    standing: Option<Standing>,
    /// Why the launch does not count, where a partner was moved.
    displaced: Option<String>,
    /// Members that were done before those that are measured now: a supervisor counts on.
    before: usize,
}

/// A member that is ready to run.
pub(crate) struct Ready {
    pub(crate) benchmark: &'static dyn Benchmark,
    pub(crate) subject: Subject,
}

impl Ready {
    /// Sets a benchmark up.
    pub(crate) fn of(benchmark: &'static dyn Benchmark, cx: &mut SetUp<'_>) -> Member<Self> {
        match benchmark.set_up(cx) {
            Ok(subject) => Member::Done(Self { benchmark, subject }),
            Err(Unable::Unsupported { why, remedy }) => Member::Unsupported { why, remedy },
            Err(Unable::Failed(error)) => Member::Failed(Failure::new("set-up", error)),
        }
    }
}

impl<'a> Worker<'a> {
    fn new(
        catalogue: &'a Catalogue,
        job: Job,
        janitor: Option<Tie>,
        progress: &'a SharedWords,
    ) -> Result<Self, String> {
        // A new namespace resets the System V limits: the host's count, and are read before.
        let host_system_v_limits = semaphore::system_v_limits();
        let foreign = matches!(job.task, Task::Foreign(_));
        let isolation = if job.isolate {
            // It was tried before. Halfway inside nobody would remove what is made here.
            let isolation = namespace::isolate(foreign)
                .map_err(|error| format!("private namespaces were granted, and no longer are: {error}"))?;
            isolation.describe().to_owned()
        } else {
            format!("janitor ({})", job.refused.as_deref().unwrap_or("not asked for"))
        };
        let keeper = match janitor {
            Some(tie) if job.isolate => Keeper::of_files(tie),
            Some(tie) => Keeper::of_janitor(tie),
            None => Keeper::in_private_namespaces(),
        };
        let directory = job.directory.map(process::inherited).transpose();
        let directory = directory.map_err(|error| error.to_string())?.map(Folder::from);
        Ok(Self {
            catalogue,
            job,
            keeper,
            directory,
            progress,
            isolation,
            plain: false,
            awake: None,
            host_system_v_limits,
            standing: None,
            displaced: None,
            before: 0,
        })
    }

    fn work(mut self) -> Report {
        let members = self.members();
        let circumstances = circumstances::read();
        let before = match self.place(&members) {
            Ok(put_on) => Environment::read(&self.job.cpus).put_on(put_on),
            Err(failure) => {
                let finding = everybody_failed(&self.job.task, self.job.ids.len(), &failure);
                return self.report(finding, &circumstances, None);
            }
        };
        let finding = match self.job.task.clone() {
            Task::Clock => calibrate::clock(),
            Task::Core { batch_ns, pair_ns } => canary::core(batch_ns, pair_ns, !self.plain),
            Task::Calibrate { batch_ns, idle_cpu } => {
                calibrate::group(&mut self, &members, batch_ns, idle_cpu)
            }
            Task::Launch(plan) => {
                let finding = launch::group(&mut self, &members, &plan);
                self.with_references(finding, plan.references)
            }
            Task::Audit { operations, late } => TaskFinding::Audit(
                members.iter().map(|member| audit::member(&mut self, *member, (operations, late))).collect(),
            ),
            Task::Foreign(plan) => TaskFinding::Foreign(foreign::run_here(&plan)),
            Task::Percentiles { plan, idle_cpu } => percentiles::group(&mut self, &members, &plan, idle_cpu),
        };
        self.report(finding, &circumstances, Some(before))
    }

    /// Times references once the figures of a launch are done: whatever they do to this process, no figure pays for it.
    fn with_references(&mut self, finding: TaskFinding, plan: Option<Box<ReferencePlan>>) -> TaskFinding {
        let Some(plan) = plan else { return finding };
        let TaskFinding::Launch { members, pairs, canaries, .. } = finding else { return finding };
        self.before = self.job.ids.len();
        self.job.ids = plan.ids;
        self.standing = None;
        let references = match launch::group(self, &self.members(), &plan.launch) {
            TaskFinding::Launch { members, .. } => members,
            _ => Vec::new(),
        };
        TaskFinding::Launch { members, pairs, canaries, references }
    }

    fn report(
        &self,
        finding: TaskFinding,
        circumstances: &Circumstances,
        before: Option<Environment>,
    ) -> Report {
        let after = Environment::read(&self.job.cpus);
        Report {
            isolation: self.isolation.clone(),
            circumstances: circumstances::between(circumstances, &circumstances::read()),
            void: before
                .as_ref()
                .and_then(|before| before.voided_by(&after))
                .or_else(|| self.displaced.clone()),
            wrong_clock: before
                .as_ref()
                .and_then(|before| before.wrong_until(&after, &time_source::counter_hz())),
            throttled: before.as_ref().and_then(|before| before.throttled_until(&after)),
            steal_ns: before.as_ref().and_then(|before| before.stolen_until(&after)),
            awake: self.awake.clone(),
            finding,
        }
    }

    fn members(&self) -> Vec<Option<&'static dyn Benchmark>> {
        self.job.ids.iter().map(|id| self.catalogue.find(id)).collect()
    }

    /// Sets one member up. Its name is in the progress word while that lasts. One that changes the process that others are
    /// measured in has failed, and takes no part: they would pay for it.
    pub(crate) fn set_up(&mut self, index: usize, member: Option<&'static dyn Benchmark>) -> Member<Ready> {
        let Some(benchmark) = member else {
            let id = self.job.ids.get(index).cloned().unwrap_or_default();
            return Member::Failed(Failure::new("set-up", format!("this program has no benchmark '{id}'")));
        };
        self.progress.word(0).store(SETTING_UP + (self.before + index) as u64, Ordering::Relaxed);
        let cpu = self.job.cpus.first().copied().unwrap_or(0);
        let mut cx = SetUp {
            cpu,
            partner_cpu: self.cpu_of_partners(benchmark),
            cpus: &self.job.cpus,
            keeper: &mut self.keeper,
            host_system_v_limits: self.host_system_v_limits,
            directory: self.directory.as_ref(),
        };
        if self.job.ids.len() > 1 && self.standing.is_none() {
            self.standing = Standing::read();
        }
        let mut member = Ready::of(benchmark, &mut cx);
        if cx.keeper.has_refused() {
            let remedy = "measure it without --plain".to_owned();
            member = Member::Unsupported { why: NOBODY.to_owned(), remedy };
        }
        let changes = self.standing.as_ref().and_then(Standing::lasting_changes).unwrap_or_default();
        if !changes.is_empty() {
            self.standing = Standing::read();
        }
        match member {
            Member::Done(_) if !changes.is_empty() => Member::Failed(Failure::new(
                "set-up",
                format!(
                    "it changes the process that its group shares ({}): it needs a group of its own",
                    changes.join("; ")
                ),
            )),
            member => member,
        }
    }

    /// Locks and touches what is there by now, if that is allowed; a fault inside a batch is flagged either way.
    pub(crate) fn settle(&self) {
        let _ = memory::lock_current();
    }

    /// Keeps idle CPUs awake as long as the value lives, and notes how; `None` where that is refused, with why.
    pub(crate) fn keep_awake(&mut self, members: &[Option<&'static dyn Benchmark>]) -> Option<Awake> {
        let placement =
            members.iter().flatten().next().map_or(Placement::OneCpu, |member| member.card().placement);
        let (awake, how) = awake::keep(&self.job.cpus, placement);
        let refused = matches!(how, Some(Err(_)));
        self.awake = how;
        (!refused).then_some(awake)
    }

    /// The word by which the supervisor knows who was running when a worker died.
    pub(crate) fn progress(&self) -> ProgressWord<'a> {
        ProgressWord { word: self.progress, before: self.before }
    }
}

/// Writes the running member's index to the progress word: one store, no system call.
pub(crate) struct ProgressWord<'a> {
    word: &'a SharedWords,
    before: usize,
}

impl rounds::Progress for ProgressWord<'_> {
    fn running(&mut self, index: usize) {
        self.word.word(0).store((self.before + index) as u64 + 1, Ordering::Relaxed);
    }
}

/// The finding of a job that could not begin.
fn everybody_failed(task: &Task, members: usize, failure: &Failure) -> TaskFinding {
    fn all<T>(members: usize, failure: &Failure) -> Vec<Member<T>> {
        (0..members).map(|_| Member::Failed(failure.clone())).collect()
    }
    match task {
        Task::Calibrate { .. } => TaskFinding::Calibration(all(members, failure)),
        Task::Launch(_) => {
            let members = all(members, failure);
            TaskFinding::Launch { members, pairs: Vec::new(), canaries: Vec::new(), references: Vec::new() }
        }
        Task::Audit { .. } => TaskFinding::Audit(all(members, failure)),
        Task::Percentiles { .. } => TaskFinding::Percentiles(Member::Failed(failure.clone())),
        Task::Clock | Task::Core { .. } | Task::Foreign(_) => {
            TaskFinding::Foreign(ForeignOutput { stderr: failure.to_string(), ..Default::default() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Unable;
    use crate::benchmark::card::Card;

    /// A stream that is never ended: whoever reads on after its bytes would wait for ever.
    struct Unended<'a>(&'a [u8]);

    impl Read for Unended<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            assert!(!self.0.is_empty(), "the end of the stream is waited for");
            self.0.read(into)
        }
    }

    fn job() -> Job {
        Job {
            ids: vec!["a".to_owned(), "b".to_owned()],
            task: Task::Clock,
            cpus: vec![1, 0],
            seed: 7,
            isolate: true,
            refused: None,
            directory: Some(3),
        }
    }

    #[test]
    fn a_job_is_read_without_the_end_of_its_stream() {
        let job = job();
        let text = serde_json::to_vec(&job).expect("a job");
        assert_eq!(job_of(Unended(&text)), Ok(job));
        assert!(job_of(&text[..text.len() - 1]).is_err() && job_of(&b"rubbish"[..]).is_err());
    }

    /// One that tells where it is set up.
    struct Where(Placement);

    impl Benchmark for Where {
        fn card(&self) -> &'static Card {
            Box::leak(Box::new(Card { id: "where", placement: self.0, ..Card::BATCHED }))
        }

        fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
            let why = format!("{} {} of {:?}", cx.cpu, cx.partner_cpu, cx.cpus);
            Err(Unable::Unsupported { why, remedy: String::new() })
        }
    }

    #[test]
    fn a_set_up_is_told_its_cpus_and_the_supervisor_who_is_set_up() {
        let (words, catalogue) = (SharedWords::new(1).expect("memory"), Catalogue::new(Vec::new()));
        let told = |placement, cpus: &[usize]| {
            let job = Job { cpus: cpus.to_vec(), isolate: false, directory: None, ..job() };
            let mut worker = Worker::new(&catalogue, job, None, &words).expect("a worker");
            let place: &'static Where = Box::leak(Box::new(Where(placement)));
            let Member::Unsupported { why, .. } = worker.set_up(1, Some(place)) else {
                panic!("it was set up")
            };
            assert_eq!(words.word(0).load(Ordering::Relaxed), SETTING_UP + 1);
            why
        };
        assert_eq!(told(Placement::CrossCpu, &[3, 1]), "3 1 of [3, 1]");
        assert_eq!(told(Placement::SameCpu, &[3, 1]), "3 3 of [3, 1]");
        assert_eq!(told(Placement::CrossCpu, &[3]), "3 3 of [3]", "there is no other one");
        assert_eq!(told(Placement::CrossCpu, &[]), "0 0 of []");
        let job = Job { isolate: false, directory: None, ..job() };
        let mut worker = Worker::new(&catalogue, job, None, &words).expect("a worker");
        let Member::Failed(failure) = worker.set_up(1, None) else { panic!("nobody has it") };
        assert_eq!(failure.to_string(), "set-up: this program has no benchmark 'b'");
    }

    #[test]
    fn who_could_not_begin_has_failed_in_each_kind_of_job() {
        let failure = Failure::new("environment", "it broke");
        let failed = |task: Task| -> usize {
            let is_failed = |failed: bool| usize::from(failed);
            match everybody_failed(&task, 3, &failure) {
                TaskFinding::Calibration(all) => {
                    all.iter().filter(|it| **it == Member::Failed(failure.clone())).count()
                }
                TaskFinding::Audit(all) => {
                    all.iter().filter(|it| **it == Member::Failed(failure.clone())).count()
                }
                TaskFinding::Percentiles(it) => is_failed(it == Member::Failed(failure.clone())),
                TaskFinding::Foreign(output) => is_failed(output.stderr == failure.to_string()),
                other => panic!("{other:?}"),
            }
        };
        let idle_cpu = crate::protocol::message::IdleCpu::Halt;
        assert_eq!(failed(Task::Calibrate { batch_ns: 1, idle_cpu }), 3);
        assert_eq!(failed(Task::Audit { operations: 1, late: 1 }), 3);
        assert_eq!((failed(Task::Clock), failed(Task::Core { batch_ns: 1, pair_ns: 0.0 })), (1, 1));
    }
}
