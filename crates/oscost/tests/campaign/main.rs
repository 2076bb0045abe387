//! The campaign: kills, starves, deceives and interrupts the program, and counts what must not happen.
//!
//! `cargo test -p oscost --test campaign -- --ignored` is the short one; `-- --full --state FILE` is the whole one, and goes on where it was
//! interrupted. Each provocation has IPC, mount and PID namespaces of its own; twice as many go on at once as there are CPUs.
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod clock;
mod crowd;
mod floors;
mod input;
mod judge;
mod kill;
mod lacks;
mod late;
mod left;
mod limits;
mod outside;
mod own;
mod plans;
mod program;
mod race;
mod recovered;
mod refuse;
mod save;
mod scenarios;
mod space;
mod state;
mod sweep;
mod table;
mod twice;

use std::process::ExitCode;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// How much is provoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    pub full: bool,
    pub seed: u64,
}

/// One thing that is done to the program, in a space of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Provocation {
    Kill(kill::Kill),
    Save(save::Save),
    Sites(sweep::Sites),
    Fail(sweep::Fails),
    Limit(limits::Limit),
    Late(late::Late),
    Refuse(refuse::Refuse),
    Outside(outside::Outside),
    Own(own::Own),
    Race(race::Race),
    Twice(twice::Twice),
}

/// What came of one, or of several in one space.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// What was counted, by name.
    pub counts: std::collections::BTreeMap<String, u64>,
    /// What must not happen and did, in words; empty if all is well.
    pub failures: Vec<String>,
    /// What could not be tried here, and why.
    pub skipped: Vec<String>,
    /// What a later provocation needs to know.
    pub found: Vec<String>,
}

impl Outcome {
    pub fn count(&mut self, name: &str, by: u64) {
        *self.counts.entry(name.to_owned()).or_default() += by;
    }

    pub fn counted(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    pub fn fail(&mut self, words: impl Into<String>) {
        self.failures.push(words.into());
    }

    /// A failure that is counted by itself.
    pub fn wrong(&mut self, name: &str, words: impl Into<String>) {
        self.count(name, 1);
        self.fail(words);
    }

    /// It ends with this.
    pub fn failed(mut self, words: impl Into<String>) -> Self {
        self.fail(words);
        self
    }

    /// It ends here: the rest cannot be tried.
    pub fn skip(mut self, why: impl Into<String>) -> Self {
        self.skipped.push(why.into());
        self
    }
}

impl Provocation {
    fn carry_out(&self) -> Outcome {
        match self {
            Self::Kill(kill) => kill.carry_out(),
            Self::Save(save) => save.carry_out(),
            Self::Sites(sites) => sites.carry_out(),
            Self::Fail(fails) => fails.carry_out(),
            Self::Limit(limit) => limit.carry_out(),
            Self::Late(late) => late.carry_out(),
            Self::Refuse(refuse) => refuse.carry_out(),
            Self::Outside(outside) => outside.carry_out(),
            Self::Own(own) => own.carry_out(),
            Self::Race(race) => race.carry_out(),
            Self::Twice(twice) => twice.carry_out(),
        }
    }
}

/// A part of the campaign with its totals.
#[derive(Debug)]
struct Part {
    name: &'static str,
    outcome: Outcome,
}

type Run = fn(Amount) -> Outcome;

const PARTS: &[(&str, Run)] = &[
    ("kill", kill::run),
    ("save", save::run),
    ("sweep", sweep::run),
    ("refuse", refuse::run),
    ("late", late::run),
    ("limits", limits::run),
    ("own", own::run),
    ("outside", outside::run),
    ("clock", clock::run),
    ("input", input::run),
    ("twice", twice::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [inside, provocation] = &arguments[..]
        && inside == space::INSIDE
    {
        return space::inside(provocation);
    }
    if let [attack, place] = &arguments[..]
        && attack == race::ATTACK
    {
        return race::attack(place);
    }
    // What cargo passes to every test program (a filter, --nocapture) is not for this one.
    let longer = ["--ignored", "--include-ignored", "--full", "--only", "--seed", "--state"];
    if !arguments.iter().any(|it| longer.contains(&it.as_str())) {
        println!("campaign: longer, eight minutes: cargo test -p oscost --test campaign -- --ignored");
        return ExitCode::SUCCESS;
    }
    // Whoever started it may ignore what ends its children (nohup, a shell's background).
    oscost_sys::process::default_endings();
    let value =
        |name: &str| arguments.iter().position(|it| it == name).and_then(|at| arguments.get(at + 1)).cloned();
    let amount = Amount {
        full: arguments.iter().any(|it| it == "--full"),
        seed: value("--seed").and_then(|seed| seed.parse().ok()).unwrap_or(1),
    };
    let only: Option<Vec<String>> =
        value("--only").map(|names| names.split(',').map(str::to_owned).collect());
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only.iter().any(|it| it == name));
    if !space::is_possible() {
        println!("SKIP campaign: no namespaces can be had here");
        return ExitCode::SUCCESS;
    }
    for (name, is_sharp) in [
        ("judge", judge::is_sharp as fn() -> _),
        ("recovered", recovered::is_sharp),
        ("left", left::is_sharp),
        ("outside", outside::is_sharp),
        ("state", state::is_sound),
    ] {
        if let Err(words) = is_sharp() {
            println!("FAILED {name}: {words}");
            return ExitCode::FAILURE;
        }
    }
    if let Some(file) = value("--state") {
        match state::open(file.as_ref(), amount) {
            Ok(known) => println!("campaign: {known} outcomes are in {file} already"),
            Err(words) => {
                println!("FAILED {words}");
                return ExitCode::FAILURE;
            }
        }
    }
    if let Some(name) = only.iter().flatten().find(|it| PARTS.iter().all(|(name, _)| name != it)) {
        println!("FAILED --only {name}: there is no such space");
        return ExitCode::FAILURE;
    }
    let begun = Instant::now();
    println!("campaign: {}, seed {}", if amount.full { "full" } else { "short" }, amount.seed);
    let mut parts = Vec::new();
    let before = left::Machine::now();
    for (name, run) in PARTS.iter().filter(|(name, _)| wanted(name)) {
        let started = Instant::now();
        let mut outcome = run(amount);
        before.compare(&mut outcome);
        println!("{name}: {:.0} s", started.elapsed().as_secs_f64());
        show(&Part { name, outcome: outcome.clone() });
        parts.push(Part { name, outcome });
    }
    if amount.full && only.is_none() && space::is_root() {
        let mut whole = Outcome::default();
        floors::hold(parts.iter().map(|part| &part.outcome), &mut whole);
        println!("floors:");
        show(&Part { name: "floors", outcome: whole.clone() });
        parts.push(Part { name: "floors", outcome: whole });
    }
    let failures: usize = parts.iter().map(|part| part.outcome.failures.len()).sum();
    println!("{}", table::of(parts.iter().map(|part| (part.name, &part.outcome))));
    // Once more, because the middle of a long log is seldom seen.
    for part in &parts {
        for words in part.outcome.failures.iter().take(5) {
            println!("FAILED {}: {}", part.name, words.lines().next().unwrap_or_default());
        }
    }
    println!("campaign: {failures} failures in {:.0} s", begun.elapsed().as_secs_f64());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(part: &Part) {
    let Part { name, outcome } = part;
    for (what, count) in &outcome.counts {
        println!("  {count:>8} {what}");
    }
    for why in &outcome.skipped {
        println!("SKIP campaign {name}: {why}");
    }
    for words in outcome.failures.iter().take(40) {
        println!("FAILED {name}: {words}");
    }
}
