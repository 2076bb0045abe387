//! The commands, one file each.

pub mod compare;
pub mod complete;
mod counts;
pub mod explain;
mod fleet;
pub mod generate;
pub mod list;
mod manual;
mod newest;
pub mod report;
mod rows;
pub mod start;

// What measures.
#[cfg(target_os = "linux")]
pub mod bill;
#[cfg(target_os = "linux")]
mod bill_prices;
#[cfg(target_os = "linux")]
pub mod bisect;
#[cfg(target_os = "linux")]
pub mod count;
#[cfg(target_os = "linux")]
pub mod count_bisect;
#[cfg(target_os = "linux")]
pub mod crosscheck;
#[cfg(target_os = "linux")]
pub mod doctor;
#[cfg(target_os = "linux")]
mod jitter;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
pub mod reproduce;
#[cfg(target_os = "linux")]
pub mod run;
#[cfg(target_os = "linux")]
pub mod tick;
#[cfg(target_os = "linux")]
pub mod trace;
#[cfg(target_os = "linux")]
mod verify;
#[cfg(target_os = "linux")]
mod watch;

/// All that this program can measure.
#[cfg(target_os = "linux")]
pub fn catalogue() -> oscost_harness::Catalogue {
    oscost_harness::Catalogue::new(oscost_families::all())
        .with_synonyms(crate::synonyms::synonyms)
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
