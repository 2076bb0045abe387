//! Results as a page for a browser: each with its receipts, several against the first.

use oscost_results::{Figure, RunResult, Status, Trait};

use super::story::{Story, headline};
use super::{comparison, doctor, documents, gallery, receipt};
use crate::blocks::page::{Page, PageResult};
use crate::blocks::prices::{Outcome, PriceChart, Priced};
use crate::blocks::{Part, Table, View};
use crate::judge::{Rules, compare};
use crate::named::Named;
use crate::numbers;
use crate::words::distinct;

/// One page about `results`, oldest first.
pub(crate) fn page(results: &[Named<'_>]) -> Page {
    let title = match results {
        [one] => format!("oscost: {}", one.result.machine.cpu_model),
        many => format!("oscost: {} results", many.len()),
    };
    let against = |base, other| comparison::linked(&compare(base, other, Rules::default()), other.result);
    let compared = results
        .split_first()
        .map_or(Vec::new(), |(base, others)| others.iter().map(|other| against(base, other)).collect());
    let mut shown: Vec<PageResult> = results.iter().map(shown).collect();
    if let Some((gallery, first)) = gallery::view(results).zip(shown.first_mut()) {
        first.views.insert(0, gallery);
    }
    Page { title, results: shown, compared }
}

fn shown(named: &Named<'_>) -> PageResult {
    let story = Story::new(named.result, true);
    let mut views = super::of(&story);
    views.extend(documents::views(named.result, true));
    if !named.result.doctor.is_empty() {
        let title = "The machine, as the doctor found it".to_owned();
        views.push(View { title, ..doctor::view(&named.result.doctor, true) });
    }
    let prices = (!named.result.figures.is_empty()).then(|| chart(&story));
    PageResult { name: named.name.to_owned(), head: head(&story, named), prices, views }
}

/// Machine, when, the doctor's verdict, and what is special about this run.
fn head(story: &Story<'_>, named: &Named<'_>) -> View {
    let (started, doctor) = (story.plain(&named.result.started), story.doctor().1);
    let measured = format!("Measured {started} by {}; {doctor}", story.tool());
    let mut parts = vec![Part::Words(story.conditions()), Part::Words(measured)];
    parts.extend(story.warnings().into_iter().map(Part::Warning));
    parts.push(Part::Words(story.closing(Some(named.name))));
    View { parts, ..View::default() }
}

/// The price list with a receipt for each row.
fn chart(story: &Story<'_>) -> PriceChart {
    let result = story.result;
    let families = distinct(result.figures.iter().map(|figure| &figure.family));
    let families = families.into_iter().map(|family| (family.clone(), story.words(family))).collect();
    let rows = story.sections(&[]).into_iter().flat_map(|family| family.rows);
    let rows = rows.filter_map(|row| {
        let figure = result.figures.iter().find(|figure| figure.id == row.id)?;
        let ns = nanoseconds(figure).map(|it| [it.low, it.value, it.high]);
        Some(Priced { receipt: receipt::view(story, figure, &row), family: figure.family.clone(), ns, row })
    });
    PriceChart {
        finding: finding(story),
        families,
        floors: Trait::PHYSICAL_FLOORS
            .into_iter()
            .filter_map(|floor| Some((floor.floor_of(), cost(result, floor)?)))
            .collect(),
        rows: rows.collect(),
        table: table(story),
    }
}

/// A cost that everything else is measured against, in ns, where this run has it.
fn cost(result: &RunResult, floor: Trait) -> Option<f64> {
    Some(nanoseconds(result.figures.iter().find(|figure| figure.has(floor))?)?.value)
}

/// The estimate that is quoted, if it is a duration.
fn nanoseconds(figure: &Figure) -> Option<oscost_results::Estimate> {
    if figure.status != Status::Measured {
        return None;
    }
    let quantity = figure.quantities.get(headline(figure))?;
    (quantity.unit == "ns" && quantity.estimate.value > 0.0).then_some(quantity.estimate)
}

/// What the list says in one sentence.
fn finding(story: &Story<'_>) -> String {
    let mut priced: Vec<(&Figure, f64)> =
        story.result.figures.iter().filter_map(|figure| Some((figure, nanoseconds(figure)?.value))).collect();
    priced.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(least), Some(most)) = (priced.first(), priced.last()) else {
        return "The price list: nothing was measured in nanoseconds".to_owned();
    };
    format!(
        "The price list: from {} for {} to {} for {}",
        numbers::duration(least.1),
        story.plain(&least.0.id),
        numbers::duration(most.1),
        story.plain(&most.0.id)
    )
}

/// The same as a table, for readers without eyes or scripts.
fn table(story: &Story<'_>) -> Table {
    let row = |figure: &Figure| {
        let quantity = figure.quantities.get(headline(figure)).filter(|_| figure.status == Status::Measured);
        let mut cells = vec![story.plain(&figure.id)];
        match (quantity, story.outcome(figure)) {
            (Some(quantity), Outcome::Measured(shown)) => {
                let it = quantity.estimate;
                cells.push(story.words(headline(figure)));
                cells.extend([it.value, it.low, it.high].map(numbers::significant));
                cells.extend([story.plain(&quantity.unit), shown.calls, shown.verdict.to_owned()]);
            }
            (_, Outcome::Withheld { state, why }) => cells.extend([state.to_owned(), why]),
            (None, Outcome::Measured(_)) => cells.push("no value".to_owned()),
        }
        cells
    };
    let heads = ["figure", "quantity", "value", "low", "high", "unit", "system calls", "verdict"];
    Table::new(heads, story.result.figures.iter().map(row))
}
