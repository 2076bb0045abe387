//! The watch screen: one line per figure, with its newest price, its last change, and a small picture of its runs.

use crate::blocks::Place::{Left, Right, Spare};
use crate::blocks::{Part, Table, View};
use crate::judge::watch::{Changed, Watch, Watched};
use crate::judge::{Verdict, percent};
use crate::numbers;
use crate::view::picture;
use crate::words::{counted, plain, words};

/// Most runs of a small picture, the newest.
const RUNS: usize = 24;

/// All figures as they are now; on a terminal it takes the place of the one before.
pub(crate) fn screen(watch: &Watch, unicode: bool) -> View {
    let rows = watch.rows.iter().map(|row| {
        let picture = sparkline(&row.values, watch.threshold, RUNS, unicode);
        vec![plain(&row.id, unicode), now(row, unicode), standing(watch, row, unicode), picture]
    });
    let columns = [
        (format!("run {}", watch.runs), Left),
        ("now".to_owned(), Right),
        ("change".to_owned(), Left),
        ("runs".to_owned(), Spare),
    ];
    let mut remarks = vec![rule(watch)];
    if !watch.core.is_empty() {
        remarks.push(watch.core.clone());
    }
    let parts = vec![Part::Table(Table::of(columns, rows)), Part::Remarks(remarks)];
    View { parts, ..View::default() }
}

/// The newest run alone, one line a figure: for a pipe.
pub(crate) fn newest(watch: &Watch, unicode: bool) -> Vec<String> {
    let line = |row: &Watched| {
        let told = row.changes.last().filter(|change| change.run == watch.runs);
        let standing = match (told, &row.missing) {
            (Some(change), _) => changed(change, unicode),
            (None, Some((state, why))) if !why.is_empty() => format!("{state}: {}", plain(why, unicode)),
            _ => unchanged(watch, row),
        };
        format!("{}  {}  {}  {standing}", watch.runs, plain(&row.id, unicode), now(row, unicode))
    };
    watch.rows.iter().map(line).collect()
}

/// What came of it, when it has ended.
pub(crate) fn summary(watch: &Watch, unicode: bool) -> Vec<String> {
    let seconds = watch.duration_ns as f64 / 1e9;
    let changes: usize = watch.rows.iter().map(|row| row.changes.len()).sum();
    let runs = counted(watch.runs as usize, "run", "runs");
    let mut lines = vec![format!("{runs} in {seconds:.0} s, {}", counted(changes, "change", "changes"))];
    let all = watch.rows.iter().flat_map(|row| row.changes.iter().map(move |change| (&row.id, change)));
    lines.extend(all.map(|(id, change)| format!("  {}  {}", plain(id, unicode), changed(change, unicode))));
    if changes > 0 {
        lines.push(rule(watch));
    }
    lines
}

/// By which rule a change is one.
pub(crate) fn rule(watch: &Watch) -> String {
    let threshold = numbers::percent(watch.threshold);
    format!("changes by compare's rule, over {threshold}, against the last changed run")
}

fn now(row: &Watched, unicode: bool) -> String {
    let newest = row.values.last().copied().flatten();
    newest.map_or("-".to_owned(), |value| numbers::quantity(value, &plain(&row.unit, unicode)))
}

/// The last change, and how the newest run stands to it.
fn standing(watch: &Watch, row: &Watched, unicode: bool) -> String {
    match row.changes.last() {
        Some(change) if row.missing.is_none() => changed(change, unicode),
        _ => unchanged(watch, row),
    }
}

fn unchanged(watch: &Watch, row: &Watched) -> String {
    match row.verdict {
        _ if row.missing.is_some() => row.missing.as_ref().map_or("", |(state, _)| *state).to_owned(),
        None => "first".to_owned(),
        Some(Verdict::Within) => format!("within {}", numbers::percent(watch.threshold)),
        Some(other) => other.name().to_owned(),
    }
}

/// "slower +12.3 % in run 5 (cycles)".
fn changed(change: &Changed, unicode: bool) -> String {
    let Changed { run, since, verdict, share, quantity } = change;
    let since = if *since == 1 { String::new() } else { format!(" since {since}") };
    let quantity = words(quantity, unicode);
    format!("{} {} in run {run}{since} ({quantity})", verdict.name(), percent(*share))
}

/// The newest `room` values, oldest first, one letter each: the least has the lowest letter, the greatest the highest if it is
/// greater by `threshold` or more, so that what is no change looks like none. A gap is a blank.
fn sparkline(values: &[Option<f64>], threshold: f64, room: usize, unicode: bool) -> String {
    let newest = &values[values.len().saturating_sub(room)..];
    let (low, high) = numbers::ends(newest.iter().flatten().copied());
    picture::course(newest.iter().copied(), low, (high - low).max(low.abs() * threshold), unicode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[f64]) -> String {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        sparkline(&values, 0.05, 8, false)
    }

    #[test]
    fn a_small_picture_is_flat_where_nothing_changes_and_full_where_something_does() {
        assert_eq!(drawn(&[]), "");
        assert_eq!(drawn(&[100.0; 3]), "...");
        assert_eq!(drawn(&[0.0; 2]), "..");
        assert_eq!(drawn(&[100.0, 100.5, 100.0]), ".:.", "half a per cent is no change");
        assert_eq!(drawn(&[100.0, 105.0]), ".@");
        assert_eq!(drawn(&[100.0, 200.0, 150.0, 100.0]), ".@+.");
        assert_eq!(sparkline(&[Some(1.0), None, Some(2.0)], 0.05, 8, true), "\u{2581} \u{2588}");
    }

    #[test]
    fn a_small_picture_keeps_the_newest_and_their_order() {
        assert_eq!(drawn(&[900.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]), ".......@");
        let letters = picture::letters(false);
        let rank = |letter: char| letters.iter().position(|known| *known == letter).expect("a letter");
        let values = [103.0, 250.0, 100.0, 180.0, 101.0, 99.0, 240.0];
        let picture: Vec<usize> = drawn(&values).chars().map(rank).collect();
        for (at, value) in values.iter().enumerate() {
            for (other_at, other) in values.iter().enumerate() {
                assert!(value > other || picture[at] <= picture[other_at], "{picture:?}");
            }
        }
    }
}
