//! Several results against one base: a row per figure, a column per result.

use crate::blocks::{Part, Table, View};
use crate::judge::{Comparison, OneSided, Verdict, percent};
use crate::numbers;
use crate::view::comparison::{tallied, whys};
use crate::words::{distinct, plain, width};

/// Columns of the longest name that heads a column.
const LONGEST_HEAD: usize = 20;

/// A row a figure, a column a result; `cuts`: columns that do not fit will be left out.
pub(crate) fn view(comparisons: &[Comparison<'_>], unicode: bool, cuts: bool) -> View {
    let base = comparisons.first().map_or("", |comparison| comparison.a);
    let mut parts = Vec::new();
    // Names of stored runs are too long to head a column.
    let long =
        comparisons.iter().any(|comparison| width(comparison.b).max(width(comparison.a)) > LONGEST_HEAD);
    let heads: Vec<String> = comparisons
        .iter()
        .zip(1..)
        .map(|(comparison, number)| if long { format!("run {number}") } else { comparison.b.to_owned() })
        .collect();
    let named = |comparison: &Comparison<'_>, head: &str| {
        if long { format!("{head}, {}", comparison.b) } else { head.to_owned() }
    };
    for (comparison, head) in comparisons.iter().zip(&heads) {
        let differs = comparison.machine.iter().chain(&comparison.conditions);
        let differs: Vec<String> =
            differs.map(|it| format!("{} {} instead of {}", it.what, it.b, it.a)).collect();
        let differs =
            if differs.is_empty() { "nothing around it differs".to_owned() } else { differs.join("; ") };
        parts.push(Part::Words(plain(&format!("{}: {differs}", named(comparison, head)), unicode)));
        let told = |warning: &String| Part::Warning(plain(&format!("warning: {warning}"), unicode));
        parts.extend(comparison.warnings.iter().map(told));
    }
    parts.extend(blind(comparisons).map(|words| Part::Words(plain(&words, unicode))));
    let ids = distinct(comparisons.iter().flat_map(|comparison| {
        let rows = comparison.rows.iter().map(|row| &*row.id);
        rows.chain(withheld(comparison).map(|one| &*one.id))
    }));
    let titles =
        ["figure", if long { "base" } else { base }].into_iter().chain(heads.iter().map(String::as_str));
    let rows = ids.iter().map(|id| row(id, comparisons, unicode));
    parts.push(Part::Table(Table::new(titles.map(|head| plain(head, unicode)), rows)));
    let has_second = ids.iter().any(|id| of_base(id, comparisons, unicode).len() > 1);
    let beside = if has_second { "; second value: for ? without change" } else { "" };
    let hint = if cuts { "; --verbose: all" } else { "" };
    parts.push(Part::Words(format!("change from the first column; ? unclear{beside}{hint}")));
    let answer = comparisons.iter().zip(&heads).map(|(comparison, head)| {
        let (blind, all) = comparison.blind();
        let blind = if blind == 0 { String::new() } else { format!("; {blind} of {all} not judged") };
        plain(&format!("{head}: {}{blind}", tallied(comparison).join("; ")), unicode)
    });
    parts.push(Part::Answer(answer.collect()));
    View::new(format!("All against {}", plain(base, unicode)), parts)
}

/// Where no row of any column is judged: why, and what to run.
fn blind(comparisons: &[Comparison<'_>]) -> Option<String> {
    let rows = || comparisons.iter().flat_map(|comparison| &comparison.rows);
    if rows().next().is_none() || rows().any(|row| row.verdict != Verdict::Unclear) {
        return None;
    }
    let whys = comparisons.iter().flat_map(|comparison| whys(comparison, comparison.rows.iter()));
    let whys = distinct(whys.map(|(why, _)| why));
    let narrower = comparisons.first().map_or("", |comparison| comparison.narrower);
    Some(format!("no row can be judged: {}. Try: {narrower}", whys.join("; ")))
}

fn withheld<'a>(comparison: &'a Comparison<'_>) -> impl Iterator<Item = &'a OneSided> {
    comparison.one_sided.iter().chain(&comparison.neither)
}

/// The base's value of a figure; then what else stands beside values without a change: of another machine they are times, and of
/// this one they may be cycles.
fn of_base(id: &str, comparisons: &[Comparison<'_>], unicode: bool) -> Vec<String> {
    let rows = comparisons.iter().filter_map(|it| it.rows.iter().find(|row| row.id == id));
    let sides = rows.enumerate().filter(|(at, row)| *at == 0 || row.change.is_none());
    distinct(sides.map(|(_, row)| numbers::quantity(row.a.value, &plain(&row.unit, unicode))))
}

fn row(id: &str, comparisons: &[Comparison<'_>], unicode: bool) -> Vec<String> {
    let of = |comparison: &Comparison<'_>| comparison.rows.iter().find(|row| row.id == id).cloned();
    let lacking = |comparison: &Comparison<'_>, b: bool| {
        let one = withheld(comparison).find(|one| one.id == id);
        // Another result has it.
        let text = one.map_or("not there", |one| if b { &one.b } else { &one.a });
        // The reason stands in the comparison of the two; a cell has room for the state.
        plain(text.split(':').next().unwrap_or(text), unicode)
    };
    let base = of_base(id, comparisons, unicode);
    let known = comparisons.iter().find(|comparison| withheld(comparison).any(|one| one.id == id));
    let base = match known {
        Some(comparison) if base.is_empty() => lacking(comparison, false),
        _ => base.join(", "),
    };
    let cell = |comparison: &Comparison<'_>| match of(comparison) {
        None => lacking(comparison, true),
        Some(row) => {
            let value = match row.change {
                Some(change) => percent(change.change),
                None => numbers::quantity(row.b.value, &plain(&row.unit, unicode)),
            };
            match row.verdict {
                Verdict::Slower | Verdict::Faster => format!("{} {value}", row.verdict.name()),
                Verdict::Within => row.verdict.name().to_owned(),
                Verdict::Unclear => format!("? {value}"),
            }
        }
    };
    [plain(id, unicode), base].into_iter().chain(comparisons.iter().map(cell)).collect()
}
