//! Keeps `known.json` in step with the cards: the test writes the file anew if it is not.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Catalogue, cards, stored};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/known/known.json");

/// The text of the file: everything has a line of its own, and a card has only what differs from the one before it. So the
/// file is small, and a change of one card is a change of few lines.
fn written(known: &Catalogue) -> String {
    let mut before = Map::new();
    let cards = known.cards.iter().map(|card| {
        let Value::Object(members) = serde_json::to_value(card).expect("members") else {
            panic!("no members")
        };
        let mut new = members.clone();
        new.retain(|name, value| before.get(name) != Some(value));
        before = members;
        new
    });
    let cards: Vec<_> = cards.collect();
    format!(
        "{{\"families\":[\n{}\n],\"documents\":[\n{}\n],\"cards\":[\n{}\n]}}\n",
        lines(&known.families),
        lines(&known.documents),
        lines(&cards)
    )
}

/// The values of a list, one a line.
fn lines<T: Serialize>(values: &[T]) -> String {
    let values: Vec<String> =
        values.iter().map(|value| serde_json::to_string(value).expect("a value")).collect();
    values.join(",\n")
}

#[test]
fn known_json_is_in_step_with_the_cards() {
    // The cards of other processors, and of programs with less in them, are others.
    if !cfg!(all(target_arch = "x86_64", target_env = "gnu", feature = "window", feature = "bpf")) {
        return;
    }
    let mut known = cards::catalogue();
    // What this machine lacks is no fact of a card, and elsewhere nothing is counted.
    known.cards.iter_mut().for_each(|card| (card.lack, card.countable) = (None, false));
    let written = written(&known);
    if std::fs::read_to_string(PATH).is_ok_and(|text| text == written) {
        assert!(stored::catalogue() == known, "what is read is what was written");
        return;
    }
    std::fs::write(PATH, written).expect("a file");
    panic!("{PATH} was not in step with the cards: it has been written anew, commit it");
}
