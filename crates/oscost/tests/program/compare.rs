//! `oscost compare`: stored results, two commands side by side; verdicts as exit codes. Bisecting is in `bisect.rs`.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oscost_results::{RunResult, Status};

use crate::support::{Done, Home, PROGRAM, one_at_a_time, processes, within};

/// The step of a clock is what it is, however busy the machine: what is twice or half of it is certainly slower or faster.
pub const ID: &str = "clock/step/monotonic";

/// A home with `now.json`, a quick run of one id, and `half.json`, the same with half of every cost.
pub fn home() -> (Home, PathBuf, PathBuf) {
    let home = Home::new();
    let (now, half) = (home.path().join("now.json"), home.path().join("half.json"));
    home.measure(&["run", "--quick", "--json", "now.json", ID]).well();
    changed(&now, &half, &scaled(0.5));
    (home, now, half)
}

/// Every launch with another cost.
pub fn scaled(factor: f64) -> impl Fn(&mut RunResult) {
    move |result| {
        for launch in result.figures.iter_mut().flat_map(|figure| &mut figure.launches) {
            launch.quantities.values_mut().for_each(|value| *value *= factor);
        }
    }
}

pub fn changed(from: &std::path::Path, to: &std::path::Path, change: &dyn Fn(&mut RunResult)) {
    let mut result: RunResult = oscost_results::load(from).expect("a result");
    change(&mut result);
    oscost_results::save_as(to, &result).expect("room on the disk");
}

/// The code of a comparison, and its last line.
fn ended(done: &Done) -> (Option<i32>, &str) {
    (done.code, done.stdout.lines().last().unwrap_or_default())
}

