//! `oscost bill`: counts of a program, stored, shown again, compared, bounded.

use crate::support::{Done, Home, PROGRAM, finished, skip};

/// A bill of a program that is the same each time, with what the store has of prices, which is nothing.
fn bill(home: &Home, more: &[&str]) -> Option<Done> {
    let program = ["--", "sh", "-c", "exit 0"];
    let done = home.measure(&[&["bill", "--no-measure"], more, &program[..]].concat());
    if done.stderr.contains("cannot be traced") {
        skip(done.stderr.trim());
        return None;
    }
    Some(done)
}

#[test]
fn a_bill_is_stored_and_shown_again_and_two_are_compared_exactly() {
    let home = Home::new();
    let Some(first) = bill(&home, &["--json", "bill.json"]) else { return };
    assert!(first.well().stdout.starts_with("bill of sh -c exit 0 | "), "{first:?}");
    first.shows("free run");
    // Nothing is in the store, and nothing was measured: what does as little as the bare entry has its price.
    let priced = |line: &str| line.contains("rt_sig") && line.contains('~');
    assert!(first.stdout.lines().any(priced), "{first:?}");
    assert!(home.ask(&["report"]).well().stdout.contains("bill of sh -c exit 0"));
    home.ask(&["report", "bill.json", "--format", "html"]).well().shows("oscost / bill").shows("execve");
    assert!(home.ask(&["report", "--format", "markdown"]).well().stdout.contains("| execve"));
    let Some(_) = bill(&home, &[]) else { return };
    let compared = home.ask(&["compare", "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared.well().stdout).expect("JSON");
    let counts = compared["counts"].as_array().expect("counts");
    let call =
        |name: &str| counts.iter().find(|row| row["key"].as_str().is_some_and(|key| key.starts_with(name)));
    assert_eq!(call("execve").map(|row| (&row["a"], &row["b"])), Some((&1.into(), &1.into())), "{compared}");
    home.ask(&["compare", "--fail-on", "slower"]).refused(2, "more or fewer");
    for option in [&["--only", "futex"][..], &["--threshold", "5%"]] {
        home.ask(&[&["compare", "bill.json", "bill.json"], option].concat()).refused(2, option[0]);
    }
    home.ask(&["report", "--anonymous", "--format", "json"]).well().hides("exit 0");
}

#[test]
fn budgets_are_kept_or_broken() {
    let home = Home::new();
    let Some(kept) = bill(&home, &["--budget", "execve=1", "--budget", "semop=0", "--budget", "calls>=10"])
    else {
        return;
    };
    kept.well().shows("kept").hides("broken");
    let Some(broken) = bill(&home, &["--budget", "execve=1", "--budget", "calls<=3"]) else { return };
    assert_eq!(broken.code, Some(1), "{broken:?}");
    broken.shows("broken  calls<=3: ");
    home.ask(&["bill", "--budget", "cals<=3", "--", "true"]).refused(2, "'cals' is neither");
    home.ask(&["bill", "--", "./no-such-program"]).refused(2, "no such program; check its path");
    home.ask(&["bill", "true", "x"]).refused(2, "type two dashes before the program: oscost bill -- true");
    home.ask(&["bill"]).refused(2, "PROGRAM");
}

/// 16 runs were lost with the 17th.
#[test]
fn what_was_counted_before_a_run_that_fails_is_kept() {
    let home = Home::new();
    let script = "#!/bin/sh\necho >> starts\n[ $(wc -l < starts) != 3 ] || chmod a-x program\n";
    std::fs::write(home.path().join("program"), script).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.path().join("program"), mode).expect("a mode");
    let asked = ["bill", "--no-measure", "--runs", "3", "--json", "bill.json", "--", "./program"];
    let done = home.measure(&asked);
    if done.stderr.contains("cannot be traced") {
        return skip(done.stderr.trim());
    }
    assert_eq!(done.code, Some(2), "{done:?}");
    done.shows("free run");
    assert!(done.stderr.contains("cannot be run") && done.stderr.contains("EACCES"), "{done:?}");
    let json = std::fs::read(home.path().join("bill.json")).expect("stored");
    let stored: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(stored["bill"]["counted"].as_array().map(Vec::len), Some(1), "{stored}");
    assert_eq!(stored["partial"], true);
    home.ask(&["report"]).well().shows("bill of ./program");
}

/// Where programs in the kernel do not fit, nobody loads any: neither who counts nor who looks at the free run.
#[test]
fn a_cgroup_of_20_mb_is_enough_for_a_bill() {
    let name = format!("oscost-test-{}", std::process::id());
    // Versions 1 and 2.
    let places = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
    let made = places.iter().find_map(|(root, limit)| {
        let group = std::path::Path::new(root).join(&name);
        std::fs::create_dir(&group).ok()?;
        if std::fs::write(group.join(limit), "20000000").is_ok() {
            return Some(group);
        }
        let _ = std::fs::remove_dir(&group);
        None
    });
    let Some(group) = made else {
        return skip("no cgroup of memory can be made");
    };
    let home = Home::new();
    let procs = group.join("cgroup.procs");
    let script = "echo $$ > \"$0\" && exec \"$@\"";
    let mut within = home.other("sh");
    within.args(["-c", script]).arg(&procs).arg(PROGRAM).args(["bill", "--no-measure", "--", "true"]);
    let done = finished(&mut within);
    let begun = std::time::Instant::now();
    while std::fs::remove_dir(&group).is_err() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    if done.stderr.contains("cannot be traced") {
        return skip(done.stderr.trim());
    }
    done.well().shows("counted by ptrace");
}

/// A loss of power that takes the name of a new folder takes what was written to it, too.
#[test]
fn each_folder_that_is_made_is_put_on_the_disk() {
    let home = Home::new();
    let pages = format!("exec {PROGRAM} --generate man -o made/below/that");
    // The program of a bill runs twice, so each run begins without the folders.
    let asked = |first: &str| {
        let script = format!("rm -rf made; {first} {pages}");
        let done = home.measure(&["bill", "--no-measure", "--json", "bill.json", "--", "sh", "-c", &script]);
        if done.stderr.contains("cannot be traced") {
            skip(done.stderr.trim());
            return None;
        }
        done.well();
        let bill = std::fs::read(home.path().join("bill.json")).expect("a bill");
        let bill: serde_json::Value = serde_json::from_slice(&bill).expect("JSON");
        let calls = bill["bill"]["counted"][0]["calls"].as_array().expect("calls");
        calls
            .iter()
            .filter(|call| call["name"] == "fsync")
            .map(|call| call["times"].as_u64())
            .sum::<Option<u64>>()
    };
    let Some(before) = asked("mkdir -p made/below/that;") else { return };
    assert_eq!(asked(""), Some(before + 3), "calls of fsync for three folders");
}
