//! The frame of the page: policy, style, the finding, chips, cards, sections in order, script.

use std::io::{self, Write};

use super::table::{class, hue, sign};
use super::{anchor, blocks, breakable, escaped, forest, history, plots, prices};
use crate::blocks::page::{Card, Chip, Page, Section};
use crate::words::counted;

/// The page's style and its SHA-256 in base64; a test keeps them in step.
const STYLE: &str = include_str!("style.css");
const STYLE_HASH: &str = include_str!("style.css.sha256");
/// The page's script and its SHA-256 in base64.
const SCRIPT: &str = include_str!("page.js");
const SCRIPT_HASH: &str = include_str!("page.js.sha256");
/// uPlot 1.6.32 as npm has it, for pages with series to look into; its licence is beside it.
const UPLOT: &str = include_str!("uplot/uPlot.iife.min.js");
const UPLOT_HASH: &str = include_str!("uplot/uPlot.iife.min.js.sha256");
const UPLOT_STYLE: &str = include_str!("uplot/uPlot.min.css");
const UPLOT_STYLE_HASH: &str = include_str!("uplot/uPlot.min.css.sha256");

/// Writes one self-contained page.
///
/// It asks nothing of a network, and its Content-Security-Policy forbids it to; scripts and styles are the page's own,
/// named there by their SHA-256.
pub(crate) fn write(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let mut body = Vec::new();
    sections(page, &mut body)?;
    // Whoever has nothing to look into needs no script for it.
    let looks = plots::has_tracks(&body);
    let (library, style) = if looks { (UPLOT, UPLOT_STYLE) } else { ("", "") };
    let hashes = |ours: &str, theirs: &str| {
        let theirs = if looks { format!(" 'sha256-{}'", theirs.trim()) } else { String::new() };
        format!("'sha256-{}'{theirs}", ours.trim())
    };
    let element = |name: &str, text: &str| {
        if text.is_empty() { String::new() } else { format!("<{name}>{text}</{name}>\n") }
    };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; \
         script-src {}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n{}{}</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the figures</a>\n",
        hashes(STYLE_HASH, UPLOT_STYLE_HASH),
        hashes(SCRIPT_HASH, UPLOT_HASH),
        escaped(&page.title),
        element("style", STYLE),
        element("style", style),
    )?;
    out.write_all(&body)?;
    let sum = if page.checksum.is_empty() {
        String::new()
    } else {
        format!(" Result {}.", escaped(&page.checksum))
    };
    writeln!(
        out,
        "<footer><p>{}{sum} Intervals are 95 % over launches unless said otherwise. The page needs no network; \
         with scripts off, everything but ordering, finding, zooming, copying and saving works.</p></footer>\n{}{}\
         </body>\n</html>",
        escaped(&page.closing),
        element("script", library),
        element("script", SCRIPT),
    )
}

/// A heading of more characters, five lines of a small screen, is set in smaller type.
const LONG: usize = 160;

/// Everything between the head of the page and its foot.
fn sections(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let long = if page.heading.chars().count() > LONG { " class=\"long\"" } else { "" };
    writeln!(
        out,
        "<header>\n<p class=\"brand\">oscost / {}</p>\n<h1{long}>{}</h1>\n<ul class=\"chips\">",
        page.kind,
        escaped(&together(&page.heading))
    )?;
    page.chips.iter().try_for_each(|it| chip(it, out))?;
    writeln!(out, "</ul>")?;
    if !page.cards.is_empty() {
        writeln!(out, "<ul class=\"cards\">")?;
        page.cards.iter().try_for_each(|it| card(it, out))?;
        writeln!(out, "</ul>")?;
    }
    let share = " <button type=\"button\" class=\"share\">Share card (SVG)</button> \
                <button type=\"button\" class=\"share-png\">Share card (PNG)</button>";
    let share = if page.cards.is_empty() { "" } else { share };
    writeln!(out, "<p class=\"sizes\">{}{share}</p>", escaped(&page.sizes))?;
    warnings(&page.warnings, out)?;
    writeln!(out, "</header>")?;
    if page.sections.len() > 1 {
        writeln!(out, "<nav aria-label=\"Parts of the page\"><ul>")?;
        for (section, number) in page.sections.iter().zip(1..) {
            writeln!(out, "<li><a href=\"#part-{number}\">{}</a></li>", escaped(&called(section)))?;
        }
        writeln!(out, "</ul></nav>")?;
    }
    writeln!(out, "<main id=\"main\">")?;
    let forests = page.sections.iter().filter(|it| matches!(it, Section::Compared(_))).count();
    for (section, number) in page.sections.iter().zip(1..) {
        let id = format!("part-{number}");
        match section {
            Section::Prices(chart) => prices::section(chart, &id, &page.checksum, out)?,
            Section::Compared(one) => forest::section(one, &id, forests > 1, out)?,
            Section::Over(one) => history::section(one, &id, out)?,
            Section::View(one) => blocks::section(one, &id, out)?,
        }
    }
    writeln!(out, "</main>")
}

