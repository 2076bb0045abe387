//! Who serves in time, who breaks where, and what is said of it.

use super::*;
use crate::found::test::{figure, set};
use oscost_results::Figure;

/// A machine on which every case takes 50 us, but for the socket without priority, and the pipe loses some.
fn machine(settings: &Settings, plain_ns: f64, lost: f64) -> Vec<Figure> {
    let one = |case: Case| {
        let is_plain = case.transport == SOCKET && !case.has_priority();
        let worst = if is_plain { plain_ns } else { 50_000.0 };
        let mut figure = figure(&case.id(), "latency_max", worst, None);
        let lost = if case.transport == "pipe" { lost } else { 0.0 };
        for (name, count) in [("dropped", lost), ("missed", 0.0), ("overruns", 0.0)] {
            set(&mut figure, name, count);
        }
        figure.launches = [0.0, lost, lost].map(|lost| launch(999, (40_000.0, worst), lost)).to_vec();
        figure
    };
    cases(settings).into_iter().map(one).collect()
}

/// So many messages of one latency, two of another, and some lost of 1000.
fn launch(many: u32, (ns, other): (f64, f64), lost: f64) -> LaunchRecord {
    let mut all = LogHistogram::new();
    (0..many).for_each(|_| all.record(ns));
    (0..2).for_each(|_| all.record(other));
    let (first, counts) = all.counts();
    let histogram = oscost_results::Histogram { first, counts: counts.to_vec(), ..Default::default() };
    let quantities = [("not_got_share".to_owned(), lost / 1000.0)].into();
    LaunchRecord { histogram: Some(histogram), quantities, ..Default::default() }
}

#[test]
fn who_is_late_or_loses_messages_breaks_and_all_others_serve() {
    let settings = Settings::default();
    let told = |figures: &[Figure]| {
        let answer = answered(&Found::of(figures, &[], &[]), &settings).expect("an answer");
        (answer.finding, answer.why)
    };
    let within = "within a tick of 1 ms, 999 times in 1000, wherever measured";
    let sound = told(&machine(&settings, 60_000.0, 1.0));
    assert_eq!(sound.0, format!("unix datagram, futex broadcast, pipe reached 1 to 10 clients {within}"));
    let (finding, late) = told(&machine(&settings, 2e6, 0.0));
    assert_eq!(
        finding,
        format!("futex broadcast, pipe reached 1 to 10 clients {within}; unix datagram did not")
    );
    let where_it_breaks =
        "unix datagram breaks at 10, idle, no priority (0.2 % not in time, worst 2.00 ms), and in 1 more row";
    assert!(late.contains(where_it_breaks), "{late}");
    let (_, losing) = told(&machine(&settings, 60_000.0, 2.0));
    assert!(losing.contains("pipe breaks at 1, idle (0.2 % not in time, worst 50.0 us)"), "{losing}");
}

#[test]
fn what_a_sleeping_cpu_adds_is_said_where_it_is_beyond_chance() {
    let settings = Settings::default();
    let told = |awake_ns: f64| {
        let mut figures = machine(&settings, 60_000.0, 0.0);
        for one in figures.iter_mut().filter(|it| it.id.contains("unix_datagram/spread/clients_1/")) {
            let ns = if one.id.ends_with("/idle_poll") { awake_ns } else { 43_000.0 };
            *one = figure(&one.id, "latency_p50", ns, None);
        }
        sleep_adds(&Found::of(&figures, &[], &[]), &settings).expect("both were measured")
    };
    let (adds, nothing) = (told(6000.0), told(42_900.0));
    assert_eq!(
        adds,
        "a sleeping CPU adds 37.0 us: unix datagram to 1 client on other CPUs takes 43.0 us asleep, 6.00 us kept awake"
    );
    assert!(nothing.starts_with("a sleeping CPU adds nothing beyond chance"), "{nothing}");
}

#[test]
fn what_was_not_counted_is_no_zero() {
    let settings = Settings::default();
    let outcome = |figures: &[Figure]| {
        let case = cases(&settings).into_iter().next().expect("a case");
        case.outcome(&Found::of(figures, &[], &[])).is_some()
    };
    let whole = machine(&settings, 60_000.0, 0.0);
    assert!(outcome(&whole));
    let mut unsent = whole.clone();
    set(&mut unsent[1], "overruns", 3.0);
    let ten =
        cases(&settings).into_iter().nth(1).and_then(|case| case.outcome(&Found::of(&unsent, &[], &[])));
    assert_eq!(ten.map(|it| it.not_got()), Some(30.0), "three ticks of ten clients");
    for name in ["dropped", "missed", "overruns"] {
        let mut less = whole.clone();
        less[0].quantities.remove(name);
        assert!(!outcome(&less), "{name} of the figure");
    }
    let mut less = whole.clone();
    less[0].launches[1].quantities.remove("not_got_share");
    assert!(!outcome(&less), "nobody knows what was lost");
    let mut less = whole;
    less[0].launches[1].histogram = None;
    assert!(!outcome(&less), "nobody knows who was late");
}

/// Of a session of 3010 messages 1000 count, of which three were lost: 997 of 1000 came, and 999 were claimed.
#[test]
fn what_was_lost_is_a_share_of_the_messages_that_count() {
    let mut lossy = launch(997, (40_000.0, 50_000.0), 3.0);
    lossy.quantities.extend([("sent".to_owned(), 3010.0), ("missed".to_owned(), 3.0)]);
    assert_eq!(not_in_time(&lossy), Some(0.003));
}

#[test]
fn a_hundred_messages_have_no_99_9_percent() {
    let id = Case { transport: SOCKET, shape: Shape::of(false, 1) }.id();
    let mut one = figure(&id, "latency_max", 50_000.0, None);
    for (count, told) in [(100, false), (2000, true)] {
        one.launches = vec![launch(count, (40_000.0, 40_000.0), 0.0)];
        let figures = [one.clone()];
        let found = of_thousand(&Found::of(&figures, &[], &[]), &id);
        assert_eq!(found.is_some(), told, "{count}");
        assert!(found.is_none_or(|ns| (39_000.0..=41_000.0).contains(&ns)), "{found:?}");
    }
}
