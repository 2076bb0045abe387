//! Turns counts into figures: subtracts the batch's own instructions, finds the most frequent count, explains the others.

use std::collections::BTreeMap;

use oscost_harness::{Card, apart};
use oscost_results::{Counted, Estimate, Figure, InstructionCount, Quantity, Repeats, Status};

use crate::message::{CountOutcome, CountRow, InstructionCounts};
use crate::trace::Followed;
use crate::unusual::difference;

/// Name and unit of the quantity.
pub const INSTRUCTIONS: &str = "instructions";
/// A machine that was idle for more of the time counted time, not instructions.
const IDLE: f64 = 0.001;
/// A batch has no more instructions of its own than this.
const MOST_FRAME: u64 = 1000;
/// So many of the most frequent values explain batches of several.
const VALUES: usize = 4;

const NOTHING: &str = "the guest counted no operation";
const NOT_APART: &str = "the batch's own instructions could not be told apart, and are in this figure";

/// The figure of one id from its rows of every boot that nobody stopped, and from what was followed in another, beside that
/// boot's row.
#[must_use]
pub fn of_rows(card: &Card, rows: &[&CountRow], followed: Option<(&Followed, &CountRow)>) -> Figure {
    let mut figure = apart::blank_figure(card);
    INSTRUCTIONS.clone_into(&mut figure.headline);
    let mut all = Vec::new();
    for row in rows {
        match &row.outcome {
            // Nothing that was counted is no count of 0.
            CountOutcome::Counted(counts) if counts.ones.is_empty() => {
                apart::withhold(&mut figure, Status::Failed, NOTHING.to_owned(), String::new());
                return figure;
            }
            CountOutcome::Counted(counts) => all.push(counts),
            CountOutcome::Unsupported { why, remedy } => {
                apart::withhold(&mut figure, Status::Unsupported, why.clone(), remedy.clone());
                return figure;
            }
            CountOutcome::Failed(why) => {
                apart::withhold(&mut figure, Status::Failed, why.clone(), String::new());
                return figure;
            }
        }
    }
    let (Some(first), Some(row)) = (all.first(), rows.first()) else {
        apart::withhold(&mut figure, Status::Failed, "the guest did not answer".to_owned(), String::new());
        return figure;
    };
    figure.evidence = row.evidence(first).0;
    let judged = rows.iter().zip(&all).map(|(row, counts)| row.evidence(counts));
    if let Some((evidence, Some(why))) = judged.into_iter().find(|(_, why)| why.is_some()) {
        figure.evidence = evidence;
        apart::withhold(&mut figure, Status::Contradicted, why, String::new());
        return figure;
    }
    let idle_share = all.iter().map(|counts| counts.idle_share).fold(0.0, f64::max);
    if idle_share > IDLE {
        let share = idle_share * 100.0;
        // One reason for all that sleep: how much each did is its own.
        let why =
            "it sleeps, and nothing is executed for a part of its time while the clock runs on".to_owned();
        figure.remarks.push(format!("it slept for {share:.0} % of its time"));
        apart::withhold(&mut figure, Status::Unsupported, why, String::new());
        return figure;
    }
    let split = Split::of(first);
    let boots: Vec<Vec<Counted>> = all.iter().map(|counts| values(&counts.ones, split.frame)).collect();
    let usual = most_frequent(&boots[0]);
    // Step by step nothing of the batch is in an iteration: beside a figure that holds it, each would be another one.
    let otherwise = followed.filter(|_| split.is_sure);
    let otherwise = otherwise.and_then(|(followed, row)| took_otherwise(followed, row, usual));
    let repeats = match &boots[..] {
        [first, rest @ ..] if rest.iter().any(|boot| boot != first) => Repeats::Varies,
        [first, ..] if first.len() == 1 && otherwise.is_some() => Repeats::Varies,
        [first, ..] if first.len() == 1 => Repeats::Constant,
        _ => Repeats::Reproducible,
    };
    let every = || boots.iter().flatten().map(|value| value.instructions);
    let operations = card.operations_per_iteration.max(1) as f64;
    let an_operation = |instructions: u64| instructions as f64 / operations;
    let estimate = Estimate {
        value: an_operation(usual),
        low: an_operation(every().min().unwrap_or(usual)),
        high: an_operation(every().max().unwrap_or(usual)),
        extremes: true,
    };
    let unit = INSTRUCTIONS.to_owned();
    figure
        .quantities
        .insert(INSTRUCTIONS.to_owned(), Quantity { estimate, unit, unknown: serde_json::Map::default() });
    figure.status = Status::Measured;
    let why = (repeats != Repeats::Constant).then(|| {
        let mut words = reported(&boots[0], usual);
        words.extend(causes(first, usual, split.frame));
        if let Some(other) = boots.iter().find(|boot| **boot != boots[0]) {
            words.push(match shift(&boots[0], other) {
                Some(by) => format!("boots differ, in another each takes {by}"),
                None => format!("boots differ, in another {}", reported(other, usual).join("; ")),
            });
        }
        words.extend(otherwise.filter(|_| boots.iter().all(|boot| boot.len() == 1)));
        // The figure is of an operation, these are not.
        let several = (operations > 1.0).then(|| format!("iterations of {operations} operations: "));
        several.unwrap_or_default() + &words.join("; ")
    });
    // A remark, as a count that repeats has no reason to say.
    figure.remarks.extend((!split.is_sure).then(|| NOT_APART.to_owned()));
    let functions = followed.and_then(|(followed, _)| followed.functions.as_ref().ok()).cloned();
    if let Some((followed, row)) = followed {
        figure.remarks.extend(disagreement(followed, row, first, (usual, split, repeats)));
    }
    figure.count = Some(InstructionCount {
        repeats,
        values: boots.into_iter().next().unwrap_or_default(),
        boots: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        frame: split.frame,
        why,
        functions: functions.unwrap_or_default(),
        unknown: serde_json::Map::default(),
    });
    figure
}

