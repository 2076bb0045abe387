//! The statements of document 004 and what this machine says of them.

use oscost_results::{Estimate, Judgement};

use super::{CROSS, READ, READS, SAME, SWITCHES, TAGS, reads, switches, timestamps};
use crate::found::{Found, Judged, Rows, holds_if, judged, times, within};
use crate::parameters::Parameters;

pub(super) fn statements(found: &Found<'_>, parameters: &Parameters, rows: &mut Rows) {
    let cold = timestamps("cold", parameters);
    let touched = timestamps("touched", parameters);
    rows.statement(
        "Precision of gettimeofday",
        "very rarely there can be a difference of many microseconds between two calls (215 times, ~0.2%)",
        judged(many(found, &cold, &touched, parameters.samples)),
    );
    rows.statement(
        "Precision of gettimeofday",
        "a long-tailed distribution with the approximate shape of an exponential distribution",
        judged(found.literal(&cold, "fit_distance").map(|distance| {
            (
                holds_if(distance < 0.1),
                format!(
                    "the distribution of the steps lies {distance:.2} from the exponential one of the same mean (Kolmogorov's \
                     distance; under 0.1 counts as approximate)"
                ),
            )
        })),
    );
    rows.statement(
        "Precision of gettimeofday",
        "it has a minimum of 40 nanoseconds",
        judged(found.floor("clock/gettimeofday").map(|floor| {
            (
                within(&floor, 36.0, 44.0),
                format!(
                    "{:.1} ns ({:.1} .. {:.1}) here; 36 to 44 count as holding",
                    floor.value, floor.low, floor.high
                ),
            )
        })),
    );
    rows.by("clock/gettimeofday", "floor", found.floor("clock/gettimeofday"));
    rows.statement(
        "The cost of a system call",
        "clock adjustments did not affect this result",
        judged(adjusted(found, &cold, &touched)),
    );
    rows.statement(
        "The cost of a system call",
        "all the runs took the minimum amount of time or very close to it",
        judged(near_minimum(found)),
    );
    rows.statement(
        "The cost of a system call",
        "our best estimate of the overhead of a system call is ~300 nanoseconds",
        judged(found.floor(READ).zip(found.floor("syscall/invalid")).map(|(read, entry)| {
            (
                within(&read, 270.0, 330.0),
                format!(
                    "a read of 0 bytes costs {:.0} ns ({:.0} .. {:.0}) here, of which {:.0} ns are an empty kernel entry; 270 to \
                     330 count as holding",
                    read.value, read.low, read.high, entry.value
                ),
            )
        })),
    );
    rows.by(READ, "floor", found.floor(READ));
    rows.statement(
        "The cost of a context switch",
        "the two child processes might be scheduled onto different processors, which will give us the wrong result",
        judged(found.floor(SAME).zip(found.floor(CROSS)).map(|(same, cross)| {
            (
                holds_if(cross.low > same.high),
                format!("{:.2} us on one CPU, {:.2} us across two", same.value / 1000.0, cross.value / 1000.0),
            )
        })),
    );
    rows.by(CROSS, "floor", found.floor(CROSS));
    rows.statement(
        "The cost of a context switch",
        "a start barrier can significantly lower measurements, especially when only a small number of switches are measured",
        judged(barrier(found)),
    );
    rows.statement(
        "The cost of a context switch",
        "Running this multiple times produces outputs that vary by as much as 20%",
        judged(spread(found)),
    );
    for (words, hypothesis) in [
        (
            "(1) regardless of the tags, both are being scheduled to different processors",
            Hypothesis::Different,
        ),
        ("(2) regardless of the tags, ... the same processor", Hypothesis::Same),
        (
            "(3) the same processor for one setting of the tag and different ones for the other",
            Hypothesis::OneOfEach,
        ),
    ] {
        rows.statement("The cost of a context switch", words, judged(placed(found, hypothesis)));
    }
    rows.statement(
        "The cost of a context switch",
        "(3) ... in which case a write then read on a pipe across processors takes about as long as a context switch",
        judged(found.floor(SAME).zip(found.floor(CROSS)).map(|(same, cross)| {
            let ratio = Estimate {
                value: cross.value / same.value,
                low: cross.low / same.high,
                high: cross.high / same.low,
                extremes: same.extremes || cross.extremes,
            };
            (within(&ratio, 0.8, 1.25), format!("{}; 0.8 to 1.25 count as about as long", times(&ratio)))
        })),
    );
    rows.by(CROSS, "floor", found.floor(CROSS));
    rows.statement(
        "The cost of a context switch",
        "On macOS there is no way to guarantee that two processes get executed on the same processor",
        (
            Judgement::NotTestableHere,
            "a statement on macOS; here sched_setaffinity guarantees it, and every launch checks it"
                .to_owned(),
        ),
    );
    rows.statement(
        "last sentence",
        "These results should be compared against the results given by the lmbench tool",
        (
            Judgement::NotTestableHere,
            "no statement, but a wish: the table at the end has lmbench beside ours, where it is found (--lmbench DIR). Its \
             lat_ctx -s 0 2 subtracts the pipe's price in one process: compare it with the hop \
             minus the pipe (context_switch/pipe, without pipe_alone); lat_pipe is a round trip: two hops; lat_syscall null is \
             getppid through libc, read is one byte: syscall/read1"
                .to_owned(),
        ),
    );
}

