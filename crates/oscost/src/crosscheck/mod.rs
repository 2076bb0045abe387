//! Peers: other tools that measure the same operations. One file each: how to find, run and read it, and what its number
//! means.

/// A measurement as a row: its name, program and arguments; what its number is the cost of, how it becomes ours, our figure, and
/// why the two may differ; what reads it.
macro_rules! probe {
    ($name:expr, $command:expr; $measures:expr, $conversion:expr, $counterpart:expr, $differs:expr; $reader:expr) => {
        $crate::crosscheck::Probe {
            name: $name,
            command: $command,
            measures: $measures,
            conversion: $conversion,
            counterpart: $counterpart,
            differs: $differs,
            reader: $reader,
            ..$crate::crosscheck::Probe::PLAIN
        }
    };
}

pub mod copies;
mod lmbench;
mod osbench;
mod perf;
mod rt_tests;
mod stress_ng;
mod unixbench;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use oscost_harness::{Contained, Foreign, ForeignOutput, Reader};
use oscost_report::Reason;
use oscost_sys::program;

/// A tool that is not ours.
pub struct Peer {
    /// As users call it.
    pub name: &'static str,
    /// How it is come by on Debian; empty where there is no package.
    pub package: &'static str,
    /// What it measures.
    pub probes: &'static [Probe],
    /// Variables that it is run with.
    pub environment: &'static [(&'static str, &'static str)],
    /// Its programs have names of everyday words: only in the folder that the user named are they its own.
    pub folder_only: bool,
}

/// One measurement of a peer.
pub struct Probe {
    /// Last part of its id ("perf/bench_sched_pipe").
    pub name: &'static str,
    /// Program and arguments; the program is looked for by name.
    pub command: &'static [&'static str],
    /// What its number is the cost of, in its own terms.
    pub measures: &'static str,
    /// How its number becomes ours, in words.
    pub conversion: &'static str,
    /// Our figure of the same or the nearest meaning.
    pub counterpart: &'static str,
    /// The quantity of it that is meant; empty: its headline.
    pub quantity: &'static str,
    /// What its rounding takes at most, ns of our unit; 0 where its digits are no matter.
    pub step_ns: f64,
    /// Why the two may differ although nobody is wrong.
    pub differs: Reason,
    /// Reads ns of our unit out of what it printed.
    pub reader: Reader,
}

/// Every peer that is known.
pub const PEERS: [&Peer; 6] = [
    &perf::PERF,
    &rt_tests::RT_TESTS,
    &stress_ng::STRESS_NG,
    &lmbench::LMBENCH,
    &unixbench::UNIXBENCH,
    &osbench::OSBENCH,
];

/// The quantity that a peer's figure quotes.
const HEADLINE: &str = "converted";
/// One launch of a peer takes a second or two; one that goes on is ended.
const DEADLINE_NS: u64 = 15_000_000_000;

impl Probe {
    /// What most have in common.
    const PLAIN: Self = Self {
        name: "",
        command: &[],
        measures: "",
        conversion: "",
        counterpart: "",
        quantity: "",
        step_ns: 0.0,
        differs: Reason::NONE,
        reader: |_| Err("it has no reader".to_owned()),
    };

    /// Id of its figure.
    pub fn id(&self, peer: &Peer) -> String {
        format!("{}/{}", peer.name, self.name)
    }

    /// Where its program lies.
    pub fn path(&self, peer: &Peer, folder: Option<&Path>) -> Option<PathBuf> {
        if peer.folder_only && folder.is_none() { None } else { find(self.command[0], folder) }
    }

    /// As a contestant on these CPUs, with the program at `path`.
    pub fn contestant(&self, peer: &Peer, path: &Path, cpus: &[usize]) -> Foreign {
        let arguments = self.command.iter().skip(1).map(|&argument| argument.to_owned());
        Foreign {
            id: self.id(peer),
            title: self.measures.to_owned(),
            operation: self.measures.to_owned(),
            headline: (HEADLINE.to_owned(), "ns".to_owned()),
            command: std::iter::once(path.display().to_string()).chain(arguments).collect(),
            environment: peer
                .environment
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            cpus: cpus.to_vec(),
            deadline_ns: DEADLINE_NS,
            contained: Contained::WherePossible,
            reader: self.reader,
        }
    }
}

