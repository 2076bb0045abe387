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
mod tests;
