//! `oscost run --watch`: measures again and again until it is stopped, and reports changes.

use std::io::IsTerminal;

use oscost_families::realtime_ipc::RAW_DIR;
use oscost_families::record_database::DIRECTORY;
use oscost_harness::{Choice, Effort, Given};
use oscost_report::watch::{Watch, newest, screen, summary};
use oscost_report::{Style, compare::THRESHOLD};
use oscost_results::{Check, RunResult};
use oscost_session::Keep;

use crate::args::Run;
use crate::commands::compare::past;
use crate::commands::jitter;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk, is_stdout};
use crate::progress::Progress;
use crate::session::{self, Request};
use crate::signals::Signals;

/// How a user stops it: an end as any other, of a watch that had something to show.
const STOPPED: u8 = 2;

/// Watches the choices.
pub fn watch(options: &Run, given: &Given, choices: &[Choice], talk: &Talk) -> Result<Exit, Ended> {
    if options.json.as_deref().is_some_and(is_stdout) {
        return Err(Ended::misuse("--watch shows its runs on standard output: name a file for --json"));
    }
    if given.path(RAW_DIR.key).is_some() {
        return Err(Ended::misuse("--set raw_dir= cannot be used with --watch: it holds one run"));
    }
    session::check(&options.measuring)?;
    if let Some(most) = options.jitter {
        jitter::wait(most, talk);
    }
    let past = past(talk);
    let signals = Signals::listen()?;
    let mut watch = Watch::new(THRESHOLD);
    let mut frames = Frames::new(talk);
    let mut last: Option<RunResult> = None;
    let mut runs = || -> Result<(), Ended> {
        let mut examined: Option<Vec<Check>> = None;
        while !signals.came() {
            let request = Request {
                // The doctor's examination would be most of a short run: it is asked once.
                examined: examined.take(),
                directory: session::place(given.path(DIRECTORY.key))?,
                ..Request::new(choices, &options.patterns, &options.measuring, effort(options))
            };
            // What the first run had to say is not said again.
            let talk = if watch.runs() == 0 { *talk } else { Talk { quiet: true, verbose: false, ..*talk } };
            let mut progress = Progress::new(false);
            let session = session::measure(request, &signals, Keep::Nothing, &mut progress, &talk)?;
            // Half a run tells less than a whole one.
            if signals.came() {
                break;
            }
            examined = Some(session.result.doctor.clone());
            last = options.json.is_some().then(|| session.result.clone());
            watch.add(session.result, &past);
            if !frames.show(&watch)? {
                break;
            }
        }
        Ok(())
    };
    // What ends the watch takes away nothing that was measured before.
    let over = match runs() {
        Err(why) if watch.runs() == 0 => return Err(why),
        over => over,
    };
    let saved = match (&options.json, last) {
        (Some(path), Some(result)) => oscost_results::save_as(path, &result).map_err(Ended::unwritable),
        _ => Ok(()),
    };
    // Nobody may read standard output: it comes last.
    let signal = signals.deliver();
    let shown = output::data(|out| {
        // A terminal has written ^C by itself.
        if frames.terminal.is_some() {
            writeln!(out)?;
        }
        summary(&watch, &frames.style, out)
    });
    session::all_of([over, saved, shown])?;
    Ok(match signal {
        Some(STOPPED) if watch.runs() > 0 => Exit::Done,
        Some(number) => Exit::Signal(number),
        None => Exit::Done,
    })
}

/// Runs are short, so that a knob answers soon; what has not converged is measured again by the next one.
fn effort(options: &Run) -> Effort {
    let effort = if options.measuring.thorough { Effort::THOROUGH } else { Effort::QUICK };
    Effort { most_launches: effort.launches, ..effort }
}

/// What was shown last: on a terminal the next one takes its place, else it follows.
struct Frames {
    style: Style,
    /// On a terminal that can go back: how many lines it has, and how many of them the last frame took.
    terminal: Option<(usize, usize)>,
}

impl Frames {
    fn new(talk: &Talk) -> Self {
        let goes_back = std::io::stdout().is_terminal() && std::env::var("TERM").is_ok_and(|it| it != "dumb");
        let lines = if goes_back { oscost_sys::terminal::lines() } else { None };
        Self { style: talk.style(), terminal: lines.map(|lines| (lines, 0)) }
    }

    /// Whether anybody still reads.
    fn show(&mut self, watch: &Watch) -> Result<bool, Ended> {
        let style = self.style;
        let Some((lines, taken)) = &mut self.terminal else {
            return output::data_while_read(|out| newest(watch, &style, out));
        };
        let mut frame = Vec::new();
        screen(watch, &style, &mut frame).map_err(Ended::unwritable)?;
        let frame = fitting(&String::from_utf8_lossy(&frame), *lines);
        let back = replaced(*taken);
        *taken = frame.lines().count();
        output::data_while_read(|out| write!(out, "{back}{frame}"))
    }
}

/// The lines of a frame that a terminal of so many lines can go back over.
fn fitting(frame: &str, lines: usize) -> String {
    frame.lines().take(lines.saturating_sub(1).max(1)).map(|line| format!("{line}\n")).collect()
}

/// What makes a terminal write over the last `lines` lines: up, to the left, and clear to the end.
fn replaced(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\u{1b}[{lines}A\r\u{1b}[J") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_takes_the_place_of_the_one_before_and_never_more_than_the_terminal() {
        assert_eq!(replaced(0), "", "the first follows what stands there");
        assert_eq!(replaced(3), "\u{1b}[3A\r\u{1b}[J");
        assert_eq!(fitting("a\nb\nc\n", 24), "a\nb\nc\n");
        assert_eq!(fitting("a\nb\nc\n", 3), "a\nb\n", "the cursor has a line of its own");
        assert_eq!(fitting("a\nb\n", 0), "a\n");
    }
}
