//! What a session with a load says besides: its idle and its busy part beside each other, as document 002 has them, and when
//! the load was on. docs/method/families.md.

use oscost_harness::quantity;
use oscost_harness::{CallError, OverLaunches, QuantityCard, Sink};
use oscost_stats::peaks::{moments, worst_stretch};
use oscost_stats::quantile::{quantile, sorted};

use super::load::Busy;
use super::shape::Shape;
use super::table::Table;
use super::tell::{counted, difference, is_kept, track};

/// Quantities of a session with a load, besides those of every session, which are of its busy part then.
pub const QUANTITIES: &[QuantityCard] = &[
    QuantityCard::of(quantity::IDLE_MEAN),
    QuantityCard::of(quantity::IDLE_WIDTH),
    QuantityCard::of(quantity::IDLE_P50),
    QuantityCard::of(quantity::IDLE_P99),
    QuantityCard::of(quantity::IDLE_RANGE_LOW),
    QuantityCard::of(quantity::IDLE_RANGE_HIGH),
    QuantityCard::of(quantity::IDLE_PEAK).over(OverLaunches::Max),
    QuantityCard::of(quantity::BUSY_MEAN),
    QuantityCard::of(quantity::BUSY_WIDTH),
    QuantityCard::of(quantity::BUSY_P50),
    QuantityCard::of(quantity::BUSY_P99),
    QuantityCard::of(quantity::BUSY_RANGE_LOW),
    QuantityCard::of(quantity::BUSY_RANGE_HIGH),
    QuantityCard::of(quantity::BUSY_PEAK).over(OverLaunches::Max),
    QuantityCard::of(quantity::RANGE_WINDOW),
    QuantityCard::of(quantity::LOAD_TIME),
    QuantityCard::of(quantity::LOAD_ROUNDS),
];

/// The stretch of time whose range is told: document 002's figures have a second and more.
const WINDOW_NS: u64 = 1_000_000_000;

/// Name of the track that marks the load: for each track in their order the first value under it and the first after it.
pub const MARKS: &str = "load";

/// A part of the session.
#[derive(Default)]
struct Part {
    /// Latencies by client, in stretches that nothing interrupts.
    stretches: Vec<Vec<f64>>,
}

/// The quantities of a part.
const NAMES: [[&str; 7]; 2] = [
    [
        quantity::IDLE_MEAN,
        quantity::IDLE_WIDTH,
        quantity::IDLE_P50,
        quantity::IDLE_P99,
        quantity::IDLE_RANGE_LOW,
        quantity::IDLE_RANGE_HIGH,
        quantity::IDLE_PEAK,
    ],
    [
        quantity::BUSY_MEAN,
        quantity::BUSY_WIDTH,
        quantity::BUSY_P50,
        quantity::BUSY_P99,
        quantity::BUSY_RANGE_LOW,
        quantity::BUSY_RANGE_HIGH,
        quantity::BUSY_PEAK,
    ],
];

/// Tells both parts, and the tracks of the whole session with its marks.
///
/// # Errors
/// Words where a load left nothing to be told on one side of it.
pub fn tell(
    table: &Table,
    discarded: usize,
    shape: &Shape,
    busy: &Busy,
    sink: &mut dyn Sink,
) -> Result<(), CallError> {
    let (mut idle_part, mut busy_part) = (Part::default(), Part::default());
    let mut marks = Vec::new();
    for client in 0..table.clients() {
        let mut values = Vec::new();
        let mut stretches: [Vec<f64>; 3] = Default::default();
        for tick in counted(table, discarded) {
            let Some(received) = table.received(client, tick) else { continue };
            let [due, stamp, _] = table.tick(tick);
            let latency = difference(received, stamp);
            values.push(latency);
            stretches[busy.side(due)].push(latency);
        }
        let [before, under, after] = stretches;
        if is_kept(client, table.clients()) {
            marks.extend([before.len() as f64, (before.len() + under.len()) as f64]);
        }
        sink.track(track(client), values, is_kept(client, table.clients()));
        busy_part.stretches.push(under);
        idle_part.stretches.extend([before, after]);
    }
    sink.track(MARKS.to_owned(), marks, true);
    let lasted = busy.end_ns - busy.start_ns;
    // With a part that is shorter than the stretch there would be one to look at, or none.
    let window_ns = WINDOW_NS.min(lasted * 2 / 3);
    let window = usize::try_from(window_ns / shape.tick_ns).unwrap_or(usize::MAX).max(2);
    for (part, names) in [idle_part, busy_part].iter().zip(&NAMES) {
        part.tell(window, names, sink)
            .ok_or(CallError::told("no tick remains before the load, or none under it"))?;
    }
    sink.quantity(quantity::RANGE_WINDOW, window as f64 * shape.tick_ns as f64);
    sink.quantity(quantity::LOAD_TIME, lasted as f64);
    sink.quantity(quantity::LOAD_ROUNDS, busy.rounds as f64);
    Ok(())
}

impl Part {
    fn tell(&self, window: usize, names: &[&'static str; 7], sink: &mut dyn Sink) -> Option<()> {
        let all: Vec<f64> = self.stretches.iter().flatten().copied().collect();
        let (mean, deviation) = moments(&all)?;
        let ordered = sorted(all);
        // A stretch that is shorter than the window is looked at as a whole where there is no longer one.
        let worst = |least: usize| {
            let long = self.stretches.iter().filter(|stretch| stretch.len() >= least.max(1));
            long.filter_map(|stretch| worst_stretch(stretch, window.min(stretch.len())))
                .max_by(|one, other| (one.0 + one.1).total_cmp(&(other.0 + other.1)))
        };
        let (middle, spread) = worst(window).or_else(|| worst(1))?;
        let values = [
            mean,
            2.0 * deviation,
            quantile(&ordered, 0.5)?,
            quantile(&ordered, 0.99)?,
            // No latency is below zero, however wide they scatter.
            (middle - spread).max(0.0),
            middle + spread,
            *ordered.last()?,
        ];
        names.iter().zip(values).for_each(|(name, value)| sink.quantity(name, value));
        Some(())
    }
}
