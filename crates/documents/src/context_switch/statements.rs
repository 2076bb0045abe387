//! The statements of document 004 and what this machine says of them.

use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};

use super::{CROSS, READ, READS, SAME, SWITCHES, TAGS, reads, switches, timestamps};
use crate::found::{
    Found, Judged, Quoted, Rows, beside, grouped, holds_if, judged, judged_or_shown, more, of_parts,
    quotient, ranged, times, within,
};
use crate::parameters::DocumentParameters;

pub(super) fn statements(found: &Found<'_>, parameters: &DocumentParameters, rows: &mut Rows) {
    let cold = timestamps("cold", parameters);
    let touched = timestamps("touched", parameters);
    precision(found, parameters, (&cold, &touched), rows);
    rows.statement(
        "The cost of a system call",
        Quoted("clock adjustments did not affect this result"),
        beside("all runs near one minimum", adjusted(found, &cold, &touched)),
    );
    rows.statement(
        "The cost of a system call",
        Quoted("all the runs took the minimum amount of time or very close to it"),
        judged_or_shown(judged_near(found), near_minimum(found)),
    );
    rows.statement(
        "The cost of a system call",
        Quoted("our best estimate of the overhead of a system call is ~300 nanoseconds"),
        beside(
            "300 ns",
            found.floor(READ).zip(found.floor("syscall/invalid")).map(|(read, entry)| {
                format!(
                    "a read of 0 bytes costs {}, of which {:.0} ns are an empty kernel entry",
                    ranged(&read, 1.0, 0, " ns"),
                    entry.value
                )
            }),
        ),
    );
    rows.by(READ, "floor", found.floor(READ));
    rows.statement(
        "The cost of a context switch",
        Quoted("This will result in the processor rapidly context switching between the two processes"),
        judged(switching(found)),
    );
    rows.statement(
        "The cost of a context switch",
        Quoted("the two child processes might be scheduled onto different processors, which will give us the wrong result"),
        judged(elsewhere(found)),
    );
    rows.by(CROSS, "floor", found.floor(CROSS));
    rows.statement(
        "The cost of a context switch",
        Quoted("can significantly lower measurements, especially when only a small number of context switches are measured"),
        judged_or_shown(judged_barrier(found), barrier(found)),
    );
    for (words, there, tag) in [
        (Quoted("39691 microseconds total, ~2 microseconds/switch"), "~2 us", TAGS[0].0),
        (Quoted("48239 microseconds total, ~2.4 microseconds/switch"), "~2.4 us", TAGS[1].0),
    ] {
        rows.statement("The cost of a context switch", words, beside(there, shortest(found, tag)));
    }
    rows.statement(
        "The cost of a context switch",
        Quoted("Running this multiple times produces outputs that vary by as much as 20%"),
        beside("up to 20 %", spread(found)),
    );
    for words in [
        Quoted(
            "(1) regardless of the proccesses' affinity tags, both child processes are being scheduled to different processors",
        ),
        Quoted("(2) the same processor"),
        Quoted(
            "(3) the processes are scheduled to the same processor for one setting of the affinity tag and different processors for the other setting",
        ),
    ] {
        rows.statement("The cost of a context switch", words, placed(found));
    }
    rows.statement(
        "The cost of a context switch",
        Quoted("a write then read on a pipe across processors takes about as long as a context switch"),
        (Judgement::NotJudged, across(found)),
    );
    rows.by(CROSS, "floor", found.floor(CROSS));
    rows.statement(
        "The cost of a context switch",
        Quoted("On macOS there is no way to guarantee that two processes get executed on the same processor"),
        (
            Judgement::NotTestableHere,
            "a statement on macOS; here sched_setaffinity guarantees it, and every launch checks it"
                .to_owned(),
        ),
    );
    rows.statement(
        "last sentence",
        Quoted("These results should be compared against the results given by the lmbench tool"),
        (
            Judgement::NotTestableHere,
            "a recommendation. Give --with lmbench=DIR, and the last table has lmbench's figures beside ours. Its lat_ctx -s 0 2 subtracts the pipe's price in one process: compare it with the hop \
             minus the pipe (context_switch/pipe, without pipe_alone); lat_pipe is a round trip: two hops; lat_syscall null is \
             getppid through libc, read is one byte: syscall/read1"
                .to_owned(),
        ),
    );
}

