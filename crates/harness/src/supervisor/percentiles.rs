//! Single operations (`run --percentiles`): each benchmark gets its own launches. docs/method/families.md.

use oscost_results::{Circumstances, Percentiles};

use crate::benchmark::catalogue::Choice;
use crate::figures::percentiles::over_launches;
use crate::protocol::message::{Job, Member, Report, Task, TaskFinding};
use crate::protocol::timed::SinglesPlan;
use crate::supervisor::event::Event;
use crate::supervisor::plan::Options;
use crate::supervisor::workers::{Lost, Supervisor, Workers};

/// Launches of each benchmark: their spread is what is known of a percentile.
const LAUNCHES: u32 = 5;
/// Launches that may be void before a benchmark is given up.
const MOST_VOID: u32 = 5;
/// Passes of all launches, at most.
const PASSES: u64 = 10_000_000;
/// Time of all launches, at most, in times of the plan's launch.
const TIMES_LAUNCH: u64 = 250;
const MILLISECOND: u64 = 1_000_000;
const WARM_UP_NS: u64 = 100 * MILLISECOND;
/// A pass that follows another one would do something else, or stand in its way.
const MADE_READY: &str = "each batch has to be made ready for, so no single pass can be repeated";

/// What came of timing operations one by one.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct OneByOne {
    /// By id, or why not. What an interrupted run has not come to is missing.
    pub found: Vec<(String, Result<Percentiles, String>)>,
    /// How the clock that times was wrong, if it was.
    pub wrong_clock: Option<String>,
}

