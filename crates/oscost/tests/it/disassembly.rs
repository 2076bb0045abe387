//! The measured loops of the release program, proved from its disassembly: nothing in them but the operation, and each
//! begins on a cache line (METHOD.md, Loops).
//!
//! Only for x86-64, with objdump, and where `cargo build --release` was run: else it is skipped, and says so.

#![expect(clippy::print_stdout)] // what is skipped is said

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// One instruction: address, and the words of objdump.
struct Instruction {
    address: u64,
    text: String,
}

/// Number of getppid on x86-64.
const GETPPID: &str = "mov $0x6e,%eax";

fn release_program() -> Option<PathBuf> {
    // target/<profile>/oscost
    let tested = Path::new(env!("CARGO_BIN_EXE_oscost"));
    Some(tested.parent()?.parent()?.join("release/oscost")).filter(|path| path.exists())
}

/// Whether a program was built before one of the files changed that cargo lists beside it.
fn is_older_than_its_sources(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    let listed = std::fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    listed.split_whitespace().skip(1).any(|source| changed(Path::new(source)) > changed(program))
}

/// A function: its name and what it does.
type Function = (String, Vec<Instruction>);

/// All functions of the release program, or the reason for which there are none. Disassembled once for all tests.
fn all_functions() -> Result<&'static [Function], String> {
    static ALL: LazyLock<Result<Vec<Function>, String>> = LazyLock::new(disassembled);
    ALL.as_deref().map_err(String::clone)
}

fn disassembled() -> Result<Vec<Function>, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("this is not x86-64".to_owned());
    }
    let program = release_program().ok_or("there is no release program: cargo build --release")?;
    if is_older_than_its_sources(&program) {
        return Err("the release program is older than its sources: cargo build --release".to_owned());
    }
    let output = Command::new("objdump")
        .args(["-d", "-C", "--no-show-raw-insn", "-j", ".text"])
        .arg(&program)
        .output();
    let output = output.map_err(|error| format!("objdump (binutils) cannot be run: {error}"))?;
    assert!(output.status.success(), "objdump: {}", String::from_utf8_lossy(&output.stderr));
    let mut functions: Vec<Function> = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            functions.push((name.to_owned(), Vec::new()));
        } else if let Some((address, text)) = line.trim().split_once(":\t")
            && let Ok(address) = u64::from_str_radix(address, 16)
            && let Some((_, instructions)) = functions.last_mut()
        {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            instructions.push(Instruction { address, text });
        }
    }
    Ok(functions)
}

/// Those that are measured.
fn functions() -> Result<Vec<&'static Function>, String> {
    let all = all_functions()?.iter();
    let functions: Vec<_> = all.filter(|(name, _)| name.ends_with("::Batched>::batch")).collect();
    assert!(functions.len() > 10, "only {} measured loops were found", functions.len());
    Ok(functions)
}

/// The loop that `instructions[last]` jumps back to the start of, if it does.
fn loop_ending_at(instructions: &[Instruction], last: usize) -> Option<&[Instruction]> {
    let target = instructions[last].text.strip_prefix("jne ")?.split(' ').next()?;
    let target = u64::from_str_radix(target, 16).ok()?;
    let first = instructions[..=last].iter().position(|instruction| instruction.address == target)?;
    Some(&instructions[first..=last])
}

fn loops(instructions: &[Instruction]) -> impl Iterator<Item = &[Instruction]> {
    (0..instructions.len()).filter_map(|last| loop_ending_at(instructions, last))
}

fn words(instructions: &[Instruction]) -> Vec<&str> {
    let word = |instruction: &Instruction| {
        match instruction.text.as_str() {
            text if text.starts_with("jne ") => "jne",
            text if text.starts_with("dec ") => "dec",
            _ => "",
        }
        .len()
    };
    instructions
        .iter()
        .map(|instruction| match word(instruction) {
            0 => instruction.text.as_str(),
            length => &instruction.text[..length],
        })
        .collect()
}

