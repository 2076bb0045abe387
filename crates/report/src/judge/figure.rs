//! One figure on both sides: which quantity is judged, or why the figure is not judged.

use std::collections::BTreeSet;

use oscost_results::{Estimate, Figure, Mark, RunResult, Status};
use oscost_stats::compare::{Change, FEWEST_BOOTS};
use oscost_stats::drift::Drift;
use oscost_stats::interval::{Interval, LOWER_QUARTILE, MEDIAN, over_launches, over_launches_drifting};

use super::asked::{Asked, Kin, Neighbour, Question};
use super::null::{calls, is_disturbed};
use super::past::Learning;
use super::quantity::{
    FEW, FLOOR, clearly_best_way, common, common_in_time, is_on_one_cpu, launches, quantile_of, refusal,
    time_of, unit,
};
use super::{
    Compared, Comparison, NOTHING, OneSided, Verdict, core_speed, evidence, other_cpu, stays, version_one,
};
use crate::named::Named;
use crate::words::plain;

/// Probability left out at each end of an interval of it.
const OUTSIDE: f64 = 0.025;

/// What a side has of a figure, in words.
fn state(figure: &Figure) -> String {
    let why = figure.why.as_deref().map_or(String::new(), |why| format!(": {}", plain(why, true)));
    match figure.status {
        Status::Measured => "measured".to_owned(),
        Status::Unsupported => format!("unsupported{why}"),
        Status::Failed => format!("failed{why}"),
        Status::Contradicted => format!("withheld{why}"),
        Status::Withdrawn => format!("withdrawn{why}"),
        Status::Unknown => format!("in an unknown state{why}"),
    }
}

/// Both sides, and what a verdict on them may rest on.
pub(super) struct Sides<'a> {
    pub a: &'a [Named<'a>],
    pub b: &'a [Named<'a>],
    /// They are of two machines ([`Rules`](super::Rules)).
    pub between_machines: bool,
    ground: Ground,
    /// Each result says of which boot it is.
    boots_are_known: bool,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// Launches of one run a side, both of one boot.
    Launches,
    /// The same, of two boots, or of boots that are not known.
    TwoBoots,
    /// Several runs a side, all of one boot.
    Runs,
    /// So many boots a side.
    Boots(usize, usize),
}

fn boot<'a>(named: &Named<'a>) -> Option<&'a str> {
    named.result.conditions.boot_id.as_deref().filter(|boot| !boot.is_empty())
}

/// Whether a result of each side is of one boot, and known to be.
pub(super) fn share_a_boot(a: &[Named<'_>], b: &[Named<'_>]) -> bool {
    a.iter().filter_map(boot).any(|of_a| b.iter().filter_map(boot).any(|of_b| of_a == of_b))
}

