//! The evidence audit in the worker: every system call of operations is counted by number, early and late. METHOD.md,
//! Evidence.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, write_on_one_line};
use oscost_sys::watched::Watched;
use oscost_sys::{audit as counting, clock, system_call::marker, system_call_names};

use crate::benchmark::card::Placement;
use crate::benchmark::claims;
use crate::benchmark::{Batched, Benchmark, Outcome, Series, SeriesPlan, SetUp, Subject};
use crate::protocol::message::{AUDIT_OPERATIONS, Audited, Failure, LATE_OPERATIONS, Member};
use crate::worker::series::Collected;
use crate::worker::{Ready, Worker};

/// A series that is audited may take this long for its observations.
const SERIES_NS: u64 = 2_000_000_000;
/// The way to operation [`LATE_OPERATIONS`] takes no longer than this, to an earlier one in proportion; a slow operation is counted
/// late from where it is then.
const LATE_NS: u64 = 400_000_000;
/// So many iterations a phase has at least, however long one takes.
const FEWEST: u64 = 20;

/// What one phase of the audit made.
#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Made {
    operations: u64,
    /// System calls by name that the series itself counted.
    counted: BTreeMap<String, u64>,
    /// Why its calls are not those of its operations.
    uncountable: Option<String>,
    /// What it found after its operations.
    found: Vec<CheckedClaim>,
}

/// What the two phases of an audit made.
#[derive(serde::Serialize, serde::Deserialize)]
enum Phases {
    /// Batches, early and late: each phase holds whole operations and nothing else. What was found after them.
    Batched([Made; 2], Vec<CheckedClaim>),
    /// A short launch and a longer one: each also holds what a launch does once, which their difference does not.
    Series([Made; 2]),
}

/// Audits one member. The process is fit for nothing else afterwards: a filter cannot be taken off.
pub(crate) fn member(
    worker: &mut Worker<'_>,
    benchmark: Option<&'static dyn Benchmark>,
    operations: (u64, u64),
) -> Member<Audited> {
    let stated = benchmark.map(stated).unwrap_or_default();
    let placement = benchmark.map_or(Placement::OneCpu, |benchmark| benchmark.card().placement);
    let listens = benchmark.is_some_and(Benchmark::listens);
    counted(stated, placement, operations, listens, &mut || worker.set_up(0, benchmark))
}

/// The audit that `--plain` has: the claims, of which only what launches count is observed.
pub(crate) fn uncounted(benchmark: Option<&'static dyn Benchmark>) -> Audited {
    let why = "--plain has no counter of system calls".to_owned();
    Audited { missing: Some(why), claims: benchmark.map(stated).unwrap_or_default(), ..Audited::default() }
}

/// Audits a benchmark in this process, which is fit for nothing else afterwards. It must have no other threads.
///
/// # Errors
/// Why it could not be set up, or the call that failed, in words.
pub fn audit(benchmark: &'static dyn Benchmark, cx: &mut SetUp<'_>) -> Result<Audited, String> {
    let mut set_up = || Ready::of(benchmark, cx);
    let (placement, listens) = (benchmark.card().placement, benchmark.listens());
    match counted(stated(benchmark), placement, (AUDIT_OPERATIONS, LATE_OPERATIONS), listens, &mut set_up) {
        Member::Done(audited) => Ok(audited),
        Member::Unsupported { why, remedy } => Err(format!("unsupported: {why} ({remedy})")),
        Member::Failed(failure) => Err(failure.to_string()),
    }
}

/// The claims of a benchmark, of which nothing is observed yet.
fn stated(benchmark: &'static dyn Benchmark) -> Vec<CheckedClaim> {
    benchmark.claims().iter().map(claims::stated).collect()
}

