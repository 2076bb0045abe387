//! Options of document 002 for `oscost reproduce`, and the settings that they stand for.

use std::path::PathBuf;

use clap::Args;
use oscost_documents::grame::Settings;

use crate::exit::Ended;

/// The document that these options belong to.
const DOCUMENT: &str = oscost_results::document::GRAME.name;

#[derive(Debug, Args)]
#[command(next_help_heading = "Document 002 (reproduce grame)")]
pub struct Grame {
    /// Numbers of clients, 1 to 999: a session each [default: 1,2,3,4,5,7,10]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub clients: Option<String>,
    /// How long its server sleeps, 100us to 1s [default: 10ms]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with_all = ["rate", "frames"])]
    pub tick: Option<String>,
    /// Frames a second of a sound server, whose buffer makes the tick
    #[arg(long, value_name = "HZ", allow_hyphen_values = true)]
    pub rate: Option<String>,
    /// Frames of its buffer: 44100 and 64 make 1.45 ms
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub frames: Option<String>,
    /// Values that each client collects, 10 to 20000 [default: 1100, with --quick 330]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub ticks: Option<String>,
    /// The first of them that do not count [default: 100, with --quick 30]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub discard: Option<String>,
    /// Real-time scheduling: rr or fifo [default: rr]
    #[arg(long, value_name = "POLICY", allow_hyphen_values = true)]
    pub policy: Option<String>,
    /// Whether its server waits for room in a queue: nonblocking or blocking [default: nonblocking]
    #[arg(long, value_name = "MODE", allow_hyphen_values = true)]
    pub send_mode: Option<String>,
    /// What a full queue is: an end of its client (document), or a counted drop (ours) [default: document]
    #[arg(long, value_name = "WHOSE", allow_hyphen_values = true)]
    pub drop_policy: Option<String>,
    /// Write the sessions' values to files below DIR, as its bench script lays them out
    #[arg(long, value_name = "DIR")]
    pub raw_dir: Option<PathBuf>,
}

impl Grame {
    fn texts(&self) -> [(&'static str, &Option<String>); 9] {
        [
            ("clients", &self.clients),
            ("tick", &self.tick),
            ("rate", &self.rate),
            ("frames", &self.frames),
            ("ticks", &self.ticks),
            ("discard", &self.discard),
            ("policy", &self.policy),
            ("send-mode", &self.send_mode),
            ("drop-policy", &self.drop_policy),
        ]
    }

    /// The settings of a run, which has the document or not.
    ///
    /// # Errors
    /// An option without the document, or a value out of its range.
    pub fn settings(&self, chosen: bool, quick: bool, thorough: bool) -> Result<Settings, Ended> {
        let mut settings = Settings::of(quick, thorough);
        let raw_dir = self.raw_dir.as_ref().map(|_| "raw-dir");
        let given = self.texts().into_iter().find(|(_, text)| text.is_some()).map(|(name, _)| name);
        if let Some(name) = given.or(raw_dir).filter(|_| !chosen) {
            return Err(Ended::misuse(format!("--{name} is an option of {DOCUMENT}, which was not chosen")));
        }
        for (name, text) in self.texts() {
            if let Some(text) = text {
                settings.set(name, text).map_err(Ended::misuse)?;
            }
        }
        settings.settle().map_err(Ended::misuse)?;
        Ok(settings)
    }
}
