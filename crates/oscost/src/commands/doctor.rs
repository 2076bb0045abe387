//! `oscost doctor`: checks whether the machine is fit, and on request whether the instrument is right here.

use oscost_harness::Supervisor;
use oscost_results::{Check, CheckState};
use oscost_session::doctor::{Thoroughness, examine, unfit};

use crate::args::Doctor;
use crate::commands::catalogue;
use crate::commands::verify::verify;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::progress::Progress;
use crate::session;
use crate::signals::Signals;

/// Examines the machine, or tries the instrument on it, and shows what was found.
pub fn doctor(options: &Doctor, talk: &Talk) -> Result<Exit, Ended> {
    if options.verify {
        return tried(options, talk);
    }
    let checks = examine(Thoroughness::Full);
    show(&checks, options, talk)?;
    let unfit = unfit(&checks);
    let verdict = match unfit.as_slice() {
        [] => "fit to measure: floors hold".to_owned(),
        names => format!("unfit to measure: {}", names.join(", ")),
    };
    if options.check && !unfit.is_empty() {
        return Err(Ended::unfit(verdict));
    }
    if !options.json {
        output::data(|out| writeln!(out, "{verdict}"))?;
    }
    Ok(Exit::Done)
}

/// The instrument on this machine: code 5 where it fails.
fn tried(options: &Doctor, talk: &Talk) -> Result<Exit, Ended> {
    let _lock = session::lock_or_wait()?;
    let signals = Signals::listen()?;
    let supervisor = Supervisor::new(signals.flag())
        .map_err(|error| Ended::unfit(oscost_session::Error::NoWorker(error)))?;
    let mut progress = Progress::new(!talk.quiet);
    let checks = verify(&supervisor, &catalogue(), &mut |event| progress.show(event));
    progress.end();
    if let Some(signal) = signals.deliver() {
        return Ok(Exit::Signal(signal));
    }
    show(&checks, options, talk)?;
    let failed = checks.iter().any(|check| check.state == CheckState::Disturbs);
    Ok(if failed { Exit::Unfit } else { Exit::Done })
}

fn show(checks: &[Check], options: &Doctor, talk: &Talk) -> Result<(), Ended> {
    output::data(|out| {
        if options.json {
            return output::json(checks, out);
        }
        oscost_report::doctor(checks, &talk.style(), out)
    })
}
