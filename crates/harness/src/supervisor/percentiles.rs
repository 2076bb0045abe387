//! Operations timed one by one (`run --percentiles`), each benchmark in launches of its own. METHOD.md, Percentiles.

use oscost_results::{Circumstances, Percentiles};

use crate::benchmark::catalogue::Choice;
use crate::figures::percentiles::over_launches;
use crate::protocol::message::{Job, Member, Report, Task, TaskFinding};
use crate::protocol::timed::SinglesPlan;
use crate::supervisor::event::Event;
use crate::supervisor::plan::Options;
use crate::supervisor::workers::{Lost, Supervisor};

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

/// What came of timing operations one by one.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct OneByOne {
    /// By id, or why not. What an interrupted run has not come to is missing.
    pub found: Vec<(String, Result<Percentiles, String>)>,
    /// How the clock that times was wrong, if it was.
    pub lie: Option<String>,
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
        let mut why = None;
        while launches.len() < LAUNCHES as usize && why.is_none() {
            emit(&Event::Phase(&format!("percentiles of {}, launch {}", card.id, launches.len() + 1)));
            let stream = (1 << 40) + ((index as u64) << 16) + launches.len() as u64 + u64::from(void);
            let job = Job {
                ids: vec![card.id.to_owned()],
                task: Task::Percentiles(plan),
                cpus: options.cpus.clone(),
                seed: options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(stream),
                isolate: true,
                refused: None,
                directory: None,
            };
            // Stretches take their time, the batches beside them an eighth of it, looks at the counters a part, first calls a second.
            match supervisor.run(job, 10 * (plan.time_ns + plan.warm_up_ns) + 15_000 * MILLISECOND) {
                Err(Lost::Interrupted) => return all,
                Err(Lost::Worker { what, .. }) => why = Some(what),
                Ok(Report { lie: Some(lie), .. }) => return OneByOne { lie: Some(lie), ..all },
                Ok(Report { circumstances: Circumstances { tracer_pid: Some(pid @ 1..), .. }, .. }) => {
                    why = Some(format!("process {pid} traced what was timed"));
                }
                Ok(Report { void: Some(reason), .. }) => {
                    void += 1;
                    why = (void > MOST_VOID).then_some(reason);
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
