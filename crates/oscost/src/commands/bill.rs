//! `oscost bill`: what a program pays the operating system, counted, priced with this machine's list, and what would be less.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::path::Path;
use std::time::{Instant, SystemTime};

use oscost_bill::budget::BudgetBound;
use oscost_bill::price::{MadeProcess, Prices};
use oscost_bill::{BillError, check, price, savings};
use oscost_harness::{Choice, Effort, Place, estimate_ns};
use oscost_report::Named;
use oscost_results::bill::{Bill, Budget, CountedRun, RunUsage};
use oscost_results::{
    Estimate, Figure, Mark, OutlineFigure, Plan, RunResult, Status, Store, load_outlines_of,
};
use oscost_session::{Keep, machine};
use oscost_sys::clock::{self, Clock};
use oscost_sys::system_call;

use super::catalogue;
use super::count::save;
use crate::args::{self, BillFormat, Measuring};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::progress::Progress;
use crate::session::{self, Insists, Request};
use crate::signals::Signals;

/// Stored runs in which prices are looked for, the newest.
const RUNS: usize = 64;
/// What is missing is measured in this time, ns.
const MEASURING_NS: u64 = 30_000_000_000;
/// Setting up and saving takes some of it, ns.
const AROUND_NS: u64 = 4_000_000_000;
/// Figures that make a process with a page of memory of its own: what was counted of them is a part of their price.
const MADE: [&str; 3] = ["process/fork", "process/exec_static", "process/posix_spawn"];
const PAGE: f64 = 4096.0;
/// The kernel's tick where it does not tell, ns.
const USUAL_TICK_NS: u64 = 4_000_000;

