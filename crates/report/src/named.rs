//! A result and its name.

use oscost_results::RunResult;

/// A result and the name under which it is kept.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Name of the file, without its folder and ending.
    pub name: &'a str,
    /// The result.
    pub result: &'a RunResult,
}
