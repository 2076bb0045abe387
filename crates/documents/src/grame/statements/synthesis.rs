//! Section 5: what it comes to.

use super::several::sum;
use super::{not_here, us};
use crate::found::{Found, Quoted, Rows, holds_if, judged, quotient, ranged, times, within};
use crate::grame::settings::Settings;
use crate::grame::tables::ARITHMETIC;
use crate::grame::{SOCKET, at_1ms};
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};

/// Section 5.
pub(super) fn synthesis(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let most = settings.most();
    let many = at_1ms(SOCKET, most);
    let ns: f64 = 64.0 / 44_100.0 * 1e9;
    rows.statement(
        ARITHMETIC,
        Quoted("a sound server using a sampling rate of 44100 Hz and a buffer size of 64 frames should provide samples to its clients every 1,45 ms"),
        (holds_if((ns / 1e6 - 1.45).abs() < 0.005), format!("64 / 44 100 s are {:.4} ms: arithmetic", ns / 1e6)),
    );
    rows.statement(
        "5",
        Quoted(
            "a 1 ms resolution is required for events based musical applications such as MIDI applications",
        ),
        (Judgement::NotTestableHere, "a requirement of music, no measurement".to_owned()),
    );
    rows.statement(
        "5",
        Quoted("It represents in percentage, the CPU time used only to dispatch the messages"),
        judged((|| {
            let (service, server, next) = (
                found.quantity(&many, quantity::CLIENT_SERVICE)?,
                found.quantity(&many, quantity::SERVER_CPU)?,
                found.quantity(&many, quantity::NEXT_P50)?,
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
                // As large as CPU time is not the same as being it.
                match within(&share, 0.8, 1.25) {
                    Judgement::Holds => Judgement::HoldsInPart,
                    other => other,
                },
                format!(
                    "service time of {most} clients {}, CPU time of the server's tick {} and {most} times next {}: {}; 0.8 to 1.25 counts as \
                     the same size. Only in part, because it is mean + sd of a latency, and no CPU time",
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
        .filter_map(|name| Some((name, found.ratio_of(&at_1ms(name, most), &many, quantity::LAST_P50)?)));
    let best = best.min_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let beside = best.map_or(String::new(), |(name, ratio)| {
        format!("; among the ways of Linux today {name} has the last of {most} clients in {} of the socket's time", times(&ratio))
    });
    rows.statement(
        "5",
        Quoted("Linux socket is the best solution, compared to other IPC systems"),
        (Judgement::NotTestableHere, format!("compared to Windows, Darwin and Mach{beside}")),
    );
    rows.statement(
        "5",
        Quoted(
            "Windows 2000 (and NT 4) are also very efficient but are too sensitive to perturbations and showed dramatic latency peaks \
             in busy environments",
        ),
        not_here("Windows"),
    );
    let load = found.quantity(&many, quantity::DISPATCH_LOAD).map_or(String::new(), |load| {
        format!("; sockets here: {} of 1 ms for {most}", ranged(&load, 100.0, 1, " %"))
    });
    let (verdict, because) = not_here("Darwin");
    rows.statement(
        "5",
        Quoted("they consume more than 100% of the CPU to handle 10 concurrent clients"),
        (verdict, format!("{because}{load}")),
    );
    rows.statement(
        "5",
        Quoted(
            "Although less efficient than Linux PPC sockets, the Mach messaging system may provide a good solution, considering that \
             it is not very sensitive to busy environments",
        ),
        not_here("Mach"),
    );
}
