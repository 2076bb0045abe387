//! Curves over one axis, with dots and bands of intervals, or as steps.

use std::fmt::Write;

use super::{APART, LEFT, Picture, ROOM, WIDE, across, looks, mark, named};
use crate::blocks::plot::{Curve, Curves};

/// Height of the room of values.
const HEIGHT: f64 = 220.0;

pub(super) fn draw(chart: &Curves, picture: &mut Picture) {
    let names: Vec<(&str, usize, String, bool)> = chart
        .curves
        .iter()
        .map(|curve| (&*curve.name, curve.hue, looks(curve.hue, curve.source), true))
        .collect();
    picture.legend(&names);
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
    let mut order: Vec<&Curve> = chart.curves.iter().rev().collect();
    order.sort_by_key(|curve| curve.hue < APART);
    for curve in order {
        if curve.dots {
            self::curve(chart, curve, top, picture);
        } else {
            let steps = flight(chart, curve);
            picture.path(top, HEIGHT, &format!("curve {}", looks(curve.hue, curve.source)), &steps);
            // Whoever sees no hue tells them apart by these.
            let marked = [curve.points.len() / 3, 2 * curve.points.len() / 3, curve.points.len().max(1) - 1];
            for point in marked.iter().filter_map(|at| curve.points.get(*at)).filter(|_| curve.hue < APART) {
                dot(across(&chart.x, point.x), top + down(point.y[1]), curve, picture);
            }
        }
    }
    picture.height = top + HEIGHT;
    picture.x_axis(&chart.x, HEIGHT);
}

/// Line, band and dots of measured values.
fn curve(chart: &Curves, curve: &Curve, top: f64, picture: &mut Picture) {
    let right = |value: f64| WIDE * chart.x.place(value);
    let down = |value: f64| HEIGHT * (1.0 - chart.y.place(value));
    let class = looks(curve.hue, curve.source);
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
    // A band through two points says what their whiskers say.
    if curve.hue < APART && curve.points.len() > 2 {
        picture.path(top, HEIGHT, &format!("band {class}"), &format!("{band}Z"));
    }
    picture.path(top, HEIGHT, &format!("curve {class}"), &line);
    if curve.hue >= APART {
        return;
    }
    for point in &curve.points {
        let x = across(&chart.x, point.x);
        let [low, value, high] = point.y.map(|value| top + down(value));
        picture.add(format_args!(
            "<line class=\"whisker {class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>"
        ));
        dot(x, value, curve, picture);
    }
}

fn dot(x: f64, y: f64, curve: &Curve, picture: &mut Picture) {
    let (class, shape) = (looks(curve.hue, curve.source), mark(curve.hue));
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
