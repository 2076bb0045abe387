//! race: another user swaps names under root's feet while root writes there: a link, nothing, or a folder of his own stands where root
//! put something. What the links lead to is never touched, and what was said to be written was written.

use std::collections::BTreeMap;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, SystemTime};

use oscost_results::Status;
use oscost_sys::process::{Signal, signal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::left::{self, Left};
use crate::program::{self, Done, NOBODY, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, limits, table};

/// First argument of the one who swaps: then the folder, and which kind of place it is.
pub const ATTACK: &str = "--attack";
/// His own names begin so.
const HIS: &str = ".his-";
/// Where the tick server and its clients of root meet.
const MEETING: &str = "/tmp/oscost-tick-0";

/// What root writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Goal {
    Json,
    Raw,
    Report,
    RawDir,
    Directory,
    Tick,
}

/// Commands of root, one after the other, beside somebody who swaps.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Race {
    goal: Goal,
    user: User,
    /// The folder is the other user's; else it is root's, and everybody may write to it.
    theirs: bool,
    times: u32,
    seed: u64,
}

/// All races; their outcomes hold at least one that was raced for each.
pub fn all(amount: Amount) -> Vec<Provocation> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let mut races = Vec::new();
    for (goal, full) in [
        (Goal::Report, 50),
        (Goal::Json, 25),
        (Goal::Raw, 25),
        (Goal::RawDir, 25),
        (Goal::Directory, 6),
        (Goal::Tick, 50),
    ] {
        for user in [User::Own, User::Sudo] {
            for theirs in [true, false] {
                // Where ticks meet is always /tmp, and sudo changes nothing there.
                if goal == Goal::Tick && (user == User::Sudo || !theirs) {
                    continue;
                }
                let times = if amount.full { full } else { full.min(3) };
                races.push(Race { goal, user, theirs, times, seed: random.next_u64() });
            }
        }
    }
    races.into_iter().map(Provocation::Race).collect()
}

/// Names of a victim, and what must stay of each: owner, permissions, bytes.
type Tree = BTreeMap<PathBuf, (u32, u32, Vec<u8>)>;

