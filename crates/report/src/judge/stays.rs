//! Why a change is not called one: another quantity of the same figure says that nothing changed. `of` is asked for the change in a
//! quantity, by a quantile of the launches.

use oscost_stats::compare::Change;
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN};

use super::quantity::{FLOOR, quantile_of};

/// Probability left out at each end of an interval that a change is outside of.
const OUTSIDE: f64 = 0.025;
/// The same of one that says that nothing changed.
const WITHIN: f64 = 0.05;

/// A change in the windows of a run is none if the floor says so: others had a part of the CPU, which moves what is typical of quiet
/// windows, too, and the floor changed by less than anybody asked about, and certainly by less than that.
pub(super) fn floor(
    change: &Change,
    threshold: f64,
    of: &mut dyn FnMut(&str, f64) -> Option<Change>,
) -> Option<String> {
    let floor = of(FLOOR, quantile_of(FLOOR))?;
    let (low, high) = floor.interval(OUTSIDE);
    let share = change.share();
    let stays = if share > 0.0 {
        floor.share() < threshold && high < share
    } else {
        floor.share() > -threshold && low > share
    };
    stays.then(|| {
        "others had a part of the CPU, and the floor changed by less than the threshold: measure again"
            .to_owned()
    })
}

/// A change in a quantity that was taken for its narrow interval is none if what the cards name stayed. A floor whose launches agree
/// by chance may lie on a fast moment that most launches of the other side lack.
pub(super) fn named(
    named: &str,
    threshold: f64,
    of: &mut dyn FnMut(&str, f64) -> Option<Change>,
) -> Option<String> {
    [LOWER_QUARTILE, MEDIAN].into_iter().find_map(|q| {
        let (low, high) = of(named, q)?.interval(WITHIN);
        let stays = -threshold < low && high < threshold;
        stays.then(|| format!("in {named} it changed by less than the threshold: measure again"))
    })
}
