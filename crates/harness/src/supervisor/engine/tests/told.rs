//! Runs with scripted clocks: what is told of their launches, what is learnt from them, and what a result has of both.

use super::*;
use crate::figures::synthetic::foreign;
use crate::protocol::message::{Pair, Windows};

/// Two groups, each a member and what it is divided by and has subtracted.
fn pairs() -> Scene {
    const PAIRED: &[crate::benchmark::card::QuantityCard] =
        &[crate::benchmark::card::QuantityCard { paired: true, ..crate::figures::synthetic::COST[0] }];
    let card = |id, to, group| Card { group, baseline: to, subtract: to, quantities: PAIRED, ..series(id) };
    Scene::new(vec![
        card("a", Some("b"), "one"),
        card("b", None, "one"),
        card("c", Some("d"), "two"),
        card("d", None, "two"),
    ])
}

#[test]
fn pairs_of_all_groups_stand_in_the_order_of_the_choice() {
    for seed in 0..4 {
        let mut scene = pairs();
        scene.options.seed = seed;
        let ran = scene.run(|job, _, mut report| {
            if let TaskFinding::Launch { pairs, .. } = &mut report.finding {
                let (of, to) = (job.ids[0].clone(), job.ids[1].clone());
                let (ratio, difference) = (Some(2.0), Some(7.0));
                let (quantity, hop_ns) = ("cost".to_owned(), None);
                pairs.push(Pair { of, to, quantity, ratio, difference, fast_share: 1.0, hop_ns });
            }
            Ok(report)
        });
        for (pairs, value) in [(&ran.measured.ratios, 2.0), (&ran.measured.differences, 7.0)] {
            let of: Vec<(&str, Option<f64>, usize)> =
                pairs.iter().map(|pair| (&*pair.of, pair.value, pair.launches.len())).collect();
            assert_eq!(of, [("a", Some(value), 6), ("c", Some(value), 6)]);
        }
        let told = ran.records.iter().filter(
            |record| matches!(record, Record::Launched { pairs, .. } if pairs.len() == 1 && pairs[0].ratio == Some(2.0)),
        );
        assert_eq!(told.count(), 12, "as they come");
    }
}

#[test]
fn what_canaries_cost_is_told_beside_the_members() {
    let ran = Scene::new(vec![series("a")]).run(|_, number, mut report| {
        if let TaskFinding::Launch { canaries, .. } = &mut report.finding {
            canaries.push(("chain".to_owned(), vec![f64::from(number)]));
        }
        Ok(report)
    });
    let told: Vec<(String, Vec<f64>)> = ran
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Launched { members, .. } => Some((members[1].0.clone(), members[1].1.samples.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 6);
    assert_eq!(told[2], ("canary/chain".to_owned(), vec![3.0]));
}

#[test]
fn programs_that_are_not_ours_are_planned_and_have_their_figures_after_the_others() {
    let mut scene = Scene::new(vec![series("a"), Card { group: "a", ..series("b") }, series("c")]);
    assert_eq!(scene.well().phases, ["clock", "calibration", "audit"]);
    scene.contestants = vec![foreign()];
    let ran = scene.well();
    assert_eq!(ran.planned, (4, 3, 6));
    assert_eq!(ran.measured.launches, 15, "two groups six times, and thrice what never works");
    let ids: Vec<&str> = ran.measured.figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "peer/tool"]);
    let figure = ran.figure("peer/tool");
    assert_eq!(
        (&*figure.title, &*figure.operation, &*figure.call_path),
        ("a tool", "what it does", "foreign")
    );
    assert_eq!(
        (&*figure.group, figure.why.as_deref()),
        ("peer/tool", Some("launch: the worker reported something else"))
    );
    assert_eq!(ran.told.iter().filter(|told| told.1 == "peer/tool").count(), 6, "told as all launches are");
}

/// What a worker is pinned to, its program is, too: one that may run on any CPU has a worker that may.
#[test]
fn a_program_that_is_not_ours_runs_where_it_may() {
    for cpus in [Vec::new(), vec![1]] {
        let mut scene = Scene::new(vec![series("a")]);
        scene.options.cpus = vec![0, 1];
        scene.contestants = vec![Foreign { cpus: cpus.clone(), ..foreign() }];
        let ran = scene.well();
        let of_programs = ran.jobs.iter().filter(|job| matches!(job.task, Task::Foreign(_)));
        let found: Vec<&[usize]> = of_programs.map(|job| job.cpus.as_slice()).collect();
        assert_eq!(found, [cpus.as_slice(); 3]);
    }
}

