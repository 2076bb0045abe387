//! Counts for people: the price list in instructions, the tree of functions, and a comparison of two results.

use std::collections::BTreeMap;

use oscost_results::{Figure, InstructionCount, Repeats, RunResult, Status};
use oscost_stats::sorting::SmallSort;

use super::functions::DEEPEST;
use super::story::Story;
use crate::blocks::Place::{Below, Left, Right};
use crate::blocks::{Fact, Part, Table, View};
use crate::judge::{Changes, CountChange, CountVerdict, value};
use crate::numbers::exact;
use crate::words::{counted, plain, right};

/// Functions of a row that are named; the others are one sum.
const SHOWN: usize = 12;

/// A result of counts, stored as `saved`: trees where it has them, else the price list.
pub(crate) fn view(result: &RunResult, saved: Option<&str>, unicode: bool) -> View {
    let has_tree = |figure: &Figure| figure.count.as_ref().is_some_and(|count| !count.functions.is_empty());
    let parts = if result.figures.iter().any(has_tree) {
        let trees = result.figures.iter().flat_map(|figure| tree(figure, unicode));
        let note = "Inlined functions belong to their caller. Instructions are not time.".to_owned();
        trees.chain([Part::Answer(vec![note])]).collect()
    } else {
        price_list(result, saved, unicode)
    };
    View::new(head(result, unicode), parts)
}

/// Which kernel, on what.
fn head(result: &RunResult, unicode: bool) -> String {
    let emulation = result.conditions.emulation.clone().unwrap_or_default();
    let head = format!(
        "oscost {} | {} {}, {} -cpu {}, 1 CPU | instructions of one operation",
        result.tool.version,
        result.conditions.kernel,
        result.machine.architecture,
        emulation.emulator,
        emulation.cpu_model,
    );
    plain(&head, unicode)
}

/// How many instructions were counted, from the least figure to the greatest.
pub(super) fn finding(story: &Story<'_>) -> String {
    let mut all: Vec<(&str, f64)> =
        story.result.figures.iter().filter_map(|figure| Some((&*figure.id, value(figure)?))).collect();
    all.small_sort_by(|one, other| one.1.total_cmp(&other.1));
    let said = |(id, count): &(&str, f64)| format!("{} for {}", exact(*count), story.plain(id));
    match (all.first(), all.last()) {
        (Some(least), Some(most)) if least.0 != most.0 => {
            format!("Instructions of one operation: {} to {}", said(least), said(most))
        }
        (Some(only), _) => format!("Instructions of one operation: {}", said(only)),
        _ => "No instructions were counted: each figure says why".to_owned(),
    }
}

fn word(repeats: Repeats) -> &'static str {
    match repeats {
        Repeats::Constant => "constant",
        Repeats::Reproducible => "reproducible",
        Repeats::Varies => "varies",
        Repeats::Unknown => "unknown",
    }
}

fn price_list(result: &RunResult, saved: Option<&str>, unicode: bool) -> Vec<Part> {
    // What needs another CPU or holds the clock itself was never to be counted: a line for each reason stands at the end.
    let figures: Vec<&Figure> =
        result.figures.iter().filter(|figure| figure.status != Status::Unsupported).collect();
    let rows = figures.iter().map(|figure| {
        let mut below: Vec<&str> = Vec::new();
        let (mut number, mut calls, mut repeats) = (String::new(), String::new(), "");
        if let Some(value) = value(figure) {
            let counted: f64 = figure.evidence.system_calls.values().fold(0.0, |sum, calls| sum + calls);
            number = exact(value);
            calls = if figure.evidence.audit_method.is_some() { exact(counted) } else { "-".to_owned() };
            if let Some(count) = figure.count.as_ref().filter(|count| count.repeats != Repeats::Constant) {
                repeats = word(count.repeats);
                below.extend(count.why.as_deref());
            }
        } else {
            repeats = "withheld";
            below.push(figure.why.as_deref().unwrap_or("for no reason that is known"));
        }
        below.extend(figure.remarks.iter().map(String::as_str));
        vec![plain(&figure.id, unicode), number, calls, repeats.to_owned(), plain(&below.join("; "), unicode)]
    });
    let columns = [("", Left), ("instructions", Right), ("calls", Right), ("", Left), ("", Below)];
    let table = Table::of(columns, rows);
    vec![Part::Table(table), Part::Answer(foot(result, &figures, saved, unicode))]
}

