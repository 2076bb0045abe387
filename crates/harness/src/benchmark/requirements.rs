//! What a benchmark needs from the machine, checked before its set-up.

use super::card::{Card, Need, Placement};
use super::catalogue::Choice;

/// What a benchmark needs and these CPUs do not give, with what to do about it.
#[must_use]
pub fn lacking(choice: &Choice, cpus: &[usize]) -> Option<(String, String)> {
    let card = choice.card();
    if let Some(cpu) = card.cpus.iter().find(|cpu| !cpus.contains(cpu)) {
        return Some((
            format!("runs on CPU {cpu}, which may not be used"),
            "name CPUs that may be used, or allow this one (taskset, cpuset, --cpu)".to_owned(),
        ));
    }
    let (cpus, least) = (cpus.len(), needed(card));
    (cpus < least).then(|| {
        let plural = if cpus == 1 { "CPU" } else { "CPUs" };
        (
            format!("needs {least} CPUs, and {cpus} {plural} may be used"),
            "give the process more CPUs (taskset, cpuset, --cpu)".to_owned(),
        )
    })
}

/// Fewest CPUs that it runs on.
fn needed(card: &Card) -> usize {
    let least = card.needs.iter().map(|need| match need {
        Need::Cpus(count) => usize::try_from(*count).unwrap_or(usize::MAX),
    });
    least.max().unwrap_or(1).max(if card.placement == Placement::CrossCpu { 2 } else { 1 })
}

/// Why its operations can be neither counted nor traced, on whatever machine.
#[must_use]
pub fn uncountable(card: &Card) -> Option<&'static str> {
    if needed(card) > 1 {
        return Some("it needs several CPUs, and operations are counted and traced on one");
    }
    let times_itself = !card.quantities.is_empty();
    times_itself
        .then_some("it holds the clock itself, so there is no single operation to be counted or traced")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::card::QuantityCard;
    use crate::figures::synthetic;

    #[test]
    fn what_is_lacking_is_said_in_numbers() {
        const CROSS: Card = Card { placement: Placement::CrossCpu, ..Card::BATCHED };
        const THREE: Card = Card { needs: &[Need::Cpus(2), Need::Cpus(3)], ..Card::BATCHED };
        const ON_FIVE: Card = Card { cpus: &[1, 5], ..Card::BATCHED };
        let lacks =
            |card: &Card, cpus: &[usize]| lacking(&synthetic::choice(card.clone()), cpus).map(|(why, _)| why);
        let said = |why: &str| Some(why.to_owned());
        assert_eq!(lacks(&CROSS, &[3]), said("needs 2 CPUs, and 1 CPU may be used"));
        assert_eq!(lacks(&CROSS, &[]), said("needs 2 CPUs, and 0 CPUs may be used"));
        assert_eq!(lacks(&THREE, &[3, 4]), said("needs 3 CPUs, and 2 CPUs may be used"));
        assert_eq!(lacks(&ON_FIVE, &[0, 1]), said("runs on CPU 5, which may not be used"));
        assert_eq!((lacks(&CROSS, &[3, 4]), lacks(&THREE, &[0, 1, 2])), (None, None));
        assert_eq!((lacks(&ON_FIVE, &[1, 5]), lacks(&Card::BATCHED, &[0])), (None, None));
        let cannot = |card: &Card| uncountable(card).unwrap_or_default();
        assert!(cannot(&CROSS).contains("several CPUs") && cannot(&THREE).contains("several CPUs"));
        const SERIES: Card = Card {
            quantities: &[QuantityCard::of(oscost_results::quantity::TIME_PER_OPERATION)],
            ..Card::SERIES
        };
        assert_eq!((cannot(&SERIES).contains("holds the clock"), uncountable(&Card::BATCHED)), (true, None));
    }
}
