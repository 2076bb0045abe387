//! `oscost crosscheck`: runs peers in the same rotation of launches, and shows both figures side by side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use oscost_documents::apue::LaboratoryRun;
use oscost_documents::grame::Elsewhere;
use oscost_harness::{Effort, Foreign, Level, Tier};
use oscost_report::{Agreement, Side, agreement, agreement_json, agreement_markdown};
use oscost_results::{Estimate, Figure, LaunchRecord, RunResult, Status};
use oscost_stats::interval::{MEDIAN, over_launches};
use oscost_sys::program;

use super::catalogue;
use crate::args::{Crosscheck, CrosscheckFormat};
use crate::crosscheck::copies::{C, Copies};
use crate::crosscheck::{PEERS, Peer, Probe};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::session::{self, Request};

const SECOND: u64 = 1_000_000_000;
/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(3);
/// What is read of its version, bytes.
const MOST_VERSION: usize = 4096;

/// A probe that was asked for, and its program where it is here.
pub struct Asked {
    peer: &'static Peer,
    probe: &'static Probe,
    path: Option<PathBuf>,
    /// Why there is no program, where more is known than that it was not found.
    lack: Option<String>,
}

/// Runs what is found, and shows what is not.
pub fn crosscheck(options: &Crosscheck, talk: &Talk) -> Result<Exit, Ended> {
    if let Some(path) = &options.json {
        oscost_results::check_writable(path).map_err(Ended::unwritable)?;
    }
    let mut asked = asked(options)?;
    // Whatever is here, what was asked for must be possible.
    session::check(&options.measuring)?;
    let absent = absent_peers(&asked);
    let ids: Vec<String> = counterparts(&asked).into_iter().map(str::to_owned).collect();
    if ids.is_empty() {
        return Err(Ended::unfit(absent.join("\n")));
    }
    absent.iter().for_each(|absent| talk.say(absent));
    let mut choices = catalogue().select(&ids, Tier::Family).map_err(Ended::misuse)?;
    // The user named none that a peer brings along.
    for choice in &mut choices {
        choice.named = options.patterns.iter().any(|pattern| pattern == choice.card().id);
    }
    let cpus = session::cpus(&options.measuring)?;
    let contestants = contestants(&asked, &cpus);
    let effort = session::effort(&options.measuring);
    // Peers take a second or two a launch: the rotation goes on as long as they need.
    let effort = Effort {
        launches: if effort.level == Level::Quick { 3 } else { effort.launches },
        most_launches: effort.launches,
        deadline_ns: effort.deadline_ns.max(900 * SECOND),
        ..effort
    };
    let mut session = session::run(
        Request {
            contestants: &contestants,
            ..Request::new(&choices, &options.patterns, &options.measuring, effort)
        },
        talk,
    )?;
    // A comparison of tools is no run of the store: its peers' figures would stand in histories as ours.
    session.measured.discard();
    // Peers are asked for their versions afterwards, and may not answer.
    let json = options.json.as_deref();
    let saved = json.map_or(Ok(()), |path| {
        oscost_results::save_as(path, &session.measured.result).map_err(Ended::unwritable)
    });
    let is_lacking =
        |asked: &Asked| asked.path.is_none() && options.patterns.contains(&asked.probe.id(asked.peer));
    let lacks = asked.iter().any(is_lacking);
    // Of a peer that is not here at all one sentence says everything. Programs read every row.
    if options.format != CrosscheckFormat::Json {
        asked = here(asked);
    }
    let rows = rows(&asked, &session.measured.result);
    let mut text = Vec::new();
    let style = talk.style();
    match options.format {
        CrosscheckFormat::Text => agreement(&rows, &style, &mut text),
        CrosscheckFormat::Markdown => agreement_markdown(&rows, &mut text),
        CrosscheckFormat::Json => output::json(&agreement_json(&rows), &mut text),
    }
    .map_err(Ended::unwritable)?;
    // Nobody may read standard output: it comes last.
    session.deliver();
    let shown = output::data(|out| out.write_all(&text));
    session::all_of([saved, shown])?;
    let exit = session.exit(&choices);
    Ok(if exit == Exit::Done && lacks { Exit::Withheld } else { exit })
}

