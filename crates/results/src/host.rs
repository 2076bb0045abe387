//! Facts about the host in a result: each with its reason, and a result without those that identify the host.

use serde_json::{Map, Value};

use crate::{CheckState, RunResult};

/// A fact of the host that a result holds.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    ("machine.cpus", "distinguishes machines, and decides the possible placements"),
    ("machine.threads_per_core", "a busy sibling slows its core"),
    ("machine.memory_bytes", "tells machines apart"),
    ("machine.core", "the speed at which figures are judged"),
    ("conditions.kernel", "most figures are prices of this kernel"),
    ("conditions.kernel_version", "two builds of one release differ"),
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
const OF_THE_RUN: &[&str] = &[
    "checksum",
    "format",
    "version",
    "estimators",
    "partial",
    "duration_ns",
    "figures",
    "ratios",
    "differences",
    "reproductions",
    "warning_codes",
];
/// Why a check of the doctor is kept.
const DOCTOR: &str = "the doctor's findings: what disturbed, and what to change";
/// Why something is there that this version does not know.
const UNKNOWN: &str = "written by another version of oscost, which knows why";
/// Checks whose findings name nothing of the host: no path, process, interface or user.
const NAMELESS: &[&str] = &[
    "clock_source",
    "clock_rate",
    "gaps",
    "load",
    "virtualisation",
    "smt",
    "frequency",
    "idle_cpus",
    "cpu_distance",
    "wakeup",
    "allowed_cpus",
    "seccomp",
    "mitigations",
    "real_time",
    "memory_locking",
    "ipc_limits",
    "facilities",
];
/// What stands in the place of what was taken out.
const LEFT_OUT: &str = "(left out)";
/// Folders that every Linux has: they tell of nobody.
const COMMON: &[&str] = &["/dev", "/proc", "/sys", "/usr"];

/// Parameters of the kernel's command line that move figures; a dot at the end stands for all of a module's.
const TELLING: &[&str] = &[
    "isolcpus",
    "nohz",
    "nohz_full",
    "rcu_nocbs",
    "rcu_nocb_poll",
    "irqaffinity",
    "threadirqs",
    "preempt",
    "skew_tick",
    "idle",
    "intel_idle.",
    "processor.",
    "intel_pstate",
    "amd_pstate",
    "cpufreq.",
    "cpuidle.",
    "nosmt",
    "maxcpus",
    "nr_cpus",
    "mitigations",
    "pti",
    "nopti",
    "spectre_v1",
    "spectre_v2",
    "nospectre_v1",
    "nospectre_v2",
    "spec_store_bypass_disable",
    "retbleed",
    "l1tf",
    "mds",
    "tsx",
    "tsx_async_abort",
    "mmio_stale_data",
    "gather_data_sampling",
    "srso",
    "clocksource",
    "tsc",
    "hpet",
    "audit",
    "nowatchdog",
    "nmi_watchdog",
    "transparent_hugepage",
    "init_on_alloc",
    "randomize_kstack_offset",
];

/// Of a kernel's command line the parameters that move figures, in their order. Nothing else of it: disks, addresses and
/// secrets stand there, too.
#[must_use]
pub fn telling_parameters(command_line: &str) -> String {
    let tells = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word).replace('-', "_");
        TELLING.iter().any(|known| match known.strip_suffix('.') {
            Some(_) => name.starts_with(known),
            None => name == *known,
        })
    };
    command_line.split_whitespace().filter(tells).collect::<Vec<_>>().join(" ")
}

