//! Evidence that changed: counts of two audits that differ by more than audits usually do.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, Expectation, Figure};

use super::Evident;
use crate::words::plain;

/// Counts an operation that differ by less are the same: an audit of 100 operations resolves no more.
const ONE_COUNT: f64 = 0.005;
/// The same of a call that no claim speaks of, beside claims that are bounds.
const ONE_UNCLAIMED_COUNT: f64 = 0.5;

/// Counts of the two audits that differ by more than their claims leave open: where bounds are claimed, who waits for whom,
/// and so how often, differs from audit to audit.
pub(super) fn changed(a: &Figure, b: &Figure) -> Vec<Evident> {
    if a.evidence.audit_method.is_none() || b.evidence.audit_method.is_none() {
        return Vec::new();
    }
    let (of_a, of_b) = (&a.evidence.system_calls, &b.evidence.system_calls);
    let mut names: Vec<&String> = of_a.keys().chain(of_b.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let count = |calls: &BTreeMap<String, f64>, name: &str| calls.get(name).copied().unwrap_or(0.0);
    let evident = |name: &String| {
        let (of_a, of_b) = (count(of_a, name), count(of_b, name));
        let open = left_open(a, name).max(left_open(b, name));
        let what = || format!("calls of {}", plain(name, true));
        let differs = (of_a - of_b).abs() > ONE_COUNT.max(open);
        differs.then(|| Evident { id: a.id.clone(), what: what(), a: of_a, b: of_b })
    };
    names.into_iter().filter_map(evident).collect()
}

/// What the claims of a figure leave open of the count of one call: the width of the narrowest bound that speaks of it.
fn left_open(figure: &Figure, name: &str) -> f64 {
    let claims = &figure.evidence.claims;
    let speaks = |claim: &&CheckedClaim| match claim.claim.split_once(':') {
        Some(("system_calls", names)) => names.split('|').any(|one| one == name),
        Some(_) => false,
        None => claim.claim == "system_calls",
    };
    let width = |claim: &CheckedClaim| match claim.expected {
        Expectation::Exactly(_) => 0.0,
        Expectation::Between { at_least, at_most } => at_most - at_least.max(0.0),
    };
    let unclaimed = if claims.iter().any(|claim| width(claim) > 0.0) { ONE_UNCLAIMED_COUNT } else { 0.0 };
    claims.iter().filter(speaks).map(width).reduce(f64::min).unwrap_or(unclaimed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A figure of which so many calls were counted, and these claims (name, least, most; equal: exactly).
    fn figure(calls: &[(&str, f64)], claims: &[(&str, f64, f64)]) -> Figure {
        let mut figure: Figure = serde_json::from_value(json!({
            "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
            "call_path": "libc", "group": "", "status": "measured",
        }))
        .expect("a figure");
        figure.evidence.audit_method = Some("ptrace".to_owned());
        figure.evidence.system_calls =
            calls.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let claim = |&(claim, at_least, at_most): &(&str, f64, f64)| CheckedClaim {
            claim: claim.to_owned(),
            expected: if at_least == at_most {
                Expectation::Exactly(at_least)
            } else {
                Expectation::Between { at_least, at_most }
            },
            observed: None,
            holds: None,
            unknown: serde_json::Map::new(),
        };
        figure.evidence.claims = claims.iter().map(claim).collect();
        figure
    }

    /// Whether one count against another is news, under these claims.
    fn news(a: f64, b: f64, claims: &[(&str, f64, f64)]) -> bool {
        let told = changed(&figure(&[("read", a)], claims), &figure(&[("read", b)], claims));
        assert!(
            told.iter()
                .all(|it| (it.id.as_str(), it.what.as_str(), it.a, it.b) == ("a", "calls of read", a, b))
        );
        !told.is_empty()
    }

    #[test]
    fn a_count_differs_by_more_than_an_audit_resolves() {
        let exact = [("system_calls", 1.0, 1.0)];
        assert!(!news(1.0, 1.004, &exact) && news(1.0, 1.006, &exact) && news(1.006, 1.0, &exact));
        assert!(!news(1.0, 1.004, &[]) && news(1.0, 1.006, &[]), "nothing is claimed, nothing is open");
    }

    #[test]
    fn a_bound_leaves_its_width_open() {
        let open = [("system_calls:read|write", 1.0, 3.0)];
        assert!(!news(1.0, 3.0, &open) && news(1.0, 3.1, &open));
        let narrow = [("system_calls", 1.0, 3.0), ("system_calls:read", 1.0, 2.0)];
        assert!(!news(1.0, 2.0, &narrow) && news(1.0, 2.1, &narrow), "the narrowest that speaks of it");
        let least = [("system_calls:read", -5.0, 2.0)];
        assert!(!news(0.0, 2.0, &least) && news(0.0, 2.1, &least), "no count is below nothing");
    }

    #[test]
    fn beside_bounds_a_call_that_no_claim_speaks_of_has_half_a_call_open() {
        let beside = [("system_calls:write", 1.0, 3.0), ("faults", 0.0, 9.0)];
        assert!(!news(1.0, 1.5, &beside) && news(1.0, 1.6, &beside));
        let narrow = [("system_calls:write", 1.0, 1.2)];
        assert!(!news(1.0, 1.5, &narrow) && news(1.0, 1.6, &narrow), "however narrow the bounds are");
        let of_another_kind = [("post_condition:read", 0.0, 9.0)];
        assert!(news(1.0, 1.6, &of_another_kind), "a claim on what was done is none on its calls");
    }

    #[test]
    fn without_both_audits_nothing_is_told() {
        let (a, mut b) = (figure(&[("read", 1.0)], &[]), figure(&[], &[]));
        assert_eq!(changed(&a, &b).len(), 1, "a call that is not there was not made");
        b.evidence.audit_method = None;
        assert!(changed(&a, &b).is_empty() && changed(&b, &a).is_empty());
    }

    #[test]
    fn each_call_is_told_once_by_its_name() {
        let calls = |count| figure(&[("read", count), ("writ\u{e9}", count)], &[]);
        let told: Vec<String> = changed(&calls(1.0), &calls(2.0)).into_iter().map(|it| it.what).collect();
        assert_eq!(told, ["calls of read", "calls of writ\u{e9}"]);
    }
}
