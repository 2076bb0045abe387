//! Facts about the host in a result: each with its reason.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{GapCause, RunResult, format};

/// A fact of the host that a result holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostFact {
    /// Its path in the result ("conditions.governor").
    pub name: String,
    /// Its value.
    pub value: String,
    /// Why it is kept.
    pub why: &'static str,
}

/// Members that tell of the host, who ran it, or when, and why they are kept.
const WHYS: &[(&str, &str)] = &[
    ("started", "orders runs; `anonymous` keeps the day"),
    ("note", "your own words (--note)"),
    ("tool.version", "figures of two versions may differ in method"),
    ("tool.build_id", "another build places code elsewhere, which alone can change a cost"),
    ("tool.target", "says for which machines the program was built"),
    ("tool.libc", "calls through the C library depend on its version"),
    ("machine.cpu_model", "figures of two processors give no verdict"),
    ("machine.architecture", "figures of two instruction sets give no verdict"),
    ("machine.hypervisor", "a guest has costs that bare metal has not"),
    ("machine.instance_type", "instances of one type are alike"),
    ("machine.host", "your name for it, to find it again in a fleet; kept with --keep-private alone"),
    ("machine.cpus", "distinguishes machines, and decides the possible placements"),
    ("machine.threads_per_core", "a busy sibling slows its core"),
    ("machine.memory_bytes", "tells machines apart"),
    ("machine.core", "the speed at which figures are judged"),
    ("conditions.kernel", "most figures are prices of this kernel"),
    ("conditions.kernel_version", "two builds of one release differ"),
    ("conditions.microcode", "it changes what the processor does"),
    ("conditions.command_line", "parameters that move figures; the whole line with --keep-private alone"),
    ("conditions.mitigations", "they raise the price of each kernel entry"),
    ("conditions.clock_source", "a slow clock blurs every figure"),
    ("conditions.clock_step_ns", "no figure is finer than the clock"),
    ("conditions.clock_pair_ns", "the cost that reading the clock adds"),
    ("conditions.governor", "it sets the speed of the core"),
    ("conditions.allowed_cpus", "the CPUs that the run could use"),
    ("conditions.cpu_quota", "a quota stops processes"),
    ("conditions.cpu_quota_known", "distinguishes no quota from an unknown one"),
    ("conditions.load_average", "others who work disturb"),
    ("conditions.uid", "root and others measure along different paths"),
    ("conditions.isolation", "says how the run's objects were removed"),
    ("conditions.seccomp_mode", "each call passes a filter"),
    ("conditions.seccomp_filters", "each call passes each filter"),
    ("conditions.boot_id", "figures differ from boot to boot, so runs of one boot must be recognised"),
    ("conditions.nice", "it decides who waits"),
    ("conditions.policy", "it decides who waits"),
    ("conditions.preload", "such libraries replace calls"),
    ("conditions.cpu_option", "where you let it run (--cpu)"),
    ("conditions.kept_awake", "a CPU that polls is woken by less than one that runs another process"),
    ("conditions.idle_cpu", "the cost of waking a CPU depends on what it does while it waits"),
    ("conditions.file_system", "the cost of files depends on their file system"),
    ("conditions.emulation", "the emulated machine and the kernel image of counts"),
    ("conditions.spread_cpus", "the distances by which participants were placed"),
    ("plan.seed", "the random order of the run"),
    ("plan.launches", "how much was spent"),
    ("plan.launch_ns", "how much was spent"),
    ("plan.effort", "how much was spent"),
    ("plan.patterns", "what you asked for"),
    ("plan.cpus", "where it ran"),
    ("plan.directory", "the folder of measured files (--set directory=)"),
    ("plan.arguments", "what you typed; kept with --keep-private alone"),
    ("warnings", "what to know before believing a figure"),
];
/// Members that tell nothing of the host.
fn of_the_run() -> impl Iterator<Item = &'static str> {
    "checksum format version estimators partial duration_ns figures ratios differences references reproductions bill \
    answers warning_codes"
        .split(' ')
}
/// Why a check of the doctor is kept.
const DOCTOR: &str = "the doctor's findings: what disturbed, and what to change";
/// Why the program of a bill is kept.
const PROGRAM: &str = "the program that the bill is of, as you typed it";
/// Why names of tasks are kept.
const TASKS: &str = "tasks that took the CPU from single operations (--percentiles)";
/// Why something is there that this version does not know.
const UNKNOWN: &str = "written by another version of oscost, which knows why";
impl RunResult {
    /// Every fact of the host that this result holds, in the order of its members. What was not found out is left out.
    #[must_use]
    pub fn host_facts(&self) -> Vec<HostFact> {
        let head = Self {
            figures: Vec::new(),
            references: Vec::new(),
            reproductions: Vec::new(),
            answers: Vec::new(),
            bill: None,
            ..self.clone()
        };
        // A result is made of text, numbers and lists of these.
        let Ok(Value::Object(members)) = format::value(&head) else { return Vec::new() };
        let mut facts = Vec::new();
        for (name, value) in &members {
            match (name.as_str(), value) {
                (known, _) if of_the_run().any(|it| it == known) => {}
                ("doctor", _) => facts.extend(self.doctor.iter().map(|check| HostFact {
                    name: format!("doctor.{}", check.check),
                    value: check.says.clone(),
                    why: DOCTOR,
                })),
                (_, Value::Object(inner)) => {
                    let inner =
                        inner.iter().filter_map(|(part, value)| fact(format!("{name}.{part}"), value));
                    facts.extend(inner);
                }
                _ => facts.extend(fact(name.clone(), value)),
            }
        }
        facts.extend(self.bill.iter().map(|bill| HostFact {
            name: "bill.program".to_owned(),
            value: bill.program.join(" "),
            why: PROGRAM,
        }));
        let tasks = self.figures.iter().filter_map(|figure| figure.percentiles.as_ref());
        let tasks = tasks.flat_map(|it| &it.account.gaps).filter(|gaps| gaps.cause == GapCause::Preemption);
        let tasks: BTreeSet<&str> = tasks.filter_map(|gaps| gaps.by.as_deref()).collect();
        facts.extend((!tasks.is_empty()).then(|| HostFact {
            name: "figures.percentiles.account.gaps.by".to_owned(),
            value: Vec::from_iter(tasks).join(", "),
            why: TASKS,
        }));
        facts
    }
}

