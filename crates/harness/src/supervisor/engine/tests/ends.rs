//! Runs with scripted clocks that have said when they end: what fits, and what is told of the rest.

use super::*;

/// What is launched once, each as long as its card says times how slow the machine is.
fn singles(slow: u64, end_s: u64) -> Ran {
    let cards = [("year", 8000), ("day", 300), ("week", 2000), ("hour", 100)];
    let mut scene =
        Scene::new(cards.iter().map(|&(id, launch_ms)| Card { launch_ms, ..series(id) }).collect());
    let target_ns = 60 * SECOND;
    scene.options.effort = Effort {
        launches: 1,
        most_launches: 1,
        end_ns: end_s * SECOND,
        target_ns,
        deadline_ns: target_ns,
        ..EFFORT
    };
    let takes = |job: &Job| match job.task {
        Task::Launch(_) => {
            let (_, ms) = cards.iter().find(|(id, _)| *id == job.ids[0]).expect("a card");
            slow * ms * MILLISECOND
        }
        _ => 10 * MILLISECOND,
    };
    scene.run_taking(&takes, |_, _, report| Ok(report))
}

#[test]
fn a_run_ends_when_it_said_on_a_machine_three_times_slower_and_says_what_it_left_out() {
    let quick = singles(1, 12);
    assert_eq!((quick.launches.len(), quick.ended_ns < 12 * SECOND), (4, true));
    let slow = singles(3, 12);
    let order: Vec<&str> = slow.launches.iter().map(|launch| launch.ids[0].as_str()).collect();
    assert_eq!(order, ["hour", "day", "week"], "the shortest first");
    assert!(slow.ended_ns < 12 * SECOND && !slow.measured.partial, "{}", slow.ended_ns);
    let left_out = slow.figure("year");
    assert_eq!((left_out.status, left_out.remedy.as_deref()), (Status::Unsupported, Some("--thorough")));
    assert_eq!(left_out.why.as_deref(), Some("it takes about 25 s here, and 4 s were left"));
    // Who has no end runs all of it, however long it takes.
    assert_eq!(singles(3, 1000).launches.len(), 4);
}

#[test]
fn what_short_launches_take_besides_says_nothing_of_long_ones() {
    let cards = [("short", 20), ("middle", 1000), ("long", 8000)];
    let mut scene =
        Scene::new(cards.iter().map(|&(id, launch_ms)| Card { launch_ms, ..series(id) }).collect());
    scene.options.effort = Effort {
        launches: 1,
        most_launches: 1,
        end_ns: 12 * SECOND,
        target_ns: 60 * SECOND,
        deadline_ns: 60 * SECOND,
        ..EFFORT
    };
    // Starting a worker takes 100 ms here: six times what the short one's card says.
    let takes = |job: &Job| match job.task {
        Task::Launch(_) => {
            let (_, ms) = cards.iter().find(|(id, _)| *id == job.ids[0]).expect("a card");
            (100 + ms) * MILLISECOND
        }
        _ => 10 * MILLISECOND,
    };
    let ran = scene.run_taking(&takes, |_, _, report| Ok(report));
    assert_eq!(ran.launches.len(), 3, "{:?}", ran.figure("long").why);
    assert!(ran.ended_ns <= 12 * SECOND, "{}", ran.ended_ns);
}

#[test]
fn what_is_repeated_is_launched_as_often_as_fits_before_the_end() {
    let mut scene = Scene::new(vec![Card { launch_ms: 1000, ..series("a") }, series("b")]);
    scene.options.effort =
        Effort { end_ns: 5 * SECOND, target_ns: 60 * SECOND, deadline_ns: 90 * SECOND, ..EFFORT };
    scene.launch_ns = 700 * MILLISECOND;
    let ran = scene.well();
    assert!(ran.ended_ns <= 5 * SECOND, "{}", ran.ended_ns);
    assert!(
        ["a", "b"].iter().all(|id| ran.launches_of(id) >= 3 && ran.figure(id).status == Status::Measured)
    );
}

