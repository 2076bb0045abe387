//! The plan of a run: effort, groups and CPUs.

use std::collections::{BTreeMap, BTreeSet};

use oscost_results::CoreConstants;

use crate::benchmark::card::Card;
use crate::benchmark::catalogue::Choice;
use crate::protocol::message::{ASLEEP_PART, IdleCpu, SETTLING_NS};

/// How much is spent on a run. METHOD.md, Launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Which of the known ones it is, or is made of.
    pub level: Level,
    /// Launches of every group.
    pub launches: u32,
    /// Most launches of what has not converged, in the time left.
    pub most_launches: u32,
    /// Timed part of a launch for each member, ns.
    pub member_ns: u64,
    /// Discarded beginning of a launch, ns.
    pub warm_up_ns: u64,
    /// No launch begins later than this after the start, or than what was chosen takes by plan if that is more, ns.
    pub target_ns: u64,
    /// No launch goes on after this, ns after the start.
    pub deadline_ns: u64,
    /// No launch begins that would end later than this after the start, ns, by what this machine takes: what does not fit is left
    /// out, and says so.
    pub end_ns: u64,
}

/// The efforts that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Level {
    /// A first look.
    Quick,
    /// What is spent where nothing was said.
    Default,
    /// One launch, as a part of somebody else's plan.
    One,
    /// As long as it takes.
    Thorough,
}

impl Level {
    /// Name in results and in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::One => "one launch",
            Self::Thorough => "thorough",
        }
    }
}

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

impl Effort {
    /// `--quick`: 6 launches of 20 ms.
    pub const QUICK: Self = Self {
        level: Level::Quick,
        launches: 6,
        most_launches: 12,
        member_ns: 20 * MILLISECOND,
        warm_up_ns: 50 * MILLISECOND,
        target_ns: 16 * SECOND,
        deadline_ns: 40 * SECOND,
        end_ns: u64::MAX,
    };
    /// 10 launches of 40 ms; up to 30 of what has not converged.
    pub const DEFAULT: Self = Self {
        level: Level::Default,
        launches: 10,
        most_launches: 30,
        member_ns: 40 * MILLISECOND,
        warm_up_ns: 50 * MILLISECOND,
        target_ns: 50 * SECOND,
        deadline_ns: 120 * SECOND,
        end_ns: u64::MAX,
    };
    /// One launch of the default's length, as a part of somebody else's plan.
    pub const ONE: Self = Self { level: Level::One, launches: 1, most_launches: 1, ..Self::DEFAULT };
    /// `--thorough`: 30 launches of 100 ms.
    pub const THOROUGH: Self = Self {
        level: Level::Thorough,
        launches: 30,
        most_launches: 60,
        member_ns: 100 * MILLISECOND,
        warm_up_ns: 50 * MILLISECOND,
        target_ns: 1200 * SECOND,
        deadline_ns: 3600 * SECOND,
        end_ns: u64::MAX,
    };
}

/// A plan that was chosen has this time at most, ns.
const LONGEST_NS: u64 = 600 * SECOND;

impl Effort {
    /// The same, whose deadline leaves a busy machine twice the time that the plan of `choices` takes, up to ten minutes: where
    /// calibrations and audits alone take all the time, nothing is measured.
    #[must_use]
    pub fn with_time_for(self, choices: &[Choice]) -> Self {
        let needed_ns = estimate_ns(choices, &self).saturating_mul(2).min(LONGEST_NS);
        Self { deadline_ns: self.deadline_ns.max(needed_ns), ..self }
    }
}

/// Everything that decides a run besides the choice of benchmarks.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much is spent.
    pub effort: Effort,
    /// Seed of every random order.
    pub seed: u64,
    /// CPUs to use, in order of preference.
    pub cpus: Vec<usize>,
    /// The same for many participants over CPUs; empty: the same order.
    pub spread_cpus: Vec<usize>,
    /// The best that the cores of this machine were seen to do in earlier runs.
    pub core: Option<CoreConstants>,
    /// What idle CPUs do.
    pub idle_cpu: IdleCpu,
    /// What may be timed beside few figures to show how far figures move from run to run, the best first.
    pub references: Vec<Choice>,
    /// Keep every sample of every launch (`--raw`).
    pub keep_samples: bool,
    /// What a launch of a benchmark takes on this machine, ns, by id: where somebody knows better than its card.
    pub expected_ns: BTreeMap<String, u64>,
    /// Ids whose intervals come first in a run that has an end, where not all fit, the most telling first; the others are launched
    /// after them, or not at all. Empty: none is more telling than another.
    pub first: Vec<String>,
}

/// CPUs in order of preference: the first CPU takes most interrupts on most machines, so it comes last.
#[must_use]
pub fn preferred(mut allowed: Vec<usize>) -> Vec<usize> {
    if !allowed.is_empty() {
        allowed.rotate_left(1);
    }
    allowed
}

/// Members of its own that one group has at most: with more, its launches would take so long that few fit into a run.
const MOST_MEMBERS: usize = 12;

