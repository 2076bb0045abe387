//! What follows from a session's values: document 002's quantities of single clients, and the same by order within a tick.
//!
//! The document's words have numbers here: width is 2 sd, peaks are what `oscost_stats::peaks` finds, the range of a busy
//! client is mean - sd to mean + sd of its worst second.

use oscost_results::quantity;
use oscost_stats::sorting::SmallSort;
use std::collections::BTreeMap;

use oscost_harness::{QuantityCard, Sink};
use oscost_stats::peaks::{moments, peaks, worst_stretch};
use oscost_stats::quantile::{median, quantile, sorted};

use super::record::ClientValue;
use super::shape::Shape;

/// The quantities of a session, the headline first.
pub(super) const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::of(quantity::LATENCY_MEAN),
    QuantityCard::of(quantity::LATENCY_WIDTH),
    QuantityCard::of(quantity::LATENCY_P50).at_times(),
    QuantityCard::of(quantity::LATENCY_P99).at_times(),
    QuantityCard::of(quantity::LATENCY_MIN),
    QuantityCard::of(quantity::LATENCY_MAX),
    QuantityCard::of(quantity::PEAKS_PER_THOUSAND),
    QuantityCard::of(quantity::PEAKS_LOW).at_times(),
    QuantityCard::of(quantity::PEAKS_HIGH).at_times(),
    QuantityCard::of(quantity::SECOND_LOW).at_times(),
    QuantityCard::of(quantity::SECOND_HIGH).at_times(),
    QuantityCard::of(quantity::IDLE_MEAN).at_times(),
    QuantityCard::of(quantity::IDLE_WIDTH).at_times(),
    QuantityCard::of(quantity::IDLE_P50).at_times(),
    QuantityCard::of(quantity::IDLE_P99).at_times(),
    QuantityCard::of(quantity::IDLE_MAX).at_times(),
    QuantityCard::of(quantity::IDLE_PEAKS_PER_THOUSAND).at_times(),
    QuantityCard::of(quantity::LOAD_ROUNDS).at_times(),
    QuantityCard::of(quantity::CLIENT_FIRST),
    QuantityCard::of(quantity::CLIENT_NEXT).at_times(),
    QuantityCard::of(quantity::CLIENT_SERVICE),
    QuantityCard::of(quantity::CLIENT_LAST_SD),
    QuantityCard::of(quantity::FIRST_P50),
    QuantityCard::of(quantity::NEXT_P50).at_times(),
    QuantityCard::of(quantity::LAST_P50),
    QuantityCard::of(quantity::EVEN_ODD).at_times(),
    QuantityCard::of(quantity::SAME_ORDER_SHARE).at_times(),
    QuantityCard::of(quantity::REVERSED_SHARE).at_times(),
    QuantityCard::of(quantity::SERVER_LOOP),
    QuantityCard::of(quantity::PERIOD_MEAN).at_times(),
    QuantityCard::of(quantity::RECEIVED),
    QuantityCard::of(quantity::OPENED),
    QuantityCard::of(quantity::CLOSED),
    QuantityCard::of(quantity::DROPPED),
    QuantityCard::of(quantity::LOST),
    QuantityCard::of(quantity::REAL_TIME),
];

/// A peak is no smaller than this above the median, ns: ten steps of a clock that counts us.
const LEAST_PEAK_NS: f64 = 10_000.0;
/// Up to so many clients all of them stay in the result value by value, beyond it the first and the last one served.
const KEPT: usize = 5;

/// Tells all of a session: the values of its clients, and when each sending loop began and how long it took, us.
pub(super) fn tell(series: &[Vec<ClientValue>], loops: &[(u64, u64)], shape: &Shape, sink: &mut dyn Sink) {
    let by_client = in_ns(series);
    let all: Vec<f64> = by_client.iter().flatten().copied().collect();
    all.iter().for_each(|&value| sink.observation(value));
    sink.quantity(quantity::RECEIVED, all.len() as f64);
    let ordered = sorted(all.clone());
    if let (Some((mean, deviation)), Some(&least), Some(&most)) =
        (moments(&all), ordered.first(), ordered.last())
    {
        sink.quantity(quantity::LATENCY_MEAN, mean);
        sink.quantity(quantity::LATENCY_WIDTH, 2.0 * deviation);
        sink.quantity(quantity::LATENCY_MIN, least);
        sink.quantity(quantity::LATENCY_MAX, most);
    }
    tell_quantiles(&ordered, [quantity::LATENCY_P50, quantity::LATENCY_P99], sink);
    tell_peaks(&by_client, sink);
    tell_clients(&by_client, sink);
    tell_orders(series, sink);
    let a_second = usize::try_from(1_000_000_000 / shape.tick_ns).unwrap_or(1).max(2);
    let worst = by_client.first().and_then(|values| worst_stretch(values, a_second.min(values.len())));
    if let Some((mean, deviation)) = worst {
        sink.quantity(quantity::SECOND_LOW, mean - deviation);
        sink.quantity(quantity::SECOND_HIGH, mean + deviation);
    }
    let durations = sorted(loops.iter().map(|&(_, took)| took as f64 * 1000.0).collect());
    if let Some(middle) = median(&durations) {
        sink.quantity(quantity::SERVER_LOOP, middle);
    }
    if let (Some((first, _)), Some((last, _)), more @ 1..) =
        (loops.first(), loops.last(), loops.len().saturating_sub(1))
    {
        sink.quantity(quantity::PERIOD_MEAN, last.saturating_sub(*first) as f64 * 1000.0 / more as f64);
    }
}

