//! Section 4.1.1 and the last note: one client under a load.

use super::{NOTICEABLE, all_of};
use crate::found::{Found, Judged, Rows, judged, times, within};
use crate::grame::settings::{Settings, loaded_id};
use crate::grame::{CONTEXT, LOADS};
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
            let lack = found.lack(&id).unwrap_or_else(|| "not measured".to_owned());
            told.push(format!("{}: {lack}", load.name()));
            continue;
        }
        verdicts.extend(ratios.iter().map(|(_, ratio)| {
            if ratio.low > 1.0 {
                Judgement::Holds
            } else if ratio.high <= 1.0 {
                Judgement::DoesNotHold
            } else {
                Judgement::NotTestableHere
            }
        }));
        let ratios: Vec<String> =
            ratios.iter().map(|(words, ratio)| format!("{words} {}", times(ratio))).collect();
        told.push(format!("{}: {}", load.name(), ratios.join(", ")));
    }
    (!verdicts.is_empty()).then(|| {
        (
            all_of(&verdicts),
            format!(
                "busy to idle within each launch, it has to be more under every load (ours: a CPU that is busy does not halt, and what wakes up there \
                 pays less); {}",
                told.join("; ")
            ),
        )
    })
}

/// Section 4.1.1 under load.
pub(super) fn busy(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    rows.statement(
        "4.1.1",
        "When the system is busy with other tasks, it also appears clearly that the latency range increases in width and medium value",
        judged(under_loads(
            found,
            settings,
            &[("width", "busy_width", "idle_width"), ("mean", "busy_mean", "idle_mean")],
        )),
    );
    rows.statement(
        "4.1.1",
        "and that the latency peaks increase in amplitude and frequency",
        judged(under_loads(
            found,
            settings,
            &[("highest", "busy_peak", "idle_peak"), ("99th percentile", "busy_p99", "idle_p99")],
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
        "the measurements are very sensitive to the system context: being connected to a samba server may significantly change the results",
        why(ratio("busy_mean", "idle_mean").zip(ratio("busy_p99", "idle_p99")).map(|(mean, p99)| {
            let changed = [&mean, &p99].map(|it| it.low > 1.0 + NOTICEABLE || it.high < 1.0 - NOTICEABLE);
            let same = [&mean, &p99].iter().all(|it| within(it, 1.0 - NOTICEABLE, 1.0 + NOTICEABLE) == Judgement::Holds);
            let verdict = match (changed.contains(&true), same) {
                (true, _) => Judgement::Holds,
                (_, true) => Judgement::DoesNotHold,
                _ => Judgement::NotTestableHere,
            };
            (verdict, format!("load {named} for a mount (ours): mean {}, 99th percentile {}, busy to idle within each launch", times(&mean), times(&p99)))
        })),
    );
    rows.statement(
        place,
        "the standard behavior remains globally constant",
        why(ratio("busy_p50", "idle_p50").map(|median| {
            (
                within(&median, 0.8, 1.25),
                format!("load {named}: median {} of idle, 0.8 to 1.25 counts as constant", times(&median)),
            )
        })),
    );
    rows.statement(
        place,
        "these changes may affect dramatically the peak latency values which may then reach 1 to several milliseconds",
        why(found.quantity(&id, "busy_peak").zip(found.quantity(&id, "idle_peak")).map(|(busy, idle)| {
            let verdict = if busy.value >= 1e6 { Judgement::Holds } else { Judgement::NotTestableHere };
            (
                verdict,
                format!(
                    "load {named}: largest {:.0} us, idle {:.0} us; one that was not seen refutes no \"may\"",
                    busy.value / 1e3,
                    idle.value / 1e3
                ),
            )
        })),
    );
}
