//! Children that do a job, end before it or hang, and launches of benchmarks that sleep.

mod launches;

use oscost_sys::usage::{self, Whose};

use super::*;
use crate::benchmark::card::{Card, Placement};
use crate::benchmark::{
    Batched, Benchmark, Outcome, PostCondition, Series, SeriesPlan, SetUp, Sink, Subject, Unable,
};
use crate::figures::synthetic::choice;
use crate::protocol::core::Core;
use crate::protocol::message::{
    Audited, IdleCpu, LaunchPlan, Launched, Member, Pair, ReferencePlan, Task, TaskFinding,
};
use crate::protocol::timed::SinglesPlan;

/// One that ends its worker in its set-up.
struct Dies(fn());

impl Benchmark for Dies {
    fn card(&self) -> &'static Card {
        const { &Card { id: "dies", ..Card::BATCHED } }
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        (self.0)();
        Err(Unable::Unsupported { why: "it lived".to_owned(), remedy: String::new() })
    }
}

/// What becomes of a job of a benchmark that is never set up, and of one that ends its worker so.
fn reported(task: Task, dies: fn(), deadline_ns: u64, interrupted: bool) -> Result<Report, Lost> {
    let never = choice(Card { id: "never", ..Card::BATCHED }).benchmark;
    let catalogue = Catalogue::new(vec![never, Box::leak(Box::new(Dies(dies)))]);
    let plain = Plain::new(&catalogue, Arc::new(AtomicBool::new(interrupted))).expect("memory");
    let ids = vec!["never".to_owned(), "dies".to_owned()];
    let cpus = oscost_sys::affinity::allowed().expect("CPUs");
    let (isolate, refused, directory) = (true, None, None);
    plain.run(Job { ids, task, cpus, seed: 1, isolate, refused, directory }, deadline_ns)
}

const CALIBRATE: Task = Task::Calibrate { batch_ns: 20_000, idle_cpu: IdleCpu::Halt };
const LONG_NS: u64 = 600_000_000_000;

#[test]
fn a_child_reports_what_its_job_found_and_audits_need_none() {
    let report = reported(CALIBRATE, || (), LONG_NS, false).expect("a report");
    let TaskFinding::Calibration(members) = &report.finding else { panic!("{report:?}") };
    let lacks = members.iter().map(|member| matches!(member, Member::Unsupported { .. }));
    assert_eq!(lacks.collect::<Vec<_>>(), [true, true]);
    // Nobody is there for it: it would end the worker.
    let audited = reported(Task::Audit { operations: 1, late: 1 }, || std::process::exit(7), LONG_NS, false);
    let Ok(Report { finding: TaskFinding::Audit(members), .. }) = audited else { panic!("{audited:?}") };
    let missing = |it: &Member<_>| matches!(it, Member::Done(Audited { missing: Some(_), .. }));
    assert!(members.len() == 2 && members.iter().all(missing));
}

#[test]
fn a_child_stays_in_the_namespaces_of_its_parent() {
    static HERE: std::sync::LazyLock<Option<std::path::PathBuf>> =
        std::sync::LazyLock::new(|| std::fs::read_link("/proc/self/ns/ipc").ok());
    std::sync::LazyLock::force(&HERE);
    fn elsewhere() {
        if std::fs::read_link("/proc/self/ns/ipc").ok() != *HERE {
            std::process::exit(7);
        }
    }
    assert_eq!(
        reported(CALIBRATE, elsewhere, LONG_NS, false).map(|it| it.isolation),
        Ok("none (--plain)".to_owned())
    );
}

#[test]
fn how_a_child_died_and_who_was_set_up_is_told() {
    let lost = |what: &str| Err(Lost::worker(what, Some(1)));
    let died = |dies: fn()| reported(CALIBRATE, dies, LONG_NS, false);
    assert_eq!(died(|| std::process::exit(7)), lost("the worker ended with exit code 7"));
    assert_eq!(died(|| std::process::exit(0)), lost("the worker sent rubbish instead of a report"));
    let killed = died(|| {
        let pid = i32::try_from(std::process::id()).unwrap_or(0);
        let _ = process::signal(pid, process::Signal::Kill);
    });
    assert_eq!(killed, lost("the worker was ended by signal 9"));
}

#[test]
fn who_hangs_is_ended_at_the_deadline_and_an_interrupted_run_starts_nobody() {
    fn hangs() {
        loop {
            oscost_sys::clock::pause(std::time::Duration::from_secs(600));
        }
    }
    let late = reported(CALIBRATE, hangs, 100_000_000, false);
    assert!(matches!(late, Err(Lost::Worker { late: true, .. })), "{late:?}");
    assert_eq!(reported(CALIBRATE, hangs, LONG_NS, true), Err(Lost::Interrupted));
}

