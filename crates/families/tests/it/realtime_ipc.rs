//! Sessions of real-time messages: accounts balance, clients are served in order, and killed or stopped processes block
//! nobody.

use crate::support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use oscost_families::realtime_ipc::{self, Load, Loading, Shape, id_of};
use oscost_families::resolve;
use oscost_harness::Series;
use oscost_sys::process::{self, Child, Signal};
use oscost_sys::{affinity, namespace, usage};
use support::{in_child, judged, launched, series, skip, with_subject};

fn launch(series: &mut dyn Series, ticks: u64) -> Result<BTreeMap<&'static str, f64>, String> {
    let counted = launched(series, Some(ticks), 2000)?;
    assert_eq!(counted.operations, ticks);
    Ok(counted.quantities.into_iter().collect())
}

/// Runs `body` on the quantities of one session in a process of its own.
fn session(
    name: &'static str,
    shape: Shape,
    ticks: u64,
    body: impl FnOnce(&BTreeMap<&'static str, f64>) -> Result<(), String>,
) -> Result<(), String> {
    let id = id_of(name, &shape);
    let benchmark = resolve(&id).expect("an id");
    in_child(move |_| with_subject(benchmark, |subject| body(&launch(series(subject)?, ticks)?)))
}

fn cpus() -> usize {
    affinity::allowed().expect("CPUs").len()
}

#[test]
fn every_transport_keeps_its_account() {
    for name in realtime_ipc::transports() {
        let spread = realtime_ipc::never_sleeps(name);
        let clients = if spread { 1 } else { 3 };
        if spread && cpus() < 2 {
            skip(name, "it needs two CPUs");
            continue;
        }
        let outcome = session(name, Shape::of(spread, clients), 50, |told| {
            let sum = told["received"] + told["dropped"] + told["missed"];
            match (told["sent"] == sum, told["sent"] == 50.0 * clients as f64) {
                (true, true) => Ok(()),
                _ => Err(format!("{told:?}")),
            }
        });
        judged(name, outcome);
    }
}

#[test]
fn a_wait_queue_is_served_from_its_head_and_a_futex_in_order() {
    let orders = [
        ("poll_broadcast", "reversed_share"),
        ("futex_broadcast", "same_order_share"),
        ("bpf", "same_order_share"),
    ];
    for (name, quantity) in orders {
        let outcome = session(name, Shape::of(false, 5), 100, |told| {
            if told.get("real_time") != Some(&1.0) {
                return Err("SKIP without real-time priority others get in between".into());
            }
            // On a loaded machine a tick may be late for some.
            if told[quantity] > 0.8 { Ok(()) } else { Err(format!("{quantity} is {}", told[quantity])) }
        });
        judged(name, outcome);
    }
}

#[test]
#[ignore = "longer: it repeats"]
fn two_hundred_clients_work() {
    let shape = Shape { tick_ns: 10_000_000, ..Shape::of(false, 200) };
    for name in ["futex_broadcast", "unix_datagram", "bpf"] {
        let all_sent = |told: &BTreeMap<_, f64>| match told["sent"] {
            4000.0 => Ok(()),
            _ => Err(format!("{told:?}")),
        };
        judged(name, session(name, shape, 20, all_sent));
    }
}

#[test]
fn large_messages_arrive_whole() {
    let shape = Shape { size: 65_536, tick_ns: 5_000_000, ..Shape::of(false, 2) };
    for name in ["pipe", "unix_stream", "tcp", "unix_seqpacket"] {
        judged(name, session(name, shape, 20, |_| Ok(())));
    }
}

/// Processes of which `pid` is the parent, oldest first.
fn children(pid: i32) -> Vec<i32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Does `act` to the participants of a session of so many ticks that is under way; what became of the session, and who they were.
fn disturbed(name: &'static str, ticks: u64, act: impl Fn(i32, &[i32])) -> (Result<(), String>, Vec<i32>) {
    let id = id_of(name, &Shape::of(false, 3));
    let benchmark = resolve(&id).expect("an id");
    let pipe = oscost_sys::pipe::Pipe::new().expect("pipe");
    let worker = Child::fork(|| {
        let _ = namespace::isolate(false);
        let outcome = with_subject(benchmark, |subject| launch(series(subject)?, ticks).map(drop));
        let said = outcome.err().unwrap_or_default();
        let _ = oscost_sys::pipe::write(&pipe.writer, format!("{said}\n").as_bytes());
        0
    })
    .expect("fork");
    let begun = Instant::now();
    let mut participants = Vec::new();
    while participants.len() < 4 && begun.elapsed() < Duration::from_secs(60) {
        participants = children(worker.pid());
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(50));
    act(worker.pid(), &participants);
    let ended = worker.wait_at_most(60_000_000_000);
    drop(pipe.writer);
    let mut said = vec![0; 4096];
    let length = oscost_sys::pipe::read(&pipe.reader, &mut said).expect("read");
    let said = String::from_utf8_lossy(&said[..length]).trim().to_owned();
    let outcome = match (ended, said.is_empty()) {
        (Err(error), _) => Err(format!("the worker hangs: {error}")),
        (Ok(_), true) => Ok(()),
        (Ok(_), false) => Err(said),
    };
    (outcome, participants)
}

/// So many ticks, of 1 ms each, that whoever is to be disturbed still goes on then.
const LONG: u64 = 2000;

/// Whether all end.
fn all_gone(pids: &[i32]) -> bool {
    let begun = Instant::now();
    // A process that has ended keeps its number until it is waited for.
    let lives = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    };
    while pids.iter().any(lives) && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    !pids.iter().any(lives)
}

