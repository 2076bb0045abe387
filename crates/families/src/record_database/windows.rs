//! Windows of a long run: equal parts of the book's program at places all over it, on a database that is prepared in memory. What
//! they take is put together to what the whole run takes.
//!
//! The ways to lock run each window in turn: the same keys, on the same bytes at the same addresses, some milliseconds apart. Whole
//! launches in turn differed by 2 % without a lock.

use std::ffi::OsStr;

use oscost_harness::CallError;
use oscost_recorddb::driver::{self, Done, Turn, Window, Work};
use oscost_recorddb::workload::{self, Counts, OperationKind, Sequence, Unobserved, WorkPlan};
use oscost_recorddb::{BookImage, Database, DatabaseOptions, LockWay};
use oscost_stats::order;
use oscost_sys::usage::Usage;
use oscost_sys::{affinity, clock};

use super::cell::{Cell, Locking, WINDOWS_MS};
use super::in_turn::launch;
use super::running::{Running, locks_are_the_rules, patience_ns, void};

/// How many windows a launch has.
const WINDOWS: u64 = 16;
/// How long all windows of one way last, by what this machine was just seen to take, ns.
const WINDOWS_NS: f64 = 250e6;
/// How long this machine is watched for that, ns, and the fewest operations of a window.
const WATCHED_NS: u64 = 8_000_000;
const FEWEST: u64 = 8;

/// The windows of one launch, and the whole run that they stand for.
struct Prepared {
    counts: Counts,
    visits: u64,
    windows: Vec<Window>,
    images: Vec<BookImage>,
}

fn failed(what: impl std::fmt::Display) -> CallError {
    void(format_args!("preparing a window: {what}"))
}

impl Running {
    /// The whole run, by windows of it. Who is asked first runs those of all ways.
    pub(super) fn by_windows(&self, seed: u64) -> Result<Done, CallError> {
        let plan = self.plan(seed, 0, self.cell.records);
        let mut launch = launch();
        let own = |(of, cell, _): &(WorkPlan, Cell, Done)| (*of, *cell) == (plan, self.cell);
        if !launch.found.iter().any(own) {
            let alike = |cell: &&Cell| cell.with(Locking::None) == self.cell.with(Locking::None);
            let ways: Vec<Cell> = launch.ways.iter().filter(alike).copied().collect();
            let ran = self.in_turn(&plan, &ways);
            self.directory.empty()?;
            launch.found = ways.iter().zip(ran?).map(|(way, done)| (plan, *way, done)).collect();
        }
        let found = launch.found.iter().position(own).ok_or_else(|| failed("it takes no part"))?;
        Ok(launch.found.swap_remove(found).2)
    }

    /// What the whole run takes by each way.
    fn in_turn(&self, plan: &WorkPlan, ways: &[Cell]) -> Result<Vec<Done>, CallError> {
        let prepared = self.prepare(plan)?;
        let folder = self.directory.folder();
        // Files of another mode are other files.
        let name = |turn: Turn| OsStr::new(if is_mandatory(&ways[turn.way]) { "mandatory" } else { "db" });
        let open = |turn: Turn| {
            affinity::pin_to(self.cpus[0]).map_err(oscost_recorddb::Error::Call)?;
            let options = ways[turn.way].options();
            prepared.images[turn.window].write_in(folder, name(turn), &options)?;
            Database::open_in(folder, name(turn), &DatabaseOptions { create: false, ..options })
        };
        let check = |turn: Turn| self.is_clean(name(turn)).map_err(oscost_recorddb::Error::Call);
        let turns = turns(ways.len(), prepared.windows.len(), plan.seed);
        let patience_ns = patience_ns(WINDOWS_MS * ways.len() as u64);
        let done = driver::run_turns(&prepared.windows, (ways.len(), &turns), open, check, patience_ns)?;
        let whole = |(way, done): (&Cell, &Done)| {
            locks_are_the_rules(way, done)?;
            prepared.whole(way, done)
        };
        ways.iter().zip(&done.map_err(void)?).map(whole).collect()
    }

