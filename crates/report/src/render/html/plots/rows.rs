//! Named rows with dots and intervals on one or more axes side by side.

use super::{LEFT, LINE, Picture, class, escaped, named};
use crate::blocks::{Axis, Names, Rows};

/// Height of a row: its name, and its dots below.
const ROW: f64 = 38.0;
/// Room between two panels, in per cent.
const GAP: f64 = 6.0;
/// Room at the edges, in per cent, for labels that stand across them.
const EDGE: f64 = 4.0;

pub(super) fn draw(chart: &Rows, picture: &mut Picture) {
    // Where rows have hues, kinds have none.
    let has_hues = chart.names != Names::Own;
    let of_kind = |kind: usize| if has_hues { "plain".to_owned() } else { class(kind) };
    let kinds: Vec<(&str, usize, String, bool)> =
        chart.kinds.iter().enumerate().map(|(kind, name)| (&**name, kind, of_kind(kind), false)).collect();
    picture.legend(&kinds);
    let panels = chart.panels.len().max(1) as f64;
    let wide = (100.0 - 2.0 * EDGE - GAP * (panels - 1.0)) / panels;
    let across = |panel: usize, value: f64| {
        let place = chart.panels.get(panel).map_or(0.0, |axis| axis.place(value));
        EDGE + panel as f64 * (wide + GAP) + wide * place
    };
    let top = picture.height;
    let bottom = top + ROW * chart.rows.len() as f64;
    for (panel, axis) in chart.panels.iter().enumerate() {
        let from = EDGE + panel as f64 * (wide + GAP);
        head(axis, from, wide, top, bottom, picture);
    }
    for (index, row) in chart.rows.iter().enumerate() {
        let y = top + ROW * index as f64;
        picture.letters(0.0, y + 14.0, "row-name", &row.name);
        let y = y + 26.0;
        for panel in 0..chart.panels.len() {
            let from = EDGE + panel as f64 * (wide + GAP);
            picture.add(format_args!(
                "<line class=\"grid\" x1=\"{from:.2}%\" x2=\"{:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                from + wide
            ));
        }
        for dot in &row.dots {
            let [low, x, high] = dot.x.map(|value| across(dot.panel, value));
            let class = class(if has_hues { row.hue } else { dot.kind });
            picture.add(format_args!(
                "<line class=\"whisker {class}\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            ));
            picture.dot(x, y, &class, dot.kind);
        }
    }
    picture.height = bottom + LINE * 2.0;
}

/// Lines, labels and name of one panel.
fn head(axis: &Axis, from: f64, wide: f64, top: f64, bottom: f64, picture: &mut Picture) {
    for (place, label) in axis.ticks() {
        let x = from + wide * place;
        picture.add(format_args!(
            "<line class=\"grid\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{top:.1}\" y2=\"{bottom:.1}\"/>\
             <text class=\"middle\" x=\"{x:.2}%\" y=\"{:.1}\">{}</text>",
            bottom + 14.0,
            escaped(&label)
        ));
    }
    picture.letters((from + wide).min(100.0 - LEFT / 13.0), bottom + 14.0 + LINE, "end", &named(axis));
}
