//! Keeps idle CPUs awake while operations that wake them are timed. METHOD.md, Across CPUs.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use oscost_sys::{CallError, affinity, clock as time, memory::SharedWords, power, process::Child};

use crate::benchmark::card::Placement;

/// What keeps idle CPUs awake while it lives; by default nothing.
#[derive(Default)]
pub(crate) struct Awake {
    held: Option<OwnedFd>,
    spinners: Vec<Child>,
}

impl Awake {
    /// Processes that never rest.
    pub(crate) fn pids(&self) -> Vec<i32> {
        self.spinners.iter().map(Child::pid).collect()
    }

    /// Whether the kernel makes idle CPUs poll: nobody accounts for that time, as for that of processes.
    pub(crate) fn polls(&self) -> bool {
        self.held.is_some()
    }
}

/// Keeps CPUs awake, and says how, or why that is refused: by the latency that the kernel is asked for, which makes idle CPUs poll;
/// where that is refused by a process of the lowest class on the partner's CPU, or on all others of participants that are
/// spread. `None` says that nobody is on another CPU.
pub(super) fn keep(cpus: &[usize], placement: Placement) -> (Awake, Option<Result<String, String>>) {
    let refused = match power::stay_awake() {
        Ok(held) => {
            let how = "/dev/cpu_dma_latency is held at 0".to_owned();
            return (Awake { held: Some(held), spinners: Vec::new() }, Some(Ok(how)));
        }
        Err(error) => error,
    };
    let others = others(cpus, placement);
    if others.is_empty() {
        return (Awake::default(), None);
    }
    match spinning(&others, PATIENCE_NS) {
        Ok(spinners) => {
            let how = format!("by processes of the lowest class; /dev/cpu_dma_latency: {refused}");
            (Awake { held: None, spinners }, Some(Ok(how)))
        }
        Err(error) => {
            let why = format!("/dev/cpu_dma_latency: {refused}; a process of the lowest class: {error}");
            (Awake::default(), Some(Err(why)))
        }
    }
}

/// The partner's CPU, or all others of participants that are spread. Where all are on one CPU nobody waits on another, and a process
/// there may share the core with what is timed.
fn others(cpus: &[usize], placement: Placement) -> Vec<usize> {
    let most = match placement {
        Placement::OneCpu | Placement::SameCpu => 0,
        Placement::CrossCpu | Placement::Unpinned => 1,
        Placement::Spread => usize::MAX,
    };
    cpus.iter().filter(|cpu| Some(*cpu) != cpus.first()).copied().take(most).collect()
}

/// A spinner that is not in its place by then is refused it, ns.
const PATIENCE_NS: u64 = 1_000_000_000;

/// A process a CPU that works whenever nobody else does there.
fn spinning(cpus: &[usize], patience_ns: u64) -> Result<Vec<Child>, CallError> {
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
    let until = time::now_ns() + patience_ns;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_cpus_are_kept_awake() {
        assert_eq!(others(&[3], Placement::Spread), [0; 0]);
        assert_eq!(others(&[3, 3, 5, 7], Placement::CrossCpu), [5]);
        assert_eq!(others(&[3, 3, 5, 7], Placement::Spread), [5, 7]);
        let alone = [Placement::OneCpu, Placement::SameCpu];
        assert_eq!(alone.map(|placement| others(&[3, 5, 7], placement).len()), [0, 0], "nobody waits there");
    }

    #[test]
    fn only_what_the_kernel_keeps_awake_is_in_no_account() {
        let held = oscost_sys::pipe::Pipe::new().expect("a pipe").reader;
        assert!(Awake { held: Some(held), spinners: Vec::new() }.polls());
        assert!(!Awake::default().polls(), "nobody is kept awake");
    }

    #[test]
    fn a_spinner_is_in_its_place_and_yields_to_whoever_comes() {
        let cpu = affinity::allowed().expect("CPUs")[0];
        let spinners = match spinning(&[cpu, cpu], 600 * PATIENCE_NS) {
            Ok(spinners) => spinners,
            Err(refused) => {
                assert_ne!(refused.symbol(), Some("ETIMEDOUT"), "who is refused it says so");
                return println!("SKIP a_spinner_is_in_its_place: {refused}");
            }
        };
        for spinner in &spinners {
            let [allowed, policy] = ["status", "sched"].map(|name| {
                std::fs::read_to_string(format!("/proc/{}/{name}", spinner.pid())).unwrap_or_default()
            });
            assert!(allowed.contains(&format!("Cpus_allowed_list:\t{cpu}\n")), "{allowed}");
            // SCHED_IDLE is 5, and not every kernel has the file.
            let policy = policy.lines().find_map(|line| line.strip_prefix("policy")?.split(':').nth(1));
            assert!(policy.is_none_or(|policy| policy.trim() == "5"), "{policy:?}");
        }
        assert_eq!(spinners.len(), 2);
        let pids: Vec<i32> = spinners.iter().map(Child::pid).collect();
        assert_eq!(Awake { held: None, spinners }.pids(), pids);
        assert!(Awake::default().pids().is_empty());
    }

    #[test]
    fn a_spinner_that_cannot_be_put_on_its_cpu_says_why_and_one_that_is_late_is_not_waited_for() {
        let cpu = affinity::allowed().expect("CPUs")[0];
        let refused = spinning(&[usize::MAX], 600 * PATIENCE_NS).map(|_| ()).expect_err("there is none");
        assert_eq!(refused.symbol(), Some("EINVAL"));
        // It may be there before anybody looks.
        let late = spinning(&[cpu], 0).map(|_| ());
        assert!(
            late.is_ok()
                || late.is_err_and(|it| matches!(it.symbol(), Some("ETIMEDOUT" | "EPERM" | "EACCES")))
        );
    }
}
