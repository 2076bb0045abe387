//! The answers that most readers came for, each with its size in system calls; of a reproduction, there and here.

use oscost_results::{Figure, Judgement, Reproduction};

use super::heading::short;
use super::{hue, paid};
use crate::blocks::page::{Card, Hue};
use crate::numbers;
use crate::view::documents::{both_sides, quoted};
use crate::view::story::Story;
use crate::words::distinct;

/// What people ask for: ids, the first that was measured, and the question.
const ASKED: [(&[&str], &str); 6] = [
    (&["clock/monotonic"], "read the clock"),
    (&["semaphore/posix_named", "semaphore/posix_unnamed"], "take and give a semaphore"),
    (&["syscall/getpid", "syscall/getppid"], "a system call"),
    (&["semaphore/system_v"], "the same by System V"),
    (&["context_switch/pipe/same_cpu"], "switch to another process"),
    (&["context_switch/pipe/cross_cpu"], "wake another CPU"),
];
/// Cards on a page.
const CARDS: usize = 6;
/// Of the questions that many must be answered for them to be asked.
const ENOUGH: usize = 3;

/// The cards, and what their sizes mean.
pub(super) fn cards(story: &Story<'_>) -> (Vec<Card>, String) {
    let asked = crate::view::grame::cards(story);
    let told = if asked.is_empty() { of_documents(story) } else { asked };
    if !told.is_empty() {
        return (told, String::new());
    }
    let call = ASKED[2].0.iter().find_map(|id| measured(story, id));
    let size = |figure: &Figure| {
        let (own, call) = (paid(figure)?.value, paid(call?)?.value);
        (figure.id != call_id(story)?).then(|| own / call).filter(|it| it.is_finite())
    };
    let asked: Vec<(&Figure, String)> = ASKED
        .iter()
        .filter_map(|(ids, name)| {
            let figure = ids.iter().find_map(|id| measured(story, id))?;
            Some((figure, (*name).to_owned()))
        })
        .collect();
    let chosen = if asked.len() >= ENOUGH { asked } else { spread(story) };
    let cards: Vec<Card> = chosen
        .iter()
        .filter_map(|(figure, name)| {
            let price = numbers::duration(paid(figure)?.value);
            let (number, unit) = price.split_once(' ').unwrap_or((&price, ""));
            Some(Card {
                hue: hue(figure),
                number: number.to_owned(),
                unit: unit.to_owned(),
                name: name.clone(),
                says: story.plain(&figure.id),
                size: size(figure).map_or(String::new(), |it| format!("{}\u{d7} a system call", digits(it))),
                link: figure.id.clone(),
            })
        })
        .collect();
    let sizes = if cards.iter().any(|card| !card.size.is_empty()) {
        "typical prices, beside that of a system call".to_owned()
    } else if cards.is_empty() {
        String::new()
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
    priced.sort_by(|one, other| one.1.total_cmp(&other.1));
    let last = priced.len().saturating_sub(1);
    let places =
        distinct((0..CARDS.min(priced.len())).map(|step| step * last / (CARDS - 1).min(last).max(1)));
    places
        .into_iter()
        .filter_map(|place| priced.get(place))
        .map(|(it, _)| (*it, short(story, &it.id)))
        .collect()
}

/// What a document says of its own machine, with this one's answer; then values that were published and are known here,
/// one of each column of its tables.
fn of_documents(story: &Story<'_>) -> Vec<Card> {
    let rows = &story.result.reproductions;
    let mut cards: Vec<Card> = rows.iter().filter_map(|row| of_machine(story, row)).collect();
    cards.truncate(CARDS);
    let table = |row: &Reproduction| row.cell.as_ref().map(|cell| (cell.table.clone(), cell.column.clone()));
    let tables = distinct(rows.iter().filter(|row| both_sides(row, story.result).is_some()).map(table));
    let mut chosen: Vec<&Reproduction> = Vec::new();
    for of in &tables {
        let mut own = rows.iter().filter(|row| table(row) == *of && both_sides(row, story.result).is_some());
        // The last of a column is its largest case.
        chosen.extend(own.next_back());
    }
    // A ratio says more of two machines than a time does.
    chosen.sort_by_key(|row| row.unit != "ratio");
    chosen.truncate(CARDS - cards.len());
    let card = |row: &Reproduction| {
        let (there, here) = both_sides(row, story.result)?;
        let name = row.cell.as_ref().map_or_else(
            || story.plain(&row.place),
            |cell| story.plain(&format!("{}, {}", cell.row, cell.column)),
        );
        let (number, unit) = parted(&here);
        Some(Card {
            hue: Hue::Plain,
            number,
            unit,
            name,
            says: format!("published: {there}"),
            size: String::new(),
            link: String::new(),
        })
    };
    cards.extend(chosen.into_iter().filter_map(card));
    cards
}

/// A figure of the document's machine: the number here, and the document's own words.
fn of_machine(story: &Story<'_>, row: &Reproduction) -> Option<Card> {
    if row.verdict != Some(Judgement::ItsMachine) || row.ours {
        return None;
    }
    let (there, rest) = row.because.strip_prefix("there ")?.split_once(", here ")?;
    let here = story.plain(rest.split([',', ';']).next().unwrap_or(rest));
    let (number, unit) = parted(&here);
    if number.is_empty() {
        return None;
    }
    Some(Card {
        hue: Hue::Plain,
        number,
        unit,
        name: quoted(row, true),
        says: format!("published: {}", story.plain(there)),
        size: String::new(),
        link: String::new(),
    })
}

/// The number that a text begins with, and the unit behind it: intervals and remarks follow them.
fn parted(text: &str) -> (String, String) {
    let is_digits = |word: &str| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    let begins = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-');
    let words = text.split(' ').enumerate();
    // Thousands stand apart.
    let number = words.take_while(|(at, word)| if *at == 0 { begins(word) } else { is_digits(word) });
    let number: Vec<&str> = number.map(|(_, word)| word).collect();
    let unit = text
        .split(' ')
        .nth(number.len())
        .filter(|unit| unit.starts_with(|it: char| it.is_alphabetic() || it == '%'));
    (number.join(" "), unit.unwrap_or_default().to_owned())
}

/// A ratio in two digits, or whole.
fn digits(ratio: f64) -> String {
    crate::view::screen::times(ratio).trim_end_matches('x').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_a_number_and_its_unit_and_nothing_else() {
        let of = |text| {
            let (number, unit) = parted(text);
            format!("{number}|{unit}")
        };
        assert_eq!(of("0.270 ns \u{b1} 0 %"), "0.270|ns");
        assert_eq!(of("45 300 \u{b1} 1 %"), "45 300|");
        assert_eq!(of("98 97 .. 99"), "98|");
        assert_eq!(of("156.7x (156.5 .. 156.9)"), "156.7x|");
        assert_eq!(of("87 % in a single run"), "87|%");
        assert_eq!(of("more than before"), "|more");
    }
}
