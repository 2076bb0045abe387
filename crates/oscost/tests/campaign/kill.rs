//! kill: every family and command is killed at random moments in three ways, told to end, and stopped for a while. Nothing of
//! it may be left, and the next start works.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::program::{self, User};
use crate::scenarios::{SCENARIOS, SHAPES};
use crate::space::{self, Left};
use crate::{Amount, Outcome, Provocation, crowd, limits};

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

/// How often a command is started again that finds the machine busy.
const BUSY_TRIES: u32 = 60;

/// The first part of a run that has no end.
const ENDLESS: Duration = Duration::from_secs(6);

/// In one space at most so many.
const IN_ONE_SPACE: u32 = 10;

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
                (true, true) => (100, 34),
                (true, false) => (34, 0),
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
        if scenario < SHAPES {
            let times = |short| if amount.full { 20 } else { u32::from(short) };
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
            outcome.skipped.push(format!("kills of {}: no such space can be made here", scenario.name));
            return outcome;
        }
        if scenario.endless {
            return self.times_within(ENDLESS, outcome);
        }
        let deadline = if scenario.slow { 3 * program::DEADLINE } else { program::DEADLINE };
        // How long it takes undisturbed: the moments lie within that.
        let mut begun = Instant::now();
        let mut undisturbed = program::run_within(&mut self.command(), deadline);
        // `compare --live` has no --force: it waits for those who measure in other spaces of the campaign, and gives up.
        for _ in 0..BUSY_TRIES {
            if undisturbed.code() != Some(5) {
                break;
            }
            std::thread::sleep(Duration::from_secs(1));
            begun = Instant::now();
            undisturbed = program::run_within(&mut self.command(), deadline);
        }
        if scenario.janitor && undisturbed.code() == Some(99) {
            outcome.skipped.push("kills of janitor: no user namespace in which others can be refused".into());
            return outcome;
        }
        if !matches!(undisturbed.code(), Some(0 | 3)) {
            outcome.fail(format!("{} undisturbed: {}", scenario.name, undisturbed.words()));
            return outcome;
        }
        let longest = begun.elapsed().min(program::DEADLINE);
        let isolation = limits::newest(self.user).and_then(|result| result.conditions.isolation);
        if scenario.janitor && !isolation.as_ref().is_some_and(|it| it.starts_with("janitor (")) {
            outcome.fail(format!("{}: not all or nothing: {isolation:?}", scenario.name));
        }
        self.times_within(longest, outcome)
    }

    /// All kills, at moments within the first `longest` of a run.
    fn times_within(&self, longest: Duration, mut outcome: Outcome) -> Outcome {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        for _ in 0..self.times {
            let share = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            // What one left, the next is not blamed for.
            let chance = if self.way == Way::One { random.next_u64() } else { 0 };
            self.once(longest.mul_f64(share), chance, &Left::now(), &mut outcome);
        }
        outcome
    }

    fn command(&self) -> Command {
        let scenario = &SCENARIOS[self.scenario];
        let mut arguments = scenario.arguments.to_vec();
        if self.one_launch && arguments[0] == "run" && !scenario.endless {
            for it in arguments.iter_mut().filter(|it| **it == "--quick") {
                *it = "--one-launch";
            }
        }
        program::after(self.user, scenario.prepare, &arguments)
    }

    /// One kill, after `moment`; of one process `chance` decides which.
    fn once(&self, moment: Duration, chance: u64, before: &Left, outcome: &mut Outcome) {
        let who = match self.user {
            User::Own => "",
            User::Nobody => ", unprivileged",
        };
        let what = format!("{} of {}{who}", self.way.name(), SCENARIOS[self.scenario].name);
        let mut child = self.command().spawn().expect("the program can be started");
        std::thread::sleep(moment);
        let leader = child.id().to_string();
        match self.way {
            Way::Leader => send("KILL", &leader),
            Way::Group => send("KILL", &format!("-{leader}")),
            Way::Everything => send("KILL", "-1"),
            Way::One => {
                let there = space::ids();
                // It may have come to its end before.
                if !there.is_empty() {
                    let at = usize::try_from(chance % there.len() as u64).unwrap_or(0);
                    send("KILL", &there[at].to_string());
                }
                // Whoever was killed: the others come to their end, and say no wrong word.
                let done = program::finish(child);
                if done.status.is_none() || done.said().contains("panicked at") {
                    outcome.count(if done.status.is_none() { "hangs" } else { "panics" }, 1);
                    outcome.fail(format!("{what}: {}", done.words()));
                }
                return self.look(&what, before, outcome);
            }
            Way::Told(told) => {
                let (signal, code) = match told {
                    Told::Interrupt => ("INT", 130),
                    Told::Terminate => ("TERM", 143),
                    Told::Hangup => ("HUP", 129),
                };
                send(signal, &leader);
                let done = program::finish(child);
                // It may have come to its end before, or not yet to where signals are handled.
                let by_signal = done.status.is_some_and(|status| status.code().is_none()) && moment < START;
                if !by_signal {
                    program::ended_well(&done, &[0, 3, code], &what, outcome);
                }
                return self.look(&what, before, outcome);
            }
            Way::Stopped => {
                send("STOP", &leader);
                std::thread::sleep(Duration::from_millis(300));
                send("CONT", &leader);
                let done = program::finish(child);
                program::ended_well(&done, &[0, 3], &what, outcome);
                return self.look(&what, before, outcome);
            }
        }
        let _ = child.wait();
        self.look(&what, before, outcome);
    }

    /// Who and what is there now, and whether the next start works.
    fn look(&self, what: &str, before: &Left, outcome: &mut Outcome) {
        outcome.count(self.way.name(), 1);
        for process in space::quiet() {
            outcome.count("processes left", 1);
            outcome.fail(format!("{what}: {process}"));
        }
        let everybody_died = self.way == Way::Everything && SCENARIOS[self.scenario].janitor;
        if everybody_died {
            outcome.count("objects that the next start finds", before.since().len() as u64);
        } else {
            complain(what, &before.since(), outcome);
        }
        space::end_everybody();
        program::next_start(self.user, outcome);
        if everybody_died {
            // The janitor of that one ends after it.
            let _ = space::quiet();
            complain(what, &before.since(), outcome);
        }
        program::store_is_whole(self.user, outcome);
    }
}

fn complain(what: &str, objects: &[String], outcome: &mut Outcome) {
    for object in objects {
        outcome.count("objects left", 1);
        outcome.fail(format!("{what}: {object}"));
    }
}

/// Before this a program may die of a signal that it would handle later.
const START: Duration = Duration::from_millis(400);
