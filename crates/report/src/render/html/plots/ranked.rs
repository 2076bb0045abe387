//! Bars from left to right, one a row, below their names.

use super::{LEFT, LINE, Picture, ROOM, across, class, escaped};
use crate::blocks::Ranked;

/// Height of a bar.
const BAR: f64 = 10.0;
/// Height of a row: its name, and its bar below.
const ROW: f64 = 34.0;
/// The hue of bars, and of grey ones.
const HUE: usize = 0;
const GREY: usize = 6;

pub(super) fn draw(chart: &Ranked, picture: &mut Picture) {
    let room = ROW * chart.bars.len() as f64;
    for (index, bar) in chart.bars.iter().enumerate() {
        let y = ROW * index as f64;
        let from = across(&chart.axis, 0.0);
        picture.letters(LEFT, y + LINE - 4.0, "row-name", &bar.name);
        picture.add(format_args!(
            "<rect class=\"bar {}\" x=\"{from:.2}%\" width=\"{:.2}%\" y=\"{:.1}\" height=\"{BAR}\"><title>{}</title></rect>",
            class(if bar.is_grey { GREY } else { HUE }),
            (across(&chart.axis, bar.value) - from).clamp(0.05, ROOM),
            y + LINE,
            escaped(&bar.says)
        ));
    }
    picture.height = room;
    picture.x_axis(&chart.axis, room);
}
