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
        let stopped = environment::throttled_periods().zip(self.throttled).map(|(now, then)| now != then);
        // Where that is not known, a wait proves nobody.
        let throttled = stopped.unwrap_or(true);
        let shares = self
            .places
            .iter()
            .zip(&self.before)
            .map(|(place, before)| Some(share(before.as_ref()?, &Moment::of(place)?, place, throttled)));
        shares.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }
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
        (CpuAccount::Idle { ns: before, grain_ns }, CpuAccount::Idle { ns: after, .. }) => {
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
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn place(cpus: usize) -> WatchedCpus {
        WatchedCpus { cpus: (0..cpus).collect(), worker: true, ..WatchedCpus::default() }
    }

    fn idle(ns: u64) -> CpuAccount {
        CpuAccount::Idle { ns, grain_ns: 1 }
    }

    fn at(ms: u64, own_ns: u64, account: CpuAccount) -> Moment {
        Moment { at_ns: ms * MS, own_ns, sleeps: 0, account, ticks: CpuTime::default(), thread: None }
    }

    /// The share after 200 ms on one CPU.
    fn after(own_ns: u64, sleeps: u64, account: CpuAccount) -> f64 {
        let start = match account {
            CpuAccount::Busy(_) => CpuAccount::Busy(0),
            CpuAccount::Idle { grain_ns, .. } => CpuAccount::Idle { ns: 0, grain_ns },
        };
        let after = Moment { sleeps, ..at(1200, own_ns, account) };
        share(&at(1000, 0, start), &after, &place(1), false)
    }

    #[test]
    fn what_is_neither_ours_nor_idle_is_somebody_elses() {
        let near = |share: f64, expected: f64| assert!((share - expected).abs() < 1e-6, "{share}");
        near(after(200 * MS, 0, idle(0)), 0.0);
        near(after(150 * MS, 0, idle(0)), 0.25);
        near(after(150 * MS, 0, idle(50 * MS)), 0.0);
        near(after(150 * MS, 0, CpuAccount::Busy(150 * MS)), 0.0);
        near(after(150 * MS, 0, CpuAccount::Busy(156 * MS)), 0.03);
    }

    #[test]
    fn idle_time_in_ticks_is_given_its_tick() {
        let ticks = |ns| CpuAccount::Idle { ns, grain_ns: TICK_NS };
        assert_eq!(after(190 * MS, 0, ticks(0)), 0.0, "10 ms may be a tick that is not yet told");
        assert!((after(180 * MS, 0, ticks(0)) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn the_way_into_idleness_and_out_of_it_is_nobodys() {
        // 4000 wake-ups by another CPU: 33 % ours, 62 % idle, 5 % on the way.
        assert_eq!(after(66 * MS, 4000, idle(124 * MS)), 0.0);
        // A neighbour that never lets the CPU be idle has no way to hide behind.
        assert!(after(66 * MS, 4000, idle(0)) > 0.66);
        assert!(
            (after(66 * MS, 0, idle(124 * MS)) - 0.05).abs() < 1e-6,
            "without sleeps there is no such way"
        );
    }

    #[test]
    fn a_wait_is_a_neighbour_unless_partners_or_the_quota_explain_it() {
        let thread = |used_ns, waited_ns| Some(Thread { used_ns, waited_ns });
        let ticks = |ns| CpuAccount::Idle { ns, grain_ns: TICK_NS };
        let moments = |own_ns, sleeps, used_ns, waited_ns| {
            let before = Moment { thread: thread(0, 0), ..at(0, 0, ticks(0)) };
            let after = Moment { thread: thread(used_ns, waited_ns), sleeps, ..at(200, own_ns, ticks(0)) };
            (before, after)
        };
        let share = |(before, after): (Moment, Moment), throttled| {
            super::share(&before, &after, &place(1), throttled)
        };
        // 3 % would be lost in a tick of idle time, and the wait of a thread that never sleeps is exact.
        let waited = moments(194 * MS, 0, 194 * MS, 6 * MS);
        assert!((share(waited, false) - 0.03).abs() < 1e-9);
        assert_eq!(share(waited, true), 0.0);
        // A pair on one CPU: each waits for its partner.
        assert_eq!(share(moments(200 * MS, 20_000, 100 * MS, 52 * MS), false), 0.0);
        // A sleeper that another CPU wakes waits for its own CPU to wake.
        assert_eq!(
            share(moments(66 * MS, 2000, 66 * MS, 120 * MS), false),
            share(moments(66 * MS, 2000, 66 * MS, 0), false)
        );
    }

    #[test]
    fn interrupts_count_apart_only_where_the_kernel_does_so() {
        let moment = |ms, own_ns, busy_ns, ticks| Moment {
            ticks: CpuTime { interrupts: ticks, hard_interrupts: ticks / 2, ..CpuTime::default() },
            ..at(ms, own_ns, CpuAccount::Busy(busy_ns))
        };
        let share = |before: u64, after: u64| {
            let (before, after) = (moment(0, 0, 0, before), moment(1000, 900 * MS, 950 * MS, after));
            super::share(&before, &after, &place(1), false)
        };
        assert!((share(0, 0) - 0.05).abs() < 1e-9, "this kernel counts none");
        assert_eq!(share(100, 105), 0.0, "50 ms of interrupts, and as much as two ticks may hide");
        assert!((share(100, 101) - 0.02).abs() < 1e-9);
    }

    #[test]
    fn several_cpus_together_are_as_long_as_all_of_them() {
        let (before, after) = (at(0, 0, idle(0)), at(100, 120 * MS, idle(60 * MS)));
        assert!((share(&before, &after, &place(2), false) - 0.1).abs() < 1e-6);
        // One that never rests is told as of its last tick.
        let awake = WatchedCpus { restless: vec![7], ..place(2) };
        assert!((share(&before, &after, &awake, false) - 0.05).abs() < 1e-6);
    }

    #[test]
    fn what_did_not_last_has_no_share() {
        let still = at(5, 7, idle(3));
        assert_eq!(share(&still, &still, &place(1), false), 0.0);
        assert_eq!(share(&at(9, 9, idle(9)), &at(1, 1, idle(1)), &place(1), false), 0.0);
        assert_eq!(share(&at(0, 0, idle(0)), &at(100, 0, CpuAccount::Busy(9)), &place(1), false), 0.0);
    }

    #[test]
    fn everybody_is_looked_at_where_he_is() {
        let partners = [Participant::Process(10), Participant::Thread(11), Participant::Thread(12)];
        let of = |placement, series| {
            let parties = Parties { cpus: &[4, 5, 6], placement, partners: &partners, awake: &[20], series };
            places(&parties, |pid| Some(if pid == 12 { 4 } else { 5 }))
        };
        let all = |cpus: &[usize], restless: &[i32]| WatchedCpus {
            cpus: cpus.to_vec(),
            worker: true,
            processes: vec![10],
            restless: restless.to_vec(),
            ..WatchedCpus::default()
        };
        assert_eq!(of(Placement::SameCpu, false), [all(&[4], &[])]);
        assert_eq!(of(Placement::OneCpu, true), [all(&[4], &[])]);
        assert_eq!(of(Placement::CrossCpu, true), [all(&[4, 5], &[20])]);
        assert_eq!(of(Placement::Unpinned, false), [all(&[4, 5, 6], &[20])]);
        let own = WatchedCpus {
            cpus: vec![4],
            worker: true,
            threads_elsewhere: vec![11],
            ..WatchedCpus::default()
        };
        let (processes, threads, restless) = (vec![10], vec![11], vec![20]);
        let far = WatchedCpus { cpus: vec![5], processes, threads, restless, ..WatchedCpus::default() };
        assert_eq!(of(Placement::CrossCpu, false), [own, far]);
    }

    /// The share on the CPU of a thread that never sleeps, beside what its own clock says: in hundredths.
    fn beside_the_clock(neighbour: bool) -> Option<(i32, i32)> {
        use oscost_sys::memory::SharedWords;
        use oscost_sys::process::Child;
        use std::sync::atomic::Ordering;
        let words = SharedWords::new(2).expect("mmap");
        let child = Child::fork(|| {
            let cpu = affinity::allowed().expect("CPUs")[0];
            affinity::pin_to(cpu).expect("pinned");
            let busy = neighbour.then(|| {
                Child::fork(|| {
                    loop {
                        std::hint::spin_loop();
                    }
                })
                .expect("fork")
            });
            let (cpus, placement) = (&[cpu][..], Placement::OneCpu);
            let watch = Watch::begin(&Parties { cpus, placement, partners: &[], awake: &[], series: false });
            let now = || (clock::now_ns(), clock::read_ns(clock::Clock::ThreadCpuTime));
            let (start, used) = now();
            while clock::now_ns() - start < 200 * MS {}
            let (end, used) = (now().0, now().1 - used);
            let Some(share) = watch.end() else { return 9 };
            drop(busy);
            words.word(0).store((share * 100.0) as u64, Ordering::Release);
            words.word(1).store(100 - used * 100 / (end - start), Ordering::Release);
            0
        });
        let code = child.expect("fork").wait().expect("wait").code;
        let word = |number| i32::try_from(words.word(number).load(Ordering::Acquire)).expect("a share");
        (code == Some(0)).then(|| (word(0), word(1)))
    }

    #[test]
    fn a_neighbour_is_seen_as_the_clock_of_the_thread_has_it() {
        for neighbour in [false, true] {
            let Some((share, by_clock)) = beside_the_clock(neighbour) else {
                println!("SKIP a_neighbour_is_seen: /proc does not say");
                return;
            };
            assert!((share - by_clock).abs() <= 2, "{share} % beside {by_clock} %");
            assert!(!neighbour || share >= 20, "a busy neighbour has its part: {share} %");
        }
    }

    /// A process by its number, the same by its thread, and the worker itself: each is asked for what it used, and how often it slept.
    #[test]
    fn who_is_watched_is_asked_what_he_used() {
        let cpu = affinity::allowed().expect("CPUs")[0];
        let pid = std::process::id() as i32;
        let nobody = WatchedCpus { cpus: vec![cpu], ..WatchedCpus::default() };
        let process = WatchedCpus { processes: vec![pid], ..nobody.clone() };
        let restless = WatchedCpus { processes: vec![pid], restless: vec![pid], ..nobody.clone() };
        let thread = WatchedCpus { threads: vec![pid], ..nobody.clone() };
        let at = |place: &WatchedCpus| Moment::of(place);
        let [Some(none), Some(once), Some(twice), Some(main)] =
            [&nobody, &process, &restless, &thread].map(at)
        else {
            return println!("SKIP who_is_watched_is_asked_what_he_used: /proc does not say");
        };
        assert_eq!((none.own_ns, none.sleeps), (0, 0));
        assert!(once.own_ns > 0 && twice.own_ns >= 2 * once.own_ns);
        assert!(main.own_ns > 0 && main.own_ns <= twice.own_ns, "a thread's time is a part of its process'");
        assert!(twice.sleeps >= 2 * once.sleeps && main.sleeps >= once.sleeps);
    }
}
