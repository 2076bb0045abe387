//! The modules inside crates, proved from the sources: which folder of harness and report may use which, as ARCHITECTURE.md
//! draws them, and that no file imports what imports it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::repository::{code, entries, root};

/// The folders of a crate, each below all that use it, with what it may use of the others.
type Folders = &'static [(&'static str, &'static [&'static str])];

/// One folder a process, and what the two share below them. The supervisor takes from the worker what both read (the
/// environment, the clock): the worker's other modules are private to it.
const HARNESS: Folders = &[
    ("protocol", &[]),
    ("benchmark", &["protocol"]),
    ("worker", &["benchmark", "protocol"]),
    ("figures", &["benchmark", "protocol"]),
    ("supervisor", &["benchmark", "figures", "protocol", "worker"]),
];

/// Views and renderers know blocks and not each other; what is for other programs knows neither.
const REPORT: Folders = &[
    ("named", &[]),
    ("words", &[]),
    ("numbers", &[]),
    ("evidence", &["numbers"]),
    ("blocks", &["numbers"]),
    ("judge", &["evidence", "named", "numbers", "words"]),
    ("view", &["blocks", "evidence", "judge", "named", "numbers", "words"]),
    ("render", &["blocks", "numbers", "words"]),
    ("data", &["evidence", "judge", "named"]),
    ("show", &["blocks", "data", "judge", "named", "render", "view"]),
];

/// Names below the root of the crate that a source uses: by `crate::`, or by climbing `depth` modules up to it.
fn named(source: &str, depth: usize) -> BTreeSet<String> {
    let code: String =
        source.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let climb = "super::".repeat(depth);
    let ways = code.match_indices("crate::").chain(code.match_indices(&*climb));
    let mut found = BTreeSet::new();
    for (start, way) in ways.filter(|(start, way)| *way != climb || !code[..*start].ends_with("super::")) {
        let Some(group) = code[start + way.len()..].strip_prefix('{') else {
            found.insert(identifier(&code[start + way.len()..]).to_owned());
            continue;
        };
        let mut open = 0;
        for (at, letter) in group.char_indices() {
            let before = group[..at].trim_end();
            if open == 0 && !letter.is_whitespace() && (before.is_empty() || before.ends_with(',')) {
                found.insert(identifier(&group[at..]).to_owned());
            }
            match letter {
                '{' => open += 1,
                '}' if open == 0 => break,
                '}' => open -= 1,
                _ => {}
            }
        }
    }
    found
}

/// The identifier at the beginning of a path.
fn identifier(path: &str) -> &str {
    let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(path.len());
    &path[..end]
}

/// Checks the sources of a folder below `path`, whose modules lie `depth` below the root; says how many there are.
fn check(folders: Folders, folder: &str, allowed: &[&str], path: &Path, depth: usize) -> usize {
    if path.is_dir() {
        return entries(path).map(|entry| check(folders, folder, allowed, &entry, depth + 1)).sum();
    }
    // Tests put things together as they need.
    if path.extension().is_none_or(|it| it != "rs") || path.ends_with("tests.rs") {
        return 0;
    }
    let text = fs::read_to_string(path).expect("a source");
    let code = code(&text);
    let depth = if path.ends_with("mod.rs") { depth - 1 } else { depth };
    for other in named(code, depth) {
        // A name that lib.rs hands on would hide the folder that it comes from.
        let is_folder = folders.iter().any(|(known, _)| *known == other);
        assert!(is_folder, "{} must name the folder of {other}", path.display());
        let may = other == folder || allowed.contains(&&*other);
        assert!(may, "{} must not name {other}", path.display());
    }
    1
}

/// Holds a crate against its folders; says how many sources were read.
fn held(name: &str, folders: Folders) -> usize {
    let sources = root().join("crates").join(name).join("src");
    let mut looked_at = 0;
    for (index, (folder, allowed)) in folders.iter().enumerate() {
        let is_below = |other: &&str| folders[..index].iter().any(|(below, _)| below == other);
        assert!(allowed.iter().all(is_below), "{name}: {folder} may use what is not below it: a circle");
        let places: Vec<PathBuf> = [sources.join(folder), sources.join(format!("{folder}.rs"))].into();
        assert!(places.iter().any(|place| place.exists()), "{name} has no {folder}");
        let found = places.iter().filter(|place| place.exists());
        looked_at += found.map(|place| check(folders, folder, allowed, place, 1)).sum::<usize>();
    }
    for entry in entries(&sources) {
        let file = entry.file_stem().expect("a name").to_string_lossy().into_owned();
        let known = file == "lib" || folders.iter().any(|(folder, _)| *folder == file);
        assert!(known, "{name}: {file} stands in no folder");
    }
    looked_at
}

#[test]
fn worker_and_supervisor_are_two_folders_above_what_they_share() {
    let looked_at = held("harness", HARNESS);
    assert!(looked_at > 50, "{looked_at}");
}

