//! `oscost report --fleet`, and rows, of a folder with bad input: nothing is lost, and what is left out is counted.

use std::fs;

use oscost_results::{Figure, Mark, RunResult, Status};

use crate::support::{Done, Home, PROGRAM, finished};

/// A result of `host` in the folder: a run of its own, on a machine like the others'.
fn put(home: &Home, host: &str, sample: usize, change: impl Fn(&mut RunResult)) {
    crate::rows::put(home, &format!("fleet/{host}.json"), sample, |result| {
        "Model".clone_into(&mut result.machine.cpu_model);
        "Linux 6.1".clone_into(&mut result.conditions.kernel);
        result.machine.host = Some(host.to_owned());
        result.plan.seed = host.bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte));
        change(result);
    });
}

/// The program with 1 GiB of addresses, and what it writes in a file.
fn within_a_gibibyte(home: &Home, arguments: &[&str]) -> (Done, u64) {
    let script = "ulimit -v 1048576 && exec \"$0\" \"$@\" >out";
    let mut command = home.other("sh");
    let done = finished(command.args(["-c", script, PROGRAM, "report", "fleet"]).args(arguments));
    (done, fs::metadata(home.path().join("out")).expect("a file").len())
}

fn first_measured(result: &mut RunResult) -> &mut Figure {
    result.figures.iter_mut().find(|it| it.status == Status::Measured).expect("a measured figure")
}

#[test]
fn whatever_lies_in_the_folder_the_fleet_is_shown_and_the_rest_is_counted() {
    let home = Home::new();
    (0..8).for_each(|at| put(&home, &format!("node{at}"), 1, |_| ()));
    put(&home, "older", 0, |_| ());
    put(&home, "partial", 1, |it| it.partial = true);
    put(&home, "withheld", 1, |it| {
        let figure = first_measured(it);
        figure.status = Status::Failed;
        figure.why = Some("open: EACCES".to_owned());
        figure.marks = vec![Mark::Noisy; 1000];
    });
    put(&home, "nameless", 1, |it| {
        it.machine.host = None;
        it.conditions.boot_id = Some("boot-of-nameless".to_owned());
    });
    // A clock before all others, and one after them.
    put(&home, "early", 1, |it| "1970-01-01T00:00:00Z".clone_into(&mut it.started));
    put(&home, "late", 1, |it| "2099-12-31T23:59:59Z".clone_into(&mut it.started));
    fs::copy(home.path().join("fleet/node3.json"), home.path().join("fleet/node3 copy.json")).unwrap();
    fs::write(home.path().join("fleet/other.json"), "{}").unwrap();
    fs::write(home.path().join("fleet/notes.txt"), "").unwrap();

    let done = home.ask(&["report", "--fleet", "fleet"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    for words in [
        "14 results of 14 hosts in 1 group",
        "1 result names no host",
        "1 run is partial",
        "without a number",
    ] {
        assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
    }
    for words in [
        "other.json: not an oscost result",
        "14 results were read; left out: 1 copy of a run that was read before, 1 that cannot be used, 1 links",
    ] {
        assert!(done.stderr.contains(words), "{words}: {}", done.stderr);
    }
    // The state of each figure of each result is a row, and the partial run says what it is.
    let rows = home.ask(&["report", "fleet", "--format", "ndjson"]);
    let row = |words: &[&str]| rows.stdout.lines().any(|line| words.iter().all(|word| line.contains(word)));
    let failed = "\"status\":\"failed\"";
    assert!(row(&["\"host\":\"withheld\"", failed, "\"marks\":[\"noisy\"]", "open: EACCES"]));
    assert!(row(&["\"host\":\"partial\"", "\"partial\":true"]));
    assert!(row(&["\"host\":\"older\""]) && row(&["\"boot_id\":\"boot-of-nameless\""]));
    assert!(row(&["1970-01-01T00:00:00Z"]) && row(&["2099-12-31T23:59:59Z"]));
}

#[test]
fn large_results_need_neither_much_memory_nor_a_large_page() {
    let home = Home::new();
    (0..8).for_each(|at| put(&home, &format!("node{at}"), 1, |_| ()));
    // A name of 1 MiB, which each of 1000 launches would repeat for each quantity.
    put(&home, "long", 1, |it| {
        it.machine.host = Some("h".repeat(1 << 20));
        it.machine.cpu_model = "m".repeat(4 << 20);
        let figure = first_measured(it);
        let launch = figure.launches[0].clone();
        figure.launches = vec![launch; 1000];
    });
    put(&home, "many", 1, |it| it.figures = vec![Figure::default(); 20_000]);
    let (done, page) = within_a_gibibyte(&home, &["--fleet", "--format", "html"]);
    assert!(done.code == Some(0) && page < 5_000_000, "{page} bytes, {done:?}");
    let (done, rows) = within_a_gibibyte(&home, &["--format", "ndjson"]);
    // 4096 bytes of the host's name and of the processor's, in each of its rows.
    assert!(done.code == Some(0) && rows > 1000 * 2 * 4096 && rows < 100_000_000, "{rows} bytes, {done:?}");
}
