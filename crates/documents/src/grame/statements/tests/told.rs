//! The numbers that stand beside document 002's verdicts.

use super::*;

/// Why, where quantities of the session of so many clients are changed.
fn because(clients: usize, changes: &[(&str, (f64, f64))], words: &str) -> String {
    let mut figures = figures(0.99, 2000.0);
    for (quantity, (low, high)) in changes {
        set_within(of(&mut figures, &at_1ms(SOCKET, clients)), quantity, *low, *high);
    }
    verdict(&rows(&figures, &[]), words).1
}

#[test]
fn shares_are_told_in_per_cent_and_times_in_us() {
    let of_one = because(1, &[("body_share", (0.96, 0.965))], "constant range");
    assert!(of_one.starts_with("96.2 % of the values are left"), "{of_one}");
    assert!(of_one.ends_with("; 5.0 peaks in a thousand ticks: low"), "{of_one}");
    let stack = because(10, &[("same_order_share", (0.9, 0.96))], "stack of latency ranges");
    assert!(
        stack.starts_with("means of consecutive clients are 5.00 us (4.98 .. 5.02) apart; of 10 clients"),
        "{stack}"
    );
    assert!(stack.contains("keep their place in 93 % of the ticks"), "{stack}");
    let level = because(10, &[("same_order_share", (0.9, 0.96))], "unique level");
    assert!(
        level.starts_with("the order is the same in 93 % of the ticks, but an order is no level;"),
        "{level}"
    );
    let growth = because(10, &[("client_last_sd", (3000.0, 3000.0))], "does not increase significantly");
    assert!(growth.starts_with("sd 2.0, ") && growth.contains("2.0, 3.0 us over the numbers"), "{growth}");
    let next = because(10, &[("next_p50", (4500.0, 5500.0))], "election of a new thread");
    assert!(next.starts_with("predicted 4.50 us (4.47 .. 4.53): switch and read"), "{next}");
    assert!(next.contains("observed 5.0 us (4.5 .. 5.5): 90 % (81 .. 101) of it"), "{next}");
}

#[test]
fn no_interval_of_peaks_begins_below_nothing() {
    let told = because(10, &[("peaks_per_thousand", (-1.0, 2.6))], "latency peaks occured");
    assert!(
        told.starts_with("5.00 (") && told.ends_with("of one client: low; 0.8 (0.0 .. 2.6) of 10: low"),
        "{told}"
    );
}

#[test]
fn orders_of_the_module_are_told_beside_those_of_sockets() {
    let (mut figures, ratios) = with_module((0.4, 0.5), (0.4, 0.5));
    set_within(of(&mut figures, &at_1ms("kernel_module", 10)), "reversed_share", 0.96, 0.98);
    set_within(of(&mut figures, &at_1ms(SOCKET, 10)), "reversed_share", 0.05, 0.07);
    let judged = rows(&figures, &ratios);
    for (words, expected) in [
        ("behaves differently", "the order is reversed in 97 % of the ticks, in 6 % by sockets"),
        ("between two different levels", "the order is reversed in 97 % (96 .. 98) of the ticks"),
    ] {
        assert_eq!(verdict(&judged, words), (Holds, expected.to_owned()));
    }
    for (queue, socket, expected) in
        [((0.5, 0.6), (0.6, 0.7), Unclear), ((0.5, 0.6), (0.7, 0.8), DoesNotHold)]
    {
        set_within(of(&mut figures, &at_1ms("kernel_module", 10)), "reversed_share", queue.0, queue.1);
        set_within(of(&mut figures, &at_1ms(SOCKET, 10)), "reversed_share", socket.0, socket.1);
        assert_eq!(
            verdict(&rows(&figures, &ratios), "behaves differently").0,
            expected,
            "{queue:?} {socket:?}"
        );
    }
}

#[test]
fn a_sender_below_switches_more_from_a_tenth_on() {
    let settings = Settings::default();
    for (below, expected) in [(10.9, DoesNotHold), (11.0, DoesNotHold), (11.1, Holds), (11.4, Holds)] {
        let mut counted = figures(0.99, 2000.0);
        for (id, switches) in [(settings.shape(10, 1).id(), 10.0), (settings.below(10).id(), below)] {
            let mut one = figure(&id, "real_time", 1.0, None);
            one.evidence.switches = Some(switches);
            counted.push(one);
        }
        assert_eq!(verdict(&rows(&counted, &[]), "minimize context switches").0, expected, "{below}");
    }
}

#[test]
fn a_mount_raises_peaks_by_more_than_a_tenth_in_each_launch() {
    for (busy, idle, expected) in [
        ([1.1e6, 2e6], 1e6, Unclear),
        ([1.12e6, 1.4e6], 1e6, Holds),
        ([9.5e5, 1.4e6], 1e6, Unclear),
        ([1.3e6, 1.4e6], 1e6, Holds),
    ] {
        let mut session = loaded(CONTEXT, &[("busy_peak", "idle_peak", (1.0, 1.0))]);
        for (quantity, ends) in [("busy_peak", busy), ("idle_peak", [idle; 2])] {
            set_within(&mut session, quantity, ends[0], ends[1]);
            for (launch, ns) in session.launches.iter_mut().zip(ends) {
                launch.quantities.insert(quantity.to_owned(), ns);
            }
        }
        let (judgement, because) = verdict(&rows(&[session], &[]), "several milliseconds");
        assert_eq!(judgement, expected, "{busy:?}: {because}");
        let told = format!("largest {:.0} us, idle 1000 us, ", busy.iter().sum::<f64>() / 2e3);
        assert!(because.contains(&told), "{because}");
    }
}

#[test]
fn what_a_tick_costs_is_told_by_its_parts() {
    let changes =
        [("server_cpu", (900.0, 1100.0)), ("next_p50", (90.0, 110.0)), ("client_service", (2000.0, 2000.0))];
    let told = because(10, &changes, "CPU time used only to dispatch");
    let expected = "service time of 10 clients 2.0 us, CPU time of the server's tick 1.0 us (0.9 .. 1.1) and 10 times next 0.10 us (0.09 .. 0.11): 1.0x (0.9 .. 1.1);";
    assert!(told.starts_with(expected), "{told}");
}
