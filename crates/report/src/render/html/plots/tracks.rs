//! Series of which one is seen at a time: the first as a picture, each of them to be looked into where scripts run.

use std::io::{self, Write};

use super::{LEFT, LINE, Picture, ROOM, escaped, named, strips::outline};
use crate::blocks::{Axis, Track, Tracks, Trail, envelope};

/// Height of the picture's room.
const HEIGHT: f64 = 220.0;
/// Columns of the picture: two pixels each at its widest.
const COLUMNS: usize = 350;

/// Whatever was going on from where to where, on an axis of positions.
fn phases(track: &Track, x: &Axis, top: f64, picture: &mut Picture) {
    for (index, (from, to, name)) in track.phases.iter().enumerate() {
        let [from, to] =
            [*from as f64 - 0.5, *to as f64 + 0.5].map(|position| LEFT + ROOM * x.place(position));
        picture.add(format_args!(
            "<rect class=\"phase\" x=\"{from:.2}%\" width=\"{:.2}%\" y=\"{top:.1}\" height=\"{HEIGHT}\"/>",
            (to - from).max(0.0)
        ));
        // Names of neighbours stand on two lines.
        let y = top + 13.0 + LINE * (index % 2) as f64;
        picture.letters(from + 0.5, y, "rule-name", name);
    }
}

pub(super) fn draw(chart: &Tracks, picture: &mut Picture) {
    let Some(track) = chart.tracks.first() else { return };
    let y = Axis::linear(chart.value, "ns", track.values.iter().copied());
    let Some(y) = y else { return };
    series(track, chart.position, &y, &[], picture);
}

pub(super) fn trail(chart: &Trail, picture: &mut Picture) {
    series(&chart.track, chart.position, &chart.y, &chart.rules, picture);
}

/// One series in its room.
fn series(track: &Track, position: &str, y: &Axis, rules: &[(f64, String)], picture: &mut Picture) {
    let x = Axis::between(position, "count", 0.5, track.values.len() as f64 + 0.5);
    let name = if track.name.is_empty() { named(y) } else { format!("{}: {}", track.name, named(y)) };
    picture.line(&name);
    let top = picture.height + 4.0;
    phases(track, &x, top, picture);
    for (place, label) in y.ticks() {
        picture.mark_up(top + HEIGHT * (1.0 - place), &label);
    }
    let columns = envelope(&track.values, COLUMNS);
    picture.path(top, HEIGHT, "trace", &outline(&columns, |value| HEIGHT * (1.0 - y.place(value))));
    let mut last = f64::INFINITY;
    for (value, name) in rules {
        let height = top + HEIGHT * (1.0 - y.place(*value));
        picture.add(format_args!(
            "<line class=\"rule published\" x1=\"{LEFT}%\" x2=\"{:.2}%\" y1=\"{height:.1}\" y2=\"{height:.1}\"/>",
            LEFT + ROOM
        ));
        // Names that would touch stand at the other end.
        let beside = (last - height).abs() < 13.0;
        let (x, end) = if beside { (LEFT + 0.5, "rule-name") } else { (LEFT + ROOM, "end rule-name") };
        picture.letters(x, height - 3.0, end, name);
        last = if beside { last } else { height };
    }
    picture.height = top + HEIGHT;
    picture.x_axis(&x, HEIGHT);
}

/// Which series, which part of it; the script draws it in the same room as the picture has.
pub(super) fn controls(chart: &Tracks, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"controls\"><label>Show <select class=\"track\" data-position=\"{}\" data-value=\"{}\">",
        chart.position, chart.value
    )?;
    for track in &chart.tracks {
        let phases = serde_json::json!(track.phases).to_string();
        let (step, values) = packed(&track.values);
        writeln!(
            out,
            "<option data-values=\"{}\" data-step=\"{step}\" data-phases=\"{}\">{}</option>",
            base64(&values),
            escaped(&phases),
            escaped(&track.name)
        )?;
    }
    writeln!(
        out,
        "</select></label>\
         <button type=\"button\" class=\"nearer\">Zoom in</button><button type=\"button\" class=\"farther\">Zoom out</button>\
         <button type=\"button\" class=\"earlier\">Earlier</button><button type=\"button\" class=\"later\">Later</button>\
         <button type=\"button\" class=\"whole\">All</button></div>\
         <p class=\"window\" role=\"status\" aria-live=\"polite\"></p><div class=\"canvas\" aria-hidden=\"true\"></div>"
    )
}

/// Values of a series, low byte first: as multiples of a step in 16 bits where all are some, else as 32-bit floats and a
/// step of 0, which are exact to a nanosecond up to 16 ms.
fn packed(values: &[f64]) -> (u32, Vec<u8>) {
    for step in [1000, 10, 1] {
        let parts = values.iter().map(|value| value / f64::from(step));
        let fits = |part: f64| part.fract() == 0.0 && (0.0..=f64::from(u16::MAX)).contains(&part);
        if parts.clone().all(fits) {
            return (step, parts.flat_map(|part| (part as u16).to_le_bytes()).collect());
        }
    }
    (0, values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect())
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]));
        }
        text.extend(std::iter::repeat_n('=', 3 - three.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_bit_by_bit() {
        let of = |values: &[f64]| {
            let (step, bytes) = packed(values);
            (step, base64(&bytes))
        };
        // 1.5 is 0x3fc00000, 15 000 is 0x466a6000.
        assert_eq!(of(&[1.5]), (0, "AADAPw==".to_owned()));
        assert_eq!(of(&[1.5, 15_000.0]), (0, "AADAPwBgakY=".to_owned()));
        assert_eq!(of(&[15_000.0, 2000.0]), (1000, "DwACAA==".to_owned()));
        assert_eq!(of(&[70.0, 655_350.0]), (10, "BwD//w==".to_owned()));
        assert_eq!(of(&[65_535.0, 1.0]), (1, "//8BAA==".to_owned()));
        assert_eq!(of(&[-1.0]).0, 0);
        assert_eq!(of(&[65_537_000.0]).0, 0);
        assert_eq!(of(&[f64::NAN]).0, 0);
        assert_eq!(of(&[]), (1000, String::new()));
    }
}
