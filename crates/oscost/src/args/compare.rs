//! Options of `oscost compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct Compare {
    /// Results: files, @-1 (newest stored run), @-2, ..., or @all; the older one first
    #[arg(value_name = "RESULT", required_unless_present_any = ["live", "gate"])]
    pub results: Vec<String>,
    /// Of more than two results, the one that the others are held against [default: the first]
    #[arg(long, value_name = "RESULT")]
    pub base: Option<String>,
    /// Give ratios and verdicts although the machines differ
    #[arg(long)]
    pub cross_machine: bool,
    /// End with code 1 if a figure is slower ("slower"), or slower by more than so much ("slower:5%")
    #[arg(long, value_name = "WHAT", value_parser = fail_on)]
    pub fail_on: Option<f64>,
    /// Measure now: two commands that start an oscost, in alternating launches (A B B A); patterns follow the option
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["base", "gate", "cross_machine"])]
    pub live: Option<Vec<String>>,
    /// Measure ID now and hold it against the result BASE, for git bisect run: code 0, 1 (slower), 125 (cannot tell)
    #[arg(long, num_args = 2, value_names = ["BASE", "ID"], conflicts_with_all = ["results", "base", "fail_on"])]
    pub gate: Option<Vec<String>>,
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

/// The share beyond which a slower figure counts.
fn fail_on(text: &str) -> Result<f64, String> {
    let wrong = || format!("'{text}' is neither 'slower' nor 'slower:5%' (0 to 1000 %)");
    let share = match text.strip_prefix("slower").ok_or_else(wrong)? {
        "" => 0.0,
        rest => {
            let percent = rest.strip_prefix(':').and_then(|rest| rest.strip_suffix('%')).ok_or_else(wrong)?;
            percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0
        }
    };
    if (0.0..=10.0).contains(&share) { Ok(share) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_a_word_with_or_without_a_share() {
        assert_eq!(fail_on("slower"), Ok(0.0));
        assert_eq!(fail_on("slower:5%"), Ok(0.05));
        assert_eq!(fail_on("slower: 2.5 %".replace(' ', "").as_str()), Ok(0.025));
        for wrong in
            ["", "faster", "slower:", "slower:5", "slower:x%", "slower:-1%", "slower:NaN%", "slower:2000%"]
        {
            assert!(fail_on(wrong).is_err(), "{wrong}");
        }
    }
}
