//! `oscost compare` of counts: two stored results, and one id on a kernel image for `git bisect run`.

use std::path::Path;

use oscost_count::Error;
use oscost_count::emulator;
use oscost_count::image::Image;
use oscost_harness::Tier;
use oscost_report::count::{Changes, CountVerdict, is_count};
use oscost_results::RunResult;

use crate::args::{Compare, CompareFormat, Count, CountFormat, FailOn};
use crate::commands::compare::{deliver, load};
use crate::commands::{catalogue, count};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::signals::Signals;

/// Two stored results of counts: more, fewer or equal, never slower or faster.
pub fn stored(before: &RunResult, now: &RunResult, options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    if !is_count(before) || !is_count(now) {
        return Err(Ended::misuse("counts are compared with counts: instructions are not time"));
    }
    if options.fail_on.contains(&FailOn::Slower) {
        return Err(Ended::misuse("counts are more or fewer, never slower: --fail-on more:N"));
    }
    if before.machine.architecture != now.machine.architecture && !options.cross_machine {
        let (a, b) = (&before.machine.architecture, &now.machine.architecture);
        return Err(Ended::misuse(format!(
            "one result is of {a}, the other of {b}: their instructions are not the same (--cross-machine compares all the same)"
        )));
    }
    let changes = Changes::between(before, now);
    show(&changes, options, talk)?;
    if changes.rows.iter().all(|row| row.difference().is_none()) {
        return Err(Ended::misuse("no figure was counted in both"));
    }
    Ok(exit(&changes, &options.fail_on))
}

fn exit(changes: &Changes, fail_on: &[FailOn]) -> Exit {
    let exceeds = |on: &FailOn| matches!(on, FailOn::More(most) if changes.exceeds(*most));
    if fail_on.iter().any(exceeds) {
        Exit::Slower
    } else if fail_on.contains(&FailOn::Unclear) && !changes.of(CountVerdict::Unclear).is_empty() {
        Exit::Unclear
    } else {
        Exit::Done
    }
}

fn show(changes: &Changes, options: &Compare, talk: &Talk) -> Result<(), Ended> {
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    // Of one id there is room for every function.
    let whole = talk.verbose || changes.rows.len() == 1;
    match options.format {
        CompareFormat::Text if whole => changes.text_whole(&style, &mut text),
        CompareFormat::Text => changes.text(&style, &mut text),
        CompareFormat::Markdown => changes.markdown(&mut text),
        CompareFormat::Json => output::json(&changes.json(), &mut text),
    }
    .map_err(Ended::unwritable)?;
    deliver(&text, options)
}

/// Counts one id on a kernel image as a stored result did, and judges: code 0 (not more), 1 (more), 125 (no verdict, or this
/// kernel gives no count: git skips the commit).
pub fn bisect(asked: &[String], kernel: &Path, options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
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
        Err(error) => return Err(count::ended(error)),
    };
    signals.deliver();
    let only = RunResult { figures: vec![figure.clone()], ..base.clone() };
    let changes = Changes::between(&only, &now);
    show(&changes, options, talk)?;
    Ok(match changes.rows.first().map(|row| row.verdict) {
        Some(CountVerdict::More) => Exit::Slower,
        Some(CountVerdict::Fewer | CountVerdict::Equal) => Exit::Done,
        Some(CountVerdict::Unclear) | None => Exit::Skipped,
    })
}
