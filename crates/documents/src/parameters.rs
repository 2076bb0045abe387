//! Parameters of the documents' own methods, with their ranges.

use crate::apue::ApuePlan;
use crate::grame::Settings;

/// An option of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentParameter {
    /// Name of the option ("operations").
    pub name: &'static str,
    /// Smallest value.
    pub least: u64,
    /// Largest value.
    pub most: u64,
    /// Whether several values may be given.
    pub list: bool,
}

/// `--operations` of document 000: cycles of its two programs.
pub const OPERATIONS: DocumentParameter =
    DocumentParameter { name: "operations", least: 1, most: 10_000_000, list: true };
/// `--iterations` of document 003: passes of its loops.
pub const ITERATIONS: DocumentParameter =
    DocumentParameter { name: "iterations", least: 1, most: 100_000_000, list: false };
/// `--samples` of document 004: readings of gettimeofday.
pub const SAMPLES: DocumentParameter =
    DocumentParameter { name: "samples", least: 1000, most: 10_000_000, list: false };

impl DocumentParameter {
    /// Reads the values of the option.
    ///
    /// # Errors
    /// In words, with the range: not a number, out of range, or several where one is wanted.
    pub fn parse(&self, text: &str) -> Result<Vec<u64>, String> {
        let range = format!("--{} takes {} from {} to {}", self.name, self.kind(), self.least, self.most);
        let values: Option<Vec<u64>> = text.split(',').map(|word| word.trim().parse().ok()).collect();
        let values = values.ok_or_else(|| format!("'{text}' is no whole number: {range}"))?;
        if values.len() > 1 && !self.list {
            return Err(format!("'{text}' is more than one value: {range}"));
        }
        match values.iter().find(|value| !(self.least..=self.most).contains(value)) {
            Some(value) => Err(format!("{value} is out of range: {range}")),
            None => Ok(values),
        }
    }

    fn kind(&self) -> &'static str {
        if self.list { "numbers, separated by commas," } else { "a number" }
    }
}

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
    /// Sets the option of this name.
    ///
    /// # Errors
    /// Those of [`DocumentParameter::parse`].
    pub fn set(&mut self, parameter: &DocumentParameter, text: &str) -> Result<(), String> {
        let values = parameter.parse(text)?;
        let first = values.first().copied().unwrap_or(parameter.least);
        match parameter.name {
            "operations" => self.operations = values,
            "iterations" => self.iterations = first,
            _ => self.samples = first,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_kept_and_told() {
        assert_eq!(OPERATIONS.parse("1000, 20"), Ok(vec![1000, 20]));
        for bad in ["0", "-1", "x", "", "10000001", "5,0"] {
            let words = OPERATIONS.parse(bad).expect_err("out of range");
            assert!(words.contains("from 1 to 10000000"), "{bad}: {words}");
        }
        assert!(ITERATIONS.parse("1,2").expect_err("one value").contains("more than one"));
        assert!(SAMPLES.parse("999").is_err());
    }

    #[test]
    fn options_replace_the_documents_values() {
        let mut parameters = DocumentParameters::default();
        parameters.set(&OPERATIONS, "7,8").expect("in range");
        parameters.set(&ITERATIONS, "9").expect("in range");
        parameters.set(&SAMPLES, "5000").expect("in range");
        let expected = DocumentParameters {
            operations: vec![7, 8],
            iterations: 9,
            samples: 5000,
            ..DocumentParameters::default()
        };
        assert_eq!(parameters, expected);
    }
}