pub(super) const STEP: &str = "clock/step/gettimeofday";

/// The document says it as what would follow from (3), which nothing here can test.
fn across(found: &Found<'_>) -> String {
    let follows = "the document says this only as what follows from (3), so no verdict";
    let ratio = found.floor(CROSS).zip(found.floor(SAME)).and_then(|(cross, same)| quotient(&cross, &same));
    ratio.map_or(follows.to_owned(), |ratio| {
        let adds = found.quantity(CROSS, quantity::ASLEEP_ADDS);
        let asleep = adds.map_or(String::new(), |adds| {
            format!(", and {} more where that CPU has gone to sleep", ranged(&adds, 1e-3, 1, " us"))
        });
        format!("{follows}; here a switch to another CPU takes {} a switch on one{asleep}", times(&ratio))
    })
}

/// Section "Precision of gettimeofday": its numbers are its machine's, and of 1 us steps nothing is told of a call's time.
fn precision(
    found: &Found<'_>,
    parameters: &DocumentParameters,
    (cold, touched): (&str, &str),
    rows: &mut Rows,
) {
    let place = "Precision of gettimeofday";
    let floor = found.floor("clock/gettimeofday");
    let call = || floor.map(|floor| ranged(&floor, 1.0, 1, " ns"));
    let step = found.quantity(STEP, quantity::STEP);
    rows.statement(
        place,
        Quoted("returns the number of seconds and microseconds since the Unix epoch"),
        judged(step.map(|step| {
            // To a thousandth: its steps are told by another clock.
            let verdict = within(&step, 999.0, 1001.0);
            let name = if verdict == Judgement::Holds { ": a microsecond" } else { "" };
            let words = format!("its true step is {:.1} ns{name}; the epoch is its definition", step.value);
            (verdict, words)
        })),
    );
    rows.by(STEP, quantity::STEP, step);
    let run = found.quantity(STEP, quantity::EQUAL_RUN_LENGTH);
    rows.statement(
        place,
        Quoted("gettimeofday returns the same value for 25 consecutive calls"),
        beside("25 equal readings in a row", run.map(|run| ranged(&run, 1.0, 0, ""))),
    );
    rows.by(STEP, quantity::EQUAL_RUN_LENGTH, run);
    rows.statement(
        place,
        Quoted("indicating that most calls roughly 40 nanoseconds to complete"),
        beside("40 ns", call()),
    );
    rows.by("clock/gettimeofday", "floor", floor);
    rows.statement(
        place,
        Quoted("Very rarely however ... between two consecutive calls there can be difference of many microseconds"),
        judged_or_shown(judged_rare(found, cold, parameters.samples), many(found, cold, touched, parameters.samples)),
    );
    rows.statement(
        place,
        Quoted("on one indicative run, 215 times, or ~0.2%"),
        beside(
            "215 of 100 000, of \"many microseconds\"",
            found
                .literal(cold, quantity::STEPS_OVER_1US)
                .zip(found.literal(cold, quantity::STEPS_OVER_10US))
                .map(|(over_1, over_10)| {
                    format!(
                        "of {}, {over_1:.0} over 1 us and {over_10:.0} over 10 us, in {}",
                        grouped(parameters.samples),
                        found.runs(cold)
                    )
                }),
        ),
    );
    let largest = found.quantity(STEP, quantity::LARGEST_STEP);
    rows.statement(
        place,
        Quoted("with the maximum difference usually around 50 microseconds"),
        beside("50 us", largest_step(found, cold, touched, largest)),
    );
    rows.by(STEP, quantity::LARGEST_STEP, largest);
    let grain = "this clock steps by 1 us, so its steps show its grain, not the time of a call: no verdict";
    let tail = tail(found);
    let (long, exponential) = match &tail {
        Some((long, because)) if *long == Judgement::Holds => {
            ((*long, because.clone()), (Judgement::DoesNotHold, because.clone()))
        }
        Some((long, because)) => {
            ((*long, because.clone()), (Judgement::NotJudged, format!("{grain}; {because}")))
        }
        None => ((Judgement::NotJudged, grain.to_owned()), (Judgement::NotJudged, grain.to_owned())),
    };
    rows.statement(place, Quoted("appears to be a long-tailed distribution"), long);
    rows.statement(place, Quoted("with the approximate shape of an exponential distribution"), exponential);
    rows.statement(place, Quoted("has a minimum of 40 nanoseconds"), beside("40 ns", call()));
    rows.by("clock/gettimeofday", "floor", floor);
}