fn functions_or_skip(test: &str) -> Option<Vec<&'static Function>> {
    functions().inspect_err(|why| println!("SKIP {test}: {why}")).ok()
}

#[test]
fn an_inline_system_call_is_the_call_and_the_count() {
    let Some(functions) = functions_or_skip("an_inline_system_call_is_the_call_and_the_count") else {
        return;
    };
    // The compiler makes one function of loops that are the same: syscall/getppid and instrument/known_cost/calls_1.
    let bodies: Vec<_> = functions.iter().flat_map(|(_, all)| loops(all)).collect();
    let expected = [GETPPID, "syscall", "dec", "jne"];
    let found = bodies.iter().find(|body| words(body) == expected).unwrap_or_else(|| {
        let near: Vec<_> =
            bodies.iter().map(|body| words(body)).filter(|body| body.contains(&GETPPID)).collect();
        panic!("no loop is {expected:?}; those with getppid: {near:?}")
    });
    assert_eq!(found[0].address % 64, 0, "the loop does not start on a cache line");
    // Each further call of the known cost adds the call and nothing else.
    for calls in [2, 4] {
        let mut expected = [GETPPID, "syscall"].repeat(calls);
        expected.extend(["dec", "jne"]);
        assert!(bodies.iter().any(|body| words(body) == expected), "no loop of {calls} calls");
    }
}

#[test]
fn the_empty_loop_is_one_fused_pair() {
    let Some(functions) = functions_or_skip("the_empty_loop_is_one_fused_pair") else { return };
    let (_, empty) =
        functions.iter().find(|(name, _)| name.contains("empty_loop")).expect("instrument/empty_loop");
    let bodies: Vec<_> = loops(empty).collect();
    assert_eq!(bodies.iter().map(|body| words(body)).collect::<Vec<_>>(), [["dec", "jne"]]);
    assert_eq!(bodies[0][0].address % 64, 0, "the loop does not start on a cache line");
}

#[test]
fn system_v_calls_the_library_directly() {
    let Some(functions) = functions_or_skip("system_v_calls_the_library_directly") else { return };
    // Rows of tables share a name: those that load semop are semaphore/system_v, its one call, and its undo.
    let mut calls = Vec::new();
    for (name, cycle) in functions.iter().filter(|(name, _)| name.contains("operation::Calls<")) {
        if cycle.iter().any(|instruction| instruction.text.contains("<semop@")) {
            let body = loops(cycle).next().expect("a loop");
            assert_eq!(body[0].address % 64, 0, "{name}: the loop does not start on a cache line");
            calls.push(words(body).iter().filter(|word| word.starts_with("call ")).count());
        }
    }
    calls.sort_unstable();
    assert_eq!(calls, [1, 2, 2], "both in one call; one wait and one post; the same with undo");
}

