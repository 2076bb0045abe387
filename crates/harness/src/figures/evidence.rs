//! Combines launches and audit into evidence, with its verdict. METHOD.md, Evidence.

use oscost_results::Evidence;
use oscost_stats::quantile::{median, sorted};

use super::member::MemberState;
use crate::benchmark::claims;

use super::Context;

fn middle(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    median(&sorted(values?))
}

/// The evidence of one member.
pub(super) fn of_member(member: &MemberState, context: &Context<'_>) -> Evidence {
    let records = || member.launched.iter().map(|launched| &launched.record);
    let audited = member.audited.clone().unwrap_or_default();
    let any = !member.launched.is_empty();
    let mut evidence = Evidence {
        audit_method: audited.method,
        audit_missing: audited.missing,
        system_calls: audited.system_calls,
        switches: if any { middle(records().map(|record| record.switches)) } else { None },
        voluntary_switches: if any {
            middle(records().map(|record| record.voluntary_switches))
        } else {
            None
        },
        migrations: records()
            .try_fold(0_u64, |sum, record| Some(sum.saturating_add(record.migrations?)))
            .filter(|_| any),
        faults: if any { middle(records().map(|record| record.faults)) } else { None },
        fast_share: if any { middle(records().map(|record| record.fast_share)) } else { None },
        clean_share: if any { middle(records().map(|record| record.clean_share)) } else { None },
        launches: u32::try_from(member.launched.len()).unwrap_or(u32::MAX),
        void_launches: context.void_launches,
        void_batches: u64::from(member.failed_launches),
        seccomp_mode: records().find_map(|record| record.circumstances.seccomp_mode),
        tracer_pid: records().filter_map(|record| record.circumstances.tracer_pid).max(),
        claims: audited.claims,
        ..Evidence::default()
    };
    let mut stated = std::mem::take(&mut evidence.claims);
    claims::observe_launches(&mut stated, &evidence);
    for launched in &member.launched {
        claims::add_post_conditions(&mut stated, &launched.post_conditions);
    }
    // The bare entry cannot be held against itself: two copies of one loop differ by their place in memory. Under a filter
    // it is another call.
    let filtered = evidence.seccomp_mode.is_some_and(|mode| mode > 0);
    let bare = evidence.system_calls.keys().eq([if filtered { "getpid" } else { "invalid" }]);
    let calls = audited.calls_in_turn.map(|calls| claims::fewest(calls, &stated));
    if let Some(calls) = calls.filter(|&calls| calls > 0.0 && any && !bare) {
        let both =
            records().filter_map(|record| record.quantities.get("floor").copied().zip(record.entry_ns));
        stated.push(claims::entry_cost(calls, both));
    }
    evidence.verdict = claims::verdict(&stated);
    evidence.claims = stated;
    evidence
}