/// When a load was on, us since 1970, and how often it did its work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Busy {
    pub start_us: u64,
    pub end_us: u64,
    pub rounds: u64,
}

/// A session with a load, cut by it.
pub(super) struct Parts {
    /// Values by client before and after it.
    pub idle: Vec<Vec<ClientValue>>,
    /// Values by client under it.
    pub busy: Vec<Vec<ClientValue>>,
    /// For each client the first value under it and the first after it.
    pub marks: Vec<f64>,
}

/// Cuts a session. `None` where a client has no value on one side.
pub(super) fn parts(series: &[Vec<ClientValue>], busy: &Busy) -> Option<Parts> {
    let mut parts = Parts { idle: Vec::new(), busy: Vec::new(), marks: Vec::new() };
    for values in series {
        let start = values.partition_point(|value| value.stamp_us < busy.start_us);
        let end = start + values[start..].partition_point(|value| value.stamp_us < busy.end_us);
        if start == 0 || start == end {
            return None;
        }
        parts.busy.push(values[start..end].to_vec());
        parts.idle.push([&values[..start], &values[end..]].concat());
        parts.marks.extend([start as f64, end as f64]);
    }
    Some(parts)
}

/// What a session with a load has besides: the part of it that is idle.
pub(super) fn tell_idle(series: &[Vec<ClientValue>], sink: &mut dyn Sink) {
    let by_client = in_ns(series);
    let all: Vec<f64> = by_client.iter().flatten().copied().collect();
    let ordered = sorted(all.clone());
    tell_quantiles(&ordered, [quantity::IDLE_P50, quantity::IDLE_P99], sink);
    if let (Some((mean, deviation)), Some(&most)) = (moments(&all), ordered.last()) {
        sink.quantity(quantity::IDLE_MEAN, mean);
        sink.quantity(quantity::IDLE_WIDTH, 2.0 * deviation);
        sink.quantity(quantity::IDLE_MAX, most);
        let found = by_client.iter().filter_map(|values| peaks(values, LEAST_PEAK_NS));
        let count: usize = found.map(|peaks| peaks.count).sum();
        sink.quantity(quantity::IDLE_PEAKS_PER_THOUSAND, count as f64 * 1000.0 / all.len() as f64);
    }
}

