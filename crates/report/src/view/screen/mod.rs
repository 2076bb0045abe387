//! The screen of a result: which figures stand on it, under which headings, and the lines above and below them.

mod choice;
mod findings;
mod line;
mod trust;

use oscost_results::{Figure, RunResult, Verdict};

pub use choice::{RowChoice, RowOrder};

use super::story::{Story, headline};
use crate::blocks::screen::{Group, Said, Screen};
use crate::words::{counted, distinct};

/// Lines beside the rows of a screen, at most.
const AROUND: usize = 15;
/// Findings on a screen, at most.
const FINDINGS: usize = 3;

/// What one figure of a family is the cost of, where its figures do not share an operation.
const OPERATIONS: [(&str, &str); 3] =
    [("clock", "one reading"), ("syscall", "one call"), ("context_switch", "one switch, half a round trip")];

/// The screen of `result`, stored as `saved`.
pub(crate) fn screen(result: &RunResult, saved: Option<&str>, choice: RowChoice, unicode: bool) -> Screen {
    let story = Story::new(result, unicode);
    let views = super::of(&story);
    let told = choice::told(result, &views);
    let shown = choice.rows(result, &told);
    // Rows that were left out leave no room for tables, either.
    let is_whole = shown.len() == told.len() && choice.views(result);
    let views = if is_whole { views } else { Vec::new() };
    let hidden = if is_whole { 0 } else { result.figures.len() - shown.len() };
    let groups = groups(&story, &shown, choice);

    let mut first = vec![title(&story)];
    first.extend(story.notices().into_iter().map(|words| Said { label: "", ways: vec![words] }));
    let all: Vec<&Figure> = result.figures.iter().collect();
    let counted = count(&story, if is_whole { &all } else { &shown }, shown.len(), hidden);
    let mut findings = findings::findings(&story, &shown);
    let mut trust = trust::trust(&story, &shown);
    // The heading of the columns, the counts, a blank line, and what comes next.
    let fixed = first.len() + groups.len() + 4;
    let room = AROUND.saturating_sub(fixed).max(2);
    findings.truncate(FINDINGS.min(room.saturating_sub(trust.len().min(2)).max(1)));
    trust.truncate(room.saturating_sub(findings.len()).max(1));
    let last = findings.into_iter().chain(trust).chain(next(&story, &shown, saved)).collect();
    Screen { first, groups, views, counted, last }
}

/// Who measured, how much, and where.
fn title(story: &Story<'_>) -> Said {
    let (result, mut pieces) = (story.result, vec![story.tool()]);
    if !result.plan.effort.is_empty() {
        let seconds = result.duration_ns as f64 / 1e9;
        pieces.push(format!(" | {}, {seconds:.0} s", story.plain(&result.plan.effort)));
    }
    for (index, fact) in story.place().into_iter().enumerate() {
        pieces.push(format!("{}{fact}", if index == 0 { " | " } else { ", " }));
    }
    Said::pieces("", &pieces)
}

/// The figures under their headings: a family, or those of it whose ids end alike.
fn groups(story: &Story<'_>, shown: &[&Figure], choice: RowChoice) -> Vec<Group> {
    if let Some(order) = choice.order {
        let heading = format!("by {}", order.words());
        let rows = shown.iter().map(|figure| line::line(story, figure, story.plain(&figure.id), choice));
        let rows: Vec<_> = rows.collect();
        return if rows.is_empty() { Vec::new() } else { vec![Group { heading, rows }] };
    }
    let key = |figure: &Figure| (figure.family.clone(), ending(figure, shown), headline(figure).to_owned());
    let keys = distinct(shown.iter().map(|figure| key(figure)));
    // What ends alike stands below what does not.
    let families = distinct(keys.iter().map(|(family, ..)| family.clone()));
    let mut keys = keys;
    keys.sort_by_key(|(family, ending, headline)| {
        (families.iter().position(|one| one == family), headline != "floor", !ending.is_empty())
    });
    let group = |(family, ending, headline): (String, String, String)| {
        let of = |figure: &&&Figure| key(figure) == (family.clone(), ending.clone(), headline.clone());
        let figures: Vec<&Figure> = shown.iter().filter(of).copied().collect();
        let rows = figures.iter().map(|figure| {
            let name = story.name(figure);
            let name = name.strip_suffix(&*format!("/{}", story.plain(&ending))).unwrap_or(&name).to_owned();
            line::line(story, figure, name, choice)
        });
        Group { heading: heading(story, &family, &ending, &headline, &figures), rows: rows.collect() }
    };
    keys.into_iter().map(group).collect()
}

