//! The record database: what an operation costs without locking, with coarse and with fine locks, over processes.

use oscost_results::{Estimate, Figure, Status};

use crate::axis::Axis;
use crate::numbers;
use crate::plot::{Chart, Curve, Curves, Plot, Point};
use crate::story::Story;
use crate::view::{Part, Table, View};

/// A measured cell.
struct Cell<'a> {
    figure: &'a Figure,
    /// Layout, way to the bytes, and whatever else its id says.
    store: String,
    /// "none", "coarse_fcntl".
    lock: &'a str,
    processes: u32,
}

impl Cell<'_> {
    fn time(&self) -> Option<Estimate> {
        let estimate = self.figure.quantities.get("time_per_operation")?.estimate;
        (estimate.value > 0.0 && estimate.value.is_finite()).then_some(estimate)
    }
}

fn cell(figure: &Figure) -> Option<Cell<'_>> {
    let mut parts = figure.id.strip_prefix("record_database/")?.split('/');
    let (layout, access, lock) = (parts.next()?, parts.next()?, parts.next()?);
    let processes = parts.next()?.strip_prefix("processes_")?.parse().ok()?;
    let store = [layout, access].into_iter().chain(parts).collect::<Vec<_>>().join(", ");
    Some(Cell { figure, store, lock, processes })
}

/// The view of all cells of a result.
pub(crate) fn view(story: &Story<'_>) -> Option<View> {
    let measured = story.result.figures.iter().filter(|figure| figure.status == Status::Measured);
    let cells: Vec<Cell<'_>> = measured.filter_map(cell).collect();
    let mut stores: Vec<&str> = Vec::new();
    for cell in &cells {
        if !stores.contains(&&*cell.store) {
            stores.push(&cell.store);
        }
    }
    let plots = stores.iter().filter_map(|store| {
        let here: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.store == *store).collect();
        plot(story, store, &here)
    });
    let mut parts: Vec<Part> = plots.map(|plot| Part::Plot(Box::new(plot))).collect();
    if parts.is_empty() {
        return None;
    }
    parts.push(Part::Words(
        "An operation of all processes together; their CPU and their waiting for locks are sums.".to_owned(),
    ));
    parts.push(Part::Table(table(story, &cells, &QUANTITIES)));
    let latencies = table(story, &cells, &LATENCIES);
    // Older results have none.
    if latencies.rows.iter().any(|row| row.iter().skip(1).any(|cell| !cell.is_empty())) {
        parts.push(Part::Words(
            "Latency of each kind of operation, median and 99th percentile, in a run with a clock around each:"
                .to_owned(),
        ));
        parts.push(Part::Table(latencies));
    }
    let covers = cells.iter().map(|cell| cell.figure.id.clone()).collect();
    Some(View { title: "RECORD DATABASE".to_owned(), covers, parts })
}

/// A line a cell, a column a quantity.
fn table(story: &Story<'_>, cells: &[Cell<'_>], quantities: &[(&str, &str)]) -> Table {
    let value = |cell: &Cell<'_>, name: &str| {
        let quantity = cell.figure.quantities.get(name);
        quantity.map_or(String::new(), |it| numbers::quantity(it.estimate.value, &story.plain(&it.unit)))
    };
    let row = |cell: &Cell<'_>| {
        let name = format!("{}: {}, {}", cell.store, words(cell.lock), cell.processes);
        let cells = quantities.iter().map(|(name, _)| value(cell, name));
        std::iter::once(story.words(&name)).chain(cells).collect()
    };
    let heads = std::iter::once("store: locks, processes").chain(quantities.iter().map(|(_, head)| *head));
    Table { heads: heads.map(str::to_owned).collect(), rows: cells.iter().map(row).collect() }
}

