//! What the documents' own methods are set to: keys that one number or list answers, and the values in force.

use oscost_harness::{Given, Level, Setting, Takes};

use crate::apue::plan::ApuePlan;
use crate::grame::settings::Settings;

/// Cycles of document 000's two programs.
pub const OPERATIONS: Setting = Setting {
    key: "operations",
    what: "cycles of the document's programs",
    takes: Takes::Number { least: 1, most: 10_000_000 },
    many: true,
    default: "1000,10000,100000,1000000",
};
/// Passes of document 003's loops.
pub const ITERATIONS: Setting = Setting {
    key: "iterations",
    what: "passes of the document's loops",
    takes: Takes::Number { least: 1, most: 100_000_000 },
    many: false,
    default: "10000000",
};
/// Readings of gettimeofday in document 004.
pub const SAMPLES: Setting = Setting {
    key: "samples",
    what: "readings of the document's first program",
    takes: Takes::Number { least: 1000, most: 10_000_000 },
    many: false,
    default: "100000",
};

/// The values in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentParameters {
    /// Cycles of document 000's programs.
    pub operations: Vec<u64>,
    /// Passes of document 003's loops.
    pub iterations: u64,
    /// Readings of document 004's first program.
    pub samples: u64,
    /// Cells of document 001.
    pub apue: ApuePlan,
    /// Sessions of document 002's method.
    pub grame: Settings,
}

impl Default for DocumentParameters {
    /// As the documents have them.
    fn default() -> Self {
        Self {
            operations: vec![1000, 10_000, 100_000, 1_000_000],
            iterations: 10_000_000,
            samples: 100_000,
            apue: ApuePlan::default(),
            grame: Settings::default(),
        }
    }
}

impl DocumentParameters {
    /// What is in force where these values were given.
    ///
    /// # Errors
    /// In words: values that do not go together.
    pub fn of(given: &Given, effort: Level) -> Result<Self, String> {
        let default = Self::default();
        Ok(Self {
            operations: match given.numbers(OPERATIONS.key) {
                [] => default.operations,
                counts => counts.to_vec(),
            },
            iterations: given.number(ITERATIONS.key).unwrap_or(default.iterations),
            samples: given.number(SAMPLES.key).unwrap_or(default.samples),
            apue: ApuePlan::of(given, effort)?,
            grame: Settings::of(given, effort)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn what_is_given_replaces_the_documents_values() {
        let mut given = Given::default();
        for (setting, text) in [(OPERATIONS, "7,8"), (ITERATIONS, "9"), (SAMPLES, "5000")] {
            given.set(&setting, OsStr::new(text)).expect("in range");
        }
        let expected = DocumentParameters {
            operations: vec![7, 8],
            iterations: 9,
            samples: 5000,
            ..DocumentParameters::default()
        };
        assert_eq!(DocumentParameters::of(&given, Level::Default), Ok(expected));
        let mut told = Given::default();
        for setting in [OPERATIONS, ITERATIONS, SAMPLES] {
            told.set(&setting, OsStr::new(setting.default)).expect("in range");
        }
        for nothing_else in [Given::default(), told] {
            let default = DocumentParameters::of(&nothing_else, Level::Default);
            assert_eq!(default, Ok(DocumentParameters::default()), "as explain tells it");
        }
    }
}
