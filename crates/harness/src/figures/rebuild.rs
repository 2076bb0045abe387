//! Rebuilds the figures of a killed run from its records.

use oscost_results::{CoreConstants, Figure, PairedValue};

use super::member::MemberState;
use super::quiet::{Best, Seen};
use crate::benchmark::catalogue::{Catalogue, Choice};
use crate::figures;
use crate::protocol::message::Pair;
use crate::protocol::record::Record;

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
                    if let Some(member) = member(catalogue, &mut members, id) {
                        member.iterations = launched.record.iterations;
                        member.launched.push(launched.clone());
                    }
                }
                pairs.push(compared.clone());
            }
        }
    }
    let best = Best::known(core, oscost_sys::processor::model().as_deref()).with(&seen);
    let figures: Vec<Figure> = members
        .iter()
        .map(|member| {
            let context = figures::Context {
                planned: 0,
                void_launches: 0,
                void_reason: None,
                clock_step_ns,
                interrupted: true,
                stopped_by_quota: false,
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
    use super::*;
    use crate::benchmark::card::Card;
    use crate::figures::synthetic::{choice, launched};
    use crate::protocol::message::{Audited, Launched};

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
}
