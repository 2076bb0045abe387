//! A measuring session: one run at a time, its journal, the engine, and the result that is saved.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use oscost::{doctor, machine};
use oscost_harness::{
    Choice, Effort, Event, Foreign, IdleCpu, Launched, Measured, Options, Placement, Record, Supervisor,
    measure, preferred,
};
use oscost_results::{Check, FORMAT, Journal, LockError, Plan, RunLock, RunName, RunResult, Store, VERSION};

use crate::args::{self, Measuring};
use crate::commands::catalogue;
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::progress::Progress;

/// Takes the samples of a launch: its position in the run, the id, and what it yielded.
pub type KeepSamples<'a> = dyn FnMut(u32, &str, &Launched) + 'a;

/// What to measure, and how it is called in the result.
pub struct Request<'a> {
    /// The benchmarks.
    pub choices: &'a [Choice],
    /// Literal methods of documents, launched once each when the others are done: single runs have no interval.
    pub single: &'a [Choice],
    /// Programs that are not ours, in the same rotation of launches.
    pub contestants: &'a [Foreign],
    /// Patterns as given.
    pub patterns: &'a [String],
    /// Options of measuring.
    pub measuring: &'a Measuring,
    /// How much is spent.
    pub effort: Effort,
    /// Where files go that are measured, if not into memory.
    pub directory: Option<&'a Path>,
    /// Where every launch's samples go, if they are asked for.
    pub samples: Option<&'a mut KeepSamples<'a>>,
}

/// A finished session.
pub struct Session {
    /// The result; not yet saved.
    pub result: RunResult,
    /// The signal that ended it early.
    pub signal: Option<u8>,
    /// What is not in real time counts against it.
    require_realtime: bool,
    name: Option<RunName>,
    journal: Option<Journal>,
    store: Option<Store>,
    _lock: Option<RunLock>,
}

/// How much is spent, as the options say.
pub fn effort(measuring: &Measuring) -> Effort {
    match (measuring.quick, measuring.thorough) {
        (true, _) => Effort::QUICK,
        (_, true) => Effort::THOROUGH,
        _ => Effort::DEFAULT,
    }
}

/// CPUs to use, in order of preference.
pub fn cpus(measuring: &Measuring) -> Result<Vec<usize>, Ended> {
    let allowed = oscost_sys::affinity::allowed().map_err(|error| {
        Ended::new(Exit::Unfit, format!("the CPUs of this process cannot be found: {error}"))
    })?;
    let Some(list) = &measuring.cpu else { return Ok(preferred(allowed)) };
    let wanted = in_order(list).ok_or_else(|| {
        Ended::misuse(format!("'--cpu {list}' is no list of CPUs: write 2, or 3,1, or 2-5"))
    })?;
    match wanted.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(wanted),
        Some(cpu) => {
            let allowed = oscost_sys::cpu_list::format(&allowed);
            Err(Ended::misuse(format!(
                "'--cpu {list}': this process may not run on CPU {cpu}; it may on {allowed}"
            )))
        }
    }
}

/// CPUs of a list in the order in which they were given, each once; `None` where it is no list.
fn in_order(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in list.split(',') {
        cpus.extend(oscost_sys::cpu_list::parse(part).filter(|part| !part.is_empty())?);
    }
    let mut seen = std::collections::BTreeSet::new();
    cpus.retain(|&cpu| seen.insert(cpu));
    Some(cpus)
}

/// Most CPUs whose distance is measured: each takes some milliseconds.
const MOST_DISTANCES: usize = 16;

/// The CPUs with the first one in front and the others by the time that a cache line takes from it, in ns: the nearest first;
/// last those of which that is not known.
fn by_distance(cpus: &[usize]) -> Vec<(usize, Option<f64>)> {
    let Some((&first, others)) = cpus.split_first() else { return Vec::new() };
    let mut measured: Vec<(usize, Option<f64>)> = others
        .iter()
        .enumerate()
        .map(|(index, &cpu)| {
            let ns =
                if index < MOST_DISTANCES { oscost_sys::distance::between(first, cpu) } else { Ok(None) };
            (cpu, ns.ok().flatten())
        })
        .collect();
    measured.sort_by(|one, other| match (one.1, other.1) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    });
    std::iter::once((first, Some(0.0))).chain(measured).collect()
}

