//! The founding documents: published tables, their methods repeated literally, their statements and what this machine says of them.
//!
//! A document is one file. What it published stands there as data with its place; its own method is a hidden benchmark of
//! the same engine (single runs, no interval); a statement is judged from figures of the price list.
#![forbid(unsafe_code)]

mod answer;
pub mod apue;
mod context_switch;
mod cut_short;
mod found;
pub mod grame;
mod left_out;
mod literal;
mod measured;
mod ostep;
mod parameters;
mod tlpi;
mod worksheet;

pub use cut_short::judge_cut_short;
pub use found::{Found, LEAST_RUNS};
pub use left_out::{expected_ns, left_out};
pub use parameters::DocumentParameters;
pub use tlpi::script_table;
pub use worksheet::worksheet;

use oscost_harness::{Benchmark, Setting};
use oscost_results::document::FoundingDocument;
use oscost_results::{Answer, Judgement, Reproduction};

/// A founding document.
pub struct Document {
    /// Its name, number and title.
    pub founding: FoundingDocument,
    /// What its own method can be set to.
    pub settings: &'static [Setting],
    /// Ids of the price list that answer it.
    pub figures: &'static [&'static str],
    /// Ids of its literal methods and of what only it needs, for these parameters.
    pub literal: fn(&DocumentParameters) -> Vec<String>,
    /// Published values beside literal and measured ones, then the statements. One that lacks a figure has no reason.
    rows: fn(&Found<'_>, &DocumentParameters) -> Vec<Reproduction>,
    /// What it asks, there and here.
    pub answers: fn(&Found<'_>, &DocumentParameters) -> Vec<Answer>,
}

/// The judgement of a statement of which a figure was not measured, as of others that cannot be tested: it has no reason.
const UNMEASURED: Option<Judgement> = Some(Judgement::NotTestableHere);

impl Document {
    /// Published values beside literal and measured ones, then the statements, for a run that was not cut short.
    #[must_use]
    pub fn judge(&self, found: &Found<'_>, parameters: &DocumentParameters) -> Vec<Reproduction> {
        let mut rows = (self.rows)(found, parameters);
        for row in rows.iter_mut().filter(|row| row.verdict == UNMEASURED && row.because.is_empty()) {
            "a figure that it needs was not measured in this run".clone_into(&mut row.because);
        }
        rows
    }
}

/// The documents that can be reproduced, in their order.
pub const ALL: &[&Document] =
    &[&tlpi::DOCUMENT, &apue::DOCUMENT, &grame::DOCUMENT, &ostep::DOCUMENT, &context_switch::DOCUMENT];

/// The benchmark of a document's own id; `None` for any other.
#[must_use]
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    literal::resolve(id).or_else(|| apue::resolve(id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use oscost_results::{Trait, older_traits, parameters_of_id};

    use super::*;

    /// Families that are younger than parameters on cards: no result has them in the id alone.
    const YOUNG: [&str; 13] = [
        "container",
        "cpu_pair",
        "event",
        "file",
        "futex",
        "io_uring",
        "memory",
        "process",
        "signal",
        "socket",
        "tax",
        "thread",
        "timer",
    ];

    #[test]
    fn every_card_states_what_its_id_says() {
        let mut benchmarks = oscost_families::all();
        benchmarks.extend(oscost_families::grid());
        let settings = DocumentParameters::default();
        let literal = ALL.iter().flat_map(|document| (document.literal)(&settings));
        let given = [
            "realtime_ipc/pipe/spread/clients_7/tick_1451247ns/size_1024/policy_fifo/ticks_1000/load_command_sleep%201",
            "lock/spin/contended/threads_3/hold_us_7/think_2_holds",
            "grame/literal/clients_3/tick_1000000ns/values_330_30/policy_fifo/send_blocking/drop_ours/session_2",
            "grame/literal/clients_1/load_transfer",
            "grame/literal/clients_10/sender_96",
            "grame/literal/clients_2/order_tail",
            "record_database/book/mapped/fine_ofd/processes_16/nrec_20/workload_text",
        ];
        let given = literal.chain(given.map(str::to_owned));
        let found = given.map(|id| {
            let found = resolve(&id).or_else(|| oscost_families::resolve(&id));
            found.or_else(|| oscost_families::all().into_iter().find(|it| it.card().id == id)).expect(&id)
        });
        benchmarks.extend(found);
        let mut with_any = 0;
        for card in benchmarks.iter().map(|benchmark| benchmark.card()) {
            let of_card: BTreeMap<_, _> =
                card.parameters.iter().copied().map(|(name, it)| (name, it.to_string())).collect();
            let of_id =
                parameters_of_id(card.id).into_iter().map(|(name, it)| (name, it.to_string())).collect();
            let is_young = YOUNG.iter().any(|family| card.id.split('/').next() == Some(family));
            assert!(is_young || of_card == of_id, "{}: {of_card:?}, {of_id:?}", card.id);
            assert_eq!(of_card.len(), card.parameters.len(), "{}: each once", card.id);
            // What older results were told by, and what newer cards know besides.
            let newer = [Trait::HandsOff, Trait::Fair, Trait::WorksAcrossUsers];
            let traits = card.traits.iter().copied().filter(|it| !newer.contains(it)).collect::<Vec<_>>();
            assert_eq!(traits, older_traits(card.id), "{}", card.id);
            with_any += usize::from(!of_card.is_empty());
        }
        assert!(with_any > 1000, "{with_any}");
    }
}
