//! No public type name has two meanings, as GLOSSARY.md promises.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::repository::{code, document, root, sources};

/// The libraries. The benchmarks of families are private, and the program is no library.
const LIBRARIES: &[&str] =
    &["sys", "stats", "results", "harness", "session", "report", "count", "documents", "recorddb", "bill"];

/// Names that may stand in two crates, and why.
const TWICE: &[(&str, &str)] = &[
    ("Error", "each crate has one of its own: Rust's custom"),
    ("Verdict", "always on a claim: of evidence, of a comparison, of a comparison before version 2"),
];

/// Names that may stand twice within one library, and why.
const TWICE_INSIDE: &[(&str, &[&str], &str)] = &[
    ("results", &["Directory", "Stream", "Target"], "one module a system: of Linux, of every other"),
    ("bill", &["InKernel", "Looker"], "with programs in the kernel, and without"),
    ("stats", &["Change", "Verdict"], "of comparisons now, and as they were before version 2"),
];

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

/// Types that a source defines outside its tests: the public ones, or all.
fn types(source: &str, public: bool) -> Vec<&str> {
    let named = code(source).lines().filter_map(|line| {
        let bare = match line.strip_prefix("pub") {
            Some(rest) if public => rest.strip_prefix(' ')?,
            Some(rest) => rest.split_once(") ").map_or(rest, |(_, bare)| bare).trim_start(),
            None if public => return None,
            None => line,
        };
        let kinds = ["struct ", "enum ", "trait "];
        let name = kinds.iter().find_map(|kind| bare.strip_prefix(kind))?;
        name.split(|letter: char| !letter.is_alphanumeric()).next()
    });
    named.collect()
}

/// Files of a library that define a type, by its name.
fn defined(library: &str, public: bool) -> BTreeMap<String, Vec<PathBuf>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, text) in sources(&root().join("crates").join(library).join("src")) {
        for name in types(&text, public) {
            found.entry(name.to_owned()).or_default().push(path.clone());
        }
    }
    found
}

#[test]
fn no_public_type_name_has_two_meanings() {
    let mut crates: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for library in LIBRARIES {
        for (name, files) in defined(library, true) {
            crates.entry(name.clone()).or_default().insert(library);
            places.entry(name).or_default().extend(files);
        }
    }
    assert!(crates.len() > 300, "{}", crates.len());
    let glossary = glossary(&document("crates/oscost/GLOSSARY.md"));
    let words = places.keys().filter(|name| glossary.contains(*name)).count();
    assert!(words > 20, "the glossary has {words} names of types");
    for (name, files) in &places {
        let twice = TWICE.iter().any(|(known, _)| known == name);
        assert!(!twice || crates[name].len() > 1, "{name} stands in one crate: it is no exception any more");
        assert!(twice || crates[name].len() == 1, "{name} has two meanings: {files:?}");
        let is_word = glossary.contains(name);
        let twice = twice || TWICE_INSIDE.iter().any(|(_, names, _)| names.contains(&name.as_str()));
        assert!(!is_word || twice || files.len() == 1, "{name} is a word of GLOSSARY.md: {files:?}");
    }
}

#[test]
fn no_two_types_of_a_library_share_a_name() {
    for library in LIBRARIES {
        let found = defined(library, false);
        assert!(found.len() > 5, "{library}: {}", found.len());
        for (name, files) in found {
            let mut files: Vec<_> = files.into_iter().filter(|file| !is_test(file)).collect();
            files.dedup();
            let known = TWICE_INSIDE.iter().any(|(of, names, _)| of == library && names.contains(&&*name));
            assert_eq!(files.len() > 1, known, "{name} of {library}: {files:?}");
        }
    }
}

/// Whether a source is compiled for tests alone.
fn is_test(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests") || file.ends_with("tests.rs")
}

#[test]
fn types_and_words_are_read_as_they_are_written() {
    let source = "pub struct One<'a> {\n    pub enum No\npub(crate) struct Inside;\npub enum Two {\ntrait Own {\n\
                  pub trait Three: Sync {\n#[cfg(test)]\nmod tests {\nstruct Test;\n";
    assert_eq!(types(source, true), ["One", "Two", "Three"]);
    assert_eq!(types(source, false), ["One", "Inside", "Two", "Own", "Three"]);
    let table =
        "| word | meaning | beware |\n|---|---|---|\n| call path | how | |\n| lateness, latency | due | |\n";
    let expected = ["Word", "CallPath", "Lateness", "Latency"].map(str::to_owned);
    assert_eq!(glossary(table), expected.into_iter().collect());
}
