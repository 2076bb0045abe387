//! Evidence of invented launches: what they counted and found is held against what is claimed.

use super::*;
use crate::benchmark::card::OverLaunches;
use crate::benchmark::{PostCondition, claims};

/// The figure of a member that claims at most one switch, whose launches counted so many, and found this afterwards.
fn counting(switches: f64, found: f64) -> Figure {
    let claims = vec![claims::stated(&Claim::Switches(Bound::AtMost(1.0)))];
    let condition = PostCondition::exactly("held", 1.0, found);
    let launches = with(alike(3), |index, launched| {
        launched.record.switches = Some(switches);
        // The last of them alone.
        let found = if index == 2 { condition } else { PostCondition::exactly("held", 1.0, 1.0) };
        launched.post_conditions = vec![claims::after_operations(&found)];
    });
    let audited = Audited { method: Some("ptrace".into()), claims, ..Audited::default() };
    of_member(&MemberState { audited: Some(audited), ..member(batched("x"), launches) }, &CONTEXT)
}

#[test]
fn what_launches_counted_and_found_is_held_against_the_claims() {
    let holds = |figure: &Figure| -> Vec<(String, Option<bool>)> {
        figure.evidence.claims.iter().map(|claim| (claim.claim.clone(), claim.holds)).collect()
    };
    let named = |switches: bool, held: bool| {
        vec![("switches".to_owned(), Some(switches)), ("post_condition:held".to_owned(), Some(held))]
    };
    let good = counting(1.0, 1.0);
    assert_eq!((holds(&good), good.status), (named(true, true), Status::Measured));
    let switched = counting(2.0, 1.0);
    assert_eq!((holds(&switched), switched.status), (named(false, true), Status::Contradicted));
    let dropped = counting(1.0, 0.0);
    assert_eq!((holds(&dropped), dropped.status), (named(true, false), Status::Contradicted));
}

#[test]
fn what_was_counted_in_all_is_known_and_has_no_other_bound() {
    const LOST: &[QuantityCard] = &[QuantityCard::new("lost", "count").over(OverLaunches::Sum)];
    let launches = [1.0, 2.0, 4.0].map(|lost| launched(&[("lost", lost)])).to_vec();
    let figure = figure(Card { quantities: LOST, ..series("s") }, launches);
    assert!(figure.quantities["lost"].estimate.extremes && value(&figure, "lost") == (7.0, 7.0, 7.0));
}
