//! Evidence of a figure: counted system calls, a broken claim, single operations.

use oscost_results::{CheckedClaim, Evidence, Expectation, Figure, Percentiles, RunResult, Status, Verdict};

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

/// What was claimed and what was counted instead.
pub(crate) fn contradiction(claim: &CheckedClaim) -> String {
    let (kind, names) = claim.claim.split_once(':').unwrap_or((&claim.claim, ""));
    let one = claim.expected == Expectation::Exactly(1.0);
    let what = match kind {
        "system_calls" if names.is_empty() => if one { "system call" } else { "system calls" }.to_owned(),
        "system_calls" => format!("{} of {}", if one { "call" } else { "calls" }, names.replace('|', " or ")),
        other => other.replace('_', " "),
    };
    // System calls are counted by the audit, everything else while the figure was made.
    let who = if kind == "system_calls" { "the audit" } else { "the launches" };
    let observed = match claim.observed {
        None => "counted nothing".to_owned(),
        Some(observed) if observed.abs() < 1e6 => format!("counted {observed:.2}"),
        Some(observed) => format!("counted {observed:.2e}"),
    };
    let entered = match claim.expected {
        Expectation::Exactly(expected) => expected > 0.0,
        Expectation::Between { at_least, .. } => at_least > 0.0,
    };
    let meaning = if claim.claim == "system_calls" && entered && claim.observed == Some(0.0) {
        ": answered without entering the kernel"
    } else {
        ""
    };
    format!("claims {} {what} an operation, {who} {observed}{meaning}", expectation(claim.expected))
}

/// A claim's number in words; numbers of a stored result may be of any size.
fn expectation(expected: Expectation) -> String {
    let (at_least, at_most) = match expected {
        Expectation::Exactly(number) => return numbers::published(number),
        Expectation::Between { at_least, at_most } => (at_least, at_most),
    };
    let [least, most] = [at_least, at_most].map(numbers::published);
    match (at_least <= 0.0, at_most == f64::MAX) {
        (true, true) => "any number of".to_owned(),
        (true, false) => format!("at most {most}"),
        (false, true) => format!("at least {least}"),
        (false, false) => format!("{least} to {most}"),
    }
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

    fn claim(claim: &str, expected: Expectation, observed: f64) -> String {
        let unknown = serde_json::Map::new();
        let (claim, observed) = (claim.to_owned(), Some(observed));
        contradiction(&CheckedClaim { claim, expected, observed, holds: Some(false), unknown })
    }

    #[test]
    fn a_contradiction_says_what_was_claimed_and_what_was_counted() {
        assert_eq!(
            claim("system_calls", Expectation::Exactly(1.0), 0.0),
            "claims 1 system call an operation, the audit counted 0.00: answered without entering the kernel"
        );
        assert_eq!(
            claim("system_calls", Expectation::Exactly(0.0), 1.0),
            "claims 0 system calls an operation, the audit counted 1.00"
        );
        assert_eq!(
            claim("system_calls:semop|semtimedop", Expectation::Exactly(2.0), 1.5),
            "claims 2 calls of semop or semtimedop an operation, the audit counted 1.50"
        );
        // Another call may have been made in its place.
        assert_eq!(
            claim("system_calls:getpid", Expectation::Exactly(1.0), 0.0),
            "claims 1 call of getpid an operation, the audit counted 0.00"
        );
        let at_most = Expectation::Between { at_least: 0.0, at_most: 0.01 };
        assert_eq!(
            claim("voluntary_switches", at_most, 0.25),
            "claims at most 0.01 voluntary switches an operation, the launches counted 0.25"
        );
    }

    #[test]
    fn counts_per_operation_are_whole_or_have_two_decimals() {
        let shown = [0.0, -0.0, 2.0, 2.04, 0.001].map(per_operation);
        assert_eq!(shown, ["0", "0", "2", "2.04", "0.00100"].map(str::to_owned));
    }
}