/// A clock that was set back would show a backward step.
fn adjusted(found: &Found<'_>, cold: &str, touched: &str) -> Option<Judged> {
    let series = found.quantity("clock/step/gettimeofday", "backward_steps")?.value;
    let literal = found.literal(cold, "backward_steps")? + found.literal(touched, "backward_steps")?;
    Some((
        holds_if(series == 0.0 && literal == 0.0),
        format!(
            "backward steps seen: {literal:.0} in the literal runs, {series:.0} in the price list's series"
        ),
    ))
}

/// Rare is under one in a hundred.
fn many(found: &Found<'_>, cold: &str, touched: &str, samples: u64) -> Option<Judged> {
    let share = |id: &str, quantity: &str| Some(found.literal(id, quantity)? / samples as f64 * 100.0);
    let (far, over) = (share(cold, "steps_over_10us")?, share(cold, "steps_over_1us")?);
    let over_touched = share(touched, "steps_over_1us")?;
    Some((
        holds_if(far > 0.0 && far < 1.0),
        format!(
            "{far:.3} % of the steps over 10 us, {over:.3} % over 1 us; {over_touched:.3} % over 1 us with the array touched \
             before: what it does not have are page faults of the array (ours)"
        ),
    ))
}

fn near_minimum(found: &Found<'_>) -> Option<Judged> {
    let shares: Option<Vec<f64>> =
        READS.iter().map(|&(count, _)| found.literal(&reads(count), "near_minimum")).collect();
    let shares = shares?;
    let least = shares.iter().copied().fold(1.0, f64::min);
    let list: Vec<String> = shares.iter().map(|share| format!("{:.0} %", share * 100.0)).collect();
    Some((
        holds_if(least >= 0.95),
        format!("{} of the runs of 100, 1000 and 10 000 reads (95 % counts as all)", list.join(", ")),
    ))
}

fn barrier(found: &Found<'_>) -> Option<Judged> {
    let gain = |count: u64| -> Option<f64> {
        let with = found.literal(&switches("unpinned", "barrier", count), "median")?;
        let without = found.literal(&switches("unpinned", "no_barrier", count), "median")?;
        (with > 0.0).then(|| without / with - 1.0)
    };
    let (few, many) = (gain(20)?, gain(20_000)?);
    Some((
        holds_if(few > 0.1 && few > many),
        format!(
            "without it the median of 20 in a row is {:+.0} %, of 20 000 {:+.0} % (single runs, unpinned)",
            few * 100.0,
            many * 100.0
        ),
    ))
}

fn spread(found: &Found<'_>) -> Option<Judged> {
    let spreads: Option<Vec<f64>> = TAGS
        .iter()
        .flat_map(|(tag, _)| SWITCHES.map(|(count, ..)| switches(tag, "barrier", count)))
        .map(|id| found.literal(&id, "spread"))
        .collect();
    let spreads = spreads?;
    let (least, most) =
        (spreads.iter().copied().fold(f64::MAX, f64::min), spreads.iter().copied().fold(0.0, f64::max));
    Some((
        holds_if(most <= 0.2),
        format!(
            "the minimum that the program prints varies by {:.0} % to {:.0} % over 4 or 5 runs of each kind",
            least * 100.0,
            most * 100.0
        ),
    ))
}

/// Where the document supposes that its two children ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hypothesis {
    Different,
    Same,
    OneOfEach,
}

/// The document could not see where its children ran; here both said so at the end. A setting puts them on one CPU, or on
/// two, if nine runs in ten ended so.
fn placed(found: &Found<'_>, hypothesis: Hypothesis) -> Option<Judged> {
    let share = |tag: &str| -> Option<f64> {
        let shares: Option<Vec<f64>> = SWITCHES
            .iter()
            .map(|&(count, ..)| found.literal(&switches(tag, "barrier", count), "shared_cpu"))
            .collect();
        let shares = shares?;
        Some(shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let (free, tagged) = (share("unpinned")?, share("same_cpu")?);
    let (one, two) = (|share: f64| share >= 0.9, |share: f64| share <= 0.1);
    let holds = match hypothesis {
        Hypothesis::Different => two(free) && two(tagged),
        Hypothesis::Same => one(free) && one(tagged),
        Hypothesis::OneOfEach => (one(free) && two(tagged)) || (two(free) && one(tagged)),
    };
    Some((
        holds_if(holds),
        format!(
            "they ended on one CPU in {:.0} % of the runs without tags, in {:.0} % with the same tag (here: pinned)",
            free * 100.0,
            tagged * 100.0
        ),
    ))
}
