//! Results for other programs.

pub(crate) mod csv;
pub(crate) mod folded;
pub(crate) mod histogram;
pub(crate) mod json;
pub(crate) mod open_metrics;
