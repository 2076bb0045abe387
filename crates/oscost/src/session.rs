//! A session as a user of the program has it: options make the request, words and a line tell of it, a signal ends it, and
//! an exit code says what came of it.

use std::path::Path;

use oscost_harness::{
    Catalogue, Choice, Effort, Event, Foreign, IdleCpu, Launched, Place, Record, estimate_ns,
};
use oscost_results::{Check, Figure, LockError, Mark, RunLock, Status, Store};
use oscost_session::{Error, Keep, Notice, cpus as cpus_of};

use crate::args::{self, Measuring};
use crate::commands::catalogue;
use crate::exit::{Ended, Exit};
use crate::output::Talk;
use crate::progress::Progress;
use crate::signals::Signals;

/// Takes the samples of a launch: its position in the run, the id, and what it yielded.
pub type KeepSamples<'a> = dyn FnMut(u32, &str, &Launched) + 'a;

/// What to measure, and how it is called in the result.
pub struct Request<'a> {
    /// The benchmarks.
    pub choices: &'a [Choice],
    /// Literal methods of documents, launched once each when the others are done: single runs have no interval.
    pub single: &'a [Choice],
    /// Ids whose intervals come first where not all fit before the end, the most telling first.
    pub first: &'a [String],
    /// Programs that are not ours, in the same rotation of launches.
    pub contestants: &'a [Foreign],
    /// Patterns as given.
    pub patterns: &'a [String],
    /// Options of measuring.
    pub measuring: &'a Measuring,
    /// What the doctor found in the run before, if there was one.
    pub examined: Option<Vec<Check>>,
    /// Whether it may go on beside another run.
    pub insists: Insists,
    /// How much is spent.
    pub effort: Effort,
    /// Where files go that are measured, if not into memory.
    pub directory: Option<Place>,
    /// Where every launch's samples go, if they are asked for.
    pub samples: Option<&'a mut KeepSamples<'a>>,
    /// Time operations one by one, when everything else is done.
    pub percentiles: bool,
    /// Use few system calls.
    pub plain: bool,
}

impl<'a> Request<'a> {
    /// These benchmarks by these options, and nothing besides.
    pub fn new(
        choices: &'a [Choice],
        patterns: &'a [String],
        measuring: &'a Measuring,
        effort: Effort,
    ) -> Self {
        Self {
            choices,
            single: &[],
            first: &[],
            contestants: &[],
            patterns,
            measuring,
            examined: None,
            insists: Insists::Force(measuring.force),
            effort,
            directory: None,
            samples: None,
            percentiles: false,
            plain: false,
        }
    }
}

/// A finished session.
pub struct Session {
    /// The result, not yet saved, and where it goes.
    pub measured: oscost_session::Session,
    /// The signal that ended it early.
    pub signal: Option<u8>,
    /// What is not in real time counts against it.
    require_realtime: bool,
    signals: Signals,
}

/// Whether a user may measure beside another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insists {
    /// By the option `--force`, which was given or not.
    Force(bool),
    /// The command has no such option.
    Never,
    /// The same, and a result keeps what is said: whoever reads it later waits for nothing.
    Later,
}

/// How much is spent, as the options say.
pub fn effort(measuring: &Measuring) -> Effort {
    match (measuring.quick, measuring.thorough) {
        (true, _) => Effort::QUICK,
        (_, true) => Effort::THOROUGH,
        _ => Effort::DEFAULT,
    }
}

/// How long the percentiles of `choices` take, ns, where time and not their number of passes ends them, and no launch is void: five
/// launches of a figure that has any (docs/method/families.md, Percentiles). Each has stretches of 50 times a launch's part, an
/// eighth of that for the batches beside them, and 1.3 s for its warm-up and for first calls.
fn percentiles_ns(choices: &[Choice], effort: &Effort) -> u64 {
    let timed = |choice: &&Choice| choice.card().quantities.is_empty() && !choice.card().uses_up;
    let figures = choices.iter().filter(timed).count() as u64;
    figures * 5 * (50 * effort.member_ns * 9 / 8 + 1_300_000_000)
}