#[test]
#[ignore = "longer: it waits"]
fn a_client_that_is_stopped_for_a_while_is_accounted_for() {
    for name in ["unix_datagram", "futex_broadcast", "pipe"] {
        let (outcome, participants) = disturbed(name, 400, |_, participants| {
            if let Some(&client) = participants.first() {
                let _ = process::signal(client, Signal::Stop);
                std::thread::sleep(Duration::from_millis(100));
                let _ = process::signal(client, Signal::Continue);
            }
        });
        judged(name, outcome);
        assert!(all_gone(&participants), "{name}");
    }
}

#[test]
#[ignore = "longer: it kills"]
fn whoever_is_killed_or_stays_stopped_ends_the_session_and_nothing_hangs() {
    for name in ["unix_datagram", "futex_broadcast", "condition_variable"] {
        for (what, who, signal) in [
            ("a client killed", 0, Signal::Kill),
            ("the server killed", 3, Signal::Kill),
            ("a client stopped", 1, Signal::Stop),
        ] {
            let (outcome, participants) = disturbed(name, LONG, |_, participants| {
                let _ = participants.get(who).map(|&pid| process::signal(pid, signal));
            });
            assert!(outcome.is_err(), "{name}, {what}: such a session does not count");
            assert!(all_gone(&participants), "{name}, {what}: nobody is left");
        }
    }
}

#[test]
#[ignore = "longer: it kills"]
fn nobody_outlives_a_killed_controller() {
    let (_, participants) = disturbed("futex_broadcast", LONG, |worker, _| {
        let _ = process::signal(worker, Signal::Kill);
    });
    assert_eq!(participants.len(), 4);
    assert!(all_gone(&participants), "nobody is left");
}

/// A session with this load: its quantities, or why there are none.
fn loaded(load: Load) -> Result<BTreeMap<&'static str, f64>, String> {
    loaded_for(600, load)
}

fn loaded_for(ticks: usize, load: Load) -> Result<BTreeMap<&'static str, f64>, String> {
    let shape = Shape { ticks: Some(ticks), load: Some(load), ..Shape::of(false, 2) };
    let benchmark = resolve(&id_of("futex_broadcast", &shape)).expect("an id");
    let told = tempfile(|path| {
        in_child(|_| {
            let counted = with_subject(benchmark, |subject| launched(series(subject)?, None, 20))?;
            let line = |(name, value): &(&str, f64)| format!("{name} {value}\n");
            let lines: String = counted.quantities.iter().map(line).collect();
            std::fs::write(path, lines).map_err(|error| error.to_string())
        })
    })?;
    Ok(told
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, value)| (&*String::leak(name.to_owned()), value.parse().expect("a number")))
        .collect())
}

/// What `body` leaves in a file.
fn tempfile(body: impl FnOnce(&str) -> Result<(), String>) -> Result<String, String> {
    let path = std::env::temp_dir().join(format!("oscost-{:x}", oscost_sys::random::bits().expect("bits")));
    let path = path.to_str().expect("text").to_owned();
    let outcome = body(&path);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    outcome.map(|()| text)
}

