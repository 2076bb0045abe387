//! Compares claims with counts, and states both for the result. METHOD.md, Evidence.

use std::collections::BTreeMap;

use oscost_results::{CheckedClaim, Evidence, Expectation, Verdict};
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
    let share = |claim: &CheckedClaim| {
        let observed = claim.observed.filter(|observed| (observed - observed.round()).abs() > ALIKE)?;
        let least = match claim.expected {
            Expectation::Exactly(count) => count,
            Expectation::Between { at_least, .. } => at_least,
        };
        Some(least / observed)
    };
    calls * claims.iter().filter(|claim| about_calls(claim)).filter_map(share).fold(1.0, f64::min)
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
        let what = match claim.claim.split_once(':') {
            Some((_, names)) => format!("system calls {}", names.replace('|', " or ")),
            None => claim.claim.replace('_', " "),
        };
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
mod tests {
    use super::*;

    #[test]
    fn no_number_that_is_not_0_reads_0() {
        let numbers = [0.0, 2.0, 1.503, 0.094, 0.0125, 0.0043, 0.0005, 0.000_002_31];
        let words = ["0.00", "2.00", "1.50", "0.09", "0.01", "0.004", "0.0005", "0.000002"];
        assert_eq!(numbers.map(number), words);
    }

    fn calls(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
        pairs.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    #[test]
    fn exact_claims_prove_or_contradict() {
        let mut claims = vec![
            stated(&Claim::SystemCalls(Bound::Exactly(2.0))),
            stated(&Claim::CallsNamed(&["semop", "semtimedop"], Bound::Exactly(2.0))),
        ];
        assert_eq!(verdict(&claims), Verdict::Unchecked, "nothing was counted yet");
        observe_calls(&mut claims, &[calls(&[("semtimedop", 2.0)])]);
        assert_eq!(verdict(&claims), Verdict::Checked);
        observe_calls(&mut claims, &[calls(&[("semtimedop", 2.0), ("read", 0.01)])]);
        assert_eq!(verdict(&claims), Verdict::Contradicted);
    }

    #[test]
    fn what_holds_after_one_launch_holds_after_each() {
        let turns = |observed| [after_operations(&PostCondition::exactly("turns", 5.0, observed))];
        for (found, broken) in [([5.0, 5.0, 5.0], false), ([5.0, 4.0, 5.0], true), ([4.0, 5.0, 5.0], true)] {
            let mut claims = vec![stated(&Claim::SystemCalls(Bound::Exactly(0.0)))];
            observe_calls(&mut claims, &[calls(&[])]);
            found.into_iter().for_each(|found| add_post_conditions(&mut claims, &turns(found)));
            assert_eq!(claims.len(), 2);
            assert_eq!(verdict(&claims) == Verdict::Contradicted, broken, "{found:?}");
            if broken {
                assert_eq!(
                    contradiction(&claims, &BTreeMap::new()),
                    "afterwards turns must be 5, and is 4.00"
                );
            }
        }
    }

    #[test]
    fn nothing_costs_less_than_its_own_kernel_entries() {
        let verdict_of = |calls, launches: &[(f64, f64)]| {
            let mut claims = vec![stated(&Claim::SystemCalls(Bound::Exactly(2.0)))];
            observe_calls(&mut claims, &[self::calls(&[("semop", 2.0)])]);
            claims.push(entry_cost(calls, launches.iter().copied()));
            (verdict(&claims), contradiction(&claims, &BTreeMap::new()))
        };
        // A fake semop, counted twice in an audit, at 7 ns.
        let (fake, why) = verdict_of(2.0, &[(6.95, 69.0); 10]);
        assert_eq!(fake, Verdict::Contradicted);
        assert_eq!(why, "costs 0.05 times the bare kernel entries of its own system calls");
        // The entry itself, within what two batches differ by, and on a core that is slow in half of the launches.
        assert_eq!(verdict_of(1.0, &[(66.0, 69.0); 10]).0, Verdict::Checked);
        assert_eq!(verdict_of(1.0, &[(69.0, 69.0), (138.0, 138.0)]).0, Verdict::Checked);
        assert_eq!(verdict_of(1.0, &[(65.0, 69.0); 10]).0, Verdict::Contradicted);
        assert_eq!(verdict_of(1.0, &[]).0, Verdict::Unchecked, "an unknown entry is no cheap one");
    }

    #[test]
    fn calls_by_chance_are_no_other_calls_and_stay_unchecked() {
        let mut claims =
            vec![stated(&Claim::CallsByChance(&["futex"])), stated(&Claim::OtherCalls(Bound::Exactly(0.0)))];
        observe_calls(&mut claims, &[calls(&[("futex", 3.5)])]);
        assert_eq!((claims[0].observed, claims[1].holds), (None, Some(true)));
        assert_eq!(verdict(&claims), Verdict::Unchecked);
        observe_calls(&mut claims, &[calls(&[("futex", 3.5), ("getppid", 1.0)])]);
        assert_eq!(verdict(&claims), Verdict::Contradicted);
    }

    #[test]
    fn what_no_claim_names_is_another_call() {
        let mut claims = vec![
            stated(&Claim::CallsNamed(&["futex"], Bound::AtMost(2.0))),
            stated(&Claim::OtherCalls(Bound::Exactly(0.0))),
        ];
        observe_calls(&mut claims, &[calls(&[("futex", 1.5)])]);
        assert_eq!(verdict(&claims), Verdict::Checked);
        observe_calls(&mut claims, &[calls(&[("futex", 1.5), ("getppid", 1.0)])]);
        assert_eq!(claims.iter().map(|claim| claim.holds).collect::<Vec<_>>(), [Some(true), Some(false)]);
        assert!(
            contradiction(&claims, &BTreeMap::new())
                .contains("claims 0 other system calls an operation, the audit counted 1.00")
        );
    }

    #[test]
    fn what_holds_holds_in_every_phase() {
        let two = || calls(&[("semop", 2.0)]);
        for (phases, verdict_is) in [
            ([two(), two()], Verdict::Checked),
            ([two(), calls(&[])], Verdict::Contradicted),
            ([calls(&[]), two()], Verdict::Contradicted),
        ] {
            let mut claims = vec![stated(&Claim::CallsNamed(&["semop"], Bound::Exactly(2.0)))];
            observe_calls(&mut claims, &phases);
            assert_eq!(verdict(&claims), verdict_is, "{phases:?}");
        }
    }

    #[test]
    fn a_false_claim_is_named_with_its_count() {
        let mut claims = vec![stated(&Claim::SystemCalls(Bound::Exactly(1.0)))];
        observe_calls(&mut claims, &[calls(&[])]);
        assert_eq!(
            contradiction(&claims, &calls(&[])),
            "claims 1 system calls an operation, the audit counted 0.00: answered without entering the kernel"
        );
    }

    #[test]
    fn no_evidence_leaves_a_figure_unchecked() {
        assert_eq!(verdict(&[]), Verdict::Unchecked);
        let mut claims = vec![
            stated(&Claim::SystemCalls(Bound::Exactly(0.0))),
            stated(&Claim::Switches(Bound::Between(0.9, 1.2))),
        ];
        observe_calls(&mut claims, &[calls(&[])]);
        assert_eq!(verdict(&claims), Verdict::Unchecked, "switches could not be counted");
        observe_launches(&mut claims, &Evidence { switches: Some(1.0), ..Evidence::default() });
        assert_eq!(verdict(&claims), Verdict::Checked);
        observe_launches(&mut claims, &Evidence { switches: Some(0.5), ..Evidence::default() });
        assert_eq!(verdict(&claims), Verdict::Contradicted);
    }

    #[test]
    fn switches_alone_prove_nothing() {
        let mut claims = vec![stated(&Claim::VoluntarySwitches(Bound::Exactly(0.0)))];
        observe_launches(&mut claims, &Evidence { voluntary_switches: Some(0.0), ..Evidence::default() });
        assert_eq!(verdict(&claims), Verdict::Unchecked);
    }

    /// What becomes of a claim about all calls where so many were counted.
    fn held(bound: Bound, counted: f64) -> Option<bool> {
        let mut claims = vec![stated(&Claim::SystemCalls(bound))];
        let counted = if counted == 0.0 { calls(&[]) } else { calls(&[("read", counted)]) };
        observe_calls(&mut claims, &[counted]);
        claims[0].holds
    }

    #[test]
    fn bounds_hold_at_their_ends_and_not_beyond() {
        for (bound, holds, broken) in [
            (Bound::Exactly(2.0), vec![2.0], vec![1.98, 2.02, 0.0]),
            (Bound::AtMost(2.0), vec![0.0, 1.0, 2.0], vec![2.02, 3.0]),
            (Bound::AtLeast(2.0), vec![2.0, 1e12], vec![1.98, 0.0]),
            (Bound::Between(1.0, 2.0), vec![1.0, 1.5, 2.0], vec![0.98, 2.02]),
        ] {
            for counted in holds {
                assert_eq!(held(bound, counted), Some(true), "{bound:?} of {counted}");
            }
            for counted in broken {
                assert_eq!(held(bound, counted), Some(false), "{bound:?} of {counted}");
            }
        }
    }

    #[test]
    fn an_entry_cost_holds_from_nineteen_twentieths_on() {
        let of = |floor: f64| entry_cost(2.0, [(floor, 100.0); 6].into_iter());
        assert_eq!((of(190.0).observed, of(190.0).holds), (Some(0.95), Some(true)));
        assert_eq!(of(189.9).holds, Some(false));
        // Of the launches the lower quartile: two of eight may be below, and it is the second that counts.
        let launches =
            |low: usize| (0..8).map(move |launch| (if launch < low { 50.0 } else { 100.0 }, 100.0));
        assert_eq!(entry_cost(1.0, launches(1)).holds, Some(true));
        assert_eq!(entry_cost(1.0, launches(2)).holds, Some(false));
        assert_eq!(entry_cost(1.0, std::iter::empty()).holds, None);
        assert_eq!(of(190.0).claim, "kernel_entry_cost");
    }

    #[test]
    fn claims_about_launches_are_observed_there_alone() {
        let mut claims = vec![
            stated(&Claim::Switches(Bound::AtMost(1.0))),
            stated(&Claim::VoluntarySwitches(Bound::AtMost(1.0))),
            stated(&Claim::Faults(Bound::AtMost(1.0))),
            stated(&Claim::SystemCalls(Bound::AtMost(1.0))),
        ];
        let names: Vec<&str> = claims.iter().map(|claim| claim.claim.as_str()).collect();
        assert_eq!(names, ["switches", "voluntary_switches", "faults", "system_calls"]);
        observe_calls(&mut claims, &[calls(&[("read", 0.5)])]);
        let observed =
            |claims: &[CheckedClaim]| claims.iter().map(|claim| claim.observed).collect::<Vec<_>>();
        assert_eq!(observed(&claims), [None, None, None, Some(0.5)]);
        let evidence = Evidence {
            switches: Some(1.0),
            voluntary_switches: Some(2.0),
            faults: Some(0.25),
            ..Evidence::default()
        };
        observe_launches(&mut claims, &evidence);
        assert_eq!(observed(&claims), [Some(1.0), Some(2.0), Some(0.25), Some(0.5)]);
        let words = contradiction(&claims, &BTreeMap::new());
        assert_eq!(words, "claims at most 1 voluntary switches an operation, the launches counted 2.00");
    }

    #[test]
    fn the_count_that_broke_a_claim_is_the_one_that_is_told() {
        let mut claims = vec![stated(&Claim::CallsNamed(&["read", "write"], Bound::Exactly(2.0)))];
        observe_calls(&mut claims, &[calls(&[("read", 1.0), ("write", 2.0)]), calls(&[("read", 2.0)])]);
        assert_eq!(claims[0].observed, Some(3.0), "the first phase");
        let words = contradiction(&claims, &calls(&[("read", 1.0), ("write", 2.0)]));
        assert_eq!(
            words,
            "claims 2 system calls read or write an operation, the audit counted 3.00 (counted: read 1.00, write 2.00)"
        );
        observe_calls(&mut claims, &[calls(&[("read", 2.0)]), calls(&[("write", 2.0)])]);
        assert_eq!((claims[0].observed, claims[0].holds), (Some(2.0), Some(true)));
        assert_eq!(contradiction(&claims, &calls(&[("read", 2.0)])), "", "nothing is broken");
        observe_calls(&mut claims, &[]);
        assert_eq!(claims[0].observed, Some(2.0), "no phase, no news");
        assert_eq!(own_count("read", 3.0).expected, Expectation::Exactly(3.0));
        assert_eq!(own_count("read", 3.0).claim, "system_calls:read");
    }
}
