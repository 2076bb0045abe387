//! A signal ends a run soon. The run keeps its measurements, and its exit code names the signal.

use std::time::{Duration, Instant};

use crate::support::{Home, Running, one_at_a_time};

/// A run ends this soon after a signal. Promised is one second; the rest is for a machine that is busy.
const SOON: Duration = Duration::from_secs(4);

fn long(home: &Home) -> std::process::Command {
    home.command(&["run", "--thorough", "-v", "instrument", "semaphore/system_v"])
}

#[test]
#[ignore = "longer: it interrupts"]
fn every_signal_in_every_phase_leaves_a_partial_result() {
    let phases = ["phase: doctor", "phase: clock", "phase: calibration", "phase: audit", "launch 2 of"];
    for (index, phase) in phases.into_iter().enumerate() {
        let (signal, code) = [("INT", 130), ("TERM", 143), ("HUP", 129)][index % 3];
        let _lock = one_at_a_time();
        let home = Home::new();
        let running = Running::until(&mut long(&home), phase);
        running.signal(signal);
        let sent = Instant::now();
        let done = running.end();
        assert!(sent.elapsed() < SOON, "{signal} in {phase}: {:?}", sent.elapsed());
        assert_eq!(done.code, Some(code), "{signal} in {phase}: {done:?}");
        assert!(done.stdout.contains("partial"), "{signal} in {phase}: {done:?}");
        let stored = home.stored();
        assert_eq!(stored.len(), 1, "{signal} in {phase}");
        assert!(stored[0].partial);
        assert_eq!(home.leftovers(), Vec::<String>::new(), "the journal has done its work");
        let launches: usize = stored[0].figures.iter().map(|figure| figure.launches.len()).sum();
        assert_eq!(launches > 0, phase.starts_with("launch"), "{signal} in {phase}: {launches} launches");
    }
}

#[test]
#[ignore = "longer: it interrupts"]
fn a_second_signal_ends_at_once() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let running = Running::until(&mut long(&home), "launch 1 of");
    running.signal("STOP");
    // Both are delivered when it goes on, and the second finds the first.
    running.signal("INT");
    running.signal("TERM");
    running.signal("CONT");
    let sent = Instant::now();
    let code = running.end().code;
    assert!(sent.elapsed() < SOON);
    assert!(matches!(code, Some(130 | 143)), "{code:?}");
}

#[test]
#[ignore = "longer: it interrupts"]
fn a_run_that_is_stopped_for_longer_than_its_plan_has_time_loses_nothing() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let running =
        Running::until(&mut home.command(&["run", "--quick", "-v", "instrument/empty_loop"]), "launch 2 of");
    // Not SIGTSTP: a process whose group has no parent in its session, as below setsid(1), does not stop at that.
    running.signal("STOP");
    std::thread::sleep(Duration::from_secs(45));
    running.signal("CONT");
    let done = running.end();
    done.well().hides("partial");
    let stored = &home.stored()[0];
    assert_eq!(stored.figures[0].status, oscost_results::Status::Measured, "{done:?}");
    assert!(stored.warning_codes.contains(&"W013".to_owned()), "{:?}", stored.warnings);
}

#[test]
#[ignore = "longer: it interrupts"]
fn a_signal_that_the_caller_ignores_stays_ignored() {
    let _lock = one_at_a_time();
    let home = Home::new();
    let mut command = home.other("sh");
    let script = "trap '' HUP; exec \"$0\" run --quick -v instrument/empty_loop";
    let running = Running::until(command.args(["-c", script, crate::support::PROGRAM]), "launch 2 of");
    running.signal("HUP");
    assert!(!running.end().well().stdout.contains("partial"));
}

#[test]
#[ignore = "longer: it interrupts"]
fn a_reproduction_that_is_ended_early_gives_no_verdict_without_an_interval() {
    use oscost_results::Judgement::{DoesNotHold, Holds, HoldsInPart};
    let _lock = one_at_a_time();
    let home = Home::new();
    let running = Running::until(&mut home.command(&["reproduce", "ostep", "-v"]), "launch 2 of");
    running.signal("INT");
    let done = running.end();
    assert_eq!(done.code, Some(130), "{done:?}");
    let result = home.stored().pop().expect("it is saved");
    assert!(result.partial && !result.reproductions.is_empty());
    for row in &result.reproductions {
        let definite = matches!(row.verdict, Some(Holds | HoldsInPart | DoesNotHold));
        let counted = row.quantity.as_deref() == Some("system_calls");
        assert!(!definite || counted, "{:?}: {}", row.statement, row.because);
    }
    done.shows("the run was cut short");
}
