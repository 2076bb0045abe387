//! Layout `fast`: the file that a killed process leaves, seen by survivors and by later users.

use crate::support;

use oscost_recorddb::{Database, DatabaseOptions, Granularity, Layout, LockWay, Primitive, StoreMode, check};
use oscost_sys::process::{Child, Signal, signal};
use support::{Directory, alone, fast as options};

/// Kills a process at a random moment of its work, again and again. After each, whoever opens the database finds it in
/// order: what was answered is there, and of the operation in flight either all or nothing.
fn kills(count: u32, lock: LockWay) -> String {
    let directory = Directory::new();
    let path = directory.file("db");
    let options = DatabaseOptions { lock, ..options() };
    let words = oscost_sys::memory::SharedWords::new(1).expect("mmap");
    let order = std::sync::atomic::Ordering::SeqCst;
    drop(Database::open(&path, &options).expect("open"));
    let mut state = 12_345u64;
    let (mut recovered, mut lost) = (0, 0);
    // 64 keys. In step s key s % 64 gets the value of step s (a step in three deletes it instead).
    let value_of = |step: u64| format!("{step}:{}", "x".repeat((step * 7 % 60) as usize)).into_bytes();
    let deletes = |step: u64| step % 3 == 2;
    for kill in 0..count {
        let start = words.word(0).load(order);
        let child = Child::fork(|| {
            let Ok(mut database) = Database::open(&path, &options) else { return 1 };
            for step in start.. {
                let key = (step % 64).to_string().into_bytes();
                let done = if deletes(step) {
                    database.delete(&key).is_ok()
                } else {
                    database.store(&key, &value_of(step), StoreMode::Either).is_ok()
                };
                if !done {
                    return 2;
                }
                words.word(0).store(step + 1, order);
            }
            0
        })
        .expect("fork");
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        while words.word(0).load(order) < start + 2 && !child.has_ended() {
            std::thread::yield_now();
        }
        let wait = std::time::Instant::now();
        while wait.elapsed().as_nanos() < u128::from((state >> 40) % 1_000_000) {
            std::hint::spin_loop();
        }
        signal(child.pid(), Signal::Kill).expect("kill");
        let ended = child.wait().expect("wait");
        assert_eq!((ended.signal, ended.code), (Some(9), None), "it worked until it was killed");
        let before = check(&path, Layout::Fast).expect("read");
        assert!(before.is_sound(), "kill {kill}: {before:?}");
        lost += before.lost;
        recovered += u32::from(!before.is_clean());
        // Opening recovers.
        let mut database = Database::open(&path, &options).expect("open");
        let step = words.word(0).load(order);
        for key in 0..64 {
            let found = database.fetch(key.to_string().as_bytes()).expect("fetch");
            // The last step that was answered for this key, and the one in flight.
            let answered = (0..step).rev().take(64).find(|step| step % 64 == key);
            let of = |step: Option<u64>| step.filter(|step| !deletes(*step)).map(value_of);
            let in_flight = (step % 64 == key).then_some(step);
            let either = found == of(answered) || in_flight.is_some() && found == of(in_flight);
            assert!(either, "kill {kill}, step {step}, key {key}: {found:?}");
        }
        drop(database);
        let after = check(&path, Layout::Fast).expect("read");
        assert!(after.is_clean(), "kill {kill}: {after:?}");
        // The step in flight is done again.
    }
    format!(
        "{count} kills with {}: all sound and recovered; {recovered} had lost blocks, {lost} in all",
        lock.name()
    )
}

#[test]
#[ignore = "longer: it kills"]
fn a_killed_process_costs_at_most_the_operation_in_flight() {
    let _alone = alone();
    for primitive in [Primitive::Fcntl, Primitive::RobustMutex] {
        println!("{}", kills(25, LockWay::By(primitive, Granularity::Fine)));
    }
}

#[test]
#[ignore = "a minute: 1000 kills, with their count"]
fn a_thousand_kills() {
    let _alone = alone();
    for primitive in [Primitive::Fcntl, Primitive::Ofd, Primitive::Flock, Primitive::RobustMutex] {
        println!("{}", kills(250, LockWay::By(primitive, Granularity::Fine)));
    }
}

#[test]
#[ignore = "longer: it kills"]
fn survivors_of_a_killed_process_go_on() {
    let _alone = alone();
    for primitive in [Primitive::Fcntl, Primitive::RobustMutex] {
        for granularity in [Granularity::Coarse, Granularity::Fine] {
            let directory = Directory::new();
            let path = directory.file("db");
            let options = DatabaseOptions { lock: LockWay::By(primitive, granularity), ..options() };
            let mut survivor = Database::open(&path, &options).expect("open");
            survivor.store(b"mine", b"1", StoreMode::Insert).expect("stored");
            for _ in 0..10 {
                let child = Child::fork(|| {
                    let Ok(mut database) = Database::open(&path, &options) else { return 1 };
                    for number in 0u32.. {
                        let key = (number % 50).to_string().into_bytes();
                        let stored = database.store(&key, &[b'v'; 30], StoreMode::Either);
                        if stored.is_err() || number % 3 == 0 && database.delete(&key).is_err() {
                            return 2;
                        }
                    }
                    0
                })
                .expect("fork");
                std::thread::sleep(std::time::Duration::from_millis(5));
                signal(child.pid(), Signal::Kill).expect("kill");
                assert_eq!(child.wait().expect("wait").signal, Some(9));
                for number in 0..50 {
                    let key = number.to_string().into_bytes();
                    assert!(survivor.fetch(&key).is_ok());
                    survivor.store(&key, b"survivor", StoreMode::Either).expect("stored");
                }
            }
            assert_eq!(survivor.fetch(b"mine"), Ok(Some(b"1".to_vec())));
            drop(survivor);
            assert!(check(&path, Layout::Fast).expect("read").is_sound());
            // The first opener afterwards recovers the space that the killed ones had allocated.
            drop(Database::open(&path, &options).expect("open"));
            let report = check(&path, Layout::Fast).expect("read");
            assert!(report.is_clean(), "{report:?}");
            assert_eq!(report.records, 51);
        }
    }
}
