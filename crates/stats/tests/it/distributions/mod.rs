//! The statistics on simulated data with known truth, one module per subject.

mod coverage;
mod modes;
mod simulated;
mod verdicts;
mod version_one;
