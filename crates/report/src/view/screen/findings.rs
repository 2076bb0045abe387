//! What a run found: sentences computed from its figures by rules. A figure that is withheld or unchecked, or whose operation
//! was another one, carries none, and neither does a ratio whose interval leaves it open. Noise hides no large difference:
//! a disturbed figure carries one that is twice as large.

use oscost_results::{Figure, Mark, PairedValue, Status, Verdict, quantity};
use oscost_stats::sorting::SmallSort;

use super::line::{half, short, times};
use crate::blocks::screen::Said;
use crate::judge::is_beside_others;
use crate::numbers;
use crate::view::story::{Story, headline};
use crate::words::{counted, distinct};

/// What stands before the first line of all.
const LABEL: &str = "Findings";
/// From this ratio on two alternatives differ by enough to be spoken of.
const APART: f64 = 2.0;
/// The same, where others disturbed a figure: its error may be larger than its interval says.
const FAR_APART: f64 = 2.0 * APART;
/// Up to this ratio they cost the same.
const ALIKE: f64 = 1.25;
/// A figure whose interval is wider than this share carries no sentence.
const WIDE: f64 = 0.25;

/// The findings, the most telling first.
pub(super) fn findings(story: &Story<'_>, shown: &[&Figure]) -> Vec<Said> {
    let carrying: Vec<&Figure> = shown.iter().filter(|figure| carries(figure)).copied().collect();
    let mut all: Vec<Vec<String>> =
        found(story, &carrying).into_iter().map(|finding| finding.pieces).collect();
    if all.is_empty() && !shown.is_empty() {
        let without = shown.len() - carrying.len();
        all.push(if without == 0 {
            vec!["nothing stands out".to_owned()]
        } else {
            let (rows, is) = (counted(shown.len(), "row", "rows"), if without == 1 { "is" } else { "are" });
            let none = format!("none; {without} of {rows} {is} left out");
            vec![none, format!(" ({})", reasons(shown))]
        });
    }
    let label = |index| if index == 0 { LABEL } else { " " };
    let plain = |pieces: &Vec<String>| pieces.iter().map(|piece| story.plain(piece)).collect::<Vec<_>>();
    all.iter().enumerate().map(|(index, pieces)| Said::pieces(label(index), &plain(pieces))).collect()
}

/// A sentence computed from figures, for each of its readers.
pub(crate) struct Finding {
    /// By ids, in pieces: the sentence, and what stands in brackets.
    pieces: Vec<String>,
    /// The family that it is of.
    pub family: String,
    /// The sentence by ids without that family.
    pub in_family: String,
    /// The sentence by titles, which needs no knowledge of ids.
    pub in_titles: String,
}

/// The findings for a page; none where no figure carries one.
pub(super) fn for_page(story: &Story<'_>, shown: &[&Figure]) -> Vec<Finding> {
    let carrying: Vec<&Figure> = shown.iter().filter(|figure| carries(figure)).copied().collect();
    found(story, &carrying)
}

/// What each rule finds, the most telling first.
fn found(story: &Story<'_>, carrying: &[&Figure]) -> Vec<Finding> {
    let mut all = alternatives(story, carrying);
    all.extend(wake(story, carrying));
    all.extend(entry(story, carrying));
    all.extend(vdso(story, carrying));
    all
}

/// A finding about `figure`: what is said of its name, by whatever name; what stands in brackets; and the same by titles, where it
/// is said in other words.
fn finding(
    story: &Story<'_>,
    (figure, name): (&Figure, &str),
    said: impl Fn(&str) -> String,
    brackets: String,
    in_titles: String,
) -> Finding {
    let own = name.strip_prefix(&*figure.family).and_then(|own| own.strip_prefix('/')).unwrap_or(name);
    Finding {
        pieces: vec![said(name), brackets],
        family: figure.family.clone(),
        in_family: story.plain(&said(own)),
        in_titles: story.plain(&in_titles),
    }
}

/// Names of figures that end in a thing of which there are many.
const THINGS: [&str; 6] = ["semaphore", "mutex", "lock", "pipe", "queue", "socket"];