/// A number stays in the line of its unit, and a name of two words is not parted.
fn together(text: &str) -> String {
    const UNITS: [&str; 5] = ["ns", "\u{b5}s", "ms", "s", "%"];
    let text = &super::micro(text);
    let is_number = |word: &str| word.bytes().last().is_some_and(|byte| byte.is_ascii_digit());
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches([',', ';', '.', ')']));
    let is_group = |word: &str| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut words = text.split(' ');
    let mut line = words.next().unwrap_or_default().to_owned();
    let mut before = line.clone();
    for word in words {
        let belongs = is_number(&before) && (is_unit(word) || is_group(word)) || before == "System";
        line.push(if belongs { '\u{a0}' } else { ' ' });
        line.push_str(word);
        word.clone_into(&mut before);
    }
    line
}

/// What a list of the parts calls one.
fn called(section: &Section) -> String {
    match section {
        Section::Prices(_) => "Price list".to_owned(),
        Section::Compared(one) => one.pair.clone(),
        Section::Over(_) => "History".to_owned(),
        Section::View(one) => blocks::sentence(one.title.split(": ").next().unwrap_or(&one.title)),
    }
}

/// The first two stand there; whoever wants the others opens them.
fn warnings(all: &[String], out: &mut dyn Write) -> io::Result<()> {
    let warning =
        |it: &String, out: &mut dyn Write| writeln!(out, "<p class=\"warning\">{}</p>", escaped(it));
    all.iter().take(2).try_for_each(|it| warning(it, out))?;
    if all.len() > 2 {
        writeln!(
            out,
            "<details class=\"more\"><summary>{}</summary>",
            counted(all.len() - 2, "warning more", "warnings more")
        )?;
        all.iter().skip(2).try_for_each(|it| warning(it, out))?;
        writeln!(out, "</details>")?;
    }
    Ok(())
}

fn chip(chip: &Chip, out: &mut dyn Write) -> io::Result<()> {
    let tone = chip.tone.map_or(String::new(), |tone| format!(" {}", class(tone)));
    let mark = chip.tone.map_or(String::new(), |tone| format!("{} ", sign(tone)));
    let whole =
        if chip.whole.is_empty() { String::new() } else { format!(" title=\"{}\"", escaped(&chip.whole)) };
    writeln!(out, "<li class=\"chip{tone}\"{whole}>{mark}{}</li>", escaped(&chip.text))
}

fn card(card: &Card, out: &mut dyn Write) -> io::Result<()> {
    let unit = if card.unit == "us" { "\u{b5}s" } else { &card.unit };
    let unit = if unit.is_empty() { String::new() } else { format!(" <i>{}</i>", escaped(unit)) };
    let [number, name, size] = [&card.number, &together(&card.name), &card.size].map(|text| escaped(text));
    let says = breakable(&card.says);
    let inner = format!(
        "<span class=\"big\">{number}{unit}</span><b>{name}</b><small>{says}</small><small class=\"size\">{size}</small>"
    );
    let hue = hue(card.hue);
    if card.link.is_empty() {
        writeln!(out, "<li class=\"card {hue}\">{inner}</li>")
    } else {
        writeln!(out, "<li class=\"card {hue}\"><a href=\"#{}\">{inner}</a></li>", anchor(&card.link))
    }
}

#[cfg(test)]
mod tests {
    use super::together;

    #[test]
    fn numbers_stay_with_their_units() {
        let cases = [
            (
                "it takes 1 000 000 cycles, 1.855 ns, and more",
                "it takes 1\u{a0}000\u{a0}000 cycles, 1.855\u{a0}ns, and more",
            ),
            ("a System V semaphore 5 times", "a System\u{a0}V semaphore 5 times"),
            ("System used", "System\u{a0}used"),
            ("11 to 31 us; a us user", "11 to 31\u{a0}\u{b5}s; a us user"),
            ("12 of 35 figures", "12 of 35 figures"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(together(text), expected);
        }
    }
}
