//! What a session says: the three series, by client as in document 002 and by order within each tick.
//! docs/method/families.md.

use oscost_harness::quantity;
use oscost_harness::{OverLaunches, QuantityCard, Sink};
use oscost_stats::peaks::{body, median_deviation, moments, peaks};
use oscost_stats::quantile::{quantile, sorted};
use oscost_sys::scheduling::Policy;

use super::course::Course;
use super::load::Busy;
use super::table::Table;

/// The quantities of every transport, the headline first.
pub const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::of(quantity::LAST_P50).paired(),
    QuantityCard::of(quantity::LAST_P99),
    QuantityCard::of(quantity::LAST_MAX).over(OverLaunches::Max),
    QuantityCard::of(quantity::FIRST_P50),
    QuantityCard::of(quantity::NEXT_P50).at_times(),
    QuantityCard::of(quantity::LATENESS_P50),
    QuantityCard::of(quantity::LATENESS_P99),
    QuantityCard::of(quantity::LATENCY_MEAN),
    QuantityCard::of(quantity::LATENCY_WIDTH),
    QuantityCard::of(quantity::LATENCY_P5),
    QuantityCard::of(quantity::LATENCY_P50),
    QuantityCard::of(quantity::LATENCY_MAD),
    QuantityCard::of(quantity::LATENCY_P95),
    QuantityCard::of(quantity::LATENCY_P99),
    QuantityCard::of(quantity::LATENCY_MAX).over(OverLaunches::Max),
    QuantityCard::of(quantity::BODY_LOW).at_times(),
    QuantityCard::of(quantity::BODY_HIGH).at_times(),
    QuantityCard::of(quantity::BODY_SHARE).at_times(),
    QuantityCard::of(quantity::PEAKS_PER_THOUSAND),
    QuantityCard::of(quantity::PEAKS_LOW).at_times(),
    QuantityCard::of(quantity::PEAKS_HIGH).over(OverLaunches::Max).at_times(),
    QuantityCard::of(quantity::RESPONSE_P50),
    QuantityCard::of(quantity::RESPONSE_P99),
    QuantityCard::of(quantity::RESPONSE_MAX).over(OverLaunches::Max),
    QuantityCard::of(quantity::CLIENT_FIRST),
    QuantityCard::of(quantity::CLIENT_NEXT).at_times(),
    QuantityCard::of(quantity::CLIENT_SERVICE).paired(),
    QuantityCard::of(quantity::CLIENT_LAST_SD),
    QuantityCard::of(quantity::DISPATCH_LOAD),
    QuantityCard::of(quantity::SERVER_LOOP).at_times(),
    QuantityCard::of(quantity::SERVER_CPU).paired().at_times(),
    QuantityCard::of(quantity::SWITCHES_PER_CLIENT),
    QuantityCard::of(quantity::REVERSED_SHARE).at_times(),
    QuantityCard::of(quantity::SAME_ORDER_SHARE).at_times(),
    QuantityCard::of(quantity::SENT).over(OverLaunches::Sum),
    QuantityCard::of(quantity::RECEIVED).over(OverLaunches::Sum),
    QuantityCard::of(quantity::DROPPED).over(OverLaunches::Sum),
    QuantityCard::of(quantity::MISSED).over(OverLaunches::Sum),
    QuantityCard::of(quantity::OVERRUNS).over(OverLaunches::Sum),
    QuantityCard::of(quantity::NOT_GOT_SHARE),
    QuantityCard::of(quantity::IDLE_SHARE).at_times(),
    QuantityCard::of(quantity::REAL_TIME).at_times(),
];

/// A peak is no smaller than this above the median, ns: ten steps of a clock of 10 ns.
const LEAST_PEAK_NS: f64 = 100.0;

