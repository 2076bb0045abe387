//! Synthetic figures for the judgements' tests, and what the tests ask of the rows.

use oscost_results::{
    Estimate, Figure, Judgement, LaunchRecord, PairedValue, Quantity, Reproduction, Status,
};
use serde_json::{Map, json};

/// A measured figure with one quantity, known to half a per cent, and what the audit counted.
pub fn figure(id: &str, quantity: &str, value: f64, calls: Option<f64>) -> Figure {
    let mut figure: Figure = serde_json::from_value(json!({
        "id": id, "family": "", "title": "", "operation": "", "operations_per_iteration": 1, "call_path": "libc",
        "group": "", "status": "measured", "headline": quantity,
    }))
    .expect("a figure");
    figure.status = Status::Measured;
    // A document's own program runs once, all others as often as an interval needs.
    let runs = if id.contains("/literal/") { 1 } else { 6 };
    let launch = |sequence| LaunchRecord { sequence, ..LaunchRecord::default() };
    figure.launches = (1..=runs).map(launch).collect();
    set(&mut figure, quantity, value);
    if let Some(calls) = calls {
        figure.evidence.audit_method = Some("ptrace".into());
        if calls > 0.0 {
            figure.evidence.system_calls.insert("call".into(), calls);
        }
    }
    figure
}

/// Adds a quantity, known to half a per cent.
pub fn set(figure: &mut Figure, quantity: &str, value: f64) {
    insert(figure, quantity, Estimate { value, low: value * 0.995, high: value * 1.005, extremes: false });
}

/// Adds a quantity whose interval has these very ends.
pub fn set_within(figure: &mut Figure, quantity: &str, low: f64, high: f64) {
    insert(figure, quantity, between(low, high));
}

/// Makes a literal program's figure one of so many runs, each with the quantities that it has.
pub fn repeat(figure: &mut Figure, runs: u32) {
    let quantities = figure.quantities.iter().map(|(name, it)| (name.clone(), it.estimate.value));
    let quantities: std::collections::BTreeMap<String, f64> = quantities.collect();
    let launch =
        |sequence| LaunchRecord { sequence, quantities: quantities.clone(), ..LaunchRecord::default() };
    figure.launches = (1..=runs).map(launch).collect();
}

/// An interval with these very ends.
pub fn between(low: f64, high: f64) -> Estimate {
    Estimate { value: (low + high) / 2.0, low, high, extremes: false }
}

fn insert(figure: &mut Figure, quantity: &str, estimate: Estimate) {
    let quantity_of = Quantity { estimate, unit: "ns".into(), unknown: Map::default() };
    figure.quantities.insert(quantity.into(), quantity_of);
    for launch in &mut figure.launches {
        launch.quantities.insert(quantity.into(), estimate.value);
    }
}

/// The figure of this id among `figures`, which has to be there.
pub fn of<'a>(figures: &'a mut [Figure], id: &str) -> &'a mut Figure {
    figures.iter_mut().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no figure {id}"))
}

/// The statement with these words.
pub fn statement<'a>(rows: &'a [Reproduction], words: &str) -> &'a Reproduction {
    let row = rows.iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
    row.unwrap_or_else(|| panic!("no statement with {words:?}"))
}

/// How a document judges the statement with these words by these figures, and why.
pub fn judged_by(document: &crate::Document, figures: &[Figure], words: &str) -> (Judgement, String) {
    let rows = document.judge(&super::Found::of(figures, &[], &[]), &crate::DocumentParameters::default());
    verdict(&rows, words)
}

/// The verdict on the statement with these words, and why.
pub fn verdict(rows: &[Reproduction], words: &str) -> (Judgement, String) {
    let row = statement(rows, words);
    (row.verdict.expect("judged"), row.because.clone())
}

/// The value in this row and column of the table with these words in its title; `None` where there is none.
pub fn cell<'a>(rows: &'a [Reproduction], table: &str, row: &str, column: &str) -> Option<&'a Reproduction> {
    let at =
        |cell: &oscost_results::Cell| cell.table.contains(table) && cell.row == row && cell.column == column;
    rows.iter().find(|it| it.cell.as_ref().is_some_and(at))
}

/// Each statement names the figure and the quantity that decide it, by words of the statement; those without words name none.
pub fn assert_named(rows: &[Reproduction], named: &[(&str, &str, &str)]) {
    let mut seen = 0;
    for row in rows {
        let Some(text) = &row.statement else { continue };
        let own = named.iter().find(|(words, ..)| text.contains(words));
        seen += usize::from(own.is_some());
        let (id, quantity) = own.map(|(_, id, quantity)| (*id, *quantity)).unzip();
        assert_eq!((row.figure_id.as_deref(), row.quantity.as_deref()), (id, quantity), "{text}");
    }
    assert_eq!(seen, named.len(), "each of them once");
}

pub mod result {
    use super::*;

    pub fn ratio(of: &str, to: &str, value: f64) -> PairedValue {
        PairedValue {
            of: of.into(),
            to: to.into(),
            quantity: "paired".into(),
            unit: "ratio".into(),
            value: Some(value),
            low: Some(value * 0.995),
            high: Some(value * 1.005),
            launches: vec![value; 6],
            ..PairedValue::default()
        }
    }
}
