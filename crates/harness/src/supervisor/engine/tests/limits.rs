//! Runs with scripted clocks at their limits: what just fits, and what is longer by a nanosecond.

use super::*;

/// Clock, core, calibration and audit of a single group take this.
const BEFORE_NS: u64 = 40 * MILLISECOND;

#[test]
fn what_ends_with_the_run_is_launched_and_what_is_longer_is_not() {
    let mut scene = Scene::new(vec![series("a")]);
    let end_ns = 5 * SECOND;
    scene.options.effort = Effort { launches: 1, most_launches: 1, end_ns, ..EFFORT };
    scene.options.expected_ns.insert("a".to_owned(), end_ns - BEFORE_NS);
    assert_eq!(scene.well().launches_of("a"), 1);
    scene.options.expected_ns.insert("a".to_owned(), end_ns - BEFORE_NS + 1);
    assert_eq!(scene.well().launches_of("a"), 0);
}

/// How often what has batches so long is launched beside others in a run that so much time is left of.
fn beside_others(batch_ns: u64, expected_ns: u64) -> usize {
    let mut scene = Scene::new(vec![series("a"), series("slow")]);
    scene.options.expected_ns.insert("slow".to_owned(), expected_ns);
    scene.options.effort.deadline_ns = 10 * SECOND;
    // It has its turn first: its name comes before the other's in the order of the seed, or the clock stands still in between.
    let takes = |job: &Job| if is_launch(job) && job.ids == ["a"] { 0 } else { 10 * MILLISECOND };
    let ran = scene.run_taking(&takes, |job, _, mut report| {
        if let (TaskFinding::Calibration(members), true) = (&mut report.finding, job.ids == ["slow"]) {
            let calibration = Calibration { iterations: 1, iteration_ns: batch_ns as f64, works: false };
            *members = vec![Member::Done(calibration)];
        }
        Ok(report)
    });
    ran.launches_of("slow")
}

/// A launch has two rounds at least: their batches take ten times what the whole should where each takes five times that.
#[test]
fn a_machine_is_slow_where_batches_take_more_than_ten_times_what_a_launch_should() {
    let five_times_ns = 5 * (EFFORT.warm_up_ns + EFFORT.member_ns);
    let left_ns = 10 * SECOND - BEFORE_NS - 20 * MILLISECOND;
    assert!(beside_others(five_times_ns, left_ns + 1) > 0, "not slow, however long it takes");
    assert_eq!(beside_others(five_times_ns + 1, left_ns + 1), 0);
    assert!(beside_others(five_times_ns + 1, left_ns) > 0, "slow, and it fits");
}

/// What becomes of a run in which each job of a kind takes so long.
fn slow_jobs(kind: fn(&Task) -> bool, ns: u64) -> Ran {
    let mut scene = Scene::new(vec![Card { launch_ms: 1000, ..series("a") }]);
    scene.options.effort = Effort { target_ns: 1000 * SECOND, deadline_ns: 2000 * SECOND, ..EFFORT };
    let takes = |job: &Job| if kind(&job.task) { ns } else { MILLISECOND };
    scene.run_taking(&takes, |_, _, report| Ok(report))
}

#[test]
fn every_job_has_a_deadline_of_its_own() {
    let warns = |ran: &Ran, of: &str| ran.measured.warnings.iter().any(|words| words.contains(of));
    for (ns, in_time) in [(10 * SECOND, true), (10 * SECOND + 1, false)] {
        let ran = slow_jobs(|task| matches!(task, Task::Clock), ns);
        assert_eq!((ran.measured.clock.is_some(), warns(&ran, "10 ns is assumed")), (in_time, !in_time));
        let ran = slow_jobs(|task| matches!(task, Task::Core { .. }), ns);
        assert_eq!(warns(&ran, "nothing is known of the core"), !in_time);
        let ran = slow_jobs(|task| matches!(task, Task::Calibrate { .. }), ns);
        assert_eq!(ran.figure("a").status == Status::Measured, in_time);
        let ran = slow_jobs(|task| matches!(task, Task::Audit { .. }), ns);
        assert_eq!(ran.figure("a").evidence.audit_missing.is_none(), in_time);
    }
    // Three seconds, ten times what warm-up, rounds and the fewest batches should take, a hundred times what the card says.
    let two_batches_ns = 2 * 200 * 100;
    let most_ns = 3 * SECOND + 10 * (EFFORT.warm_up_ns + EFFORT.member_ns + two_batches_ns) + 100 * SECOND;
    let measured = |ns| slow_jobs(|task| matches!(task, Task::Launch(_)), ns).figure("a").status;
    assert_eq!((measured(most_ns), measured(most_ns + 1)), (Status::Measured, Status::Failed));
}

