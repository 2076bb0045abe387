//! Invented benchmarks and launches, for tests of plans and figures.
#![cfg(test)]

use std::collections::BTreeMap;

use oscost_results::Circumstances;

use crate::benchmark::card::{Card, QuantityCard};
use crate::benchmark::catalogue::Choice;
use crate::benchmark::foreign::Foreign;
use crate::benchmark::{Benchmark, SetUp, Subject, Unable};
use crate::figures::member::MemberState;
use crate::protocol::message::{Contained, Launched};

struct Synthetic(&'static Card);

impl Benchmark for Synthetic {
    fn card(&self) -> &'static Card {
        self.0
    }

    fn set_up(&self, _: &mut SetUp<'_>) -> Result<Subject, Unable> {
        Err(Unable::Unsupported { why: "it is never run".into(), remedy: String::new() })
    }
}

/// The quantities of [`series`].
pub(crate) const COST: &[QuantityCard] = &[QuantityCard::new("cost", "ns")];

/// The card of a series whose headline is `cost`, in a group of its own.
pub(crate) fn series(id: &'static str) -> Card {
    Card { id, group: id, quantities: COST, ..Card::SERIES }
}

/// The choice of a benchmark with this card.
pub(crate) fn choice(card: Card) -> Choice {
    Choice { benchmark: Box::leak(Box::new(Synthetic(Box::leak(Box::new(card))))), named: false }
}

/// A launch that found these quantities, on a machine that nobody disturbed.
pub(crate) fn launched(quantities: &[(&str, f64)]) -> Launched {
    let mut launched = Launched::default();
    let record = &mut launched.record;
    record.quantities = quantities.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    record.clean_share = Some(1.0);
    record.fast_share = Some(1.0);
    record.migrations = Some(0);
    record.foreign_share = Some(0.0);
    record.circumstances.tracer_pid = Some(0);
    launched
}

/// A member that made these launches.
pub(crate) fn member(card: Card, launched: Vec<Launched>) -> MemberState {
    MemberState { launched, ..MemberState::new(choice(card)) }
}

/// Circumstances of a launch in which nothing is unusual.
pub(crate) fn usual() -> Circumstances {
    Circumstances {
        nice: Some(0),
        policy: Some("other".to_owned()),
        tracer_pid: Some(0),
        seccomp_mode: Some(0),
        preload: Some(Vec::new()),
        ..Circumstances::default()
    }
}

/// A program that is not ours, whose cost is what it prints.
pub(crate) fn foreign() -> Foreign {
    Foreign {
        id: "peer/tool".to_owned(),
        title: "a tool".to_owned(),
        operation: "what it does".to_owned(),
        headline: ("cost".to_owned(), "us".to_owned()),
        command: Vec::new(),
        environment: BTreeMap::new(),
        cpus: Vec::new(),
        deadline_ns: 2_000_000_000,
        contained: Contained::No,
        reader: |output| match output.stdout.parse() {
            Ok(cost) => Ok([("cost".to_owned(), cost)].into()),
            Err(_) => Err("it printed no number".to_owned()),
        },
    }
}
