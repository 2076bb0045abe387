//! Bounds of document 002's verdicts: a case on each side of each, and one on it.

use Judgement::{DoesNotHold, Holds, HoldsInPart, NotJudged, NotTestableHere, Unclear};
use oscost_families::realtime_ipc::Load;
use oscost_results::{Figure, LaunchRecord, PairedValue, Reproduction, Status};
use oscost_sys::scheduling::Policy;

use super::several::{sum, switch_and_read};
use super::*;
use crate::found::test::{assert_named, between, figure, of, set_within, statement};
use crate::grame::settings::{family_id, loaded_id};
use crate::grame::tests::{fifo, figures, pair, rows, verdict};
use crate::grame::{ALONE, CONTEXT, HOP, JUDGED_NS, LOADS};

mod told;

/// The verdict where one quantity of one figure lies between these very ends.
fn with_interval(id: &str, quantity: &str, (low, high): (f64, f64), words: &str) -> Judgement {
    let mut figures = figures(0.99, 2000.0);
    set_within(of(&mut figures, id), quantity, low, high);
    verdict(&rows(&figures, &[]), words).0
}

/// A pair of one quantity with these very ends.
fn pair_within(of: &str, to: &str, (low, high): (f64, f64)) -> PairedValue {
    PairedValue { low: Some(low), high: Some(high), ..pair(of, to, (low + high) / 2.0) }
}

/// A session of two launches under a load: each quantity of the busy part is so many times that of the idle one.
fn loaded(load: Load, parts: &[(&str, &str, (f64, f64))]) -> Figure {
    let mut figure = figure(&loaded_id(load, &Settings::default()), "latency_mean", 1.0, None);
    let launch = |first: bool| {
        let mut launch = LaunchRecord::default();
        for (busy, idle, (low, high)) in parts {
            launch.quantities.insert((*idle).to_owned(), 1.0);
            launch.quantities.insert((*busy).to_owned(), if first { *low } else { *high });
        }
        launch
    };
    figure.launches = vec![launch(true), launch(false)];
    figure
}

#[test]
fn a_load_widens_and_shifts_where_the_ratio_is_over_one() {
    let of_range = |ratio| [("busy_width", "idle_width", ratio), ("busy_mean", "idle_mean", ratio)];
    let of_peaks = |ratio| [("busy_peak", "idle_peak", ratio), ("busy_p99", "idle_p99", ratio)];
    for (ratio, expected) in
        [((1.0, 2.0), Holds), ((1.2, 1.4), Holds), ((0.9, 1.1), Unclear), ((0.8, 0.99), DoesNotHold)]
    {
        for (parts, words) in [(of_range(ratio), "range increases"), (of_peaks(ratio), "peaks increase")] {
            let figures = LOADS.map(|load| loaded(load, &parts));
            let judged = rows(&figures, &[]);
            assert_eq!(verdict(&judged, words).0, expected, "{words} {ratio:?}");
        }
    }
    let mut one = loaded(LOADS[0], &of_range((1.0, 2.0)));
    let judged = rows(&[one.clone(), loaded(LOADS[1], &of_range((0.5, 0.6)))], &[]);
    let (judgement, because) = verdict(&judged, "range increases");
    assert_eq!(judgement, HoldsInPart, "{because}");
    let [first, second, third] = LOADS.map(|load| load.name());
    let told = format!(
        "launch: {first}: width 1.5x (1.0 .. 2.0), mean 1.5x (1.0 .. 2.0); {second}: width 0.6x (0.5 .. 0.6), mean 0.6x (0.5 .. 0.6); \
         {third}: not measured; if"
    );
    assert!(because.contains(&told), "{because}");
    one.status = Status::Unsupported;
    assert_eq!(verdict(&rows(&[one], &[]), "range increases").0, NotTestableHere);
}

