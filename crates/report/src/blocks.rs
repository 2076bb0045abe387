//! The tree of blocks: sentences, tables, verdicts, pictures, plots. Views make blocks, renderers write them.
//!
//! Text of a block is free of control characters; a renderer escapes what its format alone cares for.

pub(crate) mod axis;
pub(crate) mod forest;
pub(crate) mod history;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod prices;
pub(crate) mod receipt;
pub(crate) mod screen;

pub(crate) use axis::Axis;
pub(crate) use plot::*;

/// What an operation does, as its system calls and switches were counted. A colour means this and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hue {
    /// It makes no system call.
    User,
    /// It enters the kernel and returns.
    Kernel,
    /// Another thread runs meanwhile.
    Switch,
    /// It was not counted.
    Uncounted,
    /// A verdict.
    Judged(Tone),
    /// None: it is no operation.
    Plain,
}

/// A heading and what stands below it.
#[derive(Default)]
pub(crate) struct View {
    /// The heading; may be empty.
    pub title: String,
    /// Ids that it tells as well as a row of the price list would: where they were measured they have none.
    pub covers: Vec<String>,
    /// What it consists of, in order.
    pub parts: Vec<Part>,
}

/// A part of a view.
pub(crate) enum Part {
    /// A paragraph.
    Words(String),
    /// What a reader must know before anything else.
    Warning(String),
    /// What follows from everything else: at the end of a terminal's output, where it is seen first; elsewhere in its place.
    Answer(Vec<String>),
    /// Named facts.
    Facts(Vec<Fact>),
    /// Verdicts, each with what it is about and why, below a title that may be empty.
    Judged(String, Vec<Judged>),
    /// A table.
    Table(Table),
    /// Short remarks on the part before.
    Remarks(Vec<String>),
    /// Lines of letters that line up.
    Picture(Vec<String>),
    /// A plot: where nothing can be drawn its finding and its letters.
    Plot(Box<Plot>),
    /// A view inside a view.
    View(Box<View>),
    /// Names of this place, which a page's links lead to. Nothing is shown.
    Marks(Vec<Mark>),
    /// Links to marks of a page, a line for each place.
    Index(Vec<Entry>),
}

/// A line of an index: one place that has several names.
pub(crate) struct Entry {
    /// Its names.
    pub marks: Vec<Mark>,
    /// What is shown there.
    pub about: String,
}

/// A place that can be linked to.
#[derive(Clone)]
pub(crate) struct Mark {
    /// What is there, in the words of a reader who looks for it.
    pub text: String,
    /// Its name as the target of a link: letters, digits and hyphens.
    pub name: String,
}

/// A named fact.
pub(crate) struct Fact {
    /// Its name.
    pub name: &'static str,
    /// What is the case.
    pub says: String,
    /// What it is said of, where that is not everything.
    pub of: Vec<Cell>,
}

/// A verdict.
pub(crate) struct Judged {
    /// The verdict itself, in a word or a few.
    pub word: &'static str,
    /// What it means to the reader.
    pub tone: Tone,
    /// Short name of what was judged; may be empty.
    pub name: String,
    /// What was judged, or was found.
    pub text: String,
    /// Why, or what helps; may be empty.
    pub because: String,
}

/// A table of text. The first column names the row.
#[derive(Default)]
pub(crate) struct Table {
    /// What it is of; may be empty.
    pub title: String,
    /// Headings above the columns after the first, and how many of them each spans; may be empty.
    pub groups: Vec<(String, usize)>,
    /// The columns.
    pub columns: Vec<Column>,
    /// Cells of the rows; a short row ends early.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
pub(crate) struct Column {
    /// Its heading.
    pub head: String,
    /// Where its cells stand.
    pub place: Place,
    /// What the heading means to the reader, where it is a verdict.
    pub tone: Option<Tone>,
    /// Whether it is what the table is for: it gives way last.
    pub answers: bool,
}

/// Where the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the left.
    Left,
    /// At the right: numbers.
    Right,
    /// At the left, where there is room for the column at all.
    Spare,
    /// Below the row: sentences. Behind it where a row is one line.
    Below,
}

/// A cell of a table.
pub(crate) struct Cell {
    /// What stands in it.
    pub text: String,
    /// What that means to the reader, where it is a verdict.
    pub tone: Option<Tone>,
    /// Id of the figure whose receipt it leads to.
    pub link: Option<String>,
}

/// What a verdict means to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It can be relied on.
    Good,
    /// With a reservation.
    Doubt,
    /// It cannot.
    Bad,
    /// It is told, and not judged.
    Neutral,
}

impl View {
    /// A heading and what stands below it; it covers nothing.
    pub fn new(title: impl Into<String>, parts: Vec<Part>) -> Self {
        Self { title: title.into(), covers: Vec::new(), parts }
    }
}

