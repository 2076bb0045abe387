//! A copy of the checkout whose chosen files carry mutants.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::splice::{Numbered, SWITCH, splice};

/// A drawn mutant: its file below the root, and its site.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// File, below the root.
    pub file: PathBuf,
    /// Number and site.
    pub numbered: Numbered,
}

/// Copies every file that git knows from `root` to `tree`; an unchanged file keeps its time, so that little is rebuilt. What is
/// there of an older checkout goes: a test that was moved would be there twice.
pub fn copy(root: &Path, tree: &Path) -> io::Result<()> {
    let output = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output()?;
    if !output.status.success() {
        return Err(io::Error::other("git ls-files failed: the mutants are drawn from a checkout"));
    }
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    for name in listing.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), tree.join(name));
        let Ok(bytes) = std::fs::read(&from) else { continue };
        write_if_changed(&to, &bytes)?;
        std::fs::set_permissions(&to, std::fs::metadata(&from)?.permissions())?;
    }
    let known: BTreeSet<PathBuf> = listing.split('\0').map(|name| tree.join(name)).collect();
    remove_unknown(tree, &known)
}

/// Removes the files below `folder` that are not `known`, and folders that are then empty.
fn remove_unknown(folder: &Path, known: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() {
            remove_unknown(&path, known)?;
            // It stays if something is in it.
            let _ = std::fs::remove_dir(&path);
        } else if !known.contains(&path) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if std::fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, bytes)
}

/// Bytes of each mutant in the file as it was written, the outer ones first.
pub type Places = BTreeMap<PathBuf, Vec<(std::ops::Range<usize>, u32)>>;

/// Writes the files of `mutants` with their switches into `tree`, and the switch itself into each crate of `crates`.
pub fn write(root: &Path, tree: &Path, crates: &[PathBuf], mutants: &[Mutant]) -> io::Result<Places> {
    let mut by_file: BTreeMap<&Path, Vec<Numbered>> = BTreeMap::new();
    for mutant in mutants {
        by_file.entry(&mutant.file).or_default().push(mutant.numbered.clone());
    }
    let mut files: Vec<PathBuf> = crates.iter().map(|it| it.join("src/lib.rs")).collect();
    files.extend(by_file.keys().map(|file| file.to_path_buf()));
    files.sort();
    files.dedup();
    let mut places = Places::new();
    for file in files {
        let source = std::fs::read_to_string(root.join(&file))?;
        let mut spliced = splice(&source, by_file.get(file.as_path()).map_or(&[], Vec::as_slice));
        if file.ends_with("src/lib.rs") {
            spliced.text.push_str("\nmod oscost_mutant;\n");
        }
        write_if_changed(&tree.join(&file), spliced.text.as_bytes())?;
        places.insert(file, spliced.places);
    }
    for it in crates {
        write_if_changed(&tree.join(it).join("src/oscost_mutant.rs"), SWITCH.as_bytes())?;
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_goes() {
        let folder = std::env::temp_dir().join(format!("oscost-mutants-tree-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for name in ["kept/a.rs", "kept/moved.rs", "gone/b.rs"] {
            write_if_changed(&folder.join(name), b"text").expect("a file");
        }
        remove_unknown(&folder, &[folder.join("kept/a.rs")].into()).expect("files to be removed");
        assert!(folder.join("kept/a.rs").exists());
        assert!(!folder.join("kept/moved.rs").exists() && !folder.join("gone").exists());
        std::fs::remove_dir_all(&folder).expect("the test's folder");
    }
}
