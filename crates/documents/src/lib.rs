//! The founding documents: published tables, their methods repeated literally, their statements and what this machine says of them.
//!
//! A document is one file. What it published stands there as data with its place; its own method is a hidden benchmark of
//! the same engine (single runs, no interval); a statement is judged from figures of the price list.
#![forbid(unsafe_code)]

pub mod apue;
mod context_switch;
mod found;
pub mod grame;
mod literal;
mod ostep;
mod parameters;
mod tlpi;

pub use found::Found;
pub use parameters::{Parameter, Parameters};
pub use tlpi::script_table;

use oscost_harness::Benchmark;
use oscost_results::Reproduction;

/// A founding document.
pub struct Document {
    /// Name on the command line and in results.
    pub name: &'static str,
    /// Number among the founding documents.
    pub number: &'static str,
    /// Options that it takes.
    pub parameters: &'static [Parameter],
    /// Ids of the price list that answer it.
    pub figures: &'static [&'static str],
    /// Ids of its literal methods and of what only it needs, for these parameters.
    pub literal: fn(&Parameters) -> Vec<String>,
    /// Published values beside literal and measured ones, then the statements.
    pub judge: fn(&Found<'_>, &Parameters) -> Vec<Reproduction>,
}

/// The documents that can be reproduced, in their order.
pub const ALL: &[&Document] =
    &[&tlpi::DOCUMENT, &apue::DOCUMENT, &grame::DOCUMENT, &ostep::DOCUMENT, &context_switch::DOCUMENT];

/// The benchmark of a document's own id; `None` for any other.
#[must_use]
pub fn resolve(id: &str) -> Option<&'static dyn Benchmark> {
    literal::resolve(id).or_else(|| apue::resolve(id))
}
