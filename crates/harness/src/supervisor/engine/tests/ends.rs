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