#[test]
fn a_mount_changes_what_it_changes_by_a_tenth() {
    let words = "may significantly change the results";
    for (mean, p99, expected) in [
        ((1.0, 1.05), (1.0, 1.05), DoesNotHold),
        ((0.9, 1.1), (0.9, 1.1), DoesNotHold),
        ((1.2, 1.3), (1.0, 1.05), Holds),
        ((1.0, 1.05), (1.12, 1.14), Holds),
        ((0.86, 0.88), (1.0, 1.05), Holds),
        ((1.1, 1.2), (1.0, 1.05), Unclear),
        ((0.8, 0.9), (1.0, 1.05), Unclear),
        ((1.0, 1.2), (1.0, 1.05), Unclear),
        ((0.88, 1.05), (1.0, 1.05), Unclear),
        ((0.95, 1.12), (1.0, 1.05), Unclear),
    ] {
        let parts = [("busy_mean", "idle_mean", mean), ("busy_p99", "idle_p99", p99)];
        let judged = rows(&[loaded(CONTEXT, &parts)], &[]);
        assert_eq!(verdict(&judged, words).0, expected, "{mean:?} {p99:?}");
    }
    for (median, expected) in [
        ((0.8, 1.25), Holds),
        ((0.82, 1.2), Holds),
        ((1.2, 1.3), Unclear),
        ((1.26, 1.3), DoesNotHold),
        ((0.7, 0.79), DoesNotHold),
    ] {
        let judged = rows(&[loaded(CONTEXT, &[("busy_p50", "idle_p50", median)])], &[]);
        assert_eq!(verdict(&judged, "globally constant").0, expected, "{median:?}");
    }
    for (busy, idle, expected) in [
        ([1.2e6, 2e6], 1e5, Holds),
        // One that was seen once was seen.
        ([9e5, 1e6], 1e5, Holds),
        ([8e5, 9.9e5], 1e5, Unclear),
        // Who has them while idle is not affected by the load.
        ([2e6, 3e6], 3e6, Unclear),
        ([2e6, 3e6], 1.9e6, Unclear),
    ] {
        let mut session = loaded(CONTEXT, &[]);
        for (quantity, [one, other]) in [("busy_peak", busy), ("idle_peak", [idle; 2])] {
            set_within(&mut session, quantity, one, other);
            // Of all launches the largest.
            session.quantities.get_mut(quantity).expect("set").estimate.value = other;
            for (launch, ns) in session.launches.iter_mut().zip([one, other]) {
                launch.quantities.insert(quantity.to_owned(), ns);
            }
        }
        let (judgement, because) = verdict(&rows(&[session], &[]), "several milliseconds");
        assert_eq!(judgement, expected, "{busy:?} {idle}: {because}");
    }
    let mut lacking = loaded(CONTEXT, &[]);
    (lacking.status, lacking.why) = (Status::Unsupported, Some("no network".to_owned()));
    let judged = rows(&[lacking], &[]);
    assert_eq!(verdict(&judged, words), (NotTestableHere, "unsupported: no network".to_owned()));
}

/// The figures of a machine that has the module, with both its ratios to sockets.
fn with_module(one: (f64, f64), many: (f64, f64)) -> (Vec<Figure>, [PairedValue; 2]) {
    let mut figures = figures(0.99, 2000.0);
    let queue =
        figures.iter().find(|figure| figure.id == at_1ms("poll_broadcast", 10)).expect("a queue").clone();
    *of(&mut figures, &at_1ms("kernel_module", 10)) = Figure { id: at_1ms("kernel_module", 10), ..queue };
    let ratio =
        |clients, ends| pair_within(&at_1ms("kernel_module", clients), &at_1ms(SOCKET, clients), ends);
    (figures, [ratio(1, one), ratio(10, many)])
}

#[test]
fn the_modules_lead_disappears_where_its_ratio_comes_nearer_to_one() {
    for (one, many, expected) in [
        ((0.4, 0.5), (0.51, 0.6), Holds),
        ((0.4, 0.5), (0.5, 0.6), Unclear),
        ((0.9, 1.0), (1.1, 1.2), Unclear),
        ((0.95, 1.2), (1.3, 1.4), Unclear),
        ((1.0, 1.2), (1.3, 1.4), Unclear),
        ((1.1, 1.2), (1.3, 1.4), DoesNotHold),
        ((0.4, 0.5), (0.3, 0.4), Unclear),
        ((0.4, 0.5), (0.2, 0.3), DoesNotHold),
    ] {
        let (figures, ratios) = with_module(one, many);
        let (judgement, because) = verdict(&rows(&figures, &ratios), "tends to disappear");
        assert_eq!(judgement, expected, "{one:?} {many:?}: {because}");
    }
    let (figures, ratios) = with_module((0.25, 0.5), (0.9, 1.0));
    let told = verdict(&rows(&figures, &ratios), "between 2 and 3 times").1;
    assert_eq!(told, "there 2 to 3 times, here 2.7x (2.0 .. 4.0)");
}

