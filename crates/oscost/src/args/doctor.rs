//! Options of `oscost doctor`.

use clap::Args;

#[derive(Debug, Args)]
pub struct Doctor {
    /// End with code 5 if the machine is unfit: something disturbs floors, or nothing can be checked
    #[arg(long)]
    pub check: bool,
    /// Try the instrument here: known costs found again, system calls counted exactly, two runs alike (under a minute)
    #[arg(long)]
    pub verify: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}
