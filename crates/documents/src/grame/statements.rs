//! The statements of sections 3.1, 4 and 5, judged by the price list at 1 ms.

use oscost_results::{Estimate, Judgement};
use oscost_stats::peaks::frequency;
use oscost_sys::scheduling::Policy;

use super::settings::{Settings, family_id};
use super::tables::{MODULE, quotient};
use super::{ALONE, HOP, JUDGED_NS, SOCKET, WAIT_QUEUE, at_1ms, derive, kernel_side};
use crate::found::{Found, Judged, Rows, holds_if, judged, times, within};

/// A difference of this share of the value is none that anybody would notice.
const NOTICEABLE: f64 = 0.1;
/// Share of the values that the body of a range holds at least, where latencies "fit globally in a range".
const BODY: f64 = 0.95;
/// Share of the ticks in which an order is kept, or reversed, that counts as always.
const ALWAYS: f64 = 0.9;

/// All of them, in the order of the document.
pub(super) fn statements(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let most = settings.most();
    threads(found, settings, rows);
    single(found, rows);
    several(found, settings, rows);
    wait_queue(found, most, rows);
    synthesis(found, settings, rows);
}

fn not_here(system: &str) -> Judged {
    (Judgement::NotTestableHere, format!("a statement on {system}; the published values are shown above"))
}

fn us(estimate: &Estimate) -> String {
    format!("{:.1} us ({:.1} .. {:.1})", estimate.value / 1e3, estimate.low / 1e3, estimate.high / 1e3)
}

/// Section 3.1.
fn threads(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    rows.statement(
        "3.1",
        "in order to minimize context switches, the server sender thread priority was higher than the client reader thread priority",
        judged(found.quantity(&at_1ms(SOCKET, settings.most()), "switches_per_client").map(|switches| {
            (
                within(&switches, 0.0, 1.05),
                format!("{:.2} switches a tick and client, one is the least there can be", switches.value),
            )
        })),
    );
    let ratios: Vec<(usize, Estimate)> = settings
        .ends()
        .into_iter()
        .filter_map(|clients| {
            let fifo = family_id(SOCKET, clients, JUDGED_NS, Policy::Fifo);
            Some((clients, found.ratio_of(&fifo, &at_1ms(SOCKET, clients), "last_p50")?))
        })
        .collect();
    rows.statement(
        "3.1",
        "We also tried to use SCHED_FIFO as thread policy without noticeable differences",
        judged((!ratios.is_empty()).then(|| {
            let verdicts: Vec<Judgement> =
                ratios.iter().map(|(_, ratio)| within(ratio, 1.0 - NOTICEABLE, 1.0 + NOTICEABLE)).collect();
            let told: Vec<String> = ratios
                .iter()
                .map(|(clients, ratio)| format!("{} at {clients} clients", times(ratio)))
                .collect();
            (
                all_of(&verdicts),
                format!(
                    "SCHED_FIFO takes {} of SCHED_RR, paired; 0.9 to 1.1 is not noticeable",
                    told.join(", ")
                ),
            )
        })),
    );
}

/// It holds where all parts do, does not where any does not.
fn all_of(verdicts: &[Judgement]) -> Judgement {
    if verdicts.contains(&Judgement::DoesNotHold) {
        Judgement::DoesNotHold
    } else if verdicts.iter().all(|verdict| *verdict == Judgement::Holds) {
        Judgement::Holds
    } else {
        Judgement::NotTestableHere
    }
}

