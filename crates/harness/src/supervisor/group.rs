//! The state of a group during a run: its active members, and whether more launches would help.

use std::collections::BTreeMap;

use oscost_stats::order;
use oscost_stats::sorting::SmallSort;

use crate::benchmark::catalogue::Choice;
use crate::benchmark::requirements;
use crate::figures;
use crate::figures::circumstances::SHARED;
use crate::figures::member::{Fate, MemberState};
use crate::figures::quiet::Best;
use crate::protocol::message::{Failure, Launched, Member, Pair};
use crate::supervisor::plan::{self, Options};

/// How many launches of one group may be void in succession before the group is given up.
const MOST_VOID: u32 = 10;
const SECOND: u64 = 1_000_000_000;

pub(crate) struct GroupState {
    pub(crate) name: &'static str,
    pub(crate) members: Vec<MemberState>,
    pub(crate) pairs: Vec<Vec<Pair>>,
    pub(crate) launches: u32,
    pub(crate) void: u32,
    /// As many were void before the last launch that counts.
    pub(crate) void_before: u32,
    pub(crate) void_reason: Option<String>,
    /// Whether the last launch was shared with somebody else.
    pub(crate) shared: bool,
    pub(crate) spent_ns: u64,
    /// Which references its launches time, if any.
    pub(crate) references: Option<usize>,
}

/// The groups of a choice, in a fixed random order: two launches of one group then lie a whole pass apart.
pub(crate) fn form(choices: &[Choice], options: &Options) -> Vec<GroupState> {
    let mut groups: Vec<GroupState> = plan::groups(choices)
        .into_iter()
        .map(|(name, positions)| {
            let member = |position: usize| {
                let choice = choices[position];
                let outcome = match requirements::lacking(&choice, &options.cpus) {
                    Some((why, remedy)) => Fate::Unsupported { why, remedy },
                    None => Fate::Running,
                };
                MemberState { outcome, ..MemberState::new(choice) }
            };
            GroupState::new(name, positions.into_iter().map(member).collect())
        })
        .collect();
    order::shuffle(&mut groups, &mut order::seeded(options.seed, 0));
    groups
}

/// How much a group says of what becomes of its guest: the most where it was measured, the least where it had no launch.
fn telling(guest: &MemberState) -> u8 {
    match &guest.outcome {
        Fate::Running if guest.launched.is_empty() => 0,
        Fate::Unsupported { .. } => 1,
        Fate::Failed(_) => 2,
        Fate::Running => 3,
    }
}

/// Puts the launches that a guest made in several groups together: its figure is made of them all.
pub(crate) fn pool(groups: &mut [GroupState]) {
    let mut first: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    for index in 0..groups.len() {
        for member in 0..groups[index].members.len() {
            let id = groups[index].members[member].choice.card().id;
            let Some(&(host, place)) = first.get(id) else {
                first.insert(id, (index, member));
                continue;
            };
            let guest = &mut groups[index].members[member];
            let tells = telling(guest);
            let (launched, failed) = (std::mem::take(&mut guest.launched), guest.failed_launches);
            let (outcome, failure) = (guest.outcome.clone(), guest.first_failure.take());
            let (throttled, audited) = (guest.throttled, guest.audited.take());
            let pooled = &mut groups[host].members[place];
            // One group in which it could be measured is enough, wherever the random order has it.
            if tells > telling(pooled) {
                pooled.outcome = outcome;
            }
            pooled.launched.extend(launched);
            pooled.failed_launches += failed;
            pooled.first_failure = pooled.first_failure.take().or(failure);
            pooled.throttled |= throttled;
            pooled.audited = pooled.audited.take().or(audited);
        }
    }
    // Whichever group tells of it, tells the same.
    for (&id, &(host, place)) in &first {
        let pooled = {
            let member = &mut groups[host].members[place];
            member.launched.small_sort_by_key(|launched| launched.record.sequence);
            let mut told = false;
            for launched in &mut member.launched {
                if told {
                    launched.record.tracks.clear();
                }
                told |= !launched.record.tracks.is_empty();
            }
            member.clone()
        };
        for member in groups.iter_mut().skip(host + 1).flat_map(|group| &mut group.members) {
            if member.choice.card().id == id {
                *member = pooled.clone();
            }
        }
    }
}

