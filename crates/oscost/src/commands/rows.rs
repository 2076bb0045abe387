//! `oscost report --format csv|ndjson`: rows of any number of results, written as they are read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

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
/// Bytes of a result's rows that are kept until its turn comes.
const KEPT: usize = 4 << 20;
/// Bytes that are written at once.
const WRITTEN: usize = 1 << 20;

/// Writes the rows of what the references name.
pub fn rows(options: &Report, references: &[String], format: RowFormat, talk: &Talk) -> Result<Exit, Ended> {
    if !options.only.is_empty()
        && let Some(pipe) = references.iter().find(|reference| is_read_once(reference))
    {
        return Err(Ended::misuse(format!(
            "--only reads twice, and {} can be read once: write it to a file first",
            Untrusted::new(pipe).terminal()
        )));
    }
    let collection = Collection::of(references).map_err(Ended::misuse)?;
    let only = if options.only.is_empty() { None } else { Some(only(options, &collection, talk)?) };
    let stored = references.iter().all(|reference| Store::holds(reference));
    let has_rows = AtomicBool::new(false);
    let make = |path: &Path, bytes: &[u8]| {
        let mut run = read(bytes, options.anonymous)?;
        let id = run.result_id();
        if let Some(only) = &only {
            run.figures.retain(|figure| only.contains(&figure.id));
        }
        // A file's name is its user's; one in the store says nothing that the run's id does not.
        let name =
            if oscost_results::is_stdin(path) { "standard input".into() } else { path.to_string_lossy() };
        let file = (!options.anonymous && !stored).then_some(name);
        if !run.figures.is_empty() {
            has_rows.store(true, Ordering::Relaxed);
        }
        let mut text = Short(Vec::new());
        // Nothing but their length keeps the rows from being written here.
        let made = match oscost_report::rows(&run, file.as_deref(), format, &mut text) {
            Ok(()) => Made::Text(text.0),
            Err(_) => Made::Long(Box::new(run), file.map(Cow::into_owned)),
        };
        Ok((id, made))
    };
    let mut unusable = Unusable::new(talk);
    // A reader that has gone changes no code: what cannot be used is looked for all the same.
    let unless_gone = |written: io::Result<()>| match written {
        Err(error) if options.output.is_none() && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    };
    let mut write = |out: &mut dyn Write| -> io::Result<Gathered> {
        unless_gone(oscost_report::rows_header(format, out))?;
        collection.each(make, |found: Result<Made, LoadError>| match found {
            Ok(Made::Text(text)) => unless_gone(out.write_all(&text)),
            Ok(Made::Long(run, file)) => unless_gone(oscost_report::rows(&run, file.as_deref(), format, out)),
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
    if tally.results == 0 && code == Exit::Done {
        talk.warn(format!("no rows were written: {}", nothing_in(references)));
    } else if !has_rows.load(Ordering::Relaxed) && code == Exit::Done {
        talk.warn("no rows were written: a row is a figure, and none of these results has one (--format json has what a bill has)");
    }
    // Whoever asks for the whole store names no file in it.
    Ok(if references == ["@all"] { Exit::Done } else { code })
}

/// Whether a reference is standard input, a pipe or the like.
fn is_read_once(reference: &str) -> bool {
    oscost_results::is_stdin(reference)
        || std::fs::metadata(reference).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// What is made of a result before its turn comes.
enum Made {
    /// Its rows.
    Text(Vec<u8>),
    /// The result and its file: its rows are too long to be kept.
    Long(Box<Outline<RowFigure>>, Option<String>),
}

/// Takes text as long as it is short.
struct Short(Vec<u8>);

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > KEPT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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

/// What is said where no result was found: where, and what would have been one.
pub fn nothing_in(references: &[String]) -> String {
    let places: Vec<String> = references.iter().map(|it| Untrusted::new(it).terminal().to_string()).collect();
    format!("there is no result in {}; of a folder, files called *.json are read", places.join(", "))
}

/// What has no rows, counted; `None` where all of it has.
fn left_out(tally: &Gathered) -> Option<String> {
    let Gathered { results, copies, unusable, others, .. } = *tally;
    let read = if results == 1 { "result was" } else { "results were" };
    let parts = [
        (
            copies,
            if copies == 1 {
                "copy of a run that was read before"
            } else {
                "copies of runs that were read before"
            },
        ),
        (unusable, "that cannot be used"),
        (others, "links and files that are not called *.json"),
    ];
    let said: Vec<String> =
        parts.iter().filter(|part| part.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let more = if unusable > NAMED { format!("; the first {NAMED} are named") } else { String::new() };
    (!said.is_empty()).then(|| format!("{results} {read} read; left out: {}{more}", said.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_kept_and_long_text_is_not() {
        let mut text = Short(Vec::new());
        assert!(text.write_all(&vec![b'x'; KEPT]).is_ok());
        assert!(text.write_all(b"x").is_err() && text.0.len() == KEPT);
    }

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
