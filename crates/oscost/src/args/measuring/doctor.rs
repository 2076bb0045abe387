//! Options of `oscost doctor`.

use clap::Args;

#[derive(Debug, Args)]
pub struct Doctor {
    /// End with code 5 if the machine is unfit: something disturbs floors, or system calls cannot be counted
    #[arg(long)]
    pub check: bool,
    /// Test oscost itself here, in under a minute: find known costs, count known system calls, compare two runs
    #[arg(long)]
    pub verify: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}