/// Where a program lies: in the folder that the user named, or on the PATH.
fn find(name: &str, folder: Option<&Path>) -> Option<PathBuf> {
    let Some(folder) = folder else { return program::find(name) };
    // It is not started in the folder that we are in.
    std::path::absolute(folder.join(name)).ok().filter(|path| path.is_file())
}

/// What the program printed, if it ended well: an error beside a figure is no figure.
fn printed(output: &ForeignOutput) -> Result<String, String> {
    let text = format!("{}\n{}", output.stdout, output.stderr);
    match (output.code, output.signal) {
        (Some(0), _) if complains(&text) => Err(format!("an error beside its figure: {}", shortened(&text))),
        (Some(0), _) => Ok(text),
        (Some(code), _) => Err(format!("ended with code {code}: {}", shortened(&text))),
        (None, Some(signal)) => Err(format!("ended by signal {signal}: {}", shortened(&text))),
        (None, None) => Err(format!("did not end well: {}", shortened(&text))),
    }
}

/// Whether a line calls itself an error: peers print some and end with code 0 all the same.
fn complains(text: &str) -> bool {
    const WORDS: [&str; 4] = ["error:", "fatal:", "fail:", "failed:"];
    text.lines().any(|line| {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| !WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)));
        // "failed: 0" counts what did not fail.
        words.next().is_some() && words.next() != Some("0")
    })
}

/// What could not be read, in one line of reasonable length.
fn shortened(text: &str) -> String {
    const MOST: usize = 160;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &words[..end]),
        None if words.is_empty() => "it printed nothing".to_owned(),
        None => words,
    }
}

/// The number right before `unit` on the line that holds `mark`, times `factor`: the figure in ns.
fn before(
    output: &ForeignOutput,
    mark: &str,
    unit: &str,
    factor: f64,
) -> Result<BTreeMap<String, f64>, String> {
    let text = printed(output)?;
    let number = text.lines().filter(|line| line.contains(mark)).find_map(|line| {
        let (head, _) = line.split_once(unit)?;
        head.split_whitespace().next_back()?.trim_start_matches(':').parse::<f64>().ok()
    });
    figure(number.map(|number| number * factor), &text)
}

