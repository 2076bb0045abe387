//! Foreign time between invented moments, beside a neighbour, and of processes that are there.

use oscost_sys::pipe::{self, Pipe};
use oscost_sys::process::Child;

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

/// The share after 200 ms on one CPU, whose accounts had something before.
fn after(own_ns: u64, sleeps: u64, account: CpuAccount) -> f64 {
    let before = 7 * MS;
    let (start, account) = match account {
        CpuAccount::Busy(ns) => (CpuAccount::Busy(before), CpuAccount::Busy(before + ns)),
        CpuAccount::Idle { ns, grain_ns } => {
            (CpuAccount::Idle { ns: before, grain_ns }, CpuAccount::Idle { ns: before + ns, grain_ns })
        }
    };
    let start = Moment { sleeps: 3, ..at(1000, before, start) };
    let after = Moment { sleeps: 3 + sleeps, ..at(1200, before + own_ns, account) };
    share(&start, &after, &place(1), false)
}

#[test]
fn a_share_that_is_not_known_may_be_the_largest() {
    let of = |shares: &[Option<f64>]| worst(shares.iter().copied());
    assert_eq!((of(&[]), of(&[Some(0.0)])), (None, Some(0.0)));
    assert_eq!((of(&[Some(0.1), Some(0.3)]), of(&[Some(0.3), Some(0.1)])), (Some(0.3), Some(0.3)));
    assert_eq!((of(&[Some(0.3), None]), of(&[None, Some(0.3)])), (None, None));
}

#[test]
fn a_quota_may_have_stopped_what_nobody_could_read() {
    let stopped = [(Some(3), Some(3)), (Some(3), Some(4)), (None, Some(3)), (Some(3), None), (None, None)];
    assert_eq!(stopped.map(|(before, now)| was_throttled(before, now)), [false, true, true, true, true]);
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

/// What was missing before only makes the time between longer.
#[test]
fn idle_time_may_be_missing_at_the_end_alone() {
    let account = |ns, grain_ns| CpuAccount::Idle { ns, grain_ns };
    let share = |before, after| super::share(&at(0, 0, before), &at(200, 150 * MS, after), &place(1), false);
    assert_eq!(share(account(0, 0), account(45 * MS, 5 * MS)), 0.0);
    assert!((share(account(0, 5 * MS), account(45 * MS, 0)) - 0.025).abs() < 1e-9);
}

#[test]
fn the_way_into_idleness_and_out_of_it_is_nobodys() {
    // 4000 wake-ups by another CPU: 33 % ours, 62 % idle, 5 % on the way.
    assert_eq!(after(66 * MS, 4000, idle(124 * MS)), 0.0);
    // A neighbour that never lets the CPU be idle has no way to hide behind.
    assert!(after(66 * MS, 4000, idle(0)) > 0.66);
    assert!((after(66 * MS, 0, idle(124 * MS)) - 0.05).abs() < 1e-6, "without sleeps there is no such way");
}

#[test]
fn a_wait_is_a_neighbour_unless_partners_or_the_quota_explain_it() {
    let thread = |used_ns, waited_ns| Some(Thread { used_ns, waited_ns });
    let ticks = |ns| CpuAccount::Idle { ns, grain_ns: TICK_NS };
    let moments = |own_ns, sleeps, used_ns, waited_ns| {
        // All of it after something that was there before.
        let before = Moment { thread: thread(5 * MS, 9 * MS), ..at(0, 5 * MS, ticks(0)) };
        let thread = thread(5 * MS + used_ns, 9 * MS + waited_ns);
        let after = Moment { thread, sleeps, ..at(200, 5 * MS + own_ns, ticks(0)) };
        (before, after)
    };
    let share =
        |(before, after): (Moment, Moment), throttled| super::share(&before, &after, &place(1), throttled);
    // 3 % would be lost in a tick of idle time, and the wait of a thread that never sleeps is exact.
    let waited = moments(194 * MS, 0, 194 * MS, 6 * MS);
    assert!((share(waited, false) - 0.03).abs() < 1e-9);
    assert_eq!(share(waited, true), 0.0);
    // One that never rests may have run for a tick that is not told.
    let (before, after) = waited;
    let awake = WatchedCpus { restless: vec![7], ..place(1) };
    assert_eq!(super::share(&before, &after, &awake, false), 0.0);
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
    let own =
        WatchedCpus { cpus: vec![4], worker: true, threads_elsewhere: vec![11], ..WatchedCpus::default() };
    let (processes, threads, restless) = (vec![10], vec![11], vec![20]);
    let far = WatchedCpus { cpus: vec![5], processes, threads, restless, ..WatchedCpus::default() };
    assert_eq!(of(Placement::CrossCpu, false), [own, far]);
}

/// The share on the CPU of a thread that never sleeps, beside what its own clock says: in hundredths. And whether a quota may have
/// stopped it meanwhile.
fn beside_the_clock(neighbour: bool) -> Option<(i32, i32, bool)> {
    use oscost_sys::memory::SharedWords;
    use std::sync::atomic::Ordering;
    let words = SharedWords::new(3).expect("mmap");
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
        let throttled = watch.throttled;
        let now = || (clock::now_ns(), clock::read_ns(clock::Clock::ThreadCpuTime));
        let (start, used) = now();
        while clock::now_ns() - start < 200 * MS {}
        let (end, used) = (now().0, now().1 - used);
        let Some(share) = watch.end() else { return if CpuAccount::of(cpu).is_none() { 9 } else { 8 } };
        drop(busy);
        words.word(0).store((share * 100.0) as u64, Ordering::Release);
        words.word(1).store(100 - used * 100 / (end - start), Ordering::Release);
        let is_stopped = was_throttled(throttled, environment::throttled_periods());
        words.word(2).store(u64::from(is_stopped), Ordering::Release);
        0
    });
    let code = child.expect("fork").wait().expect("wait").code;
    assert_ne!(code, Some(8), "there is an account of this CPU, and no share");
    let word = |number| i32::try_from(words.word(number).load(Ordering::Acquire)).expect("a share");
    (code == Some(0)).then(|| (word(0), word(1), word(2) != 0))
}

