//! Options of `oscost compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use oscost_report::compare::THRESHOLD;

use crate::system;

#[derive(Debug, Args)]
#[command(after_help = system::NEEDS_LINUX)]
pub struct Compare {
    /// Files, @-1 (newest stored run), @-2, ..., @all, names of stored runs, or - (standard input); the older one first [default: the newest run, after the newest older one with half of its figures or else any]
    #[arg(value_name = "RESULT")]
    pub results: Vec<String>,
    /// The result that all others are compared with, if there are more than two [default: the first]
    #[arg(long, value_name = "RESULT", requires = "results")]
    pub base: Option<String>,
    /// Results of one side from at least 3 boots: differences from boot to boot then count as noise
    #[arg(long, value_name = "RESULT,...", value_delimiter = ',', requires = "after", conflicts_with_all = ["results", "base"])]
    pub before: Vec<String>,
    /// Results of the other side, from at least 3 boots
    #[arg(long, value_name = "RESULT,...", value_delimiter = ',', requires = "before")]
    pub after: Vec<String>,
    /// Compare only these patterns, as in run, as if nothing else had been measured
    #[arg(long, value_name = "PATTERN,...", value_delimiter = ',', conflicts_with_all = ["live", "bisect"])]
    pub only: Vec<String>,
    /// The results are of two machines, alike or not: give ratios and verdicts
    #[arg(long)]
    pub cross_machine: bool,
    /// The change to look for: a figure is slower or faster if it changed by more, and within if by less [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = percent)]
    pub threshold: Option<f64>,
    /// slower: end with code 1 if a figure is slower; unclear: with 3 if one is unclear; more:N: with 1 if a count grew by over N
    #[arg(long, value_name = "VERDICT,...", value_delimiter = ',', value_parser = fail_on)]
    pub fail_on: Vec<FailOn>,
    /// Measure two commands now, in alternating launches. Each must start an oscost. Patterns follow
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["base", "bisect", "cross_machine", "before", "after"])]
    pub live: Option<Vec<String>>,
    /// For git bisect run: measure ID like the result BASE. Ends with 0 (good: not slower), 1 (bad: slower), 125 (skip: it may be slower or not) or 255
    #[arg(long, num_args = 2, value_names = ["BASE", "ID"], conflicts_with_all = ["results", "base", "fail_on", "before", "after", "cross_machine"])]
    pub bisect: Option<Vec<String>>,
    /// With --bisect: count ID on this kernel image instead of measuring it here. Code 1 means more instructions
    #[arg(long, value_name = "KERNEL", requires = "bisect")]
    pub kernel: Option<PathBuf>,
    /// Most rounds of --live, A B B A each; it ends when all is answered [default: what a minute has time for, and 10 at least]
    #[arg(long, value_name = "N", requires = "live", value_parser = clap::value_parser!(u32).range(6..=200))]
    pub rounds: Option<u32>,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, value_name = "FILE", value_parser = super::file())]
    pub output: Option<PathBuf>,
}

impl Compare {
    /// The share that a change of time must exceed.
    pub fn threshold(&self) -> f64 {
        self.threshold.unwrap_or(THRESHOLD)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Json,
}

/// What `--fail-on` lets the program end with an error for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    /// Slower by more than the threshold.
    Slower,
    /// Of counts: more by more than so many instructions.
    More(u64),
    /// No verdict; on one side only; or withheld.
    Unclear,
}

fn fail_on(text: &str) -> Result<FailOn, String> {
    let wrong = || format!("'{text}' is not slower, unclear, more or more:N (N instructions)");
    match text {
        "slower" => Ok(FailOn::Slower),
        "unclear" => Ok(FailOn::Unclear),
        "more" => Ok(FailOn::More(0)),
        _ => {
            text.strip_prefix("more:").and_then(|most| most.parse().ok()).map(FailOn::More).ok_or_else(wrong)
        }
    }
}

/// A share in percent.
fn percent(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is not a share such as 5% or 0.5% (0 to 1000 %)");
    let Some(number) = text.strip_suffix('%').map(str::trim) else {
        // 0.05 may be a share or a percentage: what is typed says which.
        return Err(match text.trim().parse::<f64>() {
            Ok(number) if (1.0..=1000.0).contains(&number) => format!("'{text}' has no unit: type {number}%"),
            Ok(number) if 0.0 < number && number < 1.0 => {
                format!("'{text}' has no unit: type {}% or {number}%", (number * 1e8).round() / 1e6)
            }
            _ => wrong(),
        });
    };
    let share = number.parse::<f64>().map_err(|_| wrong())? / 100.0;
    if (0.0..=10.0).contains(&share) { Ok(share) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_a_word_or_a_number_of_instructions() {
        assert_eq!(fail_on("slower"), Ok(FailOn::Slower));
        assert_eq!(fail_on("more"), Ok(FailOn::More(0)));
        assert_eq!(fail_on("more:12"), Ok(FailOn::More(12)));
        for wrong in ["", "more:", "more:-1", "more:5%", "fewer", "slower:5%"] {
            assert!(fail_on(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_threshold_is_a_share_in_percent() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent("2.5 %"), Ok(0.025));
        assert_eq!(percent("0%"), Ok(0.0));
        for wrong in ["", "%", "5", "0.05", "x%", "-1%", "NaN%", "inf%", "2000%", "5%%"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(percent("5"), Err("'5' has no unit: type 5%".to_owned()));
        assert_eq!(percent("0.05"), Err("'0.05' has no unit: type 5% or 0.05%".to_owned()));
    }
}
