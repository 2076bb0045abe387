//! Arguments of the program.

mod compare;
mod count;
mod crosscheck;
mod doctor;
pub mod set;
mod tick;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use oscost_results::Trait;
use oscost_results::search::nearest;

pub use compare::{Compare, FailOn, Format as CompareFormat};
pub use count::{Count, Format as CountFormat};
pub use crosscheck::{Crosscheck, Format as CrosscheckFormat};
pub use doctor::Doctor;
pub use set::Set;
pub use tick::{Meeting, Scheduling, Tick, TickClient, TickServer};

/// The price list of an operating system, with receipts: what its primitives cost on this machine, each figure with
/// evidence that it measured what it claims.
#[derive(Debug, Parser)]
#[command(name = "oscost", version, long_version = long_version(), max_term_width = 100)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    /// Write man pages (-o names their folder), or the completion of a shell
    #[arg(long, value_name = "WHAT")]
    pub generate: Option<Generate>,
    /// Where --generate writes instead of standard output
    #[arg(short, value_name = "PATH", requires = "generate")]
    pub output: Option<PathBuf>,
    /// Without one: the start screen
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generate {
    /// The main page; with -o every page, into that folder
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
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
    /// How many instructions it takes on any kernel image, and in which functions (qemu)
    Count(Box<Count>),
    /// What can be measured here, and what each figure is the cost of
    List(List),
    /// What something means: an id, a family, a document, a mark, a column, a warning, a word, an exit code
    Explain(Explain),
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
    /// What fits at the end of a command line, for the completions of shells
    #[command(hide = true)]
    Complete {
        /// The words behind the program's name, the last of them unfinished
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
pub struct Run {
    /// Ids or any part of them, families, patterns with *, documents, words of other tools; none: the core tier
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Measure every family
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub set: Set,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the result to FILE too, or to standard output instead of the table (-)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write every sample to FILE as CSV: ns per operation, or the unit of the series
    #[arg(long, value_name = "FILE")]
    pub raw: Option<PathBuf>,
    /// Time operations one by one too: percentiles, and what took the CPU meanwhile (17 s a figure)
    #[arg(long, requires = "patterns", conflicts_with = "one_launch")]
    pub percentiles: bool,
    /// Measure again and again until Ctrl-C, and say what changes; nothing is stored, but --json FILE gets the last run
    #[arg(long, requires = "patterns", conflicts_with_all = ["raw", "percentiles", "one_launch", "dry_run", "format", "output"])]
    pub watch: bool,
    /// A single launch, for oscost compare --live
    #[arg(long, hide = true, conflicts_with_all = ["quick", "thorough"])]
    pub one_launch: bool,
    /// Show the plan, the time it takes and the privileges it uses, and measure nothing
    #[arg(long, conflicts_with_all = ["json", "raw", "format", "output"])]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Reproduce {
    /// tlpi (000), apue (001), grame (002), ostep (003), context-switch (004); none: all of them
    #[arg(value_name = "DOCUMENT")]
    pub documents: Vec<String>,
    #[command(flatten)]
    pub set: Set,
    #[command(flatten)]
    pub measuring: Measuring,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Told,
    /// Write the result to FILE too, or to standard output instead of the tables (-)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
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
    /// Keep private facts with the result, too: the kernel's whole command line, and what you typed
    #[arg(long, hide_short_help = true)]
    pub keep_private: bool,
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
    /// Ids or any part of them, families, patterns with *, documents, words of other tools
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Every figure, those of the thorough tier too
    #[arg(long)]
    pub all: bool,
    /// Only what is so by its making: pollable, queues_payload, fair, hands_off, works_across_users
    #[arg(long, value_name = "TRAIT", value_parser = trait_of)]
    pub r#trait: Vec<Trait>,
    /// Print the cards as JSON
    #[arg(long)]
    pub json: bool,
}

/// The trait of this name.
fn trait_of(text: &str) -> Result<Trait, String> {
    let typed = text.to_ascii_lowercase().replace(['-', ' '], "_");
    Trait::ASKED.into_iter().find(|it| it.name() == typed).ok_or_else(|| {
        let known: Vec<&str> = Trait::ASKED.iter().map(|it| it.name()).collect();
        format!("there are {}", known.join(", "))
    })
}

#[derive(Debug, Args)]
pub struct Explain {
    /// What to explain: semaphore/system_v, getpid, lock, tlpi, tlpi/3, noisy, floor, W001, exit 3, launch
    #[arg(value_name = "THING", required = true)]
    pub thing: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Files, @-1 (newest stored run), @-2, ..., or @all [default: @-1]
    #[arg(value_name = "RESULT")]
    pub results: Vec<String>,
    /// Only what these patterns find, as run finds it, and what it is divided by
    #[arg(long, value_name = "PATTERN,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// List what the result tells of the host, and why it is kept
    #[arg(long, conflicts_with_all = ["only", "anonymous", "all", "sort"])]
    pub what_is_in_it: bool,
    /// Leave out what tells one host or user from another: for publication
    #[arg(long)]
    pub anonymous: bool,
    /// Show every row
    #[arg(long)]
    pub all: bool,
    /// Sort the rows across families
    #[arg(long, value_name = "ORDER")]
    pub sort: Option<SortBy>,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// An order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortBy {
    Name,
    /// The dearest first
    Price,
    /// The widest interval first
    Interval,
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
    /// Of run --percentiles: histograms as cyclictest prints them
    Histogram,
}

/// What clap says of arguments that it cannot understand, with what may have been meant by a command.
pub fn with_suggestion(error: &clap::Error, said: String) -> String {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(typed))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return said;
    };
    let program = Arguments::command();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = commands.map(clap::Command::get_name).collect();
    match nearest(typed, names).as_slice() {
        [] => format!(
            "error: there is no command '{typed}'; to measure or to look it up: oscost run {typed}, oscost explain {typed}\n"
        ),
        near => format!("error: there is no command '{typed}'; did you mean {}?\n", near.join(" or ")),
    }
}

/// Version, build, target and C library.
fn long_version() -> &'static str {
    let tool = oscost_session::machine::tool();
    // Once in the life of the program.
    Box::leak(
        format!("{}\nbuild {}\n{}\n{}", tool.version, tool.build_id, tool.target, tool.libc).into_boxed_str(),
    )
}
