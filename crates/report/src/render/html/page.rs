//! The frame of the page: policy, style, head, sections in order, script.

use std::io::{self, Write};

use super::blocks::{parts, view};
use super::{escaped, plots, prices};
use crate::blocks::page::{Page, PageResult};

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
fn sections(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<header>\n<h1>{}</h1>", escaped(&page.title))?;
    let many = page.results.len() > 1;
    for (shown, of) in named(page) {
        if many {
            writeln!(out, "<h2>{}</h2>", escaped(&shown.name))?;
        }
        parts(&shown.head, &of, out)?;
    }
    writeln!(out, "</header>\n<main id=\"main\">")?;
    for (one, (_, of)) in page.compared.iter().zip(named(page).skip(1)) {
        view(one, &of, out)?;
    }
    for (shown, of) in named(page) {
        if many {
            writeln!(out, "<h2 class=\"result\">{}</h2>", escaped(&shown.name))?;
        }
        if let Some(chart) = &shown.prices {
            prices::section(chart, &of, out)?;
        }
        shown.views.iter().try_for_each(|one| view(one, &of, out))?;
    }
    writeln!(out, "</main>")
}

/// The results, each with what tells its names apart from those of others.
fn named(page: &Page) -> impl Iterator<Item = (&PageResult, String)> {
    let many = page.results.len() > 1;
    let of = move |index: usize| if many { format!("-{index}") } else { String::new() };
    page.results.iter().zip(1..).map(move |(shown, index)| (shown, of(index)))
}
