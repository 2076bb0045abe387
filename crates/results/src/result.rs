//! The result of one run: who measured, where, under which conditions, and what came out.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bill::Bill;
use crate::search::{Pattern, Way};
use crate::{Answer, Emulation, Figure, Reference, Reproduction};

/// Value of the member `format` of every result.
pub const FORMAT: &str = "oscost-result";
/// Major version that this crate writes. Older ones are read for ever, newer ones are refused.
pub const VERSION: u32 = 2;
/// The estimators by which this version reads launches (METHOD.md, Figures). Version 1 of the format had the first.
pub const ESTIMATORS: u32 = 2;

/// One run of oscost, as saved and as printed by `--json -`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunResult {
    /// Always [`FORMAT`].
    pub format: String,
    /// Major version of the schema. Of a result that was read it is [`VERSION`]: older files are upgraded by reading.
    pub version: u32,
    /// By which estimators launches were put together; absent: 1. Figures of two of them are not compared.
    #[serde(default = "first_estimators")]
    pub estimators: u32,
    /// The run was ended before its plan was: figures rest on fewer launches.
    pub partial: bool,
    /// When the run started, RFC 3339 in UTC. Read once, never subtracted.
    pub started: String,
    /// How long the run took, in ns of the monotonic clock.
    pub duration_ns: u64,
    /// What the user said of this run (`--note`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The program that measured.
    pub tool: Tool,
    /// Hardware and hypervisor.
    pub machine: Machine,
    /// Kernel, libc, mitigations, settings: what a user changes between two runs.
    pub conditions: Conditions,
    /// What was to be done.
    pub plan: Plan,
    /// A figure an id; no two share one.
    #[serde(deserialize_with = "crate::format::figures")]
    pub figures: Vec<Figure>,
    /// Paired ratios inside a group.
    #[serde(default)]
    pub ratios: Vec<PairedValue>,
    /// Paired differences inside a group (the hop minus the pipe's price).
    #[serde(default)]
    pub differences: Vec<PairedValue>,
    /// What was timed beside few figures, only to show how far figures move between two runs; empty in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Founding documents beside this machine.
    #[serde(default)]
    pub reproductions: Vec<Reproduction>,
    /// The bill of a program, where one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bill: Option<Box<Bill>>,
    /// What these documents ask, there and here; empty in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// What the doctor said of the machine.
    #[serde(default)]
    pub doctor: Vec<Check>,
    /// What a reader must know before believing a figure, in words.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Codes of the warnings in their order ("W001"); empty text where one has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warning_codes: Vec<String>,
    /// Members that this version does not know, kept as they were read.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl RunResult {
    /// A result without figures of a run that starts at `at` by the wall clock; partial until whoever measures says otherwise.
    #[must_use]
    pub fn begun(at: SystemTime, tool: Tool, machine: Machine, conditions: Conditions) -> Self {
        // A wall clock beyond jiff's years says as much as 1970.
        let at = Timestamp::try_from(at).unwrap_or(Timestamp::UNIX_EPOCH);
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            estimators: ESTIMATORS,
            partial: true,
            started: at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            duration_ns: 0,
            note: None,
            tool,
            machine,
            conditions,
            plan: Plan::default(),
            figures: Vec::new(),
            ratios: Vec::new(),
            differences: Vec::new(),
            references: Vec::new(),
            reproductions: Vec::new(),
            bill: None,
            answers: Vec::new(),
            doctor: Vec::new(),
            warnings: Vec::new(),
            warning_codes: Vec::new(),
            unknown: Map::new(),
        }
    }

    /// Whether nobody asked for this figure, and it was measured because another one is divided by it or has it subtracted. Only
    /// where that is plain: all that was typed begins ids, or is parts of them. Other words may mean figures that they do not name.
    #[must_use]
    pub fn is_baseline_only(&self, id: &str) -> bool {
        let typed: Vec<Pattern> = self.plan.patterns.iter().map(|typed| Pattern::new(typed, &[])).collect();
        let finds = |pattern: &Pattern, id: &str| pattern.finds(id).is_some();
        let is_way = |way| matches!(way, Way::Id | Way::Beginning | Way::Star | Way::Parts);
        let is_plain = |pattern: &Pattern| {
            self.figures.iter().filter_map(|figure| pattern.finds(&figure.id)).any(is_way)
        };
        self.ratios.iter().chain(&self.differences).any(|pair| pair.to == id)
            && !typed.is_empty()
            && self.reproductions.is_empty()
            && typed.iter().all(is_plain)
            && !typed.iter().any(|pattern| finds(pattern, id))
    }

    /// Says that a result of an older version is one of today's: reading gave it today's words. One of another version
    /// stays what it is, and is not written.
    pub fn upgrade(&mut self) {
        if (1..VERSION).contains(&self.version) {
            self.version = VERSION;
        }
    }
}

