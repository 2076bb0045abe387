//! Any operation of one process under a layer (`--set on=syscall/read1`): what it must be like, its card and its id.

use oscost_harness::{Benchmark, Bound, Card, Claim, Parameter, Placement, Setting, Takes, Tier, claims};

use super::layer::{self, Tax};
use super::watched::watched_call;
use crate::made::{self, words};

/// What is put under the layers.
pub const ON: Setting = Setting {
    key: "on",
    what: "id of the operation under the layers: one process, one CPU, no waiting",
    takes: Takes::Text { most: 200 },
    many: false,
    default: "getppid",
};
/// Between the id of a layer and that of the operation under it.
const ON_PART: &str = "/on/";

/// The id of the operation `on` under the layer of the id `tax`.
///
/// # Errors
/// In words: no such id, or not an operation that a layer can be put under.
pub fn id_of(tax: &str, on: &str) -> Result<String, String> {
    let found = crate::listed(on).ok_or_else(|| format!("--set on={on}: there is no such id"))?;
    match misfit(found.card()) {
        Some(why) => Err(format!("--set on={on}: it {why}")),
        None => Ok(format!("{tax}{ON_PART}{on}")),
    }
}

/// The benchmark of an id that names layer and operation.
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    let (tax, on) = id.split_once(ON_PART)?;
    let tax = super::LAYERS.iter().find(|layer| layer.card.id == tax)?;
    let on = crate::listed(on).filter(|on| misfit(on.card()).is_none())?;
    Some(made::once(id, || made::benchmark(under(tax, id, on))))
}

/// Why no layer can be put under it, as the end of a sentence about it.
fn misfit(card: &Card) -> Option<&'static str> {
    match card {
        Card { blocks: true, .. } => Some("waits for a process, a thread or a timer"),
        Card { quantities: [_, ..], .. } => Some("times itself, and has no batches"),
        Card { placement: Placement::OneCpu, changes_process: None, .. } => None,
        Card { placement: Placement::OneCpu, .. } => Some("changes the process that it runs in"),
        // It may run alone, as what is subtracted from the price of partners does.
        _ => Some("has a placement for partners"),
    }
}

/// The operation `on` under the layer of `tax`.
fn under(tax: &'static Tax, id: &str, on: &'static dyn Benchmark) -> Tax {
    let (id, inner) = (words(id.to_owned()), on.card());
    let layer = tax.card.id.trim_start_matches("tax/").replace(['/', '_'], " ");
    let own = if tax.layer.everywhere { layer::CARD.revision } else { 1 };
    let card = Card {
        id,
        title: words(format!("{} under {layer}", inner.title)),
        operation: words(format!("{}, under {layer}", inner.operation)),
        heading: inner.operation,
        call_path: inner.call_path,
        group: id,
        claims: made::list(claims_of(&on.claims(), tax.layer.listens)),
        parameters: made::list(vec![("on", Parameter::Text(inner.id))]),
        tier: Tier::Thorough,
        // Raised as often as that of the operation was.
        revision: own + inner.revision - 1,
        remark: inner.remark,
        ..layer::CARD
    };
    Tax { card: made::card(card), layer: tax.layer, on: Some(on) }
}

/// Its claims about system calls, and those of a listener beside it. What a launch counts is no part of one process alone.
fn claims_of(own: &[Claim], listens: bool) -> Vec<Claim> {
    let is_about_names = |claim: &&Claim| {
        matches!(claim, Claim::CallsNamed(..) | Claim::CallsByChance(_) | Claim::OtherCalls(_))
    };
    let mut found: Vec<Claim> = own.iter().filter(is_about_names).copied().collect();
    if found.is_empty() {
        // Calls without a name: a listener would have no part in them.
        found.extend(own.iter().filter(|claim| matches!(claim, Claim::SystemCalls(_))));
        return found;
    }
    if listens {
        let asked = watched_call(own).map_or(0.0, |(_, calls)| calls as f64);
        found.push(Claim::CallsNamed(&["ioctl"], claims::shared(2.0 * asked)));
    }
    if !found.iter().any(|claim| matches!(claim, Claim::OtherCalls(_))) {
        found.push(Claim::OtherCalls(Bound::Exactly(0.0)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_of_one_process_can_be_put_under_every_layer() {
        for tax in super::super::LAYERS {
            let id = id_of(tax.card.id, "syscall/write1").expect("it fits");
            let card = resolve(&id).expect("it is found").card();
            assert_eq!((card.id, card.group), (id.as_str(), id.as_str()));
            assert_eq!(card.parameters, [("on", Parameter::Text("syscall/write1"))]);
            assert!(card.title.len() <= 60, "{}", card.title);
        }
    }

    /// An operation that is measured otherwise than before is so under a layer, too.
    #[test]
    fn a_revision_of_the_operation_is_one_under_every_layer() {
        let mut revised = 0;
        let rows = || crate::FAMILIES.iter().flat_map(|family| family.benchmarks).map(|it| it.card());
        for inner in rows().filter(|card| misfit(card).is_none()) {
            for tax in super::super::LAYERS {
                let id = id_of(tax.card.id, inner.id).expect(inner.id);
                let revision = resolve(&id).expect("it is found").card().revision;
                let first = if tax.layer.everywhere { 2 } else { 1 };
                assert_eq!(revision, first + inner.revision - 1, "{id}");
                revised += usize::from(inner.revision > 1);
            }
        }
        assert!(revised > 0, "else this proves nothing");
    }

    #[test]
    fn what_waits_or_is_nothing_is_refused_in_words() {
        for (on, words) in [
            ("context_switch/pipe/same_cpu", "waits for a process"),
            ("context_switch/pipe_alone/same_cpu", "has a placement for partners"),
            ("context_switch/pipe_alone/cross_cpu", "has a placement for partners"),
            ("memory/shootdown/threads_1/cross_cpu", "has a placement for partners"),
            ("timer/nanosleep_overshoot", "or a timer"),
            ("tax/seccomp/allow_1", "times itself"),
            ("syscall/nothing", "there is no such id"),
        ] {
            let refused = id_of("tax/seccomp/allow_1", on).expect_err(on);
            assert!(refused.contains(words), "{refused}");
            assert!(resolve(&format!("tax/seccomp/allow_1/on/{on}")).is_none());
        }
    }

    #[test]
    fn a_listener_makes_two_calls_for_each_that_it_is_asked_about() {
        let own =
            [Claim::SystemCalls(Bound::Exactly(1.0)), Claim::CallsNamed(&["write"], Bound::Exactly(1.0))];
        let with = claims_of(&own, true);
        assert!(with.contains(&Claim::CallsNamed(&["ioctl"], claims::shared(2.0))), "{with:?}");
        assert!(with.contains(&Claim::OtherCalls(Bound::Exactly(0.0))), "{with:?}");
        let without = claims_of(&own, false);
        assert_eq!(without, [own[1], Claim::OtherCalls(Bound::Exactly(0.0))]);
        assert_eq!(claims_of(&own[..1], true), [own[0]]);
    }
}
