//! Arguments of the program.

mod compare;
#[cfg(target_os = "linux")]
mod measuring;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use oscost_results::Trait;
use oscost_results::search::{Tier, nearest};

use crate::known::catalogue;
use crate::system;

pub use compare::{Compare, FailOn, Format as CompareFormat};
#[cfg(target_os = "linux")]
pub use measuring::*;

/// Measures what the primitives of an operating system cost on this machine, and shows the evidence for each figure.
#[derive(Debug, Parser)]
#[command(name = "oscost", version, long_version = long_version(), max_term_width = 100, after_help = system::NEEDS_LINUX)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    /// Write man pages or the completion of a shell
    #[arg(long, value_name = "WHAT")]
    pub generate: Option<Generate>,
    /// File or folder for --generate, instead of standard output
    #[arg(short, value_name = "PATH", requires = "generate", value_parser = file())]
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
    /// Show no progress, notes or warnings: what was asked for, what is lost, and errors alone
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
    #[command(flatten)]
    System(system::Command),
    /// List what can be measured
    List(List),
    /// Explain an id, a family, a document, a mark, a column, a warning, a word, or an exit code
    Explain(Explain),
    /// Show stored results again
    Report(Report),
    /// Say which figures changed between results, or between two commands that run in turn
    Compare(Compare),
    /// Complete a command line, for shells
    #[command(hide = true)]
    Complete {
        /// The words after the program's name; the last one is unfinished
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
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
#[command(after_help = system::NEEDS_LINUX)]
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
    /// Files, @-1 (newest stored run), @-2, ..., @all, names of stored runs, or - (standard input); for html, csv and ndjson also folders [default: @-1]
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
    /// Show how far runs of one machine lie apart, in the numbers that compare judges
    #[arg(long, conflicts_with_all = ["what_is_in_it", "fleet", "sort", "all"])]
    pub spread: bool,
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
    #[arg(short, value_name = "FILE", value_parser = file())]
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

/// What clap says of arguments that it cannot understand, with what may have been meant by a command or an option.
pub fn with_suggestion(error: &clap::Error, said: String) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(ContextKind::InvalidSubcommand).map(|typed| no_command(typed, &said))
        }
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg).and_then(|typed| {
            no_number(typed)
                .or_else(|| no_option(typed))
                .or_else(|| no_dashes(typed, &said))
                .or_else(|| no_effort(typed, &said))
        }),
        ErrorKind::MissingRequiredArgument => no_kernel(&said),
        _ => None,
    }
    .unwrap_or(said)
}

fn no_command(typed: &str, said: &str) -> String {
    let program = Arguments::command();
    // "Usage: oscost tick <COMMAND>": it was to be a command of tick.
    let usage = said.split_once("Usage: oscost ").and_then(|(_, usage)| usage.split(' ').next());
    let within = usage.and_then(|name| program.find_subcommand(name));
    let commands = within.unwrap_or(&program).get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = commands.map(clap::Command::get_name).collect();
    let near = nearest(typed, names);
    let advice = if !near.is_empty() {
        format!("did you mean {}?", near.join(" or "))
    } else if let Some(within) = within {
        format!("oscost {} --help lists the commands", within.get_name())
    } else if catalogue().look_up(&[typed.to_owned()], Tier::Thorough).is_err() {
        "oscost --help lists the commands".to_owned()
    } else if system::NEEDS_LINUX.is_none() {
        format!("to measure it, type oscost run {typed}; to look it up, type oscost explain {typed}")
    } else {
        format!("to look it up, type oscost explain {typed}")
    };
    format!("error: there is no command '{typed}'; {advice}\n")
}

/// A negative number, which would be an option.
fn no_number(typed: &str) -> Option<String> {
    typed
        .parse::<f64>()
        .ok()
        .map(|_| format!("error: '{typed}' is no option, and none takes a negative number\n"))
}

/// A setting of a family or document that is typed as an option.
fn no_option(typed: &str) -> Option<String> {
    let name = typed.strip_prefix("--")?.replace('-', "_");
    let known =
        |command| catalogue().keys_of(command).iter().any(|(_, keys)| keys.iter().any(|key| key.key == name));
    (known("run") || known("reproduce"))
        .then(|| format!("error: there is no option '{typed}'; it is a setting: --set {name}=VALUE\n"))
}

/// The efforts of `run` where rounds say how long it takes.
fn no_effort(typed: &str, said: &str) -> Option<String> {
    let is_effort = said.contains("Usage: oscost compare ") && ["--quick", "--thorough"].contains(&typed);
    is_effort.then(|| {
        format!("error: compare has no option '{typed}'; --live ends when all is answered, and --rounds N bounds it (6 to 200)\n")
    })
}

/// The kernel of `count`.
fn no_kernel(said: &str) -> Option<String> {
    said.contains("Usage: oscost count ").then(|| {
        "error: count needs a kernel: --kernel running is this machine's own, --kernel FILE another one (vmlinuz, bzImage, Image)\n"
            .to_owned()
    })
}

/// A program of `bill` that no dashes part from its options.
fn no_dashes(typed: &str, said: &str) -> Option<String> {
    let is_program = said.contains("Usage: oscost bill ") && !typed.starts_with('-');
    is_program.then(|| format!("error: type two dashes before the program: oscost bill -- {typed}\n"))
}

/// Version, build, target and C library.
fn long_version() -> &'static str {
    // Once in the life of the program.
    Box::leak(system::version().into_boxed_str())
}

/// The file of -o, which is not the mark of standard output in other programs.
fn file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text| match text.as_encoded_bytes() {
        b"-" => {
            Err("- is standard output, which holds text without -o: name a file (./- is one of that name)")
        }
        _ => Ok(PathBuf::from(text)),
    })
}