/// Ticks of a client or an order, in ns.
struct Spread {
    ordered: Vec<f64>,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        Self { ordered: sorted(values.to_vec()) }
    }

    fn tell(&self, name: &'static str, q: f64, sink: &mut dyn Sink) {
        if let Some(value) = quantile(&self.ordered, q) {
            sink.quantity(name, value);
        }
    }
}

pub fn difference(later: u64, earlier: u64) -> f64 {
    later.saturating_sub(earlier) as f64
}

/// Ticks that count: all but the first `discarded` and the last one.
pub fn counted(table: &Table, discarded: usize) -> std::ops::Range<usize> {
    discarded.min(table.sent())..table.sent().saturating_sub(1)
}

/// When the ticks that count were due, and between them those that a late server left out.
fn due(table: &Table, discarded: usize, period_ns: u64) -> impl Iterator<Item = u64> {
    counted(table, discarded).flat_map(move |tick| {
        let [due, next] = [tick, tick + 1].map(|tick| table.tick(tick)[0]);
        (0..).map(move |left_out| due + left_out * period_ns).take_while(move |at| at + period_ns / 2 < next)
    })
}

/// Tells the ticks of a session that count; of one with a load, those under it.
pub fn tell(
    table: &Table,
    discarded: usize,
    course: &Course,
    (idle, busy): (Option<f64>, Option<&Busy>),
    sink: &mut dyn Sink,
) {
    let clients = table.clients();
    let under = |due: &u64| busy.is_none_or(|busy| busy.covers(*due));
    let mut by_client: Vec<Vec<f64>> = vec![Vec::new(); clients];
    let (mut lateness, mut response, mut loops) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut next, mut last) = (Vec::new(), Vec::new(), Vec::new());
    let (mut same, mut reversed, mut pairs) = (0u32, 0u32, 0u32);
    let mut before: Option<Vec<usize>> = None;
    for tick in counted(table, discarded).filter(|tick| under(&table.tick(*tick)[0])) {
        let [due, stamp, sent] = table.tick(tick);
        lateness.push(difference(stamp, due));
        loops.push(difference(sent, stamp));
        let mut order: Vec<(u64, usize)> = Vec::with_capacity(clients);
        for (client, latencies) in by_client.iter_mut().enumerate() {
            let Some(received) = table.received(client, tick) else { continue };
            latencies.push(difference(received, stamp));
            response.push(difference(received, due));
            order.push((received, client));
        }
        // Only where everybody has got it there is an order.
        if order.len() != clients {
            before = None;
            continue;
        }
        order.sort_unstable();
        if let (Some((one, _)), Some((other, _))) = (order.first(), order.last()) {
            first.push(difference(*one, stamp));
            last.push(difference(*other, stamp));
            if clients > 1 {
                next.push(difference(*other, *one) / (clients - 1) as f64);
            }
        }
        let order: Vec<usize> = order.into_iter().map(|(_, client)| client).collect();
        if let Some(before) = &before {
            pairs += 1;
            same += u32::from(*before == order);
            reversed += u32::from(before.iter().rev().eq(&order));
        }
        before = Some(order);
    }
    let all: Vec<f64> = by_client.iter().flatten().copied().collect();
    all.iter().for_each(|&value| sink.observation(value));
    tell_orders(&first, &next, &last, sink);
    let lateness = Spread::of(&lateness);
    lateness.tell(quantity::LATENESS_P50, 0.5, sink);
    lateness.tell(quantity::LATENESS_P99, 0.99, sink);
    tell_latencies(&all, sink);
    let response = Spread::of(&response);
    response.tell(quantity::RESPONSE_P50, 0.5, sink);
    response.tell(quantity::RESPONSE_P99, 0.99, sink);
    response.tell(quantity::RESPONSE_MAX, 1.0, sink);
    tell_clients(&by_client, course.period_ns, sink);
    if !course.kind.is_without_server_process() {
        Spread::of(&loops).tell(quantity::SERVER_LOOP, 0.5, sink);
        sink.quantity(quantity::SERVER_CPU, table.cpu_ns() as f64 / table.sent().max(1) as f64);
    }
    if clients > 1 && pairs > 0 {
        sink.quantity(quantity::REVERSED_SHARE, f64::from(reversed) / f64::from(pairs));
        sink.quantity(quantity::SAME_ORDER_SHARE, f64::from(same) / f64::from(pairs));
    }
    tell_counts(table, course, sink);
    let wanted = clients * due(table, discarded, course.period_ns).filter(under).count();
    sink.quantity(quantity::NOT_GOT_SHARE, wanted.saturating_sub(all.len()) as f64 / wanted.max(1) as f64);
    if let Some(share) = idle {
        sink.quantity(quantity::IDLE_SHARE, share);
    }
    // With a load the tracks are the whole session's, and told with it.
    if busy.is_none() {
        for (client, values) in by_client.into_iter().enumerate() {
            sink.track(track(client), values, is_kept(client, clients));
        }
    }
}

