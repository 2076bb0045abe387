//! own: nothing is touched or left that is not ours. Names are swapped by another user while root writes (`race.rs`), folders in which
//! that one may rename are refused, runs with files are killed with everybody, and so are tick servers.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::left::Left;
use crate::program::{self, NOBODY, User};
use crate::space::{self, ground};
use crate::{Amount, Outcome, Provocation, crowd, race};

/// What is done.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Own {
    /// Root measures in a folder of these permissions, the other user's or its own, where that one swaps names.
    Swapped { theirs: bool, mode: u32 },
    /// A run with files is killed with everybody, so often; the next start there removes them.
    Files { times: u32, seed: u64 },
    /// A tick server is killed, so often: alone, with its group, or with everybody.
    Tick { times: u32, way: Way, seed: u64 },
    /// A client of a tick server is killed, so often: the server ends, and nothing is there.
    Client { times: u32, seed: u64 },
}

/// Who is killed with a tick server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    Alone,
    Group,
    Everybody,
}

/// In one space so many.
const IN_ONE_SPACE: u32 = 10;

pub fn run(amount: Amount) -> Outcome {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let mut seed = || random.next_u64();
    let (spaces, times) = if amount.full { (10, IN_ONE_SPACE) } else { (1, 2) };
    let mut all = Vec::new();
    for _ in 0..spaces {
        all.push(Own::Files { times, seed: seed() });
        for way in [Way::Alone, Way::Group, Way::Everybody] {
            // A third of them each, and some more.
            all.push(Own::Tick { times: times.div_ceil(2), way, seed: seed() });
        }
        all.push(Own::Client { times, seed: seed() });
    }
    for (theirs, mode) in [(true, 0o755), (true, 0o1777), (false, 0o777), (false, 0o1777)] {
        all.push(Own::Swapped { theirs, mode });
    }
    let mut provocations: Vec<Provocation> = all.into_iter().map(Provocation::Own).collect();
    let mut outcome = Outcome::default();
    if space::is_root() {
        provocations.extend(race::all(amount));
    } else {
        outcome.skipped.push("races with a second user: they need root".to_owned());
    }
    crowd::sum(crowd::all(&provocations).into_iter().chain([outcome]))
}

/// A moment within so many ms, the earliest ones as likely as the last.
fn moment(random: &mut Xoshiro256PlusPlus, most: u64) -> Duration {
    Duration::from_micros(random.next_u64() % (most * 1000))
}

/// A database whose making, emptying and removing goes on all the time.
const CELL: &str = "record_database/book/seek/fine_fcntl/processes_1/nrec_500";

/// Moves away whatever is new, and puts a link to the victim in its place.
const SWAP: &str = "while :; do for name in oscost-*; do [ -L \"$name\" ] || [ ! -d \"$name\" ] || \
                    { mv -T \"$name\" \"moved-$name\" && ln -s /mnt/victim \"$name\" && echo swapped || echo tried; }; done; done";

impl Own {
    pub fn carry_out(self) -> Outcome {
        match self {
            Self::Swapped { theirs, mode } => swapped(theirs, mode),
            Self::Files { times, seed } => files(times, seed),
            Self::Tick { times, way, seed } => tick(times, way, seed),
            Self::Client { times, seed } => client(times, seed),
        }
    }
}