/// What locks cost one process, and what fine ones gain with the most processes, in paired ratios.
fn finding(story: &Story<'_>, cells: &[&Cell<'_>]) -> String {
    let ratio = |of: &Cell<'_>, to: &Cell<'_>| {
        let found = story.result.ratios.iter().find(|ratio| {
            ratio.of == of.figure.id && ratio.to == to.figure.id && ratio.quantity == "time_per_operation"
        })?;
        Some(numbers::ratio(found.value?, None))
    };
    let mut told = Vec::new();
    let alone = cells.iter().find(|cell| cell.lock == "none" && cell.processes == 1);
    if let Some(none) = alone {
        let with_locks = cells.iter().filter(|cell| cell.lock != "none" && cell.processes == 1);
        let costs: Vec<String> = with_locks
            .filter_map(|cell| Some(format!("{} with {}", ratio(cell, none)?, words(cell.lock))))
            .collect();
        if !costs.is_empty() {
            told.push(format!("against no locking one process takes {}", costs.join(", ")));
        }
    }
    let most = cells.iter().map(|cell| cell.processes).max().unwrap_or(1);
    let crowd = || cells.iter().filter(|cell| cell.processes == most && most > 1);
    for fine in crowd().filter(|cell| cell.lock.starts_with("fine")) {
        let coarse = crowd().find(|cell| cell.lock.strip_prefix("coarse") == fine.lock.strip_prefix("fine"));
        if let Some(ratio) = coarse.and_then(|coarse| ratio(fine, coarse)) {
            told.push(format!("{most} processes take {ratio} with {} against coarse", words(fine.lock)));
        }
    }
    if told.is_empty() {
        return "What locks cost has no partner to be told against here".to_owned();
    }
    sentence(&told.join("; "))
}

/// Begins with a capital.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The dearest operation.
fn slowest(cells: &[&Cell<'_>]) -> String {
    let times = cells.iter().filter_map(|cell| Some((cell, cell.time()?.value)));
    times.max_by(|one, other| one.1.total_cmp(&other.1)).map_or(String::new(), |(cell, time)| {
        format!(
            "The dearest operation is {}, {} with {}.",
            numbers::duration(time),
            words(cell.lock),
            crate::words::counted(cell.processes as usize, "process", "processes")
        )
    })
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn plot(story: &Story<'_>, store: &str, cells: &[&Cell<'_>]) -> Option<Plot> {
    let mut processes: Vec<f64> = cells.iter().map(|cell| f64::from(cell.processes)).collect();
    processes.sort_by(f64::total_cmp);
    processes.dedup();
    let mut locks: Vec<&str> = Vec::new();
    for cell in cells {
        if !locks.contains(&cell.lock) {
            locks.push(cell.lock);
        }
    }
    let times = cells.iter().filter_map(|cell| cell.time()).flat_map(|time| [time.low, time.high]);
    let curves = locks.iter().map(|lock| {
        let mut points: Vec<Point> = cells
            .iter()
            .filter(|cell| cell.lock == *lock)
            .filter_map(|cell| Some((f64::from(cell.processes), cell.time()?)))
            .map(|(x, time)| Point { x, y: [time.low, time.value, time.high] })
            .collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Curve { name: story.words(lock), points, dots: true }
    });
    let row = |cell: &&Cell<'_>| {
        let value = |name: &str| {
            let quantity = cell.figure.quantities.get(name);
            quantity.map_or(String::new(), |it| numbers::quantity(it.estimate.value, &story.plain(&it.unit)))
        };
        let mut row = vec![story.words(cell.lock), cell.processes.to_string()];
        row.extend(QUANTITIES.map(|(name, _)| value(name)));
        row
    };
    let heads = ["locks", "processes"].into_iter().chain(QUANTITIES.map(|(_, head)| head));
    Some(Plot {
        about: story.words(store),
        finding: story.plain(&finding(story, cells)),
        note: story.plain(&slowest(cells)),
        chart: Chart::Curves(Curves {
            x: Axis::even("processes", "count", &processes),
            y: Axis::fitting("time an operation, of all processes together", "ns", 20.0, times)?,
            curves: curves.collect(),
            rules: Vec::new(),
        }),
        table: Table { heads: heads.map(str::to_owned).collect(), rows: cells.iter().map(row).collect() },
        letters: Vec::new(),
    })
}

/// Quantities of the table, each an operation, and their headings.
const QUANTITIES: [(&str, &str); 6] = [
    ("time_per_operation", "time"),
    ("cpu_per_operation", "CPU"),
    ("lock_wait_per_operation", "lock wait"),
    ("switches_per_operation", "switches"),
    ("io_calls_per_operation", "I/O calls"),
    ("lock_calls_per_operation", "lock calls"),
];
/// Quantities of the table of latencies.
const LATENCIES: [(&str, &str); 8] = [
    ("fetch_p50", "fetch p50"),
    ("fetch_p99", "p99"),
    ("insert_p50", "insert p50"),
    ("insert_p99", "p99"),
    ("replace_p50", "replace p50"),
    ("replace_p99", "p99"),
    ("delete_p50", "delete p50"),
    ("delete_p99", "p99"),
];
