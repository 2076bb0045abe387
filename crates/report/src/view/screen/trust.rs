//! How far to trust a screen: the doctor's findings, the smallest visible change, marked rows, warnings.

use oscost_results::{CheckState, Figure, Mark, RemarkCode};
use oscost_stats::sorting::SmallSort;

use super::line::is_of_a_row;
use crate::blocks::screen::Said;
use crate::judge::{Rules, compare};
use crate::named::Named;
use crate::view::story::Story;
use crate::words::{counted, tally};

/// What stands before the first line of all.
const LABEL: &str = "Trust";

/// The lines, the most important first: of the rows that are `shown`, and the marks of all figures that are `told`.
pub(super) fn trust(story: &Story<'_>, shown: &[&Figure], told: &[&Figure]) -> Vec<Said> {
    let mut lines = vec![state(story)];
    let mut warnings: Vec<&String> = story.result.warnings.iter().collect();
    warnings.small_sort_by_key(|warning| !befell(warning));
    lines.extend(warnings.into_iter().map(|warning| {
        let mut ways = vec![story.plain(warning)];
        ways.extend(of_typical(warning).unwrap_or_else(|| vec![story.clause(warning)]));
        Said { label: " ", ways: ways.into_iter().map(|words| format!("warning: {words}")).collect() }
    }));
    lines.extend(marks(story, told));
    let few =
        |figure: &&&Figure| super::choice::quoted(figure).is_some_and(|it| it.extremes && it.low != it.high);
    let few = shown.iter().filter(few).count();
    if few > 0 {
        let rows = counted(shown.len(), "row", "rows");
        let have = if few == 1 { "has" } else { "have" };
        let words = format!("{few} of {rows} {have} too few launches for an interval");
        lines.push(Said { label: " ", ways: vec![words] });
    }
    if let Some(why) = story.audit_missing {
        let words = format!("system calls were not counted: {}", story.clause(why));
        lines.insert(least(story), Said { label: " ", ways: vec![words] });
    }
    lines
}

/// How many of the lines a screen shows, however little room it has: whoever does not see a warning believes other figures.
pub(super) fn least(story: &Story<'_>) -> usize {
    1 + story.result.warnings.len()
}

/// Of a core that ran slower: what that does to the prices on the screen, in short.
fn of_typical(warning: &str) -> Option<Vec<String>> {
    let holes = RemarkCode::CoreSpeedMoved.holes(warning)?;
    let words = format!("typical may be up to {} % too high", holes.first()?);
    Some(vec![format!("{words}: the core was slow"), words])
}

/// Whether a warning tells what befell a run while it measured: it comes first.
fn befell(warning: &str) -> bool {
    matches!(RemarkCode::of(warning), Some(RemarkCode::Changed | RemarkCode::Slept | RemarkCode::CutOff))
}

/// What disturbs, and the change that half of the figures would show.
pub(super) fn state(story: &Story<'_>) -> Said {
    let doctor = &story.result.doctor;
    let of = |state: CheckState| doctor.iter().filter(move |check| check.state == state);
    let names = |unfit: bool| -> Vec<String> {
        let checks = of(CheckState::Disturbs).filter(|check| check.unfit == unfit);
        checks.map(|check| story.words(&check.check)).collect()
    };
    let states = [("unfit to measure", names(true)), ("disturbed", names(false))];
    let states: Vec<_> = states.into_iter().filter(|(_, names)| !names.is_empty()).collect();
    let visible = visible(story);
    let (long, short) = if doctor.is_empty() {
        ("not examined".to_owned(), "not examined".to_owned())
    } else if states.is_empty() {
        let unknown = of(CheckState::Unknown).count();
        let impossible = counted(unknown, "check was not possible", "checks were not possible");
        let told =
            |quiet: &str| if unknown == 0 { quiet.to_owned() } else { format!("{quiet}, {impossible}") };
        (told("quiet, as the doctor found it"), told("quiet"))
    } else {
        let told = |(state, names): &(&str, Vec<String>)| format!("{state} ({})", names.join(", "));
        (states.iter().map(told).collect::<Vec<_>>().join(", "), states[0].0.to_owned())
    };
    let with = |state: &str, more: &str| match &visible {
        Some(share) => format!("{state}: changes under {share} are noise in half of the figures{more}"),
        None => format!("{state}{more}"),
    };
    let more = if doctor.is_empty() || !states.is_empty() { "; oscost doctor" } else { "" };
    let mut ways = vec![with(&long, more), with(&long, ""), with(&short, more), with(&short, "")];
    ways.extend(
        visible.as_ref().map(|share| format!("{short}: under {share} is noise in half of the figures")),
    );
    Said { label: LABEL, ways }
}

/// The least change that `compare` would call one between this run and another like it, in the middle of all figures: a
/// result has one such number, whatever part of it a screen or a page shows in rows.
fn visible(story: &Story<'_>) -> Option<String> {
    let run = Named { name: "", result: story.result };
    let rules = Rules { threshold: 0.0, ..Rules::default() };
    let compared = compare(&run, &run, rules);
    let of = |figure: &&Figure| {
        let row = compared.rows.iter().find(|row| row.id == figure.id)?;
        row.change.map(|change| change.high).filter(|high| high.is_finite())
    };
    // A figure that has no interval shows nothing. One without a number is in no comparison.
    let mut all: Vec<f64> = story.measured().map(|figure| of(&figure).unwrap_or(f64::INFINITY)).collect();
    all.sort_by(f64::total_cmp);
    let middle = *all.get(all.len() / 2)?;
    (middle < 1.0).then(|| format!("{:.0} %", (middle * 100.0).ceil().max(1.0)))
}

/// The marks that most rows have, which the rows leave out, and how many have another.
fn marks(story: &Story<'_>, told: &[&Figure]) -> Option<Said> {
    let all: Vec<(Mark, &str)> =
        Mark::ALL.into_iter().filter(|mark| *mark != Mark::NotConverged).map(|it| (it, it.words())).collect();
    let count = |mark: &Mark| story.measured_of(told).filter(|figure| figure.marks.contains(mark)).count();
    let counts = tally(&all, count);
    let first = all.iter().find(|(mark, _)| count(mark) > 0 && !is_of_a_row(story, *mark));
    let first = first.or_else(|| all.iter().find(|(mark, _)| count(mark) > 0));
    let (_, word) = first?;
    let pieces = [format!("marked: {counts}"), format!(" (oscost explain {})", word.replace(' ', "_"))];
    Some(Said::pieces(" ", &pieces))
}
