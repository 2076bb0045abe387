//! Document 002's figures over time in letters that line up.

use crate::numbers;

/// Columns of a picture.
pub(super) const COLUMNS: usize = 66;
/// Rows of a picture on a linear axis.
const ROWS: usize = 12;
/// Most rows of one on a logarithmic axis, and rows for a factor of two where there are few of those.
const MOST_ROWS: i32 = 16;
const FINE: i32 = 3;
/// Columns of an axis' labels.
pub(super) const LABEL: usize = 10;

/// What the rows of a picture stand for: their lower edges, us, from below.
pub(super) struct Edges {
    edges: Vec<f64>,
}

impl Edges {
    /// Factors of two, or parts of them where there are few.
    pub fn logarithmic(values: &[f64]) -> Self {
        let positive = || values.iter().copied().filter(|value| *value > 0.0);
        let least = positive().fold(f64::MAX, f64::min).clamp(1.0, 1e9);
        let most = positive().fold(1.0, f64::max).clamp(least, 1e9);
        let (from, to) = (least.log2().floor() as i32, most.log2().floor() as i32 + 1);
        let fine = if (to - from) * FINE <= MOST_ROWS { FINE } else { 1 };
        let edge = |step: i32| 2f64.powf(f64::from(from) + f64::from(step) / f64::from(fine));
        let edges: Vec<f64> = (0..(to - from) * fine).map(edge).collect();
        // Rows that no value reaches, at the top and at the bottom, say nothing.
        let lowest = edges.iter().rposition(|edge| *edge <= least).unwrap_or(0);
        let highest = edges.iter().rposition(|edge| *edge <= most).unwrap_or(0);
        Self { edges: edges[lowest..=highest].to_vec() }
    }

    /// Equal steps from the least value to the 99th percentile.
    pub fn linear(values: &[f64]) -> Self {
        let mut ordered = values.to_vec();
        ordered.sort_by(f64::total_cmp);
        let least = ordered.first().copied().unwrap_or(0.0);
        let most = oscost_stats::quantile::quantile(&ordered, 0.99).unwrap_or(least).max(least);
        let step = ((most - least) / (ROWS - 1) as f64).max(0.1);
        Self { edges: (0..ROWS).map(|row| least + step * row as f64).collect() }
    }

    fn row(&self, value: f64) -> usize {
        self.edges.iter().rposition(|edge| *edge <= value).unwrap_or(0)
    }
}

/// Series side by side over time: of one series how many of a column's values lie in a row, of several the median of each.
pub(super) fn plot(series: &[(char, &[f64])], axis: &Edges, shades: bool) -> Vec<String> {
    let longest = series.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let columns = longest.min(COLUMNS);
    let mut cells = vec![vec![' '; columns]; axis.edges.len()];
    for (letter, values) in series {
        for column in 0..columns {
            let part = &values[(column * values.len() / columns).min(values.len())
                ..((column + 1) * values.len() / columns).min(values.len())];
            if shades {
                let mut counts = vec![0usize; axis.edges.len()];
                part.iter().for_each(|value| counts[axis.row(*value)] += 1);
                for (row, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                    cells[row][column] = match count as f64 / part.len() as f64 {
                        few if few < 0.15 => '.',
                        some if some < 0.5 => ':',
                        _ => *letter,
                    };
                }
            } else {
                let mut ordered = part.to_vec();
                ordered.sort_by(f64::total_cmp);
                if let Some(middle) = ordered.get(ordered.len() / 2) {
                    let cell = &mut cells[axis.row(*middle)][column];
                    *cell = if *cell == ' ' { *letter } else { '*' };
                }
            }
        }
    }
    let rows = axis.edges.iter().zip(cells).rev();
    let rows = rows.map(|(edge, cells)| {
        let label = numbers::significant(*edge);
        format!("{label:>LABEL$} |{}", cells.into_iter().collect::<String>().trim_end())
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_the_rows_that_values_reach() {
        let wide = Edges::logarithmic(&[10.0, 5000.0]);
        assert_eq!(wide.edges, [8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0]);
        let narrow = Edges::logarithmic(&[16.0, 31.0]);
        assert_eq!(narrow.edges.len(), 3);
        assert_eq!((narrow.row(16.0), narrow.row(31.0), narrow.row(0.0)), (0, 2, 0));
        assert_eq!(Edges::logarithmic(&[]).edges.len(), 1);
        assert_eq!(Edges::logarithmic(&[-5.0, 0.0]).edges.len(), 1);
        assert_eq!(Edges::logarithmic(&[f64::MAX, f64::MIN_POSITIVE]).edges.len(), 30);
    }

    #[test]
    fn two_levels_alternate_in_the_picture() {
        let first: Vec<f64> = (0..6).map(|tick| if tick % 2 == 0 { 10.0 } else { 32.0 }).collect();
        let last: Vec<f64> = (0..6).map(|tick| if tick % 2 == 0 { 32.0 } else { 10.0 }).collect();
        let lines = plot(&[('f', &first), ('l', &last)], &Edges::linear(&[10.0, 32.0]), false);
        assert_eq!(lines.len(), ROWS);
        assert!(lines[0].ends_with("|lflflf"), "{lines:?}");
        assert!(lines[ROWS - 1].ends_with("|flflfl"), "{lines:?}");
    }

    #[test]
    fn of_one_series_the_share_of_a_column_shows() {
        let mut values = vec![10.0; 660];
        values[0] = 40.0;
        let lines = plot(&[('#', &values)], &Edges::logarithmic(&values), true);
        assert!(lines[0].ends_with("|."), "{lines:?}");
        assert!(lines.last().is_some_and(|line| line.ends_with(&"#".repeat(COLUMNS))), "{lines:?}");
    }
}