/// An exponential distribution has a value over so many means once in 10^13: more than all calls of a run.
const TAIL: f64 = 30.0;

/// Whether the largest gap between two calls is longer than an exponential distribution of their times allows. The clock's
/// step is taken off the gap, which it may have made longer.
fn tail(found: &Found<'_>) -> Option<Judged> {
    let (largest, step) =
        (found.quantity(STEP, quantity::LARGEST_STEP)?, found.quantity(STEP, quantity::STEP)?);
    let call = found.quantity("clock/gettimeofday", quantity::TYPICAL)?;
    let off = |end: f64, step: f64| (end - step).max(0.0);
    let gap = Estimate {
        value: off(largest.value, step.value),
        low: off(largest.low, step.high),
        high: off(largest.high, step.low),
        ..largest
    };
    let means = quotient(&gap, &call)?;
    Some((
        within(&means, TAIL, f64::MAX),
        format!(
            "the largest gap of a launch is {} a call; an exponential distribution exceeds {TAIL:.0} times its mean once in 10^13 calls",
            times(&means)
        ),
    ))
}

/// The shortest run of 20 000 switches: the document publishes minima.
fn shortest(found: &Found<'_>, tag: &str) -> Option<String> {
    let id = switches(tag, "barrier", LONGEST);
    let total = found.literal(&id, quantity::MINIMUM)? / 1e3;
    Some(format!(
        "{} us total, {:.2} us/switch: the minimum, as there, in {}",
        grouped(total.round() as u64),
        total / LONGEST as f64,
        found.runs(&id)
    ))
}

/// A result that is farther than this from another one is another result.
const ANOTHER: f64 = 1.1;

/// What a switch and a hop to another CPU take: a result is wrong that is another one, be it more or less.
fn elsewhere(found: &Found<'_>) -> Option<Judged> {
    let (same, cross) = (found.floor(SAME)?, found.floor(CROSS)?);
    let judgement = match within(&quotient(&cross, &same)?, 1.0 / ANOTHER, ANOTHER) {
        Judgement::Holds => Judgement::DoesNotHold,
        Judgement::DoesNotHold => Judgement::Holds,
        judgement => judgement,
    };
    let words = format!(
        "{:.2} us on one CPU, {:.2} us across two; 10 % and more apart counts as wrong",
        same.value / 1000.0,
        cross.value / 1000.0
    );
    Some((judgement, words))
}

/// A clock that was set back would show a backward step. The sentence is of the author's runs; these are ours.
fn adjusted(found: &Found<'_>, cold: &str, touched: &str) -> Option<String> {
    let series = found.quantity(STEP, quantity::BACKWARD_STEPS)?.value;
    let literal =
        found.literal(cold, quantity::BACKWARD_STEPS)? + found.literal(touched, quantity::BACKWARD_STEPS)?;
    Some(format!(
        "backward steps of the clock: {literal:.0} in the literal runs, {series:.0} in the price list's series"
    ))
}

