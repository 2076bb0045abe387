//! The frame of the page: policy, style, head, sections in order, script.

use std::io::{self, Write};

use oscost_results::CheckState;

use super::{Named, escaped, plots, prices, reproduction, several};
use crate::story::Story;

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

pub(super) fn write(results: &[Named<'_>], out: &mut dyn Write) -> io::Result<()> {
    let title = match results {
        [one] => format!("oscost: {}", one.result.machine.cpu_model),
        many => format!("oscost: {} results", many.len()),
    };
    let mut body = Vec::new();
    sections(results, &title, &mut body)?;
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
        escaped(&title),
        element("style", STYLE),
        element("style", style),
    )?;
    out.write_all(&body)?;
    writeln!(
        out,
        "<footer><p>Intervals are 95 % over launches unless said otherwise. The page needs no network; with \
         scripts off, everything but sorting, filtering, zooming and saving works.</p></footer>\n{}{}\
         </body>\n</html>",
        element("script", library),
        element("script", SCRIPT),
    )
}

/// Everything between the head of the page and its foot.
fn sections(results: &[Named<'_>], title: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<header>\n<h1>{}</h1>", escaped(title))?;
    for named in results {
        head(named, results.len() > 1, out)?;
    }
    writeln!(out, "</header>\n<main id=\"main\">")?;
    several::sections(results, out)?;
    for (index, named) in results.iter().enumerate() {
        if results.len() == 1 {
            of_one(named, "", out)?;
            continue;
        }
        writeln!(out, "<h2 class=\"result\">{}</h2>", escaped(named.name))?;
        let mut sections = Vec::new();
        of_one(named, &format!("-{}", index + 1), &mut sections)?;
        // Regions of several results need names that tell them apart.
        let mark = "role=\"region\" aria-label=\"";
        let told = format!("{mark}Result {}: ", index + 1);
        out.write_all(String::from_utf8_lossy(&sections).replace(mark, &told).as_bytes())?;
    }
    writeln!(out, "</main>")
}

/// Every section of one result; `of` tells its names apart from those of others.
fn of_one(named: &Named<'_>, of: &str, out: &mut dyn Write) -> io::Result<()> {
    let story = Story::new(named.result, true);
    if !named.result.figures.is_empty() {
        prices::section(&story, of, out)?;
    }
    for view in crate::view::of(&story) {
        view.html(out)?;
    }
    reproduction::sections(named.result, out)?;
    doctor(named, out)
}

/// Machine, when, the doctor's verdict, and what is special about this run.
fn head(named: &Named<'_>, many: bool, out: &mut dyn Write) -> io::Result<()> {
    let story = Story::new(named.result, true);
    if many {
        writeln!(out, "<h2>{}</h2>", escaped(named.name))?;
    }
    writeln!(
        out,
        "<p class=\"machine\">{}</p>\n<p>Measured {} by {}; {}</p>",
        escaped(&story.conditions()),
        escaped(&story.plain(&named.result.started)),
        escaped(&story.tool()),
        escaped(&story.doctor().1)
    )?;
    for warning in story.warnings() {
        writeln!(out, "<p class=\"warning\">{}</p>", escaped(&warning))?;
    }
    writeln!(out, "<p>{}</p>", escaped(&story.closing(Some(named.name))))
}

/// Every check of the doctor.
fn doctor(named: &Named<'_>, out: &mut dyn Write) -> io::Result<()> {
    let checks = &named.result.doctor;
    if checks.is_empty() {
        return Ok(());
    }
    let story = Story::new(named.result, true);
    writeln!(
        out,
        "<section>\n<h2>The machine, as the doctor found it</h2>\n<div class=\"scroll told\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Checks of the doctor\"><table>\n<thead><tr><th scope=\"col\">state</th><th scope=\"col\">check</th>\
         <th scope=\"col\">found</th><th scope=\"col\">what it does</th><th scope=\"col\">remedy</th></tr></thead>\n<tbody>"
    )?;
    for check in checks {
        let state = match check.state {
            CheckState::Fine => "fine",
            CheckState::Disturbs => "disturbs",
            CheckState::Unknown => "unknown",
        };
        writeln!(
            out,
            "<tr><td class=\"state {state}\">{state}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&story.words(&check.check)),
            escaped(&story.plain(&check.says)),
            escaped(&story.plain(&check.matters)),
            escaped(&story.plain(check.remedy.as_deref().unwrap_or("")))
        )?;
    }
    writeln!(out, "</tbody></table></div>\n</section>")
}
