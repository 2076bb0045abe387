//! Arguments of the program.

mod apue;
mod compare;
mod crosscheck;
mod doctor;
mod files;
mod grame;
mod realtime;
mod tick;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use apue::{Apue, DOCUMENT as APUE};
pub use compare::{Compare, Format as CompareFormat};
pub use crosscheck::{Crosscheck, Format as CrosscheckFormat};
pub use doctor::Doctor;
pub use files::Files;
pub use grame::{DOCUMENT as GRAME, Grame};
pub use realtime::{FAMILY, RealTime, Scheduling, duration_ns};
pub use tick::{Meeting, Tick, TickClient, TickServer};

/// The price list of an operating system, with receipts: what its primitives cost on this machine, each figure with
/// evidence that it measured what it claims.
#[derive(Debug, Parser)]
#[command(name = "oscost", version, long_version = long_version(), max_term_width = 100)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say what happens
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Colours [NO_COLOR and CLICOLOR_FORCE are obeyed]
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure, show the price list, and save the result
    Run(Box<Run>),
    /// A founding document: its tables beside this machine's, and a verdict on each of its statements
    Reproduce(Box<Reproduce>),
    /// What can be measured here, and what each figure is the cost of
    List(List),
    /// Show stored results again
    Report(Report),
    /// Results against one another, a stored one against now, or two commands side by side: a verdict a figure
    Compare(Compare),
    /// Other tools beside ours, in one rotation of launches: perf bench, rt-tests, stress-ng, lmbench
    Crosscheck(Crosscheck),
    /// Document 002's server and client of ticks by hand: in containers, cgroups, under loads of your own
    #[command(subcommand)]
    Tick(Tick),
    /// Is this machine fit to measure, and what to change
    Doctor(Doctor),
    /// Print completions for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Ids, beginnings of ids (a family), or patterns with *; none: the core tier
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Measure every family
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub real_time: RealTime,
    #[command(flatten)]
    pub files: Files,
    /// Write the result to FILE too, or to standard output instead of the table (-)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write every sample to FILE as CSV: ns per operation, or the unit of the series
    #[arg(long, value_name = "FILE")]
    pub raw: Option<PathBuf>,
    /// A single launch, for oscost compare --live
    #[arg(long, hide = true, conflicts_with_all = ["quick", "thorough"])]
    pub one_launch: bool,
    /// Show the plan, the time it takes and the privileges it uses, and measure nothing
    #[arg(long, conflicts_with_all = ["json", "raw"])]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Reproduce {
    /// tlpi (000), apue (001), grame (002), ostep (003), context-switch (004); none: all of them
    #[arg(value_name = "DOCUMENT")]
    pub documents: Vec<String>,
    /// Cycles of document 000's programs [default: 1000,10000,100000,1000000]
    #[arg(long, value_name = "LIST")]
    pub operations: Option<String>,
    /// Passes of document 003's loops [default: 10000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub iterations: Option<String>,
    /// Readings of document 004's first program [default: 100000]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub samples: Option<String>,
    /// Folder of lmbench's programs, with which document 004 wants to be compared [default: the PATH]
    #[arg(long, value_name = "DIR")]
    pub lmbench: Option<PathBuf>,
    #[command(flatten)]
    pub measuring: Measuring,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Told,
    /// Write the result to FILE too, or to standard output instead of the tables (-)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub apue: Apue,
    #[command(flatten)]
    pub grame: Grame,
}

/// How a reproduction is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Told {
    Text,
    Markdown,
    Csv,
}

/// Options of every command that measures.
#[derive(Debug, Args)]
pub struct Measuring {
    /// 6 launches of 20 ms: a first look
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// 30 launches of 100 ms
    #[arg(long)]
    pub thorough: bool,
    /// Seed of every random order [default: random]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// CPUs to use, in order of preference: "2", "3,1", "2-5" [default: all allowed, the first one last]
    #[arg(long, value_name = "LIST")]
    pub cpu: Option<String>,
    /// What the partner's CPU does while it waits
    #[arg(long, value_name = "WHAT", default_value = "halt")]
    pub idle_cpu: IdleCpu,
    /// End with code 5 where real-time scheduling is refused, instead of measuring without
    #[arg(long)]
    pub require_realtime: bool,
    /// Words to be kept with the result
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Measure although another run is measuring
    #[arg(long)]
    pub force: bool,
}

/// What a waiting CPU does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdleCpu {
    /// What the system makes it do: usually it halts
    Halt,
    /// It is kept awake
    Poll,
}

#[derive(Debug, Args)]
pub struct List {
    /// Ids, beginnings of ids, or patterns with *
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Print the cards as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Files, @-1 (newest stored run), @-2, ..., or @all
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<String>,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Csv,
    Json,
    /// One page for a browser, which needs no network
    Html,
    /// For node_exporter's text collector
    Openmetrics,
}

/// Version, build, target and C library.
fn long_version() -> &'static str {
    let tool = oscost::machine::tool();
    // Once in the life of the program.
    Box::leak(
        format!("{}\nbuild {}\n{}\n{}", tool.version, tool.build_id, tool.target, tool.libc).into_boxed_str(),
    )
}
