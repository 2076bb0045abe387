//! Section 4.2.4: whether clients keep their place, and why not.

use super::several::several_only;
use super::{ALWAYS, all_of, module, us};
use crate::found::{Found, Rows, holds_if, judged, times, within};
use crate::grame::tables::quotient;
use crate::grame::{KERNEL_SIDE, SOCKET, WAIT_QUEUE, at_1ms, derive};
use oscost_results::{Estimate, Judgement};

/// Section 4.2.4.
pub(super) fn wait_queue(found: &Found<'_>, most: usize, rows: &mut Rows) {
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
    let loaded = Some(KERNEL_SIDE[0]).filter(|name| found.figure(&at_1ms(name, most)).is_some());
    let judged_by = loaded.unwrap_or(WAIT_QUEUE);
    let stand_in = if loaded.is_some() {
        String::new()
    } else {
        format!(
            "judged by {WAIT_QUEUE}, a plain wait queue reached from user space (ours), for the module is not here (why: 4.1.1; \
             contrib/laboratory/run module shows it); "
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
        "4.2.4",
        "The Linux kernel module implementation behaves differently than the socket implementation when several clients are running",
        several_only(enough, || {
            let (queue, socket) = (
                found.quantity(&at_1ms(judged_by, most), "reversed_share")?,
                found.quantity(&many, "reversed_share")?,
            );
            Some((
                holds_if(queue.low > socket.high),
                format!(
                    "{stand_in}the order is reversed in {:.0} % of the ticks, in {:.0} % by sockets",
                    queue.value * 100.0,
                    socket.value * 100.0
                ),
            ))
        }),
    );
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
        "4.2.4",
        "computation of the service times remains correct",
        several_only(enough, || {
            let id = at_1ms(judged_by, most);
            let (service, last) = (found.quantity(&id, "client_service")?, found.quantity(&id, "last_p50")?);
            let share = quotient(&service, &last)?;
            Some((
                within(&share, 0.8, 1.25),
                format!(
                    "{stand_in}mean + sd of the last client {}, last client of each tick {}: {}; 0.8 to 1.25 counts as correct",
                    us(&service),
                    us(&last),
                    times(&share)
                ),
            ))
        }),
    );
    rows.statement(
        "4.2.4, figure 33",
        "While the module implementation is better than the socket implementation for a single client, the difference tends to disappear \
         when the number of clients increases",
        module(found, most, |many| {
            let one = found.ratio_of(&at_1ms(KERNEL_SIDE[0], 1), &at_1ms(SOCKET, 1), "last_p50");
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
pub(super) fn split(found: &Found<'_>, id: &str) -> String {
    let tracks =
        found.figure(id).and_then(|figure| figure.launches.iter().find(|launch| !launch.tracks.is_empty()));
    let split = tracks.and_then(|launch| derive::even_odd(launch.tracks.values().next()?));
    split.map_or(String::new(), |(even, odd)| {
        format!("; client 1 has {:.1} us on even and {:.1} us on odd ticks", even / 1e3, odd / 1e3)
    })
}
