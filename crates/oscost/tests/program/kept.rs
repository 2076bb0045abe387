//! A killed run leaves its measurements. That it leaves nothing else, the campaign shows.

use std::fs;

use crate::support::{Home, Running, one_at_a_time};

#[test]
#[ignore = "longer: it kills"]
fn what_a_killed_run_measured_is_saved_at_the_next_start() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let mut running = Running::until(
        &mut home.command(&["run", "--thorough", "-v", "semaphore/posix_named", "semaphore/system_v"]),
        "launch 3 of",
    );
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    assert_eq!(home.stored().len(), 0);

    // The next start finds what it had measured.
    home.ask(&["report", "@-1"])
        .well()
        .says("an earlier run was killed: 2 figures of it are saved as ")
        .shows("partial");
    assert_eq!(home.leftovers(), Vec::<String>::new(), "the journal has done its work");
    let stored = home.stored();
    assert!(stored.len() == 1 && stored[0].partial);
    assert!(stored[0].warnings.iter().any(|warning| warning.contains("killed")));
    let figure = stored[0].figures.iter().find(|figure| figure.id == "semaphore/system_v").expect("measured");
    assert!(figure.launches.len() >= 2, "{} launches", figure.launches.len());
    assert_eq!(figure.evidence.verdict, oscost_results::Verdict::Checked, "the audit is in the journal too");
    let paired = stored[0].ratios.iter().find(|ratio| ratio.of == figure.id && ratio.quantity == "paired");
    assert!(
        paired.is_some_and(|ratio| ratio.value.is_some()),
        "and so are the pairs: {:?}",
        stored[0].ratios
    );

    // Said once; and the next run works at once.
    assert_eq!(home.ask(&["report", "@-1"]).well().stderr, "");
}

#[test]
#[ignore = "longer: it kills"]
fn a_run_that_is_killed_before_its_first_launch_leaves_nothing_to_tell() {
    let _lock = one_at_a_time();
    let home = Home::new();
    // Of so many that the calibration goes on for long.
    let mut command = home.command(&["run", "-v", "syscall", "memory", "semaphore"]);
    let mut running = Running::until(&mut command, "phase: calibration");
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    assert_eq!(home.leftovers().len(), 1, "a journal");
    home.ask(&["report", "@-1"]).refused(2, "no run is stored");
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

/// A journal with a header and one record, as some program left it.
fn journal(home: &Home, second: u32, header: &str) -> std::path::PathBuf {
    let line = |text: &str| format!("{:08x} {:08x} {text}\n", text.len(), crc32fast::hash(text.as_bytes()));
    let path = home.runs().join(format!("2026-11-20T23-14-{second:02}Z-9f2c41d0a1b2c3d4.journal"));
    let launched = r#"{"Launched":{"sequence":0,"canary_ns":1.0,"members":[],"pairs":[]}}"#;
    fs::write(&path, line(header) + &line(launched)).expect("a journal");
    path
}

#[test]
#[ignore = "longer: it kills"]
fn a_journal_that_cannot_be_used_is_told_once() {
    let home = Home::new();
    home.measure(&["run", "--one-launch", "-q", "instrument/empty_loop"]).well();
    let useless = journal(&home, 5, "{}");
    let newer = journal(&home, 6, r#"{"format":"oscost-result","version":4000}"#);
    let bytes = fs::read(&useless).unwrap();
    // Even quietly: what was measured is lost.
    let done = home.ask(&["report", "-q", "@-1"]);
    done.well().says("the journal of a killed run cannot be used");
    let aside = useless.with_extension("unusable");
    assert!(done.stderr.contains(aside.to_str().unwrap()), "and where it is: {done:?}");
    assert_eq!(fs::read(&aside).unwrap(), bytes, "kept");
    assert_eq!(home.ask(&["report", "@-1"]).well().stderr, "", "told once");
    assert!(newer.exists(), "a newer program will want it back");
}
