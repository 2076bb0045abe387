//! `oscost doctor`: is the machine fit, and what to change.

use oscost::doctor::{Level, examine};

use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};

/// Examines the machine and shows what was found.
pub fn doctor(talk: &Talk) -> Result<Exit, Ended> {
    let checks = examine(Level::Full);
    output::data(|out| oscost_report::doctor(&checks, &talk.style(), out))?;
    Ok(Exit::Done)
}