    fn prepare(&self, plan: &WorkPlan) -> Result<Prepared, CallError> {
        let mut sequence = Sequence::new(plan);
        let mut operations = 0;
        while sequence.next_action().is_some() {
            operations += 1;
        }
        // To the end once: what the whole run does, and what an operation of it takes here.
        let (mut sequence, mut image) = (Sequence::new(plan), BookImage::default());
        let on = |sequence: &mut Sequence, image: &mut BookImage, most: u64| {
            workload::run_some(sequence, most, image, &mut Unobserved).map_err(failed)
        };
        let first = on(&mut sequence, &mut image, operations / 2)?;
        let visit_ns = self.watch(&sequence, &image)?;
        let counts = first.plus(&on(&mut sequence, &mut image, u64::MAX)?);
        let visits = image.visits();
        let operation_ns = visit_ns * visits as f64 / operations.max(1) as f64;
        let (part, length) = (operations / WINDOWS, window_length(operations, operation_ns));
        let (mut sequence, mut image) = (Sequence::new(plan), BookImage::default());
        let (mut windows, mut images, mut done) = (Vec::new(), Vec::new(), 0);
        for (number, shift) in (0..WINDOWS).zip(shifts(plan.seed, part - length)) {
            let from = number * part + shift;
            on(&mut sequence, &mut image, from - done)?;
            done = from;
            windows.push(Window { sequence: sequence.clone(), operations: length });
            images.push(image.clone());
        }
        Ok(Prepared { counts, visits, windows, images })
    }

    /// Time of a record that is read here without locks, ns.
    fn watch(&self, sequence: &Sequence, image: &BookImage) -> Result<f64, CallError> {
        let name = OsStr::new("watched");
        let options = DatabaseOptions { lock: LockWay::None, ..self.cell.options() };
        let (mut sequence, folder) = (sequence.clone(), self.directory.folder());
        image.write_in(folder, name, &options).map_err(failed)?;
        let mut database = Database::open_in(folder, name, &options).map_err(failed)?;
        let (from, visits) = (clock::now_ns(), database.counters().visits);
        while clock::now_ns() - from < WATCHED_NS {
            let made = workload::run_some(&mut sequence, FEWEST, &mut database, &mut Unobserved);
            if made.map_err(failed)?.total() == 0 {
                break;
            }
        }
        let visits = (database.counters().visits - visits).max(1);
        Ok((clock::now_ns() - from) as f64 / visits as f64)
    }
}

fn is_mandatory(way: &Cell) -> bool {
    way.locking == Locking::Mandatory
}

/// Every way runs every window: in an order that is drawn for each two of them, and turned about for the second, so that whatever
/// drifts evenly meets all ways alike.
fn turns(ways: usize, windows: usize, seed: u64) -> Vec<Turn> {
    let mut random = order::seeded(seed, 6);
    let mut order: Vec<usize> = (0..ways).collect();
    let mut turns = Vec::with_capacity(ways * windows);
    for window in 0..windows {
        match window % 2 {
            0 => order::shuffle(&mut order, &mut random),
            _ => order.reverse(),
        }
        turns.extend(order.iter().map(|&way| Turn { window, way }));
    }
    turns
}

/// Operations of a window: as many as last their part of the time, and no more than lie between two windows.
fn window_length(operations: u64, operation_ns: f64) -> u64 {
    let fits = WINDOWS_NS / WINDOWS as f64 / operation_ns.max(1.0);
    (fits as u64).max(FEWEST).min(operations / WINDOWS)
}

/// How far into its part each window begins: anywhere, so that launches see other parts of the run.
fn shifts(seed: u64, most: u64) -> impl Iterator<Item = u64> {
    let mut random = order::seeded(seed, 5);
    std::iter::repeat_with(move || order::below(most + 1, &mut random))
}

