//! `oscost report`: shows stored results again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use oscost_report::bill::is_bill;
use oscost_report::count::is_count;
use oscost_report::{Named, RowChoice, RowFormat, RowOrder};
use oscost_results::{Collection, Outline, PairedValue, RunResult, Store, Untrusted, outline_from_bytes};

use crate::args::{Format, Report, SortBy};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::{system, words};

use super::compare::names_of;
use super::rows::{Unusable, ended, nothing_in};

/// Shows stored results in the format asked for.
pub fn report(options: &Report, talk: &Talk) -> Result<Exit, Ended> {
    if let Some(path) = &options.output {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    let newest = ["@-1".to_owned()];
    let references = if options.results.is_empty() { &newest[..] } else { &options.results };
    if references.iter().any(|reference| Store::holds(reference))
        && let Ok(store) = Store::of_user()
        && store.directory().exists()
    {
        system::recover(&store, talk);
    }
    if options.fleet {
        return super::fleet::fleet(options, references, talk);
    }
    refuse_unshown(options)?;
    if let Some(format) = row_format(options.format) {
        return super::rows::rows(options, references, format, talk);
    }
    // The whole store is a history, which has notes and no rows; what asks for either of each result shows them whole.
    let of_each = options.anonymous || options.what_is_in_it || options.all || options.sort.is_some();
    if references == ["@all"] && options.format == Format::Text && !options.spread && !of_each {
        return history(options, talk);
    }
    let is_whole = options.only.is_empty() && !options.anonymous;
    if options.format == Format::Html
        && is_whole
        && let Some(outlines) = outlines(references, talk)?
    {
        return page_of_many(options, outlines);
    }
    if let Some(folder) = references.iter().find(|reference| Path::new(reference).is_dir()) {
        let folder = Untrusted::new(folder);
        let advice = match options.format {
            Format::Html => "--only and --anonymous need files: name those in it",
            _ => "add --fleet, or --format html, csv or ndjson, or name files in it",
        };
        return Err(Ended::misuse(format!("{} is a folder: {advice}", folder.terminal())));
    }
    let mut loaded = oscost_results::load_references(references).map_err(Ended::misuse)?;
    for unusable in &loaded.unusable {
        talk.say(unusable);
    }
    if options.what_is_in_it {
        return facts(options, &loaded.results, talk);
    }
    if options.anonymous {
        let taken = std::mem::take(&mut loaded.results).into_iter().enumerate();
        // A file's name is its user's.
        let name = |at: usize| PathBuf::from(format!("result {}", at + 1));
        loaded.results = taken.map(|(at, (_, result))| (name(at), result.anonymous())).collect();
    }
    let are_bills = !loaded.results.is_empty() && loaded.results.iter().all(|(_, result)| is_bill(result));
    if options.sort.is_some() && are_bills {
        return Err(Ended::misuse(
            "--sort orders figures, and a bill has none: its dearest row is the first",
        ));
    }
    if !options.only.is_empty() {
        only(&options.only, loaded.results.iter_mut().map(|(_, result)| result).collect(), talk)?;
    }
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    let paths: Vec<&Path> = loaded.results.iter().map(|(path, _)| path.as_path()).collect();
    let names = names_of(&paths);
    let named: Vec<Named<'_>> =
        names.iter().zip(&loaded.results).map(|(name, (_, result))| Named { name, result }).collect();
    if options.spread {
        let shown = match options.format {
            Format::Markdown => oscost_report::spread_markdown(&named, talk.verbose, &mut text),
            _ if talk.verbose => oscost_report::spread_whole(&named, &style, &mut text),
            _ => oscost_report::spread(&named, &style, &mut text),
        };
        return shown.map_err(Ended::unwritable).and_then(|()| deliver(options, &text));
    }
    let choice = RowChoice {
        // What was asked for by name is shown.
        all: options.all || !options.only.is_empty(),
        verbose: talk.verbose,
        order: options.sort.map(order),
    };
    // As it was asked for, "@-1" says where it stands. What may be kept has the name that stays.
    let is_short = options.format == Format::Text && references.len() == 1 && references[0].starts_with("@-");
    let stored = stored();
    let saved = |path: &&Path| {
        stored.contains(*path).then(|| if is_short { references[0].clone() } else { name_of(path) })
    };
    let saved: Vec<Option<String>> = paths.iter().map(saved).collect();
    render(&named, &saved, options.format, choice, &style, &mut text).map_err(Ended::unwritable)?;
    deliver(options, &text)
}

/// Fails where the format has no place for what was asked for.
fn refuse_unshown(options: &Report) -> Result<(), Ended> {
    let is_text = options.format == Format::Text;
    let asked = [
        ("--spread", options.spread, "text or markdown", is_text || options.format == Format::Markdown),
        ("--what-is-in-it", options.what_is_in_it, "text", is_text),
        ("--sort", options.sort.is_some(), "text", is_text),
    ];
    match asked.iter().find(|(_, is_asked, _, is_shown)| *is_asked && !*is_shown) {
        Some((option, _, formats, _)) => Err(Ended::misuse(format!(
            "{option} is shown as {formats}; for another format leave {option} out"
        ))),
        None => Ok(()),
    }
}

/// The runs that the store gives back by their names.
fn stored() -> BTreeSet<PathBuf> {
    let runs = Store::of_user().ok().and_then(|store| store.runs().ok());
    runs.into_iter().flatten().collect()
}

/// The format as one of rows, if it is one.
fn row_format(format: Format) -> Option<RowFormat> {
    match format {
        Format::Csv => Some(RowFormat::Csv),
        Format::Ndjson => Some(RowFormat::Ndjson),
        _ => None,
    }
}

/// What each result tells of its host.
fn facts(options: &Report, results: &[(PathBuf, RunResult)], talk: &Talk) -> Result<Exit, Ended> {
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    let paths: Vec<&Path> = results.iter().map(|(path, _)| path.as_path()).collect();
    for (name, (_, result)) in names_of(&paths).iter().zip(results) {
        oscost_report::host_facts(name, result, &style, &mut text).map_err(Ended::unwritable)?;
    }
    deliver(options, &text)
}

/// Leaves in the results what the patterns find, and what that is divided by or has subtracted, as a run of them would have.
fn only(patterns: &[String], mut results: Vec<&mut RunResult>, talk: &Talk) -> Result<(), Ended> {
    let ids = results.iter().flat_map(|result| &result.figures).map(|figure| figure.id.as_str()).collect();
    let mut found = words::only(patterns, &ids, talk)?;
    if let Some(why) = words::nothing_measured(&found, results.iter().map(|result| &**result)) {
        talk.say(why);
    }
    let pairs = results.iter().flat_map(|result| result.ratios.iter().chain(&result.differences));
    let bases: Vec<String> =
        pairs.filter(|pair| found.contains(&pair.of)).map(|pair| pair.to.clone()).collect();
    found.extend(bases);
    for result in &mut results {
        result.figures.retain(|figure| found.contains(&figure.id));
        let both = |pair: &PairedValue| found.contains(&pair.of) && found.contains(&pair.to);
        result.ratios.retain(both);
        result.differences.retain(both);
        result.reproductions.clear();
    }
    Ok(())
}

/// The runs of the store, and each figure over them.
fn history(options: &Report, talk: &Talk) -> Result<Exit, Ended> {
    let outlines = oscost_results::load_outlines().map_err(Ended::misuse)?;
    for unusable in &outlines.unusable {
        talk.say(unusable);
    }
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    // How other commands call a run; its own name stays the same when more are stored.
    let stored = Store::of_user().ok().and_then(|store| store.runs().ok()).unwrap_or_default();
    let backs: BTreeMap<&PathBuf, usize> = stored.iter().rev().zip(1..).collect();
    let digits = stored.len().to_string().len();
    let name = |path: &PathBuf, run: &Outline| {
        let back = backs.get(path).map_or(String::new(), |back| format!("@-{back}"));
        let time = run.started.get(..16).unwrap_or_default().replace('T', " ");
        let own = if talk.verbose { name_of(path) } else { time };
        format!("{back:<room$}  {own}", room = digits + 2)
    };
    let named = |(path, run): (PathBuf, Outline)| (name(&path, &run), run);
    let mut runs: Vec<(String, Outline)> = outlines.runs.into_iter().map(named).collect();
    if !options.only.is_empty() {
        let ids = runs.iter().flat_map(|(_, run)| &run.figures).map(|figure| figure.id.as_str()).collect();
        let found = words::only(&options.only, &ids, talk)?;
        runs.iter_mut().for_each(|(_, run)| run.figures.retain(|figure| found.contains(&figure.id)));
        runs.retain(|(_, run)| !run.figures.is_empty());
    }
    let mut text = Vec::new();
    let write = if talk.verbose { oscost_report::history_whole } else { oscost_report::history };
    write(&runs, &style, &mut text).map_err(Ended::unwritable)?;
    deliver(options, &text)
}

/// Results that a page of many shows whole: the newest with its receipts, and those that it is held against.
const WHOLE: usize = 4;
/// Files that a page shows whole, all of them: as many machines as stand beside one another.
const FEW: usize = 12;

/// Runs in outline, with their files, and the code to end with.
type InOutline = (Vec<(PathBuf, Outline)>, Exit);

/// The whole store, what folders hold, or files that are too many to be read whole, in outline; `None` for a few results.
fn outlines(references: &[String], talk: &Talk) -> Result<Option<InOutline>, Ended> {
    if references == ["@all"] {
        let outlines = oscost_results::load_outlines().map_err(Ended::misuse)?;
        for unusable in &outlines.unusable {
            talk.say(unusable);
        }
        return Ok(Some((outlines.runs, Exit::Done)));
    }
    let mut has_folder = false;
    for path in references.iter().map(Path::new) {
        has_folder |= path.is_dir();
        if !path.is_dir() && !path.is_file() {
            return Ok(None);
        }
    }
    if !has_folder && references.len() <= FEW {
        return Ok(None);
    }
    let make = |path: &Path, bytes: &[u8]| {
        let run = outline_from_bytes(bytes)?;
        Ok((run.result_id(), (path.to_owned(), run)))
    };
    let (mut runs, mut unusable) = (Vec::new(), Unusable::new(talk));
    let tally = Collection::of(references).map_err(Ended::misuse)?.each(make, |found| match found {
        Ok(run) => {
            runs.push(run);
            Ok(())
        }
        // Whoever names a file wants that file.
        Err(error) if !has_folder => Err(Ended::misuse(error)),
        Err(error) => {
            unusable.say(&error);
            Ok(())
        }
    })?;
    let code = ended(&tally, talk);
    if runs.is_empty() {
        return Err(Ended::misuse(nothing_in(references)));
    }
    // A folder has no order of its own.
    if has_folder {
        runs.sort_by(|(_, one), (_, other): &(PathBuf, Outline)| one.started.cmp(&other.started));
    }
    Ok(Some((runs, code)))
}

/// A page of many runs: only the newest ones are read whole.
fn page_of_many(options: &Report, (runs, code): InOutline) -> Result<Exit, Ended> {
    let paths: Vec<&Path> = runs.iter().map(|(path, _)| path.as_path()).collect();
    let names = names_of(&paths);
    let saved = paths.last().filter(|path| stored().contains(**path)).map(|path| name_of(path));
    let first = runs.len().saturating_sub(WHOLE);
    let loaded: Vec<RunResult> = paths[first..]
        .iter()
        .map(|path| oscost_results::load(path).map_err(Ended::misuse))
        .collect::<Result<_, Ended>>()?;
    let whole: Vec<Named<'_>> =
        names[first..].iter().zip(&loaded).map(|(name, result)| Named { name, result }).collect();
    let outlines = runs.into_iter().map(|(_, outline)| outline);
    let runs: Vec<(String, Outline)> = names.iter().cloned().zip(outlines).collect();
    let mut text = Vec::new();
    oscost_report::page_of_runs(&runs, &whole, saved.as_deref(), &mut text).map_err(Ended::unwritable)?;
    deliver(options, &text).map(|_| code)
}

/// Name of a stored run: its file's, without the ending.
fn name_of(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn order(by: SortBy) -> RowOrder {
    match by {
        SortBy::Name => RowOrder::Name,
        SortBy::Price => RowOrder::Price,
        SortBy::Interval => RowOrder::Interval,
    }
}

fn deliver(options: &Report, text: &[u8]) -> Result<Exit, Ended> {
    output::deliver(text, options.output.as_deref()).map(|()| Exit::Done)
}

/// Results in a format, and for each the reference by which the store gives it back, if it does.
pub fn render(
    results: &[Named<'_>],
    saved: &[Option<String>],
    format: Format,
    choice: RowChoice,
    style: &oscost_report::Style,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let newest = saved.last().and_then(Option::as_deref);
    for (&Named { name, result }, saved) in results.iter().zip(saved) {
        let saved = saved.as_deref();
        // Which of several it is.
        if results.len() > 1 && format == Format::Text {
            writeln!(out, "{}", Untrusted::new(name).terminal())?;
        } else if results.len() > 1 && format == Format::Markdown {
            writeln!(out, "# {}\n", Untrusted::new(name).markdown())?;
        }
        match format {
            Format::Text if is_count(result) => oscost_report::count::shown(result, saved, style, out)?,
            Format::Text if is_bill(result) => {
                oscost_report::bill::shown(result, choice.verbose || choice.all, style, out)?;
            }
            Format::Text => {
                // The document first; what was measured for it follows.
                if !result.reproductions.is_empty() {
                    oscost_report::reproductions(result, style, out)?;
                    writeln!(out)?;
                }
                if !result.figures.is_empty() {
                    oscost_report::price_list(result, saved, choice, style, out)?;
                }
                if results.len() > 1 {
                    writeln!(out)?;
                }
            }
            Format::Markdown if is_bill(result) => oscost_report::bill::markdown(result, out)?,
            Format::Markdown => {
                if !result.reproductions.is_empty() {
                    oscost_report::reproductions_markdown(result, out)?;
                    writeln!(out)?;
                }
                oscost_report::price_list_markdown(result, saved, out)?;
            }
            Format::Csv => oscost_report::rows_of(result, RowFormat::Csv, out)?,
            Format::Ndjson => oscost_report::rows_of(result, RowFormat::Ndjson, out)?,
            Format::Json => out.write_all(&oscost_results::to_bytes(result).map_err(io::Error::other)?)?,
            Format::Html if results.len() == 1 && is_bill(result) => {
                return oscost_report::bill::page(&results[0], out);
            }
            // One page, and one set of series, for all of them.
            Format::Html => return oscost_report::page(results, newest, out),
            Format::Openmetrics => return oscost_report::open_metrics(results, out),
        }
    }
    Ok(())
}
