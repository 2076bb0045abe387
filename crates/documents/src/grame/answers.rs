//! What document 002 asks: one message to one client, each further client, all of them, and the worst under a load.

use oscost_results::{Answer, PublishedAnswer, quantity};
use oscost_stats::sorting::SmallSort;

use super::published::{NEXT, NEXT_STATION, SINGLE, System, SystemKind};
use super::settings::Settings;
use super::shape::TICK_NS;
use super::tables::counted;
use super::{DOCUMENT, LOADS, SOCKET, at_1ms, shown_loaded, shown_session};
use crate::answer::{asked, duration, literal};
use crate::found::Found;

/// The questions, the one that the document is about first. What answers the others is our copy of its program, at its own tick.
pub(super) fn answers(found: &Found<'_>, settings: &Settings) -> Vec<Answer> {
    let most = settings.most();
    let us = |id: &str, quantity: &str| found.literal(id, quantity).filter(|ns| *ns > 0.0).map(|ns| ns / 1e3);
    let one = |quantity: &str| us(&shown_session(found, settings, 1), quantity);
    let all = |quantity: &str| us(&shown_session(found, settings, most), quantity);
    let under_load =
        LOADS.into_iter().filter_map(|load| us(&shown_loaded(found, settings, load), quantity::LATENCY_MAX));
    let asked = |key: &str, question: String| asked(DOCUMENT.founding.name, key, question, "us");
    let mut answers: Vec<Answer> = super::in_time::answered(found, settings).into_iter().collect();
    answers.extend([
        Answer {
            published: of_sockets(|system| system.mean),
            here: literal(one(quantity::LATENCY_MEAN)),
            finding: "a message takes {here} here, {there} in 2001".to_owned(),
            why: sooner(found, settings),
            ..asked("mean", "one message to one client".to_owned())
        },
        Answer {
            published: of_sockets(|system| system.width),
            here: literal(one(quantity::LATENCY_WIDTH)),
            ..asked("width", "spread of that latency, 2 standard deviations".to_owned())
        },
    ]);
    if most > 1 {
        let sockets = NEXT.iter().filter(|(.., kind)| *kind == SystemKind::Socket);
        let published = |(_, value, _): &(&str, f64, SystemKind)| PublishedAnswer {
            value: *value,
            station: NEXT_STATION.to_owned(),
        };
        answers.push(Answer {
            published: sockets.map(published).collect(),
            here: literal(all(quantity::CLIENT_NEXT)),
            ..asked("next", format!("from one client to the next, of {most}"))
        });
    }
    let alone = one(quantity::CLIENT_SERVICE).filter(|_| most > 1);
    answers.push(Answer {
        here: literal(all(quantity::CLIENT_SERVICE)),
        remark: alone.map_or(String::new(), |us| {
            format!("Here, one client by the same measure: {}", duration(us * 1e-6))
        }),
        ..asked("service", format!("until all {} have it, usually (mean + 1 sd)", counted(most)))
    });
    answers.push(Answer {
        published: of_sockets(|system| system.busy_peak),
        here: literal(under_load.reduce(f64::max)),
        ..asked("busy_peak", "longest latency of one client under any load".to_owned())
    });
    answers
}

/// What the document printed of its sockets, the least first, each station once.
fn of_sockets(number: fn(&System) -> f64) -> Vec<PublishedAnswer> {
    let mut all: Vec<PublishedAnswer> = Vec::new();
    for single in &SINGLE {
        let sockets = single.systems.iter().filter(|system| system.kind == SystemKind::Socket);
        for system in sockets {
            let one = PublishedAnswer { value: number(system), station: single.name.to_owned() };
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    all.small_sort_by(|one, other| one.value.total_cmp(&other.value));
    all
}

/// What the same message takes by oscost's own session at 1 ms; empty without one.
fn sooner(found: &Found<'_>, settings: &Settings) -> String {
    let as_there = if settings.tick_ns == TICK_NS { ", as the document did" } else { "" };
    found.quantity(&at_1ms(SOCKET, 1), quantity::LAST_P50).map_or(String::new(), |it| {
        format!(
            "the copy sends every {}{as_there}; sent every 1 ms, a message takes {} (oscost's own session)",
            settings.tick(),
            duration(it.value * 1e-9)
        )
    })
}