/// What a job of no launch times where nothing is known of the clock: a step that makes batches no shorter.
#[test]
fn without_a_clock_a_step_of_ten_is_assumed() {
    let lengths = |known: bool| {
        let ran = Scene::new(vec![series("a")]).run(|job, _, report| match job.task {
            Task::Clock if !known => Err(Lost::worker("it fell", None)),
            _ => Ok(report),
        });
        let of = |job: &Job| match &job.task {
            Task::Core { batch_ns, pair_ns } => Some((*batch_ns, *pair_ns)),
            Task::Launch(plan) => Some((0, plan.clock_pair_ns)),
            _ => None,
        };
        ran.jobs.iter().filter_map(of).collect::<Vec<_>>()
    };
    let (known, assumed) = (lengths(true), lengths(false));
    assert_eq!((known[0].1, assumed[0].1), (20.0, 0.0), "nothing is taken off");
    assert_eq!((known[1].1, assumed[1].1), (20.0, 0.0));
    assert_eq!(known[0].0, assumed[0].0, "the script's clock has that step");
}

/// Whether a long launch is thought too long, after a short one that took ten times what its card says, and one in between that did not.
fn too_long_after(short_ms: u64) -> bool {
    let cards = [("short", short_ms), ("middle", 1000), ("long", 2000)];
    let mut scene =
        Scene::new(cards.iter().map(|&(id, launch_ms)| Card { launch_ms, ..series(id) }).collect());
    let end_ns = 15 * SECOND;
    scene.options.effort = Effort {
        launches: 1,
        most_launches: 1,
        end_ns,
        target_ns: 60 * SECOND,
        deadline_ns: 60 * SECOND,
        ..EFFORT
    };
    let takes = |job: &Job| match job.task {
        Task::Launch(_) if job.ids == ["short"] => 10 * short_ms * MILLISECOND,
        Task::Launch(_) => 1000 * MILLISECOND,
        _ => 10 * MILLISECOND,
    };
    scene.run_taking(&takes, |_, _, report| Ok(report)).launches_of("long") == 0
}

#[test]
fn how_slow_a_machine_is_is_told_by_launches_of_a_tenth_and_more() {
    assert_eq!([99, 100].map(too_long_after), [false, true], "a tenth of the longest one that was made");
    let after_one = |launch_ms: u64| {
        let mut scene = Scene::new(vec![
            Card { launch_ms, ..series("short") },
            Card { launch_ms: 190, ..series("long") },
        ]);
        scene.options.effort = Effort { launches: 1, most_launches: 1, end_ns: 2 * SECOND, ..EFFORT };
        let takes = |job: &Job| match job.task {
            Task::Launch(_) if job.ids == ["short"] => 10 * launch_ms * MILLISECOND,
            _ => 10 * MILLISECOND,
        };
        scene.run_taking(&takes, |_, _, report| Ok(report)).launches_of("long")
    };
    assert_eq!((after_one(19), after_one(20)), (1, 0), "what takes less was mostly the starting of a worker");
}

/// In which passes the longest of three is launched, whose first launch may be void.
fn passes_of_the_longest(is_void: bool) -> Vec<u32> {
    let ids = ["a", "b", "c"];
    let ns = |id: &str| if id == "c" { 9 } else { 1 } * SECOND;
    let card = |id| Card { launch_ms: ns(id) / MILLISECOND, ..series(id) };
    let mut scene = Scene::new(ids.map(card).to_vec());
    scene.options.first = ids.map(str::to_owned).to_vec();
    let (launches, end_ns) = (3, 40 * SECOND);
    scene.options.effort = Effort {
        launches,
        most_launches: launches,
        end_ns,
        target_ns: end_ns,
        deadline_ns: 2 * end_ns,
        ..EFFORT
    };
    let takes = |job: &Job| if is_launch(job) { ns(&job.ids[0]) } else { 10 * MILLISECOND };
    let ran = scene.run_taking(&takes, |job, number, mut report| {
        if job.ids == ["c"] && number <= 3 && is_void {
            report.void = Some("the machine slept".to_owned());
        }
        Ok(report)
    });
    assert_eq!(["a", "b"].map(|id| ran.launches_of(id)), [3, 3]);
    ran.told.iter().filter(|told| told.1 == "c").map(|told| told.0).collect()
}

