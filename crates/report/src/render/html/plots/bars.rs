//! Groups of bars: filled where measured, an outline of dashes where published.

use super::{LEFT, LINE, Picture, ROOM, class, escaped, looks, named};
use crate::blocks::{BarKind, Bars};

/// Height of the room of values.
const HEIGHT: f64 = 220.0;
/// Share of a group's room that its bars have.
const FILLED: f64 = 0.84;

/// What a bar of this look is.
fn key(class: &str, name: &str, picture: &mut Picture) {
    let [bar, words] = [3.0, 13.0].map(|down| picture.height + down);
    let name = escaped(name);
    picture.add(format_args!(
        "<rect class=\"bar {class}\" x=\"0\" width=\"26\" y=\"{bar}\" height=\"11\"/><text x=\"34\" y=\"{words}\">{name}</text>"
    ));
    picture.height += LINE;
}

pub(super) fn draw(chart: &Bars, picture: &mut Picture) {
    for BarKind { name, hue, .. } in &chart.kinds {
        key(&class(*hue), name, picture);
    }
    key("published s6", "published: dashed; here: filled, one run of each: pale", picture);
    picture.height += 4.0;
    picture.line(&named(&chart.y));
    let top = picture.height + 4.0;
    for (place, label) in chart.y.ticks() {
        picture.mark_up(top + HEIGHT * (1.0 - place), &label);
    }
    let wide = ROOM / chart.groups.len().max(1) as f64;
    for (index, (name, bars)) in chart.groups.iter().enumerate() {
        let from = LEFT + wide * index as f64;
        let each = wide * FILLED / bars.len().max(1) as f64;
        for (at, bar) in bars.iter().enumerate() {
            let hue = chart.kinds.get(bar.kind).map_or(0, |kind| kind.hue);
            let height = HEIGHT * chart.y.place(bar.y);
            let looks = looks(hue, bar.source);
            picture.add(format_args!(
                "<rect class=\"bar {looks}\" x=\"{:.2}%\" width=\"{:.2}%\" y=\"{:.1}\" height=\"{height:.1}\">\
                 <title>{}</title></rect>",
                from + wide * (1.0 - FILLED) / 2.0 + each * at as f64,
                each * 0.86,
                top + HEIGHT - height,
                escaped(&bar.says)
            ));
        }
        picture.letters(from + wide / 2.0, top + HEIGHT + 14.0, "middle", name);
    }
    picture.height = top + HEIGHT + LINE + 4.0;
}
