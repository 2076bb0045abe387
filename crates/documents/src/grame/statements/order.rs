//! Section 4.2.4: whether clients keep their place and their level. Of the module only the module itself decides; what a plain
//! wait queue does (ours) is shown beside it.

use super::several::several_only;
use super::{ALWAYS, NO_MODULE, module, us};
use crate::found::{Found, Judged, Quoted, Rows, judged, more, quotient, ranged, times, within};
use crate::grame::{KERNEL_SIDE, SOCKET, WAIT_QUEUE, at_1ms, derive};
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};

/// Section 4.2.4.
pub(super) fn wait_queue(found: &Found<'_>, most: usize, rows: &mut Rows) {
    let enough = most > 1;
    rows.statement(
        "4.2.4",
        Quoted(
            "The Linux kernel module implementation behaves differently than the socket implementation when several clients are running",
        ),
        of_module(found, most, |id| {
            let (queue, socket) = (turned(found, id)?, turned(found, &at_1ms(SOCKET, most))?);
            Some((
                more(&queue, &socket),
                format!(
                    "the order is reversed in {:.0} % of the ticks, in {:.0} % by sockets",
                    queue.value * 100.0,
                    socket.value * 100.0
                ),
            ))
        }),
    );
    rows.statement(
        "4.2.4, figure 31",
        Quoted("the first and last latency times switch between two different levels"),
        of_module(found, most, |id| by_order(found, id)),
    );
    rows.statement(
        "4.2.4, figure 32",
        Quoted("in the socket version (figure 32), they remains stable at a unique level"),
        several_only(enough, || level(found, &at_1ms(SOCKET, most))),
    );
    rows.statement(
        "4.2.4",
        Quoted(
            "This behavior is unexplained, it may be related to the fact that the different clients are not served each time in the same order",
        ),
        {
            let (verdict, because) = of_module(found, most, |id| by_order(found, id));
            let why = ". Ours: a wait queue takes a waiter in at its head, so whoever slept last is woken first, and the order reverses with \
                       every tick";
            (verdict, format!("{because}{why}"))
        },
    );
    rows.statement(
        "4.2.4",
        Quoted("which also prevents us to compute the next latency time"),
        of_module(found, most, |id| {
            let (by_client, by_order) = (found.quantity(id, quantity::CLIENT_NEXT)?, found.quantity(id, quantity::NEXT_P50)?);
            Some((
                more(&by_order, &by_client),
                format!(
                    "by clients it is {}, for means over a changing order lie together; by order within each tick it is {} (ours), so \
                     it can be computed",
                    us(&by_client),
                    us(&by_order)
                ),
            ))
        }),
    );
    rows.statement(
        "4.2.4",
        Quoted("computation of the service times remains correct"),
        of_module(found, most, |id| {
            let (service, last) = (found.quantity(id, quantity::CLIENT_SERVICE)?, found.quantity(id, quantity::LAST_P50)?);
            let share = quotient(&service, &last)?;
            Some((
                within(&share, 0.8, 1.25),
                format!(
                    "mean + sd of the last client {}, last client of each tick {}: {}; 0.8 to 1.25 counts as correct",
                    us(&service),
                    us(&last),
                    times(&share)
                ),
            ))
        }),
    );
    rows.statement(
        "4.2.4, figure 33",
        Quoted(
            "While the module implementation is better than the socket implementation for a single client, the difference tends to disappear \
             when the number of clients increases",
        ),
        module(found, most, |many| {
            let one = found.ratio_of(&at_1ms(KERNEL_SIDE[0], 1), &at_1ms(SOCKET, 1), quantity::LAST_P50);
            match one {
                None => judged(None),
                Some(one) => (
                    if one.high < 1.0 && many.low > one.high {
                        Judgement::Holds
                    } else if one.low > 1.0 || many.high < one.low {
                        Judgement::DoesNotHold
                    } else {
                        Judgement::Unclear
                    },
                    format!("{} of the socket for one client, {} for {most}", times(&one), times(many)),
                ),
            }
        }),
    );
}

fn turned(found: &Found<'_>, id: &str) -> Option<Estimate> {
    found.quantity(id, quantity::REVERSED_SHARE)
}

/// What the module does; without it what a wait queue reached from user space does, which decides nothing of the module.
fn of_module(found: &Found<'_>, most: usize, judge: impl Fn(&str) -> Option<Judged>) -> Judged {
    several_only(most > 1, || {
        let module = at_1ms(KERNEL_SIDE[0], most);
        if found.figure(&module).is_some() {
            return judge(&module);
        }
        let beside = judge(&at_1ms(WAIT_QUEUE, most)).map_or(String::new(), |(_, words)| {
            format!("; beside it {WAIT_QUEUE}, a plain wait queue reached from user space (ours): {words}")
        });
        Some((Judgement::NotTestableHere, format!("{NO_MODULE}{beside}")))
    })
}

/// Two levels: the order is reversed from tick to tick.
fn by_order(found: &Found<'_>, id: &str) -> Option<Judged> {
    let reversed = turned(found, id)?;
    Some((
        within(&reversed, ALWAYS, 1.0),
        format!(
            "the order is reversed in {} of the ticks{}",
            ranged(&reversed, 100.0, 0, " %"),
            split(found, id)
        ),
    ))
}

/// One level or two: the values of one session are kept, so there is no interval and no verdict.
fn level(found: &Found<'_>, id: &str) -> Option<Judged> {
    let same = found.quantity(id, quantity::SAME_ORDER_SHARE)?;
    let words = format!(
        "the order is the same in {:.0} % of the ticks, but an order is no level{}; the single values of one launch are kept, so \
         no verdict",
        same.value * 100.0,
        split(found, id)
    );
    Some((Judgement::NotJudged, words))
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
