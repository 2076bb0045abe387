//! `oscost compare`: compares stored results, or two commands that run in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use oscost_report::Named;
use oscost_report::bill::is_bill;
use oscost_report::compare::{
    Comparison, Rules, Verdict, compare, compare_sides, comparison, comparison_json, comparison_markdown,
    comparison_whole, incomparable, matrix, matrix_markdown, matrix_whole,
};
use oscost_report::count::is_count;
use oscost_results::search::Pattern;
use oscost_results::{Figure, LoadError, PathError, RunResult, Store};

use crate::args::{Compare, CompareFormat, FailOn};
use crate::commands::counts;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::synonyms::synonyms;
use crate::{system, words};

/// Most past runs from which the drift of this machine is learnt, the newest.
const PAST: usize = 24;
/// Fewest results of a side that `--before` and `--after` make sense with.
const SIDE: usize = 3;

/// Compares as the options say.
pub fn run(options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    if let Some(path) = &options.output {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    match (&options.live, &options.bisect) {
        (None, None) if !options.before.is_empty() => sides(options, talk),
        (None, None) => stored(options, talk),
        _ => system::compare(options, talk),
    }
}

/// Stored results: two side by side, or several against a base.
fn stored(options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let (mut names, mut results) = if options.results.is_empty() {
        let store = Store::of_user().map_err(Ended::misuse)?;
        if store.directory().exists() {
            system::recover(&store, talk);
        }
        newest_pair(&newest_of(&store).map_err(Ended::misuse)?, &options.only, talk)?
    } else {
        load(&options.results, talk)?
    };
    if let Some(base) = &options.base {
        let (name, result) = load(std::slice::from_ref(base), talk)?;
        let [name] = <[String; 1]>::try_from(name)
            .map_err(|names| Ended::misuse(format!("--base names {} results: name one", names.len())))?;
        // The base may be one of the list: it is not held against itself.
        if let Some(index) = results.iter().position(|known| *known == result[0]) {
            names.remove(index);
            results.remove(index);
        }
        // Another file of that name: what was typed says which is which.
        names.insert(0, if names.contains(&name) { base.clone() } else { name });
        results.splice(0..0, result);
    }
    if results.len() < 2 {
        return Err(Ended::misuse(
            "two results are needed: files, or @-2 @-1 (oscost report @all lists the store)",
        ));
    }
    let (has_bills, has_counts) = (results.iter().any(is_bill), results.iter().any(is_count));
    if has_bills || has_counts {
        counts::refuse_of_times(options, has_bills)?;
    }
    if (1..names.len()).any(|at| names[at] == names[0] && results[at] == results[0]) {
        talk.say(format!(
            "{} stands on both sides, and does not differ from itself; unclear says only that an interval is wide",
            oscost_results::Untrusted::new(&names[0]).terminal()
        ));
    }
    if has_bills {
        return counts::bills(&names, &results, options, talk);
    }
    if has_counts {
        counts::refuse_mixed(&names, &results, "count", is_count)?;
    }
    let only = only(options, results.iter(), talk)?;
    if has_counts {
        if let Some(only) = &only {
            results.iter_mut().for_each(|result| result.figures.retain(|it| only.contains(&it.id)));
        }
        return counts::stored(&results[0], &results[1], options, talk);
    }
    refuse_more(options)?;
    let named: Vec<Named<'_>> =
        names.iter().zip(&results).map(|(name, result)| Named { name, result }).collect();
    let past = past(talk);
    let rules = rules(options, &past, only.as_ref());
    let comparisons: Vec<Comparison<'_>> =
        named[1..].iter().map(|other| compare(&named[0], other, rules)).collect();
    if comparisons.iter().all(|one| one.rows.is_empty() && one.one_sided.is_empty()) {
        return Err(Ended::misuse("the results have no figures to compare"));
    }
    told(&comparisons, options, talk)
}

/// No time is more or fewer: a gate that looks for that would pass whatever happens.
pub fn refuse_more(options: &Compare) -> Result<(), Ended> {
    if options.fail_on.iter().any(|on| matches!(on, FailOn::More(_))) {
        return Err(Ended::misuse("--fail-on more is for counts: times are slower or faster"));
    }
    Ok(())
}

fn rules<'a>(options: &Compare, past: &'a [RunResult], only: Option<&'a BTreeSet<String>>) -> Rules<'a> {
    Rules { cross_machine: options.cross_machine, threshold: options.threshold(), past, only }
}

/// The ids that `--only` names, of those that the results hold; `None` where everything is compared.
fn only<'r>(
    options: &Compare,
    results: impl Iterator<Item = &'r RunResult> + Clone,
    talk: &Talk,
) -> Result<Option<BTreeSet<String>>, Ended> {
    if options.only.is_empty() {
        return Ok(None);
    }
    let ids = results.clone().flat_map(|result| &result.figures).map(|figure| figure.id.as_str()).collect();
    let found = words::only(&options.only, &ids, talk)?;
    match words::nothing_measured(&found, results) {
        Some(why) => Err(Ended::new(Exit::Withheld, why)),
        None => Ok(Some(found)),
    }
}

