//! Every file of the fuzzers' corpora in fuzz/corpus/ through the bodies of the fuzz targets, and mutations of those with a name.

mod database;
mod escapers;
mod formats;
mod guest;
mod journal;
mod metrics;
mod mutate;
mod results;
mod seeds;
mod shown;
mod system;
mod tick;
mod tree;
mod trees;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A fuzz target: its name, its body, and how many mutations of each file of its corpus run here.
type Target = (&'static str, fn(&[u8]), usize);

/// What `fuzz/fuzz_targets/NAME.rs` runs, by name.
const TARGETS: &[Target] = &[
    ("results", results::check, 60),
    ("journal", journal::check, 60),
    ("database_book", database::check_book, 150),
    ("database_fast", database::check_fast, 60),
    ("tick", tick::check, 4000),
    ("system", system::check, 60),
    ("escapers", escapers::check, 400),
];

/// The same for those that make their input from choices. They say whether it came to a result, a figure or a message: a test asks
/// for many that did.
type Made = (&'static str, fn(&[u8]) -> bool, usize);

const MADE: &[Made] = &[
    ("result_tree", trees::result, 20),
    ("compare_tree", trees::compare, 20),
    ("page_tree", trees::pages, 20),
    ("journal_tree", trees::journals, 20),
    ("count_tree", trees::count, 30),
    ("guest", guest::check, 200),
    ("tick_messages", tick::messages, 2000),
];

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Names in a folder, without endings.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| stem(entry.expect("an entry").path())).collect();
    names.sort_unstable();
    names
}

/// Runs the body of a target over its corpus.
fn run(target: &str) {
    if let Some((_, check, count)) = TARGETS.iter().find(|(name, ..)| *name == target) {
        return run_over(target, *check, *count);
    }
    let (_, make, count) = MADE.iter().find(|(name, ..)| *name == target).expect("a target");
    let body = |data: &[u8]| {
        make(data);
    };
    run_over(target, body, *count);
}

/// The files of a folder of the corpora, each with what it holds.
fn corpus(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fuzz().join("corpus").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.is_file());
    files.sort_unstable();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("read"))).collect()
}

fn run_over(target: &str, check: impl Fn(&[u8]), count: usize) {
    // What a fuzzer found: as it is.
    let found = format!("{target}/found");
    let found = if fuzz().join("corpus").join(&found).exists() { corpus(&found) } else { Vec::new() };
    for (file, data) in found {
        let checked = catch_unwind(AssertUnwindSafe(|| check(&data)));
        assert!(checked.is_ok(), "{}", file.display());
    }
    let named = corpus(target);
    assert!(named.len() >= 3, "{target} has a corpus of {} files", named.len());
    for (file, data) in named {
        check(&data);
        for (number, mutated) in mutate::mutations(&data, count).enumerate() {
            if catch_unwind(AssertUnwindSafe(|| check(&mutated))).is_err() {
                let kept = std::env::temp_dir().join(format!("oscost-{target}-reproducer"));
                std::fs::write(&kept, &mutated).expect("written");
                panic!("mutation {number} of {}, kept as {}", file.display(), kept.display());
            }
        }
    }
}

#[test]
fn results_of_anybody_are_refused_or_shown_without_harm() {
    run("results");
    // What is refused at once proves nothing about reports.
    assert!(corpus("results").iter().filter(|(_, data)| results::is_result(data)).count() >= 7);
}

#[test]
fn journals_of_anybody_become_results_or_nothing() {
    run("journal");
    for name in ["batched", "series", "largest", "smallest"] {
        let data = std::fs::read(fuzz().join("corpus/journal").join(name)).expect("read");
        assert!(journal::measured(&data) > 0, "{name} has figures");
    }
}

#[test]
fn books_of_anybody_are_used_or_refused() {
    run("database_book");
}

#[test]
fn fast_databases_of_anybody_are_used_or_refused() {
    run("database_fast");
}

#[test]
fn packets_of_anybody_are_messages_or_nothing() {
    run("tick");
}

#[test]
fn any_system_is_examined_and_its_facts_are_a_result() {
    run("system");
}

#[test]
fn any_text_is_shown_and_never_obeyed() {
    run("escapers");
}

#[test]
fn edited_results_are_read_and_shown_or_refused() {
    run("result_tree");
    run("page_tree");
    run("compare_tree");
}

#[test]
fn edited_journals_and_counts_are_figures_or_reasons() {
    run("journal_tree");
    run("count_tree");
}

#[test]
fn frames_of_any_guest_are_figures_or_reasons() {
    run("guest");
}

#[test]
fn messages_of_any_content_are_heard_as_they_were_said() {
    run("tick_messages");
}

/// Edits that nothing reads any more prove nothing: of the mutations of each corpus one in eight comes to a result, a figure, a message.
#[test]
fn many_edits_reach_what_they_are_there_for() {
    for (name, body, _) in MADE {
        let inputs: Vec<Vec<u8>> = corpus(name)
            .iter()
            .flat_map(|(_, data)| mutate::mutations(data, 8).collect::<Vec<_>>())
            .collect();
        let reached = inputs.iter().filter(|data| body(data)).count();
        assert!(reached * 8 >= inputs.len(), "{name}: {reached} of {} inputs", inputs.len());
    }
}

/// Each hostile line in every text of a result at once.
#[test]
fn hostile_text_in_every_field_is_shown_without_harm() {
    let lines = std::fs::read(fuzz().join("corpus/escapers/hostile")).expect("read");
    let lines: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 60, "{} hostile lines", lines.len());
    for line in lines {
        results::check(&seeds::result_of(&String::from_utf8_lossy(line)));
    }
}

#[test]
fn every_fuzz_target_has_a_corpus_and_runs_here() {
    let all = TARGETS.iter().map(|(name, ..)| *name).chain(MADE.iter().map(|(name, ..)| *name));
    let mut expected: Vec<String> = all.map(str::to_owned).collect();
    expected.sort_unstable();
    assert_eq!(names(&fuzz().join("fuzz_targets")), expected);
    assert_eq!(names(&fuzz().join("corpus")), expected);
}
