//! Small pictures below one another on one axis: so many that overlaid would hide each other.

use std::fmt::Write;

use super::{LEFT, LINE, Picture, ROOM, WIDE, across, brief, class, polyline};
use crate::blocks::{Axis, Form, Names, Strip, Strips, envelope};

/// Height of a strip's picture, and of one in which height means nothing.
const HEIGHT: f64 = 52.0;
const FLAT: f64 = 14.0;
/// Columns of a series of values.
const COLUMNS: usize = 160;

pub(super) fn draw(chart: &Strips, picture: &mut Picture) {
    let start = picture.height;
    if let Some(y) = &chart.y {
        picture.line(&super::named(y));
    }
    let height = if chart.y.is_some() { HEIGHT } else { FLAT };
    for strip in &chart.strips {
        head(strip, picture);
        let top = picture.height;
        if let Some(axis) = &chart.y {
            scale(axis, top, height, picture);
        }
        draw_one(chart, strip, top, height, picture);
        picture.height += height + 6.0;
    }
    let room = picture.height - start;
    for (index, (value, name)) in chart.rules.iter().enumerate() {
        let (x, bottom) = (across(&chart.x, *value), picture.height);
        picture.add(format_args!(
            "<line class=\"rule published\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{start:.1}\" y2=\"{bottom:.1}\"/>"
        ));
        // Neighbours stand on lines of their own.
        picture.letters(x + 0.5, start + LINE * 1.6 + 13.0 * index as f64, "rule-name", name);
    }
    picture.x_axis(&chart.x, room);
}

/// Name at the left, what is read off it at the right.
fn head(strip: &Strip, picture: &mut Picture) {
    picture.height += LINE;
    let y = picture.height - 4.0;
    picture.letters(LEFT, y, "row-name", &strip.name);
    picture.letters(LEFT + ROOM, y, "end", &strip.says);
}

/// The ends of the axis upwards.
fn scale(axis: &Axis, top: f64, height: f64, picture: &mut Picture) {
    let mut last = f64::INFINITY;
    for (place, label) in axis.ticks() {
        let y = top + height * (1.0 - place);
        // Labels that would touch are left out; the first one stays.
        if last - y < 13.0 {
            continue;
        }
        last = y;
        picture.mark_up(y, &label);
    }
}

fn draw_one(chart: &Strips, strip: &Strip, top: f64, height: f64, picture: &mut Picture) {
    let right = |value: f64| WIDE * chart.x.place(value);
    let up = |value: f64| height * (1.0 - chart.y.as_ref().map_or(0.0, |axis| axis.place(value)));
    let hue = if chart.names == Names::Own { String::new() } else { format!(" {}", class(strip.hue)) };
    match &strip.form {
        Form::Columns(columns) => {
            let mut path = String::new();
            for [from, to, value] in columns {
                let (from, to, value) = (brief(right(*from)), brief(right(*to)), brief(up(*value)));
                let _ = write!(path, "M{from} {height}V{value}H{to}V{height}");
            }
            picture.path(top, height, &format!("column{hue}"), &path);
        }
        Form::Values(values) => {
            let columns = envelope(values, COLUMNS);
            picture.path(top, height, &format!("trace{hue}"), &outline(&columns, up));
        }
        Form::Marked(marked) => {
            let mut path = String::new();
            for (index, _) in marked.iter().enumerate().filter(|(_, marked)| **marked) {
                let (from, to) = (right(index as f64 + 0.5), right(index as f64 + 1.5));
                let _ = write!(path, "M{from:.1} 0H{to:.1}V{height:.1}H{from:.1}Z");
            }
            picture.path(top, height, &format!("marked{hue}"), &path);
            picture.path(top, height, "bed", &format!("M0 0H{WIDE}V{height}H0Z"));
        }
    }
}

/// An area between the lowest and the highest value of each column.
pub(super) fn outline(columns: &[(f64, f64)], up: impl Fn(f64) -> f64) -> String {
    let step = WIDE / columns.len().max(1) as f64;
    let at = |index: usize| step * (index as f64 + 0.5);
    let highest = columns.iter().enumerate().map(|(index, (_, high))| (at(index), up(*high)));
    let lowest = columns.iter().enumerate().rev().map(|(index, (low, _))| (at(index), up(*low)));
    let mut path = polyline(highest.chain(lowest));
    if !path.is_empty() {
        path.push('Z');
    }
    path
}
