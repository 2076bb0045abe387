//! What differs around two results: the machine, the conditions, and what a reader must know of that.

use oscost_results::RunResult;

use super::{Differs, Rules};
use crate::numbers;
use crate::words::plain;

/// Speeds of two runs that differ by less are one speed: the canary's own 2 %.
pub(super) const ONE_SPEED: f64 = 0.02;

/// A fact as it is shown; "unknown" for what was not found out.
fn told(fact: Option<&str>) -> String {
    fact.filter(|fact| !fact.is_empty()).map_or("unknown".to_owned(), |fact| plain(fact, true))
}

/// The facts of which both sides have different ones.
fn differing(facts: Vec<(&'static str, Option<String>, Option<String>)>) -> Vec<Differs> {
    let differs = |(what, a, b): (&'static str, Option<String>, Option<String>)| {
        (a != b).then(|| Differs { what, a: told(a.as_deref()), b: told(b.as_deref()) })
    };
    facts.into_iter().filter_map(differs).collect()
}

/// Hardware and hypervisor: with any difference it is another machine.
pub(super) fn machine(a: &RunResult, b: &RunResult) -> Vec<Differs> {
    let (a, b) = (&a.machine, &b.machine);
    let text = |text: &str| Some(text.to_owned());
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let mut all = differing(vec![
        ("processor", text(&a.cpu_model), text(&b.cpu_model)),
        ("instruction set", text(&a.architecture), text(&b.architecture)),
        ("hypervisor", a.hypervisor.clone(), b.hypervisor.clone()),
        ("CPUs", number(Some(a.cpus)), number(Some(b.cpus))),
        ("threads a core", number(a.threads_per_core), number(b.threads_per_core)),
    ]);
    // A kernel takes its own part of the memory: the same machine may show a little less of it.
    if let (Some(of_a), Some(of_b)) = (a.memory_bytes, b.memory_bytes)
        && of_a.abs_diff(of_b) > of_a.max(of_b) / 20
    {
        let size = |bytes: u64| format!("{} MiB", bytes >> 20);
        all.push(Differs { what: "memory", a: size(of_a), b: size(of_b) });
    }
    all
}

/// Kernel, libc, mitigations, settings and the program itself.
pub(super) fn conditions(a: &RunResult, b: &RunResult) -> Vec<Differs> {
    let (of_a, of_b) = (&a.conditions, &b.conditions);
    let text = |text: &str| Some(text.to_owned());
    let number = |number: Option<f64>| number.map(numbers::published);
    let word = |number: Option<u32>| number.map(|number| number.to_string());
    let mut all = differing(vec![
        ("kernel", text(&of_a.kernel), text(&of_b.kernel)),
        ("kernel version", of_a.kernel_version.clone(), of_b.kernel_version.clone()),
        ("command line", of_a.command_line.clone(), of_b.command_line.clone()),
        ("C library", text(&a.tool.libc), text(&b.tool.libc)),
        ("clock source", of_a.clock_source.clone(), of_b.clock_source.clone()),
        ("governor", of_a.governor.clone(), of_b.governor.clone()),
        ("allowed CPUs", of_a.allowed_cpus.clone(), of_b.allowed_cpus.clone()),
        ("CPU quota", number(of_a.cpu_quota), number(of_b.cpu_quota)),
        ("user", word(of_a.uid), word(of_b.uid)),
        ("isolation", of_a.isolation.clone(), of_b.isolation.clone()),
        ("file system", of_a.file_system.clone(), of_b.file_system.clone()),
        ("seccomp mode", word(of_a.seccomp_mode), word(of_b.seccomp_mode)),
        ("effort", text(&a.plan.effort), text(&b.plan.effort)),
        ("oscost", text(&a.tool.version), text(&b.tool.version)),
        ("build", text(&a.tool.build_id), text(&b.tool.build_id)),
    ]);
    all.extend(mitigations(of_a.mitigations.as_deref(), of_b.mitigations.as_deref()));
    all
}

/// Only the mitigations that differ: each is a `name: state`, joined by "; ".
fn mitigations(a: Option<&str>, b: Option<&str>) -> Option<Differs> {
    if a == b {
        return None;
    }
    let parts = |all: Option<&str>| -> Vec<String> {
        all.unwrap_or("").split("; ").filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (of_a, of_b) = (parts(a), parts(b));
    let only = |these: &[String], those: &[String]| {
        let only: Vec<&str> = these.iter().filter(|part| !those.contains(part)).map(String::as_str).collect();
        told(Some(&only.join("; ")))
    };
    Some(Differs { what: "mitigations", a: only(&of_a, &of_b), b: only(&of_b, &of_a) })
}

/// What a reader must know before the first figure.
pub(super) fn warnings(
    a: &RunResult,
    b: &RunResult,
    other_machine: bool,
    rules: Rules,
    speed: Option<f64>,
) -> Vec<String> {
    let mut all = Vec::new();
    if other_machine && rules.cross_machine {
        all.push("the machines differ: a change may be the machine's (--cross-machine)".to_owned());
    } else if other_machine {
        all.push(
            "the machines differ: figures stand side by side, without ratios or verdicts (--cross-machine gives them)"
                .to_owned(),
        );
    }
    if a.tool.build_id != b.tool.build_id {
        all.push(
            "the builds differ: loops lie elsewhere in memory, which moves typical costs; floors hardly, but not never \
             (METHOD.md, Loops)"
                .to_owned(),
        );
    }
    if let Some(speed) = speed.filter(|speed| speed.abs() > ONE_SPEED) {
        all.push(format!(
            "an empty loop took {:+.1} % in the second run: the core's speed differs, so figures are judged in passes of \
             that loop, with half of this as margin, and a change must be one in ns as well",
            speed * 100.0
        ));
    }
    for (result, name) in [(a, "first"), (b, "second")] {
        if result.partial {
            all.push(format!("the {name} run was ended early: its figures rest on fewer launches"));
        }
    }
    all
}
