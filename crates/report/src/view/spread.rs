//! How far runs of one machine lie apart: a line a figure, and what that is of all of them.

use oscost_stats::sorting::SmallSort;

use crate::blocks::Place::{Left, Right, Spare};
use crate::blocks::{Part, Table, View};
use crate::judge::spread::{FigureSpread, Spreads, left_out};
use crate::numbers;
use crate::words::{counted, plain, words};

/// Less of a spread is not told in digits.
const LEAST: f64 = 5e-5;

/// Each figure of two runs or more, the widest first; `whole`: with the name of each run that is left out.
pub(crate) fn view(spreads: &Spreads<'_>, unicode: bool, whole: bool) -> View {
    let named = spreads.left_out.iter().filter(|_| whole);
    let mut parts: Vec<Part> =
        named.map(|(name, why)| Part::Words(plain(&format!("{name} is left out: {why}"), unicode))).collect();
    let whys = left_out(spreads.left_out.iter().map(|(_, why)| *why));
    let omitted = (!whys.is_empty() && !whole).then(|| format!("left out: {whys}; --verbose names them"));
    let mut rows: Vec<&FigureSpread> = spreads.rows.iter().collect();
    rows.small_sort_by(|one, other| other.share().total_cmp(&one.share()));
    if rows.is_empty() {
        let none = "No figure was measured in two runs of one machine.".to_owned();
        parts.push(Part::Answer(omitted.into_iter().chain([none]).collect()));
    } else {
        let cells = rows.iter().map(|row| {
            let shown = |value: f64| numbers::quantity(value, &plain(&row.unit, unicode));
            let disturbed = if row.disturbed { "disturbed" } else { "" };
            vec![
                plain(&row.id, unicode),
                shown(row.low),
                shown(row.high),
                share(row.share()),
                share(row.deviation),
                row.runs.to_string(),
                words(&row.quantity, unicode),
                disturbed.to_owned(),
            ]
        });
        let columns = [
            ("figure", Left),
            ("lowest", Right),
            ("highest", Right),
            ("spread", Right),
            ("deviation", Right),
            ("runs", Right),
            ("judged by", Spare),
            ("", Spare),
        ];
        parts.push(Part::Table(Table::of(columns, cells)));
        let kinds = [("one CPU", true), ("across CPUs", false)];
        let answer = kinds.into_iter().filter_map(|(name, is_one)| {
            let shares = rows.iter().filter(|row| row.on_one_cpu == is_one).map(|row| row.share());
            summed(name, shares.rev().collect())
        });
        parts.push(Part::Answer(omitted.into_iter().chain(answer).collect()));
    }
    let title = format!(
        "Spread over {}: highest / lowest - 1; deviation: of one run",
        counted(spreads.runs, "run", "runs")
    );
    View::new(title, parts)
}

/// Digits of what is hardly there say nothing.
fn share(share: f64) -> String {
    if share < LEAST { "0.00 %".to_owned() } else { numbers::percent(share) }
}

/// What these shares, in ascending order, are together.
fn summed(name: &str, shares: Vec<f64>) -> Option<String> {
    // The order statistic that so many are not above.
    let at = |part: f64| {
        let place = (part * shares.len() as f64).ceil() as usize;
        shares.get(place.max(1) - 1).map(|&it| share(it))
    };
    Some(format!(
        "{name}: {}, spread {} in the middle, nine in ten within {}, at most {}",
        counted(shares.len(), "figure", "figures"),
        at(0.5)?,
        at(0.9)?,
        at(1.0)?
    ))
}
