//! Quiet windows of invented launches, and the quantities that they decide.

use super::*;
use crate::protocol::message::Windows;

/// Windows of a launch, of which `quiet` are; an operation costs `ns` and as many steps as a step of the chain fits in.
fn windows(quiet: usize, busy: usize, ns: f32, step_ns: f32) -> Windows {
    let all = |of_quiet: f32, of_busy: f32| {
        std::iter::repeat_n(of_quiet, quiet).chain(std::iter::repeat_n(of_busy, busy)).collect::<Vec<f32>>()
    };
    Windows {
        ns: all(ns, 3.0 * ns),
        steps: all(ns / step_ns, 3.0 * ns / step_ns),
        throughput: all(0.16, 0.2),
        entry: Vec::new(),
    }
}

fn knowing() -> Best {
    Best::known(
        Some(&oscost_results::CoreConstants { chain_ns: 0.25, throughput_ns: 0.04, entry_ns: None }),
        None,
    )
}

fn quietly(card: Card, launches: Vec<Launched>) -> Figure {
    of_member(&member(card, launches), &Context { best: knowing(), ..CONTEXT })
}

#[test]
fn quiet_windows_make_quantities_and_cycles_are_judged() {
    let launches = with(alike(6), |_, launched| launched.windows = windows(5, 3, 100.0, 0.25));
    let figure = quietly(batched("x"), launches.clone());
    assert_eq!((value(&figure, "quiet").0, value(&figure, "cycles").0), (100.0, 400.0));
    assert_eq!(
        (figure.quantities["quiet"].unit.as_str(), figure.quantities["cycles"].unit.as_str()),
        ("ns", "cycles")
    );
    let counts = figure.launches.iter().map(|launch| (launch.windows, launch.quiet_windows));
    assert!(counts.into_iter().all(|counts| counts == (Some(8), Some(5))));
    assert_eq!((figure.judged.as_str(), figure.marks.as_slice()), ("cycles", &[][..]));
    for (placement, judged) in
        [(Placement::SameCpu, "cycles"), (Placement::CrossCpu, "typical"), (Placement::Unpinned, "typical")]
    {
        let figure = quietly(Card { placement, ..batched("x") }, launches.clone());
        assert_eq!(figure.judged, judged, "{placement:?}");
    }
}

/// Quiet launches tell more than the floor of all, however many others there were.
#[test]
fn cycles_are_judged_where_four_launches_have_them() {
    let judged = |count: usize, of: usize| {
        let launches = with(alike(of), |index, launched| {
            launched.windows = windows(if index < count { 5 } else { 0 }, 3, 100.0, 0.25);
        });
        quietly(batched("x"), launches).judged
    };
    assert_eq!([judged(4, 4), judged(4, 10), judged(4, 30)], ["cycles"; 3]);
    assert_eq!([judged(3, 3), judged(3, 4), judged(3, 30)], ["floor"; 3]);
}

#[test]
fn what_scatters_in_cycles_and_not_in_ns_does_not_follow_the_core() {
    let judged = |step: fn(usize) -> f32, ns: fn(usize) -> f32| {
        let launches =
            with(alike(8), |index, launched| launched.windows = windows(5, 0, ns(index), step(index)));
        quietly(batched("x"), launches).judged
    };
    // The same ns on a core of changing speed: a timer, or memory.
    assert_eq!(judged(|index| 0.25 + 0.01 * index as f32, |_| 100.0), "floor");
    // It costs as many cycles whatever the speed.
    assert_eq!(
        judged(|index| 0.25 + 0.01 * index as f32, |index| 400.0 * (0.25 + 0.01 * index as f32)),
        "cycles"
    );
    // Half a per cent of grace: quartiles of eight launches are 3.5 of these steps apart.
    assert_eq!(judged(|index| 0.25 * (1.0 + 0.001 * index as f32), |_| 100.0), "cycles");
    assert_eq!(judged(|index| 0.25 * (1.0 + 0.002 * index as f32), |_| 100.0), "floor");
}

#[test]
fn without_a_quiet_window_a_figure_of_one_cpu_is_marked() {
    let marked = |placement, quiet: [usize; 2]| {
        let launches = with(alike(6), |index, launched| {
            launched.windows = windows(quiet[usize::from(index == 3)], 3, 100.0, 0.25);
        });
        quietly(Card { placement, ..batched("x") }, launches).marks.contains(&Mark::BusySibling)
    };
    assert!(marked(Placement::OneCpu, [0, 0]));
    assert!(!marked(Placement::OneCpu, [0, 1]), "one window in one launch");
    assert!(!marked(Placement::CrossCpu, [0, 0]));
    let none = quietly(batched("x"), alike(6));
    assert!(!none.marks.contains(&Mark::BusySibling), "nobody looked");
    assert!(none.launches.iter().all(|launch| launch.quiet_windows.is_none()));
}

#[test]
fn only_batches_on_one_cpu_need_quiet_windows() {
    let enough = |card: Card, each: usize| {
        let launches = with(alike(4), |_, launched| launched.windows = windows(each, 3, 100.0, 0.25));
        is_quiet_enough(&member(card, launches), &knowing())
    };
    assert_eq!([9, 10].map(|each| enough(batched("x"), each)), [false, true], "forty in all");
    assert!(enough(Card { placement: Placement::CrossCpu, ..batched("x") }, 0));
    assert!(!enough(Card { placement: Placement::SameCpu, ..batched("x") }, 0));
    assert!(enough(series("s"), 0));
}
