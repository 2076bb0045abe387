//! `oscost compare --live`: two commands that start an oscost, measured in alternating launches.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use oscost_harness::{Lost, Supervisor, run_command};
use oscost_report::Named;
use oscost_report::compare::{Comparison, LiveLook, Rules, look_live};
use oscost_results::{Refused, RunResult, Untrusted, from_bytes};
use oscost_stats::interval::FEWEST_LAUNCHES;
use oscost_stats::looks::{PlannedLook, looks};

use crate::args::Compare;
use crate::commands::compare::{refuse_more, show, told};
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
/// Where nobody says how many rounds there may be: as many as this has time for, but so many in any case.
const TIME: Duration = Duration::from_secs(60);
const FEWEST_ROUNDS: usize = 10;
/// Most rounds.
const MOST_ROUNDS: usize = 200;

/// Measures both sides in turn and judges each figure by the rounds, until all are judged or there were enough.
pub fn live(sides: &[String], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let patterns = &options.results;
    if patterns.is_empty() {
        return Err(Ended::misuse("--live needs what to measure: oscost compare --live 'A' 'B' semaphore"));
    }
    refuse_more(options)?;
    let _lock = session::lock_or_wait()?;
    let signals = Signals::listen()?;
    let supervisor = Supervisor::new(signals.flag())
        .map_err(|error| Ended::unfit(oscost_session::Error::NoWorker(error)))?;
    let mut found: [Vec<RunResult>; 2] = [Vec::new(), Vec::new()];
    let mut progress = Progress::new(!talk.quiet);
    let began = Instant::now();
    let mut most = options.rounds.map(|rounds| rounds as usize);
    // Looks that are still to come; nobody knows them before it is known how many rounds there may be.
    let mut left: VecDeque<PlannedLook> = most.map(looks).unwrap_or_default().into();
    let mut round = 0;
    'rounds: loop {
        for (done, side) in ORDER.into_iter().enumerate() {
            let of = most.map_or(String::new(), |most| format!(" of at most {most}"));
            let name = ["A", "B"][side];
            progress.draw(format!("round {}{of} (A B B A), launch {} of 4: {name}", round + 1, done + 1));
            match launch(&supervisor, &sides[side], patterns) {
                Ok(Some(result)) => found[side].push(result),
                Ok(None) => break 'rounds,
                Err(ended) => {
                    progress.end();
                    return Err(Ended::new(ended.exit, format!("{name}: {ended}")));
                }
            }
        }
        round += 1;
        if most.is_none() && round == FEWEST_LAUNCHES {
            // How long the rounds took decides, never what they show.
            let took = began.elapsed().as_secs_f64() / round as f64;
            let rounds = ((TIME.as_secs_f64() / took) as usize).clamp(FEWEST_ROUNDS, MOST_ROUNDS);
            most = Some(rounds);
            left = looks(rounds).into();
        }
        if let Some(next) = left.front().filter(|next| next.rounds == round) {
            if left.len() == 1 || !look(&named(&found, sides), options, next.share).open {
                break;
            }
            left.pop_front();
        }
    }
    progress.end();
    let signal = signals.deliver_unless(options.output.as_deref());
    if round == 0 || found[1].len() < 2 {
        return match signal {
            None => Err(Ended::new(Exit::Withheld, "no round was finished")),
            Some(number) => Ok(Exit::Signal(number)),
        };
    }
    // Whoever ends it early looks once, as was planned, if earlier.
    let share = left.front().map_or(1.0, |look| look.share);
    let both = named(&found, sides);
    let mut comparison = look(&both, options, share).comparison;
    let of = most.map_or(String::new(), |most| format!(" of at most {most}"));
    match signal {
        Some(_) => comparison.warnings.push(format!("ended early, after {round}{of} rounds")),
        None if left.len() > 1 => talk.say(over(&comparison, &format!("{round}{of} rounds"))),
        None => {}
    }
    let comparison = std::slice::from_ref(&comparison);
    let exit = if signal.is_none() {
        told(comparison, options, talk)?
    } else {
        show(comparison, options, talk).map(|()| Exit::Done)?
    };
    // One may have come while a file was written.
    Ok(signals.deliver().map_or(exit, Exit::Signal))
}

fn named<'a>(found: &'a [Vec<RunResult>; 2], sides: &'a [String]) -> [Vec<Named<'a>>; 2] {
    [0, 1].map(|side| found[side].iter().map(|result| Named { name: &sides[side], result }).collect())
}

