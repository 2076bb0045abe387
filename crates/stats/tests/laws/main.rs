//! What the statistics say of simulated data of known truth, one module a subject.

mod coverage;
mod modes;
mod simulated;
mod verdicts;
mod version_one;
