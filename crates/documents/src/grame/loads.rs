//! One client under each load, as tables: quantiles, and the document's mean and standard deviation beside them.

use oscost_results::quantity;

use super::settings::{Settings, loaded_id};
use super::tables::{answer, latency_us};
use super::{LOADS, shown_loaded};
use crate::found::{Found, Rows, Value};

/// A row, what answers it of the document's own session, and of the family's.
type Row = (&'static str, &'static str, &'static str);

/// Figures 4 to 22 but those that are idle: each load by itself.
pub(super) fn tell(found: &Found<'_>, settings: &Settings, rows: &mut Rows) {
    let tables: [(&str, &[Row]); 2] = [
        (
            "Figures 4 to 6, 8 to 10, 12 to 14, 16 to 18, 20 to 22: one client by sockets under each load, idle and busy parts of one \
             session",
            &[
                ("idle 50 %", quantity::IDLE_P50, quantity::IDLE_P50),
                ("busy 50 %", quantity::LATENCY_P50, quantity::BUSY_P50),
                ("idle 99 %", quantity::IDLE_P99, quantity::IDLE_P99),
                ("busy 99 %", quantity::LATENCY_P99, quantity::BUSY_P99),
                ("idle peak", quantity::IDLE_MAX, quantity::IDLE_PEAK),
                ("busy peak", quantity::LATENCY_MAX, quantity::BUSY_PEAK),
            ],
        ),
        (
            "The same as the document has it: means, widths of 2 sd, mean - sd to mean + sd of the worst second, peaks in 1000",
            &[
                ("idle mean", quantity::IDLE_MEAN, quantity::IDLE_MEAN),
                ("busy mean", quantity::LATENCY_MEAN, quantity::BUSY_MEAN),
                ("idle width", quantity::IDLE_WIDTH, quantity::IDLE_WIDTH),
                ("busy width", quantity::LATENCY_WIDTH, quantity::BUSY_WIDTH),
                ("mean - sd", quantity::SECOND_LOW, quantity::BUSY_RANGE_LOW),
                ("mean + sd", quantity::SECOND_HIGH, quantity::BUSY_RANGE_HIGH),
                ("idle peaks", quantity::IDLE_PEAKS_PER_THOUSAND, ""),
                ("busy peaks", quantity::PEAKS_PER_THOUSAND, ""),
            ],
        ),
    ];
    for (number, (table, quantities)) in tables.into_iter().enumerate() {
        for load in LOADS {
            let (session, figure) = (shown_loaded(found, settings, load), loaded_id(load, settings));
            let column = load.name();
            if found.figure(&session).is_none() && found.figure(&figure).is_none() {
                let short = "not measured by the document's method: its sessions are too short for a load";
                let lack = found.lack(&session).or_else(|| found.lack(&figure));
                let lack = lack.or_else(|| (!settings.has_time_for_loads()).then(|| short.to_owned()));
                if let (0, Some(lack)) = (number, lack) {
                    rows.note(load.name(), lack);
                }
                continue;
            }
            for &(row, literal, measured) in quantities {
                let literal = found.literal(&session, literal);
                let (unit, literal) = match measured {
                    "" => ("count", literal),
                    _ => ("us", literal.map(latency_us)),
                };
                rows.value(Value {
                    literal,
                    answer: answer(found, figure.clone(), measured),
                    ..Value::in_table(table, row, column, unit)
                });
            }
        }
    }
    rows.note(
        "loads",
        "transfer is figures 4, 8, 12, 16, 20; start_program 5, 9, 13, 17, 21; window 6, 10, 14, 18, 22; on from the 3rd to the 8th second of a literal session of 11 (in proportion), again and again; of a session at 1 ms \
         half of its ticks. Mean - sd is at least 0. What is started, sent and moved stands with the figures (oscost report)",
    );
}