impl Race {
    pub fn carry_out(self) -> Outcome {
        let mut outcome = Outcome::default();
        let (folder, victim) = (ground("theirs"), ground("victim"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, permissions(if self.theirs { 0o755 } else { 0o777 })).unwrap();
        if self.theirs {
            chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        std::fs::create_dir_all(victim.join("sub")).unwrap();
        for name in ["precious", "out.json", "server", "sub/out.json", "sub/deep"] {
            std::fs::write(victim.join(name), name).unwrap();
        }
        program::next_start(self.user, &mut outcome);
        let (before, was) = (Left::now(), tree(&victim));
        let mut attacker = self.attacker(&folder);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        for _ in 0..self.times {
            self.once(&folder, &attacker, random.next_u64(), &mut outcome);
            let now = tree(&victim);
            if now != was {
                outcome.count("files of others that were touched", 1);
                let names = |tree: &Tree| {
                    tree.iter()
                        .map(|(name, (uid, mode, _))| format!("{} {uid} {mode:o}", name.display()))
                        .collect::<Vec<_>>()
                };
                outcome.fail(format!("{}: {:?} became {:?}", self.words(), names(&was), names(&now)));
                break;
            }
        }
        // Stopped or not, it ends by that.
        let _ = attacker.kill();
        let _ = attacker.wait();
        let _ = std::fs::remove_file(MEETING).or_else(|_| std::fs::remove_dir(MEETING));
        before.blame(&self.words(), &mut outcome);
        program::store_is_whole(self.user, &mut outcome);
        if !outcome.counts.contains_key(table::RACES) {
            outcome.fail(format!("{}: no name was swapped in time", self.words()));
        }
        outcome
    }

    fn words(self) -> String {
        let folder = if self.theirs { "their folder" } else { "everybody's folder" };
        format!("{:?} raced in {folder}{}", self.goal, self.user.words())
    }

    fn attacker(self, folder: &Path) -> Child {
        let swaps = std::fs::File::create(ground("swaps")).unwrap();
        let place = if self.goal == Goal::Tick { Path::new(MEETING) } else { folder };
        Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", space::OWN, ATTACK])
            .arg(place)
            .stdout(swaps)
            .stderr(Stdio::null())
            .spawn()
            .expect("setpriv can be started")
    }

    /// One command of root, and what came of it.
    fn once(self, folder: &Path, attacker: &Child, chance: u64, outcome: &mut Outcome) {
        let attacker = attacker.id().cast_signed();
        let tell = |it| signal(attacker, it).expect("it lives until it is killed");
        // What the one before wrote is none of this one's.
        for name in space::names(folder).into_iter().filter(|name| !name.starts_with(HIS)) {
            let path = folder.join(name);
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        }
        let below = chance.is_multiple_of(2);
        if below || self.goal == Goal::Directory {
            let sub = folder.join("sub");
            let _ = std::fs::DirBuilder::new().mode(0o755).create(&sub);
            if self.user == User::Sudo {
                let _ = chown(&sub, Some(NOBODY), Some(NOBODY));
            }
        }
        let inside = |name: &str| {
            let path = if below { folder.join("sub").join(name) } else { folder.join(name) };
            path.display().to_string()
        };
        tell(Signal::Continue);
        let (swaps, begun) = (swaps(), SystemTime::now());
        let one = ["run", "--force", "--quiet", "--one-launch"];
        let session =
            ["realtime_ipc", "--set", "transport=pipe", "--set", "clients=1", "--set", "placement=same_cpu"];
        let with = |rest: &[&str]| program::run(&mut program::oscost(self.user, rest));
        let (done, name) = match self.goal {
            Goal::Json => {
                (with(&[&one[..], &["syscall/getppid", "--json", &inside("out.json")]].concat()), "out.json")
            }
            Goal::Raw => {
                (with(&[&one[..], &["syscall/getppid", "--raw", &inside("raw.csv")]].concat()), "raw.csv")
            }
            Goal::Report => {
                (with(&["report", "@-1", "--format", "html", "-o", &inside("page.html")]), "page.html")
            }
            Goal::RawDir => {
                let directory = format!("raw_dir={}", inside("raw"));
                (with(&[&one[..], &session, &["--set", &directory]].concat()), "1.out")
            }
            Goal::Directory => {
                let directory = format!("directory={}", folder.join("sub").display());
                (with(&[&one[..], &[CELL, "--set", &directory]].concat()), "")
            }
            Goal::Tick => (self.meet(chance), ""),
        };
        // Who looks for a file that is moved meanwhile may see it nowhere.
        tell(Signal::Stop);
        while !space::living(attacker.cast_unsigned()).is_some_and(|words| words.contains(", T, ")) {
            std::thread::sleep(Duration::from_micros(100));
        }
        outcome.count("commands beside somebody who swaps names", 1);
        let new = self::swaps() - swaps;
        outcome.count("names that were swapped", new);
        outcome.count(table::RACES, u64::from(new > 0));
        let code = done.code().map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        outcome.count(&format!("commands that ended with {code}"), 1);
        let allowed: &[i32] = match self.goal {
            Goal::Directory => &[0, 2, 3, 4],
            Goal::Tick => &[5, 143],
            Goal::Report => &[0, 4],
            // One figure was asked for, and the machine is busy.
            Goal::Json | Goal::Raw | Goal::RawDir => &[0, 3, 4],
        };
        program::ended_well(&done, allowed, &self.words(), outcome);
        if done.code() == Some(3) && self.goal != Goal::Directory {
            self.was_withheld(outcome);
        }
        if done.code() != Some(0) && done.code() != Some(143) && done.said().trim().is_empty() {
            outcome.fail(format!("{}: nothing is said", self.words()));
        }
        if !name.is_empty() {
            self.is_written(&done, folder, name, begun, outcome);
        }
    }

    /// Exit code 3: the result must say why there is no figure.
    fn was_withheld(self, outcome: &mut Outcome) {
        let figures = limits::newest(self.user).map_or_else(Vec::new, |result| result.figures);
        let why =
            figures.iter().find(|figure| figure.status != Status::Measured).map(|figure| figure.why.clone());
        match why.flatten() {
            Some(why) => {
                eprintln!("{}: withheld: {why}", self.words());
                outcome.count(WITHHELD, 1);
            }
            None => outcome.fail(format!("{}: exit code 3, and no figure is withheld", self.words())),
        }
    }

    /// A tick server of root that is told to end, or a client, where the other one puts his folder.
    fn meet(self, chance: u64) -> Done {
        if chance.is_multiple_of(4) {
            return program::run(&mut program::oscost(
                self.user,
                &["tick", "client", "--policy", "other", "--values", "1"],
            ));
        }
        let server = program::oscost(self.user, &["tick", "server", "--policy", "other"]).spawn();
        let server = server.expect("the program can be started");
        // Before it handles the signal it dies of it, as any program does.
        while space::handles(server.id(), 15) == Some(false) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(chance % 60));
        let _ = Command::new("kill").args(["-TERM", &server.id().to_string()]).stderr(Stdio::null()).status();
        program::finish(server)
    }

    /// What was written is whole, wherever it was moved; and after code 0 it was written.
    fn is_written(self, done: &Done, folder: &Path, name: &str, begun: SystemTime, outcome: &mut Outcome) {
        let mut new = 0;
        for path in files(folder) {
            let text = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Ok(bytes) = std::fs::read(&path) else { continue };
            if text.ends_with(".tmp") {
                outcome.fail(format!("{}: {text} is left", self.words()));
            }
            if let Err(why) = left::is_whole(text, &bytes)
                && !(why == left::NO_SAMPLE && outcome.counted(WITHHELD) > 0)
            {
                outcome.wrong("torn results", format!("{}: {}: {why}", self.words(), path.display()));
            }
            let is_new = std::fs::metadata(&path).and_then(|it| it.modified()).is_ok_and(|time| {
                // Time stamps of files are as fine as a tick of the kernel.
                time + Duration::from_millis(20) >= begun
            });
            new += u32::from(text.ends_with(name) && is_new);
        }
        if done.code() == Some(0) && new == 0 {
            outcome.wrong(
                "torn results",
                format!("{}: exit code 0, and {name} is nowhere: {:?}", self.words(), files(folder)),
            );
        }
    }
}

/// What they write has no sample.
const WITHHELD: &str = "runs whose only figure was withheld";

/// A database whose making, emptying and removing goes on all the time.
const CELL: &str = "record_database/book/seek/fine_fcntl/processes_1/nrec_500";

fn permissions(mode: u32) -> std::fs::Permissions {
    std::fs::Permissions::from_mode(mode)
}

/// How many names were swapped so far: the one who does it writes a byte for each.
fn swaps() -> u64 {
    std::fs::metadata(ground("swaps")).map_or(0, |it| it.len())
}

fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    for name in space::names(folder) {
        let path = folder.join(name);
        let Ok(status) = std::fs::symlink_metadata(&path) else { continue };
        if status.is_dir() {
            found.extend(tree(&path));
        }
        let bytes = if status.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        found.insert(path, (status.uid(), status.mode(), bytes));
    }
    found
}

