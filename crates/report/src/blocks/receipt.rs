//! The receipt of a figure as a block: what was counted, what was claimed, and what it came to.

use super::{Tone, View};

/// A receipt.
pub(crate) struct Receipt {
    /// Id of the figure.
    pub title: String,
    /// What it is the price of.
    pub says: String,
    /// What was counted an operation.
    pub items: Vec<Item>,
    /// What was claimed, and whether it holds.
    pub claims: Vec<Item>,
    /// What it came to, the judged quantity first.
    pub totals: Vec<Item>,
    /// How and where it was counted.
    pub foot: Vec<String>,
    /// What else is noteworthy, in sentences.
    pub notes: Vec<String>,
    /// The command that measures it again.
    pub command: String,
    /// Spread, launches, quantities, and all that was counted.
    pub beside: View,
}

/// A line of a receipt.
pub(crate) struct Item {
    /// What it is.
    pub name: String,
    /// How much.
    pub amount: String,
    /// Whether it is as it should be, where that is a question.
    pub tone: Option<Tone>,
}
