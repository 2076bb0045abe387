//! Output: data to standard output, messages to standard error; width, characters and colours.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use oscost_report::Style;

use crate::args::{ColorWhen, Common};
use crate::exit::Ended;
use crate::system;

/// Writes data to standard output. A reader that closes the pipe has seen enough: that is no error, and changes no exit code.
/// Anything else that keeps the data from arriving is.
pub fn data(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Ended> {
    data_while_read(write).map(drop)
}

/// The same of data that more will follow: whether anybody still reads.
pub fn data_while_read(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<bool, Ended> {
    if let Some(why) = system::stdout_unwritable() {
        return Err(Ended::unwritable(format!("standard output could not be written: {why}")));
    }
    let stdout = io::stdout().lock();
    // A terminal of Windows may have to be told of colours. Elsewhere every byte goes out as it is: without colours `--watch`
    // still goes back over its lines.
    let stdout: Box<dyn Write> = if cfg!(windows) && stdout.is_terminal() {
        Box::new(anstream::AutoStream::auto(stdout))
    } else {
        Box::new(stdout)
    };
    let mut out = BufWriter::new(stdout);
    match write(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Ended::unwritable(format!("standard output could not be written: {error}"))),
    }
}

/// Puts a document where the user wants it: into a file, or to standard output.
pub fn deliver(text: &[u8], file: Option<&Path>) -> Result<(), Ended> {
    match file {
        Some(path) => oscost_results::write_file(path, text).map_err(Ended::unwritable),
        None => data(|out| out.write_all(text)),
    }
}

/// Whether a path of an option is a word for standard output.
#[cfg(target_os = "linux")]
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes `value` as JSON that a terminal shows and does not obey.
pub fn json(value: &(impl serde::Serialize + ?Sized), out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    writeln!(out, "{}", oscost_results::Untrusted::new(&text).json())
}

/// How the program talks to its user.
#[derive(Debug, Clone, Copy)]
pub struct Talk {
    /// Nothing but errors and what is lost.
    pub quiet: bool,
    /// Everything that happens.
    pub verbose: bool,
    /// No character beyond ASCII.
    pub ascii: bool,
    /// When there are colours.
    pub color: ColorWhen,
}

impl Talk {
    /// As the options say.
    pub fn new(common: &Common) -> Self {
        match common.color {
            ColorWhen::Always => anstream::ColorChoice::Always.write_global(),
            ColorWhen::Never => anstream::ColorChoice::Never.write_global(),
            ColorWhen::Auto => anstream::ColorChoice::Auto.write_global(),
        }
        Self { quiet: common.quiet, verbose: common.verbose, ascii: common.ascii, color: common.color }
    }

    /// Tells the user something, unless the program is to be quiet. If standard error is gone, there is nowhere to report it.
    pub fn say(&self, words: impl std::fmt::Display) {
        if !self.quiet {
            self.warn(words);
        }
    }

    /// Tells what is lost, in any case.
    pub fn warn(&self, words: impl std::fmt::Display) {
        let words = words.to_string();
        let _ = writeln!(anstream::stderr(), "{}", oscost_results::Untrusted::new(&words).terminal());
    }

    /// How a table on standard output is to look.
    pub fn style(&self) -> Style {
        let stdout = io::stdout();
        let colour = match self.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
        };
        Style { width: width(stdout.is_terminal()), unicode: !self.ascii && has_utf8(), colour }
    }

    /// How a table in a file or another format is to look.
    pub fn plain_style(&self) -> Style {
        Style { width: width(false), unicode: !self.ascii && has_utf8(), colour: false }
    }
}

/// Columns that a line on standard output may have: the terminal's, else what COLUMNS says; `None` where neither says any.
pub fn told_width() -> Option<usize> {
    told(io::stdout().is_terminal())
}

fn told(terminal: bool) -> Option<usize> {
    let own = if terminal { system::columns() } else { None };
    // A terminal that does not know its width says 0, and so does a shell that asked it.
    let said = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&said: &usize| said > 0);
    own.or_else(said).map(|columns| columns.clamp(20, 400))
}

/// Columns of a table, which is also shown by a pager or `head`: 120 where nobody says any.
fn width(terminal: bool) -> usize {
    told(terminal).or_else(system::columns_behind_a_pipe).map_or(120, |columns| columns.clamp(20, 400))
}

/// Whether the locale has UTF-8. POSIX: LC_ALL, then LC_CTYPE, then LANG.
fn has_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// What an error says, line by line, without anything of its text that a terminal would obey.
pub fn harmless(words: &str) -> String {
    let line = |line: &str| format!("{}\n", oscost_results::Untrusted::new(line).terminal());
    words.trim_end_matches('\n').split('\n').map(line).collect()
}
