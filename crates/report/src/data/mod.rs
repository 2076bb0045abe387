//! Results for other programs.

pub(crate) mod csv;
pub(crate) mod folded;
pub(crate) mod json;
pub(crate) mod open_metrics;
pub(crate) mod rows;
