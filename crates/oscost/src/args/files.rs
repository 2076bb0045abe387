//! `--directory`: where files go that are measured.

use std::path::PathBuf;

use clap::Args;
use oscost_harness::Place;

use crate::exit::Ended;

#[derive(Debug, Args)]
pub struct Files {
    /// Where the files of record databases go, on any file system [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

impl Files {
    /// The folder, held from now on.
    ///
    /// # Errors
    /// No folder, or one in which others may rename what is made there.
    pub fn place(&self) -> Result<Option<Place>, Ended> {
        let Some(path) = &self.directory else { return Ok(None) };
        Place::open(path).map(Some).map_err(|why| {
            let shown = oscost_results::Untrusted::new(&path.to_string_lossy()).terminal().to_string();
            Ended::misuse(format!("'--directory {shown}': {why}"))
        })
    }
}
