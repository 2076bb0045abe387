//! `oscost doctor`: is the machine fit, and what to change; on request, is the instrument right here.

use oscost::doctor::{Level, examine, unfit, verify::verify};
use oscost_harness::Supervisor;
use oscost_results::{Check, CheckState};

use crate::args::Doctor;
use crate::commands::catalogue;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::progress::Progress;
use crate::session;

/// Examines the machine, or tries the instrument on it, and shows what was found.
pub fn doctor(options: &Doctor, talk: &Talk) -> Result<Exit, Ended> {
    if options.verify {
        return tried(options, talk);
    }
    let checks = examine(Level::Full);
    show(&checks, options, talk)?;
    let unfit = unfit(&checks);
    if !options.check || unfit.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Ended::new(Exit::Unfit, format!("unfit to measure: {}", unfit.join(", "))))
}

/// The instrument on this machine: code 5 where it fails.
fn tried(options: &Doctor, talk: &Talk) -> Result<Exit, Ended> {
    let _lock = session::lock_of(false)?;
    let (interrupted, signal) = session::listen()?;
    let supervisor = Supervisor::new(interrupted)
        .map_err(|error| Ended::new(Exit::Unfit, format!("no worker can be started here: {error}")))?;
    let mut progress = Progress::new(!talk.quiet);
    let checks = verify(&supervisor, &catalogue(), &mut |event| progress.show(event));
    progress.end();
    if let Ok(signal @ 1..) = u8::try_from(signal.load(std::sync::atomic::Ordering::Relaxed)) {
        return Ok(Exit::Signal(signal));
    }
    show(&checks, options, talk)?;
    let failed = checks.iter().any(|check| check.state == CheckState::Disturbs);
    Ok(if failed { Exit::Unfit } else { Exit::Done })
}

fn show(checks: &[Check], options: &Doctor, talk: &Talk) -> Result<(), Ended> {
    output::data(|out| {
        if options.json {
            serde_json::to_writer_pretty(&mut *out, checks)?;
            return writeln!(out);
        }
        oscost_report::doctor(checks, &talk.style(), out)
    })
}
