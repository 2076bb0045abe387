//! Histograms of single operations, in the format of cyclictest.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use oscost_results::{Figure, Percentiles, RunResult, Untrusted};

use crate::evidence::timed;

/// Histograms as cyclictest prints them (`-h`, in ns): a line a value, a column a figure; what is empty has no line.
///
/// # Errors
/// Those of `out`.
pub fn histograms(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let timed: Vec<(&Figure, &Percentiles)> = timed(result).collect();
    if timed.is_empty() {
        return writeln!(out, "# No operation was timed on its own: oscost run --percentiles");
    }
    writeln!(out, "# Histogram, ns with the clock pair; lower bounds of buckets of 1.6 %")?;
    for (column, (figure, it)) in timed.iter().enumerate() {
        let id = Untrusted::new(&figure.id);
        writeln!(out, "# Column {}: {}, clock pair {:.1} ns", column + 1, id.terminal(), it.pair_ns)?;
    }
    let columns: Vec<BTreeMap<u64, u64>> = timed
        .iter()
        .map(|(_, it)| it.from_ns.iter().copied().zip(it.counts.iter().copied()).collect())
        .collect();
    let values: BTreeSet<u64> = columns.iter().flat_map(BTreeMap::keys).copied().collect();
    for value in values {
        let count = |column: &BTreeMap<u64, u64>| column.get(&value).copied().unwrap_or(0);
        let counts: Vec<String> = columns.iter().map(|column| format!("{:06}", count(column))).collect();
        writeln!(out, "{value:06} {}", counts.join("\t"))?;
    }
    let each = |of: fn(&Percentiles) -> f64| {
        timed.iter().map(|(_, it)| format!("{:05.0}", of(it))).collect::<Vec<_>>().join(" ")
    };
    let passes: Vec<String> = timed.iter().map(|(_, it)| format!("{:09}", it.passes)).collect();
    writeln!(out, "# Total: {}", passes.join(" "))?;
    writeln!(out, "# Min Latencies: {}", each(|it| it.from_ns.first().map_or(0.0, |&ns| ns as f64)))?;
    writeln!(out, "# Avg Latencies: {}", each(|it| it.mean_ns + it.pair_ns))?;
    writeln!(out, "# Max Latencies: {}", each(|it| it.max_ns + it.pair_ns))
}
