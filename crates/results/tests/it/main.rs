//! Tests of the files of a run.
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod format;
mod parameters;
mod paths;