fn foot(result: &RunResult, rows: &[&Figure], saved: Option<&str>, unicode: bool) -> Vec<String> {
    let with_count = || rows.iter().filter(|figure| value(figure).is_some());
    let of = |repeats| {
        with_count().filter(|figure| figure.count.as_ref().is_some_and(|it| it.repeats == repeats)).count()
    };
    let boots = rows.iter().filter_map(|figure| figure.count.as_ref()).map(|count| count.boots).max();
    let [constant, reproducible, vary] = [Repeats::Constant, Repeats::Reproducible, Repeats::Varies].map(of);
    let withheld = rows.len() - with_count().count();
    // A word of a newer version, or none.
    let unknown = rows.len() - withheld - constant - reproducible - vary;
    let others = [(unknown, "unknown"), (withheld, "withheld")];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others: String = others.map(|(count, word)| format!(", {count} {word}")).collect();
    let words = format!(
        "{}: {constant} constant, {reproducible} reproducible, {vary} vary{others} ({})",
        counted(rows.len(), "row", "rows"),
        counted(boots.unwrap_or(0) as usize, "boot", "boots")
    );
    let mut left_out: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for figure in result.figures.iter().filter(|figure| figure.status == Status::Unsupported) {
        let why = figure.why.as_deref().unwrap_or("for no reason that is known");
        left_out.entry(why).or_default().push(&figure.id);
    }
    let left_out = left_out.into_iter().map(|(why, ids)| {
        let words = match ids[..] {
            [id] => format!("{id} cannot be counted: {why}"),
            _ => format!("{} cannot be counted: {why}; oscost report --format json names them", ids.len()),
        };
        plain(&words, unicode)
    });
    const WHAT: [&str; 2] = [
        "Instructions are not time: no caches, no pipeline, no memory, no second CPU, an emulated processor.",
        "They exclude work that a kernel defers to its next tick. Mitigations cost time, but few instructions.",
    ];
    let mut all: Vec<String> = (!rows.is_empty()).then_some(words).into_iter().chain(left_out).collect();
    all.extend(WHAT.map(str::to_owned));
    all.extend(result.warnings.iter().map(|warning| plain(warning, unicode)));
    let next = "Next: oscost count ID --kernel K --by-function";
    all.push(match saved {
        Some(saved) => format!("Saved as {}. {next} | oscost compare", plain(saved, unicode)),
        None => next.to_owned(),
    });
    all
}

/// The itemised count of an id.
fn tree(figure: &Figure, unicode: bool) -> Vec<Part> {
    let words = |text: String| Part::Words(plain(&text, unicode));
    let (Some(count), Some(value)) = (&figure.count, value(figure)) else {
        let why = figure.why.as_deref().unwrap_or("for no reason that is known");
        return vec![words(format!("{}   withheld: {why}", figure.id))];
    };
    let operations = match figure.operations_per_iteration {
        0 | 1 => String::new(),
        several => format!(", one iteration holds {several} operations"),
    };
    let mut parts =
        vec![words(format!("{}   {}: {}{operations}", figure.id, exact(value), word(count.repeats)))];
    let remarks: Vec<String> =
        count.why.iter().chain(&figure.remarks).map(|text| plain(text, unicode)).collect();
    if !remarks.is_empty() {
        parts.push(Part::Remarks(remarks));
    }
    if !count.functions.is_empty() {
        parts.push(Part::Picture(functions(count, unicode)));
    }
    parts
}