/// The probes that the options choose.
fn asked(options: &Crosscheck) -> Result<Vec<Asked>, Ended> {
    let mut folders: BTreeMap<&str, Option<PathBuf>> = BTreeMap::new();
    for with in &options.with {
        let (name, folder) = match with.split_once('=') {
            Some((name, folder)) => (name, Some(PathBuf::from(folder))),
            None => (with.as_str(), None),
        };
        let peer = PEERS.iter().find(|peer| peer.name == name).ok_or_else(|| {
            let names: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
            Ended::misuse(format!(
                "'--with {with}': no peer is called '{name}'; known are {}",
                names.join(", ")
            ))
        })?;
        if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(Ended::misuse(format!("'--with {with}': {} is no folder", folder.display())));
        }
        folders.insert(peer.name, folder);
    }
    let chosen = |peer: &Peer| folders.is_empty() || folders.contains_key(peer.name);
    let starts = |pattern: &str, id: &str| {
        id == pattern || id.strip_prefix(pattern).is_some_and(|rest| rest.starts_with('/'))
    };
    let matches = |peer: &Peer, probe: &Probe| {
        let of = |pattern: &String| starts(pattern, &probe.id(peer)) || starts(pattern, probe.counterpart);
        options.patterns.is_empty() || options.patterns.iter().any(of)
    };
    let mut asked = Vec::new();
    for peer in PEERS.into_iter().filter(|peer| chosen(peer)) {
        for probe in peer.probes.iter().filter(|probe| matches(peer, probe)) {
            let folder = folders.get(peer.name).and_then(Option::as_deref);
            asked.push(Asked { peer, probe, path: probe.path(peer, folder), lack: None });
        }
    }
    if asked.is_empty() {
        return Err(Ended::misuse(format!(
            "no peer measures '{}'; without a pattern all are shown",
            options.patterns.join(" ")
        )));
    }
    Ok(asked)
}

/// The first line of what a program says of its version; empty if it says nothing in time.
fn version(path: &Path) -> String {
    let mut command = Command::new(path);
    // As in its launches.
    command.env_clear().env("PATH", program::search_path()).env("LC_ALL", "C");
    command.arg("--version").stdin(Stdio::null());
    let Ok(heard) = program::hear(&mut command, MOST_VERSION, PATIENCE) else { return String::new() };
    let text = String::from_utf8_lossy(&heard.stdout);
    let line = text.lines().next().unwrap_or("").trim();
    line.chars().take(60).collect()
}

/// The programs that are here, as contestants. Everything that is compared takes place on one CPU.
pub fn contestants(asked: &[Asked], cpus: &[usize]) -> Vec<Foreign> {
    let one = &cpus[..cpus.len().min(1)];
    asked
        .iter()
        .filter_map(|asked| Some(asked.probe.contestant(asked.peer, asked.path.as_deref()?, one)))
        .collect()
}

/// The reader's copies of the C programs of these documents; an error where there is none, or not one compiles.
pub fn of_copies(copies: &Copies, documents: &[&str]) -> Result<Vec<Asked>, Ended> {
    let is_of = |probe: &&Probe| {
        let document = probe.counterpart.split('/').next();
        document.is_some_and(|name| documents.contains(&name))
    };
    let asked = |probe| {
        let (path, lack) = match copies.program(probe) {
            Ok(path) => (Some(path), None),
            Err(why) => (None, Some(why)),
        };
        Asked { peer: &C, probe, path, lack }
    };
    let asked: Vec<Asked> = C.probes.iter().filter(is_of).map(asked).collect();
    match asked.first().and_then(|first| first.lack.as_ref()) {
        Some(lack) if counterparts(&asked).is_empty() => Err(Ended::misuse(format!("--c: {lack}"))),
        _ => Ok(asked),
    }
}

/// Ids of our forms of what is there.
pub fn counterparts(asked: &[Asked]) -> Vec<&'static str> {
    asked.iter().filter(|asked| asked.path.is_some()).map(|asked| asked.probe.counterpart).collect()
}

/// What stands beside the documents: `--with lmbench=DIR`, `--with elsewhere=FILE` and `--with mandatory=FILE`.
#[derive(Default)]
pub struct Beside {
    /// The only peer of a document.
    pub lmbench: Option<PathBuf>,
    /// Sessions of document 002 on other systems.
    pub elsewhere: Vec<Elsewhere>,
    /// Document 001's program where mandatory locks are.
    pub mandatory: Vec<LaboratoryRun>,
}

