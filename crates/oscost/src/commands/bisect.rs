//! `oscost compare --bisect`: measures one id like a stored result and compares the two, for `git bisect run`.
//!
//! git takes every code from 1 to 127 but 125 for a bad commit. So whatever keeps this from an answer ends with 125, if
//! another commit may fare better, or with [`Exit::Stopped`], which ends the bisection.

use std::path::Path;

use oscost_harness::Effort;
use oscost_report::compare::{Comparison, Rules, Verdict, compare};
use oscost_report::{Named, numbers};
use oscost_results::{RunResult, Status};

use crate::args::{Compare, IdleCpu, Measuring};
use crate::commands::catalogue;
use crate::commands::compare::{load, past, show};
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::session::{self, Insists, Request};

/// A step may make so many times the launches of its base.
const SEARCH: u32 = 10;

/// Measures and judges: code 0 (not slower), 1 (slower), 125 (it may be slower or not, or was withheld: git skips the commit).
pub fn bisect(asked: &[String], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let [base, id] = asked else { return Err(Ended::misuse("--bisect needs a result and an id")) };
    let (names, results) = load(std::slice::from_ref(base), talk)?;
    let [base] = <[RunResult; 1]>::try_from(results).map_err(|results| {
        Ended::misuse(format!("--bisect needs one result, but {base} names {}", results.len()))
    })?;
    let name = names.first().map_or("base", |name| name);
    if oscost_report::count::is_count(&base) {
        return Err(Ended::misuse(format!("{name} holds counts: add --kernel KERNEL")));
    }
    let catalogue = catalogue();
    let benchmark = catalogue.find(id).ok_or_else(|| {
        Ended::misuse(format!("no benchmark is called '{id}'; 'oscost list' shows every id"))
    })?;
    let Some(before) = base.figures.iter().find(|figure| figure.id == *id) else {
        return Err(Ended::misuse(format!("{name} has no figure '{id}'")));
    };
    if before.status != Status::Measured {
        return Err(Ended::misuse(format!("{name} did not measure '{id}' ({})", before.status.name())));
    }
    if base.estimators != oscost_results::ESTIMATORS {
        return Err(Ended::misuse(format!(
            "{name} was made by another version's method: measure a new base"
        )));
    }
    let (effort, measuring) = settings(&base)?;
    let directory = session::place(base.plan.directory.as_deref().map(Path::new))?;
    let choices = catalogue
        .select(&[benchmark.card().id.to_owned()], oscost_harness::Tier::Hidden)
        .map_err(Ended::misuse)?;
    // What stays unclear skips a commit: quiet windows are looked for as long as the step has time.
    let effort = Effort { most_launches: SEARCH * effort.most_launches, ..effort };
    let mut session = session::run(
        Request {
            insists: Insists::Never,
            directory,
            ..Request::new(&choices, std::slice::from_ref(id), &measuring, effort)
        },
        talk,
    )?;
    // A step of a bisection is no run to be kept.
    session.measured.discard();
    if let Some(signal) = session.signal {
        return Ok(Exit::Signal(signal));
    }
    // What came along for a ratio is not asked for.
    let only = |result: &RunResult| RunResult {
        figures: result.figures.iter().filter(|figure| figure.id == *id).cloned().collect(),
        ratios: Vec::new(),
        differences: Vec::new(),
        ..result.clone()
    };
    let (before, now) = (only(&base), only(&session.measured.result));
    let past = past(talk);
    let rules = Rules { threshold: options.threshold(), past: &past, ..Rules::default() };
    let comparison = compare(&Named { name, result: &before }, &Named { name: "now", result: &now }, rules);
    if !comparison.machine.is_empty() {
        return Err(Ended::misuse(format!("{name} was measured on another machine")));
    }
    // A file that was named is written whatever signal comes.
    if options.output.is_none() {
        session.deliver();
    }
    show(std::slice::from_ref(&comparison), options, talk)?;
    session.deliver();
    if let Some(signal) = session.signal {
        return Ok(Exit::Signal(signal));
    }
    let threshold = options.threshold();
    let exit = answer(&comparison);
    talk.say(for_git(exit, &format!("slower by more than {}", numbers::percent(threshold))));
    Ok(exit)
}

