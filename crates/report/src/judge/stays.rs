//! Why a change is not called one: another quantity of the same figure says that nothing changed. `of` is asked for the change in a
//! quantity, by a quantile of the launches.

use oscost_stats::compare::Change;
use oscost_stats::interval::{LOWER_QUARTILE, MEDIAN};

use super::quantity::FLOOR;

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
    let floor = of(FLOOR, LOWER_QUARTILE)?;
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

#[cfg(test)]
mod tests {
    use oscost_stats::drift::Drift;

    use super::*;

    /// A change by this share, known to this factor either way.
    fn change(share: f64, grain: f64) -> Change {
        let (a, b) = ([100.0; 10], [100.0 * (1.0 + share); 10]);
        Change::between(&a, &b, MEDIAN, grain, Drift::NONE).expect("a ratio")
    }

    #[test]
    fn a_change_is_none_where_the_floor_certainly_changed_by_less() {
        let stays = |share: f64, of_floor: f64, grain: f64| {
            floor(&change(share, 0.0), 0.05, &mut |quantity, q| {
                assert_eq!((quantity, q), (FLOOR, LOWER_QUARTILE));
                Some(change(of_floor, grain))
            })
            .is_some()
        };
        for way in [1.0, -1.0] {
            assert!(stays(0.5 * way, 0.02 * way, 0.0) && stays(0.5 * way, -0.2 * way, 0.0));
            assert!(!stays(0.5 * way, 0.1 * way, 0.0), "by more than anybody asked about");
            assert!(!stays(0.3 * way, 0.02 * way, 1.0), "perhaps by as much");
        }
        assert!(floor(&change(0.5, 0.0), 0.05, &mut |_, _| None).is_none(), "there is no floor");
        for share in [0.5, -0.5] {
            let as_much = floor(&change(share, 0.0), 0.6, &mut |_, _| Some(change(share, 0.0)));
            assert!(as_much.is_none(), "by as much is not by less");
            let of_floor = change(share / 10.0, 0.0);
            let at =
                |threshold: f64| floor(&change(share, 0.0), threshold, &mut |_, _| Some(of_floor)).is_some();
            let just = of_floor.share().abs();
            assert!(!at(just) && at(just * (1.0 + 1e-12)), "nor is by the threshold itself");
        }
    }

    #[test]
    fn a_change_is_none_where_what_is_named_is_certainly_within() {
        let stays = |quartile: (f64, f64), median: (f64, f64)| {
            named("cycles", 0.05, &mut |quantity, q| {
                assert_eq!(quantity, "cycles");
                let (share, grain) = if q == MEDIAN { median } else { quartile };
                Some(change(share, grain))
            })
        };
        let (still, wide) = ((0.01, 0.0), (0.0, 0.06));
        let words = "in cycles it changed by less than the threshold: measure again".to_owned();
        assert_eq!([stays(still, wide), stays(wide, still)], [Some(words.clone()), Some(words)]);
        for other in [wide, (0.06, 0.0), (-0.06, 0.0)] {
            assert_eq!(stays(other, other), None, "{other:?}");
        }
        assert_eq!(named("cycles", 0.05, &mut |_, _| None), None);
    }
}
