//! Everything that crosses between processes: jobs and reports of workers, records of a run, and the janitor's ledger.

pub(crate) mod core;
pub(crate) mod keeper;
pub(crate) mod ledger;
pub(crate) mod message;
pub(crate) mod object;
pub(crate) mod record;
pub(crate) mod start;
pub(crate) mod timed;
