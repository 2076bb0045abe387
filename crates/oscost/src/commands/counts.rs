//! `oscost compare` of counts: two stored results of instructions, or two bills.

use oscost_report::bill::{BillChanges, is_bill};
use oscost_report::count::{Changes, CountVerdict};
use oscost_results::{RunResult, Untrusted};

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

/// Fails unless there are two results, both of a kind; says which one is not, and which is.
pub fn refuse_mixed(
    names: &[String],
    results: &[RunResult],
    kind: &str,
    is_of_it: impl Fn(&RunResult) -> bool,
) -> Result<(), Ended> {
    let first = |is_wanted: bool| {
        let place = results.iter().position(|result| is_of_it(result) == is_wanted)?;
        names.get(place).map(|name| Untrusted::new(name).terminal().to_string())
    };
    match (first(true), first(false)) {
        (Some(one), Some(other)) => Err(Ended::misuse(format!(
            "{one} is a {kind}, and {other} is none: a {kind} is compared with another {kind} alone"
        ))),
        _ if results.len() == 2 => Ok(()),
        _ => {
            Err(Ended::misuse(format!("{kind}s are compared two at a time, and these are {}", results.len())))
        }
    }
}

/// Two stored results of counts: more, fewer or equal, never slower or faster.
pub fn stored(before: &RunResult, now: &RunResult, options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
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
pub fn bills(names: &[String], results: &[RunResult], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    refuse_mixed(names, results, "bill", is_bill)?;
    let [Some(before), Some(now)] =
        &results.iter().map(|result| result.bill.as_deref()).collect::<Vec<_>>()[..]
    else {
        unreachable!("both are bills");
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of seven results one was a bill, and nobody said which.
    #[test]
    fn who_is_of_another_kind_is_named() {
        let bare = oscost_results::from_bytes(include_bytes!("../../../results/tests/samples/v2.json"));
        let run = bare.expect("a sample");
        let mut count = run.clone();
        count.conditions.emulation = Some(oscost_results::Emulation::default());
        let refused = |results: &[RunResult]| {
            let names = ["a", "b\u{1b}", "c"].map(str::to_owned);
            let refused = refuse_mixed(&names, results, "count", oscost_report::count::is_count);
            refused.err().map(|ended| ended.to_string()).unwrap_or_default()
        };
        let mixed = refused(&[run.clone(), count.clone(), run]);
        assert!(mixed.contains("b\\u{1b} is a count, and a is none"), "{mixed}");
        let three = refused(&[count.clone(), count.clone(), count.clone()]);
        assert!(three.contains("two at a time, and these are 3"), "{three}");
        assert_eq!(refused(&[count.clone(), count]), "");
    }
}
