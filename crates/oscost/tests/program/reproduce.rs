//! The founding documents from outside: a quick real run of each, their options' ranges, their formats.

use oscost_results::{Judgement, Reproduction, Status};

use crate::support::{Done, Home, Running, is_root, one_at_a_time, skip, within};

/// A quick run of one document with small parameters, and the result that it stored.
fn quick(document: &str, options: &[&str]) -> (Done, Vec<Reproduction>) {
    let home = Home::new();
    let done = home.measure(&[&["reproduce", document, "--quick"], options].concat());
    let result = home.stored().pop().expect("the run is stored as any other");
    let literal = format!("{document}/literal/");
    let own = result.figures.iter().filter(|figure| figure.id.starts_with(&literal));
    for figure in own {
        assert_eq!((figure.status, figure.launches.len()), (Status::Measured, 1), "{}", figure.id);
        let single = figure.quantities.values().all(|quantity| quantity.estimate.extremes);
        assert!(single, "{}: a single run has no interval", figure.id);
    }
    assert!(result.reproductions.iter().all(|row| row.document == document));
    done.well();
    (done, result.reproductions)
}

/// The value of a cell: published and literal.
fn cell(rows: &[Reproduction], row: &str, column: &str) -> (Option<f64>, Option<f64>) {
    let found = rows
        .iter()
        .find(|value| value.cell.as_ref().is_some_and(|cell| cell.row == row && cell.column == column));
    let found = found.unwrap_or_else(|| panic!("no cell {row}, {column}"));
    (found.published, found.literal)
}

fn verdict(rows: &[Reproduction], words: &str) -> Judgement {
    let row = rows.iter().find(|row| row.statement.as_ref().is_some_and(|text| text.contains(words)));
    row.and_then(|row| row.verdict).unwrap_or_else(|| panic!("no statement with {words:?}"))
}

#[test]
#[ignore = "longer: it measures for long"]
fn semaphores_are_reproduced() {
    let (done, rows) = quick("tlpi", &["--set", "operations=1000,7"]);
    assert_eq!(cell(&rows, "1 000", "POSIX time").0, Some(0.000_013));
    assert_eq!(cell(&rows, "7", "POSIX time").0, None, "what the document has not published stays empty");
    assert!(cell(&rows, "1 000", "System V time").1.is_some_and(|seconds| seconds > 0.0));
    // Counted, so exact on every machine.
    assert_eq!(verdict(&rows, "only requires a system call when"), Judgement::Holds);
    assert_eq!(verdict(&rows, "always require a system call"), Judgement::Holds);
    // What the fight says is the machine's; that it was fought, and by which cells it was judged, is not.
    let contended =
        rows.iter().find(|row| row.statement.as_ref().is_some_and(|it| it.contains("is similar")));
    let because = &contended.expect("the statement").because;
    if oscost_sys::affinity::allowed().expect("CPUs").len() > 1 {
        assert!(
            because.starts_with("where both block in 20 %") || because.starts_with("in no cell"),
            "{because}"
        );
    } else {
        assert_eq!(verdict(&rows, "is similar"), Judgement::NotTestableHere);
    }
    let table = "| Operations | POSIX Time (s) | System V Time (s) | Speedup |";
    assert!(done.stdout.contains(table), "the script's table is missing: {}", done.stdout);
    assert!(done.stdout.contains("33.6x"), "{}", done.stdout);
}

#[test]
#[ignore = "longer: it measures for long"]
fn system_calls_are_reproduced() {
    let (_, rows) = quick("ostep", &["--set", "iterations=10000"]);
    for program in ["1 one shot", "2 loop, -O0 form", "2 loop, -O2 form", "3 loop minus loop, -O2 form"] {
        assert_eq!(cell(&rows, program, "kernel entries").1, Some(1.0), "{program}");
    }
    let over_second = cell(&rows, "1 over a second: its flaw (ours)", "getpid").1;
    assert!(
        over_second.is_some_and(|ns| ns < 0.0),
        "{over_second:?}: the ns parts alone go back once a second"
    );
    assert_eq!(verdict(&rows, "// system call"), Judgement::Holds);
    let last = rows.iter().rfind(|row| row.statement.is_none()).and_then(|row| row.cell.as_ref());
    let last = last.map(|cell| (cell.table.contains("heading without text"), &*cell.row));
    assert_eq!(last, Some((true, "the switch alone")), "the empty section comes last");
}

