//! Two results against each other as a block: a row a figure, its change with its interval around zero.

use super::{Tone, View};

/// A comparison of two results.
pub(crate) struct Forest {
    /// The two, as "before → now".
    pub pair: String,
    /// What came out, in a sentence.
    pub finding: String,
    /// Changes up to this share are none that anybody asked about.
    pub margin: f64,
    /// The largest change that has room.
    pub limit: f64,
    /// The rows, the worst first.
    pub rows: Vec<Against>,
    /// The same as tables, and everything around them.
    pub whole: View,
}

/// One figure of both.
pub(crate) struct Against {
    /// Its id.
    pub id: String,
    /// Whether its receipt is on the page.
    pub has_receipt: bool,
    /// The verdict in a word.
    pub word: &'static str,
    /// What that means to the reader.
    pub tone: Tone,
    /// Low end, change, high end as shares, where there is a change to speak of.
    pub change: Option<[f64; 3]>,
    /// The change in words.
    pub says: String,
    /// Its interval in words.
    pub interval: String,
    /// What was judged, before and now.
    pub sides: String,
    /// Why it is judged so; may be empty.
    pub why: String,
    /// Whether that must stand there: its interval by itself would say otherwise.
    pub needs_why: bool,
}
