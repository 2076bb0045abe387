//! Rebuilds the figures of a killed run from its records.

use std::collections::BTreeMap;

use oscost_results::{CoreConstants, Figure, PairedValue};

use super::member::{Fate, MemberState};
use super::quiet::{Best, Seen};
use crate::benchmark::catalogue::{Catalogue, Choice};
use crate::figures;
use crate::protocol::message::Pair;
use crate::protocol::record::{Befell, Record};

/// The figures, ratios and differences that follow from `records`, with fewer launches than were planned. Records of
/// benchmarks that this program does not have are left out.
#[must_use]
pub fn rebuild(
    catalogue: &Catalogue,
    records: &[Record],
    clock_step_ns: f64,
    core: Option<&CoreConstants>,
) -> (Vec<Figure>, Vec<PairedValue>, Vec<PairedValue>) {
    let mut members: Vec<MemberState> = Vec::new();
    let mut pairs: Vec<Vec<Pair>> = Vec::new();
    let mut seen: Vec<Seen> = Vec::new();
    // Void launches by id, and why the last one is.
    let mut void: BTreeMap<&str, (u32, &str)> = BTreeMap::new();
    // Launches by id of groups that lost it afterwards.
    let mut of_losers: BTreeMap<&str, usize> = BTreeMap::new();
    // Nothing was told in steps in a run in which a step was no cycle.
    let mut cycles = false;
    for record in records {
        match record {
            Record::Audited { id, audited } => {
                if let Some(member) = member(catalogue, &mut members, id) {
                    member.audited = Some(audited.clone());
                }
            }
            Record::Launched { members: launched, pairs: compared, .. } => {
                // The canaries are the same beside every member: they count once.
                seen.extend(launched.iter().find_map(|(_, launched)| Seen::of(launched)));
                for (id, launched) in launched {
                    cycles |= !launched.windows.steps.is_empty();
                    if let Some(member) = member(catalogue, &mut members, id) {
                        // What one group lost, another one can have as its guest.
                        member.outcome = Fate::Running;
                        member.iterations = launched.record.iterations;
                        member.launched.push(launched.clone());
                    }
                }
                pairs.push(compared.clone());
            }
            Record::Befell { ids, what, launches } => {
                for (position, id) in ids.iter().enumerate() {
                    let Some(member) = member(catalogue, &mut members, id) else { continue };
                    // One group in which it could be measured is enough.
                    let mut is_lost = || {
                        let all = member.launched.len();
                        let lost = of_losers.entry(id).or_insert(0);
                        *lost += launches.get(position).copied().unwrap_or(all);
                        *lost >= all
                    };
                    match what {
                        Befell::Void(reason) => {
                            let launches = void.get(id.as_str()).map_or(0, |known| known.0);
                            void.insert(id, (launches + 1, reason.as_str()));
                        }
                        Befell::Throttled => member.throttled = true,
                        Befell::Failed(failure) => {
                            member.failed_launches += 1;
                            member.first_failure.get_or_insert_with(|| failure.clone());
                        }
                        Befell::Lost(failure) if is_lost() => member.outcome = Fate::Failed(failure.clone()),
                        Befell::Unsupported { why, remedy } if is_lost() => {
                            member.outcome = Fate::Unsupported { why: why.clone(), remedy: remedy.clone() };
                        }
                        Befell::Lost(_) | Befell::Unsupported { .. } => {}
                    }
                }
            }
        }
    }
    let best = Best::known(core, oscost_sys::processor::model().as_deref()).with(&seen);
    let figures: Vec<Figure> = members
        .iter()
        .map(|member| {
            let void = void.get(member.choice.card().id);
            let context = figures::Context {
                planned: 0,
                void_launches: void.map_or(0, |void| void.0),
                void_reason: void.map(|void| void.1),
                clock_step_ns,
                interrupted: true,
                stopped_by_quota: false,
                cycles,
                best,
            };
            figures::of_member(member, &context)
        })
        .collect();
    let (ratios, differences) = figures::paired(&figures, &members, &pairs);
    (figures, ratios, differences)
}

fn member<'a>(
    catalogue: &Catalogue,
    members: &'a mut Vec<MemberState>,
    id: &str,
) -> Option<&'a mut MemberState> {
    let index = match members.iter().position(|member| member.choice.card().id == id) {
        Some(index) => index,
        None => {
            let benchmark = catalogue.find(id)?;
            members.push(MemberState::new(Choice { benchmark, named: false }));
            members.len() - 1
        }
    };
    members.get_mut(index)
}

#[cfg(test)]
mod tests {
    use oscost_results::{Mark, Status};

    use super::*;
    use crate::benchmark::card::Card;
    use crate::figures::synthetic::{choice, launched};
    use crate::protocol::message::{Audited, Failure, Launched};

    /// A level that too few windows of a launch saw is none, however many members the launch had.
    #[test]
    fn the_canaries_of_a_launch_count_once() {
        let ids = ["a", "b", "c"];
        let benchmarks = ids.map(|id| choice(Card { id, ..Card::BATCHED }).benchmark);
        let mut one = launched(&[("floor", 100.0)]);
        one.record.chain_ns = Some(0.25);
        (one.windows.ns, one.windows.steps) = (vec![100.0; 60], vec![400.0; 60]);
        one.windows.entry = vec![270.0; 60];
        // Near what is known of processors, so that it decides on each of them.
        let core = CoreConstants { chain_ns: 0.25, throughput_ns: 0.156 * 0.25, entry_ns: None };
        let mut quiet = |better: usize| {
            one.windows.throughput = [vec![0.153; better], vec![0.156; 60 - better]].concat();
            let members = ids.map(|id| (id.to_owned(), one.clone())).to_vec();
            let record = Record::Launched { sequence: 1, members, pairs: Vec::new(), awake: None };
            let catalogue = Catalogue::new(benchmarks.to_vec());
            rebuild(&catalogue, &[record], 1.0, Some(&core)).0[0].launches[0].quiet_windows
        };
        assert_eq!((quiet(20), quiet(30)), (Some(60), Some(30)));
    }

