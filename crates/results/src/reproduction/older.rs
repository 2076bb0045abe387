//! Cells of results that are older than their axes, headings and series: read from the words of versions up to 0.2.0, which nobody
//! changes any more. A newer result says them as data.

use super::{Cell, CellAxis, CellSeries, Reproduction};

/// Tells what these rows say in words alone.
pub(crate) fn told(rows: &mut [Reproduction]) {
    for row in rows {
        let is_apue = row.document == crate::document::APUE.name;
        if let Some(cell) = &mut row.cell {
            cell.axis = axis(cell);
            if is_apue {
                cell.heading =
                    cell.column.split_once(": ").map(|(above, below)| [above, below].map(str::to_owned));
                cell.series = series(cell);
            }
        }
    }
}

/// The number that the row begins with, and what it counts: the words behind it, else that by which the title goes.
fn axis(cell: &Cell) -> Option<CellAxis> {
    let end =
        cell.row.find(|letter: char| !letter.is_ascii_digit() && letter != ' ').unwrap_or(cell.row.len());
    let (number, own) = cell.row.split_at(end);
    let by = cell.table.split(" by ").nth(1).and_then(|rest| rest.split([',', ':', ' ']).next());
    Some(CellAxis {
        at: number.replace(' ', "").parse().ok()?,
        counts: if own.is_empty() { by.unwrap_or_default() } else { own }.to_owned(),
        lost: cell.table.starts_with("Figures "),
        short_title: None,
    })
}

/// The way to lock of a clock time of document 001.
fn series(cell: &Cell) -> Option<CellSeries> {
    let kind = cell.column.strip_suffix("clock")?;
    let (title, _) = cell.table.rsplit_once(", by ")?;
    let title = match kind.strip_suffix(": ") {
        Some(way) => way.to_owned(),
        None if kind.is_empty() => title.split_once(", ").map_or(title, |(_, locks)| locks).to_owned(),
        None => format!("{}, {}", kind.trim(), title.rsplit_once(" at ").map_or(title, |(_, at)| at)),
    };
    let key = ["mandatory", "coarse", "fine"].into_iter().find(|key| title.contains(key)).unwrap_or("none");
    Some(CellSeries { key: key.to_owned(), title })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(document: &str, table: &str, row: &str, column: &str) -> Cell {
        let row = serde_json::json!({
            "document": document, "place": "", "unit": "", "statement": null,
            "cell": {"table": table, "row": row, "column": column},
        });
        let mut rows = [serde_json::from_value(row).expect("a row")];
        told(&mut rows);
        let [row] = rows;
        row.cell.expect("a cell")
    }

    #[test]
    fn older_words_say_where_a_row_stands() {
        let axis = |table: &str, row: &str| {
            cell("grame", table, row, "x").axis.map(|it| (it.at, it.counts, it.lost))
        };
        let found = |at, counts: &str, lost| Some((at, counts.to_owned(), lost));
        assert_eq!(axis("Results by cycles, the script's table", "1 000"), found(1000, "cycles", false));
        assert_eq!(axis("x", "20 000 in a row"), found(20_000, "in a row", false));
        assert_eq!(axis("Figures 24 to 30 over the number", "10 clients"), found(10, "clients", true));
        assert_eq!(axis("x", "socket"), None);
    }

    #[test]
    fn older_words_say_how_a_time_was_locked() {
        let of = |table: &str, column: &str| {
            let cell = cell("apue", table, "2 000", column);
            (cell.heading, cell.series.map(|it| (it.key, it.title)))
        };
        let series = |key: &str, title: &str| Some((key.to_owned(), title.to_owned()));
        let both = |above: &str| Some([above, "clock"].map(str::to_owned));
        assert_eq!(
            of("Figure 20.7, by nrec", "no locking: clock"),
            (both("no locking"), series("none", "no locking"))
        );
        let fine = "nrec 2000, advisory locking, fine-grained";
        assert_eq!(
            of(&format!("Figure 20.8, {fine}, by children (x)"), "clock"),
            (None, series("fine", fine))
        );
        let shape = "Figure 20.8's shape at nrec 500, by children (ours)";
        assert_eq!(of(shape, "coarse clock"), (None, series("coarse", "coarse, nrec 500")));
        assert_eq!(of(shape, "coarse / fine"), (None, None));
    }
}