/// Measures what is requested. Everything that can be found wrong is found before the first launch.
pub fn run(mut request: Request<'_>, talk: &Talk) -> Result<Session, Ended> {
    let measuring = request.measuring;
    let cpus = cpus(measuring)?;
    if measuring.require_realtime {
        require_realtime()?;
    }
    let mut warnings = Vec::new();
    let lock = lock(measuring.force, &mut warnings)?;
    let (interrupted, signal) = listen()?;
    let store = match Store::of_user() {
        Ok(store) => match store.prepare() {
            Ok(()) => Some(store),
            Err(error) => {
                talk.say(format!("warning: the result will not be kept: {error}"));
                None
            }
        },
        Err(error) => {
            talk.say(format!("warning: the result will not be kept: {error}"));
            None
        }
    };
    if let Some(store) = &store {
        crate::recover::recover(store, talk);
    }
    if talk.verbose {
        talk.say("phase: doctor");
    }
    let checks = doctor::examine(doctor::Level::Quick);
    let spreads = request.choices.iter().any(|choice| choice.card().placement == Placement::Spread);
    // Whoever names CPUs has chosen their order.
    let distances = if spreads && measuring.cpu.is_none() { by_distance(&cpus) } else { Vec::new() };
    let seed = match measuring.seed {
        Some(seed) => seed,
        None => oscost_sys::random::bits().map_or(1, |bits| u64::try_from(bits & 0xffff_ffff).unwrap_or(1)),
    };
    let options = Options {
        effort: request.effort,
        seed,
        spread_cpus: distances.iter().map(|(cpu, _)| *cpu).collect(),
        cpus,
        idle_cpu: match measuring.idle_cpu {
            args::IdleCpu::Halt => IdleCpu::Halt,
            args::IdleCpu::Poll => IdleCpu::Poll,
        },
        keep_samples: request.samples.is_some(),
        directory: request.directory.map(Path::to_path_buf),
    };
    let mut result = blank(&request, &options, checks, warnings);
    if !distances.is_empty() {
        let told = distances.iter().map(|(cpu, ns)| serde_json::json!({"cpu": cpu, "ns": ns}));
        result.conditions.unknown.insert("spread_cpus".into(), told.collect());
    }
    let journal = store.as_ref().and_then(|store| match Journal::create(store, &result) {
        Ok(journal) => Some(journal),
        Err(error) => {
            talk.say(format!("warning: a kill would lose this run: {error}"));
            None
        }
    });
    let start_up = if options.directory.is_some() { Supervisor::with_files } else { Supervisor::new };
    let supervisor = start_up(interrupted)
        .map_err(|error| Ended::new(Exit::Unfit, format!("no worker can be started here: {error}")))?;
    let start = oscost_sys::clock::now_ns();
    let mut progress = Progress::new(!talk.quiet);
    let mut journal_failed = false;
    let mut emit = |event: &Event<'_>| {
        progress.show(event);
        match event {
            Event::Found(record) => {
                if let (Record::Launched { sequence, members, .. }, Some(samples)) =
                    (record, request.samples.as_mut())
                {
                    members.iter().for_each(|(id, launched)| samples(*sequence, id, launched));
                }
                if let Some(journal) = &journal
                    && !journal_failed
                    && let Err(error) = journal.append(&without_samples(record))
                {
                    journal_failed = true;
                    progress.suspend(|| talk.say(format!("warning: a kill would lose this run: {error}")));
                }
            }
            Event::Phase(phase) if talk.verbose => progress.suspend(|| talk.say(format!("phase: {phase}"))),
            Event::Launching { pass, group, .. } if talk.verbose => {
                progress.suspend(|| talk.say(format!("launch {pass} of group {group}")));
            }
            Event::Warning(words) if talk.verbose => progress.suspend(|| talk.say(words)),
            _ => {}
        }
    };
    let mut measured = measure(&supervisor, request.choices, request.contestants, &options, &mut emit);
    if !request.single.is_empty() {
        let effort = Effort { launches: 1, most_launches: 1, ..options.effort };
        let needed_ns = 2 * oscost_harness::estimate_ns(request.single, &effort);
        let effort = Effort { deadline_ns: effort.deadline_ns.max(needed_ns), ..effort };
        let once =
            measure(&supervisor, request.single, &[], &Options { effort, ..options.clone() }, &mut emit);
        measured.figures.extend(once.figures);
        measured.partial |= once.partial;
    }
    progress.end();
    complete(&mut result, measured);
    result.duration_ns = oscost_sys::clock::now_ns() - start;
    let signal = match signal.load(Ordering::Relaxed) {
        0 => None,
        number => u8::try_from(number).ok(),
    };
    let name = journal.as_ref().map(|journal| journal.name().clone()).or_else(|| RunName::now().ok());
    let require_realtime = measuring.require_realtime;
    Ok(Session { result, signal, require_realtime, name, journal, store, _lock: lock })
}