/// Sleeps twice in an iteration, and was right afterwards or not.
struct Sleeps(bool);

/// Sleeps until it has left the CPU: a sleep whose time is over before it begins does not.
fn leave_the_cpu() {
    let left = || usage::own(Whose::Thread).expect("getrusage").voluntary_switches;
    let before = left();
    while left() == before {
        oscost_sys::clock::pause(std::time::Duration::from_micros(1));
    }
}

impl Batched for Sleeps {
    fn batch(&mut self, iterations: u64) -> Outcome {
        (0..2 * iterations).for_each(|_| leave_the_cpu());
        Ok(())
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        Ok(vec![PostCondition::exactly("held", 1.0, f64::from(u8::from(self.0)))])
    }

    fn remarks(&self) -> Vec<String> {
        vec!["it sleeps".to_owned()]
    }

    fn same_cpu_share(&self) -> Option<f64> {
        Some(0.25)
    }
}

/// Yields the time that it was given, and one value.
struct Given;

impl Series for Given {
    fn launch(&mut self, plan: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        sink.quantity("cost", plan.duration_ns as f64);
        sink.observation(plan.duration_ns as f64);
        sink.operations(1);
        Ok(())
    }
}

/// A benchmark with one of them.
struct Real(Card);

impl Benchmark for Real {
    fn card(&self) -> &'static Card {
        Box::leak(Box::new(self.0.clone()))
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Ok(match self.0.id {
            "series" => Subject::Series(Box::new(Given)),
            id => Subject::Batched(Box::new(Sleeps(id != "wrong"))),
        })
    }
}

/// A plan of one launch of so many members, with these references.
fn plan(members: usize, keep_samples: bool, references: &[&str]) -> LaunchPlan {
    let no_entry = Some("a test".to_owned());
    let alone = LaunchPlan {
        iterations: vec![3; members],
        works: vec![false; members],
        core: Core { no_entry, chain_passes: 1, throughput_passes: 1, ..Core::default() },
        clock_pair_ns: 0.0,
        warm_up_ns: 0,
        member_ns: 5_000_000,
        keep_samples,
        idle_cpu: IdleCpu::Halt,
        references: None,
    };
    let ids: Vec<String> = references.iter().map(|&id| id.to_owned()).collect();
    let launch = LaunchPlan { iterations: vec![1; ids.len()], keep_samples: false, ..alone.clone() };
    let references = (!ids.is_empty()).then(|| Box::new(ReferencePlan { ids, launch }));
    LaunchPlan { references, ..alone }
}

/// What one launch of these finds.
fn found(ids: &[&str], plan: LaunchPlan) -> Result<TaskFinding, Lost> {
    made(ids, Task::Launch(plan)).map(|report| report.finding)
}

