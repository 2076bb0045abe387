//! A square of cells: the darker, the larger the value.

use super::{LEFT, LINE, Picture, ROOM, escaped};
use crate::blocks::Heat;

/// Height of the whole square, and the least and the largest of one row.
const HEIGHT: f64 = 360.0;
const ROW: (f64, f64) = (6.0, 40.0);
/// Cells of a row that have room for their values.
const ROOMY: usize = 12;
/// Names of a row that have room.
const NAMED: usize = 32;
/// The palest and the darkest cell: letters on it stay readable.
const SHADES: (f64, f64) = (0.06, 0.6);

pub(super) fn draw(chart: &Heat, picture: &mut Picture) {
    let count = chart.names.len().max(1);
    let (wide, high) = (ROOM / count as f64, (HEIGHT / count as f64).clamp(ROW.0, ROW.1));
    let each = count.div_ceil(NAMED);
    picture.line(&format!("from {what} (rows) to {what} (columns)", what = chart.what));
    picture.height += LINE;
    let top = picture.height + 4.0;
    for (index, name) in chart.names.iter().enumerate().step_by(each) {
        let at = index as f64;
        picture.letters(LEFT + wide * (at + 0.5), top - 6.0, "middle", name);
        picture.letters(LEFT - 1.2, top + high * (at + 0.5) + 4.0, "end", name);
    }
    for (row, cells) in chart.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let Some((dark, value)) = cell else { continue };
            let (x, y) = (LEFT + wide * column as f64, top + high * row as f64);
            let shade = SHADES.0 + (SHADES.1 - SHADES.0) * dark.clamp(0.0, 1.0);
            let names = [row, column].map(|at| chart.names.get(at).map_or("", String::as_str));
            picture.add(format_args!(
                "<rect class=\"heat\" fill-opacity=\"{shade:.2}\" x=\"{x:.2}%\" y=\"{y:.1}\" width=\"{wide:.2}%\" \
                 height=\"{high:.1}\"><title>{}</title></rect>",
                escaped(&format!("{what} {} to {what} {}: {value}", names[0], names[1], what = chart.what))
            ));
            if count <= ROOMY {
                picture.letters(x + wide / 2.0, y + high / 2.0 + 4.0, "middle", value);
            }
        }
    }
    picture.height = top + high * count as f64 + 4.0;
}
