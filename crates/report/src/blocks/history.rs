//! Figures over runs as a block: a small picture each.

/// Figures over runs.
pub(crate) struct History {
    /// What it shows, in a sentence.
    pub finding: String,
    /// The runs, oldest first: name, and when and where.
    pub runs: Vec<(String, String)>,
    /// The figures, those that moved farthest beyond their intervals first.
    pub figures: Vec<Course>,
}

/// One figure over the runs.
pub(crate) struct Course {
    /// Its id.
    pub id: String,
    /// Whether its receipt is on the page.
    pub has_receipt: bool,
    /// Low end, value, high end in each run that has it.
    pub values: Vec<Option<[f64; 3]>>,
    /// The last value.
    pub last: String,
    /// From the lowest to the highest.
    pub range: String,
}
