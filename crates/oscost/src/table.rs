//! Tables that are kept as text, for people to read: a row a line, with bars between its cells.

/// The rows of `text`.
///
/// # Panics
/// Where a row has not N cells: the tests of every table read all of it.
pub fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    text.lines().map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        cells.try_into().expect("a row has as many cells as its table")
    })
}
