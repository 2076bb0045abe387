//! What ran once is never called measured: by the type itself, and in the tables of every document, from scripted and from
//! stored figures.

use oscost_results::{
    AnswerHere, Estimate, Figure, LaunchRecord, PairedValue, Quantity, Reproduction, Status, quantity,
};
use serde_json::{Map, json};

use super::Measured;
use crate::found::{Found, is_counted};
use crate::{ALL, Document, DocumentParameters};

/// A number of each name in each launch, as scattered as measured ones.
fn number(words: [&str; 2], launch: u32) -> f64 {
    let hash =
        words.concat().bytes().fold(17_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    1.0 + f64::from(hash % 97) + f64::from(launch) * (1.0 + f64::from(hash % 7)) / 10.0
}

/// The estimate of a run's numbers; that of one has its value for both ends, as results have it.
fn estimate(values: &[f64]) -> Estimate {
    Measured::of_runs(values).map_or_else(
        || Estimate { value: values[0], low: values[0], high: values[0], extremes: true },
        Measured::estimate,
    )
}

/// The figures of all that a document asks for, each of so many launches.
fn figures(document: &Document, parameters: &DocumentParameters, launches: u32) -> Vec<Figure> {
    let ids = document.figures.iter().map(|id| (*id).to_owned()).chain((document.literal)(parameters));
    let of = |id: String| {
        let benchmark = crate::resolve(&id)
            .or_else(|| oscost_families::resolve(&id))
            .or_else(|| oscost_families::all().into_iter().find(|it| it.card().id == id))
            .unwrap_or_else(|| panic!("no benchmark {id}"));
        let mut names: Vec<&str> = benchmark.card().quantities.iter().map(|quantity| quantity.name).collect();
        names.extend(
            [quantity::FLOOR, quantity::TYPICAL]
                .into_iter()
                .filter(|_| benchmark.card().quantities.is_empty()),
        );
        let mut figure: Figure = serde_json::from_value(json!({
            "id": id, "family": "", "title": "", "operation": "", "operations_per_iteration": 1, "call_path": "libc",
            "group": "", "status": "measured", "headline": names[0],
        }))
        .expect("a figure");
        figure.status = Status::Measured;
        figure.evidence.audit_method = Some("ptrace".to_owned());
        for name in &names {
            let values: Vec<f64> = (1..=launches).map(|launch| number([&id, name], launch)).collect();
            let stored =
                Quantity { estimate: estimate(&values), unit: "ns".to_owned(), unknown: Map::default() };
            figure.quantities.insert((*name).to_owned(), stored);
        }
        figure.launches = (1..=launches)
            .map(|sequence| LaunchRecord {
                sequence,
                quantities: names
                    .iter()
                    .map(|name| ((*name).to_owned(), number([&id, name], sequence)))
                    .collect(),
                ..LaunchRecord::default()
            })
            .collect();
        figure
    };
    ids.map(of).collect()
}

/// Each figure over, and less, each that stands before it.
fn pairs(figures: &[Figure], unit: &str, launches: u32) -> Vec<PairedValue> {
    let names: Vec<&String> = figures.iter().map(|figure| &figure.id).collect();
    let mut all = Vec::new();
    for (of, to) in names.iter().flat_map(|of| names.iter().map(move |to| (*of, *to))) {
        let values: Vec<f64> = (1..=launches).map(|launch| number([of, to], launch)).collect();
        let it = estimate(&values);
        all.push(PairedValue {
            of: of.clone(),
            to: to.clone(),
            quantity: "paired".to_owned(),
            unit: unit.to_owned(),
            value: Some(it.value),
            low: Some(it.low),
            high: Some(it.high),
            launches: values,
            ..PairedValue::default()
        });
    }
    all
}

/// The rows that are called measured, and are no counts of the audit.
fn measured(rows: &[Reproduction]) -> Vec<(&Reproduction, Estimate)> {
    let timed = rows.iter().filter(|row| !is_counted(row));
    timed.filter_map(|row| Some((row, row.measured?))).collect()
}

#[test]
fn no_table_calls_a_single_run_measured_and_no_interval_has_no_width() {
    let parameters = DocumentParameters::default();
    for document in ALL {
        let name = document.founding.name;
        for launches in [1, 3] {
            let figures = figures(document, &parameters, launches);
            let few = &figures[..figures.len().min(40)];
            let (ratios, differences) = (pairs(few, "ratio", launches), pairs(few, "ns", launches));
            let found = Found::of(&figures, &ratios, &differences);
            let rows = document.judge(&found, &parameters);
            let measured = measured(&rows);
            let answers = (document.answers)(&found, &parameters);
            let answered = || answers.iter().filter_map(|answer| answer.here);
            if launches == 1 {
                let places: Vec<&str> = measured.iter().map(|(row, _)| &*row.place).collect();
                assert_eq!(places, Vec::<&str>::new(), "{name}: of one launch");
                assert!(answered().all(|here| matches!(here, AnswerHere::Literal { .. })), "{name}");
            } else {
                assert!(measured.len() >= 10, "{name}: {}", measured.len());
                for (row, it) in measured {
                    assert!(it.low < it.high, "{name}: {}: {it:?}", row.place);
                }
                for here in answered() {
                    let wide = !matches!(here, AnswerHere::Measured { low, high, .. } if low >= high);
                    assert!(wide, "{name}: {here:?}");
                }
            }
            assert!(rows.iter().any(|row| row.literal.is_some()), "{name}: its own programs ran");
        }
    }
}

#[test]
fn what_is_measured_in_a_stored_run_has_several_launches() {
    let samples: [&[u8]; 2] = [
        include_bytes!("../../../results/tests/samples/v1.json"),
        include_bytes!("../../../results/tests/samples/v2.json"),
    ];
    let mut met = 0;
    for sample in samples {
        let result = oscost_results::from_bytes(sample).expect("a sample");
        let found = Found::of(&result.figures, &result.ratios, &result.differences);
        for document in ALL {
            let rows = document.judge(&found, &DocumentParameters::default());
            for (row, _) in measured(&rows) {
                let (Some(id), Some(name)) = (&row.figure_id, &row.quantity) else { continue };
                let figure = found.figure(id).expect("what is measured has a figure");
                let has_it = figure.launches.iter().filter(|launch| launch.quantities.contains_key(name));
                assert!(has_it.count() > 1, "{}", row.place);
                met += 1;
            }
        }
    }
    assert!(met > 0, "the samples have a figure that a document asks for");
}

#[test]
fn one_run_is_never_measured() {
    let point = Estimate { value: 0.947, low: 0.947, high: 0.947, extremes: true };
    assert_eq!(Measured::over(point, 0), None);
    assert_eq!(Measured::over(point, 1), None);
    assert_eq!(Measured::of_runs(&[0.947]), None);
    assert!(Measured::over(point, 2).is_some(), "two runs that say the same");
    let two = Measured::of_runs(&[1.0, 3.0]).map(Measured::estimate).expect("two runs");
    assert_eq!((two.low, two.high), (1.0, 3.0));
    let endless = Estimate { high: f64::INFINITY, ..point };
    assert_eq!(Measured::over(endless, 9), None);
}

#[test]
fn a_rate_turns_the_ends_of_a_time_round() {
    let time = Measured::of_runs(&[1.0, 2.0, 4.0]).expect("three runs");
    let Estimate { low, high, .. } = time.map(|ns| 8.0 / ns).estimate();
    assert_eq!((low, high), (2.0, 8.0));
}
