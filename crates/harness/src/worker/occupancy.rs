//! Foreign time: how long the measured CPUs were neither idle nor used by a participant. docs/method/environment.md.
//!
//! Three things look like somebody else and are not: idle time that is counted in ticks, the way into idleness and out of
//! it, which no account has, and interrupts where the kernel leaves them out of CPU time. What they may explain is taken
//! away, so that the share is a lower bound; of a thread that never sleeps it is exact.

use oscost_sys::cpu_time::{self, CpuAccount, CpuTime, TICK_NS};
use oscost_sys::usage::{self, Whose};
use oscost_sys::{affinity, clock};

use crate::benchmark::Participant;
use crate::benchmark::card::Placement;
use crate::worker::environment;

/// What one way into idleness and out of it takes that no account has, at most, ns. Measured in a guest: 2.4 us where
/// another CPU wakes, 4 to 12 us where a timer does.
const WAY_NS: u64 = 20_000;
/// How long a sleeper that was woken may count as ready while its CPU still wakes, at most, ns.
const WAKE_NS: u64 = 100_000;
/// The kernel adds the time of what runs when that stops running: before each look there is a sleep of so many ns.
const PAUSE_NS: u64 = 50_000;

/// Who takes part in a launch, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parties<'a> {
    /// CPUs of the job: the measuring thread has the first.
    pub(crate) cpus: &'a [usize],
    pub(crate) placement: Placement,
    /// Who is there throughout; participants of a series may come and go.
    pub(crate) partners: &'a [Participant],
    /// Processes that keep CPUs awake.
    pub(crate) awake: &'a [i32],
    pub(crate) series: bool,
}

/// The CPUs of a launch under watch.
#[derive(Debug)]
pub(crate) struct Watch {
    places: Vec<WatchedCpus>,
    before: Vec<Option<Moment>>,
    throttled: Option<u64>,
}

/// CPUs that are looked at together, and the participants on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct WatchedCpus {
    cpus: Vec<usize>,
    /// The worker with its children that were waited for and its threads, but for those that are elsewhere.
    worker: bool,
    threads_elsewhere: Vec<i32>,
    /// Other processes.
    processes: Vec<i32>,
    /// Threads of the worker.
    threads: Vec<i32>,
    /// Processes that never rest: of one that runs right now the kernel tells the time as of its last tick.
    restless: Vec<i32>,
}

/// One place until one moment; sums over its CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    at_ns: u64,
    /// CPU time of the participants there.
    own_ns: u64,
    /// Voluntary switches of the participants there: each may begin an idle time.
    sleeps: u64,
    /// What the kernel says of the CPUs.
    account: CpuAccount,
    /// The same in ticks.
    ticks: CpuTime,
    /// The measuring thread, where this is its one CPU.
    thread: Option<Thread>,
}

/// The measuring thread until one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thread {
    used_ns: u64,
    /// How long it was ready and did not run.
    waited_ns: u64,
}

impl Watch {
    /// Begins to watch, in the worker.
    pub(crate) fn begin(parties: &Parties<'_>) -> Self {
        let places = places(parties, |pid| match affinity::of_process(pid).as_deref() {
            Ok([cpu]) => Some(*cpu),
            _ => None,
        });
        pause();
        let before = places.iter().map(Moment::of).collect();
        Self { places, before, throttled: environment::throttled_periods() }
    }

    /// The share of a CPU that somebody else had since the beginning, of that where it was most: at least so much. `None`
    /// where it could not be read.
    pub(crate) fn end(self) -> Option<f64> {
        pause();
        let throttled = was_throttled(self.throttled, environment::throttled_periods());
        let shares = self
            .places
            .iter()
            .zip(&self.before)
            .map(|(place, before)| Some(share(before.as_ref()?, &Moment::of(place)?, place, throttled)));
        worst(shares)
    }
}

