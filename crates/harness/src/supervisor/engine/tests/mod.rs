//! Runs with scripted clocks: how often each group is launched, which launches are repeated, and when a run ends.

mod ends;
mod limits;
mod members;
mod references;
mod sharing;
mod slow;
mod told;

use std::cell::RefCell;

use oscost_results::{Mark, Status};

use super::*;
use crate::benchmark::card::Card;
use crate::figures::synthetic::{choice, launched, series};
use crate::protocol::message::IdleCpu;
use crate::protocol::message::{Launched, Task};
use crate::supervisor::plan::{Effort, Level};
use crate::supervisor::rehearsal::{Launch, Script, all_well, rehearse};

const EFFORT: Effort = Effort {
    level: Level::Default,
    launches: 6,
    most_launches: 12,
    member_ns: 20 * MILLISECOND,
    warm_up_ns: 50 * MILLISECOND,
    target_ns: 10 * SECOND,
    deadline_ns: 20 * SECOND,
    end_ns: u64::MAX,
};

fn options(effort: Effort) -> Options {
    Options {
        effort,
        seed: 1,
        cpus: vec![0],
        spread_cpus: Vec::new(),
        core: None,
        idle_cpu: IdleCpu::Halt,
        references: Vec::new(),
        keep_samples: false,
        expected_ns: std::collections::BTreeMap::new(),
        first: Vec::new(),
    }
}

/// A run whose launches take 100 ms, and everything else 10 ms.
struct Scene {
    choices: Vec<Choice>,
    contestants: Vec<Foreign>,
    options: Options,
    launch_ns: u64,
    interrupted_ns: u64,
    throttled_ns: u64,
}

/// What became of it.
struct Ran {
    measured: Measured,
    launches: Vec<Launch>,
    jobs: Vec<Job>,
    ended_ns: u64,
    /// Pass, group, time left by plan, and the latest end of each launch that was told.
    told: Vec<(u32, String, u64, u64)>,
    warnings: Vec<String>,
    records: Vec<Record>,
    planned: (usize, usize, u32),
    phases: Vec<String>,
}

impl Scene {
    fn new(cards: Vec<Card>) -> Self {
        let choices = cards.into_iter().map(choice).collect();
        let (interrupted_ns, throttled_ns) = (u64::MAX, u64::MAX);
        let (contestants, options, launch_ns) = (Vec::new(), options(EFFORT), 100 * MILLISECOND);
        Self { choices, contestants, options, launch_ns, interrupted_ns, throttled_ns }
    }

    /// Runs it; `finds` tells what a job finds, given what it would find if all went well.
    fn run(&self, finds: impl Fn(&Job, u32, Report) -> Result<Report, Lost>) -> Ran {
        let takes = |job: &Job| match job.task {
            Task::Launch(_) => self.launch_ns,
            _ => 10 * MILLISECOND,
        };
        self.run_taking(&takes, finds)
    }

    /// The same, where each job takes what `takes` says.
    fn run_taking(
        &self,
        takes: &dyn Fn(&Job) -> u64,
        finds: impl Fn(&Job, u32, Report) -> Result<Report, Lost>,
    ) -> Ran {
        let jobs = RefCell::new(Vec::new());
        let found = |job: &Job, number: u32| {
            jobs.borrow_mut().push(job.clone());
            finds(job, number, costing(job, 100.0))
        };
        let mut script = Script::new(takes, &found);
        (script.interrupted_ns, script.throttled_ns) = (self.interrupted_ns, self.throttled_ns);
        let (mut told, mut warnings, mut records, mut phases) = (vec![], vec![], vec![], vec![]);
        let mut planned = (0, 0, 0);
        let mut emit = |event: &Event<'_>| match event {
            Event::Planned { figures, groups, launches } => planned = (*figures, *groups, *launches),
            Event::Launching { pass, group, left_ns, most_ns } => {
                told.push((*pass, (*group).to_owned(), *left_ns, script.now_ns() + most_ns));
            }
            Event::Warning(words) => warnings.push(words.clone()),
            Event::Found(record) => records.push((*record).clone()),
            Event::Phase(name) => phases.push((*name).to_owned()),
        };
        let measured = measure_by(&script, &self.choices, &self.contestants, &self.options, &mut emit);
        let (ended_ns, launches) = (script.now_ns(), script.launches.take());
        let jobs = jobs.into_inner();
        Ran { measured, launches, jobs, ended_ns, told, warnings, records, planned, phases }
    }

    /// The same where every job finds what it should.
    fn well(&self) -> Ran {
        self.run(|_, _, report| Ok(report))
    }
}

