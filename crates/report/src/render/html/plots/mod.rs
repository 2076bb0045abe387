//! Plots as SVG that needs no script: as wide as the page lets it, letters always of the same size, and a table below.

mod bars;
mod boxes;
mod curves;
mod heat;
mod ranked;
mod rows;
mod small;
mod strips;
mod tracks;

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{escaped, table};
use crate::blocks::{Axis, Chart, Plot, Source};

/// Where the room of values begins and how wide it is, in per cent of the whole width: labels stand on its left.
const LEFT: f64 = 13.0;
const ROOM: f64 = 84.0;
/// Height of a line of letters.
const LINE: f64 = 18.0;
/// Width of the room in the coordinates of a path, which is stretched to it.
const WIDE: f64 = 1000.0;
/// Curves and kinds of dots that eyes can tell apart.
const APART: usize = 7;

/// A picture that grows downwards.
struct Picture {
    body: String,
    height: f64,
}

/// How a figure begins that holds series to look into.
const TRACKS: &str = "<figure class=\"chart tracks\">";

/// Whether any figure of `body` holds series to look into; no text of a result reads like one's beginning.
pub(super) fn has_tracks(body: &[u8]) -> bool {
    body.windows(TRACKS.len()).any(|window| window == TRACKS.as_bytes())
}

/// Whether it is small: several of them stand side by side.
pub(super) fn is_small(plot: &Plot) -> bool {
    matches!(plot.chart, Chart::Samples(_) | Chart::Launches(_))
}

/// What is drawn, and how large, as attributes of its picture.
fn drawn(chart: &Chart) -> (String, String) {
    let mut picture = Picture { body: String::new(), height: 0.0 };
    match chart {
        Chart::Curves(chart) => curves::draw(chart, &mut picture),
        Chart::Rows(chart) => rows::draw(chart, &mut picture),
        Chart::Strips(chart) => strips::draw(chart, &mut picture),
        Chart::Tracks(chart) => tracks::draw(chart, &mut picture),
        Chart::Trail(chart) => tracks::trail(chart, &mut picture),
        Chart::Bars(chart) => bars::draw(chart, &mut picture),
        Chart::Ranked(chart) => ranked::draw(chart, &mut picture),
        Chart::Heat(chart) => heat::draw(chart, &mut picture),
        Chart::Samples(chart) => return (small::samples(chart), small::frame()),
        Chart::Launches(chart) => return (small::launches(chart), small::frame()),
        Chart::Boxes(chart) => return (boxes::draw(chart), boxes::frame(chart)),
    }
    (picture.body, format!("width=\"100%\" height=\"{:.0}\"", picture.height))
}

/// Writes a plot with its data; `marks` is where links to it lead, and `of` tells the names of several results apart.
pub(super) fn figure(plot: &Plot, marks: &str, of: &str, out: &mut dyn Write) -> io::Result<()> {
    let (body, size) = drawn(&plot.chart);
    let (finding, about) = (escaped(&plot.finding), escaped(&plot.about));
    let about = if about.is_empty() { about } else { format!("<small>{about}. </small>") };
    let begin = match plot.chart {
        Chart::Tracks(_) => TRACKS,
        _ if is_small(plot) => "<figure>",
        _ => "<figure class=\"chart\">",
    };
    writeln!(out, "{begin}<figcaption>{marks}{about}{finding}</figcaption>")?;
    if !plot.note.is_empty() {
        writeln!(out, "<p class=\"note\">{}</p>", escaped(&plot.note))?;
    }
    if let Chart::Tracks(chart) = &plot.chart {
        tracks::controls(chart, out)?;
    }
    // Of a small plot the caption says all; a page has two for each figure.
    let says = if is_small(plot) {
        "aria-hidden=\"true\"".to_owned()
    } else {
        format!("role=\"img\" aria-label=\"{finding}\"")
    };
    writeln!(out, "<svg class=\"plot\" {says} {size}>{body}</svg>")?;
    writeln!(
        out,
        "<div class=\"below\"><button type=\"button\" class=\"save\">Save as SVG</button><details class=\"data\">\
         <summary>Data</summary>"
    )?;
    let about = format!("Data: {} {}", plot.about, plot.finding);
    if is_small(plot) {
        table::write(&plot.table, &about, of, out)?;
    } else {
        // No two regions have one name.
        table::scrolling(&plot.table, &format!("{about}{of}"), &about, of, out)?;
    }
    writeln!(out, "</details></div></figure>")
}

/// Per cent of the whole width.
fn across(axis: &Axis, value: f64) -> f64 {
    LEFT + ROOM * axis.place(value)
}

impl Picture {
    /// Appends a piece of SVG.
    fn add(&mut self, piece: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(piece);
    }

    /// Letters; `class` says where they stand.
    fn letters(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.add(format_args!("<text x=\"{x:.2}%\" y=\"{y:.1}\" class=\"{class}\">{}</text>", escaped(text)));
    }

    /// A line of letters from the left edge.
    fn line(&mut self, text: &str) {
        self.height += LINE;
        self.letters(0.0, self.height - 5.0, "", text);
    }

