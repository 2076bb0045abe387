//! Programs that end, hang, talk and stop, in place of workers.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::*;
use crate::supervisor::plain::tests::ended_while_it_waits;

#[test]
fn a_death_is_told_by_its_code_or_signal_and_the_first_words() {
    let of = |code, status: Option<i32>, words: &str| {
        death(code, &status.map(ExitStatus::from_raw), words.as_bytes())
    };
    assert_eq!(of(Some(3), Some(3 << 8), ""), "the worker ended with exit code 3");
    assert_eq!(
        of(Some(3), None, "\n  \n it broke \nand more"),
        "the worker ended with exit code 3: it broke"
    );
    assert_eq!(of(None, Some(9), "x"), "the worker was ended by signal 9: x");
    assert_eq!(of(None, None, "  \n"), "the worker vanished");
}

/// A shell in place of a worker.
fn shell(script: &str) -> Running {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running { child: command.process_group(0).spawn().expect("a shell"), status: None }
}

/// What is heard of it until it ends or its time is over, how long it was heard, and how it ended.
fn heard(script: &str, deadline_ns: u64, interrupted: bool) -> (Heard, u64, Option<ExitStatus>) {
    let (mut running, clock) = (shell(script), RunClock::default());
    let start_ns = clock.now_ns();
    let heard = running.listen(deadline_ns, &clock, &AtomicBool::new(interrupted));
    let took_ns = clock.now_ns() - start_ns;
    let code = running.end_within(matches!(heard.why, Why::Ended), LONG_NS);
    assert_eq!(code, running.status.and_then(|status| status.code()));
    (heard, took_ns, running.status)
}

const LONG_NS: u64 = 600_000_000_000;

#[test]
fn what_a_worker_says_and_how_it_ends_is_heard() {
    let (it, _, status) = heard("echo report; echo words >&2; sleep 0.02; echo more; exit 3", LONG_NS, false);
    assert!(matches!(it.why, Why::Ended));
    assert_eq!((&it.report[..], &it.words[..]), (&b"report\nmore\n"[..], &b"words\n"[..]));
    assert_eq!(status.and_then(|status| status.code()), Some(3));
    let (it, ..) = heard("exec >&-; sleep 0.02; echo words >&2", LONG_NS, false);
    assert_eq!(it.words, b"words\n", "who has closed one stream is heard on the other");
}

/// However much it complains, a bounded part of it is kept, and all of its report.
#[test]
fn the_beginning_of_many_words_is_kept() {
    let script = "for i in 1 2 3; do printf '%3000s' $i >&2; printf '%3000s' $i; done";
    let (it, ..) = heard(script, LONG_NS, false);
    assert_eq!((it.words.len(), it.report.len()), (MOST_WORDS, 9000));
    assert_eq!(it.words[2999], b'1');
}

#[test]
fn a_worker_is_ended_gently_at_its_deadline_and_when_the_user_ends_the_run() {
    let is_late = |it: &Heard| matches!(it.why, Why::Deadline);
    for script in ["sleep 600", "kill -STOP $$; sleep 600"] {
        let (it, took_ns, status) = heard(script, 50_000_000, false);
        assert!(is_late(&it) && took_ns >= 50_000_000, "{took_ns}");
        assert_eq!(status.and_then(|status| status.signal()), Some(15), "{script}");
    }
    let (it, took_ns, _) = heard("sleep 600", LONG_NS, true);
    assert!(matches!(it.why, Why::Interrupted) && took_ns < LONG_NS);
}

/// It cleans up, and ends as it likes.
#[test]
fn a_worker_that_is_ended_has_its_patience() {
    let mut running = shell("trap 'sleep 0.02; exit 9' TERM; while :; do sleep 0.01; done");
    // Whether the shell catches the signal by now: without that it would only die of it.
    let catches = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask >> 14 & 1 == 1)
    };
    let path = format!("/proc/{}/status", running.pid());
    while !catches(&std::fs::read_to_string(&path).expect("its status")) {
        std::thread::yield_now();
    }
    assert_eq!(running.end_within(false, LONG_NS), Some(9));
    assert_eq!(running.end(false), Some(9), "it is told again");
    // Without any it is killed.
    let mut deaf = shell("trap '' TERM; while :; do sleep 0.01; done");
    deaf.end_within(false, 0);
    assert!(deaf.status.is_some_and(|status| status.signal().is_some()));
}

/// What a worker leaves holds its streams, and is no reason to wait; it is ended with its group.
#[test]
fn a_partner_that_is_left_is_not_waited_for_and_ended() {
    let (it, took_ns, status) = heard("sleep 600 & echo $!", LONG_NS, false);
    assert!(matches!(it.why, Why::Ended) && took_ns < LONG_NS);
    assert_eq!(status.and_then(|status| status.code()), Some(0));
    let pid = String::from_utf8_lossy(&it.report).trim().to_owned();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let gone = |stat: &str| stat.is_empty() || stat.contains(") Z");
    while !gone(&state()) {
        std::thread::yield_now();
    }
}

#[test]
fn who_was_set_up_or_ran_is_told_by_the_progress_word() {
    let member = |word: u64| match lost("it fell".to_owned(), &AtomicU64::new(word)) {
        Lost::Worker { what, member, late: false } if what == "it fell" => member,
        other => panic!("{other:?}"),
    };
    let words = [0, 1, 3, SETTING_UP, SETTING_UP + 2];
    assert_eq!(words.map(member), [None, Some(0), Some(2), Some(0), Some(2)]);
}