impl Ran {
    fn figure(&self, id: &str) -> &Figure {
        self.measured.figures.iter().find(|figure| figure.id == id).expect("a figure for every choice")
    }

    /// Launches in which this benchmark took part.
    fn launches_of(&self, id: &str) -> usize {
        self.launches.iter().filter(|launch| launch.ids.iter().any(|member| member == id)).count()
    }
}

/// The report of a job whose series cost so much.
fn costing(job: &Job, ns: f64) -> Report {
    let mut report = all_well(job);
    if let TaskFinding::Launch { members, .. } = &mut report.finding {
        *members = job.ids.iter().map(|_| Member::Done(launched(&[("cost", ns)]))).collect();
    }
    report
}

fn of_launches(report: &mut Report, with: impl Fn(&mut Launched)) {
    let TaskFinding::Launch { members, .. } = &mut report.finding else { return };
    for member in members {
        if let Member::Done(launched) = member {
            with(launched);
        }
    }
}

fn is_launch(job: &Job) -> bool {
    matches!(job.task, Task::Launch(_))
}

#[test]
fn what_converged_is_launched_as_often_as_planned() {
    let ran = Scene::new(vec![series("a"), series("b"), series("c")]).well();
    assert_eq!(ran.planned, (3, 3, 6));
    for id in ["a", "b", "c"] {
        assert_eq!(ran.launches_of(id), 6);
        let figure = ran.figure(id);
        assert_eq!((figure.status, figure.marks.as_slice()), (Status::Measured, &[][..]));
        assert_eq!(figure.launches.len(), 6);
    }
    assert_eq!((ran.measured.launches, ran.measured.partial), (18, false));
    assert_eq!(ran.measured.isolation.as_deref(), Some("a script"));
    let order: Vec<&str> = ran.measured.figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(order, ["a", "b", "c"], "in the order of the choice, whatever that of the launches");
}

#[test]
fn launches_rotate_through_all_groups_in_an_order_that_the_seed_fixes() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let orders = |seed| {
        let mut scene = Scene::new(names.into_iter().map(series).collect());
        scene.options.seed = seed;
        let ran = scene.well();
        let passes: Vec<Vec<String>> = ran
            .told
            .chunks(names.len())
            .map(|pass| pass.iter().map(|told| told.1.clone()).collect())
            .collect();
        assert!(passes.iter().all(|pass| *pass == passes[0]), "every pass in one order: {passes:?}");
        let numbers: Vec<u32> = ran.told.iter().map(|told| told.0).collect();
        assert_eq!(numbers, (0..36).map(|launch| launch / 6 + 1).collect::<Vec<u32>>());
        let mut sorted = passes[0].clone();
        sorted.sort_unstable();
        assert_eq!(sorted, names);
        passes[0].clone()
    };
    assert_eq!(orders(1), orders(1));
    assert!((2..20).any(|seed| orders(seed) != orders(1)));
    assert_ne!(orders(1), names.map(str::to_owned).to_vec());
}

#[test]
fn what_has_not_converged_is_launched_again_and_not_for_ever() {
    let wide = |_: &Job, number: u32, mut report: Report| {
        of_launches(&mut report, |launched| {
            launched.record.quantities.insert("cost".to_owned(), 100.0 + f64::from(number % 4) * 50.0);
        });
        Ok(report)
    };
    let ran = Scene::new(vec![series("a")]).run(wide);
    assert_eq!(ran.launches_of("a"), 12);
    assert_eq!(ran.figure("a").marks, [Mark::NotConverged]);
    assert_eq!(ran.told.last().expect("launches").0, 12, "each a pass of its own");
    // In the time left, of which a launch that does not fit is not begun.
    let mut scene = Scene::new(vec![series("a")]);
    scene.options.effort.target_ns = 850 * MILLISECOND;
    let ran = scene.run(wide);
    assert_eq!(ran.launches_of("a"), 8, "40 ms, and eight of 100");
    assert_eq!(ran.ended_ns, 840 * MILLISECOND);
    assert_eq!(ran.told[0].2, 810 * MILLISECOND, "what is left is told");
    scene.options.effort.target_ns = 840 * MILLISECOND;
    assert_eq!(scene.run(wide).launches_of("a"), 8, "the last one just fits");
}

