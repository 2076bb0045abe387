//! What an interrupted campaign did already: one line a provocation or part, in the file that `--state` names. A second start with
//! the same file, seed and program goes on behind the last line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use crate::{Amount, Outcome, program};

/// One line behind the first: what was done, the how manieth alike, and what came of it.
#[derive(Serialize, Deserialize)]
struct Line {
    what: String,
    number: u32,
    outcome: Outcome,
}

struct State {
    file: File,
    done: Outcomes,
    /// How often each was asked for in this start.
    asked: BTreeMap<String, u32>,
}

static STATE: OnceLock<Mutex<State>> = OnceLock::new();

/// A place in the file: what is asked for, the how manieth time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    what: String,
    number: u32,
}

/// Opens or makes the file. Returns how many lines of it are of use.
///
/// # Errors
/// In words: it cannot be used, or is another campaign's.
pub fn open(path: &Path, amount: Amount) -> Result<usize, String> {
    let tell = |error: std::io::Error| format!("--state {}: {error}", path.display());
    let head = head(amount).map_err(tell)?;
    let (text, done) = match std::fs::read_to_string(path) {
        Ok(text) => read(&text, &head).map_err(|why| format!("--state {}: {why}", path.display()))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (format!("{head}\n"), BTreeMap::new()),
        Err(error) => return Err(tell(error)),
    };
    // A line that a kill cut short is written again without its half: beside the file, so that a kill now loses nothing.
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut new = File::create(&beside).map_err(tell)?;
    new.write_all(text.as_bytes()).and_then(|()| new.sync_all()).map_err(tell)?;
    std::fs::rename(&beside, path).map_err(tell)?;
    let file = OpenOptions::new().append(true).open(path).map_err(tell)?;
    let known = done.len();
    let state = State { file, done, asked: BTreeMap::new() };
    STATE.set(Mutex::new(state)).map_err(|_| "the state was opened twice".to_owned())?;
    Ok(known)
}

/// What was found, by the space and the number of the provocation.
type Outcomes = BTreeMap<(String, u32), Outcome>;

/// Whole lines of a state, and what they say.
fn read(text: &str, head: &str) -> Result<(String, Outcomes), String> {
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    if lines.next().map(str::trim_end) != Some(head) {
        return Err("it is another campaign's: another seed, length, program or test. Name a new file".into());
    }
    let mut whole = format!("{head}\n");
    let mut done = BTreeMap::new();
    for line in lines {
        let Ok(Line { what, number, outcome }) = serde_json::from_str(line) else { continue };
        whole.push_str(line);
        done.insert((what, number), outcome);
    }
    Ok((whole, done))
}

/// Names the campaign: what it does follows from the seed, and what it finds from the two programs.
fn head(amount: Amount) -> std::io::Result<String> {
    let sum = |path: &Path| Ok::<_, std::io::Error>(crc32fast::hash(&std::fs::read(path)?));
    let own = sum(&std::env::current_exe()?)?;
    let program = sum(Path::new(program::BUILT))?;
    Ok(format!("campaign full={} seed={} test={own:08x} program={program:08x}", amount.full, amount.seed))
}

/// A key for each, in their order; the same ones in each start.
pub fn keys<T: Serialize>(all: &[T]) -> Vec<Key> {
    let mut asked = STATE.get().map(|state| state.lock().expect("no holder panics"));
    let mut own = BTreeMap::new();
    let mut key = |what: String| {
        let asked = asked.as_mut().map_or(&mut own, |state| &mut state.asked);
        let number = asked.entry(what.clone()).or_default();
        *number += 1;
        Key { what, number: *number }
    };
    all.iter().map(|it| key(serde_json::to_string(it).expect("it is written as JSON"))).collect()
}

/// What an earlier start found, or what `carry_out` finds now, which is written down.
pub fn once(key: &Key, carry_out: impl FnOnce() -> Outcome) -> Outcome {
    let Some(state) = STATE.get() else { return carry_out() };
    let known = state.lock().expect("no holder panics").done.get(&(key.what.clone(), key.number)).cloned();
    if let Some(outcome) = known {
        return outcome;
    }
    let outcome = carry_out();
    let line = Line { what: key.what.clone(), number: key.number, outcome };
    let text = serde_json::to_string(&line).expect("it is written as JSON") + "\n";
    let written = state.lock().expect("no holder panics").file.write_all(text.as_bytes());
    let mut outcome = line.outcome;
    if let Err(error) = written {
        outcome.fail(format!("the state cannot be written: {error}"));
    }
    outcome
}

/// Whether a state is read as it was written, a cut line is left out, and another campaign's is refused.
pub fn is_sound() -> Result<(), String> {
    let outcome = |count| {
        let mut outcome = Outcome::default();
        outcome.count("kills", count);
        outcome
    };
    let line = |number, count| {
        let line = Line { what: "a \"kill\"\n".into(), number, outcome: outcome(count) };
        serde_json::to_string(&line).map(|line| line + "\n").map_err(|error| error.to_string())
    };
    let text = format!("head\n{}{}", line(1, 3)?, line(2, 5)?);
    for length in 0..=text.len() {
        let wanted: BTreeSet<u32> = match length {
            0..5 if read(&text[..length], "head").is_err() => continue,
            0..5 => return Err(format!("a head of {length} bytes is taken for a whole one")),
            _ => (1..=text[5..length].matches('\n').count()).map(|it| it as u32).collect(),
        };
        let (whole, done) = read(&text[..length], "head")?;
        if done.keys().map(|(_, number)| *number).collect::<BTreeSet<u32>>() != wanted {
            return Err(format!("{length} bytes of a state: {done:?}"));
        }
        if !whole.ends_with('\n') || !text.starts_with(&whole) {
            return Err(format!("{length} bytes of a state become {whole:?}"));
        }
    }
    if read(&text, "other").is_ok() {
        return Err("another campaign's state is taken".into());
    }
    let keys = keys(&["one", "two", "one"]);
    let numbers: Vec<u32> = keys.iter().map(|key| key.number).collect();
    if numbers != [1, 1, 2] { Err(format!("numbers of those alike: {numbers:?}")) } else { Ok(()) }
}
