//! Bars from left to right, one a row, below their names.

use super::{LEFT, LINE, Picture, ROOM, across, class, escaped};
use crate::blocks::Ranked;
use crate::render::text::layout::wrap;

/// Height of a bar.
const BAR: f64 = 10.0;
/// Height of a row without its name.
const ROW: f64 = 16.0;
/// Letters of a name that a telephone has room for: the rest goes on below.
const LETTERS: usize = 46;
/// The hue of bars, and of grey ones.
const HUE: usize = 0;
const GREY: usize = 6;

pub(super) fn draw(chart: &Ranked, picture: &mut Picture) {
    let from = across(&chart.axis, 0.0);
    let mut room = 0.0;
    for bar in &chart.bars {
        let mut y = room - LINE;
        for words in wrap(&bar.name, LETTERS) {
            y += LINE;
            picture.letters(LEFT, y + LINE - 4.0, "row-name", &words);
        }
        room = y + LINE + ROW;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{Axis, RankedBar};

    /// A telephone has room for every line of a name, and all of it is there.
    #[test]
    fn a_long_name_goes_on_below() {
        let name = "sleep beyond the first of a call, or outside of calls: 338 \u{b5}s";
        let bars = vec![RankedBar { name: name.to_owned(), value: 1.0, is_grey: false, says: String::new() }];
        let axis = Axis::linear("time", "ns", [1.0].into_iter()).expect("an axis");
        let mut picture = Picture { body: String::new(), height: 0.0 };
        draw(&Ranked { axis, bars }, &mut picture);
        let names = picture.body.split("row-name\"").skip(1);
        let names: Vec<&str> = names.filter_map(|text| text.split_once('>')?.1.split('<').next()).collect();
        assert!(names.iter().all(|line| line.chars().count() <= LETTERS), "{names:?}");
        assert_eq!(names.join(" "), name);
    }
}
