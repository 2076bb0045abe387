//! `oscost compare`: stored results against one another, a stored one against now, or two commands side by side.

use std::io::Write;

use oscost_report::Named;
use oscost_report::compare::{
    Comparison, Rules, compare, comparison, comparison_json, comparison_markdown, matrix, matrix_markdown,
};
use oscost_results::{RunResult, Untrusted};

use crate::args::{Compare, CompareFormat};
use crate::commands::{gate, live};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};

/// Compares as the options say.
pub fn run(options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    if let Some(path) = &options.output {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    match (&options.live, &options.gate) {
        (Some(sides), _) => live::live(sides, options, talk),
        (_, Some(gate)) => gate::gate(gate, options, talk),
        _ => stored(options, talk),
    }
}

/// Stored results: two side by side, or several against a base.
fn stored(options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let (mut names, mut results) = load(&options.results, talk)?;
    if let Some(base) = &options.base {
        let (name, result) = load(std::slice::from_ref(base), talk)?;
        let [name] = <[String; 1]>::try_from(name)
            .map_err(|names| Ended::misuse(format!("--base names {} results: name one", names.len())))?;
        // The base may be one of the list: it is not held against itself.
        if let Some(index) = names.iter().position(|known| *known == name) {
            names.remove(index);
            results.remove(index);
        }
        names.insert(0, name);
        results.splice(0..0, result);
    }
    if results.len() < 2 {
        return Err(Ended::misuse(
            "two results are needed: files, or @-2 @-1 (oscost report @all lists the store)",
        ));
    }
    let named: Vec<Named<'_>> =
        names.iter().zip(&results).map(|(name, result)| Named { name, result }).collect();
    let rules = Rules { cross_machine: options.cross_machine };
    let comparisons: Vec<Comparison<'_>> =
        named[1..].iter().map(|other| compare(&named[0], other, rules)).collect();
    if comparisons.iter().all(|one| one.rows.is_empty() && one.one_sided.is_empty()) {
        return Err(Ended::misuse("the results have no figures to compare"));
    }
    show(&comparisons, options, talk)?;
    // Nothing was slower because nothing was compared: no gate may pass by that.
    let without = |one: &Comparison<'_>| one.rows.is_empty();
    if comparisons.iter().all(without) || (options.fail_on.is_some() && comparisons.iter().any(without)) {
        return Err(Ended::misuse("no figure was measured in both"));
    }
    Ok(exit(&comparisons, options))
}

/// The results that references name, with their names.
pub fn load(references: &[String], talk: &Talk) -> Result<(Vec<String>, Vec<RunResult>), Ended> {
    let loaded = oscost_results::load_references(references).map_err(Ended::misuse)?;
    for unusable in &loaded.unusable {
        talk.say(unusable);
    }
    let name = |path: &std::path::Path| {
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    };
    Ok(loaded.results.into_iter().map(|(path, result)| (name(&path), result)).unzip())
}

/// Shows comparisons in the format asked for.
pub fn show(comparisons: &[Comparison<'_>], options: &Compare, talk: &Talk) -> Result<(), Ended> {
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    let written = match (options.format, comparisons) {
        (CompareFormat::Text, [one]) => comparison(one, &style, &mut text),
        (CompareFormat::Text, many) => matrix(many, &style, &mut text),
        (CompareFormat::Markdown, [one]) => comparison_markdown(one, &mut text),
        (CompareFormat::Markdown, many) => matrix_markdown(many, &mut text),
        (CompareFormat::Json, [one]) => write_json(&comparison_json(one), &mut text),
        (CompareFormat::Json, many) => {
            let all: Vec<_> = many.iter().map(comparison_json).collect();
            write_json(&all.into(), &mut text)
        }
    };
    written.map_err(Ended::unwritable)?;
    match &options.output {
        Some(path) => oscost_results::write_file(path, &text).map_err(Ended::unwritable),
        None => output::data(|out| out.write_all(&text)),
    }
}

fn write_json(value: &serde_json::Value, out: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(out, "{}", Untrusted::new(&format!("{value:#}")).json())
}

/// How the program ends: `--fail-on` decides.
pub fn exit(comparisons: &[Comparison<'_>], options: &Compare) -> Exit {
    match options.fail_on {
        Some(share) if comparisons.iter().any(|one| one.is_slower_by(share)) => Exit::Slower,
        _ => Exit::Done,
    }
}