#[test]
fn service_times_and_orders_of_the_module_have_bounds() {
    let module = at_1ms("kernel_module", 10);
    for (share, expected) in [
        ((800.0, 1250.0), Holds),
        ((820.0, 1200.0), Holds),
        ((1200.0, 1300.0), Unclear),
        ((1260.0, 1300.0), DoesNotHold),
        ((700.0, 790.0), DoesNotHold),
    ] {
        let (mut figures, ratios) = with_module((0.4, 0.5), (0.4, 0.5));
        set_within(of(&mut figures, &module), "last_p50", 1000.0, 1000.0);
        set_within(of(&mut figures, &module), "client_service", share.0, share.1);
        assert_eq!(verdict(&rows(&figures, &ratios), "remains correct").0, expected, "{share:?}");
    }
    for (share, expected) in KEPT {
        let (mut figures, ratios) = with_module((0.4, 0.5), (0.4, 0.5));
        set_within(of(&mut figures, &module), "reversed_share", share.0, share.1);
        assert_eq!(
            verdict(&rows(&figures, &ratios), "between two different levels").0,
            expected,
            "{share:?}"
        );
    }
}

/// Shares of the ticks, and whether that is always.
const KEPT: [((f64, f64), Judgement); 5] = [
    ((0.9, 1.0), Holds),
    ((0.92, 0.99), Holds),
    ((0.85, 0.95), Unclear),
    ((0.5, 0.89), DoesNotHold),
    // No share is more than all.
    ((0.95, 1.2), Unclear),
];

#[test]
fn even_and_odd_ticks_are_told_apart_in_the_first_launch_that_kept_them() {
    let (mut figures, ratios) = with_module((0.4, 0.5), (0.4, 0.5));
    let module = of(&mut figures, &at_1ms("kernel_module", 10));
    module.launches[1].tracks.insert("client_1".to_owned(), vec![10e3, 30e3, 10e3, 30e3]);
    let told = verdict(&rows(&figures, &ratios), "between two different levels").1;
    assert!(told.ends_with("; client 1 has 10.0 us on even and 30.0 us on odd ticks"), "{told}");
}

#[test]
fn clients_keep_their_place_in_nine_ticks_of_ten() {
    for (share, expected) in KEPT {
        let found = with_interval(&at_1ms(SOCKET, 10), "same_order_share", share, "stack of latency ranges");
        assert_eq!(found, expected, "{share:?}");
    }
}

#[test]
fn the_body_of_a_range_holds_nineteen_values_of_twenty() {
    for (share, expected) in [
        ((0.95, 1.0), Holds),
        ((0.97, 0.99), Holds),
        ((0.94, 0.96), Unclear),
        ((0.5, 0.9), DoesNotHold),
        ((0.96, 1.2), Unclear),
    ] {
        let found = with_interval(&at_1ms(SOCKET, 1), "body_share", share, "constant range");
        assert_eq!(found, expected, "{share:?}");
    }
    let mut figures = figures(0.99, 2000.0);
    of(&mut figures, &at_1ms(SOCKET, 1)).quantities.remove("peaks_per_thousand");
    let told = verdict(&rows(&figures, &[]), "constant range").1;
    assert!(told.ends_with("; 0.0 peaks in a thousand ticks: none"), "{told}");
}

#[test]
fn a_policy_makes_no_difference_within_a_tenth() {
    for (ratio, expected) in [
        ((0.9, 1.1), Holds),
        ((0.92, 1.05), Holds),
        ((1.05, 1.12), Unclear),
        ((0.88, 0.95), Unclear),
        ((1.12, 1.14), DoesNotHold),
        ((0.86, 0.89), DoesNotHold),
    ] {
        let id = |clients, policy| family_id(SOCKET, clients, JUDGED_NS, policy);
        let pairs = [1, 10]
            .map(|clients| pair_within(&id(clients, Policy::Fifo), &id(clients, Policy::RoundRobin), ratio));
        assert_eq!(verdict(&rows(&[], &pairs), "SCHED_FIFO").0, expected, "{ratio:?}");
    }
    assert_eq!(verdict(&rows(&[], &[]), "SCHED_FIFO").0, NotTestableHere);
}

