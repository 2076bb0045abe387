//! Remarks on the figures of invented launches.

use super::*;
use crate::benchmark::card::CallPath;

#[test]
fn what_is_noteworthy_is_said() {
    let said = |of: &MemberState, context: &Context<'_>| of_member(of, context).remarks;
    let mut of = member(batched("x"), alike(6));
    assert_eq!(said(&of, &CONTEXT), [""; 0]);
    of.audited = Some(Audited { method: Some("ptrace".into()), ..Audited::default() });
    assert_eq!(said(&of, &CONTEXT), [""; 0], "only of a call that the vDSO answers");
    let mut vdso = member(Card { call_path: CallPath::Vdso, ..batched("x") }, alike(6));
    assert_eq!(said(&vdso, &CONTEXT), [""; 0], "nobody counted");
    vdso.audited.clone_from(&of.audited);
    assert_eq!(said(&vdso, &CONTEXT), ["answered without entering the kernel"]);
    let called = [("clock_gettime".to_owned(), 1.0)].into();
    vdso.audited = Some(Audited { system_calls: called, ..of.audited.clone().expect("audited") });
    assert_eq!(said(&vdso, &CONTEXT), [""; 0]);
    (of.failed_launches, of.first_failure) = (2, Some(Failure::new("batch", "it broke")));
    let context = Context { void_launches: 3, void_reason: Some("it slept"), ..CONTEXT };
    assert_eq!(
        said(&of, &context),
        ["2 launches were thrown away: batch: it broke", "3 launches were void: it slept"]
    );
    let none_void = Context { void_reason: Some("it slept"), ..CONTEXT };
    assert_eq!(said(&member(batched("x"), alike(6)), &none_void), [""; 0], "of no launch");
    let words =
        with(alike(3), |index, launched| launched.remarks = vec![["one", "two", "one"][index].to_owned()]);
    assert_eq!(
        said(&member(Card { remark: "of the card", ..batched("x") }, words), &CONTEXT),
        ["one", "two", "of the card"]
    );
}

#[test]
fn a_step_of_the_clock_that_is_much_of_a_batch_is_said() {
    let said = |iterations: u64, operations: u64| {
        let card = Card { operations_per_iteration: operations, ..batched("x") };
        let of = MemberState { iterations, ..member(card, alike(6)) };
        of_member(&of, &Context { clock_step_ns: 10.0, ..CONTEXT }).remarks
    };
    // A step of 10 ns is 1 % of ten operations of 100 ns.
    assert_eq!([said(10, 1), said(5, 2), said(0, 1)], [(); 3].map(|()| Vec::<String>::new()));
    assert_eq!(said(4, 1), ["one step of the clock is 2 % of a batch: the price may be off by as much"]);
    assert_eq!(said(1, 1), ["one step of the clock is 10 % of a batch: the price may be off by as much"]);
    assert_eq!(said(1, 2), ["one step of the clock is 5 % of a batch: the price may be off by as much"]);
}

/// Steps of 100 us gave 98.88 ns for calls of 103 to 108 ns in every launch: a batch of ten that ended just before a step.
#[test]
fn what_a_coarse_clock_times_is_noisy() {
    let is_noisy = |card: Card, clock_step_ns: f64| {
        let context = Context { clock_step_ns, ..CONTEXT };
        of_member(&member(card, alike(6)), &context).marks.contains(&Mark::Noisy)
    };
    let steps = [10.0, 100.0, 1_000.0, 1_001.0, 100_000.0];
    assert_eq!(steps.map(|step| is_noisy(batched("x"), step)), [false, false, false, true, true]);
}

#[test]
fn the_empty_loop_is_a_bracket_where_it_matters() {
    let less_in = |context: &Context<'_>, card: Card, floor: f64, chain_ns: Option<f64>, iterations: u64| {
        let launches = with(floors(&[floor; 6]), |index, launched| {
            // The fastest core tells what a cycle is.
            launched.record.chain_ns = chain_ns.map(|ns| if index == 2 { ns } else { 2.0 * ns });
        });
        let figure = of_member(&MemberState { iterations, ..member(card, launches) }, context);
        let less = figure.quantities.get("floor_less_loop")?.estimate;
        Some((less.value, less.low, less.high))
    };
    let less = |card, floor, chain_ns, iterations| less_in(&CONTEXT, card, floor, chain_ns, iterations);
    let emulated = Context { cycles: false, ..CONTEXT };
    assert_eq!(less_in(&emulated, batched("x"), 10.0, Some(0.25), 1000), None, "a step is no cycle there");
    assert_eq!(less(batched("x"), 10.0, Some(0.25), 1000), Some((9.75, 9.75, 9.75)));
    let two = Card { operations_per_iteration: 2, ..batched("x") };
    assert_eq!(less(two, 10.0, Some(0.25), 1000), Some((9.875, 9.875, 9.875)));
    assert!(less(batched("x"), 10.0, Some(0.25), 1).is_some(), "a batch of one has a loop");
    assert!(less(batched("x"), 250.0, Some(0.25), 1000).is_some(), "a thousandth");
    assert_eq!(less(batched("x"), 250.1, Some(0.25), 1000), None);
    assert_eq!(less(batched("x"), 10.0, None, 1000), None);
    assert_eq!(less(batched("x"), 10.0, Some(0.25), 0), None, "a series has no loop");
    assert_eq!(less(batched("instrument/empty_loop"), 10.0, Some(0.25), 1000), None, "it is the loop");
}
