//! Builds the tests of the changed tree once, and finds the mutants that no compiler accepts.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::tree::Places;

/// One built test program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Folder that cargo would start it in.
    pub folder: PathBuf,
}

/// What a build yielded.
pub enum Built {
    /// The test programs.
    Programs(Vec<Program>),
    /// Mutants that do not compile.
    Refused(BTreeSet<u32>),
}

/// Builds the tests of `packages` in `tree`.
pub fn tests(tree: &Path, target: &Path, packages: &[&str], places: &Places) -> io::Result<Built> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tree).env("CARGO_TARGET_DIR", target);
    cargo.args(["test", "--no-run", "--locked", "--message-format=json"]);
    for package in packages {
        cargo.args(["-p", package]);
    }
    let output = cargo.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    let messages: Vec<Value> = output
        .stdout
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    if output.status.success() {
        return Ok(Built::Programs(messages.iter().filter_map(program).collect()));
    }
    let mut refused = BTreeSet::new();
    for message in messages.iter().filter(|it| it["message"]["level"] == "error") {
        refused.extend(blamed(&message["message"], places));
    }
    if refused.is_empty() {
        let errors: Vec<&str> = messages.iter().filter_map(|it| it["message"]["rendered"].as_str()).collect();
        return Err(io::Error::other(format!(
            "the changed tree does not build, and no mutant is to blame:\n{}\n{}",
            errors.join("\n"),
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(Built::Refused(refused))
}

fn program(message: &Value) -> Option<Program> {
    let test = message["profile"]["test"].as_bool()?;
    let path = message["executable"].as_str()?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    test.then(|| Program { path: path.into(), folder: folder.to_path_buf() })
}

/// Mutants whose bytes an error points at: the innermost that hold its spans; where there is none, all of the file.
fn blamed(error: &Value, places: &Places) -> BTreeSet<u32> {
    let mut numbers = BTreeSet::new();
    let mut files = Vec::new();
    let children = error["children"].as_array().into_iter().flatten();
    let spans = std::iter::once(error).chain(children).filter_map(|it| it["spans"].as_array()).flatten();
    for span in spans {
        let (Some(file), Some(start), Some(end)) =
            (span["file_name"].as_str(), span["byte_start"].as_u64(), span["byte_end"].as_u64())
        else {
            continue;
        };
        let Some((_, in_file)) = places.iter().find(|(path, _)| Path::new(file).ends_with(path)) else {
            continue;
        };
        let holds = |place: &&(std::ops::Range<usize>, u32)| {
            place.0.start as u64 <= start && end <= place.0.end as u64
        };
        // A mutant that borrows or infers otherwise may be inside what the error points at.
        let within = |place: &&(std::ops::Range<usize>, u32)| {
            start <= place.0.start as u64 && place.0.end as u64 <= end
        };
        match in_file.iter().rev().find(holds) {
            Some(place) => numbers.extend([place.1]),
            None => numbers.extend(in_file.iter().filter(within).map(|place| place.1)),
        }
        files.push(in_file);
    }
    if numbers.is_empty() {
        numbers.extend(files.into_iter().flatten().map(|place| place.1));
    }
    numbers
}