/// Sets a member up under the eye of the counter, and holds what it counts against the claims. Of what `listens` itself only a
/// tracer counts.
fn counted(
    stated: Vec<CheckedClaim>,
    placement: Placement,
    operations: (u64, u64),
    listens: bool,
    set_up: &mut dyn FnMut() -> Member<Ready>,
) -> Member<Audited> {
    // What a benchmark says of the sandbox must not be said of the counter's own filter.
    let _ = Watched::at_first();
    let notified = match listens {
        true => Err(oscost_sys::CallError::told("it listens to system calls itself")),
        false => counting::by_notification(|| bracketed(set_up, operations)),
    };
    let refused = match notified {
        Ok((Member::Done(_), counts)) if !counts.is_marked() => {
            return uncountable("a filter answers them before they are seen".to_owned(), stated);
        }
        Ok((made, counts)) => {
            return made.map(|made| told("seccomp user notification", made, &counts, stated, placement));
        }
        Err(error) => error,
    };
    let traced = counting::by_ptrace(|| {
        let made = bracketed(set_up, operations);
        let mut bytes = Vec::new();
        // What was not written whole is no member to who reads it.
        let _ = write_on_one_line(&made, &mut bytes);
        bytes
    });
    match traced {
        Ok((bytes, counts)) => match serde_json::from_slice::<Member<Phases>>(&bytes) {
            Ok(Member::Done(_)) if !counts.is_marked() => {
                uncountable("a tracer is shown none of them".to_owned(), stated)
            }
            Ok(made) => made.map(|made| told("ptrace", made, &counts, stated, placement)),
            Err(error) => Member::Failed(Failure::new("audit", error)),
        },
        Err(error) => uncountable(format!("{refused}; {error}"), stated),
    }
}

/// The audit of a place that hides the calls: nothing was counted, and no count is 0.
fn uncountable(why: String, stated: Vec<CheckedClaim>) -> Member<Audited> {
    let why = format!("system calls cannot be counted here: {why}");
    Member::Done(Audited { missing: Some(why), claims: stated, ..Audited::default() })
}

/// Makes two phases of operations between markers.
fn bracketed(set_up: &mut dyn FnMut() -> Member<Ready>, (operations, late): (u64, u64)) -> Member<Phases> {
    let Ready { benchmark, mut subject } = match set_up() {
        Member::Done(ready) => ready,
        other => return other.map(|_| Phases::Series(Default::default())),
    };
    let per_iteration = benchmark.card().operations_per_iteration.max(1);
    let made = match &mut subject {
        Subject::Batched(batched) => batches(&mut **batched, per_iteration, (operations, late)),
        Subject::Series(series) => launches(&mut **series, operations),
    };
    match made {
        Ok(made) => Member::Done(made),
        Err(error) => Member::Failed(Failure::new("audit", error)),
    }
}

/// Twice so many operations early, and as many behind operation `late`.
fn batches(
    batched: &mut dyn Batched,
    per_iteration: u64,
    (operations, late): (u64, u64),
) -> Result<Phases, oscost_sys::CallError> {
    let wanted = (2 * operations).div_ceil(per_iteration);
    let alone = batched.participants().is_empty();
    let mut phase = |number: Option<usize>, iterations: u64| -> Outcome {
        batched.arm()?;
        number.into_iter().for_each(marker);
        batched.batch(iterations)?;
        batched.park()?;
        number.into_iter().for_each(|_| marker(0));
        Ok(())
    };
    // What happens once (lazy binding, a partner's first wait) happens before.
    let start = clock::now_ns();
    phase(None, 1)?;
    let one_ns = (clock::now_ns() - start).max(1);
    // An operation of ms (a fork of much memory) is counted less often. With a partner it is not: bounds allow its calls at the
    // edges of a phase as a share of the whole number. A hand-over takes ms only where a machine is emulated.
    let iterations = if alone { wanted.min((LATE_NS / one_ns).max(FEWEST)) } else { wanted };
    phase(None, iterations)?;
    phase(Some(1), iterations)?;
    let until = clock::now_ns() + LATE_NS / LATE_OPERATIONS * late.min(LATE_OPERATIONS);
    let mut done = 2 * iterations;
    while done < late.div_ceil(per_iteration) && clock::now_ns() < until {
        phase(None, iterations)?;
        done += iterations;
    }
    phase(Some(2), iterations)?;
    let found = batched.verify()?.iter().map(claims::after_operations).collect();
    let made = || Made { operations: iterations * per_iteration, ..Made::default() };
    Ok(Phases::Batched([made(), made()], found))
}

