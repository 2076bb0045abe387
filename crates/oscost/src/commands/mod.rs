//! The commands, one file each.

mod bisect;
pub mod compare;
pub mod complete;
pub mod count;
mod count_compare;
pub mod crosscheck;
pub mod doctor;
pub mod explain;
mod fleet;
pub mod generate;
mod jitter;
pub mod list;
mod live;
mod manual;
pub mod report;
pub mod reproduce;
mod rows;
pub mod run;
pub mod start;
pub mod tick;
mod verify;
mod watch;

use oscost_harness::Catalogue;

/// All that this program can measure.
pub fn catalogue() -> Catalogue {
    Catalogue::new(oscost_families::all())
        .with_synonyms(crate::synonyms::SYNONYMS)
        .with_grid(oscost_families::grid)
        .with_resolver(oscost_families::resolve)
        .with_resolver(oscost_documents::resolve)
}

#[cfg(test)]
mod tests {
    use super::catalogue;

    #[test]
    fn no_card_is_of_a_revision_that_was_wrong() {
        for benchmark in catalogue().all() {
            let card = benchmark.card();
            assert_eq!(oscost_results::withdrawn(card.id, card.revision), None, "{}", card.id);
        }
    }
}
