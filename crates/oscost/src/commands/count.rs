//! `oscost count`: instructions of one operation on a kernel image, counted in an emulated machine.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use oscost_count::boot::{BootRequest, Booted};
use oscost_count::emulator::{self, EmulatorSettings};
use oscost_count::image::Image;
use oscost_count::message::{CountRow, Hello};
use oscost_count::program::GuestProgram;
use oscost_count::trace::{self, Followed};
use oscost_count::{Error, figure};
use oscost_harness::Choice;
use oscost_report::Named;
use oscost_results::{Figure, Plan, RunName, RunResult, Store};

use crate::args::{Count, CountFormat};
use crate::choose;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::session;
use crate::signals::Signals;

/// Operations counted one by one.
const OPERATIONS: u32 = 64;
/// Iterations that are followed: the first teaches who waits where, the last is not whole.
const FOLLOWED: u32 = 5;
/// More kernels than two have no difference.
const KERNELS: usize = 2;

/// Who runs where: what a guest says of itself first.
pub fn hello() -> Hello {
    Hello {
        tool: oscost_session::machine::tool(),
        machine: oscost_session::machine::machine(),
        conditions: oscost_session::machine::conditions(),
    }
}

/// Counts on each kernel, shows what came of it, and saves it.
pub fn count(options: &Count, talk: &Talk) -> Result<Exit, Ended> {
    if options.kernel.len() > KERNELS {
        return Err(Ended::misuse("--kernel is given at most twice: the difference of two kernels"));
    }
    let choices = choose::choose_alone(&options.patterns, talk)?;
    if options.format == CountFormat::Folded && !options.by_function {
        return Err(Ended::misuse("--format folded shows functions: add --by-function"));
    }
    let holds_one = !matches!(options.format, CountFormat::Text | CountFormat::Html);
    if (holds_one || options.json.is_some()) && options.kernel.len() > 1 {
        return Err(Ended::misuse(
            "the difference of two kernels is shown as text or html: count each with --json FILE, and compare",
        ));
    }
    // What is wrong with a file is found before a machine is started.
    let images = options.kernel.iter().map(|kernel| Image::find(kernel)).collect::<Result<Vec<_>, _>>();
    let images = images.map_err(ended)?;
    if let Some(path) = &options.json {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    let signals = Signals::listen()?;
    let mut results = Vec::new();
    let mut saved: Result<Option<String>, Ended> = Ok(None);
    for image in &images {
        match on_kernel(options, image, &choices, &signals.flag(), talk) {
            // Stored at once: whatever becomes of another kernel takes nothing of this one's away.
            Ok(result) => {
                saved = saved.and(save(&result));
                results.push(result);
            }
            Err(error) => return cut_short(error, saved, &images, &signals, talk),
        }
    }
    let stored = saved.as_ref().ok().cloned().flatten();
    let file = options.json.as_deref().zip(results.last());
    let json = file
        .map_or(Ok(()), |(path, result)| oscost_results::save_as(path, result).map_err(Ended::unwritable));
    // Nobody may read standard output: it comes last.
    signals.deliver();
    session::all_of([saved.map(drop), json, show(options, &results, stored.as_deref(), talk)])?;
    // Of several kernels the last one is shown.
    let shown = results.last().filter(|_| options.format == CountFormat::Folded);
    let lacks: Vec<String> = shown.into_iter().flat_map(|last| without_a_tree(&last.figures)).collect();
    lacks.iter().for_each(|what| talk.warn(what));
    let withheld = !lacks.is_empty() || results.iter().any(|result| is_withheld(result, &choices));
    Ok(if withheld { Exit::Withheld } else { Exit::Done })
}

/// The end where a kernel gave no count: what was counted on the one before it is stored, and that is said.
fn cut_short(
    error: Error,
    saved: Result<Option<String>, Ended>,
    images: &[Image],
    signals: &Signals,
    talk: &Talk,
) -> Result<Exit, Ended> {
    if let (Ok(Some(name)), Some(before)) = (&saved, images.first()) {
        talk.say(format!("what was counted on {} is stored as {name}", before.path.display()));
    }
    let over = match error {
        Error::Interrupted => Ok(()),
        error => Err(ended(error)),
    };
    session::all_of([saved.map(drop), over])?;
    Ok(interrupted(signals))
}

/// How the program ends after a signal.
pub fn interrupted(signals: &Signals) -> Exit {
    Exit::Signal(signals.deliver().unwrap_or(2))
}

/// An error of counting: of the guest, whose row is withheld, of this machine, which lacks what counting needs, or of what was given.
pub fn ended(error: Error) -> Ended {
    let exit = match error {
        Error::Guest { .. } => Exit::Withheld,
        Error::NoEmulator { .. } | Error::Call { .. } => Exit::Unfit,
        Error::File { .. } | Error::Refused(_) | Error::Interrupted => Exit::Misuse,
    };
    Ended::new(exit, error.to_string())
}

/// What is said of figures without a tree, where stacks have no place for a remark.
fn without_a_tree(figures: &[Figure]) -> impl Iterator<Item = String> {
    figures.iter().flat_map(|counted| {
        let missing = counted.remarks.iter().filter(|remark| remark.starts_with(oscost_count::NO_TREE));
        missing.map(|why| format!("{}: {why}", counted.id))
    })
}

/// Whether a figure that was asked for has no number.
fn is_withheld(result: &RunResult, choices: &[Choice]) -> bool {
    use oscost_results::Status;
    let named = |id: &str| choices.iter().any(|choice| choice.named && choice.card().id == id);
    result.figures.iter().any(|figure| match figure.status {
        Status::Measured => false,
        Status::Unsupported => named(&figure.id),
        _ => true,
    })
}

/// The result of one kernel.
///
/// # Errors
/// Why there is none.
pub fn on_kernel(
    options: &Count,
    image: &Image,
    choices: &[Choice],
    interrupted: &AtomicBool,
    talk: &Talk,
) -> Result<RunResult, Error> {
    let own = Path::new("/proc/self/exe");
    let program = GuestProgram::read(options.guest_program.as_deref().unwrap_or(own))?;
    let files = files(options)?;
    let settings = EmulatorSettings {
        append: options.append.clone(),
        cpu_model: options.cpu_model.clone(),
        memory_mib: options.memory,
        seed: options.seed,
        patience: Duration::from_secs(options.patience),
    };
    let ids: Vec<String> = choices.iter().map(|choice| choice.card().id.to_owned()).collect();
    let request = BootRequest {
        image,
        program: &program,
        files: &files,
        settings: &settings,
        ids: &ids,
        operations: OPERATIONS,
        audit: true,
        followed: if options.by_function { FOLLOWED } else { 0 },
    };
    let (started, begun) = (SystemTime::now(), Instant::now());
    if talk.verbose {
        talk.say(format!("booting {} twice under emulation", image.path.display()));
    }
    let (booted, followed) = if options.by_function {
        let both = trace::count_and_follow(&request, options.seed, interrupted)?;
        // Nobody stops the other machine either while it counts.
        (vec![both.counted, both.stopped.clone()], Some((both.followed, both.stopped)))
    } else {
        (request.boot(&[options.seed, options.seed.wrapping_add(1)], interrupted)?, None)
    };
    if talk.verbose {
        for one in &booted {
            let memory = one.peak_memory_kib.map_or(0, |kib| kib / 1024);
            let (boot, whole) = (one.boot.as_secs_f64(), one.whole.as_secs_f64());
            talk.say(format!("booted in {boot:.1} s, ended after {whole:.1} s, at most {memory} MiB"));
        }
    }
    Ok(result(options, choices, &request, &booted, followed.as_ref(), (started, begun)))
}

/// A guest has no room for a larger file, bytes.
const MOST_ADDED: u64 = 512 << 20;

/// Files that the user adds to the guest's root, at their own paths.
fn files(options: &Count) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let one = |path: &std::path::PathBuf| {
        let wrong = |error: std::io::Error| Error::File {
            path: path.clone(),
            why: format!("cannot be read: {error}"),
        };
        let place = std::path::absolute(path).map_err(wrong)?;
        Ok((place.to_string_lossy().into_owned(), oscost_sys::file::bytes(path, MOST_ADDED).map_err(wrong)?))
    };
    options.initrd_add.iter().map(one).collect()
}

