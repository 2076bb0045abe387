//! What a family is told by besides rows of the price list: tables, pictures and sentences of its own, in every format.

use std::io::{self, Write};

use oscost_results::Untrusted;

use crate::html::plots::figure;
use crate::layout::{left, right, width};
use crate::page::Page;
use crate::plot::Plot;
use crate::story::Story;

/// What there is to see of one family.
pub(crate) struct View {
    /// Its heading.
    pub title: String,
    /// Ids that it tells as well as a row would: where they were measured they have none.
    pub covers: Vec<String>,
    /// What it consists of, in order. Text is free of control characters ([`Story::plain`]).
    pub parts: Vec<Part>,
}

/// A part of a view.
pub(crate) enum Part {
    /// A paragraph.
    Words(String),
    /// A table.
    Table(Table),
    /// Lines of letters that line up.
    Picture(Vec<String>),
    /// A plot: where nothing can be drawn its finding and its letters.
    Plot(Box<Plot>),
}

/// A table of text: the first column names the row, the others line up at the right.
pub(crate) struct Table {
    /// Headings of the columns.
    pub heads: Vec<String>,
    /// Cells of the rows; a short row ends early.
    pub rows: Vec<Vec<String>>,
}

/// Makes the view of a family, where the result has something of it.
type Make = fn(&Story<'_>) -> Option<View>;

/// The views, in the order of the price list.
const VIEWS: &[Make] = &[
    crate::contention::view,
    crate::record_database::view,
    crate::published::view,
    crate::realtime_ipc::view,
    crate::realtime_load::view,
    crate::grame::told_below,
];

/// Every view of a result.
pub(crate) fn of(story: &Story<'_>) -> Vec<View> {
    VIEWS.iter().filter_map(|make| make(story)).collect()
}

/// Blanks between columns.
const GAP: usize = 2;
/// Columns before a table or picture.
const INDENT: usize = 2;

impl View {
    /// For people.
    pub fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        page.paragraph("", &self.title, INDENT)?;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Words(words) => page.paragraph("  ", words, INDENT)?,
                Part::Table(table) => table.text(page)?,
                Part::Picture(lines) => letters(lines, page)?,
                Part::Plot(plot) => {
                    page.paragraph("  ", &told(plot, &self.parts[..index]), INDENT)?;
                    letters(&plot.letters, page)?;
                }
            }
        }
        Ok(())
    }

    /// With GitHub's tables.
    pub fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let escaped = |text: &str| Untrusted::new(text).markdown().to_string();
        writeln!(out, "\n### {}", escaped(&self.title))?;
        for (index, part) in self.parts.iter().enumerate() {
            writeln!(out)?;
            match part {
                Part::Words(words) => writeln!(out, "{}", escaped(words))?,
                Part::Table(table) => {
                    crate::markdown::line(table.heads.iter().map(String::as_str), out)?;
                    writeln!(out, "|---|{}", "---:|".repeat(table.heads.len().saturating_sub(1)))?;
                    for row in &table.rows {
                        crate::markdown::line(row.iter().map(String::as_str), out)?;
                    }
                }
                // Indented code: no fence that a line could close.
                Part::Picture(lines) => lines.iter().try_for_each(|line| writeln!(out, "    {line}"))?,
                Part::Plot(plot) => {
                    writeln!(out, "{}", escaped(&told(plot, &self.parts[..index])))?;
                    if !plot.letters.is_empty() {
                        writeln!(out)?;
                    }
                    plot.letters.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
                }
            }
        }
        Ok(())
    }
}

/// What a plot says, as sentences, and of what, where no words `before` it have said so.
fn told(plot: &Plot, before: &[Part]) -> String {
    let known = |part: &Part| matches!(part, Part::Words(words) if words.contains(&plot.about));
    let about = if plot.about.is_empty() || before.iter().any(known) {
        String::new()
    } else {
        format!("{}: ", plot.about)
    };
    let stop = if plot.finding.ends_with('.') { "" } else { "." };
    format!("{about}{}{stop} {}", plot.finding, plot.note).trim_end().to_owned()
}

/// Lines of letters as they are.
fn letters(lines: &[String], page: &mut Page<'_>) -> io::Result<()> {
    lines.iter().try_for_each(|line| page.line(&format!("  {line}")))
}

