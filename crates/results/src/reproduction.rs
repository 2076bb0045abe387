//! A founding document's published value or statement, beside what this machine says of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One published value, or one statement, of a founding document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reproduction {
    /// "tlpi", "apue", "grame", "ostep" or "context-switch".
    pub document: String,
    /// Where in the document ("Results, row 4").
    pub place: String,
    /// Where a value stands in a table with others; `None` for a value on its own, and for a statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Cell>,
    /// The statement judged, or `None` for a published value.
    pub statement: Option<String>,
    /// The published value, or `None` for a statement.
    pub published: Option<f64>,
    /// Unit of `published` and `literal`.
    pub unit: String,
    /// What the document's own method, repeated literally, gave here (single runs).
    pub literal: Option<f64>,
    /// The price list's figure that answers it.
    pub figure_id: Option<String>,
    /// Quantity of that figure.
    pub quantity: Option<String>,
    /// Value and interval of that figure at the time of judging.
    #[serde(default)]
    pub measured: Option<crate::Estimate>,
    /// The judgement of a statement.
    pub verdict: Option<Judgement>,
    /// The numbers that decide, in words.
    #[serde(default)]
    pub because: String,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A place in a table: values of one table follow one another, by rows or by columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cell {
    /// Title of the table.
    pub table: String,
    /// Name of the row.
    pub row: String,
    /// Name of the column, without the unit.
    pub column: String,
}

/// What this machine says of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It holds here.
    Holds,
    /// It does not hold here; the interval says so.
    DoesNotHold,
    /// This machine or this run cannot tell.
    NotTestableHere,
}