#[test]
#[ignore = "longer: it measures for long"]
fn record_locking_is_reproduced() {
    let options = ["--set", "nrec=40,60", "--set", "children=1,2", "--set", "lock=none,coarse,fine"];
    let (done, rows) = quick("apue", &options);
    let of = |table: &str, row: &str, column: &str| {
        let found = rows.iter().find(|value| {
            value
                .cell
                .as_ref()
                .is_some_and(|cell| cell.table.contains(table) && cell.row == row && cell.column == column)
        });
        found.unwrap_or_else(|| panic!("no cell {table}, {row}, {column}"))
    };
    let clock = of("Figure 20.7", "12 000", "no locking: clock");
    assert_eq!((clock.published, clock.literal), (Some(13.97), None), "published, and not asked for");
    let clock = of("Figure 20.7", "60 (ours)", "advisory locking, fine-grained: clock");
    assert_eq!(clock.published, None, "what the document has not published stays empty");
    assert!(clock.literal.is_some_and(|seconds| seconds > 0.0));
    assert_eq!(clock.figure_id.as_deref(), Some("apue/book/seek/fine_fcntl/processes_1/nrec_60"));
    // Counted, so exact on every machine.
    let calls = of("An operation here", "60, coarse", "lock calls").measured.expect("counted");
    assert_eq!((calls.low, calls.high), (2.0, 2.0));
    let calls = of("An operation here", "60, fine, 2 children", "lock calls").measured.expect("counted");
    assert!(calls.low > 2.0 && calls.high < 8.0, "{calls:?}");
    assert_eq!(rows.iter().filter(|row| row.place.starts_with("section 20.9")).count(), 10, "its statements");
    let text = "apue/book/seek/fine_fcntl/processes_1/nrec_60";
    // On a narrow page it goes on in the next line.
    let evidence: Vec<&str> = done.stdout.lines().skip_while(|line| !line.contains(text)).take(2).collect();
    assert!(evidence.concat().contains("checked"), "{}", done.stdout);
}

/// Files go where they are wanted, and nothing of them stays; where locks cannot be mandatory it is said why.
#[test]
fn a_directory_is_used_and_left_empty() {
    let home = Home::new();
    let files = home.path().join("files");
    std::fs::create_dir(&files).expect("a directory");
    let directory = files.to_str().expect("UTF-8");
    let directory = format!("directory={directory}");
    let settings = ["nrec=30", "lock=fine,mandatory", "primitive=ofd", "single=yes", &directory];
    let settings: Vec<&str> = settings.into_iter().flat_map(|setting| ["--set", setting]).collect();
    let done = home.measure(&[&["reproduce", "apue"], &settings[..]].concat());
    let result = home.stored().pop().expect("stored");
    assert_eq!(std::fs::read_dir(&files).expect("read").count(), 0, "nothing is left");
    let held = std::fs::File::open(&files).expect("open");
    let kind = oscost_sys::file_system::kind(&held).expect("a file system");
    assert!(done.well().stdout.contains(&format!("files on {kind}")), "{}", done.stdout);
    assert_eq!(result.conditions.file_system.as_ref(), Some(&kind));
    let cell = "record_database/book/seek/fine_fcntl/processes_1/nrec_30";
    home.measure(&["run", cell, "--quick", "--set", &directory]).well();
    let run = home.stored().pop().expect("stored");
    assert_eq!(run.conditions.file_system, Some(kind));
    assert_eq!(std::fs::read_dir(&files).expect("read").count(), 0, "nothing is left");
    home.ask(&["run", "syscall", "--set", &directory]).refused(2, "record_database");
    let mandatory =
        result.figures.iter().find(|figure| figure.id.contains("/mandatory_ofd/")).expect("a figure");
    let why = mandatory.why.as_deref().unwrap_or_default();
    if mandatory.status == Status::Measured {
        assert_eq!(
            verdict(&result.reproductions, "the number of locking calls is the same"),
            Judgement::NotJudged,
            "a single run"
        );
    } else {
        assert_eq!(mandatory.status, Status::Unsupported);
        assert!(why.contains("not asked for") || why.contains("cannot be told"), "{why}");
        assert_eq!(verdict(&result.reproductions, "by 13% to 19%"), Judgement::NotTestableHere);
    }
    let fine = result.figures.iter().find(|figure| figure.id.contains("/fine_ofd/")).expect("a figure");
    assert_eq!((fine.status, fine.launches.len()), (Status::Measured, 1));
}

