//! kill: every family and command is killed at random moments in three ways, told to end, and stopped for a while. Nothing of
//! it may be left, the next start works, and has every launch that was in a journal.
//!
//! A kill counts only if it hit: whoever was killed ended by it.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use oscost_sys::process::{Signal, signal};

use crate::left::{self, Left};
use crate::program::{self, Done, User};
use crate::scenarios::{SCENARIOS, SHAPES};
use crate::{Amount, Outcome, Provocation, crowd, limits, recovered, space};

/// In which way it is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// SIGKILL to the process that was started.
    Leader,
    /// SIGKILL to its process group.
    Group,
    /// SIGKILL to every process that there is.
    Everything,
    /// SIGKILL to one process, whichever it is.
    One,
    /// A signal that it may handle: its name, and the exit code that it ends with.
    Told(Told),
    /// SIGSTOP, a pause, SIGCONT: it goes on to its end.
    Stopped,
}

/// A signal that ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    Interrupt,
    Terminate,
    Hangup,
}

const WAYS: [Way; 3] = [Way::Leader, Way::Group, Way::Everything];
const TOLD: [Told; 3] = [Told::Interrupt, Told::Terminate, Told::Hangup];

/// Kills of one scenario in one space, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kill {
    scenario: usize,
    user: User,
    way: Way,
    times: u32,
    /// One launch of each figure is enough: in the short campaign, but for the three shapes of processes.
    one_launch: bool,
    seed: u64,
}

/// The first part of a run that has no end.
const ENDLESS: Duration = Duration::from_secs(6);

/// In one space at most so many.
const IN_ONE_SPACE: u32 = 10;

/// A run may be over before its moment has come. So many such attempts are made, and besides two for each kill.
const MOST_LATE: u32 = 12;

/// Attempts that met nobody.
const TOO_LATE: &str = "kills that came too late";

pub fn run(amount: Amount) -> Outcome {
    let mut provocations = Vec::new();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(amount.seed);
    let mut skipped = Vec::new();
    let mut add = |scenario: usize, user: User, way: Way, times: u32| {
        let mut left = times;
        while left > 0 {
            let times = left.min(if SCENARIOS[scenario].slow { IN_ONE_SPACE / 2 } else { IN_ONE_SPACE });
            left -= times;
            provocations.push(Provocation::Kill(Kill {
                scenario,
                user,
                way,
                times,
                // At full length every other space: more of their kills fall into the beginning and the end.
                one_launch: scenario >= SHAPES && (!amount.full || (left / IN_ONE_SPACE).is_multiple_of(2)),
                seed: random.next_u64(),
            }));
        }
    };
    let root = space::is_root();
    if !root {
        skipped.push("kills as an unprivileged user besides: only root can become one".to_owned());
    }
    for (scenario, it) in SCENARIOS.iter().enumerate() {
        if let Some(needs) = it.needs.filter(|needs| !program::is_here(needs)) {
            skipped.push(format!("kills of {}: {needs} is not installed", it.name));
            continue;
        }
        for (index, way) in WAYS.into_iter().enumerate() {
            // In the short one a family is killed in one way alone, each in another one.
            let (own, nobody) = match (amount.full, scenario < SHAPES) {
                (true, true) => (50, 20),
                (true, false) => (28, 0),
                (false, true) => (2, u32::from(scenario == index)),
                (false, false) => (u32::from(scenario % WAYS.len() == index), 0),
            };
            match it.only {
                // What a janitor does differs in all three ways: each, always.
                Some(user) if root => add(scenario, user, way, own.max(1)),
                Some(_) => {}
                None => {
                    add(scenario, User::Own, way, if it.janitor { own.max(1) } else { own });
                    if root {
                        add(scenario, User::Nobody, way, nobody);
                    }
                }
            }
        }
        if root && (scenario < SHAPES || it.janitor && it.only == Some(User::Own)) {
            for (index, way) in WAYS.into_iter().enumerate() {
                let short = u32::from(scenario % WAYS.len() == index);
                add(scenario, User::Sudo, way, if amount.full { 10 } else { short });
            }
        }
        if scenario < SHAPES {
            let times = |short| if amount.full { 10 } else { u32::from(short) };
            for (index, told) in TOLD.into_iter().enumerate() {
                add(scenario, User::Own, Way::Told(told), times(scenario == index));
            }
            add(scenario, User::Own, Way::Stopped, times(scenario == 0));
        }
        // Nobody in these has a guard, whose end frees what a command put into a session of its own.
        if scenario < SHAPES || it.janitor {
            let user = it.only.unwrap_or(User::Own);
            if user == User::Own || root {
                add(scenario, user, Way::One, if amount.full { 34 } else { 2 });
            }
        }
    }
    // Else all that are slow would go on at once.
    for index in (1..provocations.len()).rev() {
        provocations.swap(index, random.next_u64() as usize % (index + 1));
    }
    let mut outcome = crowd::sum(crowd::all(&provocations));
    outcome.skipped.extend(skipped);
    outcome
}

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Leader => "SIGKILL to the leader",
            Self::Group => "SIGKILL to the group",
            Self::Everything => "SIGKILL to everything",
            Self::One => "SIGKILL to one process",
            Self::Told(Told::Interrupt) => "SIGINT",
            Self::Told(Told::Terminate) => "SIGTERM",
            Self::Told(Told::Hangup) => "SIGHUP",
            Self::Stopped => "SIGSTOP and SIGCONT",
        }
    }
}

