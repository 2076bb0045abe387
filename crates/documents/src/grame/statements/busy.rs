//! Section 4.1.1 and the last note: one client under a load.

use super::NOTICEABLE;
use crate::found::{Found, Judged, Quoted, Rows, judged, of_parts, times, within};
use crate::grame::settings::{Settings, loaded_id};
use crate::grame::{CONTEXT, LOADS};
use oscost_results::quantity;
use oscost_results::{Estimate, Judgement};

/// What is the case under every load that could be measured.
fn under_loads(found: &Found<'_>, settings: &Settings, pairs: &[(&str, &str, &str)]) -> Option<Judged> {
    let (mut verdicts, mut told) = (Vec::new(), Vec::new());
    for load in LOADS {
        let id = loaded_id(load, settings);
        let ratios: Vec<(&str, Estimate)> = pairs
            .iter()
            .filter_map(|(words, busy, idle)| Some((*words, found.within_launches(&id, busy, idle)?)))
            .collect();
        if ratios.is_empty() {
            told.push(format!("{}: not measured", load.name()));
            continue;
        }
        verdicts.extend(ratios.iter().map(|(_, ratio)| within(ratio, 1.0, f64::MAX)));
        let ratios: Vec<String> =
            ratios.iter().map(|(words, ratio)| format!("{words} {}", times(ratio))).collect();
        told.push(format!("{}: {}", load.name(), ratios.join(", ")));
    }
    (!verdicts.is_empty()).then(|| {
        (
            of_parts(&verdicts),
            format!(
                "busy to idle within each launch: {}; if only some loads or only one of the two increase, it holds in part (ours: a CPU \
                 that is busy does not halt, and what wakes up there pays less)",
                told.join("; ")
            ),
        )
    })
}

/// Section 4.1.1 under load.
pub(super) fn busy(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    rows.statement(
        "4.1.1",
        Quoted("the latency range increases in width and medium value"),
        judged(under_loads(
            found,
            settings,
            &[
                ("width", quantity::BUSY_WIDTH, quantity::IDLE_WIDTH),
                ("mean", quantity::BUSY_MEAN, quantity::IDLE_MEAN),
            ],
        )),
    );
    rows.statement(
        "4.1.1",
        Quoted("the latency peaks increase in amplitude and frequency"),
        judged(under_loads(
            found,
            settings,
            &[
                ("highest", quantity::BUSY_PEAK, quantity::IDLE_PEAK),
                (
                    "99th percentile, which more or higher peaks raise,",
                    quantity::BUSY_P99,
                    quantity::IDLE_P99,
                ),
            ],
        )),
    );
}

/// The note behind section 5.
pub(super) fn context(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let id = loaded_id(CONTEXT, settings);
    let place = "Note about the selected results";
    let named = CONTEXT.name();
    let ratio = |of: &str, to: &str| found.within_launches(&id, of, to);
    let why = |judged_here: Option<Judged>| match found.lack(&id) {
        Some(lack) => (Judgement::NotTestableHere, lack),
        None => judged(judged_here),
    };
    rows.statement(
        place,
        Quoted("being connected to a samba server while running the benchmark may significantly change the results"),
        why(ratio(quantity::BUSY_MEAN, quantity::IDLE_MEAN).zip(ratio(quantity::BUSY_P99, quantity::IDLE_P99)).map(|(mean, p99)| {
            let changed = [&mean, &p99].map(|it| it.low > 1.0 + NOTICEABLE || it.high < 1.0 - NOTICEABLE);
            let same = [&mean, &p99].iter().all(|it| within(it, 1.0 - NOTICEABLE, 1.0 + NOTICEABLE) == Judgement::Holds);
            let verdict = match (changed.contains(&true), same) {
                (true, _) => Judgement::Holds,
                (_, true) => Judgement::DoesNotHold,
                _ => Judgement::Unclear,
            };
            (verdict, format!("load {named} for a mount (ours): mean {}, 99th percentile {}, busy to idle within each launch", times(&mean), times(&p99)))
        })),
    );
    rows.statement(
        place,
        Quoted("the standard behavior remains globally constant"),
        why(ratio(quantity::BUSY_P50, quantity::IDLE_P50).map(|median| {
            (
                within(&median, 0.8, 1.25),
                format!(
                    "load {named} for a mount (ours): median {} of idle, 0.8 to 1.25 counts as constant",
                    times(&median)
                ),
            )
        })),
    );
    rows.statement(
        place,
        Quoted("these changes may affect dramatically the peak latency values which may then reach 1 to several milliseconds"),
        why(peaks(found, &id).map(|[busy, idle, change]| {
            // One is enough for what may be, but where the idle part has them too, nothing was affected.
            let seen = busy.value >= 1e6 && change.low > 1.0 + NOTICEABLE;
            (
                if seen { Judgement::Holds } else { Judgement::Unclear },
                format!(
                    "load {named} for a mount (ours): largest {:.0} us, idle {:.0} us, {} within each launch; a peak that was \
                     not seen does not refute a \"may\"",
                    busy.value / 1e3,
                    idle.value / 1e3,
                    times(&change)
                ),
            )
        })),
    );
}

/// The highest peaks of all launches under the load and without it, and how many times as high within each launch.
fn peaks(found: &Found<'_>, id: &str) -> Option<[Estimate; 3]> {
    let [busy, idle] = [quantity::BUSY_PEAK, quantity::IDLE_PEAK];
    Some([found.quantity(id, busy)?, found.quantity(id, idle)?, found.within_launches(id, busy, idle)?])
}
