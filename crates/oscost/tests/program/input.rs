//! Mistyped input: a clear message and code 2, and nothing is measured or created.

use std::os::unix::ffi::OsStrExt;

use crate::support::{Home, finished};

#[test]
fn an_unknown_pattern_names_the_nearest_ids() {
    let home = Home::new();
    home.ask(&["run", "syscall/getpidd"]).refused(2, "did you mean syscall/getpid");
    home.ask(&["list", "semaphor/posix_named"]).refused(2, "semaphore/posix_named");
    home.ask(&["run", "qqqqqqqqqqqq"]).refused(2, "'oscost list' shows what there is");
    home.ask(&["run", ""]).refused(2, "nothing is called ''");
    assert!(!home.runs().exists(), "a mistake leaves nothing behind");
}

#[test]
fn what_is_missing_or_unknown_is_answered_with_what_helps() {
    let home = Home::new();
    home.ask(&["count", "syscall/getpid"]).refused(2, "--kernel running");
    for effort in ["--quick", "--thorough"] {
        home.ask(&["compare", "--live", "a", "b", "syscall", effort]).refused(2, "--rounds N bounds it");
    }
}

#[test]
fn contradictory_options_are_refused() {
    let home = Home::new();
    for arguments in [
        &["run", "--quick", "--thorough"][..],
        &["run", "syscall", "--all"],
        &["run", "-q", "-v"],
        &["run", "--dry-run", "--json", "-"],
        &["run", "--dry-run", "-o", "x"],
    ] {
        home.ask(arguments).refused(2, "cannot be used with");
    }
    // In whatever way they are spelled, real-time messages say by how many they are.
    for pattern in ["realtime_ipc", "REALTIME-IPC/", "realtime_ipc/pipe"] {
        for option in ["--processes", "--threads"] {
            home.ask(&["run", pattern, option, "1,2", "--dry-run"]).refused(2, "operations of one process");
        }
    }
}

#[test]
fn numbers_that_mean_nothing_are_refused_by_name() {
    let home = Home::new();
    for seed in ["-1", "99999999999999999999999", "x", "1.5", ""] {
        home.ask(&["run", "--seed", seed]).refused(2, "--seed <N>");
    }
    home.ask(&["run", "--idle-cpu", "sleep"]).refused(2, "halt, poll, both");
}

#[test]
fn a_cpu_list_is_checked_against_the_allowed_cpus() {
    let home = Home::new();
    let allowed = oscost_sys::affinity::allowed().unwrap();
    let words = format!("it may on {}", oscost_sys::cpu_list::format(&allowed));
    home.ask(&["run", "--cpu", "60000"]).refused(2, &words);
    home.ask(&["run", "--cpu", "60000", "--dry-run"]).refused(2, &words);
    for list in ["", "a", "3-1", "1,,2", "-1", "0-99999999999"] {
        home.ask(&["run", &format!("--cpu={list}")]).refused(2, "is no list of CPUs");
    }
}

#[test]
fn cpus_are_used_in_the_order_given() {
    let home = Home::new();
    let allowed = oscost_sys::affinity::allowed().unwrap();
    let [first, .., last] = allowed[..] else {
        return crate::support::skip("one CPU");
    };
    home.ask(&["run", "--dry-run", "--cpu", &format!("{last},{first},{last}")])
        .well()
        .shows(&format!("preference: {last}, {first}\n"));
}

#[test]
fn arguments_that_are_no_text_are_refused() {
    let home = Home::new();
    let mut command = home.command(&[]);
    finished(command.arg(std::ffi::OsStr::from_bytes(b"\xff"))).refused(2, "");
    let mut command = home.command(&["run"]);
    finished(command.arg(std::ffi::OsStr::from_bytes(b"sys\xff"))).refused(2, "UTF-8");
}

