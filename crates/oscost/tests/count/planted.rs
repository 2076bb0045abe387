//! One more instruction in a real kernel is counted as exactly one more, in the function where it was planted.

use std::collections::BTreeMap;
use std::path::Path;

use oscost_results::{Figure, Repeats, RunResult};

use crate::{FIVE, command, counted_by, kernel};

/// Where the kernel is entered from user space: swapgs, then a store of the stack pointer by %gs.
const ENTRY: &[u8] = &[0x0f, 0x01, 0xf8, 0x65, 0x48, 0x89];
/// How far the entry is looked at.
const NEAR: usize = 160;
/// There it clears registers that it does not use: xor %r8d,%r8d; xor %r9d,%r9d; xor %r10d,%r10d; xor %r11d,%r11d.
const CLEARS: &[u8] = &[0x45, 0x31, 0xc0, 0x45, 0x31, 0xc9, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xdb];
/// As long as the first of these, in two instructions and in three.
const TWO: [u8; 3] = [0x66, 0x90, 0x90];
const THREE: [u8; 3] = [0x90; 3];

/// The kernel with `instead` for one instruction of every entry.
fn planted(kernel: &[u8], instead: [u8; 3]) -> Vec<u8> {
    let mut patched = kernel.to_vec();
    let at = |bytes: &[u8], wanted: &[u8]| bytes.windows(wanted.len()).position(|it| it == wanted);
    let (mut from, mut places) = (0, 0);
    while let Some(entry) = at(&kernel[from..], ENTRY).map(|found| from + found) {
        from = entry + ENTRY.len();
        if let Some(place) = at(&kernel[from..kernel.len().min(from + NEAR)], CLEARS) {
            patched[from + place..from + place + 3].copy_from_slice(&instead);
            places += 1;
        }
    }
    assert!((1..=2).contains(&places), "{places} entries of system calls in this kernel");
    patched
}

/// The five on a kernel, with the programs in `path` alone, if one is given.
fn count(kernel: &Path, path: Option<&Path>) -> RunResult {
    let mut arguments = vec!["count"];
    arguments.extend(FIVE);
    arguments.extend(["--kernel", kernel.to_str().expect("text"), "--by-function", "--format", "json"]);
    let mut command = command(&arguments);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    counted_by(command)
}

/// A folder in which qemu is, and nothing that could unpack a kernel.
fn qemu_alone() -> tempfile::TempDir {
    const QEMU: &str = "qemu-system-x86_64";
    let path = std::env::var_os("PATH").expect("qemu was found by it");
    let found = std::env::split_paths(&path).map(|folder| folder.join(QEMU)).find(|file| file.exists());
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(found.expect("it is there"), folder.path().join(QEMU)).expect("a link");
    folder
}

fn instructions(figure: &Figure) -> f64 {
    figure.quantities["instructions"].estimate.value
}

/// Own instructions by function.
fn own(figure: &Figure) -> BTreeMap<&str, i64> {
    let mut own = BTreeMap::new();
    for node in figure.count.iter().flat_map(|count| &count.functions) {
        *own.entry(node.name.as_str()).or_default() += node.own as i64;
    }
    own
}

#[test]
#[ignore = "it boots three kernels: .ci/full"]
fn a_planted_instruction_is_counted_as_exactly_one_more() {
    let Some(path) = kernel("a_planted_instruction_is_counted_as_exactly_one_more") else { return };
    let image = std::fs::read(&path).expect("the kernel");
    let unpacked = oscost_count::unpack::kernel(&image).expect("an image that can be unpacked here");
    let folder = tempfile::tempdir().expect("a folder");
    // The first machine unpacks its kernel itself; it counts the same.
    let before = count(Path::new(&path), Some(qemu_alone().path()));
    for (more, instead) in [(1.0, TWO), (2.0, THREE)] {
        let file = folder.path().join("vmlinux");
        std::fs::write(&file, planted(&unpacked, instead)).expect("written");
        let now = count(&file, None);
        for (old, new) in before.figures.iter().zip(&now.figures) {
            assert_eq!(old.id, new.id);
            let constant =
                |figure: &Figure| figure.count.as_ref().map(|count| count.repeats) == Some(Repeats::Constant);
            assert!(constant(old) && constant(new), "{}", old.id);
            let calls: f64 = old.evidence.system_calls.values().sum();
            let changed = instructions(new) - instructions(old);
            assert_eq!(changed, more * calls, "{}: {calls} system calls an operation", old.id);
            let (old_own, new_own) = (own(old), own(new));
            let names = old_own.keys().chain(new_own.keys());
            let moved: BTreeMap<&str, i64> = names
                .map(|&name| (name, new_own.get(name).unwrap_or(&0) - old_own.get(name).unwrap_or(&0)))
                .filter(|(_, by)| *by != 0)
                .collect();
            let entry_alone = moved.keys().all(|name| name.starts_with("entry_SYSCALL_64"));
            assert!(entry_alone && moved.values().sum::<i64>() as f64 == changed, "{}: {moved:?}", old.id);
        }
        let calls = |id: &str| {
            let figure = before.figures.iter().find(|figure| figure.id == id).expect("it was asked for");
            figure.evidence.system_calls.values().sum::<f64>()
        };
        assert_eq!(
            (calls("semaphore/posix_named"), calls("semaphore/system_v")),
            (0.0, 2.0),
            "none, and two"
        );
    }
}
