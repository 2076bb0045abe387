//! A page for a browser as blocks.

use super::View;
use super::prices::PriceChart;

/// One page about one or more results.
pub(crate) struct Page {
    /// Its heading.
    pub title: String,
    /// Each result, oldest first.
    pub results: Vec<PageResult>,
    /// Each result but the first against the first.
    pub compared: Vec<View>,
}

/// A result on a page.
pub(crate) struct PageResult {
    /// Name of its file.
    pub name: String,
    /// Machine, when, the doctor's verdict, and what is special about this run.
    pub head: View,
    /// The price list, if there are figures.
    pub prices: Option<PriceChart>,
    /// Families, documents, the doctor's checks.
    pub views: Vec<View>,
}
