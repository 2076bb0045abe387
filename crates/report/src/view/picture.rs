//! The small picture of a distribution: eight columns of blocks, or of ever darker letters in ASCII.

use oscost_results::LaunchRecord;
use oscost_stats::histogram::{LogHistogram, shape};

/// Columns of a picture.
const COLUMNS: usize = 8;
/// From low to high in blocks.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// From empty to full in ASCII.
const LETTERS: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];

/// All samples of all launches.
pub(crate) fn samples(launches: &[LaunchRecord]) -> LogHistogram {
    let mut all = LogHistogram::new();
    for histogram in launches.iter().filter_map(|launch| launch.histogram.as_ref()) {
        // Counts that no histogram can hold are damage of the file; the rest of the picture still tells.
        if let Some(histogram) = LogHistogram::from_counts(histogram.first, &histogram.counts) {
            all.merge(&histogram);
        }
    }
    all
}

/// All samples of all launches in one picture, from p0.5 to p99.5 on a logarithmic axis; empty where no launch kept its
/// distribution.
pub(crate) fn distribution(launches: &[LaunchRecord], unicode: bool) -> String {
    let all = samples(launches);
    if all.total() == 0 { String::new() } else { draw(&shape(&all, COLUMNS), unicode) }
}

/// Eight letters from low to high.
pub(super) fn letters(unicode: bool) -> [char; 8] {
    if unicode { BLOCKS } else { LETTERS }
}

/// One letter a value, the lowest for `low` and the highest for `span` above it; a blank for a gap. Without a span all are alike.
pub(crate) fn course(
    values: impl Iterator<Item = Option<f64>>,
    low: f64,
    span: f64,
    unicode: bool,
) -> String {
    let letters = letters(unicode);
    let letter = |value: f64| {
        let height = if span > 0.0 { (value - low) / span } else { 0.0 };
        // A float to integer cast saturates, and takes NaN for 0.
        letters[((height * 7.0).round() as usize).min(7)]
    };
    values.map(|value| value.map_or(' ', letter)).collect()
}

/// Heights from 0 to 1 as one letter each.
pub(crate) fn draw(heights: &[f64], unicode: bool) -> String {
    let letters = letters(unicode);
    // A float to integer cast saturates, and takes NaN for 0.
    heights.iter().map(|height| letters[((height * 7.0).ceil() as usize).min(7)]).collect()
}

#[cfg(test)]
mod tests {
    use oscost_results::Histogram;

    use super::*;

    fn launch(first: i32, counts: &[u64]) -> LaunchRecord {
        LaunchRecord {
            histogram: Some(Histogram { first, counts: counts.to_vec(), ..Histogram::default() }),
            ..LaunchRecord::default()
        }
    }

    #[test]
    fn heights_become_letters() {
        let heights = [0.0, 0.01, 0.5, 1.0];
        assert_eq!(draw(&heights, true), "▁▂▅█");
        assert_eq!(draw(&heights, false), ".:+@");
        assert_eq!(draw(&[f64::NAN, -1.0, 9.0], false), "..@");
    }

    #[test]
    fn launches_are_put_together() {
        let picture =
            distribution(&[launch(100, &[700]), launch(107, &[100]), LaunchRecord::default()], true);
        assert_eq!(picture, "█▁▁▁▁▁▁▂");
    }

    #[test]
    fn there_is_no_picture_of_nothing() {
        assert_eq!(distribution(&[], true), "");
        assert_eq!(distribution(&[launch(100, &[0, 0])], true), "");
        assert_eq!(distribution(&[launch(i32::MAX, &[1, 1])], true), "");
    }
}