impl GroupState {
    /// A group of which nothing was launched yet.
    pub(crate) fn new(name: &'static str, members: Vec<MemberState>) -> Self {
        Self {
            name,
            members,
            pairs: Vec::new(),
            launches: 0,
            void: 0,
            void_before: 0,
            void_reason: None,
            shared: false,
            spent_ns: 0,
            references: None,
        }
    }

    /// Its members take no part: a launch would take so long, and only so much time was left, ns. Alone or with more time they may.
    pub(crate) fn leave_out(&mut self, expected_ns: u64, left_ns: u64, alone: bool) {
        let (takes, left) = (expected_ns.div_ceil(SECOND), left_ns / SECOND);
        self.without(&format!("it takes about {takes} s here, and {left} s were left"), alone);
    }

    /// What the batches of the fewest rounds take here, ns, as they were calibrated: a round of the warm-up and one that is timed,
    /// and once more for operations that are timed while idle CPUs sleep, too.
    pub(crate) fn least_batches_ns(&self) -> u64 {
        const ROUNDS: u64 = 2;
        let taken = |index: &usize| {
            let member = &self.members[*index];
            member.batch_ns.saturating_mul(if member.choice.card().wakes_another_cpu() {
                2 * ROUNDS
            } else {
                ROUNDS
            })
        };
        self.active().iter().map(taken).fold(0, u64::saturating_add)
    }

    /// The end of the run cut its launch, which had so much time, ns: without another one its members take no part.
    pub(crate) fn leave_out_after(&mut self, had_ns: u64) {
        if self.members.iter().all(|member| member.launched.is_empty()) {
            self.without(&format!("it takes more than the {} s that were left", had_ns / SECOND), false);
        }
    }

    /// There is no time for its members, or not beside others.
    fn without(&mut self, why: &str, alone: bool) {
        for index in self.active() {
            let member = &mut self.members[index];
            let remedy = if alone {
                format!("oscost run {}", member.choice.card().id)
            } else {
                "--thorough".to_owned()
            };
            member.outcome = Fate::Unsupported { why: why.to_owned(), remedy };
        }
    }

    /// Members that still take part.
    pub(crate) fn active(&self) -> Vec<usize> {
        let running = |index: &usize| matches!(self.members[*index].outcome, Fate::Running);
        (0..self.members.len()).filter(running).collect()
    }

    pub(crate) fn ids(&self, members: &[usize]) -> Vec<String> {
        members.iter().map(|&index| self.members[index].choice.card().id.to_owned()).collect()
    }

    /// A worker was lost: the member that was running has failed; if nobody was, nobody can be measured. Who is lost, and how.
    pub(crate) fn lose(
        &mut self,
        active: &[usize],
        member: Option<usize>,
        what: &str,
    ) -> (Vec<usize>, Failure) {
        let failure = Failure::new("worker", what);
        let running = member.and_then(|position| active.get(position));
        let lost = running.map_or_else(|| active.to_vec(), |&index| vec![index]);
        for &index in &lost {
            self.members[index].outcome = Fate::Failed(failure.clone());
        }
        (lost, failure)
    }

    /// Why a launch does not count, if it does not: it was shared with somebody else, and the one before it was not. A
    /// neighbour that stays is measured with, and marked.
    pub(crate) fn voided_by_sharing(&mut self, launched: &[Member<Launched>]) -> Option<String> {
        let shares = launched.iter().filter_map(|member| match member {
            Member::Done(launched) => launched.record.foreign_share,
            _ => None,
        });
        let most = shares.reduce(f64::max).filter(|&share| share > SHARED);
        let stays = std::mem::replace(&mut self.shared, most.is_some());
        most.filter(|_| !stays).map(|share| format!("others had {:.0} % of a measured CPU", share * 100.0))
    }

