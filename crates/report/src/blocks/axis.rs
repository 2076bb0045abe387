//! Axes of plots: the position of a value between 0 and 1, and the labelled values.

use crate::numbers;

/// Labels on a linear axis, at most one more.
const LABELS: f64 = 5.0;
/// So near to an end, in steps, a label is at it.
const AT_END: f64 = 1e-9;
/// Labels on an axis of powers of two, at most.
const DOUBLINGS: f64 = 7.0;
/// Decades from which on only whole ones are labelled.
const FEW_DECADES: f64 = 1.7;
/// Decades from which on only every other one is labelled.
const MANY_DECADES: f64 = 7.0;

/// An axis with its name and unit.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// What it shows, in words.
    pub name: String,
    /// Unit of its values ("ns", "count", "share", "ratio").
    unit: &'static str,
    scale: Scale,
}

#[derive(Debug, Clone)]
enum Scale {
    /// From, to.
    Linear(f64, f64),
    /// Decimal logarithms of both ends.
    Logarithmic(f64, f64),
    /// Binary logarithms of both ends.
    Doubling(f64, f64),
    /// Each value at the same distance from the next.
    Even(Vec<f64>),
}

/// Smallest and largest of the numbers.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = numbers::ends(values.filter(|value| value.is_finite()));
    (low <= high).then_some((low, high))
}

impl Axis {
    /// From 0 (or the smallest value below) to a little more than the largest; `None` without a number.
    pub fn linear(name: &str, unit: &'static str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = ends(values)?;
        let (low, high) = (low.min(0.0), if high > 0.0 { high * 1.04 } else { 1.0 });
        (high - low).is_finite().then(|| Self::new(name, unit, Scale::Linear(low, high)))
    }

    /// From one end to the other exactly.
    pub fn between(name: &str, unit: &'static str, from: f64, to: f64) -> Self {
        Self::new(name, unit, Scale::Linear(from, if to > from { to } else { from + 1.0 }))
    }

    /// Over all positive values; `None` without one.
    pub fn logarithmic(name: &str, unit: &'static str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = ends(values.filter(|value| *value > 0.0))?;
        let (low, high) = (low.log10(), high.log10());
        // Some air at each end, so that no dot stands on the frame.
        let air = ((high - low) * 0.04).max(0.05);
        Some(Self::new(name, unit, Scale::Logarithmic(low - air, high + air)))
    }

    /// Over all positive values, with so many decades of air at each end; `None` without one.
    pub fn airy(name: &str, unit: &'static str, air: f64, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = ends(values.filter(|value| *value > 0.0))?;
        Some(Self::new(name, unit, Scale::Logarithmic(low.log10() - air, high.log10() + air)))
    }

    /// Over all positive values, with a label at each power of two; `None` without one.
    pub fn doubling(name: &str, unit: &'static str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = ends(values.filter(|value| *value > 0.0))?;
        let (low, high) = (low.log2(), high.log2());
        let air = ((high - low) * 0.04).max(0.1);
        Some(Self::new(name, unit, Scale::Doubling(low - air, high + air)))
    }

    /// Linear where the values are within a factor of `apart`, else logarithmic.
    pub fn fitting(
        name: &str,
        unit: &'static str,
        apart: f64,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        let (low, high) = ends(values.iter().copied().filter(|value| *value > 0.0))?;
        if high / low > apart {
            Self::logarithmic(name, unit, values.into_iter())
        } else {
            Self::linear(name, unit, values.into_iter())
        }
    }

    /// The values of an experiment, ascending and each once, at equal distances.
    pub fn even(name: &str, unit: &'static str, values: &[f64]) -> Self {
        Self::new(name, unit, Scale::Even(values.to_vec()))
    }

    fn new(name: &str, unit: &'static str, scale: Scale) -> Self {
        Self { name: name.to_owned(), unit, scale }
    }

