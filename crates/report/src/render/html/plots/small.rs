//! Small pictures of a figure's receipt: its distribution, its launches.

use std::fmt::Write;

use super::{brief, escaped};
use crate::blocks::{Launches, Samples};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 90.0;
/// Room for the labels of an axis upwards.
const LABELS: f64 = 62.0;

/// The frame that both need, as attributes of their picture.
pub(super) fn frame() -> String {
    format!("viewBox=\"0 -4 {WIDTH} {}\"", HEIGHT + 24.0)
}

pub(super) fn samples(chart: &Samples) -> String {
    let [from, to] = &chart.ends;
    let below = HEIGHT + 14.0;
    format!(
        "<path class=\"fill\" d=\"{}\"/><path class=\"frame\" d=\"M0 {HEIGHT}H{WIDTH}\"/>\
         <text x=\"0\" y=\"{below}\">{}</text><text class=\"end\" x=\"{WIDTH}\" y=\"{below}\">{}</text>\
         <text class=\"middle\" x=\"{}\" y=\"{below}\">root of the count, logarithmic axis</text>",
        outline(&chart.counts, WIDTH, HEIGHT),
        escaped(from),
        escaped(to),
        WIDTH / 2.0,
    )
}

pub(super) fn launches(chart: &Launches) -> String {
    let [(bottom, low), (top, high)] = &chart.ends;
    let step = (WIDTH - LABELS) / chart.values.len().max(1) as f64;
    let mut dots = String::new();
    for (index, value) in chart.values.iter().enumerate() {
        let y = 6.0 + (HEIGHT - 12.0) * (1.0 - (value - bottom) / (top - bottom));
        if !y.is_finite() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = write!(dots, "M{:.1} {y:.1}h.01", LABELS + step * (index as f64 + 0.5));
    }
    format!(
        "<path class=\"frame\" d=\"M{LABELS} 0V{HEIGHT}H{WIDTH}\"/><path class=\"dot\" d=\"{dots}\"/>\
         <text x=\"0\" y=\"10\">{}</text><text x=\"0\" y=\"{}\">{}</text>\
         <text x=\"{LABELS}\" y=\"{below}\">first launch</text><text class=\"end\" x=\"{WIDTH}\" y=\"{below}\">last</text>",
        escaped(high),
        HEIGHT - 2.0,
        escaped(low),
        below = HEIGHT + 14.0
    )
}

/// Counts of a logarithmic histogram as a filled outline, `width` by `height`, on a square-root scale so that rare values
/// can be seen.
fn outline(counts: &[u64], width: f64, height: f64) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let step = width / counts.len().max(1) as f64;
    let mut path = format!("M0 {height}");
    let tops: Vec<String> =
        counts.iter().map(|&count| brief(height * (1.0 - (count as f64 / most).sqrt()))).collect();
    for (index, top) in tops.iter().enumerate() {
        // The outline of columns: up, along, and on to the next; neighbours of one height are one.
        if tops.get(index + 1) == Some(top) {
            continue;
        }
        let _ = write!(path, "V{top}H{}", brief(step * (index + 1) as f64));
    }
    let _ = write!(path, "V{height}Z");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_closed_and_as_high_as_its_largest_count() {
        assert_eq!(outline(&[4, 1], 10.0, 8.0), "M0 8V0H5V4H10V8Z");
        assert_eq!(outline(&[4, 4, 0, 0, 0], 10.0, 8.0), "M0 8V0H4V8H10V8Z");
        assert_eq!(outline(&[], 10.0, 8.0), "M0 8V8Z");
    }
}