#[test]
fn every_loop_of_inline_calls_starts_on_a_cache_line() {
    let Some(functions) = functions_or_skip("every_loop_of_inline_calls_starts_on_a_cache_line") else {
        return;
    };
    let mut seen = 0;
    for (name, instructions) in &functions {
        for body in loops(instructions).filter(|body| words(body).contains(&"syscall")) {
            assert_eq!(body[0].address % 64, 0, "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 8, "only {seen} loops with inline calls were found");
}

/// A document's program calls libc, and its card says so: a call without libc's return has another price.
#[test]
fn the_methods_of_documents_make_no_inline_call() {
    let all = match all_functions() {
        Ok(all) => all,
        Err(why) => return println!("SKIP the_methods_of_documents_make_no_inline_call: {why}"),
    };
    let methods: Vec<_> = all
        .iter()
        .filter(|(name, _)| name.contains("as oscost_harness::benchmark::Series>::launch"))
        .collect();
    let of_documents: Vec<_> =
        methods.iter().filter(|(name, _)| name.contains("oscost_documents::")).collect();
    assert!(of_documents.len() > 8, "only {} methods were found", of_documents.len());
    for (name, instructions) in of_documents {
        assert!(!instructions.iter().any(|it| it.text == "syscall"), "{name}");
    }
}

/// Bandwidth is moved as the remarks on its cards say. Below level 3 nothing is vectorised, and memory seems a third as fast.
#[test]
fn bandwidth_is_moved_as_its_remarks_say() {
    let Some(functions) = functions_or_skip("bandwidth_is_moved_as_its_remarks_say") else { return };
    for (way, starts) in [("Read", &["paddq "][..]), ("Write", &["movdqu %xmm", "movups %xmm"])] {
        let batch = format!("memory::bandwidth::{way} as ");
        let (_, function) = functions.iter().find(|(name, _)| name.contains(&batch)).expect("the loop");
        let vectors = |it: &Instruction| starts.iter().any(|start| it.text.starts_with(start));
        assert!(
            loops(function).any(|body| body.iter().any(vectors)),
            "{way}: no loop moves two words at once"
        );
        assert!(loops(function).all(|body| !body.iter().any(|it| it.text.contains("memset"))), "{way}");
        // Each addition to a sum waits for the one before: with less than four sums the additions take longer than the loads.
        let sums = |body: &[Instruction]| {
            let into = |it: &Instruction| it.text.rsplit_once(',').map(|(_, register)| register.to_owned());
            body.iter().filter(|it| vectors(it)).filter_map(into).collect::<BTreeSet<_>>().len()
        };
        assert!(way != "Read" || loops(function).any(|body| sums(body) >= 4), "{way}: too few sums");
    }
    for (way, called) in [("Copied", "<memcpy"), ("Set", "<memset")] {
        let batch = format!("memory::bandwidth::{way} as ");
        let (_, function) = functions.iter().find(|(name, _)| name.contains(&batch)).expect("the loop");
        assert!(
            loops(function).any(|body| body.iter().any(|it| it.text.contains(called))),
            "{way} is not libc's"
        );
    }
}

#[test]
fn canaries_add_registers_and_nothing_else() {
    let all = match all_functions() {
        Ok(all) => all,
        Err(why) => return println!("SKIP canaries_add_registers_and_nothing_else: {why}"),
    };
    for (name, operation, chains, length, idle) in
        [("chain", "add", 1, 64, 0), ("check_chain", "imul", 1, 64, 0), ("throughput", "add", 6, 128, 32)]
    {
        let name = format!("oscost_sys::canary::{name}");
        let (_, function) = all.iter().find(|(found, _)| *found == name).expect("the canary");
        let body = loops(function).next().expect("a loop");
        assert_eq!(body[0].address % 64, 0, "{name} does not start on a cache line");
        let (end, steps) = (&words(body)[length..], &body[..length]);
        assert_eq!(end, ["dec", "jne"], "{name}");
        let texts = || steps.iter().map(|step| step.text.as_str());
        assert_eq!(texts().filter(|&text| text == "nop").count(), idle, "{name}");
        // One source for all, which is no target: two registers, no constant, no memory.
        let of_registers: Vec<(&str, &str)> = texts()
            .filter_map(|text| text.strip_prefix(operation)?.trim_start().split_once(','))
            .filter(|(source, target)| [source, target].iter().all(|operand| operand.starts_with("%r")))
            .collect();
        assert_eq!(of_registers.len(), length - idle, "{name}: {:?}", words(body));
        let sources: BTreeSet<&str> = of_registers.iter().map(|(source, _)| *source).collect();
        let targets: BTreeSet<&str> = of_registers.iter().map(|(_, target)| *target).collect();
        assert_eq!((sources.len(), targets.len()), (1, chains), "{name}");
        assert!(sources.is_disjoint(&targets), "{name}");
    }
}
