//! The founding documents: each table beside this machine's, and the verdict on each statement.

use std::io::{self, Write};

use oscost_results::RunResult;

use super::escaped;
use crate::grid::{Grid, PARTS};
use crate::reproduction::{Block, Document, Published, documents};
use crate::style::Tone;

pub(super) fn sections(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    documents(result, true).iter().try_for_each(|document| section(document, out))
}

fn section(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section class=\"document\">\n<h2>{}</h2>", escaped(&document.title))?;
    if !document.statements.is_empty() {
        writeln!(out, "<p>{}</p>\n<ul class=\"statements\">", escaped(&document.tally()))?;
        for statement in &document.statements {
            let (tone, sign) = match statement.tone {
                Tone::Good => ("good", "\u{2713}"),
                Tone::Doubt => ("doubt", "?"),
                Tone::Bad => ("bad", "\u{2717}"),
            };
            writeln!(
                out,
                "<li><span class=\"verdict {tone}\">{sign} {}</span> {} <small>{}</small></li>",
                statement.judgement,
                escaped(&statement.text),
                escaped(&statement.because)
            )?;
        }
        writeln!(out, "</ul>")?;
    }
    for block in &document.blocks {
        match block {
            Block::List(values) => list(&document.title, values, out)?,
            Block::Grid(grid) => self::grid(grid, out)?,
        }
    }
    if let Some(pictures) = &document.pictures {
        pictures.html(out)?;
    }
    writeln!(out, "</section>")
}

/// A frame that scrolls where the table is wider than the page, for the mouse and for the keyboard.
fn frame(label: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><caption>{}</caption>",
        escaped(label),
        escaped(label)
    )
}

fn list(document: &str, values: &[Published], out: &mut dyn Write) -> io::Result<()> {
    frame(&format!("Values on their own in {document}"), out)?;
    writeln!(
        out,
        "<thead><tr><th scope=\"col\">place</th><th scope=\"col\">published</th><th scope=\"col\">literal here</th>\
         <th scope=\"col\">measured</th><th scope=\"col\" class=\"words\">because</th></tr></thead><tbody>"
    )?;
    for value in values {
        let [published, literal, measured] = value.parts();
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"words\">{}</td></tr>",
            escaped(&value.place),
            escaped(published),
            escaped(literal),
            escaped(measured),
            escaped(&value.because)
        )?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn grid(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    frame(&grid.title, out)?;
    write!(out, "<thead><tr><td></td>")?;
    for column in &grid.columns {
        write!(
            out,
            "<th scope=\"colgroup\" colspan=\"{}\">{}</th>",
            column.parts.len(),
            escaped(&column.name)
        )?;
    }
    write!(out, "</tr><tr><td></td>")?;
    for part in grid.columns.iter().flat_map(|column| &column.parts) {
        write!(out, "<th scope=\"col\">{}</th>", PARTS[*part])?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (row, name) in grid.rows.iter().enumerate() {
        write!(out, "<tr><th scope=\"row\">{}</th>", escaped(name))?;
        for cell in (0..grid.columns.len()).flat_map(|column| grid.cell(row, column)) {
            write!(out, "<td>{}</td>", escaped(&cell))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")?;
    grid.remarks().iter().try_for_each(|remark| writeln!(out, "<p class=\"remark\">{}</p>", escaped(remark)))
}
