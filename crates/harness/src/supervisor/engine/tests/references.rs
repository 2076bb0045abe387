//! Runs with scripted clocks that have few figures: who is timed beside them, and that none of it becomes a figure.

use super::*;
use crate::benchmark::card::{Bound, Claim, Placement};

fn card(id: &'static str, placement: Placement, calls: &'static [Claim]) -> Card {
    let blocks = placement == Placement::CrossCpu;
    Card { id, group: "group", placement, claims: calls, blocks, ..Card::BATCHED }
}

fn call(id: &'static str) -> Card {
    card(id, Placement::OneCpu, &[Claim::SystemCalls(Bound::Exactly(1.0))])
}

fn named(name: &str, count: usize, card: impl Fn(&'static str) -> Card) -> Vec<Card> {
    (0..count).map(|at| card(format!("{name}{at}").leak())).collect()
}

/// A run of these figures where so many others may be timed beside them.
fn scene(figures: Vec<Card>) -> Scene {
    let mut scene = Scene::new(figures);
    scene.options.effort = Effort { most_launches: EFFORT.launches, ..EFFORT };
    scene.options.cpus = vec![1, 0];
    scene.options.idle_cpu = IdleCpu::Both;
    let outside =
        named("outside", 5, |id| card(id, Placement::OneCpu, &[Claim::Switches(Bound::Exactly(0.0))]));
    let across = named("across", 9, |id| card(id, Placement::CrossCpu, &[]));
    scene.options.references =
        [named("call", 12, call), outside, across].concat().into_iter().map(choice).collect();
    scene
}

fn plan(job: &Job) -> Option<&crate::protocol::message::ReferencePlan> {
    if let Task::Launch(plan) = &job.task { plan.references.as_deref() } else { None }
}

fn ids(ran: &Ran) -> Vec<&str> {
    ran.measured.references.iter().map(|reference| reference.id.as_str()).collect()
}

#[test]
fn few_figures_have_references_that_are_no_figures() {
    let ran = scene(vec![call("call1")]).run(|job, _, _| Ok(all_well(job)));
    let expected = [
        "call0", "call2", "call3", "call4", "call5", "call6", "call7", "call8", "outside0", "outside1",
        "outside2",
    ];
    assert_eq!(ids(&ran), expected, "a figure is no reference of itself");
    for reference in &ran.measured.references {
        assert_eq!(reference.launches["floor"], [100.0; 6], "{reference:?}");
        assert_eq!(reference.enters_kernel, reference.id.starts_with("call"));
    }
    assert_eq!(ran.measured.figures.iter().map(|figure| &*figure.id).collect::<Vec<_>>(), ["call1"]);
    assert_eq!(ran.figure("call1").launches.len(), 6);
    let told = |record: &Record| match record {
        Record::Audited { id, .. } => vec![id.clone()],
        Record::Launched { members, .. } => members.iter().map(|(id, _)| id.clone()).collect(),
        Record::Befell { ids, .. } => ids.clone(),
    };
    assert!(ran.records.iter().flat_map(told).all(|id| id == "call1"), "nor in the journal");
    // A tenth of a launch that takes its warm-up and 22 ms.
    for plan in ran.jobs.iter().filter_map(plan) {
        assert!(plan.launch.member_ns > 0 && plan.launch.member_ns * 11 < 7 * MILLISECOND, "{plan:?}");
        assert_eq!((plan.launch.warm_up_ns, plan.launch.idle_cpu), (0, IdleCpu::Both));
        assert_eq!(plan.launch.iterations, vec![200; plan.ids.len()], "they are calibrated, too");
    }
}

#[test]
fn figures_across_cpus_have_references_across_cpus_that_are_awake() {
    let ran =
        scene(named("figure", 2, |id| card(id, Placement::CrossCpu, &[]))).run(|job, _, _| Ok(all_well(job)));
    let expected = [
        "across0", "across1", "across2", "across3", "across4", "across5", "outside0", "outside1", "outside2",
    ];
    assert_eq!(ids(&ran), expected);
    assert_eq!(ran.measured.references[0].launches.keys().collect::<Vec<_>>(), ["typical"]);
    assert!(ran.jobs.iter().filter_map(plan).all(|plan| plan.launch.idle_cpu == IdleCpu::Poll));
}

#[test]
fn enough_figures_or_too_few_launches_have_none() {
    let none = |scene: &Scene| {
        let ran = scene.run(|job, _, _| Ok(all_well(job)));
        ran.measured.references.is_empty() && ran.jobs.iter().all(|job| plan(job).is_none())
    };
    assert!(none(&scene(named("figure", 12, call))) && !none(&scene(named("figure", 11, call))));
    assert!(none(&scene(vec![series("a")])), "a series times its own way");
    let mut once = scene(vec![call("figure")]);
    once.options.effort = Effort { launches: 1, most_launches: 1, ..EFFORT };
    assert!(none(&once));
}

#[test]
fn a_reference_that_ends_the_worker_costs_a_launch_and_no_figure() {
    let ran = scene(vec![call("figure")]).run(|job, _, _| match plan(job) {
        Some(_) => Err(Lost::worker("signal 11", Some(1))),
        None => Ok(all_well(job)),
    });
    let figure = ran.figure("figure");
    assert_eq!((figure.status, figure.launches.len()), (Status::Measured, 6), "{figure:?}");
    assert_eq!((ran.launches.len(), ids(&ran).len()), (7, 0));
    let said =
        figure.remarks.iter().any(|it| it.contains("1 launch was void: a reference ended it (signal 11)"));
    assert!(said, "{:?}", figure.remarks);
}

#[test]
fn a_reference_that_fails_has_no_value_of_that_launch() {
    let ran = scene(vec![call("figure")]).run(|job, number, _| {
        let mut report = all_well(job);
        if let (TaskFinding::Launch { references, .. }, 2) = (&mut report.finding, number) {
            references[0] = Member::Failed(Failure::new("batch", "it broke"));
        }
        Ok(report)
    });
    let counts: Vec<usize> =
        ran.measured.references.iter().map(|reference| reference.launches["floor"].len()).collect();
    assert_eq!(counts[..2], [5, 6]);
}

/// How many references beside figures of one card.
fn beside(figure: Card) -> usize {
    scene(vec![figure]).run(|job, _, _| Ok(all_well(job))).measured.references.len()
}

#[test]
fn launches_that_differ_from_others_have_no_references() {
    assert_eq!(beside(call("figure")), 11);
    assert_eq!(beside(Card { cpus: &[1], ..call("figure") }), 0, "on a CPU of their own");
    let ran = Scene::new(vec![Card { cpus: &[1], ..call("figure") }]).well();
    let on_cpu = |job: &Job| !matches!(job.task, Task::Launch(_)) || job.cpus == [1];
    assert!(ran.jobs.iter().all(on_cpu));
    assert_eq!(beside(Card { changes_process: Some("it forks"), ..call("figure") }), 0);
    // One such member is enough.
    let other = Card { cpus: &[1], ..call("other") };
    let ran = scene(vec![call("figure"), other]).run(|job, _, _| Ok(all_well(job)));
    assert!(ran.measured.references.is_empty());
}

#[test]
fn who_enters_the_kernel_is_told_by_any_claim() {
    const BOTH: &[Claim] = &[Claim::Switches(Bound::Exactly(0.0)), Claim::SystemCalls(Bound::AtLeast(1.0))];
    const HALF: &[Claim] = &[Claim::SystemCalls(Bound::Exactly(0.5))];
    let of = |claims| {
        let mut scene = scene(vec![call("figure")]);
        scene.options.references = vec![choice(card("one", Placement::OneCpu, claims))];
        scene.run(|job, _, _| Ok(all_well(job))).measured.references[0].enters_kernel
    };
    assert!(of(BOTH) && !of(HALF) && !of(&[]));
}

#[test]
fn what_this_machine_lacks_is_no_reference() {
    let mut scene = scene(vec![call("figure")]);
    scene.options.cpus = vec![0];
    let far = card("far", Placement::CrossCpu, &[]);
    scene.options.references = vec![choice(Card { blocks: false, ..far }), choice(call("near"))];
    assert_eq!(ids(&scene.run(|job, _, _| Ok(all_well(job)))), ["near"]);
}

/// They have a twelfth of a launch's time, of which setting each up is a part, and leave no samples.
#[test]
fn references_are_short_and_leave_no_samples() {
    let mut scene = scene(vec![call("figure")]);
    scene.options.keep_samples = true;
    let launch_ns = plan::launch_ns(&[&call("figure")], &scene.options.effort);
    let ran = scene.run(|job, _, _| Ok(all_well(job)));
    for plan in ran.jobs.iter().filter_map(self::plan) {
        assert_eq!(plan.launch.member_ns, launch_ns / 12 / (plan.ids.len() as u64 + 4));
        assert!(!plan.launch.keep_samples);
    }
}

#[test]
fn references_are_told_in_cycles_where_there_are_any() {
    let cycles = |no_cycles: Option<&str>| {
        let ran = scene(vec![call("figure")]).run(|job, _, _| {
            let mut report = all_well(job);
            if let TaskFinding::Core(core) = &mut report.finding {
                core.no_cycles = no_cycles.map(str::to_owned);
            }
            if let TaskFinding::Launch { references, .. } = &mut report.finding {
                for reference in references {
                    if let Member::Done(launched) = reference {
                        launched.record.chain_ns = Some(0.25);
                    }
                }
            }
            Ok(report)
        });
        ran.measured.references[0].launches.get("cycles").cloned()
    };
    assert_eq!((cycles(None), cycles(Some("it is no cycle"))), (Some(vec![400.0; 6]), None));
}

#[test]
fn the_floor_of_a_reference_goes_with_the_chain_of_its_own_launch() {
    let ran = scene(vec![call("figure")]).run(|job, number, _| {
        let mut report = all_well(job);
        if let TaskFinding::Launch { references, .. } = &mut report.finding {
            for reference in references {
                if let Member::Done(launched) = reference {
                    // The first two launches are between far CPUs, and of a core that is half as fast.
                    let (hop_ns, chain_ns) = if number <= 2 { (400.0, 0.5) } else { (100.0, 0.25) };
                    (launched.record.hop_ns, launched.record.chain_ns) = (Some(hop_ns), Some(chain_ns));
                }
            }
        }
        Ok(report)
    });
    let found = &ran.measured.references[0].launches;
    assert_eq!((found["floor"].as_slice(), found["cycles"].as_slice()), (&[100.0; 4][..], &[400.0; 4][..]));
}

/// One figure of a kind is enough to have references of that kind in the launches of its group.
#[test]
fn a_group_of_several_kinds_times_references_of_each() {
    let series = Card { group: "group", ..series("series") };
    let ran = scene(vec![series, call("figure")]).run(|job, _, _| Ok(all_well(job)));
    assert_eq!(ids(&ran).len(), 11);
}
