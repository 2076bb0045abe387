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
use oscost_families::scaling::MOST_WORKERS;
use oscost_results::Trait;
use oscost_results::search::nearest;

pub use compare::{Compare, FailOn, Format as CompareFormat};
pub use count::{Count, Format as CountFormat};
pub use crosscheck::{Crosscheck, Format as CrosscheckFormat};
pub use doctor::Doctor;
pub use set::Set;
pub use tick::{Meeting, Scheduling, Tick, TickClient, TickServer};

/// Measures what the primitives of an operating system cost on this machine, and shows the evidence for each figure.
#[derive(Debug, Parser)]
#[command(name = "oscost", version, long_version = long_version(), max_term_width = 100)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    /// Write man pages or the completion of a shell
    #[arg(long, value_name = "WHAT")]
    pub generate: Option<Generate>,
    /// File or folder for --generate, instead of standard output
    #[arg(short, value_name = "PATH", requires = "generate")]
    pub output: Option<PathBuf>,
    /// Without one: the start screen
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generate {
    /// The main page; with -o, every page, into that folder
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

/// Place of these options in a help text: behind those of the command.
const LAST: usize = 900;

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", display_order = LAST)]
    pub quiet: bool,
    /// Print more details
    #[arg(short, long, global = true, display_order = LAST)]
    pub verbose: bool,
    /// When to use colours; NO_COLOR and CLICOLOR_FORCE are obeyed
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = LAST)]
    pub color: ColorWhen,
    /// Draw with ASCII characters only
    #[arg(long, global = true, display_order = LAST)]
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
    /// Repeat a published experiment: its tables beside this machine's, and a verdict on each of its statements
    Reproduce(Box<Reproduce>),
    /// Count the instructions of an operation on any kernel image, in total and by function (needs qemu)
    Count(Box<Count>),
    /// List what can be measured here
    List(List),
    /// Explain an id, a family, a document, a mark, a column, a warning, a word, or an exit code
    Explain(Explain),
    /// Show stored results again
    Report(Report),
    /// Say which figures changed between results, or between two commands that run in turn
    Compare(Compare),
    /// Measure with perf bench, rt-tests, stress-ng, lmbench and others too, and compare their figures with ours
    Crosscheck(Crosscheck),
    /// Start document 002's server and clients by hand, in your own containers, cgroups and loads
    #[command(subcommand)]
    Tick(Tick),
    /// Check whether this machine is fit to measure, and say what to change
    Doctor(Doctor),
    /// Complete a command line, for shells
    #[command(hide = true)]
    Complete {
        /// The words after the program's name; the last one is unfinished
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
pub struct Run {
    /// What to measure: ids or parts of ids, families, patterns with *, documents, words of other tools [default: the core figures]
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Measure every family
    #[arg(long, conflicts_with = "patterns")]
    pub all: bool,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub set: Set,
    /// Measure the operations in several processes at once, such as 1,2,4: throughput, efficiency, knee
    #[arg(long, value_name = "LIST", requires = "patterns", conflicts_with = "percentiles", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_WORKERS)))]
    pub processes: Vec<u32>,
    /// The same in several threads of one process
    #[arg(long, value_name = "LIST", requires = "patterns", conflicts_with = "percentiles", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_WORKERS)))]
    pub threads: Vec<u32>,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also write the result to FILE; with -, write it to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write every sample to FILE as CSV: ns per operation, or the unit of the series
    #[arg(long, value_name = "FILE")]
    pub raw: Option<PathBuf>,
    /// Also time operations one by one: show percentiles, and what interrupted them (17 s per figure)
    #[arg(long, requires = "patterns", conflicts_with = "one_launch")]
    pub percentiles: bool,
    /// Measure again and again until Ctrl-C, and show changes. Nothing is stored, but --json FILE gets the last run
    #[arg(long, requires = "patterns", conflicts_with_all = ["raw", "percentiles", "one_launch", "dry_run", "format", "output"])]
    pub watch: bool,
    /// Need few system calls, for systems that have Linux's interface and are not Linux. No call is counted then
    #[arg(long, hide_short_help = true, conflicts_with_all = ["percentiles", "watch", "one_launch", "dry_run", "force"])]
    pub plain: bool,
    /// Before measuring, wait a random part of SECONDS, so that the hosts of a fleet do not measure at once
    #[arg(long, hide_short_help = true, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(..=86_400))]
    pub jitter: Option<u32>,
    /// End with code 0 even if figures are withheld, for engines that start a failed program again
    #[arg(long, hide_short_help = true)]
    pub allow_withheld: bool,
    /// A single launch, for oscost compare --live
    #[arg(long, hide = true, conflicts_with_all = ["quick", "thorough"])]
    pub one_launch: bool,
    /// Show the plan, its time and the privileges that it uses, without measuring
    #[arg(long, conflicts_with_all = ["json", "raw", "format", "output"])]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Reproduce {
    /// tlpi (000), apue (001), grame (002), ostep (003), context-switch (004), or all [default: all of them]
    #[arg(value_name = "DOCUMENT")]
    pub documents: Vec<String>,
    #[command(flatten)]
    pub set: Set,
    #[command(flatten)]
    pub measuring: Measuring,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Told,
    /// Also show others: lmbench=DIR, for document 004's comparison; elsewhere=FILE, sessions of document 002 on other systems
    #[arg(long, value_name = "PEER")]
    pub with: Vec<String>,
    /// Compile your copies of the documents' C programs in DIR, and run them beside ours
    #[arg(long, value_name = "DIR")]
    pub c: Option<PathBuf>,
    /// Also run experiments that explain surprises: another order, another priority for document 002's server
    #[arg(long)]
    pub experiments: bool,
    /// End with a worksheet for a class: what to predict, what to run, and the traps
    #[arg(long)]
    pub worksheet: bool,
    /// Write to FILE instead of standard output
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also write the result to FILE; with -, write it to standard output instead of the tables
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// How a reproduction is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Told {
    Text,
    Markdown,
    /// The statements, a line each
    Csv,
    Json,
    /// One page for a browser, which needs no network
    Html,
    /// For node_exporter's text collector
    Openmetrics,
}

/// Options of every command that measures.
#[derive(Debug, Args)]
pub struct Measuring {
    /// Take a first look: 6 launches of 20 ms
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// Measure longer: 30 launches of 100 ms
    #[arg(long)]
    pub thorough: bool,
    /// Seed for every random order [default: random]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// CPUs to use, in order of preference, such as 3,1 or 2-5 [default: all allowed ones, the first one last]
    #[arg(long, value_name = "LIST")]
    pub cpu: Option<String>,
    /// What a CPU does while the partner on it waits
    #[arg(long, value_name = "WHAT", default_value = "halt")]
    pub idle_cpu: IdleCpu,
    /// End with code 5 if real-time scheduling is refused, instead of measuring without it
    #[arg(long)]
    pub require_realtime: bool,
    /// Store this text with the result
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Store private facts too: the kernel's whole command line, and the command that you typed
    #[arg(long, hide_short_help = true)]
    pub keep_private: bool,
    /// Measure even if another run is measuring
    #[arg(long)]
    pub force: bool,
}

/// What a waiting CPU does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IdleCpu {
    /// The system decides; usually it halts
    Halt,
    /// It stays awake
    Poll,
}