#[test]
fn a_card_may_limit_its_time() {
    let wide = |_: &Job, number: u32, mut report: Report| {
        of_launches(&mut report, |launched| {
            launched.record.quantities.insert("cost".to_owned(), 100.0 + f64::from(number % 4) * 50.0);
        });
        Ok(report)
    };
    for (budget_ms, launches) in [(1, 6), (700, 7), (701, 8)] {
        let scene = Scene::new(vec![Card { budget_ms: Some(budget_ms), ..series("a") }]);
        assert_eq!(scene.run(wide).launches_of("a"), launches, "{budget_ms} ms");
    }
}

#[test]
fn loops_that_stop_at_a_number_may_take_a_hundred_times_their_usual_time() {
    let mut scene = Scene::new(vec![Card { launch_ms: 1000, ..series("a") }]);
    scene.options.effort = Effort { target_ns: 1000 * SECOND, deadline_ns: 2000 * SECOND, ..EFFORT };
    for (seconds, status) in [(100, Status::Measured), (105, Status::Failed)] {
        scene.launch_ns = seconds * SECOND;
        assert_eq!(scene.well().figure("a").status, status, "{seconds} s");
    }
}

#[test]
fn planned_launches_end_with_the_time_of_the_run() {
    let mut scene = Scene::new(vec![series("a"), series("b"), series("c")]);
    scene.launch_ns = SECOND;
    scene.options.effort.target_ns = 5 * SECOND;
    let ran = scene.well();
    let begun = ran.launches.iter().map(|launch| launch.start_ns).max().expect("launches");
    assert!(begun < 5 * SECOND && ran.ended_ns >= 5 * SECOND && ran.ended_ns < 6 * SECOND, "{begun}");
    assert_eq!(ran.launches.len(), 5);
    for id in ["a", "b", "c"] {
        assert!((1..=2).contains(&ran.launches_of(id)));
        assert_eq!(ran.figure(id).status, Status::Measured);
        assert_eq!(ran.figure(id).marks, [Mark::NotConverged, Mark::FewerLaunches]);
    }
    assert!(!ran.measured.partial, "nothing ended it: its time was over");
    // A machine so slow that its time is over after the first launch has one of each.
    scene.options.effort.target_ns = 50 * MILLISECOND;
    let slow = scene.well();
    assert_eq!(["a", "b", "c"].map(|id| slow.launches_of(id)), [1, 1, 1]);
    // With the time over before there was any launch.
    scene.options.effort.launches = 0;
    let none = scene.well();
    assert_eq!(none.launches.len(), 0);
    assert_eq!(none.figure("a").why.as_deref(), Some("the run's time was over before its first launch"));
}

#[test]
fn a_longer_plan_has_the_time_that_it_needs() {
    // 6 launches of 2035 ms, a calibration and an audit: 16.3 s, where the target is 10.
    let mut scene = Scene::new(vec![Card { launch_ms: 2000, ..series("a") }]);
    let planned = plan::estimate_ns(&scene.choices, &scene.options.effort);
    assert_eq!(planned, (6 * 2035 + 2060 + 2025) * MILLISECOND);
    scene.launch_ns = 2035 * MILLISECOND;
    let ran = scene.well();
    assert_eq!((ran.launches.len(), ran.figure("a").marks.len()), (6, 0));
    scene.launch_ns = 3 * 2035 * MILLISECOND;
    let ran = scene.well();
    assert_eq!(ran.launches.len(), 3, "the third one begins at 12.2 s");
    assert!(ran.figure("a").marks.contains(&Mark::FewerLaunches));
    // The hard deadline is one for every plan.
    scene.options.effort.deadline_ns = 12 * SECOND;
    let ran = scene.well();
    assert_eq!((ran.ended_ns, ran.measured.partial), (12 * SECOND, true));
    assert_eq!(ran.figure("a").launches.len(), 1);
}