/// What a run knows of the best of its cores, ns a step of the chain, where its launches saw so much of it.
fn best_chain_ns(remembered: Option<f64>, seen_ns: Option<f64>, launches: u32) -> Option<f64> {
    let mut scene = Scene::new(vec![series("a")]);
    scene.options.effort.launches = launches;
    // A throughput loop slower than that of any processor: no known model calls it wild.
    scene.options.core = remembered.map(|chain_ns| oscost_results::CoreConstants {
        chain_ns,
        throughput_ns: 9.0 * chain_ns,
        entry_ns: None,
    });
    if launches == 0 {
        scene.options.effort.target_ns = 0;
    }
    let ran = scene.run(|_, _, mut report| {
        of_launches(&mut report, |launched| {
            launched.record.chain_ns = seen_ns;
            launched.windows = Windows { throughput: vec![9.0; 50], ..Windows::default() };
        });
        Ok(report)
    });
    ran.measured.core.map(|core| core.chain_ns)
}

#[test]
fn the_best_of_the_cores_is_what_is_remembered_or_was_seen() {
    assert_eq!(best_chain_ns(None, None, 6), None);
    assert_eq!(best_chain_ns(Some(0.3), None, 6), Some(0.3));
    assert_eq!(best_chain_ns(Some(0.3), None, 0), Some(0.3), "also of a run without launches");
    assert_eq!(best_chain_ns(None, Some(0.25), 6), Some(0.25));
    assert_eq!(best_chain_ns(Some(0.3), Some(0.25), 6), Some(0.25), "the better one");
}

/// A step of the chain that no core makes in that time says that the clock is slow, unless a step is no cycle.
#[test]
fn a_core_that_would_be_too_fast_ends_the_run() {
    let wrong = |chain_ns: f64, no_cycles: Option<&str>| {
        let ran = Scene::new(vec![series("a")]).run(|_, _, mut report| {
            if let TaskFinding::Core(core) = &mut report.finding {
                (core.chain_ns, core.no_cycles) = (Some(chain_ns), no_cycles.map(str::to_owned));
            }
            Ok(report)
        });
        assert_eq!(ran.measured.wrong_clock.is_some(), ran.launches.is_empty());
        ran.measured.wrong_clock.is_some()
    };
    assert!(wrong(0.1, None) && !wrong(0.1, Some("it adds two in one")) && !wrong(0.3, None));
}

#[test]
fn a_wrong_clock_of_the_last_launch_ends_the_run_too() {
    let ran = Scene::new(vec![series("a")]).run(|_, number, mut report| {
        report.wrong_clock = (number == 6).then(|| "it runs at half its rate".to_owned());
        Ok(report)
    });
    assert_eq!((ran.launches.len(), ran.measured.partial), (6, true));
}

#[test]
fn a_user_who_ends_a_run_at_its_deadline_is_not_told_of_it() {
    let mut scene = Scene::new(vec![series("a")]);
    let end_ns = 40 * MILLISECOND + 5 * scene.launch_ns;
    (scene.options.effort.target_ns, scene.options.effort.deadline_ns) = (end_ns, end_ns);
    let cut = |ran: &Ran| ran.measured.warnings.iter().any(|words| words.contains("cut off"));
    let ran = scene.well();
    assert_eq!((ran.ended_ns, ran.measured.partial, cut(&ran)), (end_ns, true, true));
    scene.interrupted_ns = end_ns;
    let ran = scene.well();
    assert_eq!((ran.ended_ns, ran.measured.partial, cut(&ran)), (end_ns, true, false));
}

/// Guests come last: the order of CPUs is that of the group's own members.
#[test]
fn a_group_with_a_guest_has_its_own_order_of_cpus() {
    let spread = Card { placement: Placement::Spread, baseline: Some("p"), ..series("spread") };
    let mut scene = Scene::new(vec![spread, series("p"), Card { baseline: Some("p"), ..series("other") }]);
    (scene.options.cpus, scene.options.spread_cpus) = (vec![1, 0], vec![0, 1]);
    for job in scene.well().jobs.iter().filter(|job| is_launch(job)) {
        let spread = job.ids.iter().any(|id| id == "spread");
        assert_eq!((job.cpus[0], job.ids.len()), (if spread { 0 } else { 1 }, 2), "{job:?}");
    }
}