/// A title with an article, where it is that of a thing.
fn one_of(story: &Story<'_>, figure: &Figure) -> String {
    let title = story.short_title(figure);
    if THINGS.iter().any(|thing| title.ends_with(thing)) { format!("a {title}") } else { title }
}

/// "151 times".
fn in_words(ratio: f64) -> String {
    format!("{} times", times(ratio).trim_end_matches('x'))
}

/// Whether a sentence may rest on it.
fn carries(figure: &Figure) -> bool {
    obstacle(figure).is_none()
}

/// Why no sentence may rest on it. How few launches it has, its interval tells.
fn obstacle(figure: &Figure) -> Option<&'static str> {
    let harmless =
        |mark: &&Mark| matches!(mark, Mark::NotConverged | Mark::FewerLaunches) || disturbs(**mark);
    let quoted = figure.quantities.get(figure.judged());
    let is_narrow = quoted.is_some_and(|it| half(&it.estimate).is_some_and(|half| half <= WIDE));
    match figure.marks.iter().find(|mark| !harmless(mark)) {
        _ if figure.status != Status::Measured => Some("without a number"),
        Some(mark) => Some(mark.words()),
        None if figure.evidence.verdict != Verdict::Checked => Some(figure.evidence.verdict.name()),
        None if is_beside_others(figure) => Some("with others on its CPUs"),
        None => (!is_narrow).then_some("with a wide interval"),
    }
}

/// Whether it says that others ran beside the figure; its operation is the one that it claims.
fn disturbs(mark: Mark) -> bool {
    matches!(mark, Mark::Noisy | Mark::Bimodal | Mark::Shared | Mark::BusySibling)
}

/// From which ratio on two figures differ by enough.
fn enough(one: &Figure, other: &Figure) -> f64 {
    let is_disturbed = [one, other].iter().any(|figure| figure.marks.iter().any(|mark| disturbs(*mark)));
    if is_disturbed { FAR_APART } else { APART }
}

/// Why rows carry no finding, the most frequent reason first. A mark that most rows have stands in none of them, so it is
/// said here.
fn reasons(shown: &[&Figure]) -> String {
    let all: Vec<&str> = shown.iter().filter_map(|figure| obstacle(figure)).collect();
    let count = |reason: &str| all.iter().filter(|other| **other == reason).count();
    let mut reasons = distinct(all.iter().copied());
    reasons.small_sort_by_key(|reason| std::cmp::Reverse(count(reason)));
    reasons.iter().map(|reason| format!("{} {reason}", count(reason))).collect::<Vec<_>>().join(", ")
}

/// A price in words: of what is quoted.
fn price(figure: &Figure) -> String {
    let quoted = figure.quantities.get(headline(figure));
    quoted.map_or(String::new(), |it| numbers::quantity(it.estimate.value, &it.unit))
}

/// For each family the alternative that is furthest from its baseline, and whether that stays so where they must switch.
fn alternatives(story: &Story<'_>, carrying: &[&Figure]) -> Vec<Finding> {
    let of = |id: &str| carrying.iter().find(|figure| figure.id == id).copied();
    let bounds = |pair: &PairedValue| Some((pair.value?, pair.low?, pair.high?));
    let pairs = story.result.ratios.iter().filter(|pair| pair.quantity == "paired");
    let pairs: Vec<(&Figure, &Figure, &PairedValue)> =
        pairs.filter_map(|pair| Some((of(&pair.of)?, of(&pair.to)?, pair))).collect();
    let mut best: Vec<(&Figure, &Figure, f64)> = Vec::new();
    for (one, base, pair) in &pairs {
        let Some((value, low, _)) = bounds(pair) else { continue };
        // Other operations of a family are no alternatives: what is compared does the same.
        if low < enough(one, base) || one.operation != base.operation {
            continue;
        }
        match best.iter_mut().find(|(other, ..)| other.family == one.family) {
            Some(known) if known.2 < value => *known = (*one, *base, value),
            Some(_) => {}
            None => best.push((*one, *base, value)),
        }
    }
    let sentence = |(one, base, value): (&Figure, &Figure, f64)| {
        let mut finding = finding(
            story,
            (one, &one.id),
            |name| format!("{name} costs {} {}", times(value), short(one, &base.id)),
            format!(" ({}, {})", price(one), price(base)),
            format!("{} costs {} as much as {}", one_of(story, one), in_words(value), one_of(story, base)),
        );
        let again = pairs.iter().find(|(other, other_base, pair)| {
            let end = other.id.strip_prefix(&*one.id);
            let same =
                end.is_some_and(|end| !end.is_empty() && other_base.id.strip_prefix(&*base.id) == Some(end));
            same && bounds(pair).is_some_and(|(_, low, high)| high < ALIKE && low > 1.0 / ALIKE)
        });
        if let Some((other, ..)) = again {
            let end = other.id.strip_prefix(&*one.id).unwrap_or_default().trim_start_matches('/');
            finding.pieces.push(format!("; with {end} they cost the same"));
        }
        finding
    };
    best.into_iter().map(sentence).collect()
}

