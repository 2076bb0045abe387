//! Results as a page for a browser: what was found, the answers, then the figures with their receipts.

mod against;
mod beside;
mod cards;
mod heading;
mod hues;
mod list;
mod over;
mod places;
mod together;

use oscost_results::{Check, CheckState, Estimate, Figure, Outline, RunResult, Status, Verdict, quantity};
use oscost_stats::sorting::SmallSort;

use super::story::{Story, headline};
use super::{doctor, documents, gallery, screen};
use crate::blocks::page::{Chip, Page, Section};
use crate::blocks::{Hue, Part, Tone, View};
use crate::evidence::system_calls;
use crate::judge::apart;
use crate::named::Named;
use crate::words::{counted, distinct, plain};
use over::Run;

/// Switches an operation from which on another thread runs meanwhile.
const SWITCHES: f64 = 0.25;
/// System calls an operation below which there are none: the audit's own.
const NO_CALLS: f64 = 0.005;

/// One page about `results`, oldest first: receipts of the newest, stored as `saved`, and what became of the figures until then.
pub(crate) fn page(results: &[Named<'_>], saved: Option<&str>) -> Page {
    page_over(&results.iter().map(Run::of).collect::<Vec<_>>(), results, saved)
}

/// One page about `runs`, oldest first, of which the last ones are here whole.
pub(crate) fn page_of_runs(runs: &[(String, Outline)], whole: &[Named<'_>], saved: Option<&str>) -> Page {
    page_over(&runs.iter().map(|(name, run)| Run::outlined(name, run)).collect::<Vec<_>>(), whole, saved)
}

fn page_over(runs: &[Run], whole: &[Named<'_>], saved: Option<&str>) -> Page {
    let Some((newest, others)) = whole.split_last() else {
        return Page {
            title: "oscost: no result".to_owned(),
            kind: "no result",
            heading: "There is no result to show".to_owned(),
            ..Page::default()
        };
    };
    let bill = newest.result.bill.as_deref();
    let mut page = match bill {
        Some(bill) => super::bill::page(newest, bill),
        None => of_one(&Story::new(newest.result, true), saved),
    };
    let (mut like_it, mut left_out) = (Vec::new(), Vec::new());
    // The nearest predecessor first: that is the question most often asked.
    for other in others.iter().rev() {
        match apart(other.result, newest.result) {
            Some(why) => left_out.push(format!("{} is not compared: {why}", plain(other.name, true))),
            None => like_it.push(other),
        }
    }
    let mut sections = beside::others(&mut page, &like_it, newest);
    page.warnings.extend(left_out);
    if runs.len() > 2 {
        // The page of a bill has no receipts.
        let receipts: &[Figure] = if bill.is_some() { &[] } else { &newest.result.figures };
        let history = over::history(runs, receipts);
        let systems = distinct(runs.iter().map(|run| &run.system)).len();
        let over = counted(runs.len(), "run", "runs");
        let of = if systems > 1 { format!(" of {systems} systems") } else { String::new() };
        let is_like_it = |before: &Named<'_>| apart(before.result, newest.result).is_none();
        let beside = match others.last() {
            _ if page.kind != beside::COMPARED => "",
            Some(before) if is_like_it(before) => " beside the one before",
            _ => " beside an older one",
        };
        page.kind = "history";
        page.heading = format!("{over}{of}: {}; the newest{beside}: {}", history.finding, page.heading);
        sections.insert(0, Section::Over(history));
    }
    sections.splice(0..0, gallery::view(whole).map(Section::View));
    sections.append(&mut page.sections);
    page.sections = sections;
    hues::assign(&mut page.sections);
    page
}

/// A page of one result, stored as `saved`.
fn of_one(story: &Story<'_>, saved: Option<&str>) -> Page {
    let result = story.result;
    let (findings, trust) = screen::summary(story);
    let documents = documents::views(result, true);
    let is_reproduction = !documents.is_empty();
    let heading =
        if is_reproduction { heading::of_documents(story) } else { heading::of_findings(story, &findings) };
    let (cards, sizes) = cards::cards(story);
    let mut sections: Vec<Section> = Vec::new();
    let heading = together::heading(&result.reproductions).unwrap_or(heading);
    let mut views: Vec<View> = super::of(story);
    let mut own: Vec<Section> = Vec::new();
    if !result.figures.is_empty() {
        own.push(Section::Prices(list::chart(story, &findings)));
    }
    if is_reproduction {
        // The document first; what was measured for it follows.
        let placed = |(index, view)| places::marked(answers_first(view), &format!("document-{}", index + 1));
        sections.extend(documents.into_iter().enumerate().map(placed).map(Section::View));
        sections.extend(views.drain(..).map(Section::View));
        sections.append(&mut own);
    } else {
        // Where rows were left to a picture of their family, that is the answer.
        let (told, rest): (Vec<View>, Vec<View>) = views.into_iter().partition(|view| view.covers.len() > 1);
        sections.extend(told.into_iter().map(Section::View));
        sections.append(&mut own);
        sections.extend(rest.into_iter().map(Section::View));
    }
    if !result.doctor.is_empty() {
        let title = "The machine, as oscost doctor found it".to_owned();
        sections.push(Section::View(View { title, ..doctor::view(&result.doctor, true) }));
    }
    let model = story.plain(&result.machine.cpu_model);
    Page {
        title: format!("{heading} ({model}): oscost"),
        kind: match has_sessions_alone(result) {
            _ if is_reproduction => "reproduction",
            true => "real-time messages",
            false => "price list",
        },
        chips: chips(story, &trust),
        warnings: story.warnings(),
        heading,
        cards,
        sizes,
        sections,
        closing: story.closing(saved),
        checksum: checksum(result),
    }
}

/// Whether it has sessions of real-time messages, and nothing else.
fn has_sessions_alone(result: &RunResult) -> bool {
    let mut figures = result.figures.iter();
    !result.figures.is_empty() && figures.all(|figure| super::realtime_ipc::session(figure).is_some())
}

/// Verdicts of a document's statements in the order of a scorecard; any other follows.
const SCORES: [&str; 5] = ["does not hold", "holds in part", "holds", "unclear", "machine's figure"];

/// Plots before the statements.
const FIRST_PLOTS: usize = 2;

/// What a document comes to, its first table and plots, its statements, and then everything else.
fn answers_first(mut view: View) -> View {
    for part in &mut view.parts {
        if let Part::Judged(_, statements) = part {
            // A scorecard: what was decided first, what nothing here can decide last.
            let place = |word: &str| SCORES.iter().position(|score| *score == word).unwrap_or(SCORES.len());
            statements.small_sort_by_key(|statement| place(statement.word));
        }
    }
    // The summary has the tally, and the statements follow it.
    let mut is_tally = false;
    view.parts.retain(|part| {
        let kept = !(is_tally && matches!(part, Part::Words(_)));
        is_tally = matches!(part, Part::Judged(..));
        kept
    });
    // The table that answers, the first plots, then what became of the statements: nobody scrolls past a hundred pictures to a
    // verdict.
    let (mut tables, mut plots) = (0, 0);
    view.parts.sort_by_cached_key(|part| match part {
        Part::Words(_) | Part::Warning(_) | Part::Answer(_) | Part::Facts(_) => 0,
        Part::Table(_) => {
            tables += 1;
            if tables == 1 { 1 } else { 5 }
        }
        Part::Remarks(_) if tables == 1 => 1,
        Part::Plot(_) => {
            plots += 1;
            if plots <= FIRST_PLOTS { 2 } else { 4 }
        }
        Part::Judged(..) => 3,
        Part::View(_) => 4,
        _ => 5,
    });
    view
}

/// Where and when, and how far to trust it.
fn chips(story: &Story<'_>, trust: &str) -> Vec<Chip> {
    let result = story.result;
    let mut chips: Vec<Chip> = story.place().into_iter().map(Chip::fact).collect();
    let started = story.plain(&result.started).replacen('T', " ", 1).replace('Z', " UTC");
    chips.push(Chip::fact(started));
    let all = result.figures.len();
    let of = |verdict: Verdict| story.measured().filter(|figure| figure.evidence.verdict == verdict).count();
    let checked = of(Verdict::Checked);
    if all > 0 {
        let withheld = result.figures.iter().filter(|it| it.status == Status::Contradicted).count();
        let wrong = of(Verdict::Contradicted) + withheld;
        let unchecked = of(Verdict::Unchecked) + of(Verdict::Unknown);
        // Of what has no number nothing was left to check.
        let rest = all - checked - wrong - unchecked;
        let others = [(wrong, "wrong"), (unchecked, "unchecked"), (rest, "without a number")];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        let others: String = others.map(|(count, word)| format!(", {count} {word}")).collect();
        chips.push(Chip {
            text: format!("counts of calls and switches: {checked} confirmed{others}"),
            tone: Some(if checked == all { Tone::Good } else { Tone::Doubt }),
            whole: story.closing(None),
        });
    }
    let is_fine = |check: &Check| check.state == CheckState::Fine;
    let quiet = !result.doctor.is_empty() && result.doctor.iter().all(is_fine);
    let tone = Some(if quiet { Tone::Good } else { Tone::Doubt });
    chips.push(Chip { text: trust.to_owned(), tone, whole: story.doctor().0 });
    if result.plan.effort == "quick" {
        let whole =
            "a quick run makes fewer and shorter launches than a default one: its intervals are wider"
                .to_owned();
        chips.push(Chip { text: "quick run: a first look".to_owned(), tone: Some(Tone::Doubt), whole });
    }
    chips
}

/// What an operation does, as it was counted.
pub(super) fn hue(figure: &Figure) -> Hue {
    let switches = figure.evidence.switches.is_some_and(|switches| switches >= SWITCHES);
    match system_calls(&figure.evidence) {
        _ if figure.status != Status::Measured => Hue::Plain,
        _ if switches => Hue::Switch,
        Some(calls) if calls < NO_CALLS => Hue::User,
        Some(_) => Hue::Kernel,
        None => Hue::Uncounted,
    }
}

/// What the file of the result begins with.
fn checksum(result: &RunResult) -> String {
    let head = oscost_results::to_bytes(result).unwrap_or_default();
    let line = head.split(|byte| *byte == b'\n').nth(1).unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.split('"').nth(3).map(|text| plain(text, true)).unwrap_or_default()
}

/// The estimate that is quoted, if it is a duration above nothing.
pub(super) fn nanoseconds(figure: &Figure, name: &str) -> Option<Estimate> {
    let quantity = figure.quantities.get(name).filter(|_| figure.status == Status::Measured)?;
    let it = quantity.estimate;
    (quantity.unit == "ns" && it.value > 0.0 && it.value.is_finite()).then_some(it)
}

/// What is paid here: the typical price where there is one, else what is quoted.
pub(super) fn paid(figure: &Figure) -> Option<Estimate> {
    nanoseconds(figure, quantity::TYPICAL).or_else(|| nanoseconds(figure, headline(figure)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Table;

    #[test]
    fn the_answer_is_followed_by_its_table_and_the_statements_by_the_rest() {
        let table = |title: &str| Part::Table(Table { title: title.to_owned(), ..Table::default() });
        let parts = vec![
            Part::Facts(Vec::new()),
            table("first"),
            Part::Remarks(vec!["of the first".to_owned()]),
            table("second"),
            Part::Remarks(vec!["of the second".to_owned()]),
            Part::Judged("Statements".to_owned(), Vec::new()),
            Part::words("3 statements"),
        ];
        let all = answers_first(View { parts, ..View::default() }).parts;
        let told = all.iter().map(|part| match part {
            Part::Table(table) => &*table.title,
            Part::Remarks(all) => &*all[0],
            Part::Judged(title, _) => &**title,
            _ => "facts",
        });
        let order = ["facts", "first", "of the first", "Statements", "second", "of the second"];
        assert_eq!(told.collect::<Vec<_>>(), order);
    }
}
