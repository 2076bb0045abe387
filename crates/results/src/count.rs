//! Instructions of one operation, counted in an emulated machine; and what decides them beside the kernel.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Instructions of one iteration, operation by operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InstructionCount {
    /// How the counts repeat.
    pub repeats: Repeats,
    /// Every count that came, with how often it came in the first boot: instructions of one iteration.
    pub values: Vec<Counted>,
    /// Boots that were compared.
    pub boots: u32,
    /// Instructions of the batch around its iterations, which are in no figure.
    pub frame: u64,
    /// Why counts differ, in words; absent where they are constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The instructions by function, where they were asked for: nodes in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionNode>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// How the counts of an operation repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Repeats {
    /// Every operation of every boot took the same.
    Constant,
    /// Operations differ, and every boot had the same counts equally often.
    Reproducible,
    /// Boots differ.
    Varies,
    /// Written by a newer version.
    #[serde(other)]
    Unknown,
}

/// One count, and how often it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Counted {
    /// Instructions of one iteration.
    pub instructions: u64,
    /// How often.
    pub times: u32,
}

/// A function in the tree of one iteration. Nodes stand in the order in which they were first called; `depth` says whose
/// child each is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FunctionNode {
    /// 0 for a process; its functions are below it.
    pub depth: u32,
    /// Name of the function, or of the process.
    pub name: String,
    /// "process", "program", "library", "vdso" or "kernel".
    pub place: String,
    /// Calls from its parent.
    pub calls: u64,
    /// Instructions of its own.
    pub own: u64,
    /// Of these, how many are repetitions of a string instruction beyond its first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref)] // serde wants a reference
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl InstructionCount {
    /// Instructions of all functions together.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.functions.iter().fold(0, |sum, node| sum.saturating_add(node.own))
    }

    /// Of each node, its instructions with those of all below it.
    #[must_use]
    pub fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.functions.iter().map(|node| node.own).collect();
        // Nodes whose callees may still come, the outermost first.
        let mut open: Vec<usize> = Vec::new();
        let mut close = |open: &mut Vec<usize>| {
            if let (Some(node), Some(&above)) = (open.pop(), open.last()) {
                totals[above] = totals[above].saturating_add(totals[node]);
            }
        };
        for (index, node) in self.functions.iter().enumerate() {
            while open.last().is_some_and(|&above| self.functions[above].depth >= node.depth) {
                close(&mut open);
            }
            open.push(index);
        }
        while !open.is_empty() {
            close(&mut open);
        }
        totals
    }
}

/// What decides counts beside the kernel itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Emulation {
    /// The emulator and its version ("qemu 7.2.22").
    pub emulator: String,
    /// The machine that it emulates.
    pub machine: String,
    /// Its model of the processor.
    pub cpu_model: String,
    /// Memory of the guest, MiB.
    pub memory_mib: u32,
    /// Words that the user added to the kernel's command line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub append: String,
    /// The kernel image, as it was named.
    pub image: String,
    /// CRC-32 of the kernel image.
    pub image_checksum: String,
    /// CRC-32 of the kernel's configuration, where one lay beside the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration_checksum: Option<String>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_its_own_and_all_below() {
        let node = |depth, own| FunctionNode {
            depth,
            name: String::new(),
            place: "kernel".into(),
            calls: 1,
            own,
            repeated: 0,
            unknown: Map::default(),
        };
        let count = InstructionCount {
            repeats: Repeats::Constant,
            values: vec![Counted { instructions: 15, times: 64 }],
            boots: 2,
            frame: 9,
            why: None,
            functions: vec![node(0, 0), node(1, 1), node(2, 2), node(2, 4), node(1, 8)],
            unknown: Map::default(),
        };
        assert_eq!(count.totals(), [15, 7, 2, 4, 8]);
        assert_eq!(count.sum(), 15);
    }

    #[test]
    fn a_word_of_a_newer_version_is_unknown() {
        assert_eq!(serde_json::from_str::<Repeats>("\"mostly\"").expect("read"), Repeats::Unknown);
    }

    #[test]
    fn repetitions_are_written_where_there_are_any() {
        let written = |repeated: u64| {
            let node = serde_json::json!({
                "depth": 0, "name": "a", "place": "kernel", "calls": 1, "own": 9, "repeated": repeated
            });
            let node: FunctionNode = serde_json::from_value(node).expect("a node");
            serde_json::to_value(&node).expect("JSON").get("repeated").cloned()
        };
        assert_eq!((written(0), written(7)), (None, Some(7.into())));
    }
}