/// Sends a signal by its name to a process, or with a minus to a group or to all.
fn send(signal: &str, to: &str) {
    let _ = Command::new("kill").args([&format!("-{signal}"), "--", to]).stderr(Stdio::null()).status();
}

impl Kill {
    pub fn carry_out(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let scenario = &SCENARIOS[self.scenario];
        let made = Command::new("sh").args(["-c", scenario.space]).status();
        if !made.is_ok_and(|status| status.success()) {
            return outcome.skip(format!("kills of {}: no such space can be made here", scenario.name));
        }
        if scenario.endless {
            return self.times_within(ENDLESS, outcome);
        }
        let deadline = if scenario.slow { 3 * program::DEADLINE } else { program::DEADLINE };
        // How long it takes undisturbed: the moments lie within that.
        let begun = Instant::now();
        let undisturbed = program::run_within(&mut self.command(), deadline);
        if scenario.janitor && undisturbed.code() == Some(99) {
            return outcome.skip("kills of janitor: no user namespace in which others can be refused");
        }
        if !matches!(undisturbed.code(), Some(0 | 3)) {
            return outcome.failed(format!("{} undisturbed: {}", scenario.name, undisturbed.words()));
        }
        let longest = begun.elapsed().min(program::DEADLINE);
        let isolation = limits::newest(self.user).and_then(|result| result.conditions.isolation);
        if scenario.janitor && !isolation.as_ref().is_some_and(|it| it.starts_with("janitor (")) {
            outcome.fail(format!("{}: not all or nothing: {isolation:?}", scenario.name));
        }
        self.times_within(longest, outcome)
    }

    /// All kills, at moments within the first `longest` of a run. An attempt that comes too late is made again.
    fn times_within(&self, mut longest: Duration, mut outcome: Outcome) -> Outcome {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let (mut hits, mut late) = (0, 0);
        while hits < self.times && late < MOST_LATE + 2 * self.times {
            let share = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            let chance = if self.way == Way::One { random.next_u64() } else { 0 };
            // What one left, the next is not blamed for.
            let moment = longest.mul_f64(share);
            if self.once(moment, chance, &Left::now(), &mut outcome) {
                hits += 1;
            } else {
                // A run took less than that, whatever the first one took.
                (late, longest) = (late + 1, moment);
            }
        }
        outcome.count(TOO_LATE, u64::from(late));
        if SCENARIOS[self.scenario].name == "trace" {
            // The next start removes what one whose guard was killed with it has left.
            let _ = program::run(&mut self.command());
            left::no_instance_stays(&mut outcome);
        }
        if hits < self.times {
            let name = SCENARIOS[self.scenario].name;
            outcome.fail(format!("{} of {name}: {hits} hit, and {} should", self.way.name(), self.times));
        }
        outcome
    }

    fn command(&self) -> Command {
        let scenario = &SCENARIOS[self.scenario];
        let mut words = scenario.arguments.to_owned();
        let is_run = words.starts_with("run ");
        if self.one_launch && is_run && !scenario.endless {
            words = words.replace("--quick", "--one-launch");
        }
        if self.seed.is_multiple_of(2) && is_run && !words.contains("--plain") {
            words += &format!(" --cpu {}", program::first_cpus());
        }
        program::after(self.user, scenario.prepare, &words)
    }

