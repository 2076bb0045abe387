//! Runs with scripted clocks in which a member fails, a worker dies or a clock is wrong.

use super::*;
use crate::benchmark::card::{Bound, Claim};
use crate::benchmark::catalogue::Catalogue;
use crate::figures::rebuild::rebuild;

fn lost(what: &str, member: Option<usize>) -> Result<Report, Lost> {
    Err(Lost::worker(what, member))
}

fn two() -> Scene {
    Scene::new(vec![series("a"), Card { group: "a", ..series("b") }])
}

#[test]
fn a_worker_that_dies_in_a_calibration_costs_the_member_that_was_running() {
    let ran = two().run(|job, _, report| {
        let falls = matches!(job.task, Task::Calibrate { .. }) && job.ids.len() == 2;
        if falls { lost("it fell", Some(1)) } else { Ok(report) }
    });
    assert_eq!(ran.figure("b").why.as_deref(), Some("worker: it fell"));
    assert_eq!((ran.figure("a").status, ran.launches_of("b")), (Status::Measured, 0));
    assert_eq!(ran.figure("a").launches.len(), 6);
    // Nobody was running: nobody can be measured, and it is not tried for ever.
    let ran = two().run(|job, _, report| {
        if matches!(job.task, Task::Calibrate { .. }) { lost("it fell", None) } else { Ok(report) }
    });
    assert_eq!(ran.launches.len(), 0);
    for id in ["a", "b"] {
        assert_eq!(ran.figure(id).why.as_deref(), Some("worker: it fell"));
    }
}

#[test]
fn a_worker_that_dies_in_a_launch_costs_the_member_that_was_running() {
    let ran = two().run(|_, number, report| if number == 3 { lost("it fell", Some(0)) } else { Ok(report) });
    assert_eq!((ran.figure("a").status, ran.figure("b").status), (Status::Failed, Status::Measured));
    assert_eq!((ran.launches_of("a"), ran.launches_of("b")), (3, 7), "the third one is made up for");
    let passes: Vec<u32> = ran.told.iter().map(|told| told.0).collect();
    assert_eq!(passes, [1, 2, 3, 4, 5, 6, 7], "when its turn comes");
    let ran = two().run(|_, number, report| if number == 3 { lost("it fell", None) } else { Ok(report) });
    assert_eq!(["a", "b"].map(|id| ran.figure(id).status), [Status::Failed; 2]);
    let ran = two().run(|job, number, report| {
        Ok(if number == 3 {
            Report { finding: TaskFinding::Core(Core::default()), ..all_well(job) }
        } else {
            report
        })
    });
    assert_eq!(ran.figure("a").why.as_deref(), Some("worker: the worker reported something else"));
}

#[test]
fn who_falls_in_the_only_launch_that_there_is_time_for_costs_the_others_nothing() {
    let mut scene = two();
    (scene.launch_ns, scene.options.effort.target_ns) = (2 * SECOND, 50 * MILLISECOND);
    let ran =
        scene.run(
            |job, _, report| {
                if is_launch(job) && job.ids.len() == 2 { lost("it fell", Some(1)) } else { Ok(report) }
            },
        );
    assert_eq!((ran.figure("a").status, ran.figure("b").status), (Status::Measured, Status::Failed));
    assert_eq!((ran.launches_of("a"), ran.launches_of("b")), (2, 1));
}

