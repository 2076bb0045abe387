//! Results as one page for a browser: no network, no build step, nothing from a result but escaped text and numbers.

mod page;
mod plot;
pub(crate) mod plots;
mod prices;
mod receipt;
mod reproduction;
mod several;

use std::io::{self, Write};

use oscost_results::{RunResult, Untrusted};

/// A result and the name under which it is kept.
pub struct Named<'a> {
    /// Name of the file, without its folder and ending.
    pub name: &'a str,
    /// The result.
    pub result: &'a RunResult,
}

/// Writes one self-contained page about `results`, oldest first.
///
/// It asks nothing of a network, and its Content-Security-Policy forbids it to; scripts and styles are the page's own,
/// named there by their SHA-256.
///
/// # Errors
/// Those of `out`.
pub fn page(results: &[Named<'_>], out: &mut dyn Write) -> io::Result<()> {
    page::write(results, out)
}

/// Text of a result, harmless between tags and in quoted attributes.
fn escaped(text: &str) -> impl std::fmt::Display + '_ {
    Untrusted::new(text).html()
}

/// An id that may be broken after a slash.
fn breakable(id: &str) -> String {
    escaped(id).to_string().replace('/', "/<wbr>")
}

/// A name that can be the target of a link, from any id.
fn anchor(id: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    format!("figure-{}", id.chars().map(letter).collect::<String>())
}
