//! The price list of a result with everything that is to be said of each figure.

use oscost_results::RunResult;

use super::story::Story;
use crate::blocks::prices::Prices;

/// The whole price list of `result`, saved as `saved`.
pub(crate) fn prices(result: &RunResult, saved: Option<&str>) -> Prices {
    let story = Story::new(result, true);
    let views = super::of(&story);
    Prices {
        tool: story.tool(),
        conditions: story.conditions(),
        doctor: story.doctor().0,
        warnings: story.warnings(),
        families: story.sections(&views),
        views,
        footnotes: story.footnotes(),
        closing: story.closing(saved),
    }
}