/// "16 to 85 us", and "16 us" where both ends are the same when they are rounded.
fn from_to(low: f64, high: f64, unit: &str) -> String {
    let [low, high] = [low, high].map(|end| format!("{end:.0}"));
    if low == high { format!("{low}{unit}") } else { format!("{low} to {high}{unit}") }
}

#[test]
fn equal_ends_are_one_number() {
    assert_eq!([from_to(4.6, 5.4, " us"), from_to(4.4, 5.4, " us")], ["5 us", "4 to 5 us"]);
}

/// What stands beside "usually around 50 microseconds": the program's own runs, and the largest of the series.
fn largest_step(found: &Found<'_>, cold: &str, touched: &str, series: Option<Estimate>) -> Option<String> {
    let literal = |id: &str| Some(found.literal(id, quantity::LARGEST_STEP)? / 1e3);
    let runs = found.runs(cold);
    let run = literal(cold).zip(literal(touched)).map(|(cold, touched)| {
        format!("{cold:.0} us with a new array, {touched:.0} us with one touched before, each in {runs}")
    });
    let series = series.map(|largest| {
        format!(
            "{} in the launches of the price list (touched)",
            from_to(largest.low / 1e3, largest.high / 1e3, " us")
        )
    });
    let parts: Vec<String> = run.into_iter().chain(series).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn many(found: &Found<'_>, cold: &str, touched: &str, samples: u64) -> Option<String> {
    let share = |id: &str, quantity: &str| Some(found.literal(id, quantity)? / samples as f64 * 100.0);
    let (far, over) = (share(cold, quantity::STEPS_OVER_10US)?, share(cold, quantity::STEPS_OVER_1US)?);
    let over_touched = share(touched, quantity::STEPS_OVER_1US)?;
    Some(format!(
        "{far:.3} % of the steps over 10 us, {over:.3} % over 1 us; {over_touched:.3} % over 1 us with the array touched \
         before, for page faults of the array make the others (ours)"
    ))
}

/// A hop is one switch, of who waits or of who is put aside for the other: counted by the kernel.
fn switching(found: &Found<'_>) -> Option<Judged> {
    let counted = found.figure(SAME)?.evidence.switches?;
    Some((
        holds_if(counted >= 0.99),
        format!("we counted {counted:.3} switches a message on one CPU; it cannot be fewer than one"),
    ))
}

fn near_minimum(found: &Found<'_>) -> Option<String> {
    let shares: Option<Vec<f64>> =
        READS.iter().map(|&(count, _)| found.literal(&reads(count), quantity::NEAR_MINIMUM)).collect();
    let shares = shares?;
    let list: Vec<String> = shares.iter().map(|share| format!("{:.1} %", share * 100.0)).collect();
    Some(format!("{} of the runs of 100, 1000 and 10 000 reads are near the minimum", list.join(", ")))
}

/// Share of the runs near the minimum that counts as all of them: one interruption in twenty runs leaves the rule standing.
const ALL: f64 = 0.95;

fn judged_near(found: &Found<'_>) -> Option<Judged> {
    let shares: Option<Vec<Estimate>> =
        READS.iter().map(|&(count, _)| found.repeated(&reads(count), quantity::NEAR_MINIMUM)).collect();
    let shares = shares?;
    let parts: Vec<Judgement> = shares.iter().map(|share| within(share, ALL, 1.0)).collect();
    let told: Vec<String> = shares.iter().map(|it| ranged(it, 100.0, 0, " %")).collect();
    Some((
        of_parts(&parts),
        format!(
            "near the minimum are {} of the runs of 100, 1000 and 10 000 reads; 95 % and more count as all",
            told.join(", ")
        ),
    ))
}

/// Steps of many us are very rare under this share of all steps.
const RARE: f64 = 0.01;

/// That there can be such steps is not refuted by runs that saw none.
fn judged_rare(found: &Found<'_>, cold: &str, samples: u64) -> Option<Judged> {
    let steps = found.repeated(cold, quantity::STEPS_OVER_10US)?;
    let judgement = match within(&steps, 1.0, RARE * samples as f64) {
        Judgement::DoesNotHold if steps.high < 1.0 => Judgement::Unclear,
        judgement => judgement,
    };
    Some((
        judgement,
        format!(
            "{} of {} steps are over 10 us; one and more, and under 1 %, count as very rarely",
            ranged(&steps, 1.0, 0, ""),
            grouped(samples)
        ),
    ))
}

/// Most switches in a row.
const LONGEST: u64 = 20_000;

/// A difference that is called significant is a tenth at least; and it is larger for few switches than for many. Minima, as
/// the document's; on one CPU: unpinned, the children of the two programs end on one CPU in different shares of their runs, and that decides the time.
fn judged_barrier(found: &Found<'_>) -> Option<Judged> {
    let gain = |count: u64| {
        let minimum = |kind: &str| found.repeated(&switches("same_cpu", kind, count), quantity::MINIMUM);
        quotient(&minimum("no_barrier")?, &minimum("barrier")?)
    };
    let (few, many) = (gain(20)?, gain(LONGEST)?);
    Some((
        of_parts(&[within(&few, 1.1, f64::MAX), more(&few, &many)]),
        format!(
            "on one CPU without the barrier, 20 in a row take {} of the time and 20 000 take {}; 1.1 and more is significant",
            times(&few),
            times(&many)
        ),
    ))
}

fn barrier(found: &Found<'_>) -> Option<String> {
    let each = |count: u64| -> Option<String> {
        let us = |kind: &str| {
            let total = found.literal(&switches("same_cpu", kind, count), quantity::MINIMUM)?;
            Some(total / 1e3 / count as f64)
        };
        Some(format!(
            "{} in a row {:.2} instead of {:.2} us",
            grouped(count),
            us("no_barrier")?,
            us("barrier")?
        ))
    };
    let told: Option<Vec<String>> = SWITCHES.iter().map(|&(count, ..)| each(count)).collect();
    Some(format!("minima, as there: a switch without the barrier takes, on one CPU, {}", told?.join(", ")))
}

fn spread(found: &Found<'_>) -> Option<String> {
    let each = |tag: &str| -> Option<String> {
        let of = |count: u64| found.literal(&switches(tag, "barrier", count), quantity::SPREAD);
        let spreads: Vec<f64> = SWITCHES.iter().map(|&(count, ..)| of(count)).collect::<Option<_>>()?;
        let (least, most) =
            (spreads.iter().copied().fold(f64::MAX, f64::min), spreads.iter().copied().fold(0.0, f64::max));
        Some(from_to(least * 100.0, most * 100.0, " %"))
    };
    Some(format!(
        "over 4 or 5 runs of each kind the printed minimum varies by {} on one CPU, by {} unpinned",
        each("same_cpu")?,
        each("unpinned")?
    ))
}

/// The document could not see where its children ran; here both said so at the end. Linux has no affinity tags: what stands
/// for the same tag is pinned, so it is on one CPU by construction, and of the three suppositions only half can be seen.
fn placed(found: &Found<'_>) -> Judged {
    let shares: Option<Vec<f64>> = SWITCHES
        .iter()
        .map(|&(count, ..)| found.literal(&switches("unpinned", "barrier", count), quantity::SHARED_CPU))
        .collect();
    let seen = shares.map_or(String::new(), |shares| {
        let share = shares.iter().sum::<f64>() / shares.len() as f64;
        format!("; without them the two ended on one CPU in {:.0} % of the runs here", share * 100.0)
    });
    (Judgement::NotTestableHere, format!("Linux has no affinity tags{seen}"))
}

#[cfg(test)]
mod tests;