/// Groups of a choice, in order of first appearance, each with the positions of its members. A group with too many members
/// is split, and its parts have its name. If what a member is divided by or has subtracted belongs to another group or part,
/// it also joins this one as a guest, and is launched beside the member. A group that consists only of guests is dropped.
#[must_use]
pub fn groups(choices: &[Choice]) -> Vec<(&'static str, Vec<usize>)> {
    let mut order: Vec<(&'static str, Vec<usize>)> = Vec::new();
    let mut known: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (position, choice) in choices.iter().enumerate() {
        let group = choice.card().group;
        let index = *known.entry(group).or_insert_with(|| {
            order.push((group, Vec::new()));
            order.len() - 1
        });
        order[index].1.push(position);
    }
    let mut order: Vec<(&'static str, Vec<usize>)> = order.into_iter().flat_map(split).collect();
    let mut away: BTreeSet<usize> = BTreeSet::new();
    for (_, members) in &mut order {
        let guests: BTreeSet<usize> = members
            .iter()
            .map(|&member| choices[member].card())
            .flat_map(|card| card.baseline.into_iter().chain(card.subtract))
            .filter_map(|id| choices.iter().position(|choice| choice.card().id == id))
            .filter(|guest| !members.contains(guest))
            .collect();
        away.extend(&guests);
        members.extend(guests);
    }
    let at_home = |group: &str, member: usize| choices[member].card().group == group;
    order.retain(|(group, members)| {
        members.iter().any(|&member| at_home(group, member) && !away.contains(&member))
    });
    order
}

/// A group in as few parts as it needs, of nearly the same size.
fn split((group, members): (&'static str, Vec<usize>)) -> Vec<(&'static str, Vec<usize>)> {
    let parts = members.len().div_ceil(MOST_MEMBERS).max(1);
    let each = members.len().div_ceil(parts).max(1);
    members.chunks(each).map(|part| (group, part.to_vec())).collect()
}

/// Planned launches of a group that holds these benchmarks.
pub(crate) fn launches<'a>(cards: impl Iterator<Item = &'a Card>, effort: &Effort) -> u32 {
    let least = cards.filter_map(|card| card.launches).min().unwrap_or(u32::MAX);
    if effort.level == Level::Thorough { effort.launches } else { effort.launches.min(least) }
}

/// A calibration of a group takes this, ns.
pub(crate) const CALIBRATION_NS: u64 = 60 * MILLISECOND;

/// Time that a launch of a group of these benchmarks takes, ns.
pub(crate) fn launch_ns(cards: &[&Card], effort: &Effort) -> u64 {
    /// Starting and ending a worker, setting members up, reports.
    const OVERHEAD_NS: u64 = 15 * MILLISECOND;
    // Only batches need a warm-up, and what happens around each of them costs about a tenth of it.
    let warm_up = if cards.iter().any(|card| card.quantities.is_empty()) { effort.warm_up_ns } else { 0 };
    let member = |card: &&Card| match card.quantities {
        [] => effort.member_ns * 11 / 10,
        _ => effort.member_ns,
    };
    let more = cards.iter().map(|card| card.launch_ms * MILLISECOND).sum::<u64>();
    let asleep = if cards.iter().any(|card| card.wakes_another_cpu()) {
        SETTLING_NS + effort.member_ns * cards.len() as u64 / ASLEEP_PART
    } else {
        0
    };
    warm_up + OVERHEAD_NS + more + asleep + cards.iter().map(member).sum::<u64>()
}

/// Time that an audit takes, ns.
pub(crate) fn audit_ns(card: &Card) -> u64 {
    (25 + card.launch_ms) * MILLISECOND
}

/// Time that the planned part of a run takes, ns: launches, calibrations and audits.
#[must_use]
pub fn estimate_ns(choices: &[Choice], effort: &Effort) -> u64 {
    let group = |members: &[usize]| {
        let cards: Vec<&Card> = members.iter().map(|&member| choices[member].card()).collect();
        let audits: u64 = cards.iter().copied().map(audit_ns).sum();
        let planned = u64::from(launches(cards.iter().copied(), effort));
        let longer = cards.iter().map(|card| card.launch_ms * MILLISECOND).sum::<u64>();
        planned * launch_ns(&cards, effort) + CALIBRATION_NS + longer + audits
    };
    groups(choices).iter().map(|(_, members)| group(members)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::card::Placement;
    use crate::figures::synthetic;

    fn choice(id: &'static str, group: &'static str, baseline: Option<&'static str>) -> Choice {
        synthetic::choice(Card { id, group, baseline, ..Card::SERIES })
    }

    #[test]
    fn a_partner_of_other_groups_is_a_guest_in_each_and_has_none_of_its_own() {
        let partner = choice("partner", "p", None);
        let choices = [partner, choice("a", "a", Some("partner")), choice("b", "b", Some("partner"))];
        assert_eq!(groups(&choices), [("a", vec![1, 0]), ("b", vec![2, 0])]);
        assert_eq!(groups(&[partner]), [("p", vec![0])], "alone it has its own");
        let at_home = [partner, choice("a", "p", Some("partner"))];
        assert_eq!(groups(&at_home), [("p", vec![0, 1])], "in one group nobody is a guest");
    }

    #[test]
    fn a_group_of_any_size_splits_itself_and_takes_its_baseline_along() {
        let ids: Vec<&'static str> = (0..30).map(|at| &*format!("g/{at}").leak()).collect();
        let mut choices = vec![choice("g/base", "g", None)];
        choices.extend(ids.iter().map(|id| choice(id, "g", Some("g/base"))));
        let parts = groups(&choices);
        assert_eq!(
            parts.iter().map(|(name, members)| (*name, members.len())).collect::<Vec<_>>(),
            [("g", 11), ("g", 12), ("g", 10)]
        );
        assert!(parts.iter().all(|(_, members)| members.contains(&0)), "each is divided beside its baseline");
        let mut all: Vec<usize> = parts.iter().flat_map(|(_, members)| members.clone()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all, (0..=30).collect::<Vec<_>>(), "nobody is left out");
        assert_eq!([12, 13].map(|count| groups(&choices[..count]).len()), [1, 2], "12 have room");
        // What a figure has subtracted comes along, too.
        let hop = Card { id: "s/hop", group: "s", subtract: Some("g/base"), ..Card::SERIES };
        assert_eq!(groups(&[choices[0], synthetic::choice(hop)]), [("s", vec![1, 0])]);
    }

    #[test]
    fn a_long_plan_has_twice_its_time_and_ten_minutes_at_most() {
        let some = |members: usize| vec![choice("a", "a", None); members];
        let plan = |members: usize, effort: Effort| effort.with_time_for(&some(members)).deadline_ns;
        assert_eq!(plan(1, Effort::QUICK), Effort::QUICK.deadline_ns);
        let needed = 2 * estimate_ns(&some(200), &Effort::QUICK);
        assert!(needed > Effort::QUICK.deadline_ns && needed < LONGEST_NS);
        assert_eq!(plan(200, Effort::QUICK), needed);
        assert_eq!(plan(10_000, Effort::QUICK), LONGEST_NS);
        assert_eq!(plan(10_000, Effort::THOROUGH), Effort::THOROUGH.deadline_ns);
    }

    #[test]
    fn long_launches_are_fewer() {
        let card = |launches| Card { launches, ..Card::SERIES };
        let (long, longer, any) = (card(Some(8)), card(Some(4)), card(None));
        let planned = |cards: &[&Card], effort| launches(cards.iter().copied(), effort);
        assert_eq!(planned(&[&any], &Effort::DEFAULT), Effort::DEFAULT.launches);
        assert_eq!(planned(&[&any, &long, &longer], &Effort::DEFAULT), 4);
        assert_eq!(planned(&[&long], &Effort::QUICK), Effort::QUICK.launches);
        assert_eq!(planned(&[&long], &Effort::THOROUGH), Effort::THOROUGH.launches);
    }

    #[test]
    fn a_plan_takes_its_launches_calibrations_and_audits() {
        let planned = |card: Card, effort: &Effort| estimate_ns(&[synthetic::choice(card)], effort);
        // Six launches of 50 ms, 15 ms and 22 ms; 60 ms and 25 ms once.
        assert_eq!(planned(Card { id: "a", ..Card::BATCHED }, &Effort::QUICK), 607 * MILLISECOND);
        // A series has no warm-up, and its own time: in a calibration, too.
        let series =
            Card { id: "a", launch_ms: 100, quantities: crate::figures::synthetic::COST, ..Card::SERIES };
        assert_eq!(planned(series.clone(), &Effort::QUICK), (6 * 135 + 160 + 125) * MILLISECOND);
        assert_eq!(
            planned(Card { launches: Some(4), ..series }, &Effort::QUICK),
            (4 * 135 + 160 + 125) * MILLISECOND
        );
    }

    /// Batches need a warm-up, and a part of them is timed while idle CPUs sleep: one member that has either costs the launch that.
    #[test]
    fn a_launch_takes_what_its_members_need() {
        let (batched, series) = (Card::BATCHED, synthetic::series("s"));
        let wakes = Card { placement: Placement::CrossCpu, blocks: true, ..Card::BATCHED };
        let launch_ms = |cards: &[&Card]| launch_ns(cards, &Effort::QUICK) / MILLISECOND;
        assert_eq!(launch_ms(&[&series, &series]), 15 + 2 * 20);
        assert_eq!(launch_ms(&[&batched, &series]), 50 + 15 + 22 + 20);
        assert_eq!(launch_ms(&[&wakes, &series]), 50 + 15 + 22 + 20 + 10 + 2 * 20 / 4);
        assert_eq!(launch_ms(&[&wakes, &batched, &wakes]), 50 + 15 + 3 * 22 + 10 + 3 * 20 / 4);
    }

    #[test]
    fn the_first_cpu_comes_last() {
        assert_eq!(preferred(vec![0, 1, 2, 3]), [1, 2, 3, 0]);
        assert_eq!(preferred(vec![5]), [5]);
        assert_eq!(preferred(Vec::new()), [0usize; 0]);
    }
}
