//! The founding documents beside this machine: published values, the literal repeat, the figure; then the statements.

mod answers;
mod curves;
mod one_unit;
mod summary;

use oscost_results::document::{FOUNDING_DOCUMENTS, GRAME};
use oscost_results::{Estimate, Figure, Judgement, Reproduction, RunResult, Status};

use super::grid::{self, GridPlace, Own, Published};
use super::story::Story;
use crate::blocks::prices::Outcome;
use crate::blocks::{Judged, Part, Place, Table, Tone, View};
use crate::evidence::{per_operation, system_calls, unchecked};
use crate::numbers;
use crate::words::{counted, distinct, plain, tally};
pub(super) use answers::{Told, answers, published as published_answers};
pub(super) use summary::judged;

/// What a statement can be said to be, in the order of the tally.
const JUDGEMENTS: [&str; 8] = [
    "holds",
    "holds in part",
    "does not hold",
    "unclear",
    "not testable here",
    "machine's figure",
    "not judged",
    "unknown",
];

/// What `count` statements are.
fn of_several(word: &'static str, count: usize) -> &'static str {
    match word {
        "holds" if count != 1 => "hold",
        "holds in part" if count != 1 => "hold in part",
        "does not hold" if count != 1 => "do not hold",
        "machine's figure" if count != 1 => "machine's figures",
        word => word,
    }
}

/// What is drawn of a document besides its tables.
struct Pictures {
    document: &'static str,
    /// Behind the first table, which answers its question.
    first: fn(&Story<'_>) -> Option<Part>,
    /// Behind all of them.
    last: fn(&Story<'_>) -> Option<View>,
}

const PICTURES: [Pictures; 1] =
    [Pictures { document: GRAME.name, first: super::grame::tails, last: super::grame::view }];

/// How many statements of the document hold, do not hold, or cannot be judged, and how many of ours beside them; empty
/// where there are none.
fn tallied(statements: &[(bool, Judged)]) -> String {
    let of = |ours: bool, one: &str, many: &str| -> Option<String> {
        let whose = || statements.iter().filter(|(is_ours, _)| *is_ours == ours);
        let count = |word: &str| whose().filter(|(_, statement)| statement.word == word).count();
        let found = tally(&JUDGEMENTS.map(|word| (word, of_several(word, count(word)))), |word| count(word));
        (!found.is_empty()).then(|| format!("{}: {found}", counted(whose().count(), one, many)))
    };
    let parts = [
        of(false, "statement", "statements"),
        of(true, "sentence of ours beside them", "sentences of ours beside them"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(". ")
}

/// A view of each founding document that `result` was held against, in the order of the result.
pub(crate) fn views(result: &RunResult, unicode: bool) -> Vec<View> {
    let names = distinct(result.reproductions.iter().map(|row| &*row.document));
    names.into_iter().map(|name| view(name, result, unicode)).collect()
}

fn view(name: &str, result: &RunResult, unicode: bool) -> View {
    let rows = || result.reproductions.iter().filter(|row| row.document == name);
    let values: Vec<&Reproduction> = rows().filter(|row| row.statement.is_none()).collect();
    let table = |row: &Reproduction| row.cell.as_ref().map(|cell| cell.table.clone());
    let story = Story::new(result, unicode);
    let mut pictures = PICTURES.iter().find(|pictures| pictures.document == name);
    let last = pictures.and_then(|pictures| (pictures.last)(&story));
    let mut parts = vec![Part::Facts(summary::facts(name, &rows().collect::<Vec<_>>(), result, unicode))];
    // The tables, then what is to be said of them.
    let (tables, notes): (Vec<&Reproduction>, Vec<&Reproduction>) =
        values.iter().copied().partition(|row| row.cell.is_some());
    // Words alone stand below numbers, without their heading.
    let (numbers, words): (Vec<&Reproduction>, Vec<&Reproduction>) = notes
        .into_iter()
        .partition(|row| row.published.is_some() || row.literal.is_some() || row.measured.is_some());
    let lists = [&*numbers, &*words].into_iter().filter(|list| !list.is_empty());
    for block in tables.chunk_by(|one, next| table(one) == table(next)).chain(lists) {
        let shown: Vec<Published> =
            block.iter().map(|row| published(row, decimals(row, block), result, unicode)).collect();
        match block.first().and_then(|row| table(row)) {
            Some(title) => {
                let title = plain(&title, unicode);
                let curves = curves::parts(&title, block, result, unicode);
                parts.extend(grid::parts(title, &shown));
                parts.extend(curves);
                parts.extend(pictures.take().and_then(|pictures| (pictures.first)(&story)));
            }
            None => parts.push(Part::Table(list(shown))),
        }
    }
    parts.extend(last.map(|view| Part::View(Box::new(view))));
    parts.extend(figures_of(name, &values, &story));
    let judged = |row: &Reproduction| {
        let text = row.statement.as_deref()?;
        Some((row.ours, statement(row, text, result, unicode)))
    };
    let statements: Vec<(bool, Judged)> = rows().filter_map(judged).collect();
    if !statements.is_empty() {
        let tallied = tallied(&statements);
        let statements = statements.into_iter().map(|(_, statement)| statement).collect();
        parts.extend([Part::Judged("Statements".to_owned(), statements), Part::Words(tallied)]);
    }
    View { title: title(name, unicode), parts, ..View::default() }
}

/// Values that stand in no table of the document.
fn list(values: Vec<Published>) -> Table {
    let rows = values.into_iter().map(|value| {
        let [published, literal, measured] =
            [0, 1, 2].map(|part| value.part(part, false).unwrap_or("-").to_owned());
        vec![value.place, published, literal, measured, value.figure, value.because]
    });
    let columns = [
        ("", Place::Left),
        ("published", Place::Right),
        ("literal here", Place::Right),
        // The interval goes on at the right of the value.
        ("measured", Place::Left),
        ("figure", Place::Spare),
        ("", Place::Below),
    ];
    Table::of(columns, rows).without_empty()
}

/// The figures that `values` name, each once, in the order of the price list; a document's own methods are no part of it.
fn figures_of(document: &str, values: &[&Reproduction], story: &Story<'_>) -> Vec<Part> {
    let named = |figure: &&Figure| {
        let rest = figure.id.strip_prefix(document);
        let own = rest.is_some_and(|rest| rest.starts_with("/literal/") || rest.starts_with("/paired/"));
        !own && values.iter().any(|row| row.figure_id.as_ref() == Some(&figure.id))
    };
    let answer = |figure: &Figure| {
        let (says, calls, evidence) = match story.outcome(figure) {
            Outcome::Withheld { state, why } => (format!("{state}: {why}"), String::new(), ""),
            Outcome::Measured(numbers) => {
                let interval = beside_value(&numbers.interval);
                let says = [&*story.plain(&figure.headline), &*numbers.value, &*interval];
                let calls = system_calls(&figure.evidence).map_or("-".to_owned(), per_operation);
                let parts: Vec<&str> = says.into_iter().filter(|part| !part.is_empty()).collect();
                (parts.join("  "), calls, numbers.verdict)
            }
        };
        vec![story.plain(&figure.id), says, calls, evidence.to_owned()]
    };
    let figures: Vec<&Figure> = story.result.figures.iter().filter(named).collect();
    if figures.is_empty() {
        return Vec::new();
    }
    let title = "Figures of the price list, with their evidence".to_owned();
    let columns = ["figure", "", "system calls", "evidence"].map(|head| (head, Place::Left));
    let rows = figures.iter().map(|figure| answer(figure));
    let unchecked =
        figures.iter().filter(|it| it.status == Status::Measured).filter_map(|it| unchecked(&it.evidence));
    let unchecked: Vec<String> = unchecked.collect();
    let remark = |why: &str| format!("unchecked: {}", plain(why, story.unicode));
    let remarks: Vec<String> = distinct(unchecked.iter().map(|why| &**why)).into_iter().map(remark).collect();
    let table = Part::Table(Table { title, ..Table::of(columns, rows) });
    std::iter::once(table).chain((!remarks.is_empty()).then_some(Part::Remarks(remarks))).collect()
}

/// Number and subject of a founding document.
fn title(name: &str, unicode: bool) -> String {
    let known = FOUNDING_DOCUMENTS.iter().find(|document| document.name == name);
    known.map_or_else(|| format!("Document {}", plain(name, unicode)), |document| document.title.to_owned())
}

/// Digits behind the point that the document prints in the column of `row`.
fn decimals(row: &Reproduction, block: &[&Reproduction]) -> Option<usize> {
    let column = |row: &Reproduction| row.cell.as_ref().map(|cell| cell.column.clone());
    let same = block.iter().filter(|other| column(other) == column(row) && other.unit == row.unit);
    row.cell.as_ref()?;
    same.filter_map(|other| other.published).map(numbers::decimals_of).max()
}

fn published(
    reproduction: &Reproduction,
    decimals: Option<usize>,
    result: &RunResult,
    unicode: bool,
) -> Published {
    let unit = plain(&reproduction.unit, unicode);
    let both = |number: String| {
        let with_unit = with_unit(&number, &unit);
        // A multiple keeps its x under any heading.
        [if unit == "ratio" { with_unit.clone() } else { number }, with_unit]
    };
    let printed = |value: f64| numbers::as_printed(value, decimals?);
    let figure = reproduction.figure_id.as_deref().unwrap_or_default();
    let quantity = reproduction.quantity.as_deref().unwrap_or_default();
    let judgement = reproduction.verdict.map(|verdict| judgement(Some(verdict)).0);
    let because = plain(&reproduction.because, unicode);
    // Where the document has a word, the word stands in the cell: "low", "> 8000".
    let worded = |words: &Option<String>| words.as_ref().map(|words| plain(words, unicode));
    let in_words = |words: &Option<String>| worded(words).map(|words| [words.clone(), words]);
    Published {
        place: plain(&reproduction.place, unicode),
        cell: reproduction.cell.as_ref().map(|cell| GridPlace::of(cell, unicode)),
        published: in_words(&reproduction.published_words).or_else(|| {
            let value = reproduction.published?;
            Some(both(printed(value).unwrap_or_else(|| numbers::published(value))))
        }),
        literal: in_words(&reproduction.literal_words).or_else(|| {
            let value = reproduction.literal?;
            Some(both(printed(value).unwrap_or_else(|| beside_published(value, &unit))))
        }),
        bare: worded(&reproduction.measured_words).or_else(|| {
            let value = converted(reproduction, result)?;
            let number = printed(value).unwrap_or_else(|| beside_published(value, &unit));
            Some(if unit == "ratio" { with_unit(&number, &unit) } else { number })
        }),
        measured: worded(&reproduction.measured_words)
            .map(|text| Own { text, is_bare: true })
            .or_else(|| measured(reproduction, result, unicode)),
        // Named in headings where it says something.
        unit: if matches!(&*unit, "ratio" | "count" | "share") { String::new() } else { unit.clone() },
        figure: plain([figure, quantity].join(" ").trim(), unicode),
        because: match judgement {
            Some(judgement) if because.is_empty() => judgement.to_owned(),
            Some(judgement) => format!("{judgement}: {because}"),
            None => because,
        },
    }
}

fn statement(reproduction: &Reproduction, text: &str, result: &RunResult, unicode: bool) -> Judged {
    let (word, tone) = judgement(reproduction.verdict);
    let place = plain(&reproduction.place, unicode);
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let quote = if reproduction.ours { "" } else { "\"" };
    let mut because = plain(&reproduction.because, unicode);
    if because.is_empty() {
        because = measured(reproduction, result, unicode).map(|own| own.text).unwrap_or_default();
    }
    let text = format!("{quote}{}{quote}{place}", plain(text, unicode));
    Judged { word, tone, name: String::new(), text, because }
}

pub(super) fn judgement(verdict: Option<Judgement>) -> (&'static str, Tone) {
    match verdict {
        Some(Judgement::Holds) => ("holds", Tone::Good),
        Some(Judgement::HoldsInPart) => ("holds in part", Tone::Doubt),
        Some(Judgement::DoesNotHold) => ("does not hold", Tone::Bad),
        Some(Judgement::Unclear) => ("unclear", Tone::Doubt),
        Some(Judgement::NotTestableHere) => ("not testable here", Tone::Neutral),
        Some(Judgement::ItsMachine) => ("machine's figure", Tone::Neutral),
        Some(Judgement::Unknown) => ("unknown", Tone::Doubt),
        Some(Judgement::NotJudged) | None => ("not judged", Tone::Neutral),
    }
}

/// Value and interval of the figure that answers, in the figure's own unit where the result has it.
fn measured(reproduction: &Reproduction, result: &RunResult, unicode: bool) -> Option<Own> {
    let estimate = reproduction.measured.as_ref()?;
    let figure = result.figures.iter().find(|figure| Some(&figure.id) == reproduction.figure_id.as_ref());
    let quantity = figure
        .zip(reproduction.quantity.as_ref())
        .and_then(|(figure, quantity)| figure.quantities.get(quantity));
    let unit = plain(quantity.map_or(&reproduction.unit, |quantity| &quantity.unit), unicode);
    // What came out the same each time has no interval.
    let bounds = (estimate.low < estimate.high).then_some((estimate.low, estimate.high));
    if unit == "ratio" {
        return Some(Own { text: numbers::ratio(estimate.value, bounds), is_bare: bounds.is_none() });
    }
    // Launches that all saw none or more have no interval that reaches below nothing.
    let seen = figure.zip(reproduction.quantity.as_ref()).is_some_and(|(figure, name)| {
        figure.launches.iter().filter_map(|launch| launch.quantities.get(name)).all(|value| *value >= 0.0)
    });
    let estimate = Estimate { low: if seen { estimate.low.max(0.0) } else { estimate.low }, ..*estimate };
    let interval = bounds.map_or(String::new(), |_| numbers::interval(&estimate, &unit, unicode));
    let interval = beside_value(&interval);
    let text = format!("{} {interval}", numbers::quantity(estimate.value, &unit)).trim_end().to_owned();
    Some(Own { text, is_bare: interval.is_empty() && matches!(&*unit, "count" | "") })
}

/// An interval right beside its value: bounds, which begin with a number, stand in brackets, as those of a ratio do.
fn beside_value(interval: &str) -> String {
    if interval.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        format!("({interval})")
    } else {
        interval.to_owned()
    }
}

/// The figure that answers, in the unit of the document, where that is a multiple of its own.
pub(super) fn converted(reproduction: &Reproduction, result: &RunResult) -> Option<f64> {
    let [value, ..] = converted_interval(reproduction, result)?;
    Some(value)
}

/// Value, low and high end of the figure that answers, in the unit of the document.
pub(super) fn converted_interval(reproduction: &Reproduction, result: &RunResult) -> Option<[f64; 3]> {
    let estimate = reproduction.measured.as_ref()?;
    let figure = result.figures.iter().find(|figure| Some(&figure.id) == reproduction.figure_id.as_ref());
    let quantity = figure
        .zip(reproduction.quantity.as_ref())
        .and_then(|(figure, quantity)| figure.quantities.get(quantity));
    let from = quantity.map_or(&*reproduction.unit, |quantity| &*quantity.unit);
    let scale = match (from, &*reproduction.unit) {
        (from, to) if from == to => 1.0,
        ("ns", to) => 1.0 / numbers::nanoseconds(to)?,
        ("share", "%") => 100.0,
        _ => return None,
    };
    Some([estimate.value, estimate.low, estimate.high].map(|number| number * scale))
}

/// A literal number: counts are whole, all others have three significant digits.
fn beside_published(value: f64, unit: &str) -> String {
    if unit == "count" && value.fract() == 0.0 {
        numbers::count(value)
    } else {
        numbers::beside_published(value)
    }
}

/// A number with the unit of the document; a ratio is a multiple, a share and a count go without.
fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "ratio" => format!("{number}x"),
        "count" | "share" | "" => number.to_owned(),
        unit => format!("{number} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_beside_a_value_stand_in_brackets() {
        for (interval, told) in [
            ("± 0.3 %", "± 0.3 %"),
            ("590 .. 948 ns", "(590 .. 948 ns)"),
            ("[18.8 .. 47.5 us]", "[18.8 .. 47.5 us]"),
            ("", ""),
        ] {
            assert_eq!(beside_value(interval), told);
        }
    }
}