#[test]
fn views_and_renderers_do_not_know_each_other() {
    let looked_at = held("report", REPORT);
    assert!(looked_at > 70, "{looked_at}");
}

#[test]
fn the_reader_of_sources_sees_every_way_to_name_a_part() {
    let source = "use crate::render::text;\nuse crate::{numbers, view::{a, b}, data};\n// crate::no\n\
                  use super::super::{judge, words};\nfn f() { super::show(); super::super::blocks::x() }\n";
    let all = named(source, 2);
    let expected = ["blocks", "data", "judge", "numbers", "render", "view", "words"];
    assert_eq!(all.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// The files of a crate by their paths of modules; those that only hold others are left out, and so are tests.
fn files(folder: &Path, path: &[String], found: &mut BTreeMap<Vec<String>, String>) {
    for entry in entries(folder) {
        let name = entry.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut own = path.to_vec();
        own.push(name.clone());
        if name == "tests" {
            continue;
        }
        if entry.is_dir() {
            files(&entry, &own, found);
        } else if entry.extension().is_some_and(|it| it == "rs") && !["lib", "main", "mod"].contains(&&*name)
        {
            let text = fs::read_to_string(&entry).expect("a source");
            let lines = code(&text).lines().map(|line| line.split("//").next().unwrap_or(""));
            found.insert(own, lines.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// The paths that go on from the start of `code`, which stands behind a word of a path: `::{a, b::{c, d}}` are a, b::c and b::d.
fn paths(code: &str) -> Vec<Vec<String>> {
    let Some(next) = code.trim_start().strip_prefix("::").map(str::trim_start) else {
        return vec![Vec::new()];
    };
    let Some(group) = next.strip_prefix('{') else {
        let next = next.strip_prefix("r#").unwrap_or(next);
        let word = identifier(next);
        let with_word = |mut path: Vec<String>| {
            path.insert(0, word.to_owned());
            path
        };
        return paths(&next[word.len()..]).into_iter().map(with_word).collect();
    };
    let (mut all, mut open, mut begun) = (Vec::new(), 0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => open += 1,
            '}' if open > 0 => open -= 1,
            ',' | '}' if open == 0 => {
                let part = group[begun..at].trim();
                if !part.is_empty() {
                    all.extend(paths(&format!("::{part}")));
                }
                begun = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    all
}

/// The files that a file names: by `crate::`, or by climbing with `super::`.
fn imports(own: &[String], code: &str, files: &BTreeMap<Vec<String>, String>) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (start, word) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        let before = code[..start].trim_end();
        if before.ends_with("::")
            || before.ends_with(|letter: char| letter.is_alphanumeric()) && before.len() == start
        {
            continue;
        }
        for path in paths(&code[start + word.len() - 2..]) {
            let mut full = if word == "super::" { own[..own.len() - 1].to_vec() } else { Vec::new() };
            for part in path {
                if part == "super" {
                    full.pop();
                } else {
                    full.push(part);
                }
            }
            while !full.is_empty() && !files.contains_key(&full) {
                full.pop();
            }
            if !full.is_empty() && full != own {
                found.insert(full);
            }
        }
    }
    found
}

/// Those of `files` that lie on a circle of imports: what is left once every file is gone that imports nothing that is left, and
/// every file that nothing left imports.
fn on_circles(files: &BTreeMap<Vec<String>, String>) -> BTreeSet<String> {
    let mut left: BTreeMap<_, _> =
        files.iter().map(|(own, code)| (own.clone(), imports(own, code, files))).collect();
    loop {
        let importers: BTreeSet<Vec<String>> = left.values().flatten().cloned().collect();
        let known: BTreeSet<Vec<String>> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|own, named| importers.contains(own) && named.iter().any(|it| known.contains(it)));
        let known: BTreeSet<Vec<String>> = left.keys().cloned().collect();
        left.values_mut().for_each(|named| named.retain(|it| known.contains(it)));
        if left.len() == before {
            return left.into_keys().map(|path| path.join("/")).collect();
        }
    }
}

#[test]
fn no_file_imports_what_imports_it() {
    for entry in entries(&root().join("crates")) {
        let (name, mut found) = (entry.display(), BTreeMap::new());
        files(&entry.join("src"), &[], &mut found);
        let named: usize = found.iter().map(|(own, code)| imports(own, code, &found).len()).sum();
        assert!(found.len() > 10 && named > found.len() / 2, "{name}: {} files name {named}", found.len());
        let circle = on_circles(&found);
        assert!(circle.is_empty(), "{name}: on a circle, or between two: {circle:?}");
    }
}

#[test]
fn the_reader_of_sources_sees_a_circle() {
    let sources = [
        ("a", "use super::b::{C, D};"),
        ("b", "use crate::{d, c::{self, E}};"),
        ("c", "fn f() -> crate::a::T { todo }"),
        ("d", ""),
        ("e", "use super::a;"),
    ];
    let files = sources.map(|(name, code)| (vec![name.to_owned()], code.to_owned())).into();
    assert_eq!(on_circles(&files).into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}