fn result(
    options: &Count,
    choices: &[Choice],
    request: &BootRequest<'_>,
    booted: &[Booted],
    followed: Option<&(Vec<Followed>, Booted)>,
    (started, begun): (SystemTime, Instant),
) -> RunResult {
    let figures = choices.iter().map(|choice| {
        let card = choice.card();
        let rows: Vec<&CountRow> =
            booted.iter().filter_map(|one| one.rows.iter().find(|row| row.id == card.id)).collect();
        let followed = followed.and_then(|(followed, stopped)| {
            let followed = followed.iter().find(|followed| followed.id == card.id)?;
            Some((followed, stopped.rows.iter().find(|row| row.id == card.id)?))
        });
        figure::of_rows(card, &rows, followed)
    });
    let hello = booted.first().map(|one| one.hello.clone());
    let (tool, machine, mut conditions) =
        hello.map(|hello| (hello.tool, hello.machine, hello.conditions)).unwrap_or_default();
    conditions.emulation = Some(emulator::conditions(request.image, request.settings));
    RunResult {
        partial: false,
        duration_ns: u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
        note: options.note.clone(),
        plan: Plan {
            seed: u64::from(options.seed),
            launches: u32::try_from(booted.len()).unwrap_or(u32::MAX),
            effort: "count".to_owned(),
            patterns: options.patterns.clone(),
            ..Plan::default()
        },
        figures: figures.collect(),
        ..RunResult::begun(started, tool, machine, conditions)
    }
}

