//! Compares claims with counts, and states both for the result. METHOD.md, Evidence.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, Evidence, Expectation, Verdict, claim_words};
use oscost_stats::interval::{LOWER_QUARTILE, over_launches};

use super::PostCondition;
use super::card::{Bound, Claim};

/// Start of the names of claims about calls that nobody counts as they are in the timed pass.
const BY_CHANCE: &str = "system_calls_by_chance:";

/// A claim as the result states it; nothing is observed yet.
#[must_use]
pub fn stated(claim: &Claim) -> CheckedClaim {
    let (name, bound) = match *claim {
        Claim::SystemCalls(bound) => ("system_calls".to_owned(), bound),
        Claim::CallsNamed(names, bound) => (format!("system_calls:{}", names.join("|")), bound),
        Claim::CallsByChance(names) => (format!("{BY_CHANCE}{}", names.join("|")), Bound::AtLeast(0.0)),
        Claim::OtherCalls(bound) => ("other_system_calls".to_owned(), bound),
        Claim::Switches(bound) => ("switches".to_owned(), bound),
        Claim::VoluntarySwitches(bound) => ("voluntary_switches".to_owned(), bound),
        Claim::Faults(bound) => ("faults".to_owned(), bound),
    };
    unobserved(name, expectation(bound))
}

fn unobserved(claim: String, expected: Expectation) -> CheckedClaim {
    CheckedClaim { claim, expected, observed: None, holds: None, unknown: serde_json::Map::default() }
}

pub(crate) fn expectation(bound: Bound) -> Expectation {
    match bound {
        Bound::Exactly(count) => Expectation::Exactly(count),
        Bound::AtMost(most) => Expectation::Between { at_least: 0.0, at_most: most },
        Bound::AtLeast(least) => Expectation::Between { at_least: least, at_most: f64::MAX },
        Bound::Between(least, most) => Expectation::Between { at_least: least, at_most: most },
    }
}

/// Name of the claim that a figure is no less than its own kernel entries cost.
const KERNEL_ENTRY_COST: &str = "kernel_entry_cost";
/// Nothing enters the kernel for less than the bare entry, but the two are measured in other batches.
const LEAST_OF_ENTRIES: f64 = 0.95;

/// A number of calls that is so near a whole one is that of each operation, but of a few that something disturbed.
const ALIKE: f64 = 0.01;
/// A number of calls that is no more than this is none: what sums and differences of shares leave over.
const NONE: f64 = 1e-9;

/// That an operation costs at least its own `calls` at the price of the bare kernel entry. `launches`: floor and entry of each,
/// in ns. They are held against each other launch by launch, because the core's speed moves both; of the quotients the lower
/// quartile is observed, as of floors. With no launch that knows both nothing is observed.
#[must_use]
pub fn entry_cost(calls: f64, launches: impl Iterator<Item = (f64, f64)>) -> CheckedClaim {
    let quotients: Vec<f64> = launches.map(|(floor, entry)| floor / (calls * entry)).collect();
    let mut claim = unobserved(KERNEL_ENTRY_COST.to_owned(), expectation(Bound::AtLeast(LEAST_OF_ENTRIES)));
    observe(&mut claim, over_launches(&quotients, LOWER_QUARTILE).map(|quotient| quotient.value));
    claim
}

/// Of `calls` that the audit counted, those that the timed pass pays for at least. Where operations make different numbers of
/// calls, as those that wait or find what they want by chance, it is the fewest that the claims permit.
#[must_use]
pub fn fewest(calls: f64, claims: &[CheckedClaim]) -> f64 {
    let (mut fewest, mut share) = (calls, 1.0_f64);
    for claim in claims.iter().filter(|claim| about_calls(claim)) {
        let Some(observed) = claim.observed else { continue };
        let least = match claim.expected {
            Expectation::Exactly(count) => count,
            Expectation::Between { at_least, .. } => at_least,
        };
        if observed.round() == 0.0 {
            // Most operations make none of these, and the audit may have counted one that lies outside of the timed pass.
            fewest -= (observed - least).max(0.0);
        } else if (observed - observed.round()).abs() > ALIKE {
            share = share.min(least / observed);
        }
    }
    if fewest > NONE { fewest * share } else { 0.0 }
}

/// Start of the names of claims about the object after its operations.
const POST_CONDITION: &str = "post_condition:";