#[test]
fn results_that_are_none_are_refused() {
    let home = Home::new();
    home.ask(&["report", "@-1"]).refused(2, "no run is stored");
    home.ask(&["report", "@x"]).refused(2, "@-1 is the newest");
    home.ask(&["report", "/dev/null"]).refused(2, "/dev/null");
    home.ask(&["report", "/dev/zero"]).refused(2, "not a file");
    home.ask(&["report", "/proc/kmsg"]).refused(2, "/proc/kmsg");
    home.ask(&["report", "/proc/self/pagemap"]).refused(2, "it is empty");
    home.ask(&["report", "/"]).refused(2, "/ is a folder");
    home.ask(&["report"]).refused(2, "no run is stored");
    home.ask(&["report", ""]).refused(2, "''");
    home.ask(&["report", "-"]).refused(2, "it is empty");
    std::fs::write(home.path().join("\u{1b}[31m.json"), "{}").unwrap();
    let done = home.ask(&["report", "\u{1b}[31m.json"]);
    done.refused(2, "not an oscost result");
    assert!(!done.stderr.contains('\u{1b}'), "a file name must not reach the terminal as it is: {done:?}");
}

#[test]
fn a_result_is_read_from_standard_input_wherever_one_can_be_named() {
    let home = Home::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/tests/samples/v2.json");
    let of = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        finished(command.stdin(std::fs::File::open(sample).unwrap()))
    };
    for format in ["text", "csv"] {
        let piped = of(&["report", "-", "--format", format]).well().stdout.clone();
        let named = home.ask(&["report", sample, "--format", format]).well().stdout.clone();
        let named = named.replace(sample, "standard input").replace("v2", "standard input");
        assert!(piped == named, "{format}: {piped}");
    }
    assert!(of(&["compare", "-", sample]).well().stdout.contains("standard input"));
    of(&["report", "-", "--format", "csv", "--only", "syscall"]).refused(2, "- can be read once");
    for twice in
        [&["report", "-", "-"][..], &["report", "-", "-", "--format", "html"], &["compare", "-", "-"]]
    {
        of(twice).refused(2, "standard input can be read once");
    }
}

#[test]
fn asking_for_help_version_and_list_is_answered_on_standard_output() {
    let home = Home::new();
    let version = home.ask(&["--version"]);
    let lines: Vec<&str> = version.well().stdout.lines().collect();
    assert_eq!(lines.len(), 4, "version, build, target, C library: {lines:?}");
    assert_eq!(lines[0], format!("oscost {}", env!("CARGO_PKG_VERSION")));
    assert!(home.ask(&["--help"]).well().stdout.contains("Usage: oscost"));
    let start = home.ask(&[]);
    start.well().shows("oscost run --quick").shows("Stored here: nothing yet.");
    assert!(start.stdout.lines().all(|line| line.len() <= 100), "{start:?}");
    assert!(!home.path().join("state").exists(), "asking leaves nothing behind");
}

#[test]
fn the_list_says_the_same_in_words_and_in_json() {
    let home = Home::new();
    let text = home.ask(&["list", "--all"]);
    let json = home.ask(&["list", "--all", "--json"]);
    let cards: Vec<serde_json::Value> = serde_json::from_str(&json.well().stdout).unwrap();
    let ids: Vec<&str> = cards.iter().map(|card| card["id"].as_str().unwrap()).collect();
    let listed: Vec<&str> = text
        .well()
        .stdout
        .lines()
        .map(|line| line.split_whitespace().next().unwrap().trim_end_matches('*'))
        .collect();
    assert_eq!(listed, ids);
    let narrow = finished(home.command(&["list", "--all"]).env("COLUMNS", "80"));
    let fits = |line: &str| line.len() <= 80 || ids.contains(&line.trim_end_matches('*'));
    assert!(narrow.well().stdout.lines().all(fits), "{narrow:?}");
    assert!(ids.contains(&"semaphore/posix_named"));
    assert!(cards.iter().all(|card| card["tier"] != "hidden"), "hidden ids are never listed");
}

#[test]
fn words_are_found_and_what_they_found_is_said() {
    let home = Home::new();
    for (command, word, said) in [
        (
            &["run", "--dry-run"][..],
            "getpid",
            "'getpid' finds 2 figures: syscall/getpid, syscall/getpid_libc",
        ),
        (&["list"], "Lat-Ctx", "is lmbench's switch between processes"),
        (&["run", "--dry-run"], "context-switch", "for document 004, type '004'"),
        (&["explain"], "getpid", "'getpid' finds 2 figures"),
    ] {
        home.ask(&[command, &[word]].concat()).well().says(said);
    }
    home.ask(&["run", "lat_http"]).refused(2, "a measurement of lmbench");
    home.ask(&["list", "lat_http"]).refused(2, "a measurement of lmbench");
    home.ask(&["run", "transfer"]).refused(2, "nothing is called");
    home.ask(&["run", "spin", "--dry-run"]).well().shows("lock/spin");
}

