//! What is known, read from `known.json`. Of each card the file has only what differs from the card before it, one card a line.

use serde_json::{Map, Value};

use super::{Catalogue, Known, KnownDocument, KnownFamily};

/// What the file has.
///
/// # Panics
/// The file is not one that was written: a test holds it against the cards.
pub fn catalogue() -> Catalogue {
    parsed(include_str!("known.json")).expect("known.json, which a test has read")
}

/// Ids that no list has are Linux's: their cards are made there.
#[cfg(not(target_os = "linux"))]
pub fn resolve(_: &str) -> Option<&'static Known> {
    None
}

/// Everything in the text of the file.
fn parsed(text: &str) -> serde_json::Result<Catalogue> {
    #[derive(serde::Deserialize)]
    struct Stored {
        families: Vec<KnownFamily>,
        documents: Vec<KnownDocument>,
        cards: Vec<Map<String, Value>>,
    }
    let Stored { families, documents, cards } = serde_json::from_str(text)?;
    let mut members = Map::new();
    let card = |new: Map<String, Value>| {
        members.extend(new);
        serde_json::from_value::<Known>(Value::Object(members.clone()))
    };
    Ok(Catalogue { cards: cards.into_iter().map(card).collect::<Result<_, _>>()?, families, documents })
}