#[test]
fn what_a_member_lacks_or_fails_in_is_its_own() {
    let answer = |what: u32| {
        move |job: &Job, number: u32, mut report: Report| {
            let lacks = || (String::from("no such call"), String::from("a newer kernel"));
            let failure = || Failure::new("batch", "it broke");
            if let (TaskFinding::Calibration(members), true) = (&mut report.finding, what == 1) {
                let (why, remedy) = lacks();
                members[1] = Member::Unsupported { why, remedy };
            }
            if let (TaskFinding::Calibration(members), true) = (&mut report.finding, what == 2) {
                members[1] = Member::Failed(failure());
            }
            if let (TaskFinding::Audit(members), true) = (&mut report.finding, what == 3 && job.ids == ["b"])
            {
                members[0] = Member::Failed(failure());
            }
            if let (TaskFinding::Launch { members, .. }, true) =
                (&mut report.finding, what == 4 && number == 2)
            {
                members[1] = Member::Failed(failure());
            }
            if let (TaskFinding::Audit(members), true) = (&mut report.finding, what == 5 && job.ids == ["b"])
            {
                let (why, remedy) = lacks();
                members[0] = Member::Unsupported { why, remedy };
            }
            if let (TaskFinding::Launch { members, .. }, true) =
                (&mut report.finding, what == 6 && number == 2)
            {
                let (why, remedy) = lacks();
                members[1] = Member::Unsupported { why, remedy };
            }
            Ok(report)
        }
    };
    for what in [1, 5, 6] {
        let ran = two().run(answer(what));
        let figure = ran.figure("b");
        assert_eq!(figure.status, Status::Unsupported, "{what}");
        assert_eq!(
            (figure.why.as_deref(), figure.remedy.as_deref()),
            (Some("no such call"), Some("a newer kernel"))
        );
        assert_eq!(ran.figure("a").launches.len(), 6);
    }
    for what in [2, 3] {
        let ran = two().run(answer(what));
        assert_eq!(ran.figure("b").why.as_deref(), Some("batch: it broke"), "{what}");
        assert_eq!((ran.launches_of("b"), ran.figure("a").launches.len()), (0, 6));
    }
    let ran = two().run(answer(4));
    let figure = ran.figure("b");
    assert_eq!((figure.status, figure.evidence.void_batches), (Status::Measured, 1));
    assert!(figure.remarks.contains(&"1 launch was thrown away: batch: it broke".to_owned()), "{figure:?}");
    assert_eq!(ran.figure("a").evidence.void_batches, 0);
}

/// What is kept for the case of a kill makes figures that say the same.
#[test]
fn a_killed_run_forgets_nothing_that_befell_its_launches() {
    let scene = two();
    let ran = scene.run(|_, number, mut report| {
        match (number, &mut report.finding) {
            (1, _) => report.void = Some("it slept".to_owned()),
            (2, _) => report.throttled = Some(true),
            (3, TaskFinding::Launch { members, .. }) => {
                members[1] = Member::Failed(Failure::new("batch", "it broke"));
            }
            (4, _) => return lost("it fell", Some(0)),
            _ => {}
        }
        Ok(report)
    });
    let text = serde_json::to_vec(&ran.records).expect("records are data");
    let records: Vec<Record> = serde_json::from_slice(&text).expect("and stay it");
    let catalogue = Catalogue::new(scene.choices.iter().map(|choice| choice.benchmark).collect());
    let (again, ..) = rebuild(&catalogue, &records, 10.0, None);
    for id in ["a", "b"] {
        let again = again.iter().find(|figure| figure.id == id).expect("a figure");
        let own = ran.figure(id);
        assert_eq!((again.status, &again.why, &again.remarks), (own.status, &own.why, &own.remarks));
        assert_eq!(again.launches.len(), own.launches.len());
    }
    assert_eq!((again[0].why.as_deref(), again[1].remarks.len()), (Some("worker: it fell"), 4), "{again:?}");
}

/// One group lost its guest, and the run was killed: the other group had measured it.
#[test]
fn a_killed_run_shows_a_guest_that_one_of_two_groups_measured() {
    let guest = |id, baseline| Card { baseline, ..series(id) };
    let scene = Scene::new(vec![guest("p", None), guest("a", Some("p")), guest("b", Some("p"))]);
    let catalogue = Catalogue::new(scene.choices.iter().map(|choice| choice.benchmark).collect());
    for fallen in 2..=6 {
        let ran = scene.run(|job, number, report| {
            let place = job.ids.iter().position(|id| id == "p");
            if number == fallen { lost("it fell", place) } else { Ok(report) }
        });
        assert_eq!(ran.figure("p").status, Status::Measured);
        let befell = ran.records.iter().position(|record| matches!(record, Record::Befell { .. }));
        let until = befell.expect("it fell");
        let (figures, ..) = rebuild(&catalogue, &ran.records[..=until], 10.0, None);
        let told = figures.iter().find(|figure| figure.id == "p").expect("a figure");
        assert_eq!((told.status, told.launches.len()), (Status::Measured, fallen as usize - 1), "{told:?}");
    }
}

