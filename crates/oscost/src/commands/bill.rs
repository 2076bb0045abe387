//! `oscost bill`: what a program pays the operating system, counted, priced with this machine's list, and what would be less.

use std::time::{Instant, SystemTime};

use oscost_bill::budget::BudgetBound;
use oscost_bill::price::Prices;
use oscost_bill::{BillError, check, price, savings};
use oscost_report::Named;
use oscost_results::bill::{Bill, Budget, CountedRun, RunUsage};
use oscost_results::{Plan, RunResult};
use oscost_session::machine;
use oscost_sys::clock::{self, Clock};

use super::bill_prices::prices;
use super::count::save;
use crate::args::{self, BillFormat};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::session;
use crate::signals::Signals;

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
    let (free, counted, failed) = match options.pid {
        Some(pid) => {
            let one =
                oscost_bill::attach(pid, options.duration).map_err(|error| refused(&error, &signals))?;
            (None, vec![one], None)
        }
        None => runs(options, &signals, talk)?,
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
    result.partial = signals.came() || failed.is_some();
    result.duration_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let saved = save(&result);
    let stored = saved.as_ref().ok().cloned().flatten();
    let json = options.json.as_deref();
    let json = json.map_or(Ok(()), |path| oscost_results::save_as(path, &result).map_err(Ended::unwritable));
    // Nobody may read standard output: it comes last.
    let signal = signals.deliver_unless(options.output.as_deref());
    session::all_of([
        saved.map(drop),
        json,
        shown(options, &result, stored.as_deref(), talk),
        failed.filter(|_| signal.is_none()).map_or(Ok(()), Err),
    ])?;
    let budgets = result.bill.map(|bill| bill.budgets).unwrap_or_default();
    // One may have come while a file was written.
    Ok(signals.deliver().map_or_else(|| exit(&budgets), Exit::Signal))
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

/// What the free runs took in the mean, the runs that were counted, and why there are no more.
type Ran = (Option<RunUsage>, Vec<CountedRun>, Option<Ended>);

/// Runs the program free and counted, as often as was asked for, or until a run fails.
fn runs(options: &args::Bill, signals: &Signals, talk: &Talk) -> Result<Ran, Ended> {
    let (mut free, mut counted, mut failed) = (Vec::new(), Vec::new(), None);
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
            Err(error) if counted.is_empty() => return Err(refused(&error, signals)),
            Err(error) => {
                failed = Some(refused(&error, signals));
                break;
            }
        }
        if signals.came() {
            break;
        }
    }
    let free = oscost_bill::mean(&free).ok_or_else(|| Ended::misuse("no run was asked for"))?;
    Ok((Some(free), counted, failed))
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
    (bill.savings, bill.unpriced_savings) = savings::of(bill, prices);
    bill.budgets = bounds.iter().map(|bound| bound.judge(bill)).collect();
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

    use super::super::catalogue;
    use super::*;

    /// A rate or a rule that names no figure would price nothing, and say nothing.
    #[test]
    fn every_figure_of_the_tariff_and_of_the_rules_can_be_measured() {
        let catalogue = catalogue();
        let rates = RATES
            .iter()
            .flat_map(|rate| [rate.each, rate.byte, rate.more, rate.nothing, rate.inside[0], rate.inside[1]]);
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
            tariff::FORK_MAPPING,
            tariff::END_MAPPING,
            tariff::FILE_PAGE,
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
}
