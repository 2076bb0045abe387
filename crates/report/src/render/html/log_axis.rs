//! The logarithmic axis of the price list, over places from left to right.

use crate::numbers;

/// Room of a label, "100 ns", as a share of the axis in its column of the page.
const LABEL: f64 = 0.21;

/// A logarithmic axis from left to right.
pub(super) struct LogAxis {
    low: f64,
    high: f64,
    width: f64,
}

impl LogAxis {
    /// An axis over all positive `values`, `width` units wide; `None` where there are none.
    pub fn over(values: impl Iterator<Item = f64>, width: f64) -> Option<Self> {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        // A fifth of a decade of air at each end, so that no dot stands on the frame.
        (high > 0.0).then(|| Self { low: low.log10() - 0.2, high: high.log10() + 0.2, width })
    }

    /// Place of a value; at the left end for what is not positive.
    pub fn x(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.low) / (self.high - self.low);
        (share * self.width).clamp(0.0, self.width)
    }

    /// Whole decades that the axis crosses, with their labels as durations in ns.
    pub fn decades(&self) -> Vec<(f64, String)> {
        let first = self.low.ceil() as i32;
        let last = self.high.floor() as i32;
        let label = |power: i32| {
            let value = 10_f64.powi(power);
            (self.x(value), numbers::duration(value).replace(".00", "").replace("0.0 ", "0 "))
        };
        (first..=last).map(label).collect()
    }

    /// Decades whose labels have room beside each other and before the end: one in so many, the first included.
    pub fn labels(&self) -> Vec<(f64, String)> {
        let stride = (LABEL * (self.high - self.low)).ceil().max(1.0) as usize;
        self.decades()
            .into_iter()
            .step_by(stride)
            .filter(|(x, _)| *x <= (1.0 - LABEL / 2.0) * self.width)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_stand_at_equal_distances() {
        let axis = LogAxis::over([0.3, 22.0, 10_000.0].into_iter(), 100.0).expect("values");
        let decades = axis.decades();
        let labels: Vec<&str> = decades.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["1 ns", "10 ns", "100 ns", "1 us", "10 us"]);
        let gaps: Vec<f64> = decades.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        assert!(gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-9), "{gaps:?}");
        assert!(axis.x(0.3) > 0.0 && axis.x(10_000.0) < 100.0);
        assert_eq!(axis.x(-1.0), 0.0);
    }

    #[test]
    fn labels_have_room() {
        for (high, expected) in [
            (900.0, &["1 ns", "10 ns", "100 ns"][..]),
            (1e8, &["1 ns", "100 ns", "10 us", "1 ms"]),
            (1e12, &["1 ns", "1 us", "1 ms", "1 s"]),
        ] {
            let axis = LogAxis::over([0.9, high].into_iter(), 100.0).expect("values");
            let labels = axis.labels();
            let texts: Vec<&str> = labels.iter().map(|(_, label)| label.as_str()).collect();
            assert_eq!(texts, expected, "{labels:?}");
            assert!(labels.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 21.0), "{labels:?}");
            assert!(labels.iter().all(|(x, _)| *x <= 89.5), "{labels:?}");
        }
    }

    #[test]
    fn there_is_no_axis_over_nothing() {
        assert!(LogAxis::over([0.0, -1.0, f64::NAN].into_iter(), 10.0).is_none());
    }
}