#[derive(Debug, Args)]
pub struct List {
    /// What to list: ids or parts of ids, families, patterns with *, documents, words of other tools
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// List every figure, with those of the thorough tier
    #[arg(long)]
    pub all: bool,
    /// List only locks and transports with this trait: pollable, queues_payload, fair, hands_off, works_across_users
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
    /// List the running kernel's functions in one operation, in order (root; by ftrace, without counts). THING is an id
    #[arg(long)]
    pub trace: bool,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Files, @-1 (newest stored run), @-2, ..., @all, or names of stored runs; for html, csv and ndjson also folders [default: @-1]
    #[arg(value_name = "RESULT")]
    pub results: Vec<String>,
    /// Show only these patterns, as in run, and the figures that they are divided by
    #[arg(long, value_name = "PATTERN,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// List every fact about the host in the result, and why it is kept
    #[arg(long, conflicts_with_all = ["only", "anonymous", "all", "sort"])]
    pub what_is_in_it: bool,
    /// Compare the hosts in folders of results: which are odd, in which figures, and by how much
    #[arg(long, conflicts_with_all = ["only", "what_is_in_it", "anonymous", "sort"])]
    pub fleet: bool,
    /// Leave out every fact that identifies the host or the user, for publication
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
    /// The highest price first
    Price,
    /// The widest interval first
    Interval,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    /// A row for each figure and each of its launches
    Csv,
    /// The same rows, a JSON object a line
    Ndjson,
    Json,
    /// One page for a browser, which needs no network
    Html,
    /// For node_exporter's text collector
    Openmetrics,
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
            "error: there is no command '{typed}'; to measure it, type oscost run {typed}; to look it up, type oscost explain {typed}\n"
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