/// Makes the bill of a program.
pub fn bill(options: &args::Bill, talk: &Talk) -> Result<Exit, Ended> {
    for path in [options.json.as_deref(), options.output.as_deref()].into_iter().flatten() {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    let signals = Signals::listen()?;
    let (started, begun) = (SystemTime::now(), Instant::now());
    // Of what runs now, the name may be gone later.
    let program = program(options);
    let (free, counted) = match options.pid {
        Some(pid) => {
            let one =
                oscost_bill::attach(pid, options.duration).map_err(|error| refused(&error, &signals))?;
            (None, vec![one])
        }
        None => runs(options, &signals, talk).map(|(free, counted)| (Some(free), counted))?,
    };
    let mut result = RunResult {
        note: options.note.clone(),
        plan: Plan { effort: "bill".to_owned(), ..Plan::default() },
        ..RunResult::begun(started, machine::tool(), machine::machine(), machine::conditions())
    };
    let prices = prices(&counted, &mut result, options, &signals, talk)?;
    let mut bill = Bill { program, pid: options.pid, free, counted, ..Bill::default() };
    priced(&mut bill, &prices, &options.budget);
    result.bill = Some(Box::new(bill));
    result.partial = signals.came();
    result.duration_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let saved = save(&result);
    let signal = signals.deliver();
    let stored = saved.as_ref().ok().cloned().flatten();
    let json = options.json.as_deref();
    session::all_of([
        saved.map(drop),
        json.map_or(Ok(()), |path| oscost_results::save_as(path, &result).map_err(Ended::unwritable)),
        shown(options, &result, stored.as_deref(), talk),
    ])?;
    let budgets = result.bill.map(|bill| bill.budgets).unwrap_or_default();
    Ok(signal.map_or_else(|| exit(&budgets), Exit::Signal))
}

/// How the program ends: a budget that is broken decides, then one that nobody can judge.
fn exit(budgets: &[Budget]) -> Exit {
    let any = |kept: Option<bool>| budgets.iter().any(|budget| budget.kept == kept);
    match () {
        () if any(Some(false)) => Exit::Slower,
        () if any(None) => Exit::Unclear,
        () => Exit::Done,
    }
}

/// Runs the program free and counted, as often as was asked for.
fn runs(options: &args::Bill, signals: &Signals, talk: &Talk) -> Result<(RunUsage, Vec<CountedRun>), Ended> {
    let mut free = Vec::new();
    let mut counted = Vec::new();
    for run in 1..=options.runs {
        if talk.verbose {
            talk.say(format!("run {run} of {}: once free, once counted", options.runs));
        }
        match oscost_bill::count(&options.program, None) {
            Ok((one_free, one)) => {
                free.push(one_free);
                counted.push(one);
            }
            Err(BillError::Interrupted) if !counted.is_empty() => break,
            Err(error) => return Err(refused(&error, signals)),
        }
        if signals.came() {
            break;
        }
    }
    let free = oscost_bill::mean(&free).ok_or_else(|| Ended::misuse("no run was asked for"))?;
    Ok((free, counted))
}

/// Why a program was not counted, and the code.
fn refused(error: &BillError, signals: &Signals) -> Ended {
    let exit = match error {
        BillError::Interrupted => Exit::Signal(signals.deliver().unwrap_or(2)),
        BillError::Nothing | BillError::NotFound(_) | BillError::NotRun { .. } | BillError::NoProcess(_) => {
            Exit::Misuse
        }
        BillError::OtherRights(_) | BillError::Traces => Exit::Withheld,
        _ => Exit::Unfit,
    };
    Ended::new(exit, error.to_string())
}

/// What the bill is of: what was typed, or the name of what runs.
fn program(options: &args::Bill) -> Vec<String> {
    match options.pid {
        None => options.program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        Some(pid) => {
            let name = oscost_sys::file::text(format!("/proc/{pid}/comm")).unwrap_or_default();
            let name = name.trim();
            vec![if name.is_empty() { format!("process {pid}") } else { name.to_owned() }]
        }
    }
}

/// Prices what was counted.
fn priced(bill: &mut Bill, prices: &Prices, bounds: &[BudgetBound]) {
    let tick_ns = clock::resolution_ns(Clock::MonotonicCoarse).unwrap_or(USUAL_TICK_NS);
    bill.items =
        bill.counted.first().map_or_else(Vec::new, |first| price::items(first, bill.free.as_ref(), prices));
    bill.explained = check::explained(bill, tick_ns);
    let all_priced = price::needed(&bill.counted).iter().all(|id| prices.has(id));
    bill.left = check::left(bill, tick_ns, all_priced);
    bill.savings = savings::of(bill, prices);
    bill.budgets = bounds.iter().map(|bound| bound.judge(bill)).collect();
}

/// The prices of what was counted: those of the newest runs of this machine and boot, then what is missing, measured.
fn prices(
    counted: &[CountedRun],
    result: &mut RunResult,
    options: &args::Bill,
    signals: &Signals,
    talk: &Talk,
) -> Result<Prices, Ended> {
    let mut needed = price::needed(counted);
    needed.extend(savings::needed(counted));
    let mut prices = Prices::default();
    stored(&needed, result, &mut prices);
    let missing: Vec<&str> = needed.iter().copied().filter(|id| !prices.has(id)).collect();
    if missing.is_empty() {
        return Ok(prices);
    }
    if options.no_measure || signals.came() {
        bare_entry(&mut prices);
        let missing: Vec<&str> = missing.into_iter().filter(|id| !prices.has(id)).collect();
        if !missing.is_empty() {
            let why = if options.no_measure { "--no-measure" } else { "a signal came" };
            let ids = missing.join(", ");
            result.warnings.push(format!("no price in the store, and none was measured ({why}): {ids}"));
        }
        return Ok(prices);
    }
    talk.say(format!("measuring {} prices that the store does not have of this boot", missing.len()));
    match measured(&missing, signals, talk) {
        Ok(figures) => {
            for figure in &figures {
                let evidence = &figure.evidence;
                let claim = |name: &str| {
                    evidence.claims.iter().find(|it| it.claim == name).and_then(|it| it.observed)
                };
                take(&mut prices, of_figure(figure), &figure.marks, made(evidence.faults, claim));
            }
        }
        Err(ended) => result.warnings.push(format!("prices are missing: {ended}")),
    }
    bare_entry(&mut prices);
    let missing: Vec<&str> = needed.iter().copied().filter(|id| !prices.has(id)).collect();
    if !missing.is_empty() {
        result.warnings.push(format!("without a price here: {}", missing.join(", ")));
    }
    Ok(prices)
}

/// Takes what the store has of this machine, this boot and today's cards; of each figure the newest.
fn stored(needed: &BTreeSet<&'static str>, result: &RunResult, prices: &mut Prices) {
    let Some(boot) = &result.conditions.boot_id else { return };
    let Ok(paths) = Store::of_user().map_err(drop).and_then(|store| store.runs().map_err(drop)) else {
        return;
    };
    let newest = &paths[paths.len().saturating_sub(RUNS)..];
    let catalogue = catalogue();
    let here = place().and_then(|place| place.kind().ok()).map(|kind| format!("on {kind}"));
    let lies_here = |figure: &OutlineFigure| {
        !figure.id.starts_with("file/")
            || here.as_ref().is_none_or(|here| figure.remarks.iter().any(|it| it.starts_with(here.as_str())))
    };
    let is_current = |figure: &OutlineFigure| {
        lies_here(figure)
            && catalogue
                .find(&figure.id)
                .is_some_and(|benchmark| benchmark.card().revision == figure.revision)
    };
    for (_, run) in load_outlines_of(newest).runs.iter().rev() {
        if run.conditions.boot_id.as_ref() != Some(boot) || run.machine.cpu_model != result.machine.cpu_model
        {
            continue;
        }
        let wanted = run.figures.iter().filter(|figure| needed.contains(&*figure.id) && is_current(figure));
        for figure in wanted {
            let evidence = &figure.evidence;
            let claim =
                |name: &str| evidence.claims.iter().find(|it| it.claim == name).and_then(|it| it.observed);
            take(prices, of_outline(figure), &figure.marks, made(evidence.faults, claim));
        }
    }
}

/// The folder in which the program runs, where files can be measured: those in memory cost less. `None`: in memory.
fn place() -> Option<Place> {
    let here = Path::new(".");
    oscost_results::check_writable(&here.join("oscost-bill")).ok()?;
    Place::open(here).ok()
}

/// Measures figures, and stores them as a run: the next bill finds them there.
fn measured(missing: &[&str], signals: &Signals, talk: &Talk) -> Result<Vec<Figure>, Ended> {
    let catalogue = catalogue();
    let choices: Vec<Choice> = missing
        .iter()
        .filter_map(|id| catalogue.find(id))
        .map(|benchmark| Choice { benchmark, named: false })
        .collect();
    let patterns: Vec<String> = missing.iter().map(|id| (*id).to_owned()).collect();
    let measuring =
        Measuring { quick: true, note: Some("prices for a bill".to_owned()), ..Measuring::default() };
    let request = Request {
        insists: Insists::Never,
        directory: place(),
        ..Request::new(&choices, &patterns, &measuring, effort(&choices))
    };
    let mut progress = Progress::new(!talk.quiet);
    let mut session = session::measure(request, signals, Keep::User, &mut progress, talk)?;
    // What cannot be stored still prices this bill.
    if let Err(error) = session.save() {
        talk.warn(format!("warning: the prices were not stored: {error}"));
    }
    Ok(session.result.figures)
}

/// What the evidence of a figure counted, where it makes a process: faults of the parent and of the child, and the parent's pages.
fn made(faults: Option<f64>, claim: impl Fn(&str) -> Option<f64>) -> Option<MadeProcess> {
    let faults = faults? + claim("post_condition:faults_of_a_child")?;
    let bytes = claim("post_condition:private_bytes").unwrap_or(0.0);
    Some(MadeProcess { faults, pages: bytes / PAGE })
}

/// Takes a price of a figure with these marks. What others took is in the typical price, and hardly in the floor.
fn take(
    prices: &mut Prices,
    priced: Option<(&str, Estimate, f64)>,
    marks: &[Mark],
    made: Option<MadeProcess>,
) {
    match (priced, made) {
        (Some((id, ..)), Some(made)) => prices.add_made(id, made),
        // Stored by a version that did not count it.
        (Some((id, ..)), None) if MADE.contains(&id) => return,
        _ => {}
    }
    let is_disturbed = marks.iter().any(|it| matches!(it, Mark::Noisy | Mark::Shared | Mark::BusySibling));
    match priced {
        Some((id, price, floor)) if is_disturbed => {
            prices.add_with(id, Estimate { value: floor, ..price }, "measured beside others' work");
        }
        Some((id, price, _)) => prices.add(id, price),
        None => {}
    }
}

/// The price that bounds all others, where it is not known: timed here, in some milliseconds, whoever else works.
fn bare_entry(prices: &mut Prices) {
    const ENTRY: &str = "syscall/getppid";
    const CALLS: u64 = 1000;
    if prices.has(ENTRY) {
        return;
    }
    let timed = || {
        let begun = Instant::now();
        for _ in 0..CALLS {
            black_box(system_call::getppid());
        }
        begun.elapsed().as_nanos() as f64 / CALLS as f64
    };
    let mut each: Vec<f64> = (0..30).map(|_| timed()).collect();
    each.sort_unstable_by(f64::total_cmp);
    let (low, value, high) = (each[0], each[3], each[15]);
    prices.add_with(
        ENTRY,
        Estimate { value, low, high, extremes: false },
        "timed here for some milliseconds",
    );
}

/// As much as there is time for.
fn effort(choices: &[Choice]) -> Effort {
    let mut effort = Effort {
        target_ns: MEASURING_NS - AROUND_NS,
        deadline_ns: MEASURING_NS - AROUND_NS,
        ..Effort::QUICK
    };
    while effort.launches > 2 && estimate_ns(choices, &effort) > effort.deadline_ns {
        effort.launches -= 1;
    }
    effort
}

/// A price in ns of the typical and the floor, by name, and the floor; `None` where it has none.
fn in_ns(quantity: impl Fn(&str) -> Option<Estimate>) -> Option<(Estimate, f64)> {
    let typical = quantity("typical").or_else(|| quantity("call_p50"))?;
    let floor = quantity("floor").unwrap_or(typical);
    let low = floor.low.min(typical.low);
    Some((Estimate { value: typical.value, low, high: typical.high, extremes: false }, floor.value))
}

fn of_outline(figure: &OutlineFigure) -> Option<(&str, Estimate, f64)> {
    let quantity = |name: &str| {
        let quantity = figure.quantities.get(name)?;
        Some(Estimate { value: quantity.value?, low: quantity.low?, high: quantity.high?, extremes: false })
    };
    in_ns(quantity)
        .filter(|_| figure.status == Status::Measured)
        .map(|(price, floor)| (&*figure.id, price, floor))
}

fn of_figure(figure: &Figure) -> Option<(&str, Estimate, f64)> {
    let quantity = |name: &str| figure.quantities.get(name).map(|quantity| quantity.estimate);
    in_ns(quantity)
        .filter(|_| figure.status == Status::Measured)
        .map(|(price, floor)| (&*figure.id, price, floor))
}

fn shown(options: &args::Bill, result: &RunResult, stored: Option<&str>, talk: &Talk) -> Result<(), Ended> {
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let named = Named { name: stored.unwrap_or("this run"), result };
    let mut text = Vec::new();
    match options.format {
        BillFormat::Text => oscost_report::bill::shown(result, talk.verbose, &style, &mut text),
        BillFormat::Markdown => oscost_report::bill::markdown(result, &mut text),
        BillFormat::Html => oscost_report::bill::page(&named, &mut text),
        BillFormat::Json => {
            text = oscost_results::to_bytes(result).map_err(Ended::unwritable)?;
            Ok(())
        }
    }
    .map_err(Ended::unwritable)?;
    output::deliver(&text, options.output.as_deref())
}

#[cfg(test)]
mod tests {
    use oscost_bill::replacements::RULES;
    use oscost_bill::tariff::{self, RATES};

    use super::*;

    /// A rate or a rule that names no figure would price nothing, and say nothing.
    #[test]
    fn every_figure_of_the_tariff_and_of_the_rules_can_be_measured() {
        let catalogue = catalogue();
        let rates = RATES.iter().flat_map(|rate| [rate.each, rate.byte, rate.more, rate.nothing]);
        let rules = RULES.iter().map(savings::terms);
        let others = [
            tariff::ENTRY,
            tariff::LOOKUP,
            tariff::SLEEP,
            tariff::PREEMPTION,
            tariff::FAULT,
            tariff::FAULT_READ,
            tariff::FAULT_COPY,
            tariff::SIGNAL,
            tariff::END,
            tariff::FORK_PAGE,
            tariff::WAKE,
        ];
        let terms = rates.chain(rules).chain(others).flat_map(tariff::figures);
        for id in terms.chain(RULES.iter().map(|rule| rule.id)) {
            assert!(catalogue.find(id).is_some(), "{id}");
        }
    }

    #[test]
    fn every_call_of_the_tariff_is_one_of_the_kernel() {
        #[cfg(target_arch = "x86_64")]
        for call in RATES.iter().flat_map(|rate| rate.calls) {
            assert!(oscost_sys::system_call_names::number(call).is_some(), "{call}");
        }
    }

    #[test]
    fn a_broken_budget_ends_with_1_and_one_that_nobody_can_judge_with_3() {
        let budget = |kept| Budget { kept, ..Budget::default() };
        assert_eq!(exit(&[]), Exit::Done);
        assert_eq!(exit(&[budget(Some(true))]), Exit::Done);
        assert_eq!(exit(&[budget(Some(true)), budget(None)]), Exit::Unclear);
        assert_eq!(exit(&[budget(None), budget(Some(false))]), Exit::Slower);
    }

    #[test]
    fn prices_are_measured_in_the_time_that_was_promised() {
        let all = price::needed(&[CountedRun::default()]);
        let catalogue = catalogue();
        let choices: Vec<Choice> = RATES
            .iter()
            .flat_map(|rate| rate.each)
            .map(|(id, _)| *id)
            .chain(all)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter_map(|id| catalogue.find(id))
            .map(|benchmark| Choice { benchmark, named: false })
            .collect();
        let effort = effort(&choices);
        assert!(choices.len() > 40 && effort.launches >= 2 && effort.deadline_ns <= MEASURING_NS);
    }
}
