//! Blocks of the page.

use std::io::{self, Write};

use super::table::{class, linked, sign};
use super::{escaped, plots, table};
use crate::blocks::{Entry, Mark, Part, View};
use crate::words::capital;

/// Writes a view as a part of the page.
pub(super) fn section(view: &View, id: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section id=\"{id}\">\n<h2>{}</h2>", escaped(&sentence(&view.title)))?;
    parts(view, "", out)?;
    writeln!(out, "</section>")
}

/// A title in the letters of a sentence: those of the terminal's sections are capitals.
pub(super) fn sentence(title: &str) -> String {
    if title.chars().any(char::is_lowercase) {
        return title.to_owned();
    }
    let word = |(index, word): (usize, &str)| match word {
        "IPC" | "CPU" | "GRAME" => word.to_owned(),
        "CPUS" => "CPUs".to_owned(),
        "REALTIME" => if index == 0 { "Real-time" } else { "real-time" }.to_owned(),
        _ if index == 0 => capital(&word.to_lowercase()),
        _ => word.to_lowercase(),
    };
    title.split(' ').enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// Writes a view inside a view as a section; `of` tells the names of several results apart.
fn view(view: &View, of: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section>\n<h3>{}</h3>", escaped(&view.title))?;
    parts(view, of, out)?;
    writeln!(out, "</section>")
}

/// Writes what a view consists of. Plots that follow one another stand side by side where there is room.
pub(super) fn parts(view: &View, of: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut open = None;
    let mut marks: &[Mark] = &[];
    for (index, part) in view.parts.iter().enumerate() {
        // Beside a plot a mark would take its place, so it stands in the caption.
        if let (Part::Marks(all), Some(Part::Plot(_))) = (part, view.parts.get(index + 1)) {
            marks = all;
            continue;
        }
        let frame = match part {
            Part::Plot(plot) if plots::is_small(plot) => Some("plots"),
            Part::Plot(_) => Some("charts"),
            _ => None,
        };
        if frame != open {
            open.map_or(Ok(()), |_| writeln!(out, "</div>"))?;
            frame.map_or(Ok(()), |class| writeln!(out, "<div class=\"{class}\">"))?;
            open = frame;
        }
        // What can be scrolled has a name, and no other has the same.
        match part {
            Part::Plot(plot) => plots::figure(plot, &anchors(std::mem::take(&mut marks), of), of, out)?,
            _ => self::part(part, &view.title, &format!(", part {}{of}", index + 1), of, out)?,
        }
    }
    open.map_or(Ok(()), |_| writeln!(out, "</div>"))
}

/// Where links to these lead.
fn anchors(marks: &[Mark], of: &str) -> String {
    marks.iter().map(|it| format!("<a id=\"{}{of}\"></a>", it.name)).collect()
}

/// Writes a part of what has this title, by the end of its name.
fn part(part: &Part, title: &str, end: &str, of: &str, out: &mut dyn Write) -> io::Result<()> {
    let name = || format!("{title}{end}");
    match part {
        Part::Words(words) => writeln!(out, "<p>{}</p>", escaped(words)),
        Part::Warning(words) => writeln!(out, "<p class=\"warning\">{}</p>", escaped(words)),
        Part::Answer(all) => all.iter().try_for_each(|it| writeln!(out, "<p>{}</p>", escaped(it))),
        Part::Facts(facts) => facts.iter().try_for_each(|fact| {
            let of: Vec<String> = fact.of.iter().map(|cell| linked(cell, of)).collect();
            let of = if of.is_empty() { String::new() } else { format!(": {}", of.join(", ")) };
            writeln!(out, "<p class=\"fact\"><b>{}</b> {}{of}</p>", fact.name, escaped(&fact.says))
        }),
        Part::Judged(title, all) => {
            if !title.is_empty() {
                writeln!(out, "<h3>{}</h3>", escaped(title))?;
            }
            writeln!(out, "<ul class=\"statements\">")?;
            for one in all {
                let [name, text, because] = [&one.name, &one.text, &one.because].map(|it| escaped(it));
                let name = if name.is_empty() { name } else { format!("<b>{name}</b> ") };
                let (class, sign, word) = (class(one.tone), sign(one.tone), one.word);
                writeln!(
                    out,
                    "<li><span class=\"verdict {class}\">{sign} {word}</span> {name}{text} <small>{because}</small></li>"
                )?;
            }
            writeln!(out, "</ul>")
        }
        Part::Table(it) => table::scrolling(it, &name(), &it.about(title), of, out),
        Part::Remarks(all) => {
            all.iter().try_for_each(|it| writeln!(out, "<p class=\"remark\">{}</p>", escaped(it)))
        }
        Part::Picture(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
            writeln!(out, "{}<pre>{}</pre></div>", table::begin(&name()), lines.join("\n"))
        }
        Part::Plot(plot) => plots::figure(plot, "", of, out),
        Part::View(inner) => view(inner, of, out),
        Part::Marks(all) => writeln!(out, "{}", anchors(all, of)),
        Part::Index(all) => {
            writeln!(out, "<ul class=\"index\">")?;
            all.iter().try_for_each(|it| entry(it, of, out))?;
            writeln!(out, "</ul>")
        }
    }
}

/// A line of an index. A kind that the link before named is there to be heard and found, and not seen: "Figure 4 5 6".
fn entry(it: &Entry, of: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<li>")?;
    let mut before = "";
    for mark in &it.marks {
        let (kind, number) = mark.text.split_once(' ').unwrap_or(("", &mark.text));
        let unseen = if kind == before { " class=\"word\"" } else { "" };
        let (kind_shown, number) = (escaped(kind), escaped(number));
        write!(out, "<a href=\"#{}{of}\"><span{unseen}>{kind_shown} </span>{number}</a> ", mark.name)?;
        before = kind;
    }
    writeln!(out, "<small>{}</small></li>", escaped(&it.about))
}