/// Times operations of `choices` one by one, each in launches of its own; series are left out.
///
/// It must be called from the main thread, like [`crate::measure`].
pub fn percentiles(
    supervisor: &Supervisor,
    choices: &[Choice],
    options: &Options,
    emit: &mut dyn FnMut(&Event<'_>),
) -> OneByOne {
    percentiles_by(supervisor, choices, options, emit)
}

/// The same with whatever makes the launches.
fn percentiles_by(
    workers: &dyn Workers,
    choices: &[Choice],
    options: &Options,
    emit: &mut dyn FnMut(&Event<'_>),
) -> OneByOne {
    let mut all = OneByOne::default();
    for (index, choice) in choices.iter().filter(|choice| choice.card().quantities.is_empty()).enumerate() {
        let card = choice.card();
        let plan = SinglesPlan {
            passes: PASSES / u64::from(LAUNCHES),
            time_ns: options.effort.member_ns * TIMES_LAUNCH / u64::from(LAUNCHES),
            warm_up_ns: WARM_UP_NS,
            least_batch: card.least_iterations(),
            blocks: card.blocks,
        };
        let mut launches = Vec::new();
        let mut void = 0;
        let mut why = card.uses_up.then(|| MADE_READY.to_owned());
        while launches.len() < LAUNCHES as usize && why.is_none() {
            emit(&Event::Phase(&format!("percentiles of {}, launch {}", card.id, launches.len() + 1)));
            let stream = (1 << 40) + ((index as u64) << 16) + launches.len() as u64 + u64::from(void);
            let job = Job {
                ids: vec![card.id.to_owned()],
                task: Task::Percentiles { plan, idle_cpu: options.idle_cpu },
                cpus: if card.cpus.is_empty() { options.cpus.clone() } else { card.cpus.to_vec() },
                seed: options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(stream),
                isolate: true,
                refused: None,
                directory: None,
            };
            // Stretches take their time, the batches beside them an eighth of it, looks at the counters a part, first calls a second.
            match workers.run(job, 10 * (plan.time_ns + plan.warm_up_ns) + 15_000 * MILLISECOND) {
                Err(Lost::Interrupted) => return all,
                Err(Lost::Worker { what, .. }) => why = Some(what),
                Ok(Report { wrong_clock: Some(wrong_clock), .. }) => {
                    return OneByOne { wrong_clock: Some(wrong_clock), ..all };
                }
                Ok(Report { circumstances: Circumstances { tracer_pid: Some(pid @ 1..), .. }, .. }) => {
                    why = Some(format!("process {pid} traced what was timed"));
                }
                // What a quota takes would be told as a preemption, and there is no mark beside a percentile.
                Ok(report @ (Report { void: Some(_), .. } | Report { throttled: Some(true), .. })) => {
                    void += 1;
                    let quota = || "a CPU quota stops its launches (oscost doctor)".to_owned();
                    why = (void > MOST_VOID).then(|| report.void.unwrap_or_else(quota));
                }
                Ok(Report { finding: TaskFinding::Percentiles(member), .. }) => match member {
                    Member::Done(timed) => launches.push(timed),
                    Member::Unsupported { why: lacks, .. } => why = Some(lacks),
                    Member::Failed(failure) => why = Some(failure.to_string()),
                },
                Ok(_) => why = Some("the worker reported something else".to_owned()),
            }
        }
        let made = match why {
            Some(why) => Err(why),
            None => over_launches(&launches, card.operations_per_iteration)
                .ok_or_else(|| "no pass was timed".to_owned()),
        };
        all.found.push((card.id.to_owned(), made));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::benchmark::card::Card;
    use crate::figures::synthetic::{choice, series};
    use crate::protocol::message::Failure;
    use crate::protocol::message::IdleCpu;
    use crate::protocol::timed::Timed;
    use crate::supervisor::plan::Effort;
    use crate::supervisor::rehearsal::{Script, all_well};

    fn options() -> Options {
        Options {
            effort: Effort::DEFAULT,
            seed: 7,
            cpus: vec![3, 1],
            spread_cpus: Vec::new(),
            core: None,
            idle_cpu: IdleCpu::Poll,
            references: Vec::new(),
            keep_samples: false,
            expected_ns: std::collections::BTreeMap::new(),
            first: Vec::new(),
        }
    }

    fn batched(id: &'static str) -> Choice {
        choice(Card { id, operations_per_iteration: 2, blocks: true, ..Card::BATCHED })
    }

    /// The report of a launch that timed 1000 passes of 120 ns, of which the readings are 20.
    fn timed(job: &Job) -> Report {
        let timed = Timed {
            buckets: vec![(120, 1000)],
            sum_ns: 120_000,
            extremes: Some((120, 120)),
            pair_ns: 20.0,
            alone_ns: Some(100.0),
            batch_ns: Some(98.0),
            longer: Vec::new(),
            account: oscost_results::Account::default(),
            first: crate::protocol::timed::FirstCalls::default(),
        };
        Report { finding: TaskFinding::Percentiles(Member::Done(timed)), ..all_well(job) }
    }

    /// What came of `choices`, with the jobs and phases, where the `number`-th job finds this.
    fn run(
        choices: &[Choice],
        finds: impl Fn(usize, Report) -> Result<Report, Lost>,
    ) -> (OneByOne, Vec<Job>, Vec<String>) {
        let jobs: RefCell<Vec<Job>> = RefCell::default();
        let answer = |job: &Job, _: u32| {
            jobs.borrow_mut().push(job.clone());
            let number = jobs.borrow().len();
            finds(number, timed(job))
        };
        let script = Script::new(&|_| 1, &answer);
        let mut phases = Vec::new();
        let all = percentiles_by(&script, choices, &options(), &mut |event| {
            if let Event::Phase(words) = event {
                phases.push((*words).to_owned());
            }
        });
        (all, jobs.into_inner(), phases)
    }

    /// Why the one benchmark of a run has no percentiles, and how many launches were made of it.
    fn refused(finds: impl Fn(usize, Report) -> Result<Report, Lost>) -> (Option<String>, usize) {
        let (all, jobs, _) = run(&[batched("a")], finds);
        let [(id, found)] = &all.found[..] else { panic!("one benchmark: {:?}", all.found) };
        assert_eq!((id.as_str(), &all.wrong_clock), ("a", &None));
        (found.as_ref().err().cloned(), jobs.len())
    }

    #[test]
    fn every_batched_benchmark_is_timed_in_five_launches_of_its_own() {
        let (all, jobs, phases) =
            run(&[batched("a"), choice(series("s")), batched("b")], |_, report| Ok(report));
        let found: Vec<(&str, u32, u64)> = all
            .found
            .iter()
            .map(|(id, found)| (id.as_str(), found.as_ref().expect("passes")))
            .map(|(id, found)| (id, found.launches, found.passes))
            .collect();
        assert_eq!(found, [("a", 5, 5000), ("b", 5, 5000)], "a series has no passes");
        assert_eq!(jobs.len(), 10);
        for (job, id) in jobs.iter().zip([["a"; 5], ["b"; 5]].concat()) {
            assert_eq!(
                (job.ids.as_slice(), job.cpus.as_slice(), job.isolate),
                (&[id.to_owned()][..], &[3, 1][..], true)
            );
            let Task::Percentiles { plan, idle_cpu } = job.task else { panic!("{:?}", job.task) };
            assert_eq!((plan.passes, plan.time_ns, plan.warm_up_ns), (2_000_000, 2_000_000_000, 100_000_000));
            assert!(plan.blocks && idle_cpu == IdleCpu::Poll);
        }
        let mut seeds: Vec<u64> = jobs.iter().map(|job| job.seed).collect();
        let fixed = 7_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1 << 40);
        assert_eq!((seeds[0], seeds[5]), (fixed, fixed.wrapping_add(1 << 16)), "as the user's seed says");
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 10, "no two launches have the same orders");
        assert_eq!(
            (phases[0].as_str(), phases[9].as_str()),
            ("percentiles of a, launch 1", "percentiles of b, launch 5")
        );
    }

    #[test]
    fn what_a_batch_uses_up_is_left_out() {
        let card = Card { id: "a", uses_up: true, ..Card::BATCHED };
        let (all, jobs, _) = run(&[choice(card), batched("b")], |_, report| Ok(report));
        let found: Vec<(&str, Option<&String>)> =
            all.found.iter().map(|(id, found)| (id.as_str(), found.as_ref().err())).collect();
        assert_eq!(found, [("a", Some(&MADE_READY.to_owned())), ("b", None)]);
        assert!(jobs.iter().all(|job| job.ids == ["b"]));
    }

    /// Ten times its stretches and its warm-up, and a quarter of a minute.
    #[test]
    fn a_launch_has_a_deadline_that_its_plan_gives_it() {
        let plan_ns = Effort::DEFAULT.member_ns * TIMES_LAUNCH / u64::from(LAUNCHES) + WARM_UP_NS;
        let most_ns = 10 * plan_ns + 15_000 * MILLISECOND;
        let ends = |takes_ns: u64| {
            let takes = |_: &Job| takes_ns;
            let script = Script::new(&takes, &|job, _| Ok(timed(job)));
            percentiles_by(&script, &[batched("a")], &options(), &mut |_| ()).found[0].1.is_ok()
        };
        assert_eq!((ends(most_ns), ends(most_ns + 1)), (true, false));
    }

    #[test]
    fn void_launches_are_made_up_for_five_times() {
        let void = |most: usize| {
            refused(move |number, report| {
                let void = (number <= most).then(|| "it slept".to_owned());
                Ok(Report { void, ..report })
            })
        };
        assert_eq!(void(5), (None, 10));
        assert_eq!(void(6), (Some("it slept".to_owned()), 6));
        let stopped = |most: usize| {
            refused(move |number, report| Ok(Report { throttled: Some(number <= most), ..report }))
        };
        assert_eq!(stopped(5), (None, 10));
        assert_eq!(stopped(6), (Some("a CPU quota stops its launches (oscost doctor)".to_owned()), 6));
        let seeds = run(&[batched("a")], |number, report| {
            Ok(Report { void: (number == 2).then(|| "it slept".to_owned()), ..report })
        });
        let mut seeds: Vec<u64> = seeds.1.iter().map(|job| job.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 6, "a launch that is made again is another one");
    }

    #[test]
    fn what_cannot_be_timed_says_why_at_once() {
        let traced = |pid: u32| {
            refused(move |_, mut report| {
                report.circumstances.tracer_pid = Some(pid);
                Ok(report)
            })
        };
        assert_eq!(traced(12), (Some("process 12 traced what was timed".to_owned()), 1));
        assert_eq!((traced(0), traced(1).1), ((None, 5), 1));
        let lost = || Err(Lost::worker("it fell", None));
        assert_eq!(refused(|_, _| lost()), (Some("it fell".to_owned()), 1));
        let as_member = |member: fn() -> Member<Timed>| {
            refused(move |_, report| Ok(Report { finding: TaskFinding::Percentiles(member()), ..report }))
        };
        let lacks = || Member::Unsupported { why: "no such call".to_owned(), remedy: String::new() };
        assert_eq!(as_member(lacks), (Some("no such call".to_owned()), 1));
        assert_eq!(
            as_member(|| Member::Failed(Failure::new("pass", "it broke"))),
            (Some("pass: it broke".to_owned()), 1)
        );
        let other = refused(|_, report| Ok(Report { finding: TaskFinding::Audit(Vec::new()), ..report }));
        assert_eq!(other, (Some("the worker reported something else".to_owned()), 1));
    }

    #[test]
    fn a_wrong_clock_ends_all_and_an_end_by_the_user_leaves_what_was_found() {
        let (all, jobs, _) = run(&[batched("a"), batched("b")], |number, report| {
            Ok(Report { wrong_clock: (number == 7).then(|| "it is wrong".to_owned()), ..report })
        });
        assert_eq!((all.wrong_clock.as_deref(), all.found.len(), jobs.len()), (Some("it is wrong"), 1, 7));
        let (all, jobs, _) =
            run(
                &[batched("a"), batched("b")],
                |number, report| {
                    if number == 7 { Err(Lost::Interrupted) } else { Ok(report) }
                },
            );
        assert_eq!((all.wrong_clock, all.found.len(), jobs.len()), (None, 1, 7));
    }
}
