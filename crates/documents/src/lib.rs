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
mod seldom;
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
use oscost_results::{Answer, Judgement, Reproduction, Status};

/// A founding document.
pub struct Document {
    /// Its name, number and title.
    pub founding: FoundingDocument,
    /// What its own method can be set to.
    pub settings: &'static [Setting],
    /// Ids of the price list that answer it.
    pub figures: &'static [&'static str],
    /// Ids that its statements rest on, those of the most statements first: where time is short, they have their intervals before
    /// what its tables show besides. Empty where all that it measures is judged.
    pub first: fn(&DocumentParameters) -> Vec<String>,
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
        let why = if seldom::had_no_time(found) { seldom::NO_TIME } else { "" };
        seldom::take_back(self, found, parameters, &mut rows, why);
        let (verdict, because) = without_figure(found);
        for row in rows.iter_mut().filter(|row| row.verdict == UNMEASURED && row.because.is_empty()) {
            row.verdict = Some(verdict);
            because.clone_into(&mut row.because);
        }
        rows
    }
}

/// What a statement is that lacks a figure, and why: on a slow machine there was no time for six launches of some, which is nothing
/// that the machine lacks.
fn without_figure(found: &Found<'_>) -> (Judgement, String) {
    let mut own = found.figures.iter().filter(|figure| !seldom::is_literal(figure));
    let all_measured = own.all(|figure| figure.status == Status::Measured);
    let seldom = seldom::seldom();
    match (seldom::had_no_time(found), all_measured) {
        (true, true) => (Judgement::NotJudged, format!("a figure that it needs was measured {seldom}")),
        (true, false) => {
            (Judgement::NotTestableHere, format!("a figure that it needs was not measured here, or {seldom}"))
        }
        _ => (Judgement::NotTestableHere, "a figure that it needs was not measured in this run".to_owned()),
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

    use oscost_results::{Figure, LaunchRecord, Trait, older_traits, parameters_of_id};

    use super::*;

    /// A run of document 000 under a quota had one launch of its semaphores, and said that they were not measured.
    #[test]
    fn a_figure_that_was_launched_too_seldom_is_not_one_that_the_machine_lacks() {
        let rate = "System V's ~4.5M operations/second";
        let told = |launches: usize, status: Status| {
            let mut one = found::test::figure("semaphore/posix_named", "floor", 5.0, Some(0.0));
            (one.status, one.launches) = (status, vec![LaunchRecord::default(); launches]);
            let figures = [one];
            let rows = tlpi::DOCUMENT.judge(&Found::of(&figures, &[], &[]), &DocumentParameters::default());
            found::test::statement(&rows, rate).clone()
        };
        let seldom = told(1, Status::Measured);
        assert_eq!(seldom.verdict, Some(Judgement::NotJudged));
        assert!(seldom.because.contains("less often than the 6 times"), "{}", seldom.because);
        for row in [told(6, Status::Measured), told(0, Status::Unsupported)] {
            assert_eq!(row.verdict, Some(Judgement::NotTestableHere));
            assert_eq!(row.because, "a figure that it needs was not measured in this run");
        }
    }

    #[test]
    fn a_figure_that_comes_after_the_others_decides_no_statement() {
        let parameters = DocumentParameters::default();
        for document in ALL.iter().filter(|document| !(document.first)(&parameters).is_empty()) {
            let first = (document.first)(&parameters);
            let mut ids = (document.literal)(&parameters);
            ids.extend(document.figures.iter().map(|&id| id.to_owned()));
            ids.sort_unstable();
            ids.dedup();
            let measured = |id: &String| {
                let mut one = found::test::figure(id, "floor", 100.0, Some(1.0));
                oscost_results::quantity::ALL
                    .iter()
                    .for_each(|it| found::test::set(&mut one, it.name, 100.0));
                one
            };
            let of = |is_measured: &dyn Fn(&str) -> bool| {
                let figures: Vec<Figure> = ids.iter().filter(|id| is_measured(id)).map(measured).collect();
                let rows = document.judge(&Found::of(&figures, &[], &[]), &parameters);
                rows.into_iter().filter_map(|row| Some((row.statement?, row.verdict))).collect::<Vec<_>>()
            };
            let is_literal = |id: &str| id.contains("/literal/");
            let comes_first = |id: &str| is_literal(id) || first.iter().any(|it| it == id);
            assert_eq!(of(&|_| true), of(&comes_first), "{}", document.founding.name);
            assert_ne!(of(&|_| true), of(&is_literal), "{}", document.founding.name);
            assert!(first.iter().all(|id| ids.contains(id)), "{first:?}");
        }
    }

    /// How long several wait for one another depends on how many of them can run.
    #[test]
    fn a_table_of_several_at_once_names_the_cpus() {
        let parameters = DocumentParameters::default();
        let mut named = 0;
        for document in ALL {
            let mut ids = (document.literal)(&parameters);
            ids.extend(document.figures.iter().map(|&id| id.to_owned()));
            let figures: Vec<Figure> = ids
                .iter()
                .map(|id| {
                    let mut one = found::test::figure(id, "clock", 100.0, Some(1.0));
                    oscost_results::quantity::ALL
                        .iter()
                        .for_each(|it| found::test::set(&mut one, it.name, 100.0));
                    found::test::repeat(&mut one, 6);
                    one
                })
                .collect();
            let found = Found { cpus: Some(2), ..Found::of(&figures, &[], &[]) };
            for row in document.judge(&found, &parameters) {
                let (Some(cell), Some(id)) = (row.cell, row.figure_id) else { continue };
                let several = |(name, it): &(&str, oscost_results::Parameter<'_>)| {
                    *name == "processes" && it.to_string() != "1"
                };
                if parameters_of_id(&id).iter().any(several) {
                    named += 1;
                    assert!(cell.table.contains(" on 2 CPUs"), "{}", cell.table);
                }
            }
        }
        assert!(named > 20, "{named}");
    }

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