/// What the iterations that were followed took, where both instruments saw another number than before: an operation whose way
/// depends on the time is not constant, however often one moment was counted.
fn took_otherwise(followed: &Followed, row: &CountRow, usual: u64) -> Option<String> {
    let CountOutcome::Counted(counts) = &row.outcome else { return None };
    let other = followed.each.iter().copied().find(|&each| each != usual)?;
    let agree = followed.between_readings == Some(counts.followed);
    agree.then(|| format!("iterations that were traced later take {}", difference(other, usual)))
}

/// What the two instruments say of each other, where they do not agree: the guest's clock, and the log of executed
/// instructions from outside.
fn disagreement(
    followed: &Followed,
    row: &CountRow,
    unstopped: &InstructionCounts,
    (usual, split, repeats): (u64, Split, Repeats),
) -> Vec<String> {
    let mut words = Vec::new();
    let sum = match &followed.functions {
        Ok(functions) => functions.iter().map(|node| node.own).sum(),
        Err(why) => {
            words.push(format!("{}: {why}", crate::NO_TREE));
            usual
        }
    };
    let CountOutcome::Counted(stopped) = &row.outcome else { return words };
    // The clock of the machine that was followed; what is constant is the same in the one that nobody stopped.
    let mut clocks = vec![stopped.followed];
    if repeats == Repeats::Constant {
        clocks.push(unstopped.followed);
        if let Some(other) = followed.each.iter().find(|&&each| split.is_sure && each != usual) {
            words.push(format!(
                "the two instruments disagree on one iteration: {usual} by the clock, {other} step by step"
            ));
        }
    } else if sum != usual {
        words.push(format!("the tree is of an iteration that took {sum}"));
    }
    words.extend(followed.unusual.iter().map(|unusual| unusual.reported(sum)));
    if let Some(seen) = followed.between_readings
        && let Some(clock) = clocks.into_iter().find(|&clock| clock != seen)
    {
        let count = followed.iterations;
        words.push(format!(
            "the two instruments disagree on {count} iterations: {clock} by the clock, {seen} step by step"
        ));
    }
    words
}

/// Every value with how often it came, smallest first.
fn values(ones: &[u64], frame: u64) -> Vec<Counted> {
    let mut times: BTreeMap<u64, u32> = BTreeMap::new();
    for one in ones {
        *times.entry(one.saturating_sub(frame)).or_default() += 1;
    }
    times.into_iter().map(|(instructions, times)| Counted { instructions, times }).collect()
}

/// The most frequent value; the smallest of those.
fn most_frequent(values: &[Counted]) -> u64 {
    let most = values.iter().map(|value| value.times).max().unwrap_or(0);
    values.iter().find(|value| value.times == most).map_or(0, |value| value.instructions)
}

