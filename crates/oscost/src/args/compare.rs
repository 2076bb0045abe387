//! Options of `oscost compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct Compare {
    /// Results: files, @-1 (newest stored run), @-2, ..., or @all; the older one first [default: the newest comparable two]
    #[arg(value_name = "RESULT")]
    pub results: Vec<String>,
    /// Of more than two results, the one that the others are held against [default: the first]
    #[arg(long, value_name = "RESULT", requires = "results")]
    pub base: Option<String>,
    /// Results of one side, of at least 3 boots, separated by commas: what differs from boot to boot is no change
    #[arg(long, value_name = "RESULT,...", value_delimiter = ',', requires = "after", conflicts_with_all = ["results", "base"])]
    pub before: Vec<String>,
    /// Results of the other side
    #[arg(long, value_name = "RESULT,...", value_delimiter = ',', requires = "before")]
    pub after: Vec<String>,
    /// Only what these patterns find, as run finds it: judged as if nothing else had been measured
    #[arg(long, value_name = "PATTERN,...", value_delimiter = ',', conflicts_with_all = ["live", "bisect"])]
    pub only: Vec<String>,
    /// Give ratios and verdicts although the machines differ
    #[arg(long)]
    pub cross_machine: bool,
    /// What a change must exceed to be called one, and what a figure must stay inside to be called within
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = percent)]
    pub threshold: f64,
    /// End with code 1 if a figure is slower (of counts: more:N, it takes over N instructions more), with 3 if one is unclear
    #[arg(long, value_name = "VERDICT,...", value_delimiter = ',', value_parser = fail_on)]
    pub fail_on: Vec<FailOn>,
    /// Measure now: two commands that start an oscost, in alternating launches (A B B A); patterns follow the option
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["base", "bisect", "cross_machine", "before", "after"])]
    pub live: Option<Vec<String>>,
    /// Measure ID now as the result BASE did, for git bisect run: code 0 (not slower), 1 (slower), 125 (unclear), else 255
    #[arg(long, num_args = 2, value_names = ["BASE", "ID"], conflicts_with_all = ["results", "base", "fail_on", "before", "after", "cross_machine"])]
    pub bisect: Option<Vec<String>>,
    /// Count ID on this kernel image, in place of measuring it here: the kernel's own bisection. Code 1 is more instructions
    #[arg(long, value_name = "KERNEL", requires = "bisect")]
    pub kernel: Option<PathBuf>,
    /// Rounds of A B B A of --live
    #[arg(long, value_name = "N", default_value_t = 10, requires = "live", value_parser = clap::value_parser!(u32).range(6..=200))]
    pub rounds: u32,
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
    let wrong = || format!("'{text}' is none of slower, unclear, more and more:N (N instructions)");
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
    let wrong = || format!("'{text}' is no share such as 5% or 0.5% (0 to 1000 %)");
    let number = text.strip_suffix('%').ok_or_else(wrong)?.trim();
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
    }
}
