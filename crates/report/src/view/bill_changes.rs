//! Two bills against each other.

use crate::blocks::Place::{Left, Right};
use crate::blocks::{Cell, Part, Table, View};
use crate::judge::BillChanges;
use crate::numbers::exact;
use crate::words::plain;

/// What one of them counted more of, exactly; of what is equal, how much there is.
pub(crate) fn view(changes: &BillChanges, unicode: bool) -> View {
    let (more, fewer, equal) = changes.tally();
    let number = |count: u64| Cell::from(exact(count as f64));
    let rows = changes.rows.iter().filter(|row| row.now != row.before).map(|row| {
        let difference = row.now as f64 - row.before as f64;
        let change = match difference {
            more if more > 0.0 => format!("+{}", exact(more)),
            fewer => exact(fewer),
        };
        vec![
            plain(&row.key, unicode).into(),
            number(row.before),
            number(row.now),
            row.word().into(),
            Cell::from(change),
        ]
    });
    let columns = [("calls", Left), ("before", Right), ("now", Right), ("verdict", Left), ("change", Right)];
    let mut parts =
        vec![Part::Words(format!("{} | {}", plain(&changes.before, unicode), plain(&changes.now, unicode)))];
    if more + fewer > 0 {
        parts.push(Part::Table(Table::of(columns, rows)));
    }
    if changes.is_partial {
        parts.push(Part::Remarks(vec!["a side was not counted whole: its counts are a part".to_owned()]));
    }
    View::new(format!("counts of two bills: {more} more, {fewer} fewer, {equal} equal"), parts)
}