/// What a heading says: the family, what its ids end with, and the operation.
fn heading(story: &Story<'_>, family: &str, ending: &str, headline: &str, figures: &[&Figure]) -> String {
    let mut heading = if family.is_empty() { "(no family)".to_owned() } else { story.plain(family) };
    if !ending.is_empty() {
        heading.push_str(&format!("/*/{}", story.plain(ending)));
    }
    let shared = story.shared_operation(figures).map(|operation| story.plain(operation));
    let usual = OPERATIONS.iter().find(|(name, _)| *name == family).map(|(_, words)| (*words).to_owned());
    heading.extend(shared.or(usual).map(|operation| format!(": {operation}")));
    if headline != "floor" {
        heading.push_str(&format!(" ({} in place of the floor)", story.words(headline)));
    }
    heading
}

/// Two parts or more that the ids of several figures end with after their first: "handover/same_cpu".
fn ending(figure: &Figure, shown: &[&Figure]) -> String {
    let end = |figure: &Figure| -> Option<String> {
        let rest = figure.id.strip_prefix(&figure.family)?.strip_prefix('/')?;
        let (_, end) = rest.split_once('/')?;
        end.contains('/').then(|| end.to_owned())
    };
    let Some(own) = end(figure) else { return String::new() };
    let alike = |other: &&&Figure| other.family == figure.family && end(other).as_deref() == Some(&own);
    if shown.iter().filter(alike).count() > 1 { own } else { String::new() }
}

/// How many figures are `shown`, so many of them in rows, what became of their claims, and how many more there are.
fn count(story: &Story<'_>, shown: &[&Figure], rows: usize, hidden: usize) -> Said {
    let rows = if shown.len() == rows {
        counted(rows, "row", "rows")
    } else {
        counted(shown.len(), "figure", "figures")
    };
    let of = |verdict: Verdict| {
        story.measured_of(shown).filter(|figure| figure.evidence.verdict == verdict).count()
    };
    let more = if hidden > 0 { format!(" {hidden} more: oscost report --all") } else { String::new() };
    if shown.is_empty() {
        return Said { label: "", ways: vec![format!("Nothing was measured.{more}")] };
    }
    if of(Verdict::Checked) == shown.len() {
        let all = if shown.len() == 1 { "" } else { "all " };
        let long = format!("{rows}, {all}checked: counted calls match the claims.{more}");
        return Said { label: "", ways: vec![long, format!("{rows}, {all}checked.{more}")] };
    }
    let withheld = shown.len() - story.measured_of(shown).count();
    let counts = [
        (of(Verdict::Checked), "checked"),
        (of(Verdict::Unchecked) + of(Verdict::Unknown), "unchecked"),
        (of(Verdict::Contradicted), "contradicted"),
        (withheld, "without a number"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    Said { label: "", ways: vec![format!("{rows}: {}.{more}", counts.collect::<Vec<_>>().join(", "))] }
}

/// Where it is kept, and what to ask next.
fn next(story: &Story<'_>, shown: &[&Figure], saved: Option<&str>) -> Option<Said> {
    let saved = saved?;
    let telling =
        shown.iter().max_by_key(|figure| story.result.ratios.iter().any(|it| it.of == figure.id))?;
    let pieces = [
        format!("Saved as {}.", story.plain(saved)),
        format!(" Next: oscost explain {}", story.plain(&telling.id)),
        " | oscost compare".to_owned(),
        " | oscost report --format html".to_owned(),
    ];
    Some(Said::pieces("", &pieces))
}