#[test]
fn a_command_that_is_mistyped_is_suggested() {
    let home = Home::new();
    home.ask(&["rnu"]).refused(2, "did you mean run");
    home.ask(&["reprot"]).refused(2, "did you mean report");
    home.ask(&["tick", "sever"]).refused(2, "did you mean server");
    home.ask(&["tick", "foo"]).refused(2, "oscost tick --help lists the commands");
    home.ask(&["getpid"]).refused(2, "oscost run getpid");
    // What is nowhere is not offered to be measured.
    home.ask(&["manual"]).refused(2, "oscost --help lists the commands");
    home.ask(&["run", "realtime_ipc", "--clients", "3"]).refused(2, "it is a setting: --set clients=VALUE");
    home.ask(&["run", "--nonsense"]).refused(2, "unexpected argument");
}

#[test]
fn who_stores_nothing_is_told_so() {
    let home = Home::new();
    let nowhere = |arguments: &[&str]| finished(home.command(arguments).env("XDG_STATE_HOME", "/dev/null"));
    assert!(nowhere(&[]).well().stdout.contains("Nothing is stored: XDG_STATE_HOME is /dev/null."));
    nowhere(&["report"]).refused(2, "XDG_STATE_HOME is /dev/null, so nothing is stored");
    nowhere(&["report", "@all"]).refused(2, "XDG_STATE_HOME is /dev/null, so nothing is stored");
    nowhere(&["compare"]).refused(2, "no two stored runs");
}

#[test]
fn a_plan_that_takes_longer_than_its_deadline_says_so() {
    let home = Home::new();
    let plan =
        |arguments: &[&str]| home.ask(&[&["run", "--dry-run"], arguments].concat()).well().stdout.clone();
    assert!(plan(&["--thorough", "*"]).contains("by which most of it is not measured"));
    assert!(plan(&[]).contains("is launched again until 50 s; hard deadline"));
}

#[test]
fn explaining_measures_nothing_and_leaves_nothing() {
    let home = Home::new();
    home.ask(&["explain", "semaphore/system_v"])
        .well()
        .shows("nothing is stored yet: oscost run semaphore/system_v");
    home.ask(&["explain", "flor"]).refused(2, "did you mean floor");
    assert!(home.ask(&["explain", "reproduce"]).well().stdout.contains("oscost reproduce --help"));
    // A check of doctor, though figures show its price.
    assert!(home.ask(&["explain", "mitigations"]).well().stdout.contains("'oscost doctor' looks at it"));
    assert!(home.ask(&["explain", "halt polling"]).well().stdout.contains("idle cpus"));
    assert!(!home.path().join("state").exists());
}

#[test]
fn traits_choose_among_locks_and_transports() {
    let home = Home::new();
    let done = home.ask(&["list", "--trait", "pollable", "--trait", "works-across-users"]);
    let names: Vec<&str> =
        done.well().stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"realtime_ipc/fifo") && !names.contains(&"realtime_ipc/pipe"), "{names:?}");
    let fair = home.ask(&["list", "--trait", "fair"]);
    fair.well().shows("semaphore/system_v").hides("posix");
    home.ask(&["list", "--trait", "cheap"]).refused(2, "works_across_users");
    home.ask(&["list", "syscall", "--trait", "fair"]).refused(2, "has these traits");
}

#[test]
fn a_dry_run_shows_the_plan_and_leaves_nothing() {
    let home = Home::new();
    let done = home.ask(&["run", "--dry-run", "--quick", "semaphore/system_v"]);
    let plan = &done.well().stdout;
    // The baseline comes along.
    for words in [
        "2 figures in 1 group, ",
        "6 launches with 20 ms for each figure",
        "semaphore/posix_named",
        "semaphore/system_v",
        "privileges",
    ] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
    home.ask(&["run", "--dry-run", "--percentiles", "semaphore/system_v"])
        .well()
        .shows("percentiles take about 35 s more");
    let narrow = finished(home.command(&["run", "--dry-run"]).env("COLUMNS", "40"));
    let wide = narrow.well().stdout.lines().find(|line| line.len() > 40 && line.trim_start().contains(' '));
    assert_eq!(wide, None, "only a name may be longer than a line");
    assert!(!home.path().join("state").exists());
}