/// Regular files below a folder, no link among the steps.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in space::names(folder).into_iter().map(|name| folder.join(name)) {
        match std::fs::symlink_metadata(&path) {
            Ok(status) if status.is_dir() => found.extend(files(&path)),
            Ok(status) if status.is_file() => found.push(path),
            _ => {}
        }
    }
    found
}

/// Swaps names in a folder for ever, or, where there is none of that name yet, makes it before root does.
pub fn attack(place: &str) -> ExitCode {
    let place = Path::new(place);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(std::process::id()));
    let is_meeting = place == Path::new(MEETING);
    for number in 0_u64.. {
        if is_meeting {
            meet_first(place, number, &mut random);
            continue;
        }
        for name in space::names(place).into_iter().filter(|name| !name.starts_with(HIS)) {
            swap(place, &name, number, &mut random);
        }
    }
    ExitCode::FAILURE
}

fn rest(random: &mut Xoshiro256PlusPlus) {
    std::thread::sleep(Duration::from_micros(random.next_u64() % 400));
}

/// Tells that a name was swapped.
fn tell() {
    use std::io::Write;
    let _ = std::io::stdout().write_all(b".").and_then(|()| std::io::stdout().flush());
}

/// Moves a name away, puts something else there for a moment, and puts it back.
fn swap(folder: &Path, name: &str, number: u64, random: &mut Xoshiro256PlusPlus) {
    let path = folder.join(name);
    let Ok(status) = std::fs::symlink_metadata(&path) else { return };
    if status.is_symlink() && std::fs::remove_file(&path).is_ok() {
        return;
    }
    let (away, his) = (folder.join(format!("{HIS}{number}-{name}")), folder.join(format!("{HIS}own")));
    if std::fs::rename(&path, &away).is_err() {
        return;
    }
    let put = match number % 4 {
        0 if status.is_dir() => std::fs::create_dir(&his),
        1 => Ok(()),
        _ if status.is_dir() => symlink("/mnt/victim", &his),
        _ => symlink("/mnt/victim/precious", &his),
    };
    let inode = |path: &Path| std::fs::symlink_metadata(path).map(|it| it.ino()).ok();
    let his_own = inode(&his);
    if put.is_ok() && (number % 4 == 1 || std::fs::rename(&his, &path).is_ok()) {
        tell();
    }
    rest(random);
    // Where root has put something there meanwhile, that stays, under whatever name, and so does the other one. By its owner it
    // is not known: under sudo it is his. Moved away first, it is not one thing when looked at and another when removed.
    let taken = folder.join(format!("{HIS}{number}-taken-{name}"));
    if number % 4 != 1 && std::fs::rename(&path, &taken).is_ok() && inode(&taken) == his_own {
        let _ = std::fs::remove_file(&taken).or_else(|_| std::fs::remove_dir(&taken));
    }
    if std::fs::symlink_metadata(&path).is_err() {
        let _ = std::fs::rename(&away, &path);
    }
    let _ = std::fs::remove_file(&his).or_else(|_| std::fs::remove_dir(&his));
    rest(random);
}

/// In /tmp nobody moves what is root's: whoever is first has the name.
fn meet_first(place: &Path, number: u64, random: &mut Xoshiro256PlusPlus) {
    let put = match number % 3 {
        0 => std::fs::DirBuilder::new().mode(0o700).create(place),
        1 => std::fs::DirBuilder::new().mode(0o777).create(place),
        _ => symlink("/mnt/victim", place),
    };
    if put.is_ok() {
        tell();
    }
    rest(random);
    let _ = std::fs::remove_file(place).or_else(|_| std::fs::remove_dir(place));
    rest(random);
}
