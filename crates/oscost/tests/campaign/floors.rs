//! What the whole campaign must have done, as root: a campaign that kills nobody finds nothing.

use crate::{Outcome, table};

/// A column of the table, and the least that it must add up to.
const LEAST: [(&str, u64); 2] = [("kills", 5_000), ("injected", 5_000)];
/// Commands of root that were raced by another user, at least.
const RACES: u64 = 500;

/// What a machine may lack although the campaign is root's, word by word. Programs that can be installed are none of these.
const MAY_LACK: [&str; 9] = [
    // Either version 1 of control groups has the controllers, or version 2.
    "cgroup v2: there is none with the controller 'cpu'",
    "cgroup v2: there is none with the controller 'memory'",
    "2 MiB of memory: no such cgroup can be made here",
    "8 MiB of memory: no such cgroup can be made here",
    "24 MiB of memory: no such cgroup can be made here",
    "cpu.cfs_period_us=100000 cpu.cfs_quota_us=-1: no such cgroup (version 1) can be made here",
    "cpu.rt_runtime_us=0: no such cgroup (version 1) can be made here",
    "CPUs that shrink: there is one",
    // A kernel without ftrace, or that is locked down.
    "kills of trace: no such space can be made here",
];

/// Fails for what was too little, and for each skip that is not known.
pub fn hold<'a>(parts: impl Iterator<Item = &'a Outcome> + Clone, outcome: &mut Outcome) {
    for (heading, least) in LEAST {
        let found = table::column(heading, parts.clone());
        outcome.count(&format!("{heading}, of at least {least}"), found);
        if found < least {
            outcome.fail(format!("{heading}: {found}, and at least {least} are wanted"));
        }
    }
    let races: u64 = parts.clone().filter_map(|part| part.counts.get(table::RACES)).sum();
    outcome.count(&format!("{}, of at least {RACES}", table::RACES), races);
    if races < RACES {
        outcome.fail(format!("{}: {races}, and at least {RACES} are wanted", table::RACES));
    }
    for why in parts.flat_map(|part| &part.skipped) {
        if !MAY_LACK.contains(&why.as_str()) {
            outcome.fail(format!("skipped, and root has no excuse: {why}"));
        }
    }
}