/// The report of a job of these.
fn made(ids: &[&str], task: Task) -> Result<Report, Lost> {
    let batched = Card { operations_per_iteration: 2, ..Card::BATCHED };
    let cards = [
        Card { id: "sleeps", ..batched.clone() },
        Card { id: "twice", baseline: Some("sleeps"), ..batched.clone() },
        Card { id: "wrong", ..batched.clone() },
        Card { id: "spread", placement: Placement::Spread, ..batched },
        crate::figures::synthetic::series("series"),
    ];
    let mut all = cards.map(|card| -> &'static dyn Benchmark { Box::leak(Box::new(Real(card))) }).to_vec();
    all.push(Box::leak(Box::new(Dies(|| std::process::exit(7)))));
    let catalogue = Catalogue::new(all);
    let plain = Plain::new(&catalogue, Arc::default()).expect("memory");
    let (isolate, refused, directory) = (false, None, None);
    let cpus = oscost_sys::affinity::allowed().expect("CPUs");
    let ids = ids.iter().map(|&id| id.to_owned()).collect();
    plain.run(Job { ids, task, cpus, seed: 1, isolate, refused, directory }, LONG_NS)
}

/// The members, pairs and canaries of one launch.
fn launched(ids: &[&str], keep_samples: bool) -> (Vec<Member<Launched>>, Vec<Pair>, Vec<String>) {
    let TaskFinding::Launch { members, pairs, canaries, references } =
        found(ids, plan(ids.len(), keep_samples, &[])).expect("a report")
    else {
        panic!("a launch")
    };
    assert!(references.is_empty());
    (members, pairs, canaries.into_iter().map(|(name, _)| name).collect())
}

fn done(member: &Member<Launched>) -> &Launched {
    let Member::Done(launched) = member else { panic!("{member:?}") };
    launched
}

/// Of members that cannot be had, of series and of batches each has its own.
#[test]
fn a_launch_finds_what_each_of_its_members_did() {
    let (members, pairs, canaries) = launched(&["gone", "series", "twice", "wrong", "sleeps"], true);
    assert!(matches!(&members[0], Member::Failed(it) if it.to_string().contains("no benchmark 'gone'")));
    let series = done(&members[1]);
    assert_eq!((series.record.quantities["cost"], series.samples.as_slice()), (5e6, &[5e6][..]));
    for index in [2, 3, 4] {
        let it = done(&members[index]);
        assert_eq!((it.record.iterations, it.record.rounds), (3, it.samples.len() as u64));
        assert!(it.record.rounds > 0 && it.record.quantities["floor"] > 0.0);
        assert_eq!(
            (it.record.quantities["same_cpu_share"], it.remarks.as_slice()),
            (0.25, &["it sleeps".to_owned()][..])
        );
        // Each operation sleeps once, whatever else happens to it.
        let sleeps = it.record.voluntary_switches.expect("counted");
        assert!((1.0..1.5).contains(&sleeps), "{sleeps}");
        assert_eq!(it.post_conditions[0].holds, Some(index != 3));
        assert!(it.record.chain_ns.is_some() && it.record.throughput_ns.is_some());
        assert_eq!((it.record.entry_ns, it.record.histogram.is_some()), (None, true));
    }
    assert_eq!(pairs.iter().map(|it| (&*it.of, &*it.to)).collect::<Vec<_>>(), [("twice", "sleeps")]);
    let share = pairs[0].fast_share;
    assert!(pairs[0].ratio.is_some_and(|it| it > 0.0) && (0.0..=1.0).contains(&share), "{pairs:?}");
    assert_eq!(canaries, ["chain", "throughput", "entry"]);
}

#[test]
fn samples_are_kept_for_who_asks() {
    let (members, _, canaries) = launched(&["sleeps", "series"], false);
    assert!(canaries.is_empty() && members.iter().all(|it| done(it).samples.is_empty()));
}

/// They are timed after the members, and who of them ends the worker is told by a number behind those of the members.
#[test]
fn references_are_launched_after_the_members_and_told_apart() {
    let finding = found(&["series", "twice"], plan(2, true, &["sleeps", "gone"])).expect("a report");
    let TaskFinding::Launch { members, pairs, references, .. } = finding else { panic!("a launch") };
    assert_eq!((members.len(), references.len(), pairs.len()), (2, 2, 0), "no pair with a member");
    let it = done(&references[0]);
    assert!(it.record.iterations == 1 && it.record.quantities["floor"] > 0.0 && it.samples.is_empty());
    assert!(matches!(&references[1], Member::Failed(it) if it.to_string().contains("no benchmark 'gone'")));
    let died = found(&["series", "twice"], plan(2, true, &["sleeps", "dies"]));
    assert_eq!(died, Err(Lost::worker("the worker ended with exit code 7", Some(3))));
}

/// Passes that are timed one by one have idle CPUs as the launches of a figure have them, by whichever way an ordinary user has.
#[test]
fn idle_cpus_are_kept_awake_for_single_passes_too() {
    let plan = SinglesPlan { passes: 1, time_ns: 1, warm_up_ns: 0, least_batch: 1, blocks: false };
    let awake = |idle_cpu| {
        let report = made(&["spread"], Task::Percentiles { plan, idle_cpu }).expect("a report");
        assert!(matches!(report.finding, TaskFinding::Percentiles(Member::Done(_))), "{report:?}");
        report.awake
    };
    assert_eq!(awake(IdleCpu::Halt), None);
    // One CPU has nobody beside it to be kept awake.
    let is_alone = oscost_sys::affinity::allowed().expect("CPUs").len() == 1;
    assert!(awake(IdleCpu::Poll).is_some() || is_alone);
}

/// What is heard of somebody who says so many bytes, and then goes on for a while.
fn heard_of(bytes: usize, deadline_ns: u64, goes_on: bool) -> Result<usize, Lost> {
    let catalogue = Catalogue::new(Vec::new());
    let plain = Plain::new(&catalogue, Arc::default()).expect("memory");
    let (pipe, mut end) = std::io::pipe().expect("a pipe");
    let (life, ends) = std::io::pipe().expect("a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Who has heard enough closes the pipe.
            let _ = end.write_all(&vec![b'x'; bytes]);
            if goes_on {
                let _ = { life }.read(&mut [0]);
            }
        });
        let heard = plain.hear(pipe, deadline_ns).map(|said| said.len());
        drop(ends);
        heard
    })
}