/// What was found after operations, as a claim.
#[must_use]
pub fn after_operations(found: &PostCondition) -> CheckedClaim {
    let mut claim = unobserved(format!("{POST_CONDITION}{}", found.name), expectation(found.expected));
    observe(&mut claim, Some(found.observed));
    claim
}

/// Adds what was found after the operations of an audit or a launch: what holds, holds after each of them.
pub fn add_post_conditions(claims: &mut Vec<CheckedClaim>, found: &[CheckedClaim]) {
    for found in found {
        match claims.iter_mut().find(|claim| claim.claim == found.claim) {
            Some(claim) if claim.holds == Some(true) => *claim = found.clone(),
            Some(_) => {}
            None => claims.push(found.clone()),
        }
    }
}

/// The claim that calls of this name are as many as the series itself counted.
#[must_use]
pub fn own_count(name: &str, an_operation: f64) -> CheckedClaim {
    unobserved(format!("system_calls:{name}"), Expectation::Exactly(an_operation))
}

/// Puts what the audit counted, phase by phase, into the claims about system calls: what holds, holds in every phase.
pub fn observe_calls(claims: &mut [CheckedClaim], phases: &[BTreeMap<String, f64>]) {
    let named: Vec<String> = claims
        .iter()
        .filter_map(|claim| {
            claim.claim.strip_prefix("system_calls:").or_else(|| claim.claim.strip_prefix(BY_CHANCE))
        })
        .flat_map(|names| names.split('|').map(str::to_owned))
        .collect();
    for claim in claims {
        let counted = |calls: &BTreeMap<String, f64>| match claim.claim.as_str() {
            "system_calls" => Some(sum(calls.values().copied())),
            "other_system_calls" => {
                Some(sum(calls.iter().filter(|(name, _)| !named.contains(name)).map(|(_, &count)| count)))
            }
            other => {
                let of = |name: &str| calls.get(name).copied().unwrap_or(0.0);
                Some(sum(other.strip_prefix("system_calls:")?.split('|').map(of)))
            }
        };
        let counted: Vec<f64> = phases.iter().filter_map(counted).collect();
        let broken = counted.iter().find(|&&count| !claim.expected.holds(count));
        if let Some(&count) = broken.or(counted.last()) {
            observe(claim, Some(count));
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

/// Whether the audit counts what the claim is about.
fn about_calls(claim: &CheckedClaim) -> bool {
    claim.claim == "other_system_calls" || claim.claim.starts_with("system_calls")
}

/// The verdict on all claims. One that does not hold contradicts; without a single one about system calls that was
/// counted there is no proof, whatever else holds.
#[must_use]
pub fn verdict(claims: &[CheckedClaim]) -> Verdict {
    if claims.iter().any(|claim| claim.holds == Some(false)) {
        return Verdict::Contradicted;
    }
    let counted = |claim: &CheckedClaim| about_calls(claim) && claim.holds == Some(true);
    let all_counted = claims.iter().all(|claim| claim.holds.is_some());
    if all_counted && claims.iter().any(counted) { Verdict::Checked } else { Verdict::Unchecked }
}

/// Why the figure is withheld, in words: each claim that does not hold.
#[must_use]
pub fn contradiction(claims: &[CheckedClaim], calls: &BTreeMap<String, f64>) -> String {
    let broken = claims.iter().filter(|claim| claim.holds == Some(false)).map(|claim| {
        let observed = claim.observed.map_or("nothing".to_owned(), number);
        if let Some(name) = claim.claim.strip_prefix(POST_CONDITION) {
            let name = name.replace('_', " ");
            return format!("afterwards {name} must be {}, and is {observed}", claim.expected);
        }
        if claim.claim == KERNEL_ENTRY_COST {
            return format!("costs {observed} times the bare kernel entries of its own system calls");
        }
        let what = claim_words(&claim.claim);
        let source = if about_calls(claim) { "the audit" } else { "the launches" };
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

/// A number with two decimals, or with as many as a small one needs to be none: 0.00 would deny what it tells of.
fn number(value: f64) -> String {
    let zeros = if value == 0.0 { 0.0 } else { (-value.abs().log10()).floor().clamp(0.0, 12.0) };
    format!("{value:.*}", if zeros < 2.0 { 2 } else { zeros as usize + 1 })
}

#[cfg(test)]
mod tests;