#[test]
fn an_interval_needs_the_launches_that_are_planned_and_as_many_as_were_void() {
    assert_eq!(
        passes_of_the_longest(false),
        [1, 2, 3],
        "18 s after the first pass; six launches would be 45"
    );
    // Three more are 27 s, which do not fit beside the others: it has what they leave.
    assert_eq!(passes_of_the_longest(true), [1, 4, 5]);
}

#[test]
fn what_was_launched_once_is_launched_again_while_its_time_fits() {
    let mut scene = Scene::new(vec![series("a")]);
    scene.options.effort = Effort { launches: 1, most_launches: 9, target_ns: 340 * MILLISECOND, ..EFFORT };
    assert_eq!(scene.well().launches_of("a"), 3, "one launch has no interval");
    scene.options.effort.target_ns = 239 * MILLISECOND;
    assert_eq!(scene.well().launches_of("a"), 1, "a second one would end at 240 ms");
}

#[test]
fn a_run_is_ended_among_launches_that_are_no_part_of_its_plan() {
    let mut scene = Scene::new(vec![series("a"), series("b")]);
    scene.options.effort = Effort { launches: 1, most_launches: 9, ..EFFORT };
    // Between two launches: by nobody's answer.
    scene.interrupted_ns = 60 * MILLISECOND + 300 * MILLISECOND;
    let ran = scene.run_taking(
        &|job| if is_launch(job) { 100 * MILLISECOND } else { 10 * MILLISECOND },
        |_, _, report| Ok(report),
    );
    assert_eq!((ran.launches.len(), ran.measured.partial), (3, true));
}

#[test]
fn what_has_no_end_keeps_the_order_of_its_seed() {
    let cards = [("a", 4000), ("b", 3000), ("c", 2000), ("d", 1000)];
    let order = |end_ns: u64, seed: u64| {
        let mut scene =
            Scene::new(cards.iter().map(|&(id, launch_ms)| Card { launch_ms, ..series(id) }).collect());
        scene.options.seed = seed;
        scene.options.effort = Effort { launches: 1, most_launches: 1, end_ns, ..EFFORT };
        scene.well().launches.iter().map(|launch| launch.ids[0].clone()).collect::<Vec<_>>()
    };
    for seed in 0..9 {
        assert_eq!(order(100 * SECOND, seed), ["d", "c", "b", "a"]);
    }
    assert!((0..9).any(|seed| order(u64::MAX, seed) != ["d", "c", "b", "a"]));
}

/// The first of a group's members on which something rests says when the group has its turn.
#[test]
fn a_group_has_the_place_of_the_first_member_that_something_rests_on() {
    let card = |id, group| Card { group, launch_ms: 1000, ..series(id) };
    let mut scene = Scene::new(vec![card("a", "one"), card("b", "one"), card("c", "two")]);
    scene.options.first = ["b", "c", "a"].map(str::to_owned).to_vec();
    let end_ns = 14 * SECOND;
    scene.options.effort = Effort { end_ns, target_ns: end_ns, deadline_ns: 10 * end_ns, ..EFFORT };
    let takes = |job: &Job| if is_launch(job) { job.ids.len() as u64 * SECOND } else { 10 * MILLISECOND };
    let ran = scene.run_taking(&takes, |_, _, report| Ok(report));
    assert_eq!(ran.launches_of("b"), 6, "5 launches of 2 s fit beside nothing else");
    assert!(ran.launches_of("c") < 2);
}