impl<'a> Sides<'a> {
    pub(super) fn new(a: &'a [Named<'a>], b: &'a [Named<'a>], between_machines: bool) -> Self {
        let boots = |side: &[Named<'a>]| side.iter().map(boot).collect::<BTreeSet<Option<&str>>>();
        let (of_a, of_b) = (boots(a), boots(b));
        let boots_are_known = !of_a.contains(&None) && !of_b.contains(&None);
        let one = of_a == of_b && of_a.len() == 1 && boots_are_known;
        let ground = match (a.len().max(b.len()), one) {
            (..=1, true) => Ground::Launches,
            (..=1, false) => Ground::TwoBoots,
            (_, true) => Ground::Runs,
            // Runs of a boot that is not known are of one, for all that is known.
            (_, false) => Ground::Boots(of_a.len(), of_b.len()),
        };
        Self { a, b, between_machines, ground, boots_are_known }
    }

    /// What a reader must know of sides of several results.
    pub(super) fn mixed(&self) -> Option<String> {
        match self.ground {
            Ground::Launches | Ground::TwoBoots => None,
            Ground::Runs => Some(
                "all results are of one boot: the verdicts rest on its runs, and another boot may differ"
                    .to_owned(),
            ),
            Ground::Boots(a, b) if a.min(b) < FEWEST_BOOTS && !self.between_machines => {
                let need = format!("slower and faster need at least {FEWEST_BOOTS} a side");
                Some(if self.boots_are_known {
                    format!("the results are of {a} and {b} boots: {need}")
                } else {
                    format!("not all results say of which boot they are: {need}")
                })
            }
            Ground::Boots(..) => None,
        }
    }

    /// Why results of several versions are not held against each other.
    pub(super) fn mixed_methods(&self) -> Option<String> {
        let mut all = self.a.iter().chain(self.b).map(|named| named.result.estimators);
        let first = all.next();
        let mixed = all.any(|estimators| Some(estimators) != first);
        mixed.then(|| "the method changed: results of version 1 are only compared with each other".to_owned())
    }

    /// Both results, where each side has one.
    pub(super) fn single(&self) -> Option<(&'a RunResult, &'a RunResult)> {
        match (self.a, self.b) {
            ([a], [b]) => Some((a.result, b.result)),
            _ => None,
        }
    }

    /// Why a change cannot be called one on this ground; `None` where it can. Who compares machines asks about each as it was found.
    pub(super) fn hold(&self) -> Option<String> {
        let hold = match self.ground {
            _ if self.between_machines => None,
            Ground::TwoBoots => Some(format!(
                "differs between these two boots, which placement alone can cause: compare {FEWEST_BOOTS} boots a side (--before, --after)"
            )),
            Ground::Boots(a, b) if a.min(b) < FEWEST_BOOTS => Some(format!(
                "differs between these boots, which placement alone can cause: compare {FEWEST_BOOTS} boots a side"
            )),
            Ground::Launches | Ground::Runs | Ground::Boots(..) => None,
        };
        let unknown = "differs, which placement alone can cause between boots, and not all results say of which boot they are";
        hold.map(|hold| if self.boots_are_known { hold } else { unknown.to_owned() })
    }

    /// The same of commands that ran in turn: where none knows its boot, they had one.
    pub(super) fn hold_in_turn(&self) -> Option<String> {
        let says_nothing = |side: &[Named<'_>]| side.iter().all(|named| boot(named).is_none());
        self.hold().filter(|_| !says_nothing(self.a) || !says_nothing(self.b))
    }

    /// The change between values of both sides: one list of launches a result. `q` is the quantile over launches.
    pub(super) fn change(
        &self,
        a: &[Vec<f64>],
        b: &[Vec<f64>],
        q: f64,
        grain: f64,
        drift: Drift,
    ) -> Option<Change> {
        match self.ground {
            Ground::Launches | Ground::TwoBoots => Change::between(a.first()?, b.first()?, q, grain, drift),
            Ground::Runs | Ground::Boots(..) => {
                let (of_a, of_b) = (self.units(self.a, a, q)?, self.units(self.b, b, q)?);
                // Fewer boots than tell anything are shown by what their runs say.
                Change::between_boots(&of_a, &of_b, grain)
                    .or_else(|| Change::between(&of_a, &of_b, MEDIAN, grain, drift))
            }
        }
    }

    /// The quantity that is named for all of these figures.
    pub(super) fn common(&self, figures: &[&Figure]) -> Option<String> {
        if self.between_machines { common_in_time(figures) } else { common(figures) }
    }

    /// Whether a quantity may be judged: a cycle of one machine takes its own time, so cycles say nothing between two.
    pub(super) fn may_judge(&self, quantity: &str) -> bool {
        !self.between_machines || time_of(quantity) == quantity
    }

    /// The change in a quantity that may be judged, and of which no result has few launches, by a quantile of them.
    pub(super) fn change_in(
        &self,
        a: &[&Figure],
        b: &[&Figure],
        quantity: &str,
        q: f64,
        learning: &mut Learning<'_>,
    ) -> Option<Change> {
        if !self.may_judge(quantity) {
            return None;
        }
        let all: Vec<&Figure> = a.iter().chain(b).copied().collect();
        let (of_a, of_b) = (launches(a, quantity), launches(b, quantity));
        let few = of_a.iter().chain(&of_b).any(|launches| launches.len() < FEW);
        let drift = learning.drift(&all, quantity);
        self.change(&of_a, &of_b, q, 0.0, drift).filter(|_| !few)
    }

    /// The value of each boot (the mean of its runs, of logarithms), or of each run where all are of one boot. One of two machines is
    /// judged as it was found: by its runs where they are of fewer boots than tell anything.
    fn units(&self, side: &[Named<'_>], launches: &[Vec<f64>], q: f64) -> Option<Vec<f64>> {
        let runs = launches.iter().map(|launches| Some(over_launches(launches, q)?.value));
        let runs = runs.collect::<Option<Vec<f64>>>()?;
        let boots: BTreeSet<Option<&str>> = side.iter().map(boot).collect();
        if self.ground == Ground::Runs || (self.between_machines && boots.len() < FEWEST_BOOTS) {
            return Some(runs);
        }
        let mean = |of: Option<&str>| {
            let own = side.iter().zip(&runs).filter(|(named, _)| boot(named) == of);
            let own: Vec<f64> = own.map(|(_, run)| run.ln()).collect();
            (own.iter().sum::<f64>() / own.len() as f64).exp()
        };
        Some(boots.into_iter().map(mean).collect())
    }

    /// What is shown of a side.
    pub(super) fn estimate(
        &self,
        side: &[Named<'_>],
        launches: &[Vec<f64>],
        q: f64,
        drift: Drift,
    ) -> Estimate {
        if let [launches] = launches {
            let found = over_launches_drifting(launches, q, drift);
            let Some(Interval { value, low, high, extremes }) = found else { return NOTHING };
            return Estimate { value, low, high, extremes };
        }
        let Some(units) = self.units(side, launches, q) else { return NOTHING };
        let value = (units.iter().map(|unit| unit.ln()).sum::<f64>() / units.len() as f64).exp();
        let least = units.iter().copied().fold(f64::INFINITY, f64::min);
        Estimate { value, low: least, high: units.iter().copied().fold(0.0, f64::max), extremes: true }
    }
}

/// The figure of one id in each result of a side.
pub(super) fn of<'a>(side: &[Named<'a>], id: &str) -> Vec<Option<&'a Figure>> {
    side.iter().map(|named| named.result.figures.iter().find(|figure| figure.id == id)).collect()
}