impl View {
    /// For a browser.
    pub fn html(&self, out: &mut dyn Write) -> io::Result<()> {
        let escaped = |text: &str| Untrusted::new(text).html().to_string();
        writeln!(out, "<section>\n<h2>{}</h2>", escaped(&self.title))?;
        // Plots that follow one another stand side by side where there is room.
        let mut plotting = false;
        for (index, part) in self.parts.iter().enumerate() {
            let plots = matches!(part, Part::Plot(_));
            if plots != plotting {
                writeln!(out, "{}", if plots { "<div class=\"charts\">" } else { "</div>" })?;
                plotting = plots;
            }
            // What can be scrolled has a name, and no other has the same.
            let name = format!("{}, part {}", self.title, index + 1);
            match part {
                Part::Words(words) => writeln!(out, "<p>{}</p>", escaped(words))?,
                Part::Table(table) => table.html(&name, out)?,
                Part::Picture(lines) => {
                    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
                    writeln!(out, "{}<pre>{}</pre></div>", scrolls(&name), lines.join("\n"))?;
                }
                Part::Plot(plot) => figure(plot, out)?,
            }
        }
        if plotting {
            writeln!(out, "</div>")?;
        }
        writeln!(out, "</section>")
    }
}

/// Begins a region that can be scrolled, by the mouse and by the keyboard.
fn scrolls(name: &str) -> String {
    let name = Untrusted::new(name).html();
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">")
}

impl Table {
    /// With headings for rows and columns; `name` is that of the region in which it can be scrolled.
    pub fn html(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        // A heading without words is none.
        let heading = |scope: &str, text: &str| match text {
            "" => "<td></td>".to_owned(),
            text => format!("<th scope=\"{scope}\">{}</th>", Untrusted::new(text).html()),
        };
        write!(out, "{}<table><thead><tr>", scrolls(name))?;
        for head in &self.heads {
            write!(out, "{}", heading("col", head))?;
        }
        writeln!(out, "</tr></thead><tbody>")?;
        for row in &self.rows {
            let mut cells = row.iter();
            write!(out, "<tr>{}", heading("row", cells.next().map_or("", String::as_str)))?;
            for cell in cells {
                write!(out, "<td>{}</td>", Untrusted::new(cell).html())?;
            }
            writeln!(out, "</tr>")?;
        }
        writeln!(out, "</tbody></table></div>")
    }

    /// Aligned, in as many bands of columns as the page needs; a row a paragraph where not even one fits.
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        let all = || std::iter::once(&self.heads).chain(&self.rows);
        let room = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
        let names = room(0).unwrap_or(0);
        let rooms: Vec<usize> = (1..self.heads.len()).map(|column| room(column).unwrap_or(0)).collect();
        let free = page.width().saturating_sub(INDENT + names);
        if rooms.iter().any(|room| room + GAP > free) {
            return self.rows.iter().try_for_each(|row| page.paragraph("  ", &row.join(", "), 2 * INDENT));
        }
        let mut first = 0;
        while first < rooms.len() {
            let mut total = 0;
            let fits = |room: &&usize| {
                total += *room + GAP;
                total <= free
            };
            let band = rooms[first..].iter().take_while(fits).count();
            for row in all() {
                let cell = |column: usize| row.get(column + 1).map_or("", String::as_str);
                let cells: String = (first..first + band)
                    .map(|column| format!("{}{}", " ".repeat(GAP), right(cell(column), rooms[column])))
                    .collect();
                page.line(&format!("  {}{cells}", left(row.first().map_or("", String::as_str), names)))?;
            }
            first += band;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    fn table() -> View {
        let row = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let rows = vec![row(&["fcntl", "1.2 us", "3"]), row(&["robust mutex", "13 ns", "4"])];
        let table = Table { heads: row(&["lock", "cycle", "calls"]), rows };
        View {
            title: "LOCKS".into(),
            covers: Vec::new(),
            parts: vec![
                Part::Words("in words".into()),
                Part::Table(table),
                Part::Picture(vec!["|  x".into()]),
            ],
        }
    }

    fn text(width: usize) -> String {
        let mut out = Vec::new();
        let style = Style { width, unicode: false, colour: false };
        table().text(&mut Page::new(&style, &mut out)).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn columns_line_up() {
        let expected = "LOCKS\n  in words\n  lock           cycle  calls\n  fcntl         1.2 us      3\n  robust mutex   13 ns      4\n  |  x\n";
        assert_eq!(text(80), expected);
    }

    #[test]
    fn a_narrow_page_gets_bands_and_the_narrowest_rows() {
        assert!(text(24).contains("  robust mutex   13 ns\n"), "{}", text(24));
        assert!(text(24).contains("  robust mutex      4\n"), "{}", text(24));
        assert!(text(20).contains("  fcntl, 1.2 us, 3\n"), "{}", text(20));
    }

    #[test]
    fn markdown_has_tables_and_pictures() {
        let mut out = Vec::new();
        table().markdown(&mut out).expect("memory");
        let out = String::from_utf8(out).expect("text");
        assert!(
            out.contains("### LOCKS\n\nin words\n\n| lock | cycle | calls |\n|---|---:|---:|\n"),
            "{out}"
        );
        assert!(out.contains("\n    |  x\n"), "{out}");
    }
}
