//! What follows from values that are known.

use super::super::settings::Settings;
use super::*;

#[derive(Default)]
struct Told {
    quantities: BTreeMap<&'static str, f64>,
    kept: Vec<String>,
}

impl Sink for Told {
    fn quantity(&mut self, name: &'static str, value: f64) {
        assert!(QUANTITIES.iter().any(|quantity| quantity.name == name), "{name} is not on the card");
        assert!(self.quantities.insert(name, value).is_none(), "{name} twice");
    }
    fn observation(&mut self, _: f64) {}
    fn operations(&mut self, _: u64) {}
    fn track(&mut self, name: String, _: Vec<f64>, kept: bool) {
        if kept {
            self.kept.push(name);
        }
    }
}

/// Latencies of clients, us, tick by tick of 10 ms.
fn told(clients: &[&[i64]]) -> Told {
    let series: Vec<Vec<ClientValue>> = clients
        .iter()
        .map(|values| {
            let value = |(tick, &latency_us): (usize, &i64)| ClientValue {
                stamp_us: tick as u64 * 10_000,
                latency_us,
            };
            values.iter().enumerate().map(value).collect()
        })
        .collect();
    let loops: Vec<(u64, u64)> = (0..11).map(|tick| (tick * 10_100, 4 + tick % 2)).collect();
    let mut told = Told::default();
    tell(&series, &loops, &Settings::default().shape(clients.len(), 1), &mut told);
    tell_tracks(&series, &mut told);
    told
}

#[test]
fn one_client_has_mean_width_and_range() {
    let told = told(&[&[10, 12, 10, 12]]);
    let expected = [
        ("latency_mean", 11_000.0),
        ("latency_width", 2_000.0),
        ("latency_min", 10_000.0),
        ("latency_max", 12_000.0),
        ("latency_p50", 11_000.0),
        ("latency_p99", 12_000.0),
        ("client_first", 11_000.0),
        ("client_service", 12_000.0),
        ("client_last_sd", 1_000.0),
        ("even_odd", 2_000.0),
        ("second_low", 10_000.0),
        ("second_high", 12_000.0),
        ("server_loop", 4_000.0),
        ("period_mean", 10_100_000.0),
        ("received", 4.0),
        ("peaks_per_thousand", 0.0),
    ];
    for (name, value) in expected {
        assert_eq!(told.quantities.get(name), Some(&value), "{name}");
    }
    for absent in ["client_next", "reversed_share", "peaks_low"] {
        assert!(!told.quantities.contains_key(absent), "{absent}");
    }
}

#[test]
fn a_stack_has_the_same_next_by_client_and_by_order() {
    let told = told(&[&[30, 30, 30, 30], &[20, 20, 20, 20], &[10, 10, 10, 10]]);
    for name in ["client_next", "next_p50", "client_first", "first_p50"] {
        assert_eq!(told.quantities.get(name), Some(&10_000.0), "{name}");
    }
    assert_eq!(told.quantities.get("same_order_share"), Some(&1.0));
    assert_eq!(told.quantities.get("client_service"), Some(&30_000.0));
    assert_eq!(told.kept.len(), 3);
}

#[test]
fn a_reversing_order_hides_in_the_means_of_clients_and_shows_by_order() {
    let told = told(&[&[10, 30, 10, 30], &[20, 20, 20, 20], &[30, 10, 30, 10]]);
    assert_eq!(told.quantities.get("client_next"), Some(&0.0));
    assert_eq!(told.quantities.get("next_p50"), Some(&10_000.0));
    assert_eq!(told.quantities.get("reversed_share"), Some(&1.0));
    assert_eq!(told.quantities.get("same_order_share"), Some(&0.0));
    assert_eq!(told.quantities.get("even_odd"), Some(&20_000.0));
}

#[test]
fn of_many_clients_the_first_and_the_last_stay() {
    let values: Vec<[i64; 2]> = (0..10).map(|client| [100 - client * 5; 2]).collect();
    let clients: Vec<&[i64]> = values.iter().map(|values| &values[..]).collect();
    assert_eq!(told(&clients).kept, ["client_1", "client_10"]);
}

#[test]
fn ticks_that_somebody_missed_have_no_order() {
    let told = told(&[&[10, 10, 10], &[20]]);
    assert_eq!(told.quantities.get("last_p50"), Some(&20_000.0));
    assert!(!told.quantities.contains_key("same_order_share"), "one tick has no order to compare");
}

#[test]
fn peaks_are_runs_above_the_body() {
    let mut values = vec![20; 1000];
    for (at, peak) in [(100, 60), (101, 70), (500, 80)] {
        values[at] = peak;
    }
    let told = told(&[&values]);
    assert_eq!(told.quantities.get("peaks_per_thousand"), Some(&2.0));
    assert_eq!(told.quantities.get("peaks_high"), Some(&80_000.0));
}

#[test]
fn a_load_cuts_a_session_by_its_time_stamps() {
    let value = |tick: u64| ClientValue {
        stamp_us: 1000 + tick * 10_000,
        latency_us: if (3..6).contains(&tick) { 50 } else { 10 },
    };
    let series = vec![(0..10).map(value).collect::<Vec<_>>()];
    let busy = |start_us, end_us| Busy { start_us, end_us, rounds: 1 };
    let cut = parts(&series, &busy(25_000, 60_000)).expect("both sides");
    assert_eq!((cut.idle[0].len(), cut.busy[0].len(), &cut.marks[..]), (7, 3, &[3.0, 6.0][..]));
    assert!(cut.busy[0].iter().all(|value| value.latency_us == 50));
    let mut told = Told::default();
    tell_idle(&cut.idle, &mut told);
    assert_eq!(told.quantities.get("idle_mean"), Some(&10_000.0));
    assert_eq!(told.quantities.get("idle_max"), Some(&10_000.0));
    assert_eq!(told.quantities.get("idle_p99"), Some(&10_000.0));
    assert!(parts(&series, &busy(0, 60_000)).is_none(), "nothing before it");
    assert!(parts(&series, &busy(25_000, 26_000)).is_none(), "nothing under it");
}

#[test]
fn nothing_is_told_of_nobody() {
    let told = told(&[&[], &[]]);
    assert_eq!(told.quantities.get("received"), Some(&0.0));
    assert!(!told.quantities.contains_key("latency_mean"));
}
