//! The evidence audit in the worker: N and 2N operations, every system call counted by number. METHOD.md, Evidence.

use std::collections::BTreeMap;

use oscost_results::CheckedClaim;
use oscost_sys::{audit as counting, system_call::marker, system_call_names};

use crate::benchmark::{Benchmark, SeriesPlan, Subject};
use crate::claims;
use crate::launch::Collected;
use crate::message::{Audited, Failure, Member};
use crate::worker::{Ready, Worker};

/// A series that is audited may take this long for its observations.
const SERIES_NS: u64 = 2_000_000_000;

/// What one phase of the audit made.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Made {
    operations: u64,
    /// System calls by name that the series itself counted.
    counted: BTreeMap<String, u64>,
}

/// Audits one member. The process is fit for nothing else afterwards: a filter cannot be taken off.
pub(crate) fn member(
    worker: &mut Worker<'_>,
    benchmark: Option<&'static dyn Benchmark>,
    operations: u64,
) -> Member<Audited> {
    let stated: Vec<CheckedClaim> = benchmark
        .map(|benchmark| benchmark.claims().iter().map(claims::stated).collect())
        .unwrap_or_default();
    let refused = match counting::by_notification(|| bracketed(worker, benchmark, operations)) {
        Ok((made, counts)) => {
            return made.map(|made| told("seccomp user notification", made, &counts, stated));
        }
        Err(error) => error,
    };
    let traced = counting::by_ptrace(|| {
        let made = bracketed(worker, benchmark, operations);
        serde_json::to_vec(&made).unwrap_or_default()
    });
    match traced {
        Ok((bytes, counts)) => match serde_json::from_slice::<Member<[Made; 2]>>(&bytes) {
            Ok(made) => made.map(|made| told("ptrace", made, &counts, stated)),
            Err(error) => Member::Failed(Failure::new("audit", error)),
        },
        Err(error) => Member::Done(Audited {
            missing: Some(format!("system calls cannot be counted here: {refused}; {error}")),
            claims: stated,
            ..Audited::default()
        }),
    }
}

/// Sets the member up under the eye of the counter, and makes N and 2N operations between markers.
fn bracketed(
    worker: &mut Worker<'_>,
    benchmark: Option<&'static dyn Benchmark>,
    operations: u64,
) -> Member<[Made; 2]> {
    match worker.set_up(0, benchmark) {
        Member::Done(Ready { benchmark, mut subject }) => {
            let per_iteration = benchmark.card().operations_per_iteration.max(1);
            let outcome = match &mut subject {
                Subject::Batched(batched) => {
                    let iterations = operations.div_ceil(per_iteration);
                    // What happens once (lazy binding, a partner's first wait) happens before.
                    let mut phase = |number: usize, iterations: u64| {
                        batched.arm()?;
                        marker(number);
                        let outcome = batched.batch(iterations);
                        batched.park()?;
                        marker(0);
                        outcome
                    };
                    phase(0, iterations)
                        .and_then(|()| phase(1, iterations))
                        .and_then(|()| phase(2, 2 * iterations))
                        .map(|()| {
                            [1, 2].map(|times| Made {
                                operations: times * iterations * per_iteration,
                                ..Made::default()
                            })
                        })
                }
                Subject::Series(series) => {
                    let mut phase = |number: usize, observations: u64| {
                        let mut sink = Collected::default();
                        let plan = SeriesPlan {
                            observations: Some(observations),
                            duration_ns: SERIES_NS,
                            seed: observations,
                        };
                        marker(number);
                        let outcome = series.launch(&plan, &mut sink);
                        marker(0);
                        outcome.map(|()| Made { operations: sink.operations, counted: sink.counted })
                    };
                    phase(0, operations).and_then(|_| Ok([phase(1, operations)?, phase(2, 2 * operations)?]))
                }
            };
            match outcome {
                Ok(made) => Member::Done(made),
                Err(error) => Member::Failed(Failure::new("audit", error)),
            }
        }
        other => other.map(|_| Default::default()),
    }
}

/// Calls per operation by name: (c(2N) - c(N)) / N, so that what happens once cancels.
fn told(method: &str, made: [Made; 2], counts: &counting::Counts, mut stated: Vec<CheckedClaim>) -> Audited {
    let (first, second) = (counts.phase(1), counts.phase(2));
    let operations = made[1].operations.saturating_sub(made[0].operations) as f64;
    let mut system_calls = BTreeMap::new();
    if operations > 0.0 {
        let numbers: std::collections::BTreeSet<i64> = first.keys().chain(second.keys()).copied().collect();
        for number in numbers {
            let count = |phase: &BTreeMap<i64, u64>| phase.get(&number).copied().unwrap_or(0) as f64;
            let rate = (count(&second) - count(&first)) / operations;
            if rate != 0.0 {
                let name = match system_call_names::name(number) {
                    Some(name) => name.to_owned(),
                    None if number < 0 || number == oscost_sys::system_call::INVALID => "invalid".to_owned(),
                    None => format!("number {number}"),
                };
                *system_calls.entry(name).or_insert(0.0) += rate;
            }
        }
        for (name, count) in &made[1].counted {
            let before = made[0].counted.get(name).copied().unwrap_or(0);
            stated.push(claims::own_count(name, (*count as f64 - before as f64) / operations));
        }
        claims::observe_calls(&mut stated, &system_calls);
        Audited { method: Some(method.to_owned()), missing: None, system_calls, claims: stated }
    } else {
        Audited {
            missing: Some("the series made as many operations for 2N as for N".to_owned()),
            claims: stated,
            ..Audited::default()
        }
    }
}
