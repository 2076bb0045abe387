//! Claims of invented operations, and what an audit or launches counted.

use super::*;

/// Calls that are not the same in each operation: the timed pass may have made the fewest that are permitted.
#[test]
fn the_fewest_calls_are_those_that_claims_permit_of_a_broken_number() {
    let claim = |bound, observed| CheckedClaim {
        observed: Some(observed),
        ..stated(&Claim::CallsNamed(&["read"], bound))
    };
    let of = |calls, bound, observed| fewest(calls, &[claim(bound, observed)]);
    assert_eq!(of(3.0, Bound::AtLeast(1.0), 1.5), 2.0, "two thirds");
    assert_eq!(of(3.0, Bound::AtLeast(1.0), 2.0), 3.0, "of each operation");
    assert_eq!(of(3.0, Bound::AtLeast(1.0), 2.009), 3.0, "but of a few");
    assert_eq!(of(2.02, Bound::AtLeast(1.0), 2.02), 1.0, "more than a few");
    assert_eq!(of(1.5, Bound::AtLeast(2.0), 1.5), 1.5, "never more than were counted");
    // One call in a batch of 200 operations, made when the clock was read already.
    assert_eq!(of(0.005, Bound::AtMost(0.05), 0.005), 0.0);
    assert_eq!(of(3.0 * 0.005, Bound::AtMost(0.05), 0.005 + 0.01), 0.0, "not even what sums leave over");
    assert_eq!(of(0.005, Bound::Exactly(0.005), 0.005), 0.005, "unless it is claimed");
    let other = CheckedClaim { observed: Some(0.25), ..stated(&Claim::OtherCalls(Bound::AtMost(0.5))) };
    assert_eq!(fewest(2.25, &[claim(Bound::Exactly(2.0), 2.0), other]), 2.0, "the others stay");
    let by_chance = CheckedClaim { observed: Some(0.5), ..stated(&Claim::CallsByChance(&["futex"])) };
    assert_eq!(by_chance.expected, Expectation::Between { at_least: 0.0, at_most: f64::MAX });
    let switches = CheckedClaim { observed: Some(0.5), ..stated(&Claim::Switches(Bound::AtLeast(0.0))) };
    assert_eq!(fewest(3.0, &[switches]), 3.0, "of calls alone");
}

#[test]
fn what_holds_in_all_phases_is_told_of_the_last_and_what_breaks_is_told_in_words() {
    let mut claims = vec![stated(&Claim::SystemCalls(Bound::AtMost(2.0)))];
    observe_calls(&mut claims, &[calls(&[("read", 2.0)]), calls(&[("read", 1.0)])]);
    assert_eq!(claims[0].observed, Some(1.0));
    let words = |claim: Claim, counted: f64| {
        let mut claims = vec![stated(&claim), stated(&Claim::Switches(Bound::AtMost(9.0)))];
        observe(&mut claims[0], Some(counted));
        observe(&mut claims[1], Some(0.0));
        contradiction(&claims, &calls(&[("read", counted)]))
    };
    let none = ": answered without entering the kernel";
    assert!(words(Claim::SystemCalls(Bound::Exactly(1.0)), 0.0).contains(none));
    assert!(!words(Claim::SystemCalls(Bound::Exactly(1.0)), 2.0).contains(none));
    assert!(!words(Claim::Faults(Bound::Exactly(1.0)), 0.0).contains(none));
    assert!(
        words(Claim::Faults(Bound::Exactly(1.0)), 2.0).ends_with("(counted: read 2.00)"),
        "one is enough"
    );
}

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
            assert_eq!(contradiction(&claims, &BTreeMap::new()), "afterwards turns must be 5, and is 4.00");
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
    let launches = |low: usize| (0..8).map(move |launch| (if launch < low { 50.0 } else { 100.0 }, 100.0));
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
    let observed = |claims: &[CheckedClaim]| claims.iter().map(|claim| claim.observed).collect::<Vec<_>>();
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
