//! The record database: what an operation costs without locking, with coarse and with fine locks, over processes.

use oscost_results::quantity;
use oscost_results::{Estimate, Figure, Parameter};
use oscost_stats::sorting::SmallSort;

use crate::blocks::axis::Axis;
use crate::blocks::plot::{Chart, Curve, Curves, Names, Plot, Point};
use crate::blocks::{Part, Table, View};
use crate::numbers;
use crate::view::story::Story;
use crate::words::{capital, distinct};

/// A measured cell.
struct DatabaseCell<'a> {
    figure: &'a Figure,
    /// Layout, way to the bytes, records and workload.
    store: String,
    /// "none", "coarse", "fine", "mandatory".
    locking: &'a str,
    /// What locks ("fcntl").
    primitive: Option<&'a str>,
    processes: u32,
}

impl DatabaseCell<'_> {
    /// In words ("none", "coarse fcntl").
    fn lock(&self) -> String {
        let primitive = self.primitive.map_or(String::new(), |primitive| format!(" {}", words(primitive)));
        format!("{}{primitive}", self.locking)
    }

    fn time(&self) -> Option<Estimate> {
        let estimate = self.figure.quantities.get(quantity::TIME_PER_OPERATION)?.estimate;
        (estimate.value > 0.0 && estimate.value.is_finite()).then_some(estimate)
    }
}

fn cell(figure: &Figure) -> Option<DatabaseCell<'_>> {
    if figure.family != "record_database" {
        return None;
    }
    let text = |name| figure.parameter(name).and_then(Parameter::text);
    let (locking, nrec) = (text("locking")?, figure.parameter("nrec")?);
    let mut store = format!("{}, {}, nrec_{nrec}", text("layout")?, text("access")?);
    store.extend(text("workload").map(|workload| format!(", workload_{workload}")));
    let processes = u32::try_from(figure.parameter("processes")?.number()?).ok()?;
    Some(DatabaseCell { figure, store, locking, primitive: text("primitive"), processes })
}

/// The view of all cells of a result.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let cells: Vec<DatabaseCell<'_>> = story.measured().filter_map(cell).collect();
    let stores: Vec<&str> = distinct(cells.iter().map(|cell| &*cell.store));
    let plots = stores.iter().filter_map(|store| {
        let here: Vec<&DatabaseCell<'_>> = cells.iter().filter(|cell| cell.store == *store).collect();
        plot(story, store, &here)
    });
    let mut parts: Vec<Part> = plots.map(Part::from).collect();
    if parts.is_empty() {
        return None;
    }
    parts.push(Part::Words(
        "Time is wall time divided by the operations of all processes. CPU and lock waiting are sums over processes.".to_owned(),
    ));
    parts.push(Part::Table(table(story, &cells, &QUANTITIES)));
    let latencies = table(story, &cells, &LATENCIES);
    // Older results have none.
    if latencies.rows.iter().any(|row| row.iter().skip(1).any(|cell| !cell.text.is_empty())) {
        parts.push(Part::Words(
            "Latency of each kind of operation, median and 99th percentile, in a run with a clock around each:"
                .to_owned(),
        ));
        parts.push(Part::Table(latencies));
    }
    let covers = cells.iter().map(|cell| cell.figure.id.clone()).collect();
    Some(View { title: "RECORD DATABASE".to_owned(), covers, parts })
}

/// A quantity with its unit; empty where there is none.
fn value(story: &Story<'_>, cell: &DatabaseCell<'_>, name: &str) -> String {
    let quantity = cell.figure.quantities.get(name);
    quantity.map_or(String::new(), |it| numbers::quantity(it.estimate.value, &story.plain(&it.unit)))
}

/// A line a cell, a column a quantity.
fn table(story: &Story<'_>, cells: &[DatabaseCell<'_>], quantities: &[(&str, &str)]) -> Table {
    let row = |cell: &DatabaseCell<'_>| {
        let name = format!("{}: {}, {}", cell.store, cell.lock(), cell.processes);
        let cells = quantities.iter().map(|(name, _)| value(story, cell, name));
        std::iter::once(story.words(&name)).chain(cells).collect()
    };
    let heads = std::iter::once("store: locks, processes").chain(quantities.iter().map(|(_, head)| *head));
    Table::new(heads, cells.iter().map(row))
}

