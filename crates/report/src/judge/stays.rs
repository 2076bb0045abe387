//! Why a change is not called one: another quantity of the same figure says that nothing changed.

use oscost_results::Figure;
use oscost_stats::compare::Change;
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN};

use super::figure::Sides;
use super::null::is_disturbed;
use super::past::Learning;
use super::quantity::{FLOOR, launches, quantile_of};

/// Probability left out at each end of an interval that a change is outside of.
const OUTSIDE: f64 = 0.025;
/// The same of one that says that nothing changed.
const WITHIN: f64 = 0.05;

/// A figure on both sides, and the share that a change must exceed to be one.
pub(super) struct Stays<'s, 'a, 'l, 'p> {
    pub of: [&'s [&'a Figure]; 2],
    pub sides: &'s Sides<'a>,
    pub learning: &'l mut Learning<'p>,
    pub threshold: f64,
}

impl Stays<'_, '_, '_, '_> {
    /// A change in the windows of a run is none if the floor says so: others had a part of the CPU, which moves what is typical of
    /// quiet windows, too, and the floor changed by less than anybody asked about, and certainly by less than that.
    pub(super) fn floor(&mut self, change: &Change, quantity: &str) -> Option<String> {
        let [a, b] = self.of;
        let all: Vec<&Figure> = a.iter().chain(b).copied().collect();
        if !["cycles", "quiet"].contains(&quantity) || !all.iter().any(|figure| is_disturbed(figure)) {
            return None;
        }
        let drift = self.learning.drift(&all, FLOOR);
        let of = |side: &[&Figure]| launches(side, FLOOR);
        let floor = self.sides.change(&of(a), &of(b), quantile_of(FLOOR), 0.0, drift)?;
        let (low, high) = floor.interval(OUTSIDE);
        let share = change.share();
        let stays = if share > 0.0 {
            floor.share() < self.threshold && high < share
        } else {
            floor.share() > -self.threshold && low > share
        };
        stays.then(|| {
            "others had a part of the CPU, and the floor changed by less than the threshold: measure again"
                .to_owned()
        })
    }

    /// A change in a quantity that was taken for its narrow interval is none if what the cards name stayed. A floor whose launches
    /// agree by chance may lie on a fast moment that most launches of the other side lack.
    pub(super) fn named(&mut self, named: &str) -> Option<String> {
        let [a, b] = self.of;
        [LOWER_QUARTILE, MEDIAN].into_iter().find_map(|q| {
            let change = self.sides.change_in(a, b, named, q, self.learning)?;
            let (low, high) = change.interval(WITHIN);
            let stays = -self.threshold < low && high < self.threshold;
            stays.then(|| format!("in {named} it changed by less than the threshold: measure again"))
        })
    }
}