impl Session {
    /// Saves the result in the store. Its name; `None` where there is no store, which the user was told.
    pub fn save(&mut self) -> Result<Option<String>, Ended> {
        let (Some(store), Some(name)) = (&self.store, &self.name) else { return Ok(None) };
        let path = store.save(name, &self.result).map_err(Ended::unwritable)?;
        if let Some(journal) = self.journal.take() {
            // A journal that stays is removed by the next run: its result is saved.
            let _ = journal.finish();
        }
        Ok(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
    }

    /// Leaves nothing of it in the store.
    pub fn discard(&mut self) {
        if let Some(journal) = self.journal.take() {
            // A journal that stays is recovered by the next run: nothing is lost, and nothing is wrong.
            let _ = journal.finish();
        }
    }

    /// How the program ends: a figure that was asked for and is withheld counts against it.
    pub fn exit(&self, choices: &[Choice]) -> Exit {
        use oscost_results::Status;
        if let Some(signal) = self.signal {
            return Exit::Signal(signal);
        }
        let marked =
            |figure: &oscost_results::Figure| figure.marks.contains(&oscost_results::Mark::NotRealTime);
        if self.require_realtime && self.result.figures.iter().any(marked) {
            return Exit::Unfit;
        }
        let named = |id: &str| choices.iter().any(|choice| choice.named && choice.card().id == id);
        // What a program that is not ours does not tell is no figure of this one's.
        let own = self.result.figures.iter().filter(|figure| figure.call_path != "foreign");
        let withheld = own.into_iter().any(|figure| match figure.status {
            Status::Measured => false,
            Status::Failed | Status::Contradicted => true,
            Status::Unsupported => named(&figure.id),
        });
        if withheld { Exit::Withheld } else { Exit::Done }
    }
}

/// A run disturbs another one: only one at a time, unless the user insists.
pub fn lock_of(force: bool) -> Result<Option<RunLock>, Ended> {
    lock(force, &mut Vec::new())
}

fn lock(force: bool, warnings: &mut Vec<String>) -> Result<Option<RunLock>, Ended> {
    match RunLock::acquire() {
        Ok(lock) => Ok(Some(lock)),
        Err(error @ LockError::Busy { .. }) if !force => Err(Ended::new(Exit::Unfit, error.to_string())),
        Err(error) => {
            warnings.push(match error {
                LockError::Busy { .. } => "measured while another run was measuring (--force)".to_owned(),
                LockError::Io(_) => error.to_string(),
            });
            Ok(None)
        }
    }
}

/// SIGINT, SIGTERM and SIGHUP end the run and keep what was measured; a second one ends the program at once. One
/// that the caller had ignored (nohup, the job of a script in the background) stays ignored.
pub fn listen() -> Result<(Arc<AtomicBool>, Arc<AtomicUsize>), Ended> {
    use oscost_sys::process;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    let interrupted = Arc::new(AtomicBool::new(false));
    let which = Arc::new(AtomicUsize::new(0));
    let register = || -> std::io::Result<()> {
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !process::is_ignored(signal)) {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&interrupted))?;
            flag::register(signal, Arc::clone(&interrupted))?;
            flag::register_usize(signal, Arc::clone(&which), signal.unsigned_abs() as usize)?;
        }
        Ok(())
    };
    register().map_err(|error| Ended::new(Exit::Unfit, format!("signals cannot be handled: {error}")))?;
    Ok((interrupted, which))
}