/// Section 4.1.
fn single(found: &Found<'_>, rows: &mut Rows) {
    let one = at_1ms(SOCKET, 1);
    rows.statement(
        "4.1.1",
        "the communication latency fits globally in a constant range with more or less frequent peaks",
        judged(found.quantity(&one, "body_share").map(|share| {
            let peaks = found.quantity(&one, "peaks_per_thousand").map_or(0.0, |peaks| peaks.value);
            (
                within(&share, BODY, 1.0),
                format!(
                    "{:.1} % of the values are left when what lies beyond 3 sd is taken away until nothing does (95 % counts as \
                     globally); {peaks:.1} peaks in a thousand ticks: {}",
                    share.value * 100.0,
                    frequency(peaks)
                ),
            )
        })),
    );
    rows.by(&one, "body_share", found.quantity(&one, "body_share"));
    rows.statement(
        "4.1.1",
        "the module implementation is between 2 and 3 times more efficient than the socket implementation for a single client",
        module(found, 1, |ratio| {
            let inverse = Estimate { value: 1.0 / ratio.value, low: 1.0 / ratio.high, high: 1.0 / ratio.low, ..*ratio };
            (within(&inverse, 2.0, 3.0), format!("the socket takes {} of it", times(&inverse)))
        }),
    );
    rows.statement(
        "4.1.2",
        "when the system is idle, Windows 2000 performances are better than Linux",
        not_here("Windows 2000"),
    );
    rows.statement(
        "4.1.2",
        "Linux is really more stable than Windows 2000 in a busy environment. In this case, Linux is better than Windows to a large extent",
        not_here("Windows 2000"),
    );
    rows.statement("4.1.3", "Linux is really better and more stable than Windows 95", not_here("Windows 98"));
    rows.statement("4.1.4", "Linux sockets outperform Darwin sockets by a wide margin", not_here("Darwin"));
    rows.statement(
        "4.1.4",
        "Compared to the Mach messaging system, Linux sockets remains 2 times more efficient for a single client",
        not_here("Mach messages (its own table gives 41 / 16 = 2.6)"),
    );
    rows.statement(
        "4.1.5",
        "The results show equivalent performances for 2000 and NT4",
        not_here("Windows, of figures reduced by the clock's speed alone"),
    );
    rows.statement("4.1.5", "the system is not stable in busy environments", not_here("Windows"));
}

/// What a kernel-side transport is against sockets, in the launches right beside it; why not, where there is none.
fn module(found: &Found<'_>, clients: usize, judge: impl Fn(&Estimate) -> Judged) -> Judged {
    let of = kernel_side().find_map(|name| {
        let ratio = found.ratio_of(&at_1ms(name, clients), &at_1ms(SOCKET, clients), "last_p50")?;
        Some((name, ratio))
    });
    match of {
        Some((name, ratio)) => {
            let (verdict, because) = judge(&ratio);
            (verdict, format!("{name}: {because}"))
        }
        None => (Judgement::NotTestableHere, MODULE.to_owned()),
    }
}

