//! Compares results: conditions that differ, and a verdict on each figure. METHOD.md, Comparing.

mod agreement;
mod asked;
mod bills;
mod core_speed;
mod counts;
mod evidence;
mod figure;
pub(crate) mod fleet;
mod live;
mod null;
mod other_cpu;
mod paired;
mod past;
mod quantity;
mod references;
pub(crate) mod spread;
mod stays;
mod surroundings;
mod verdict;
mod version_one;
pub(crate) mod watch;

use std::collections::BTreeSet;

use oscost_results::{Estimate, RunResult};
use oscost_stats::sorting::SmallSort;

pub use agreement::{Agreement, Reason, Side};
pub use bills::{BillChange, BillChanges, is_bill};
pub(crate) use counts::value;
pub use counts::{Changes, CountChange, CountVerdict, is_count};
pub use live::{LiveLook, compare_live, look_live};
pub use oscost_stats::compare::Verdict;
pub(crate) use other_cpu::is_beside_others;
pub use spread::left_out;
pub(crate) use surroundings::apart;
pub use surroundings::{Origin, incomparable};
pub use verdict::name_of_pair;
pub use watch::Watch;

use crate::named::Named;
use crate::words::distinct;
use asked::Asked;
use past::Learning;

/// Changes by no more than this are what nobody asks about, unless the user says otherwise.
pub const THRESHOLD: f64 = 0.05;

/// B against A: everything that a reader needs to believe a change, or not to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Comparison<'a> {
    /// Name of the older one, or of the base.
    pub a: &'a str,
    /// Name of the other one.
    pub b: &'a str,
    /// The share that a change must exceed to be one.
    pub threshold: f64,
    /// Facts of the machine that differ: with any, there is no ratio unless the user insists.
    pub machine: Vec<Differs>,
    /// Conditions that differ: what users change.
    pub conditions: Vec<Differs>,
    /// What a reader must know before the first figure.
    pub warnings: Vec<String>,
    /// By what share the core ran slower in B than in A, where its speed differed and figures may show that; negative: faster.
    pub core_speed: Option<f64>,
    /// What makes intervals narrower: what to do, in words.
    pub narrower: &'static str,
    /// Evidence that differs: it explains most changes.
    pub evidence: Vec<Evident>,
    /// Figures of both, the largest change first.
    pub rows: Vec<Compared>,
    /// Paired ratios and differences of both, the largest change first.
    pub pairs: Vec<Compared>,
    /// Figures of one side only, or withheld on a side.
    pub one_sided: Vec<OneSided>,
    /// Figures that were withheld on both sides.
    pub neither: Vec<OneSided>,
}

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differs {
    /// Its name in words.
    pub what: &'static str,
    /// In A.
    pub a: String,
    /// In B.
    pub b: String,
}

/// A count an operation that differs between two figures.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evident {
    /// Id of the figure.
    pub id: String,
    /// What was counted ("calls of futex").
    pub what: String,
    /// In A, per operation.
    pub a: f64,
    /// In B, per operation.
    pub b: f64,
}

/// A quantity of both sides: every number of a row is of that one quantity.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Compared {
    /// Id of the figure, or "one to another" for a pair.
    pub id: String,
    /// Name of the quantity that was judged.
    pub quantity: String,
    /// Unit of both estimates.
    pub unit: String,
    /// In A.
    pub a: Estimate,
    /// In B.
    pub b: Estimate,
    /// The judged change; `None` where a ratio makes no sense or is not given.
    pub change: Option<Shift>,
    /// What can be said.
    pub verdict: Verdict,
    /// It certainly changed, if by less than the threshold.
    pub changed: bool,
    /// It is certainly not slower by more than the threshold, whatever the verdict: what a bisection asks.
    pub not_slower: bool,
    /// Why nothing can be said, or how it was judged, in words; may be empty.
    pub why: String,
    /// Of a pair: ids of the figure and of its baseline.
    pub pair: Option<(String, String)>,
    /// Nobody asked for it in any result: another figure is divided by it, or has it subtracted.
    pub baseline_only: bool,
}