#[test]
fn a_load_has_its_part_of_the_session_and_both_parts_are_told() {
    for load in
        [Load::Cpu, Load::Memory, Load::Transfer, Load::TransferFsync, Load::Network, Load::StartProgram]
    {
        // A slow disk, or others on the CPU, may leave a load no whole turn in a third of a second: then it gets longer.
        let mut tries = [600, 600, 5000, 30_000]
            .into_iter()
            .map(|ticks| loaded_for(ticks, load))
            .skip_while(|told| told.as_ref().is_ok_and(|told| told["load_rounds"] < 1.0));
        let told = match tries.next().unwrap_or_else(|| panic!("{load:?} had no turn in half a minute")) {
            Ok(told) => told,
            Err(why) => {
                judged(load.name(), Err(why));
                continue;
            }
        };
        assert_eq!(told["sent"], told["received"] + told["dropped"] + told["missed"], "{load:?}");
        // Half of the ticks that count, 1 ms apart: on a loaded machine it goes on for longer.
        assert!(told["load_time"] >= 250e6, "{load:?}: {told:?}");
        for part in ["idle", "busy"] {
            let of = |name: &str| told[format!("{part}_{name}").as_str()];
            assert!(of("p50") <= of("p99") && of("p99") <= of("peak"), "{load:?}: {told:?}");
            assert!(of("range_low") <= of("range_high") && of("mean") > 0.0, "{load:?}: {told:?}");
        }
        assert_eq!(told["busy_peak"], told["latency_max"], "the other quantities are of the busy part");
    }
}

#[test]
fn a_load_that_fails_is_told_in_its_own_words() {
    // A busy machine may not have come to the command when a short session ends.
    let failing = |command: &str| {
        let outcome = |ticks| loaded_for(ticks, Load::command(command).expect("a command")).err();
        [600, 5000, 30_000].into_iter().find_map(outcome).expect("it fails")
    };
    let why = failing("echo 'the disk is on fire' >&2; exit 3");
    assert!(
        why.contains("the load command failed: the command ended with exit code 3: the disk is on fire"),
        "{why}"
    );
    let missing = failing("oscost-no-such-program");
    assert!(missing.contains("exit code 127"), "{missing}");
}