/// A report may be as long as that, and what sends more is not heard to its end.
#[test]
fn the_longest_report_is_heard_and_nothing_that_is_longer() {
    for (more, is_too_much) in [(0, false), (1, true)] {
        let bytes = MOST_REPORT + more;
        let (it, ..) = heard(&format!("head -c {bytes} /dev/zero"), LONG_NS, false);
        assert_eq!((matches!(it.why, Why::TooMuch), it.report.len()), (is_too_much, bytes));
    }
}

#[test]
fn a_run_may_be_ended_while_a_worker_says_nothing() {
    let (mut running, interrupted) = (shell("exec sleep 600"), AtomicBool::new(false));
    let heard =
        ended_while_it_waits(&interrupted, || running.listen(LONG_NS, &RunClock::default(), &interrupted));
    assert!(matches!(heard.why, Why::Interrupted));
}

#[test]
fn a_worker_goes_with_the_value_that_stands_for_it() {
    let running = shell("exec sleep 600");
    let pidfd = process::pidfd(running.pid());
    let path = format!("/proc/{}", running.pid());
    assert!(std::path::Path::new(&path).exists());
    drop(running);
    if let Ok(pidfd) = pidfd {
        assert_eq!(readiness::poll_readable(&[&pidfd], 0), Ok(vec![true]), "it has ended");
    }
}

#[test]
fn who_was_lost_at_the_deadline_is_told_from_who_was_not() {
    let lost = || Lost::worker("it fell", Some(2));
    let late = Lost::Worker { what: "it fell".to_owned(), member: Some(2), late: true };
    assert_eq!((lost().at_deadline(), Lost::Interrupted.at_deadline()), (late.clone(), Lost::Interrupted));
    assert_ne!(lost(), late);
}

/// A supervisor that starts nobody: what it knows of its machine.
#[test]
fn a_supervisor_has_the_time_and_what_is_granted_here() {
    let interrupted = Arc::new(AtomicBool::new(false));
    let Ok(supervisor) = Supervisor::new(Arc::clone(&interrupted)) else {
        return println!("SKIP a_supervisor_has_the_time: nobody can be started here");
    };
    let workers: &dyn Workers = &supervisor;
    let before = clock::now_ns();
    assert!((before..=clock::now_ns() + LONG_NS).contains(&workers.now_ns()) && supervisor.slept_ns() == 0);
    let (least, now) = (environment::throttled_periods(), workers.throttled_periods());
    assert!(least.is_some() == now.is_some() && least <= now);
    assert!(!workers.is_interrupted() && !supervisor.is_interrupted());
    interrupted.store(true, Ordering::Relaxed);
    assert!(workers.is_interrupted() && supervisor.is_interrupted());
    let granted = matches!(oscost_sys::namespace::probe(), Ok(None));
    assert_eq!((supervisor.is_private(), supervisor.janitor.is_none()), (granted, granted));
}

/// This program of tests in place of a worker: it knows no test of such a name, and says so.
#[test]
fn what_was_heard_of_a_job_before_is_not_said_of_the_next_one() {
    let Ok(supervisor) = Supervisor::new(Arc::default()) else {
        return println!("SKIP what_was_heard_of_a_job_before: nobody can be started here");
    };
    supervisor.words.word(0).store(SETTING_UP + 1, Ordering::Relaxed);
    let task = crate::protocol::message::Task::Clock;
    let (ids, cpus) = (vec!["a".to_owned(), "b".to_owned()], vec![0]);
    let job = Job { ids, task, cpus, seed: 1, isolate: true, refused: None, directory: None };
    let rubbish = || Err(Lost::worker("the worker sent rubbish instead of a report", None));
    assert_eq!(supervisor.run(job.clone(), LONG_NS), rubbish());
    assert_eq!(supervisor.words.word(0).load(Ordering::Relaxed), 0);
    let late = Lost::worker("the worker did not end within 0 ms, and was ended", None).at_deadline();
    assert_eq!(supervisor.run(job.clone(), 0), Err(late));
    supervisor.interrupted.store(true, Ordering::Relaxed);
    assert_eq!(supervisor.run(job, LONG_NS), Err(Lost::Interrupted));
}

/// As runs left them that were killed with their janitor.
#[test]
fn a_start_removes_what_the_dead_left_in_memory() {
    let Ok(memory) = ledger::memory() else {
        return println!("SKIP a_start_removes_what_the_dead_left_in_memory: no place here");
    };
    let bits = || oscost_sys::random::bits().expect("bits");
    let (folder, ledger) = (format!("oscost-{:032x}", bits()), format!("oscost-ledger-{:032x}", bits()));
    if memory.make_folder(folder.as_ref()).is_err() {
        return println!("SKIP a_start_removes_what_the_dead_left_in_memory: it cannot be written");
    }
    let named = memory.unnamed_file().and_then(|file| memory.name_file(&file, ledger.as_ref()));
    let is_left = |name: &String| memory.names().expect("readable").iter().any(|it| it == name.as_str());
    assert!(is_left(&folder) || named.is_err());
    let patience = clock::now_ns() + LONG_NS / 10;
    // Another start may hold a lock of one of them, and then removes it.
    while (is_left(&folder) || is_left(&ledger)) && clock::now_ns() < patience {
        if Supervisor::new(Arc::default()).is_err() {
            return println!("SKIP a_start_removes_what_the_dead_left_in_memory: nobody can be started here");
        }
    }
    assert!(!is_left(&folder) && !is_left(&ledger));
}
