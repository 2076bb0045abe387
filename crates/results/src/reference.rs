//! References of a run: operations that are timed beside few figures, only to show how far figures move between two runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An operation that was timed after the figures of launches, and is no figure (METHOD.md, Drift).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reference {
    /// Id of the benchmark.
    pub id: String,
    /// Revision of its method.
    pub revision: u32,
    /// Where its participants ran, as figures have it.
    pub placement: String,
    /// Whether it enters the kernel, by its card.
    pub enters_kernel: bool,
    /// Quantity → the value of each launch.
    pub launches: BTreeMap<String, Vec<f64>>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}
