//! `oscost compare`: compares stored results, or two commands that run in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use oscost_report::Named;
use oscost_report::bill::is_bill;
use oscost_report::compare::{
    Comparison, Rules, compare, compare_sides, comparison, comparison_json, comparison_markdown,
    comparison_whole, incomparable, left_out, matrix, matrix_markdown, matrix_whole,
};
use oscost_report::count::is_count;
use oscost_results::{RunResult, Store, Untrusted};

use crate::args::{Compare, CompareFormat, FailOn};
use crate::commands::counts;
use crate::commands::newest::newest_pair;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
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
        newest_pair(&store, &options.only, talk)?
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
            Untrusted::new(&names[0]).terminal()
        ));
    }
    let newer = results[1..].iter().filter(|other| other.started < results[0].started).count();
    if newer > 0 && options.base.is_none() && !options.cross_machine {
        let of = if results.len() == 2 { &names[1] } else { &format!("{newer} of the others") };
        let [base, of] = [&names[0], of].map(|name| Untrusted::new(name).terminal().to_string());
        talk.say(format!("{base} stands first, as the older one, and is newer than {of}"));
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
    if comparisons.iter().all(|one| one.rows.is_empty() && one.one_sided.is_empty() && !is_withheld(one)) {
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
    let all: Vec<&RunResult> = before.iter().chain(&after).collect();
    if (1..all.len()).any(|at| all[..at].contains(&all[at])) {
        return Err(Ended::misuse(
            "--before and --after name one result twice: each must be of a run of its own",
        ));
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
    let without: Vec<_> = comparisons.iter().filter(|one| one.rows.is_empty()).collect();
    if without.len() == comparisons.len() || (!options.fail_on.is_empty() && !without.is_empty()) {
        return Err(if without.into_iter().all(is_withheld) {
            Ended::new(
                Exit::Withheld,
                "no figure was measured in both: what they have in common failed or was withheld",
            )
        } else {
            Ended::misuse("no figure was measured in both")
        });
    }
    Ok(exit(comparisons, options))
}

/// Whether both sides have a figure that failed or was withheld on one.
fn is_withheld(one: &Comparison<'_>) -> bool {
    one.one_sided.iter().chain(&one.neither).any(|one| one.blind && one.in_both)
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
    let mut loaded = oscost_results::load_references(references).map_err(Ended::misuse)?;
    for unusable in &loaded.unusable {
        talk.say(unusable);
    }
    leave_out_of_all(references, &mut loaded.results, talk);
    let paths: Vec<&Path> = loaded.results.iter().map(|(path, _)| path.as_path()).collect();
    let names = names_of(&paths);
    Ok((names, loaded.results.into_iter().map(|(_, result)| result).collect()))
}

/// Leaves out the bills and counts of `@all`, which nobody named, where runs stand beside them.
fn leave_out_of_all(references: &[String], results: &mut Vec<(PathBuf, RunResult)>, talk: &Talk) {
    let of_times = |result: &RunResult| !is_bill(result) && !is_count(result);
    let Some((_, run)) = results.iter().find(|(_, result)| of_times(result)) else { return };
    let why = |(_, result): &(PathBuf, RunResult)| incomparable(result, run).filter(|_| !of_times(result));
    let mut whys = results.iter().map(why).collect::<Vec<_>>().into_iter();
    let each = references.iter().filter(|reference| *reference != "@all").count();
    let of_all = (results.len() - each).checked_div(references.len() - each).unwrap_or(0);
    let is_named = |reference: &String| {
        let (is_named, results) = if reference == "@all" { (false, of_all) } else { (true, 1) };
        std::iter::repeat_n(is_named, results)
    };
    let mut named = references.iter().flat_map(is_named);
    let mut gone = Vec::new();
    results.retain(|_| {
        let is_named = named.next().unwrap_or(true);
        let why = whys.next().flatten().filter(|_| !is_named);
        gone.extend(why);
        why.is_none()
    });
    if !gone.is_empty() {
        talk.say(format!("left out: {}", left_out(gone)));
    }
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
    if fails(FailOn::Slower) && comparisons.iter().any(Comparison::is_slower) {
        Exit::Slower
    } else if fails(FailOn::Unclear) && comparisons.iter().any(|one| one.blind().0 > 0) {
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
