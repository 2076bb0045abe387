//! Claims as the result states them, and what was observed held against them. METHOD.md, Evidence.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, Evidence, Expectation, Verdict};

use crate::{Bound, Claim};

/// A claim as the result states it; nothing is observed yet.
#[must_use]
pub fn stated(claim: &Claim) -> CheckedClaim {
    let (name, bound) = match *claim {
        Claim::SystemCalls(bound) => ("system_calls".to_owned(), bound),
        Claim::CallsNamed(names, bound) => (format!("system_calls:{}", names.join("|")), bound),
        Claim::Switches(bound) => ("switches".to_owned(), bound),
        Claim::VoluntarySwitches(bound) => ("voluntary_switches".to_owned(), bound),
        Claim::Faults(bound) => ("faults".to_owned(), bound),
    };
    let expected = match bound {
        Bound::Exactly(count) => Expectation::Exactly(count),
        Bound::AtMost(most) => Expectation::Between { at_least: 0.0, at_most: most },
        Bound::AtLeast(least) => Expectation::Between { at_least: least, at_most: f64::MAX },
        Bound::Between(least, most) => Expectation::Between { at_least: least, at_most: most },
    };
    CheckedClaim { claim: name, expected, observed: None, holds: None, unknown: serde_json::Map::default() }
}

/// The claim that calls of this name are as many as the series itself counted.
#[must_use]
pub fn own_count(name: &str, an_operation: f64) -> CheckedClaim {
    CheckedClaim {
        claim: format!("system_calls:{name}"),
        expected: Expectation::Exactly(an_operation),
        observed: None,
        holds: None,
        unknown: serde_json::Map::default(),
    }
}

/// Puts what the audit counted into the claims about system calls.
pub fn observe_calls(claims: &mut [CheckedClaim], calls: &BTreeMap<String, f64>) {
    for claim in claims {
        if claim.claim == "system_calls" {
            observe(claim, Some(sum(calls.values().copied())));
        } else if let Some(names) = claim.claim.strip_prefix("system_calls:") {
            let of = |name: &str| calls.get(name).copied().unwrap_or(0.0);
            observe(claim, Some(sum(names.split('|').map(of))));
        }
    }
}

/// The sum, 0 for none: std's sum of no floats is -0, which people would see.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Puts what the timed launches counted into the other claims.
pub fn observe_launches(claims: &mut [CheckedClaim], evidence: &Evidence) {
    for claim in claims {
        match claim.claim.as_str() {
            "switches" => observe(claim, evidence.switches),
            "voluntary_switches" => observe(claim, evidence.voluntary_switches),
            "faults" => observe(claim, evidence.faults),
            _ => {}
        }
    }
}

fn observe(claim: &mut CheckedClaim, observed: Option<f64>) {
    claim.observed = observed;
    claim.holds = observed.map(|observed| claim.expected.holds(observed));
}

/// The verdict on all claims. One that does not hold contradicts; without a single one about system calls that was
/// counted there is no proof, whatever else holds.
#[must_use]
pub fn verdict(claims: &[CheckedClaim]) -> Verdict {
    if claims.iter().any(|claim| claim.holds == Some(false)) {
        return Verdict::Contradicted;
    }
    let counted = |claim: &CheckedClaim| claim.claim.starts_with("system_calls") && claim.holds == Some(true);
    let all_counted = claims.iter().all(|claim| claim.holds.is_some());
    if all_counted && claims.iter().any(counted) { Verdict::Proved } else { Verdict::NoClaim }
}

/// Why the figure is withheld, in words: each claim that does not hold.
#[must_use]
pub fn contradiction(claims: &[CheckedClaim], calls: &BTreeMap<String, f64>) -> String {
    let broken = claims.iter().filter(|claim| claim.holds == Some(false)).map(|claim| {
        let what = match claim.claim.split_once(':') {
            Some((_, names)) => format!("system calls {}", names.replace('|', " or ")),
            None => claim.claim.replace('_', " "),
        };
        let observed = claim.observed.map_or("nothing".to_owned(), |observed| format!("{observed:.2}"));
        let source = if claim.claim.starts_with("system_calls") { "the audit" } else { "the launches" };
        let meaning = if claim.claim == "system_calls" && claim.observed == Some(0.0) {
            ": answered without entering the kernel"
        } else {
            ""
        };
        format!("claims {} {what} an operation, {source} counted {observed}{meaning}", claim.expected)
    });
    let mut words = broken.collect::<Vec<_>>().join("; ");
    if !calls.is_empty() && claims.iter().any(|claim| claim.holds == Some(false)) {
        let list: Vec<String> = calls.iter().map(|(name, count)| format!("{name} {count:.2}")).collect();
        words.push_str(&format!(" (counted: {})", list.join(", ")));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
        pairs.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    #[test]
    fn exact_claims_prove_or_contradict() {
        let mut claims = vec![
            stated(&Claim::SystemCalls(Bound::Exactly(2.0))),
            stated(&Claim::CallsNamed(&["semop", "semtimedop"], Bound::Exactly(2.0))),
        ];
        assert_eq!(verdict(&claims), Verdict::NoClaim, "nothing was counted yet");
        observe_calls(&mut claims, &calls(&[("semtimedop", 2.0)]));
        assert_eq!(verdict(&claims), Verdict::Proved);
        observe_calls(&mut claims, &calls(&[("semtimedop", 2.0), ("read", 0.01)]));
        assert_eq!(verdict(&claims), Verdict::Contradicted);
    }

    #[test]
    fn a_false_claim_is_named_with_its_count() {
        let mut claims = vec![stated(&Claim::SystemCalls(Bound::Exactly(1.0)))];
        observe_calls(&mut claims, &calls(&[]));
        assert_eq!(
            contradiction(&claims, &calls(&[])),
            "claims 1 system calls an operation, the audit counted 0.00: answered without entering the kernel"
        );
    }

    #[test]
    fn no_evidence_is_no_claim() {
        assert_eq!(verdict(&[]), Verdict::NoClaim);
        let mut claims = vec![
            stated(&Claim::SystemCalls(Bound::Exactly(0.0))),
            stated(&Claim::Switches(Bound::Between(0.9, 1.2))),
        ];
        observe_calls(&mut claims, &calls(&[]));
        assert_eq!(verdict(&claims), Verdict::NoClaim, "switches could not be counted");
        observe_launches(&mut claims, &Evidence { switches: Some(1.0), ..Evidence::default() });
        assert_eq!(verdict(&claims), Verdict::Proved);
        observe_launches(&mut claims, &Evidence { switches: Some(0.5), ..Evidence::default() });
        assert_eq!(verdict(&claims), Verdict::Contradicted);
    }

    #[test]
    fn switches_alone_prove_nothing() {
        let mut claims = vec![stated(&Claim::VoluntarySwitches(Bound::Exactly(0.0)))];
        observe_launches(&mut claims, &Evidence { voluntary_switches: Some(0.0), ..Evidence::default() });
        assert_eq!(verdict(&claims), Verdict::NoClaim);
    }
}