/// Those that make up for void ones are planned; those that are made because launches disagree are not.
#[test]
fn a_launch_says_whether_it_was_planned() {
    let ran = Scene::new(vec![series("a")]).run(|_, number, mut report| {
        report.void = [2, 8].contains(&number).then(|| "it slept".to_owned());
        of_launches(&mut report, |launched| {
            launched.record.quantities.insert("cost".to_owned(), 100.0 + f64::from(number % 4) * 50.0);
        });
        Ok(report)
    });
    let extra = ran.records.iter().filter_map(|record| match record {
        Record::Launched { members, .. } => Some(members[0].1.extra),
        _ => None,
    });
    assert_eq!(extra.collect::<Vec<bool>>(), [[false; 6], [true; 6]].concat());
}

/// Two groups are measured, then three more, of which there is time for one.
#[test]
fn a_later_part_of_a_run_counts_on_and_warns_of_what_was_not_said() {
    let is_first = |job: &Job| job.ids.iter().any(|id| id == "a" || id == "b");
    let takes = |job: &Job| match job.task {
        Task::Launch(_) if is_first(job) => 100 * MILLISECOND,
        Task::Launch(_) => 3 * SECOND,
        _ => 10 * MILLISECOND,
    };
    let finds = |job: &Job, _: u32| {
        let awake = if is_first(job) { Ok("by a spinner".to_owned()) } else { Err("refused".to_owned()) };
        let awake = (!job.ids.is_empty()).then_some(awake);
        Ok(Report { throttled: None, awake, ..costing(job, 100.0) })
    };
    let script = Script::new(&takes, &finds);
    let mut options = Options { idle_cpu: IdleCpu::Poll, ..options(EFFORT) };
    let choices = |ids: &[&'static str]| ids.iter().map(|id| choice(series(id))).collect::<Vec<Choice>>();
    let first = measure_by(&script, &choices(&["a", "b"]), &[], &options, &mut |_| {});
    // Clock and core, two calibrations and two audits, twelve launches.
    assert_eq!((first.launches, script.now_ns()), (12, 1260 * MILLISECOND));
    let said =
        |measured: &Measured, of: &str| measured.warnings.iter().filter(|words| words.contains(of)).count();
    assert_eq!((said(&first, "kept awake (--idle-cpu poll)"), said(&first, "cpu.stat")), (1, 1));
    options.effort = Effort { launches: 1, most_launches: 1, deadline_ns: 5 * SECOND, ..EFFORT };
    let mut recorded = Vec::new();
    let mut emit = |event: &Event<'_>| {
        if let Event::Found(Record::Launched { sequence, .. }) = event {
            recorded.push(*sequence);
        }
    };
    let both = more::more_by(&script, first, &choices(&["c", "d", "e"]), &options, &mut emit);
    let later = both.figures[2..].iter().flat_map(|figure| &figure.launches);
    let later: Vec<(u32, u64)> = later.map(|launch| (launch.sequence, launch.start_ns)).collect();
    assert_eq!(later, [(13, 1340 * MILLISECOND)]);
    assert_eq!((both.figures.len(), both.launches, recorded), (5, 14, vec![13]));
    assert!(both.partial && said(&both, "cut off after 6 s") == 1, "{:?}", both.warnings);
    assert_eq!(said(&both, "cpu.stat"), 1, "once");
    // A CPU that slept in some launch was not kept awake in the run.
    assert_eq!(both.kept_awake, Some(Err("refused".to_owned())));
    assert_eq!((said(&both, "(--idle-cpu poll)"), said(&both, "could not be kept awake")), (0, 1));
}

/// Every job of a run has a random order of its own, and the same one when the run is made again.
#[test]
fn the_seed_of_a_run_says_that_of_each_of_its_jobs() {
    let mut scene = Scene::new(vec![series("a"), series("b")]);
    scene.options.seed = 7;
    scene.options.effort = Effort { launches: 1, most_launches: 1, ..EFFORT };
    scene.contestants = vec![foreign()];
    let own = 7_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let streams: Vec<u64> = scene.well().jobs.iter().map(|job| job.seed.wrapping_sub(own)).collect();
    // Clock and core, calibrations, audits, launches by their number.
    assert_eq!(streams, [0, 3, 1, 1, 2, 2, 1 << 8, 2 << 8, 3 << 8]);
}

/// A run of one part, then of a later one, which find this.
fn in_parts(
    first: &dyn Fn(&Job, Report) -> Result<Report, Lost>,
    later: &dyn Fn(&Job, Report) -> Result<Report, Lost>,
    later_options: &Options,
) -> Measured {
    let part = std::cell::Cell::new(first);
    let finds = |job: &Job, _: u32| part.get()(job, all_well(job));
    let script = Script::new(&|_| 10 * MILLISECOND, &finds);
    let call = |id| choice(Card { id, group: id, ..Card::BATCHED });
    let one = measure_by(&script, &[call("a")], &[], &options(EFFORT), &mut |_| {});
    part.set(later);
    more::more_by(&script, one, &[call("b")], later_options, &mut |_| {})
}

