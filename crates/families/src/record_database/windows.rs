//! Windows of a long run: equal parts of the book's program at places all over it, on databases that are prepared in memory. What
//! they take is put together to what the whole run takes.
//!
//! Every way to lock runs the same windows in one launch: the same keys, on the same bytes.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use oscost_harness::CallError;
use oscost_recorddb::driver::{self, Done, Window, Work};
use oscost_recorddb::workload::{self, Counts, OperationKind, Sequence, Unobserved, WorkPlan};
use oscost_recorddb::{BookImage, Database, DatabaseOptions, LockWay};
use oscost_stats::order;
use oscost_sys::usage::Usage;
use oscost_sys::{affinity, clock};

use super::cell::Cell;
use super::running::{Running, void};

/// How many windows a launch has.
const WINDOWS: u64 = 16;
/// How long all windows of one way last, by what this machine was just seen to take, ns.
const WINDOWS_NS: f64 = 250e6;
/// How long this machine is watched for that, ns, and the fewest operations of a window.
const WATCHED_NS: u64 = 8_000_000;
const FEWEST: u64 = 8;

/// The windows of one launch, and the whole run that they stand for.
struct Prepared {
    of: (WorkPlan, Cell),
    counts: Counts,
    visits: u64,
    windows: Vec<Window>,
    images: Vec<BookImage>,
}

/// Those of the launch in this process: the ways to lock share them.
static PREPARED: Mutex<Option<Arc<Prepared>>> = Mutex::new(None);

fn failed(what: impl std::fmt::Display) -> CallError {
    void(format_args!("preparing a window: {what}"))
}

impl Running {
    /// The whole run, by windows of it.
    pub(super) fn by_windows(&self, seed: u64) -> Result<Done, CallError> {
        let plan = self.plan(seed, 0, self.cell.records);
        let prepared = self.prepared(&plan)?;
        let options = self.cell.options();
        let folder = self.directory.folder();
        let names: Vec<OsString> =
            (0..prepared.images.len()).map(|number| OsString::from(format!("db{number}"))).collect();
        let run = || -> Result<Done, CallError> {
            for (image, name) in prepared.images.iter().zip(&names) {
                image.write_in(folder, name, &options).map_err(failed)?;
            }
            let opening = DatabaseOptions { create: false, ..options };
            let open = |number: usize| {
                affinity::pin_to(self.cpus[0]).map_err(oscost_recorddb::Error::Call)?;
                Database::open_in(folder, &names[number], &opening)
            };
            let done = driver::run_windows(&prepared.windows, open, self.patience_ns())?.map_err(void)?;
            names.iter().try_for_each(|name| self.is_clean(name))?;
            self.locks_are_the_rules(&done)?;
            prepared.whole(&self.cell, &done)
        };
        let done = run();
        self.directory.empty()?;
        done
    }

    /// The windows of this plan, which another way to lock may have prepared.
    fn prepared(&self, plan: &WorkPlan) -> Result<Arc<Prepared>, CallError> {
        let of = (*plan, self.cell.with(super::cell::Locking::None));
        // A panic elsewhere leaves what is there whole: it is replaced at once.
        let mut known = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = known.as_ref().filter(|prepared| prepared.of == of) {
            return Ok(Arc::clone(prepared));
        }
        let prepared = Arc::new(self.prepare(plan, of)?);
        *known = Some(Arc::clone(&prepared));
        Ok(prepared)
    }

    fn prepare(&self, plan: &WorkPlan, of: (WorkPlan, Cell)) -> Result<Prepared, CallError> {
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
        Ok(Prepared { of, counts, visits, windows, images })
    }

    /// Time of a record that is read here without locks, ns.
    fn watch(&self, sequence: &Sequence, image: &BookImage) -> Result<f64, CallError> {
        let name = OsString::from("watched");
        let options = DatabaseOptions { lock: LockWay::None, ..self.cell.options() };
        let (mut sequence, folder) = (sequence.clone(), self.directory.folder());
        image.write_in(folder, &name, &options).map_err(failed)?;
        let mut database = Database::open_in(folder, &name, &options).map_err(failed)?;
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
