//! Words for every format: escaped text of a result, counted nouns, widths of letters.

use oscost_results::Untrusted;
use unicode_width::UnicodeWidthStr;

/// `text` on one line and without anything that a terminal would obey, in ASCII alone unless `unicode`; what cannot be
/// shown is written as its number (`\u{1b}`).
pub(crate) fn plain(text: &str, unicode: bool) -> String {
    let shown = Untrusted::new(text).terminal().to_string();
    if unicode || shown.is_ascii() {
        return shown;
    }
    let mut ascii = String::with_capacity(shown.len());
    for letter in shown.chars() {
        if letter.is_ascii() { ascii.push(letter) } else { ascii.extend(letter.escape_unicode()) }
    }
    ascii
}

/// A name of the schema in words: blanks for underscores.
pub(crate) fn words(name: &str, unicode: bool) -> String {
    plain(name, unicode).replace('_', " ")
}

/// Begins with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// An id as a reader reads it: a command in it (`load_command_sleep%201`) decoded, and cut to what tells it from others.
pub(crate) fn readable(id: &str, unicode: bool) -> String {
    const MOST: usize = 32;
    let part = |part: &str| {
        if !part.contains('%') {
            return plain(part, unicode);
        }
        let text = plain(&decoded(part), unicode);
        match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}{}", &text[..end], if unicode { "\u{2026}" } else { "..." }),
            None => text,
        }
    };
    id.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Without the percent signs of an id. RFC 3986, 2.1.
fn decoded(part: &str) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|it| char::from(*it).to_digit(16));
    let mut bytes = part.as_bytes();
    let mut decoded = Vec::new();
    while let [first, rest @ ..] = bytes {
        let code = digit(rest.first()).zip(digit(rest.get(1))).filter(|_| *first == b'%');
        match code.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(byte) => {
                decoded.push(byte);
                bytes = &rest[2..];
            }
            None => {
                decoded.push(*first);
                bytes = rest;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// "1 figure", "2 figures".
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// "a, b and c".
pub(crate) fn enumerated<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        few => few.concat(),
    }
}

/// Each of `items` once, in their order.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// The items of each key together, both in their order.
pub(crate) fn grouped<T, K: PartialEq>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

/// "3 checked, 1 unchecked": the names that count at all.
pub(crate) fn tally<T>(names: &[(T, &str)], count: impl Fn(&T) -> usize) -> String {
    let counts = names.iter().map(|(key, name)| (count(key), name)).filter(|(count, _)| *count > 0);
    counts.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

/// Columns that `text` takes in a terminal.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// `text` in `room` columns, at the left.
pub(crate) fn left(text: &str, room: usize) -> String {
    format!("{text}{}", " ".repeat(room.saturating_sub(width(text))))
}

/// `text` in `room` columns, at the right.
pub(crate) fn right(text: &str, room: usize) -> String {
    format!("{}{text}", " ".repeat(room.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(plain("a\u{1b}[31mb\r\u{202e}", true), "a\\u{1b}[31mb\\r\\u{202e}");
        assert_eq!(plain("caf\u{e9}", true), "caf\u{e9}");
        assert_eq!(plain("caf\u{e9}", false), "caf\\u{e9}");
    }

    #[test]
    fn a_command_in_an_id_can_be_read() {
        assert_eq!(readable("a/clients_1/load_command_sleep%201", true), "a/clients_1/load_command_sleep 1");
        assert_eq!(readable("a/100%/%1b[31m%zz%4", true), "a/100%/\\u{1b}[31m%zz%4");
        assert_eq!(readable(&"%41".repeat(40), false), format!("{}...", "A".repeat(32)));
    }

    #[test]
    fn what_does_not_occur_is_not_counted() {
        assert_eq!(
            tally(&[(1, "one"), (2, "two"), (3, "three")], |key| [1, 1, 3]
                .iter()
                .filter(|k| *k == key)
                .count()),
            "2 one, 1 three"
        );
        assert_eq!(counted(1, "figure", "figures"), "1 figure");
        assert_eq!(counted(0, "figure", "figures"), "0 figures");
    }

    #[test]
    fn wide_letters_count_two_columns() {
        assert_eq!(right("日", 4), "  日");
        assert_eq!(left("ab", 4), "ab  ");
    }
}
