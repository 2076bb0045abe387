//! Sections 3.1 and 4.1: one client, idle; what is of other systems.

use super::busy::busy;
use super::{BODY, NOTICEABLE, all_of, module, not_here};
use crate::found::{Found, Rows, judged, times, within};
use crate::grame::settings::{Settings, family_id};
use crate::grame::{JUDGED_NS, SOCKET, at_1ms};
use oscost_results::{Estimate, Judgement};
use oscost_stats::peaks::frequency;
use oscost_sys::scheduling::Policy;

/// Section 3.1.
pub(super) fn threads(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
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
                .map(|(clients, ratio)| format!("{} for {clients}", times(ratio)))
                .collect();
            (
                all_of(&verdicts),
                format!(
                    "SCHED_FIFO has the last client in {} of the time with SCHED_RR, paired; 0.9 to 1.1 is not noticeable",
                    told.join(", ")
                ),
            )
        })),
    );
}

/// Section 4.1.
pub(super) fn single(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
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
    busy(found, settings, rows);
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
