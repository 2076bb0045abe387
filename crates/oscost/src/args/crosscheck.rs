//! Options of `oscost crosscheck`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Measuring;

#[derive(Debug, Args)]
pub struct Crosscheck {
    /// Our ids, beginnings of them, or a peer's ("perf", "stress-ng/switch"); none: everything that is found
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Only these peers: perf, rt-tests, stress-ng, lmbench; NAME=DIR for programs in a folder (lmbench=DIR)
    #[arg(long, value_name = "PEER")]
    pub with: Vec<String>,
    #[command(flatten)]
    pub measuring: Measuring,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Write the whole result to FILE too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Json,
}
