//! The columns of the price list: which ones fit into a width, and a row's cells in them.

use crate::layout::{left, right, width};
use crate::story::{Numbers, Outcome, Section};

/// Below this width there is no picture, whatever room there is.
const PICTURE_FROM: usize = 80;
/// Columns before an id.
pub(crate) const INDENT: usize = 2;
/// Blanks between columns.
const GAP: usize = 2;
/// Where room is short, an interval that is wider than a half-width (`± 0.3 %`) is told below the row.
const INTERVAL: usize = 9;
/// Notes go behind the verdict where at least so many columns are left.
pub(crate) const TAIL: usize = 20;

/// Widths of the columns that are shown; 0 is a column that is not.
pub(crate) struct Columns {
    /// Width of the page.
    pub page: usize,
    /// Ids longer than this have a line of their own.
    pub id: usize,
    path: usize,
    value: usize,
    interval: usize,
    typical: usize,
    tail: usize,
    picture: usize,
    calls: usize,
    verdict: usize,
}

impl Columns {
    /// Chooses the columns that fit. What goes first is what the rest of the row tells as well: the tail, the call path
    /// (ids tell two paths apart), the typical value. Under 80 columns the picture goes before those, then the interval.
    /// Value, verdict and id stay.
    pub fn fit(sections: &[Section], page: usize) -> Self {
        let rows = || sections.iter().flat_map(|section| &section.rows);
        let numbers = || {
            rows().filter_map(|row| match &row.outcome {
                Outcome::Measured(numbers) => Some(numbers),
                Outcome::Withheld { .. } => None,
            })
        };
        let widest = |cell: fn(&Numbers) -> &str, title: &str| {
            let cells = numbers().map(|numbers| width(cell(numbers))).max().unwrap_or(0);
            if cells == 0 { 0 } else { cells.max(width(title)) }
        };
        // An id that is longer than that has a line of its own, and widens no column.
        let longest_id = |room: usize| {
            let room = room.clamp(12, 36);
            rows().map(|row| width(&row.name)).filter(|name| *name <= room).max().unwrap_or(room)
        };
        let mut columns = Self {
            page,
            id: longest_id(page / 3),
            path: rows().map(|row| width(&row.call_path)).max().unwrap_or(0).min(12),
            value: widest(|numbers| &numbers.value, "floor"),
            interval: widest(|numbers| &numbers.interval, ""),
            typical: widest(|numbers| &numbers.typical, "typical"),
            tail: widest(|numbers| &numbers.tail, "batch p99"),
            picture: widest(|numbers| &numbers.picture, "shape"),
            calls: widest(|numbers| &numbers.calls, "calls"),
            verdict: widest(|numbers| numbers.verdict, ""),
        };
        // The tail is worth a column only where the notes keep room beside it.
        if columns.total() + 2 * TAIL > page {
            columns.tail = 0;
        }
        if columns.total() > page {
            columns.interval = columns.interval.min(INTERVAL);
        }
        if page < PICTURE_FROM {
            columns.picture = 0;
            columns.drop_until_fit([
                |c| &mut c.path,
                |c| &mut c.interval,
                |c| &mut c.typical,
                |c| &mut c.calls,
            ]);
        } else {
            columns.drop_until_fit([
                |c| &mut c.path,
                |c| &mut c.typical,
                |c| &mut c.calls,
                |c| &mut c.picture,
            ]);
            columns.drop_until_fit([|c| &mut c.interval]);
        }
        if page < PICTURE_FROM {
            columns.id = longest_id(columns.id + page.saturating_sub(columns.total()));
        }
        columns.id = columns.id.saturating_sub(columns.total().saturating_sub(page));
        columns
    }

    fn drop_until_fit<const N: usize>(&mut self, order: [fn(&mut Self) -> &mut usize; N]) {
        for column in order {
            if self.total() > self.page {
                *column(self) = 0;
            }
        }
    }

    /// Column at which the value's cell begins.
    pub fn value_start(&self) -> usize {
        INDENT + self.id + gap(self.path) + GAP
    }

    /// Columns of a whole row, verdict included.
    pub fn total(&self) -> usize {
        let optional = [self.typical, self.tail, self.picture, self.calls, self.verdict];
        let interval = if self.interval == 0 { 0 } else { 1 + self.interval };
        self.value_start() + self.value + interval + optional.into_iter().map(gap).sum::<usize>()
    }

    /// An id and its call path, up to the value's cell.
    pub fn start(&self, name: &str, path: &str) -> String {
        let mut line = format!("{}{}", " ".repeat(INDENT), left(name, self.id));
        if self.path > 0 {
            line.push_str(&" ".repeat(GAP));
            line.push_str(&left(path, self.path));
        }
        line.push_str(&" ".repeat(GAP));
        line
    }

    /// Titles of the columns, each in its place; empty where no row has numbers.
    pub fn titles(&self, section: &Section) -> String {
        if !section.rows.iter().any(|row| matches!(row.outcome, Outcome::Measured(_))) {
            return String::new();
        }
        let batched = |title: &'static str| if section.batched { title } else { "" };
        let quoted = if section.batched { "floor" } else { &section.headline };
        let value = right(quoted, self.value_start() + self.value);
        let drawn = section.rows.iter().any(|row| match &row.outcome {
            Outcome::Measured(numbers) => !numbers.picture.is_empty(),
            Outcome::Withheld { .. } => false,
        });
        let shape = if drawn { "shape" } else { "" };
        self.line(value, "", [batched("typical"), batched("batch p99"), shape, "calls"]).trim_end().to_owned()
    }

    /// A row's cells from the value to the one before the verdict, with the gap behind.
    pub fn cells(&self, numbers: &Numbers) -> String {
        let others = [&*numbers.typical, &*numbers.tail, &*numbers.picture, &*numbers.calls];
        let interval = if self.tells_below(numbers) { "wide" } else { &numbers.interval };
        let mut line = self.line(right(&numbers.value, self.value), interval, others);
        line.push_str(&" ".repeat(GAP));
        line
    }

    /// Whether the interval is too wide for its column.
    pub fn tells_below(&self, numbers: &Numbers) -> bool {
        self.interval > 0 && width(&numbers.interval) > self.interval
    }

    /// Blanks that fill a verdict up to its column's width.
    pub fn fill_verdict(&self, verdict: &str) -> String {
        " ".repeat(self.verdict.saturating_sub(width(verdict)))
    }

    fn line(&self, value: String, interval: &str, [typical, tail, picture, calls]: [&str; 4]) -> String {
        let mut line = value;
        if self.interval > 0 {
            line.push(' ');
            line.push_str(&left(interval, self.interval));
        }
        let cells = [
            (self.typical, right(typical, self.typical)),
            (self.tail, right(tail, self.tail)),
            (self.picture, left(picture, self.picture)),
            (self.calls, right(calls, self.calls)),
        ];
        for (_, cell) in cells.into_iter().filter(|(room, _)| *room > 0) {
            line.push_str(&" ".repeat(GAP));
            line.push_str(&cell);
        }
        line
    }
}

/// Columns that an optional column takes with the gap before it.
fn gap(room: usize) -> usize {
    if room == 0 { 0 } else { GAP + room }
}