/// The figures where all are measured, else what there is instead.
fn measured<'a>(figures: &[Option<&'a Figure>]) -> Result<Vec<&'a Figure>, (String, Status)> {
    let each = |figure: &Option<&'a Figure>| match figure {
        Some(figure) if figure.status == Status::Measured => Ok(*figure),
        Some(figure) => Err((state(figure), figure.status)),
        None => Err(("not there".to_owned(), Status::Unsupported)),
    };
    figures.iter().map(each).collect()
}

/// The quantity of two runs on one CPU that tells the change best, of those that both have, with the quantile of their launches: what
/// their cards let judge, unless another one is known clearly better. Which one that is, is asked of the scatter of launches, never
/// of the change.
fn narrowest<'q>(
    a: &[&Figure],
    b: &[&Figure],
    named: &'q str,
    sides: &Sides<'_>,
    learning: &mut Learning<'_>,
) -> (&'q str, f64) {
    if sides.single().is_none() {
        return (named, quantile_of(named));
    }
    clearly_best_way(named, |quantity, q| {
        let change = sides.change_in(a, b, quantity, q, learning)?;
        let (low, high) = change.interval(OUTSIDE);
        Some(((1.0 + high) / (1.0 + low)).ln())
    })
}

/// The figures of one id on both sides, a list of results each, where all were measured; else what there is instead is put
/// into the comparison.
pub(super) fn pair_up<'a>(
    id: &str,
    sides: &Sides<'a>,
    into: &mut Comparison<'_>,
) -> Option<(Vec<&'a Figure>, Vec<&'a Figure>)> {
    let (found_a, found_b) = (of(sides.a, id), of(sides.b, id));
    let in_both = found_a.iter().chain(&found_b).all(Option::is_some);
    let (a, b) = match (measured(&found_a), measured(&found_b)) {
        (Ok(a), Ok(b)) => (a, b),
        (a, b) => {
            let blind = |side: &Result<Vec<&Figure>, (String, Status)>| matches!(side, Err((_, status)) if *status != Status::Unsupported);
            let words = |side: &Result<Vec<&Figure>, (String, Status)>| {
                side.as_ref().map_or_else(|(words, _)| words.clone(), |_| "measured".to_owned())
            };
            let one = OneSided {
                id: id.to_owned(),
                a: words(&a),
                b: words(&b),
                blind: blind(&a) || blind(&b),
                in_both,
            };
            // Withheld twice is no news, whatever the reason.
            let is_news = a.is_ok() || b.is_ok();
            if is_news {
                into.one_sided.push(one)
            } else {
                into.neither.push(one)
            }
            return None;
        }
    };
    if let (Some(a), Some(b)) = (a.first(), b.first()) {
        into.evidence.extend(evidence::changed(a, b));
    }
    Some((a, b))
}

