//! Options of `oscost reproduce apue`: the parameters of document 001's program.

use clap::Args;
use oscost_documents::DocumentParameters;
use oscost_documents::apue::Amount;

use super::{Files, Measuring};
use crate::exit::Ended;

/// The document that these options belong to.
const DOCUMENT: &str = oscost_results::document::APUE.name;

#[derive(Debug, Args)]
#[command(next_help_heading = "Document 001 (reproduce apue)")]
pub struct Apue {
    /// Records that each child writes first, 1 to 1000000 [default: 2000,6000, and 500 with children]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub nrec: Option<String>,
    /// Processes on one database, 1 to 16 [default: 1, and 1,2,4 with nrec 500]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub children: Option<String>,
    /// Ways to lock: none, coarse, fine, mandatory [default: all]
    #[arg(long, value_name = "LIST")]
    pub lock: Option<String>,
    /// What locks: fcntl, ofd, flock, mutex [default: fcntl]
    #[arg(long, value_name = "WHAT")]
    pub primitive: Option<String>,
    /// Way to the bytes: seek, positioned, mapped [default: seek]
    #[arg(long, value_name = "WAY")]
    pub io: Option<String>,
    /// Reading of the book's program: figure, text [default: figure]
    #[arg(long, value_name = "WHICH")]
    pub workload: Option<String>,
    /// Layout of the files: book, fast [default: book]
    #[arg(long, value_name = "WHICH")]
    pub layout: Option<String>,
    #[command(flatten)]
    pub files: Files,
    /// One run of each cell, as the document did: no intervals
    #[arg(long)]
    pub single: bool,
}

impl Apue {
    /// The options that have a word, as given.
    fn words(&self) -> [(&'static str, Option<&String>); 7] {
        [
            ("nrec", self.nrec.as_ref()),
            ("children", self.children.as_ref()),
            ("lock", self.lock.as_ref()),
            ("primitive", self.primitive.as_ref()),
            ("io", self.io.as_ref()),
            ("workload", self.workload.as_ref()),
            ("layout", self.layout.as_ref()),
        ]
    }

    /// Sets the document's plan.
    ///
    /// # Errors
    /// An option of a document that was not chosen, a value out of its range, values that do not go together.
    pub fn apply(
        &self,
        chosen: bool,
        measuring: &Measuring,
        parameters: &mut DocumentParameters,
    ) -> Result<(), Ended> {
        let mut given = self.words().into_iter().filter_map(|(name, text)| Some((name, text?)));
        if !chosen {
            let flag = [(self.files.directory.is_some(), "directory"), (self.single, "single")];
            let flag = flag.into_iter().find_map(|(given, name)| given.then_some(name));
            return match given.next().map(|(name, _)| name).or(flag) {
                None => Ok(()),
                Some(name) => {
                    Err(Ended::misuse(format!("--{name} is an option of {DOCUMENT}, which was not chosen")))
                }
            };
        }
        let plan = &mut parameters.apue;
        plan.effort = match (measuring.quick, measuring.thorough) {
            (true, _) => Amount::Quick,
            (_, true) => Amount::Thorough,
            _ => Amount::Default,
        };
        plan.single = self.single;
        for (name, text) in given {
            plan.set(name, text).map_err(Ended::misuse)?;
        }
        plan.check().map_err(Ended::misuse)
    }
}
