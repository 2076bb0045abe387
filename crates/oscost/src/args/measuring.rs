//! Commands that measure, and their options: Linux's.

mod bill;
mod count;
mod crosscheck;
mod doctor;
pub mod set;
mod tick;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use oscost_families::scaling::MOST_WORKERS;
use oscost_results::document::{APUE, CONTEXT_SWITCH, FoundingDocument, GRAME, OSTEP, TLPI};

use super::Format;
use crate::exit::Ended;

pub use bill::{Bill, Format as BillFormat};
pub use count::{Count, Format as CountFormat};
pub use crosscheck::{Crosscheck, Format as CrosscheckFormat};
pub use doctor::Doctor;
pub use set::Set;
pub use tick::{Meeting, Scheduling, Tick, TickClient, TickServer};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum MeasuringCommand {
    /// Measure, show the price list, and save the result
    Run(Box<Run>),
    /// Repeat a published experiment: its tables beside this machine's, and a verdict on each of its statements
    Reproduce(Box<Reproduce>),
    /// Count the instructions of an operation on any kernel image, in total and by function (needs qemu)
    Count(Box<Count>),
    /// Run a program, count what it asks of the system, and price it: what it pays, and what would be less
    Bill(Box<Bill>),
    /// Measure with perf bench, rt-tests, stress-ng, lmbench and others too, and compare their figures with ours
    Crosscheck(Crosscheck),
    /// Start document 002's server and clients by hand, in your own containers, cgroups and loads
    #[command(subcommand)]
    Tick(Tick),
    /// Check whether this machine is fit to measure, and say what to change
    Doctor(Doctor),
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
    #[arg(short, value_name = "FILE", value_parser = super::file())]
    pub output: Option<PathBuf>,
    /// Also write the result to FILE; with -, write it to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write every sample to FILE as CSV: ns per operation, or the unit of the series
    #[arg(long, value_name = "FILE")]
    pub raw: Option<PathBuf>,
    /// Also time operations one by one: show percentiles, and what interrupted them (17 s per figure; --thorough 35 s)
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
    /// Also show others: lmbench=DIR, for document 004's comparison; elsewhere=FILE, sessions of document 002 on other systems;
    /// mandatory=FILE, what the laboratory counted of document 001's mandatory locks
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
    #[arg(short, value_name = "FILE", value_parser = super::file())]
    pub output: Option<PathBuf>,
    /// Also write the result to FILE; with -, write it to standard output instead of the tables
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Documents whose C programs a reader may have copies of.
const OF_COPIES: &[FoundingDocument] = &[TLPI, GRAME, OSTEP];

impl Reproduce {
    /// Fails where something was asked for that no chosen document has, or that no output has a place for.
    ///
    /// # Errors
    /// Misuse: it would be measured, and lost.
    pub fn refuse_what_is_lost(&self, chosen: impl Fn(FoundingDocument) -> bool) -> Result<(), Ended> {
        let with = |peer: &str| self.with.iter().any(|it| it.split_once('=').is_some_and(|it| it.0 == peer));
        let owned: [(bool, &str, &[FoundingDocument]); 5] = [
            (with("lmbench"), "--with lmbench=", &[CONTEXT_SWITCH, OSTEP]),
            (with("elsewhere"), "--with elsewhere=", &[GRAME]),
            (with("mandatory"), "--with mandatory=", &[APUE]),
            (self.experiments, "--experiments", &[GRAME]),
            (self.c.is_some(), "--c", OF_COPIES),
        ];
        for (is_asked, what, owners) in owned {
            if is_asked && !owners.iter().any(|owner| chosen(*owner)) {
                let names: Vec<&str> = owners.iter().map(|owner| owner.name).collect();
                let names = names.join(" or ");
                return Err(Ended::misuse(format!("{what} belongs to {names}, which was not chosen")));
            }
        }
        // Standard output holds the result then, and not the tables.
        let is_result = self.json.as_deref() == Some(Path::new("-")) && self.output.is_none();
        let is_prose = matches!(self.format, Told::Text | Told::Markdown) && !is_result;
        if self.worksheet && !is_prose {
            return Err(Ended::misuse(
                "--worksheet is told as text or markdown; beside --json - it needs -o FILE",
            ));
        }
        Ok(())
    }
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
#[derive(Debug, Default, Args)]
pub struct Measuring {
    /// Take a first look: 6 launches of 20 ms (crosscheck: 3 to 6)
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
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub idle_cpu: IdleCpu,
    /// End with code 5 if real-time scheduling is refused, instead of measuring without it
    #[arg(long)]
    pub require_realtime: bool,
    /// Store this text with the result
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Store private facts too: the host's name, the kernel's whole command line, and the command that you typed
    #[arg(long, hide_short_help = true)]
    pub keep_private: bool,
    /// Measure even if another run is measuring
    #[arg(long)]
    pub force: bool,
}

/// What a waiting CPU does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum IdleCpu {
    /// The system decides; usually it halts
    Halt,
    /// It stays awake
    Poll,
    /// First as with halt, then as with poll: two prices
    #[default]
    Both,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use oscost_documents::ALL;

    use super::*;
    use crate::args::{Arguments, Command};
    use crate::crosscheck::copies::C;

    #[test]
    fn copies_are_of_documents_that_have_programs() {
        for document in ALL {
            let of = |id: &str| id.split('/').next() == Some(document.founding.name);
            let has = C.probes.iter().any(|probe| of(probe.counterpart));
            assert_eq!(has, OF_COPIES.contains(&document.founding), "{}", document.founding.name);
        }
    }

    /// They were measured for minutes, and shown nowhere.
    #[test]
    fn what_a_reproduction_would_lose_is_refused() {
        let refused = |call: &str| {
            let words = ["oscost", "reproduce"].into_iter().chain(call.split(' '));
            let command = Arguments::try_parse_from(words).expect(call).command;
            let Some(Command::System(MeasuringCommand::Reproduce(options))) = command else {
                panic!("{call}");
            };
            let chosen = |founding: FoundingDocument| options.documents.iter().any(|it| it == founding.name);
            options.refuse_what_is_lost(chosen).err().map(|ended| ended.to_string()).unwrap_or_default()
        };
        for (call, words) in [
            ("tlpi --with lmbench=x", "--with lmbench= belongs to context-switch or ostep"),
            ("tlpi --with elsewhere=x", "--with elsewhere= belongs to grame"),
            ("grame --with mandatory=x", "--with mandatory= belongs to apue"),
            ("apue --experiments", "--experiments belongs to grame"),
            ("context-switch --c x", "--c belongs to tlpi or grame or ostep"),
            ("ostep --worksheet --format html", "text or markdown"),
            ("ostep --worksheet --json -", "-o FILE"),
        ] {
            assert!(refused(call).contains(words), "{call}: {}", refused(call));
        }
        for call in [
            "tlpi",
            "tlpi ostep --with lmbench=x",
            "grame --with elsewhere=x --experiments",
            "ostep --worksheet --format markdown",
            "ostep --worksheet --json - -o x",
            "ostep --worksheet --json x",
            "ostep --c x --format html",
            "ostep --c x --format csv",
        ] {
            assert_eq!(refused(call), "", "{call}");
        }
    }
}