    /// What each mark means, one below the other: name, shape, class, whether a line goes through it. What is beyond
    /// telling apart shares the last line.
    fn legend(&mut self, names: &[(&str, usize, String, bool)]) {
        if names.len() < 2 {
            return;
        }
        let (told, others): (Vec<_>, Vec<_>) = names.iter().partition(|(_, shape, ..)| *shape < APART);
        for (name, shape, class, has_line) in told {
            self.height += LINE;
            let y = self.height - LINE / 2.0;
            if *has_line {
                self.add(format_args!(
                    "<line class=\"curve {class}\" x1=\"0\" x2=\"26\" y1=\"{y}\" y2=\"{y}\"/>"
                ));
            }
            self.add(format_args!(
                "<svg x=\"13\" y=\"{y}\" overflow=\"visible\"><path class=\"mark {class}\" d=\"{}\"/></svg>\
                 <text x=\"34\" y=\"{:.1}\">{}</text>",
                mark(*shape),
                y + 4.0,
                escaped(name)
            ));
        }
        if !others.is_empty() {
            self.height += LINE;
            let y = self.height - LINE / 2.0;
            self.add(format_args!(
                "<line class=\"curve other\" x1=\"0\" x2=\"26\" y1=\"{y}\" y2=\"{y}\"/><text x=\"34\" y=\"{:.1}\">{} \
                 others, in the data</text>",
                y + 4.0,
                others.len()
            ));
        }
        self.height += 4.0;
    }

    /// Lines and labels of the axis from left to right, over a room that is `room` high and ends where the picture does.
    fn x_axis(&mut self, axis: &Axis, room: f64) {
        let bottom = self.height;
        let mut lines = String::new();
        let mut labels = String::new();
        for (place, label) in axis.ticks() {
            let x = LEFT + ROOM * place;
            let _ = write!(
                lines,
                "<line class=\"grid\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{:.1}\" y2=\"{bottom:.1}\"/>",
                bottom - room
            );
            let _ = write!(
                labels,
                "<text class=\"middle\" x=\"{x:.2}%\" y=\"{:.1}\">{}</text>",
                bottom + 14.0,
                escaped(&label)
            );
        }
        // Behind everything that is already there.
        self.body.insert_str(0, &lines);
        self.body.push_str(&labels);
        self.height += 2.0 * LINE;
        self.letters(LEFT + ROOM, self.height - 5.0, "end", &named(axis));
    }

    /// A mark of a curve or of a kind of dots.
    fn dot(&mut self, x: f64, y: f64, class: &str, shape: usize) {
        let d = mark(shape);
        self.add(format_args!(
            "<svg x=\"{x:.2}%\" y=\"{y:.1}\" overflow=\"visible\"><path class=\"mark {class}\" d=\"{d}\"/></svg>"
        ));
    }

    /// A line across the room of values, and its label at the left.
    fn mark_up(&mut self, y: f64, label: &str) {
        self.add(format_args!(
            "<line class=\"grid\" x1=\"{LEFT}%\" x2=\"{:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"end\" x=\"{:.2}%\" y=\"{:.1}\">{}</text>",
            LEFT + ROOM,
            LEFT - 1.2,
            y + 4.0,
            escaped(label)
        ));
    }

    /// A path in the room of values, `height` high from `top` on; `class` says how it looks.
    fn path(&mut self, top: f64, height: f64, class: &str, d: &str) {
        self.add(format_args!(
            "<svg x=\"{LEFT}%\" y=\"{top:.1}\" width=\"{ROOM}%\" height=\"{height}\" viewBox=\"0 0 {WIDE} {height}\" \
             preserveAspectRatio=\"none\" overflow=\"visible\"><path class=\"{class}\" vector-effect=\"non-scaling-stroke\" \
             d=\"{d}\"/></svg>"
        ));
    }
}

/// A coordinate to a tenth, which is less than a pixel, without what says nothing.
fn brief(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Points as a path: whatever follows the first is a line by itself. The room is wider than its pixels, so places across are
/// whole.
fn polyline(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        path.push(if path.is_empty() { 'M' } else { ' ' });
        let _ = write!(path, "{x:.0}");
        path.push(' ');
        path.push_str(&brief(y));
    }
    path
}

/// Name of an axis, and what kind it is where that is not seen at once.
fn named(axis: &Axis) -> String {
    if axis.is_logarithmic() { format!("{}, logarithmic", axis.name) } else { axis.name.clone() }
}

/// Shape of the marks of curve or kind `index`, around 0, 0.
fn mark(index: usize) -> &'static str {
    match index {
        0 => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
        1 => "M-3.6 -3.6h7.2v7.2h-7.2Z",
        2 => "M0 -5L4.6 3.2H-4.6Z",
        3 => "M0 -5.2L5.2 0L0 5.2L-5.2 0Z",
        4 => "M0 5L4.6 -3.2H-4.6Z",
        5 => "M-4.2 -1.5L-1.5 -4.2L4.2 1.5L1.5 4.2Z",
        _ => "M-4.6 -1.4h3.2v-3.2h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2Z",
    }
}

/// Name of the class of a curve.
fn looks(hue: usize, source: Source) -> String {
    let source = match source {
        Source::Published => " published",
        Source::Literal => " literal",
        Source::Here => "",
    };
    format!("{}{source}", class(hue))
}

/// Name of the class of hue or kind `index`.
fn class(index: usize) -> String {
    if index < APART { format!("s{index}") } else { "other".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_has_a_tenth_or_none() {
        assert_eq!(
            [0.0, -0.04, 12.0, 12.34, 12.96, -3.21].map(brief),
            ["0", "0", "12", "12.3", "13", "-3.2"]
        );
        assert_eq!(polyline([(0.0, 1.0), (2.6, 3.04)].into_iter()), "M0 1 3 3");
        assert_eq!(polyline(std::iter::empty()), "");
    }
}