#[test]
fn at_the_deadline_a_run_is_over_and_nobody_has_failed() {
    let mut scene = Scene::new(vec![Card { launch_ms: 300, ..series("a") }]);
    scene.launch_ns = 5 * SECOND;
    scene.options.effort = Effort { target_ns: 12 * SECOND, deadline_ns: 12 * SECOND, ..EFFORT };
    let ran = scene.well();
    assert_eq!((ran.ended_ns, ran.launches.len(), ran.measured.partial), (12 * SECOND, 3, true));
    assert_eq!(ran.measured.warnings.iter().filter(|it| it.contains("cut off after 12 s")).count(), 1);
    let figure = ran.figure("a");
    assert_eq!((figure.status, figure.launches.len()), (Status::Measured, 2));
    assert!(figure.marks.contains(&Mark::FewerLaunches));
}

#[test]
fn an_ended_run_has_what_was_launched_before() {
    let mut scene = Scene::new(vec![series("a"), series("b")]);
    scene.interrupted_ns = 460 * MILLISECOND;
    let ran = scene.well();
    // 20 ms for clock and core, 40 for calibrations and audits, four launches: the fourth one ends too late.
    assert_eq!((ran.launches.len(), ran.measured.partial), (4, true));
    assert!(!ran.measured.warnings.iter().any(|it| it.contains("cut off")), "its user knows why it ended");
    let counts = ["a", "b"].map(|id| ran.figure(id).launches.len());
    assert_eq!(counts.iter().sum::<usize>(), 3);
    scene.interrupted_ns = 70 * MILLISECOND;
    let ran = scene.well();
    assert_eq!((ran.launches.len(), ran.measured.partial), (1, true));
    assert_eq!(ran.figure("b").status, Status::Failed);
    assert_eq!(ran.figure("b").why.as_deref(), Some("the run ended before its first launch"));
}

#[test]
fn void_launches_are_made_up_for_and_told() {
    let ran = Scene::new(vec![series("a")]).run(|_, number, mut report| {
        if (2..=4).contains(&number) {
            report.void = Some("the machine slept".to_owned());
        }
        Ok(report)
    });
    assert_eq!(ran.launches.len(), 9);
    let figure = ran.figure("a");
    assert_eq!((figure.launches.len(), figure.evidence.void_launches), (6, 3));
    assert_eq!(figure.marks, []);
    assert!(figure.remarks.contains(&"3 launches were void: the machine slept".to_owned()), "{figure:?}");
    assert_eq!(ran.warnings, ["a: a launch is void: the machine slept"; 3]);
    assert_eq!(ran.records.len(), 10, "an audit, six launches, and that three were void");
}

#[test]
fn a_group_is_given_up_after_ten_void_launches() {
    let all = Scene::new(vec![series("a"), series("b")]).run(|job, _, mut report| {
        if is_launch(job) && job.ids == ["a"] {
            report.void = Some("the machine slept".to_owned());
        }
        Ok(report)
    });
    assert_eq!((all.launches_of("a"), all.launches_of("b")), (10, 6));
    assert_eq!(all.figure("a").status, Status::Failed);
    assert_eq!(
        all.figure("a").why.as_deref(),
        Some("environment: every launch (10) is void: the machine slept")
    );
    // With nine there is still a tenth chance.
    let nine = Scene::new(vec![series("a")]).run(|_, number, mut report| {
        if (1..=9).contains(&number) {
            report.void = Some("the machine slept".to_owned());
        }
        Ok(report)
    });
    assert_eq!(nine.figure("a").launches.len(), 6);
}