/// Name of the track of a client.
pub fn track(client: usize) -> String {
    format!("client_{}", client + 1)
}

/// Whether the track of a client stays in the result: the first one's and the last one's.
pub fn is_kept(client: usize, clients: usize) -> bool {
    client == 0 || client + 1 == clients
}

fn tell_orders(first: &[f64], next: &[f64], last: &[f64], sink: &mut dyn Sink) {
    Spread::of(first).tell(quantity::FIRST_P50, 0.5, sink);
    Spread::of(next).tell(quantity::NEXT_P50, 0.5, sink);
    let last = Spread::of(last);
    last.tell(quantity::LAST_P50, 0.5, sink);
    last.tell(quantity::LAST_P99, 0.99, sink);
    last.tell(quantity::LAST_MAX, 1.0, sink);
}

fn tell_latencies(all: &[f64], sink: &mut dyn Sink) {
    if let Some((mean, deviation)) = moments(all) {
        sink.quantity(quantity::LATENCY_MEAN, mean);
        sink.quantity(quantity::LATENCY_WIDTH, 2.0 * deviation);
    }
    let spread = Spread::of(all);
    for (name, q) in [
        (quantity::LATENCY_P5, 0.05),
        (quantity::LATENCY_P50, 0.5),
        (quantity::LATENCY_P95, 0.95),
        (quantity::LATENCY_P99, 0.99),
        (quantity::LATENCY_MAX, 1.0),
    ] {
        spread.tell(name, q, sink);
    }
    if let Some(deviation) = median_deviation(&spread.ordered) {
        sink.quantity(quantity::LATENCY_MAD, deviation);
    }
    if let Some(body) = body(all) {
        sink.quantity(quantity::BODY_LOW, body.low);
        sink.quantity(quantity::BODY_HIGH, body.high);
        sink.quantity(quantity::BODY_SHARE, body.share);
    }
}

/// First, next and service time as document 002 has them: of clients, by their means.
fn tell_clients(by_client: &[Vec<f64>], tick_ns: u64, sink: &mut dyn Sink) {
    let mut clients: Vec<(f64, f64, &Vec<f64>)> = by_client
        .iter()
        .filter_map(|values| moments(values).map(|(mean, deviation)| (mean, deviation, values)))
        .collect();
    clients.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(first), Some(last)) = (clients.first(), clients.last()) else { return };
    sink.quantity(quantity::CLIENT_FIRST, first.0);
    if clients.len() > 1 {
        sink.quantity(quantity::CLIENT_NEXT, (last.0 - first.0) / (clients.len() - 1) as f64);
    }
    let service = last.0 + last.1;
    sink.quantity(quantity::CLIENT_SERVICE, service);
    sink.quantity(quantity::CLIENT_LAST_SD, last.1);
    sink.quantity(quantity::DISPATCH_LOAD, service / tick_ns as f64);
    // Peaks are runs of ticks, so they are looked for in each client's own series.
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

