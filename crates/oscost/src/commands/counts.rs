//! `oscost compare` of counts: two stored results of instructions, or two bills.

use oscost_report::bill::BillChanges;
use oscost_report::count::{Changes, CountVerdict, is_count};
use oscost_results::RunResult;

use crate::args::{Compare, CompareFormat, FailOn};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};

/// What judges times says nothing of counts: a gate that names it would pass or fail by something else.
pub fn refuse_of_times(options: &Compare, is_bill: bool) -> Result<(), Ended> {
    let given = [
        (
            options.threshold.is_some(),
            "--threshold is for times: one call or instruction more is more (--fail-on more:N allows N)",
        ),
        (is_bill && !options.only.is_empty(), "--only finds figures: of two bills everything is compared"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, why)) => Err(Ended::misuse(why)),
        None => Ok(()),
    }
}

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

/// Two stored bills: what was counted, exactly.
pub fn bills(results: &[RunResult], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let [Some(before), Some(now)] =
        &results.iter().map(|result| result.bill.as_deref()).collect::<Vec<_>>()[..]
    else {
        return Err(Ended::misuse("bills are compared with bills, two at a time"));
    };
    if options.fail_on.iter().any(|on| matches!(on, FailOn::Slower | FailOn::Unclear)) {
        return Err(Ended::misuse(
            "counts of bills are more or fewer, never slower or unclear: --fail-on more:N",
        ));
    }
    let changes = BillChanges::between(before, now);
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    match options.format {
        CompareFormat::Text => changes.text(&style, &mut text),
        CompareFormat::Markdown => changes.markdown(&mut text),
        CompareFormat::Json => output::json(&changes.json(), &mut text),
    }
    .map_err(Ended::unwritable)?;
    output::deliver(&text, options.output.as_deref())?;
    let exceeds = |on: &FailOn| matches!(on, FailOn::More(most) if changes.exceeds(*most));
    Ok(if options.fail_on.iter().any(exceeds) { Exit::Slower } else { Exit::Done })
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

/// Shows what became more and what fewer.
pub fn show(changes: &Changes, options: &Compare, talk: &Talk) -> Result<(), Ended> {
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
    output::deliver(&text, options.output.as_deref())
}
