//! What each founding document asks, and both answers in one unit, in words.

use oscost_results::{Answer, AnswerHere, PublishedAnswer, RunResult};
use oscost_stats::sorting::SmallSort;

use super::one_unit::OneUnit;
use crate::numbers;

/// What a number without an interval is.
const PROGRAM: &str = "our copy of its program";
/// Where the text of a document has no number.
pub(super) const LOST: &str = "lost from the scan";

/// A question with the answer there and here, in one unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    /// The question.
    pub name: String,
    /// The document's answer with its unit; of several machines from the least to the most.
    pub there: String,
    /// The same machine by machine.
    pub each: String,
    /// This machine's number and unit; `None` where nothing was measured that compares.
    pub here: Option<(String, String)>,
    /// What the number of this machine is: a figure with its interval, or what a program gave.
    pub how: String,
    /// Both as a sentence; may be empty.
    pub finding: String,
    /// Why they differ; may be empty.
    pub why: String,
}

/// The questions of a document, in their order.
pub(crate) fn answers(document: &str, result: &RunResult) -> Vec<Told> {
    result.answers.iter().filter(|answer| answer.document == document).map(told).collect()
}

/// What a document printed where it asks this, the least first, each number with its machine.
pub(crate) fn published<'r>(result: &'r RunResult, document: &str, key: &str) -> Vec<&'r PublishedAnswer> {
    let own = |answer: &&Answer| answer.document == document && answer.key == key;
    result.answers.iter().find(own).map_or(Vec::new(), ordered)
}

fn ordered(answer: &Answer) -> Vec<&PublishedAnswer> {
    let mut all: Vec<_> = answer.published.iter().filter(|it| it.value.is_finite()).collect();
    all.small_sort_by(|one, other| one.value.total_cmp(&other.value));
    all
}

fn told(answer: &Answer) -> Told {
    let there = ordered(answer);
    let here = answer.here.as_ref().and_then(AnswerHere::value).filter(|value| value.is_finite());
    let (least, most) = (there.first().map(|it| it.value), there.last().map(|it| it.value));
    let unit = OneUnit::of(least.or(here).unwrap_or_default(), here, &answer.unit);
    let each = there.iter().map(|it| match &*it.station {
        "" => unit.there(it.value),
        station => format!("{} ({station})", unit.there(it.value)),
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let said = match (least, most) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {}", unit.there_bare(least), unit.there(most))
        }
        (Some(only), _) => unit.there(only),
        _ => LOST.to_owned(),
    };
    let how = match answer.here {
        Some(AnswerHere::Measured { value, low, high }) if low < high => {
            let [from, to] = [low, high].map(|end| unit.ours(end));
            let within = ((high - value).max(value - low) / value.abs()).min(1.0);
            match from == to {
                true => format!("measured, within {}", numbers::percent((within * 1e3).ceil() / 1e3)),
                false => format!("measured, {from} .. {to}"),
            }
        }
        Some(AnswerHere::Measured { .. }) => "measured, the same each time".to_owned(),
        Some(AnswerHere::Literal { .. }) => PROGRAM.to_owned(),
        Some(AnswerHere::Unknown) => "of a kind that this version does not know".to_owned(),
        None => "not measured here at this size".to_owned(),
    };
    let here = here.map(|value| (unit.ours(value), unit.name.to_owned()));
    let finding = here.as_ref().map_or(String::new(), |(number, unit)| {
        answer.finding.replace("{here}", format!("{number} {unit}").trim()).replace("{there}", &said)
    });
    let remark = if answer.remark.is_empty() { String::new() } else { format!(". {}", answer.remark) };
    Told {
        name: answer.question.clone(),
        each: format!("{}{remark}", if each.is_empty() { LOST } else { &each }),
        there: said,
        here,
        how,
        finding,
        why: answer.why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(published: &[(f64, &str)], here: Option<AnswerHere>, unit: &str) -> String {
        let published = published
            .iter()
            .map(|(value, station)| PublishedAnswer { value: *value, station: (*station).to_owned() });
        let it = told(&Answer {
            published: published.collect(),
            here,
            unit: unit.to_owned(),
            finding: "{here} here, {there} there".to_owned(),
            ..Answer::default()
        });
        format!("{} | {} | {} | {}", it.there, it.each, it.finding, it.how)
    }

    #[test]
    fn all_numbers_of_an_answer_have_one_unit() {
        let machines = [(31.0, "P350"), (11.0, "P700")];
        let literal = |value| Some(AnswerHere::Literal { value });
        assert_eq!(
            shown(&machines, literal(61.3), "us"),
            "11 to 31 us | 11 us (P700), 31 us (P350) | 61.3 us here, 11 to 31 us there | our copy of its program"
        );
        assert_eq!(
            shown(&machines, literal(0.9), "us"),
            "11 000 to 31 000 ns | 11 000 ns (P700), 31 000 ns (P350) | 900 ns here, 11 000 to 31 000 ns there | \
             our copy of its program"
        );
        let lost = "lost from the scan | lost from the scan | 2.00 us here, lost from the scan there";
        assert_eq!(shown(&[], literal(2.0), "us"), format!("{lost} | our copy of its program"));
    }

    #[test]
    fn an_interval_is_told_where_there_is_one() {
        let measured =
            |low, value, high| shown(&[(40.0, "")], Some(AnswerHere::Measured { value, low, high }), "ns");
        assert!(measured(20.0, 22.6, 24.0).ends_with("| measured, 20.0 .. 24.0"));
        assert!(measured(154.7, 155.0, 155.2).ends_with("| measured, within 0.200 %"));
        assert!(measured(1.0, 1.0, 1.0).ends_with("| measured, the same each time"));
        assert!(shown(&[(40.0, "")], None, "ns").ends_with("|  | not measured here at this size"));
    }
}
