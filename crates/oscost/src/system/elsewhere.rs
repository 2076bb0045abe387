//! The program where nothing can be measured: it reads the results of Linux machines.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use oscost_results::Store;

use crate::args::Compare;
use crate::exit::{Ended, Exit};
use crate::output::Talk;

/// What is not to be had here.
pub const NEEDS_LINUX: Option<&str> = Some(
    "This system cannot be measured: run, reproduce, count, bill, crosscheck, tick, doctor, compare --live, compare --bisect and explain --trace need Linux.",
);

/// What the start screen says first.
pub const TITLE: &str =
    "oscost: what operating-system primitives cost; here it reads results of Linux machines";

/// Commands of the start screen, each with the question that it answers.
pub const COMMANDS: &[(&str, &str)] = &[
    ("oscost report FILE", "what was measured"),
    ("oscost report --help", "the same as a page, Markdown, CSV or JSON"),
    ("oscost report --fleet FOLDER", "which hosts are odd?"),
    ("oscost compare OLD NEW", "two results: what got slower?"),
    ("oscost explain ID", "what a figure means"),
    ("oscost list", "what can be measured on Linux"),
];

/// Commands that measure. They are known here so that they can be refused in words.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(hide = true, disable_help_flag = true)]
    Run(Words),
    #[command(hide = true, disable_help_flag = true)]
    Reproduce(Words),
    #[command(hide = true, disable_help_flag = true)]
    Count(Words),
    #[command(hide = true, disable_help_flag = true)]
    Bill(Words),
    #[command(hide = true, disable_help_flag = true)]
    Crosscheck(Words),
    #[command(hide = true, disable_help_flag = true)]
    Tick(Words),
    #[command(hide = true, disable_help_flag = true)]
    Doctor(Words),
}

/// Whatever stands behind such a command.
#[derive(Debug, Args)]
pub struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// No process has anything to prepare here.
pub fn begin() -> Option<ExitCode> {
    None
}

/// Refuses to measure.
pub fn run(command: &Command, _: &Talk) -> Result<Exit, Ended> {
    Err(refusal(match command {
        Command::Run(_) => "run",
        Command::Reproduce(_) => "reproduce",
        Command::Count(_) => "count",
        Command::Bill(_) => "bill",
        Command::Crosscheck(_) => "crosscheck",
        Command::Tick(_) => "tick",
        Command::Doctor(_) => "doctor",
    }))
}

/// Refuses to measure for a comparison.
pub fn compare(options: &Compare, _: &Talk) -> Result<Exit, Ended> {
    Err(refusal(if options.live.is_some() { "compare --live" } else { "compare --bisect" }))
}

/// Refuses to trace.
pub fn trace(_: &str) -> Result<Exit, Ended> {
    Err(refusal("explain --trace"))
}

fn refusal(what: &str) -> Ended {
    Ended::unfit(format!(
        "'oscost {what}' measures, and this system ({}) cannot be measured: run it on Linux, and read the result here with oscost report, compare, explain or list",
        std::env::consts::OS
    ))
}

/// A run that was killed is recovered where it ran.
pub fn recover(_: &Store, _: &Talk) {}

/// Columns of the terminal, `None` where standard output is none.
pub fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Columns of the terminal behind a pipe: only Linux is asked.
pub fn columns_behind_a_pipe() -> Option<usize> {
    None
}

/// Why the caller's standard output takes nothing: only Linux is asked.
pub fn stdout_unwritable() -> Option<&'static str> {
    None
}

/// No other program is held against figures here.
pub fn peers() -> impl Iterator<Item = &'static str> {
    std::iter::empty()
}

/// Version, and what it was built for.
pub fn version() -> String {
    format!(
        "{}\n{} {}: reads results, and measures nothing",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}
