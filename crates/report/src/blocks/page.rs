//! A page for a browser as blocks: the finding first, then the answers, then everything they rest on.

use super::forest::Forest;
use super::history::History;
use super::prices::PriceChart;
use super::{Hue, Tone, View};

/// One page about one or more results.
#[derive(Default)]
pub(crate) struct Page {
    /// What a window and a list of pages call it.
    pub title: String,
    /// What kind of page it is ("price list").
    pub kind: &'static str,
    /// What was found, in a sentence.
    pub heading: String,
    /// Where, when, and how far to trust it.
    pub chips: Vec<Chip>,
    /// What a reader must know before anything else.
    pub warnings: Vec<String>,
    /// The answers that most readers came for.
    pub cards: Vec<Card>,
    /// What the sizes on the cards are measured in; may be empty.
    pub sizes: String,
    /// The parts, each below a heading of its own.
    pub sections: Vec<Section>,
    /// How many figures there are and what became of them.
    pub closing: String,
    /// Checksum of the result whose receipts are shown; may be empty.
    pub checksum: String,
}

/// A fact in a few words.
pub(crate) struct Chip {
    /// The fact.
    pub text: String,
    /// What it means for the rest of the page, where it means something.
    pub tone: Option<Tone>,
    /// The whole of it; may be empty.
    pub whole: String,
}

impl Chip {
    /// A fact that is told whole, and means nothing for the rest.
    pub fn fact(text: String) -> Self {
        Self { text, tone: None, whole: String::new() }
    }
}

/// An answer.
pub(crate) struct Card {
    /// What was counted while it was measured.
    pub hue: Hue,
    /// The number.
    pub number: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// The question, in the reader's words.
    pub name: String,
    /// What exactly was measured.
    pub says: String,
    /// How large that is; may be empty.
    pub size: String,
    /// Name on this page that it leads to; may be empty.
    pub link: String,
}

impl Card {
    /// An answer without size and link: its number stands before the first blank of `price`, its unit behind it.
    pub fn of(hue: Hue, price: &str, name: String, says: String) -> Self {
        let (number, unit) = price.split_once(' ').unwrap_or((price, ""));
        let [number, unit] = [number, unit].map(str::to_owned);
        Self { hue, number, unit, name, says, size: String::new(), link: String::new() }
    }
}

/// A part of the page with a heading.
pub(crate) enum Section {
    /// A price list with its receipts.
    Prices(PriceChart),
    /// Two results against each other.
    Compared(Forest),
    /// Figures over runs.
    Over(History),
    /// Anything else.
    View(View),
}