#[test]
fn an_audit_that_fails_leaves_the_figure_without_evidence() {
    let ran = two().run(|job, _, report| {
        let falls = matches!(job.task, Task::Audit { .. }) && job.ids == ["b"];
        if falls { lost("it fell", Some(0)) } else { Ok(report) }
    });
    let figure = ran.figure("b");
    assert_eq!(
        (figure.status, figure.evidence.audit_missing.as_deref()),
        (Status::Measured, Some("it fell"))
    );
    assert_eq!(ran.figure("a").evidence.audit_missing, None);
    let audits =
        ran.jobs.iter().filter(|job| matches!(job.task, Task::Audit { operations: AUDIT_OPERATIONS, .. }));
    assert_eq!(audits.count(), 2, "each alone");
}

#[test]
fn what_launches_count_is_held_against_the_claims_of_who_lost_its_audit() {
    const NO_FAULTS: &[Claim] = &[Claim::Faults(Bound::Exactly(0.0))];
    let status = |faults: f64| {
        let ran = Scene::new(vec![Card { claims: NO_FAULTS, ..series("a") }]).run(|job, _, mut report| {
            if matches!(job.task, Task::Audit { .. }) {
                return lost("it fell", Some(0));
            }
            of_launches(&mut report, |launched| launched.record.faults = Some(faults));
            Ok(report)
        });
        ran.figure("a").status
    };
    assert_eq!((status(0.0), status(1.0)), (Status::Measured, Status::Contradicted));
}

#[test]
fn a_guest_of_two_groups_is_audited_once_and_its_launches_are_put_together() {
    let guest = |id, baseline| Card { baseline, ..series(id) };
    let scene = Scene::new(vec![guest("p", None), guest("a", Some("p")), guest("b", Some("p"))]);
    let ran = scene.well();
    assert_eq!(ran.planned.1, 2);
    let audits = ran.jobs.iter().filter(|job| matches!(job.task, Task::Audit { .. }) && job.ids == ["p"]);
    assert_eq!(audits.count(), 1);
    assert_eq!((ran.launches.len(), ran.launches_of("p")), (12, 12));
    let figure = ran.figure("p");
    let sequences: Vec<u32> = figure.launches.iter().map(|launch| launch.sequence).collect();
    assert_eq!(sequences, (1..=12).collect::<Vec<u32>>(), "in the order in which they were made");
    assert_eq!(ran.measured.figures.len(), 3, "one figure for it");
}

#[test]
fn a_wrong_clock_ends_the_run_and_every_figure() {
    let ran = Scene::new(vec![series("a"), series("b")]).run(|_, number, mut report| {
        report.wrong_clock = (number == 3).then(|| "it runs at half its rate".to_owned());
        Ok(report)
    });
    assert_eq!((ran.launches.len(), ran.measured.partial), (3, true));
    assert_eq!(ran.measured.wrong_clock.as_deref(), Some("it runs at half its rate"));
    for id in ["a", "b"] {
        assert_eq!(ran.figure(id).why.as_deref(), Some("environment: it runs at half its rate"));
    }
}

#[test]
fn a_core_that_moved_is_said_once() {
    let ran = Scene::new(vec![series("a"), series("b")]).run(|job, number, mut report| {
        let slow = job.ids == ["a"] && number > 4;
        of_launches(&mut report, |launched| launched.record.chain_ns = Some(if slow { 0.3 } else { 0.25 }));
        Ok(report)
    });
    let said: Vec<&String> = ran.measured.warnings.iter().filter(|words| words.contains("slower")).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("the core ran up to 20 % slower") && said[0].contains("in 1 of 2 groups"),
        "{said:?}"
    );
    let even = Scene::new(vec![series("a")]).run(|_, _, mut report| {
        of_launches(&mut report, |launched| launched.record.chain_ns = Some(0.25));
        Ok(report)
    });
    assert!(!even.measured.warnings.iter().any(|words| words.contains("slower")));
}

#[test]
fn what_is_not_known_of_clock_and_core_is_said() {
    let ran = Scene::new(vec![series("a")]).run(|job, _, report| match job.task {
        Task::Clock | Task::Core { .. } => lost("it fell", None),
        _ => Ok(report),
    });
    let warned = |words: &str| ran.measured.warnings.iter().any(|warning| warning == words);
    assert!(warned("the clock's step could not be measured (it fell): 10 ns is assumed"));
    assert!(warned("no cost is given in cycles: nothing is known of the core: it fell"));
    assert!(warned("no bare kernel entry was measured: nothing is known of the core: it fell"));
    assert_eq!((ran.measured.clock, ran.figure("a").status), (None, Status::Measured));
}