#[test]
fn peaks_of_several_clients_are_as_many_where_the_words_and_the_intervals_agree() {
    for (one, ten, expected) in [
        ((4.0, 5.0), (4.5, 6.0), Holds),
        ((4.0, 5.0), (5.0, 6.0), Holds),
        ((5.0, 6.0), (4.0, 5.0), Holds),
        ((4.0, 5.0), (29.0, 31.0), Unclear),
        ((29.0, 31.0), (4.0, 5.0), Unclear),
        ((4.0, 5.0), (59.0, 61.0), DoesNotHold),
        ((59.0, 61.0), (4.0, 5.0), DoesNotHold),
        ((29.0, 31.0), (59.0, 61.0), Unclear),
        ((4.0, 5.0), (6.0, 7.0), Unclear),
        ((9.0, 10.5), (9.5, 11.5), Unclear),
        ((8.0, 9.5), (9.0, 10.5), Unclear),
        ((9.0, 10.5), (8.0, 9.5), Unclear),
        ((0.0, 0.0), (0.0, 5.0), Holds),
        ((0.0, 2.6), (8.5, 31.5), Unclear),
        ((0.0, 2.6), (10.5, 31.5), Unclear),
        ((0.0, 2.6), (50.5, 61.5), DoesNotHold),
    ] {
        let mut figures = figures(0.99, 2000.0);
        set_within(of(&mut figures, &at_1ms(SOCKET, 1)), "peaks_per_thousand", one.0, one.1);
        set_within(of(&mut figures, &at_1ms(SOCKET, 10)), "peaks_per_thousand", ten.0, ten.1);
        let (judgement, because) = verdict(&rows(&figures, &[]), "latency peaks occured");
        assert_eq!(judgement, expected, "{one:?} {ten:?}: {because}");
    }
}

#[test]
fn a_deviation_is_stable_up_to_twice_the_first() {
    for (last, expected) in [
        ((1500.0, 2000.0), Holds),
        ((500.0, 600.0), Holds),
        ((1900.0, 2500.0), Unclear),
        ((2100.0, 2500.0), DoesNotHold),
    ] {
        let mut figures = figures(0.99, 2000.0);
        set_within(of(&mut figures, &at_1ms(SOCKET, 1)), "client_last_sd", 1000.0, 1000.0);
        set_within(of(&mut figures, &at_1ms(SOCKET, 10)), "client_last_sd", last.0, last.1);
        let (judgement, because) = verdict(&rows(&figures, &[]), "does not increase significantly");
        assert_eq!(judgement, expected, "{last:?}: {because}");
    }
}

#[test]
fn one_number_of_clients_has_no_growth() {
    let figures = figures(0.99, 2000.0);
    let mut parameters = crate::DocumentParameters::default();
    for (clients, growth) in [(vec![10], false), (vec![1, 10], true)] {
        parameters.grame.clients = clients;
        let judged = crate::grame::DOCUMENT.judge(&Found::of(&figures, &[], &[]), &parameters);
        let (judgement, because) = verdict(&judged, "does not increase significantly");
        assert_eq!(judgement == NotTestableHere, !growth, "{because}");
        assert_eq!(because.contains("one number of clients has no growth"), !growth, "{because}");
    }
}

#[test]
fn a_switch_is_a_hop_without_half_of_what_a_pipe_costs() {
    let mut figures = figures(0.99, 2000.0);
    set_within(of(&mut figures, HOP), "floor", 4000.0, 6000.0);
    set_within(of(&mut figures, ALONE), "floor", 1000.0, 3000.0);
    let found = Found::of(&figures, &[], &[]);
    let switch = Estimate { value: 4000.0, low: 2500.0, high: 5500.0, extremes: false };
    assert_eq!(switch_and_read(&found), Some(switch));
    let next = verdict(&rows(&figures, &[]), "election of a new thread");
    assert_eq!(next.0, NotJudged);
    assert!(next.1.starts_with("predicted 4.0 us (2.5 .. 5.5): switch and read"), "{}", next.1);
    assert!(next.1.contains("observed 5.00 us (4.98 .. 5.02): 80 % (50 .. 111) of it"), "{}", next.1);
    let first = verdict(&rows(&figures, &[]), "sending messages loop").1;
    assert!(first.starts_with("predicted 24.0 us (22.4 .. 25.6): sending loop for 10 20.0 us"), "{first}");
    for id in [HOP, ALONE] {
        let mut few = figures.clone();
        let floor = of(&mut few, id).quantities.get_mut("floor").expect("a floor");
        floor.estimate.extremes = true;
        let switch = switch_and_read(&Found::of(&few, &[], &[])).expect("both");
        assert!(switch.extremes && sum(&switch, &between(1.0, 2.0)).extremes, "{id}");
        assert!(sum(&between(1.0, 2.0), &switch).extremes);
    }
    let total = Estimate { value: 6.0, low: 4.0, high: 8.0, extremes: false };
    assert_eq!(sum(&between(1.0, 3.0), &between(3.0, 5.0)), total);
}

