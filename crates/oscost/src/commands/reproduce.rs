//! `oscost reproduce`: repeats the founding documents, and judges their sentences.

use std::io::{self, Write};
use std::path::Path;

use oscost_documents::{
    ALL, Document, DocumentParameters, Found, judge_cut_short, left_out, script_table, worksheet,
};
use oscost_families::realtime_ipc::RAW_DIR;
use oscost_families::record_database::DIRECTORY;
use oscost_harness::{Choice, Contained, Effort, Launched, Level, Tier, estimate_ns};
use oscost_report::{Agreement, Named, agreement, agreement_markdown};
use oscost_results::RunResult;
use oscost_results::document::{APUE, CONTEXT_SWITCH, GRAME, OSTEP, TLPI};

use super::{catalogue, crosscheck};
use crate::args::set::{Whose, refuse_unchosen};
use crate::args::{IdleCpu, Reproduce, Told};
use crate::crosscheck::copies::{Copies, FOLDER};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::raw_dir::RawDir;
use crate::session::{self, Request};

/// When the default run of a document ends on any machine, ns: what does not fit is left out, and says so.
fn announced_ns(document: &Document) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    match document.founding {
        APUE => 90 * SECOND,
        GRAME => 240 * SECOND,
        _ => 30 * SECOND,
    }
}

/// Of this, what judging, saving and writing take, ns.
const AFTERWARDS_NS: u64 = 1_500_000_000;

/// A document at defaults stays within half a minute.
const TARGET_NS: u64 = 25_000_000_000;
/// Of this, its literal methods, which run once, take at most this from its figures.
const SINGLE_NS: u64 = TARGET_NS / 3;

/// Names all documents, as no name does.
const EVERY: &str = "all";
/// Launches of an interval of 95 %.
const LEAST_RUNS: u32 = oscost_documents::LEAST_RUNS as u32;
/// How long a copy of a C program may take, and all of them together, ns.
const COPY_NS: u64 = 30_000_000_000;
const COPIES_NS: u64 = 900_000_000_000;