/// Sections 4.2 to 4.2.3.
fn several(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let most = settings.most();
    let many = at_1ms(SOCKET, most);
    let enough = most > 1;
    rows.statement(
        "4.2",
        "the system behavior when several clients are running, results generally in a stack of latency ranges",
        several_only(enough, || {
            let next = found.quantity(&many, "client_next")?;
            let same = found.quantity(&many, "same_order_share")?;
            Some((
                all_of(&[holds_if(next.low > 0.0), within(&same, ALWAYS, 1.0)]),
                format!(
                    "means of consecutive clients are {} apart; of {most} clients all keep their place in {:.0} % of the ticks (90 % \
                     counts as generally)",
                    us(&next),
                    same.value * 100.0
                ),
            ))
        }),
    );
    let switch = switch_and_read(found);
    rows.statement(
        "4.2",
        "The latency time of the first client is generally spent by the server into the sending messages loop plus a context switch from \
         the server to this first client and the reading of the message",
        several_only(enough, || {
            let (first, sends) = (found.quantity(&many, "first_p50")?, found.quantity(&many, "server_loop")?);
            let switch = switch?;
            let predicted = sum(&sends, &switch);
            Some(explained(
                &predicted,
                &first,
                &format!(
                    "sending loop for {most} {} + switch and read {} (price list: a hop of context_switch/pipe without its write)",
                    us(&sends),
                    us(&switch)
                ),
            ))
        }),
    );
    rows.by(&many, "first_p50", found.quantity(&many, "first_p50"));
    rows.statement(
        "4.2",
        "The time elapsed between 2 consecutive clients is generally spent into the election of a new thread for execution plus a context \
         switch from one client to the next and the reading of the message",
        several_only(enough, || {
            let next = found.quantity(&many, "next_p50")?;
            let switch = switch?;
            Some(explained(&switch, &next, &format!("switch and read {} by the price list", us(&switch))))
        }),
    );
    rows.by(&many, "next_p50", found.quantity(&many, "next_p50"));
    rows.statement(
        "4.2",
        "Unless notified, the latency peaks occured according to those reported for a single client",
        several_only(enough, || {
            let (one, ten) = (
                found.quantity(&at_1ms(SOCKET, 1), "peaks_per_thousand")?,
                found.quantity(&many, "peaks_per_thousand")?,
            );
            let words = [one.value, ten.value].map(frequency);
            let apart = ten.low > one.high || ten.high < one.low;
            Some((
                if words[0] == words[1] && !apart {
                    Judgement::Holds
                } else if apart && words[0] != words[1] {
                    Judgement::DoesNotHold
                } else {
                    Judgement::NotTestableHere
                },
                format!(
                    "{:.1} ({:.1} .. {:.1}) peaks in a thousand ticks of one client: {}; {:.1} ({:.1} .. {:.1}) of {most}: {}",
                    one.value, one.low, one.high, words[0], ten.value, ten.low, ten.high, words[1]
                ),
            ))
        }),
    );
    for (place, words, system) in [
        (
            "4.2.1",
            "Windows 2000 is faster than Linux to serve the first client but slower to switch from one client to the next",
            "Windows 2000 (its next latency, table 13, is lost too)",
        ),
        (
            "4.2.2",
            "Windows 98 bad performances are confirmed: it takes up to 1/2 millisecond to serve 10 concurrent clients",
            "Windows 98",
        ),
        (
            "4.2.3",
            "Darwin sockets bad performances are widely confirmed when several clients are running",
            "Darwin",
        ),
        (
            "4.2.3",
            "the standard deviation of the last client increases significantly for Darwin sockets and Mach messages when the clients count \
             increases",
            "Darwin and Mach",
        ),
    ] {
        rows.statement(place, words, not_here(system));
    }
    rows.statement(
        "4.2.3, figure 30, the other half (ours)",
        "for Linux sockets the standard deviation of the last client does not increase significantly with the clients count",
        several_only(enough, || {
            let sds: Option<Vec<Estimate>> = settings
                .clients
                .iter()
                .map(|&clients| found.quantity(&at_1ms(SOCKET, clients), "client_last_sd"))
                .collect();
            let sds = sds?;
            let ratio = quotient(sds.last()?, sds.first()?)?;
            let list: Vec<String> = sds.iter().map(|sd| format!("{:.1}", sd.value / 1e3)).collect();
            Some((
                within(&ratio, 0.0, 2.0),
                format!(
                    "sd {} us over the numbers of clients; the last is {} of the first, up to twice counts as stable",
                    list.join(", "),
                    times(&ratio)
                ),
            ))
        }),
    );
}

fn several_only(enough: bool, judge: impl FnOnce() -> Option<Judged>) -> Judged {
    if enough {
        judged(judge())
    } else {
        (Judgement::NotTestableHere, "one client has no next: give --clients several".to_owned())
    }
}

/// A switch on one CPU and the read after it, by the price list: a hop by a pipe without its write, which is taken as half
/// of a write and a read without a switch.
fn switch_and_read(found: &Found<'_>) -> Option<Estimate> {
    let (hop, alone) = (found.floor(HOP)?, found.floor(ALONE)?);
    Some(Estimate {
        value: hop.value - alone.value / 2.0,
        low: hop.low - alone.high / 2.0,
        high: hop.high - alone.low / 2.0,
        extremes: hop.extremes || alone.extremes,
    })
}

fn sum(one: &Estimate, other: &Estimate) -> Estimate {
    Estimate {
        value: one.value + other.value,
        low: one.low + other.low,
        high: one.high + other.high,
        extremes: one.extremes || other.extremes,
    }
}

