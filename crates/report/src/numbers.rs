//! Numbers for people: a value with its unit, an interval, a count, a ratio. Nothing is clamped.

use oscost_results::Estimate;

/// Significant digits of a number.
const DIGITS: usize = 3;
/// Digits of the ends of an interval at most, where three do not tell them apart.
const MOST_DIGITS: usize = 6;
/// Up to this relative half-width an interval is quoted as `± x %` whatever its symmetry.
const NARROW: f64 = 0.01;
/// Up to this one it is, if the smaller side is at least half the larger; beyond it the bounds themselves are shown.
const WIDE: f64 = 0.10;

/// The smallest and the largest of these; of none an infinity each, the smallest above the largest.
pub(crate) fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider)
}

/// Each of these once, ascending.
pub(crate) fn ascending(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Three significant digits: `5.44`, `22.2`, `885`, `12345`. Scientific from 10^6 on and below 10^-3; "no number" for
/// what is none.
#[must_use]
pub fn significant(value: f64) -> String {
    to_digits(value, DIGITS)
}

fn to_digits(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "no number".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e6).contains(&rounded(value).abs()) {
        return format!("{value:.*e}", digits - 1);
    }
    format!("{value:.*}", decimals(value) + digits - DIGITS)
}

/// A duration of `ns` nanoseconds: ns below 1 us, us below 1 ms, ms below 1 s, else s.
#[must_use]
pub fn duration(ns: f64) -> String {
    let (scale, unit) = duration_unit(ns);
    format!("{} {unit}", significant(ns / scale))
}

/// Whole numbers in groups of three (`1 000 000`), others with three significant digits.
#[must_use]
pub fn count(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        grouped(&format!("{value:.0}"))
    } else {
        significant(value)
    }
}

/// A share (0 to 1) in per cent: `18 %`, `0.215 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let hundredths = share * 100.0;
    if hundredths.fract() == 0.0 && hundredths.abs() < 1e6 {
        format!("{hundredths:.0} %")
    } else {
        format!("{} %", significant(hundredths))
    }
}

/// A share in whole per cent.
#[must_use]
pub fn whole_percent(share: f64) -> String {
    if share.abs() < 1e4 { format!("{:.0} %", share * 100.0) } else { percent(share) }
}

/// Bytes in the largest binary unit below them: `512 B`, `16 KiB`, `1 GiB`.
pub(crate) fn bytes(value: f64) -> String {
    let units = [(1073741824.0, "GiB"), (1048576.0, "MiB"), (1024.0, "KiB")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| value.abs() >= *scale).unwrap_or((1.0, "B"));
    format!("{} {unit}", count(value / scale))
}

/// A value in the unit of a stored quantity ("ns", "count", "share", "ratio", "bytes"; any other is written behind it).
#[must_use]
pub fn quantity(value: f64, unit: &str) -> String {
    quantity_to(value, unit, DIGITS)
}

fn quantity_to(value: f64, unit: &str, digits: usize) -> String {
    let number = |value| to_digits(value, digits);
    match unit {
        "ns" => {
            let (scale, name) = duration_unit(value);
            format!("{} {name}", number(value / scale))
        }
        "count" | "" if value.fract() == 0.0 => count(value),
        "count" | "" if value.abs() >= 1000.0 => grouped(&number(value)),
        "count" | "" => number(value),
        "share" if value.is_finite() && (value * 100.0).fract() != 0.0 => {
            format!("{} %", number(value * 100.0))
        }
        "share" => percent(value),
        "ratio" => format!("{}x", number(value)),
        "bytes" => bytes(value),
        other => format!("{} {other}", number(value)),
    }
}

/// The interval around a value: `± 0.3 %` where it is narrow or roughly symmetric (the larger side, rounded up), else
/// its bounds, `12.3 .. 41.0 us`. The extremes of few launches are no interval: their bounds stand in brackets, and
/// those of a sum, which are its value again, are not repeated.
#[must_use]
pub fn interval(estimate: &Estimate, unit: &str, unicode: bool) -> String {
    bounds(estimate, unit, unicode, ["", ""])
}

