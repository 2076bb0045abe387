//! `oscost compare --live`: two commands that start an oscost, measured in alternating launches.

use std::collections::BTreeMap;

use oscost_harness::{Lost, Supervisor, run_command};
use oscost_report::Named;
use oscost_report::compare::{Rules, compare_live};
use oscost_results::{Refused, RunResult, Untrusted, from_bytes};

use crate::args::Compare;
use crate::commands::compare::{show, told};
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::progress::Progress;
use crate::session;
use crate::signals::Signals;

/// One launch of a side may take this long, whatever is measured.
const DEADLINE_NS: u64 = 300_000_000_000;
/// What is read of a side's output, bytes: more than a result may have.
const MOST_OUTPUT: usize = 17 << 20;
/// Launches of one round: A B B A, so that a drift over the round cancels.
const ORDER: [usize; 4] = [0, 1, 1, 0];

/// Measures both sides in turn and judges each figure by the rounds.
pub fn live(sides: &[String], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let patterns = &options.results;
    if patterns.is_empty() {
        return Err(Ended::misuse("--live needs what to measure: oscost compare --live 'A' 'B' semaphore"));
    }
    let _lock = session::lock_or_wait()?;
    let signals = Signals::listen()?;
    let supervisor = Supervisor::new(signals.flag())
        .map_err(|error| Ended::new(Exit::Unfit, oscost_session::Error::NoWorker(error).to_string()))?;
    let mut found: [Vec<RunResult>; 2] = [Vec::new(), Vec::new()];
    let mut progress = Progress::new(!talk.quiet);
    'rounds: for round in 0..options.rounds {
        for (done, side) in ORDER.into_iter().enumerate() {
            let (round, rounds, name) = (round + 1, options.rounds, ["A", "B"][side]);
            progress.draw(format!("round {round} of {rounds} (A B B A), launch {} of 4: {name}", done + 1));
            match launch(&supervisor, &sides[side], patterns) {
                Ok(Some(result)) => found[side].push(result),
                Ok(None) => break 'rounds,
                Err(why) => {
                    progress.end();
                    return Err(Ended::new(Exit::Withheld, format!("{}: {why}", ["A", "B"][side])));
                }
            }
        }
    }
    progress.end();
    let signal = signals.deliver();
    let rounds = found[0].len() / 2;
    if rounds == 0 || found[1].len() < 2 {
        return match signal {
            None => Err(Ended::new(Exit::Withheld, "no round was finished")),
            Some(number) => Ok(Exit::Signal(number)),
        };
    }
    let named = |side: usize| -> Vec<Named<'_>> {
        found[side].iter().map(|result| Named { name: &sides[side], result }).collect()
    };
    let rules = Rules { threshold: options.threshold, ..Rules::default() };
    let mut comparison = compare_live(&named(0), &named(1), rules);
    if signal.is_some() {
        comparison.warnings.push(format!("ended early, after {rounds} of {} rounds", options.rounds));
    }
    let comparison = std::slice::from_ref(&comparison);
    match signal {
        None => told(comparison, options, talk),
        Some(number) => {
            show(comparison, options, talk)?;
            Ok(Exit::Signal(number))
        }
    }
}

/// One launch of a side; `None` where the user ended it.
fn launch(supervisor: &Supervisor, side: &str, patterns: &[String]) -> Result<Option<RunResult>, String> {
    // The side is a command of the user's for a shell; what is measured is appended as arguments, never as text of it.
    let script = format!("{side} \"$@\"");
    let command = ["sh", "-c", &script, "oscost", "run", "--quiet", "--one-launch", "--force", "--json", "-"];
    let command = command.into_iter().map(str::to_owned).chain(patterns.iter().cloned()).collect();
    // The launches are parts of one measurement, not runs to be kept.
    let environment = BTreeMap::from([("XDG_STATE_HOME".to_owned(), "/dev/null".to_owned())]);
    let output = match run_command(supervisor, command, environment, MOST_OUTPUT, DEADLINE_NS) {
        Ok(output) if output.timed_out => {
            return Err(format!("did not end within {} s: {side}", DEADLINE_NS / 1_000_000_000));
        }
        Ok(output) => output,
        Err(Lost::Interrupted) => return Ok(None),
        Err(Lost::Worker { what, .. }) => return Err(format!("'{side}' was lost: {what}")),
    };
    // 3: a figure was withheld; the others count, and the withheld one says so in the comparison.
    if !matches!(output.code, Some(0 | 3)) {
        let code = output.code.map_or("a signal".to_owned(), |code| format!("code {code}"));
        let words = Untrusted::new(output.stderr.trim()).terminal().to_string();
        let colon = if words.is_empty() { "" } else { ": " };
        return Err(format!(
            "'{side}' ended with {code}{colon}{words}; it must be a command that starts an oscost"
        ));
    }
    from_bytes(output.stdout.as_bytes()).map(Some).map_err(|refused| {
        let why = match refused {
            Refused::NotAResult { reason } => reason,
            other => other.to_string(),
        };
        format!("'{side}' printed no result of oscost ({why}); it must start an oscost, which gets further arguments")
    })
}
