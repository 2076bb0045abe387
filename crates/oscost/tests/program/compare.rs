//! `oscost compare`: stored results, a gate for bisecting, two commands side by side; verdicts as exit codes.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oscost_results::RunResult;

use crate::support::{Home, PROGRAM, one_at_a_time};

const ID: &str = "instrument/known_cost/calls_4";

/// A home with `now.json`, a quick run of one id, and `half.json`, the same with half of every cost.
fn home() -> (Home, PathBuf, PathBuf) {
    let home = Home::new();
    let (now, half) = (home.path().join("now.json"), home.path().join("half.json"));
    home.measure(&["run", "--quick", "--json", "now.json", ID]).well();
    scaled(&now, &half, 0.5);
    (home, now, half)
}

fn scaled(from: &std::path::Path, to: &std::path::Path, factor: f64) {
    let mut result: RunResult = oscost_results::load(from).expect("a result");
    for figure in &mut result.figures {
        figure.marks.clear();
        for launch in &mut figure.launches {
            launch.quantities.values_mut().for_each(|value| *value *= factor);
        }
    }
    oscost_results::save_as(to, &result).expect("room on the disk");
}

#[test]
fn verdicts_are_words_and_codes() {
    let (home, ..) = home();
    let same = home.ask(&["compare", "now.json", "now.json"]);
    assert!(same.well().stdout.contains("machine     the same"), "{same:?}");
    let slower = home.ask(&["compare", "half.json", "now.json"]);
    assert!(slower.well().stdout.contains("+100.0 %"), "{slower:?}");
    // What the machine's noise made of the run is not this test's: a half is seen through any interval that is judged.
    if !slower.stdout.contains("cannot tell") {
        assert_eq!(home.ask(&["compare", "half.json", "now.json", "--fail-on", "slower"]).code, Some(1));
    }
    home.ask(&["compare", "half.json", "now.json", "--fail-on", "slower:150%"]).well();
    home.ask(&["compare", "now.json", "half.json", "--fail-on", "slower"]).well();
    let json = home.ask(&["compare", "half.json", "now.json", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.well().stdout).unwrap();
    assert_eq!(json["format"], "oscost-comparison");
    let matrix = home.ask(&["compare", "now.json", "half.json", "--base", "half.json"]);
    assert!(matrix.well().stdout.contains("half, then now"), "{matrix:?}");
    home.ask(&["compare", "now.json", "half.json", "now.json", "-o", "matrix.txt"]).well();
    assert!(std::fs::read_to_string(home.path().join("matrix.txt")).unwrap().contains("All against now"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let home = Home::new();
    std::fs::write(home.path().join("other.json"), "{\"sysbench\": 1}").unwrap();
    std::fs::write(home.path().join("deep.json"), "[".repeat(1 << 20)).unwrap();
    home.ask(&["compare"]).refused(2, "RESULT");
    home.ask(&["compare", "no.json", "no.json"]).refused(2, "no.json");
    home.ask(&["compare", "other.json", "other.json"]).refused(2, "other.json");
    home.ask(&["compare", "deep.json", "deep.json"]).refused(2, "deep.json");
    home.ask(&["compare", "@-2", "@-1"]).refused(2, "@-2");
    std::fs::write(home.path().join("brackets.json"), "[".repeat(16 << 20)).unwrap();
    home.ask(&["compare", "brackets.json", "deep.json"]).refused(2, "brackets.json");
    for wrong in ["faster", "slower:x%", "slower:5"] {
        home.ask(&["compare", "a", "b", "--fail-on", wrong]).refused(2, "slower:5%");
    }
    home.ask(&["compare", "--live", "a", "b"]).refused(2, "--live needs what to measure");
    home.ask(&["compare", "--live", "a", "b", "--rounds", "5", "syscall"]).refused(2, "6..=200");
    home.ask(&["compare", "--gate", "a"]).refused(2, "--gate");
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
        home.ask(&["compare", "--gate", damaged, ID]).refused(2, damaged);
    }
    // As a newer oscost would write it: this one does not.
    let body = String::from_utf8(whole.clone())
        .unwrap()
        .lines()
        .skip(2)
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let body = body.replacen("\"version\": 1", "\"version\": 2", 1);
    let sealed = format!("{{\n  \"checksum\": \"crc32:{:08x}\",\n{body}", crc32fast::hash(body.as_bytes()));
    put("newer.json", sealed.as_bytes());
    home.ask(&["compare", "now.json", "newer.json"]).refused(2, "newer");

    let mut other: RunResult = oscost_results::load(&now).unwrap();
    other.figures.iter_mut().for_each(|figure| figure.id += "/other");
    oscost_results::save_as(&path("other.json"), &other).unwrap();
    let done = home.ask(&["compare", "now.json", "other.json"]);
    assert!(done.stdout.contains("measured") && done.stdout.contains("not there"), "{done:?}");
    done.refused(2, "no figure was measured in both");
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
    result.figures[0].id = HURT.into();
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
fn a_gate_answers_in_the_codes_of_git_bisect() {
    let (home, now, _) = home();
    home.ask(&["compare", "--gate", "now.json", "syscall/nothing"]).refused(2, "no benchmark is called");
    home.ask(&["compare", "--gate", "now.json", "syscall/stat"]).refused(2, "has no figure");
    scaled(&now, &home.path().join("double.json"), 2.0);
    // Twice or half of what is measured now, whatever the machine does meanwhile, unless nothing can be told at all.
    let gate = |base: &str| {
        let done = home.measure(&["compare", "--gate", base, ID]);
        (done.code, done.stdout)
    };
    let (code, said) = gate("half.json");
    assert!(matches!(code, Some(1 | 125)), "{said}");
    assert_eq!(code == Some(125), said.contains("cannot tell"), "{said}");
    let (code, said) = gate("double.json");
    assert!(matches!(code, Some(0 | 125)), "{said}");
    assert_eq!(home.leftovers(), Vec::<String>::new(), "a step of a bisection leaves nothing in the store");
}

#[test]
fn sides_are_measured_in_turn() {
    let home = Home::new();
    let done = home.measure(&["compare", "--live", PROGRAM, PROGRAM, "--rounds", "6", ID]);
    assert!(done.well().stdout.contains(ID) || done.stdout.contains("same"), "{done:?}");
    assert!(!home.runs().exists() || home.stored().is_empty(), "its launches are no runs");
}

#[test]
fn a_side_that_fails_is_named() {
    let home = Home::new();
    let live = |b: &str| home.measure(&["compare", "--live", PROGRAM, b, ID]);
    live("false").refused(3, "B: 'false' ended with code 1");
    live("echo hello; true").refused(3, "printed no result of oscost");
    live("kill -9 $$;").refused(3, "ended with a signal");
    live("no-such-program").refused(3, "not found");
    live("printf '\\033[2J\\342\\200\\256' >&2; false").refused(3, r"\u{1b}[2J\u{202e}");
    // What it starts in a session of its own holds the pipe, and is the user's; nobody waits for it.
    live("setsid sleep 4 & true").refused(3, "keeps its output open");
}

/// A side dies with the program that started it, even if that is killed.
#[test]
fn no_side_is_left_running() {
    let home = Home::new();
    // So many seconds that they name the process.
    let seconds = format!("7{:07}", std::process::id());
    let sleeping = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let commands = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        commands.filter(|line| line.split(|byte| *byte == 0).any(|word| word == seconds.as_bytes())).count()
    };
    let patience = Instant::now() + Duration::from_secs(300);
    let wait = || {
        assert!(Instant::now() < patience, "{} sides run", sleeping());
        std::thread::sleep(Duration::from_millis(20));
    };
    let _alone = one_at_a_time();
    for signal in ["KILL", "INT"] {
        let side = format!("exec sleep {seconds} #");
        let start = || {
            let mut command = home.command(&["compare", "--live", &side, "false", ID]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let mut live = start();
        while sleeping() == 0 {
            wait();
            // Somebody else on this machine is measuring.
            if live.try_wait().unwrap().is_some() {
                live = start();
            }
        }
        let killed = Command::new("kill").args([&format!("-{signal}"), &live.id().to_string()]).status();
        assert!(killed.unwrap().success());
        while live.try_wait().unwrap().is_none() {
            wait();
        }
        while sleeping() > 0 {
            wait();
        }
    }
}
