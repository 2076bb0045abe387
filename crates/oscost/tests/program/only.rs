//! `--only`: patterns find the same figures in stored results as in `run`, with the same messages.

use oscost_results::{Figure, RunResult, Status};

use crate::compare::{ID, changed, home};
use crate::support::Home;

/// `now.json` and `half.json` with two figures besides: one of a call, and one that cannot be measured here.
fn several() -> Home {
    let (home, now, half) = home();
    let more = |result: &mut RunResult| {
        let figure = result.figures[0].clone();
        let another = |id: &str| Figure {
            id: id.to_owned(),
            family: id.split('/').next().unwrap_or_default().to_owned(),
            ..figure.clone()
        };
        let mut queue = another("semaphore/posix_queue");
        queue.status = Status::Unsupported;
        queue.why = Some("mq_open refused".to_owned());
        queue.remedy = Some("load mqueue".to_owned());
        result.figures.extend([another("syscall/getpid"), another("syscall/getpid_libc"), queue]);
    };
    changed(&now, &now, &more);
    changed(&half, &half, &more);
    home
}

#[test]
fn patterns_find_in_results_what_run_finds() {
    let home = several();
    let all = home.ask(&["report", "now.json"]);
    assert!(all.well().stdout.contains("step/monotonic") && all.stdout.contains("getpid_libc"), "{all:?}");
    for arguments in [&["report", "now.json"][..], &["compare", "half.json", "now.json"]] {
        let only = |patterns: &str| home.ask(&[arguments, &["--only", patterns]].concat());
        let done = only("GETPID");
        assert!(done.well().stderr.contains("'GETPID' finds 2 figures: syscall/getpid, sys"), "{done:?}");
        assert!(done.stdout.contains("getpid_libc") && !done.stdout.contains("step/mono"), "{done:?}");
        let done = only("syscall/getpid,clock");
        assert!(done.well().stdout.contains("step/monotonic"), "{done:?}");
        assert!(!done.stdout.contains("getpid_libc"), "a full id is that figure: {done:?}");
        only("getpdi").refused(2, "did you mean getpid");
        only("lat_http").refused(2, "a measurement of lmbench");
        only("lock/mutex").refused(2, "'lock/mutex' finds 1 figure: lock/mutex; none of them was measured");
        assert!(
            only("queue").stderr.contains("semaphore/posix_queue cannot be measured there: mq_open refused")
        );
    }
    let shown = home.ask(&["report", "now.json", "--only", "queue"]);
    assert!(shown.well().stdout.contains("unsupported: mq_open refused"), "{shown:?}");
    home.ask(&["compare", "half.json", "now.json", "--only", "queue"]).refused(3, "load mqueue");
    let csv = home.ask(&["report", "now.json", "--format", "csv", "--only", "syscall/getpid"]);
    assert!(csv.well().stdout.contains("syscall/getpid") && !csv.stdout.contains(ID), "{csv:?}");
    home.ask(&["compare", "--live", "a", "b", "--only", "getpid"]).refused(2, "cannot be used with");
}

#[test]
fn the_newest_pair_is_one_that_holds_what_is_asked_for() {
    let home = several();
    let runs = home.runs();
    std::fs::read_dir(&runs).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    let now = home.path().join("now.json");
    for day in 10..14 {
        let path = runs.join(format!("2026-11-{day}T10-00-00Z-9f2c41d0.json"));
        // The last two have the clock alone.
        changed(&now, &path, &|result| {
            result.started = format!("2026-11-{day}T10:00:00Z");
            result.figures.truncate(if day > 11 { 1 } else { 4 });
        });
    }
    let done = home.ask(&["compare", "--only", "getpid"]);
    assert!(
        done.well().stdout.contains("@-4 2026-11-10") && done.stdout.contains("@-3 2026-11-11"),
        "{done:?}"
    );
    assert!(home.ask(&["compare"]).well().stdout.contains("@-1 2026-11-13"));
    home.ask(&["compare", "--only", "getpdi"]).refused(2, "did you mean getpid");
    let all = home.ask(&["report", "@all", "--only", "getpid"]);
    assert!(all.well().stdout.contains("2026-11-11") && !all.stdout.contains("2026-11-12"), "{all:?}");
    assert!(!all.stdout.contains(ID), "{all:?}");
}
