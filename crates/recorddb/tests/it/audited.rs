//! The counters of a database equal the calls that the kernel saw.

use crate::support;

use std::collections::BTreeMap;

use oscost_recorddb::workload::{self, Unobserved};
use oscost_recorddb::{Access, Database, DatabaseOptions, Granularity, Layout, LockWay, Primitive};
use oscost_sys::{CallError, audit, system_call::marker, system_call_names};
use support::{Directory, alone, plan};

/// Calls by name.
type Calls = BTreeMap<String, u64>;

/// Calls as the kernel saw them, of all runs so far (the counters of the audit belong to the process), and of this run as
/// the database counted them.
fn both(options: &DatabaseOptions) -> Result<(Calls, Calls), CallError> {
    let directory = Directory::new();
    let path = directory.file("db");
    let reported = audit::by_ptrace(|| {
        let Ok(mut database) = Database::open(&path, options) else { return Vec::new() };
        let before = database.counters();
        marker(1);
        let done = workload::run(&plan(40), &mut database, &mut Unobserved).is_ok();
        marker(0);
        let after = database.counters();
        let mut text = String::new();
        for ((name, before), (_, after)) in before.io.by_name().into_iter().zip(after.io.by_name()) {
            text += &format!("{name} {}\n", after - before);
        }
        let locks = after.locks.total() - before.locks.total();
        let name = match options.lock.primitive() {
            Some(Primitive::Fcntl | Primitive::Ofd) => "fcntl",
            Some(Primitive::Flock) => "flock",
            Some(Primitive::RobustMutex) | None => "none",
        };
        text += &format!("{name} {locks}\n");
        if done { text.into_bytes() } else { Vec::new() }
    });
    let (text, seen) = reported?;
    let text = String::from_utf8(text).expect("text");
    assert!(!text.is_empty(), "the workload ran");
    let counted = text.lines().filter_map(|line| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.parse::<u64>().ok()?))
    });
    let counted = counted.filter(|(name, count)| *count > 0 && name != "none").collect();
    let named = |(number, count): (i64, u64)| {
        (system_call_names::name(number).map_or_else(|| format!("call {number}"), str::to_owned), count)
    };
    // Memory is the allocator's affair.
    let of_memory = |name: &str| matches!(name, "brk" | "mmap" | "munmap" | "mremap" | "madvise");
    let seen = seen.phase(1).into_iter().map(named).filter(|(name, _)| !of_memory(name));
    Ok((seen.collect(), counted))
}

#[test]
#[ignore = "longer: it repeats"]
fn counters_are_the_calls_that_the_kernel_saw() {
    let _alone = alone();
    let mut sum = BTreeMap::new();
    for layout in [Layout::Book, Layout::Fast] {
        for access in [Access::SeekRead, Access::Positioned, Access::Mapped] {
            for lock in [
                LockWay::None,
                LockWay::By(Primitive::Fcntl, Granularity::Coarse),
                LockWay::By(Primitive::Fcntl, Granularity::Fine),
                LockWay::By(Primitive::Ofd, Granularity::Fine),
                LockWay::By(Primitive::Flock, Granularity::Fine),
                LockWay::By(Primitive::RobustMutex, Granularity::Fine),
            ] {
                let options =
                    DatabaseOptions { layout, access, lock, create: true, ..DatabaseOptions::default() };
                let (seen, counted) = match both(&options) {
                    Ok(both) => both,
                    Err(error) => {
                        println!("SKIP counters_are_the_calls_that_the_kernel_saw: {error}");
                        return;
                    }
                };
                for (name, count) in counted {
                    *sum.entry(name).or_insert(0) += count;
                }
                assert_eq!(seen, sum, "{layout:?} {access:?} {}", lock.name());
            }
        }
    }
}