#[test]
fn a_child_is_heard_to_its_end_unless_it_says_too_much_or_takes_too_long() {
    assert_eq!(heard_of(0, LONG_NS, false), Ok(0));
    assert_eq!(heard_of(MOST_REPORT, LONG_NS, false), Ok(MOST_REPORT));
    let too_much = Err(Lost::worker("the worker sent more than a report can hold", None));
    assert_eq!(heard_of(MOST_REPORT + 1, LONG_NS, false), too_much);
    let late = Lost::worker("the worker did not end in time, and was ended", None).at_deadline();
    assert_eq!(heard_of(10, 60_000_000, true), Err(late));
}

#[test]
fn a_program_that_just_began_has_slept_through_nothing() {
    let catalogue = Catalogue::new(Vec::new());
    let plain = Plain::new(&catalogue, Arc::default()).expect("memory");
    assert_eq!((plain.slept_ns(), plain.throttled_periods()), (0, None));
    assert!(plain.now_ns() > 1_000_000_000, "the clock of the machine");
}

/// Passes and first calls of an operation that takes its time are told of their one member, who is running meanwhile.
#[test]
fn single_passes_are_timed_of_the_first_member_and_of_no_series() {
    let plan = SinglesPlan { passes: 40, time_ns: LONG_NS, warm_up_ns: 0, least_batch: 1, blocks: true };
    let timed = |ids: &[&str]| {
        let task = Task::Percentiles { plan, idle_cpu: IdleCpu::Halt };
        let report = made(ids, task)?;
        let TaskFinding::Percentiles(member) = report.finding else { panic!("{report:?}") };
        Ok::<_, Lost>(member)
    };
    let Member::Done(it) = timed(&["sleeps", "dies"]).expect("a report") else { panic!("it was timed") };
    assert_eq!(it.buckets.iter().map(|(_, count)| count).sum::<u64>(), 40);
    let (least, most) = it.extremes.expect("passes");
    assert!(least > 0 && least <= most && it.sum_ns >= 40 * least && it.sum_ns <= 40 * most, "{it:?}");
    assert!(it.batch_ns.is_some_and(|ns| ns > 0.0));
    assert_eq!(it.first.idle_ns.len(), 40);
    let series = timed(&["series"]).expect("a report");
    assert!(matches!(&series, Member::Failed(it) if it.to_string() == "set-up: a series times itself"));
    assert_eq!(timed(&["dies"]), Err(Lost::worker("the worker ended with exit code 7", Some(0))));
}

#[test]
fn what_was_heard_of_a_job_before_is_not_said_of_the_next_one() {
    let catalogue = Catalogue::new(vec![Box::leak(Box::new(Dies(|| std::process::exit(7))))]);
    let plain = Plain::new(&catalogue, Arc::default()).expect("memory");
    let job = |ids: &[&str], task| {
        let ids = ids.iter().map(|&id| id.to_owned()).collect();
        let cpus = oscost_sys::affinity::allowed().expect("CPUs");
        Job { ids, task, cpus, seed: 1, isolate: false, refused: None, directory: None }
    };
    let died = plain.run(job(&["gone", "dies"], CALIBRATE), LONG_NS);
    assert_eq!(died, Err(Lost::worker("the worker ended with exit code 7", Some(1))));
    let late = Lost::worker("the worker did not end in time, and was ended", None).at_deadline();
    assert_eq!(plain.run(job(&[], Task::Clock), 0), Err(late), "nobody was set up for it");
}

/// What `hear` hears, if somebody ends the run when it waits: nobody hears anything of that.
pub(in crate::supervisor) fn ended_while_it_waits<T>(
    interrupted: &AtomicBool,
    hear: impl FnOnce() -> T,
) -> T {
    let this = std::fs::read_link("/proc/thread-self").expect("this thread");
    let waits = || {
        let stat = std::fs::read_to_string(std::path::Path::new("/proc").join(&this).join("stat"));
        stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" S")))
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !waits() {
                std::thread::yield_now();
            }
            interrupted.store(true, Ordering::Relaxed);
        });
        hear()
    })
}

#[test]
fn a_run_may_be_ended_while_a_child_says_nothing() {
    let (catalogue, interrupted) = (Catalogue::new(Vec::new()), Arc::new(AtomicBool::new(false)));
    let plain = Plain::new(&catalogue, Arc::clone(&interrupted)).expect("memory");
    let (pipe, end) = std::io::pipe().expect("a pipe");
    let heard = ended_while_it_waits(&interrupted, || plain.hear(pipe, LONG_NS));
    assert_eq!(heard, Err(Lost::Interrupted));
    drop(end);
}
