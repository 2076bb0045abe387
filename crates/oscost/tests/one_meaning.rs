//! No public type name has two meanings, as GLOSSARY.md promises.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The libraries. The benchmarks of families are private, and the program is no library.
const LIBRARIES: &[&str] =
    &["sys", "stats", "results", "harness", "session", "report", "count", "documents", "recorddb"];

/// Names that may stand in two crates, and why.
const TWICE: &[(&str, &str)] = &[
    ("Error", "each crate has one of its own: Rust's custom"),
    ("Verdict", "always on a claim: of evidence, of a comparison, of a comparison before version 2"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Words of the glossary, as a type would be named: "foreign contestant" is ForeignContestant.
fn glossary(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let words = rows.flat_map(|cell| cell.split(", "));
    let named = |word: &str| -> String {
        let parts = word.trim().split([' ', '_', '-']).filter(|part| !part.is_empty());
        parts.map(|part| part[..1].to_uppercase() + &part[1..]).collect()
    };
    words.filter(|word| word.is_ascii()).map(named).collect()
}

/// Public types that a source defines.
fn types(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| {
        let kinds = ["pub struct ", "pub enum ", "pub trait "];
        let name = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
        name.split(|letter: char| !letter.is_alphanumeric()).next()
    })
}

/// Files that define a type, by its name.
fn defined(folder: &Path, found: &mut BTreeMap<String, Vec<PathBuf>>) {
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            defined(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            for name in types(&text) {
                found.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
    }
}

#[test]
fn no_public_type_name_has_two_meanings() {
    let mut crates: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for library in LIBRARIES {
        let mut found = BTreeMap::new();
        defined(&root().join("crates").join(library).join("src"), &mut found);
        for (name, files) in found {
            crates.entry(name.clone()).or_default().insert(library);
            places.entry(name).or_default().extend(files);
        }
    }
    assert!(crates.len() > 300, "{}", crates.len());
    let glossary =
        glossary(&fs::read_to_string(root().join("crates/oscost/GLOSSARY.md")).expect("the glossary"));
    let words = places.keys().filter(|name| glossary.contains(*name)).count();
    assert!(words > 20, "the glossary has {words} names of types");
    for (name, files) in &places {
        let twice = TWICE.iter().any(|(known, _)| known == name);
        assert!(!twice || crates[name].len() > 1, "{name} stands in one crate: it is no exception any more");
        assert!(twice || crates[name].len() == 1, "{name} has two meanings: {files:?}");
        let is_word = glossary.contains(name);
        assert!(!is_word || twice || files.len() == 1, "{name} is a word of GLOSSARY.md: {files:?}");
    }
}

#[test]
fn types_and_words_are_read_as_they_are_written() {
    let source = "pub struct One<'a> {\n    pub enum No\npub(crate) struct Hidden;\npub enum Two {\npub trait Three: Sync {\n";
    assert_eq!(types(source).collect::<Vec<_>>(), ["One", "Two", "Three"]);
    let table =
        "| word | meaning | beware |\n|---|---|---|\n| call path | how | |\n| lateness, latency | due | |\n";
    let expected = ["Word", "CallPath", "Lateness", "Latency"].map(str::to_owned);
    assert_eq!(glossary(table), expected.into_iter().collect());
}
