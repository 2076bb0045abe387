//! `oscost explain`: what the page of a figure tells of the stored runs.

use oscost_results::{Emulation, RunResult, Status};

use crate::compare::{ID, changed, home};

#[test]
fn a_stored_figure_without_a_number_says_why() {
    let (home, now, _) = home();
    let store = |day: u32, change: &dyn Fn(&mut RunResult)| {
        changed(&now, &home.runs().join(format!("9999-11-{day}T10-00-00Z-9f2c41d0.json")), change);
    };
    store(20, &|result| {
        result.figures[0].status = Status::Contradicted;
        result.figures[0].why = Some("two calls and not one".to_owned());
    });
    home.ask(&["explain", ID]).well().shows("contradicted: two calls and not one").hides("stored run");
    // A count is of another machine: what failed there is no fact of this one.
    store(21, &|result| {
        result.conditions.emulation = Some(Emulation::default());
        result.figures[0].status = Status::Failed;
        result.figures[0].why = Some("no guest".to_owned());
    });
    home.ask(&["explain", ID]).well().shows("contradicted: two calls").hides("no guest");
    store(22, &|_| {});
    home.ask(&["explain", ID]).well().hides("contradicted");
    // A run that did not come to it hides no number.
    store(23, &|result| {
        result.partial = true;
        result.figures[0].status = Status::Failed;
        result.figures[0].why = Some("the run ended before its first launch".to_owned());
    });
    let page = home.ask(&["explain", ID]);
    page.well().shows("launches").shows("Receipt").shows("failed: the run ended before its first launch");
}

/// Intervals have the sign that all screens have, and stand on one line.
#[test]
fn an_interval_is_written_as_on_other_screens() {
    let (home, ..) = home();
    home.ask(&["explain", ID]).well().shows(" \u{b1} ").hides("+-");
    let ascii = home.ask(&["explain", ID, "--ascii"]);
    ascii.well().shows(" +- ");
    assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
    let halved = |line: &str| line.ends_with("+-") || line.trim_start().starts_with('%');
    assert!(!ascii.stdout.lines().any(halved), "{}", ascii.stdout);
}