/// A folder in which others may rename what is made there is none to make files in: said before anything is measured.
#[test]
fn a_directory_in_which_others_may_rename_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let cell = "record_database/book/seek/fine_fcntl/processes_1/nrec_30";
    let folder = |name: &str, mode: u32| {
        let path = home.path().join(name);
        std::fs::create_dir(&path).expect("a directory");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
        path.to_str().expect("UTF-8").to_owned()
    };
    for (name, mode, words) in
        [("all", 0o777, "everybody may rename"), ("group", 0o770, "its group may rename")]
    {
        home.ask(&["run", cell, "--set", &format!("directory={}", folder(name, mode))]).refused(2, words);
    }
    // As /tmp is: there everybody renames what is his alone.
    let sticky = folder("sticky", 0o1777);
    home.ask(&["run", cell, "--dry-run", "--set", &format!("directory={sticky}")]).well();
    if !is_root() {
        return skip("giving one away needs root");
    }
    std::os::unix::fs::chown(&sticky, Some(65534), None).expect("root");
    home.ask(&["run", cell, "--set", &format!("directory={sticky}")]).refused(2, "belongs to user 65534");
    assert_eq!(std::fs::read_dir(&sticky).expect("read").count(), 0);
}

/// A killed run leaves nothing in a directory outside its namespaces.
#[test]
#[ignore = "longer: it measures for long"]
fn a_killed_run_leaves_nothing_in_the_directory() {
    let home = Home::new();
    let files = home.path().join("files");
    std::fs::create_dir(&files).expect("a directory");
    let directory = files.to_str().expect("UTF-8");
    let _lock = one_at_a_time();
    let directory = format!("directory={directory}");
    let mut command = home.command(&["reproduce", "apue", "--set", "nrec=2000", "--set", &directory, "-v"]);
    let mut running = Running::until(&mut command, "launch 1 of group apue");
    let count = || std::fs::read_dir(&files).expect("read").count();
    assert!(within(60, || count() > 0), "a database was made");
    running.child.kill().expect("alive");
    running.child.wait().expect("ended");
    assert!(within(60, || count() == 0), "the janitor has removed it");
}

#[test]
#[ignore = "longer: it measures for long"]
fn switches_are_reproduced() {
    let (_, rows) = quick("context-switch", &["--set", "samples=2000"]);
    let cold = cell(&rows, "page faults", "cold").1;
    assert!(cold.is_some_and(|faults| faults >= 1.0), "{cold:?}: the pages of a cold array fault");
    assert_eq!(cell(&rows, "page faults", "touched (ours)").1, Some(0.0));
    assert_eq!(cell(&rows, "20 000 in a row", "in total").0, Some(39_691.0));
    let tagged = rows.iter().filter_map(|row| Some((row.cell.as_ref()?, row.literal?)));
    let tagged: Vec<f64> = tagged
        .filter(|(cell, _)| cell.column == "on one CPU" && cell.table.contains("same affinity tag"))
        .map(|(_, share)| share)
        .collect();
    assert_eq!(tagged, [100.0; 3], "pinned children end on one CPU");
    assert_eq!(verdict(&rows, "lmbench"), Judgement::NotTestableHere);
}