    #[test]
    fn figures_follow_from_what_was_recorded() {
        let catalogue = Catalogue::new(vec![choice(Card { id: "a", ..Card::BATCHED }).benchmark]);
        let launch = |sequence: u32| {
            let mut launched = launched(&[("floor", 100.0)]);
            launched.record.iterations = 4;
            (launched.record.sequence, launched.record.chain_ns) = (sequence, None);
            let members = vec![("a".to_owned(), launched), ("gone".to_owned(), Launched::default())];
            Record::Launched { sequence, members, pairs: Vec::new(), awake: None }
        };
        let audited = Audited { method: Some("ptrace".to_owned()), ..Audited::default() };
        let records = [Record::Audited { id: "a".to_owned(), audited }, launch(1), launch(2)];
        let (figures, ratios, differences) = rebuild(&catalogue, &records, 10.0, None);
        assert_eq!((figures.len(), ratios.len(), differences.len()), (1, 0, 0), "nobody knows the other one");
        let (unlaunched, ..) = rebuild(&catalogue, &records[..1], 10.0, None);
        assert_eq!(unlaunched[0].why.as_deref(), Some("the run ended before its first launch"));
        let figure = &figures[0];
        assert_eq!((figure.launches.len(), figure.evidence.audit_method.as_deref()), (2, Some("ptrace")));
        // A step of 10 ns is 2.5 % of four operations of 100 ns.
        assert!(
            figure.remarks.iter().any(|words| words.starts_with("one step of the clock is 2 %")),
            "{figure:?}"
        );
    }

    #[test]
    fn what_befell_launches_is_said_of_a_killed_run_too() {
        let catalogue = Catalogue::new(vec![choice(Card { id: "a", ..Card::BATCHED }).benchmark]);
        let befell_after = |launches: Vec<usize>, what: Befell| {
            let ids = vec!["gone".to_owned(), "a".to_owned()];
            Record::Befell { ids, what, launches }
        };
        let befell = |what: Befell| befell_after(Vec::new(), what);
        let failed = || befell(Befell::Failed(Failure::new("batch", "it broke")));
        let void = || befell(Befell::Void("it slept".to_owned()));
        let lost = || befell(Befell::Lost(Failure::new("worker", "it fell")));
        let (why, remedy) = ("no such call".to_owned(), "a newer kernel".to_owned());
        let lacks = befell(Befell::Unsupported { why, remedy });
        let launch = || {
            let members = vec![("a".to_owned(), launched(&[("floor", 100.0)]))];
            Record::Launched { sequence: 1, members, pairs: Vec::new(), awake: None }
        };
        let figure = |records: &[Record]| rebuild(&catalogue, records, 1.0, None).0.remove(0);
        let why = |records: &[Record]| figure(records).why.expect("no launch");
        assert_eq!(why(&[void(), failed()]), "batch: it broke");
        assert_eq!(why(&[void(), void()]), "environment: every launch (2) is void: it slept");
        assert_eq!(why(&[launch(), lost()]), "worker: it fell");
        assert_eq!(why(&[launch(), lacks]), "no such call");
        // A guest of two groups: the one that lost it had so many launches of it.
        let loses =
            |launches| befell_after(vec![0, launches], Befell::Lost(Failure::new("worker", "it fell")));
        let status = |records: &[Record]| figure(records).status;
        assert_eq!(status(&[launch(), launch(), loses(1)]), Status::Measured, "the other group has it still");
        assert_eq!(status(&[launch(), launch(), loses(0), loses(1)]), Status::Measured);
        assert_eq!(
            why(&[launch(), launch(), loses(2)]),
            "worker: it fell",
            "both launches were of this group"
        );
        assert_eq!(why(&[launch(), launch(), loses(1), loses(1)]), "worker: it fell", "both lost it");
        assert_eq!(status(&[launch(), loses(1), launch()]), Status::Measured);
        let told = figure(&[lost(), failed(), launch(), failed(), void(), befell(Befell::Throttled)]);
        assert_eq!(told.status, Status::Measured, "by another group than the one that lost it");
        assert!(told.marks.contains(&Mark::Noisy));
        let said = [
            "2 launches were thrown away: batch: it broke",
            "1 launch was void: it slept",
            "a CPU quota stopped launches",
        ];
        assert_eq!(told.remarks, said);
    }

    #[test]
    fn the_empty_loop_is_a_cycle_only_in_a_run_that_told_cycles() {
        let catalogue = Catalogue::new(vec![choice(Card { id: "a", ..Card::BATCHED }).benchmark]);
        let has_bracket = |steps: Vec<f32>| {
            let mut launched = launched(&[("floor", 10.0)]);
            (launched.record.iterations, launched.record.chain_ns) = (1000, Some(0.25));
            launched.windows.steps = steps;
            let members = vec![("a".to_owned(), launched)];
            let record = Record::Launched { sequence: 1, members, pairs: Vec::new(), awake: None };
            rebuild(&catalogue, &[record], 1.0, None).0[0].quantities.contains_key("floor_less_loop")
        };
        assert!(has_bracket(vec![40.0]) && !has_bracket(Vec::new()));
    }
}