/// Measures what the documents need, repeats their methods, and shows what became of their statements.
pub fn reproduce(options: &Reproduce, talk: &Talk) -> Result<Exit, Ended> {
    let documents = documents(&options.documents)?;
    let given = options.set.given(Whose::Documents)?;
    refuse_unchosen(&given, Whose::Documents, |name| documents.iter().any(|it| it.founding.name == name))?;
    options.refuse_what_is_lost(|founding| documents.iter().any(|it| it.founding == founding))?;
    let level = session::effort(&options.measuring).level;
    let mut parameters = DocumentParameters::of(&given, level).map_err(Ended::misuse)?;
    parameters.grame.experiments = options.experiments;
    parameters.grame.awake = match options.measuring.idle_cpu {
        IdleCpu::Halt => vec![false],
        IdleCpu::Poll => vec![true],
        IdleCpu::Both => parameters.grame.awake,
    };
    let with = crosscheck::Beside::of(&options.with)?;
    parameters.grame.elsewhere = with.elsewhere;
    parameters.apue.laboratory = with.mandatory;
    let json = options.json.as_deref().filter(|path| *path != Path::new("-"));
    let to_stdout = options.json.is_some() && json.is_none();
    if to_stdout && options.output.is_none() && options.format != Told::Text {
        return Err(Ended::misuse("--json - and --format both want standard output: add -o FILE"));
    }
    for path in [json, options.output.as_deref()].into_iter().flatten() {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    let copies = options.c.as_deref().map(compiled).transpose()?;
    let names: Vec<&str> = documents.iter().map(|document| document.founding.name).collect();
    let copied = copies.as_ref().map_or(Ok(Vec::new()), |copies| crosscheck::of_copies(copies, &names))?;
    let beside = crosscheck::counterparts(&copied);
    let (choices, single) = choices(&documents, &parameters, level, &beside)?;
    let switches = documents.iter().any(|document| [CONTEXT_SWITCH, OSTEP].contains(&document.founding));
    let mut lmbench =
        if switches { crosscheck::of_document_004(with.lmbench.as_deref()) } else { Vec::new() };
    // Nobody reads a table of what is not here. Who did not ask for it learns by the documents' rows how to get it.
    if crosscheck::counterparts(&lmbench).is_empty() {
        if with.lmbench.is_some() {
            return Err(Ended::unfit(crosscheck::absent_peers(&lmbench).join("\n")));
        }
        lmbench.clear();
    }
    let cpus = session::cpus(&options.measuring)?;
    let mut contestants = crosscheck::contestants(&copied, &cpus);
    for contestant in &mut contestants {
        let folder = copies.as_ref().map(|copies| copies.folder().display().to_string());
        contestant.environment.extend(folder.map(|folder| (FOLDER.to_owned(), folder)));
        contestant.deadline_ns = COPY_NS;
        // Their names in /tmp and of their semaphores are fixed: nobody else's may be touched, and none may stay.
        contestant.contained = Contained::Always;
    }
    contestants.extend(crosscheck::contestants(&lmbench, &cpus));
    let directory = session::place(given.path(DIRECTORY.key))?;
    // Whoever asks for something gets it, however long it takes. Where files go is no such question.
    let asked = given.keys().any(|key| key != DIRECTORY.key && key != RAW_DIR.key)
        || (options.experiments, options.measuring.thorough) != (false, false)
        || !contestants.is_empty();
    let announced = documents.iter().map(|document| announced_ns(document)).sum::<u64>();
    let mut effort = effort(options, &choices, &single, talk);
    if !asked {
        effort.end_ns = announced - AFTERWARDS_NS;
        // Ratios of document 001 become narrow with more windows. Its single runs, the shortest first, have the rest.
        if names == [APUE.name] {
            effort.target_ns = effort.end_ns / 100 * 65;
        }
        // Its own sessions take half of the time of document 002: there is time for as many others as an interval needs.
        if names == [GRAME.name] {
            (effort.launches, effort.most_launches) = (LEAST_RUNS, LEAST_RUNS);
        }
    }
    if !beside.is_empty() {
        // A session of document 002 takes 11 s on each side: as many launches as an interval needs.
        let launches = if names.contains(&GRAME.name) { LEAST_RUNS } else { effort.launches };
        effort = Effort {
            launches,
            most_launches: launches,
            deadline_ns: effort.deadline_ns.max(COPIES_NS),
            ..effort
        };
    }
    let mut raw_dir = given.path(RAW_DIR.key).map(RawDir::new).transpose()?;
    let keeps = raw_dir.is_some();
    let mut keep = |_: u32, id: &str, launched: &Launched| {
        if let Some(raw_dir) = &mut raw_dir {
            raw_dir.keep_session(id, launched);
        }
    };
    let first: Vec<String> = documents.iter().flat_map(|document| (document.first)(&parameters)).collect();
    let request = Request {
        single: &single,
        first: &first,
        contestants: &contestants,
        directory,
        samples: keeps.then_some(&mut keep),
        ..Request::new(&choices, &options.documents, &options.measuring, effort)
    };
    let mut session = session::run(request, talk)?;
    let found = found_in(&session.measured.result);
    let judge = |document: &&Document| match session.measured.result.partial {
        true => judge_cut_short(document, &found, &parameters),
        false => document.judge(&found, &parameters),
    };
    let told = |document: &&Document| {
        let mut rows = judge(document);
        rows.extend(left_out(document, &found));
        rows
    };
    let judged = documents.iter().flat_map(told).collect();
    let table = if documents.iter().any(|document| document.founding == TLPI) {
        script_table(&found, &parameters)
    } else {
        String::new()
    };
    let asked = documents.iter().flat_map(|document| (document.answers)(&found, &parameters)).collect();
    session.measured.result.reproductions = judged;
    session.measured.result.answers = asked;
    let saved = session.save();
    let stored = saved.as_ref().ok().cloned().flatten();
    let rows = crosscheck::rows(&lmbench, &session.measured.result);
    let c = crosscheck::rows(&copied, &session.measured.result);
    let sheet = if options.worksheet {
        worksheet(&names, &found_in(&session.measured.result))
    } else {
        String::new()
    };
    let ends = Ends { table: &table, lmbench: &rows, c: &c, sheet: &sheet };
    let show = |result: &RunResult| {
        rendered(options, result, &ends, stored.as_deref(), talk)
            .map_err(Ended::unwritable)
            .and_then(|text| output::deliver(&text, options.output.as_deref()))
    };
    let result = &session.measured.result;
    let files = [
        saved.map(drop),
        json.map_or(Ok(()), |path| oscost_results::save_as(path, result).map_err(Ended::unwritable)),
        raw_dir.map_or(Ok(()), RawDir::finish),
        options.output.as_ref().map_or(Ok(()), |_| show(result)),
    ];
    // Nobody may read standard output: it comes last.
    session.deliver();
    let result = &session.measured.result;
    let shown = match (to_stdout, &options.output) {
        (true, _) => oscost_results::to_bytes(result)
            .map_err(Ended::unwritable)
            .and_then(|bytes| output::data(|out| out.write_all(&bytes))),
        (false, None) => show(result),
        (false, Some(_)) => Ok(()),
    };
    session::all_of(files.into_iter().chain([shown]))?;
    Ok(session.exit(&choices))
}

/// What a result found, as the documents ask for it.
fn found_in(result: &RunResult) -> Found<'_> {
    Found {
        figures: &result.figures,
        ratios: &result.ratios,
        differences: &result.differences,
        file_system: result.conditions.file_system.as_deref(),
        cpus: Some(result.plan.cpus.len()),
    }
}

