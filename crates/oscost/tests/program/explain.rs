//! `oscost explain`: what the page of a figure tells of the stored runs.

use oscost_results::{Emulation, Mark, RunResult, Status};

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

/// Both modes are the answer of a bimodal figure, and a ratio is worth little without what is held against it.
#[test]
fn modes_and_what_is_held_against_a_ratio_are_told() {
    let (home, now, _) = home();
    changed(&now, &home.runs().join("9999-11-20T10-00-00Z-9f2c41d0.json"), &|result| {
        let modes = serde_json::json!([{"value": 2140.0, "share": 0.48}, {"value": 2280.0, "share": 0.52}]);
        result.figures[0].modes = serde_json::from_value(modes).unwrap();
        result.figures[0].marks = vec![Mark::Bimodal];
        let pair = serde_json::json!({
            "of": ID, "to": "clock/monotonic", "quantity": "paired", "unit": "ratio", "value": 0.544,
            "why": "0.565x of the floors",
        });
        result.ratios = vec![serde_json::from_value(pair).unwrap()];
    });
    let page = home.ask(&["explain", ID]);
    page.well().shows("bimodal: 2.14 us 48 %, 2.28 us 52 %").shows("0.544x of clock/monotonic");
    page.shows("0.565x of the floors");
}