/// A row about one id, or `None` where a side has no number of it.
pub(super) fn ask(
    id: &str,
    sides: &Sides<'_>,
    judged: bool,
    learning: &mut Learning<'_>,
    into: &mut Comparison<'_>,
) -> Option<Asked> {
    let (of_a, of_b) = pair_up(id, sides, into)?;
    let (a, b) = (*of_a.first()?, *of_b.first()?);
    let all: Vec<&Figure> = of_a.iter().chain(&of_b).copied().collect();
    if let Some(results) = sides.single().filter(|(a, b)| (a.estimators, b.estimators) == (1, 1)) {
        return Some(version_one::ask(a, b, results, judged, sides.between_machines, into.threshold));
    }
    let Some(named) = sides.common(&all) else {
        let lacks = || format!("has no {}", plain(a.judged(), true));
        let one = OneSided { id: id.to_owned(), a: lacks(), b: lacks(), blind: true, in_both: true };
        into.one_sided.push(one);
        return None;
    };
    let refused = if judged {
        let results = || sides.a.iter().chain(sides.b).map(|named| named.result);
        let other_cpu = || other_cpu::refusal(results(), [&of_a, &of_b]);
        sides.mixed_methods().or_else(|| refusal(&all, &named)).or_else(other_cpu)
    } else {
        Some("another machine".to_owned())
    };
    let (taken, q) = match refused {
        None => narrowest(&of_a, &of_b, &named, sides, learning),
        Some(_) => (&*named, quantile_of(&named)),
    };
    let (quantity, beside) = match refused {
        None if !sides.between_machines => core_speed::choose(&of_a, &of_b, taken),
        _ => (taken, None),
    };
    let (values_a, values_b) = (launches(&of_a, quantity), launches(&of_b, quantity));
    let drift = learning.drift(&all, quantity);
    let mut row = Compared::blank(id.to_owned(), quantity, unit(a, quantity));
    row.a = sides.estimate(sides.a, &values_a, q, drift);
    row.b = sides.estimate(sides.b, &values_b, q, drift);
    if let Some(why) = refused {
        row.why = why;
        return Some(Asked { row, question: Question::Answered, kin: None });
    }
    let grain = grain(a, sides.a) + grain(b, sides.b);
    let question = match sides.change(&values_a, &values_b, q, grain, drift) {
        Some(change) => {
            let neighbour = neighbour(&of_a, &of_b, quantity);
            let mut of = |quantity: &str, q: f64| sides.change_in(&of_a, &of_b, quantity, q, learning);
            let shared =
                ["cycles", "quiet"].contains(&quantity) && all.iter().any(|figure| is_disturbed(figure));
            let other = taken != named && taken == quantity;
            let threshold = into.threshold;
            let hold = sides
                .hold()
                .or_else(|| stays::floor(&change, threshold, &mut of).filter(|_| shared))
                .or_else(|| stays::named(&named, threshold, &mut of).filter(|_| other));
            Question::Open { change, beside, hold, neighbour }
        }
        None => {
            no_ratio(&values_a, &values_b, &mut row);
            Question::Answered
        }
    };
    let floor =
        |figure: &Figure| Some(over_launches(&launches(&[figure], FLOOR).pop()?, LOWER_QUARTILE)?.value);
    let prices = floor(a).zip(floor(b)).unwrap_or((row.a.value, row.b.value));
    let price = (prices.0 * prices.1).sqrt();
    let own = learning.own(&all, quantity);
    let kin = sides.single().map(|_| Kin { class: learning.class(a), calls: calls([a, b]), price, own });
    Some(Asked { row, question, kin })
}

/// Counts and shares may be zero on both sides, and then are the same whatever the ratio.
pub(super) fn no_ratio(a: &[Vec<f64>], b: &[Vec<f64>], row: &mut Compared) {
    let mut all = a.iter().chain(b).flatten();
    let first = all.next();
    if first.is_some_and(|first| all.all(|value| value == first)) {
        (row.verdict, row.not_slower) = (Verdict::Within, true);
    } else {
        row.why = "a side is zero, so there is no ratio".to_owned();
    }
}

/// Whether a neighbour shared the core on one side alone.
fn neighbour(a: &[&Figure], b: &[&Figure], quantity: &str) -> Option<Neighbour> {
    let busy = |side: &[&Figure]| side.iter().filter(|it| it.marks.contains(&Mark::BusySibling)).count();
    let stands = match (busy(a), busy(b)) {
        (0, 0) => return None,
        (on_a, on_b) if on_a == a.len() && on_b == b.len() => return None,
        // A core that is kept awake wakes sleepers sooner: only those who keep their CPU lose by a neighbour for certain.
        _ if !is_on_one_cpu(quantity) => Verdict::Unclear,
        (_, 0) => Verdict::Slower,
        (0, _) => Verdict::Faster,
        _ => Verdict::Unclear,
    };
    let why = "a neighbour shared the core (busy sibling) on one side alone: measure again".to_owned();
    Some(Neighbour { stands, why })
}

/// What the clock cannot resolve of a batch, as a share: a step counts where the harness timed batches of the operation; a
/// series times its own way.
pub(super) fn grain(figure: &Figure, side: &[Named<'_>]) -> f64 {
    let of = || {
        let launch = figure.launches.first().filter(|launch| launch.iterations > 0)?;
        let step = side.first()?.result.conditions.clock_step_ns?;
        let ns = launch.quantities.get("floor").filter(|ns| **ns > 0.0)?;
        let operations = launch.iterations.saturating_mul(figure.operations_per_iteration).max(1) as f64;
        Some(step / (operations * ns)).filter(|share| share.is_finite() && *share > 0.0)
    };
    of().unwrap_or(0.0)
}