/// The estimate of a side that has none.
const NOTHING: Estimate = Estimate { value: f64::NAN, low: f64::NAN, high: f64::NAN, extremes: true };

impl Compared {
    /// A row of which nothing is known yet.
    fn blank(id: String, quantity: &str, unit: String) -> Self {
        Self {
            id,
            quantity: quantity.to_owned(),
            unit,
            a: NOTHING,
            b: NOTHING,
            change: None,
            verdict: Verdict::Unclear,
            changed: false,
            not_slower: false,
            why: String::new(),
            pair: None,
            baseline_only: false,
        }
    }
}

impl Compared {
    /// Whether the judged ratio points another way than the two sides by themselves, as it may in rounds of both.
    pub(crate) fn contradicts_its_sides(&self) -> bool {
        let against = |change: Shift| (self.b.value - self.a.value) * change.change < 0.0;
        self.change.is_some_and(against) && self.changed
    }
}

/// By how much B differs from A. All numbers are shares: 0.05 is + 5 %.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Shift {
    /// B / A - 1.
    pub change: f64,
    /// Lower bound of the interval by which it was judged.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Probability that the interval is made to hold the truth with.
    pub level: f64,
}

/// A figure that not both sides show.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OneSided {
    /// Id of the figure.
    pub id: String,
    /// What A has ("measured", "not there", "unsupported: why").
    pub a: String,
    /// What B has.
    pub b: String,
    /// Somebody wanted it measured, and nothing can be told: it failed, or was withheld.
    pub blind: bool,
    /// Every result of both sides has a row of it.
    pub in_both: bool,
}

/// How to compare.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The results are of two machines, alike or not: judge them as such.
    pub cross_machine: bool,
    /// The share that a change must exceed to be one.
    pub threshold: f64,
    /// Runs of the store, oldest first: how far figures move between runs of the same thing is learnt from them.
    pub past: &'a [RunResult],
    /// The figures that were asked about: the others are left out, and no verdict rests on how many they are. `None`: all.
    pub only: Option<&'a BTreeSet<String>>,
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Self { cross_machine: false, threshold: THRESHOLD, past: &[], only: None }
    }
}

impl Rules<'_> {
    /// Whether two machines are compared: by their facts, or by the user's word, who knows of two that are alike. Between them neither
    /// boots nor the null, references and the core's speed excuse a change: all of it was asked about.
    fn between_machines(&self, machine: &[Differs]) -> bool {
        self.cross_machine || !machine.is_empty()
    }

    /// Whether the figure of this id was asked about.
    fn asks(&self, id: &str) -> bool {
        self.only.is_none_or(|only| only.contains(id))
    }
}

/// Compares B with A by METHOD.md's rule.
#[must_use]
pub fn compare<'a>(a: &Named<'a>, b: &Named<'a>, rules: Rules<'_>) -> Comparison<'a> {
    sided(a, b, std::slice::from_ref(a), std::slice::from_ref(b), rules)
}

/// Compares sides of one or more results each: with more than one, boots are what the verdicts rest on, or runs where all
/// are of one boot. All results of a side have one name, in the plural: "3 results before". `None` where a side is empty.
#[must_use]
pub fn compare_sides<'a>(a: &[Named<'a>], b: &[Named<'a>], rules: Rules<'_>) -> Option<Comparison<'a>> {
    Some(sided(a.first()?, b.first()?, a, b, rules))
}

