//! The bodies of the fuzz targets, which the tests of oscost run too: crates/oscost/tests/it/corpus/.
#![forbid(unsafe_code)]

#[path = "../../crates/oscost/tests/it/corpus/database.rs"]
pub mod database;
#[path = "../../crates/oscost/tests/it/corpus/escapers.rs"]
pub mod escapers;
#[path = "../../crates/oscost/tests/it/corpus/formats.rs"]
pub mod formats;
#[path = "../../crates/oscost/tests/it/corpus/guest.rs"]
pub mod guest;
#[path = "../../crates/oscost/tests/it/corpus/journal.rs"]
pub mod journal;
#[path = "../../crates/oscost/tests/it/corpus/metrics.rs"]
pub mod metrics;
#[path = "../../crates/oscost/tests/it/corpus/results.rs"]
pub mod results;
#[path = "../../crates/oscost/tests/it/corpus/shown.rs"]
pub mod shown;
#[path = "../../crates/oscost/tests/it/corpus/system.rs"]
pub mod system;
#[path = "../../crates/oscost/tests/it/corpus/tick.rs"]
pub mod tick;
#[path = "../../crates/oscost/tests/it/corpus/tree.rs"]
pub mod tree;
#[path = "../../crates/oscost/tests/it/corpus/trees.rs"]
pub mod trees;
