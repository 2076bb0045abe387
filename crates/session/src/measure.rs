//! The session itself: lock, recovery, doctor, journal, engine, result.

use oscost_harness::{
    Catalogue, Choice, Effort, Event, Measured, Options, Placement, Supervisor, percentiles,
};
use oscost_results::{Journal, LockError, RemarkCode, RunLock, RunName, RunResult, Status};

use crate::doctor::system::System;
use crate::finished::Keeping;
use crate::journal::without_samples;
use crate::result::{of_the_build, random_seed};
use crate::{Error, Request, Session, cpus, doctor, machine, plain, recover, result};

/// A message from a running session to its caller. There is none while a launch runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// The doctor examines the machine now.
    Examining,
    /// An event of the measuring.
    Event(&'a Event<'a>),
    /// Information for the user.
    Note(String),
    /// A problem that does not end the session.
    Warning(String),
    /// A loss: reported even to callers that want to hear nothing else.
    Lost(String),
}

/// Measures, saves the result where the request says, and returns it. It reports no progress: [`measure`] does.
///
/// # Errors
/// Nothing could be measured here, or the result could not be stored.
pub fn run(catalogue: &Catalogue, request: Request<'_>) -> Result<RunResult, Error> {
    let mut session = measure(catalogue, request, &mut |_| {})?;
    session.save()?;
    Ok(session.result)
}

/// Measures what is requested. Everything that can be found wrong is found before the first launch.
///
/// # Errors
/// Nothing could be measured here, or the clock runs at a wrong rate.
pub fn measure(
    catalogue: &Catalogue,
    mut request: Request<'_>,
    tell: &mut dyn FnMut(Notice<'_>),
) -> Result<Session, Error> {
    if !oscost_sys::clock::advances() {
        return Err(Error::StandingClock);
    }
    let began = oscost_sys::clock::now_ns();
    if request.plain {
        return plain::measure(catalogue, request, tell);
    }
    let cpus = cpus::cpus(request.cpus.as_deref())?;
    let mut warnings: Vec<String> = of_the_build(env!("OSCOST_LOOPS")).into_iter().collect();
    let lock = lock(request.beside_another, &mut warnings)?;
    let store = Keeping::of(&request.keep);
    if let Keeping::Refused(why) = &store {
        tell(Notice::Warning(format!("the result will not be kept: {why}")));
    }
    if let Keeping::In(store) = &store {
        recover::recover(store, catalogue, tell);
    }
    let checks = match request.examined.take() {
        Some(known) => doctor::look_again(known),
        None => {
            tell(Notice::Examining);
            doctor::examine(doctor::Thoroughness::Quick)
        }
    };
    let spreads = request.choices.iter().any(|choice| choice.card().placement == Placement::Spread);
    // A user who names CPUs has chosen their order.
    let distances = if spreads && request.cpus.is_none() { cpus::by_distance(&cpus) } else { Vec::new() };
    let options = Options {
        effort: request.effort,
        seed: request.seed.unwrap_or_else(random_seed),
        spread_cpus: distances.iter().map(|(cpu, _)| *cpu).collect(),
        cpus,
        idle_cpu: request.idle_cpu,
        core: None,
        references: request.references.to_vec(),
        keep_samples: request.keep_samples,
        expected_ns: std::collections::BTreeMap::new(),
        first: request.first.to_vec(),
    };
    let mut result = result::head(&request, &options, checks, warnings);
    // What was written by another program is no reason not to measure: it is learnt again.
    let boot_id = result.conditions.boot_id.clone();
    let processor = machine::processor(&result.machine);
    let remembered = store.store().map_or(Ok(None), |store| store.core(&processor, boot_id.as_deref()));
    result.machine.core = remembered.unwrap_or_else(|error| {
        tell(Notice::Warning(format!("the best speed of this machine's cores could not be read: {error}")));
        None
    });
    let options = Options { core: result.machine.core, ..options };
    if !distances.is_empty() {
        let told = distances.iter().map(|(cpu, ns)| serde_json::json!({"cpu": cpu, "ns": ns}));
        result.conditions.unknown.insert("spread_cpus".into(), told.collect());
    }
    let unprotected =
        |error: &dyn std::fmt::Display| Notice::Warning(format!("a kill would lose this run: {error}"));
    // Launches of foreign programs alone make no figure of ours: there is nothing to recover.
    let kept = store.store().filter(|_| !request.choices.is_empty() || !request.single.is_empty());
    let journal = match kept.map(|store| Journal::create(store, &result)) {
        Some(Ok(journal)) => Some(journal),
        Some(Err(error)) => {
            tell(unprotected(&error));
            None
        }
        None => None,
    };
    let supervisor = match request.directory.take() {
        Some(place) => Supervisor::with_files(request.stop.clone(), place),
        None => Supervisor::new(request.stop.clone()),
    };
    let supervisor = supervisor.map_err(Error::NoWorker)?;
    let start = oscost_sys::clock::now_ns();
    let mut journal_failed = false;
    let mut emit = |event: &Event<'_>| {
        tell(Notice::Event(event));
        if let (Event::Found(record), Some(journal), false) = (event, &journal, journal_failed)
            && let Err(error) = journal.append(&without_samples(record))
        {
            journal_failed = true;
            tell(unprotected(&error));
        }
    };
    let mut measured = all(&supervisor, &request, &options, began, &mut emit);
    if let Some(why) = measured.wrong_clock.take() {
        // Nothing of it is kept: the next run would recover what the journal holds.
        if let Some(journal) = journal {
            let _ = journal.finish();
        }
        return Err(Error::WrongClock(why));
    }
    let (before, now) = (result.conditions.clone(), machine::conditions_of(&System::unmeasured()));
    result::complete(&mut result, measured, supervisor.slept_ns(), [&before, &now]);
    if let (Some(store), Some(core)) = (store.store(), result.machine.core)
        && let Err(error) = store.keep_core(&processor, boot_id.as_deref(), core)
    {
        tell(Notice::Warning(format!("the best speed of this machine's cores could not be stored: {error}")));
    }
    result.duration_ns = oscost_sys::clock::now_ns() - start;
    let name = journal.as_ref().map(|journal| journal.name().clone()).or_else(|| RunName::now().ok());
    Ok(Session { result, name, journal, store, lock })
}