/// What the finished rounds say, at a look that may spend this share of every chance of an error.
fn look<'a>(both: &'a [Vec<Named<'a>>; 2], options: &Compare, share: f64) -> LiveLook<'a> {
    let rules = Rules { threshold: options.threshold(), ..Rules::default() };
    look_live(&both[0], &both[1], rules, share)
}

/// Why it ended before the most rounds: no figure is left that more of them would answer.
fn over(comparison: &Comparison<'_>, rounds: &str) -> String {
    match comparison.blind().0 {
        0 => format!("every figure was judged after {rounds}"),
        _ => format!("ended after {rounds}: more of them would judge no more figures"),
    }
}

/// One launch of a side; `None` where the user ended it.
fn launch(supervisor: &Supervisor, side: &str, patterns: &[String]) -> Result<Option<RunResult>, Ended> {
    let withheld = |why: String| Ended::new(Exit::Withheld, why);
    // The side is a command of the user's for a shell; what is measured is appended as arguments, never as text of it.
    let script = format!("{side} \"$@\"");
    let command = ["sh", "-c", &script, "oscost", "run", "--quiet", "--one-launch", "--force", "--json", "-"];
    let command = command.into_iter().map(str::to_owned).chain(patterns.iter().cloned()).collect();
    // The launches are parts of one measurement, not runs to be kept.
    let environment = BTreeMap::from([("XDG_STATE_HOME".to_owned(), "/dev/null".to_owned())]);
    let output = match run_command(supervisor, command, environment, MOST_OUTPUT, DEADLINE_NS) {
        Ok(output) if output.timed_out => {
            return Err(withheld(format!("did not end within {} s: {side}", DEADLINE_NS / 1_000_000_000)));
        }
        Ok(output) => output,
        Err(Lost::Interrupted) => return Ok(None),
        Err(Lost::Worker { what, .. }) => return Err(withheld(format!("'{side}' was lost: {what}"))),
    };
    // 3: a figure was withheld; the others count, and the withheld one says so in the comparison. Where none of those that were
    // named can be measured there is no result, and standard error says why.
    let is_partly_withheld = output.code == Some(3) && !output.stdout.trim().is_empty();
    if output.code != Some(0) && !is_partly_withheld {
        let (exit, remedy) = failed(side, output.code);
        let code = output.code.map_or("a signal".to_owned(), |code| format!("code {code}"));
        let words = Untrusted::new(output.stderr.trim()).terminal().to_string();
        let colon = if words.is_empty() { "" } else { ": " };
        return Err(Ended::new(exit, format!("'{side}' ended with {code}{colon}{words}{remedy}")));
    }
    from_bytes(output.stdout.as_bytes()).map(Some).map_err(|refused| {
        let why = match refused {
            Refused::NotAResult { reason } => reason,
            other => other.to_string(),
        };
        Ended::misuse(format!(
            "'{side}' printed no result of oscost ({why}); it must start an oscost, which gets further arguments"
        ))
    })
}

/// How the comparison ends where a side failed, and what to do. The codes are a run's; a shell adds 128 to a signal.
fn failed(side: &str, code: Option<i32>) -> (Exit, &'static str) {
    let own = [Exit::Withheld, Exit::Unwritable, Exit::Unfit, Exit::Internal];
    let own = own.into_iter().find(|exit| code == Some(i32::from(exit.code())));
    match (own, code) {
        (Some(exit), _) => (exit, ""),
        (None, None | Some(129..=254)) => (Exit::Withheld, ""),
        (None, Some(2)) if side.split_whitespace().next_back() == Some("run") => {
            (Exit::Misuse, "; leave out 'run', which compare adds")
        }
        // 2 is what was asked for, of either side.
        (None, Some(2)) => (Exit::Misuse, ""),
        (None, Some(_)) => (Exit::Misuse, "; it must be a command that starts an oscost"),
    }
}

#[cfg(test)]
mod tests {
    use oscost_results::{Figure, Status};

    use super::*;

    /// More rounds answer nothing of what is withheld on one side, and nothing of it was judged.
    #[test]
    fn what_was_not_judged_is_not_called_judged() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/tests/samples/v1.json");
        let mut sample = from_bytes(&std::fs::read(sample).expect("a file")).expect("a result");
        sample.figures.retain(|it| it.id == "semaphore/system_v");
        let failed = RunResult {
            figures: sample
                .figures
                .iter()
                .cloned()
                .map(|it| Figure { status: Status::Failed, ..it })
                .collect(),
            ..sample.clone()
        };
        let rounds = |of: &RunResult| vec![of.clone(); 12];
        let sides = ["a", "b"].map(str::to_owned);
        let said = |b: &RunResult| {
            let found = [rounds(&sample), rounds(b)];
            let both = named(&found, &sides);
            let LiveLook { comparison, open, .. } = look_live(&both[0], &both[1], Rules::default(), 1.0);
            assert!(!open);
            over(&comparison, "6 of at most 13 rounds")
        };
        assert_eq!(
            said(&failed),
            "ended after 6 of at most 13 rounds: more of them would judge no more figures"
        );
        assert_eq!(said(&sample), "every figure was judged after 6 of at most 13 rounds");
    }

    /// Every code of a run is that of the comparison, and what no run ends with is a command that is none.
    #[test]
    fn a_side_that_fails_ends_the_comparison_by_its_code() {
        for exit in [Exit::Misuse, Exit::Withheld, Exit::Unwritable, Exit::Unfit, Exit::Internal] {
            assert_eq!(failed("oscost", Some(exit.code().into())).0, exit);
        }
        for code in [None, Some(137), Some(143)] {
            assert_eq!(failed("oscost", code), (Exit::Withheld, ""));
        }
        for code in [1, 126, 127, 255] {
            let (exit, remedy) = failed("foo", Some(code));
            assert!(exit == Exit::Misuse && remedy.contains("starts an oscost"), "{code}: {remedy}");
        }
        assert!(failed("taskset -c 1 oscost run", Some(2)).1.contains("leave out 'run'"));
        assert_eq!(failed("oscost", Some(2)), (Exit::Misuse, ""), "the pattern is wrong, not the command");
    }
}
