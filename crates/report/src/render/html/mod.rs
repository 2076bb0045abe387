//! Blocks as one page for a browser: no network, no build step, nothing from a result but escaped text and numbers.

mod blocks;
mod log_axis;
pub(crate) mod page;
mod plots;
mod prices;
mod table;

use oscost_results::Untrusted;

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