#[test]
fn a_launch_is_recorded_as_it_was() {
    let scene = Scene::new(vec![series("a")]);
    let ran = scene.run(|_, number, mut report| {
        (report.throttled, report.steal_ns) = (Some(number == 2), Some(u64::from(number)));
        report.circumstances.nice = Some(5);
        report.circumstances.tracer_pid = Some(0);
        of_launches(&mut report, |launched| {
            launched.samples = vec![1.0, 2.0];
            launched.tracks = vec![("one".to_owned(), vec![3.0])];
            launched.record.tracks.insert("one".to_owned(), vec![3.0]);
        });
        Ok(report)
    });
    let figure = ran.figure("a");
    let of =
        |with: fn(&oscost_results::LaunchRecord) -> u64| figure.launches.iter().map(with).collect::<Vec<_>>();
    assert_eq!(of(|launch| u64::from(launch.sequence)), [1, 2, 3, 4, 5, 6]);
    assert_eq!(of(|launch| launch.steal_ns.expect("told")), [1, 2, 3, 4, 5, 6]);
    let starts: Vec<u64> = ran.launches.iter().map(|launch| launch.start_ns).collect();
    assert_eq!(of(|launch| launch.start_ns), starts);
    assert_eq!(of(|launch| launch.tracks.len() as u64), [1, 0, 0, 0, 0, 0], "one picture is enough");
    assert_eq!(figure.marks, [Mark::Noisy, Mark::Reniced]);
    assert!(figure.remarks.contains(&"a CPU quota stopped launches".to_owned()));
    // Samples are told as they come, and not kept.
    let samples = ran.records.iter().filter_map(|record| match record {
        Record::Launched { members, .. } => Some(members[0].1.samples.len()),
        _ => None,
    });
    assert_eq!(samples.collect::<Vec<_>>(), [2; 6]);
}

#[test]
fn jobs_are_what_was_asked_for() {
    let spread = Card { placement: Placement::Spread, ..series("spread") };
    let mut scene = Scene::new(vec![series("a"), spread]);
    scene.options.cpus = vec![1, 0];
    scene.options.spread_cpus = vec![0, 1];
    scene.options.idle_cpu = IdleCpu::Poll;
    scene.options.keep_samples = true;
    let ran = scene.run(|job, _, mut report| {
        if let TaskFinding::Calibration(members) = &mut report.finding {
            let calibration = Calibration { iterations: 321, iteration_ns: 1.0, works: true };
            *members = job.ids.iter().map(|_| Member::Done(calibration)).collect();
        }
        if let TaskFinding::Core(core) = &mut report.finding {
            core.chain_ns = Some(0.25);
        }
        report.awake = Some(Ok("by a spinner".to_owned()));
        Ok(report)
    });
    for job in &ran.jobs {
        let expected = if job.ids == ["spread"] { [0, 1] } else { [1, 0] };
        assert_eq!(job.cpus, expected, "{job:?}");
        assert!(job.isolate && job.refused.is_none());
    }
    let plans: Vec<&crate::protocol::message::LaunchPlan> = ran
        .jobs
        .iter()
        .filter_map(|job| if let Task::Launch(plan) = &job.task { Some(plan) } else { None })
        .collect();
    assert_eq!(plans.len(), 12);
    for plan in plans {
        assert_eq!((plan.iterations.as_slice(), plan.works.as_slice()), (&[321][..], &[true][..]));
        assert_eq!((plan.member_ns, plan.warm_up_ns), (EFFORT.member_ns, EFFORT.warm_up_ns));
        assert_eq!((plan.clock_pair_ns, plan.core.chain_ns), (20.0, Some(0.25)));
        assert!(plan.idle_cpu == IdleCpu::Poll && plan.keep_samples);
    }
    let batch = ran
        .jobs
        .iter()
        .find_map(|job| if let Task::Calibrate { batch_ns, .. } = job.task { Some(batch_ns) } else { None });
    assert_eq!(batch, Some(20_000), "of a clock of 10 ns");
    let mut seeds: Vec<u64> = ran.jobs.iter().filter(|job| is_launch(job)).map(|job| job.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 12, "every launch has orders of its own");
    assert!(
        ran.measured
            .warnings
            .contains(&"idle CPUs were kept awake (--idle-cpu poll): by a spinner".to_owned())
    );
    assert_eq!(ran.measured.clock, Some(ClockFacts { step_ns: 10.0, pair_ns: 20.0 }));
    scene.options = options(EFFORT);
    assert!(scene.well().jobs.iter().all(|job| job.cpus == [0]), "no order of their own");
}