/// What is said of a choice that takes longer than a bare run; with the percentiles, if they are asked for.
pub fn announcement(choices: &[Choice], effort: &Effort, percentiles: bool) -> Option<String> {
    let then_ns = if percentiles { percentiles_ns(choices, effort) } else { 0 };
    let planned_ns = estimate_ns(choices, effort) + then_ns;
    let [planned, most] = [planned_ns, effort.deadline_ns + then_ns].map(|ns| ns / 1_000_000_000);
    // Percentiles have no deadline: void launches of theirs are repeated.
    let bound = if then_ns > 0 { String::new() } else { format!(", and at most {most} s") };
    (planned_ns > effort.target_ns).then(|| format!("this takes about {} s{bound}", planned.min(most)))
}

/// What a plan says of the percentiles that follow it; nothing where nobody asked for them.
pub fn percentiles_planned(choices: &[Choice], effort: &Effort, asked: bool) -> String {
    let seconds = percentiles_ns(choices, effort) / 1_000_000_000;
    if asked { format!("; percentiles take about {seconds} s more") } else { String::new() }
}

/// CPUs to use, in order of preference.
pub fn cpus(measuring: &Measuring) -> Result<Vec<usize>, Ended> {
    cpus_of(measuring.cpu.as_deref()).map_err(|error| ended(error, Insists::Never))
}

/// The folder in which files go that are measured, held from now on; `None` where none was given.
///
/// # Errors
/// No folder, or one in which others may rename what is made there.
pub fn place(directory: Option<&Path>) -> Result<Option<Place>, Ended> {
    let Some(path) = directory else { return Ok(None) };
    Place::open(path).map(Some).map_err(|why| {
        let shown = oscost_results::Untrusted::new(&path.to_string_lossy()).terminal().to_string();
        Ended::misuse(format!("--set directory='{shown}': {why}"))
    })
}

/// The error in the words of the program's options, and its exit code.
fn ended(error: Error, insists: Insists) -> Ended {
    match error {
        Error::Cpus { list, why } => Ended::misuse(format!("'--cpu {list}'{why}")),
        Error::Busy(error) if insists == Insists::Force(false) => {
            Ended::unfit(format!("{error}; wait for it, or add --force to disturb both"))
        }
        Error::Busy(LockError::Busy { pid }) if insists == Insists::Later => {
            let process = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
            Ended::unfit(format!("another run was measuring on this machine{process}"))
        }
        Error::NotStored(_) => Ended::unwritable(error),
        error => Ended::unfit(error),
    }
}

/// Says what a session tells, as far as the user wants to hear it.
fn say(notice: Notice<'_>, talk: &Talk) {
    match notice {
        Notice::Examining if talk.verbose => talk.say("phase: doctor"),
        Notice::Event(Event::Phase(phase)) if talk.verbose => talk.say(format!("phase: {phase}")),
        Notice::Event(Event::Launching { pass, group, .. }) if talk.verbose => {
            talk.say(format!("launch {pass} of group {group}"));
        }
        Notice::Event(Event::Warning(words)) if talk.verbose => talk.say(words),
        Notice::Note(words) => talk.say(words),
        Notice::Warning(words) => talk.say(format!("warning: {words}")),
        Notice::Lost(words) => talk.warn(format!("warning: {words}")),
        _ => {}
    }
}

/// Saves what the journals of dead runs hold, and says so.
pub fn recover(store: &Store, talk: &Talk) {
    oscost_session::recover(store, &catalogue(), &mut |notice| say(notice, talk));
}

/// Measures what is requested. Everything that can be found wrong is found before the first launch.
pub fn run(request: Request<'_>, talk: &Talk) -> Result<Session, Ended> {
    let require_realtime = request.measuring.require_realtime;
    check(request.measuring)?;
    let signals = Signals::listen()?;
    let mut progress = Progress::new(!talk.quiet);
    let measured = measure(request, &signals, Keep::User, &mut progress, talk)?;
    let signal = signals.number();
    Ok(Session { measured, signal, require_realtime, signals })
}

/// Whether the options of measuring can be met.
pub fn check(measuring: &Measuring) -> Result<(), Ended> {
    cpus(measuring)?;
    if measuring.require_realtime { require_realtime() } else { Ok(()) }
}