/// What it costs to wake another CPU: the same on two CPUs and on one.
fn wake(story: &Story<'_>, carrying: &[&Figure]) -> Option<Finding> {
    let (one, two) = carrying.iter().find_map(|figure| {
        let stem = figure.id.strip_suffix("/same_cpu")?;
        let two = carrying.iter().find(|other| other.id.strip_suffix("/cross_cpu") == Some(stem))?;
        Some((figure, two))
    })?;
    let typical = |figure: &Figure| figure.quantities.get(quantity::TYPICAL).map(|it| it.estimate);
    let (one_typical, two_typical) = (typical(one)?, typical(two)?);
    let ratio = two_typical.value / one_typical.value;
    let is_certain = two_typical.low / one_typical.high >= enough(one, two);
    let name = one.id.strip_suffix("/same_cpu").unwrap_or(&one.id);
    is_certain.then(|| {
        let [far, near] = [two_typical, one_typical].map(|it| numbers::duration(it.value));
        let said = |name: &str| format!("another CPU makes {name} cost {}", times(ratio));
        let (title, often) = (story.short_title(one), in_words(ratio));
        let in_titles = format!("a {title} to another CPU costs {often} one on the same CPU");
        finding(story, (one, name), said, format!(" ({far}, {near}; typical)"), in_titles)
    })
}

/// The dearest call beside the bare entry into the kernel.
fn entry(story: &Story<'_>, carrying: &[&Figure]) -> Option<Finding> {
    let entry = carrying.iter().find(|figure| figure.has(oscost_results::Trait::KernelEntry))?;
    let floor = |figure: &Figure| figure.quantities.get(quantity::FLOOR).map(|it| it.estimate);
    let base = floor(entry)?;
    let calls = carrying.iter().filter(|figure| figure.family == entry.family);
    let dearest = calls.filter_map(|figure| Some((figure, floor(figure)?)));
    let (figure, most) = dearest.max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
    (most.low / base.high >= enough(figure, entry)).then(|| {
        let ratio = most.value / base.value;
        finding(
            story,
            (figure, &figure.id),
            |name| format!("{name} costs {} a bare kernel entry", times(ratio)),
            format!(" ({}, {})", numbers::duration(most.value), numbers::duration(base.value)),
            format!("{} costs {} as much as a bare kernel entry", one_of(story, figure), in_words(ratio)),
        )
    })
}

/// A reading of the clock that should stay outside the kernel, and does not.
fn vdso(story: &Story<'_>, carrying: &[&Figure]) -> Option<Finding> {
    let slow = carrying.iter().find(|figure| {
        figure.call_path == "vdso"
            && crate::evidence::system_calls(&figure.evidence).is_some_and(|calls| calls >= 1.0)
    })?;
    let said = |name: &str| format!("{name} enters the kernel on each call");
    let in_titles = said(&story.short_title(slow));
    Some(finding(story, (slow, &slow.id), said, " (check the clock source)".to_owned(), in_titles))
}