/// The largest of the shares of several CPUs, or of several parts of a launch. `None` where one of them could not be read.
pub(crate) fn worst(shares: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    shares.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// Whether a quota stopped the group between two looks. Where that is not known it may have: then a wait proves nobody.
fn was_throttled(before: Option<u64>, now: Option<u64>) -> bool {
    before.is_none() || before != now
}

/// A sleep that is refused leaves the accounts a little behind, on both sides.
fn pause() {
    let _ = clock::sleep_until(clock::now_ns() + PAUSE_NS);
}

/// The places of a launch; `pinned` tells the one CPU that a process or thread may run on.
fn places(parties: &Parties<'_>, pinned: impl Fn(i32) -> Option<usize>) -> Vec<WatchedCpus> {
    let cpus: &[usize] = match (parties.placement, parties.cpus) {
        (Placement::OneCpu | Placement::SameCpu, [first, ..]) => &[*first],
        (Placement::CrossCpu, [first, second, ..]) => &[*first, *second],
        (_, cpus) => cpus,
    };
    let (mut processes, mut threads) = (Vec::new(), Vec::new());
    for partner in parties.partners {
        match *partner {
            Participant::Process(pid) => processes.push(pid),
            Participant::Thread(tid) => threads.push(tid),
        }
    }
    if parties.placement != Placement::CrossCpu || parties.series {
        let here = |pid: &&i32| pinned(**pid).is_some_and(|cpu| cpus.contains(&cpu));
        let restless = parties.awake.iter().filter(here).copied().collect();
        let cpus = cpus.to_vec();
        return vec![WatchedCpus { cpus, worker: true, processes, restless, ..WatchedCpus::default() }];
    }
    let own = cpus.first().copied();
    let of = |cpu: usize| {
        let here = |numbers: &[i32]| -> Vec<i32> {
            numbers.iter().filter(|&&it| pinned(it) == Some(cpu)).copied().collect()
        };
        let worker = Some(cpu) == own;
        let elsewhere = threads.iter().filter(|&&tid| pinned(tid) != Some(cpu)).copied();
        WatchedCpus {
            cpus: vec![cpu],
            worker,
            threads_elsewhere: elsewhere.filter(|_| worker).collect(),
            processes: here(&processes),
            threads: if worker { Vec::new() } else { here(&threads) },
            restless: here(parties.awake),
        }
    };
    cpus.iter().map(|&cpu| of(cpu)).collect()
}

impl Moment {
    fn of(place: &WatchedCpus) -> Option<Self> {
        let accounts: Option<Vec<CpuAccount>> = place.cpus.iter().map(|&cpu| CpuAccount::of(cpu)).collect();
        let account = accounts?.into_iter().reduce(CpuAccount::with)?;
        let ticks = cpu_time::now(&place.cpus)?;
        let pid = i32::try_from(std::process::id()).ok()?;
        let (mut own_ns, mut sleeps) = (0, 0);
        for &process in place.processes.iter().chain(&place.restless) {
            own_ns += cpu_time::of_process(process).ok()?;
            sleeps += usage::of(process, process)?.usage.voluntary_switches;
        }
        for &tid in &place.threads {
            own_ns += cpu_time::of_thread(tid).ok()?;
            sleeps += usage::of(pid, tid)?.usage.voluntary_switches;
        }
        let mut thread = None;
        if place.worker {
            let (own, children) = (usage::own(Whose::Process).ok()?, usage::own(Whose::Children).ok()?);
            sleeps += own.voluntary_switches + children.voluntary_switches;
            own_ns += children.user_ns + children.system_ns + cpu_time::of_this_process().ok()?;
            for &tid in &place.threads_elsewhere {
                own_ns = own_ns.saturating_sub(cpu_time::of_thread(tid).ok()?);
            }
            if place.cpus.len() == 1 {
                let used_ns = cpu_time::of_thread(pid).ok()?;
                thread = cpu_time::waited(pid).map(|waited_ns| Thread { used_ns, waited_ns });
            }
        }
        Some(Self { at_ns: clock::now_ns(), own_ns, sleeps, account, ticks, thread })
    }
}

/// The share of a place's CPUs that somebody else had between two moments: at least so much.
fn share(before: &Moment, after: &Moment, place: &WatchedCpus, throttled: bool) -> f64 {
    let since = |of: fn(&Moment) -> u64| of(after).saturating_sub(of(before));
    let cpus = place.cpus.len() as u64;
    let wall = since(|it| it.at_ns) * cpus;
    let (own, sleeps) = (since(|it| it.own_ns), since(|it| it.sleeps));
    // Where the kernel counts interrupts apart, they are in nobody's time. Two counters, each cut down to its tick.
    let interrupts = if after.ticks.hard_interrupts == 0 {
        0
    } else {
        (since(|it| it.ticks.interrupts) + 2 * cpus) * TICK_NS
    };
    let restless = place.restless.len() as u64 * TICK_NS;
    let explained = own + interrupts + restless;
    let others = match (before.account, after.account) {
        (CpuAccount::Busy(before), CpuAccount::Busy(after)) => {
            after.saturating_sub(before).saturating_sub(explained)
        }
        (CpuAccount::Idle { ns: before, .. }, CpuAccount::Idle { ns: after, grain_ns }) => {
            let idle = after.saturating_sub(before) + grain_ns;
            wall.saturating_sub(explained + idle + idle.min(sleeps * WAY_NS))
        }
        // The source went away between the two moments.
        _ => 0,
    };
    // The quota's pauses may count as waiting.
    let waited = before.thread.zip(after.thread).filter(|_| !throttled).map_or(0, |(before, after)| {
        let ours = own.saturating_sub(after.used_ns.saturating_sub(before.used_ns)) + restless;
        after.waited_ns.saturating_sub(before.waited_ns).saturating_sub(ours + sleeps * WAKE_NS)
    });
    others.max(waited) as f64 / wall.max(1) as f64
}

#[cfg(test)]
mod tests;
