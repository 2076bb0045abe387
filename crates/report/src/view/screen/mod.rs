//! The screen of a result: which figures stand on it, under which headings, and the lines above and below them.

mod choice;
mod findings;
mod line;
mod trust;

use std::collections::BTreeMap;

use oscost_results::{Figure, Mark, RunResult, Status, Verdict};
use oscost_stats::sorting::SmallSort;

pub use choice::{RowChoice, RowOrder};
pub(crate) use findings::Finding;
pub(crate) use line::{missing, times};

use super::story::{Story, headline, told};
use crate::blocks::screen::{Group, Line, Said, Screen};
use crate::words::{counted, distinct, tally};

/// Lines beside the rows of a screen, at most.
const AROUND: usize = 15;
/// Findings on a screen, at most.
const FINDINGS: usize = 3;

/// Headings on a screen that must be one, at most: with more, a family's rows stand under its name alone.
const HEADINGS: usize = 8;

/// The screen of `result`, stored as `saved`.
pub(crate) fn screen(result: &RunResult, saved: Option<&str>, choice: RowChoice, unicode: bool) -> Screen {
    let story = Story::new(result, unicode);
    let views = super::of(&story);
    let told = told(result, &views);
    let shown = choice.rows(result, &told);
    // Rows that were left out leave no room for tables, either. Without any row the tables are all there is.
    let is_whole = shown.len() == told.len() && (told.is_empty() || choice.views(result));
    let views = if is_whole { views } else { Vec::new() };
    let hidden = if is_whole { 0 } else { result.figures.len() - shown.len() };
    let groups = groups(&story, &shown, choice);

    let mut first = vec![title(&story)];
    first.extend(story.notices().into_iter().map(|words| Said { label: "", ways: vec![words] }));
    let all: Vec<&Figure> = result.figures.iter().collect();
    // What a family's view tells was measured, too.
    let told = if is_whole { &all } else { &shown };
    let counted = count(&story, told, shown.len(), hidden);
    // The order of the rows changes no finding.
    let listed: Vec<&Figure> =
        all.iter().filter(|figure| shown.iter().any(|it| it.id == figure.id)).copied().collect();
    let mut findings = findings::findings(&story, &listed);
    let mut trust = trust::trust(&story, &listed, told);
    // The heading of the columns, the counts, a blank line, and what comes next.
    let fixed = first.len() + groups.len() + 4;
    let room = if choice.verbose { usize::MAX } else { AROUND.saturating_sub(fixed).max(2) };
    findings.truncate(FINDINGS.min(room.saturating_sub(trust.len().min(2)).max(1)));
    trust.truncate(room.saturating_sub(findings.len()).max(trust::least(&story)));
    let is_parted = choice.verbose || fixed + findings.len() + trust.len() <= AROUND;
    let last = findings.into_iter().chain(trust).chain(next(&story, &listed, saved)).collect();
    Screen { first, groups, views, counted, last, is_parted, whole: choice.verbose }
}

/// What a page says first of a result: its findings in short, and how far to trust them.
pub(crate) fn summary(story: &Story<'_>) -> (Vec<Finding>, String) {
    let told = told(story.result, &[]);
    let shown = RowChoice::default().rows(story.result, &told);
    let trust = trust::state(story);
    let trust = trust.ways.get(1).or_else(|| trust.ways.first());
    (findings::for_page(story, &shown), trust.cloned().unwrap_or_default())
}

/// The line of a figure for a page.
pub(crate) fn line_of(story: &Story<'_>, figure: &Figure) -> Line {
    line::line(story, figure, story.name(figure), RowChoice::default())
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
    let mut sorts: Vec<Sort<'_>> = shown.iter().map(|figure| Sort::of(figure, shown)).collect();
    let is_one_screen = !choice.all && story.result.plan.patterns.is_empty();
    share_words(&mut sorts, if is_one_screen { HEADINGS } else { usize::MAX });
    let families = distinct(sorts.iter().map(|sort| sort.family));
    let mut order = distinct(sorts.iter());
    // What ends alike stands below what does not, and what has no words of its own below what has.
    order.small_sort_by_key(|sort| {
        let family = families.iter().position(|family| *family == sort.family);
        (family, sort.headline != "floor", !sort.ending.is_empty(), sort.words.is_empty())
    });
    let group = |sort: &Sort<'_>| {
        let figures = shown.iter().zip(&sorts).filter(|(_, other)| *other == sort);
        let end = format!("/{}", story.plain(&sort.ending));
        let rows = figures.map(|(figure, _)| {
            let name = story.name(figure);
            line::line(story, figure, name.strip_suffix(&*end).unwrap_or(&name).to_owned(), choice)
        });
        Group { heading: sort.heading(story), rows: rows.collect() }
    };
    order.into_iter().map(group).collect()
}