fn tell_counts(table: &Table, course: &Course, sink: &mut dyn Sink) {
    let (mut received, mut dropped, mut gaps, mut switches) = (0, 0, 0, 0);
    for client in 0..table.clients() {
        let [got, missing, full] = table.counts(client);
        received += got;
        gaps += missing;
        dropped += full;
        let account = table.account(Some(client));
        switches += account.usage.voluntary_switches;
    }
    let sent = table.sent() as f64 * table.clients() as f64;
    sink.quantity(quantity::SENT, sent);
    sink.quantity(quantity::RECEIVED, received as f64);
    sink.quantity(quantity::DROPPED, dropped as f64);
    sink.quantity(quantity::MISSED, (gaps - dropped.min(gaps)) as f64);
    sink.quantity(quantity::OVERRUNS, table.overruns() as f64);
    sink.quantity(quantity::SWITCHES_PER_CLIENT, switches as f64 / sent.max(1.0));
    if course.policy != Policy::Other {
        sink.quantity(quantity::REAL_TIME, f64::from(u8::from(!was_refused(table, course))));
    }
}

/// Whether somebody was not scheduled as he asked, before or after his loop.
pub fn was_refused(table: &Table, course: &Course) -> bool {
    let server = (!course.kind.is_without_server_process()).then_some(None);
    let mut all = server.into_iter().chain((0..table.clients()).map(Some));
    course.policy != Policy::Other && all.any(|of| !table.account(of).as_asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realtime_ipc::course::Kind;
    use crate::seen::Seen;

    /// The share that a session of two clients tells, whose ticks are due at these times and reach none of them, or both.
    fn not_got(ticks: &[(u64, bool)], discarded: usize, busy: Option<&Busy>) -> f64 {
        let table = Table::new(2, ticks.len()).expect("memory");
        for (tick, &(due, arrives)) in ticks.iter().enumerate() {
            table.publish(tick, due, due);
            (0..2).filter(|_| arrives).for_each(|client| table.receive(client, tick, due + 5));
        }
        table.finish(ticks.len(), 0, 0);
        let course = Course {
            start_ns: 1000,
            period_ns: 100,
            ticks: ticks.len(),
            size: 24,
            policy: Policy::Other,
            priorities: (50, 49),
            kind: Kind::Queue,
        };
        let mut seen = Seen::default();
        tell(&table, discarded, &course, (None, busy), &mut seen);
        seen.quantities[quantity::NOT_GOT_SHARE]
    }

    /// Losses of the ticks that are discarded, and of the idle part, were divided by all, as those under the load were.
    #[test]
    fn what_nobody_got_is_told_of_the_ticks_that_count() {
        let ticks = |lost: &[u64]| -> Vec<(u64, bool)> {
            (10..21).map(|tick| (100 * tick, !lost.contains(&tick))).collect()
        };
        assert_eq!(not_got(&ticks(&[]), 2, None), 0.0);
        assert_eq!(not_got(&ticks(&[10, 11, 20]), 2, None), 0.0, "discarded, and the last one");
        assert_eq!(not_got(&ticks(&[10, 12]), 2, None), 1.0 / 8.0);
        // The load is on for the ticks 14 to 17.
        let busy = Busy { start_ns: 1400, end_ns: 1800, rounds: 1 };
        assert_eq!(not_got(&ticks(&[12, 13, 18]), 2, Some(&busy)), 0.0, "lost while idle");
        assert_eq!(not_got(&ticks(&[13, 14]), 2, Some(&busy)), 1.0 / 4.0);
        // A late server never sent 11, which is discarded, nor 13, 15 and 16.
        let late: Vec<(u64, bool)> = [10, 12, 14, 17, 18, 19].map(|tick| (100 * tick, true)).to_vec();
        assert_eq!(not_got(&late, 1, None), 3.0 / 7.0);
        assert_eq!(not_got(&late, 1, Some(&busy)), 2.0 / 4.0);
    }
}
