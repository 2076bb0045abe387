//! `oscost run`: measures, shows the price list, and saves the result.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use oscost_harness::{Choice, Effort, Launched, estimate_ns, groups};

use crate::args::Run;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::raw_dir::RawDir;
use crate::session::{self, Request};

/// Does a whole run.
pub fn run(options: &Run, talk: &Talk) -> Result<Exit, Ended> {
    let effort = session::effort(&options.measuring);
    let choices = match options.real_time.choose(&options.patterns, &effort)? {
        Some(choices) => choices,
        None => session::choose(&options.patterns, options.all, options.measuring.thorough)?,
    };
    let directory = options.files.place()?;
    if directory.is_some() && !choices.iter().any(|choice| choice.card().family() == "record_database") {
        return Err(Ended::misuse("--directory is where files of record_database go, which was not chosen"));
    }
    if options.dry_run {
        return dry_run(options, &choices);
    }
    // A path that cannot be written is found before measuring, not after.
    let json = options.json.as_deref().filter(|path| !is_stdout(path));
    if let Some(path) = json {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    let mut raw = options.raw.as_deref().map(Raw::new).transpose()?;
    let mut raw_dir = options.real_time.raw_dir.as_deref().map(RawDir::new).transpose()?;
    let keeps = raw.is_some() || raw_dir.is_some();
    let mut keep = |sequence: u32, id: &str, launched: &Launched| {
        if let Some(raw_dir) = &mut raw_dir {
            raw_dir.keep(id, launched);
        }
        if let Some(raw) = &mut raw {
            raw.write(sequence, id, launched);
        }
    };
    let request = Request {
        choices: &choices,
        single: &[],
        contestants: &[],
        patterns: &options.patterns,
        measuring: &options.measuring,
        effort: if options.one_launch { Effort::ONE } else { effort },
        directory: directory.as_deref(),
        samples: keeps.then_some(&mut keep),
    };
    let mut session = session::run(request, talk)?;
    let saved = session.save();
    // What was measured is shown even where it could not be saved.
    let stored = saved.as_ref().ok().cloned().flatten();
    let shown = if options.json.as_deref().is_some_and(is_stdout) {
        let bytes = oscost_results::to_bytes(&session.result).map_err(Ended::unwritable)?;
        output::data(|out| out.write_all(&bytes))
    } else {
        output::data(|out| oscost_report::price_list(&session.result, stored.as_deref(), &talk.style(), out))
    };
    if let Some(path) = json {
        oscost_results::save_as(path, &session.result).map_err(Ended::unwritable)?;
    }
    if let Some(raw) = raw {
        raw.finish()?;
    }
    if let Some(raw_dir) = raw_dir {
        raw_dir.finish()?;
    }
    saved?;
    match shown {
        Err(ended) if !ended.is_silent() => Err(ended),
        _ => Ok(session.exit(&choices)),
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// The plan: what would be measured, how long it takes, and what it needs.
fn dry_run(options: &Run, choices: &[Choice]) -> Result<Exit, Ended> {
    let effort = session::effort(&options.measuring);
    let cpus = session::cpus(&options.measuring)?;
    let seconds = estimate_ns(choices, &effort) as f64 / 1e9;
    let groups = groups(choices);
    output::data(|out| {
        writeln!(
            out,
            "{} figures in {} groups, {} launches of {} ms a member each ({}): about {seconds:.0} s; what has not \
             converged is launched again until {} s; hard deadline {} s",
            choices.len(),
            groups.len(),
            effort.launches,
            effort.member_ns / 1_000_000,
            effort.name,
            effort.target_ns / 1_000_000_000,
            effort.deadline_ns / 1_000_000_000,
        )?;
        let list: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        writeln!(out, "CPUs in order of preference: {}", list.join(","))?;
        writeln!(
            out,
            "privileges: none needed; user, IPC and mount namespaces are used where they are allowed, and seccomp or \
             ptrace for the audit"
        )?;
        for (group, members) in &groups {
            writeln!(out, "{group}")?;
            for &position in members {
                let choice = &choices[position];
                match oscost_harness::lacking(choice, cpus.len()) {
                    Some((why, _)) => writeln!(out, "  {}   unsupported: {why}", choice.card().id)?,
                    None => writeln!(out, "  {}", choice.card().id)?,
                }
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// Every sample, as CSV: written launch by launch, so that memory stays small.
struct Raw<'a> {
    path: &'a Path,
    /// Opened by the first launch: a run that is refused leaves an old file as it is.
    file: Option<BufWriter<File>>,
    failed: Option<std::io::Error>,
}

impl<'a> Raw<'a> {
    fn new(path: &'a Path) -> Result<Self, Ended> {
        if is_stdout(path) {
            return Err(Ended::misuse("--raw -: standard output holds the table or the result; name a file"));
        }
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
        Ok(Self { path, file: None, failed: None })
    }

    fn file(&mut self) -> std::io::Result<&mut BufWriter<File>> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => {
                let mut file = BufWriter::new(File::create(self.path)?);
                file.write_all(b"id,launch,round,value\n")?;
                Ok(none.insert(file))
            }
        }
    }

    fn write(&mut self, sequence: u32, id: &str, launched: &Launched) {
        if self.failed.is_some() {
            return;
        }
        let mut write = || {
            let file = self.file()?;
            let mut samples = launched.samples.iter().enumerate();
            samples.try_for_each(|(round, sample)| writeln!(file, "{id},{sequence},{round},{sample:.4}"))
        };
        self.failed = write().err();
    }

    fn finish(mut self) -> Result<(), Ended> {
        let flushed = match self.failed.take() {
            Some(error) => Err(error),
            None => self.file().and_then(|file| file.flush()),
        };
        let path = self.path.to_string_lossy();
        let path = oscost_results::Untrusted::new(&path);
        flushed.map_err(|error| Ended::unwritable(format!("cannot write {}: {error}", path.terminal())))
    }
}
