//! Tests of what is shown of results, and of verdicts.
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod any_result;
mod bill;
mod browser;
mod compare;
mod contention;
mod cpu_pair;
mod findings;
mod fixture;
mod fleet;
mod held;
mod history;
mod live_rounds;
mod narrow;
mod open_metrics;
mod percentiles;
mod price_list;
mod realtime_ipc;
mod references;
mod scaling;
mod series;
#[expect(dead_code, reason = "the tests of stats use more of it")]
#[path = "../../../stats/tests/it/distributions/simulated.rs"]
mod simulated;
mod spread;
mod stored;
mod stored_drift;
mod stored_pairs;
mod version_one;
mod withdrawn;
mod written;