/// What may be timed beside few figures.
pub fn references(catalogue: &Catalogue) -> Vec<Choice> {
    let find = |id: &&str| catalogue.find(id).map(|benchmark| Choice { benchmark, named: false });
    oscost_families::REFERENCES.iter().filter_map(find).collect()
}

/// One measuring, until it is done or `signals` end it; its result goes where `keep` says, once it is saved.
pub fn measure(
    request: Request<'_>,
    signals: &Signals,
    keep: Keep,
    progress: &mut Progress,
    talk: &Talk,
) -> Result<oscost_session::Session, Ended> {
    let Request { measuring, insists, mut samples, .. } = request;
    let catalogue = catalogue();
    let references = references(&catalogue);
    let mut asked = oscost_session::Request::new(request.choices);
    asked.single = request.single;
    asked.first = request.first;
    asked.expects = Some(oscost_documents::expected_ns);
    asked.contestants = request.contestants;
    asked.references = &references;
    asked.patterns = request.patterns;
    asked.effort = request.effort;
    asked.cpus.clone_from(&measuring.cpu);
    asked.seed = measuring.seed;
    asked.idle_cpu = match measuring.idle_cpu {
        args::IdleCpu::Halt => IdleCpu::Halt,
        args::IdleCpu::Poll => IdleCpu::Poll,
        args::IdleCpu::Both => IdleCpu::Both,
    };
    asked.directory = request.directory;
    asked.note.clone_from(&measuring.note);
    asked.keep_private = measuring.keep_private;
    asked.keep_samples = samples.is_some();
    asked.percentiles = request.percentiles;
    asked.plain = request.plain;
    asked.examined = request.examined;
    asked.beside_another = insists == Insists::Force(true);
    asked.keep = keep;
    asked.stop = signals.flag();
    let mut tell = |notice: Notice<'_>| {
        if let Notice::Event(event) = notice {
            progress.show(event);
            if let (Event::Found(Record::Launched { sequence, members, .. }), Some(samples)) =
                (event, samples.as_mut())
            {
                members.iter().for_each(|(id, launched)| samples(*sequence, id, launched));
            }
        }
        if talk.verbose || !matches!(notice, Notice::Event(_)) {
            progress.suspend(|| say(notice, talk));
        }
    };
    let measured = oscost_session::measure(&catalogue, asked, &mut tell);
    progress.end();
    measured.map_err(|error| ended(error, insists))
}

impl Session {
    /// Saves the result in the store. Its name; `None` where the user wants nothing to be kept.
    ///
    /// # Errors
    /// It was not saved, for whatever reason: the same words and code for a full disk and for a folder that is none.
    pub fn save(&mut self) -> Result<Option<String>, Ended> {
        self.measured.save().map_err(|error| ended(error, Insists::Never))
    }

    /// Every file that was asked for is written: a signal no longer has anything to wait for.
    pub fn deliver(&mut self) {
        // One may have come after the last launch.
        self.signal = self.signals.deliver();
    }

    /// How the program ends: a figure that was asked for and is withheld counts against it.
    pub fn exit(&self, choices: &[Choice]) -> Exit {
        if let Some(signal) = self.signal {
            return Exit::Signal(signal);
        }
        let marked = |figure: &Figure| figure.marks.contains(&Mark::NotRealTime);
        if self.require_realtime && self.measured.result.figures.iter().any(marked) {
            return Exit::Unfit;
        }
        let named = |id: &str| choices.iter().any(|choice| choice.named && choice.card().id == id);
        // What a program that is not ours does not tell is no figure of this one's.
        let own = self.measured.result.figures.iter().filter(|figure| figure.call_path != "foreign");
        let withheld = own.into_iter().any(|figure| match figure.status {
            Status::Measured => false,
            Status::Failed | Status::Contradicted | Status::Withdrawn | Status::Unknown => true,
            Status::Unsupported => named(&figure.id),
        });
        if withheld { Exit::Withheld } else { Exit::Done }
    }
}

/// Of several things that were tried, all that went wrong; the code is the first one's.
pub fn all_of(tried: impl IntoIterator<Item = Result<(), Ended>>) -> Result<(), Ended> {
    let wrong: Vec<Ended> = tried.into_iter().filter_map(Result::err).collect();
    let Some(first) = wrong.first() else { return Ok(()) };
    let mut words: Vec<String> = wrong.iter().map(Ended::to_string).collect();
    // Standard output may have been tried twice.
    words.dedup();
    Err(Ended::new(first.exit, words.join("\n")))
}