/// A member with its reason; `None` where it has no value.
fn fact(name: String, value: &Value) -> Option<HostFact> {
    let why = WHYS.iter().find(|(known, _)| *known == name).map_or(UNKNOWN, |(_, why)| *why);
    let value = told(value).filter(|value| !value.is_empty())?;
    Some(HostFact { name, value, why })
}

fn told(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(all) => Some(all.iter().filter_map(told).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let each = |(name, value): (&String, &Value)| Some(format!("{name} {}", told(value)?));
            Some(members.iter().filter_map(each).collect::<Vec<_>>().join(", "))
        }
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> RunResult {
        crate::from_bytes(include_bytes!("../tests/samples/v2.json")).expect("a sample")
    }

    #[test]
    fn every_fact_of_a_result_is_listed_with_its_reason() {
        let facts = sample().host_facts();
        for fact in &facts {
            assert_ne!(fact.why, UNKNOWN, "{}", fact.name);
        }
        let names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
        for name in
            ["started", "conditions.boot_id", "conditions.uid", "machine.cpu_model", "doctor.clock_source"]
        {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        let mut beside = sample();
        beside.figures[0].percentiles = Some(crate::anonymous::tests::timed_alone_beside("backup"));
        let told = beside.host_facts();
        assert!(told.iter().any(|fact| fact.value == "backup" && fact.why == TASKS), "{told:?}");
        let mut of_tomorrow = sample();
        of_tomorrow.conditions.unknown.insert("mood".into(), "good".into());
        let told = of_tomorrow.host_facts();
        assert!(told.iter().any(|fact| fact.name == "conditions.mood" && fact.why == UNKNOWN), "{told:?}");
    }

    /// No member may be added to a result of which nobody says why it is kept.
    #[test]
    fn every_member_of_the_schema_has_a_reason() {
        let schema = schemars::schema_for!(RunResult).to_value();
        let members = |schema: &Value| -> Vec<String> {
            schema["properties"].as_object().expect("members").keys().cloned().collect()
        };
        let known = |name: &str| {
            of_the_run().any(|it| it == name)
                || name == "doctor"
                || WHYS.iter().any(|(path, _)| *path == name)
        };
        for (kind, prefix) in
            [("Tool", "tool"), ("Machine", "machine"), ("Conditions", "conditions"), ("Plan", "plan")]
        {
            for member in members(&schema["$defs"][kind]) {
                assert!(known(&format!("{prefix}.{member}")), "{prefix}.{member} has no reason");
            }
        }
        let inner = ["tool", "machine", "conditions", "plan"];
        for member in members(&schema).iter().filter(|member| !inner.contains(&member.as_str())) {
            assert!(known(member), "{member} has no reason");
        }
    }
}
