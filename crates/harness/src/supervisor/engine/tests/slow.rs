//! Runs with scripted clocks on a machine that is very slow, or that a CPU quota stops.

use super::*;

/// Two benchmarks, one of which a batch takes 16 s by its calibration, and `launch_s` a launch.
fn with_a_slow_one(ids: &[&'static str], launch_s: u64) -> Ran {
    let mut scene = Scene::new(ids.iter().map(|id| series(id)).collect());
    scene.options.effort.deadline_ns = 200 * SECOND;
    let takes = |job: &Job| match job.task {
        Task::Launch(_) if job.ids == ["slow"] => launch_s * SECOND,
        Task::Launch(_) => 100 * MILLISECOND,
        _ => 10 * MILLISECOND,
    };
    scene.run_taking(&takes, |job, _, mut report| {
        if let (TaskFinding::Calibration(members), true) = (&mut report.finding, job.ids == ["slow"]) {
            let calibration = Calibration { iterations: 8, iteration_ns: 2e9, works: false };
            *members = vec![Member::Done(calibration)];
        }
        Ok(report)
    })
}

#[test]
fn what_this_machine_is_too_slow_for_beside_others_says_so_and_is_measured_alone() {
    let beside = with_a_slow_one(&["a", "slow"], 40);
    assert_eq!(beside.figure("a").launches.len(), 6);
    let left_out = beside.figure("slow");
    assert_eq!((left_out.status, beside.launches_of("slow")), (Status::Unsupported, 0));
    let why = left_out.why.as_deref().expect("a reason");
    assert!(why.starts_with("it takes about 33 s here, and 9 s were left"), "{why}");
    assert_eq!(left_out.remedy.as_deref(), Some("oscost run slow"));
    assert!(beside.ended_ns < 10 * SECOND, "{}", beside.ended_ns);
    // Its launch has the time that it takes here, and no more than ten times that.
    assert_eq!(with_a_slow_one(&["slow"], 40).figure("slow").status, Status::Measured);
    let mut scene = Scene::new(vec![series("quick")]);
    scene.launch_ns = 40 * SECOND;
    scene.options.effort.deadline_ns = 200 * SECOND;
    assert_eq!(scene.well().figure("quick").status, Status::Failed, "who hangs has failed");
}

#[test]
fn a_quota_is_named_where_it_cost_a_figure_or_the_end_of_a_run() {
    let ran = |throttled_ns: u64| {
        let mut scene = Scene::new(vec![series("a"), series("b")]);
        scene.throttled_ns = throttled_ns;
        scene.options.effort.deadline_ns = 5 * SECOND;
        let takes = |job: &Job| match job.task {
            Task::Calibrate { .. } if job.ids == ["a"] => 60 * SECOND,
            _ => 10 * MILLISECOND,
        };
        let ran = scene.run_taking(&takes, |_, _, report| Ok(report));
        let why = ran.figure("a").why.clone().unwrap_or_default();
        let cut: Vec<&String> = ran.measured.warnings.iter().filter(|it| it.contains("cut off")).collect();
        assert_eq!(cut.len(), 1, "{:?}", ran.measured.warnings);
        assert!(why.ends_with("the worker did not end"), "{why}");
        let unlaunched = ran.figure("b").why.clone().unwrap_or_default();
        assert_eq!(unlaunched.starts_with("a CPU quota"), why.contains("CPU quota"), "{unlaunched}");
        (why.starts_with("worker: a CPU quota"), cut[0].contains("CPU quota"))
    };
    assert_eq!((ran(SECOND), ran(u64::MAX)), ((true, true), (false, false)));
}

#[test]
fn a_quota_is_not_named_for_a_worker_that_crashed() {
    let mut scene = Scene::new(vec![series("crashes"), series("hangs")]);
    // It stops every worker from the beginning on.
    scene.throttled_ns = 0;
    scene.options.effort = Effort { target_ns: 100 * SECOND, deadline_ns: 200 * SECOND, ..EFFORT };
    let of = |job: &Job, id: &str| is_launch(job) && job.ids == [id];
    let takes = |job: &Job| if of(job, "hangs") { 60 * SECOND } else { 200 * MILLISECOND };
    let ran = scene.run_taking(&takes, |job, _, report| match of(job, "crashes") {
        true => Err(Lost::worker("signal 11", Some(0))),
        false => Ok(report),
    });
    assert_eq!(ran.figure("crashes").why.as_deref(), Some("worker: signal 11"));
    let late = ran.figure("hangs").why.clone().unwrap_or_default();
    assert!(late.starts_with("worker: a CPU quota") && late.ends_with("did not end"), "{late}");
}

#[test]
fn a_rehearsal_takes_as_many_times_its_plan_as_is_said() {
    let choices = [choice(series("a")), choice(Card { launch_ms: 50, ..series("b") })];
    let longest = |stretch| rehearse(&choices, &options(EFFORT), stretch).longest_ns;
    let planned = plan::launch_ns(&[choices[1].card()], &EFFORT);
    assert_eq!((longest(1.0), longest(2.0)), (planned, 2 * planned));
}
