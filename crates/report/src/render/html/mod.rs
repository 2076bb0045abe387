//! Blocks as one page for a browser: no network, no build step, nothing from a result but escaped text and numbers.

mod blocks;
mod forest;
mod history;

pub(crate) mod page;
mod plots;
mod prices;
mod receipt;
mod table;

use oscost_results::Untrusted;

/// Text of a result, harmless between tags and in quoted attributes; microseconds after a number have their own sign.
fn escaped(text: &str) -> String {
    let text = Untrusted::new(text).html().to_string();
    if text.contains(" us") { micro(&text) } else { text }
}

/// "1.20 us" as "1.20 µs", and "mean, us" as "mean, µs", and "in us" as "in µs".
fn micro(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" us") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        let is_number = before.ends_with(|letter: char| letter.is_ascii_digit() || letter == ',');
        let is_unit = (is_number || before.ends_with(" in"))
            && !after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        written.push_str(before);
        written.push_str(if is_unit { " \u{b5}s" } else { " us" });
        rest = after;
    }
    written.push_str(rest);
    written
}

/// An id that may be broken after a slash.
fn breakable(id: &str) -> String {
    escaped(id).replace('/', "/<wbr>")
}

/// An id, leading to its receipt where that is on the page.
fn linked_name(id: &str, has_receipt: bool) -> String {
    let name = breakable(id);
    if has_receipt { format!("<a href=\"#{}\">{name}</a>", anchor(id)) } else { name }
}

/// A name that can be the target of a link, from any id.
fn anchor(id: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    format!("figure-{}", id.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_have_their_sign_after_numbers_alone() {
        assert_eq!(escaped("1.20 us, 3 us"), "1.20 \u{b5}s, 3 \u{b5}s");
        assert_eq!(escaped("mean, us"), "mean, \u{b5}s");
        assert_eq!(escaped("cells in us, us"), "cells in \u{b5}s, \u{b5}s");
        assert_eq!(escaped("5 users of us; hold_us_30 0 us_1"), "5 users of us; hold_us_30 0 us_1");
        assert_eq!(escaped("<1 us>"), "&lt;1 \u{b5}s&gt;");
    }
}
