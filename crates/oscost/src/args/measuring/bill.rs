//! Arguments of `oscost bill`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use oscost_bill::budget::BudgetBound;
use oscost_sys::system_call_names;

#[derive(Debug, Args)]
pub struct Bill {
    /// The program and its arguments, behind two dashes. It runs twice: once free, and once counted
    #[arg(value_name = "PROGRAM", last = true, required_unless_present = "pid")]
    pub program: Vec<OsString>,
    /// Count a program that runs already, and leave it as it was (root; by eBPF)
    #[arg(long, value_name = "PID", conflicts_with_all = ["program", "runs"])]
    pub pid: Option<u32>,
    /// With --pid: how long, such as 10s, 500ms or 2m
    #[arg(long = "for", value_name = "TIME", default_value = "10s", requires = "pid", conflicts_with = "program", value_parser = duration)]
    pub duration: Duration,
    /// End with code 1 unless a count is within NAME<=N (<, =, >=, >): a system call, or calls, failed, sleeps (calls that slept),
    /// bytes, faults, major_faults, switches, signals, threads, children. May be given again
    #[arg(long, value_name = "BOUND", value_parser = bound)]
    pub budget: Vec<BudgetBound>,
    /// Run it N times free and N times counted: for short programs, and for counts that depend on timing
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub runs: u32,
    /// Price with what the store has of this boot, and measure nothing that is missing
    #[arg(long)]
    pub no_measure: bool,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, value_name = "FILE", value_parser = super::super::file())]
    pub output: Option<PathBuf>,
    /// Also write the result to FILE
    #[arg(long, value_name = "FILE", value_parser = super::super::file())]
    pub json: Option<PathBuf>,
    /// Store this text with the result
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Json,
    /// One page for a browser, which needs no network
    Html,
}

fn bound(text: &str) -> Result<BudgetBound, String> {
    BudgetBound::parse(text, |name| system_call_names::number(name).is_some())
}

/// A time with its unit.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a time such as 10s, 500ms or 2m (1 ms to a day)");
    let units = [("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3600e3)];
    let found =
        units.iter().find_map(|(unit, ms)| Some(text.strip_suffix(unit)?.trim().parse::<f64>().ok()? * ms));
    match found {
        Some(ms) if (1.0..=86_400e3).contains(&ms) => Ok(Duration::from_secs_f64(ms / 1e3)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        let ms = |text| duration(text).map(|time| time.as_millis());
        assert_eq!([ms("10s"), ms("500ms"), ms("1.5m")], [Ok(10_000), Ok(500), Ok(90_000)]);
        for wrong in ["", "10", "s", "-1s", "0s", "2d", "1e9s", "NaNs"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