/// Leaves words to headings that are true for each row below them: where several rows are each the price of something else,
/// the family alone stands above them. With more than `most` headings that holds for all rows of a place that has two.
fn share_words(sorts: &mut [Sort<'_>], most: usize) {
    let mut rows: BTreeMap<Sort<'_>, usize> = BTreeMap::new();
    sorts.iter().for_each(|sort| *rows.entry(sort.clone()).or_default() += 1);
    // Of each place: how many words there are, and how many of them one row has for itself.
    let mut places: BTreeMap<Sort<'_>, (usize, usize)> = BTreeMap::new();
    for (sort, count) in &rows {
        let place = places.entry(sort.place()).or_default();
        *place = (place.0 + 1, place.1 + usize::from(*count == 1));
    }
    let without: Vec<bool> =
        sorts.iter().map(|sort| rows[sort] == 1 && places[&sort.place()].1 > 1).collect();
    let headings = distinct(
        sorts.iter().zip(&without).map(|(sort, without)| if *without { sort.place() } else { sort.clone() }),
    );
    for (sort, without) in sorts.iter_mut().zip(without) {
        if without || (headings.len() > most && places[&sort.place()].0 > 1) {
            sort.words = "";
        }
    }
}

/// What the rows below one heading have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Sort<'r> {
    family: &'r str,
    /// What their ids end with.
    ending: String,
    headline: &'r str,
    /// What each of them is the price of; empty where that differs from row to row.
    words: &'r str,
}

impl<'r> Sort<'r> {
    fn of(figure: &'r Figure, shown: &[&Figure]) -> Self {
        let words = if figure.heading.is_empty() { &figure.operation } else { &figure.heading };
        Self { family: &figure.family, ending: ending(figure, shown), headline: headline(figure), words }
    }

    /// The same without words.
    fn place(&self) -> Self {
        Self { words: "", ..self.clone() }
    }

    /// What a heading says: the family, what its ids end with, and the operation.
    fn heading(&self, story: &Story<'_>) -> String {
        let mut heading =
            if self.family.is_empty() { "(no family)".to_owned() } else { story.plain(self.family) };
        if !self.ending.is_empty() {
            heading.push_str(&format!("/*/{}", story.plain(&self.ending)));
        }
        if !self.words.is_empty() {
            heading.push_str(&format!(": {}", story.plain(self.words)));
        }
        if self.headline != "floor" {
            heading.push_str(&format!(" ({} in place of the floor)", story.words(self.headline)));
        }
        heading
    }
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
    let common = common_marks(story, shown);
    if of(Verdict::Checked) == shown.len() {
        let all = if shown.len() == 1 { "" } else { "all " };
        let long = format!("{rows}, {all}checked: counted calls match the claims{common}.{more}");
        return Said { label: "", ways: vec![long, format!("{rows}, {all}checked{common}.{more}")] };
    }
    let withheld = shown.len() - story.measured_of(shown).count();
    let counts = [
        (of(Verdict::Checked), "checked"),
        (of(Verdict::Unchecked) + of(Verdict::Unknown), "unchecked"),
        (of(Verdict::Contradicted), "contradicted"),
        (withheld, "without a number"),
    ];
    let counts = tally(&counts, |count| *count);
    Said { label: "", ways: vec![format!("{rows}: {counts}{common}.{more}")] }
}

/// "; 30 shared": marks that most rows have. No row says them, and the lines of trust may have no room.
fn common_marks(story: &Story<'_>, shown: &[&Figure]) -> String {
    let with = |mark: &Mark| story.measured_of(shown).filter(|figure| figure.marks.contains(mark)).count();
    let counts = line::marks_of_most(story).map(|mark| (with(&mark), mark)).filter(|(count, _)| *count > 0);
    counts.map(|(count, mark)| format!("; {count} {}", mark.words())).collect()
}

/// Where it is kept, and what to ask next.
fn next(story: &Story<'_>, shown: &[&Figure], saved: Option<&str>) -> Option<Said> {
    let saved = saved?;
    let has_ratio = |figure: &&Figure| {
        let is_measured = figure.status == Status::Measured;
        (is_measured, story.result.ratios.iter().any(|it| it.of == figure.id))
    };
    // Where tables are all there is, any figure of theirs.
    let telling = shown.iter().copied().max_by_key(has_ratio).or_else(|| story.result.figures.first())?;
    let pieces = [
        format!("Saved as {}.", story.plain(saved)),
        format!(" Next: oscost explain {}", story.plain(&telling.id)),
        " | oscost compare".to_owned(),
        " | oscost report --format html".to_owned(),
    ];
    Some(Said::pieces("", &pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(family: &'static str, words: &'static str) -> Sort<'static> {
        Sort { family, ending: String::new(), headline: "floor", words }
    }

    fn shared(sorts: &[Sort<'static>], most: usize) -> Vec<&'static str> {
        let mut sorts = sorts.to_vec();
        share_words(&mut sorts, most);
        sorts.into_iter().map(|sort| sort.words).collect()
    }

    /// A heading is true for every row below it.
    #[test]
    fn words_stand_above_those_rows_alone_that_share_them() {
        let one_family = |words: [&'static str; 4]| words.map(|words| sort("a", words));
        let switches = one_family(["switch", "switch", "pipe", "switch"]);
        assert_eq!(shared(&switches, 9), ["switch", "switch", "pipe", "switch"], "one alone keeps its own");
        let locks = one_family(["lock", "wake", "wait", "lock"]);
        assert_eq!(shared(&locks, 9), ["lock", "", "", "lock"], "several are below the family alone");
        assert_eq!(shared(&one_family(["one", "two", "three", "four"]), 9), ["", "", "", ""]);
        assert_eq!(shared(&[sort("a", "one"), sort("b", "two")], 9), ["one", "two"]);
        assert_eq!(shared(&switches, 1), ["", "", "", ""], "with too many headings none is untrue");
        assert_eq!(shared(&one_family(["one"; 4]), 0), ["one"; 4]);
    }
}
