//! Everything that runs in the supervisor, which plans, starts workers and never measures; and the janitor that it starts.

pub mod apart;
pub(crate) mod engine;
pub(crate) mod event;
pub(crate) mod foreign;
pub(crate) mod group;
pub(crate) mod janitor;
pub(crate) mod own_folder;
pub(crate) mod percentiles;
pub(crate) mod plain;
pub(crate) mod plan;
pub(crate) mod references;
pub(crate) mod rehearsal;
pub(crate) mod run_clock;
pub(crate) mod workers;