/// Those of every result that does not name them.
pub(crate) fn first_estimators() -> u32 {
    1
}

/// The program that measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tool {
    /// Version of oscost.
    pub version: String,
    /// Identity of the build: code placement differs between two of them (METHOD.md, Loops).
    pub build_id: String,
    /// Target triple.
    pub target: String,
    /// C library and its version, as found at run time.
    pub libc: String,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Hardware and hypervisor: two results of different machines give no ratio.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Machine {
    /// Model name of the processor.
    pub cpu_model: String,
    /// Instruction set ("x86_64").
    pub architecture: String,
    /// Hypervisor, or `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Type of the instance where its maker tells it by DMI ("m5.large" of Amazon EC2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Name of the host (uname -n): private, kept only where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Logical CPUs online.
    pub cpus: u32,
    /// Threads a core, where the system says so.
    #[serde(default)]
    pub threads_per_core: Option<u32>,
    /// Bytes of memory.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// The best that its cores were seen to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<CoreConstants>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The best that the cores of a machine were seen to do, over all its runs (METHOD.md, Launch statistics).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CoreConstants {
    /// One step of the latency chain, ns: one cycle of the core at its fastest.
    pub chain_ns: f64,
    /// One instruction of the throughput loop, ns.
    pub throughput_ns: f64,
    /// One bare kernel entry, ns, of this boot; absent where none was made in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_ns: Option<f64>,
}

