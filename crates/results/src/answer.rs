//! What a founding document asks, its own answer, and this machine's.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A question of a founding document with both answers, all numbers in one unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Answer {
    /// Name of the document.
    pub document: String,
    /// Name of the question within the document: it stays where the words change.
    pub key: String,
    /// The question in the reader's words.
    pub question: String,
    /// Unit of every number below.
    pub unit: String,
    /// What the document answers, once for each machine that it measured. Empty: its text has lost the number.
    #[serde(default)]
    pub published: Vec<PublishedAnswer>,
    /// Id of the figure that answers, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure_id: Option<String>,
    /// What this machine answers; absent: this run did not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<AnswerHere>,
    /// Both as a sentence, with `{here}` and `{there}` for the numbers and their units; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finding: String,
    /// Why this machine answers otherwise; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What else stands beside the number; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remark: String,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A number that a document printed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublishedAnswer {
    /// The number.
    pub value: f64,
    /// The machine of the document that it is of; empty where the document has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub station: String,
}

/// A number of this machine, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerHere {
    /// A figure over several runs, with its interval.
    Measured {
        /// The estimate.
        value: f64,
        /// Low end of its interval.
        low: f64,
        /// High end of its interval.
        high: f64,
    },
    /// What the document's own program gave: a number without an interval.
    Literal {
        /// The number.
        value: f64,
    },
    /// A kind of a later version.
    #[serde(other)]
    Unknown,
}

impl AnswerHere {
    /// The number; `None` of a kind of a later version.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Measured { value, .. } | Self::Literal { value } => Some(*value),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_says_what_kind_its_number_is() {
        let bare =
            json!({"document": "ostep", "key": "getpid", "question": "a call of getpid", "unit": "ns"});
        let of = |here: Value| -> Answer {
            let mut answer = bare.clone();
            answer["here"] = here;
            serde_json::from_value(answer).expect("an answer")
        };
        let measured = of(json!({"kind": "measured", "value": 3.0, "low": 2.0, "high": 4.0}));
        assert_eq!(measured.here, Some(AnswerHere::Measured { value: 3.0, low: 2.0, high: 4.0 }));
        let literal = of(json!({"kind": "literal", "value": 3.0}));
        assert_eq!(literal.here.and_then(|here| here.value()), Some(3.0));
        let later = of(json!({"kind": "guessed", "value": 3.0}));
        assert_eq!(later.here.map(|here| here.value()), Some(None));
        let written = serde_json::to_value(&literal).expect("an answer");
        assert_eq!(written["here"], json!({"kind": "literal", "value": 3.0}));
        assert_eq!(serde_json::from_value::<Answer>(written).ok(), Some(literal));
    }
}
