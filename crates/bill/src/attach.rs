//! Counts a program that runs already, with all that it starts. Nothing of it stops, and nothing stays if this process dies.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::{Counted, Ended, Faults, Switches, Usage, Way};
use oscost_sys::folder::Folder;
use oscost_sys::{endings, process, readiness, reaper, usage};

use crate::BillError;
use crate::by_ebpf::{InKernel, refuse_other_numbers};
use crate::relatives::Relatives;
use crate::rules::Table;

/// Between two looks at what the processes have used, and at the user's interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// Counts process `pid`, with its threads, its descendants and all that they start, for so long, until it ends, or until a
/// signal comes to whoever listens to [`endings`].
///
/// # Errors
/// Why it cannot be watched.
pub fn attach(pid: u32, for_: Duration) -> Result<Counted, BillError> {
    let number = i32::try_from(pid).map_err(|_| BillError::NoProcess(pid))?;
    let end = process::pidfd(number).map_err(|_| BillError::NoProcess(pid))?;
    refuse_other_numbers(pid)?;
    let table = Table::new();
    let mut kernel = InKernel::load(&table)?;
    kernel.watch(number)?;
    kernel.attach()?;
    let mut running = 0;
    let first = looked_at(std::iter::once(number), number);
    if !first.contains_key(&number) {
        return Err(BillError::NoProcess(pid));
    }
    let mut relatives = Relatives::new(first);
    let begun = Instant::now();
    // Whom a known thread starts is known; one that started somebody before it was known is found by another look.
    loop {
        let mut is_new = false;
        for tid in family(number).1 {
            if kernel.enter(tid)? {
                (is_new, running) = (true, running + 1);
            }
        }
        if !is_new {
            break;
        }
    }
    let mut has_ended = false;
    while !has_ended && begun.elapsed() < for_ && endings::number().is_none() {
        let rest = for_.saturating_sub(begun.elapsed()).min(LOOK);
        let ready = readiness::poll_readable(&[&end], u64::try_from(rest.as_nanos()).unwrap_or(0))?;
        relatives.look(&looked_at(relatives.numbers(), number));
        has_ended = ready.first() == Some(&true);
    }
    let wall = begun.elapsed();
    let (seen, ended) = kernel.seen()?;
    let ended = match ended {
        // It ended before anybody looked.
        None if has_ended => return Err(BillError::NoProcess(pid)),
        None => Ended::Running,
        Some(status) if status & 0x7f != 0 => Ended::Killed((status & 0x7f).cast_signed()),
        Some(status) => Ended::Exited((status >> 8 & 0xff).cast_signed()),
    };
    let change = relatives.used();
    let usage = Usage {
        wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
        user_ns: change.user_ns,
        system_ns: change.system_ns,
        faults: Faults { minor: change.minor_faults, major: change.major_faults },
        switches: Switches { voluntary: seen.voluntary, involuntary: seen.involuntary },
        looks: None,
    };
    let was_interrupted = endings::number().is_some();
    let ended = if was_interrupted && ended == Ended::Running { Ended::CutShort } else { ended };
    Ok(seen.counted(&table, Way::Ebpf, usage, ended, running))
}

/// What these processes have used so far and the descendants of `pid`, as /proc says. Whoever ended meanwhile is in the time of
/// the one that waited for it only if that is read later: all are read again until nobody is missing any more.
fn looked_at(known: impl Iterator<Item = i32>, pid: i32) -> BTreeMap<i32, usage::Relative> {
    let stat = |pid: i32| usage::relative(&oscost_sys::file::text(format!("/proc/{pid}/stat")).ok()?);
    let all: BTreeSet<i32> = known.chain(family(pid).0).collect();
    let mut there = all.len();
    loop {
        let seen: BTreeMap<_, _> = all.iter().filter_map(|&pid| Some((pid, stat(pid)?))).collect();
        if seen.len() == there {
            return seen;
        }
        there = seen.len();
    }
}

/// A process and its descendants, and the threads of all of them.
fn family(pid: i32) -> (Vec<i32>, Vec<i32>) {
    let (mut processes, mut threads) = (vec![pid], Vec::new());
    let mut children = reaper::Children::default();
    let mut at = 0;
    while let Some(&process) = processes.get(at) {
        at += 1;
        let names = Folder::names_at(format!("/proc/{process}/task")).unwrap_or_default();
        threads.extend(names.iter().filter_map(|name| name.to_str()?.parse::<i32>().ok()));
        processes.extend(children.of(process));
    }
    (processes, threads)
}