impl Prepared {
    /// What the whole run takes, if it takes as much a record that it reads as the windows do. Operations, and calls that lock,
    /// are counted: the whole program was run in memory.
    fn whole(&self, cell: &Cell, windows: &Done) -> Result<Done, CallError> {
        let times = self.visits as f64 / windows.work.visits.max(1) as f64;
        let scaled = |amount: u64| (amount as f64 * times).round() as u64;
        let rule = cell.lock_rule().ok_or_else(|| failed("this layout has no rule for its locks"))?;
        let lock_calls = OperationKind::ALL.iter().map(|kind| self.counts.of(*kind) * rule(*kind)).sum();
        let Usage { voluntary_switches, involuntary_switches, minor_faults, major_faults, .. } =
            windows.usage;
        let clock_ns = scaled(windows.clock_ns);
        Ok(Done {
            counts: self.counts,
            work: Work {
                io_calls: scaled(windows.work.io_calls),
                lock_calls,
                visits: self.visits,
                lock_wait_ns: scaled(windows.work.lock_wait_ns),
            },
            clock_ns,
            from_to_ns: (windows.from_to_ns.0, windows.from_to_ns.0 + clock_ns),
            usage: Usage {
                voluntary_switches: scaled(voluntary_switches),
                involuntary_switches: scaled(involuntary_switches),
                minor_faults: scaled(minor_faults),
                major_faults: scaled(major_faults),
                user_ns: scaled(windows.usage.user_ns),
                system_ns: scaled(windows.usage.system_ns),
            },
            moved: windows.moved,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of three ways that cost the same, but for the last, which costs a tenth more: by turns of this order.
    fn sums(turns: &[Turn], cost_at: impl Fn(f64) -> f64) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for (number, turn) in turns.iter().enumerate() {
            sums[turn.way] += cost_at(number as f64) * if turn.way == 2 { 1.1 } else { 1.0 };
        }
        sums
    }

    #[test]
    fn in_turn_the_same_way_twice_costs_the_same_whatever_drifts() {
        for seed in 0..100 {
            let turns = turns(3, 16, seed);
            let mut all: Vec<(usize, usize)> = turns.iter().map(|turn| (turn.way, turn.window)).collect();
            let whole = {
                all.sort_unstable();
                all.iter().map(|&(way, window)| Turn { window, way }).collect::<Vec<Turn>>()
            };
            all.dedup();
            assert_eq!(all.len(), 48, "every way has every window once");
            // A machine that slows down by a fifth from the first turn to the last.
            let slows = |at: f64| 1.0 + 0.2 * at / 48.0;
            let [one, same, dearer] = sums(&turns, slows);
            assert!(
                (same / one - 1.0).abs() < 1e-9 && (dearer / one - 1.1).abs() < 1e-9,
                "{one} {same} {dearer}"
            );
            let [one, same, _] = sums(&whole, slows);
            assert!((same / one - 1.0).abs() > 0.05, "whole runs, one after the other, do not");
            // A state that comes and goes within a launch.
            let comes = |at: f64| if (10.0..34.0).contains(&at) { 1.1 } else { 1.0 };
            let [one, same, dearer] = sums(&turns, comes);
            assert!(
                (same / one - 1.0).abs() < 0.02 && (dearer / one - 1.1).abs() < 0.02,
                "{one} {same} {dearer}"
            );
        }
    }

    #[test]
    fn a_window_is_as_long_as_its_time_and_never_longer_than_its_part() {
        let operation_ns = 50_000.0;
        let length = window_length(262_000, operation_ns);
        assert!(
            (length as f64 * operation_ns * WINDOWS as f64 - WINDOWS_NS).abs()
                < WINDOWS as f64 * operation_ns
        );
        // A machine three times slower runs a third of the operations in the same time.
        assert_eq!(window_length(262_000, 3.0 * operation_ns), length / 3);
        assert_eq!(window_length(16_000, 10.0), 1000, "the whole run, if there is time for it");
        assert_eq!(window_length(262_000, 1e12), FEWEST);
        let shifts: Vec<u64> = shifts(3, 40).take(100).collect();
        assert!(shifts.iter().all(|shift| *shift <= 40) && shifts.contains(&40) && shifts.contains(&0));
    }
}
