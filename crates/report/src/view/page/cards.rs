//! The answers that most readers came for, each with its size in system calls; of a reproduction, there and here.

use oscost_results::Figure;
use oscost_results::document::GRAME;
use oscost_stats::sorting::SmallSort;

use super::{hue, paid};
use crate::blocks::Hue;
use crate::blocks::page::Card;
use crate::numbers;
use crate::view::documents::{Told, answers};
use crate::view::story::{Story, headline};
use crate::words::{distinct, readable};

/// What people ask for: ids, the first that was measured, and the question.
const ASKED: [(&[&str], &str); 6] = [
    (&["clock/monotonic"], "read the clock"),
    (&["semaphore/posix_named", "semaphore/posix_unnamed"], "take and give a POSIX semaphore"),
    (&["syscall/getpid", "syscall/getppid"], "a system call"),
    (&["semaphore/system_v"], "take and give a System V semaphore"),
    (&["context_switch/pipe/same_cpu"], "switch to another process"),
    (&["context_switch/pipe/cross_cpu"], "switch to a process on another CPU"),
];
/// Cards on a page.
const CARDS: usize = 6;
/// Of the questions that many must be answered for them to be asked.
const ENOUGH: usize = 3;
/// What the cards of a document are.
const ANSWERS: &str = "Large: this machine. Below: what the document published. \"Our copy of its program\" ran once or a few \
                       times, as the document's did; \"measured\" is a figure of oscost, with its interval of 95 %.";

/// The names of machines on the cards of document 002.
const STATIONS: &str = " P700, P350 and Mac350 are its machines (Table 1).";

/// The cards, and what their sizes mean.
pub(super) fn cards(story: &Story<'_>) -> (Vec<Card>, String) {
    let told = of_documents(story);
    if !told.is_empty() {
        let named = story.result.reproductions.iter().any(|row| row.document == GRAME.name);
        return (told, format!("{ANSWERS}{}", if named { STATIONS } else { "" }));
    }
    if let Some(told) = crate::view::realtime_load::cards(story, CARDS) {
        return told;
    }
    let call = ASKED[2].0.iter().find_map(|id| measured(story, id));
    let size = |figure: &Figure| {
        let (own, call) = (paid(figure)?.value, paid(call?)?.value);
        (figure.id != call_id(story)?).then(|| own / call).filter(|it| it.is_finite())
    };
    let answered = |(ids, name): &(&[&str], &str)| {
        Some((ids.iter().find_map(|id| measured(story, id))?, (*name).to_owned()))
    };
    let asked: Vec<(&Figure, String)> = ASKED.iter().filter_map(answered).collect();
    let chosen = if asked.len() >= ENOUGH { asked } else { spread(story) };
    let card = |(figure, name): &(&Figure, String)| {
        let price = numbers::duration(paid(figure)?.value);
        let size = size(figure).map_or(String::new(), |it| format!("{}\u{d7} a system call", digits(it)));
        let card = Card::of(hue(figure), &price, name.clone(), readable(&figure.id, true));
        Some(Card { size, link: figure.id.clone(), ..card })
    };
    let cards: Vec<Card> = chosen.iter().filter_map(card).collect();
    let sizes = if cards.iter().any(|card| !card.size.is_empty()) {
        "typical prices, beside that of a system call".to_owned()
    } else if cards.is_empty() {
        String::new()
    } else if story.result.figures.iter().all(|figure| headline(figure) == oscost_results::quantity::LAST_P50)
    {
        "median time until the last client has a message, over whole sessions".to_owned()
    } else {
        "typical prices".to_owned()
    };
    (cards, sizes)
}

fn call_id<'a>(story: &'a Story<'_>) -> Option<&'a str> {
    ASKED[2].0.iter().find_map(|id| measured(story, id)).map(|figure| figure.id.as_str())
}

fn measured<'a>(story: &'a Story<'_>, id: &str) -> Option<&'a Figure> {
    story.result.figures.iter().find(|figure| figure.id == id && paid(figure).is_some())
}

/// The cheapest, the dearest, and some between them.
fn spread<'a>(story: &'a Story<'_>) -> Vec<(&'a Figure, String)> {
    let mut priced: Vec<(&Figure, f64)> =
        story.result.figures.iter().filter_map(|figure| Some((figure, paid(figure)?.value))).collect();
    priced.small_sort_by(|one, other| one.1.total_cmp(&other.1));
    let last = priced.len().saturating_sub(1);
    let places =
        distinct((0..CARDS.min(priced.len())).map(|step| step * last / (CARDS - 1).min(last).max(1)));
    let chosen = places.into_iter().filter_map(|place| priced.get(place));
    chosen.map(|(it, _)| (*it, story.short_title(it))).collect()
}

/// The answers of the documents, there and here: of several documents the first ones of each.
fn of_documents(story: &Story<'_>) -> Vec<Card> {
    let names = distinct(story.result.reproductions.iter().map(|row| &*row.document));
    let each = (CARDS / names.len().max(1)).max(1);
    let of = |name: &str| {
        let answers = answers(name, story.result);
        let some = answers.iter().any(|it| it.here.is_some());
        let shown = answers.into_iter().filter(move |it| it.here.is_some() || !some);
        shown.map(|answer| of_answer(story, answer)).take(each)
    };
    names.into_iter().flat_map(of).take(CARDS).collect()
}

/// One question of a document: this machine's number, what it is, and what was published.
fn of_answer(story: &Story<'_>, answer: Told) -> Card {
    let (number, unit) = answer.here.unwrap_or_else(|| ("\u{2013}".to_owned(), String::new()));
    Card {
        hue: Hue::Plain,
        number,
        unit,
        name: story.plain(&answer.name),
        says: story.plain(&answer.how),
        size: story.plain(&format!("published: {}", answer.each)),
        link: String::new(),
    }
}

/// A ratio in two digits, or whole.
fn digits(ratio: f64) -> String {
    crate::view::screen::times(ratio).trim_end_matches('x').to_owned()
}
