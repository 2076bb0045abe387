//! What a run of oscost leaves behind: the schema of a result, its versions, and the store that keeps it.
//!
//! No measuring and no printing here: a result of another machine is read, compared and rendered from this crate alone.
#![forbid(unsafe_code)]

mod evidence;
mod figure;
mod reproduction;
mod result;

pub use evidence::{CheckedClaim, Evidence, Expectation, Verdict};
pub use figure::{Estimate, Figure, Histogram, LaunchRecord, Mark, Mode, Quantity, Status};
pub use reproduction::{Judgement, Reproduction};
pub use result::{
    Check, CheckState, Conditions, FORMAT, Machine, PairedValue, Plan, RunResult, Tool, VERSION,
};