#[test]
#[ignore = "longer: it measures for long"]
fn every_format_tells_the_same_rows() {
    let home = Home::new();
    let arguments = ["reproduce", "tlpi", "--quick", "--set", "operations=10"];
    home.measure(&[&arguments[..], &["--format", "markdown"]].concat())
        .well()
        .shows("## Document 000")
        .shows("| machine's figure |")
        .shows("| holds |");
    let csv = home.measure(&[&arguments[..], &["--format", "csv", "--json", "rows.json"]].concat());
    let lines = csv.well().stdout.lines().filter(|line| line.starts_with("tlpi,")).count();
    let result = oscost_results::load(&home.path().join("rows.json")).expect("the result was written");
    assert_eq!(lines, result.reproductions.len());
    assert!(csv.stdout.starts_with("document,place,statement,published,"), "{csv:?}");
    // What was stored can be told again.
    home.ask(&["report", "@-1"]).well().shows("Document 000, TLPI 53.5");
}

#[test]
fn options_out_of_range_are_refused_with_the_range() {
    let home = Home::new();
    for (document, key, range) in [
        ("tlpi", "operations", "from 1 to 10000000"),
        ("ostep", "iterations", "from 1 to 100000000"),
        ("context-switch", "samples", "from 1000 to 10000000"),
    ] {
        for value in ["0", "-1", "x", "", "1.5", "100000001", "99999999999999999999999"] {
            home.ask(&["reproduce", document, "--set", &format!("{key}={value}")]).refused(2, range);
        }
    }
    home.ask(&["reproduce", "ostep", "--set", "iterations=5,6"]).refused(2, "a whole number from 1");
    home.ask(&["reproduce", "ostep", "--set", "operations=5"])
        .refused(2, "--set operations= belongs to tlpi, which was not chosen: oscost reproduce tlpi");
    home.ask(&["reproduce", "tlpi", "--set", "samples=5000"]).refused(2, "belongs to context-switch");
    for (setting, words) in [
        ("nrec=0", "from 1 to 1000000"),
        ("nrec=-1", "from 1 to 1000000"),
        ("nrec=1000001", "from 1 to 1000000"),
        ("nrec=100001", "layout book holds 100000 records"),
        ("children=17", "from 1 to 16"),
        ("children=", "from 1 to 16"),
        ("lock=some", "none, coarse, fine or mandatory"),
        ("primitive=rwlock", "fcntl, ofd, flock or mutex"),
        ("io=none", "seek, positioned or mapped"),
        ("workload=x", "figure or text"),
        ("layout=x", "book or fast"),
        ("directory=/no such directory", "No such file"),
        ("directory=/dev/null", "Not a directory"),
    ] {
        home.ask(&["reproduce", "apue", "--set", setting]).refused(2, words);
    }
    let flock = ["reproduce", "apue", "--set", "lock=mandatory", "--set", "primitive=flock"];
    home.ask(&flock).refused(2, "primitive=fcntl or ofd");
    home.ask(&["reproduce", "tlpi", "--set", "nrec=5"]).refused(2, "belongs to apue, which was not chosen");
    home.ask(&["reproduce", "tlpi", "--set", "single=yes"])
        .refused(2, "belongs to apue, which was not chosen");
    home.ask(&["reproduce", "tlpi", "--experiments"]).refused(2, "belongs to grame, which was not chosen");
    home.ask(&["reproduce", "ostep", "--worksheet", "--format", "html"]).refused(2, "text or markdown");
    home.ask(&["reproduce", "tlpi2"]).refused(2, "there are tlpi (000), apue (001)");
    home.ask(&["reproduce", "tlpi", "--format", "pdf"]).refused(2, "text, markdown, csv");
    assert!(!home.runs().exists(), "a mistake leaves nothing behind");
}