/// The newest two runs of the store that can be compared, and hold something that `only` finds; what was skipped on the way
/// is said.
fn newest_pair(
    paths: &[PathBuf],
    only: &[String],
    talk: &Talk,
) -> Result<(Vec<String>, Vec<RunResult>), Ended> {
    let patterns: Vec<Pattern> = only.iter().map(|typed| Pattern::new(typed, synonyms())).collect();
    let is_asked = |figure: &Figure| patterns.iter().any(|pattern| pattern.finds(&figure.id).is_some());
    // Those that nothing older fits so far: how far back, which is the place behind the newest.
    let mut known: Vec<usize> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut newest: Vec<Result<RunResult, LoadError>> = Vec::new();
    for back in 1..=paths.len() {
        // Two at a time: most often the first two are the pair.
        if newest.len() < back {
            newest.extend(oscost_results::load_all(&paths[newest.len()..paths.len().min(back + 1)]));
        }
        let result = match &newest[back - 1] {
            Ok(result) => result,
            Err(error) => {
                talk.say(format!("@-{back} is skipped: {error}"));
                continue;
            }
        };
        if !only.is_empty() && !result.figures.iter().any(is_asked) {
            seen.extend(result.figures.iter().map(|figure| figure.id.clone()));
            continue;
        }
        let of = |back: &usize| newest[back - 1].as_ref().ok();
        let fits = |newer: &usize| of(newer).is_some_and(|newer| incomparable(result, newer).is_none());
        if let Some(newer_back) = known.iter().copied().find(fits) {
            for skipped in known.iter().filter(|skipped| **skipped != newer_back) {
                let why =
                    of(skipped).zip(of(&newer_back)).and_then(|(other, newer)| incomparable(other, newer));
                talk.say(format!("@-{skipped} is skipped: {}", why.unwrap_or("not needed")));
            }
            // The one that is further back first, so that the other keeps its place.
            let (Ok(result), Ok(newer)) = (newest.remove(back - 1), newest.remove(newer_back - 1)) else {
                unreachable!("both were looked at");
            };
            let name = |back: usize, result: &RunResult| {
                let time = result.started.get(..16).unwrap_or_default().replace('T', " ");
                format!("@-{back} {time}")
            };
            let names = vec![name(back, &result), name(newer_back, &newer)];
            return Ok((names, vec![result, newer]));
        }
        known.push(back);
    }
    if !only.is_empty() && known.is_empty() && !seen.is_empty() {
        words::only(only, &seen.iter().map(String::as_str).collect(), talk)?;
    }
    Err(Ended::misuse(
        "no two stored runs can be compared: two are needed, of one machine, with a figure in common (oscost report @all)",
    ))
}

/// Several results on each side, of several boots.
fn sides(options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let (_, before) = load(&options.before, talk)?;
    let (_, after) = load(&options.after, talk)?;
    for (name, results) in [("--before", &before), ("--after", &after)] {
        if results.iter().any(is_count) {
            return Err(Ended::misuse(format!(
                "{name} names counts: one result a side says everything of them"
            )));
        }
        if results.len() < SIDE {
            return Err(Ended::misuse(format!(
                "{name}: {} given, and at least {SIDE} results are needed, of {SIDE} boots",
                results.len()
            )));
        }
    }
    refuse_more(options)?;
    let (name_a, name_b) =
        (format!("{} results before", before.len()), format!("{} results after", after.len()));
    let before: Vec<Named<'_>> = before.iter().map(|result| Named { name: &name_a, result }).collect();
    let after: Vec<Named<'_>> = after.iter().map(|result| Named { name: &name_b, result }).collect();
    let only = only(options, before.iter().chain(&after).map(|named| named.result), talk)?;
    let rules = rules(options, &[], only.as_ref());
    let comparison = compare_sides(&before, &after, rules)
        .ok_or_else(|| Ended::misuse("no figure was measured in both"))?;
    told(std::slice::from_ref(&comparison), options, talk)
}

