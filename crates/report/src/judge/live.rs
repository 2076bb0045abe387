//! Two sides measured in alternating launches, A B B A: the rounds are paired, so a drift of the machine cancels.

use oscost_results::{Figure, Mark, RunResult, Status};
use oscost_stats::compare::Change;
use oscost_stats::drift::Drift;
use oscost_stats::interval::{Centre, FEWEST_LAUNCHES, MEDIAN};
use oscost_stats::sorting::SmallSort;

use super::asked::{Asked, Question};
use super::figure::{Sides, grain, no_ratio, pair_up};
use super::quantity::{clearly_best, launches, quantile_of, refusal, unit};
use super::verdict::pronounce;
use super::{Compared, Comparison, Rules, Verdict, by_size, ids, mark_baselines, surrounded, surroundings};
use crate::named::Named;

/// What is left of a drift that is no straight line within a round: it is added at both ends of every interval.
const LEAST: f64 = 0.005;

/// What rounds say so far.
#[derive(Debug)]
#[non_exhaustive]
pub struct LiveLook<'a> {
    /// The comparison.
    pub comparison: Comparison<'a>,
    /// More rounds may answer more.
    pub open: bool,
}

/// Compares sides of which result 2k and 2k + 1 belong to round k; neither may be empty. Surroundings and evidence are
/// those of the first results; every figure is judged by the rounds in which it was measured four times.
#[must_use]
pub fn compare_live<'a>(a: &[Named<'a>], b: &[Named<'a>], rules: Rules<'_>) -> Comparison<'a> {
    look_live(a, b, rules, 1.0).comparison
}

/// The same at one of several looks, which may spend this share of every chance of an error.
#[must_use]
pub fn look_live<'a>(a: &[Named<'a>], b: &[Named<'a>], rules: Rules<'_>, share: f64) -> LiveLook<'a> {
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else {
        unreachable!("neither side is empty");
    };
    let machine = surroundings::machine(&first_a.result.machine, &first_b.result.machine);
    // One launch does not tell how fast the core is; rounds do not ask.
    let mut comparison = surrounded(first_a, first_b, machine, rules);
    comparison.narrower = "measure more rounds (--rounds)";
    let other_machine = !comparison.machine.is_empty() && !rules.cross_machine;
    let between_machines = rules.between_machines(&comparison.machine);
    let mut asked = Vec::new();
    let mut open = false;
    for id in ids(a, b).into_iter().filter(|id| rules.asks(id)) {
        // The first launch may lack what later ones have.
        let [from_a, from_b] =
            [a, b].map(|side| side.iter().position(|named| figure(named.result, id).is_some()).unwrap_or(0));
        let sides = Sides::new(&a[from_a..=from_a], &b[from_b..=from_b], between_machines);
        if let Some((of_a, of_b)) = pair_up(id, &sides, &mut comparison) {
            let first = [of_a[0], of_b[0]];
            asked.extend(ask(first, &sides, [a, b], other_machine, &mut open));
        }
    }
    comparison.rows = pronounce(asked, rules.threshold, share);
    open |= comparison.rows.iter().any(|row| row.verdict == Verdict::Unclear && row.change.is_some());
    mark_baselines(&mut comparison.rows, a, b, rules);
    comparison.rows.small_sort_by(by_size);
    LiveLook { comparison, open }
}

fn figure<'a>(result: &'a RunResult, id: &str) -> Option<&'a Figure> {
    result.figures.iter().find(|figure| figure.id == id && figure.status == Status::Measured)
}

/// A quantity of an id in each result of a side, of the launches that it has.
fn values(side: &[Named<'_>], id: &str, quantity: &str) -> Vec<Option<f64>> {
    let value = |named: &Named<'_>| {
        let found = launches(&[figure(named.result, id)?], quantity).pop()?;
        Some(Centre::of(&found, quantile_of(quantity))?.value)
    };
    side.iter().map(value).collect()
}