#[test]
fn a_neighbour_is_seen_as_the_clock_of_the_thread_has_it() {
    for neighbour in [false, true] {
        let Some((share, by_clock, is_stopped)) = beside_the_clock(neighbour) else {
            println!("SKIP a_neighbour_is_seen: /proc does not say");
            return;
        };
        assert!(share - by_clock <= 2, "{share} % beside {by_clock} %");
        // The clock of the thread has the quota's pauses, which are nobody's share.
        if is_stopped {
            println!("SKIP a_neighbour_is_seen: a quota may have stopped this group");
            continue;
        }
        assert!(by_clock - share <= 2, "{share} % beside {by_clock} %");
        assert!(!neighbour || share >= 20, "a busy neighbour has its part: {share} %");
    }
}

/// A process by its number, the same by its thread, and the worker itself: each is asked for what it used, and how often it slept.
#[test]
fn who_is_watched_is_asked_what_he_used() {
    let cpu = affinity::allowed().expect("CPUs")[0];
    let pid = std::process::id() as i32;
    let nobody = WatchedCpus { cpus: vec![cpu], ..WatchedCpus::default() };
    // It has slept twice when it tells so.
    let (told, life) = (Pipe::new().expect("a pipe"), Pipe::new().expect("a pipe"));
    let child = Child::fork(|| {
        (0..2).for_each(|_| clock::pause(std::time::Duration::from_millis(1)));
        i32::from(pipe::write_byte(&told.writer).and_then(|()| pipe::read_byte(&life.reader)).is_err())
    });
    let child = child.expect("fork");
    let sleeper = WatchedCpus { processes: vec![child.pid()], ..nobody.clone() };
    pipe::read_byte(&told.reader).expect("it lives");
    let process = WatchedCpus { processes: vec![pid], ..nobody.clone() };
    let restless = WatchedCpus { processes: vec![pid], restless: vec![pid], ..nobody.clone() };
    let thread = WatchedCpus { threads: vec![pid], ..nobody.clone() };
    let at = |place: &WatchedCpus| Moment::of(place);
    let [Some(none), Some(once), Some(twice), Some(main)] = [&nobody, &process, &restless, &thread].map(at)
    else {
        return println!("SKIP who_is_watched_is_asked_what_he_used: /proc does not say");
    };
    assert_eq!((none.own_ns, none.sleeps), (0, 0));
    assert!(once.own_ns > 0 && twice.own_ns >= 2 * once.own_ns);
    assert!(main.own_ns > 0 && main.own_ns <= twice.own_ns, "a thread's time is a part of its process'");
    assert!(twice.sleeps >= 2 * once.sleeps && main.sleeps >= once.sleeps);
    assert!(at(&sleeper).is_some_and(|it| it.own_ns > 0 && it.sleeps >= 2));
    // A thread of the worker that is elsewhere has no part in what the worker used here.
    let here = WatchedCpus { cpus: vec![cpu], worker: true, ..WatchedCpus::default() };
    let without = WatchedCpus { threads_elsewhere: vec![pid], ..here.clone() };
    let (without, with) = (at(&without).expect("told"), at(&here).expect("told"));
    assert!(without.own_ns + main.own_ns <= with.own_ns, "{without:?} {with:?}");
    // The measuring thread has a wait of its own where its CPU is the only one.
    let worker = |cpus: Vec<usize>| WatchedCpus { cpus, worker: true, ..WatchedCpus::default() };
    let thread = |cpus| at(&worker(cpus)).map(|it| it.thread.is_some());
    let known = cpu_time::waited(pid).is_some();
    assert_eq!((thread(vec![cpu]), thread(vec![cpu, cpu])), (Some(known), Some(false)));
}

/// What runs is told of up to its last stop: before each look there is one.
#[test]
fn a_look_comes_after_a_sleep() {
    let begun = clock::now_ns();
    pause();
    let took = clock::now_ns() - begun;
    // A sandbox may refuse the sleep.
    assert!(took >= PAUSE_NS || clock::sleep_until(clock::now_ns()).is_err(), "{took}");
}