/// The median and the 99th percentile; a session without values has none.
fn tell_quantiles(ordered: &[f64], names: [&'static str; 2], sink: &mut dyn Sink) {
    for (name, part) in names.into_iter().zip([0.5, 0.99]) {
        if let Some(value) = quantile(ordered, part) {
            sink.quantity(name, value);
        }
    }
}

fn in_ns(series: &[Vec<ClientValue>]) -> Vec<Vec<f64>> {
    let ns =
        |values: &Vec<ClientValue>| values.iter().map(|value| value.latency_us as f64 * 1000.0).collect();
    series.iter().map(ns).collect()
}

/// Tells every client's values, for pictures and files.
pub(super) fn tell_tracks(series: &[Vec<ClientValue>], sink: &mut dyn Sink) {
    let by_client = in_ns(series);
    let ends = ends(&by_client);
    let few = by_client.len() <= KEPT;
    for (client, values) in by_client.into_iter().enumerate() {
        let kept = few || ends.is_some_and(|(first, last)| client == first || client == last);
        sink.track(format!("client_{}", client + 1), values, kept);
    }
}

/// The clients that are served first and last, by their means.
fn ends(by_client: &[Vec<f64>]) -> Option<(usize, usize)> {
    let mut means: Vec<(f64, usize)> = by_client
        .iter()
        .enumerate()
        .filter_map(|(client, values)| moments(values).map(|(mean, _)| (mean, client)))
        .collect();
    means.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    Some((means.first()?.1, means.last()?.1))
}

/// Peaks are runs of ticks, so they are looked for in each client's own series.
fn tell_peaks(by_client: &[Vec<f64>], sink: &mut dyn Sink) {
    let found: Vec<_> = by_client.iter().filter_map(|values| peaks(values, LEAST_PEAK_NS)).collect();
    let values: usize = by_client.iter().map(Vec::len).sum();
    let count: usize = found.iter().map(|peaks| peaks.count).sum();
    sink.quantity(quantity::PEAKS_PER_THOUSAND, count as f64 * 1000.0 / values.max(1) as f64);
    let with_peaks = || found.iter().filter(|peaks| peaks.count > 0);
    if let Some(low) = with_peaks().map(|peaks| peaks.low).reduce(f64::min) {
        sink.quantity(quantity::PEAKS_LOW, low);
        sink.quantity(quantity::PEAKS_HIGH, with_peaks().map(|peaks| peaks.high).fold(low, f64::max));
    }
}

/// First, next and service time as the document has them: of clients, by their means.
fn tell_clients(by_client: &[Vec<f64>], sink: &mut dyn Sink) {
    let mut clients: Vec<(f64, f64)> = by_client.iter().filter_map(|values| moments(values)).collect();
    clients.small_sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(first), Some(last)) = (clients.first(), clients.last()) else { return };
    sink.quantity(quantity::CLIENT_FIRST, first.0);
    if clients.len() > 1 {
        sink.quantity(quantity::CLIENT_NEXT, (last.0 - first.0) / (clients.len() - 1) as f64);
    }
    sink.quantity(quantity::CLIENT_SERVICE, last.0 + last.1);
    sink.quantity(quantity::CLIENT_LAST_SD, last.1);
    let splits = by_client.iter().filter_map(|values| even_odd(values));
    if let Some(widest) = splits.map(|(even, odd)| (even - odd).abs()).reduce(f64::max) {
        sink.quantity(quantity::EVEN_ODD, widest);
    }
}

/// Means of the values of even and of odd numbers. `None` where there are not both.
pub(super) fn even_odd(values: &[f64]) -> Option<(f64, f64)> {
    let half = |parity: usize| -> Vec<f64> { values.iter().copied().skip(parity).step_by(2).collect() };
    Some((moments(&half(0))?.0, moments(&half(1))?.0))
}

/// Ranks within each tick, which the time stamp tells; only ticks that every client has count.
fn tell_orders(series: &[Vec<ClientValue>], sink: &mut dyn Sink) {
    let mut ticks: BTreeMap<u64, Vec<(i64, usize)>> = BTreeMap::new();
    for (client, values) in series.iter().enumerate() {
        for value in values {
            ticks.entry(value.stamp_us).or_default().push((value.latency_us, client));
        }
    }
    let (mut first, mut next, mut last) = (Vec::new(), Vec::new(), Vec::new());
    let (mut same, mut reversed, mut pairs) = (0u32, 0u32, 0u32);
    let mut before: Option<Vec<usize>> = None;
    for mut tick in ticks.into_values() {
        if tick.len() != series.len() {
            before = None;
            continue;
        }
        tick.sort_unstable();
        if let (Some(one), Some(other)) = (tick.first(), tick.last()) {
            first.push(one.0 as f64 * 1000.0);
            last.push(other.0 as f64 * 1000.0);
            if series.len() > 1 {
                next.push((other.0 - one.0) as f64 * 1000.0 / (series.len() - 1) as f64);
            }
        }
        let order: Vec<usize> = tick.into_iter().map(|(_, client)| client).collect();
        if let Some(before) = &before {
            pairs += 1;
            same += u32::from(*before == order);
            reversed += u32::from(before.iter().rev().eq(&order));
        }
        before = Some(order);
    }
    for (name, values) in
        [(quantity::FIRST_P50, first), (quantity::NEXT_P50, next), (quantity::LAST_P50, last)]
    {
        if let Some(middle) = median(&sorted(values)) {
            sink.quantity(name, middle);
        }
    }
    if series.len() > 1 && pairs > 0 {
        sink.quantity(quantity::SAME_ORDER_SHARE, f64::from(same) / f64::from(pairs));
        sink.quantity(quantity::REVERSED_SHARE, f64::from(reversed) / f64::from(pairs));
    }
}

#[cfg(test)]
mod tests;
