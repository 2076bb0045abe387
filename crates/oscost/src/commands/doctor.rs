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

/// Examines the machine, or tries the instrument on it, or both, and shows what was found.
pub fn doctor(options: &Doctor, talk: &Talk) -> Result<Exit, Ended> {
    let is_examined = is_examined(options);
    let examined = if is_examined { examine(Thoroughness::Full) } else { Vec::new() };
    let tried = match options.verify.then(|| tried(talk)).transpose()? {
        Some(Err(signal)) => return Ok(Exit::Signal(signal)),
        Some(Ok(checks)) => checks,
        None => Vec::new(),
    };
    show(&[&examined[..], &tried].concat(), options, talk)?;
    let verdict = verdict(&examined);
    let exit = ended(options, &examined, &tried, &verdict)?;
    if exit == Exit::Done && is_examined && !options.json {
        output::data(|out| writeln!(out, "{verdict}"))?;
    }
    Ok(exit)
}

/// The machine is asked, unless the instrument alone is.
fn is_examined(options: &Doctor) -> bool {
    options.check || !options.verify
}

/// Whether the machine is fit, in words.
fn verdict(examined: &[Check]) -> String {
    match unfit(examined).as_slice() {
        [] => "fit to measure: floors hold".to_owned(),
        names => format!("unfit to measure: {}", names.join(", ")),
    }
}

/// Code 5 where the machine is unfit and that was asked, and where the instrument failed.
fn ended(options: &Doctor, examined: &[Check], tried: &[Check], verdict: &str) -> Result<Exit, Ended> {
    if options.check && !unfit(examined).is_empty() {
        return Err(Ended::unfit(verdict));
    }
    let failed = tried.iter().any(|check| check.state == CheckState::Disturbs);
    Ok(if failed { Exit::Unfit } else { Exit::Done })
}

/// What the instrument finds on this machine, or the signal that ended it.
fn tried(talk: &Talk) -> Result<Result<Vec<Check>, u8>, Ended> {
    let _lock = session::lock_or_wait()?;
    let signals = Signals::listen()?;
    let supervisor = Supervisor::new(signals.flag())
        .map_err(|error| Ended::unfit(oscost_session::Error::NoWorker(error)))?;
    let mut progress = Progress::new(!talk.quiet);
    let checks = verify(&supervisor, &catalogue(), &mut |event| progress.show(event));
    progress.end();
    Ok(signals.deliver().map_or(Ok(checks), Err))
}

fn show(checks: &[Check], options: &Doctor, talk: &Talk) -> Result<(), Ended> {
    output::data(|out| {
        if options.json {
            return output::json(checks, out);
        }
        oscost_report::doctor(checks, &talk.style(), out)
    })
}

#[cfg(test)]
mod tests {
    use oscost_session::doctor::Finding;

    use super::*;

    /// With both options the machine was not asked, and an unfit one passed.
    #[test]
    fn the_machine_and_the_instrument_both_count() {
        let fine = [Finding::fine("").named("seccomp")];
        let bad = [Finding::disturbs("a filter", "floors").named("seccomp")];
        let code = |check, examined: &[Check], tried: &[Check]| {
            let options = Doctor { check, verify: true, json: false };
            ended(&options, examined, tried, &verdict(examined)).unwrap_or_else(|ended| ended.exit)
        };
        let asks = |check, verify| is_examined(&Doctor { check, verify, json: false });
        assert!(asks(true, true) && asks(true, false) && asks(false, false) && !asks(false, true));
        assert_eq!(code(true, &bad, &fine), Exit::Unfit, "the machine");
        assert_eq!(code(true, &fine, &bad), Exit::Unfit, "the instrument");
        assert_eq!(code(true, &fine, &fine), Exit::Done);
        assert_eq!(code(false, &[], &bad), Exit::Unfit);
        assert_eq!(code(false, &bad, &[]), Exit::Done, "without --check it only tells");
    }
}
