//! `oscost report`: stored results again.

use std::io::{self, Write};

use oscost_results::RunResult;

use crate::args::{Format, Report};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};

/// Shows stored results in the format asked for.
pub fn report(options: &Report, talk: &Talk) -> Result<Exit, Ended> {
    if let Some(path) = &options.output {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    if options.results.iter().any(|reference| reference.starts_with('@'))
        && let Ok(store) = oscost_results::Store::of_user()
        && store.directory().exists()
    {
        crate::recover::recover(&store, talk);
    }
    let loaded = oscost_results::load_references(&options.results).map_err(Ended::misuse)?;
    for unusable in &loaded.unusable {
        talk.say(unusable);
    }
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    let many = loaded.results.len() > 1;
    for (path, result) in &loaded.results {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        render(result, &name, options.format, many, &style, &mut text).map_err(Ended::unwritable)?;
    }
    match &options.output {
        Some(path) => oscost_results::write_file(path, &text).map_err(Ended::unwritable)?,
        None => output::data(|out| out.write_all(&text))?,
    }
    Ok(Exit::Done)
}

fn render(
    result: &RunResult,
    name: &str,
    format: Format,
    many: bool,
    style: &oscost_report::Style,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    match format {
        Format::Text => {
            if !result.figures.is_empty() {
                oscost_report::price_list(result, Some(name), style, out)?;
            }
            if !result.reproductions.is_empty() {
                oscost_report::reproductions(result, style, out)?;
            }
            if many { writeln!(out) } else { Ok(()) }
        }
        Format::Markdown => {
            oscost_report::price_list_markdown(result, Some(name), out)?;
            if !result.reproductions.is_empty() {
                oscost_report::reproductions_markdown(result, out)?;
            }
            Ok(())
        }
        Format::Csv => oscost_report::price_list_csv(result, out),
        Format::Json => {
            let bytes = oscost_results::to_bytes(result).map_err(io::Error::other)?;
            out.write_all(&bytes)
        }
    }
}
