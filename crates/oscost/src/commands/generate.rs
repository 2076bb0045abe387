//! `oscost --generate`: man pages and completions, for those who package the program.

use std::path::Path;

use super::manual;
use crate::args::Generate;
use crate::exit::{Ended, Exit};
use crate::output;

/// Writes what was asked for: man pages into a folder, or one text into a file or to standard output.
pub fn generate(what: Generate, to: Option<&Path>) -> Result<Exit, Ended> {
    let completion = match what {
        Generate::Man => return pages(to),
        Generate::CompleteBash => include_str!("../completions/oscost.bash"),
        Generate::CompleteZsh => include_str!("../completions/_oscost"),
        Generate::CompleteFish => include_str!("../completions/oscost.fish"),
    };
    output::deliver(completion.as_bytes(), to).map(|()| Exit::Done)
}

/// Every page into a folder, or the main one to standard output.
fn pages(folder: Option<&Path>) -> Result<Exit, Ended> {
    let pages = manual::pages();
    let Some(folder) = folder else {
        let main = pages.first().map_or(&[][..], |(_, text)| text);
        return output::deliver(main, None).map(|()| Exit::Done);
    };
    oscost_results::make_folder(folder).map_err(Ended::unwritable)?;
    for (name, text) in &pages {
        oscost_results::write_file(&folder.join(name), text).map_err(Ended::unwritable)?;
    }
    Ok(Exit::Done)
}