/// A run disturbs another one: only one at a time. For commands that cannot insist.
pub fn lock_or_wait() -> Result<Option<RunLock>, Ended> {
    oscost_session::lock(false, &mut Vec::new()).map_err(|error| ended(error, Insists::Never))
}

/// Fails unless a process of this user may be scheduled in real time.
fn require_realtime() -> Result<(), Ended> {
    match oscost_sys::scheduling::probe_real_time() {
        Ok(()) => Ok(()),
        Err(error) => Err(Ended::unfit(format!("--require-realtime: {error}; {}", error.cause.remedy()))),
    }
}

#[cfg(test)]
mod tests {
    use oscost_harness::{Options, rehearse};

    use super::*;

    /// A stored bill told its readers to wait for a run that had ended hours ago.
    #[test]
    fn what_a_result_keeps_tells_nobody_to_wait() {
        let said = |insists| ended(Error::Busy(LockError::Busy { pid: Some(7) }), insists).to_string();
        assert_eq!(said(Insists::Later), "another run was measuring on this machine (process 7)");
        assert!(
            said(Insists::Never)
                .ends_with("another run is measuring on this machine (process 7); wait for it")
        );
    }

    /// The help says how long a figure takes by default.
    #[test]
    fn percentiles_are_in_the_time_that_is_announced() {
        let effort = Effort::DEFAULT;
        let ids = ["syscall/getppid", "syscall/read1", "syscall/stat"].map(str::to_owned);
        let choices = catalogue().select(&ids, oscost_harness::Tier::Hidden).expect("ids");
        let one = choices.get(..1).expect("one");
        assert_eq!(percentiles_ns(one, &effort) / 1_000_000_000, 17);
        assert_eq!(announcement(&choices, &effort, false), None, "it is as long as a bare run");
        let many = announcement(&choices, &effort, true).expect("it is longer");
        let planned = (estimate_ns(&choices, &effort) + percentiles_ns(&choices, &effort)) / 1_000_000_000;
        assert_eq!(many, format!("this takes about {planned} s"), "a void launch is repeated");
        assert_eq!(percentiles_planned(one, &effort, true), "; percentiles take about 17 s more");
        assert_eq!(percentiles_planned(one, &effort, false), "");
    }

    /// However many of the references are figures, enough are left for those that have no null.
    #[test]
    fn few_figures_have_references() {
        let catalogue = catalogue();
        let references = references(&catalogue);
        assert_eq!(references.len(), oscost_families::REFERENCES.len(), "each is there");
        assert!(references.iter().all(|choice| choice.card().changes_process.is_none()));
        let all = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&word| word.to_owned()).collect();
            let tier = oscost_harness::Tier::Core;
            if patterns.is_empty() {
                catalogue.tier(tier)
            } else {
                catalogue.select(&patterns, tier).expect("ids")
            }
        };
        let across = "context_switch/pipe/cross_cpu";
        for (patterns, on_one, on_two) in [
            (&[][..], 0, 6),
            (&["semaphore/system_v"], 8, 0),
            (&[across], 0, 6),
            (&[across, "semaphore/system_v"], 8, 6),
        ] {
            let options = Options {
                effort: Effort::QUICK,
                seed: 1,
                cpus: vec![1, 0],
                spread_cpus: Vec::new(),
                core: None,
                idle_cpu: IdleCpu::Both,
                references: references.clone(),
                keep_samples: false,
                expected_ns: std::collections::BTreeMap::new(),
                first: Vec::new(),
            };
            let found = rehearse(&all(patterns), &options, 1.0).measured.references;
            let count = |inside: bool, placed: bool| {
                let fits = |it: &&oscost_results::Reference| {
                    it.enters_kernel == inside && (it.placement == "cross_cpu") == placed
                };
                found.iter().filter(fits).count()
            };
            assert_eq!((count(true, false), count(true, true)), (on_one, on_two), "{patterns:?}");
            assert_eq!(count(false, false), 3, "{patterns:?}: {found:?}");
        }
    }
}