/// A figure, or what was printed instead.
fn figure(ns: Option<f64>, text: &str) -> Result<BTreeMap<String, f64>, String> {
    match ns.filter(|ns| ns.is_finite() && *ns > 0.0) {
        Some(ns) => Ok(BTreeMap::from([(HEADLINE.to_owned(), ns)])),
        None => Err(format!("its output cannot be read: {}", shortened(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn output(stdout: &str, stderr: &str) -> ForeignOutput {
        ForeignOutput {
            stdout: stdout.into(),
            stderr: stderr.into(),
            code: Some(0),
            ..ForeignOutput::default()
        }
    }

    /// What a probe of this name reads out of a text, on either stream.
    pub(super) fn read(peer: &Peer, name: &str, text: &str) -> f64 {
        let probe = peer.probes.iter().find(|probe| probe.name == name).expect("the probe");
        let (out, err) = ((probe.reader)(&output(text, "")), (probe.reader)(&output("", text)));
        assert_eq!(out, err);
        out.expect("a figure")["converted"]
    }

    #[test]
    fn what_is_no_figure_is_shown_and_never_guessed() {
        for peer in PEERS {
            for probe in peer.probes {
                for text in [
                    "",
                    "\u{1b}[31m \u{0} rubbish",
                    "1 2 3 4 5",
                    "Avg nothing usecs/op",
                    "-nan usecs/op Avg -1, nan microseconds",
                ] {
                    let told = (probe.reader)(&output(text, "")).expect_err(text);
                    assert!(told.contains("cannot be read"), "{}: {told}", probe.name);
                }
                let mut failed = output(
                    "     0.124713 usecs/op\n#1 -> #0, Min 1, Cur 1, Avg 2, Max 8\nSimple syscall: 0.1 microseconds",
                    "",
                );
                failed.code = Some(2);
                let told = (probe.reader)(&failed).expect_err("an error beside a figure");
                assert!(told.contains("code 2"), "{told}");
                failed.code = Some(0);
                failed.stderr = "stress-ng: fail:  [12] sem: no wait succeeded".to_owned();
                let told = (probe.reader)(&failed).expect_err("an error beside a figure, ended well");
                assert!(told.contains("error beside") && told.contains("no wait"), "{told}");
                failed.code = None;
                failed.signal = Some(9);
                assert!((probe.reader)(&failed).expect_err("killed").contains("signal 9"));
            }
        }
    }

    #[test]
    fn a_count_of_no_failures_is_no_complaint() {
        assert!(!complains("stress-ng: info:  [1] failed: 0\n[1] an error is near\n"));
        assert!(complains("perf: Error: no such thing"));
        assert!(complains("stress-ng: info:  [1] failed: 1: sem (1)"));
    }

    #[test]
    fn every_counterpart_exists() {
        let catalogue = crate::commands::catalogue();
        for peer in PEERS {
            for probe in peer.probes {
                let id = probe.counterpart;
                let benchmark = catalogue.find(id).unwrap_or_else(|| panic!("{}: {id}", probe.id(peer)));
                let known = benchmark.card().quantities.iter().any(|it| it.name == probe.quantity);
                assert!(probe.quantity.is_empty() || known, "{}: {}", probe.name, probe.quantity);
                assert!(!probe.measures.is_empty() && !probe.conversion.is_empty());
            }
        }
    }

    /// A user reads in one what the other does: a row has a probe with that figure of ours, or says that there is no crosscheck.
    #[test]
    fn the_tables_of_the_docs_are_those_of_the_crosscheck() {
        const TEXT: &str = include_str!("../../../../docs/from-lmbench.md");
        // Sizes are told by one of them.
        let without_size = |id: &str| {
            let is_size = |part: &&str| part.starts_with("size_") || part.starts_with("block_");
            id.split('/').filter(|part| !is_size(part)).collect::<Vec<_>>().join("/")
        };
        let quoted = |cell: &'static str| cell.split('`').skip(1).step_by(2);
        for (peer, heading) in [
            (&perf::PERF, "## perf bench\n"),
            (&lmbench::LMBENCH, "## lmbench 3\n"),
            (&unixbench::UNIXBENCH, "## UnixBench\n"),
            (&osbench::OSBENCH, "## osbench\n"),
        ] {
            let (_, section) = TEXT.split_once(heading).expect(heading);
            let section = section.split("\n## ").next().unwrap_or_default();
            let rows = section.lines().filter(|line| line.starts_with("| `"));
            let rows: Vec<Vec<&str>> = rows.map(|line| line.trim_matches('|').split('|').collect()).collect();
            // "`lat_syscall read`, `write`": the words of one of them are words of the command.
            let is_of = |probe: &Probe, row: &[&'static str]| {
                let is_word = |word: &str| probe.command.contains(&word);
                quoted(row[0]).any(|name| name.split(' ').all(is_word))
            };
            // The family is told once.
            let names = |row: &[&'static str], id: &str| {
                let last = id.rsplit_once('/').map_or(id, |(_, last)| last);
                quoted(row[1]).any(|it| without_size(it) == without_size(id) || it == last)
            };
            for probe in peer.probes {
                let of = rows.iter().any(|row| is_of(probe, row) && names(row, probe.counterpart));
                assert!(of, "{} beside {} is in no row", probe.id(peer), probe.counterpart);
            }
            for row in &rows {
                let has = peer.probes.iter().any(|probe| is_of(probe, row));
                let says_none = row[2].to_lowercase().contains("no crosscheck");
                assert_eq!(has, !says_none, "{row:?}");
            }
        }
    }

    #[test]
    fn long_output_is_shortened_at_a_letter() {
        assert_eq!(shortened("  a \n b "), "a b");
        assert!(shortened(&"\u{e9}".repeat(500)).ends_with("..."));
    }
}
