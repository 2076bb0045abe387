//! The object that one run leaves: who measured, where, under which conditions, and what came out.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Figure, Reproduction};

/// Value of the member `format` of every result.
pub const FORMAT: &str = "oscost-result";
/// Major version that this crate writes. Older ones are read for ever, newer ones are refused.
pub const VERSION: u32 = 1;

/// One run of oscost, as saved and as printed by `--json -`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunResult {
    /// Always [`FORMAT`].
    pub format: String,
    /// Major version of the schema.
    pub version: u32,
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
    pub figures: Vec<Figure>,
    /// Paired ratios inside a group.
    #[serde(default)]
    pub ratios: Vec<PairedValue>,
    /// Paired differences inside a group (the hop minus the pipe's price).
    #[serde(default)]
    pub differences: Vec<PairedValue>,
    /// Founding documents beside this machine.
    #[serde(default)]
    pub reproductions: Vec<Reproduction>,
    /// What the doctor said of the machine.
    #[serde(default)]
    pub doctor: Vec<Check>,
    /// What a reader must know before believing a figure, in words.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Members that this version does not know, kept as they were read.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
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
    /// Logical CPUs online.
    pub cpus: u32,
    /// Threads a core, where the system says so.
    #[serde(default)]
    pub threads_per_core: Option<u32>,
    /// Bytes of memory.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
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
    /// cgroup CPU quota in CPUs; absent where there is none.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
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
    /// Kind of file system that measured files lie on ("ext4"); absent: in memory, or none were measured.
    #[serde(default)]
    pub file_system: Option<String>,
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
    /// Arguments of the program.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A paired ratio or difference of two members of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// It could not be found out.
    Unknown,
}
