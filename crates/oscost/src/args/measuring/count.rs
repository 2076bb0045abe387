//! Arguments of `oscost count`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct Count {
    /// What to count: ids or parts of ids, families, patterns with *, documents, words of other tools [default: the core figures]
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Kernel image (vmlinuz, bzImage, Image), or 'running' for this machine's own. Give two to see the difference
    #[arg(long, value_name = "KERNEL", required = true)]
    pub kernel: Vec<PathBuf>,
    /// Itemise one operation: instructions by function, in call order
    #[arg(long)]
    pub by_function: bool,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Text to append to the kernel's command line
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    pub append: String,
    /// Processor model of qemu [default: max]
    #[arg(long, value_name = "MODEL")]
    pub cpu_model: Option<String>,
    /// Memory of the guest, MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(64..=65536))]
    pub memory: u32,
    /// Run this oscost in the guest: a static build for another architecture
    #[arg(long, value_name = "FILE")]
    pub guest_program: Option<PathBuf>,
    /// Copy this file into the guest, to the same path
    #[arg(long, value_name = "FILE")]
    pub initrd_add: Vec<PathBuf>,
    /// Seed for the guest's random numbers; the second boot uses the next number
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,
    /// Give up on the guest after this many seconds of silence
    #[arg(long, value_name = "SECONDS", default_value_t = Self::PATIENCE, value_parser = clap::value_parser!(u64).range(1..=Self::MOST_PATIENCE))]
    pub patience: u64,
    /// Store this text with the result
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Also write the result to FILE
    #[arg(long, value_name = "FILE", value_parser = super::super::file())]
    pub json: Option<PathBuf>,
}

impl Count {
    /// Longest silence of a guest, in seconds, unless the user says another.
    pub const PATIENCE: u64 = 120;
    /// A day: no guest is silent for longer and speaks then.
    const MOST_PATIENCE: u64 = 86_400;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    /// One line per stack, for flamegraph, inferno and speedscope
    Folded,
    Json,
    /// One page for a browser, with an icicle plot of the functions
    Html,
}
