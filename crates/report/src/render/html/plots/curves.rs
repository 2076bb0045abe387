//! Curves over one axis, with dots and bands of intervals, or as steps.

use std::fmt::Write;

use oscost_stats::sorting::SmallSort;

use super::{APART, LEFT, Picture, ROOM, WIDE, across, brief, looks, named, polyline};
use crate::blocks::{Curve, Curves, Names, Source};

/// Height of the room of values.
const HEIGHT: f64 = 220.0;
/// The hue of words.
const GREY: usize = 6;

pub(super) fn draw(chart: &Curves, picture: &mut Picture) {
    let names: Vec<(&str, usize, String, bool)> = chart
        .curves
        .iter()
        .map(|curve| (&*curve.name, shape(chart, curve), class_of(chart, curve), true))
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
    order.small_sort_by_key(|curve| curve.hue < APART);
    for curve in order {
        if curve.dots {
            self::curve(chart, curve, top, picture);
        } else {
            let steps = flight(chart, curve);
            picture.path(top, HEIGHT, &format!("curve {}", class_of(chart, curve)), &steps);
            // Whoever sees no hue tells them apart by these.
            let marked = [curve.points.len() / 3, 2 * curve.points.len() / 3, curve.points.len().max(1) - 1];
            for point in marked.iter().filter_map(|at| curve.points.get(*at)).filter(|_| curve.hue < APART) {
                dot(across(&chart.x, point.x), top + down(point.y[1]), (chart, curve), picture);
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
    let class = class_of(chart, curve);
    let of = |end: usize| curve.points.iter().map(move |point| (point.x, point.y[end]));
    let placed = |(x, y): (f64, f64)| (right(x), down(y));
    let line = polyline(of(1).map(placed));
    let band = polyline(of(2).chain(of(0).rev()).map(placed));
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
        dot(x, value, (chart, curve), picture);
    }
}

/// Index of the shape of a curve's marks. Where all curves are of one thing, each source has a shape of its own.
fn shape(chart: &Curves, curve: &Curve) -> usize {
    match (chart.names, curve.source) {
        (Names::One, Source::Literal) => 1,
        _ => curve.hue,
    }
}

/// The class of a curve. Where all curves are of one thing, hue is free: what was published has that of words.
fn class_of(chart: &Curves, curve: &Curve) -> String {
    match (chart.names, curve.source) {
        (Names::One, Source::Published) => looks(GREY, curve.source),
        _ => looks(curve.hue, curve.source),
    }
}

fn dot(x: f64, y: f64, (chart, curve): (&Curves, &Curve), picture: &mut Picture) {
    picture.dot(x, y, &class_of(chart, curve), shape(chart, curve));
}

/// Steps from point to point: each value holds from its place on.
fn flight(chart: &Curves, curve: &Curve) -> String {
    let places: Vec<(f64, String)> = curve
        .points
        .iter()
        .map(|point| (WIDE * chart.x.place(point.x), brief(HEIGHT * (1.0 - chart.y.place(point.y[1])))))
        .collect();
    let mut path = String::new();
    for (position, (x, y)) in places.iter().enumerate() {
        let before = position.checked_sub(1).and_then(|before| places.get(before));
        let is_last = position + 1 == places.len();
        let _ = match before {
            None => write!(path, "M{} {y}", brief(*x)),
            // A step of no height is the same step.
            Some((_, last)) if last == y && !is_last => continue,
            Some((_, last)) if last == y => write!(path, "H{}", brief(*x)),
            Some(_) => write!(path, "H{}V{y}", brief(*x)),
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::axis::Axis;
    use crate::blocks::plot::Point;
    use crate::render::html::plots::mark;

    fn drawn(names: Names) -> String {
        let curve = |source: Source, y: f64| Curve {
            source,
            ..Curve::of_dots("c".to_owned(), vec![Point { x: 1.0, y: [y; 3] }, Point { x: 2.0, y: [y; 3] }])
        };
        let chart = Curves {
            x: Axis::even("at", "count", &[1.0, 2.0]),
            y: Axis::linear("y", "count", [0.0, 4.0].into_iter()).expect("two values"),
            curves: vec![
                curve(Source::Published, 3.0),
                curve(Source::Literal, 2.0),
                curve(Source::Here, 1.0),
            ],
            rules: Vec::new(),
            names,
        };
        let mut picture = Picture { body: String::new(), height: 0.0 };
        draw(&chart, &mut picture);
        picture.body
    }

    /// A legend, a line and two dots each.
    #[test]
    fn sources_differ_by_hue_and_shape_where_all_is_one_thing_and_by_their_strokes_everywhere() {
        let one = drawn(Names::One);
        let of = |text: &str, class: &str| text.matches(&format!("\"curve {class}\"")).count();
        assert_eq!([of(&one, "s6 published"), of(&one, "s0 literal"), of(&one, "s0")], [2, 2, 2]);
        let marks = |text: &str, class: &str, shape: usize| {
            text.matches(&format!("\"mark {class}\" d=\"{}\"", mark(shape))).count()
        };
        assert_eq!(
            [marks(&one, "s6 published", 0), marks(&one, "s0 literal", 1), marks(&one, "s0", 0)],
            [3, 3, 3]
        );
        // A lock keeps its hue whoever tells of it.
        let locks = drawn(Names::Locks);
        assert_eq!([of(&locks, "s0 published"), of(&locks, "s0 literal"), of(&locks, "s0")], [2, 2, 2]);
        assert!(!locks.contains("s6"), "{locks}");
    }
}