/// What a step's code says to git, which is its last line: a comparison says "unclear" of what may be faster, and git wants to know
/// whether it is slower.
pub fn for_git(exit: Exit, worse: &str) -> String {
    let answer = match exit {
        Exit::Done => format!("good: not {worse}"),
        Exit::Slower => format!("bad: {worse}"),
        _ => format!("skipped: it may be {worse}, or not"),
    };
    format!("git bisect: {answer} (code {})", exit.code())
}

/// What git is told. The question is whether the figure is slower: what may be faster, or within, is not.
fn answer(comparison: &Comparison<'_>) -> Exit {
    let Some(row) = comparison.rows.first() else { return Exit::Skipped };
    match row.verdict {
        Verdict::Slower => Exit::Slower,
        _ if row.not_slower => Exit::Done,
        _ => Exit::Skipped,
    }
}

/// How much was spent on the base, on which CPUs, and what idle ones did.
fn settings(base: &RunResult) -> Result<(Effort, Measuring), Ended> {
    let efforts = [Effort::QUICK, Effort::DEFAULT, Effort::THOROUGH];
    let Some(effort) = efforts.into_iter().find(|effort| effort.level.name() == base.plan.effort) else {
        return Err(Ended::misuse(format!(
            "the base was measured with effort '{}': measure a new one by oscost run, with --quick, --thorough or neither",
            base.plan.effort
        )));
    };
    let measuring = Measuring {
        quick: effort == Effort::QUICK,
        thorough: effort == Effort::THOROUGH,
        cpu: cpu_option(base),
        idle_cpu: match base.conditions.idle_cpu.as_deref() {
            Some("poll") => IdleCpu::Poll,
            Some("both") => IdleCpu::Both,
            _ => IdleCpu::Halt,
        },
        ..Measuring::default()
    };
    Ok((effort, measuring))
}

/// What stands for `--cpu`: what it was for the base. Who names CPUs has chosen their order; without the option, those that share an
/// operation are ordered by their distance. Where the same words are other CPUs here, those of the base are named.
fn cpu_option(base: &RunResult) -> Option<String> {
    let given = base.conditions.cpu_option.as_deref();
    let here = oscost_session::cpus(given).unwrap_or_default();
    let of_base = base.plan.cpus.iter().map(|&cpu| Some(cpu));
    if here.iter().map(|&cpu| u32::try_from(cpu).ok()).eq(of_base) {
        return given.map(str::to_owned);
    }
    let cpus: Vec<String> = base.plan.cpus.iter().map(ToString::to_string).collect();
    (!cpus.is_empty()).then(|| cpus.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_the_cpu_option_of_its_base() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/tests/samples/v1.json");
        let mut base = oscost_results::from_bytes(&std::fs::read(sample).expect("a file")).expect("a result");
        base.plan.effort = "quick".to_owned();
        let here = oscost_session::cpus(None).expect("CPUs");
        let here: Vec<u32> = here.iter().map(|&cpu| u32::try_from(cpu).expect("a CPU")).collect();
        let named = here.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let mut option = |given: Option<&str>, cpus: &[u32]| {
            base.conditions.cpu_option = given.map(str::to_owned);
            base.plan.cpus = cpus.to_vec();
            settings(&base).expect("settings").1.cpu
        };
        assert_eq!(option(None, &here), None, "nobody named CPUs");
        assert_eq!(option(Some(&named), &here), Some(named.clone()), "somebody chose the order");
        assert_eq!(option(None, &[4000]).as_deref(), Some("4000"), "the base had other CPUs");
        assert_eq!(option(Some("\u{1b}[31m"), &here), Some(named.clone()), "no list is handed on");
        assert_eq!(option(None, &[]), None);
    }
}
