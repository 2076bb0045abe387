//! `oscost run`: measures, shows the price list, and saves the result.

use std::io::{BufWriter, Write};
use std::path::Path;

use oscost_families::cpu_pair::{self, PAIRS};
use oscost_families::realtime_ipc::{self, FAMILY, RAW_DIR};
use oscost_families::record_database::DIRECTORY;
use oscost_families::scaling::{self, Workers};
use oscost_families::tax;
use oscost_harness::{Choice, Effort, Given, Launched, estimate_ns, groups};
use oscost_report::{Named, RowChoice};
use oscost_results::{NamedFile, RunResult};
use oscost_sys::cpu_list;

use super::{catalogue, explain, jitter, report};
use crate::args::set::{Whose, refuse_unchosen};
use crate::args::{Format, Run};
use crate::choose;
use crate::commands::watch;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk, is_stdout};
use crate::raw_dir::RawDir;
use crate::session::{self, Request};
use crate::words::counted;

/// Does a whole run.
pub fn run(options: &Run, talk: &Talk) -> Result<Exit, Ended> {
    check_outputs(options)?;
    let effort = session::effort(&options.measuring);
    let given = options.set.given(Whose::Families)?;
    let choices = choices(options, &given, &effort, talk)?;
    let directory = session::place(given.path(DIRECTORY.key))?;
    if options.dry_run {
        return dry_run(options, &choices);
    }
    // Where an engine starts again what ended with a code, a row says why it has no number. Nobody watches such rows.
    if !options.allow_withheld || options.watch {
        choose::refuse_what_is_unsupported(&choices, &session::cpus(&options.measuring)?)?;
    }
    // A path that cannot be written is found before measuring, not after.
    let json = options.json.as_deref().filter(|path| !is_stdout(path));
    for path in [json, options.raw.as_deref(), options.output.as_deref()].into_iter().flatten() {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    if options.plain && directory.is_some() {
        return Err(Ended::misuse("--plain measures no files in a folder: leave out --set directory="));
    }
    if options.watch {
        return watch::watch(options, &given, &choices, talk);
    }
    let mut raw_dir = given.path(RAW_DIR.key).map(RawDir::new).transpose()?;
    if let Some(most) = options.jitter {
        session::check(&options.measuring)?;
        jitter::wait(most, talk);
    }
    let mut raw = options.raw.as_deref().map(Raw::new).transpose()?;
    let keeps = raw.is_some() || raw_dir.is_some();
    let mut keep = |sequence: u32, id: &str, launched: &Launched| {
        if let Some(raw_dir) = &mut raw_dir {
            raw_dir.keep(id, launched);
        }
        if let Some(raw) = &mut raw {
            raw.write(sequence, id, launched);
        }
    };
    let effort = if options.one_launch { Effort::ONE } else { effort }.with_time_for(&choices);
    if let Some(words) = session::announcement(&choices, &effort, options.percentiles) {
        talk.say(words);
    }
    let request = Request {
        directory,
        samples: keeps.then_some(&mut keep),
        percentiles: options.percentiles,
        plain: options.plain,
        ..Request::new(&choices, &options.patterns, &options.measuring, effort)
    };
    let mut session = session::run(request, talk)?;
    let saved = session.save();
    // What was measured is shown even where it could not be saved, and one file that cannot be written costs no other.
    let stored = saved.as_ref().ok().cloned().flatten();
    let show = |result: &RunResult| {
        rendered(options, result, stored.as_deref(), talk)
            .and_then(|text| output::deliver(&text, options.output.as_deref()))
    };
    let result = &session.measured.result;
    let files = [
        saved.map(drop),
        json.map_or(Ok(()), |path| oscost_results::save_as(path, result).map_err(Ended::unwritable)),
        raw.map_or(Ok(()), Raw::finish),
        raw_dir.map_or(Ok(()), RawDir::finish),
        options.output.as_ref().map_or(Ok(()), |_| show(result)),
    ];
    // Nobody may read standard output: it comes last.
    session.deliver();
    let result = &session.measured.result;
    let shown = match (options.json.as_deref().is_some_and(is_stdout), &options.output) {
        (true, _) => oscost_results::to_bytes(result)
            .map_err(Ended::unwritable)
            .and_then(|bytes| output::data(|out| out.write_all(&bytes))),
        (false, None) => show(result),
        (false, Some(_)) => Ok(()),
    };
    session::all_of(files.into_iter().chain([shown]))?;
    match session.exit(&choices) {
        // Each withheld figure still has its row.
        Exit::Withheld if options.allow_withheld => Ok(Exit::Done),
        exit => Ok(exit),
    }
}

/// Fails where two outputs that were asked for exclude one another, and where one has no place.
fn check_outputs(options: &Run) -> Result<(), Ended> {
    let is_twice = options.json.as_deref().is_some_and(is_stdout) && options.output.is_none();
    if is_twice && options.format != Format::Text {
        return Err(Ended::misuse("--json - and --format both want standard output: add -o FILE"));
    }
    if options.raw.as_deref().is_some_and(is_stdout) {
        return Err(Ended::misuse("--raw -: standard output holds the table or the result; name a file"));
    }
    Ok(())
}

/// The result in the format asked for.
fn rendered(options: &Run, result: &RunResult, stored: Option<&str>, talk: &Talk) -> Result<Vec<u8>, Ended> {
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let choice = RowChoice { verbose: talk.verbose, ..RowChoice::default() };
    let mut text = Vec::new();
    let rendered = if options.format == Format::Text {
        // The newest of the store, as long as nobody else stores one.
        oscost_report::price_list(result, stored.map(|_| "@-1"), choice, &style, &mut text)
    } else {
        let named = Named { name: stored.unwrap_or("this run"), result };
        report::render(&[named], &[stored.map(str::to_owned)], options.format, choice, &style, &mut text)
    };
    rendered.map(|()| text).map_err(Ended::unwritable)
}

/// What is measured. What the family of real-time messages is set to makes the ids of a run of it alone.
fn choices(options: &Run, given: &Given, effort: &Effort, talk: &Talk) -> Result<Vec<Choice>, Ended> {
    let plain = |pattern: &String| pattern.trim_end_matches('/').to_lowercase().replace('-', "_");
    if options.patterns.len() == 1 && options.patterns.iter().all(|pattern| plain(pattern) == FAMILY) {
        refuse_unchosen(given, Whose::Families, |family| family == FAMILY)?;
        let ids = realtime_ipc::ids(given, effort.level).map_err(Ended::misuse)?;
        return by_several(options, sessions(&ids, !given.words("transport").is_empty()));
    }
    let choices = choose::choose(&options.patterns, options.all, options.measuring.thorough, talk)?;
    refuse_unchosen(given, Whose::Families, |family| {
        choices.iter().any(|choice| choice.card().family() == family)
    })?;
    let of_ids = |key: &&str| *key != RAW_DIR.key && realtime_ipc::SETTINGS.iter().any(|it| it.key == *key);
    match given.keys().find(of_ids) {
        None => {
            let choices = once(with_pairs(options, given, under_layers(given, choices)?)?);
            by_several(options, choices).map(once)
        }
        Some(key) => Err(Ended::misuse(format!(
            "--set {key}= makes the ids of 'oscost run {FAMILY}': it does not go with other patterns, or with none"
        ))),
    }
}

/// Each id once: patterns and settings may both mean it. Whoever named it anywhere wants it.
fn once(choices: Vec<Choice>) -> Vec<Choice> {
    let mut kept: Vec<Choice> = Vec::new();
    for choice in choices {
        match kept.iter_mut().find(|known| known.card().id == choice.card().id) {
            Some(known) => known.named |= choice.named,
            None => kept.push(choice),
        }
    }
    kept
}

/// The same by several processes or threads at once, where that was asked for.
fn by_several(options: &Run, choices: Vec<Choice>) -> Result<Vec<Choice>, Ended> {
    let asked = [(Workers::Processes, &options.processes), (Workers::Threads, &options.threads)];
    if asked.iter().all(|(_, counts)| counts.is_empty()) {
        return Ok(choices);
    }
    let catalogue = catalogue();
    // Whoever names ids alone did not ask for what they are compared with.
    let all_are_named = choices.iter().filter(|choice| choice.named).count() >= options.patterns.len();
    let mut several: Vec<Choice> = Vec::new();
    for choice in choices.iter().filter(|choice| choice.named || !all_are_named) {
        for (of, counts) in asked {
            let mut counts = counts.clone();
            counts.sort_unstable();
            counts.dedup();
            let ids = scaling::ids(choice.card().id, of, &counts);
            let found = ids.iter().filter_map(|id| catalogue.find(id));
            several.extend(found.map(|benchmark| Choice { benchmark, named: choice.named }));
        }
    }
    match several.is_empty() {
        true => Err(Ended::misuse(
            "--processes and --threads take operations of one process; contended locks, the database and real-time messages \
             name their numbers in their ids",
        )),
        false => Ok(several),
    }
}

/// With the pairs of CPUs that are measured where the family of pairs was named, or pairs were asked for.
fn with_pairs(options: &Run, given: &Given, choices: Vec<Choice>) -> Result<Vec<Choice>, Ended> {
    let is_asked_for = given.word(PAIRS.key).is_some();
    if !is_asked_for && (options.patterns.is_empty() || !choices.iter().any(of_pairs)) {
        return Ok(choices);
    }
    let (cpus, catalogue) = (session::cpus(&options.measuring)?, catalogue());
    if given.word(PAIRS.key) == Some("all") {
        refuse_too_many_pairs(cpus.len())?;
    }
    let mut all = Vec::new();
    for choice in choices {
        all.push(choice);
        // Whoever names one id alone wants that one alone.
        if is_asked_for || !choice.named {
            let ids = cpu_pair::ids(choice.card().id, given, &cpus);
            let pairs = ids.iter().filter_map(|id| catalogue.find(id));
            all.extend(pairs.map(|benchmark| Choice { benchmark, named: false }));
        }
    }
    Ok(all)
}

/// Fails where a plan of all pairs of so many CPUs would take longer to make than to wait for, and none of it could be kept.
fn refuse_too_many_pairs(cpus: usize) -> Result<(), Ended> {
    /// Those of 100 CPUs, each in both directions: two hours of launches, and a run has ten minutes.
    const MOST: usize = 9900;
    let pairs = cpus * cpus.saturating_sub(1);
    if pairs <= MOST {
        return Ok(());
    }
    Err(Ended::misuse(format!(
        "'--set pairs=all': {cpus} CPUs make {pairs} pairs, and {MOST} are planned at most; choose CPUs with --cpu LIST, \
         or leave pairs=all out: a few pairs of each distance stand for the others"
    )))
}

/// With the layers on the operation that they were set to.
fn under_layers(given: &Given, choices: Vec<Choice>) -> Result<Vec<Choice>, Ended> {
    let Some(on) = given.text(tax::ON.key) else { return Ok(choices) };
    let catalogue = catalogue();
    let under = |choice: Choice| {
        if choice.card().family() != "tax" {
            return Ok(choice);
        }
        let id = tax::id_of(choice.card().id, on)
            .map_err(|why| Ended::misuse(oscost_results::Untrusted::new(&why).terminal()))?;
        Ok(catalogue.find(&id).map_or(choice, |benchmark| Choice { benchmark, ..choice }))
    };
    choices.into_iter().map(under).collect()
}

fn of_pairs(choice: &Choice) -> bool {
    choice.card().family() == "cpu_pair"
}

/// Sessions of real-time messages and the partner of each, once.
fn sessions(ids: &[String], named: bool) -> Vec<Choice> {
    let catalogue = catalogue();
    let mut choices: Vec<Choice> = Vec::new();
    for benchmark in ids.iter().filter_map(|id| catalogue.find(id)) {
        let partner = benchmark.card().baseline.and_then(|id| catalogue.find(id));
        for benchmark in [Some(benchmark), partner].into_iter().flatten() {
            if !choices.iter().any(|known| known.card().id == benchmark.card().id) {
                choices.push(Choice { benchmark, named });
            }
        }
    }
    choices
}

/// The plan: what would be measured, how long it takes, and what it needs.
fn dry_run(options: &Run, choices: &[Choice]) -> Result<Exit, Ended> {
    let effort = session::effort(&options.measuring).with_time_for(choices);
    let cpus = session::cpus(&options.measuring)?;
    let seconds = estimate_ns(choices, &effort) as f64 / 1e9;
    let groups = groups(choices);
    let (target, deadline) = (effort.target_ns / 1_000_000_000, effort.deadline_ns / 1_000_000_000);
    let time = if seconds > deadline as f64 {
        format!("hard deadline {deadline} s, by which most of it is not measured: choose fewer figures")
    } else if seconds > target as f64 {
        format!("hard deadline {deadline} s")
    } else {
        format!("what has not converged is launched again until {target} s; hard deadline {deadline} s")
    };
    let percentiles = session::percentiles_planned(choices, &effort, options.percentiles);
    let mut plan = vec![
        format!(
            "{} in {}, {} with {} ms for each figure ({}): about {seconds:.0} s; {time}{percentiles}",
            counted(choices.len(), "figure"),
            counted(groups.len(), "group"),
            counted(effort.launches as usize, "launch"),
            effort.member_ns / 1_000_000,
            effort.level.name(),
        ),
        // Blanks, so that a long list can be broken.
        format!("CPUs in order of preference: {}", cpu_list::format(&cpus).replace(',', ", ")),
        "privileges: none needed; user, IPC and mount namespaces are used where they are allowed, and seccomp or ptrace \
         for the audit"
            .to_owned(),
    ];
    for (group, members) in &groups {
        plan.push((*group).to_string());
        plan.extend(members.iter().map(|&position| {
            let choice = &choices[position];
            match oscost_harness::lacking(choice, &cpus) {
                Some((why, _)) => format!("  {}   unsupported: {why}", choice.card().id),
                None => format!("  {}", choice.card().id),
            }
        }));
    }
    let mut text = String::new();
    let width = output::told_width().unwrap_or(usize::MAX);
    for line in &plan {
        explain::lines(&mut text, "", line, width);
    }
    output::data(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// Every sample, as CSV: written launch by launch, so that memory stays small. The file is seen when it is complete.
struct Raw {
    file: BufWriter<NamedFile>,
    failed: Option<std::io::Error>,
}

impl Raw {
    fn new(path: &Path) -> Result<Self, Ended> {
        let mut file = BufWriter::new(NamedFile::create(path).map_err(Ended::unwritable)?);
        let failed = file.write_all(b"id,launch,round,value\n").err();
        Ok(Self { file, failed })
    }

    fn write(&mut self, sequence: u32, id: &str, launched: &Launched) {
        if self.failed.is_some() {
            return;
        }
        let mut samples = launched.samples.iter().enumerate();
        let written = samples
            .try_for_each(|(round, sample)| writeln!(self.file, "{id},{sequence},{round},{sample:.4}"));
        self.failed = written.err();
    }

    fn finish(mut self) -> Result<(), Ended> {
        let written = self.failed.take().map_or_else(|| self.file.flush(), Err);
        // Taken apart: dropped whole, it would try again to write what could not be written.
        let (file, _) = self.file.into_parts();
        written.map_err(|error| {
            let path = file.path().to_string_lossy();
            let path = oscost_results::Untrusted::new(&path);
            Ended::unwritable(format!("cannot write {}: {error}", path.terminal()))
        })?;
        file.finish().map_err(Ended::unwritable)
    }
}

#[cfg(test)]
mod tests {
    use oscost_harness::{IdleCpu, Options, rehearse};
    use oscost_results::{Figure, Mark, Status};

    use super::*;

    #[test]
    fn pairs_of_very_many_cpus_are_refused_before_they_are_planned() {
        for cpus in [0, 1, 2, 100] {
            assert!(refuse_too_many_pairs(cpus).is_ok(), "{cpus} CPUs");
        }
        let refused = refuse_too_many_pairs(300).expect_err("89700 pairs").to_string();
        assert!(refused.contains("300 CPUs make 89700 pairs") && refused.contains("--cpu LIST"), "{refused}");
    }

    #[test]
    fn every_session_is_found_and_its_partner_comes_along() {
        for level in [Effort::QUICK.level, Effort::DEFAULT.level, Effort::THOROUGH.level] {
            let ids = realtime_ipc::ids(&Given::default(), level).expect("they fit");
            let choices = sessions(&ids, false);
            assert!(ids.iter().all(|id| choices.iter().any(|choice| choice.card().id == id)), "{ids:?}");
        }
        let found = sessions(&["realtime_ipc/pipe/same_cpu/clients_3/tick_1451247ns".to_owned()], true);
        let found: Vec<&str> = found.iter().map(|choice| choice.card().id).collect();
        let partner = "realtime_ipc/unix_datagram/same_cpu/clients_3/tick_1451247ns";
        assert_eq!(found, ["realtime_ipc/pipe/same_cpu/clients_3/tick_1451247ns", partner]);
    }

    #[test]
    fn an_id_is_measured_once_however_often_it_is_meant() {
        let benchmark = crate::commands::catalogue().find("syscall/getppid").expect("it is there");
        let twice = [false, true].map(|named| Choice { benchmark, named });
        let kept: Vec<(&str, bool)> =
            once(twice.into()).iter().map(|choice| (choice.card().id, choice.named)).collect();
        assert_eq!(kept, [("syscall/getppid", true)]);
    }

    fn options(effort: Effort) -> Options {
        Options {
            effort,
            seed: 1,
            cpus: vec![1, 0],
            spread_cpus: Vec::new(),
            core: None,
            idle_cpu: IdleCpu::Halt,
            references: Vec::new(),
            keep_samples: false,
            expected_ns: std::collections::BTreeMap::new(),
            first: Vec::new(),
        }
    }

    /// With every launch that the price list has on two CPUs, where jobs take as long as planned, and three times as long.
    #[test]
    fn a_bare_run_ends_within_a_minute_and_a_quick_one_within_twenty_seconds() {
        const SECOND: u64 = 1_000_000_000;
        for (effort, most) in [(Effort::DEFAULT, 60 * SECOND), (Effort::QUICK, 20 * SECOND)] {
            let choices = crate::commands::catalogue().tier(oscost_harness::Tier::Core);
            assert!(choices.len() > 25, "{}", choices.len());
            let planned = estimate_ns(&choices, &effort);
            assert!(planned <= effort.target_ns, "{}: the plan takes {planned} ns", effort.level.name());
            for stretch in [1.0, 3.0] {
                let run = rehearse(&choices, &options(effort), stretch);
                let case = format!("{} x {stretch}: {} ns", effort.level.name(), run.ended_ns);
                assert!(run.ended_ns <= most, "{case}");
                assert!(run.ended_ns <= effort.target_ns + run.longest_ns, "{case}");
                assert!(!run.measured.partial, "{case}");
                let marked = |figure: &Figure| figure.marks.contains(&Mark::FewerLaunches);
                for figure in &run.measured.figures {
                    assert_eq!(figure.status, Status::Measured, "{case}, {}: {:?}", figure.id, figure.why);
                    let card = choices.iter().map(Choice::card).find(|card| card.id == figure.id);
                    let planned = card
                        .and_then(|card| card.launches)
                        .map_or(effort.launches, |it| it.min(effort.launches));
                    if marked(figure) {
                        assert!(figure.launches.len() < planned as usize, "{case}, {}", figure.id);
                    }
                }
                let cut = run.measured.figures.iter().filter(|figure| marked(figure)).count();
                assert_eq!(cut > 0, stretch > 1.0, "{case}: {cut} figures have fewer launches");
            }
        }
    }
}
