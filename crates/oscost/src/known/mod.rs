//! What is known of everything that can be measured, as every system can read it: cards, families, documents, keys.
//!
//! On Linux it is made from the cards. Elsewhere nothing can be measured and there are no cards: it is read from `known.json`.
//! `cargo test -p oscost --lib known` writes that file anew if a card has changed.

#[cfg(target_os = "linux")]
mod cards;
#[cfg(any(test, not(target_os = "linux")))]
mod stored;
#[cfg(all(test, target_os = "linux"))]
mod written;

use std::sync::OnceLock;

use oscost_results::search::{Listing, NoMatch, Synonym, Tier, Way};
use oscost_results::{Expectation, Trait};
use serde::{Deserialize, Serialize};

use crate::synonyms::synonyms;

#[cfg(target_os = "linux")]
use cards as source;
#[cfg(not(target_os = "linux"))]
use stored as source;

/// A benchmark, as its card describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known {
    pub id: String,
    pub revision: u32,
    pub title: String,
    pub operation: String,
    pub operations_per_iteration: u64,
    pub call_path: String,
    pub blocks: bool,
    pub placement: String,
    pub group: String,
    pub baseline: Option<String>,
    pub subtract: Option<String>,
    pub tier: Tier,
    pub document: Option<String>,
    /// The quantity that is quoted.
    pub headline: String,
    /// What an operation must do, and how often.
    pub claims: Vec<(String, Expectation)>,
    pub traits: Vec<Trait>,
    pub remark: String,
    /// What it needs and this machine does not give, with what to do about it.
    #[serde(skip)]
    pub lack: Option<(String, String)>,
    /// Whether `count` and `explain --trace` have an operation of it; they are Linux's.
    #[serde(skip)]
    pub countable: bool,
}

impl Known {
    /// First part of the id.
    pub fn family(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }
}

/// A family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownFamily {
    pub name: String,
    pub description: String,
    pub keys: Vec<Key>,
}

/// A founding document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownDocument {
    pub name: String,
    pub number: String,
    pub title: String,
    pub keys: Vec<Key>,
    pub statements: Vec<Statement>,
}

/// A statement of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    pub place: String,
    pub words: String,
    /// It is ours: the document does not say it.
    pub ours: bool,
}

/// A key of `--set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    pub key: String,
    pub what: String,
    /// What it takes, in words.
    pub values: String,
    /// The words that it takes; none where it takes no words.
    pub words: Vec<String>,
    /// Whether it takes several values, separated by commas.
    pub many: bool,
    pub default: String,
}

/// All of it.
#[derive(Debug, PartialEq)]
pub struct Catalogue {
    /// In the order of the price list, without what is hidden.
    pub cards: Vec<Known>,
    pub families: Vec<KnownFamily>,
    pub documents: Vec<KnownDocument>,
}

/// What a pattern found.
pub struct Matched {
    /// The pattern as given.
    pub pattern: String,
    /// How.
    pub way: Way,
    /// The cards, in the order of the catalogue.
    pub cards: Vec<&'static Known>,
}

impl Matched {
    /// The ids that were found.
    pub fn ids(&self) -> Vec<&'static str> {
        self.cards.iter().map(|card| card.id.as_str()).collect()
    }
}

/// What is known, read once.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(source::catalogue)
}

impl Catalogue {
    /// Everything up to `most`.
    pub fn tier(&'static self, most: Tier) -> Vec<&'static Known> {
        self.cards.iter().filter(|card| card.tier.is_within(most)).collect()
    }

    /// What each pattern finds. Cards above `most` need their full id.
    ///
    /// # Errors
    /// The first pattern that finds nothing.
    pub fn look_up(&'static self, patterns: &[String], most: Tier) -> Result<Vec<Matched>, NoMatch> {
        let reachable = self.tier(most);
        let one = |typed: &String| {
            let (way, cards) = (&self).look_up_one(typed, &reachable, most)?;
            Ok(Matched { pattern: typed.clone(), way, cards })
        };
        patterns.iter().map(one).collect()
    }

    /// The document of this name or number.
    pub fn document(&self, name: &str) -> Option<&KnownDocument> {
        self.documents.iter().find(|document| document.number == name || document.name == name)
    }

    /// Whose keys a command takes: their names, with the keys.
    pub fn keys_of(&self, command: &str) -> Vec<(&str, &[Key])> {
        let mut tables: Vec<(&str, &[Key])> = match command {
            "run" => self.families.iter().map(|family| (family.name.as_str(), &family.keys[..])).collect(),
            "reproduce" => self.documents.iter().map(|it| (it.name.as_str(), &it.keys[..])).collect(),
            _ => Vec::new(),
        };
        tables.retain(|(_, keys)| !keys.is_empty());
        tables
    }
}

impl Listing for &'static Catalogue {
    type Item = &'static Known;

    fn id(card: &'static Known) -> &'static str {
        &card.id
    }

    fn find(&self, id: &str) -> Option<&'static Known> {
        self.cards.iter().find(|card| card.id == id).or_else(|| source::resolve(id))
    }

    fn tier(&self, most: Tier) -> Vec<&'static Known> {
        (*self).tier(most)
    }

    fn offered(&self) -> Vec<&'static str> {
        (*self).tier(Tier::Family).into_iter().map(|card| card.id.as_str()).collect()
    }

    fn synonyms(&self) -> &'static [Synonym] {
        synonyms()
    }
}
