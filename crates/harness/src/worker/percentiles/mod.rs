//! Operations timed one by one, in the worker. docs/method/families.md.

mod first_calls;
mod gaps;
mod singles;

use std::time::Duration;

use oscost_stats::quantile::{median, sorted};
use oscost_sys::affinity;
use oscost_sys::clock::pause;

use super::Worker;
use super::clock::Monotonic;
use super::rounds::Progress;
use crate::benchmark::{Benchmark, Subject};
use crate::protocol::message::{Failure, IdleCpu, Member, TaskFinding};
use crate::protocol::timed::{FirstCalls, SinglesPlan, Timed};

/// One launch of the first of `members`.
pub(crate) fn group(
    worker: &mut Worker<'_>,
    members: &[Option<&'static dyn Benchmark>],
    plan: &SinglesPlan,
    idle_cpu: IdleCpu,
) -> TaskFinding {
    let timed = match worker.set_up(0, members.first().copied().flatten()) {
        Member::Done(ready) => match ready.subject {
            Subject::Series(_) => Member::Failed(Failure::new("set-up", "a series times itself")),
            Subject::Batched(mut batched) => {
                worker.settle();
                // As in a launch: passes are in the state that the figure beside them is judged in.
                let mut awake =
                    worker.is_to_stay_awake(members, idle_cpu).then(|| worker.keep_awake(members));
                worker.progress().running(0);
                let participants = batched.participants();
                let partners: Vec<i32> = participants.iter().map(|it| it.id()).collect();
                let mut kernel = gaps::Kernel::new(&partners);
                let found =
                    singles::run(&mut Monotonic, &mut kernel, &mut *batched, plan).and_then(|found| {
                        // First calls follow an idleness: they are to tell what CPUs add that sleep.
                        if idle_cpu == IdleCpu::Both {
                            drop(awake.take());
                        }
                        let cache = affinity::current().and_then(first_calls::largest_cache);
                        let mut idle = |ns| pause(Duration::from_nanos(ns));
                        Ok((found, first_calls::make(&mut Monotonic, &mut idle, &mut *batched, cache)?))
                    });
                worker.look_for(&participants, ready.benchmark);
                match found {
                    Ok((found, first)) => Member::Done(told(found, first)),
                    Err((phase, error)) => Member::Failed(Failure::new(phase, error)),
                }
            }
        },
        other => other.map(|_| Timed::default()),
    };
    TaskFinding::Percentiles(timed)
}

fn told(found: singles::Singles, first: FirstCalls) -> Timed {
    Timed {
        buckets: found.histogram.buckets().collect(),
        sum_ns: u64::try_from(found.histogram.sum()).unwrap_or(u64::MAX),
        extremes: found.histogram.extremes(),
        pair_ns: found.pair_ns,
        alone_ns: median(&sorted(found.alone_ns)),
        batch_ns: median(&sorted(found.batch_ns)),
        longer: found.longer,
        account: found.account,
        first,
    }
}
