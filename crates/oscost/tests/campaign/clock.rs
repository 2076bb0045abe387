//! clock: the wall clock steps back an hour while the program measures. No figure may notice.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::{Amount, Outcome, space, state};

/// Steps the machine's clock, so it takes place alone, at full length only, and as root.
pub fn run(amount: Amount) -> Outcome {
    state::once(&state::keys(&["clock"])[0], || alone(amount))
}

fn alone(amount: Amount) -> Outcome {
    let mut outcome = Outcome::default();
    if !amount.full {
        return outcome.skip("the wall clock is stepped with --full alone: it is the machine's");
    }
    if !space::is_root() {
        return outcome.skip("only root can step the wall clock");
    }
    let home = tempfile::tempdir().unwrap();
    let measured = |step: bool, outcome: &mut Outcome| -> Option<oscost_results::RunResult> {
        let mut command = Command::new(crate::program::BUILT);
        command
            .args(["run", "--force", "--quiet", "--quick", "--json", "-"])
            .args(["syscall/getppid", "clock/monotonic", "context_switch/pipe/same_cpu"])
            .env("HOME", home.path())
            .env("XDG_STATE_HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        if step {
            std::thread::sleep(Duration::from_millis(700));
            stepped_back(Duration::from_millis(500), outcome);
        }
        let done = child.wait_with_output().unwrap();
        if done.status.code() != Some(0) {
            let which = if step { "with" } else { "without" };
            outcome.fail(format!("a run {which} a step ended with {:?}", done.status.code()));
        }
        oscost_results::from_bytes(&done.stdout).ok()
    };
    let (Some(without), Some(with)) = (measured(false, &mut outcome), measured(true, &mut outcome)) else {
        return outcome.failed("no result");
    };
    for (one, other) in without.figures.iter().zip(&with.figures) {
        let value = |figure: &oscost_results::Figure| {
            figure.quantities.get(&figure.headline).map_or(f64::NAN, |it| it.estimate.value)
        };
        let ratio = value(other) / value(one);
        outcome.count("figures over a step of the clock", 1);
        // An hour would be a factor of millions; the machine's own noise is none of its business here.
        if !(0.3..3.0).contains(&ratio) {
            outcome.fail(format!("{}: {ratio} times what it is without a step", one.id));
        }
    }
    outcome
}

/// Sets the clock back an hour for a while, and to where it would be then.
fn stepped_back(pause: Duration, outcome: &mut Outcome) {
    let set = |to: SystemTime| {
        let seconds = to.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
        let done =
            Command::new("date").arg("-s").arg(format!("@{seconds:.6}")).stdout(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    };
    let (begun, was) = (Instant::now(), SystemTime::now());
    if !set(was - Duration::from_secs(3600)) {
        outcome.skipped.push("the wall clock cannot be set here".to_owned());
        return;
    }
    std::thread::sleep(pause);
    if !set(was + begun.elapsed()) {
        outcome.fail("the wall clock could not be set forward again");
    }
}