/// Lines of functions, each below its caller.
fn functions(count: &InstructionCount, unicode: bool) -> Vec<String> {
    let mut lines = vec!["    total     self  calls".to_owned()];
    for (node, total) in count.functions.iter().zip(count.totals()) {
        let indent = "  ".repeat(node.depth.min(DEEPEST) as usize);
        let calls = if node.depth == 0 { String::new() } else { exact(node.calls as f64) };
        let mut name = plain(&node.name, unicode);
        if node.place != "kernel" && node.depth > 0 {
            name.push_str(&format!(" [{}]", plain(&node.place, unicode)));
        }
        if node.repeated > 0 {
            let repeated = exact(node.repeated as f64);
            name.push_str(&format!("  ({repeated} are repeats of a string instruction)"));
        }
        let (total, own) = (exact(total as f64), exact(node.own as f64));
        lines.push(format!("{}{}{}  {indent}{name}", right(&total, 9), right(&own, 9), right(&calls, 7)));
    }
    let repeated: u64 = count.functions.iter().fold(0, |sum, node| sum.saturating_add(node.repeated));
    let rest = exact(count.sum().saturating_sub(repeated) as f64);
    let without = format!("; {rest} without repeats of string instructions");
    let without = if repeated > 0 { without } else { String::new() };
    let sum = exact(count.sum() as f64);
    lines.push(format!("{}  in all functions together{without}", right(&sum, 9)));
    lines
}

/// Two results of counts against each other.
pub(crate) fn changes(changes: &Changes, unicode: bool) -> View {
    let tally = [CountVerdict::More, CountVerdict::Fewer, CountVerdict::Equal, CountVerdict::Unclear]
        .map(|verdict| format!("{} {}", changes.of(verdict).len(), verdict.word()));
    let says = |before: &str, now: &str| plain(&format!("{before} -> {now}"), unicode);
    let differing = changes.differing.iter().map(|(name, before, now)| Fact::new(name, says(before, now)));
    let differing: Vec<Fact> = differing.collect();
    let cell = |value: Option<f64>| value.map_or("-".to_owned(), exact);
    let row = |row: &CountChange| {
        let change = row.difference().filter(|difference| difference.abs() > 0.0);
        let [before, now, change] = [cell(row.before), cell(row.now), change.map_or(String::new(), signed)];
        let word = row.verdict.word().to_owned();
        vec![plain(&row.id, unicode), before, now, word, change, plain(&moved(row), unicode)]
    };
    let columns =
        [("", Left), ("before", Right), ("now", Right), ("verdict", Left), ("change", Right), ("", Below)];
    let rows = CountVerdict::ALL.into_iter().flat_map(|verdict| changes.of(verdict)).map(row);
    let table = Table::of(columns, rows);
    let differing = (!differing.is_empty()).then_some(Part::Facts(differing));
    let parts = differing.into_iter().chain([Part::Table(table)]).collect();
    View::new(format!("instructions: {}", tally.join(", ")), parts)
}

/// Why there is no verdict on a row, and the functions that moved.
fn moved(row: &CountChange) -> String {
    let (named, others) = row.functions.split_at(row.functions.len().min(SHOWN));
    let mut all: Vec<String> = row.why.iter().cloned().chain(named.iter().map(one_function)).collect();
    if !others.is_empty() {
        let sum: f64 = others.iter().map(|(_, before, now)| now - before).sum();
        all.push(format!("{} more functions {}", others.len(), signed(sum)));
    }
    all.join("; ")
}

fn signed(difference: f64) -> String {
    if difference > 0.0 { format!("+{}", exact(difference)) } else { exact(difference) }
}

fn one_function((name, before, now): &(String, f64, f64)) -> String {
    let what = match (*before > 0.0, *now > 0.0) {
        (false, _) => " (appeared)",
        (_, false) => " (vanished)",
        _ => "",
    };
    format!("{name} {}{what}", signed(now - before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_moved_is_named_with_what_it_moved_by() {
        assert_eq!(one_function(&("b".to_owned(), 11.0, 12.0)), "b +1");
        assert_eq!(one_function(&("c".to_owned(), 0.0, 5.0)), "c +5 (appeared)");
        assert_eq!(one_function(&("c".to_owned(), 5.0, 0.0)), "c -5 (vanished)");
    }
}