/// The same behind a value in a sentence, where two bounds need brackets.
#[must_use]
pub fn in_brackets(estimate: &Estimate, unit: &str, unicode: bool) -> String {
    bounds(estimate, unit, unicode, ["(", ")"])
}

fn bounds(estimate: &Estimate, unit: &str, unicode: bool, [open, close]: [&str; 2]) -> String {
    match relative_sides(estimate) {
        _ if estimate.extremes && estimate.low == estimate.high => String::new(),
        _ if estimate.extremes => format!("[{}]", range(estimate.low, estimate.high, unit)),
        Some((small, large)) if large <= NARROW || (large <= WIDE && small >= large / 2.0) => {
            format!("{} {} %", if unicode { "±" } else { "+-" }, half_width_percent(large))
        }
        _ => format!("{open}{}{close}", range(estimate.low, estimate.high, unit)),
    }
}

/// Half the width of an interval as a share of its value, as the mark *not converged* judges it; `None` around zero and
/// for what is no interval at all.
#[must_use]
pub fn half_width(estimate: &Estimate) -> Option<f64> {
    relative_sides(estimate).map(|(small, large)| f64::midpoint(small, large))
}

/// Two bounds, the unit once where they share it: `161 .. 164`, `12.3 .. 41.0 us`, `850 ns .. 1.20 us`; alike: `155 ns`.
#[must_use]
pub fn range(low: f64, high: f64, unit: &str) -> String {
    let [from, to] = apart(low, high, |value, digits| quantity_to(value, unit, digits));
    let shared = match unit {
        "ns" | "share" => to.rsplit_once(' ').map_or("", |(_, name)| name),
        "count" | "ratio" => "",
        other => other,
    };
    match from.strip_suffix(shared).and_then(|number| number.strip_suffix(' ')) {
        _ if from == to => to,
        Some(number) => format!("{number} .. {to}"),
        None => format!("{from} .. {to}"),
    }
}

/// Both ends with the digits that tell them apart: what has a width shows it.
fn apart(low: f64, high: f64, shown: impl Fn(f64, usize) -> String) -> [String; 2] {
    let both = |digits| [low, high].map(|value| shown(value, digits));
    (DIGITS..=MOST_DIGITS)
        .map(both)
        .find(|[from, to]| from != to || low == high)
        .unwrap_or_else(|| both(DIGITS))
}

/// A ratio and its interval: `163x (161 .. 164)`.
#[must_use]
pub fn ratio(value: f64, bounds: Option<(f64, f64)>) -> String {
    let value = significant(value);
    let Some((low, high)) = bounds else { return format!("{value}x") };
    let [low, high] = apart(low, high, to_digits);
    format!("{value}x ({low} .. {high})")
}

/// A published number, in the unit of the document: all its digits, never rescaled (`0.000013`, `219 000 000`).
#[must_use]
pub fn published(value: f64) -> String {
    if readable(value) { grouped(&format!("{value}")) } else { significant(value) }
}

/// A number to stand beside a published one: three significant digits, never rescaled (`0.00000901`).
#[must_use]
pub fn beside_published(value: f64) -> String {
    if value == 0.0 || !readable(value) {
        return significant(value);
    }
    grouped(&format!("{value:.*}", decimals(value)))
}

/// Digits that a published number has behind its point.
#[must_use]
pub fn decimals_of(value: f64) -> usize {
    published(value)
        .split_once('.')
        .map_or(0, |(_, behind)| behind.chars().filter(char::is_ascii_digit).count())
}

/// A number with as many decimals as the document prints in its column (`0.10`, `20.60`); `None` where that leaves no digit
/// of it.
#[must_use]
pub fn as_printed(value: f64, decimals: usize) -> Option<String> {
    let text = format!("{value:.decimals$}");
    let says = value == 0.0 || text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    (readable(value) && says).then(|| grouped(&text))
}