/// Compares sides of which these are the first results.
fn sided<'a>(
    first_a: &Named<'a>,
    first_b: &Named<'a>,
    a: &[Named<'a>],
    b: &[Named<'a>],
    rules: Rules<'_>,
) -> Comparison<'a> {
    let machine = surroundings::machines(a, b);
    // Of one boot, and alike, they are of one machine, whatever has to be said of other results.
    let is_one = machine.is_empty() && figure::share_a_boot(a, b);
    let in_vain = rules.cross_machine && is_one;
    let rules = Rules { cross_machine: rules.cross_machine && !is_one, ..rules };
    let judged = machine.is_empty() || rules.cross_machine;
    let between_machines = rules.between_machines(&machine);
    let sides = figure::Sides::new(a, b, between_machines);
    let mut comparison = surrounded(first_a, first_b, machine, rules);
    comparison.warnings.extend(in_vain.then(|| String::from(surroundings::ONE_BOOT)));
    comparison.core_speed = surroundings::core_speed(a, b);
    // The name of a side counts its results.
    let the = if sides.single().is_some() { "" } else { "the " };
    let speed = comparison.core_speed.map(surroundings::how_fast);
    let told = speed.map(|how_fast| format!("the core ran {how_fast} in {the}{}", first_b.name));
    comparison.warnings.extend(told);
    comparison.warnings.extend(sides.mixed());
    comparison.warnings.extend([a, b].into_iter().filter_map(surroundings::within));
    let mut learning = Learning::new(rules.past, a, b, between_machines);
    let mut asked: Vec<Asked> = Vec::new();
    // What nobody asked about belongs to the null of its class all the same.
    let mut unasked = surrounded(first_a, first_b, comparison.machine.clone(), rules);
    for id in ids(a, b) {
        let into = if rules.asks(id) { &mut comparison } else { &mut unasked };
        asked.extend(figure::ask(id, &sides, judged, &mut learning, into));
    }
    let mut shifts = if between_machines { Vec::new() } else { null::scale(&mut asked) };
    shifts.extend(learning.shift());
    asked.retain(|asked| rules.asks(&asked.row.id));
    let figures = asked.len();
    // A shift by less than anybody asked about is in the null, and no news.
    let shifts = shifts.into_iter().map(f64::exp_m1).filter(|shift| shift.abs() > rules.threshold);
    comparison.warnings.extend(shifts.map(|shift| {
        format!(
            "all that enters the kernel moved by about {}, and what stays out of it did not",
            percent(shift)
        )
    }));
    if judged {
        asked.extend(paired::ask(&sides, &mut learning, rules));
    }
    let mut rows = verdict::pronounce(asked, rules.threshold, 1.0);
    comparison.pairs = rows.split_off(figures);
    paired::decide(&mut rows, &comparison.pairs, rules.threshold);
    comparison.rows = rows;
    mark_baselines(&mut comparison.rows, a, b, rules);
    comparison.rows.small_sort_by(by_size);
    comparison.pairs.small_sort_by(by_size);
    comparison
}

/// Ids of the figures of all results of both sides, in the order of A: what its first result lacks, another one may have.
fn ids<'r>(a: &[Named<'r>], b: &[Named<'r>]) -> Vec<&'r str> {
    let figures = a.iter().chain(b).flat_map(|named| &named.result.figures);
    distinct(figures.map(|figure| figure.id.as_str()))
}

/// Marks what nobody asked for, neither when it was measured nor now.
fn mark_baselines(rows: &mut [Compared], a: &[Named<'_>], b: &[Named<'_>], rules: Rules<'_>) {
    for row in rows {
        let is_of = |named: &Named<'_>| named.result.is_baseline_only(&row.id);
        row.baseline_only = rules.only.is_none() && a.iter().chain(b).all(is_of);
    }
}

/// The largest change first.
fn by_size(one: &Compared, other: &Compared) -> std::cmp::Ordering {
    let size = |row: &Compared| row.change.map_or(-1.0, |change| change.change.abs());
    size(other).total_cmp(&size(one))
}

/// A comparison without figures: what differs around two results.
fn surrounded<'a>(a: &Named<'a>, b: &Named<'a>, machine: Vec<Differs>, rules: Rules<'_>) -> Comparison<'a> {
    let other_machine = !machine.is_empty();
    Comparison {
        a: a.name,
        b: b.name,
        threshold: rules.threshold,
        conditions: surroundings::conditions(a.result, b.result),
        warnings: surroundings::warnings([a, b], other_machine, rules.cross_machine),
        machine,
        narrower: "run --thorough, or compare --live (both in turn)",
        ..Comparison::default()
    }
}

