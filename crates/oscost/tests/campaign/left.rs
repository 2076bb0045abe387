//! What a provocation may leave behind: in its space (objects, files, sockets, mounts), and on the machine, which all spaces share.
//!
//! A network namespace lives as long as a process or a mount in it, and both are looked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use oscost_results::Status;

use crate::Outcome;
use crate::program::{self, User};
use crate::space::{self, GROUND};

/// What the campaign itself puts on the ground or asks for by name. Whether it is whole is asked elsewhere.
const NAMED: &str = "campaign fifo injected jail late.c late.so limit.so oscost out.json page.html played raw.csv refuse \
    refuse.c refused sleepless.c sleepless.so stderr stdout swaps theirs ticks trace";

/// What is in a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    objects: BTreeSet<String>,
}

impl Left {
    /// What is there now; processes are asked for by [`space::quiet`].
    pub fn now() -> Self {
        let mut objects = BTreeSet::new();
        for kind in ["sem", "msg", "shm"] {
            let text = std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
            objects.extend(text.lines().skip(1).map(|line| format!("System V {kind} {}", line.trim())));
        }
        for folder in ["/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp"] {
            objects
                .extend(space::names(Path::new(folder)).into_iter().map(|name| format!("{folder}/{name}")));
        }
        below(Path::new(GROUND), &mut objects);
        objects.extend(abstract_sockets());
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let place = |line: &str| line.split(' ').nth(1).map(str::to_owned);
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        for place in mounts.lines().filter_map(place).filter(|place| !place.starts_with("/mnt/jail")) {
            let time = times.entry(place.clone()).or_default();
            *time += 1;
            objects.insert(format!("mount {time} on {place}"));
        }
        Self { objects }
    }

    /// What is there now and was not then.
    pub fn since(&self) -> Vec<String> {
        Self::now().objects.difference(&self.objects).cloned().collect()
    }

    /// Fails for each process that is there, and for each object that is there now and was not then.
    pub fn blame(&self, what: &str, outcome: &mut Outcome) {
        for left in space::quiet().into_iter().chain(self.since()) {
            outcome.wrong("left", format!("{what}: {left}"));
        }
    }
}

/// Paths below a folder of the ground, but for what is named, and for the store, which is looked at by itself.
fn below(folder: &Path, objects: &mut BTreeSet<String>) {
    let is_store = folder.parent().is_some_and(|parent| parent.ends_with("state/oscost"));
    for name in space::names(folder) {
        let path = folder.join(&name);
        if NAMED.split(' ').any(|known| known == name) || is_store && folder.ends_with("runs") {
            continue;
        }
        let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir());
        let is_message = path.iter().any(|step| step == "raw")
            && (is_folder || name.ends_with(".out") || name.ends_with(".sum"));
        let is_known = is_message
            || ["state", "state/oscost", "state/oscost/runs"].iter().any(|end| path.ends_with(end))
            || [User::Own, User::Nobody, User::Sudo].iter().any(|&user| path == program::home(user));
        if !is_known {
            objects.insert(path.display().to_string());
        }
        if is_folder {
            below(&path, objects);
        }
    }
}

/// Whether it is the name of a file that is not yet complete, on the ground.
pub fn is_temporary(object: &str) -> bool {
    let name = object.rsplit('/').next().unwrap_or_default();
    object.starts_with(GROUND) && name.starts_with(".oscost-") && name.ends_with(".tmp")
}

/// Sockets whose name is not in a file system. The network namespace is the space's own.
fn abstract_sockets() -> impl Iterator<Item = String> {
    let text = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let name =
        |line: &str| line.split_whitespace().nth(7).filter(|name| name.starts_with('@')).map(str::to_owned);
    let names: Vec<String> = text.lines().skip(1).filter_map(name).collect();
    names.into_iter().map(|name| format!("socket {name}"))
}

/// What all spaces share: tracing instances, probes, control groups.
pub struct Machine(BTreeSet<String>);

impl Machine {
    pub fn now() -> Self {
        let mut found = BTreeSet::new();
        for tracing in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
            let instances = space::names(&Path::new(tracing).join("instances"));
            found.extend(instances.into_iter().map(|name| format!("tracing instance {name}")));
            for probes in ["kprobe_events", "uprobe_events"] {
                let text = std::fs::read_to_string(Path::new(tracing).join(probes)).unwrap_or_default();
                found.extend(text.lines().map(|line| format!("{probes}: {line}")));
            }
        }
        groups(Path::new("/sys/fs/cgroup"), 4, &mut found);
        Self(found)
    }

    /// Fails for what is there now and was not then; whoever is about to remove it has a while.
    pub fn compare(&self, outcome: &mut Outcome) {
        let begun = Instant::now();
        let new = loop {
            let new: Vec<String> = Self::now().0.difference(&self.0).cloned().collect();
            if new.is_empty() || begun.elapsed() > Duration::from_secs(60) {
                break new;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        for object in new {
            outcome.wrong("objects left", format!("left on the machine: {object}"));
        }
    }
}

/// Every tracing instance goes: those of other spaces with their makers, or at the next start.
pub fn no_instance_stays(outcome: &mut Outcome) {
    let place = Path::new("/sys/kernel/tracing/instances");
    let begun = Instant::now();
    let mut there = space::names(place);
    while !there.is_empty() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
        there.retain(|name| place.join(name).exists());
    }
    for name in there {
        outcome.wrong("objects left", format!("the tracing instance {name} stays"));
    }
}