/// "59 of 64 take 9827, 3 take 163 more"
fn reported(values: &[Counted], usual: u64) -> Vec<String> {
    const SHOWN: usize = 4;
    let all: u32 = values.iter().map(|value| value.times).sum();
    let mut others: Vec<&Counted> = values.iter().filter(|value| value.instructions != usual).collect();
    others.sort_by_key(|value| std::cmp::Reverse(value.times));
    let own = values.iter().find(|value| value.instructions == usual).map_or(0, |value| value.times);
    let mut parts = vec![format!("{own} of {all} take {usual}")];
    let one = |value: &&Counted| format!("{} take {}", value.times, difference(value.instructions, usual));
    parts.extend(others.iter().take(SHOWN).map(one));
    if others.len() > SHOWN {
        parts.push(format!("{} others in between or beyond", others.len() - SHOWN));
    }
    vec![parts.join(", ")]
}

/// By how much all counts of another boot differ, where it is the same: "3 more". So it is where the kernel draws by lot in which
/// page of its block an object lies (CONFIG_SLAB_FREELIST_RANDOM).
fn shift(boot: &[Counted], other: &[Counted]) -> Option<String> {
    let (first, there) = (boot.first()?.instructions, other.first()?.instructions);
    let alike = |(a, b): (&Counted, &Counted)| {
        a.times == b.times && a.instructions.checked_sub(first) == b.instructions.checked_sub(there)
    };
    if first == there || boot.len() != other.len() || !boot.iter().zip(other).all(alike) {
        return None;
    }
    Some(difference(there, first))
}

/// Why operations differ, as far as the counts show it.
fn causes(counts: &InstructionCounts, usual: u64, frame: u64) -> Vec<String> {
    let mut words = Vec::new();
    if counts.met_timer {
        words.push(format!("long enough to meet the timer's tick ({} each)", counts.tick_cost));
    }
    if let Some(faults) = counts.faults.filter(|&faults| faults > 0.0) {
        words.push(format!("{faults:.2} page faults an operation"));
    }
    let unusual: Vec<usize> =
        (0..counts.ones.len()).filter(|&index| counts.ones[index].saturating_sub(frame) != usual).collect();
    let gaps: Vec<usize> = unusual.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if let [first, rest @ ..] = &gaps[..]
        && !rest.is_empty()
        && *first > 1
        && rest.iter().all(|gap| gap == first)
    {
        words.push(format!("one of these comes every {first} iterations"));
    }
    words
}

/// What belongs to the batch and not to its iterations: entry, exit, the readings of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Split {
    frame: u64,
    /// Batches of two and of four confirm it.
    is_sure: bool,
}

impl Split {
    /// The frame f for which a batch of one is x + f, of two x + y + f, of four the sum of four iterations + f.
    fn of(counts: &InstructionCounts) -> Self {
        let ones = values(&counts.ones, 0);
        let usual = |batches: &[u64]| most_frequent(&values(batches, 0));
        let (one, two, four) = (usual(&counts.ones), usual(&counts.twos), usual(&counts.fours));
        let guess = (2 * one).checked_sub(two);
        if let Some(frame) = guess.filter(|&frame| frame <= MOST_FRAME && four + 3 * frame == 4 * one) {
            return Self { frame, is_sure: true };
        }
        // Where iterations differ, the frame is the one that explains the most batches by values that came.
        let mut frequent = ones;
        frequent.sort_by_key(|value| std::cmp::Reverse(value.times));
        let known: Vec<u64> = frequent.iter().take(VALUES).map(|value| value.instructions).collect();
        let pairs: Vec<u64> = known.iter().flat_map(|a| known.iter().map(move |b| a + b)).collect();
        let fours: Vec<u64> = pairs.iter().flat_map(|a| pairs.iter().map(move |b| a + b)).collect();
        let explained = |frame: u64| {
            let twos = counts.twos.iter().filter(|&&two| pairs.contains(&(two + frame))).count();
            twos + counts.fours.iter().filter(|&&four| fours.contains(&(four + 3 * frame))).count()
        };
        let near = guess.unwrap_or(0);
        let best = (0..=MOST_FRAME).max_by_key(|&frame| {
            (explained(frame), std::cmp::Reverse(frame.abs_diff(near)), std::cmp::Reverse(frame))
        });
        let frame = best.unwrap_or(0);
        let all = counts.twos.len() + counts.fours.len();
        let enough = all > 0 && 2 * explained(frame) > all;
        if enough { Self { frame, is_sure: true } } else { Self { frame: 0, is_sure: false } }
    }
}

#[cfg(test)]
mod tests;