impl RunResult {
    /// Every fact of the host that this result holds, in the order of its members. What was not found out is left out.
    #[must_use]
    pub fn host_facts(&self) -> Vec<HostFact> {
        let head = Self { figures: Vec::new(), reproductions: Vec::new(), ..self.clone() };
        // A result is made of text, numbers and lists of these.
        let Ok(Value::Object(members)) = serde_json::to_value(&head) else { return Vec::new() };
        let mut facts = Vec::new();
        for (name, value) in &members {
            match (name.as_str(), value) {
                (known, _) if OF_THE_RUN.contains(&known) => {}
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
        facts
    }

    /// The same figures without what tells one host or user from another: no name, path, user, boot or command line, no words
    /// of the user's, and of the time the day.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.started = self.started.get(..10).map_or(String::new(), |day| format!("{day}T00:00:00Z"));
        self.note = None;
        let conditions = &mut self.conditions;
        conditions.command_line = conditions.command_line.as_deref().map(telling_parameters);
        conditions.kernel_version = None;
        conditions.boot_id = None;
        conditions.uid = None;
        if let Some(libraries) = &mut conditions.preload {
            libraries.iter_mut().for_each(|name| LEFT_OUT.clone_into(name));
        }
        if let Some(emulation) = &mut conditions.emulation {
            LEFT_OUT.clone_into(&mut emulation.image);
            emulation.append = telling_parameters(&emulation.append);
            emulation.unknown.clear();
        }
        conditions.unknown.clear();
        self.machine.unknown.clear();
        self.tool.unknown.clear();
        self.plan.directory = self.plan.directory.map(|_| LEFT_OUT.to_owned());
        self.plan.arguments.clear();
        self.plan.unknown.clear();
        self.unknown.clear();
        let named = |check: &&mut crate::Check| !NAMELESS.contains(&check.check.as_str());
        for check in self.doctor.iter_mut().filter(named) {
            let nothing = if check.state == CheckState::Fine { "fine" } else { LEFT_OUT };
            nothing.clone_into(&mut check.says);
            check.remedy = None;
        }
        for figure in &mut self.figures {
            figure.evidence.tracer_pid = None;
            figure.unknown.clear();
        }
        self.without_paths()
    }

    /// The same without absolute paths in any text.
    fn without_paths(self) -> Self {
        let Ok(mut value) = serde_json::to_value(&self) else { return self };
        clean(&mut value);
        match serde_json::from_value(value) {
            Ok(cleaned) => cleaned,
            // What has no finite number cannot be read back: nothing of it is told.
            Err(_) => Self { figures: Vec::new(), doctor: Vec::new(), warnings: Vec::new(), ..self },
        }
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

/// Takes paths out of every text.
fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_paths(text),
        Value::Array(all) => all.iter_mut().for_each(clean),
        Value::Object(members) => {
            let cleaned: Map<String, Value> = std::mem::take(members)
                .into_iter()
                .map(|(name, mut value)| {
                    clean(&mut value);
                    (without_paths(&name), value)
                })
                .collect();
            *members = cleaned;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `text` with other words in the place of absolute paths, but those below folders that every system has.
fn without_paths(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        let end =
            path.find(|it: char| it.is_whitespace() || "()'\"`,;:|<>".contains(it)).unwrap_or(path.len());
        let (path, after) = path.split_at(end);
        let begins = before.chars().last().is_none_or(|it| !it.is_alphanumeric() && !"/_.*)-~".contains(it))
            || before.ends_with('~');
        let is_common = |folder: &&str| {
            path.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_path = begins && path.len() > 1 && !COMMON.iter().any(is_common);
        kept.push_str(before);
        kept.push_str(if is_path { LEFT_OUT } else { path });
        rest = after;
    }
    kept.push_str(rest);
    kept
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
            OF_THE_RUN.contains(&name) || name == "doctor" || WHYS.iter().any(|(path, _)| *path == name)
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

    #[test]
    fn of_a_command_line_what_moves_figures_is_told() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=0a1b ro isolcpus=2-3 ip=10.0.0.7 intel_idle.max_cstate=1 \
                    mitigations=off password=x nohz-full=2 idlewild";
        assert_eq!(
            telling_parameters(line),
            "isolcpus=2-3 intel_idle.max_cstate=1 mitigations=off nohz-full=2"
        );
        assert_eq!(telling_parameters(""), "");
    }

    #[test]
    fn paths_are_taken_out_and_ids_stay() {
        for (text, expected) in [
            ("cannot read /home/eve/x.json: EACCES", "cannot read (left out): EACCES"),
            ("lies on nfs ('/srv/a', ok)", "lies on nfs ('(left out)', ok)"),
            ("~/bin/x", "~(left out)"),
            ("--json=/tmp/a b", "--json=(left out) b"),
            ("semaphore/system_v of 1/2 at 3 / 4", "semaphore/system_v of 1/2 at 3 / 4"),
            ("read of /dev/zero, /proc/self/status", "read of /dev/zero, /proc/self/status"),
            ("/devil/x", "(left out)"),
        ] {
            assert_eq!(without_paths(text), expected);
        }
    }

    #[test]
    fn nothing_that_tells_of_somebody_is_left() {
        const NAME: &str = "mallory";
        let mut whole = sample();
        let path = format!("/home/{NAME}/x");
        whole.note = Some(NAME.to_owned());
        whole.started = "2026-11-22T13:14:15Z".to_owned();
        whole.plan.directory = Some(path.clone());
        whole.plan.arguments = vec![NAME.to_owned()];
        whole.warnings.push(format!("cannot read {path}"));
        whole.conditions.boot_id = Some(NAME.to_owned());
        whole.conditions.kernel_version = Some(format!("#1 by {NAME}"));
        whole.conditions.uid = Some(4321);
        whole.conditions.preload = Some(vec![path.clone()]);
        whole.conditions.command_line = Some(format!("isolcpus=1 user={NAME}"));
        let maps = [
            &mut whole.unknown,
            &mut whole.conditions.unknown,
            &mut whole.machine.unknown,
            &mut whole.tool.unknown,
            &mut whole.plan.unknown,
            &mut whole.figures[0].unknown,
        ];
        for unknown in maps {
            unknown.insert("owner".into(), NAME.into());
        }
        let check = |name: &str, state| crate::Check {
            check: name.to_owned(),
            state,
            says: NAME.to_owned(),
            remedy: Some(NAME.to_owned()),
            ..whole.doctor[0].clone()
        };
        let of_tomorrow = [check("visitors", CheckState::Fine), check("owner", CheckState::Disturbs)];
        let nameless = crate::Check {
            says: "steps of 1 ns".to_owned(),
            remedy: None,
            ..check("clock_source", CheckState::Fine)
        };
        whole.doctor = of_tomorrow.into_iter().chain([nameless]).collect();
        let anonymous = whole.anonymous();
        let text = String::from_utf8(crate::to_bytes(&anonymous).expect("a result")).expect("text");
        assert!(!text.contains(NAME), "{text}");
        assert_eq!(anonymous.started, "2026-11-22T00:00:00Z");
        assert_eq!(
            (anonymous.conditions.uid, anonymous.conditions.preload.map(|it| it.len())),
            (None, Some(1))
        );
        assert_eq!(anonymous.conditions.command_line.as_deref(), Some("isolcpus=1"));
        assert_eq!(anonymous.plan.directory.as_deref(), Some(LEFT_OUT));
        assert_eq!(anonymous.warnings.last().map(String::as_str), Some("cannot read (left out)"));
        let says: Vec<&str> = anonymous.doctor.iter().map(|check| check.says.as_str()).collect();
        assert_eq!(says, ["fine", LEFT_OUT, "steps of 1 ns"]);
    }

    #[test]
    fn an_anonymous_result_is_a_result_with_the_same_figures() {
        let whole = sample();
        let anonymous = whole.clone().anonymous();
        assert_eq!(anonymous.figures.len(), whole.figures.len());
        for (one, other) in anonymous.figures.iter().zip(&whole.figures) {
            assert_eq!((&one.id, &one.quantities), (&other.id, &other.quantities));
        }
        assert_eq!(anonymous.machine, whole.machine);
        let bytes = crate::to_bytes(&anonymous).expect("a result");
        assert_eq!(crate::from_bytes(&bytes).expect("it can be read"), anonymous);
        assert_eq!(anonymous.clone().anonymous(), anonymous, "once is enough");
    }
}