    /// One kill, after `moment`; of one process `chance` decides which. Whether it hit: else the run was over before.
    fn once(&self, moment: Duration, chance: u64, before: &Left, outcome: &mut Outcome) -> bool {
        let name = SCENARIOS[self.scenario].name;
        let mut what = format!("{} of {name}{}", self.way.name(), self.user.words());
        let child = self.command().spawn().expect("the program can be started");
        std::thread::sleep(moment);
        let leader = child.id();
        let hit = match self.way {
            Way::Leader => self.of_leader(&leader.to_string(), child),
            Way::Group => self.of_leader(&format!("-{leader}"), child),
            Way::Everything => self.of_leader("-1", child),
            Way::One => {
                let there: Vec<u32> =
                    space::ids().into_iter().filter(|&id| space::living(id).is_some()).collect();
                // It may have come to its end before.
                let at = usize::try_from(chance % there.len().max(1) as u64).unwrap_or(0);
                let one = there.get(at).copied();
                let whom = one.and_then(space::living).unwrap_or_default();
                what += &format!(" ({whom})");
                let died = one.is_some_and(|id| dies(id, leader));
                // Whoever was killed: the others come to their end, and say no wrong word.
                let done = program::finish(child);
                if done.status.is_none() || done.said().contains("panicked at") {
                    outcome.count(if done.status.is_none() { "hangs" } else { "panics" }, 1);
                    outcome.fail(format!("{what}: {}", done.words()));
                }
                let by_kill =
                    one != Some(leader) || done.status.is_some_and(|status| status.signal() == Some(9));
                died && by_kill
            }
            Way::Told(told) => {
                let (signal, number) = match told {
                    Told::Interrupt => ("INT", 2),
                    Told::Terminate => ("TERM", 15),
                    Told::Hangup => ("HUP", 1),
                };
                // It may have come to its end before, or not yet to where signals are handled.
                let is_handled = space::handles(leader, number) != Some(false);
                send(signal, &leader.to_string());
                let done = program::finish(child);
                let ended_by = |done: &Done| done.status.and_then(|status| status.signal());
                let hit = !is_handled && ended_by(&done) == Some(number) || done.code() == Some(128 + number);
                if !hit {
                    program::ended_well(&done, &[0, 3], &what, outcome);
                }
                hit
            }
            Way::Stopped => {
                send("STOP", &leader.to_string());
                std::thread::sleep(Duration::from_millis(300));
                let stopped = space::living(leader).is_some_and(|words| words.contains(", T, "));
                send("CONT", &leader.to_string());
                let done = program::finish(child);
                program::ended_well(&done, &[0, 3], &what, outcome);
                stopped
            }
        };
        if hit {
            outcome.count(self.way.name(), 1);
        }
        self.look(&what, before, outcome);
        hit
    }

    /// SIGKILL to the leader, whoever else gets it. Whether it ended by that.
    fn of_leader(&self, whom: &str, mut child: std::process::Child) -> bool {
        send("KILL", whom);
        child.wait().is_ok_and(|status| status.signal() == Some(9))
    }

    /// Who and what is there now, and whether the next start works.
    fn look(&self, what: &str, before: &Left, outcome: &mut Outcome) {
        for process in space::quiet() {
            outcome.wrong("processes left", format!("{what}: {process}"));
        }
        let (names, objects): (Vec<_>, Vec<_>) =
            before.since().into_iter().partition(|it| left::is_temporary(it));
        let scenario = &SCENARIOS[self.scenario];
        let everybody_died = self.way == Way::Everything && scenario.janitor;
        let needs_again = self.way == Way::Everything && scenario.again;
        if everybody_died || needs_again {
            outcome.count("objects that the next start finds", objects.len() as u64);
        } else {
            complain(what, &objects, outcome);
        }
        space::end_everybody();
        let journals = recovered::journals(self.user);
        program::next_start(self.user, outcome);
        if scenario.janitor {
            // The janitor of that one ends after it, and then its ledger goes.
            let _ = space::quiet();
        }
        if needs_again && !objects.is_empty() {
            let again = program::run(&mut self.command());
            program::ended_well(&again, &[0, 3], &format!("the next start after {what}"), outcome);
        }
        self.remove_temporary(&names, outcome);
        complain(what, &before.since(), outcome);
        recovered::look(self.user, &journals, what, outcome);
        left::outputs_are_whole(&program::home(self.user), &BTreeMap::new(), outcome);
        program::store_is_whole(self.user, outcome);
    }

    /// Who is killed while a file is replaced may leave a temporary name: the next output to that folder removes it.
    fn remove_temporary(&self, names: &[String], outcome: &mut Outcome) {
        for name in names {
            outcome.count("temporary names that the next output removes", 1);
            let page = std::path::Path::new(name).with_file_name("next.md");
            let file = page.display().to_string();
            let report = ["report", "@-1", "--format", "markdown", "-o", &file];
            let done = program::run(&mut program::oscost(self.user, &report));
            program::ended_well(&done, &[0], "the next output", outcome);
            let _ = std::fs::remove_file(page);
        }
    }
}

/// SIGKILL to a living process. Whether it ends by that, so far as anybody can see.
fn dies(id: u32, leader: u32) -> bool {
    if signal(id.cast_signed(), Signal::Kill).is_err() {
        return false;
    }
    let patience = Instant::now() + Duration::from_secs(20);
    while Instant::now() < patience && id != leader {
        match ended_with(id) {
            // Its parent has seen it already.
            None => return true,
            Some((true, status)) => return ExitStatus::from_raw(status).signal() == Some(9),
            Some((false, _)) if space::is_killed(id) => return true,
            Some((false, _)) => std::thread::sleep(Duration::from_micros(200)),
        }
    }
    true
}

/// Whether a process has ended, and with which status: proc_pid_stat(5), fields 3 and 52.
fn ended_with(id: u32) -> Option<(bool, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let words: Vec<&str> = stat.rsplit_once(") ")?.1.split_whitespace().collect();
    Some((matches!(*words.first()?, "Z" | "X"), words.get(49)?.parse().ok()?))
}

fn complain(what: &str, objects: &[String], outcome: &mut Outcome) {
    for object in objects {
        outcome.wrong("objects left", format!("{what}: {object}"));
    }
}
