//! What one run of a program did, counted: system calls, faults, signals, switches.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What one run of a program did, counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CountedRun {
    /// How it was counted.
    pub way: CountingWay,
    /// From the first instruction to the last. Not so in windows, and where it was cut short.
    pub complete: bool,
    /// Share of the time that lay in windows; absent where all of it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_share: Option<f64>,
    /// Calls, by what decides their price.
    pub calls: Vec<Call>,
    /// Page faults.
    pub faults: FaultCount,
    /// Faults outside of the kernel by their kinds, where the way of counting tells them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_kinds: Option<FaultKinds>,
    /// Forks that copied their parent's memory, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forks: Option<ForkCount>,
    /// Threads that another thread of the program woke on a CPU that was idle, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wakes: Option<u64>,
    /// Memory that ends of processes gave back, where it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<EndCount>,
    /// Signals that were delivered.
    pub signals: u64,
    /// Switches of context.
    pub switches: SwitchCount,
    /// Threads that ran, with the first one of each process.
    pub threads: u64,
    /// Processes that were begun by it and by its children.
    pub children: u64,
    /// Of these, how many ended while their parents ignored SIGCHLD or had set SA_NOCLDWAIT: nobody waited for them, so no usage has
    /// theirs. Absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwaited: Option<u64>,
    /// What it took while it was counted.
    pub usage: RunUsage,
    /// How it ended.
    pub ended: RunEnd,
    /// How the free run before it ended; absent where there was none, or where an older version wrote this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_ended: Option<RunEnd>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Calls of one number, of one kind, of one class of size, that slept or did not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Call {
    /// Name in the kernel's table ("semop").
    pub name: String,
    /// What decides the price beside the size: "pipe", "unix stream", "unix datagram", "tcp", "udp", "file", "device", "eventfd",
    /// "epoll", "terminal"; of futex the operation; of clocks the clock; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub on: String,
    /// Most bytes of its class of size, a power of 4 from 1; absent where the call has no size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_class: Option<u64>,
    /// Descriptors of poll, parts of a vector: the class as for sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_argument: Option<u64>,
    /// Its thread slept in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slept: bool,
    /// How often it was made.
    pub times: u64,
    /// Of these, how many failed.
    #[serde(default)]
    pub failed: u64,
    /// Bytes that were transferred, all together; of calls on memory, and of those that size a file, the lengths that they were
    /// given.
    #[serde(default)]
    pub bytes: u64,
    /// Time between entry and exit, all together, in ns, without sleep where the way of counting can tell. eBPF
    /// times one in 17 of the calls that are made often; it stands for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_ns: Option<u64>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// How calls were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountingWay {
    /// Programs in the kernel, on its tracepoints.
    Ebpf,
    /// A seccomp filter whose notifications are answered.
    Notification,
    /// A tracer that stops the program at each call.
    Ptrace,
    /// Written by a newer version.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Page faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FaultCount {
    /// Without reading from a disk.
    pub minor: u64,
    /// With it.
    pub major: u64,
}

/// Kinds of page faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FaultKinds {
    /// A read of a page that was not there: mostly of a mapped file.
    pub read: u64,
    /// The first write to a page that was not there: mostly of anonymous memory.
    pub first: u64,
    /// A write to a page that was there: mostly one that is copied for it.
    pub copied: u64,
}

/// Forks that copied their parent's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ForkCount {
    /// Forks.
    pub times: u64,
    /// Pages of their parents' own memory, all together: of each an entry was copied.
    pub pages: u64,
    /// Mappings of their parents, all together: each was copied.
    #[serde(default)]
    pub mappings: u64,
    /// Faults of the copies before they became another program, and of writes in their parents.
    #[serde(default)]
    pub faults: u64,
}

/// Memory that was given back by calls: by ends of processes, and where one became another program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndCount {
    /// Mappings, without those that a fork had copied.
    pub mappings: u64,
    /// Resident pages of files.
    pub file_pages: u64,
}

/// Switches of context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SwitchCount {
    /// The thread had to wait.
    pub voluntary: u64,
    /// Another was to run.
    pub involuntary: u64,
}

/// What a program took with all its children, as the kernel counts it; times in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunUsage {
    /// From its start to its end.
    pub wall_ns: u64,
    /// Of CPUs outside the kernel.
    pub user_ns: u64,
    /// Of CPUs in the kernel.
    pub system_ns: u64,
    /// Page faults.
    #[serde(default)]
    pub faults: FaultCount,
    /// Switches of context.
    #[serde(default)]
    pub switches: SwitchCount,
    /// Looks at whether its threads were in the kernel, which divide its CPU time; absent where the kernel's own times do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks: Option<Looks>,
}

/// Looks at the threads of a program, each after the same CPU time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Looks {
    /// It was in the kernel.
    pub inside: u64,
    /// It was not.
    pub outside: u64,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It still runs: it was there before it was counted, and is after.
    Running,
    /// Counting was ended before the program was.
    #[default]
    CutShort,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_newer_version_wrote_is_read_and_kept() {
        let text = r#"{"way":"telepathy","complete":true,"calls":[{"name":"read","on":"pipe","size_class":64,
            "times":3,"colour":"red"}],"faults":{"minor":1,"major":0},"signals":0,
            "switches":{"voluntary":0,"involuntary":0},"threads":1,"children":0,
            "usage":{"wall_ns":1,"user_ns":2,"system_ns":3},"ended":{"exited":0},"new":7}"#;
        let counted: CountedRun = serde_json::from_str(text).expect("read");
        assert_eq!((counted.way, counted.ended), (CountingWay::Unknown, RunEnd::Exited(0)));
        assert_eq!((counted.calls[0].times, counted.calls[0].slept), (3, false));
        let again = serde_json::to_value(&counted).expect("written");
        assert_eq!((&again["new"], &again["calls"][0]["colour"]), (&7.into(), &"red".into()));
    }

    #[test]
    fn endings_are_told_apart() {
        for ended in [RunEnd::Exited(3), RunEnd::Killed(9), RunEnd::Running, RunEnd::CutShort] {
            let text = serde_json::to_string(&ended).expect("written");
            assert_eq!(serde_json::from_str::<RunEnd>(&text).expect("read"), ended);
        }
    }
}
