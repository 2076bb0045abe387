//! The price list of a page: rows by family with their place on one axis.

use oscost_results::{Estimate, Figure, Quantity, Status, Trait, Verdict, quantity};
use oscost_stats::histogram::shape;
use oscost_stats::sorting::SmallSort;

use super::{hue, nanoseconds, paid};
use crate::blocks::prices::{Amount, Outcome, PriceChart, Priced, Sums};
use crate::blocks::screen::Line;
use crate::blocks::{Table, Tone};
use crate::numbers;
use crate::view::screen::Finding;
use crate::view::story::{Story, headline};
use crate::view::{picture, receipt, screen};
use crate::words::{counted, distinct};

/// Columns of a row's distribution.
const SHAPE: usize = 24;

/// The price list with a receipt for each row.
pub(super) fn chart(story: &Story<'_>, findings: &[Finding]) -> PriceChart {
    let result = story.result;
    let families = distinct(result.figures.iter().map(|figure| &figure.family));
    let families = families.into_iter().map(|family| {
        [family.clone(), story.words(family), story.plain(&of_family(story, family, findings))]
    });
    let floors = Trait::PHYSICAL_FLOORS.into_iter().filter_map(|floor| {
        let figure = result.figures.iter().find(|figure| figure.has(floor))?;
        Some((floor.floor_of(), nanoseconds(figure, headline(figure))?.value))
    });
    let rows: Vec<Priced> = result.figures.iter().map(|figure| priced(story, figure)).collect();
    PriceChart {
        finding: finding(story),
        families: families.collect(),
        floors: floors.collect(),
        rows,
        table: table(story),
    }
}

fn priced(story: &Story<'_>, figure: &Figure) -> Priced {
    let Line { cells, notes, ratio, .. } = screen::line_of(story, figure);
    // All marks that the foot of the page counts.
    let is_measured = figure.status == Status::Measured;
    let marks = figure.marks.iter().filter(|_| is_measured);
    let mut tags: Vec<String> = marks.map(|mark| mark.words().to_owned()).collect();
    if figure.evidence.verdict != Verdict::Checked && cells.is_ok() {
        tags.insert(0, figure.evidence.verdict.name().to_owned());
    }
    let evidence = match (&cells, figure.evidence.verdict) {
        (Err(missing), _) => (missing.tone, missing.state),
        (Ok(_), Verdict::Checked) => (Tone::Good, "checked"),
        (Ok(_), Verdict::Contradicted) => (Tone::Bad, "contradicted"),
        (Ok(_), other) => (Tone::Doubt, other.name()),
    };
    let quoted = figure.quantities.get(headline(figure));
    let typical = figure
        .quantities
        .get(quantity::TYPICAL)
        .filter(|it| headline(figure) == "floor" && it.estimate.value.is_finite() && it.estimate.value > 0.0);
    let sums = cells.and_then(|cells| {
        let quoted = quoted.ok_or_else(|| screen::missing("no value", "the result holds none"))?;
        let samples = picture::samples(&figure.launches);
        Ok(Sums {
            quoted: amount(story, quoted),
            quantity: story.words(headline(figure)),
            typical: typical.map(|it| amount(story, it)),
            judged: cells.judged,
            shape: if samples.total() == 0 { Vec::new() } else { shape(&samples, SHAPE) },
            ratio,
            calls: cells.calls,
        })
    });
    let calls = figure.evidence.system_calls.keys().map(String::as_str);
    let find = [&*figure.title, &*figure.call_path, &*figure.placement].into_iter().chain(calls);
    Priced {
        receipt: receipt::receipt(story, figure, notes.into_iter().map(|note| note.words).collect()),
        id: figure.id.clone(),
        name: story.name(figure),
        family: figure.family.clone(),
        operation: story.plain(&figure.operation),
        hue: hue(figure),
        sums,
        tags,
        evidence,
        find: story.plain(&find.collect::<Vec<_>>().join(" ")),
    }
}

fn amount(story: &Story<'_>, quantity: &Quantity) -> Amount {
    let (it, unit): (Estimate, String) = (quantity.estimate, story.plain(&quantity.unit));
    Amount {
        text: numbers::quantity(it.value, &unit),
        interval: numbers::interval(&it, &unit, true),
        ends: [it.low, it.value, it.high],
        is_placed: quantity.unit == "ns" && it.value.is_finite() && it.value > 0.0,
    }
}

/// What is to be said of a family: the first finding that names it, else from which price to which.
fn of_family(story: &Story<'_>, family: &str, findings: &[Finding]) -> String {
    if let Some(finding) = findings.iter().find(|finding| finding.family == family) {
        return finding.in_family.clone();
    }
    let own = story.result.figures.iter().filter(|figure| figure.family == family);
    let mut priced: Vec<(&Figure, f64)> =
        own.filter_map(|figure| Some((figure, paid(figure)?.value))).collect();
    priced.small_sort_by(|one, other| one.1.total_cmp(&other.1));
    let said =
        |(figure, price): &(&Figure, f64)| format!("{} ({})", numbers::duration(*price), story.name(figure));
    match (priced.first(), priced.last()) {
        (Some(least), Some(most)) if least.0.id != most.0.id => {
            format!("typically {} to {}", said(least), said(most))
        }
        _ => String::new(),
    }
}

/// What the list says in one sentence.
fn finding(story: &Story<'_>) -> String {
    let prices: Vec<f64> = story.result.figures.iter().filter_map(|it| Some(paid(it)?.value)).collect();
    let (low, high) = numbers::ends(prices.iter().copied());
    let all = counted(story.result.figures.len(), "figure", "figures");
    if prices.is_empty() {
        return format!("The price list: {all}, none of them in nanoseconds");
    }
    format!("The price list: {all}, typically {}", numbers::range(low, high, "ns"))
}

/// The same as a table, for readers without eyes or scripts.
fn table(story: &Story<'_>) -> Table {
    let row = |figure: &Figure| {
        let quantity = figure.quantities.get(headline(figure));
        let quantity = quantity.filter(|_| figure.status == Status::Measured);
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
