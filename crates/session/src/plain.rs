//! A session by few system calls: nothing is locked, examined or journalled.

use oscost_harness::{Catalogue, Event, Options, Plain};
use oscost_results::{RemarkCode, RunName};

use crate::doctor::system::System;
use crate::finished::Keeping;
use crate::result::{of_the_build, random_seed};
use crate::{Error, Notice, Request, Session, cpus, machine, result};

/// Measures what is requested. A killed session is lost.
///
/// # Errors
/// Nothing could be measured here, or the clock runs at a wrong rate.
pub(crate) fn measure(
    catalogue: &Catalogue,
    request: Request<'_>,
    tell: &mut dyn FnMut(Notice<'_>),
) -> Result<Session, Error> {
    let options = Options {
        effort: request.effort,
        seed: request.seed.unwrap_or_else(random_seed),
        spread_cpus: Vec::new(),
        cpus: cpus::cpus(request.cpus.as_deref())?,
        idle_cpu: request.idle_cpu,
        core: None,
        references: Vec::new(),
        keep_samples: request.keep_samples,
        expected_ns: std::collections::BTreeMap::new(),
        first: Vec::new(),
    };
    let before = machine::conditions_of(&System::unmeasured());
    let plain = Plain::new(catalogue, request.stop.clone()).map_err(Error::NoWorker)?;
    let start = oscost_sys::clock::now_ns();
    let mut emit = |event: &Event<'_>| tell(Notice::Event(event));
    let mut measured = plain.measure(request.choices, &options, &mut emit);
    if let Some(why) = measured.wrong_clock.take() {
        return Err(Error::WrongClock(why));
    }
    let duration_ns = oscost_sys::clock::now_ns() - start;
    let mut warnings = vec![RemarkCode::Plain.with(&[])];
    warnings.extend(of_the_build(env!("OSCOST_LOOPS")));
    let mut result = result::head(&request, &options, Vec::new(), warnings);
    let now = result.conditions.clone();
    result::complete(&mut result, measured, plain.slept_ns(), [&before, &now]);
    result.duration_ns = duration_ns;
    // A system without what the store needs has shown its figures nevertheless.
    let store = match Keeping::of(&request.keep) {
        Keeping::Refused(why) => {
            tell(Notice::Lost(format!("the result will not be kept: {why}")));
            Keeping::Nothing
        }
        known => known,
    };
    let name = RunName::now();
    if let Err(error) = &name
        && !matches!(store, Keeping::Nothing)
    {
        tell(Notice::Lost(format!("the result will not be kept: it cannot be given a name: {error}")));
    }
    let store = if name.is_ok() { store } else { Keeping::Nothing };
    Ok(Session { result, name: name.ok(), journal: None, store, lock: None })
}
