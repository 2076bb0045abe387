//! What was counted, priced: items with what they cost together, what is left, what would be less, and budgets.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CountedRun, CountingWay, RunEnd, RunUsage};
use crate::Estimate;

/// The bill of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bill {
    /// The program and its arguments; of one that was already running, its name alone.
    pub program: Vec<String>,
    /// Number of the process, where it was already running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What the run took that nobody counted; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<RunUsage>,
    /// The runs that were counted, in their order. The bill is that of the first.
    pub counted: Vec<CountedRun>,
    /// What was paid for, the dearest first.
    pub items: Vec<BillItem>,
    /// Share of the free run's system time that the items explain; absent where there is no time to hold them against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Estimate>,
    /// What the items do not explain, and what differed between the runs: one sentence an entry.
    #[serde(default)]
    pub left: Vec<String>,
    /// What would be less, the largest saving first.
    #[serde(default)]
    pub savings: Vec<Saving>,
    /// What rules replace whose prices are not known: what they would save, nobody knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced_savings: Vec<String>,
    /// The budgets that were asked for, and whether they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<Budget>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Bill {
    /// The time of the free run, or of a program that ran anyway. It may lack processes that nobody waited for.
    #[must_use]
    pub fn known_time(&self) -> Option<RunUsage> {
        let ran_anyway =
            self.counted.first().filter(|one| self.pid.is_some() && one.way == CountingWay::Ebpf);
        self.free.or_else(|| ran_anyway.map(|one| one.usage))
    }

    /// The same, if the items can be held against it.
    #[must_use]
    pub fn time(&self) -> Option<RunUsage> {
        let is_whole = self.counted.iter().all(|one| one.unwaited.is_none());
        self.known_time().filter(|_| is_whole && self.ended_otherwise().is_none())
    }

    /// How a free run ended, where the run that the items are of ended otherwise: one of them did what the other did not.
    #[must_use]
    pub fn ended_otherwise(&self) -> Option<RunEnd> {
        let first = self.counted.first()?;
        self.counted.iter().filter_map(|one| one.free_ended).find(|ended| *ended != first.ended)
    }
}

/// A row of the bill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BillItem {
    /// What tells it from others, for `compare`: the call and all that decides its price.
    pub key: String,
    /// The same for people.
    pub words: String,
    /// How often it was paid for.
    pub times: u64,
    /// The price of one; absent where it is within another item's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// All of them together, ns.
    pub together: Estimate,
    /// Time that was counted inside, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_ns: Option<u64>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// What one of something costs on this machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Price {
    /// Price in ns: the mean, or what is typical where others had the CPU; from the low end of the floor to its high end.
    pub ns: Estimate,
    /// The figures that it is made of.
    pub ids: Vec<String>,
    /// There is no price yet: it costs at least this, a kernel entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub least: bool,
    /// In what its circumstances differ from those of the figures; empty where they do not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub circumstance: String,
}

/// What would be less.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Saving {
    /// The rule's name.
    pub rule: String,
    /// What is replaced.
    pub replaced: String,
    /// By what.
    pub instead: String,
    /// How often it was counted.
    pub times: u64,
    /// What it costs now, ns.
    pub now_ns: f64,
    /// What the other costs, ns.
    pub then_ns: f64,
    /// At most so much is saved: how much of it, the counts cannot say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// The figure that prices the other.
    pub id: String,
    /// What is lost.
    pub catch: String,
    /// Where it is said.
    pub source: String,
    /// Keys of the items that are replaced.
    pub items: Vec<String>,
}

impl Saving {
    /// What is saved, ns.
    #[must_use]
    pub fn saved_ns(&self) -> f64 {
        self.now_ns - self.then_ns
    }

    /// Whether what is saved is waiting, which is no CPU time.
    #[must_use]
    pub fn is_of_waiting(&self) -> bool {
        self.rule == "same_cpu"
    }
}

/// A budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Budget {
    /// As it was typed ("calls<=1200").
    pub asked: String,
    /// What was counted; of several runs the worst.
    pub counted: u64,
    /// Whether it was kept; absent where not everything was counted, and what was does not break it.
    #[serde(default)]
    pub kept: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_what_the_other_costs_less() {
        let saving = Saving { now_ns: 90.0, then_ns: 20.0, ..Saving::default() };
        assert_eq!((saving.saved_ns(), saving.is_of_waiting()), (70.0, false));
        assert!(Saving { rule: "same_cpu".to_owned(), ..saving }.is_of_waiting());
    }
}
