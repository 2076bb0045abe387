//! Keeps idle CPUs awake while operations that wake them are timed. METHOD.md, Across CPUs.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use oscost_sys::{CallError, affinity, clock as time, memory::SharedWords, power, process::Child};

use crate::benchmark::card::Placement;

/// What keeps idle CPUs awake while it lives; by default nothing.
#[derive(Default)]
pub(crate) struct Awake {
    _held: Option<OwnedFd>,
    spinners: Vec<Child>,
}

impl Awake {
    /// Processes that never rest.
    pub(crate) fn pids(&self) -> Vec<i32> {
        self.spinners.iter().map(Child::pid).collect()
    }
}

/// Keeps CPUs awake, and says how, or why that is refused: by the latency that the kernel is asked for, which makes idle CPUs poll;
/// where that is refused by a process of the lowest class on the partner's CPU, or on all others of participants that are
/// spread. `None` says that there is no other CPU.
pub(super) fn keep(cpus: &[usize], placement: Placement) -> (Awake, Option<Result<String, String>>) {
    let refused = match power::stay_awake() {
        Ok(held) => {
            let how = "/dev/cpu_dma_latency is held at 0".to_owned();
            return (Awake { _held: Some(held), spinners: Vec::new() }, Some(Ok(how)));
        }
        Err(error) => error,
    };
    let most = if placement == Placement::Spread { usize::MAX } else { 1 };
    let others: Vec<usize> =
        cpus.iter().skip(1).filter(|cpu| Some(*cpu) != cpus.first()).copied().take(most).collect();
    if others.is_empty() {
        return (Awake::default(), None);
    }
    match spinning(&others) {
        Ok(spinners) => {
            let how = format!("by processes of the lowest class; /dev/cpu_dma_latency: {refused}");
            (Awake { _held: None, spinners }, Some(Ok(how)))
        }
        Err(error) => {
            let why = format!("/dev/cpu_dma_latency: {refused}; a process of the lowest class: {error}");
            (Awake::default(), Some(Err(why)))
        }
    }
}

/// A process a CPU that works whenever nobody else does there.
fn spinning(cpus: &[usize]) -> Result<Vec<Child>, CallError> {
    /// One that is not in its place by then is refused it, ns.
    const PATIENCE_NS: u64 = 1_000_000_000;
    /// The calls by which it gets there.
    const CALLS: &str = "sched_setaffinity or sched_setscheduler";
    let in_place = SharedWords::new(1)?;
    let spin = |&cpu: &usize| {
        Child::fork(|| {
            if let Err(error) = affinity::pin_to(cpu).and_then(|()| affinity::run_only_when_idle()) {
                return error.errno;
            }
            in_place.word(0).fetch_add(1, Ordering::Release);
            loop {
                std::hint::spin_loop();
            }
        })
    };
    let mut spinners = cpus.iter().map(spin).collect::<Result<Vec<_>, _>>()?;
    // One that is not yet where it belongs would be a neighbour on our own CPU.
    let until = time::now_ns() + PATIENCE_NS;
    while in_place.word(0).load(Ordering::Acquire) < spinners.len() as u64 {
        if let Some(ended) = spinners.iter().position(Child::has_ended) {
            let errno = spinners.swap_remove(ended).wait()?.code;
            return Err(CallError::new(CALLS, errno.unwrap_or_default()));
        }
        if time::now_ns() >= until {
            return Err(CallError::no_answer(CALLS));
        }
        time::pause(std::time::Duration::from_micros(100));
    }
    Ok(spinners)
}
