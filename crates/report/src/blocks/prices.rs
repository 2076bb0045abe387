//! The price list as a block: rows by family, and what is said around them.

use super::receipt::Receipt;
use super::screen::{Judges, Missing};
use super::{Hue, Table, Tone, View};

/// A price list.
pub(crate) struct Prices {
    /// Tool and version.
    pub tool: String,
    /// Machine and conditions in one line.
    pub conditions: String,
    /// Whether the machine was fit to measure.
    pub doctor: String,
    /// What a reader must know before the first figure.
    pub warnings: Vec<String>,
    /// The figures.
    pub families: Vec<PriceFamily>,
    /// What families show besides.
    pub views: Vec<View>,
    /// What holds for several rows.
    pub footnotes: Vec<String>,
    /// How many figures there are, of which verdict, and what was withheld.
    pub closing: String,
}

/// Rows under one heading: a family, or the series of a family that quote one quantity.
pub(crate) struct PriceFamily {
    /// Name of the family in capitals, blanks for underscores.
    pub name: String,
    /// The operation, where (nearly) all rows share it.
    pub operation: Option<String>,
    /// Name of the quantity that is quoted.
    pub headline: String,
    /// Whether the rows are batched benchmarks, with floor, typical and tail.
    pub batched: bool,
    /// The figures, in the order of the result.
    pub rows: Vec<PriceRow>,
}

/// One figure.
pub(crate) struct PriceRow {
    /// Id without the family.
    pub name: String,
    /// How the operation is reached.
    pub call_path: String,
    /// Numbers, or why there are none.
    pub outcome: Outcome,
    /// What is noteworthy in a few words: another operation, ratios, differences, marks.
    pub notes: Vec<String>,
    /// What is noteworthy in sentences.
    pub remarks: Vec<String>,
}

/// The numbers of a measured figure, or the reason for which there are none.
pub(crate) enum Outcome {
    /// Numbers are shown.
    Measured(Numbers),
    /// The state ("unsupported", "failed", "withheld") and why.
    Withheld {
        /// One word.
        state: &'static str,
        /// Reason and remedy.
        why: String,
    },
}

/// The columns of a measured figure.
pub(crate) struct Numbers {
    /// Value of the headline with its unit.
    pub value: String,
    /// Its interval.
    pub interval: String,
    /// Median over launches of the launch median.
    pub typical: String,
    /// 99th percentile of batch means.
    pub tail: String,
    /// The distribution of all samples.
    pub picture: String,
    /// System calls per operation.
    pub calls: String,
    /// Verdict of the evidence.
    pub verdict: &'static str,
}

/// The price list of a page: each row has its place on one axis, and opens to its receipt.
pub(crate) struct PriceChart {
    /// What the list says in one sentence.
    pub finding: String,
    /// Families in the order of the list: id, name in words, and what is to be said of it.
    pub families: Vec<[String; 3]>,
    /// Costs of the machine that everything else is measured against: name and ns.
    pub floors: Vec<(&'static str, f64)>,
    /// The rows.
    pub rows: Vec<Priced>,
    /// The same as a table.
    pub table: Table,
}

/// A row of a page's price list.
pub(crate) struct Priced {
    /// Id of the figure.
    pub id: String,
    /// Its name below the heading of its family.
    pub name: String,
    /// PriceFamily, as in the result.
    pub family: String,
    /// What it is the price of.
    pub operation: String,
    /// What was counted.
    pub hue: Hue,
    /// Numbers, or why there are none.
    pub sums: Result<Sums, Missing>,
    /// Reservations in a word or two.
    pub tags: Vec<String>,
    /// Whether what was claimed of it holds, and in a word what became of it.
    pub evidence: (Tone, &'static str),
    /// Further words that find it.
    pub find: String,
    /// Everything that was counted while it was made.
    pub receipt: Receipt,
}

/// The numbers of a row.
pub(crate) struct Sums {
    /// What is quoted: the floor, or the quantity of a series.
    pub quoted: Amount,
    /// Name of that quantity.
    pub quantity: String,
    /// What is paid here, where there is a floor beside it.
    pub typical: Option<Amount>,
    /// Which of them `compare` judges.
    pub judged: Option<Judges>,
    /// Heights of its distribution from 0 to 1; may be empty.
    pub shape: Vec<f64>,
    /// Its ratio to another figure: how many times, and what.
    pub ratio: Option<(String, String)>,
    /// System calls per operation.
    pub calls: String,
}

/// A number with its interval.
pub(crate) struct Amount {
    /// The number with its unit.
    pub text: String,
    /// The interval in words; may be empty.
    pub interval: String,
    /// Low end, value, high end.
    pub ends: [f64; 3],
    /// It is a duration in ns above nothing, and has a place on the axis.
    pub is_placed: bool,
}
