//! What the heading of a page says: findings of the terminal's rules, in the words of the figures' titles.

use oscost_results::Figure;
use oscost_results::document::FOUNDING_DOCUMENTS;
use oscost_stats::sorting::SmallSort;

use super::paid;
use crate::judge::is_count;
use crate::numbers;
use crate::view::documents::{answers, judged};
use crate::view::screen::Finding;
use crate::view::story::{Story, headline};
use crate::view::{contention, counts};
use crate::words::{capital, counted, distinct, plain};

/// Findings that a heading has room for.
const FINDINGS: usize = 2;

/// Prices that say most of a machine, and what is done for them; ids in the order of preference.
const PRICES: [(&[&str], &str); 3] = [
    (&["syscall/getpid", "syscall/getppid"], "a system call typically takes"),
    (&["semaphore/system_v"], "a System V semaphore"),
    (&["context_switch/pipe/cross_cpu"], "a switch to another CPU"),
];

/// The findings in a sentence; with fewer than two of them a price that everybody knows, and with none several. Where even
/// these are missing, from which price to which.
pub(super) fn of_findings(story: &Story<'_>, findings: &[Finding]) -> String {
    if let Some(finding) = crate::view::realtime_load::finding(story) {
        return finding;
    }
    let mut told: Vec<String> = findings.iter().take(FINDINGS).map(|it| it.in_titles.clone()).collect();
    let measured = |ids: &[&str]| {
        let figures = &story.result.figures;
        let mut known = ids.iter().filter_map(|id| figures.iter().find(|figure| figure.id == *id));
        known.find_map(paid).map(|it| numbers::duration(it.value))
    };
    let prices = || PRICES.iter().filter_map(|&(ids, name)| Some(format!("{name} {}", measured(ids)?)));
    let known = prices().count();
    match told.len() {
        0 if known == PRICES.len() => {
            let all: Vec<String> = prices().collect();
            return format!("On this machine {}, {}, and {}", all[0], all[1], all[2]);
        }
        1 if known == PRICES.len() => told.extend(prices().take(1)),
        _ => {}
    }
    if !told.is_empty() {
        let begin = if story.result.plan.effort == "quick" { "At first look" } else { "On this machine" };
        return format!("{begin} {}", told.join(", and "));
    }
    let is_lock = |figure: &Figure| figure.parameter("hold_us").is_some();
    let figures = story.result.figures.iter().filter(|it| !is_lock(it) || contention::is_rival(it));
    let mut priced: Vec<_> = figures.filter_map(|figure| Some((figure, paid(figure)?.value))).collect();
    priced.small_sort_by(|one, other| one.1.total_cmp(&other.1));
    // The list below quotes the floor, and this is what is paid.
    let typically = if priced.iter().any(|(it, _)| headline(it) == "floor") { "typically " } else { "" };
    match (priced.first(), priced.last()) {
        (Some((least, from)), Some((most, to)))
            if least.id != most.id
                && !least.operation.is_empty()
                && priced.iter().all(|(it, _)| it.operation == least.operation) =>
        {
            let operation = crate::view::realtime_ipc::last_reached(&priced)
                .unwrap_or_else(|| capital(&story.plain(&least.operation)));
            let [from, to] = [*from, *to].map(numbers::duration);
            let [least, most] = [least, most].map(|it| story.short_title(it).replace('_', " "));
            format!("{operation}: {typically}{from} by {least}, {to} by {most}")
        }
        (Some((least, from)), Some((most, to))) if least.id != most.id => {
            let [from, to] = [*from, *to].map(numbers::duration);
            let [least, most] = [least, most].map(|it| story.short_title(it));
            capital(&format!("{typically}from {from} for {least} to {to} for {most}"))
        }
        (Some((only, price)), _) => {
            capital(&format!("{typically}{} for {}", numbers::duration(*price), story.short_title(only)))
        }
        _ => match story.result.figures.len() {
            0 => "Nothing was measured".to_owned(),
            _ if is_count(story.result) => counts::finding(story),
            count => format!("{}, none of them a price", counted(count, "figure", "figures")),
        },
    }
}

/// The first answer of a document, there and here, and what became of its statements; of several documents the latter.
pub(super) fn of_documents(story: &Story<'_>) -> String {
    let result = story.result;
    let names = distinct(result.reproductions.iter().map(|row| &*row.document));
    let alone = names.len() == 1;
    let of = |name: &str| {
        let found = if !alone {
            String::new()
        } else {
            let answers = answers(name, result);
            match answers.first() {
                Some(first) if answers.iter().any(|answer| answer.here.is_some()) => first.finding.clone(),
                Some(_) => "none of its sizes was measured in this run".to_owned(),
                None => String::new(),
            }
        };
        let parts = [story.plain(&found), judged(name, &result.reproductions)];
        let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}: {}", name_of(name), told.join("; "))
    };
    names.into_iter().map(of).collect::<Vec<_>>().join("; ")
}

/// What readers call a document.
fn name_of(name: &str) -> String {
    let known = FOUNDING_DOCUMENTS.iter().find(|document| document.name == name);
    known.map_or_else(|| format!("Document {}", plain(name, true)), |it| it.known_as.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_called_as_its_readers_call_it() {
        let names = FOUNDING_DOCUMENTS.map(|document| name_of(document.name));
        assert_eq!(names, ["TLPI 53.5", "APUE 20.9", "GRAME 2001", "OSTEP chapter 6", "Document 004"]);
        assert_eq!(name_of("another"), "Document another");
    }
}
