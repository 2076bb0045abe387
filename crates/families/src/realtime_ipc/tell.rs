//! What a session says: the three series, by client as in document 002 and by order within each tick.
//! METHOD.md, Real-time messages.

use oscost_harness::{OverLaunches, QuantityCard, Sink};
use oscost_stats::peaks::{body, median_deviation, moments, peaks};
use oscost_stats::quantile::{quantile, sorted};
use oscost_sys::scheduling::Policy;

use super::load::Busy;
use super::session::Session;
use super::table::Table;

const fn ns(name: &'static str) -> QuantityCard {
    QuantityCard::new(name, "ns")
}

/// The quantities of every transport, the headline first.
pub const QUANTITIES: &[QuantityCard] = &[
    ns("last_p50").paired(),
    ns("last_p99"),
    ns("last_max").over(OverLaunches::Max),
    ns("first_p50"),
    ns("next_p50"),
    ns("lateness_p50"),
    ns("lateness_p99"),
    ns("latency_mean"),
    ns("latency_width"),
    ns("latency_p5"),
    ns("latency_p50"),
    ns("latency_mad"),
    ns("latency_p95"),
    ns("latency_p99"),
    ns("latency_max").over(OverLaunches::Max),
    ns("body_low"),
    ns("body_high"),
    QuantityCard::new("body_share", "share"),
    QuantityCard::new("peaks_per_thousand", "count"),
    ns("peaks_low"),
    ns("peaks_high").over(OverLaunches::Max),
    ns("response_p50"),
    ns("response_p99"),
    ns("response_max").over(OverLaunches::Max),
    ns("client_first"),
    ns("client_next"),
    ns("client_service").paired(),
    ns("client_last_sd"),
    QuantityCard::new("dispatch_load", "share"),
    ns("server_loop"),
    ns("server_cpu").paired(),
    QuantityCard::new("switches_per_client", "ratio"),
    QuantityCard::new("reversed_share", "share"),
    QuantityCard::new("same_order_share", "share"),
    QuantityCard::new("sent", "count").over(OverLaunches::Sum),
    QuantityCard::new("received", "count").over(OverLaunches::Sum),
    QuantityCard::new("dropped", "count").over(OverLaunches::Sum),
    QuantityCard::new("missed", "count").over(OverLaunches::Sum),
    QuantityCard::new("overruns", "count").over(OverLaunches::Sum),
    QuantityCard::new("idle_share", "share"),
    QuantityCard::new("real_time", "share"),
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

/// Tells the ticks of a session that count; of one with a load, those under it.
pub fn tell(
    table: &Table,
    discarded: usize,
    session: &Session,
    (idle, busy): (Option<f64>, Option<&Busy>),
    sink: &mut dyn Sink,
) {
    let clients = table.clients();
    let under = |tick: &usize| busy.is_none_or(|busy| busy.covers(table.tick(*tick)[0]));
    let mut by_client: Vec<Vec<f64>> = vec![Vec::new(); clients];
    let (mut lateness, mut response, mut loops) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut next, mut last) = (Vec::new(), Vec::new(), Vec::new());
    let (mut same, mut reversed, mut pairs) = (0u32, 0u32, 0u32);
    let mut before: Option<Vec<usize>> = None;
    for tick in counted(table, discarded).filter(under) {
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
    lateness.tell("lateness_p50", 0.5, sink);
    lateness.tell("lateness_p99", 0.99, sink);
    tell_latencies(&all, sink);
    let response = Spread::of(&response);
    response.tell("response_p50", 0.5, sink);
    response.tell("response_p99", 0.99, sink);
    response.tell("response_max", 1.0, sink);
    tell_clients(&by_client, session.shape.tick_ns, sink);
    if !session.kind.is_without_server_process() {
        Spread::of(&loops).tell("server_loop", 0.5, sink);
        sink.quantity("server_cpu", table.cpu_ns() as f64 / table.sent().max(1) as f64);
    }
    if clients > 1 && pairs > 0 {
        sink.quantity("reversed_share", f64::from(reversed) / f64::from(pairs));
        sink.quantity("same_order_share", f64::from(same) / f64::from(pairs));
    }
    tell_counts(table, session, sink);
    if let Some(share) = idle {
        sink.quantity("idle_share", share);
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
    Spread::of(first).tell("first_p50", 0.5, sink);
    Spread::of(next).tell("next_p50", 0.5, sink);
    let last = Spread::of(last);
    last.tell("last_p50", 0.5, sink);
    last.tell("last_p99", 0.99, sink);
    last.tell("last_max", 1.0, sink);
}

fn tell_latencies(all: &[f64], sink: &mut dyn Sink) {
    if let Some((mean, deviation)) = moments(all) {
        sink.quantity("latency_mean", mean);
        sink.quantity("latency_width", 2.0 * deviation);
    }
    let spread = Spread::of(all);
    for (name, q) in [
        ("latency_p5", 0.05),
        ("latency_p50", 0.5),
        ("latency_p95", 0.95),
        ("latency_p99", 0.99),
        ("latency_max", 1.0),
    ] {
        spread.tell(name, q, sink);
    }
    if let Some(deviation) = median_deviation(&spread.ordered) {
        sink.quantity("latency_mad", deviation);
    }
    if let Some(body) = body(all) {
        sink.quantity("body_low", body.low);
        sink.quantity("body_high", body.high);
        sink.quantity("body_share", body.share);
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
    sink.quantity("client_first", first.0);
    if clients.len() > 1 {
        sink.quantity("client_next", (last.0 - first.0) / (clients.len() - 1) as f64);
    }
    let service = last.0 + last.1;
    sink.quantity("client_service", service);
    sink.quantity("client_last_sd", last.1);
    sink.quantity("dispatch_load", service / tick_ns as f64);
    // Peaks are runs of ticks, so they are looked for in each client's own series.
    let found: Vec<_> = by_client.iter().filter_map(|values| peaks(values, LEAST_PEAK_NS)).collect();
    let values: usize = by_client.iter().map(Vec::len).sum();
    let count: usize = found.iter().map(|peaks| peaks.count).sum();
    sink.quantity("peaks_per_thousand", count as f64 * 1000.0 / values.max(1) as f64);
    let with_peaks = || found.iter().filter(|peaks| peaks.count > 0);
    if let Some(low) = with_peaks().map(|peaks| peaks.low).reduce(f64::min) {
        sink.quantity("peaks_low", low);
        sink.quantity("peaks_high", with_peaks().map(|peaks| peaks.high).fold(low, f64::max));
    }
}

fn tell_counts(table: &Table, session: &Session, sink: &mut dyn Sink) {
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
    sink.quantity("sent", sent);
    sink.quantity("received", received as f64);
    sink.quantity("dropped", dropped as f64);
    sink.quantity("missed", (gaps - dropped.min(gaps)) as f64);
    sink.quantity("overruns", table.overruns() as f64);
    sink.quantity("switches_per_client", switches as f64 / sent.max(1.0));
    if session.policy != Policy::Other {
        sink.quantity("real_time", f64::from(u8::from(!was_refused(table, session))));
    }
}

/// Whether somebody was not scheduled as he asked, before or after his loop.
pub fn was_refused(table: &Table, session: &Session) -> bool {
    let server = (!session.kind.is_without_server_process()).then_some(None);
    let mut all = server.into_iter().chain((0..table.clients()).map(Some));
    session.policy != Policy::Other && all.any(|of| !table.account(of).as_asked)
}