/// What locks cost one process, and what fine ones gain with the most processes, in paired ratios.
fn finding(story: &Story<'_>, cells: &[&DatabaseCell<'_>]) -> String {
    let ratio = |of: &DatabaseCell<'_>, to: &DatabaseCell<'_>| {
        let found = story.result.ratios.iter().find(|ratio| {
            ratio.of == of.figure.id
                && ratio.to == to.figure.id
                && ratio.quantity == quantity::TIME_PER_OPERATION
        })?;
        Some(numbers::ratio(found.value?, None))
    };
    let mut told = Vec::new();
    let alone = cells.iter().find(|cell| cell.locking == "none" && cell.processes == 1);
    if let Some(none) = alone {
        let with_locks = cells.iter().filter(|cell| cell.locking != "none" && cell.processes == 1);
        let costs: Vec<String> = with_locks
            .filter_map(|cell| Some(format!("{} with {}", ratio(cell, none)?, cell.lock())))
            .collect();
        if !costs.is_empty() {
            told.push(format!("against no locking one process takes {}", costs.join(", ")));
        }
    }
    let most = cells.iter().map(|cell| cell.processes).max().unwrap_or(1);
    let crowd = || cells.iter().filter(|cell| cell.processes == most && most > 1);
    for fine in crowd().filter(|cell| cell.locking == "fine") {
        let coarse = crowd().find(|cell| (cell.locking, cell.primitive) == ("coarse", fine.primitive));
        if let Some(ratio) = coarse.and_then(|coarse| ratio(fine, coarse)) {
            told.push(format!("{most} processes take {ratio} with {} against coarse", fine.lock()));
        }
    }
    if told.is_empty() {
        return "There is no figure to compare the cost of locks with".to_owned();
    }
    capital(&told.join("; "))
}

/// The dearest operation.
fn slowest(cells: &[&DatabaseCell<'_>]) -> String {
    let times = cells.iter().filter_map(|cell| Some((cell, cell.time()?.value)));
    times.max_by(|one, other| one.1.total_cmp(&other.1)).map_or(String::new(), |(cell, time)| {
        format!(
            "The dearest operation is {}, {} with {}.",
            numbers::duration(time),
            cell.lock(),
            crate::words::counted(cell.processes as usize, "process", "processes")
        )
    })
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn plot(story: &Story<'_>, store: &str, cells: &[&DatabaseCell<'_>]) -> Option<Plot> {
    let processes = numbers::ascending(cells.iter().map(|cell| f64::from(cell.processes)));
    let locks = distinct(cells.iter().map(|cell| cell.lock()));
    let times = cells.iter().filter_map(|cell| cell.time()).flat_map(|time| [time.low, time.high]);
    let curves = locks.iter().map(|lock| {
        let mut points: Vec<Point> = cells
            .iter()
            .filter(|cell| cell.lock() == *lock)
            .filter_map(|cell| Some((f64::from(cell.processes), cell.time()?)))
            .map(|(x, time)| Point { x, y: [time.low, time.value, time.high] })
            .collect();
        points.small_sort_by(|one, other| one.x.total_cmp(&other.x));
        // The grain of the locks has the hue, whatever they are made of.
        let grain = cells.iter().find(|cell| cell.lock() == *lock).map(|cell| cell.locking.to_owned());
        Curve { kind: grain.unwrap_or_default(), ..Curve::of_dots(story.words(lock), points) }
    });
    let row = |cell: &&DatabaseCell<'_>| {
        let mut row = vec![story.words(&cell.lock()), cell.processes.to_string()];
        row.extend(QUANTITIES.map(|(name, _)| value(story, cell, name)));
        row
    };
    let heads = ["locks", "processes"].into_iter().chain(QUANTITIES.map(|(_, head)| head));
    Some(Plot {
        about: story.words(store),
        note: story.plain(&slowest(cells)),
        ..Plot::of(
            story.plain(&finding(story, cells)),
            Chart::Curves(Curves {
                x: Axis::even("processes", "count", &processes),
                y: Axis::fitting("time an operation, of all processes together", "ns", 20.0, times)?,
                curves: curves.collect(),
                rules: Vec::new(),
                names: Names::Locks,
            }),
            Table::new(heads, cells.iter().map(row)),
        )
    })
}

/// Quantities of the table, each an operation, and their headings.
const QUANTITIES: [(&str, &str); 6] = [
    (quantity::TIME_PER_OPERATION, "time"),
    (quantity::CPU_PER_OPERATION, "CPU"),
    (quantity::LOCK_WAIT_PER_OPERATION, "lock wait"),
    (quantity::SWITCHES_PER_OPERATION, "switches"),
    (quantity::IO_CALLS_PER_OPERATION, "I/O calls"),
    (quantity::LOCK_CALLS_PER_OPERATION, "lock calls"),
];
/// Quantities of the table of latencies.
const LATENCIES: [(&str, &str); 8] = [
    (quantity::FETCH_P50, "fetch p50"),
    (quantity::FETCH_P99, "p99"),
    (quantity::INSERT_P50, "insert p50"),
    (quantity::INSERT_P99, "p99"),
    (quantity::REPLACE_P50, "replace p50"),
    (quantity::REPLACE_P99, "p99"),
    (quantity::DELETE_P50, "delete p50"),
    (quantity::DELETE_P99, "p99"),
];