impl Part {
    /// A paragraph.
    pub fn words(words: impl Into<String>) -> Self {
        Self::Words(words.into())
    }
}

impl Fact {
    /// A fact that is said of everything.
    pub fn new(name: &'static str, says: String) -> Self {
        Self { name, says, of: Vec::new() }
    }
}

impl From<Plot> for Part {
    fn from(plot: Plot) -> Self {
        Self::Plot(Box::new(plot))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, tone: None, link: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Column {
    /// A column under `head`.
    pub fn new(head: impl Into<String>, place: Place) -> Self {
        Self { head: head.into(), place, tone: None, answers: false }
    }
}

impl Table {
    /// A table of numbers: the first column names the row, the others line up at the right.
    pub fn new<H: Into<String>, C: Into<Cell>>(
        heads: impl IntoIterator<Item = H>,
        rows: impl IntoIterator<Item = Vec<C>>,
    ) -> Self {
        let places = std::iter::once(Place::Left).chain(std::iter::repeat(Place::Right));
        Self::of(heads.into_iter().zip(places), rows)
    }

    /// A table of columns: the heading of each, and where its cells stand.
    pub fn of<H: Into<String>, C: Into<Cell>>(
        columns: impl IntoIterator<Item = (H, Place)>,
        rows: impl IntoIterator<Item = Vec<C>>,
    ) -> Self {
        let columns = columns.into_iter().map(|(head, place)| Column::new(head, place)).collect();
        let rows = rows.into_iter().map(|row| row.into_iter().map(Into::into).collect()).collect();
        Self { columns, rows, ..Self::default() }
    }

    /// The same, of which the columns under `heads` give way last.
    pub fn answering(mut self, heads: &[&str]) -> Self {
        self.columns.iter_mut().for_each(|column| column.answers = heads.contains(&&*column.head));
        self
    }

    /// Without the columns in which no row says anything. The first stays.
    pub fn without_empty(mut self) -> Self {
        let says = |text: &str| !matches!(text, "" | "-");
        let kept: Vec<bool> = (0..self.columns.len())
            .map(|at| at == 0 || self.rows.iter().any(|row| row.get(at).is_some_and(|cell| says(&cell.text))))
            .collect();
        let is_kept = |at: usize| kept.get(at).copied().unwrap_or(true);
        let mut at = 0..self.columns.len();
        self.columns.retain(|_| at.next().is_none_or(is_kept));
        for row in &mut self.rows {
            let mut at = 0..row.len();
            row.retain(|_| at.next().is_none_or(is_kept));
        }
        self
    }

    /// What it is of, where it has no title: a part of something, and what its columns say.
    pub fn about(&self, whole: &str) -> String {
        let heads = (0..self.columns.len()).map(|column| self.head(column));
        let heads: Vec<String> = heads.filter(|head| !head.is_empty()).collect();
        let end = if heads.is_empty() { String::new() } else { format!(" by {}", heads.join(", ")) };
        format!("{whole}{end}").trim_start().to_owned()
    }

    /// The heading of a column with that of its group before it.
    pub fn head(&self, column: usize) -> String {
        let head = self.columns.get(column).map_or("", |column| &column.head);
        let mut first = 1;
        for (name, columns) in &self.groups {
            if (first..first + columns).contains(&column) {
                return format!("{name}: {head}");
            }
            first += columns;
        }
        head.to_owned()
    }
}

impl Plot {
    /// What it says, as sentences, and of what, where no words `before` it have said so.
    pub fn sentences(&self, before: &[Part]) -> String {
        let known = |part: &Part| matches!(part, Part::Words(words) if words.contains(&self.about));
        let about = if self.about.is_empty() || before.iter().any(known) {
            String::new()
        } else {
            format!("{}: ", self.about)
        };
        let stop = if self.finding.ends_with('.') { "" } else { "." };
        format!("{about}{}{stop} {}", self.finding, self.note).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_in_which_nothing_is_said_is_left_out() {
        let columns =
            [("", Place::Left), ("published", Place::Right), ("measured", Place::Left), ("", Place::Below)];
        let rows = [["a", "-", "1 ns", ""], ["b", "-", "-", ""]].map(|row| row.map(str::to_owned).to_vec());
        let table = Table::of(columns, rows).without_empty();
        let heads: Vec<&str> = table.columns.iter().map(|column| &*column.head).collect();
        assert_eq!(heads, ["", "measured"]);
        let cells: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| &*cell.text).collect()).collect();
        assert_eq!(cells, [["a", "1 ns"], ["b", "-"]]);
        let bare = Table::of(columns, [vec![String::new(), "-".to_owned()]]).without_empty();
        assert_eq!((bare.columns.len(), bare.rows[0].len()), (1, 1), "the name of a row stays");
    }
}
