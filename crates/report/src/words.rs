//! Words for every format: text of a result made harmless, counted things.

use oscost_results::Untrusted;

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

/// "1 figure", "2 figures".
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// "3 proved, 1 no claim": the names that count at all.
pub(crate) fn tally<T>(names: &[(T, &str)], count: impl Fn(&T) -> usize) -> String {
    let counts = names.iter().map(|(key, name)| (count(key), name)).filter(|(count, _)| *count > 0);
    counts.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
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
}