#[test]
fn a_later_part_of_a_run_finds_what_the_first_did_not() {
    let fails = |_: &Job, _: Report| Err(Lost::worker("it fell", None));
    let stepping = |step_ns: f64| {
        move |job: &Job, mut report: Report| {
            if matches!(job.task, Task::Clock) {
                report.finding = TaskFinding::Clock(ClockFacts { step_ns, pair_ns: 20.0 });
            }
            report.isolation = step_ns.to_string();
            Ok(report)
        }
    };
    let wrong = |_: &Job, report: Report| {
        Ok(Report { wrong_clock: Some("it runs at half its rate".to_owned()), ..report })
    };
    let options = options(EFFORT);
    let told = |both: &Measured| (both.clock.map(|it| it.step_ns), both.isolation.clone());
    let both = in_parts(&stepping(1.0), &stepping(2.0), &options);
    assert_eq!(told(&both), (Some(1.0), Some("1".to_owned())), "the first look is the run's");
    assert_eq!((both.wrong_clock, both.partial, both.figures.len()), (None, false, 2));
    assert_eq!(told(&in_parts(&fails, &stepping(2.0), &options)), (Some(2.0), Some("2".to_owned())));
    assert_eq!(told(&in_parts(&stepping(1.0), &fails, &options)), (Some(1.0), Some("1".to_owned())));
    for both in [in_parts(&stepping(1.0), &wrong, &options), in_parts(&wrong, &stepping(1.0), &options)] {
        assert_eq!((both.wrong_clock.as_deref(), both.partial), (Some("it runs at half its rate"), true));
    }
}

/// The best that its cores do, and what is timed beside its figures.
#[test]
fn a_later_part_of_a_run_adds_what_it_learns_and_loses_nothing() {
    let well = |_: &Job, report: Report| Ok(report);
    let seeing = |_: &Job, mut report: Report| {
        of_launches(&mut report, |launched| {
            launched.record.chain_ns = Some(0.25);
            launched.windows = Windows { throughput: vec![9.0; 50], ..Windows::default() };
        });
        Ok(report)
    };
    let best = |both: &Measured| both.core.map(|core| core.chain_ns);
    let plain = options(EFFORT);
    assert_eq!(best(&in_parts(&well, &well, &plain)), None);
    assert_eq!(best(&in_parts(&seeing, &well, &plain)), Some(0.25));
    assert_eq!(best(&in_parts(&well, &seeing, &plain)), Some(0.25));
    let references = ["c", "d"].map(|id| choice(Card { id, ..Card::BATCHED })).to_vec();
    let both = in_parts(&well, &well, &Options { references, ..plain });
    assert_eq!(both.references.iter().map(|it| &*it.id).collect::<Vec<_>>(), ["c", "d"]);
}

/// A program that printed a number, in a worker that took so long.
fn beside_a_program(takes_ns: u64) -> Ran {
    let mut scene = Scene::new(vec![series("a")]);
    scene.contestants = vec![foreign()];
    scene.options.effort = Effort { launches: 2, most_launches: 2, ..EFFORT };
    let takes = |job: &Job| match job.task {
        Task::Foreign(_) => takes_ns,
        _ => 10 * MILLISECOND,
    };
    scene.run_taking(&takes, |job, _, report| {
        let stdout = "2.5".to_owned();
        let output = crate::protocol::message::ForeignOutput { stdout, ..Default::default() };
        let is_foreign = matches!(job.task, Task::Foreign(_));
        Ok(if is_foreign { Report { finding: TaskFinding::Foreign(output), ..report } } else { report })
    })
}

#[test]
fn a_program_that_is_not_ours_has_its_own_deadline_and_three_seconds() {
    let most_ns = foreign().deadline_ns + 3 * SECOND;
    let (ran, late) = (beside_a_program(most_ns), beside_a_program(most_ns + 1));
    let launches = &ran.figure("peer/tool").launches;
    let told: Vec<(u32, u64, f64)> =
        launches.iter().map(|it| (it.sequence, it.start_ns, it.quantities["cost"])).collect();
    // Clock, core, calibration, audit, and a launch of the other.
    let first_ns = 50 * MILLISECOND;
    assert_eq!(told, [(2, first_ns, 2.5), (4, first_ns + most_ns + 10 * MILLISECOND, 2.5)]);
    assert_eq!(late.figure("peer/tool").why.as_deref(), Some("launch: the worker did not end"));
}