/// Control groups that the program may have made. Those of another campaign on this machine are its own business.
fn groups(folder: &Path, depth: u32, found: &mut BTreeSet<String>) {
    for name in space::names(folder) {
        let path = folder.join(&name);
        if depth == 0 || !std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir()) {
            continue;
        }
        if name.contains("oscost") && !name.starts_with("oscost-campaign-") {
            found.insert(format!("control group {}", path.display()));
        }
        groups(&path, depth - 1, found);
    }
}

/// The files that a scenario names, in the folder of its run and on the ground, as they are now.
pub fn outputs(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths =
        [home, Path::new(GROUND)].into_iter().flat_map(|folder| WHOLE.map(|(name, _)| folder.join(name)));
    paths.filter_map(|path| std::fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}

/// Whether each of them is whole where it is there. One that is as it was `before` is an earlier run's, and was looked at then.
pub fn outputs_are_whole(home: &Path, before: &BTreeMap<PathBuf, Vec<u8>>, outcome: &mut Outcome) {
    for folder in [home, Path::new(GROUND)] {
        for (name, is_whole) in WHOLE {
            let path = folder.join(name);
            let Ok(bytes) = std::fs::read(&path) else { continue };
            outcome.count("named files that were looked at", 1);
            if before.get(&path) == Some(&bytes) {
                continue;
            }
            if let Err(why) = is_whole(&bytes)
                && !(why == NO_SAMPLE && nothing_was_measured(folder))
            {
                outcome.wrong("torn results", format!("{} is torn: {why}", path.display()));
            }
        }
        messages_are_whole(&folder.join("raw"), outcome);
    }
}

/// Of a file of samples that is whole but for that it has none.
pub const NO_SAMPLE: &str = "no sample";

/// Whether the run that wrote the result there measured nothing: then its samples are a heading alone.
fn nothing_was_measured(folder: &Path) -> bool {
    let bytes = std::fs::read(folder.join("out.json")).unwrap_or_default();
    oscost_results::from_bytes(&bytes)
        .is_ok_and(|result| result.figures.iter().all(|figure| figure.status != Status::Measured))
}

type IsWhole = fn(&[u8]) -> Result<(), String>;

const WHOLE: [(&str, IsWhole); 3] = [
    ("out.json", |bytes| oscost_results::from_bytes(bytes).map(drop).map_err(|error| error.to_string())),
    ("raw.csv", |bytes| samples_are_whole(&String::from_utf8_lossy(bytes))),
    ("page.html", page_is_whole),
];

/// The same of a file by the end of its name; of other names nothing is known.
pub fn is_whole(name: &str, bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    match WHOLE.iter().find(|(end, _)| name.ends_with(end)) {
        Some((_, is_whole)) => is_whole(bytes),
        None if name.ends_with(".out") || name.ends_with(".sum") => messages(name, &text),
        None => Ok(()),
    }
}

fn page_is_whole(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    match (text.starts_with("<!doctype html>"), text.trim_end().ends_with("</html>")) {
        (true, true) => Ok(()),
        _ => Err(format!("{} bytes of a page", bytes.len())),
    }
}

/// Whether a file of samples has a heading, rows as wide as that, and a last line's end.
pub fn samples_are_whole(text: &str) -> Result<(), String> {
    let width = |line: &str| line.matches(',').count();
    let Some(heading) = text.lines().next().filter(|_| text.ends_with('\n')) else {
        return Err(format!("{} bytes without a last line's end", text.len()));
    };
    let narrow = text.lines().find(|line| width(line) != width(heading));
    if text.lines().count() < 2 {
        return Err(NO_SAMPLE.into());
    }
    narrow.map_or(Ok(()), |line| Err(format!("{line:?} under {heading:?}")))
}

/// The files of `--set raw_dir=`: a number a line, or a summary of all.
pub fn messages_are_whole(folder: &Path, outcome: &mut Outcome) {
    for name in space::names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            messages_are_whole(&path, outcome);
            continue;
        }
        if is_temporary(&path.to_string_lossy()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        outcome.count("named files that were looked at", 1);
        if let Err(why) = messages(&name, &text) {
            outcome.wrong("torn results", format!("{} is torn or stray: {why}", path.display()));
        }
    }
}

fn messages(name: &str, text: &str) -> Result<(), String> {
    let whole = text.ends_with('\n')
        && match name.rsplit('.').next() {
            Some("out") => text.lines().all(|line| line.parse::<i64>().is_ok()),
            Some("sum") => text.lines().count() == 5 && text.contains("total msg received: "),
            _ => false,
        };
    if whole { Ok(()) } else { Err(format!("{text:?}")) }
}

/// Whether each of these sees a file that was cut.
pub fn is_sharp() -> Result<(), String> {
    let samples = "id,launch,round,value\na,0,0,1.5\n";
    for length in 0..samples.len() {
        if samples_are_whole(&samples[..length]).is_ok() {
            return Err(format!("{length} bytes of samples are taken for a whole file"));
        }
    }
    let page = b"<!doctype html>\n<html></html>\n";
    if samples_are_whole(samples).is_err() || page_is_whole(page).is_err() {
        return Err("what is whole is called torn".into());
    }
    match page_is_whole(&page[..page.len() - 2]) {
        Ok(()) => Err("a cut page is taken for a whole one".into()),
        Err(_) => Ok(()),
    }
}
