//! Runs with scripted clocks beside a neighbour that takes CPU time.

use super::*;

/// Launches of these numbers had somebody else on their CPU for a third of the time.
fn shared(numbers: &'static [u32]) -> impl Fn(&Job, u32, Report) -> Result<Report, Lost> {
    move |_, number, mut report| {
        if numbers.contains(&number) {
            of_launches(&mut report, |launched| launched.record.foreign_share = Some(0.3));
        }
        Ok(report)
    }
}

#[test]
fn a_shared_launch_is_made_again_at_once() {
    let scene = Scene::new(vec![series("a"), series("b")]);
    let ran = scene.run(shared(&[3]));
    assert_eq!(ran.launches.len(), 13);
    assert_eq!(ran.launches[2].ids, ran.launches[3].ids, "the same group, before all others");
    assert_eq!(ran.warnings.len(), 1);
    assert!(
        ran.warnings[0].ends_with("a launch is void: others had 30 % of a measured CPU"),
        "{:?}",
        ran.warnings
    );
    for id in ["a", "b"] {
        assert_eq!((ran.figure(id).launches.len(), ran.figure(id).marks.len()), (6, 0));
    }
    // A neighbour that is still there is measured with.
    let stays = scene.run(shared(&[3, 4]));
    assert_eq!((stays.launches.len(), stays.warnings.len()), (13, 1));
    let marked =
        |ran: &Ran| ["a", "b"].into_iter().filter(|id| ran.figure(id).marks == [Mark::Shared]).count();
    assert_eq!(marked(&stays), 1);
    // One that comes and goes costs an eighth of the run at most: here 1 s of 8, ten launches of 100 ms.
    let mut scene = Scene::new(vec![series("a")]);
    scene.options.effort = Effort { launches: 20, most_launches: 20, target_ns: 8 * SECOND, ..EFFORT };
    let often: &[u32] = &[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25];
    let ran = scene.run(shared(often));
    assert_eq!((ran.warnings.len(), ran.figure("a").marks.as_slice()), (10, &[Mark::Shared][..]));
    assert_eq!(ran.figure("a").launches.len(), 20);
}

#[test]
fn a_shared_launch_counts_where_there_is_no_time_for_another() {
    // The first one ends at 1.04 s: another would end after the time that is left.
    let mut scene = Scene::new(vec![series("a")]);
    scene.launch_ns = SECOND;
    scene.options.effort.target_ns = 8 * SECOND;
    let ran = scene.run(shared(&[1]));
    assert_eq!(ran.warnings.len(), 1, "an eighth of the time is for that");
    scene.options.effort.target_ns = 8 * SECOND - 1;
    let ran = scene.run(shared(&[1]));
    assert_eq!((ran.warnings.len(), ran.launches.len()), (0, 6));
    assert_eq!(ran.figure("a").marks, [Mark::Shared]);
    scene.options.effort =
        Effort { launches: 1, most_launches: 1, target_ns: 16 * SECOND, deadline_ns: 2 * SECOND, ..EFFORT };
    let ran = scene.run(shared(&[1]));
    assert_eq!((ran.warnings.len(), ran.launches.len()), (0, 1), "it would pass the deadline");
}

#[test]
fn what_failed_in_a_shared_launch_is_not_forgotten() {
    let mut scene = Scene::new(vec![series("a"), Card { group: "a", ..series("b") }]);
    scene.options.effort = Effort { launches: 1, most_launches: 1, ..EFFORT };
    // Another launch would be a good one.
    let ran = scene.run(|job, number, report| {
        let mut report = shared(&[1])(job, number, report)?;
        if let (TaskFinding::Launch { members, .. }, 1) = (&mut report.finding, number) {
            members[1] = Member::Failed(Failure::new("batch", "it broke"));
        }
        Ok(report)
    });
    assert_eq!(["a", "b"].map(|id| ran.figure(id).status), [Status::Measured, Status::Failed]);
    assert!(ran.figure("a").marks.contains(&Mark::Shared));
}
