//! The commands, one file each.

pub mod compare;
pub mod crosscheck;
pub mod doctor;
mod gate;
pub mod list;
mod live;
pub mod manual;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod tick;

use oscost_harness::Catalogue;

/// All that this program can measure.
pub fn catalogue() -> Catalogue {
    Catalogue::new(oscost_families::all())
        .with_grid(oscost_families::grid)
        .with_resolver(oscost_families::resolve)
        .with_resolver(oscost_documents::resolve)
}