impl Beside {
    /// What these options name.
    pub fn of(with: &[String]) -> Result<Self, Ended> {
        let mut beside = Self::default();
        for one in with {
            let wrong = |why: String| Ended::misuse(format!("'--with {one}': {why}"));
            match one.split_once('=') {
                Some(("lmbench", folder)) if Path::new(folder).is_dir() => {
                    beside.lmbench = Some(folder.into())
                }
                Some(("lmbench", folder)) => return Err(wrong(format!("{folder} is no folder"))),
                Some(("elsewhere", file)) => {
                    let text = oscost_sys::file::text(file).map_err(|error| wrong(error.to_string()))?;
                    beside.elsewhere.extend(Elsewhere::parse(&text).map_err(wrong)?);
                }
                Some(("mandatory", file)) => {
                    let result =
                        oscost_results::load(Path::new(file)).map_err(|error| wrong(error.to_string()))?;
                    beside.mandatory.extend(
                        LaboratoryRun::all(&result.conditions.kernel, &result.figures).map_err(wrong)?,
                    );
                }
                _ => {
                    return Err(wrong(
                        "there are lmbench=DIR, of document 004, elsewhere=FILE, of document 002, and mandatory=FILE, of document 001; \
                         other tools: oscost crosscheck"
                            .to_owned(),
                    ));
                }
            }
        }
        Ok(beside)
    }
}

/// What document 004 asks to be compared with: lmbench, in `folder` or on the PATH.
pub fn of_document_004(folder: Option<&Path>) -> Vec<Asked> {
    let probes = ["lat_ctx", "lat_pipe", "lat_syscall_null", "lat_syscall_read"];
    let lmbench = PEERS.into_iter().filter(|peer| peer.name == "lmbench");
    lmbench
        .flat_map(|peer| peer.probes.iter().map(move |probe| (peer, probe)))
        .filter(|(_, probe)| probes.contains(&probe.name))
        .map(|(peer, probe)| Asked { peer, probe, path: probe.path(peer, folder), lack: None })
        .collect()
}

/// The pairs, as they are shown.
pub fn rows(asked: &[Asked], result: &RunResult) -> Vec<Agreement> {
    let mut versions: BTreeMap<&str, String> = BTreeMap::new();
    let spent = |figure: &Figure| {
        let all = result.figures.iter().flat_map(|figure| &figure.launches);
        seconds(&figure.launches, all, result.duration_ns)
    };
    let figure = |id: &str| result.figures.iter().find(|figure| figure.id == id);
    asked
        .iter()
        .map(|Asked { peer, probe, path, lack }| {
            let found = match path {
                None => Err(lack.clone().unwrap_or_else(|| absent(peer, probe))),
                Some(_) => {
                    let peer = figure(&probe.id(peer));
                    peer.map_or_else(|| Err("it was not run".to_owned()), |peer| side(peer, "", spent(peer)))
                }
            };
            let id = probe.counterpart;
            let absent = || Err("not measured, because the peer is not here".to_owned());
            let ours = figure(id).map_or_else(absent, |ours| side(ours, probe.quantity, spent(ours)));
            let quantity = if probe.quantity.is_empty() { "" } else { ", " };
            let ours = (format!("{id}{quantity}{}", probe.quantity), ours);
            let both = figure(&probe.id(peer)).zip(figure(id));
            let ratio = both.and_then(|(peer, ours)| ratio(peer, ours, probe.quantity));
            // lmbench's programs know no --version, and would measure.
            let version = match path {
                Some(path) if !peer.package.is_empty() => {
                    versions.entry(probe.command[0]).or_insert_with(|| version(path)).clone()
                }
                _ => String::new(),
            };
            Agreement {
                peer: probe.id(peer),
                version,
                measures: probe.measures.to_owned(),
                conversion: probe.conversion.to_owned(),
                found,
                ours,
                ratio,
                failures: figure(&probe.id(peer)).map(|peer| peer.remarks.join("; ")).unwrap_or_default(),
                step: probe.step_ns,
                differs: probe.differs,
            }
        })
        .collect()
}

/// Those of peers of which a program is here.
fn here(mut asked: Vec<Asked>) -> Vec<Asked> {
    let here: Vec<&str> = asked.iter().filter(|it| it.path.is_some()).map(|it| it.peer.name).collect();
    asked.retain(|it| here.contains(&it.peer.name));
    asked
}