#[test]
fn what_somebody_knows_of_a_launch_counts_more_than_its_card() {
    let mut scene = Scene::new(vec![Card { launch_ms: 60_000, ..series("a") }, series("b")]);
    scene.options.effort = Effort { launches: 1, most_launches: 1, end_ns: 5 * SECOND, ..EFFORT };
    assert_eq!(scene.well().launches_of("a"), 0);
    scene.options.expected_ns.insert("a".to_owned(), SECOND);
    assert_eq!(scene.well().launches_of("a"), 1);
    scene.options.expected_ns.insert("b".to_owned(), 6 * SECOND);
    assert_eq!(scene.well().launches_of("b"), 0);
}

/// A run of three groups, each with what a launch takes and what its card says of that, s, as often as asked.
fn of_three(launch_s: [(u64, u64); 3], end_s: u64, launches: u32) -> Ran {
    let ids = ["a", "b", "c"];
    let card = |at: usize| Card { launch_ms: launch_s[at].1 * 1000, ..series(ids[at]) };
    let mut scene = Scene::new((0..3).map(card).collect());
    let end_ns = end_s * SECOND;
    scene.options.effort = Effort {
        launches,
        most_launches: launches,
        end_ns,
        target_ns: end_ns,
        deadline_ns: 10 * end_ns,
        ..EFFORT
    };
    let takes = |job: &Job| match job.task {
        Task::Launch(_) => launch_s[ids.iter().position(|id| *id == job.ids[0]).expect("a group")].0 * SECOND,
        _ => 10 * MILLISECOND,
    };
    let ran = scene.run_taking(&takes, |_, _, report| Ok(report));
    assert!(ran.ended_ns <= end_ns && !ran.measured.partial, "{}", ran.ended_ns);
    ran
}

#[test]
fn a_launch_that_takes_longer_than_it_should_ends_with_the_run_and_has_not_failed() {
    let ran = of_three([(1, 1), (60, 1), (1, 1)], 30, 1);
    let cut = ran.figure("b");
    assert_eq!((cut.status, cut.remedy.as_deref()), (Status::Unsupported, Some("--thorough")));
    assert!(cut.why.as_deref().is_some_and(|why| why.contains("s that were left")), "{:?}", cut.why);
    // What was measured before stays.
    let mut scene = Scene::new(vec![Card { launch_ms: 1000, ..series("a") }]);
    scene.options.effort = Effort { end_ns: 20 * SECOND, target_ns: 20 * SECOND, ..EFFORT };
    let made = std::cell::Cell::new(0);
    let takes = |job: &Job| match job.task {
        Task::Launch(_) => {
            made.set(made.get() + 1);
            if made.get() < 3 { SECOND } else { 60 * SECOND }
        }
        _ => 10 * MILLISECOND,
    };
    let ran = scene.run_taking(&takes, |_, _, report| Ok(report));
    assert!(ran.ended_ns <= 20 * SECOND, "{}", ran.ended_ns);
    let figure = ran.figure("a");
    assert_eq!((figure.status, figure.launches.len()), (Status::Measured, 2));
}

#[test]
fn preparations_do_not_outlast_the_run_either() {
    let mut scene = Scene::new(vec![series("a"), series("b")]);
    scene.options.effort = Effort { end_ns: 5 * SECOND, ..EFFORT };
    let ran = scene.run_taking(&|_| 4 * SECOND, |_, _, report| Ok(report));
    assert!(ran.ended_ns <= 5 * SECOND, "{}", ran.ended_ns);
    assert!(["a", "b"].iter().all(|id| ran.figure(id).status == Status::Unsupported));
}

#[test]
fn where_not_all_intervals_fit_the_short_ones_are_whole() {
    let launches = |launch_s: [u64; 3], end_s| {
        let ran = of_three(launch_s.map(|it| (it, it)), end_s, 6);
        ["a", "b", "c"].map(|id| ran.launches_of(id))
    };
    assert_eq!(launches([1, 2, 3], 40), [6, 6, 6]);
    let few = launches([1, 2, 9], 40);
    assert_eq!((few[0], few[1], few[2] < 4), (6, 6, true), "{few:?}");
    assert_eq!(launches([1, 20, 20], 50), [6, 1, 1]);
}