fn swapped(theirs: bool, mode: u32) -> Outcome {
    let mut outcome = Outcome::default();
    if !space::is_root() {
        return outcome.skip("swapped names: a second user needs root");
    }
    let (folder, victim) = (ground("folder"), ground("victim"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    if theirs {
        chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    std::fs::create_dir_all(victim.join("sub")).unwrap();
    for name in ["db.idx", "db.dat", "precious", "sub/deep"] {
        std::fs::write(victim.join(name), name).unwrap();
    }
    let swaps = std::fs::File::create(ground("swaps")).unwrap();
    let mut attacker = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "sh", "-c", SWAP])
        .current_dir(&folder)
        .stdout(swaps)
        .stderr(Stdio::null())
        .spawn()
        .expect("setpriv can be started");
    let arguments = ["run", "--force", "--quick", CELL, "--set", "directory=/mnt/folder"];
    let done = program::run(&mut program::oscost(User::Own, &arguments));
    let _ = attacker.kill();
    let _ = attacker.wait();
    outcome.count("runs beside somebody who swaps names", 1);
    let swaps = std::fs::read_to_string(ground("swaps")).unwrap_or_default();
    let count = |word: &str| swaps.lines().filter(|line| *line == word).count() as u64;
    outcome.count("swaps in a folder that is refused", count("swapped"));
    outcome.count("swaps that the kernel refused", count("tried"));
    let what = format!("{mode:o}, {}", if theirs { "theirs" } else { "root's" });
    // Only where everybody renames what is his alone is there nothing to swap.
    if !theirs && mode & 0o1000 != 0 {
        program::ended_well(&done, &[0], &what, &mut outcome);
        if count("tried") == 0 {
            outcome.fail(format!("{what}: nobody tried to swap a name"));
        }
    } else {
        program::ended_well(&done, &[2], &what, &mut outcome);
        if !done.stderr.contains("may rename") {
            outcome.fail(format!("{what}: the reason is not said: {}", done.words()));
        }
    }
    for name in ["db.idx", "db.dat", "precious", "sub/deep"] {
        if std::fs::read(victim.join(name)).is_ok_and(|bytes| bytes == name.as_bytes()) {
            continue;
        }
        outcome.wrong("files of others that were touched", format!("{what}: {name} is gone or changed"));
    }
    for name in space::names(&victim)
        .iter()
        .filter(|name| !["db.idx", "db.dat", "precious", "sub"].contains(&name.as_str()))
    {
        outcome.fail(format!("{what}: {name} was made"));
    }
    for name in space::names(&folder) {
        outcome.fail(format!("{what}: {name} is left"));
    }
    outcome
}

fn files(times: u32, seed: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let folder = ground("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    let arguments = ["run", "--force", "--one-launch", CELL, "--set", "directory=/mnt/folder"];
    let before = Left::now();
    let begun = Instant::now();
    let undisturbed = program::run(&mut program::oscost(User::Own, &arguments));
    program::ended_well(&undisturbed, &[0], "files, undisturbed", &mut outcome);
    let mut longest = begun.elapsed();
    let (mut hits, mut late) = (0, 0);
    while hits < times && late < MOST_LATE + times {
        let mut child = program::oscost(User::Own, &arguments).spawn().expect("the program can be started");
        let moment = moment(&mut random, longest.as_millis().max(1) as u64);
        std::thread::sleep(moment);
        space::end_everybody();
        if child.wait().is_ok_and(|status| status.signal() == Some(9)) {
            hits += 1;
            outcome.count(KILLED, 1);
        } else {
            // A run took less than that, whatever the first one took.
            (late, longest) = (late + 1, moment);
        }
        outcome.count("folders that the next start finds", space::names(&folder).len() as u64);
        let done = program::run(&mut program::oscost(User::Own, &arguments));
        program::ended_well(&done, &[0], "the next start with files", &mut outcome);
        before.blame("files", &mut outcome);
    }
    if hits < times {
        outcome.fail(format!("files: {hits} kills hit, and {times} should"));
    }
    outcome
}

/// Attempts that may come too late.
const MOST_LATE: u32 = 10;
const KILLED: &str = "runs with files that were killed with everybody";
/// Within so many ms a tick server and its client have begun.
const START: u64 = 120;

/// Where the server and the clients of this user meet.
fn meeting() -> PathBuf {
    Path::new("/tmp").join(format!("oscost-tick-{}", oscost_sys::identity::effective_uid()))
}

fn tick(times: u32, way: Way, seed: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let folder = meeting();
    let server = ["tick", "server", "--policy", "other"];
    for _ in 0..times {
        let before = Left::now();
        let mut child = program::oscost(User::Own, &server).spawn().expect("the program can be started");
        std::thread::sleep(moment(&mut random, START));
        if way == Way::Everybody {
            space::end_everybody();
        } else {
            let whom = format!("{}{}", if way == Way::Group { "-" } else { "" }, child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &whom]).stderr(Stdio::null()).status();
        }
        // Without a client it has no end of its own.
        match child.wait() {
            Ok(status) if status.signal() == Some(9) => outcome.count("tick servers killed", 1),
            other => outcome.fail(format!("a tick server that was to be killed: {other:?}")),
        }
        for process in space::quiet() {
            outcome.fail(format!("a killed tick server: {process}"));
        }
        if way == Way::Everybody {
            outcome.count("tick servers of whom the next one finds something", u64::from(folder.exists()));
            // The next one has it, and with its last client all is gone.
            let next = program::oscost(User::Own, &server).spawn().expect("the program can be started");
            let mut client = Command::new(program::PATH);
            client.args(["tick", "client", "--policy", "other", "--values", "3"]);
            let done = met(&mut client, &folder);
            program::ended_well(&program::finish(next), &[0], "the next tick server", &mut outcome);
            if !done {
                outcome.fail("the next tick server has no client");
            }
        }
        let _ = space::quiet();
        for object in before.since() {
            outcome.wrong("objects left", format!("a killed tick server: {object}"));
        }
        space::end_everybody();
    }
    outcome
}

fn client(times: u32, seed: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let folder = meeting();
    for time in 0..times {
        let before = Left::now();
        let server = ["tick", "server", "--policy", "other", "--tick", "1ms"];
        let mut server = program::oscost(User::Own, &server).spawn().expect("the program can be started");
        let patience = Instant::now() + Duration::from_secs(20);
        while !folder.join("server").exists() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut client = Command::new(program::PATH);
        client
            .args(["tick", "client", "--policy", "other", "--values", "100000"])
            .env_remove("XDG_RUNTIME_DIR");
        let ticks = ground("ticks");
        client.stdin(Stdio::null()).stderr(Stdio::null()).stdout(std::fs::File::create(&ticks).unwrap());
        let mut client = client.spawn().expect("the program can be started");
        // Half of them die around the moment at which they are registered, the others among their ticks.
        std::thread::sleep(moment(&mut random, if time % 2 == 0 { START } else { 5 * START }));
        let _ = client.kill();
        match client.wait() {
            Ok(status) if status.signal() == Some(9) => outcome.count("tick clients killed", 1),
            other => outcome.fail(format!("a tick client that was to be killed: {other:?}")),
        }
        // A server whose client was registered ends now.
        std::thread::sleep(Duration::from_millis(200));
        if server.try_wait().unwrap().is_none() {
            // A server whose first client never came waits for it: that is its work. This one ends with a client that leaves.
            let mut next = Command::new(program::PATH);
            next.args(["tick", "client", "--policy", "other", "--values", "3"]);
            let _ = met(&mut next, &folder);
        }
        program::ended_well(&program::finish(server), &[0], "the server of a killed client", &mut outcome);
        before.blame("a killed tick client", &mut outcome);
        space::end_everybody();
    }
    outcome
}

/// Whether a client gets its ticks as soon as the server is there.
fn met(client: &mut Command, folder: &Path) -> bool {
    let patience = Instant::now() + Duration::from_secs(20);
    client.env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    while Instant::now() < patience {
        if folder.join("server").exists() && client.status().is_ok_and(|status| status.success()) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