/// Rounds in which a quantity was measured four times: twice in A, twice in B.
fn rounds(of: [&[Named<'_>]; 2], id: &str, quantity: &str) -> Vec<[f64; 4]> {
    let [a, b] = of.map(|side| values(side, id, quantity));
    let rounds = a.chunks_exact(2).zip(b.chunks_exact(2));
    rounds.filter_map(|(a, b)| Some([a[0]?, a[1]?, b[0]?, b[1]?])).collect()
}

/// The change that rounds show.
fn change(rounds: &[[f64; 4]], grain: f64) -> Option<Change> {
    let positive = rounds.iter().flatten().all(|value| *value > 0.0);
    let ratios: Vec<f64> = rounds.iter().map(|[a1, a2, b1, b2]| (b1 * b2 / (a1 * a2)).sqrt()).collect();
    Change::of_rounds(&ratios, grain).filter(|_| positive)
}

/// What is asked about an id, of which these are the first figures: the ratio of its rounds. `open` is set where more rounds
/// are needed to ask it.
fn ask(
    first: [&Figure; 2],
    sides: &Sides<'_>,
    of: [&[Named<'_>]; 2],
    other_machine: bool,
    open: &mut bool,
) -> Option<Asked> {
    let [a, b] = first;
    // A launch without a quiet window lacks what is judged otherwise: enough rounds must have it.
    let names = [sides.common(&first)?, a.headline.clone()];
    let enough = |name: &&String| rounds(of, &a.id, name).len() >= FEWEST_LAUNCHES;
    let named = names.iter().find(enough).unwrap_or(&names[1]);
    // Which quantity, is asked of the scatter of the rounds, never of what they show.
    let quantity = clearly_best(named, |quantity| {
        let rounds = rounds(of, &a.id, quantity);
        let enough = rounds.len() >= FEWEST_LAUNCHES && sides.may_judge(quantity);
        change(&rounds, 0.0).filter(|_| enough).map(|change| change.moved().1)
    });
    let rounds = rounds(of, &a.id, quantity);
    let mut row = Compared::blank(a.id.clone(), quantity, unit(a, quantity));
    let known =
        |side: &[Named<'_>]| [values(side, &a.id, quantity).into_iter().flatten().collect::<Vec<f64>>()];
    row.a = sides.estimate(&of[0][..1], &known(of[0]), MEDIAN, Drift::NONE);
    row.b = sides.estimate(&of[1][..1], &known(of[1]), MEDIAN, Drift::NONE);
    let machine = other_machine.then(|| "another machine".to_owned());
    if let Some(why) = machine.or_else(|| sides.mixed_methods()).or_else(|| refusal(&first, quantity)) {
        row.why = why;
        return Some(Asked { row, question: Question::Answered, kin: None });
    }
    if rounds.len() < FEWEST_LAUNCHES {
        *open = true;
        row.why = format!(
            "{} rounds measured it on both sides, and at least {FEWEST_LAUNCHES} are needed",
            rounds.len()
        );
        return Some(Asked { row, question: Question::Answered, kin: None });
    }
    let grain = LEAST + grain(a, of[0]) + grain(b, of[1]);
    let Some(change) = change(&rounds, grain) else {
        no_ratio(&known(of[0]), &known(of[1]), &mut row);
        return Some(Asked { row, question: Question::Answered, kin: None });
    };
    let all = || of.into_iter().flatten().flat_map(|named| &named.result.figures).filter(|it| it.id == a.id);
    let noisy = all().filter(|it| it.status == Status::Measured && it.marks.contains(&Mark::Noisy)).count();
    let withheld = all().filter(|it| it.status == Status::Contradicted).count();
    let told = [(noisy, "noisy"), (withheld, "withheld")].into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
    if !told.is_empty() {
        row.why = format!("{} of {} results", told.join(", "), of[0].len() + of[1].len());
    }
    Some(Asked {
        row,
        question: Question::Open { change, beside: None, hold: sides.hold_in_turn(), neighbour: None },
        kin: None,
    })
}