    /// Place of a value from 0 to 1; at the nearer end for what lies beyond it.
    pub fn place(&self, value: f64) -> f64 {
        let share = match &self.scale {
            Scale::Linear(from, to) => (value - from) / (to - from),
            Scale::Logarithmic(from, to) => (value.max(f64::MIN_POSITIVE).log10() - from) / (to - from),
            Scale::Doubling(from, to) => (value.max(f64::MIN_POSITIVE).log2() - from) / (to - from),
            Scale::Even(values) => {
                let index = values.iter().position(|known| *known >= value).unwrap_or(values.len());
                (index as f64 + 0.5) / values.len().max(1) as f64
            }
        };
        // NaN stands at the beginning.
        share.clamp(0.0, 1.0).max(0.0)
    }

    /// A value with its unit, as a label.
    pub fn label(&self, value: f64) -> String {
        let label = numbers::quantity(value, self.unit);
        let (number, unit) = match label.split_once(' ') {
            Some((number, unit)) if unit.starts_with(|letter: char| !letter.is_ascii_digit()) => {
                (number.to_owned(), format!(" {unit}"))
            }
            _ if label.ends_with('x') => (label.trim_end_matches('x').to_owned(), "x".to_owned()),
            _ => (label.clone(), String::new()),
        };
        let number = if number.contains('.') && !number.contains('e') {
            number.trim_end_matches('0').trim_end_matches('.')
        } else {
            &number
        };
        if number == "0" && self.unit == "ns" { "0".to_owned() } else { format!("{number}{unit}") }
    }

