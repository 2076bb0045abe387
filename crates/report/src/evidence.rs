//! Evidence of a figure: counted system calls, why nothing was checked, single operations.

use oscost_results::{CheckedClaim, Evidence, Figure, Percentiles, RunResult, Status, Verdict};

use crate::numbers;

/// System calls per operation, all names together; `None` where they were not counted, or not all of them: those that an
/// operation makes by chance are not counted under contention.
pub(crate) fn system_calls(evidence: &Evidence) -> Option<f64> {
    let of_calls = |claim: &&CheckedClaim| claim.claim.starts_with("system_calls");
    if evidence.claims.iter().filter(of_calls).any(|claim| claim.observed.is_none()) {
        return None;
    }
    let claimed = evidence.claims.iter().find(|claim| claim.claim == "system_calls");
    let counted = || evidence.audit_method.as_ref().map(|_| evidence.system_calls.values().sum());
    claimed.and_then(|claim| claim.observed).or_else(counted)
}

/// Figures whose operations were timed one by one.
pub(crate) fn timed(result: &RunResult) -> impl Iterator<Item = (&Figure, &Percentiles)> {
    let measured = result.figures.iter().filter(|figure| figure.status == Status::Measured);
    measured.filter_map(|figure| Some((figure, figure.percentiles.as_ref()?)))
}

/// A count per operation: whole, or with the two decimals that an audit of 100 operations resolves.
pub(crate) fn per_operation(count: f64) -> String {
    // The sum of no calls at all is -0.
    let count = count + 0.0;
    if count.fract() == 0.0 || !count.is_finite() || count.abs() >= 1e6 || count.abs() < 0.005 {
        numbers::count(count)
    } else {
        format!("{count:.2}")
    }
}

/// Why nothing says whether a figure is what it claims to be; `None` where something does.
pub(crate) fn unchecked(evidence: &Evidence) -> Option<String> {
    if !matches!(evidence.verdict, Verdict::Unchecked | Verdict::Unknown) {
        return None;
    }
    let by_chance = evidence.claims.iter().find_map(|claim| {
        Some(claim.claim.strip_prefix("system_calls_by_chance:")?).filter(|_| claim.observed.is_none())
    });
    Some(match (by_chance, &evidence.audit_missing) {
        (Some(calls), _) => format!("how often an operation calls {} is chance", calls.replace('|', " or ")),
        (None, Some(why)) => format!("system calls were not counted: {why}"),
        (None, None) if evidence.claims.is_empty() => "nothing is claimed of it".to_owned(),
        (None, None) => "a claim could not be counted".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unchecked_says_why() {
        let why = |claims: serde_json::Value, missing: Option<&str>| {
            let evidence =
                serde_json::json!({"verdict": "unchecked", "claims": claims, "audit_missing": missing});
            unchecked(&serde_json::from_value(evidence).expect("evidence"))
        };
        let chance = serde_json::json!([{"claim": "system_calls_by_chance:futex", "expected": 1.0}]);
        assert_eq!(why(chance, None).as_deref(), Some("how often an operation calls futex is chance"));
        let missing = why(serde_json::json!([]), Some("no ptrace"));
        assert_eq!(missing.as_deref(), Some("system calls were not counted: no ptrace"));
        assert_eq!(why(serde_json::json!([]), None).as_deref(), Some("nothing is claimed of it"));
        assert_eq!(unchecked(&Evidence { verdict: Verdict::Checked, ..Evidence::default() }), None);
    }

    #[test]
    fn counts_per_operation_are_whole_or_have_two_decimals() {
        let shown = [0.0, -0.0, 2.0, 2.04, 0.001].map(per_operation);
        assert_eq!(shown, ["0", "0", "2", "2.04", "0.00100"].map(str::to_owned));
    }
}
