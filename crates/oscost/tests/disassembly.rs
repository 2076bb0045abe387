//! The measured loops of the release build, proved from their disassembly: the operation, and one fused `dec; jne`.
//!
//! It reads the release program, so it needs `cargo build --release` first; x86-64 and objdump. Skipped loudly elsewhere.
#![allow(clippy::print_stdout)] // a skip must be seen

use std::path::PathBuf;
use std::process::Command;

/// One instruction: its address and its text.
type Instruction = (u64, String);

/// The release program beside this test's own target directory.
fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let target = own.ancestors().find(|path| path.join("release").is_dir())?;
    Some(target.join("release/oscost")).filter(|path| path.exists())
}

/// Instructions of the function whose symbol holds all of `parts`.
fn function(listing: &str, parts: &[&str]) -> Option<Vec<Instruction>> {
    let mut lines = listing.lines();
    lines.by_ref().find(|line| line.ends_with(">:") && parts.iter().all(|part| line.contains(part)))?;
    let instructions = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        let (address, text) = line.trim().split_once(':')?;
        Some((u64::from_str_radix(address, 16).ok()?, text.trim().to_owned()))
    });
    Some(instructions.collect())
}

/// Instructions of the innermost loop: from the target of the last backward jump to that jump.
fn inner_loop(instructions: &[Instruction]) -> Option<Vec<Instruction>> {
    instructions.iter().rev().find_map(|(address, text)| {
        let mut words = text.split_whitespace();
        words.next().filter(|word| word.starts_with('j'))?;
        let target = u64::from_str_radix(words.next()?, 16).ok().filter(|target| target < address)?;
        let inside = instructions.iter().filter(|(at, _)| (target..=*address).contains(at));
        Some(inside.cloned().collect())
    })
}

fn listing() -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        println!("SKIP disassembly: not x86-64");
        return None;
    }
    let Some(program) = program() else {
        println!("SKIP disassembly: no release build (cargo build --release)");
        return None;
    };
    match Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(program).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        _ => {
            println!("SKIP disassembly: no objdump");
            None
        }
    }
}

fn mnemonics(instructions: &[Instruction]) -> Vec<&str> {
    instructions.iter().filter_map(|(_, text)| text.split_whitespace().next()).collect()
}

fn loop_of(listing: &str, parts: &[&str]) -> Vec<Instruction> {
    let function = function(listing, parts).unwrap_or_else(|| panic!("no symbol with {parts:?}"));
    inner_loop(&function).unwrap_or_else(|| panic!("no loop in {parts:?}: {function:?}"))
}

#[test]
fn loops_hold_the_operation_and_nothing_else() {
    let Some(listing) = listing() else { return };
    let empty = loop_of(&listing, &["empty_loop", "batch"]);
    assert_eq!(mnemonics(&empty), ["dec", "jne"], "{empty:?}");
    // getppid's loop is the same code as known_cost/calls_1's, which the linker keeps once.
    let getpid = loop_of(&listing, &["syscall..getpid..", "batch"]);
    assert_eq!(mnemonics(&getpid), ["mov", "syscall", "dec", "jne"], "{getpid:?}");
    for aligned in [&empty, &getpid] {
        assert_eq!(aligned[0].0 % 64, 0, "the loop does not start on a cache line: {aligned:?}");
    }
    let system_v = loop_of(&listing, &["semaphore..system_v..", "batch"]);
    let calls: Vec<&Instruction> = system_v.iter().filter(|(_, text)| text.starts_with("call")).collect();
    assert_eq!(calls.len(), 2, "two semops: {system_v:?}");
    // Straight to libc: through a register that holds the address of semop, or through its slot; never to code of ours.
    assert!(calls.iter().all(|(_, text)| text.contains('*') && !text.contains("oscost")), "{calls:?}");
}

#[test]
fn the_reader_of_listings_finds_loops() {
    let listing = "\n0000000000000040 <_ZN3batch>:\n  40:\ttest   %rdx,%rdx\n  43:\tje     4c <x>\n  45:\tdec    %rdx\n  48:\tjne    45 <x>\n  4a:\tret\n\n";
    let function = function(listing, &["batch"]).unwrap();
    assert_eq!(function.len(), 5);
    assert_eq!(mnemonics(&inner_loop(&function).unwrap()), ["dec", "jne"]);
    assert!(inner_loop(&function[..2]).is_none());
}
