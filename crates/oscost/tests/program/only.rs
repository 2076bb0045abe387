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
    home.ask(&["report", "now.json"]).well().shows("step/monotonic").shows("getpid_libc");
    for arguments in [&["report", "now.json"][..], &["compare", "half.json", "now.json"]] {
        let only = |patterns: &str| home.ask(&[arguments, &["--only", patterns]].concat());
        let done = only("GETPID");
        done.well().says("'GETPID' finds 2 figures: syscall/getpid, sys");
        done.shows("getpid_libc").hides("step/mono");
        let done = only("syscall/getpid,clock");
        done.well().shows("step/monotonic");
        assert!(!done.stdout.contains("getpid_libc"), "a full id is that figure: {done:?}");
        only("getpdi").refused(2, "did you mean getpid");
        only("lat_http").refused(2, "a measurement of lmbench");
        only("lock/mutex").refused(2, "'lock/mutex' finds 1 figure: lock/mutex; none of them was measured");
        assert!(
            only("queue").stderr.contains("semaphore/posix_queue cannot be measured there: mq_open refused")
        );
    }
    home.ask(&["report", "now.json", "--only", "queue"]).well().shows("unsupported: mq_open refused");
    home.ask(&["compare", "half.json", "now.json", "--only", "queue"]).refused(3, "load mqueue");
    home.ask(&["report", "now.json", "--format", "csv", "--only", "syscall/getpid"])
        .well()
        .shows("syscall/getpid")
        .hides(ID);
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
    home.ask(&["compare", "--only", "getpid"]).well().shows("@-4 2026-11-10").shows("@-3 2026-11-11");
    assert!(home.ask(&["compare"]).well().stdout.contains("@-1 2026-11-13"));
    home.ask(&["compare", "--only", "getpdi"]).refused(2, "did you mean getpid");
    home.ask(&["report", "@all", "--only", "getpid"])
        .well()
        .shows("2026-11-11")
        .hides("2026-11-12")
        .hides(ID);
}

/// The pair was looked for among the newest 24 alone, and bills in a store made `@all` useless.
#[test]
fn older_runs_are_found_behind_any_number_of_others() {
    let home = several();
    let runs = home.runs();
    std::fs::read_dir(&runs).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    let now = home.path().join("now.json");
    let store = |minute: usize, change: &dyn Fn(&mut oscost_results::RunResult)| {
        let path = runs.join(format!("2026-11-10T10-{minute:02}-00Z-9f2c41d0.json"));
        changed(&now, &path, &|result| {
            result.started = format!("2026-11-10T10:{minute:02}:00Z");
            change(result);
        });
    };
    store(0, &|_| {});
    (1..58).for_each(|minute| {
        store(minute, &|result| {
            result.figures.clear();
            result.bill = Some(Box::default());
        });
    });
    store(58, &|result| result.figures.truncate(1));
    store(59, &|result| drop(result.figures.drain(..1)));
    let newest = home.ask(&["compare"]);
    newest.well().shows("@-60 2026-11-10 10:00 \u{2192} @-1 2026-11-10 10:59").says("left out: 57 bills");
    newest.says("@-2 is skipped: few figures or none in common with @-1");
    home.ask(&["compare", "--only", ID]).well().shows("@-60 2026-11-10 10:00 \u{2192} @-2 ");
    let all = home.ask(&["compare", "@all"]);
    all.well().says("left out: 57 bills").shows("All against 2026-11-10T10-00-00Z-9f2c41d0");
    home.ask(&["compare", "@-1", "@-30"]).refused(2, "is a bill, and ");
    let wrong_order = home.ask(&["compare", "@-1", "@-60"]);
    wrong_order
        .well()
        .says("2026-11-10T10-59-00Z-9f2c41d0 stands first, as the older one, and is newer than");
    home.ask(&["compare", "@-60", "@-1"]).well().omits("as the older one");
    home.ask(&["report", "@all"])
        .well()
        .shows("  @-3   2026-11-10 10:57  bill of")
        .shows("  @-1   2026-11-10 10:59");
    home.ask(&["report", "@all", "-v"]).well().shows("  @-60  2026-11-10T10-00-00Z-9f2c41d0  ");
}
