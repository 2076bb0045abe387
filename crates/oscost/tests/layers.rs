//! The layers of ARCHITECTURE.md, proved from the Cargo.toml files: an edge that is not in the table is a defect.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What each crate may know of ours.
const LAYERS: &[(&str, &[&str])] = &[
    ("sys", &[]),
    ("stats", &[]),
    ("results", &[]),
    ("harness", &["sys", "stats", "results"]),
    ("families", &["harness", "sys", "stats"]),
    ("documents", &["families", "harness", "sys", "stats", "results"]),
    ("report", &["results", "stats"]),
    ("oscost", &["sys", "stats", "results", "harness", "families", "documents", "report"]),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a crate lies in crates/").to_owned()
}

/// Crates of ours that a manifest names, dev-dependencies included.
fn named(manifest: &str) -> BTreeSet<String> {
    manifest
        .lines()
        .filter_map(|line| line.trim().strip_prefix("oscost-"))
        .map(|rest| rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect())
        .collect()
}

#[test]
fn every_edge_is_in_the_table() {
    for (name, allowed) in LAYERS {
        let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).expect("a manifest");
        for other in named(&manifest) {
            assert!(allowed.contains(&other.as_str()), "{name} may not know {other}");
        }
    }
}

#[test]
fn every_crate_is_in_the_table() {
    for entry in std::fs::read_dir(crates()).expect("crates/") {
        let name = entry.expect("an entry").file_name().into_string().expect("ASCII names");
        assert!(LAYERS.iter().any(|(known, _)| *known == name), "{name} has no layer");
    }
}

/// All Rust files below `directory`.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn unsafe_code_is_forbidden_everywhere_but_in_sys() {
    for (name, _) in LAYERS {
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| crates().join(name).join(file));
        for root in roots.iter().filter(|root| root.exists()) {
            let text = std::fs::read_to_string(root).expect("a crate root");
            assert_eq!(text.contains("#![forbid(unsafe_code)]"), *name != "sys", "{}", root.display());
        }
    }
    let workspace =
        std::fs::read_to_string(crates().join("../Cargo.toml")).expect("the workspace's manifest");
    for lint in [
        "undocumented_unsafe_blocks = \"deny\"",
        "unsafe_op_in_unsafe_fn = \"deny\"",
        "print_stdout = \"deny\"",
    ] {
        assert!(workspace.contains(lint), "the workspace must have {lint}");
    }
    for (name, _) in LAYERS {
        let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name} must have the workspace's lints");
    }
}

#[test]
fn every_file_says_its_purpose_first() {
    let mut files = Vec::new();
    sources(&crates(), &mut files);
    assert!(files.len() > 50, "only {} files were found", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source file");
        assert!(text.starts_with("//! "), "{} does not say its purpose in its first line", file.display());
    }
}