/// A sentence for each peer of which no program is here.
pub fn absent_peers(asked: &[Asked]) -> Vec<String> {
    let of_peers = asked.chunk_by(|one, other| one.peer.name == other.peer.name);
    let absent_peers = of_peers.filter(|of| of.iter().all(|it| it.path.is_none())).filter_map(<[_]>::first);
    absent_peers.map(|it| format!("{} is {}", it.peer.name, absent(it.peer, it.probe))).collect()
}

/// Why there is nothing of a peer, and how it is come by.
fn absent(peer: &Peer, probe: &Probe) -> String {
    let program = probe.command[0];
    if peer.package.is_empty() {
        format!("not here: {program} was not found (build it, and give --with {}=DIR)", peer.name)
    } else {
        format!("not here: {program} was not found (Debian: apt install {})", peer.package)
    }
}

/// The quantity that is meant.
fn meant<'a>(figure: &'a Figure, quantity: &'a str) -> &'a str {
    if quantity.is_empty() { &figure.headline } else { quantity }
}

/// A quantity of every launch.
fn launches(figure: &Figure, quantity: &str) -> Vec<f64> {
    figure.launches.iter().filter_map(|launch| launch.quantities.get(quantity).copied()).collect()
}

/// What all of one's `own` launches took, s: each from its start to that of the next of `all`, or to the end of the run. The figures
/// that were measured in one launch share its time.
fn seconds<'a>(own: &[LaunchRecord], all: impl Iterator<Item = &'a LaunchRecord>, end_ns: u64) -> f64 {
    // By the number of a launch: when it began, and how many figures it is of.
    let mut begun: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
    for launch in all {
        begun.entry(launch.sequence).or_insert((launch.start_ns, 0)).1 += 1;
    }
    let took = |launch: &LaunchRecord| {
        let &(start, figures) = begun.get(&launch.sequence)?;
        let end = begun.range(launch.sequence + 1..).next().map_or(end_ns, |(_, next)| next.0);
        Some(end.saturating_sub(start) as f64 / f64::from(figures))
    };
    own.iter().filter_map(took).sum::<f64>() / SECOND as f64
}

/// One side, whose launches took so long, or why it has no figure.
fn side(figure: &Figure, quantity: &str, seconds: f64) -> Result<Side, String> {
    if figure.status != Status::Measured {
        return Err(figure.why.clone().unwrap_or_else(|| "not measured".to_owned()));
    }
    let quantity = meant(figure, quantity);
    let quoted = figure.quantities.get(quantity).map(|quantity| quantity.estimate);
    let all = launches(figure, quantity);
    let best = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    let quoted = quoted.filter(|_| best.is_finite() && best > 0.0).ok_or("no launch has a number")?;
    Ok(Side { quoted, best, spread: most / best - 1.0, seconds, launches: all.len() })
}

/// Ratio of launches of the same pass; none where a launch of the peer failed, since it is not known of which pass.
fn ratio(peer: &Figure, ours: &Figure, quantity: &str) -> Option<Estimate> {
    if !peer.remarks.is_empty() {
        return None;
    }
    let ratios: Vec<f64> = launches(peer, meant(peer, ""))
        .iter()
        .zip(launches(ours, meant(ours, quantity)))
        .filter(|(_, ours)| *ours > 0.0)
        .map(|(peer, ours)| peer / ours)
        .collect();
    over_launches(&ratios, MEDIAN).map(|it| Estimate {
        value: it.value,
        low: it.low,
        high: it.high,
        extremes: it.extremes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_those_of_all_launches_of_either_side() {
        let launch = |&(sequence, start): &(u32, u64)| LaunchRecord {
            sequence,
            start_ns: start * SECOND,
            // What a program's launch says of itself, and one of ours does not.
            quantities: [("duration".to_owned(), 1.0)].into(),
            ..LaunchRecord::default()
        };
        let figures = [&[(1, 0), (3, 12)][..], &[(3, 12)], &[(2, 10), (4, 20)]];
        let figures = figures.map(|launches| launches.iter().map(launch).collect::<Vec<_>>());
        let of = |own: &Vec<LaunchRecord>| seconds(own, figures.iter().flatten(), 25 * SECOND);
        assert_eq!(figures.each_ref().map(of), [10.0 + 8.0 / 2.0, 8.0 / 2.0, 2.0 + 5.0]);
    }
}
