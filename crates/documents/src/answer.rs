//! What a document asks of a machine, as data: the questions, what was published, and what this run found.

use oscost_results::{Answer, AnswerHere, PublishedAnswer};

use crate::measured::Measured;

/// A question without an answer of this machine.
pub(crate) fn asked(document: &str, key: &str, question: impl Into<String>, unit: &str) -> Answer {
    Answer {
        document: document.to_owned(),
        key: key.to_owned(),
        question: question.into(),
        unit: unit.to_owned(),
        ..Answer::default()
    }
}

/// What a document printed on a machine of its own.
pub(crate) fn printed(value: f64) -> Vec<PublishedAnswer> {
    vec![PublishedAnswer { value, ..PublishedAnswer::default() }]
}

/// What its own program gave here.
pub(crate) fn literal(value: Option<f64>) -> Option<AnswerHere> {
    value.filter(|value| value.is_finite()).map(|value| AnswerHere::Literal { value })
}

/// The figure where there is one, else its own program.
pub(crate) fn figure_or(measured: Option<Measured>, program: Option<f64>) -> Option<AnswerHere> {
    measured.map(Measured::here).or_else(|| literal(program))
}

/// A time of so many seconds in the unit of its size.
pub(crate) fn duration(s: f64) -> String {
    let (scale, unit) = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")]
        .into_iter()
        .find(|(scale, _)| s.abs() >= *scale)
        .unwrap_or((1e-9, "ns"));
    let number = s / scale;
    let decimals = usize::from(number.abs() < 100.0) + usize::from(number.abs() < 10.0);
    format!("{number:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn a_duration_has_three_digits() {
        let told = [0.0525, 0.544, 1.432_93, 4.1e-6, 9e-9].map(duration);
        assert_eq!(told, ["52.5 ms", "544 ms", "1.43 s", "4.10 us", "9.00 ns"]);
    }
}
