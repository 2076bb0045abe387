//! Options of `oscost crosscheck`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Measuring;

#[derive(Debug, Args)]
pub struct Crosscheck {
    /// Our ids or their beginnings, or a peer's, such as perf or stress-ng/switch [default: all that are installed]
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Use only this peer: perf, rt-tests, stress-ng, lmbench, unixbench or osbench. lmbench=DIR names the folder of its programs
    #[arg(long, value_name = "PEER")]
    pub with: Vec<String>,
    #[command(flatten)]
    pub measuring: Measuring,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Also write the whole result to FILE
    #[arg(long, value_name = "FILE", value_parser = super::super::file())]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Json,
}
