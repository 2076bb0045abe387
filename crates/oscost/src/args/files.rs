//! `--directory`: where files go that are measured.

use std::path::PathBuf;

use clap::Args;

use crate::exit::Ended;

#[derive(Debug, Args)]
pub struct Files {
    /// Where the files of record databases go, on any file system [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

impl Files {
    /// The directory, as an absolute path that every process can be told.
    ///
    /// # Errors
    /// No directory, or one whose name is no UTF-8.
    pub fn place(&self) -> Result<Option<PathBuf>, Ended> {
        let Some(path) = &self.directory else { return Ok(None) };
        let refuse = |why: &str| {
            let shown = oscost_results::Untrusted::new(&path.to_string_lossy()).terminal().to_string();
            Ended::misuse(format!("'--directory {shown}': {why}"))
        };
        let absolute = path.canonicalize().map_err(|error| refuse(&error.to_string()))?;
        if !absolute.is_dir() {
            return Err(refuse("not a directory"));
        }
        if absolute.to_str().is_none() {
            return Err(refuse("its name is no UTF-8"));
        }
        Ok(Some(absolute))
    }
}