/// The benchmarks, then what is launched once, then operations one by one. A run that has an end has it from when it `began`.
fn all(
    supervisor: &Supervisor,
    request: &Request<'_>,
    options: &Options,
    began: u64,
    emit: &mut dyn FnMut(&Event<'_>),
) -> Measured {
    let once = Effort { launches: 1, most_launches: 1, ..options.effort };
    let once_ns = oscost_harness::estimate_ns(request.single, &once);
    let left_of = |end_ns: u64| match end_ns {
        u64::MAX => u64::MAX,
        end_ns => {
            let passed_ns = oscost_sys::clock::now_ns().saturating_sub(began + supervisor.slept_ns());
            end_ns.saturating_sub(passed_ns)
        }
    };
    let end_ns = match options.effort.end_ns {
        u64::MAX => u64::MAX,
        // What is launched once may have half of the time, and what the others aim at is theirs: figures with intervals come first.
        end_ns => left_of((end_ns - once_ns.min(end_ns / 2)).max(options.effort.target_ns.min(end_ns))),
    };
    let effort = Effort { end_ns, ..options.effort };
    let first = Options { effort, ..options.clone() };
    let mut measured =
        oscost_harness::measure(supervisor, request.choices, request.contestants, &first, emit);
    if !request.single.is_empty() && measured.wrong_clock.is_none() {
        let deadline_ns = once.deadline_ns.max(2 * once_ns);
        let effort = Effort { deadline_ns, end_ns: left_of(once.end_ns), ..once };
        let expected = |id: &str| Some((id.to_owned(), (request.expects?)(&measured.figures, id)?));
        let expected_ns = request.single.iter().filter_map(|choice| expected(choice.card().id)).collect();
        let core = measured.core.or(options.core);
        let options = Options { effort, core, expected_ns, first: Vec::new(), ..options.clone() };
        measured = oscost_harness::measure_more(supervisor, measured, request.single, &options, emit);
    }
    if request.percentiles && !measured.partial && measured.wrong_clock.is_none() {
        add_percentiles(supervisor, request.choices, options, &mut measured, emit);
    }
    measured
}

/// Times operations of what was measured one by one.
fn add_percentiles(
    supervisor: &Supervisor,
    choices: &[Choice],
    options: &Options,
    measured: &mut Measured,
    emit: &mut dyn FnMut(&Event<'_>),
) {
    let is_measured = |choice: &&Choice| {
        let figure = measured.figures.iter().find(|figure| figure.id == choice.card().id);
        figure.is_some_and(|figure| figure.status == Status::Measured)
    };
    let choices: Vec<Choice> = choices.iter().filter(is_measured).copied().collect();
    let series = choices.iter().filter(|choice| !choice.card().quantities.is_empty()).count();
    if series > 0 {
        let words =
            format!("{series} figures time themselves: they have no percentiles of single operations");
        measured.warnings.push(words);
    }
    let timed = percentiles(supervisor, &choices, options, emit);
    measured.partial |= timed.found.len() + series < choices.len();
    measured.wrong_clock = timed.wrong_clock;
    for (id, made) in timed.found {
        let figure = measured.figures.iter_mut().find(|figure| figure.id == id);
        match (made, figure) {
            (Ok(made), Some(figure)) => figure.percentiles = Some(made),
            (Err(why), _) => measured.warnings.push(format!("no percentiles of {id}: {why}")),
            (Ok(_), None) => {}
        }
    }
}

/// Takes the lock of this machine: a run disturbs another one. `None` where it goes on without, and `warnings` say why.
///
/// # Errors
/// Another run is measuring, and `beside_another` is false.
pub fn lock(beside_another: bool, warnings: &mut Vec<String>) -> Result<Option<RunLock>, Error> {
    match RunLock::acquire() {
        Ok(lock) => return Ok(Some(lock)),
        Err(error @ LockError::Busy { .. }) if !beside_another => return Err(Error::Busy(error)),
        Err(LockError::Busy { .. }) => warnings.push(RemarkCode::AnotherRun.with(&[])),
        Err(error @ LockError::Io(_)) => warnings.push(error.to_string()),
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_places_loops_elsewhere_is_told() {
        assert_eq!(of_the_build("aligned"), None);
        let told = of_the_build("elsewhere").expect("a warning");
        assert_eq!(RemarkCode::of(&told), Some(RemarkCode::OtherLoops));
        assert!(["aligned", "elsewhere"].contains(&env!("OSCOST_LOOPS")), "{}", env!("OSCOST_LOOPS"));
    }
}
