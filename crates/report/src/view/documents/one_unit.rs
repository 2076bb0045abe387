//! A published number and one of this machine in the same unit.

use crate::numbers;

/// How numbers of a unit are told: each times a factor, with what stands right behind it, and the unit apart from it.
pub(super) struct OneUnit<'a> {
    factor: f64,
    behind: &'static str,
    /// The unit, which stands apart.
    pub name: &'a str,
    unit: &'a str,
}

impl<'a> OneUnit<'a> {
    /// Of times in the unit that the smaller of both has.
    pub fn of(there: f64, here: Option<f64>, unit: &'a str) -> Self {
        let plain = |behind, name| Self { factor: 1.0, behind, name, unit };
        let Some(ns) = numbers::nanoseconds(unit) else {
            return match unit {
                "ratio" => plain("\u{d7}", ""),
                "count" | "share" | "" => plain("", ""),
                other => plain("", other),
            };
        };
        let both = [Some(there), here].into_iter().flatten().map(|value| value.abs() * ns);
        let smaller = both.filter(|it| *it > 0.0).fold(f64::INFINITY, f64::min);
        let (scale, name) = [(1e9, "s"), (1e6, "ms"), (1e3, "us")]
            .into_iter()
            .find(|(scale, _)| smaller.is_finite() && smaller >= *scale)
            .unwrap_or((1.0, "ns"));
        Self { factor: ns / scale, behind: "", name, unit }
    }

    /// A published number with its unit.
    pub fn there(&self, value: f64) -> String {
        format!("{} {}", self.there_bare(value), self.name).trim_end().to_owned()
    }

    /// The same without it.
    pub fn there_bare(&self, value: f64) -> String {
        format!("{}{}", exact(value * self.factor, self.unit), self.behind)
    }

    /// A number of this machine without it.
    pub fn ours(&self, value: f64) -> String {
        format!("{}{}", ours(value * self.factor, self.unit), self.behind)
    }
}

/// A published number: the digits that it has, without what a conversion adds; a quotient of two has three.
fn exact(value: f64, unit: &str) -> String {
    if unit == "ratio" && numbers::decimals_of(value) > 3 {
        return ours(value, unit);
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    numbers::published(rounded)
}

/// A number of this machine: three significant digits, or whole in groups of three.
fn ours(value: f64, unit: &str) -> String {
    if value.abs() >= 1000.0 || (unit == "count" && value.fract() == 0.0) {
        numbers::count(value.round())
    } else {
        numbers::beside_published(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_answers_have_the_unit_of_the_smaller() {
        let of = |there, here, unit| {
            let both = OneUnit::of(there, Some(here), unit);
            format!("{} | {} {}", both.there(there), both.ours(here), both.name).trim_end().to_owned()
        };
        assert_eq!(of(0.009_119, 0.023_029, "s"), "9.119 ms | 23.0 ms");
        assert_eq!(of(0.439_309, 1.432_93, "s"), "439.309 ms | 1 433 ms");
        assert_eq!(of(50.0, 8067.0, "us"), "50 us | 8 067 us");
        assert_eq!(of(0.0, 161.0, "ns"), "0 ns | 161 ns");
        assert_eq!(of(1.855, 100.341, "ns"), "1.855 ns | 100 ns");
        assert_eq!(of(2.0, 2.24, "us"), "2 us | 2.24 us");
        assert_eq!(of(48.1, 56.204, "ratio"), "48.1\u{d7} | 56.2\u{d7}");
        assert_eq!(of(18.01 / 13.97, 1.5, "ratio"), "1.29\u{d7} | 1.50\u{d7}");
        assert_eq!(of(25.0, 44.0, "count"), "25 | 44");
        assert_eq!(of(59.0, 165.2, "%"), "59 % | 165 %");
    }
}