/// The reader's copies in `folder`, compiled.
fn compiled(folder: &Path) -> Result<Copies, Ended> {
    if !folder.is_dir() {
        return Err(Ended::misuse(format!("'--c {0}': {0} is no folder", folder.display())));
    }
    Copies::compile(folder).map_err(|why| Ended::unfit(format!("--c: {why}")))
}

fn documents(names: &[String]) -> Result<Vec<&'static Document>, Ended> {
    if names.is_empty() || names == [EVERY] {
        return Ok(ALL.to_vec());
    }
    let called = |document: &Document| format!("{} ({})", document.founding.name, document.founding.number);
    let known = || ALL.iter().map(|document| called(document)).collect::<Vec<_>>().join(", ");
    for name in names {
        if !ALL.iter().any(|document| document.founding.name == name || document.founding.number == name) {
            let shown = oscost_results::Untrusted::new(name).terminal().to_string();
            return Err(Ended::misuse(format!("no document is called '{shown}'; there are {}", known())));
        }
    }
    let chosen = |document: &&&Document| {
        names.iter().any(|name| *name == document.founding.name || *name == document.founding.number)
    };
    Ok(ALL.iter().filter(chosen).copied().collect())
}

/// What is spent. A run that is longer than the usual may take what it needs, and says so before.
fn effort(options: &Reproduce, choices: &[Choice], single: &[Choice], talk: &Talk) -> Effort {
    let effort = session::effort(&options.measuring);
    let once = Effort { launches: 1, most_launches: 1, ..effort };
    let once_ns = estimate_ns(single, &once);
    let planned = estimate_ns(choices, &effort) + once_ns;
    if options.measuring.thorough && !talk.quiet {
        talk.say(format!("about {} min", planned.div_ceil(60_000_000_000)));
    }
    Effort {
        target_ns: effort.target_ns.min(TARGET_NS.max(effort.target_ns / 2)) - once_ns.min(SINGLE_NS),
        deadline_ns: effort.deadline_ns.max(3 * planned),
        ..effort
    }
}

/// Figures with intervals, and literal methods that run once.
fn choices(
    documents: &[&Document],
    parameters: &DocumentParameters,
    level: Level,
    beside: &[&str],
) -> Result<(Vec<Choice>, Vec<Choice>), Ended> {
    let catalogue = catalogue();
    let mut figures: Vec<String> = Vec::new();
    let (mut own, mut single): (Vec<Choice>, Vec<Choice>) = (Vec::new(), Vec::new());
    for document in documents {
        figures.extend(document.figures.iter().map(|&id| id.to_owned()));
        for id in (document.literal)(parameters) {
            // What documents 001 and 002 run once takes minutes: with --thorough they have launches of their own.
            let again = level == Level::Thorough && ![GRAME, APUE].contains(&document.founding);
            let repeats = again || beside.contains(&&*id);
            let list = match id.strip_prefix(document.founding.name) {
                _ if id.contains("/literal/") && repeats => &mut own,
                _ if id.contains("/literal/") => &mut single,
                Some(rest) if rest.starts_with('/') => &mut own,
                _ => {
                    figures.push(id);
                    continue;
                }
            };
            list.extend(catalogue.find(&id).map(|benchmark| Choice { benchmark, named: false }));
        }
    }
    // What a copy is compared with is run even if other parameters were given.
    let known: Vec<&str> = own.iter().map(|choice| choice.card().id).collect();
    let lacking: Vec<&str> = beside.iter().copied().filter(|id| !known.contains(id)).collect();
    for (at, id) in lacking.iter().enumerate() {
        if !lacking[..at].contains(id) {
            own.extend(catalogue.find(id).map(|benchmark| Choice { benchmark, named: false }));
        }
    }
    let mut figures = catalogue.select(&figures, Tier::Thorough).map_err(Ended::misuse)?;
    // A document names what it wants to know; where this machine cannot tell, the statement says so.
    figures.iter_mut().for_each(|choice| choice.named = false);
    // Its own cells are those that were asked for, without what a price list would divide them by.
    figures.extend(own);
    Ok((figures, single))
}

