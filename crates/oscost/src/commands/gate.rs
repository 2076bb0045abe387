//! `oscost compare --gate`: one id now against a stored result, for `git bisect run`.

use oscost_harness::Effort;
use oscost_report::Named;
use oscost_report::compare::{Rules, Verdict, compare};
use oscost_results::RunResult;

use crate::args::{Compare, IdleCpu, Measuring};
use crate::commands::catalogue;
use crate::commands::compare::{load, show};
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::session::{self, Request};

const SECOND: u64 = 1_000_000_000;
/// Launches go on while nothing can be told, and end in time for an answer within 20 s.
const EFFORT: Effort = Effort {
    name: "gate",
    most_launches: 100,
    target_ns: 14 * SECOND,
    deadline_ns: 18 * SECOND,
    ..Effort::DEFAULT
};

/// Measures and judges: code 0 (not slower), 1 (slower), 125 (cannot tell: `git bisect` skips the commit).
pub fn gate(gate: &[String], options: &Compare, talk: &Talk) -> Result<Exit, Ended> {
    let [base, id] = gate else { return Err(Ended::misuse("--gate needs a result and an id")) };
    let (names, results) = load(std::slice::from_ref(base), talk)?;
    let [base] = <[RunResult; 1]>::try_from(results).map_err(|results| {
        Ended::misuse(format!("--gate needs one result, {base} names {}", results.len()))
    })?;
    let catalogue = catalogue();
    let benchmark = catalogue.find(id).ok_or_else(|| {
        Ended::misuse(format!("no benchmark is called '{id}'; 'oscost list' shows every id"))
    })?;
    if !base.figures.iter().any(|figure| figure.id == *id) {
        return Err(Ended::misuse(format!("{} has no figure '{id}'", names.join(", "))));
    }
    let choices = catalogue
        .select(&[benchmark.card().id.to_owned()], oscost_harness::Tier::Hidden)
        .map_err(Ended::misuse)?;
    let measuring = measuring(&base);
    let mut session = session::run(
        Request {
            choices: &choices,
            single: &[],
            contestants: &[],
            patterns: std::slice::from_ref(id),
            measuring: &measuring,
            effort: EFFORT,
            directory: None,
            samples: None,
        },
        talk,
    )?;
    // A step of a bisection is no run to be kept.
    session.discard();
    if let Some(signal) = session.signal {
        return Ok(Exit::Signal(signal));
    }
    // What came along for a ratio is not asked for.
    let only = |result: &RunResult| RunResult {
        figures: result.figures.iter().filter(|figure| figure.id == *id).cloned().collect(),
        ..result.clone()
    };
    let (before, now) = (only(&base), only(&session.result));
    let (before, now) = (
        Named { name: names.first().map_or("base", |name| name), result: &before },
        Named { name: "now", result: &now },
    );
    let comparison = compare(&before, &now, Rules { cross_machine: options.cross_machine });
    let verdict = comparison.rows.first().map_or(Verdict::CannotTell, |row| row.verdict);
    show(std::slice::from_ref(&comparison), options, talk)?;
    Ok(match verdict {
        Verdict::Slower => Exit::Slower,
        Verdict::Faster | Verdict::Same => Exit::Done,
        Verdict::CannotTell => Exit::CannotTell,
    })
}

/// As the base was measured: on the same CPUs.
fn measuring(base: &RunResult) -> Measuring {
    let cpus: Vec<String> = base.plan.cpus.iter().map(ToString::to_string).collect();
    let allowed = oscost_sys::affinity::allowed().unwrap_or_default();
    let usable =
        base.plan.cpus.iter().all(|cpu| usize::try_from(*cpu).is_ok_and(|cpu| allowed.contains(&cpu)));
    Measuring {
        quick: false,
        thorough: false,
        seed: None,
        cpu: (usable && !cpus.is_empty()).then(|| cpus.join(",")),
        idle_cpu: IdleCpu::Halt,
        require_realtime: false,
        note: None,
        force: false,
    }
}