#[test]
fn verdicts_are_words_and_codes() {
    let (home, ..) = home();
    let same = home.ask(&["compare", "now.json", "now.json"]);
    same.well().shows("machine     the same").shows("1 within 5 %, 0 slower, 0 faster, 0 unclear");
    same.says("now stands on both sides");
    let slower = home.ask(&["compare", "half.json", "now.json"]);
    slower.omits("both sides").well().shows("1 slower").shows("+100.0 %");
    home.ask(&["compare", "now.json", "half.json"]).well().shows("1 faster").shows("-50.0 %");
    let code = |arguments: &[&str]| home.ask(&[&["compare"], arguments].concat()).code;
    assert_eq!(code(&["half.json", "now.json", "--fail-on", "slower"]), Some(1));
    assert_eq!(code(&["half.json", "now.json", "--fail-on", "slower,unclear"]), Some(1));
    assert_eq!(code(&["half.json", "now.json", "--fail-on", "unclear"]), Some(0));
    assert_eq!(code(&["half.json", "now.json", "--fail-on", "slower", "--threshold", "150%"]), Some(0));
    assert_eq!(code(&["now.json", "half.json", "--fail-on", "slower,unclear"]), Some(0));
    assert_eq!(
        code(&["half.json", "now.json", "now.json", "--fail-on", "slower"]),
        Some(1),
        "against a base"
    );
    let json = home.ask(&["compare", "half.json", "now.json", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.well().stdout).unwrap();
    assert_eq!((&json["format"], &json["version"]), (&"oscost-comparison".into(), &2.into()));
    assert_eq!(json["figures"][0]["verdict"], "slower");
    let matrix = home.ask(&["compare", "now.json", "half.json", "--base", "half.json"]);
    matrix.well().shows("half \u{2192} now");
    home.ask(&["compare", "now.json", "half.json", "now.json", "-o", "matrix.txt"]).well();
    assert!(std::fs::read_to_string(home.path().join("matrix.txt")).unwrap().contains("All against now"));
}

/// A baseline is measured because another figure is divided by it: it is shown and judged, and no gate rests on it.
#[test]
fn a_baseline_that_nobody_asked_for_fails_no_job() {
    let (home, now, half) = home();
    let with_baseline = |from: &std::path::Path, to: &str| {
        changed(from, &home.path().join(to), &|result| {
            let mut asked = oscost_results::load(&now).unwrap().figures.remove(0);
            asked.id = "semaphore/system_v".to_owned();
            result.figures.push(asked);
            result.plan.patterns = vec!["semaphore/system_v".to_owned()];
            let pair = serde_json::json!(
                {"of": "semaphore/system_v", "to": ID, "quantity": "paired", "unit": "ratio", "value": 1.0}
            );
            result.ratios = vec![serde_json::from_value(pair).unwrap()];
        });
    };
    with_baseline(&half, "a.json");
    with_baseline(&now, "b.json");
    let done = home.ask(&["compare", "a.json", "b.json", "--fail-on", "slower"]);
    done.well().shows("1 slower").shows("1 slower figure is a baseline that nobody asked for");
    changed(&home.path().join("b.json"), &home.path().join("asked.json"), &|result| {
        result.plan.patterns.push(ID.to_owned());
    });
    let done = home.ask(&["compare", "a.json", "asked.json", "--fail-on", "slower"]);
    assert_eq!(done.code, Some(1), "asked for in one of the two: {done:?}");
    let done = home.ask(&["compare", "a.json", "b.json", "--fail-on", "slower", "--only", ID]);
    assert_eq!(done.code, Some(1), "asked for now: {done:?}");
    // A word may mean what it does not name.
    for name in ["a.json", "b.json"] {
        changed(&home.path().join(name), &home.path().join(name), &|result| {
            result.plan.patterns = vec!["system_v".to_owned()];
        });
    }
    let done = home.ask(&["compare", "a.json", "b.json", "--fail-on", "slower"]);
    assert_eq!(done.code, Some(1), "{done:?}");
}

/// Without names the newest two that can be compared are, and what lies between them is told.
#[test]
#[ignore = "longer: it measures for long"]
fn the_newest_comparable_pair_is_compared() {
    let (home, now, _) = home();
    let runs = home.runs();
    std::fs::read_dir(&runs).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    let store = |day: u32, change: &dyn Fn(&mut RunResult)| {
        changed(&now, &runs.join(format!("2026-11-{day:02}T10-00-00Z-9f2c41d0.json")), &|result| {
            result.started = format!("2026-11-{day:02}T10:00:00Z");
            change(result);
        });
    };
    store(10, &|_| {});
    home.ask(&["compare"]).refused(2, "two are needed");
    store(11, &|result| result.machine.cpu_model = "another".into());
    store(12, &scaled(2.0));
    let done = home.ask(&["compare"]);
    let shown = &done.well().stdout;
    assert!(shown.contains("@-3 2026-11-10 10:00") && shown.contains("@-1 2026-11-12 10:00"), "{done:?}");
    assert!(
        shown.contains("1 slower") && done.stderr.contains("@-2 is skipped: of another machine"),
        "{done:?}"
    );
    let newest = home.ask(&["report"]);
    assert_eq!(newest.well().stdout, home.ask(&["report", "@-1"]).well().stdout, "report shows the newest");
}

/// A gate that could not judge says so with a code, or at least in its last line.
#[test]
fn no_gate_passes_blind() {
    let (home, now, _) = home();
    let path = |name: &str| home.path().join(name);
    changed(&now, &path("boot.json"), &|result| {
        scaled(2.0)(result);
        result.conditions.boot_id = Some("another".into());
    });
    changed(&now, &path("failed.json"), &|result| {
        result.figures[0].status = Status::Failed;
        result.figures[0].id += "/failed";
        let mut whole: RunResult = oscost_results::load(&now).unwrap();
        result.figures.push(whole.figures.remove(0));
    });
    changed(&path("failed.json"), &path("measured.json"), &|result| {
        result.figures[0].status = Status::Measured
    });
    const ONE_OF_ONE: &str = "1 of 1 figure could not be judged.";
    for (b, last) in [("boot.json", ONE_OF_ONE), ("failed.json", "1 of 2 figures could not be judged.")] {
        let a = if b == "boot.json" { "now.json" } else { "measured.json" };
        for (format, on, code) in
            [("text", "slower", 0), ("text", "unclear", 3), ("markdown", "slower,unclear", 3)]
        {
            let done = home.ask(&["compare", a, b, "--fail-on", on, "--format", format]);
            assert_eq!(ended(&done), (Some(code), last), "{done:?}");
        }
    }
    // Where nothing else was measured, it was withheld all the same, and is no misuse.
    let one = |from: &str, to: &str| {
        changed(&path(from), &path(to), &|result| result.figures.truncate(1));
    };
    one("failed.json", "one_failed.json");
    one("measured.json", "one_measured.json");
    for (a, b) in [("one_measured.json", "one_failed.json"), ("one_failed.json", "one_failed.json")] {
        for on in ["slower", "unclear"] {
            home.ask(&["compare", a, b, "--fail-on", on]).refused(3, "was withheld");
        }
        home.ask(&["compare", a, b]).refused(3, "was withheld");
    }
    // What failed on both sides is nothing that anybody could have judged, either.
    let done = home.ask(&["compare", "failed.json", "failed.json", "--fail-on", "slower,unclear"]);
    assert_eq!(ended(&done), (Some(3), "1 of 2 figures could not be judged."), "{done:?}");
}

/// A reader that has seen enough changes no verdict.
#[test]
fn a_closed_pipe_passes_no_gate() {
    let (home, ..) = home();
    let mut command = home.command(&["compare", "half.json", "now.json", "--fail-on", "slower"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn boots_are_sides_of_several_results() {
    let (home, now, _) = home();
    let boots = |side: &str, factor: f64, count: u32| -> String {
        let names = (0..count).map(|boot| {
            let name = format!("{side}{boot}.json");
            changed(&now, &home.path().join(&name), &|result| {
                scaled(factor * (1.0 + 0.01 * f64::from(boot)))(result);
                result.conditions.boot_id = Some(format!("{side} {boot}"));
            });
            name
        });
        names.collect::<Vec<_>>().join(",")
    };
    let (before, after) = (boots("before", 1.0, 3), boots("after", 2.0, 3));
    home.ask(&["compare", "--before", &before, "--after", &after, "--fail-on", "slower"])
        .ends(1)
        .shows("1 slower");
    home.ask(&["compare", "--before", &before, "--after", "after0.json,after1.json"])
        .refused(2, "--after: 2 given, and at least 3");
    home.ask(&["compare", "--before", &before, "--after", "after0.json,after1.json,after1.json"])
        .refused(2, "name one result twice");
    home.ask(&["compare", "--before", &before, "--after", "after0.json,after1.json,before1.json"])
        .refused(2, "name one result twice");
    // Three results of two boots.
    changed(&now, &home.path().join("again.json"), &|result| {
        scaled(2.0)(result);
        result.conditions.boot_id = Some("after 1".to_owned());
    });
    home.ask(&["compare", "--before", &before, "--after", "after0.json,after1.json,again.json"])
        .well()
        .shows("1 of 1 unclear");
    home.ask(&["compare", "before0.json", "after0.json"]).well().shows("differs between these two boots");
    home.ask(&["compare", "--before", &before]).refused(2, "--after");
    home.ask(&["compare", "--before", &before, "--after", &after, "--fail-on", "slower,more:5"])
        .refused(2, "--fail-on more is for counts");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let home = Home::new();
    std::fs::write(home.path().join("other.json"), "{\"sysbench\": 1}").unwrap();
    std::fs::write(home.path().join("deep.json"), "[".repeat(1 << 20)).unwrap();
    home.ask(&["compare"]).refused(2, "no two stored runs can be compared");
    home.ask(&["compare", "no.json", "no.json"]).refused(2, "no.json");
    home.ask(&["compare", "other.json", "other.json"]).refused(2, "other.json");
    home.ask(&["compare", "deep.json", "deep.json"]).refused(2, "deep.json");
    home.ask(&["compare", "@-2", "@-1"]).refused(2, "@-2");
    std::fs::write(home.path().join("brackets.json"), "[".repeat(16 << 20)).unwrap();
    home.ask(&["compare", "brackets.json", "deep.json"]).refused(2, "brackets.json");
    for wrong in ["faster", "slower:5%", "slower,x"] {
        home.ask(&["compare", "a", "b", "--fail-on", wrong])
            .refused(2, "is not slower, unclear, more or more:N");
    }
    home.ask(&["compare", "a", "b", "--threshold=5"]).refused(2, "'5' has no unit: type 5%");
    for wrong in ["x", "x%", "-5%", "2000%"] {
        home.ask(&["compare", "a", "b", &format!("--threshold={wrong}")])
            .refused(2, "not a share such as 5%");
    }
    home.ask(&["compare", "--live", "a", "b"]).refused(2, "--live needs what to measure");
    home.ask(&["compare", "--live", "a", "b", "syscall", "--fail-on", "more"])
        .refused(2, "--fail-on more is for counts");
    home.ask(&["compare", "--live", "a", "b", "--rounds", "5", "syscall"]).refused(2, "6..=200");
    home.ask(&["compare", "--gate", "a", "b"]).refused(2, "--gate");
}

/// A gate must not pass because there was nothing to compare, nor because a file was damaged.
#[test]
fn nothing_is_compared_by_accident() {
    let (home, now, _) = home();
    let path = |name: &str| home.path().join(name);
    let whole = std::fs::read(&now).unwrap();
    let put = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).unwrap();
    put("cut.json", &whole[..whole.len() / 2]);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    put("flipped.json", &flipped);
    for damaged in ["cut.json", "flipped.json"] {
        home.ask(&["compare", "now.json", damaged, "--fail-on", "slower"]).refused(2, damaged);
        home.ask(&["compare", damaged, "now.json"]).refused(2, damaged);
    }
    // As a newer oscost would write it: this one does not.
    let body = String::from_utf8(whole.clone())
        .unwrap()
        .lines()
        .skip(2)
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let of = |version: u32| format!("\"version\": {version}");
    let body = body.replacen(&of(oscost_results::VERSION), &of(oscost_results::VERSION + 1), 1);
    let sealed = format!("{{\n  \"checksum\": \"crc32:{:08x}\",\n{body}", crc32fast::hash(body.as_bytes()));
    put("newer.json", sealed.as_bytes());
    home.ask(&["compare", "now.json", "newer.json"]).refused(2, "newer");

    let mut other: RunResult = oscost_results::load(&now).unwrap();
    other.figures.iter_mut().for_each(|figure| figure.id += "/other");
    oscost_results::save_as(&path("other.json"), &other).unwrap();
    home.ask(&["compare", "now.json", "other.json"])
        .shows("measured")
        .shows("not there")
        .refused(2, "no figure was measured in both");
    // What failed on one side, and is not there on the other, is nothing that they have in common.
    other.figures.iter_mut().for_each(|figure| figure.status = Status::Failed);
    oscost_results::save_as(&path("failed.json"), &other).unwrap();
    home.ask(&["compare", "now.json", "failed.json"]).refused(2, "no figure");
    // One of two others has it: a table is made, and a gate does not pass.
    home.ask(&["compare", "now.json", "now.json", "other.json"]).well();
    home.ask(&["compare", "now.json", "now.json", "other.json", "--fail-on", "slower"])
        .refused(2, "no figure");
}

/// What a file says of itself reaches no terminal as it is, in no format.
#[test]
fn hostile_files_are_shown_escaped() {
    const HURT: &str = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}<script>=cmd|x\r\n";
    let (home, now, _) = home();
    let mut result: RunResult = oscost_results::load(&now).unwrap();
    result.conditions.kernel = HURT.into();
    result.tool.build_id = HURT.into();
    // One figure stays what it is, so that there is something to compare.
    let mut figure = result.figures[0].clone();
    figure.id = HURT.into();
    result.figures.push(figure);
    let hostile = "hos\u{202e}tile.json";
    oscost_results::save_as(&home.path().join(hostile), &result).unwrap();
    for results in [&["now.json", hostile][..], &["now.json", "now.json", hostile]] {
        for format in ["text", "markdown", "json"] {
            let done = home.ask(&[&["compare", "--format", format], results].concat());
            let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert!(!done.well().stdout.contains(bad) && !done.stderr.contains(bad), "{format}: {done:?}");
            assert!(format != "markdown" || !done.stdout.contains("<script"), "{done:?}");
        }
    }
}

#[test]
#[ignore = "longer: it measures for long"]
fn sides_are_measured_in_turn() {
    let home = Home::new();
    let live = ["compare", "--live", PROGRAM, PROGRAM, "--rounds", "6", "--fail-on", "slower,unclear", ID];
    let done = home.measure(&live);
    // The same program on both sides: a clock's step is the same to a thousandth.
    done.well().shows("1 within 5 %, 0 slower, 0 faster, 0 unclear");
    assert!(!home.runs().exists() || home.stored().is_empty(), "its launches are no runs");
}

#[test]
fn a_side_that_fails_is_named() {
    let home = Home::new();
    let live = |b: &str| home.measure(&["compare", "--live", PROGRAM, b, ID]);
    live("false").refused(2, "B: 'false' ended with code 1");
    live("echo hello; true").refused(2, "printed no result of oscost");
    live("kill -9 $$;").refused(3, "ended with code 137");
    live("no-such-program").refused(2, "not found");
    live(&format!("{PROGRAM} run")).refused(2, "leave out 'run', which compare adds");
    live("printf '\\033[2J\\342\\200\\256' >&2; false").refused(2, r"\u{1b}[2J\u{202e}");
    // What cannot be measured there has no result, and says why.
    let cpu = oscost_sys::affinity::allowed().unwrap()[0];
    let one_cpu = format!("taskset -c {cpu} {PROGRAM}");
    let across = ["compare", "--live", &one_cpu, &one_cpu, "context_switch/pipe/cross_cpu"];
    home.measure(&across).refused(3, "needs 2 CPUs").omits("no result");
    // What it leaves in a session of its own holds the pipe, and is ended with it: nobody waits for it.
    let begun = Instant::now();
    live("setsid sleep 1000 & true").refused(2, "printed no result of oscost");
    assert!(begun.elapsed() < Duration::from_secs(300));
}

/// No hint names an option that the command has not.
#[test]
fn hints_name_what_the_command_has() {
    let (home, ..) = home();
    let _alone = one_at_a_time();
    let mut lock = None;
    assert!(within(300, || {
        lock = oscost_results::RunLock::acquire().ok();
        lock.is_some()
    }));
    let run = home.ask(&["run", ID]);
    run.refused(5, "wait for it, or add --force");
    for arguments in [&["compare", "--live", PROGRAM, PROGRAM, ID][..], &["doctor", "--verify"]] {
        home.ask(arguments)
            .refused(5, "another run is measuring on this machine")
            .says("wait for it")
            .omits("--force");
    }
    // git takes 5 for a bad commit.
    home.ask(&["compare", "--bisect", "now.json", ID])
        .refused(255, "another run is measuring on this machine")
        .says("wait for it")
        .omits("--force");
    let printed = |side: &str| home.ask(&["compare", "--live", side, side, ID]);
    drop(lock);
    let done = printed("echo hello; true");
    assert!(!done.stderr.contains("@-1"), "what a reader of files is told is no hint here: {done:?}");
}

/// Everything that a side started dies with the program that started it, in sessions of its own, too, and even if that is
/// killed.
#[test]
fn no_side_is_left_running() {
    let home = Home::new();
    // So many seconds that they name the process.
    let seconds = format!("7{:07}", std::process::id());
    let sleeping = || processes(|line| line.starts_with(&format!("sleep\0{seconds}")));
    let patience = Instant::now() + Duration::from_secs(300);
    let wait = || {
        assert!(Instant::now() < patience, "{} sides run", sleeping());
        std::thread::sleep(Duration::from_millis(20));
    };
    let _alone = one_at_a_time();
    let refuse = "for kind in user ipc mnt pid; do echo 0 >/proc/sys/user/max_${kind}_namespaces || exit 99; done; \
                  exec \"$0\" \"$@\"";
    for (signal, group, refused) in [
        ("KILL", "", false),
        ("INT", "", false),
        ("KILL", "-", false),
        ("TERM", "", true),
        ("KILL", "", true),
    ] {
        let side = format!("sh -c 'setsid sleep {seconds} & sleep {seconds} & wait'; true");
        let start = || {
            let arguments = ["compare", "--live", &side, "false", ID];
            let mut command = home.command(&arguments);
            if refused {
                command = home.other("unshare");
                command.args(["-U", "-r", "sh", "-c", refuse, PROGRAM]).args(arguments);
            }
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            std::os::unix::process::CommandExt::process_group(&mut command, 0).spawn().unwrap()
        };
        let mut live = start();
        let mut skipped = false;
        while sleeping() < 2 && !skipped {
            wait();
            if let Some(status) = live.try_wait().unwrap() {
                skipped = status.code() == Some(99) || refused && status.code() == Some(1);
                // Else somebody else on this machine is measuring.
                live = start();
            }
        }
        if skipped {
            let _ = live.kill();
            crate::support::skip("refused namespaces: none can be had here");
            continue;
        }
        let to = format!("{group}{}", live.id());
        assert!(Command::new("kill").args([&format!("-{signal}"), "--", &to]).status().unwrap().success());
        while live.try_wait().unwrap().is_none() || sleeping() > 0 {
            wait();
        }
    }
}
