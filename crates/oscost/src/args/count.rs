//! Arguments of `oscost count`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct Count {
    /// Ids or any part of them, families, patterns with *, documents, words of other tools; none: the core tier
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Kernel image (vmlinuz, bzImage, Image), or 'running' for this machine's own; twice: the difference
    #[arg(long, value_name = "KERNEL", required = true)]
    pub kernel: Vec<PathBuf>,
    /// Itemise one operation: instructions by function, in call order
    #[arg(long)]
    pub by_function: bool,
    /// Format
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// More words for the kernel's command line
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    pub append: String,
    /// qemu's model of the processor [default: max]
    #[arg(long, value_name = "MODEL")]
    pub cpu_model: Option<String>,
    /// Memory of the guest, MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(64..=65536))]
    pub memory: u32,
    /// The program for the guest, where it is not this one: a static build for another architecture
    #[arg(long, value_name = "FILE")]
    pub guest_program: Option<PathBuf>,
    /// One more file for the guest, at its own path
    #[arg(long, value_name = "FILE")]
    pub initrd_add: Vec<PathBuf>,
    /// Seed of the machine's random numbers; the second boot has the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u32,
    /// Longest silence of the guest, seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Self::PATIENCE, value_parser = clap::value_parser!(u64).range(1..))]
    pub patience: u64,
    /// Words to be kept with the result
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Write the result to FILE too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Count {
    /// Longest silence of a guest, in seconds, unless the user says another.
    pub const PATIENCE: u64 = 120;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    /// One line a stack, as flamegraph, inferno and speedscope read it
    Folded,
    Json,
    /// One page for a browser, with an icicle plot of the functions
    Html,
}