#[test]
fn a_quota_that_nobody_could_read_is_said_once() {
    let said = |throttled: Option<bool>| {
        let ran = two().run(|_, number, report| {
            let throttled = if number == 2 { throttled } else { Some(false) };
            Ok(Report { throttled, ..report })
        });
        ran.measured.warnings.iter().filter(|words| words.contains("CPU quota")).count()
    };
    assert_eq!([None, Some(false), Some(true)].map(said), [1, 0, 0]);
}

/// A worker whose CPU is gone says so before it has looked at anything.
#[test]
fn a_launch_in_which_nobody_was_timed_says_nothing_of_quotas() {
    let ran = two().run(|job, number, mut report| {
        if let (2, TaskFinding::Launch { members, .. }) = (number, &mut report.finding) {
            let gone = || Member::Failed(Failure::new("environment", "CPU 1 cannot be used"));
            *members = job.ids.iter().map(|_| gone()).collect();
            report.throttled = None;
        }
        Ok(report)
    });
    assert_eq!(ran.figure("a").status, Status::Measured);
    let warnings = &ran.measured.warnings;
    assert!(!warnings.iter().any(|words| words.contains("cpu.stat")), "{warnings:?}");
}

#[test]
fn a_member_begins_with_nothing_known_of_it() {
    let member = crate::figures::synthetic::member(series("a"), Vec::new());
    assert_eq!((member.failed_launches, member.iterations, member.batch_ns), (0, 0, 0));
    assert!(!member.throttled && !member.works && !member.choice.named && member.first_failure.is_none());
}

/// Two groups in which a guest failed: its figure says what befell it in the first of them.
#[test]
fn of_two_failures_of_a_guest_the_first_is_told() {
    let group = |what: &str| {
        let guest = crate::figures::synthetic::member(series("p"), Vec::new());
        let outcome = Fate::Failed(Failure::new("worker", what));
        GroupState::new("g", vec![crate::figures::member::MemberState { outcome, ..guest }])
    };
    let mut groups = vec![group("it fell"), group("it fell later")];
    group::pool(&mut groups);
    for group in &groups {
        assert_eq!(group.members[0].outcome, Fate::Failed(Failure::new("worker", "it fell")));
    }
}

/// Two guests of two groups are compared in both: the ratio of all launches stands once.
#[test]
fn guests_of_two_groups_are_compared_once() {
    const PAIRED: &[crate::benchmark::card::QuantityCard] =
        &[crate::benchmark::card::QuantityCard { paired: true, ..crate::figures::synthetic::COST[0] }];
    let card = |id, baseline, subtract| Card { baseline, subtract, quantities: PAIRED, ..series(id) };
    let ran = Scene::new(vec![
        card("q", None, None),
        card("p", Some("q"), Some("q")),
        card("a", Some("p"), Some("q")),
        card("b", Some("p"), Some("q")),
    ])
    .well();
    let of =
        |pairs: &[PairedValue]| pairs.iter().map(|it| format!("{} {}", it.of, it.to)).collect::<Vec<_>>();
    assert_eq!(of(&ran.measured.ratios), ["p q", "a p", "b p"]);
    assert_eq!(of(&ran.measured.differences), ["p q", "a q", "b q"]);
    assert_eq!(ran.measured.figures.iter().map(|it| &*it.id).collect::<Vec<_>>(), ["q", "p", "a", "b"]);
}

#[test]
fn that_idle_cpus_were_awake_is_said_where_it_was_asked_for_all_launches() {
    let said = |idle_cpu: IdleCpu, awake: Result<&str, &str>| {
        let mut scene = two();
        scene.options.idle_cpu = idle_cpu;
        let ran = scene.run(|_, _, report| {
            Ok(Report { awake: Some(awake.map(str::to_owned).map_err(str::to_owned)), ..report })
        });
        ran.measured.warnings.iter().filter(|words| words.contains("awake")).count()
    };
    let how = Ok("by a spinner");
    assert_eq!([IdleCpu::Poll, IdleCpu::Both, IdleCpu::Halt].map(|it| said(it, how)), [1, 0, 0]);
    assert_eq!([IdleCpu::Poll, IdleCpu::Both].map(|it| said(it, Err("refused"))), [1, 1]);
}