/// "Generally spent" is half of what is observed, and not more than all of it. The price list's loops are warm, a wake-up
/// after 1 ms is not: what a prediction falls short by may be the same work with cold caches, so it refutes nothing.
fn explained(predicted: &Estimate, observed: &Estimate, how: &str) -> Judged {
    let Some(share) = quotient(predicted, observed) else { return judged(None) };
    let judgement = if share.low > 1.25 {
        Judgement::DoesNotHold
    } else if share.low >= 0.5 {
        Judgement::Holds
    } else {
        Judgement::NotTestableHere
    };
    (
        judgement,
        format!(
            "predicted {}: {how}; observed {}: {:.0} % ({:.0} .. {:.0}) of it is explained, from 50 % on counts as generally. The \
             price list's loop is warm, a tick's wake-up is not: less refutes nothing",
            us(predicted),
            us(observed),
            share.value * 100.0,
            share.low * 100.0,
            share.high * 100.0
        ),
    )
}

/// Section 4.2.4.
fn wait_queue(found: &Found<'_>, most: usize, rows: &mut Rows) {
    let enough = most > 1;
    let many = at_1ms(SOCKET, most);
    rows.statement(
        "4.2.4, figure 32",
        "in the socket version, [the first and last latency times] remains stable at a unique level",
        several_only(enough, || {
            let (same, reversed) =
                (found.quantity(&many, "same_order_share")?, found.quantity(&many, "reversed_share")?);
            Some((
                all_of(&[within(&same, ALWAYS, 1.0), within(&reversed, 0.0, 1.0 - ALWAYS)]),
                format!(
                    "the order of {most} clients is the same in {:.0} % of the ticks, reversed in {:.0} %{}",
                    same.value * 100.0,
                    reversed.value * 100.0,
                    split(found, &many)
                ),
            ))
        }),
    );
    let kernel = kernel_side().find(|name| found.quantity(&at_1ms(name, most), "reversed_share").is_some());
    let judged_by = kernel.unwrap_or(WAIT_QUEUE);
    let stand_in = if kernel.is_some() {
        String::new()
    } else {
        format!(
            "judged by {WAIT_QUEUE}, a plain wait queue reached from user space (ours), for the module is {MODULE}; "
        )
    };
    let by_order = |holds: fn(&Estimate) -> Judgement| {
        several_only(enough, || {
            let id = at_1ms(judged_by, most);
            let reversed = found.quantity(&id, "reversed_share")?;
            Some((
                holds(&reversed),
                format!(
                    "{stand_in}{judged_by}: the order is reversed in {:.0} % ({:.0} .. {:.0}) of the ticks{}",
                    reversed.value * 100.0,
                    reversed.low * 100.0,
                    reversed.high * 100.0,
                    split(found, &id)
                ),
            ))
        })
    };
    rows.statement(
        "4.2.4, figure 31",
        "[with the module] the first and last latency times switch between two different levels",
        by_order(|reversed| within(reversed, ALWAYS, 1.0)),
    );
    rows.statement(
        "4.2.4",
        "This behavior is unexplained, it may be related to the fact that the different clients are not served each time in the same order",
        {
            let (verdict, because) = by_order(|reversed| within(reversed, ALWAYS, 1.0));
            let why = ". Ours: a wait queue takes a waiter in at its head, so whoever slept last is woken first, and the order reverses with \
                       every tick";
            (verdict, format!("{because}{why}"))
        },
    );
    rows.statement(
        "4.2.4",
        "which also prevents us to compute the next latency time",
        several_only(enough, || {
            let id = at_1ms(judged_by, most);
            let (by_client, by_order) = (found.quantity(&id, "client_next")?, found.quantity(&id, "next_p50")?);
            Some((
                holds_if(by_client.high < by_order.low),
                format!(
                    "{stand_in}by clients it is {}, for means over a changing order lie together; by order within each tick it is {} \
                     (ours), so it can be computed",
                    us(&by_client),
                    us(&by_order)
                ),
            ))
        }),
    );
    rows.statement(
        "4.2.4, figure 33",
        "While the module implementation is better than the socket implementation for a single client, the difference tends to disappear \
         when the number of clients increases",
        module(found, most, |many| {
            let one = kernel_side()
                .find_map(|name| found.ratio_of(&at_1ms(name, 1), &at_1ms(SOCKET, 1), "last_p50"));
            match one {
                None => judged(None),
                Some(one) => (
                    if one.high < 1.0 && many.low > one.high {
                        Judgement::Holds
                    } else if one.low > 1.0 || many.high < one.low {
                        Judgement::DoesNotHold
                    } else {
                        Judgement::NotTestableHere
                    },
                    format!("{} of the socket for one client, {} for {most}", times(&one), times(many)),
                ),
            }
        }),
    );
}

