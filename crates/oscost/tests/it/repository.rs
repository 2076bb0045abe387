//! Reads this repository: its documents, its sources, and what the program says of itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file, by its name below the root.
pub fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What is in a folder.
pub fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry").path())
}

/// Files below a folder with this extension that are written here: no build has made them, and no other project.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !path.is_symlink() {
            if !["target", "node_modules", "uplot"].contains(&&*name) && !name.starts_with('.') {
                found.extend(files(&path, extension));
            }
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found
}

/// Sources below a folder, each with its text.
pub fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).expect("a source"));
    files(folder, "rs").into_iter().map(read).collect()
}

/// What of a source is not its tests: what stands before a module of tests, which ends a file. The name of one in another file ends none.
pub fn code(source: &str) -> &str {
    let is_module = |(at, begin): &(usize, &str)| {
        let line = source[at + begin.len()..].lines().next().unwrap_or_default();
        let begins = ["mod ", "pub(crate) mod ", "pub(super) mod "].iter().any(|it| line.starts_with(it));
        begins && line.ends_with('{')
    };
    let tests = source.match_indices("#[cfg(test)]\n").find(is_module);
    &source[..tests.map_or(source.len(), |(at, _)| at)]
}

/// Commands that the program's help lists.
pub fn commands() -> BTreeSet<String> {
    let help = said(&["--help"]).expect("help");
    let list = help.split("Commands:").nth(1).and_then(|rest| rest.split("Options:").next());
    let lines = list.expect("a list of commands").lines();
    // What a command does may go on in a second line, further in.
    let lines = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let named = lines.filter_map(|line| line.split_whitespace().next());
    named.filter(|command| *command != "help").map(str::to_owned).collect()
}

/// Strings that a schema allows.
pub fn words(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("const", Value::String(word)) => _ = found.insert(word.clone()),
                    ("enum", Value::Array(list)) => {
                        found.extend(list.iter().filter_map(|word| word.as_str().map(str::to_owned)));
                    }
                    _ => words(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| words(value, found)),
        _ => {}
    }
}

/// The file of this name, as JSON.
pub fn json(name: &str) -> Value {
    serde_json::from_str(&document(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What the program prints, or nothing if it refuses.
pub fn said(arguments: &[&str]) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_oscost")).args(arguments).output().expect("it was built");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("it prints text"))
}
