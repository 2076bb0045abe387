//! Options of `oscost tick`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum Tick {
    /// Send a time stamp to every registered client, tick by tick, until the last one leaves
    Server(TickServer),
    /// Receive a server's ticks; print each latency in us, and a summary on standard error
    Client(TickClient),
}

/// Policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheduling {
    /// SCHED_RR
    Rr,
    /// SCHED_FIFO
    Fifo,
    /// SCHED_OTHER: no real time
    Other,
}

#[derive(Debug, Args)]
pub struct Meeting {
    /// Private folder where server and clients meet [default: oscost-tick in $XDG_RUNTIME_DIR, or /tmp/oscost-tick-UID]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Real-time scheduling, or none
    #[arg(long, value_name = "POLICY", default_value = "rr")]
    pub policy: Scheduling,
    /// Fail if real-time scheduling is refused
    #[arg(long)]
    pub require_realtime: bool,
}

#[derive(Debug, Args)]
pub struct TickServer {
    #[command(flatten)]
    pub meeting: Meeting,
    /// Time between ticks, 50us to 1s
    #[arg(long, value_name = "TIME", default_value = "10ms")]
    pub tick: String,
}

#[derive(Debug, Args)]
pub struct TickClient {
    #[command(flatten)]
    pub meeting: Meeting,
    /// Name of this client [default: a name that no other client has]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Latencies to print, 1 to 10000000
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub values: u64,
    /// Latencies to ignore before the first printed one
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub ignore: u64,
}