/// Kernel, libc, mitigations and settings. `None` is "unknown", never "none".
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Operating system and release ("Linux 6.18.44").
    pub kernel: String,
    /// Version line of the kernel (`uname -v`).
    #[serde(default)]
    pub kernel_version: Option<String>,
    /// Revision of the processor's microcode ("0x1000065").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// Boot command line.
    #[serde(default)]
    pub command_line: Option<String>,
    /// Mitigations in force, `name: state` joined by "; ".
    #[serde(default)]
    pub mitigations: Option<String>,
    /// Clock source of the kernel.
    #[serde(default)]
    pub clock_source: Option<String>,
    /// True step of CLOCK_MONOTONIC in ns, measured.
    #[serde(default)]
    pub clock_step_ns: Option<f64>,
    /// Cost of a pair of clock readings in ns, measured.
    #[serde(default)]
    pub clock_pair_ns: Option<f64>,
    /// Frequency governor.
    #[serde(default)]
    pub governor: Option<String>,
    /// CPUs that this run was allowed to use ("0-3").
    #[serde(default)]
    pub allowed_cpus: Option<String>,
    /// cgroup CPU quota in CPUs; absent where there is none, or where it is not known.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
    /// The quota could be read: where there is no number, there is no quota.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cpu_quota_known: bool,
    /// Load average over one minute at the start.
    #[serde(default)]
    pub load_average: Option<f64>,
    /// User id that measured.
    #[serde(default)]
    pub uid: Option<u32>,
    /// How workers were isolated ("ipc and mount namespaces", "janitor").
    #[serde(default)]
    pub isolation: Option<String>,
    /// Seccomp mode of the timed processes (0: none).
    #[serde(default)]
    pub seccomp_mode: Option<u32>,
    /// Number of seccomp filters of the timed processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seccomp_filters: Option<u32>,
    /// Which boot of the kernel this was (/proc/sys/kernel/random/boot_id).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// Nice value of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    /// Scheduling policy of the program: "other", "batch", "idle", "fifo", "rr", "deadline".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Libraries that interpose on the program, by file name; empty: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preload: Option<Vec<String>>,
    /// Value of the option `--cpu`; absent: it was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_option: Option<String>,
    /// What CPUs of partners did while they waited: "halt", "poll" (`--idle-cpu poll`), or "both", one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_cpu: Option<String>,
    /// How they were kept awake, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_awake: Option<String>,
    /// Kind of file system that measured files lie on ("ext4"); absent: in memory, or none were measured.
    #[serde(default)]
    pub file_system: Option<String>,
    /// The emulated machine, where instructions were counted on one: everything else here is then the guest's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<Emulation>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// What the run was asked to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    /// Seed of every random order in the run.
    pub seed: u64,
    /// Launches planned for each group.
    pub launches: u32,
    /// Timed part of a launch for each member, in ns.
    pub launch_ns: u64,
    /// "default", "quick" or "thorough".
    pub effort: String,
    /// Patterns as given; empty for the core tier.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// CPUs that participants were placed on.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// Where files were put that are measured (`--set directory=`); absent: in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A paired ratio or difference of two members of one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PairedValue {
    /// Id of the figure that is divided, or from which is subtracted.
    pub of: String,
    /// Id of the figure that divides, or is subtracted.
    pub to: String,
    /// Quantity compared ("paired": median over the rounds of a launch; "floor": of the floors).
    pub quantity: String,
    /// "ratio" or "ns".
    pub unit: String,
    /// Median over launches; absent where a side was withheld.
    pub value: Option<f64>,
    /// Lower bound of the interval over launches.
    pub low: Option<f64>,
    /// Upper bound of the interval over launches.
    pub high: Option<f64>,
    /// The value of each launch, in the order of the launches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<f64>,
    /// Why there is no value, or what to beware of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// One check of the doctor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// Name of the check ("clock_source").
    pub check: String,
    /// What it found.
    pub state: CheckState,
    /// The finding in words, with figures.
    pub says: String,
    /// What it does to which figures; empty where the state is fine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub matters: String,
    /// It reaches floors, or leaves nothing checked: the machine is unfit to measure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfit: bool,
    /// The command or option that mends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// State of a check. What could not be looked at is unknown, never fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Nothing to mend.
    Fine,
    /// Some figures suffer; the check says which.
    Disturbs,
    /// It could not be found out, or it is a state of a later version.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_begins_partial_and_without_a_duration() {
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86_399);
        let begun = RunResult::begun(at, Tool::default(), Machine::default(), Conditions::default());
        assert_eq!(
            (begun.started.as_str(), begun.duration_ns, begun.partial),
            ("1970-01-01T23:59:59Z", 0, true)
        );
        assert_eq!((begun.version, begun.estimators), (VERSION, ESTIMATORS));
    }

    #[test]
    fn a_baseline_is_one_that_no_plain_word_asked_for() {
        let mut result = crate::from_bytes(include_bytes!("../tests/samples/v2.json")).unwrap();
        let named = |id: &str| Figure { id: id.to_owned(), ..result.figures[0].clone() };
        result.figures = ["lock/one", "lock/other"].map(named).to_vec();
        let pair =
            || PairedValue { of: "lock/one".into(), to: "lock/other".into(), ..PairedValue::default() };
        let reproductions = std::mem::take(&mut result.reproductions);
        (result.ratios, result.differences) = (vec![pair()], Vec::new());
        let is = |result: &RunResult, typed: &[&str]| {
            let mut result = result.clone();
            result.plan.patterns = typed.iter().map(|&typed| typed.to_owned()).collect();
            ["lock/one", "lock/other"].map(|id| result.is_baseline_only(id))
        };
        for typed in [&["lock/one"][..], &["lock/on*"]] {
            assert_eq!(is(&result, typed), [false, true], "{typed:?}");
        }
        for typed in [
            &[][..],
            &["one"],
            &["lock"],
            &["lock/*"],
            &["lock/one", "lock/other"],
            &["lock/one", "elsewhere"],
        ] {
            assert_eq!(is(&result, typed), [false, false], "{typed:?}");
        }
        result.differences = std::mem::take(&mut result.ratios);
        assert_eq!(is(&result, &["lock/one"]), [false, true]);
        result.differences.clear();
        assert_eq!(is(&result, &["lock/one"]), [false, false], "nothing is divided by it");
        result.ratios = vec![pair()];
        result.reproductions = reproductions;
        assert_eq!(is(&result, &["lock/one"]), [false, false], "a document measures what it needs");
    }
}
