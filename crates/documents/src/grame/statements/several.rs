//! Sections 4.2 to 4.2.3: several clients, and what their latencies are spent for.

use super::{ALWAYS, not_here, us};
use crate::found::{Found, Judged, Ours, Quoted, Rows, judged, quotient, ranged, times, within};
use crate::grame::settings::Settings;
use crate::grame::{ALONE, HOP, SOCKET, at_1ms};
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};
use oscost_stats::peaks::frequency;

/// Sections 4.2 to 4.2.3.
pub(super) fn several(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let most = settings.most();
    let many = at_1ms(SOCKET, most);
    let enough = most > 1;
    rows.statement(
        "4.2",
        Quoted("the system behavior when several clients are running, results generally in a stack of latency ranges"),
        several_only(enough, || {
            let next = found.quantity(&many, quantity::CLIENT_NEXT)?;
            let same = found.quantity(&many, quantity::SAME_ORDER_SHARE)?;
            Some((
                within(&same, ALWAYS, 1.0),
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
        Quoted(
            "The latency time of the first client is generally spent by the server into the sending messages loop plus a context switch \
             from the server to this first client and the reading of the message",
        ),
        several_only(enough, || {
            let (first, sends) = (found.quantity(&many, quantity::FIRST_P50)?, found.quantity(&many, quantity::SERVER_LOOP)?);
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
    rows.by(&many, quantity::FIRST_P50, found.quantity(&many, quantity::FIRST_P50));
    rows.statement(
        "4.2",
        Quoted(
            "The time elapsed between 2 consecutive clients is generally spent into the election of a new thread for execution plus a \
             context switch from one client to the next and the reading of the message",
        ),
        several_only(enough, || {
            let next = found.quantity(&many, quantity::NEXT_P50)?;
            let switch = switch?;
            Some(explained(&switch, &next, &format!("switch and read {} by the price list", us(&switch))))
        }),
    );
    rows.by(&many, quantity::NEXT_P50, found.quantity(&many, quantity::NEXT_P50));
    rows.statement(
        "4.2",
        Quoted("Unless notified, the latency peaks occured according to those reported for a single client"),
        several_only(enough, || {
            let (one, ten) = (
                found.quantity(&at_1ms(SOCKET, 1), quantity::PEAKS_PER_THOUSAND)?,
                found.quantity(&many, quantity::PEAKS_PER_THOUSAND)?,
            );
            // No peak at all is few peaks. A word is certain where it is that of both ends.
            let word = |value: f64| frequency(value.max(f64::MIN_POSITIVE));
            let certain = |it: &Estimate| word(it.low) == word(it.high);
            let apart = ten.low > one.high || ten.high < one.low;
            // Most peaks are others' doing, so their number is another in each hour: five runs of one machine had 4 to 20 with 10
            // clients. Few are not told from some, and only few from many.
            let few_and_many = [word(one.value), word(ten.value)];
            let far =
                few_and_many.contains(&word(f64::MIN_POSITIVE)) && few_and_many.contains(&word(f64::MAX));
            let words = [one.value, ten.value].map(word);
            let rate = |it: Estimate| ranged(&Estimate { low: it.low.max(0.0), ..it }, 1.0, 1, "");
            Some((
                match (certain(&one) && certain(&ten), word(one.value) == word(ten.value)) {
                    (true, true) if !apart => Judgement::Holds,
                    (true, false) if apart && far => Judgement::DoesNotHold,
                    _ => Judgement::Unclear,
                },
                format!(
                    "{} peaks in a thousand ticks of one client: {}; {} of {most}: {}",
                    rate(one),
                    words[0],
                    rate(ten),
                    words[1]
                ),
            ))
        }),
    );
    for (place, words, system) in [
        (
            "4.2.1",
            Quoted(
                "Windows 2000 is faster than Linux to serve the first client but slower to switch from one client to the next",
            ),
            "Windows 2000 (its next latency, table 13, is lost too)",
        ),
        (
            "4.2.2",
            Quoted(
                "Windows 98 bad performances are confirmed with the multi-clients benchs: it takes up to 1/2 millisecond to serve 10 \
                 concurrent clients",
            ),
            "Windows 98",
        ),
        (
            "4.2.3",
            Quoted("Darwin sockets bad performances are widely confirmed when several clients are running"),
            "Darwin",
        ),
        (
            "4.2.3",
            Quoted(
                "the standard deviation of the last client increases significantly for Darwin sockets and Mach messages when the \
                 clients count increases",
            ),
            "Darwin and Mach",
        ),
    ] {
        rows.statement(place, words, not_here(system));
    }
    rows.statement(
        "4.2.3, figure 30, the other half (ours)",
        Ours("for Linux sockets the standard deviation of the last client does not increase significantly with the clients count"),
        several_only(enough, || {
            // Divided by itself it would hold whatever it is.
            if settings.clients.len() < 2 {
                let one = "one number of clients has no growth: give clients= several";
                return Some((Judgement::NotTestableHere, one.to_owned()));
            }
            let sds: Option<Vec<Estimate>> = settings
                .clients
                .iter()
                .map(|&clients| found.quantity(&at_1ms(SOCKET, clients), quantity::CLIENT_LAST_SD))
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

pub(super) fn several_only(enough: bool, judge: impl FnOnce() -> Option<Judged>) -> Judged {
    if enough {
        judged(judge())
    } else {
        (Judgement::NotTestableHere, "one client has no next: give clients= several".to_owned())
    }
}

/// A switch on one CPU and the read after it, by the price list: a hop by a pipe without its write, which is taken as half
/// of a write and a read without a switch.
pub(super) fn switch_and_read(found: &Found<'_>) -> Option<Estimate> {
    let (hop, alone) = (found.floor(HOP)?, found.floor(ALONE)?);
    Some(Estimate {
        value: hop.value - alone.value / 2.0,
        low: hop.low - alone.high / 2.0,
        high: hop.high - alone.low / 2.0,
        extremes: hop.extremes || alone.extremes,
    })
}

pub(super) fn sum(one: &Estimate, other: &Estimate) -> Estimate {
    Estimate {
        value: one.value + other.value,
        low: one.low + other.low,
        high: one.high + other.high,
        extremes: one.extremes || other.extremes,
    }
}

/// Shown, and not judged: the price list has a hop by a pipe, and what the clients read are datagrams.
fn explained(predicted: &Estimate, observed: &Estimate, how: &str) -> Judged {
    let Some(share) = quotient(predicted, observed) else { return judged(None) };
    (
        Judgement::NotJudged,
        format!(
            "predicted {}: {how}; observed {}: {} of it. No verdict: the hop is that of a pipe and warm, the \
             clients read datagrams, cold",
            us(predicted),
            us(observed),
            ranged(&share, 100.0, 0, " %")
        ),
    )
}
