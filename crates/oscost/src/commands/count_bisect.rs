//! `oscost compare --bisect --kernel`: counts one id on a kernel image, for `git bisect run`.

use std::path::Path;

use oscost_count::Error;
use oscost_count::emulator;
use oscost_count::image::Image;
use oscost_harness::Tier;
use oscost_report::count::{Changes, CountVerdict};
use oscost_results::{Emulation, RunResult};

use crate::args::{Compare, Count, CountFormat};
use crate::commands::bisect::for_git;
use crate::commands::compare::load;
use crate::commands::counts::{refuse_of_times, show};
use crate::commands::{catalogue, count};
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::signals::Signals;

/// Counts one id on a kernel image as a stored result did, and judges: code 0 (not more), 1 (more), 125 (no verdict, or this
/// kernel gives no count: git skips the commit).
pub fn bisect(asked: &[String], kernel: &Path, options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    refuse_of_times(options, false)?;
    let [base, id] = asked else { return Err(Ended::misuse("--bisect needs a result and an id")) };
    let (names, results) = load(std::slice::from_ref(base), talk)?;
    let [base] = <[RunResult; 1]>::try_from(results)
        .map_err(|_| Ended::misuse(format!("--bisect needs one result, {base} names {}", names.len())))?;
    let name = names.first().map_or("base", |name| name);
    let Some(emulation) = base.conditions.emulation.clone() else {
        return Err(Ended::misuse(format!("{name} holds times: --kernel needs a base made by oscost count")));
    };
    let before = base.figures.iter().find(|figure| figure.id == *id);
    let Some(figure) = before.filter(|figure| figure.count.is_some()) else {
        return Err(Ended::misuse(format!("{name} has no count of '{id}'")));
    };
    let has_tree = figure.count.as_ref().is_some_and(|count| !count.functions.is_empty());
    let image = Image::find(kernel).map_err(count::ended)?;
    if image.architecture != base.machine.architecture {
        return Err(Ended::misuse(format!(
            "{} is a kernel for {}, and {name} was counted on {}",
            kernel.display(),
            image.architecture,
            base.machine.architecture
        )));
    }
    refuse_another_guest(name, &base, &emulation, image.architecture)?;
    let choices = catalogue().select(std::slice::from_ref(id), Tier::Hidden).map_err(Ended::misuse)?;
    let choices: Vec<_> = choices.into_iter().filter(|choice| choice.card().id == *id).collect();
    let again = Count {
        patterns: vec![id.clone()],
        kernel: Vec::new(),
        // Names need the kernel's list of symbols: asked for where the base has them.
        by_function: has_tree,
        format: CountFormat::Text,
        append: emulation.append.clone(),
        cpu_model: emulator::named_cpu_model(&emulation, image.architecture),
        memory: emulation.memory_mib,
        guest_program: None,
        initrd_add: Vec::new(),
        seed: u32::try_from(base.plan.seed).unwrap_or(1),
        patience: Count::PATIENCE,
        note: None,
        json: None,
    };
    let signals = Signals::listen()?;
    let now = match count::on_kernel(&again, &image, &choices, &signals.flag(), talk) {
        Ok(now) => now,
        Err(Error::Interrupted) => return Ok(count::interrupted(&signals)),
        Err(error) => {
            let ended = count::ended(error);
            if ended.exit != Exit::Withheld {
                return Err(ended);
            }
            talk.warn(&ended);
            talk.say(for_git(Exit::Skipped, "more instructions"));
            return Ok(Exit::Skipped);
        }
    };
    signals.deliver_unless(options.output.as_deref());
    let only = RunResult { figures: vec![figure.clone()], ..base.clone() };
    let changes = Changes::between(&only, &now);
    show(&changes, options, talk)?;
    if let Some(number) = signals.deliver() {
        return Ok(Exit::Signal(number));
    }
    let exit = match changes.rows.first().map(|row| row.verdict) {
        Some(CountVerdict::More) => Exit::Slower,
        Some(CountVerdict::Fewer | CountVerdict::Equal) => Exit::Done,
        Some(CountVerdict::Unclear) | None => Exit::Skipped,
    };
    talk.say(for_git(exit, "more instructions"));
    Ok(exit)
}

/// An operation's own part depends on the program's build, and a kernel patches itself for what qemu emulates: where these are not
/// the base's, a commit would be blamed for them.
fn refuse_another_guest(
    name: &str,
    base: &RunResult,
    emulation: &Emulation,
    architecture: &str,
) -> Result<(), Ended> {
    let own = std::env::consts::ARCH;
    if architecture != own {
        return Err(Ended::misuse(format!(
            "a bisection counts with this program, which is one for {own}, and {name} was counted on {architecture}: bisect on such a machine"
        )));
    }
    let (before, now) = (&base.tool.build_id, oscost_session::machine::tool().build_id);
    if *before != now {
        return Err(Ended::misuse(format!(
            "{name} was counted by another program (build {before}, and this is {now}): count a new base by this one, without --guest-program"
        )));
    }
    // A dynamic program takes this machine's library along. Who does not name it is told nothing of it.
    let (before, now) = (&base.tool.libc, oscost_session::machine::tool().libc);
    if !before.is_empty() && *before != now {
        return Err(Ended::misuse(format!(
            "{name} was counted with another C library ({before}, and this is {now}): count a new base"
        )));
    }
    let before = &emulation.emulator;
    // Where there is no qemu, the boot says so. A base that was told no version has the program's name.
    let is_known = before.starts_with("qemu ");
    match emulator::version(architecture).filter(|now| is_known && now != before) {
        Some(now) => Err(Ended::misuse(format!(
            "{name} was counted by another emulator ({before}, and this is {now}): count a new base"
        ))),
        None => Ok(()),
    }
}