#[test]
#[ignore = "longer: it kills"]
fn a_load_that_is_killed_is_no_load() {
    let stopped = |kills: bool| {
        in_child(|_| {
            let one = affinity::allowed().map_err(|error| error.to_string())?[0];
            let mut load = Loading::ready(Load::Cpu, &[one]).map_err(|unable| format!("{unable:?}"))?;
            load.go().map_err(|error| error.to_string())?;
            let keepers = children(std::process::id().cast_signed());
            let works: Vec<i32> = keepers.iter().flat_map(|&keeper| children(keeper)).collect();
            let ([_], &[work]) = (keepers.as_slice(), works.as_slice()) else {
                return Err(format!("SKIP /proc does not tell who is at work: {keepers:?} {works:?}"));
            };
            if kills {
                process::signal(work, Signal::Kill).map_err(|error| error.to_string())?;
                // Its keeper sees it, and ends.
                assert!(all_gone(&keepers));
            }
            load.stop().map(drop)
        })
    };
    judged("a_load_that_is_killed_is_no_load", stopped(false));
    match stopped(true) {
        Err(words) if words.contains("it was killed before its end") => {}
        Err(words) if words.contains("SKIP") => skip("a_load_that_is_killed_is_no_load", &words),
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "longer: it kills"]
fn nothing_that_a_load_started_is_left() {
    // It leaves its session, its group and its parent, and heeds no signal but the one that nobody can refuse.
    let mark = format!("{}.25", 10_000 + std::process::id() % 10_000);
    let command =
        format!("trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' & sleep {mark}");
    let told = loaded(Load::command(&command).expect("a command"));
    judged("nothing_that_a_load_started_is_left", told.map(drop));
    assert!(nobody_sleeps(&mark));
}

#[test]
#[ignore = "longer: it kills"]
fn nothing_of_a_load_outlives_a_killed_controller() {
    let mark = format!("{}.5", 20_000 + std::process::id() % 10_000);
    let load = Load::command(&format!("setsid sleep {mark} & sleep {mark}")).expect("a command");
    let shape = Shape { ticks: Some(3000), load: Some(load), ..Shape::of(false, 1) };
    let benchmark = resolve(&id_of("futex_broadcast", &shape)).expect("an id");
    let worker = Child::fork(|| {
        let isolated = namespace::isolate(false).is_ok();
        let outcome = with_subject(benchmark, |subject| launched(series(subject)?, None, 40));
        i32::from(outcome.is_err() || !isolated)
    })
    .expect("fork");
    let begun = Instant::now();
    while sleepers(&mark) < 2 && begun.elapsed() < Duration::from_secs(60) && !worker.has_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
    if sleepers(&mark) < 2 {
        // Without namespaces the worker's supervisor ends the group.
        return skip("nothing_of_a_load_outlives_a_killed_controller", "the load did not come up here");
    }
    process::signal(worker.pid(), Signal::Kill).expect("a worker");
    assert!(nobody_sleeps(&mark));
}

#[cfg(feature = "window")]
#[test]
#[ignore = "longer: it starts a display"]
fn a_window_is_drawn_where_there_is_a_display_and_told_where_there_is_none() {
    use std::process::{Command, Stdio};
    let display = format!(":{}", 200 + std::process::id() % 10_000);
    let with = |display: &str| {
        // The display is found by the environment, which a test may not change for the others: one process for each.
        let exe = std::env::current_exe().expect("a test");
        let output = Command::new(exe)
            .args(["--exact", "realtime_ipc::window_of_the_display", "--nocapture", "--ignored"])
            .env("OSCOST_TEST_WINDOW", "yes")
            .env("DISPLAY", display)
            .output()
            .expect("a test");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let told = with(":59321");
    assert!(told.contains("no display can be reached"), "{told}");
    let screen = ["-screen", "0", "1024x768x16", "-nolisten", "tcp", "-noreset"];
    let server =
        Command::new("Xvfb").arg(&display).args(screen).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut server) = server else {
        return skip("a_window_is_drawn_where_there_is_a_display", "there is no Xvfb");
    };
    let begun = Instant::now();
    let mut told = String::new();
    while !told.contains("drawn") && begun.elapsed() < Duration::from_secs(60) {
        told = with(&display);
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = process::signal(i32::try_from(server.id()).expect("a pid"), Signal::Terminate);
    server.wait().expect("it ends");
    assert!(told.contains("drawn"), "{told}");
}

/// Started by the test above with a display of its choice.
#[cfg(feature = "window")]
#[test]
#[ignore = "started by another test"]
fn window_of_the_display() {
    if std::env::var_os("OSCOST_TEST_WINDOW").is_none() {
        return;
    }
    match loaded(Load::Window) {
        Ok(told) if told["load_rounds"] >= 1.0 => println!("drawn {} times", told["load_rounds"]),
        Ok(told) => println!("not once: {told:?}"),
        Err(why) => println!("{why}"),
    }
}

/// Whether all processes with this argument end.
fn nobody_sleeps(argument: &str) -> bool {
    let begun = Instant::now();
    while sleepers(argument) > 0 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    sleepers(argument) == 0
}

/// How many processes have this argument.
fn sleepers(argument: &str) -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    processes
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .filter(|line| line.split(|&byte| byte == 0).any(|word| word == argument.as_bytes()))
        .count()
}

#[test]
#[ignore = "longer: it withholds"]
fn low_limits_are_told_in_words() {
    use usage::{Limit, limit};
    for (name, resource, soft, words) in [
        ("posix_queue", Limit::MessageQueues, 1000, "RLIMIT_MSGQUEUE"),
        ("pipe", Limit::OpenFiles, 8, "open files"),
    ] {
        let id = id_of(name, &Shape::of(false, 10));
        let benchmark = resolve(&id).expect("an id");
        let outcome = in_child(move |_| {
            limit(resource, soft, soft).map_err(|error| error.to_string())?;
            match with_subject(benchmark, |_| Ok(())) {
                Err(why) if why.starts_with("SKIP unsupported") && why.contains(words) => Ok(()),
                other => Err(format!("{other:?}").replace("SKIP", "skip")),
            }
        });
        judged(name, outcome);
    }
}