#[test]
fn dispatch_is_as_long_as_cpu_time_where_the_service_is_as_long_as_its_parts() {
    for (service, expected) in [
        ((1600.0, 2500.0), HoldsInPart),
        ((1640.0, 2400.0), HoldsInPart),
        ((2400.0, 2600.0), Unclear),
        ((2600.0, 2700.0), DoesNotHold),
        ((1400.0, 1500.0), DoesNotHold),
    ] {
        let mut figures = figures(0.99, 2000.0);
        let many = of(&mut figures, &at_1ms(SOCKET, 10));
        set_within(many, "server_cpu", 1000.0, 1000.0);
        set_within(many, "next_p50", 100.0, 100.0);
        set_within(many, "client_service", service.0, service.1);
        let (judgement, because) = verdict(&rows(&figures, &[]), "CPU time used only to dispatch");
        assert_eq!(judgement, expected, "{service:?}: {because}");
        assert!(expected != HoldsInPart || because.contains(" 10 times next 0.1 us: 1.0x ("), "{because}");
    }
}

#[test]
fn what_other_systems_are_said_to_be_has_this_one_beside() {
    let many = at_1ms(SOCKET, 10);
    let ratios = [("udp", 0.7), ("pipe", 0.5), ("futex_broadcast", 0.6)]
        .map(|(name, ratio)| pair(&at_1ms(name, 10), &many, ratio));
    let judged = rows(&figures(0.99, 2000.0), &ratios);
    let best = verdict(&judged, "is the best solution").1;
    let pipe = "; among the ways of Linux today pipe has the last of 10 clients in 0.500x (0.497 .. 0.502) of the socket's time";
    assert!(best.ends_with(pipe), "{best}");
    let load = verdict(&judged, "more than 100% of the CPU").1;
    assert!(load.ends_with("; sockets here: 6.50 % (6.47 .. 6.53) of 1 ms for 10"), "{load}");
    let sound = verdict(&judged, "44100").1;
    assert_eq!(sound, "64 / 44 100 s are 1.4512 ms: arithmetic");
}

#[test]
fn a_statement_names_what_decides_it() {
    let figures = figures(0.99, 2000.0);
    let judged: Vec<Reproduction> = rows(&figures, &fifo(1.0));
    let (one, many) = (at_1ms(SOCKET, 1), at_1ms(SOCKET, 10));
    let named = [
        ("constant range", one.as_str(), "body_share"),
        ("sending messages loop", many.as_str(), "first_p50"),
        ("election of a new thread", many.as_str(), "next_p50"),
    ];
    assert_named(&judged, &named);
    for (words, id, quantity) in named {
        let own = figures.iter().find(|figure| figure.id == id).expect("a figure");
        assert_eq!(statement(&judged, words).measured, Some(own.quantities[quantity].estimate), "{words}");
    }
}

#[test]
fn of_one_client_nothing_is_said_of_several() {
    let mut parameters = crate::DocumentParameters::default();
    parameters.grame.clients = vec![1];
    let figures = figures(0.99, 2000.0);
    let judged = crate::grame::DOCUMENT.judge(&Found::of(&figures, &[], &[]), &parameters);
    for words in ["stack of latency ranges", "behaves differently", "unique level", "latency peaks occured"] {
        let (judgement, because) = verdict(&judged, words);
        assert_eq!(
            (judgement, because.as_str()),
            (NotTestableHere, "one client has no next: give clients= several")
        );
    }
    parameters.grame.clients = vec![2];
    let judged = crate::grame::DOCUMENT.judge(&Found::of(&figures, &[], &[]), &parameters);
    for words in ["stack of latency ranges", "behaves differently", "unique level", "latency peaks occured"] {
        let because = verdict(&judged, words).1;
        assert!(!because.contains("one client has no next"), "two have one: {because}");
    }
    parameters.grame.clients = vec![1];
    let nothing = crate::grame::DOCUMENT.judge(&Found::of(&[], &[], &[]), &parameters);
    let (_, because) = verdict(&nothing, "tends to disappear");
    assert_eq!(because, super::NO_MODULE);
}