/// Whether a number can be written out without an exponent.
fn readable(value: f64) -> bool {
    value == 0.0 || (1e-9..1e15).contains(&value.abs())
}

/// Value rounded to three significant digits, so that 999.7 ns is 1.00 us and never 1000 ns.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Decimal exponent of the value once it is rounded to three significant digits.
fn exponent(value: f64) -> i32 {
    format!("{value:.2e}").rsplit_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// Decimals that leave three significant digits.
fn decimals(value: f64) -> usize {
    usize::try_from(2 - exponent(value)).unwrap_or(0)
}

/// How many nanoseconds a unit of time has; `None` for another unit.
pub(crate) fn nanoseconds(unit: &str) -> Option<f64> {
    [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]
        .into_iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, ns)| ns)
}

/// Scale and name of the unit that a duration is shown in.
fn duration_unit(ns: f64) -> (f64, &'static str) {
    [(1.0, "ns"), (1e3, "us"), (1e6, "ms")]
        .into_iter()
        .find(|(scale, _)| rounded(ns / scale).abs() < 1000.0)
        .unwrap_or((1e9, "s"))
}

/// Smaller and larger relative half-width; `None` where they say nothing.
fn relative_sides(estimate: &Estimate) -> Option<(f64, f64)> {
    let below = (estimate.value - estimate.low) / estimate.value.abs();
    let above = (estimate.high - estimate.value) / estimate.value.abs();
    let finite = below.is_finite() && above.is_finite() && below >= 0.0 && above >= 0.0;
    finite.then(|| (below.min(above), below.max(above)))
}

/// A half-width in per cent with one decimal, rounded up: a quoted interval never claims more than was found.
fn half_width_percent(share: f64) -> String {
    let tenths = (share * 1000.0 - 1e-9).ceil().max(0.0);
    if tenths == 0.0 { "0".to_owned() } else { format!("{:.1}", tenths / 10.0) }
}

/// Digits before the decimal point in groups of three.
fn grouped(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text + fraction
}

