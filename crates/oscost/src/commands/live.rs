//! `oscost compare --live`: two commands that start an oscost, measured in alternating launches.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use oscost_report::Named;
use oscost_report::compare::{Rules, compare_live};
use oscost_results::{RunResult, Untrusted, from_bytes};
use oscost_sys::process::{Signal, end_with_caller, signal_group};

use crate::args::Compare;
use crate::commands::compare::{exit, show};
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::progress::Progress;
use crate::session;

/// One launch of a side may take this long, whatever is measured.
const DEADLINE: Duration = Duration::from_secs(300);
/// What a side has written is read at most so long after its end.
const PIPES: Duration = Duration::from_secs(2);
/// Launches of one round: A B B A, so that a drift over the round cancels.
const ORDER: [usize; 4] = [0, 1, 1, 0];

/// Measures both sides in turn and judges each figure by the rounds.
pub fn live(sides: &[String], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let patterns = &options.results;
    if patterns.is_empty() {
        return Err(Ended::misuse("--live needs what to measure: oscost compare --live 'A' 'B' semaphore"));
    }
    let _lock = session::lock_of(false)?;
    let (interrupted, signal) = session::listen()?;
    let mut found: [Vec<RunResult>; 2] = [Vec::new(), Vec::new()];
    let progress = Progress::new(!talk.quiet);
    'rounds: for round in 0..options.rounds {
        for side in ORDER {
            progress.draw(format!("round {} of {}: {}", round + 1, options.rounds, ["A", "B"][side]));
            let launched = launch(&sides[side], patterns, &|| interrupted.load(Ordering::Relaxed));
            match launched {
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
    let rounds = found[0].len() / 2;
    if rounds == 0 || found[1].len() < 2 {
        return match signal.load(Ordering::Relaxed) {
            0 => Err(Ended::new(Exit::Withheld, "no round was finished")),
            number => Ok(Exit::Signal(u8::try_from(number).unwrap_or(0))),
        };
    }
    let named = |side: usize| -> Vec<Named<'_>> {
        found[side].iter().map(|result| Named { name: &sides[side], result }).collect()
    };
    let comparison = compare_live(&named(0), &named(1), Rules { cross_machine: false });
    show(std::slice::from_ref(&comparison), options, talk)?;
    Ok(match signal.load(Ordering::Relaxed) {
        0 => exit(std::slice::from_ref(&comparison), options),
        number => Exit::Signal(u8::try_from(number).unwrap_or(0)),
    })
}

/// One launch of a side; `None` where the user ended it.
fn launch(
    side: &str,
    patterns: &[String],
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<RunResult>, String> {
    // The side is a command of the user's for a shell; what is measured is appended as arguments, never as text of it.
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{side} \"$@\""))
        .args(["oscost", "run", "--quiet", "--one-launch", "--force", "--json", "-"])
        .args(patterns)
        // The launches are parts of one measurement, not runs to be kept: nothing can be stored there.
        .env("XDG_STATE_HOME", "/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    // Nothing of a side outlives this program, however it ends.
    end_with_caller(&mut command);
    let mut child = command.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
    let readers = (drain(child.stdout.take()), drain(child.stderr.take()));
    let ended = wait(&mut child, interrupted);
    // Whatever left the group may hold the pipes for ever.
    let read = [readers.0, readers.1].map(|reader| reader.recv_timeout(PIPES));
    match ended {
        Came::Interrupted => return Ok(None),
        Came::Late => return Err(format!("did not end within {} s: {side}", DEADLINE.as_secs())),
        Came::Code(code) => {
            let words = read[1].as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            let words = Untrusted::new(words.trim()).terminal().to_string();
            // 3: a figure was withheld; the others count, and the withheld one says so in the comparison.
            if !matches!(code, Some(0 | 3)) {
                let code = code.map_or("a signal".to_owned(), |code| format!("code {code}"));
                return Err(format!(
                    "'{side}' ended with {code}{}{words}",
                    if words.is_empty() { "" } else { ": " }
                ));
            }
        }
    }
    let Ok(stdout) = &read[0] else {
        return Err(format!("'{side}' has ended, but something that it started keeps its output open"));
    };
    match from_bytes(stdout) {
        Ok(result) => Ok(Some(result)),
        Err(error) => Err(format!(
            "'{side}' printed no result of oscost ({error}); it must start an oscost, which gets further arguments"
        )),
    }
}

enum Came {
    Code(Option<i32>),
    Late,
    Interrupted,
}

/// Waits for the end; at the deadline, or when the user wants it, the whole process group is ended.
fn wait(child: &mut Child, interrupted: &dyn Fn() -> bool) -> Came {
    let start = Instant::now();
    let stop = |child: &mut Child| {
        if let Ok(group) = i32::try_from(child.id()) {
            // A group that has gone needs no end.
            let _ = signal_group(group, Signal::Kill);
        }
        let _ = child.wait();
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let code = status.code();
                stop(child);
                return Came::Code(code);
            }
            Ok(None) if interrupted() => {
                stop(child);
                return Came::Interrupted;
            }
            Ok(None) if start.elapsed() > DEADLINE => {
                stop(child);
                return Came::Late;
            }
            // Rare enough to cost the launch nothing that could be measured.
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
            Err(_) => {
                stop(child);
                return Came::Code(None);
            }
        }
    }
}

/// Reads a pipe to its end, so that nobody waits for room in it.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    /// More than a result may be.
    const MOST: u64 = 17 << 20;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(MOST).read_to_end(&mut bytes);
        }
        // Nobody listens any more once the pipe was held open for too long.
        let _ = sender.send(bytes);
    });
    receiver
}
