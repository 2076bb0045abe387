//! One run at a time on a machine.

use std::time::{Duration, Instant};

use crate::support::{Home, Running, finished, one_at_a_time};

#[test]
fn a_second_run_is_refused_or_marked() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let first = Running::until(&mut home.command(&["run", "--thorough", "-v", "instrument"]), "launch 1 of");
    home.ask(&["run", "--quick", "instrument/empty_loop"]).refused(5, "another run is measuring");
    let words = format!("(process {})", first.child.id());
    home.ask(&["run", "--quick", "instrument/empty_loop"]).refused(5, &words);
    let other = Home::new();
    let forced = finished(&mut other.command(&["run", "--quick", "--force", "instrument/empty_loop"]));
    assert!(forced.well().stdout.contains("--force"), "the table says it: {forced:?}");
    assert!(other.stored()[0].warnings.iter().any(|warning| warning.contains("--force")));
    // What measures nothing is not refused.
    home.ask(&["list"]).well();
    first.signal("INT");
    assert_eq!(first.end().code, Some(130));
    // And the lock goes with its holder.
    let patience = Instant::now() + Duration::from_secs(60);
    while home.ask(&["run", "--quick", "instrument/empty_loop"]).code != Some(0) {
        assert!(Instant::now() < patience);
        std::thread::sleep(Duration::from_millis(200));
    }
}
