//! Blocks as Markdown with GitHub's tables, for a pull request.

pub(crate) mod prices;

use std::io::{self, Write};

use oscost_results::Untrusted;

use crate::blocks::{Cell, Column, Part, Place, Table, View};

/// Writes a view under a heading of `level`.
pub(crate) fn view(view: &View, level: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut between = "";
    if !view.title.is_empty() {
        writeln!(out, "{} {}", "#".repeat(level), escaped(&view.title))?;
        between = "\n";
    }
    for (index, part) in view.parts.iter().enumerate() {
        write!(out, "{between}")?;
        between = "\n";
        match part {
            Part::Words(words) => writeln!(out, "{}", escaped(words))?,
            Part::Warning(words) => writeln!(out, "> {}", escaped(words))?,
            // A paragraph each, so that the last line is the last answer here, too.
            Part::Answer(all) => {
                writeln!(out, "{}", all.iter().map(|it| escaped(it)).collect::<Vec<_>>().join("\n\n"))?;
            }
            Part::Facts(facts) => facts.iter().try_for_each(|fact| {
                let of: Vec<String> = fact.of.iter().map(|cell| escaped(&cell.text)).collect();
                let of = if of.is_empty() { String::new() } else { format!(": {}", of.join(", ")) };
                writeln!(out, "- {}: {}{of}", fact.name, escaped(&fact.says))
            })?,
            Part::Judged(title, all) => {
                if !title.is_empty() {
                    writeln!(out, "{}\n", escaped(title))?;
                }
                let columns = if all.iter().any(|one| !one.name.is_empty()) { 4 } else { 3 };
                writeln!(out, "|{} because |\n|{}", " |".repeat(columns - 1), "---|".repeat(columns))?;
                all.iter().try_for_each(|one| {
                    let cells = [one.word, &one.name, &one.text, &one.because];
                    line(
                        cells
                            .into_iter()
                            .enumerate()
                            .filter(|(at, _)| columns == 4 || *at != 1)
                            .map(|it| it.1),
                        out,
                    )
                })?;
            }
            Part::Table(table) => self::table(table, out)?,
            Part::Remarks(all) => all.iter().try_for_each(|it| writeln!(out, "- {}", escaped(it)))?,
            // Indented code: no fence that a line could close.
            Part::Picture(lines) => lines.iter().try_for_each(|line| writeln!(out, "    {line}"))?,
            Part::Plot(plot) => {
                writeln!(out, "{}", escaped(&plot.sentences(&view.parts[..index])))?;
                if !plot.letters.is_empty() {
                    writeln!(out)?;
                }
                plot.letters.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
            }
            Part::View(inner) => self::view(inner, level + 1, out)?,
            Part::Marks(_) | Part::Index(_) => {}
        }
    }
    Ok(())
}

fn table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    if !table.title.is_empty() {
        writeln!(out, "{}\n", escaped(&table.title))?;
    }
    let heads: Vec<String> = (0..table.columns.len()).map(|column| table.head(column)).collect();
    line(heads.iter().map(String::as_str), out)?;
    let rule = |column: &Column| if column.place == Place::Right { "---:|" } else { "---|" };
    writeln!(out, "|{}", table.columns.iter().map(rule).collect::<String>())?;
    let cell =
        |row: &'_ [Cell], column: usize| row.get(column).map_or(String::new(), |cell| cell.text.clone());
    for row in &table.rows {
        let cells: Vec<String> = (0..table.columns.len()).map(|column| cell(row, column)).collect();
        line(cells.iter().map(String::as_str), out)?;
    }
    Ok(())
}

/// One line of a table.
fn line<'a>(cells: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> io::Result<()> {
    for cell in cells {
        // A cell is never the beginning of a line, and is escaped as what it is: 5.44 begins no list there.
        let inside = escaped(&format!(".{cell}"));
        write!(out, "| {} ", inside.strip_prefix('.').unwrap_or(&inside))?;
    }
    writeln!(out, "|")
}

/// Text that means nothing to Markdown.
fn escaped(text: &str) -> String {
    Untrusted::new(text).markdown().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_pictures_stand_apart_under_the_heading() {
        let table = Table::new(["lock", "cycle"], [vec!["fcntl", "1.2 us"]]);
        let parts =
            vec![Part::Words("in words".into()), Part::Table(table), Part::Picture(vec!["|  x".into()])];
        let mut out = Vec::new();
        view(&View { title: "LOCKS".into(), parts, ..View::default() }, 3, &mut out).expect("memory");
        let expected =
            "### LOCKS\n\nin words\n\n| lock | cycle |\n|---|---:|\n| fcntl | 1.2 us |\n\n    |  x\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
