//! Facts about a core: measured at the start of a run, or known for its processor.

use serde::{Deserialize, Serialize};

/// What a run finds out about its core before it measures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Core {
    /// Passes of a batch of the chain.
    pub chain_passes: u64,
    /// Passes of a batch of the throughput loop.
    pub throughput_passes: u64,
    /// Entries in a batch of them.
    pub entries: u64,
    /// 1st percentile of what a step of the chain cost, ns.
    pub chain_ns: Option<f64>,
    /// The same of an instruction of the throughput loop.
    pub throughput_ns: Option<f64>,
    /// The same of a bare kernel entry.
    pub entry_ns: Option<f64>,
    /// Why a step of the chain cannot be taken for a cycle.
    pub no_cycles: Option<String>,
    /// Cycles that the processor's own counter counted in a step; none where there is no counter.
    pub counted: Option<f64>,
    /// Why no kernel entry takes part in rounds.
    pub no_entry: Option<String>,
}

/// Steps of the chain that an instruction of the throughput loop takes on a core that nobody shares: a constant of the
/// microarchitecture, whatever the frequency. By model as CPUID tells it; source: METHOD.md, Quiet windows.
const KNOWN: &[(&str, f64)] =
    &[("AuthenticAMD family 25 model 17", 0.1897), ("AuthenticAMD family 26 model 2", 0.1570)];

/// The same of this processor, where it was looked at before: there a step of the chain is one of its cycles.
pub(crate) fn known_steps(processor: Option<&str>) -> Option<f64> {
    KNOWN.iter().find(|(model, _)| Some(*model) == processor).map(|(_, steps)| *steps)
}