/// What one client sees on even and on odd ticks.
fn split(found: &Found<'_>, id: &str) -> String {
    let tracks =
        found.figure(id).and_then(|figure| figure.launches.iter().find(|launch| !launch.tracks.is_empty()));
    let split = tracks.and_then(|launch| derive::even_odd(launch.tracks.values().next()?));
    split.map_or(String::new(), |(even, odd)| {
        format!("; client 1 has {:.1} us on even and {:.1} us on odd ticks", even / 1e3, odd / 1e3)
    })
}

/// Section 5.
fn synthesis(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let most = settings.most();
    let many = at_1ms(SOCKET, most);
    let ns: f64 = 64.0 / 44_100.0 * 1e9;
    rows.statement(
        "5",
        "a sound server using a sampling rate of 44100 Hz and a buffer size of 64 frames should provide samples to its clients every 1,45 ms",
        (holds_if((ns / 1e6 - 1.45).abs() < 0.005), format!("64 / 44 100 s are {:.4} ms: arithmetic", ns / 1e6)),
    );
    rows.statement(
        "5",
        "a 1 ms resolution is required for events based musical applications such as MIDI applications",
        (Judgement::NotTestableHere, "a requirement of music, no measurement".to_owned()),
    );
    rows.statement(
        "5",
        "It represents in percentage, the CPU time used only to dispatch the messages",
        judged((|| {
            let (service, server, next) = (
                found.quantity(&many, "client_service")?,
                found.quantity(&many, "server_cpu")?,
                found.quantity(&many, "next_p50")?,
            );
            let clients = most as f64;
            let scaled = |estimate: Estimate| Estimate {
                value: estimate.value * clients,
                low: estimate.low * clients,
                high: estimate.high * clients,
                ..estimate
            };
            let cpu = sum(&server, &scaled(next));
            let share = quotient(&service, &cpu)?;
            Some((
                within(&share, 0.8, 1.25),
                format!(
                    "service time of {most} clients {}, CPU time of the server's tick {} and {most} times next {}: {}; 0.8 to 1.25 counts as \
                     the same. It is mean + sd of a latency, no CPU time",
                    us(&service),
                    us(&server),
                    us(&next),
                    times(&share)
                ),
            ))
        })()),
    );
    let best = settings
        .orders()
        .into_iter()
        .filter_map(|name| Some((name, found.ratio_of(&at_1ms(name, most), &many, "last_p50")?)));
    let best = best.min_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let beside = best.map_or(String::new(), |(name, ratio)| {
        format!("; among the ways of Linux today {name} has the last of {most} clients in {} of the socket's time", times(&ratio))
    });
    rows.statement(
        "5",
        "Linux socket is the best solution, compared to other IPC systems",
        (Judgement::NotTestableHere, format!("compared to Windows, Darwin and Mach{beside}")),
    );
    rows.statement(
        "5",
        "Windows 2000 (and NT 4) are also very efficient but are too sensitive to perturbations and showed dramatic latency peaks in busy \
         environments",
        not_here("Windows"),
    );
    let load = found.quantity(&many, "dispatch_load").map_or(String::new(), |load| {
        format!(
            "; sockets here: {:.1} % ({:.1} .. {:.1}) of 1 ms for {most}",
            load.value * 100.0,
            load.low * 100.0,
            load.high * 100.0
        )
    });
    let (verdict, because) = not_here("Darwin");
    rows.statement(
        "5",
        "Darwin sockets consume more than 100% of the CPU to handle 10 concurrent clients",
        (verdict, format!("{because}{load}")),
    );
    rows.statement(
        "5",
        "Although less efficient than Linux PPC sockets, the Mach messaging system may provide a good solution, considering that it is not \
         very sensitive to busy environments",
        not_here("Mach"),
    );
}