impl Comparison<'_> {
    /// Figures of one verdict.
    pub fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Compared> {
        self.rows.iter().filter(move |row| row.verdict == verdict)
    }

    /// Whether a figure that somebody asked for got slower.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.of(Verdict::Slower).any(|row| !row.baseline_only)
    }

    /// How many figures could not be judged, and of how many: unclear, or measured on one side alone, or withheld.
    #[must_use]
    pub fn blind(&self) -> (usize, usize) {
        let withheld = self.neither.iter().filter(|one| one.blind).count() + self.one_sided.len();
        (self.of(Verdict::Unclear).count() + withheld, self.rows.len() + withheld)
    }
}

/// A share as a change in percent, with its sign.
pub(crate) fn percent(share: f64) -> String {
    let shown = format!("{:+.1} %", share * 100.0);
    // Less than is shown has no direction.
    if shown == "-0.0 %" { "+0.0 %".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(verdict: Verdict, change: Option<f64>) -> Compared {
        let change = change.map(|change| Shift { change, low: change, high: change, level: 0.99 });
        Compared { verdict, change, ..Compared::blank(format!("{change:?}"), "floor", "ns".to_owned()) }
    }

    fn comparison(rows: Vec<Compared>) -> Comparison<'static> {
        Comparison {
            a: "a",
            b: "b",
            threshold: 0.05,
            machine: Vec::new(),
            conditions: Vec::new(),
            warnings: Vec::new(),
            core_speed: None,
            narrower: "wait",
            evidence: Vec::new(),
            rows,
            pairs: Vec::new(),
            one_sided: Vec::new(),
            neither: Vec::new(),
        }
    }

    #[test]
    fn the_largest_change_comes_first_either_way_and_what_has_none_last() {
        let mut rows: Vec<Compared> =
            [Some(0.1), None, Some(-0.5), Some(0.0)].map(|change| row(Verdict::Unclear, change)).into();
        rows.sort_by(by_size);
        let sorted: Vec<Option<f64>> =
            rows.iter().map(|row| row.change.map(|change| change.change)).collect();
        assert_eq!(sorted, [Some(-0.5), Some(0.1), Some(0.0), None]);
    }

    #[test]
    fn what_is_unclear_or_on_one_side_alone_or_failed_could_not_be_judged() {
        let one =
            |blind| OneSided { id: "a".to_owned(), a: String::new(), b: String::new(), blind, in_both: true };
        let mut comparison = comparison(vec![row(Verdict::Unclear, None), row(Verdict::Within, None)]);
        assert_eq!(comparison.blind(), (1, 2));
        comparison.one_sided = [false, true, false].map(one).into();
        comparison.neither = [false, true].map(one).into();
        assert_eq!(comparison.blind(), (1 + 3 + 1, 2 + 3 + 1), "what neither side supports was not wanted");
    }

    #[test]
    fn a_change_has_its_sign_unless_it_is_none() {
        assert_eq!(
            [0.1, -0.1, 0.0, -0.0004, 0.0006].map(percent),
            ["+10.0 %", "-10.0 %", "+0.0 %", "+0.0 %", "+0.1 %"]
        );
    }

    #[test]
    fn figures_of_one_verdict_are_found() {
        let all =
            [Verdict::Slower, Verdict::Within, Verdict::Slower].map(|verdict| row(verdict, None)).into();
        let comparison = comparison(all);
        let counts = [Verdict::Slower, Verdict::Faster, Verdict::Within].map(|it| comparison.of(it).count());
        assert_eq!(counts, [2, 0, 1]);
    }

    #[test]
    fn a_ratio_of_rounds_may_point_another_way_than_its_sides() {
        let turns = |a: f64, b: f64, change: Option<f64>, changed: bool| {
            let mut row = Compared { changed, ..row(Verdict::Slower, change) };
            (row.a.value, row.b.value) = (a, b);
            row.contradicts_its_sides()
        };
        assert!(turns(2.0, 1.0, Some(0.1), true) && turns(1.0, 2.0, Some(-0.1), true));
        assert!(!turns(1.0, 2.0, Some(0.1), true) && !turns(2.0, 1.0, Some(-0.1), true));
        assert!(!turns(1.0, 1.0, Some(0.1), true) && !turns(2.0, 1.0, None, true));
        assert!(!turns(2.0, 1.0, Some(0.1), false), "that it changed is not certain");
    }
}
