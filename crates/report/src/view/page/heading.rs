//! What the heading of a page says: findings of the terminal's rules, in the words of the figures' titles.

use oscost_results::document::FOUNDING_DOCUMENTS;
use oscost_results::{Judgement, RunResult};

use super::paid;
use crate::numbers;
use crate::view::story::Story;
use crate::words::{distinct, plain};

/// Findings that a heading has room for.
const FINDINGS: usize = 2;

/// The findings in a sentence; where nothing can be found, from which price to which.
pub(super) fn of_findings(story: &Story<'_>, findings: &[String]) -> String {
    let told: Vec<String> = findings.iter().take(FINDINGS).map(|finding| titled(story, finding)).collect();
    if !told.is_empty() {
        return capital(&told.join(", and "));
    }
    let mut priced: Vec<_> =
        story.result.figures.iter().filter_map(|figure| Some((figure, paid(figure)?.value))).collect();
    priced.sort_by(|one, other| one.1.total_cmp(&other.1));
    match (priced.first(), priced.last()) {
        (Some((least, from)), Some((most, to))) if least.id != most.id => capital(&format!(
            "from {} for {} to {} for {}",
            numbers::duration(*from),
            short(story, &least.id),
            numbers::duration(*to),
            short(story, &most.id)
        )),
        (Some((only, price)), _) => {
            capital(&format!("{} for {}", numbers::duration(*price), short(story, &only.id)))
        }
        _ => match story.result.figures.len() {
            0 => "Nothing was measured".to_owned(),
            count => format!("{count} figures, none of them a price"),
        },
    }
}

/// What became of the documents' statements.
pub(super) fn of_documents(result: &RunResult) -> String {
    let of = |name: &str| {
        let known = FOUNDING_DOCUMENTS.iter().find(|document| document.name == name);
        let title = known.map_or_else(|| format!("Document {}", plain(name, true)), |it| it.title.to_owned());
        // The number is told in the section; the name is what readers know.
        let title = title.split_once(", ").map_or(title.clone(), |(_, rest)| rest.to_owned());
        let own = || result.reproductions.iter().filter(|row| row.document == name && !row.ours);
        let judged = |verdict: Judgement| own().filter(|row| row.verdict == Some(verdict)).count();
        let all = own().filter(|row| row.statement.is_some()).count();
        let holds = judged(Judgement::Holds);
        let part = judged(Judgement::HoldsInPart);
        let not = judged(Judgement::DoesNotHold);
        if all == 0 {
            return title;
        }
        let in_part = if part > 0 { format!(", {part} in part") } else { String::new() };
        let does = if not == 1 { "does" } else { "do" };
        let its = match judged(Judgement::ItsMachine) {
            0 => String::new(),
            count => format!(", {count} are its machine's"),
        };
        format!("{title}: {holds} of {all} statements hold here{in_part}, {not} {does} not{its}")
    };
    let names = distinct(result.reproductions.iter().map(|row| &*row.document));
    names.into_iter().map(of).collect::<Vec<_>>().join("; ")
}

/// The title of a figure, without what only its own family tells apart.
pub(super) fn short(story: &Story<'_>, id: &str) -> String {
    let figure = story.result.figures.iter().find(|figure| figure.id == id);
    let title = figure.map_or(id, |figure| if figure.title.is_empty() { id } else { &figure.title });
    story.plain(title.split(", ").next().unwrap_or(title))
}

/// A finding with titles for ids; ids of the same family may be short in it.
fn titled(story: &Story<'_>, finding: &str) -> String {
    let known = |id: &str| {
        let ends = ["", "/same_cpu", "/cross_cpu"];
        let figures = &story.result.figures;
        ends.iter().find_map(|end| figures.iter().find(|figure| figure.id == format!("{id}{end}")))
    };
    let mut family = "";
    let words = finding.split(' ').map(|word| {
        let (name, stop) = word.strip_suffix(';').map_or((word, ""), |name| (name, ";"));
        let figure = known(name)
            .or_else(|| (!family.is_empty()).then(|| known(&format!("{family}/{name}"))).flatten());
        match figure {
            Some(figure) => {
                family = &figure.family;
                format!("{}{stop}", short(story, &figure.id))
            }
            None => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// With a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