/// Fails unless a process of this user may be scheduled in real time.
fn require_realtime() -> Result<(), Ended> {
    match oscost_sys::scheduling::probe_real_time() {
        Ok(()) => Ok(()),
        Err(error) => {
            Err(Ended::new(Exit::Unfit, format!("--require-realtime: {error}; {}", error.cause.remedy())))
        }
    }
}

/// What the journal keeps of a record. Samples are many: they are not even copied.
fn without_samples(record: &Record) -> Record {
    let Record::Launched { sequence, canary_ns, members, pairs } = record else { return record.clone() };
    let member = |(id, launched): &(String, Launched)| {
        let (record, clean_sketch) = (launched.record.clone(), launched.clean_sketch.clone());
        let remarks = launched.remarks.clone();
        (id.clone(), Launched { record, clean_sketch, remarks, ..Launched::default() })
    };
    Record::Launched {
        sequence: *sequence,
        canary_ns: *canary_ns,
        members: members.iter().map(member).collect(),
        pairs: pairs.clone(),
    }
}

/// The result before anything was measured: also the head of the journal.
fn blank(request: &Request<'_>, options: &Options, doctor: Vec<Check>, warnings: Vec<String>) -> RunResult {
    let started = jiff::Timestamp::try_from(SystemTime::now()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let mut conditions = machine::conditions();
    let kind = options.directory.as_deref().map(oscost_sys::file_system::kind);
    conditions.file_system = kind.map(|kind| kind.unwrap_or_else(|error| error.to_string()));
    if options.idle_cpu == IdleCpu::Poll {
        conditions.unknown.insert("idle_cpu".into(), "poll".into());
    }
    RunResult {
        format: FORMAT.to_owned(),
        version: VERSION,
        partial: true,
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        duration_ns: 0,
        note: request.measuring.note.clone(),
        tool: machine::tool(),
        machine: machine::machine(),
        conditions,
        plan: Plan {
            seed: options.seed,
            launches: options.effort.launches,
            launch_ns: options.effort.member_ns,
            effort: options.effort.name.to_owned(),
            patterns: request.patterns.to_vec(),
            cpus: options.cpus.iter().filter_map(|&cpu| u32::try_from(cpu).ok()).collect(),
            arguments: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            ..Plan::default()
        },
        figures: Vec::new(),
        ratios: Vec::new(),
        differences: Vec::new(),
        reproductions: Vec::new(),
        doctor,
        warnings,
        unknown: serde_json::Map::default(),
    }
}

fn complete(result: &mut RunResult, measured: Measured) {
    result.partial = measured.partial;
    result.figures = measured.figures;
    result.ratios = measured.ratios;
    result.differences = measured.differences;
    result.warnings.extend(measured.warnings);
    result.conditions.isolation = measured.isolation;
    result.conditions.seccomp_mode = measured.seccomp_mode;
    if let Some(clock) = measured.clock {
        result.conditions.clock_step_ns = Some(clock.step_ns);
        result.conditions.clock_pair_ns = Some(clock.pair_ns);
    }
}

/// The catalogue and the choice of a run: patterns, a tier, or everything.
pub fn choose(patterns: &[String], all: bool, thorough: bool) -> Result<Vec<Choice>, Ended> {
    use oscost_harness::Tier;
    let catalogue = catalogue();
    let most = if thorough { Tier::Thorough } else { Tier::Family };
    if patterns.is_empty() {
        return Ok(catalogue.tier(if all { most } else { Tier::Core }));
    }
    catalogue.select(patterns, most).map_err(Ended::misuse)
}
