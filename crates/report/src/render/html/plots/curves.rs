//! Curves over one axis, with dots and bands of intervals, or as steps.

use std::fmt::Write;

use super::{APART, LEFT, Picture, ROOM, WIDE, across, class, mark, named};
use crate::blocks::plot::{Curve, Curves};

/// Height of the room of values.
const HEIGHT: f64 = 220.0;

pub(super) fn draw(chart: &Curves, picture: &mut Picture) {
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    picture.legend(&names, true);
    picture.line(&named(&chart.y));
    let top = picture.height + 4.0;
    let down = |value: f64| HEIGHT * (1.0 - chart.y.place(value));
    for (place, label) in chart.y.ticks() {
        picture.mark_up(top + HEIGHT * (1.0 - place), &label);
    }
    for (value, name) in &chart.rules {
        let y = top + down(*value);
        picture.add(format_args!(
            "<line class=\"rule\" x1=\"{LEFT}%\" x2=\"{:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            LEFT + ROOM
        ));
        picture.letters(LEFT + ROOM, y - 4.0, "end rule-name", name);
    }
    // Those that cannot be told apart stand behind.
    for (index, curve) in chart.curves.iter().enumerate().rev() {
        if curve.dots {
            self::curve(chart, curve, index, top, picture);
        } else {
            let steps = flight(chart, curve);
            picture.path(top, HEIGHT, &format!("curve {}", class(index)), &steps);
            if let Some(last) = curve.points.last().filter(|_| index < APART) {
                dot(across(&chart.x, last.x), top + down(last.y[1]), index, picture);
            }
        }
    }
    picture.height = top + HEIGHT;
    picture.x_axis(&chart.x, HEIGHT);
}

/// Line, band and dots of measured values.
fn curve(chart: &Curves, curve: &Curve, index: usize, top: f64, picture: &mut Picture) {
    let right = |value: f64| WIDE * chart.x.place(value);
    let down = |value: f64| HEIGHT * (1.0 - chart.y.place(value));
    let class = class(index);
    let mut line = String::new();
    let mut band = String::new();
    for (position, point) in curve.points.iter().enumerate() {
        let letter = if position == 0 { 'M' } else { 'L' };
        let _ = write!(line, "{letter}{:.1} {:.1}", right(point.x), down(point.y[1]));
        let _ = write!(band, "{letter}{:.1} {:.1}", right(point.x), down(point.y[2]));
    }
    for point in curve.points.iter().rev() {
        let _ = write!(band, "L{:.1} {:.1}", right(point.x), down(point.y[0]));
    }
    if index < APART && curve.points.len() > 1 {
        picture.path(top, HEIGHT, &format!("band {class}"), &format!("{band}Z"));
    }
    picture.path(top, HEIGHT, &format!("curve {class}"), &line);
    if index >= APART {
        return;
    }
    for point in &curve.points {
        let x = across(&chart.x, point.x);
        let [low, value, high] = point.y.map(|value| top + down(value));
        picture.add(format_args!(
            "<line class=\"whisker {class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>"
        ));
        dot(x, value, index, picture);
    }
}

fn dot(x: f64, y: f64, index: usize, picture: &mut Picture) {
    let (class, shape) = (class(index), mark(index));
    picture.add(format_args!(
        "<svg x=\"{x:.2}%\" y=\"{y:.1}\" overflow=\"visible\"><path class=\"mark {class}\" d=\"{shape}\"/></svg>"
    ));
}

/// Steps from point to point: each value holds from its place on.
fn flight(chart: &Curves, curve: &Curve) -> String {
    let mut path = String::new();
    for (position, point) in curve.points.iter().enumerate() {
        let (x, y) = (WIDE * chart.x.place(point.x), HEIGHT * (1.0 - chart.y.place(point.y[1])));
        let _ = if position == 0 { write!(path, "M{x:.1} {y:.1}") } else { write!(path, "H{x:.1}V{y:.1}") };
    }
    path
}
