//! The price list of a terminal: one line per figure, then findings, trust, and the next step.

use super::{Tone, View};

/// A price list for one screen.
pub(crate) struct Screen {
    /// What stands above the rows.
    pub first: Vec<Said>,
    /// The rows.
    pub groups: Vec<Group>,
    /// What families show besides.
    pub views: Vec<View>,
    /// How many rows there are.
    pub counted: Said,
    /// Findings, trust, the next step.
    pub last: Vec<Said>,
    /// Whether there is room for a blank line before them.
    pub is_parted: bool,
    /// Whether no words are left out: what does not fit goes on in the next line.
    pub whole: bool,
}

/// A line of words: the longest way of saying it that fits is chosen.
pub(crate) struct Said {
    /// What stands before it ("Findings"); a blank goes on below such a line.
    pub label: &'static str,
    /// From the longest to the shortest.
    pub ways: Vec<String>,
}

impl Said {
    /// Pieces that make a line together; those that do not fit are dropped from the right.
    pub fn pieces(label: &'static str, pieces: &[String]) -> Self {
        let ways = (1..=pieces.len().max(1)).rev().map(|count| pieces.iter().take(count).cloned().collect());
        Self { label, ways: ways.collect() }
    }
}

/// Rows of one operation.
pub(crate) struct Group {
    /// Family and operation.
    pub heading: String,
    /// Its figures.
    pub rows: Vec<Line>,
}

/// One figure.
pub(crate) struct Line {
    /// Its id, without what the heading says.
    pub name: String,
    /// Its numbers, or why it has none.
    pub cells: Result<Cells, Missing>,
    /// The ratio and other short notes, the most telling first.
    pub notes: Vec<Note>,
    /// The first ratio by itself: "16x", and to what.
    pub ratio: Option<(String, String)>,
    /// Everything else, where somebody wants to know everything.
    pub below: Vec<String>,
}

/// A few words beside a row.
pub(crate) struct Note {
    /// All of them.
    pub words: String,
    /// Those that stand where there is no room for all; without any, words may be cut.
    pub short: Option<String>,
}

impl From<String> for Note {
    fn from(words: String) -> Self {
        Self { words, short: None }
    }
}

/// Why a figure shows no numbers.
pub(crate) struct Missing {
    /// One word or two ("withheld").
    pub state: &'static str,
    /// How bad that is.
    pub tone: Tone,
    /// The reason in a few words.
    pub why: String,
}

/// The columns after the name.
#[derive(Default)]
pub(crate) struct Cells {
    /// Price on an undisturbed core; of a series, the quantity that the heading names.
    pub floor: String,
    /// Half-width of its interval.
    pub floor_width: String,
    /// What is paid here.
    pub typical: String,
    /// Half-width of its interval.
    pub typical_width: String,
    /// The price in cycles of the core.
    pub cycles: String,
    /// System calls per operation.
    pub calls: String,
    /// Which of them `compare` judges.
    pub judged: Option<Judges>,
}

/// A column that `compare` may judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judges {
    /// The floor, or the quantity of a series.
    Floor,
    /// The typical price.
    Typical,
    /// The price in cycles.
    Cycles,
}
