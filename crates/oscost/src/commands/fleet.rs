//! `oscost report --fleet`: which hosts of a fleet are odd.

use std::convert::Infallible;
use std::path::Path;

use oscost_report::fleet::Fleet;
use oscost_results::{Collection, LoadError, Outline, RowFigure, rows_from_bytes};

use super::rows::{Unusable, ended, nothing_in};
use crate::args::{Format, Report};
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};

/// Shows the fleet whose results the references name.
pub fn fleet(options: &Report, references: &[String], talk: &Talk) -> Result<Exit, Ended> {
    if !matches!(options.format, Format::Text | Format::Markdown | Format::Html) {
        return Err(Ended::misuse(
            "--fleet is shown as text, markdown or html; rows of it: leave --fleet out",
        ));
    }
    let collection = Collection::of(references).map_err(Ended::misuse)?;
    let mut fleet = Fleet::default();
    let mut unusable = Unusable::new(talk);
    let make = |path: &Path, bytes: &[u8]| {
        let mut run = rows_from_bytes(bytes)?;
        // The estimates tell where a host lies; its launches are not kept for a thousand others.
        run.figures.iter_mut().for_each(|figure| figure.launches = Vec::new());
        Ok((run.result_id(), (path.to_string_lossy().into_owned(), run)))
    };
    let take = |found: Result<(String, Outline<RowFigure>), LoadError>| {
        match found {
            Ok((file, run)) => fleet.add(&run, &file),
            Err(error) => unusable.say(&error),
        }
        Ok::<(), Infallible>(())
    };
    let tally = match collection.each(make, take) {
        Ok(tally) => tally,
        Err(never) => match never {},
    };
    if tally.results == 0 {
        ended(&tally, talk);
        return Err(Ended::misuse(nothing_in(references)));
    }
    let judged = fleet.judge();
    let style = if options.output.is_some() { talk.plain_style() } else { talk.style() };
    let mut text = Vec::new();
    let written = match options.format {
        Format::Html => judged.page(&mut text),
        Format::Markdown => judged.markdown(options.all, &mut text),
        _ => judged.text(options.all, &style, &mut text),
    };
    written.map_err(Ended::unwritable)?;
    output::deliver(&text, options.output.as_deref())?;
    Ok(ended(&tally, talk))
}