/// All of its launches are void, or every second one: only the first is given up, whatever the plan is.
#[test]
fn ten_void_launches_in_succession_are_the_end_of_a_group_within_the_plan_too() {
    let mut scene = Scene::new(vec![series("a"), series("b")]);
    scene.options.effort = Effort { launches: 30, most_launches: 60, ..EFFORT };
    let launches = |void: fn(u32) -> bool| {
        let made = std::cell::Cell::new(0);
        let ran = scene.run(|job, _, mut report| {
            if is_launch(job) && job.ids == ["a"] {
                made.set(made.get() + 1);
                report.void = void(made.get()).then(|| "it was moved".to_owned());
            }
            Ok(report)
        });
        assert_eq!(ran.launches_of("b"), 30);
        (ran.launches_of("a"), ran.figure("a").launches.len())
    };
    assert_eq!(launches(|_| true), (10, 0));
    assert_eq!(launches(|number| number > 1), (11, 1));
    assert_eq!(launches(|number| number % 2 == 1), (60, 30));
}

#[test]
fn a_pass_that_would_begin_at_the_end_of_the_plan_is_not_made() {
    let mut scene = Scene::new(vec![series("a")]);
    (scene.launch_ns, scene.options.effort.target_ns) = (SECOND, SECOND + BEFORE_NS);
    assert_eq!(scene.well().launches_of("a"), 1);
    scene.options.effort.target_ns += 1;
    assert_eq!(scene.well().launches_of("a"), 2);
}

#[test]
fn a_later_part_began_with_the_run_that_it_belongs_to() {
    let finds = |job: &Job, _: u32| {
        let output = crate::protocol::message::ForeignOutput { stdout: "2".to_owned(), ..Default::default() };
        let report = costing(job, 100.0);
        let is_foreign = matches!(job.task, Task::Foreign(_));
        Ok(if is_foreign { Report { finding: TaskFinding::Foreign(output), ..report } } else { report })
    };
    let script = Script::new(&|_| 10 * MILLISECOND, &finds);
    let made = |before: (u32, u64)| {
        let options = options(Effort { launches: 1, most_launches: 1, ..EFFORT });
        let programs = [crate::figures::synthetic::foreign()];
        measure_after(before, &script, &[choice(series("a"))], &programs, &options, &mut |_| {})
    };
    assert_eq!((made((0, 0)).start_ns, script.now_ns()), (0, 60 * MILLISECOND));
    let later = made((3, 20 * MILLISECOND));
    assert_eq!((later.start_ns, later.launches), (40 * MILLISECOND, 5));
    let told: Vec<(u32, u64)> =
        later.figures.iter().map(|it| (it.launches[0].sequence, it.launches[0].start_ns)).collect();
    assert_eq!(told, [(4, 60 * MILLISECOND), (5, 70 * MILLISECOND)], "after the start of the whole run");
}

#[test]
fn a_run_of_nothing_is_rehearsed_in_no_launch() {
    let rehearsed = rehearse(&[], &options(EFFORT), 1.0);
    assert_eq!((rehearsed.longest_ns, rehearsed.measured.figures.len()), (0, 0));
    let planned = |job: &Job| matches!(&job.task, Task::Launch(plan) if plan.works != [false]);
    assert!(!Scene::new(vec![series("a")]).well().jobs.iter().any(planned), "nothing says that it works");
}

/// Where something is said to come first nothing is risked: launches that lack a nanosecond do not fit.
#[test]
fn what_does_not_fit_by_a_nanosecond_is_not_begun_beside_what_comes_first() {
    let in_the_second_pass = |end_ns: u64| {
        let card = |id| Card { launch_ms: 1000, ..series(id) };
        let mut scene = Scene::new(vec![card("a"), card("b")]);
        scene.options.first = ["a", "b"].map(str::to_owned).to_vec();
        let (launches, most_launches, target_ns) = (3, 3, end_ns);
        scene.options.effort =
            Effort { launches, most_launches, end_ns, target_ns, deadline_ns: 2 * end_ns, ..EFFORT };
        scene.launch_ns = SECOND;
        scene.well().told.iter().filter(|told| told.0 == 2).count()
    };
    // Clock and core, two calibrations and audits, and six launches.
    let whole_ns = 60 * MILLISECOND + 6 * SECOND;
    assert_eq!((in_the_second_pass(whole_ns), in_the_second_pass(whole_ns - 1)), (2, 1));
}
