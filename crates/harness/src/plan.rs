//! The plan of a run: how much effort, which groups, on which CPUs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::card::{Card, Need, Placement};
use crate::catalogue::Choice;

/// How much is spent on a run. METHOD.md, Launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// "quick", "default" or "thorough".
    pub name: &'static str,
    /// Launches of every group.
    pub launches: u32,
    /// Most launches of what has not converged, in the time left.
    pub most_launches: u32,
    /// Timed part of a launch for each member, ns.
    pub member_ns: u64,
    /// Discarded beginning of a launch, ns.
    pub warm_up_ns: u64,
    /// Launches beyond the planned ones begin no later than this after the start, ns.
    pub target_ns: u64,
    /// No launch goes on after this, ns after the start.
    pub deadline_ns: u64,
}

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

impl Effort {
    /// `--quick`: 6 launches of 20 ms.
    pub const QUICK: Self = Self {
        name: "quick",
        launches: 6,
        most_launches: 6,
        member_ns: 20 * MILLISECOND,
        warm_up_ns: 50 * MILLISECOND,
        target_ns: 16 * SECOND,
        deadline_ns: 40 * SECOND,
    };
    /// 10 launches of 40 ms; up to 30 of what has not converged.
    pub const DEFAULT: Self = Self {
        name: "default",
        launches: 10,
        most_launches: 30,
        member_ns: 40 * MILLISECOND,
        warm_up_ns: 50 * MILLISECOND,
        target_ns: 50 * SECOND,
        deadline_ns: 120 * SECOND,
    };
    /// One launch of the default's length, as a part of somebody else's plan.
    pub const ONE: Self = Self { name: "one launch", launches: 1, most_launches: 1, ..Self::DEFAULT };
    /// `--thorough`: 30 launches of 100 ms.
    pub const THOROUGH: Self = Self {
        name: "thorough",
        launches: 30,
        most_launches: 60,
        member_ns: 100 * MILLISECOND,
        warm_up_ns: 50 * MILLISECOND,
        target_ns: 1200 * SECOND,
        deadline_ns: 3600 * SECOND,
    };
}

/// What an idle CPU does while another one works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleCpu {
    /// What the system makes it do: usually it halts, and waking it costs.
    Halt,
    /// A thread of the lowest class keeps it awake.
    Poll,
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
    /// What idle CPUs do.
    pub idle_cpu: IdleCpu,
    /// Keep every sample of every launch (`--raw`).
    pub keep_samples: bool,
    /// Where files go that are measured (`--directory`); none: into memory.
    pub directory: Option<PathBuf>,
}

/// CPUs in order of preference: the first CPU takes most interrupts on most machines, so it comes last.
#[must_use]
pub fn preferred(mut allowed: Vec<usize>) -> Vec<usize> {
    if allowed.len() > 1 {
        allowed.rotate_left(1);
    }
    allowed
}

/// Groups of a choice, in order of first appearance, each with the positions of its members. What a member is divided by
/// and another group holds is a guest in this one too, launched beside the member; a group of which nothing is left but
/// guests of others is none.
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
    let mut away: BTreeSet<usize> = BTreeSet::new();
    for (group, members) in &mut order {
        let mut guests: Vec<usize> = members
            .iter()
            .filter_map(|&member| choices[member].card().baseline)
            .filter_map(|id| choices.iter().position(|choice| choice.card().id == id))
            .filter(|&guest| choices[guest].card().group != *group)
            .collect();
        guests.sort_unstable();
        guests.dedup();
        away.extend(&guests);
        members.extend(guests);
    }
    let at_home = |group: &str, member: usize| choices[member].card().group == group;
    order.retain(|(group, members)| {
        members.iter().any(|&member| at_home(group, member) && !away.contains(&member))
    });
    order
}

/// Planned launches of a group that holds these benchmarks.
pub(crate) fn launches<'a>(cards: impl Iterator<Item = &'a Card>, effort: &Effort) -> u32 {
    let least = cards.filter_map(|card| card.launches).min().unwrap_or(u32::MAX);
    if effort.name == Effort::THOROUGH.name { effort.launches } else { effort.launches.min(least) }
}

/// What a benchmark needs and `cpus` CPUs do not give, with what to do about it.
#[must_use]
pub fn lacking(choice: &Choice, cpus: usize) -> Option<(String, String)> {
    let card = choice.card();
    let least = card.needs.iter().map(|need| match need {
        Need::Cpus(count) => usize::try_from(*count).unwrap_or(usize::MAX),
    });
    let least = least.max().unwrap_or(1).max(if card.placement == Placement::CrossCpu { 2 } else { 1 });
    (cpus < least).then(|| {
        let plural = if cpus == 1 { "CPU" } else { "CPUs" };
        (
            format!("needs {least} CPUs, and {cpus} {plural} may be used"),
            "give the process more CPUs (taskset, cpuset, --cpu)".to_owned(),
        )
    })
}

/// Time that the planned part of a run takes, ns: launches, calibrations and audits.
#[must_use]
pub fn estimate_ns(choices: &[Choice], effort: &Effort) -> u64 {
    /// Starting and ending a worker, setting members up, reports.
    const LAUNCH_OVERHEAD_NS: u64 = 15 * MILLISECOND;
    const CALIBRATION_NS: u64 = 60 * MILLISECOND;
    const AUDIT_NS: u64 = 25 * MILLISECOND;
    let group = |members: &[usize]| {
        let cards = || members.iter().map(|&member| choices[member].card());
        // Only batches need a warm-up, and what happens around each of them costs about a tenth of it.
        let warm_up = if cards().any(|card| card.quantities.is_empty()) { effort.warm_up_ns } else { 0 };
        let member = |card: &Card| match card.quantities {
            [] => effort.member_ns * 11 / 10,
            _ => effort.member_ns + card.launch_ms * MILLISECOND,
        };
        let launch = warm_up + LAUNCH_OVERHEAD_NS + cards().map(member).sum::<u64>();
        let audits: u64 = cards().map(|card| AUDIT_NS + card.launch_ms * MILLISECOND).sum();
        u64::from(launches(cards(), effort)) * launch + CALIBRATION_NS + audits
    };
    groups(choices).iter().map(|(_, members)| group(members)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Benchmark, SetUp, Subject, Unable};

    struct Named(Card);
    impl Benchmark for Named {
        fn card(&self) -> &'static Card {
            Box::leak(Box::new(self.0.clone()))
        }
        fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
            Err(Unable::Unsupported { why: "a test".into(), remedy: String::new() })
        }
    }

    fn choice(id: &'static str, group: &'static str, baseline: Option<&'static str>) -> Choice {
        let benchmark = Box::leak(Box::new(Named(Card { id, group, baseline, ..Card::SERIES })));
        Choice { benchmark, named: false }
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
    fn the_first_cpu_comes_last() {
        assert_eq!(preferred(vec![0, 1, 2, 3]), [1, 2, 3, 0]);
        assert_eq!(preferred(vec![5]), [5]);
        assert_eq!(preferred(Vec::new()), [0usize; 0]);
    }
}
