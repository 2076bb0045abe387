//! `oscost bill`: counts of a program, stored, shown again, compared, bounded.

use crate::support::{Done, Home};

/// A bill of a program that is the same each time, with what the store has of prices, which is nothing.
fn bill(home: &Home, more: &[&str]) -> Option<Done> {
    let program = ["--", "sh", "-c", "exit 0"];
    let done = home.measure(&[&["bill", "--no-measure"], more, &program[..]].concat());
    if done.stderr.contains("cannot be traced") {
        println!("SKIP bill: {}", done.stderr);
        return None;
    }
    Some(done)
}

#[test]
fn a_bill_is_stored_and_shown_again_and_two_are_compared_exactly() {
    let home = Home::new();
    let Some(first) = bill(&home, &["--json", "bill.json"]) else { return };
    assert!(first.well().stdout.starts_with("bill of sh -c exit 0 | "), "{first:?}");
    assert!(first.stdout.contains("execve") && first.stdout.contains("free run"), "{first:?}");
    // Nothing is in the store, and nothing was measured: what does as little as the bare entry has its price.
    let priced = |line: &str| line.contains("rt_sig") && line.contains(" ns") && !line.contains("no price");
    assert!(first.stdout.lines().any(priced), "{first:?}");
    assert!(home.ask(&["report"]).well().stdout.contains("bill of sh -c exit 0"));
    let page = home.ask(&["report", "bill.json", "--format", "html"]);
    assert!(page.well().stdout.contains("oscost / bill") && page.stdout.contains("execve"), "{page:?}");
    assert!(home.ask(&["report", "--format", "markdown"]).well().stdout.contains("| execve"));
    let Some(_) = bill(&home, &[]) else { return };
    let compared = home.ask(&["compare", "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared.well().stdout).expect("JSON");
    let counts = compared["counts"].as_array().expect("counts");
    let call =
        |name: &str| counts.iter().find(|row| row["key"].as_str().is_some_and(|key| key.starts_with(name)));
    assert_eq!(call("execve").map(|row| (&row["a"], &row["b"])), Some((&1.into(), &1.into())), "{compared}");
    home.ask(&["compare", "--fail-on", "slower"]).refused(2, "more or fewer");
    let anonymous = home.ask(&["report", "--anonymous", "--format", "json"]);
    assert!(!anonymous.well().stdout.contains("exit 0"), "{anonymous:?}");
}

#[test]
fn budgets_are_kept_or_broken() {
    let home = Home::new();
    let Some(kept) = bill(&home, &["--budget", "execve=1", "--budget", "semop=0", "--budget", "calls>=10"])
    else {
        return;
    };
    assert!(kept.well().stdout.contains("kept") && !kept.stdout.contains("broken"), "{kept:?}");
    let Some(broken) = bill(&home, &["--budget", "execve=1", "--budget", "calls<=3"]) else { return };
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert!(broken.stdout.contains("broken  calls<=3: "), "{broken:?}");
    home.ask(&["bill", "--budget", "cals<=3", "--", "true"]).refused(2, "'cals' is neither");
    home.ask(&["bill", "--", "./no-such-program"]).refused(2, "there is no such program");
    home.ask(&["bill"]).refused(2, "PROGRAM");
}