    /// Places and labels of round values.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let values: Vec<f64> = match &self.scale {
            Scale::Linear(from, to) => {
                let step = round_step((to - from) / LABELS);
                // A label at an end is there, whatever the last digit of a quotient is: it differs from system to system.
                let first = (from / step - AT_END).ceil() as i64;
                let last = (to / step + AT_END).floor() as i64;
                (first..=last.min(first.saturating_add(20))).map(|index| index as f64 * step).collect()
            }
            Scale::Logarithmic(from, to) => {
                let parts: &[f64] = if to - from < FEW_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let stride = if to - from > MANY_DECADES { ((to - from) / 5.0).ceil() as usize } else { 1 };
                let decades = (from.floor() as i32..=to.ceil() as i32).step_by(stride);
                let all = decades.flat_map(|power| parts.iter().map(move |part| part * 10_f64.powi(power)));
                all.filter(|value| (*from..=*to).contains(&value.log10())).collect()
            }
            Scale::Doubling(from, to) => {
                let stride = ((to - from) / DOUBLINGS).ceil().max(1.0) as usize;
                (from.ceil() as i32..=to.floor() as i32)
                    .step_by(stride)
                    .map(|power| 2_f64.powi(power))
                    .collect()
            }
            Scale::Even(values) => values.clone(),
        };
        values.into_iter().map(|value| (self.place(value), self.label(value))).collect()
    }

    /// Places and labels of the powers of ten on a logarithmic axis: one in so many, the first included, that each has `room`
    /// beside the next and before the end.
    pub fn decades(&self, room: f64) -> Vec<(f64, String)> {
        let Scale::Logarithmic(from, to) = self.scale else { return Vec::new() };
        let stride = (room * (to - from)).ceil().max(1.0) as usize;
        let powers = (from.ceil() as i32..=to.floor() as i32).step_by(stride);
        let all = powers.map(|power| (self.place(10_f64.powi(power)), self.label(10_f64.powi(power))));
        all.filter(|(place, _)| *place <= 1.0 - room / 2.0).collect()
    }

    /// Whether it is logarithmic.
    pub fn is_logarithmic(&self) -> bool {
        matches!(self.scale, Scale::Logarithmic(..) | Scale::Doubling(..))
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powi(least.max(f64::MIN_POSITIVE).log10().floor() as i32);
    [1.0, 2.0, 5.0].into_iter().map(|part| part * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn round_values_are_labelled() {
        let axis = Axis::linear("x", "ns", [3000.0, 58_300.0].into_iter()).expect("values");
        assert_eq!(labels(&axis), ["0", "20 us", "40 us", "60 us"]);
        let axis = Axis::logarithmic("x", "ns", [300.0, 58_300.0].into_iter()).expect("values");
        assert_eq!(labels(&axis), ["1 us", "10 us"]);
        let axis = Axis::doubling("x", "us", [9.0, 130.0].into_iter()).expect("values");
        assert_eq!(labels(&axis), ["16 us", "32 us", "64 us", "128 us"]);
        let axis = Axis::logarithmic("x", "ratio", [1.1, 16.0].into_iter()).expect("values");
        assert_eq!(labels(&axis), ["1x", "2x", "5x", "10x"]);
        let axis = Axis::between("x", "share", 0.0, 1.0);
        assert_eq!(labels(&axis), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        let axis = Axis::even("x", "count", &[1.0, 4.0, 1000.0]);
        assert_eq!(labels(&axis), ["1", "4", "1 000"]);
    }

    #[test]
    fn decades_stand_at_equal_distances() {
        let axis = Axis::airy("", "ns", 0.2, [0.3, 22.0, 10_000.0].into_iter()).expect("values");
        let decades = axis.decades(0.0);
        let labels: Vec<&str> = decades.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["1 ns", "10 ns", "100 ns", "1 us", "10 us"]);
        let gaps: Vec<f64> = decades.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        assert!(gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-9), "{gaps:?}");
        assert!(axis.place(0.3) > 0.0 && axis.place(10_000.0) < 1.0);
        assert_eq!(axis.place(-1.0), 0.0);
        assert!(Axis::linear("", "ns", [1.0].into_iter()).expect("values").decades(0.0).is_empty());
    }

    #[test]
    fn decades_have_room() {
        for (high, expected) in [
            (900.0, &["1 ns", "10 ns", "100 ns"][..]),
            (1e8, &["1 ns", "100 ns", "10 us", "1 ms"]),
            (1e12, &["1 ns", "1 us", "1 ms", "1 s"]),
        ] {
            let axis = Axis::airy("", "ns", 0.2, [0.9, high].into_iter()).expect("values");
            let labels = axis.decades(0.21);
            let texts: Vec<&str> = labels.iter().map(|(_, label)| label.as_str()).collect();
            assert_eq!(texts, expected, "{labels:?}");
            assert!(labels.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 0.21), "{labels:?}");
            assert!(labels.iter().all(|(x, _)| *x <= 0.895), "{labels:?}");
        }
    }

    #[test]
    fn every_value_stands_on_its_axis_and_in_order() {
        let values = [1.0, 7.0, 90.0, 4000.0];
        for axis in [
            Axis::linear("", "", values.into_iter()).expect("values"),
            Axis::logarithmic("", "", values.into_iter()).expect("values"),
            Axis::even("", "", &values),
        ] {
            let places = values.map(|value| axis.place(value));
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
            assert!(places.iter().all(|place| (0.0..=1.0).contains(place)));
            assert_eq!(axis.place(f64::NAN).max(0.0), axis.place(f64::NAN));
            assert!((0.0..=1.0).contains(&axis.place(f64::INFINITY)));
        }
    }

    #[test]
    fn extreme_ends_have_few_labels() {
        for axis in [
            Axis::logarithmic("", "ns", [f64::MIN_POSITIVE, f64::MAX].into_iter()),
            Axis::logarithmic("", "ns", std::iter::once(5.0)),
            Axis::linear("", "ns", [f64::MIN_POSITIVE, 1e300].into_iter()),
            Axis::linear("", "ns", std::iter::once(0.0)),
            Axis::linear("", "ns", std::iter::once(-5.0)),
            Axis::doubling("", "us", [f64::MIN_POSITIVE, f64::MAX].into_iter()),
            Axis::doubling("", "us", std::iter::once(5.0)),
        ] {
            let axis = axis.expect("a number");
            assert!(axis.ticks().len() <= 22, "{axis:?}");
        }
        assert!(Axis::linear("", "ns", [f64::NAN].into_iter()).is_none());
        assert!(Axis::linear("", "ns", [f64::MIN, f64::MAX].into_iter()).is_none());
        assert!(Axis::logarithmic("", "ns", [0.0, -1.0].into_iter()).is_none());
        assert!(Axis::airy("", "ns", 0.2, [0.0, -1.0, f64::NAN].into_iter()).is_none());
        assert!(Axis::fitting("", "ns", 10.0, [1.0, 100.0].into_iter()).expect("values").is_logarithmic());
        assert!(
            !Axis::fitting("", "ns", 10.0, [0.0, 1.0, 5.0].into_iter()).expect("values").is_logarithmic()
        );
    }
}
