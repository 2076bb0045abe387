//! Figures out of the records of a run that was killed: what was measured is not lost.

use oscost_results::{Figure, PairedValue};

use crate::catalogue::{Catalogue, Choice};
use crate::event::Record;
use crate::figure;
use crate::group::MemberState;
use crate::message::Pair;

/// The figures, ratios and differences that follow from `records`, with fewer launches than were planned. Records of
/// benchmarks that this program does not have are left out.
#[must_use]
pub fn rebuild(
    catalogue: &Catalogue,
    records: &[Record],
    clock_step_ns: f64,
) -> (Vec<Figure>, Vec<PairedValue>, Vec<PairedValue>) {
    let mut members: Vec<MemberState> = Vec::new();
    let mut pairs: Vec<Vec<Pair>> = Vec::new();
    let mut speeds: Vec<(&'static str, f64)> = Vec::new();
    for record in records {
        match record {
            Record::Audited { id, audited } => {
                if let Some(member) = member(catalogue, &mut members, id) {
                    member.audited = Some(audited.clone());
                }
            }
            Record::Launched { canary_ns, members: launched, pairs: compared, .. } => {
                for (id, launched) in launched {
                    if let Some(member) = member(catalogue, &mut members, id) {
                        member.iterations = launched.record.iterations;
                        member.launched.push(launched.clone());
                        speeds.push((member.choice.card().group, *canary_ns));
                    }
                }
                pairs.push(compared.clone());
            }
        }
    }
    let figures: Vec<Figure> = members
        .iter()
        .map(|member| {
            let group = member.choice.card().group;
            let context = figure::Context {
                void_launches: 0,
                void_reason: None,
                canary_ns: speeds.iter().find(|speed| speed.0 == group).map_or(0.0, |speed| speed.1),
                clock_step_ns,
                seccomp_mode: None,
                tracer_pid: None,
                interrupted: true,
            };
            figure::of_member(member, &context)
        })
        .collect();
    let (ratios, differences) = figure::paired(&figures, &members, &pairs);
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