/// Six groups, each as long as its card says times how slow the machine is; the statements rest on three of them, the longest among these.
fn with_first(slow: u64, first: &[&str]) -> Ran {
    let cards = [("a", 100), ("b", 200), ("c", 300), ("x", 900), ("y", 500), ("z", 3000)];
    let mut scene =
        Scene::new(cards.iter().map(|&(id, launch_ms)| Card { launch_ms, ..series(id) }).collect());
    scene.options.first = first.iter().map(|&id| id.to_owned()).collect();
    let end_ns = 35 * SECOND;
    scene.options.effort = Effort { end_ns, target_ns: end_ns, deadline_ns: 10 * end_ns, ..EFFORT };
    let takes = |job: &Job| match job.task {
        Task::Launch(_) => {
            slow * cards.iter().find(|(id, _)| *id == job.ids[0]).expect("a card").1 * MILLISECOND
        }
        _ => 10 * MILLISECOND,
    };
    let ran = scene.run_taking(&takes, |_, _, report| Ok(report));
    assert!(ran.ended_ns <= end_ns && !ran.measured.partial, "{}", ran.ended_ns);
    ran
}

#[test]
fn what_statements_rest_on_has_its_intervals_on_a_machine_three_times_slower_and_the_rest_says_why_not() {
    let launches =
        |ran: &Ran| ["a", "b", "c", "x", "y", "z"].map(|id| ran.launches_of(id)).map(|count| count.min(6));
    assert_eq!(launches(&with_first(1, &["x", "y", "c"])), [6; 6], "all of it fits");
    let slow = with_first(3, &["x", "y", "c"]);
    let [a, b, rest @ ..] = launches(&slow);
    assert_eq!((a, b, rest), (6, 0, [6, 6, 6, 0]), "the shortest of the others has what is left");
    let left_out = slow.figure("z");
    assert_eq!((left_out.status, left_out.remedy.as_deref()), (Status::Unsupported, Some("--thorough")));
    assert!(left_out.why.as_deref().is_some_and(|why| why.starts_with("it takes about 5")), "{left_out:?}");
    // Where nobody said what comes first, the shortest have theirs.
    assert!(slow.figure("x").launches.len() >= 6 && launches(&with_first(3, &[]))[3] < 6);
    // Of those that come first the first one does, however long it takes.
    assert_eq!(launches(&with_first(3, &["z", "x", "y", "c"]))[5], 1, "54 s do not fit at all");
    let few = launches(&with_first(5, &["x", "y", "c"]));
    assert_eq!(few[3], 6, "{few:?}");
}

#[test]
fn the_end_that_a_run_says_holds_for_any_choice_on_any_machine() {
    const IDS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    for (count, longest_ms) in [(1, 20), (3, 2000), (9, 300), (9, 2048), (2, 40_000)] {
        // Of different lengths, as forks of 1 MiB and of 1 GiB are.
        let ms = |at: usize| longest_ms >> (at % 4 * 2);
        let cards = (0..count).map(|at| Card { launch_ms: ms(at), ..series(IDS[at]) });
        let mut scene = Scene::new(cards.collect());
        scene.options.effort = Effort::QUICK.with_time_for(&scene.choices);
        let effort = scene.options.effort;
        let planned_ns = plan::estimate_ns(&scene.choices, &effort).max(effort.target_ns);
        for slow in [1, 3, 10, 100] {
            // Calibrations and audits set it up too.
            let takes = |job: &Job| {
                let own =
                    job.ids.first().and_then(|id| IDS.iter().position(|known| known == id)).map_or(0, ms);
                let more = if is_launch(job) { effort.member_ns } else { 25 * MILLISECOND };
                slow * (own * MILLISECOND + more)
            };
            let ran = scene.run_taking(&takes, |_, _, report| Ok(report));
            let says = format!("{count} of {longest_ms} ms, {slow} times slower: {} ns", ran.ended_ns);
            assert!(ran.ended_ns <= effort.deadline_ns, "{says}");
            assert!(ran.told.iter().all(|told| told.3 == effort.deadline_ns), "{says}");
            assert!(slow > 1 || ran.ended_ns <= planned_ns, "{says}, and {planned_ns} by plan");
        }
    }
}