/// Digits in groups of three from ten thousand on: counts are read to the digit, and to a thousandth.
#[must_use]
pub fn exact(value: f64) -> String {
    // Rounded as a whole: 0.9996 is 1.
    let rounded = if value.abs() < 1e12 { (value.abs() * 1e3).round() / 1e3 } else { value.abs().trunc() };
    let whole = rounded.trunc() as u64;
    let digits = whole.to_string();
    let mut text = if digits.len() > 4 { grouped(&digits) } else { digits };
    let sign = if value < 0.0 && rounded > 0.0 { "-" } else { "" };
    let rest = rounded.fract();
    if rest >= 0.0005 {
        let fraction = format!("{rest:.3}");
        text.push_str(fraction.trim_start_matches('0').trim_end_matches('0'));
    }
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low, high, extremes: false }
    }

    #[test]
    fn the_ends_of_an_interval_are_told_apart() {
        assert_eq!(range(154.6, 155.3, "ns"), "154.6 .. 155.3 ns");
        assert_eq!(range(10.02, 10.03, "ns"), "10.02 .. 10.03 ns");
        assert_eq!(range(155.0, 155.0, "ns"), "155 ns");
        assert_eq!(range(0.946_6, 0.947_2, "share"), "94.66 .. 94.72 %");
        assert_eq!(ratio(0.947, Some((0.946_6, 0.947_4))), "0.947x (0.9466 .. 0.9474)");
    }

    #[test]
    fn durations_change_unit_where_the_rounded_value_does() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (0.1234, "0.123 ns"),
            (5.444, "5.44 ns"),
            (22.21, "22.2 ns"),
            (885.4, "885 ns"),
            (999.4, "999 ns"),
            (999.7, "1.00 us"),
            (2410.0, "2.41 us"),
            (999_600.0, "1.00 ms"),
            (39_691_000.0, "39.7 ms"),
            (1e9, "1.00 s"),
            (1.2345e13, "12345 s"),
            (1e16, "1.00e7 s"),
            (-3.2, "-3.20 ns"),
            (-1500.0, "-1.50 us"),
            (1e-6, "1.00e-6 ns"),
            (f64::NAN, "no number s"),
        ] {
            assert_eq!(duration(ns), text, "{ns}");
        }
    }

    #[test]
    fn counts_shares_ratios_and_foreign_units() {
        assert_eq!([count(0.0), bytes(512.0), bytes(16_384.0)], ["0", "512 B", "16 KiB"]);
        assert_eq!(count(2.0), "2");
        assert_eq!(count(1_000_000.0), "1 000 000");
        assert_eq!(count(-12_345.0), "-12 345");
        assert_eq!(count(0.5), "0.500");
        assert_eq!(count(1e300), "1.00e300");
        assert_eq!(percent(0.18), "18 %");
        assert_eq!(percent(0.00215), "0.215 %");
        assert_eq!(
            [0.004, 1.26, 1e6, f64::MAX].map(whole_percent),
            ["0 %", "126 %", "1.00e8 %", "no number %"]
        );
        assert_eq!(quantity(1.1, "ratio"), "1.10x");
        assert_eq!(quantity(1.1, "cycles"), "1.10 cycles");
        assert_eq!([0.25, 12_345.6].map(|it| quantity(it, "count")), ["0.250", "12 346"]);
        assert_eq!(ratio(163.1, Some((161.2, 164.0))), "163x (161 .. 164)");
        assert_eq!(ratio(0.9871, None), "0.987x");
    }

    #[test]
    fn an_interval_is_a_half_width_only_where_that_says_enough() {
        assert_eq!(interval(&estimate(5.43, 5.44, 5.455), "ns", true), "± 0.3 %");
        assert_eq!(interval(&estimate(5.44, 5.44, 5.44), "ns", true), "± 0 %");
        assert_eq!(interval(&estimate(99.96, 100.0, 100.0), "ns", false), "+- 0.1 %");
        // Narrow but one-sided is still a half-width; wider and one-sided is not.
        assert_eq!(interval(&estimate(100.0, 100.0, 100.9), "ns", true), "± 0.9 %");
        assert_eq!(interval(&estimate(100.0, 100.0, 104.0), "ns", true), "100 .. 104 ns");
        assert_eq!(interval(&estimate(96.5, 100.0, 104.0), "ns", true), "± 4.0 %");
        assert_eq!(interval(&estimate(12_300.0, 14_000.0, 41_000.0), "ns", true), "12.3 .. 41.0 us");
        assert_eq!(interval(&estimate(850.0, 900.0, 1200.0), "ns", true), "850 ns .. 1.20 us");
        let extremes = Estimate { extremes: true, ..estimate(5.4, 5.44, 5.5) };
        assert_eq!(interval(&extremes, "ns", true), "[5.40 .. 5.50 ns]");
        let sum = Estimate { extremes: true, ..estimate(3.0, 3.0, 3.0) };
        assert_eq!(interval(&sum, "count", true), "");
    }

    #[test]
    fn bounds_name_their_unit_once_if_they_share_it() {
        assert_eq!(range(12_300.0, 41_000.0, "ns"), "12.3 .. 41.0 us");
        assert_eq!(range(900.0, 2e9, "ns"), "900 ns .. 2.00 s");
        assert_eq!(range(0.1, 0.25, "share"), "10 .. 25 %");
        assert_eq!(range(1000.0, 2000.0, "count"), "1 000 .. 2 000");
        assert_eq!(range(1.0, 2.0, "ratio"), "1.00x .. 2.00x");
        assert_eq!(range(1.0, 2.0, "lines a second"), "1.00 .. 2.00 lines a second");
    }

    #[test]
    fn an_interval_around_zero_or_upside_down_shows_its_bounds() {
        assert_eq!(interval(&estimate(-1.0, 0.0, 2.0), "ns", true), "-1.00 .. 2.00 ns");
        assert_eq!(interval(&estimate(3.0, 2.0, 1.0), "ns", true), "3.00 .. 1.00 ns");
        assert_eq!(half_width(&estimate(-1.0, 0.0, 2.0)), None);
        assert_eq!(half_width(&estimate(3.0, 2.0, 1.0)), None);
        assert_eq!(half_width(&estimate(75.0, 100.0, 225.0)), Some(0.75));
    }

    #[test]
    fn published_numbers_keep_their_digits() {
        assert_eq!((decimals_of(13.97), decimals_of(302.0), decimals_of(0.000_013)), (2, 0, 6));
        assert_eq!(as_printed(0.1, 2).as_deref(), Some("0.10"));
        assert_eq!(as_printed(39_691.4, 0).as_deref(), Some("39 691"));
        assert_eq!(as_printed(-4.5, 1).as_deref(), Some("-4.5"));
        assert_eq!(as_printed(0.004, 2), None, "no digit would be left");
        assert_eq!(published(0.000_013), "0.000013");
        assert_eq!(published(33.6), "33.6");
        assert_eq!(published(0.0), "0");
        assert_eq!(published(219_000_000.0), "219 000 000");
        assert_eq!(beside_published(0.000_009_012), "0.00000901");
        assert_eq!(beside_published(129.04), "129");
        assert_eq!(beside_published(0.0), "0");
        assert_eq!(beside_published(-2.5), "-2.50");
        assert_eq!(beside_published(1e20), "1.00e20");
        assert_eq!(beside_published(f64::INFINITY), "no number");
    }

    #[test]
    fn numbers_are_read_to_the_digit() {
        let cases = [311.0, 9827.0, 12_757.0, 155.5, -24.0].map(exact);
        assert_eq!(cases, ["311", "9827", "12 757", "155.5", "-24"]);
        assert_eq!(exact(1_234_567.125), "1 234 567.125");
        assert_eq!([0.0, 0.9996, 1.0001, 2.0, 0.125].map(exact), ["0", "1", "1", "2", "0.125"]);
        assert_eq!([-0.0004, -0.0006].map(exact), ["0", "-0.001"], "nothing has no sign");
    }

    #[test]
    fn digits_stay_until_an_exponent_is_shorter() {
        assert_eq!(
            [1e-3, 9.99e-4, 999_400.0, 999_600.0].map(significant),
            ["0.00100", "9.99e-4", "999400", "1.00e6"]
        );
        assert_eq!([999_999_999_999_999.0, 1e15].map(count), ["999 999 999 999 999", "1.00e15"]);
        assert_eq!([9_999.0, 1e4, -9_999.0].map(percent), ["999900 %", "1.00e6 %", "-999900 %"]);
        assert_eq!(
            [1e-9, 9e-10, 1e14, 1e15].map(published),
            ["0.000000001", "9.00e-10", "100 000 000 000 000", "1.00e15"]
        );
        assert_eq!(published(-0.5), "-0.5");
    }

    #[test]
    fn half_widths_end_where_they_are_said_to() {
        let shown = |low, high| interval(&estimate(low, 100.0, high), "ns", true);
        // One per cent, however one-sided.
        assert_eq!(shown(100.0, 101.0), "± 1.0 %");
        assert_eq!(shown(100.0, 101.1), "100 .. 101 ns");
        // Ten per cent, where one side is at least half of the other.
        assert_eq!(shown(90.0, 110.0), "± 10.0 %");
        assert_eq!(shown(89.0, 111.0), "89.0 .. 111 ns");
        assert_eq!([shown(98.0, 104.0), shown(98.1, 104.0)], ["± 4.0 %", "98.1 .. 104 ns"]);
        // Rounded up, unless by less than counts.
        assert_eq!(shown(99.69, 100.0), "± 0.4 %");
        assert_eq!(shown(99.9, 100.1), "± 0.1 %");
    }
}
