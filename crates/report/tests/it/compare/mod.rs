//! `compare`: verdicts, what they rest on, what differs around two results, and what is shown of it.

mod counts;
use crate::fixture;
mod ground;
mod rounds;
mod rows;
mod screens;
mod sides;
mod surroundings;
mod verdicts;
mod watching;

use oscost_report::Named;
use oscost_report::compare::{Compared, Comparison, Rules, Verdict, compare};
use oscost_results::{LaunchRecord, RunResult, Status};

/// The fixture with ten launches of every floor, scattered by a few parts in ten thousand, at one speed of the core.
fn stored() -> RunResult {
    let mut result = fixture::result();
    result.conditions.clock_step_ns = Some(1.0);
    result.conditions.boot_id = Some("the first boot".into());
    for figure in result.figures.iter_mut().filter(|figure| figure.status == Status::Measured) {
        figure.marks.clear();
        let value = figure.quantities[&figure.headline].estimate.value;
        let launch = |index: u32| LaunchRecord {
            sequence: index,
            iterations: 1_000_000,
            chain_ns: Some(0.27),
            quantities: [(figure.headline.clone(), value * (1.0 + f64::from(index % 5) * 1e-4))].into(),
            ..LaunchRecord::default()
        };
        figure.launches = (0..10).map(launch).collect();
        if figure.headline == "floor" {
            figure.judged = "quiet".into();
            let quantity = figure.quantities["floor"].clone();
            figure.quantities.insert("quiet".into(), quantity);
            for launch in &mut figure.launches {
                let value = launch.quantities["floor"];
                launch.quantities.insert("quiet".into(), value);
            }
        }
    }
    result
}

/// Figures on one CPU: of others, which drift by more, a store without past runs cannot say that they are within 5 %.
fn on_one_cpu<'a>(comparison: &'a Comparison<'_>) -> impl Iterator<Item = &'a Compared> + Clone {
    let free = |id: &str| ["cross_cpu", "unpinned", "contended"].iter().any(|word| id.contains(word));
    comparison.rows.iter().filter(move |row| !free(&row.id))
}

/// Every launch of one figure, times `factor`.
fn scaled(mut result: RunResult, id: &str, factor: f64) -> RunResult {
    let figure = result.figures.iter_mut().find(|figure| figure.id == id).unwrap();
    for launch in &mut figure.launches {
        launch.quantities.values_mut().for_each(|value| *value *= factor);
    }
    fixture::scale(figure, factor);
    result
}

/// Results that live as long as the test, as a side.
fn named(all: Vec<RunResult>) -> Vec<Named<'static>> {
    let all: &'static [RunResult] = all.leak();
    all.iter().map(|result| Named { name: "x", result }).collect()
}

fn against<'a>(a: &'a RunResult, b: &'a RunResult) -> Comparison<'a> {
    compare(&Named { name: "before", result: a }, &Named { name: "after", result: b }, Rules::default())
}

fn verdict(comparison: &Comparison<'_>, id: &str) -> Verdict {
    row(comparison, id).verdict
}

fn row<'a>(comparison: &'a Comparison<'_>, id: &str) -> &'a Compared {
    comparison.rows.iter().find(|row| row.id == id).unwrap()
}

const MONOTONIC: &str = "clock/monotonic";

fn figure_mut(result: &mut RunResult) -> &mut oscost_results::Figure {
    result.figures.iter_mut().find(|figure| figure.id == MONOTONIC).unwrap()
}