/// Shows what came out, and ends as the options say.
pub fn told(comparisons: &[Comparison<'_>], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    show(comparisons, options, talk)?;
    // Nothing was slower because nothing was compared: no gate may pass by that.
    let without = |one: &Comparison<'_>| one.rows.is_empty();
    if comparisons.iter().all(without) || (!options.fail_on.is_empty() && comparisons.iter().any(without)) {
        return Err(Ended::misuse("no figure was measured in both"));
    }
    Ok(exit(comparisons, options))
}

/// Paths of the newest runs of the store, the newest first.
fn newest_of(store: &Store) -> Result<Vec<PathBuf>, PathError> {
    let mut paths = store.runs()?;
    paths.drain(..paths.len().saturating_sub(PAST));
    paths.reverse();
    Ok(paths)
}

/// Runs of the store from which drift is learnt, oldest first. A store that cannot be read teaches nothing.
pub fn past(talk: &Talk) -> Vec<RunResult> {
    match Store::of_user().map(|store| store.runs()) {
        Ok(Ok(paths)) => {
            // Bills and counts teach nothing, and take no room.
            let mut newest = Vec::new();
            for paths in paths.rchunks(PAST) {
                let runs = oscost_results::load_past(paths).into_iter().rev().filter_map(Result::ok);
                newest.extend(runs.filter(|result| !is_count(result) && !result.figures.is_empty()));
                if newest.len() >= PAST {
                    break;
                }
            }
            newest.truncate(PAST);
            newest.reverse();
            newest
        }
        Ok(Err(error)) => {
            talk.say(format!("warning: nothing is learnt from past runs: {error}"));
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

/// The results that references name, with their names.
pub fn load(references: &[String], talk: &Talk) -> Result<(Vec<String>, Vec<RunResult>), Ended> {
    let loaded = oscost_results::load_references(references).map_err(Ended::misuse)?;
    for unusable in &loaded.unusable {
        talk.say(unusable);
    }
    let paths: Vec<&Path> = loaded.results.iter().map(|(path, _)| path.as_path()).collect();
    let names = names_of(&paths);
    Ok((names, loaded.results.into_iter().map(|(_, result)| result).collect()))
}

/// What files are called: the name without folder and extension, or as much of the path as no other file has.
pub fn names_of(paths: &[&Path]) -> Vec<String> {
    fn stem(path: &Path) -> String {
        path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
    fn without_extension(path: &Path) -> String {
        path.with_extension("").display().to_string()
    }
    let ways: [fn(&Path) -> String; 2] = [stem, without_extension];
    // One file twice is one.
    let files_of = ways.map(|way| {
        let mut files: BTreeMap<String, BTreeSet<&Path>> = BTreeMap::new();
        for path in paths {
            files.entry(way(path)).or_default().insert(*path);
        }
        files
    });
    let name = |path: &&Path| {
        let is_alone = |files: &BTreeSet<&Path>| files.len() == 1;
        let mut names = ways.into_iter().zip(&files_of).map(|(way, files)| (way(path), files));
        let alone = names.find(|(name, files)| files.get(name).is_some_and(is_alone));
        alone.map_or_else(|| path.display().to_string(), |(name, _)| name)
    };
    paths.iter().map(name).collect()
}

/// Shows comparisons in the format asked for.
pub fn show(comparisons: &[Comparison<'_>], options: &Compare, talk: &Talk) -> Result<(), Ended> {
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    let written = match (options.format, comparisons) {
        (CompareFormat::Text, [one]) if talk.verbose => comparison_whole(one, &style, &mut text),
        (CompareFormat::Text, [one]) => comparison(one, &style, &mut text),
        (CompareFormat::Text, many) if talk.verbose => matrix_whole(many, &style, &mut text),
        (CompareFormat::Text, many) => matrix(many, &style, &mut text),
        (CompareFormat::Markdown, [one]) => comparison_markdown(one, &mut text),
        (CompareFormat::Markdown, many) => matrix_markdown(many, &mut text),
        (CompareFormat::Json, [one]) => output::json(&comparison_json(one), &mut text),
        (CompareFormat::Json, many) => {
            let all: Vec<_> = many.iter().map(comparison_json).collect();
            output::json(&all, &mut text)
        }
    };
    written.map_err(Ended::unwritable)?;
    output::deliver(&text, options.output.as_deref())
}

/// How the program ends: `--fail-on` decides.
fn exit(comparisons: &[Comparison<'_>], options: &Compare) -> Exit {
    let fails = |on: FailOn| options.fail_on.contains(&on);
    if fails(FailOn::Slower) && comparisons.iter().any(|one| one.has(Verdict::Slower)) {
        Exit::Slower
    } else if fails(FailOn::Unclear) && comparisons.iter().any(Comparison::is_blind) {
        Exit::Unclear
    } else {
        Exit::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_told_by_their_paths() {
        let of = |paths: &[&str]| names_of(&paths.iter().map(Path::new).collect::<Vec<_>>());
        assert_eq!(of(&["old/run.json", "new/fast.json"]), ["run", "fast"]);
        assert_eq!(of(&["old/run.json", "new/run.json", "a.json"]), ["old/run", "new/run", "a"]);
        assert_eq!(of(&["run.json", "run.json"]), ["run", "run"], "one file twice is one");
        assert_eq!(of(&["a/run.json", "a/run.old", "b/run.json"]), ["a/run.json", "a/run.old", "b/run"]);
    }
}
