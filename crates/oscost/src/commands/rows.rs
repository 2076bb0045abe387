//! `oscost report --format csv|ndjson`: rows of any number of results, written as they are read.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use oscost_report::RowFormat;
use oscost_results::{
    Collection, Gathered, LoadError, NamedFile, Outline, Refused, RowFigure, Store, Untrusted, from_bytes,
    outline_from_bytes, rows_from_bytes,
};

use crate::args::Report;
use crate::exit::{Ended, Exit};
use crate::output::{self, Talk};
use crate::words;

/// So many files that cannot be used are named; the others are counted.
const NAMED: u64 = 20;
/// Bytes that are written at once.
const WRITTEN: usize = 1 << 20;

/// Writes the rows of what the references name.
pub fn rows(options: &Report, references: &[String], format: RowFormat, talk: &Talk) -> Result<Exit, Ended> {
    let collection = Collection::of(references).map_err(Ended::misuse)?;
    let only = if options.only.is_empty() { None } else { Some(only(options, &collection, talk)?) };
    let stored = references.iter().all(|reference| Store::holds(reference));
    let make = |path: &Path, bytes: &[u8]| {
        let mut run = read(bytes, options.anonymous)?;
        if let Some(only) = &only {
            run.figures.retain(|figure| only.contains(&figure.id));
        }
        // A file's name is its user's; one in the store says nothing that the run's id does not.
        let file = (!options.anonymous && !stored).then(|| path.to_string_lossy());
        let mut text = Vec::new();
        oscost_report::rows(&run, file.as_deref(), format, &mut text)
            .map_err(|error| Refused::NotAResult { reason: error.to_string() })?;
        Ok((run.result_id(), text))
    };
    let mut unusable = Unusable::new(talk);
    let mut write = |out: &mut dyn Write| -> io::Result<Gathered> {
        oscost_report::rows_header(format, out)?;
        collection.each(make, |found: Result<Vec<u8>, LoadError>| match found {
            Ok(text) => out.write_all(&text),
            Err(error) => {
                unusable.say(&error);
                Ok(())
            }
        })
    };
    let tally = match &options.output {
        Some(path) => into_file(path, &mut write)?,
        None => {
            let mut tally = Gathered::default();
            output::data(|out| {
                tally = write(out)?;
                Ok(())
            })?;
            tally
        }
    };
    let code = ended(&tally, talk);
    // Whoever asks for the whole store names no file in it.
    Ok(if references == ["@all"] { Exit::Done } else { code })
}

/// Says of what cannot be used why, as long as there are few.
pub struct Unusable<'a> {
    talk: &'a Talk,
    said: u64,
}

impl<'a> Unusable<'a> {
    pub fn new(talk: &'a Talk) -> Self {
        Self { talk, said: 0 }
    }

    pub fn say(&mut self, error: &LoadError) {
        self.said += 1;
        if self.said <= NAMED {
            self.talk.warn(error);
        }
    }
}

/// Says what was left out. The code: what cannot be used is input that cannot be read.
pub fn ended(tally: &Gathered, talk: &Talk) -> Exit {
    if let Some(words) = left_out(tally) {
        talk.warn(words);
    }
    if tally.unusable == 0 { Exit::Done } else { Exit::Misuse }
}

/// A result for rows.
fn read(bytes: &[u8], anonymous: bool) -> Result<Outline<RowFigure>, Refused> {
    if !anonymous {
        return rows_from_bytes(bytes);
    }
    Ok(Outline::of(&from_bytes(bytes)?.anonymous()))
}

/// The ids that the patterns find in the whole collection, and what those are divided by or have subtracted.
fn only(options: &Report, collection: &Collection, talk: &Talk) -> Result<BTreeSet<String>, Ended> {
    let (mut ids, mut pairs) = (BTreeSet::new(), BTreeSet::new());
    let make = |_: &Path, bytes: &[u8]| {
        let run = outline_from_bytes(bytes)?;
        Ok((run.result_id(), run))
    };
    let take = |found: Result<Outline, LoadError>| -> Result<(), Ended> {
        // What cannot be used is said when the rows are written.
        if let Ok(run) = found {
            ids.extend(run.figures.into_iter().map(|figure| figure.id));
            pairs.extend(run.ratios.into_iter().chain(run.differences).map(|pair| (pair.of, pair.to)));
        }
        Ok(())
    };
    collection.each(make, take)?;
    let mut found = words::only(&options.only, &ids.iter().map(String::as_str).collect(), talk)?;
    let bases: Vec<String> =
        pairs.into_iter().filter(|(of, _)| found.contains(of)).map(|(_, to)| to).collect();
    found.extend(bases);
    Ok(found)
}

/// Writes into a file that is seen when it is complete.
fn into_file(
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<Gathered>,
) -> Result<Gathered, Ended> {
    let mut file = BufWriter::with_capacity(WRITTEN, NamedFile::create(path).map_err(Ended::unwritable)?);
    let written = write(&mut file).and_then(|tally| file.flush().map(|()| tally));
    // Taken apart: dropped whole, it would try again to write what could not be written.
    let (file, _) = file.into_parts();
    let tally = written.map_err(|error| {
        let path = path.to_string_lossy();
        Ended::unwritable(format!("cannot write {}: {error}", Untrusted::new(&path).terminal()))
    })?;
    file.finish().map_err(Ended::unwritable)?;
    Ok(tally)
}

/// What has no rows, counted; `None` where all of it has.
fn left_out(tally: &Gathered) -> Option<String> {
    let Gathered { results, copies, unusable, others, .. } = *tally;
    let parts = [
        (copies, "copies of runs that were read before"),
        (unusable, "that cannot be used"),
        (others, "links and files that are not called *.json"),
    ];
    let said: Vec<String> =
        parts.iter().filter(|part| part.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let more = if unusable > NAMED { format!("; the first {NAMED} are named") } else { String::new() };
    (!said.is_empty()).then(|| format!("{results} results were read; left out: {}{more}", said.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_said() {
        let mut tally = Gathered::default();
        assert_eq!(left_out(&tally), None);
        tally.results = 990;
        assert_eq!(left_out(&tally), None);
        (tally.copies, tally.unusable) = (2, 21);
        assert_eq!(
            left_out(&tally).as_deref(),
            Some(
                "990 results were read; left out: 2 copies of runs that were read before, 21 that cannot be used; the first \
                 20 are named"
            )
        );
    }
}
