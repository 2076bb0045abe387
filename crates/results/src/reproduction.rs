//! A published value or statement of a founding document, with this machine's answer.

pub(crate) mod older;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One published value, or one statement, of a founding document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reproduction {
    /// "tlpi", "apue", "grame", "ostep" or "context-switch".
    pub document: String,
    /// Where in the document ("Results, row 4").
    pub place: String,
    /// Where a value stands in a table with others; `None` for a value on its own, and for a statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Cell>,
    /// The statement, in the document's own words, or `None` for a published value.
    pub statement: Option<String>,
    /// The statement is no sentence of the document, but one that this program puts beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ours: bool,
    /// The published value, or `None` for a statement.
    pub published: Option<f64>,
    /// Unit of `published` and `literal`.
    pub unit: String,
    /// What the document's own method, repeated literally, gave here (single runs).
    pub literal: Option<f64>,
    /// What the document has in a cell in words, where a number would not tell it ("low", "na", "> 8000").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_words: Option<String>,
    /// The same word for what the document's own method gave here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literal_words: Option<String>,
    /// The same word for the price list's figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_words: Option<String>,
    /// The price list's figure that answers it.
    pub figure_id: Option<String>,
    /// Quantity of that figure.
    pub quantity: Option<String>,
    /// Value and interval of that figure at the time of judging.
    #[serde(default)]
    pub measured: Option<crate::Estimate>,
    /// The judgement of a statement; `None` for a value.
    pub verdict: Option<Judgement>,
    /// The numbers that decide, in words.
    #[serde(default)]
    pub because: String,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A place in a table: values of one table follow one another, by rows or by columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cell {
    /// Title of the table.
    pub table: String,
    /// Name of the row.
    pub row: String,
    /// Name of the column, without the unit.
    pub column: String,
    /// What stands above several columns, and the name of this one below it, where the document's table has two headings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<[String; 2]>,
    /// Where the row stands, if the rows are numbers of something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<CellAxis>,
    /// What of several things that are drawn together the value is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<CellSeries>,
}

/// The number that a row of a table stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CellAxis {
    /// The number.
    pub at: u64,
    /// What it counts ("clients").
    pub counts: String,
    /// The document has a curve here, which its text has lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// What a plot of it is called, where the title of its table says more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_title: Option<String>,
}

/// One of several things that are held against each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CellSeries {
    /// Name within the document, which does not change with the words ("coarse").
    pub key: String,
    /// The same in words ("advisory locking, coarse-grained").
    pub title: String,
}

/// What this machine says of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It holds here.
    Holds,
    /// It holds in one part and not in another; the words say where.
    HoldsInPart,
    /// It does not hold here; the interval says so.
    DoesNotHold,
    /// It was measured, and the interval lies across the edge.
    Unclear,
    /// This machine or this run cannot tell.
    NotTestableHere,
    /// No rule, but a figure of the document's machine: shown beside this one's, and not judged.
    ItsMachine,
    /// Shown, and not judged: it rests on single runs, which have no interval, or its counterpart was not run.
    NotJudged,
    /// A judgement of a later version.
    #[serde(other)]
    Unknown,
}

impl Judgement {
    /// Name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsInPart => "holds_in_part",
            Self::DoesNotHold => "does_not_hold",
            Self::Unclear => "unclear",
            Self::NotTestableHere => "not_testable_here",
            Self::ItsMachine => "its_machine",
            Self::NotJudged => "not_judged",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_has_one_name_in_files_and_in_tables() {
        use Judgement::{DoesNotHold, Holds, HoldsInPart, ItsMachine, NotJudged, NotTestableHere, Unclear};
        for judgement in [Holds, HoldsInPart, DoesNotHold, Unclear, NotTestableHere, ItsMachine, NotJudged] {
            assert_eq!(serde_json::to_value(judgement).ok(), Some(judgement.name().into()));
        }
    }

    #[test]
    fn a_statement_is_the_documents_unless_the_file_says_ours() {
        let row =
            serde_json::json!({"document": "tlpi", "place": "", "unit": "", "statement": "it is faster"});
        let read = |row: &Value| serde_json::from_value::<Reproduction>(row.clone()).expect("a row");
        assert!(!read(&row).ours);
        let ours = Reproduction { ours: true, ..read(&row) };
        let written = serde_json::to_value(&ours).expect("a row");
        assert_eq!((&written["ours"], read(&written)), (&Value::Bool(true), ours));
        assert!(serde_json::to_value(read(&row)).expect("a row").get("ours").is_none());
    }
}