/// So many observations, and twice as many.
fn launches(series: &mut dyn Series, operations: u64) -> Result<Phases, oscost_sys::CallError> {
    let mut phase = |number: usize, observations: u64| {
        let mut sink = Collected::default();
        let plan =
            SeriesPlan { observations: Some(observations), duration_ns: SERIES_NS, seed: observations };
        let outcome = if series.brackets(number) {
            series.launch(&plan, &mut sink)
        } else {
            marker(number);
            let outcome = series.launch(&plan, &mut sink);
            marker(0);
            outcome
        };
        outcome.map(|()| Made {
            operations: sink.operations,
            counted: sink.counted,
            uncountable: sink.uncountable,
            found: sink.post_conditions,
        })
    };
    phase(0, operations)?;
    Ok(Phases::Series([phase(1, operations)?, phase(2, 2 * operations)?]))
}

/// Calls an operation by name.
type Rates = BTreeMap<String, f64>;

/// Calls by name, each divided by `operations`.
fn rates(calls: &counting::Calls, operations: f64) -> Rates {
    let mut rates = Rates::new();
    for (&number, &count) in calls {
        let name = match system_call_names::name(number) {
            Some(name) => name.to_owned(),
            None if number < 0 || number == oscost_sys::system_call::INVALID => "invalid".to_owned(),
            None => format!("number {number}"),
        };
        *rates.entry(name).or_insert(0.0) += count as f64 / operations;
    }
    rates
}

/// What a longer pass made more than a shorter one. Where others disturb, the shorter one may have made more calls of a
/// kind: no operation makes less than none.
fn more(shorter: &counting::Calls, longer: &counting::Calls) -> counting::Calls {
    let before = |number: &i64| shorter.get(number).copied().unwrap_or(0);
    let more = longer.iter().map(|(number, count)| (*number, count.saturating_sub(before(number))));
    more.filter(|&(_, count)| count > 0).collect()
}

/// Calls of one phase that come one after the other. Participants on several CPUs overlap, each is held to its own.
fn in_turn(participants: &BTreeMap<i32, counting::Calls>, placement: Placement) -> u64 {
    let calls = participants.values().map(|calls| calls.values().sum::<u64>());
    match placement {
        Placement::OneCpu | Placement::SameCpu => calls.sum(),
        Placement::CrossCpu | Placement::Spread | Placement::Unpinned => calls.max().unwrap_or(0),
    }
}

/// Holds the claims against what was counted.
fn told(
    method: &str,
    phases: Phases,
    counts: &counting::CallCounts,
    mut stated: Vec<CheckedClaim>,
    placement: Placement,
) -> Audited {
    let calls_in_turn = match &phases {
        Phases::Series(_) => None,
        Phases::Batched(made, _) => {
            let of = |(phase, made): (usize, &Made)| {
                in_turn(&counts.by_participant(phase), placement) as f64 / made.operations as f64
            };
            (1..).zip(made).map(of).reduce(f64::min)
        }
    };
    let counted: Vec<Rates> = match &phases {
        Phases::Batched(made, found) => {
            claims::add_post_conditions(&mut stated, found);
            let rates = |(phase, made): (usize, &Made)| rates(&counts.phase(phase), made.operations as f64);
            (1..).zip(made).map(rates).collect()
        }
        Phases::Series([shorter, longer]) => {
            let operations = longer.operations.saturating_sub(shorter.operations) as f64;
            let none = || "the series made as many operations for 2N as for N".to_owned();
            let why = [&shorter, &longer].into_iter().find_map(|made| made.uncountable.clone());
            if let Some(why) = why.or_else(|| (operations == 0.0).then(none)) {
                return Audited { missing: Some(why), claims: stated, ..Audited::default() };
            }
            claims::add_post_conditions(&mut stated, &shorter.found);
            claims::add_post_conditions(&mut stated, &longer.found);
            for (name, count) in &longer.counted {
                let before = shorter.counted.get(name).copied().unwrap_or(0);
                stated.push(claims::own_count(name, (*count as f64 - before as f64) / operations));
            }
            vec![rates(&more(&counts.phase(1), &counts.phase(2)), operations)]
        }
    };
    claims::observe_calls(&mut stated, &counted);
    // Where the phases differ, the late one is what a long measurement makes.
    let system_calls = counted.into_iter().next_back().unwrap_or_default();
    Audited { method: Some(method.to_owned()), missing: None, system_calls, calls_in_turn, claims: stated }
}

#[cfg(test)]
mod tests;
