//! Launches of batches that say how often they were made, that fail, and that end their worker.

use super::*;
use crate::benchmark::card::{Bound, Claim};
use crate::benchmark::{Participant, directory::Directory};

/// How a member of these launches misbehaves.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Well,
    BesideItself,
    FailsIn(&'static str),
    EndsItsWorker,
}

/// Counts its batches, and says so.
struct Counts(How, u64);

impl Counts {
    fn fails_in(&self, phase: &str) -> Outcome {
        if self.0 == How::FailsIn("batch") && phase == "batch" && self.1 < 3 {
            return Ok(());
        }
        if matches!(self.0, How::FailsIn(it) if it == phase) {
            Err(CallError::new("semop", 11))
        } else {
            Ok(())
        }
    }
}

impl Batched for Counts {
    fn arm(&mut self) -> Outcome {
        self.fails_in("arm")
    }

    fn batch(&mut self, _: u64) -> Outcome {
        self.1 += 1;
        if self.0 == How::EndsItsWorker {
            std::process::exit(7);
        }
        leave_the_cpu();
        self.fails_in("batch")
    }

    fn park(&mut self) -> Outcome {
        self.fails_in("park")
    }

    fn verify(&mut self) -> Result<Vec<PostCondition>, CallError> {
        self.fails_in("verify").map(|()| Vec::new())
    }

    fn remarks(&self) -> Vec<String> {
        let core = usage::limit_of(usage::Limit::Core);
        vec![self.1.to_string(), format!("{core:?}")]
    }

    fn participants(&self) -> Vec<Participant> {
        let own = i32::try_from(std::process::id()).expect("a pid");
        (self.0 == How::BesideItself).then_some(Participant::Process(own)).into_iter().collect()
    }
}

/// A series that ends its worker, or is not ready.
impl Series for Counts {
    fn settle(&mut self) -> Outcome {
        self.fails_in("settle")
    }

    fn launch(&mut self, _: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
        if self.0 == How::EndsItsWorker {
            std::process::exit(7);
        }
        sink.operations(1);
        self.fails_in("launch")
    }
}

/// A benchmark of such a member.
struct Misbehaves(Card, How);

impl Benchmark for Misbehaves {
    fn card(&self) -> &'static Card {
        Box::leak(Box::new(self.0.clone()))
    }

    fn set_up(&self, cx: &mut SetUp<'_>) -> Result<Subject, Unable> {
        if self.1 == How::FailsIn("making") {
            // Nobody would remove it.
            Directory::make(cx)?;
        }
        let counts = Counts(self.1, 0);
        Ok(if self.0.quantities.is_empty() { Subject::batched(counts) } else { Subject::series(counts) })
    }
}