/// What stands behind the documents.
struct Ends<'a> {
    /// The table of document 000's script.
    table: &'a str,
    lmbench: &'a [Agreement],
    /// The reader's copies of the C programs.
    c: &'a [Agreement],
    /// The sheet for a class.
    sheet: &'a str,
}

const LMBENCH_WORDS: &str = "lmbench, with which document 004 ends and document 003 would measure a switch:";
const C_WORDS: &str =
    "Your copies of the documents' C programs (peer) beside the Rust forms (ours), in one rotation:";

/// The reproduction in the format asked for.
fn rendered(
    options: &Reproduce,
    result: &RunResult,
    &Ends { table, lmbench, c, sheet }: &Ends<'_>,
    saved: Option<&str>,
    talk: &Talk,
) -> io::Result<Vec<u8>> {
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let named = [Named { name: saved.unwrap_or("this run"), result }];
    let mut text = Vec::new();
    let out = &mut text;
    match options.format {
        Told::Text => {
            oscost_report::reproductions(result, &style, out)?;
            if !table.is_empty() {
                writeln!(out, "\nThe table of document 000's script, from the literal runs:\n{table}")?;
            }
            if !lmbench.is_empty() {
                writeln!(out, "\n{LMBENCH_WORDS}")?;
                agreement(lmbench, &style, out)?;
            }
            if !c.is_empty() {
                writeln!(out, "\n{C_WORDS}")?;
                agreement(c, &style, out)?;
            }
            if !sheet.is_empty() {
                writeln!(out, "\n{sheet}")?;
            }
            if result.partial {
                writeln!(out, "Partial: the run was ended early.")?;
            }
            match saved {
                Some(name) => writeln!(out, "Saved as {name} (oscost report @-1).")?,
                None => writeln!(out, "Not saved.")?,
            }
        }
        Told::Markdown => {
            oscost_report::reproductions_markdown(result, out)?;
            if !lmbench.is_empty() {
                agreement_markdown(lmbench, out)?;
            }
            if !c.is_empty() {
                writeln!(out, "\n{C_WORDS}\n")?;
                agreement_markdown(c, out)?;
            }
            if !sheet.is_empty() {
                writeln!(out, "\n{sheet}")?;
            }
            if !table.is_empty() {
                writeln!(out, "\n{table}")?;
            }
        }
        Told::Csv => oscost_report::reproductions_csv(result, out)?,
        Told::Json => *out = oscost_results::to_bytes(result).map_err(io::Error::other)?,
        Told::Html => oscost_report::page(&named, saved, out)?,
        Told::Openmetrics => oscost_report::open_metrics(&named, out)?,
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use oscost_harness::Given;
    use oscost_results::{Conditions, Machine, Tool};

    use super::*;
    use crate::args::{Arguments, ColorWhen, Command, MeasuringCommand};

    /// The single runs of document 001 were repeated, too: for a day.
    #[test]
    fn thorough_repeats_programs_that_are_short_and_that_have_no_launches_of_their_own() {
        let parameters = DocumentParameters::of(&Given::default(), Level::Thorough).expect("defaults");
        for &document in ALL {
            let (several, once) = choices(&[document], &parameters, Level::Thorough, &[]).expect("known ids");
            let has_literal = |of: &[Choice]| of.iter().any(|it| it.card().id.contains("/literal/"));
            let repeats = [TLPI, OSTEP, CONTEXT_SWITCH].contains(&document.founding);
            let found = (has_literal(&several), has_literal(&once));
            assert_eq!(found, (repeats, !repeats), "{}", document.founding.name);
        }
    }

    /// With the launches of an interval, times are judged too: the rows say which.
    #[test]
    fn the_end_of_a_partial_run_says_nothing_that_its_rows_contradict() {
        let arguments = Arguments::try_parse_from(["oscost", "reproduce", "ostep"]).expect("arguments");
        let Some(Command::System(MeasuringCommand::Reproduce(options))) = arguments.command else {
            panic!("reproduce");
        };
        let (tool, machine) = (Tool::default(), Machine::default());
        let result =
            RunResult::begun(std::time::SystemTime::UNIX_EPOCH, tool, machine, Conditions::default());
        let ends = Ends { table: "", lmbench: &[], c: &[], sheet: "" };
        let talk = Talk { quiet: true, verbose: false, ascii: true, color: ColorWhen::Never };
        let text = rendered(&options, &result, &ends, None, &talk).expect("text");
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.contains("\nPartial: the run was ended early.\nNot saved."), "{text}");
    }
}
