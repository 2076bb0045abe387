//! The body of the fuzz target `system`: files of /proc and /sys that anybody may have written, through every check of the
//! doctor, the facts of a result, and the parsers beneath.

use std::path::{Component, Path};

use oscost_results::{CheckState, RunResult, from_bytes, to_bytes};
use oscost_session::doctor::examine_system;
use oscost_session::doctor::measured::MachineFacts;
use oscost_session::doctor::system::System;
use oscost_session::machine::{conditions_of, machine_of};
use oscost_sys::{cpu_list, cpu_time, usage};

use super::formats;

/// Most files of a tree.
const MOST_FILES: usize = 64;

/// A tree of files: lines "== PATH", each followed by what the file holds, or "== PATH -> TARGET", a link. The text "stat_before"
/// is /proc/stat as it was earlier.
pub fn check(data: &[u8]) {
    let files = files(data);
    files.iter().for_each(|(_, bytes)| parsers(&String::from_utf8_lossy(bytes)));
    let folder =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder");
    let mut measured = MachineFacts {
        allowed_cpus: Some(vec![0, 1, 3]),
        hypervisor: [None, Some(None), Some(Some("KVMKVMKVM".to_owned()))][data.len() % 3].clone(),
        used_paths: vec![("results", "/home/user".into())],
        effective_uid: Some(1000),
        ..MachineFacts::default()
    };
    for (path, bytes) in &files {
        if *path == "stat_before" {
            measured.stat_before = Some(String::from_utf8_lossy(bytes).into_owned());
        } else {
            lay(folder.path(), path, bytes);
        }
    }
    judge(&System::new(folder.path(), measured));
}

fn files(data: &[u8]) -> Vec<(&str, &[u8])> {
    let mut files = Vec::new();
    let mut rest = data;
    while let Some(after) = rest.strip_prefix(b"== ") {
        let (line, after) =
            after.split_at(after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len()));
        let after = after.get(1..).unwrap_or_default();
        let end = after.windows(4).position(|four| four == b"\n== ").map_or(after.len(), |at| at + 1);
        let (bytes, next) = after.split_at(end);
        if let Ok(path) = std::str::from_utf8(line) {
            files.push((path, bytes));
        }
        rest = next;
        if files.len() == MOST_FILES {
            break;
        }
    }
    files
}

/// Puts a file, or a link that nobody follows, below `root`, and nowhere else. Another that is there already stays.
fn lay(root: &Path, path: &str, bytes: &[u8]) {
    let (path, target) = path.split_once(" -> ").map_or((path, None), |(path, target)| (path, Some(target)));
    let plain = |part: Component<'_>| matches!(part, Component::Normal(name) if name.len() < 64);
    if path.is_empty() || path.contains('\0') || path.len() > 256 || !Path::new(path).components().all(plain)
    {
        return;
    }
    let path = root.join(path);
    let Some(parent) = path.parent() else { return };
    if path.exists() || std::fs::create_dir_all(parent).is_err() {
        return;
    }
    match target {
        // What a descriptor points to is read and never opened.
        Some(target) if parent.ends_with("fd") => drop(std::os::unix::fs::symlink(target, path)),
        Some(_) => {}
        None => drop(std::fs::write(path, bytes)),
    }
}

fn judge(system: &System) {
    let checks = examine_system(system);
    for check in &checks {
        assert!(!check.says.contains("a defect of oscost"), "{check:?}");
        assert!(!check.says.is_empty(), "{check:?}");
        assert_eq!(check.matters.is_empty(), check.state == CheckState::Fine, "{check:?}");
    }
    let result = RunResult {
        machine: machine_of(system),
        conditions: conditions_of(system),
        doctor: checks,
        figures: Vec::new(),
        ..formats::BASE.clone()
    };
    // No number of a file makes a result that cannot be saved.
    let bytes = to_bytes(&result).expect("a result can be saved");
    assert_eq!(from_bytes(&bytes).as_ref(), Ok(&result));
    formats::render(&result, 80);
}

/// The parsers that get a whole file.
fn parsers(text: &str) {
    for line in text.lines() {
        if let Some(cpus) = cpu_list::parse(line) {
            assert!(cpus.windows(2).all(|two| two[0] < two[1]), "{line:?}");
            assert_eq!(cpu_list::parse(&cpu_list::format(&cpus)).as_ref(), Some(&cpus), "{line:?}");
        }
    }
    if let Some(time) = cpu_time::of(text, &[0, 1, 3]) {
        assert!(time.idle <= time.all && time.stolen_ns() >= time.stolen, "{time:?}");
    }
    let (status, stat) = text.split_once("\n\n").unwrap_or((text, text));
    if let Some(usage::Seen { usage, .. }) = usage::parse(status, stat) {
        assert!(
            usage.switches() >= usage.voluntary_switches && usage.faults() >= usage.minor_faults,
            "{usage:?}"
        );
        assert_eq!(usage.since(&usage).switches(), 0);
    }
}
