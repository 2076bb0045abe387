//! A result and its name.

use oscost_results::RunResult;

/// A result and what it is called.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Name of the file without its folder and ending, or as much of its path as no other result has.
    pub name: &'a str,
    /// The result.
    pub result: &'a RunResult,
}
