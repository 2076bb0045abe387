//! Sections 3.1 and 4.1: one client, idle; what is of other systems.

use super::busy::busy;
use super::{BODY, NOTICEABLE, PRIORITIES, module, not_here};
use crate::found::{Found, Judged, Quoted, Rows, beside, holds_if, judged, of_parts, times, within};
use crate::grame::settings::{Settings, family_id};
use crate::grame::tables::counted;
use crate::grame::{JUDGED_NS, SOCKET, at_1ms};
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};
use oscost_stats::peaks::frequency;
use oscost_sys::scheduling::Policy;

/// Section 3.1.
pub(super) fn threads(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    rows.statement(
        PRIORITIES,
        Quoted("in order to minimize context switches, the server sender thread priority was higher than the client reader thread priority"),
        judged(sender(found, settings)),
    );
    let ratios: Vec<(usize, Estimate)> = settings
        .ends()
        .into_iter()
        .filter_map(|clients| {
            let fifo = family_id(SOCKET, clients, JUDGED_NS, Policy::Fifo);
            Some((clients, found.ratio_of(&fifo, &at_1ms(SOCKET, clients), quantity::LAST_P50)?))
        })
        .collect();
    rows.statement(
        PRIORITIES,
        Quoted("We also tried to use SCHED_FIFO as thread policy without noticeable differences"),
        judged((!ratios.is_empty()).then(|| {
            let verdicts: Vec<Judgement> =
                ratios.iter().map(|(_, ratio)| within(ratio, 1.0 - NOTICEABLE, 1.0 + NOTICEABLE)).collect();
            let told: Vec<String> = ratios
                .iter()
                .map(|(clients, ratio)| format!("{} for {}", times(ratio), counted(*clients)))
                .collect();
            (
                of_parts(&verdicts),
                format!(
                    "with SCHED_FIFO the last client takes, beside SCHED_RR: {}, paired; 0.9 to 1.1 is not noticeable",
                    told.join(", ")
                ),
            )
        })),
    );
}

/// Switches a tick of the document's session, and of one whose sender runs below its readers: the audit counts both.
fn sender(found: &Found<'_>, settings: &Settings) -> Option<Judged> {
    let most = settings.most();
    let counted = |id: String| found.figure(&id)?.evidence.switches;
    let above = counted(settings.shape(most, 1).id())?;
    let below = counted(settings.below(most).id())?;
    Some((
        holds_if(below > above * (1.0 + NOTICEABLE)),
        format!(
            "{above:.1} switches a tick of {most} clients with the sender above its readers, {below:.1} below them, counted; 1.1 times as \
             many count as more"
        ),
    ))
}

/// Section 4.1.
pub(super) fn single(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let one = at_1ms(SOCKET, 1);
    rows.statement(
        "4.1.1",
        Quoted("the communication latency fits globally in a constant range with more or less frequent peaks"),
        judged(found.quantity(&one, quantity::BODY_SHARE).map(|share| {
            let peaks = found.quantity(&one, quantity::PEAKS_PER_THOUSAND).map_or(0.0, |peaks| peaks.value);
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
    rows.by(&one, quantity::BODY_SHARE, found.quantity(&one, quantity::BODY_SHARE));
    busy(found, settings, rows);
    rows.statement(
        "4.1.1",
        Quoted("the module implementation is between 2 and 3 times more efficient than the socket implementation for a single client"),
        module(found, 1, |ratio| {
            let inverse = Estimate { value: 1.0 / ratio.value, low: 1.0 / ratio.high, high: 1.0 / ratio.low, ..*ratio };
            beside("2 to 3 times", Some(times(&inverse)))
        }),
    );
    rows.statement(
        "4.1.2",
        Quoted("when the system is idle, Windows 2000 performances are better than Linux"),
        not_here("Windows 2000"),
    );
    rows.statement(
        "4.1.2",
        Quoted("Linux is really more stable than Windows 2000 in a busy environment. In this case, Linux is better than Windows to a large extent"),
        not_here("Windows 2000"),
    );
    rows.statement(
        "4.1.3",
        Quoted("Linux is really better and more stable than Windows 95"),
        not_here("Windows 98"),
    );
    rows.statement(
        "4.1.4",
        Quoted("Linux sockets outperform Darwin sockets by a wide margin"),
        not_here("Darwin"),
    );
    rows.statement(
        "4.1.4",
        Quoted("Compared to the Mach messaging system, Linux sockets remains 2 times more efficient for a single client"),
        not_here("Mach messages (its own table gives 41 / 16 = 2.6; contrib/laboratory/run mach has GNU Mach's)"),
    );
    rows.statement(
        "4.1.5",
        Quoted("The results show equivalent performances for 2000 and NT4"),
        not_here("Windows, of figures reduced by the clock's speed alone"),
    );
    rows.statement("4.1.5", Quoted("the system is not stable in busy environments"), not_here("Windows"));
}
