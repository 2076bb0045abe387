//! Boxes below the box that holds them, each as wide as what it holds.

use std::fmt::Write;

use super::escaped;
use crate::blocks::Boxes;

const WIDTH: f64 = 960.0;
const ROW: f64 = 18.0;
/// Width of a letter, about.
const LETTER: f64 = 7.0;
/// What is narrower is not drawn: the table has it.
const NARROW: f64 = 0.5;

/// The frame of the picture, as attributes.
pub(super) fn frame(chart: &Boxes) -> String {
    format!("viewBox=\"0 0 {WIDTH} {}\"", f64::from(chart.deep) * ROW)
}

pub(super) fn draw(chart: &Boxes) -> String {
    let mut body = String::new();
    for one in &chart.boxes {
        let (x, wide, y) = (one.from * WIDTH, one.wide * WIDTH, f64::from(one.depth) * ROW);
        if wide < NARROW {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = write!(
            body,
            "<g><title>{}</title><rect class=\"fill\" fill-opacity=\"{}\" x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\"/>",
            escaped(&one.says),
            if one.is_dark { 0.35 } else { 0.15 },
            (wide - 0.4).max(0.1),
            ROW - 1.0
        );
        let room = ((wide - 6.0) / LETTER).max(0.0) as usize;
        if room >= 3 {
            let short: String = one.name.chars().take(room).collect();
            let _ = write!(body, "<text x=\"{:.2}\" y=\"{}\">{}</text>", x + 3.0, y + 13.0, escaped(&short));
        }
        body.push_str("</g>");
    }
    body
}
