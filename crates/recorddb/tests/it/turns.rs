//! Ways that run the windows of a long run in turn: each does the same work, and is charged what it costs and nothing else.

use crate::support;

use std::ffi::OsStr;

use oscost_recorddb::driver::{self, CountsCalls, Done, Turn, Window};
use oscost_recorddb::workload::{self, OperationKind, Sequence, Target, Unobserved};
use oscost_recorddb::{
    BookImage, Counters, Database, DatabaseOptions, Error, Granularity, Layout, LockWay, Primitive,
    StoreMode, Stored, check_in,
};
use oscost_sys::clock::now_ns;
use oscost_sys::folder::Folder;
use support::{Directory, alone, plan};

/// A database that wastes so many ns before each operation.
struct Wasteful(Database, u64);

impl Wasteful {
    fn waste(&mut self) -> &mut Database {
        let until = now_ns() + self.1;
        while self.1 > 0 && now_ns() < until {}
        &mut self.0
    }
}

impl Target for Wasteful {
    type Error = Error;

    fn fetch(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        self.waste().fetch_into(key, value)
    }

    fn store(&mut self, key: &[u8], value: &[u8], how: StoreMode) -> Result<Stored, Error> {
        self.waste().store(key, value, how)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.waste().delete(key)
    }
}

impl CountsCalls for Wasteful {
    fn counters(&self) -> Counters {
        self.0.counters()
    }
}

/// Windows of so many operations at equal distances, with the database as it stands there.
fn prepared(records: u32, count: u64, operations: u64) -> (Vec<Window>, Vec<BookImage>) {
    let (mut sequence, mut image) = (Sequence::new(&plan(records)), BookImage::default());
    let every = 20 * u64::from(records) / count;
    let mut both = |_| {
        workload::run_some(&mut sequence, every, &mut image, &mut Unobserved).expect("right");
        (Window { sequence: sequence.clone(), operations }, image.clone())
    };
    (0..count).map(&mut both).unzip()
}

/// What each of these ways took: its way to lock, and what it wastes an operation.
fn in_turn(
    (windows, images): &(Vec<Window>, Vec<BookImage>),
    ways: &[(LockWay, u64)],
    turns: &[Turn],
) -> Result<Vec<Done>, String> {
    let directory = Directory::new();
    let folder = Folder::open(directory.path()).expect("a folder");
    let name = OsStr::new("db");
    let open = |turn: Turn| {
        let (lock, waste) = ways[turn.way];
        let options = DatabaseOptions { lock, create: true, ..DatabaseOptions::default() };
        images[turn.window].write_in(&folder, name, &options)?;
        let options = DatabaseOptions { create: false, ..options };
        Ok::<_, Error>(Wasteful(Database::open_in(&folder, name, &options)?, waste))
    };
    let check = |_| match check_in(&folder, name, Layout::Book)?.is_clean() {
        true => Ok(()),
        false => Err(Error::Input("damaged")),
    };
    driver::run_turns(windows, (ways.len(), turns), open, check, 100_000_000_000).expect("fork")
}

const fn locks(granularity: Granularity) -> LockWay {
    LockWay::By(Primitive::Fcntl, granularity)
}

#[test]
fn every_way_does_the_same_work_and_is_charged_with_its_own_locks() {
    let _alone = alone();
    let prepared = prepared(200, 3, 100);
    let ways = [(LockWay::None, 0), (locks(Granularity::Coarse), 0), (locks(Granularity::Fine), 0)];
    let turn = |way, window| Turn { way, window };
    let order = [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1), (1, 2), (0, 2), (2, 2)];
    let turns = order.map(|(way, window)| turn(way, window));
    let done = in_turn(&prepared, &ways, &turns).expect("all answers are right");
    let [none, coarse, fine] = &done[..] else { panic!("{done:?}") };
    assert_eq!(none.counts.total(), 300);
    for other in [coarse, fine] {
        assert_eq!((other.counts, other.work.visits), (none.counts, none.work.visits));
    }
    let rule = |of: fn(OperationKind) -> u64| {
        OperationKind::ALL.iter().map(|kind| none.counts.of(*kind) * of(*kind)).sum::<u64>()
    };
    let made = [none, coarse, fine].map(|done| done.work.lock_calls);
    assert_eq!(made, [0, rule(OperationKind::coarse_lock_calls), rule(OperationKind::fine_lock_calls)]);
    assert!(done.iter().all(|done| done.clock_ns > 0 && done.usage.user_ns + done.usage.system_ns > 0));
    let missing = in_turn(&prepared, &ways, &turns[..1]);
    assert_eq!(missing, Err("a way had no turn".to_owned()));
}

/// The same way twice, and once more with a known cost: over ten launches the first two differ by nothing that their own
/// scatter does not explain, and by less than a third of the known cost, which the third shows.
#[test]
#[ignore = "longer: measures"]
fn the_same_way_twice_costs_the_same_and_a_known_cost_is_found() {
    let _alone = alone();
    let prepared = prepared(6000, 16, 300);
    let ways = [(LockWay::None, 0), (LockWay::None, 0), (LockWay::None, 2000)];
    let turns: Vec<Turn> = (0..prepared.0.len())
        .flat_map(|window| {
            let order = if window % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] };
            order.map(|way| Turn { window, way })
        })
        .collect();
    let mut more = [Vec::new(), Vec::new()];
    for _ in 0..10 {
        let done = in_turn(&prepared, &ways, &turns).expect("right");
        let cpu = |way: usize| {
            let used = done[way].usage;
            (used.user_ns + used.system_ns) as f64 / done[way].counts.total() as f64
        };
        more[0].push(cpu(1) - cpu(0));
        more[1].push(cpu(2) - cpu(0));
        println!(
            "{:.0} ns an operation; the same {:+.0}, with 2000 more {:+.0}",
            cpu(0),
            cpu(1) - cpu(0),
            cpu(2) - cpu(0)
        );
    }
    let [same, known] = more.map(|all| {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let square = all.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / (all.len() - 1) as f64;
        (mean, (square / all.len() as f64).sqrt())
    });
    println!("the same {same:.0?}, known {known:.0?}");
    // Student's t of nine, 99.9 %.
    assert!(same.0.abs() < 4.8 * same.1 && same.0.abs() < 2000.0 / 3.0, "{same:?}");
    assert!((known.0 - 2000.0).abs() < 2000.0 / 3.0, "{known:?}");
}