/// What one launch of these finds, in batches of so many iterations.
fn launch_of(
    members: Vec<(Card, How)>,
    with: impl FnOnce(&mut LaunchPlan),
) -> Result<Vec<Member<Launched>>, Lost> {
    let mut plan = plan(members.len(), false, &[]);
    with(&mut plan);
    let ids = members.iter().map(|(card, _)| card.id.to_owned()).collect();
    let all = members
        .into_iter()
        .map(|(card, how)| -> &'static dyn Benchmark { Box::leak(Box::new(Misbehaves(card, how))) });
    let catalogue = Catalogue::new(all.collect());
    let plain = Plain::new(&catalogue, Arc::default()).expect("memory");
    let cpus = oscost_sys::affinity::allowed().expect("CPUs");
    let (task, refused, directory) = (Task::Launch(plan), None, None);
    let report = plain.run(Job { ids, task, cpus, seed: 1, isolate: false, refused, directory }, LONG_NS)?;
    let TaskFinding::Launch { members, .. } = report.finding else { panic!("a launch") };
    Ok(members)
}

fn batched(id: &'static str) -> Card {
    Card { id, ..Card::BATCHED }
}

/// Eight short batches come before each of many iterations, where they leave nothing behind that anybody counts.
#[test]
fn who_is_alone_enters_no_kernel_and_uses_nothing_up_is_rehearsed() {
    const CALLS: &[Claim] = &[Claim::Switches(Bound::Exactly(0.0)), Claim::SystemCalls(Bound::Exactly(1.0))];
    let members = vec![
        (batched("well"), How::Well),
        (batched("beside"), How::BesideItself),
        (Card { uses_up: true, ..batched("uses_up") }, How::Well),
        (Card { claims: CALLS, ..batched("calls") }, How::Well),
    ];
    let found = launch_of(members, |plan| plan.iterations = vec![512; 4]).expect("a report");
    let batches = |member: &Member<Launched>| {
        let it = done(member);
        assert_eq!((it.record.iterations, it.remarks[1].as_str()), (512, "Ok((0, 0))"), "no core file");
        let made: u64 = it.remarks[0].parse().expect("a number");
        (made % it.record.rounds, made / it.record.rounds)
    };
    assert_eq!(found.iter().map(batches).collect::<Vec<_>>(), [(0, 9), (0, 1), (0, 1), (0, 1)]);
}

/// A partner's sleeps are counted over all batches, those of the measuring thread over the timed ones: here both are the same thread's.
#[test]
fn what_partners_did_is_counted_beside_what_the_thread_did() {
    let members = vec![(batched("well"), How::Well), (batched("beside"), How::BesideItself)];
    let found = launch_of(members, |plan| plan.iterations = vec![1; 2]).expect("a report");
    let sleeps = |member: &Member<Launched>| done(member).record.voluntary_switches;
    let (Some(alone), Some(both)) = (sleeps(&found[0]), sleeps(&found[1])) else {
        return println!("SKIP what_partners_did_is_counted: the kernel does not say");
    };
    // The partner slept in the batches of both members.
    assert!(both > 2.0 * alone && both < 4.0 * alone + 1.0, "{alone} {both}");
}

#[test]
fn who_failed_says_in_which_part_of_the_launch() {
    let phases = ["arm", "batch", "park", "verify"];
    let mut members: Vec<(Card, How)> =
        phases.iter().map(|phase| (batched(phase), How::FailsIn(phase))).collect();
    let of_series = ["settle", "launch"];
    members.extend(of_series.map(|id| (crate::figures::synthetic::series(id), How::FailsIn(id))));
    members.push((batched("well"), How::Well));
    let found = launch_of(members, |_| ()).expect("a report");
    let told: Vec<String> = found
        .iter()
        .map(|member| match member {
            Member::Failed(failure) => failure.phase.clone(),
            Member::Done(_) => String::new(),
            Member::Unsupported { why, .. } => panic!("{why}"),
        })
        .collect();
    assert_eq!(told, ["arm", "batch", "park", "verification", "launch", "launch", ""]);
    let said = |index: usize| matches!(&found[index], Member::Failed(it) if it.what.contains("semop"));
    assert!((0..6).all(said), "{found:?}");
}

#[test]
fn who_ended_the_worker_in_its_batches_or_series_is_named() {
    let series = crate::figures::synthetic::series("series");
    let rest = || (crate::figures::synthetic::series("rest"), How::Well);
    let lost = |member| Err(Lost::worker("the worker ended with exit code 7", Some(member)));
    let ends = (batched("ends"), How::EndsItsWorker);
    assert_eq!(launch_of(vec![rest(), ends], |_| ()), lost(1));
    assert_eq!(launch_of(vec![(batched("well"), How::Well), (series, How::EndsItsWorker)], |_| ()), lost(1));
}

#[test]
fn what_works_all_the_time_is_told_in_steps_where_a_step_is_a_cycle() {
    let steps = |works: Vec<bool>, no_cycles: Option<&str>| {
        let found = launch_of(vec![(batched("well"), How::Well)], |plan| {
            plan.works = works;
            plan.core.no_cycles = no_cycles.map(str::to_owned);
            plan.iterations.clear();
            plan.member_ns = 100_000_000;
        });
        let found = found.expect("a report");
        let it = done(&found[0]);
        assert_eq!((it.record.iterations, it.extra), (1, false), "where the plan says nothing, one");
        assert!(!it.windows.ns.is_empty() && !it.windows.throughput.is_empty());
        !it.windows.steps.is_empty()
    };
    assert!(steps(vec![true], None));
    assert!(!steps(vec![false], None) && !steps(Vec::new(), None) && !steps(vec![true], Some("it is none")));
}

#[test]
fn what_nobody_would_remove_is_not_made() {
    let found =
        launch_of(vec![(batched("making"), How::FailsIn("making")), (batched("well"), How::Well)], |_| ());
    let found = found.expect("a report");
    let Member::Unsupported { why, remedy } = &found[0] else { panic!("{found:?}") };
    assert!(why.contains("would outlive a kill") && remedy == "measure it without --plain", "{why}");
    assert!(matches!(found[1], Member::Done(_)), "of this one nothing was refused");
}

/// Who comes first has a cold machine: that is not always the same one.
#[test]
fn series_of_a_launch_come_in_an_order_that_the_seed_fixes() {
    struct Turn(&'static str);
    static TURNS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    impl Series for Turn {
        fn launch(&mut self, _: &SeriesPlan, sink: &mut dyn Sink) -> Outcome {
            sink.operations(1);
            sink.quantity("cost", TURNS.fetch_add(1, Ordering::Relaxed) as f64);
            Ok(())
        }
    }
    impl Benchmark for Turn {
        fn card(&self) -> &'static Card {
            Box::leak(Box::new(crate::figures::synthetic::series(self.0)))
        }
        fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
            Ok(Subject::series(Turn(self.0)))
        }
    }
    static ALL: [Turn; 4] = [Turn("a"), Turn("b"), Turn("c"), Turn("d")];
    let catalogue = Catalogue::new(ALL.iter().map(|it| it as &dyn Benchmark).collect());
    let plain = Plain::new(&catalogue, Arc::default()).expect("memory");
    let turns = |seed: u64| {
        let ids = ALL.iter().map(|it| it.0.to_owned()).collect();
        let (task, cpus) =
            (Task::Launch(plan(4, false, &[])), oscost_sys::affinity::allowed().expect("CPUs"));
        let job = Job { ids, task, cpus, seed, isolate: false, refused: None, directory: None };
        let finding = plain.run(job, LONG_NS).expect("a report").finding;
        let TaskFinding::Launch { members, .. } = finding else { panic!("a launch") };
        members.iter().map(|it| done(it).record.quantities["cost"] as u64).collect::<Vec<u64>>()
    };
    let mut sorted = turns(1);
    sorted.sort_unstable();
    assert_eq!((sorted, turns(1)), (vec![0, 1, 2, 3], turns(1)));
    assert!((2..10).any(|seed| turns(seed) != turns(1)));
}