/// Saves a result in the user's store; its name. `None` where the user wants nothing to be kept.
pub fn save(result: &RunResult) -> Result<Option<String>, Ended> {
    let kept = || -> Result<Option<String>, String> {
        let store = Store::of_user().map_err(|error| error.to_string())?;
        if store.is_nowhere() {
            return Ok(None);
        }
        store.prepare().map_err(|error| error.to_string())?;
        let name = RunName::now().map_err(|_| "there are no random bits for its name")?;
        let path = store.save(&name, result).map_err(|error| error.to_string())?;
        Ok(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
    };
    kept().map_err(|why| Ended::unwritable(format!("the result was not stored: {why}")))
}

fn show(options: &Count, results: &[RunResult], stored: Option<&str>, talk: &Talk) -> Result<(), Ended> {
    use oscost_report::count as report;
    let style = talk.style();
    match options.format {
        CountFormat::Json => {
            let Some(last) = results.last() else { return Ok(()) };
            let bytes = oscost_results::to_bytes(last).map_err(Ended::unwritable)?;
            output::data(|out| out.write_all(&bytes))
        }
        CountFormat::Folded => {
            output::data(|out| results.last().map_or(Ok(()), |result| report::folded(result, out)))
        }
        CountFormat::Html => {
            let named: Vec<Named<'_>> = options
                .kernel
                .iter()
                .zip(results)
                .map(|(kernel, result)| Named { name: kernel.to_str().unwrap_or("count"), result })
                .collect();
            output::data(|out| oscost_report::page(&named, stored, out))
        }
        CountFormat::Text => output::data(|out| match results {
            [before, now] => report::Changes::between(before, now).text(&style, out),
            [only] => report::shown(only, stored.map(|_| "@-1"), &style, out),
            _ => Ok(()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_is_missing_is_told_beside_stacks() {
        let figure = |remark: &str| {
            let figure = serde_json::from_value(serde_json::json!({
                "id": "a", "family": "", "title": "", "operation": "", "operations_per_iteration": 1,
                "call_path": "libc", "group": "", "status": "measured", "headline": "instructions", "remarks": [remark],
            }));
            figure.expect("a figure")
        };
        let lacking = figure(&format!("{}: the log is too long", oscost_count::NO_TREE));
        let told: Vec<String> = without_a_tree(&[figure("another"), lacking]).collect();
        assert_eq!(told, ["a: there is no tree: the log is too long"]);
    }
}