    /// Planned launches.
    pub(crate) fn planned(&self, effort: &plan::Effort) -> u32 {
        plan::launches(self.members.iter().map(|member| member.choice.card()), effort)
    }

    /// Whether launch after launch of it was void.
    pub(crate) fn has_given_up(&self) -> bool {
        self.void - self.void_before >= MOST_VOID
    }

    /// Whether more launches may bring an interval within its aim, or windows that nobody disturbs: more are allowed, and
    /// void ones are made up for.
    pub(crate) fn wants_more(&self, effort: &plan::Effort, best: &Best) -> bool {
        let active = self.active();
        if active.is_empty() || self.launches >= effort.most_launches + self.void || self.has_given_up() {
            return false;
        }
        let budget = active.iter().filter_map(|&index| self.members[index].choice.card().budget_ms).min();
        if budget.is_some_and(|budget_ms| self.spent_ns >= budget_ms * 1_000_000) {
            return false;
        }
        self.launches - self.void < self.planned(effort)
            || active.iter().any(|&index| {
                let member = &self.members[index];
                !figures::has_converged(member) || !figures::is_quiet_enough(member, best)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::card::{Card, Placement};
    use crate::figures::synthetic;
    use crate::protocol::message::Audited;

    /// What becomes of launches of which others had these shares, one after the other: whether each is void.
    fn voided(shares: &[f64]) -> Vec<bool> {
        let mut group = GroupState::new("group", Vec::new());
        let launch = |share: f64| {
            let mut launched = Launched::default();
            launched.record.foreign_share = Some(share);
            [Member::Done(Launched::default()), Member::Done(launched)]
        };
        shares.iter().map(|&share| group.voided_by_sharing(&launch(share)).is_some()).collect()
    }

    #[test]
    fn a_shared_launch_is_void_once_and_a_neighbour_that_stays_is_measured_with() {
        assert_eq!(voided(&[0.0, 0.01, 0.009]), [false, false, false]);
        assert_eq!(voided(&[0.02, 0.3, 0.3, 0.0]), [true, false, false, false]);
        assert_eq!(voided(&[0.0, 0.3, 0.0, 0.3]), [false, true, false, true], "one that comes and goes");
    }

    fn choices(ids: &[&'static str]) -> Vec<Choice> {
        ids.iter().map(|id| synthetic::choice(synthetic::series(id))).collect()
    }

    fn options(seed: u64, cpus: usize) -> Options {
        Options {
            effort: plan::Effort::DEFAULT,
            seed,
            cpus: (0..cpus).collect(),
            spread_cpus: Vec::new(),
            core: None,
            idle_cpu: crate::protocol::message::IdleCpu::Halt,
            keep_samples: false,
            references: Vec::new(),
            expected_ns: BTreeMap::new(),
            first: Vec::new(),
        }
    }

    #[test]
    fn groups_are_in_an_order_that_the_seed_fixes() {
        let choices = choices(&["a", "b", "c", "d", "e", "f"]);
        let names =
            |seed| form(&choices, &options(seed, 2)).iter().map(|group| group.name).collect::<Vec<_>>();
        assert_eq!(names(1), names(1));
        assert!((2..9).any(|seed| names(seed) != names(1)));
    }

    #[test]
    fn what_lacks_cpus_takes_no_part() {
        let card = Card { placement: Placement::CrossCpu, ..synthetic::series("across") };
        let formed = |cpus| form(&[synthetic::choice(card.clone())], &options(1, cpus)).remove(0);
        assert_eq!((formed(1).active(), formed(2).active()), (vec![], vec![0]));
        assert!(
            matches!(&formed(1).members[0].outcome, Fate::Unsupported { why, .. } if why.starts_with("needs 2 CPUs"))
        );
    }

    #[test]
    fn a_group_is_left_out_whose_members_have_no_launch() {
        let card = Card { placement: Placement::CrossCpu, blocks: true, ..Card::BATCHED };
        for (launches, active) in [(1, vec![0, 1]), (0, vec![])] {
            let launched = vec![Launched::default(); launches];
            let members = [launched, Vec::new()].map(|launched| synthetic::member(card.clone(), launched));
            let mut group = GroupState::new("g", members.to_vec());
            group.members[0].batch_ns = 7;
            assert_eq!(group.least_batches_ns(), 28, "two rounds, and two while idle CPUs sleep");
            group.leave_out_after(SECOND);
            assert_eq!(group.active(), active);
        }
    }

    /// A group of one series, as far as a run has come with it.
    fn group(launches: u32, void: u32, costs: &[f64]) -> GroupState {
        let launched = costs.iter().map(|&cost| synthetic::launched(&[("cost", cost)])).collect();
        let member = synthetic::member(synthetic::series("a"), launched);
        GroupState { launches, void, ..GroupState::new("a", vec![member]) }
    }

    #[test]
    fn more_launches_are_wanted_for_what_has_not_converged_within_bounds() {
        let effort = plan::Effort { launches: 6, most_launches: 12, ..plan::Effort::DEFAULT };
        let wants = |group: &GroupState| group.wants_more(&effort, &Best::UNKNOWN);
        let wide = [100.0, 200.0, 100.0, 200.0, 100.0, 200.0];
        let alike = [100.0; 6];
        assert!(wants(&group(6, 0, &wide)) && !wants(&group(6, 0, &alike)));
        let mut both = group(6, 0, &alike);
        both.members.extend(group(6, 0, &wide).members);
        assert!(wants(&both), "one of them is enough");
        assert!(wants(&group(11, 0, &wide)) && !wants(&group(12, 0, &wide)), "not for ever");
        assert!(wants(&group(12, 1, &wide)) && !wants(&group(13, 1, &wide)), "void ones come on top");
        assert!(wants(&group(5, 0, &alike)) && wants(&group(6, 1, &alike)) && !wants(&group(7, 1, &alike)));
        assert!(wants(&group(9, 9, &wide)) && !wants(&group(10, 10, &wide)), "nor where ten are void");
        let mut given_up = group(6, 0, &wide);
        given_up.lose(&[0], None, "it fell");
        assert!(!wants(&given_up));
        let mut costly = group(6, 0, &wide);
        costly.members[0].choice = synthetic::choice(Card { budget_ms: Some(50), ..synthetic::series("a") });
        costly.spent_ns = 49_999_999;
        assert!(wants(&costly));
        costly.spent_ns = 50_000_000;
        assert!(!wants(&costly));
    }

    #[test]
    fn the_smallest_budget_of_those_who_take_part_counts() {
        let member =
            |id, budget_ms| synthetic::member(Card { budget_ms, ..synthetic::series(id) }, Vec::new());
        let mut group =
            GroupState::new("g", vec![member("a", Some(10)), member("b", Some(30)), member("c", None)]);
        (group.launches, group.spent_ns) = (6, 20_000_000);
        assert!(!group.wants_more(&plan::Effort::DEFAULT, &Best::UNKNOWN));
        group.lose(&[0, 1, 2], Some(0), "it fell");
        assert!(group.wants_more(&plan::Effort::DEFAULT, &Best::UNKNOWN));
    }

    #[test]
    fn who_was_running_is_lost_and_else_everybody_that_took_part() {
        let members =
            || ["a", "b", "c"].map(|id| synthetic::member(synthetic::series(id), Vec::new())).to_vec();
        let left = |active: &[usize], member| {
            let mut group = GroupState::new("g", members());
            group.lose(active, member, "it fell");
            group.active()
        };
        assert_eq!(left(&[0, 2], Some(1)), [0, 1], "the second of those that are left is c");
        assert_eq!(left(&[0, 2], None), [1]);
        assert_eq!(left(&[0, 2], Some(7)), [1], "nobody knows who that was");
        let group = GroupState::new("g", members());
        assert_eq!(group.ids(&[2, 0]), ["c", "a"]);
    }

    #[test]
    fn what_becomes_of_a_guest_does_not_depend_on_the_order_of_its_groups() {
        let guest = |outcome: Fate, launches: usize| {
            let launched = vec![Launched::default(); launches];
            MemberState { outcome, ..synthetic::member(synthetic::series("p"), launched) }
        };
        let failed = || Fate::Failed(Failure::new("worker", "it fell"));
        let lacks = || Fate::Unsupported { why: "there is no time".to_owned(), remedy: String::new() };
        for [tells, other] in [
            [guest(Fate::Running, 10), guest(failed(), 2)],
            [guest(Fate::Running, 1), guest(lacks(), 0)],
            [guest(failed(), 2), guest(Fate::Running, 0)],
            [guest(failed(), 0), guest(lacks(), 2)],
            [guest(lacks(), 0), guest(Fate::Running, 0)],
        ] {
            let launches = tells.launched.len() + other.launched.len();
            for order in [[&tells, &other], [&other, &tells]] {
                let mut groups = order.map(|guest| GroupState::new("g", vec![guest.clone()]));
                pool(&mut groups);
                let pooled = &groups[0].members[0];
                assert_eq!((&pooled.outcome, pooled.launched.len()), (&tells.outcome, launches));
            }
        }
    }

    #[test]
    fn a_guest_is_one_figure_of_all_its_launches() {
        let launched = |sequence: u32, track: bool| {
            let mut launched = synthetic::launched(&[("cost", f64::from(sequence))]);
            launched.record.sequence = sequence;
            if track {
                launched.record.tracks.insert("one".to_owned(), vec![1.0]);
            }
            launched
        };
        let guest = |launches: Vec<Launched>| synthetic::member(synthetic::series("p"), launches);
        let host = |id| synthetic::member(synthetic::series(id), vec![launched(9, false)]);
        let first = MemberState {
            outcome: Fate::Failed(Failure::new("worker", "it fell")),
            failed_launches: 1,
            ..guest(Vec::new())
        };
        let second = MemberState {
            failed_launches: 2,
            first_failure: Some(Failure::new("batch", "it broke")),
            throttled: true,
            audited: Some(Audited { method: Some("ptrace".into()), ..Audited::default() }),
            ..guest(vec![launched(4, true), launched(2, true)])
        };
        let outcome = Fate::Failed(Failure::new("worker", "it fell later"));
        let third = MemberState { outcome, ..guest(vec![launched(3, true)]) };
        let mut groups = vec![
            GroupState::new("a", vec![host("a"), first]),
            GroupState::new("b", vec![host("b"), second]),
            GroupState::new("c", vec![third, host("c")]),
        ];
        pool(&mut groups);
        for (group, member) in [(0, 1), (1, 1), (2, 0)] {
            let pooled = &groups[group].members[member];
            let sequences: Vec<u32> =
                pooled.launched.iter().map(|launched| launched.record.sequence).collect();
            assert_eq!(sequences, [2, 3, 4], "group {group}");
            assert_eq!(pooled.outcome, Fate::Running, "one group in which it was measured is enough");
            assert_eq!((pooled.failed_launches, pooled.throttled), (3, true));
            assert!(pooled.first_failure.is_some() && pooled.audited.is_some());
            let tracks: Vec<usize> =
                pooled.launched.iter().map(|launched| launched.record.tracks.len()).collect();
            assert_eq!(tracks, [1, 0, 0]);
        }
        assert_eq!(groups[0].members[0].launched.len(), 1, "hosts keep their own");
    }
}
