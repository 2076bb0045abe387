//! Series of which one is seen at a time: the first as a picture, each of them to be looked into where scripts run.

use std::io::{self, Write};

use super::{LEFT, LINE, Picture, ROOM, escaped, strips::outline};
use crate::blocks::axis::Axis;
use crate::blocks::plot::{Track, Tracks, envelope};

/// Height of the picture's room.
const HEIGHT: f64 = 220.0;
/// Columns of the picture.
const COLUMNS: usize = 400;

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
    let x = Axis::between(chart.position, "count", 0.5, track.values.len() as f64 + 0.5);
    picture.line(&format!("{}: {}", track.name, y.name));
    let top = picture.height + 4.0;
    phases(track, &x, top, picture);
    for (place, label) in y.ticks() {
        picture.mark_up(top + HEIGHT * (1.0 - place), &label);
    }
    let columns = envelope(&track.values, COLUMNS);
    picture.path(top, HEIGHT, "trace", &outline(&columns, |value| HEIGHT * (1.0 - y.place(value))));
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
        writeln!(
            out,
            "<option data-values=\"{}\" data-phases=\"{}\">{}</option>",
            base64(track),
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

/// Values of a series as 32-bit floats, low byte first, in base64: exact to a nanosecond up to 16 ms.
fn base64(track: &Track) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = track.values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
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
        let track = |values: Vec<f64>| base64(&Track { name: String::new(), values, phases: Vec::new() });
        // 1.0 is 0x3f800000, 15 000 is 0x466a6000.
        assert_eq!(track(vec![1.0]), "AACAPw==");
        assert_eq!(track(vec![1.0, 15_000.0]), "AACAPwBgakY=");
        assert_eq!(track(Vec::new()), "");
    }
}
